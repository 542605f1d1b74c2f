"""Counterfactual selection: contributions without a value model, a test or an anchor (paper, Appendix D.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Occasion, Settlement
from memtrial.bench.methods.drafts import Chooser, Subset, best_pair
from memtrial.trial import contributions


class CounterfactualSelection(Chooser):
    """The draft with the two experiences of highest mean past contribution (Wang and Jia, 2023).

    An experience that was never measured counts 0; ties go to the more similar.
    """

    name, label = "counterfactual_selection", "Counterfactual selection"

    def __init__(self) -> None:
        self._sum: defaultdict[str, float] = defaultdict(float)
        self._count: defaultdict[str, int] = defaultdict(int)

    def choose(self, occasion: Occasion) -> Subset:
        """The two best by mean contribution so far."""
        return best_pair([self._mean(name) for name in occasion.retrieved])

    def learn(self, settlement: Settlement) -> None:
        """Add the date's contributions (Eq. 3) of everything that was recalled."""
        effects = contributions(settlement.occasion.design, settlement.realised.drafts)
        if effects is None:
            return
        measured: list[float] = effects.tolist()
        for name, effect in zip(settlement.occasion.retrieved, measured, strict=True):
            self._sum[name] += effect
            self._count[name] += 1

    def worth(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean contribution of each, (n,), fractions per period."""
        del features
        return np.array([self._mean(name) for name in ids])

    def _mean(self, name: str) -> float:
        count = self._count.get(name, 0)
        return self._sum[name] / count if count else 0.0
