"""ClassAlloc: fill the memory, deploy an agent per investor, and compare methods on the same drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from memtrial.agent import Agent
from memtrial.bench.classalloc.deployment import deploy
from memtrial.bench.classalloc.evaluate import (
    COMPARED,
    agent_result,
    credit_table,
    evaluate,
    falling,
    wealth_dates,
)
from memtrial.bench.classalloc.result import ClassAllocResult, InvestorResult, deployed_method
from memtrial.bench.classalloc.warmup import fill_memory
from memtrial.bench.methods import Deployment, make
from memtrial.market.classalloc import ASSETS, DEFENSIVE, RISKY, ClassAllocMarket, DecisionDate, decided_at, load
from memtrial.models.embedders import Embedder, WordLlamaEmbedder
from memtrial.policy.contract import Policy, policy_identity
from memtrial.portfolio import INVESTORS, Investor
from memtrial.records import Decision, Draft, Usage, as_weights
from memtrial.reflect import Reflector, write_record
from memtrial.store import Store
from memtrial.trial import Settings

PRIMARY = "balanced"
SEED = 0
"""Seed of the methods that draw lots."""


async def run_classalloc(
    policy: Policy,
    *,
    store: Store,
    scope: str,
    market: ClassAllocMarket | None = None,
    months: int | None = None,
    grow: bool = False,
    settings: Settings | None = None,
    reflector: Reflector = write_record,
    embedder: Embedder | None = None,
    on_month: Callable[[str], object] = str,
) -> ClassAllocResult:
    """Run the benchmark with any policy.

    Parameters
    ----------
    policy
        Who drafts.
    store, scope
        Where decisions and experiences are kept, and under which name; a run that was interrupted goes on there.
    market
        The market; the bundled one by default.
    months
        Only the first ``months`` test months; all 71 by default.
    grow
        Whether settled test months become experiences too. By default the pool stays what the warm-up wrote, as in
        the paper.
    settings
        Settings of the trial that is deployed, the design among them; ``Settings.guarded()`` by default. The other
        preset is evaluated on the same drafts, from holdings of its own.
    reflector
        How a settled decision becomes an experience.
    embedder
        How situations are compared.
    on_month
        Called after every month with ``"warmup"`` or the investor's name, for progress.
    """
    market = market or load()
    settings = settings or Settings.guarded()
    embedder = embedder or WordLlamaEmbedder()
    test = tuple(date for date in market.decisions if date.split == "test")[:months]
    results: dict[str, InvestorResult] = {}
    warmup: dict[str, tuple[Decision, ...]] = {}
    for name, investor in INVESTORS.items():
        # Records of an investor's own decisions are its own memory; those of the warm-up are shared.
        pool = f"{scope}/{name}" if grow else scope
        if pool not in warmup:
            warmup[pool] = await fill_memory(
                policy,
                store=store,
                scope=pool,
                market=market,
                embedder=embedder,
                reflector=reflector,
                on_month=partial(on_month, "warmup"),
            )
        agent = Agent(
            memory=store,
            policy=policy,
            assets=ASSETS,
            mandate=investor.mandate(ASSETS, risky=RISKY, defensive=DEFENSIVE),
            settings=settings,
            reflector=reflector if grow else None,
            embedder=embedder,
            scope=pool,
            name=name,
        )
        results[name] = await _investor(agent, investor, market, test, partial(on_month, name))
    primary = results[PRIMARY]
    decisions = [item for found in (*warmup.values(), *(r.decisions for r in results.values())) for item in found]
    return ClassAllocResult(
        assets=ASSETS,
        policy=policy_identity(policy),
        settings=settings,
        grown=grow,
        warmup_months=sum(date.split == "warmup" for date in market.decisions),
        experiences=primary.decisions[0].recall.pool,
        days=tuple(date.day for date in test),
        class_returns=tuple(_class_returns(market, date) for date in test),
        wealth_dates=wealth_dates(market, test),
        falling=falling(market, test),
        investors=results,
        credit=credit_table(primary.decisions, primary.outcomes, primary.methods["1/N"].months),
        usage=_usage(decisions),
        missing_drafts=sum(draft.weights is None for draft in _distinct(decisions)),
    )


async def _investor(
    agent: Agent,
    investor: Investor,
    market: ClassAllocMarket,
    test: tuple[DecisionDate, ...],
    on_month: Callable[[], object],
) -> InvestorResult:
    decisions, outcomes = await deploy(agent, market, test, on_month)
    deployed = deployed_method(agent.settings)
    methods = {
        name: agent_result(name, decisions, market=market, months=test, mandate=agent.mandate)
        if name == deployed
        else evaluate(
            make(name, _deployment(agent, number)),
            market=market,
            months=test,
            decisions=decisions,
            mandate=agent.mandate,
        )
        for number, name in enumerate(COMPARED)
    }
    end = max(outcome.known_at for outcome in outcomes)
    return InvestorResult(
        investor=investor,
        methods=methods,
        decisions=decisions,
        outcomes=outcomes,
        values=agent.values(as_of=max(end, decided_at(test[-1].day))),
    )


def _deployment(agent: Agent, number: int) -> Deployment:
    """What the ``number``-th method of the table is made with: the agent's design, and randomness of its own."""
    return Deployment(
        design=agent.settings.design,
        dimensions=agent.settings.dimensions,
        rng=np.random.default_rng(np.random.SeedSequence([SEED, number])),
    )


def _distinct(decisions: Sequence[Decision]) -> list[Draft]:
    """Every draft once: investors who share a memory share their requests."""
    drafts = {
        draft.requests or (decision.id, draft.subset): draft for decision in decisions for draft in decision.drafts
    }
    return list(drafts.values())


def _usage(decisions: Sequence[Decision]) -> Usage:
    return sum((draft.usage for draft in _distinct(decisions)), Usage())


def _class_returns(market: ClassAllocMarket, date: DecisionDate) -> tuple[float, ...]:
    moves = np.prod(1.0 + market.returns_between(date.day, date.outcome_day), axis=0) - 1.0
    return as_weights(moves.tolist())
