"""What every method earned on the same drafts, and the paper's Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.classalloc.result import CreditTable, MethodResult, Month, Summary
from memtrial.bench.correlation import spearman
from memtrial.bench.methods import LOOKBACK, Action, Deployment, Method, Occasion, Realised, Settlement, make
from memtrial.market.classalloc import ClassAllocMarket, DecisionDate, decided_at, known_at
from memtrial.portfolio import (
    TRADING_COST,
    Mandate,
    WealthMetrics,
    decompose,
    drift,
    equal_weight,
    falling_phases,
    portfolio_path,
)
from memtrial.records import Decision, Outcome, as_weights
from memtrial.trial import design

COMPARED: tuple[str, ...] = (
    "1/N",
    "minimum_variance",
    "memory_free",
    "top_2",
    "top_4",
    "finmem",
    "memrl",
    "reflexion",
    "expel",
    "uplift_credit",
    "counterfactual_selection",
    "draft_averaging",
    "hedge",
    "memtrial",
    "memtrial_guarded",
    "memtrial_never_trusts",
)
"""The methods of the table, in its order. Self-consistency needs memory-free draws that a run does not record."""


def evaluate(
    method: Method,
    *,
    market: ClassAllocMarket,
    months: tuple[DecisionDate, ...],
    decisions: tuple[Decision, ...],
    mandate: Mandate,
) -> MethodResult:
    """Run ``method`` over the drafts of ``decisions``, from its own holdings, learning outcomes as they are known."""
    holdings: NDArray[np.float64] = equal_weight(len(mandate.risky))
    done: list[Month] = []
    waiting: list[Settlement] = []
    for number, (when, decision) in enumerate(zip(months, decisions, strict=True)):
        for settlement in [item for item in waiting if item.known_at <= decided_at(when.day)]:
            method.learn(settlement)
            waiting.remove(settlement)
        if done:
            holdings = drift(np.array(done[-1].weights), market.returns_between(months[number - 1].day, when.day))
        occasion = _occasion(decision, market, when, holdings, mandate)
        action = method.act(occasion)
        returns = market.returns_between(when.day, when.outcome_day)
        done.append(month(when.day, action, holdings, returns, mandate))
        waiting.append(
            Settlement(
                action=action,
                utility=done[-1].utility,
                known_at=known_at(when.outcome_day),
                realised=Realised(occasion, returns, TRADING_COST),
            )
        )
    return _result(method.name, method.label, done, market, months)


def agent_result(
    name: str,
    decisions: tuple[Decision, ...],
    *,
    market: ClassAllocMarket,
    months: tuple[DecisionDate, ...],
    mandate: Mandate,
) -> MethodResult:
    """The deployed agent as a method: what it held, from what it held before."""
    done = [
        month(
            when.day,
            Action(weights=np.array(decision.action), memory_weight=decision.verdict.weight),
            np.array(decision.holdings),
            market.returns_between(when.day, when.outcome_day),
            mandate,
        )
        for when, decision in zip(months, decisions, strict=True)
    ]
    return _result(name, make(name, Deployment()).label, done, market, months)


def _result(
    name: str, label: str, done: list[Month], market: ClassAllocMarket, months: tuple[DecisionDate, ...]
) -> MethodResult:
    wealth = wealth_path(market, months, done)
    first = market.session(months[0].day)
    ends = [market.session(when.day) - first for when in months] + [len(wealth) - 1]
    return MethodResult(
        name=name,
        label=label,
        months=tuple(done),
        wealth=wealth,
        summary=summarise(done, wealth, [wealth[row] for row in ends]),
    )


def month(
    day: date, action: Action, holdings: NDArray[np.float64], returns: NDArray[np.float64], mandate: Mandate
) -> Month:
    """What ``action`` earned from ``holdings``, split into gross return, cost and risk."""
    parts = decompose(
        action.weights, returns, holdings=holdings, risk_aversion=mandate.risk_aversion, cost=TRADING_COST
    )
    return Month(
        day=day,
        weights=as_weights(action.weights.tolist()),
        holdings=as_weights(holdings.tolist()),
        trusted=action.trusted,
        memory_weight=action.memory_weight,
        gross_return=parts.gross_return,
        cost=parts.cost,
        risk=parts.risk,
        utility=parts.utility,
        turnover=parts.turnover,
    )


def wealth_dates(market: ClassAllocMarket, months: tuple[DecisionDate, ...]) -> tuple[date, ...]:
    """Trading dates from the first decision to the end of the last holding period."""
    return market.dates[market.session(months[0].day) : market.session(months[-1].outcome_day) + 1]


def wealth_path(market: ClassAllocMarket, months: tuple[DecisionDate, ...], done: Sequence[Month]) -> tuple[float, ...]:
    """Daily wealth from 1: each decision pays its cost and is held to the next one (paper, Appendix D.6)."""
    ends = [*(when.day for when in months[1:]), months[-1].outcome_day]
    wealth = [1.0]
    for when, end, held in zip(months, ends, done, strict=True):
        path = portfolio_path(np.array(held.weights), market.returns_between(when.day, end))
        start = wealth[-1] * (1.0 - held.cost)
        wealth.extend((start * path).tolist())
    return tuple(wealth)


def summarise(done: Sequence[Month], daily: Sequence[float], monthly: Sequence[float]) -> Summary:
    """The test period in figures, from wealth on every session and on every decision date."""
    metrics = WealthMetrics.from_path(np.array(monthly), periods_per_year=12)
    mean = {
        name: 100 * float(np.mean([getattr(entry, name) for entry in done]))
        for name in ("utility", "gross_return", "cost", "risk", "memory_weight")
    }
    return Summary(
        utility_pct_month=mean["utility"],
        gross_pct_month=mean["gross_return"],
        cost_pct_month=mean["cost"],
        risk_pct_month=mean["risk"],
        cumulative_return_pct=100 * metrics.cumulative_return,
        sharpe=metrics.sharpe,
        max_drawdown_pct=100 * metrics.max_drawdown,
        daily_drawdown_pct=100 * WealthMetrics.from_path(np.array(daily)).max_drawdown,
        trust_rate_pct=mean["memory_weight"],
    )


def falling(market: ClassAllocMarket, months: tuple[DecisionDate, ...]) -> tuple[tuple[date, date], ...]:
    """Phases in which the equities class lost at least 5 %, on the index compounded over the holding periods."""
    index = [1.0]
    for when in months:
        index.append(index[-1] * float(np.prod(1 + market.returns_between(when.day, when.outcome_day)[:, 0])))
    ends = [*(when.day for when in months), months[-1].outcome_day]
    return tuple((ends[peak], ends[trough]) for peak, trough in falling_phases(np.array(index)))


def credit_table(decisions: Sequence[Decision], outcomes: Sequence[Outcome], reference: Sequence[Month]) -> CreditTable:
    """Outcome credit against contribution, each against the market, over every (date, experience) (Table 1)."""
    points: list[tuple[float, float, float]] = []
    for decision, outcome, equal in zip(decisions, outcomes, reference, strict=True):
        if outcome.contributions is None:
            continue
        shown = design(len(decision.recall.shown), decision.design).membership
        # A draft beyond the design (of the experiences valued above 0) belongs to no experience's two halves.
        designed = outcome.draft_utilities[: len(shown)]
        earned = np.array([np.nan if value is None else value for value in designed])
        for rank, effect in enumerate(outcome.contributions):
            points.append((float(np.nanmean(earned[shown[:, rank]])), effect, equal.utility))
    table = np.array(points).reshape(-1, 3)

    def correlation(first: int, second: int) -> float:
        return spearman(table[:, first], table[:, second]) if len(table) >= 3 else float("nan")

    return CreditTable(
        outcome_credit_vs_market=correlation(0, 2),
        contribution_vs_market=correlation(1, 2),
        outcome_credit_vs_contribution=correlation(0, 1),
        points=tuple(points),
    )


def _occasion(
    decision: Decision,
    market: ClassAllocMarket,
    when: DecisionDate,
    holdings: NDArray[np.float64],
    mandate: Mandate,
) -> Occasion:
    n_assets, k = len(mandate.risky), len(decision.recall.shown)
    planned = design(k, decision.design)
    recorded = {
        draft.subset: np.array(weights)
        for draft, weights in zip(decision.drafts, decision.projected, strict=True)
        if weights is not None
    }
    missing = np.full(n_assets, np.nan)
    return Occasion(
        id=decision.id,
        decided_at=decision.decided_at,
        retrieved=tuple(experience.id for experience in decision.recall.experiences),
        similarity=np.array([item.similarity for item in decision.recall.shown]),
        features=np.array(decision.features).reshape(k, -1),
        design=planned,
        drafts=np.array([recorded.get(subset, missing) for subset in planned.subsets]),
        memory_free=np.empty((0, n_assets)),
        reference=np.array(decision.reference),
        equal_weight=mandate.project(equal_weight(n_assets)),
        past_returns=market.returns_before(when.day, LOOKBACK),
        holdings=holdings,
        mandate=mandate,
        further=recorded.get,
    )
