"""Invented occasions and outcomes for the tests of methods: no market, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods import Action, Method, Occasion, Realised, Settlement
from memtrial.portfolio import BALANCED, Mandate
from memtrial.trial import DesignKind, design

ASSETS = ("equities", "bonds", "cash", "commodities")
COST = 0.0015
FREE = Mandate(
    name="free", risky_cap=1.0, defensive_floor=0.0, risk_aversion=0.0, risky=(False,) * 4, defensive=(False,) * 4
)
BOUND = BALANCED.mandate(ASSETS, risky=("equities",), defensive=("bonds", "cash"))


def frozen(values: object) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass
class Date:
    """An occasion, and the daily returns after it."""

    occasion: Occasion
    returns: NDArray[np.float64]


def world(
    seed: int,
    n: int,
    *,
    ks: Sequence[int] = (4,),
    kind: DesignKind = "auto",
    pool: int = 8,
    missing: float = 0.0,
    further: bool = False,
) -> list[Date]:
    """``n`` dates with real differences between experiences; every array is read-only."""
    rng = np.random.default_rng(seed)
    tilts = rng.dirichlet([1.0] * 4, size=pool)
    content = rng.standard_normal((pool, 8))
    dates: list[Date] = []
    for number in range(n):
        planned = design(ks[number % len(ks)], kind)
        chosen = rng.choice(pool, planned.k, replace=False)
        base = rng.dirichlet([4.0] * 4, size=planned.n_drafts)
        pull = [
            tilts[chosen[list(subset)]].mean(axis=0) if subset else base[i] for i, subset in enumerate(planned.subsets)
        ]
        drafts = BOUND.project(0.5 * base + 0.5 * np.array(pull))
        drafts[rng.random(planned.n_drafts) < missing] = np.nan
        extra = frozen(BOUND.project(rng.dirichlet([4.0] * 4)))
        draws = BOUND.project(rng.dirichlet([4.0] * 4, size=8))
        occasion = Occasion(
            id=f"date {number}",
            decided_at=datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=30 * number),
            retrieved=tuple(f"experience {i}" for i in chosen),
            similarity=frozen(np.sort(rng.random(planned.k))[::-1]),
            features=frozen(content[chosen].reshape(planned.k, 8)),
            design=planned,
            drafts=frozen(drafts),
            memory_free=frozen(draws if number % 2 else np.empty((0, 4))),
            reference=frozen(draws.mean(axis=0)),
            equal_weight=frozen(BOUND.project(np.full(4, 0.25))),
            past_returns=frozen(rng.normal(0.0, 0.01, size=(60, 4))),
            holdings=frozen(np.full(4, 0.25)),
            mandate=BOUND,
            further=(lambda _, draft=extra: draft) if further else (lambda _: None),
        )
        dates.append(Date(occasion, frozen(rng.normal(0.001, 0.01, size=(20, 4)))))
    return dates


def settle(method: Method, date: Date, action: Action) -> Settlement:
    """Let ``method`` learn what came of ``action``."""
    realised = Realised(date.occasion, date.returns, COST)
    settlement = Settlement(
        action=action,
        utility=float(realised.utilities(action.weights[None])[0]),
        known_at=date.occasion.decided_at + timedelta(days=28),
        realised=realised,
    )
    method.learn(settlement)
    return settlement


def play(method: Method, dates: Sequence[Date]) -> list[Action]:
    """Act on every date; every outcome is known before the next one."""
    actions: list[Action] = []
    for date in dates:
        actions.append(method.act(date.occasion))
        settle(method, date, actions[-1])
    return actions


def plain(
    number: int,
    *,
    retrieved: Sequence[str] = ("a", "b", "c", "d"),
    similarity: Sequence[float] = (0.9, 0.8, 0.7, 0.6),
    returns: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    missing: Sequence[tuple[int, ...]] = (),
) -> Date:
    """A date with one day of ``returns``, no mandate, no costs from holdings, and a different draft per subset.

    Rank j pulls its draft to asset j: the draft of S is uniform over the assets in S, and 1/4 each of nothing.
    """
    k = len(retrieved)
    planned = design(k)
    drafts = np.array(
        [[(i in subset) / len(subset) if subset else 0.25 for i in range(4)] for subset in planned.subsets]
    )
    for subset in missing:
        drafts[planned.subsets.index(subset)] = np.nan
    occasion = replace(
        world(0, 1)[0].occasion,
        id=f"plain {number}",
        decided_at=datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=30 * number),
        retrieved=tuple(retrieved),
        similarity=frozen(similarity[:k]),
        features=frozen(np.zeros((k, 8))),
        design=planned,
        drafts=frozen(drafts),
        reference=frozen([0.1, 0.2, 0.3, 0.4]),
        equal_weight=frozen(np.full(4, 0.25)),
        memory_free=frozen(np.empty((0, 4))),
        holdings=frozen(np.full(4, 0.25)),
        mandate=FREE,
    )
    return Date(occasion, frozen([returns]))
