"""Filling the memory: 58 warm-up months without memory, one experience per settled decision."""

from __future__ import annotations

from collections.abc import Callable

from memtrial.agent import Agent
from memtrial.bench.classalloc.deployment import deploy
from memtrial.errors import InputError
from memtrial.market.classalloc import ASSETS, ClassAllocMarket
from memtrial.models.embedders import Embedder
from memtrial.policy.contract import Policy
from memtrial.records import Decision
from memtrial.reflect import Reflector
from memtrial.store import Store
from memtrial.trial import Settings

AGENT = "warmup"


async def fill_memory(
    policy: Policy,
    *,
    store: Store,
    scope: str,
    market: ClassAllocMarket,
    embedder: Embedder,
    reflector: Reflector,
    on_month: Callable[[], object],
) -> tuple[Decision, ...]:
    """Deploy an agent that recalls nothing and holds its draft as it is, and let it remember what came of it.

    What the store already holds is not asked for again.

    Raises
    ------
    InputError
        When no month had a valid draft: there is nothing worth remembering.
    """
    agent = Agent(
        memory=store,
        policy=policy,
        assets=ASSETS,
        k=0,
        settings=Settings.paper(alpha0=0.0),  # no weight on the reference: the draft is what is held
        embedder=embedder,
        reflector=reflector,
        scope=scope,
        name=AGENT,
    )
    months = tuple(date for date in market.decisions if date.split == "warmup")
    decisions, _ = await deploy(agent, market, months, on_month)
    if all(decision.mean_draft is None for decision in decisions):
        raise InputError(f"no warm-up month had a valid draft ({decisions[0].drafts[0].problem}); check the policy")
    return decisions
