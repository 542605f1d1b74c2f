"""One draft of the occasion, made with a subset of the recalled experiences: how it is chosen and what it earned."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Action, Occasion, Realised, Settlement
from memtrial.bench.methods.own_action import own_action

Subset = tuple[int, ...]
"""Ranks of experiences, ascending."""

EXPLORATION = 0.1
"""Share of dates on which a learner from outcomes tries a random pair."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Choice(Action):
    """A draft that was deployed; ``subset`` is what it was made with, ``None`` when the reference stands in for it."""

    subset: Subset | None = None


class Chooser(ABC):
    """A method that deploys the draft made with a subset that it chooses.

    Where that draft is missing the reference is held, and no experience was used.
    """

    name: str
    label: str

    @abstractmethod
    def choose(self, occasion: Occasion) -> Subset:
        """The subset to be drafted with."""

    def act(self, occasion: Occasion) -> Choice:
        """The draft of the chosen subset."""
        subset = self.choose(occasion)
        weights = _drafted(occasion, subset)
        if weights is None:
            return Choice(weights=occasion.reference)
        return Choice(weights=weights, subset=subset)

    @abstractmethod
    def learn(self, settlement: Settlement) -> None:
        """Take in an outcome."""


class SimilarityTop(Chooser):
    """The draft made with the ``n`` most similar experiences (retrieval, Lewis et al., 2020)."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.name, self.label = f"top_{n}", f"Top-{n} similarity"

    def choose(self, occasion: Occasion) -> Subset:
        """The first ``n`` ranks."""
        return tuple(range(min(self.n, occasion.design.k)))

    def learn(self, settlement: Settlement) -> None:
        """Nothing to learn."""


class MemoryFree(SimilarityTop):
    """The design's draft without experiences (zero-shot)."""

    def __init__(self) -> None:
        super().__init__(0)
        self.name, self.label = "memory_free", "Memory-free"


def best_pair(scores: Sequence[float]) -> Subset:
    """Ranks of the two highest of ``scores``, (k,); ties go to the more similar, and fewer than two are all taken."""
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)  # stable also in reverse
    return tuple(sorted(order[:2]))


def random_pair(rng: np.random.Generator, k: int) -> Subset:
    """Two of ``k`` ranks at random, all pairs alike; all ranks when there are fewer than two."""
    pairs = _pairs(k)
    return pairs[int(rng.integers(len(pairs)))]


@lru_cache(maxsize=16)
def _pairs(k: int) -> tuple[Subset, ...]:
    return tuple(combinations(range(k), min(k, 2)))


def used(settlement: Settlement) -> list[str]:
    """Ids of the experiences that the deployed draft was made with.

    Raises
    ------
    InputError
        When the settlement does not carry the action that a :class:`Chooser` returned.
    """
    subset, retrieved = own_action(settlement, Choice).subset, settlement.occasion.retrieved
    return [] if subset is None else [retrieved[rank] for rank in subset]


def earned(choice: Choice, realised: Realised) -> float:
    """Utility of what was chosen, a fraction per period; from the shared utilities of the drafts where possible."""
    subsets = realised.occasion.design.subsets
    if choice.subset is not None and choice.subset in subsets:
        return float(realised.drafts[subsets.index(choice.subset)])
    return float(realised.utilities(choice.weights[None])[0])


def beats_equal_weight(settlement: Settlement) -> bool:
    """Whether the decision earned more utility than 1/N, by more than rounding."""
    mine, market = settlement.utility, settlement.realised.equal_weight
    return mine > market and not math.isclose(mine, market, rel_tol=1e-12)


def _drafted(occasion: Occasion, subset: Subset) -> NDArray[np.float64] | None:
    subsets = occasion.design.subsets
    if subset not in subsets:
        return occasion.further(subset)
    weights = occasion.drafts[subsets.index(subset)]
    return weights if math.isfinite(float(weights.sum())) else None
