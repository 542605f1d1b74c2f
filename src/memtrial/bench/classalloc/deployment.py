"""An agent, deployed through a run of months."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.agent import Agent
from memtrial.market.classalloc import ASSETS, ClassAllocMarket, DecisionDate, decided_at, known_at
from memtrial.portfolio import drift, equal_weight
from memtrial.records import Decision, Outcome, State


def state_on(market: ClassAllocMarket, date: DecisionDate, holdings: Sequence[float]) -> State:
    """What the agent sees on a decision date."""
    return State(
        decided_at=decided_at(date.day),
        text=market.context(date.day),
        situation=market.situation(date.day),
        assets=ASSETS,
        holdings=tuple(holdings),
    )


async def deploy(
    agent: Agent, market: ClassAllocMarket, months: tuple[DecisionDate, ...], on_month: Callable[[], object]
) -> tuple[tuple[Decision, ...], tuple[Outcome, ...]]:
    """Decide every month and settle every outcome once its 20 sessions have passed.

    Holdings drift between decisions; the first decision starts from equal weight. Decisions and outcomes that the
    store already holds are taken from it, so that a run that was interrupted goes on where it stopped.

    Returns
    -------
    Decisions and outcomes, one each per month.
    """
    holdings: NDArray[np.float64] = equal_weight(len(agent.assets))
    decisions: list[Decision] = []
    waiting: list[tuple[DecisionDate, Decision]] = []
    outcomes: dict[str, Outcome] = {}

    async def settle(date: DecisionDate, decision: Decision) -> None:
        stored = agent.store.outcome(decision.id, as_of=known_at(date.outcome_day))
        outcomes[decision.id] = stored or await agent.asettle(
            decision.id,
            market.returns_between(date.day, date.outcome_day),
            known_at=known_at(date.outcome_day),
        )

    for date in months:
        for item in [item for item in waiting if known_at(item[0].outcome_day) <= decided_at(date.day)]:
            await settle(*item)
            waiting.remove(item)
        if decisions:
            holdings = drift(
                np.array(decisions[-1].action), market.returns_between(months[len(decisions) - 1].day, date.day)
            )
        decision = await agent.adecide(state_on(market, date, holdings.tolist()))
        decisions.append(decision)
        waiting.append((date, decision))
        on_month()
    for item in waiting:
        await settle(*item)
    return tuple(decisions), tuple(outcomes[decision.id] for decision in decisions)
