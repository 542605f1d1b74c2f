"""The market of PlantedMem: four class indices and 132 monthly decisions (paper App. D.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.regimes import MONTHS
from memtrial.errors import PricesError
from memtrial.market import class_situation
from memtrial.market.classalloc import ASSETS, decided_at, known_at
from memtrial.records import State, fingerprint

CLASSES = ("equities", "bonds", "cash", "commodities")
"""Asset classes in the order of every weight vector."""

RISKY = ("equities",)
DEFENSIVE = ("bonds", "cash")

LOOKBACK, HOLDING = 60, 20
_SHORT = 20


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PlantedMarket:
    """What prices did around every decision.

    The benchmark declares an outcome known before the next decision, although 20 sessions can end one session after
    it; ``known_at`` is then the close of the next decision's own session.

    Attributes
    ----------
    days
        Decision dates: the first session of each month, April 2015 to March 2026.
    decided_at
        When each decision is taken (UTC): after the close of its day.
    known_at
        When its outcome counts as known (UTC): the close 20 sessions later, or that of the next decision's day where
        this comes first.
    past
        Daily simple returns of the 60 sessions up to each decision, (n_dates, 60, 4).
    returns
        Daily simple returns of the 20 sessions after it, (n_dates, 20, 4).
    growth
        What 1 in each class has become at the decision and on each of the 20 sessions, (n_dates, 21, 4).
    rising
        g: whether the mean daily return of equities over the past 60 sessions is above 0, bool (n_dates,).
    best, worst
        Column of the class with the highest and the lowest return over the coming 20 sessions, (n_dates,).
    """

    days: tuple[date, ...]
    decided_at: tuple[datetime, ...]
    known_at: tuple[datetime, ...]
    past: NDArray[np.float64]
    returns: NDArray[np.float64]
    growth: NDArray[np.float64]
    rising: NDArray[np.bool_]
    best: NDArray[np.int64]
    worst: NDArray[np.int64]

    @property
    def n_dates(self) -> int:
        """Number of decisions."""
        return len(self.days)

    @property
    def identity(self) -> str:
        """Fingerprint of dates and returns."""
        return fingerprint([[str(day) for day in self.days], self.past.tolist(), self.returns.tolist()])

    def state(self, month: int) -> State:
        """What a policy sees before the decision of ``month`` (0-based); nothing of its outcome."""
        past = self.past[month]
        lines = [
            f"Date: {self.days[month].isoformat()}",
            "Market data (each asset is an equal-weighted index; returns in %; volatility = standard deviation of "
            "daily returns over the last 20 trading days, in %):",
        ]
        for column, name in enumerate(CLASSES):
            short, long = (100 * math.expm1(float(np.log1p(past[-n:, column]).sum())) for n in (_SHORT, LOOKBACK))
            volatility = 100 * past[-_SHORT:, column].std(ddof=1)
            lines.append(f"{name}: 20-day {short:+.2f}; 60-day {long:+.2f}; volatility {volatility:.2f}")
        return State(
            decided_at=self.decided_at[month],
            text="\n".join(lines),
            situation=class_situation(CLASSES, past),
            assets=CLASSES,
            holdings=(0.25,) * len(CLASSES),
        )


def build(dates: Sequence[date], levels: NDArray[np.float64], *, months: int = MONTHS) -> PlantedMarket:
    """The market of ``months`` decisions from daily index levels.

    Parameters
    ----------
    dates
        Trading sessions, ascending.
    levels
        Index levels, (n_sessions, 4) in the order of :data:`CLASSES`.
    months
        Number of decisions, from April 2015 on.

    Raises
    ------
    PricesError
        When the sessions do not reach 60 back from the first decision or 20 on from the last.
    """
    rows = _first_sessions(dates)[:months]
    if len(rows) < months or rows[0] < LOOKBACK or rows[-1] + HOLDING >= len(dates):
        raise PricesError(
            f"{months} monthly decisions from April 2015 need {LOOKBACK} sessions before the first and {HOLDING} after "
            f"the last; the prices from {dates[0]} to {dates[-1]} have not enough"
        )
    start = np.array(rows)
    windows = levels[start[:, None] + np.arange(-LOOKBACK, HOLDING + 1)]
    daily = windows[:, 1:] / windows[:, :-1] - 1.0
    past, returns = daily[:, :LOOKBACK], daily[:, LOOKBACK:]
    growth = np.ones((months, HOLDING + 1, levels.shape[1]))
    np.cumprod(1.0 + returns, axis=1, out=growth[:, 1:])
    days = tuple(dates[row] for row in rows)
    closes = [known_at(dates[row + HOLDING]) for row in rows]
    nexts = [*(known_at(day) for day in days[1:]), closes[-1]]
    return PlantedMarket(
        days=days,
        decided_at=tuple(decided_at(day) for day in days),
        known_at=tuple(min(pair) for pair in zip(closes, nexts, strict=True)),
        past=_frozen(past),
        returns=_frozen(returns),
        growth=_frozen(growth),
        rising=_frozen(past[:, :, CLASSES.index("equities")].mean(axis=1) > 0),
        best=_frozen(growth[:, -1].argmax(axis=1)),
        worst=_frozen(growth[:, -1].argmin(axis=1)),
    )


@cache
def load_market() -> PlantedMarket:
    """The bundled market."""
    from memtrial.market.classalloc import load

    bundled = load()
    return build(bundled.dates, bundled.levels[:, [ASSETS.index(name) for name in CLASSES]])


def _first_sessions(dates: Sequence[date]) -> list[int]:
    """Rows of the first session of each month from April 2015."""
    starts = [
        row
        for row, day in enumerate(dates)
        if row and (day.year, day.month) != (dates[row - 1].year, dates[row - 1].month)
    ]
    return [row for row in starts if (dates[row].year, dates[row].month) >= (2015, 4)]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    whole = np.ascontiguousarray(array)
    whole.setflags(write=False)
    return whole
