"""Small finished runs with memories of known worth, for the tests of the permutation test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from memtrial.bench.permute import TrialledDate, TrialledRun
from memtrial.trial import design

START = datetime(2021, 1, 4, 12, tzinfo=UTC)


def planted(
    seed: int,
    *,
    n: int = 30,
    pool: int = 8,
    k: int = 4,
    d: int = 3,
    worth: float = 0.0,
    content: float = 0.0,
    delay: float = 6.0,
    missing: float = 0.0,
    name: str = "run",
) -> TrialledRun:
    """Weekly decisions; each memory shown adds its worth, of spread ``worth`` (own) and ``content`` (by content)."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((pool, d))
    value = worth * rng.standard_normal(pool) + content * features[:, 0]
    dates = []
    for number in range(n):
        ranks = rng.choice(pool, k, replace=False)
        plan = design(k)
        earned = rng.standard_t(3) * 0.02 + plan.membership @ value[ranks] + rng.normal(0, 0.01, plan.n_drafts)
        earned[rng.random(plan.n_drafts) < missing] = np.nan
        at = START + timedelta(weeks=number)
        dates.append(
            TrialledDate(
                decided_at=at,
                known_at=at + timedelta(days=delay * rng.uniform(0.5, 1.5)),
                ids=tuple(f"e{rank}" for rank in ranks),
                features=features[ranks],
                design=plan,
                utilities=earned,
            )
        )
    return TrialledRun(name=name, memory="pool", dates=tuple(dates))
