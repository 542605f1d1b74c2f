"""Filling the memory: 58 warm-up months, one experience per settled decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from memtrial.errors import InputError
from memtrial.market.classalloc import ASSETS, ClassAllocMarket, DecisionDate, decided_at, known_at
from memtrial.models.embedders import Embedder
from memtrial.policy.contract import Policy, draft_all
from memtrial.records import Draft, Experience, State, Usage, as_weights, fingerprint
from memtrial.reflect import Reflector, Settled
from memtrial.store import Store

AT_ONCE = 8


def state_on(market: ClassAllocMarket, date: DecisionDate, holdings: Sequence[float] | None = None) -> State:
    """What the agent sees on a decision date."""
    return State(
        decided_at=decided_at(date.day),
        text=market.context(date.day),
        situation=market.situation(date.day),
        assets=ASSETS,
        holdings=None if holdings is None else tuple(holdings),
    )


async def fill_memory(
    policy: Policy,
    *,
    store: Store,
    scope: str,
    market: ClassAllocMarket,
    embedder: Embedder,
    reflector: Reflector,
    on_month: Callable[[], None],
) -> tuple[int, Usage]:
    """Draft every warm-up month without memory and remember what came of it.

    A month without a valid draft leaves no experience. What is already in the memory is not asked for again.

    Returns
    -------
    How many experiences the memory of the warm-up holds, and what drafting took.
    """
    months = [date for date in market.decisions if date.split == "warmup"]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(date: DecisionDate) -> tuple[Experience | None, Draft]:
        async with gate:
            (draft,) = await draft_all(policy, state_on(market, date), (), ((),))
            experience = await _experience(draft, date, market, reflector)
        on_month()
        return experience, draft

    made = await asyncio.gather(*(one(date) for date in months))
    written = [experience for experience, _ in made if experience is not None]
    if not written:
        raise InputError(f"no warm-up month had a valid draft ({made[0][1].problem}); check the policy")
    vectors = embedder.embed([experience.situation for experience in written])
    for experience, vector in zip(written, vectors, strict=True):
        store.add_experience(scope, experience, embedder=embedder.identity, vector=vector)
    return len(written), sum((draft.usage for _, draft in made), Usage())


async def _experience(
    draft: Draft, date: DecisionDate, market: ClassAllocMarket, reflector: Reflector
) -> Experience | None:
    if draft.weights is None:
        return None
    moves = np.prod(1.0 + market.returns_between(date.day, date.outcome_day), axis=0) - 1.0
    return await reflector(
        Settled(
            decision_id=f"warmup-{date.day}-{fingerprint([draft.requests, draft.weights])[:8]}",
            decided_at=decided_at(date.day),
            situation=market.situation(date.day),
            state_text=market.context(date.day),
            assets=ASSETS,
            weights=draft.weights,
            asset_returns=as_weights(moves.tolist()),
            known_at=known_at(date.outcome_day),
        )
    )
