"""What an investor may hold, what holding it earned, and what it is compared with.

Pure NumPy, no I/O. "Paper" in this room is *MemTrial: Learning When to Trust Memory in LLM Portfolio Agents*.
"""

from __future__ import annotations

from memtrial.portfolio.investor import AGGRESSIVE, BALANCED, CONSERVATIVE, INVESTORS, Investor
from memtrial.portfolio.mandate import Mandate, project_stocks_and_cash
from memtrial.portfolio.reference import equal_weight, minimum_variance
from memtrial.portfolio.utility import (
    TRADING_COST,
    Decomposition,
    check_returns,
    check_weights,
    decompose,
    drift,
    portfolio_path,
    utilities,
    utility,
)
from memtrial.portfolio.wealth import WealthMetrics, falling_phases, relative

__all__ = [
    "AGGRESSIVE",
    "BALANCED",
    "CONSERVATIVE",
    "INVESTORS",
    "TRADING_COST",
    "Decomposition",
    "Investor",
    "Mandate",
    "WealthMetrics",
    "check_returns",
    "check_weights",
    "decompose",
    "drift",
    "equal_weight",
    "falling_phases",
    "minimum_variance",
    "portfolio_path",
    "project_stocks_and_cash",
    "relative",
    "utilities",
    "utility",
]
