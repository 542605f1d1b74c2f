"""Agents that judge an experience by the outcomes of the decisions that used it (paper, Appendix D.2, marked †).

Each is the rule by which the method of that name scores memories, over the experiences that were recalled. A score of
0 is that of an experience that was never used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Occasion, Settlement
from memtrial.bench.methods.drafts import EXPLORATION, Chooser, Subset, beats_equal_weight, best_pair, random_pair, used


class ScoredChooser(Chooser):
    """Base of methods that keep one number per experience and use the two with the highest."""

    def __init__(self) -> None:
        self._scores: defaultdict[str, float] = defaultdict(float)

    def choose(self, occasion: Occasion) -> Subset:
        """The two with the highest scores; ties go to the more similar."""
        return best_pair([self._scores[name] for name in occasion.retrieved])

    def worth(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores, (n,)."""
        del features
        return np.array([self._scores.get(name, 0.0) for name in ids])


class Voting(ScoredChooser):
    """Base of the rules that count: one up for what was used when the decision beats 1/N, one down otherwise."""

    def learn(self, settlement: Settlement) -> None:
        """Count."""
        vote = 1.0 if beats_equal_weight(settlement) else -1.0
        for name in used(settlement):
            self._scores[name] += vote


class FinMem(Voting):
    """Similarity plus an importance that feedback reinforces (Yu et al., 2025).

    The importance of what was used rises by 0.1 when the decision beats 1/N, and falls by 0.1 otherwise.
    """

    name, label = "finmem", "FinMem"
    step = 0.1

    def choose(self, occasion: Occasion) -> Subset:
        """The two with the highest sum of similarity and importance."""
        similarity: list[float] = occasion.similarity.tolist()
        pairs = zip(similarity, occasion.retrieved, strict=True)
        return best_pair([near + self.step * self._scores[name] for near, name in pairs])


class ExpeL(Voting):
    """The experiences with the most votes (Zhao et al., 2024), each decision being a vote on what it used."""

    name, label = "expel", "ExpeL"


class MemRL(ScoredChooser):
    """A value per experience that follows the utilities of the decisions that used it (Zhang et al., 2026).

    Q moves a tenth of the way to the utility, from 0; a tenth of the dates try a random pair.
    """

    name, label = "memrl", "MemRL"
    rate = 0.1

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self._rng = rng

    def choose(self, occasion: Occasion) -> Subset:
        """The two with the highest values, or any two."""
        if self._rng.random() < EXPLORATION:
            return random_pair(self._rng, occasion.design.k)
        return super().choose(occasion)

    def learn(self, settlement: Settlement) -> None:
        """Move the values of what was used."""
        for name in used(settlement):
            self._scores[name] += self.rate * (settlement.utility - self._scores[name])
