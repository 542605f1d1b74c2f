"""What a wealth path tells: growth, Sharpe ratio, drawdown, and the falling phases of a market (paper App. D.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import PricesError

TRADING_DAYS = 252
"""Trading days in a year, to annualise a daily Sharpe ratio."""

_ROUNDING = 1e-12
"""A loss of exactly the threshold counts, whatever its last bits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WealthMetrics:
    """Three numbers of a wealth path (paper Table D.8).

    Attributes
    ----------
    cumulative_return
        Final over starting wealth, minus 1 (fraction).
    sharpe
        Mean over standard deviation (``ddof=1``) of the returns, annualised, risk-free rate 0; ``nan`` with fewer than
        two returns or when they never vary.
    max_drawdown
        Largest loss from a running peak, a positive fraction in [0, 1].
    """

    cumulative_return: float
    sharpe: float
    max_drawdown: float

    @classmethod
    def from_path(cls, path: ArrayLike, *, periods_per_year: float = TRADING_DAYS) -> WealthMetrics:
        """The metrics of a wealth path.

        Parameters
        ----------
        path
            Wealth at the start and at the close of each period, shape (n_periods + 1,), positive.
        periods_per_year
            How many periods make a year; 252 for days.

        Raises
        ------
        PricesError
            When the path is empty, or a level is not a positive finite number.
        """
        levels = _levels(path, "wealth path")
        growth = levels[1:] / levels[:-1] - 1.0
        deviation = float(np.std(growth, ddof=1)) if growth.size > 1 else 0.0
        # Equal returns differ in their last bits, and those bits must not make a ratio.
        varies = deviation > 1e-14 * max(1.0, float(np.abs(growth).max(initial=0.0)))
        return cls(
            cumulative_return=float(levels[-1] / levels[0] - 1.0),
            sharpe=float(np.mean(growth)) / deviation * periods_per_year**0.5 if varies else float("nan"),
            max_drawdown=float(np.max(1.0 - levels / np.maximum.accumulate(levels))),
        )


def falling_phases(index: ArrayLike, threshold: float = 0.05) -> tuple[tuple[int, int], ...]:
    """Every phase from a peak of ``index`` to the following trough in which it lost at least ``threshold``.

    A peak is a level not reached again before the trough, and the trough is the lowest level before the index is
    back at its peak (or ends), so a rally inside a bear market does not split it. On the equities of ClassAlloc,
    compounded over the 20-session outcomes, this gives the paper's four phases, the largest of −20.6% (App. D.6).

    Parameters
    ----------
    index
        Index levels, shape (n_days,), positive.
    threshold
        Least loss of a phase, a fraction in (0, 1).

    Returns
    -------
    ``(peak, trough)`` positions, from 0, in order of time; phases do not overlap.

    Raises
    ------
    PricesError
        When a level is not a positive finite number, or ``threshold`` is not between 0 and 1.
    """
    if not 0.0 < threshold < 1.0:
        raise PricesError(f"threshold is {threshold}; it must be a fraction between 0 and 1")
    levels = _levels(index, "index")
    # Days at their running maximum are peaks; the days after one, up to the next, are under water.
    peaks = np.flatnonzero(levels == np.maximum.accumulate(levels))
    lowest = np.minimum.reduceat(levels, peaks)
    deep = 1.0 - lowest / levels[peaks] >= threshold - _ROUNDING
    ends = np.append(peaks[1:], levels.size)
    return tuple((int(a), int(a + np.argmin(levels[a:b]))) for a, b in zip(peaks[deep], ends[deep], strict=True))


def relative(path: ArrayLike, reference_path: ArrayLike) -> NDArray[np.float64]:
    """Wealth relative to that of a reference on the same days (paper App. D.6, Figure D.1).

    Parameters
    ----------
    path, reference_path
        Wealth on the same days, shape (n_days,), positive.

    Returns
    -------
    Shape (n_days,): above 1 where the path is ahead.

    Raises
    ------
    PricesError
        When the two differ in length, or a level is not a positive finite number.
    """
    levels, reference = _levels(path, "wealth path"), _levels(reference_path, "reference path")
    if levels.size != reference.size:
        raise PricesError(f"wealth path has {levels.size} days and reference path {reference.size}; give the same days")
    return levels / reference


def _levels(values: ArrayLike, what: str) -> NDArray[np.float64]:
    levels = np.asarray(values, dtype=np.float64)
    if levels.ndim != 1 or levels.size == 0:
        raise PricesError(f"{what} has shape {levels.shape}; it must be (n_days,), at least one day")
    if not (levels.min() > 0.0 and levels.max() < np.inf):
        row = int(np.argwhere(~(np.isfinite(levels) & (levels > 0.0)))[0, 0])
        raise PricesError(f"{what} in row {row} is {levels[row]}; a level must be a positive finite number")
    return levels
