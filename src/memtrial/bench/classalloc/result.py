"""What a ClassAlloc run found: the nouns that tables, report and JSON are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from memtrial.portfolio import Investor
from memtrial.records import Decision, Outcome, Usage, Weights
from memtrial.trial import Settings, Value


def deployed_method(settings: Settings) -> str:
    """Name in the tables of an agent that runs with ``settings``."""
    return "memtrial_guarded" if settings.trust == "purse" else "memtrial"


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """One month of one method: what it held and what that earned.

    ``weights`` are held from ``day``; ``holdings`` are the drifted weights just before. ``memory_weight`` is the share
    of the capital that learned values of memory moved, ``trusted`` whether that was all of it. ``gross_return``,
    ``cost``, ``risk`` and ``utility`` are fractions over the 20 sessions after ``day``, with utility = gross − cost −
    risk; ``turnover`` is the L1 distance traded.
    """

    day: date
    weights: Weights
    holdings: Weights
    trusted: bool
    memory_weight: float
    gross_return: float
    cost: float
    risk: float
    utility: float
    turnover: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A method's test period in figures.

    Percent per month, averaged over the months: ``utility_pct_month`` = ``gross_pct_month`` − ``cost_pct_month`` −
    ``risk_pct_month``. ``cumulative_return_pct``, ``sharpe`` (annualised) and ``max_drawdown_pct`` come from wealth
    on decision dates, net of costs, as in the paper (Table 4); ``daily_drawdown_pct`` is the deeper drawdown seen on
    every session. ``trust_rate_pct`` is the mean share of the capital that memory moved; where it moves all or nothing,
    the share of decisions that acted on memory.
    """

    utility_pct_month: float
    gross_pct_month: float
    cost_pct_month: float
    risk_pct_month: float
    cumulative_return_pct: float
    sharpe: float
    max_drawdown_pct: float
    daily_drawdown_pct: float
    trust_rate_pct: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodResult:
    """One method for one investor. ``wealth`` has one value per date of ``ClassAllocResult.wealth_dates``, from 1."""

    name: str
    label: str
    months: tuple[Month, ...]
    wealth: tuple[float, ...]
    summary: Summary


@dataclass(frozen=True, kw_only=True, slots=True)
class InvestorResult:
    """One investor: every method, and the agent's own decisions, outcomes and learned values.

    ``decisions`` and ``outcomes`` are in the order of time, one per test month; ``values`` has every measured
    experience.
    """

    investor: Investor
    methods: Mapping[str, MethodResult]
    decisions: tuple[Decision, ...]
    outcomes: tuple[Outcome, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditTable:
    """Spearman correlations over every (date, recalled experience) of one investor (paper, Table 1).

    *Outcome credit* is the mean utility of the drafts that used an experience, *contribution* that minus the mean of
    the drafts that did not (Eq. 3), *market* the utility of 1/N over the same period. ``points`` holds the three
    numbers (credit, contribution, market) as fractions; ``n`` is their count.
    """

    outcome_credit_vs_market: float
    contribution_vs_market: float
    outcome_credit_vs_contribution: float
    points: tuple[tuple[float, float, float], ...]

    @property
    def n(self) -> int:
        """Number of (date, experience) pairs."""
        return len(self.points)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassAllocResult:
    """A whole run.

    Attributes
    ----------
    assets
        The five classes, in the order of every weight vector.
    policy
        Identity of the policy that drafted.
    settings
        Settings of the trial that the agents ran with; the other preset is a row beside theirs.
    grown
        Whether the pool of experiences grew during the test; otherwise it stays what the warm-up wrote.
    warmup_months, experiences
        Months of the warm-up, and experiences that the memory held at the first test decision.
    days
        Test decision days.
    class_returns
        Return of each class over the 20 sessions after each decision, (n_months, n_assets) fractions.
    wealth_dates
        Trading dates of the wealth paths, from the first decision to the end of the last holding period.
    falling
        Phases (peak, trough) in which the equities class lost at least 5 % (paper, Appendix D.6).
    investors
        Results by investor name, in the order conservative, balanced, aggressive.
    credit
        Table 1 on this run, balanced investor.
    usage
        What drafting took, warm-up included; each request counted once, at the cost of its original call.
    missing_drafts
        Drafts without a valid answer; each counted once.
    """

    assets: tuple[str, ...]
    policy: str
    settings: Settings
    grown: bool
    warmup_months: int
    experiences: int
    days: tuple[date, ...]
    class_returns: tuple[Weights, ...]
    wealth_dates: tuple[date, ...]
    falling: tuple[tuple[date, date], ...]
    investors: Mapping[str, InvestorResult]
    credit: CreditTable
    usage: Usage
    missing_drafts: int

    @property
    def deployed(self) -> str:
        """The deployed agent's name among the methods."""
        return deployed_method(self.settings)

    @property
    def preset(self) -> Literal["guarded", "paper"]:
        """The preset that the deployed agent follows."""
        return "guarded" if self.settings.trust == "purse" else "paper"
