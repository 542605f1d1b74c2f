"""One history, judged by every rule at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.guarantee.nulls import NULLS, Null
from memtrial.records import Verdict
from memtrial.trial import REFERENCE_WEIGHTS, Purse, Settings, Trial

START = datetime(2000, 1, 1, tzinfo=UTC)
EXPERIENCES, RECALLED, DIMENSIONS = 12, 4, 8

RULES: tuple[str, ...] = ("t_test", "purse", "guarded", "plain", "naive")
"""The paper's test; a purse without cap; the guarded preset, and the same with contributions pooled as they are; a
purse that bets while earlier bets are still open."""

FULL = 20.0
"""Wealth of full trust, 1 / alpha."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Which history: the name of its null, its number, and the seed of the run."""

    null: str
    number: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdicts:
    """By rule: whether memory was ever trusted (the wealth ever reached 1/alpha), and its mean weight."""

    ever: dict[str, bool]
    weight: dict[str, float]


def judged(ask: Ask) -> Verdicts:
    """Run the history; it depends on ``ask`` alone."""
    null = NULLS[ask.null]
    rng = np.random.default_rng(np.random.SeedSequence([ask.seed, list(NULLS).index(ask.null), ask.number]))
    added = null.draw(rng, null.dates, EXPERIENCES)
    market = 0.02 * rng.standard_normal(null.dates)
    recalled = np.array([rng.permutation(EXPERIENCES)[:RECALLED] for _ in range(null.dates)])
    content = rng.standard_normal((EXPERIENCES, DIMENSIONS))
    uncapped = {"trust": "purse", "graded": False, "cap": math.inf, "fixed_share": 0.0, "holding": null.overlap}
    trials = {
        "t_test": Trial(Settings.paper()),
        "purse": Trial(Settings.paper(**uncapped)),
        "guarded": Trial(Settings.guarded(holding=null.overlap)),
        "plain": Trial(Settings.guarded(holding=null.overlap, scaled=False)),
    }
    ever, weights = dict.fromkeys(RULES, False), dict.fromkeys(RULES, 0.0)
    naive = Purse([0.5, 0.5], bet=0.5, fixed_share=0.0, cap=math.inf)
    scored: dict[int, list[float | None]] = {}
    for number in range(null.dates):
        if (late := scored.pop(number - null.overlap, None)) is not None:
            naive.settle(late)
            ever["naive"] |= naive.wealth >= FULL
        weights["naive"] += min(1.0, naive.wealth / FULL)
        for rule, trial in trials.items():
            verdict = _decide(trial, number, recalled[number], content)
            ever[rule] |= verdict.wealth >= FULL if rule != "t_test" else verdict.trusted
            weights[rule] += verdict.weight
            scores = _settle(trial, null, number, market[number], added[number, recalled[number]])
            if rule == "t_test":
                scored[number] = scores
    return Verdicts(
        ever={rule: bool(found) for rule, found in ever.items()},
        weight={rule: total / null.dates for rule, total in weights.items()},
    )


def _decide(trial: Trial, number: int, ranks: NDArray[np.int64], content: NDArray[np.float64]) -> Verdict:
    return trial.act(
        str(number),
        retrieved=[f"e{rank}" for rank in ranks.tolist()],
        features=content[ranks],
        valid=np.ones(trial.plan(RECALLED).n_drafts, dtype=np.bool_),
        at=START + timedelta(days=number),
    )


def _settle(trial: Trial, null: Null, number: int, market: float, added: NDArray[np.float64]) -> list[float | None]:
    """Deliver the outcome: what the market gave every draft, and what its experiences added."""
    plan = trial.plan(RECALLED)
    earned = market + plan.membership @ added
    learned = trial.settle(
        str(number),
        utilities=earned,
        blend_utilities=np.full(REFERENCE_WEIGHTS.size, market + 0.5 * added.sum()),
        known_at=START + timedelta(days=number + null.overlap),
    )
    return [learned.scores.get(learner) for learner in ("per_experience", "content_aware")]
