"""Equal-weighted indices of asset classes, by the rule of the paper (Appendix D.3, ClassAlloc)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import PricesError

SEASONING = 20


def class_index(
    dates: Sequence[date],
    prices: NDArray[np.float64],
    classes: Sequence[str],
    *,
    start: date,
    seasoning: int = SEASONING,
    grace: int = 31,
) -> Mapping[str, NDArray[np.float64]]:
    """Index levels of each class: every day the mean daily return of its assets that have a price on both days.

    An asset first listed more than ``grace`` days after ``start`` enters only after ``seasoning`` sessions of prices,
    because the first quotes of a new listing can be wrong.

    Parameters
    ----------
    dates
        Trading dates, ascending, length n_sessions; it may begin before ``start``.
    prices
        Adjusted closes, shape (n_sessions, n_assets), NaN where an asset has no price.
    classes
        Class of each column of ``prices``, length n_assets.
    start
        First date of the index (level 1).
    seasoning
        How many first prices of a late listing are ignored.
    grace
        Days after ``start`` within which a first price still counts as listed from the start.

    Returns
    -------
    Levels by class, each of shape (n_sessions from ``start``,), in the order in which the classes first appear.

    Raises
    ------
    PricesError
        When shapes do not fit, dates do not ascend, or ``start`` is not a trading date.
    """
    _check(dates, prices, classes, start)
    usable = _seasoned(dates, prices, start, seasoning, grace)
    first = list(dates).index(start)
    window = usable[first:]
    with np.errstate(invalid="ignore"):
        returns = window[1:] / window[:-1] - 1.0
    labels = np.asarray(classes)
    levels: dict[str, NDArray[np.float64]] = {}
    for name in dict.fromkeys(classes):
        members = returns[:, labels == name]
        counts = np.isfinite(members).sum(axis=1)
        total = np.nansum(members, axis=1)
        mean = np.divide(total, counts, out=np.zeros_like(total), where=counts > 0)
        level = np.ones(len(mean) + 1)
        level[1:] = np.cumprod(1.0 + mean)
        levels[name] = level
    return levels


def _seasoned(
    dates: Sequence[date], prices: NDArray[np.float64], start: date, seasoning: int, grace: int
) -> NDArray[np.float64]:
    """``prices`` with the first prices of late listings removed."""
    usable = prices.copy()
    days = np.array([day.toordinal() for day in dates])
    for column in range(prices.shape[1]):
        priced = np.flatnonzero(np.isfinite(prices[:, column]))
        if priced.size and days[priced[0]] > start.toordinal() + grace:
            usable[priced[:seasoning], column] = np.nan
    return usable


def _check(dates: Sequence[date], prices: NDArray[np.float64], classes: Sequence[str], start: date) -> None:
    if prices.ndim != 2 or prices.shape != (len(dates), len(classes)):
        raise PricesError(
            f"prices have shape {prices.shape}; {len(dates)} dates and {len(classes)} classes need "
            f"({len(dates)}, {len(classes)})"
        )
    for before, after in itertools.pairwise(dates):
        if after <= before:
            raise PricesError(f"date {after} does not come after {before}; sort the prices and drop repeated dates")
    if start not in dates:
        raise PricesError(f"the start {start} is not among the {len(dates)} trading dates; choose one of them")
    bad = np.argwhere(np.isinf(prices) | (prices <= 0))
    if bad.size:
        row, column = bad[0]
        raise PricesError(
            f"price {prices[row, column]} on {dates[row]} in column {column} is not a positive number; "
            f"mend it, or use NaN where there is no price"
        )
