"""ClassAlloc: five asset classes, monthly decisions, outcomes over the next 20 sessions (paper, Appendix D.3).

Decision and outcome dates are US trading sessions. A session's closes are *known* at 21:00 UTC of its date; a decision
is taken at 22:00 UTC of its date, at those closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cache
from importlib import resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import PricesError
from memtrial.market.situation import class_situation

ASSETS = ("equities", "bonds", "commodities", "real_estate", "cash")
RISKY = ("equities", "real_estate")
DEFENSIVE = ("bonds", "cash")
HOLDING_SESSIONS = 20
ONE_MONTH, THREE_MONTHS, SIX_MONTHS = 21, 63, 126

ROLE = (
    "You are a portfolio manager. Each month you set a long-only allocation across four asset classes "
    "(equities, bonds, commodities, real_estate) and cash, held for the next 20 trading days."
)
"""System message of a ClassAlloc decision."""


def known_at(day: date) -> datetime:
    """When the closes of ``day`` were known (UTC)."""
    return datetime.combine(day, time(21, 0), UTC)


def decided_at(day: date) -> datetime:
    """When the decision of ``day`` is taken (UTC)."""
    return datetime.combine(day, time(22, 0), UTC)


@dataclass(frozen=True, kw_only=True)
class DecisionDate:
    """A monthly decision: its session, the session 20 later, and its part of the benchmark."""

    day: date
    outcome_day: date
    split: Literal["warmup", "test"]


@dataclass(frozen=True, kw_only=True)
class ClassAllocMarket:
    """Index levels and the calendar of decisions.

    ``levels`` has shape (n_sessions, 5) in the order of :data:`ASSETS`; ``dates`` its trading dates.
    """

    dates: tuple[date, ...]
    levels: NDArray[np.float64]
    decisions: tuple[DecisionDate, ...]

    def session(self, day: date) -> int:
        """Row of ``day`` in ``levels``."""
        row = int(np.searchsorted(self._ordinals(), day.toordinal()))
        if row == len(self.dates) or self.dates[row] != day:
            raise PricesError(f"{day} is not a trading session between {self.dates[0]} and {self.dates[-1]}")
        return row

    def returns_between(self, first: date, last: date) -> NDArray[np.float64]:
        """Daily simple returns after the close of ``first`` up to the close of ``last``, shape (n_days, 5)."""
        window = self.levels[self.session(first) : self.session(last) + 1]
        return window[1:] / window[:-1] - 1.0

    def returns_before(self, day: date, n_days: int) -> NDArray[np.float64]:
        """The ``n_days`` daily returns up to and including the close of ``day``, shape (n_days, 5)."""
        row = self.session(day)
        if row < n_days:
            raise PricesError(f"{day} has {row} sessions before it; {n_days} are needed")
        window = self.levels[row - n_days : row + 1]
        return window[1:] / window[:-1] - 1.0

    def context(self, day: date) -> str:
        """The market data a policy reads: returns over 1, 3 and 6 months and volatility, in percent."""
        past = self.returns_before(day, SIX_MONTHS)
        lines = [
            f"Date: {day.isoformat()}",
            "Market data (each asset is an equal-weighted index of exchange-traded assets; returns in %; volatility = "
            "standard deviation of daily returns over the last 20 trading days, in %):",
        ]
        for column, asset in enumerate(ASSETS):
            month, quarter, half = (
                100 * (np.prod(1 + past[-days:, column]) - 1) for days in (ONE_MONTH, THREE_MONTHS, SIX_MONTHS)
            )
            volatility = 100 * past[-20:, column].std(ddof=1)
            moves = f"1-month {month:+.2f}; 3-month {quarter:+.2f}; 6-month {half:+.2f}"
            lines.append(f"{asset}: {moves}; volatility {volatility:.2f}")
        return "\n".join(lines)

    def situation(self, day: date) -> str:
        """The same moment in words, without numbers and without outcome: what is embedded."""
        return class_situation(ASSETS, self.returns_before(day, SIX_MONTHS))

    def _ordinals(self) -> NDArray[np.int64]:
        return _ordinals(self.dates)


@cache
def _ordinals(dates: tuple[date, ...]) -> NDArray[np.int64]:
    return np.array([day.toordinal() for day in dates])


@cache
def load() -> ClassAllocMarket:
    """The bundled market: levels of January 2015 to July 2026 and 129 decisions (58 warm-up, 71 test)."""
    import polars

    folder = resources.files("memtrial.market") / "data"
    with (folder / "classalloc_levels.parquet").open("rb") as file:
        levels = polars.read_parquet(file)
    with (folder / "classalloc_decisions.parquet").open("rb") as file:
        decisions = polars.read_parquet(file)
    return ClassAllocMarket(
        dates=tuple(levels["date"].to_list()),
        levels=levels.select(ASSETS).to_numpy().astype(np.float64),
        decisions=tuple(
            DecisionDate(day=row["date"], outcome_day=row["outcome_date"], split=row["split"])
            for row in decisions.iter_rows(named=True)
        ),
    )


def bundled_outcomes(assets: Sequence[str] = ASSETS) -> NDArray[np.float64]:
    """The shipped 20-session return of each class after each decision, shape (n_decisions, n_assets)."""
    import polars

    with (resources.files("memtrial.market") / "data" / "classalloc_decisions.parquet").open("rb") as file:
        return polars.read_parquet(file).select([f"return_{asset}" for asset in assets]).to_numpy()
