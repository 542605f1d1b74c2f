"""Which memory is called what, in every permuted run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.permute.dates import TrialledDate, TrialledRun

Key = tuple[date, tuple[str, ...]]


def shuffles(runs: Sequence[TrialledRun], permutations: int, rng: np.random.Generator) -> dict[Key, NDArray[np.intp]]:
    """For each set of memories recalled on a day, orders of its sorted ids, (k, 1 + permutations); column 0 is theirs.

    Runs that recalled the same memories on the same day share their drafts, so they share the shuffle: it is one
    event. Sharing never makes the test too eager, it only permutes less.
    """
    keys = sorted({key(dated) for run in runs for dated in run.dates})
    drawn: dict[Key, NDArray[np.intp]] = {}
    for entry in keys:
        k = len(entry[1])
        orders = rng.random((k, permutations)).argsort(axis=0, kind="stable")
        drawn[entry] = np.concatenate([np.arange(k)[:, None], orders], axis=1)
    return drawn


def key(dated: TrialledDate) -> Key:
    """The day (UTC) and the sorted ids of a decision."""
    return dated.decided_at.date(), tuple(sorted(dated.ids))
