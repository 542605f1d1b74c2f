"""Methods without a trial: rules, single drafts, averages and raw contributions (paper, Appendix D.2)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from memtrial.bench.methods.contract import Action, Occasion, Settlement
from memtrial.portfolio import minimum_variance
from memtrial.trial import contributions

LOOKBACK = 60
"""Daily returns that minimum variance is estimated from."""


class Forgetful:
    """Base of methods that learn nothing."""

    def learn(self, settlement: Settlement) -> None:
        """Nothing to learn."""


class EqualWeight(Forgetful):
    """1/N, projected to the mandate (DeMiguel et al., 2009)."""

    name, label = "1/N", "1/N"

    def act(self, occasion: Occasion) -> Action:
        """The reference."""
        return Action(weights=occasion.reference)


class MinimumVariance(Forgetful):
    """Long-only minimum variance over the past 60 daily returns, projected to the mandate."""

    name, label = "minimum_variance", "Minimum variance"

    def act(self, occasion: Occasion) -> Action:
        """Estimate, then project."""
        return Action(weights=occasion.mandate.project(minimum_variance(occasion.past_returns[-LOOKBACK:])))


class MemoryFree(Forgetful):
    """The draft made without experiences."""

    name, label = "memory_free", "Memory-free"

    def act(self, occasion: Occasion) -> Action:
        """The draft of the empty subset."""
        return Action(weights=occasion.draft(()))


class SimilarityTop(Forgetful):
    """The draft made with the ``n`` most similar experiences (similarity retrieval)."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.name, self.label = f"top_{n}", f"Top-{n} similarity"

    def act(self, occasion: Occasion) -> Action:
        """The draft of the first ``n`` ranks."""
        return Action(weights=occasion.draft(tuple(range(min(self.n, occasion.design.k)))))


class DraftAveraging(Forgetful):
    """The average of all designed drafts (Bates and Granger, 1969)."""

    name, label = "draft_averaging", "Draft averaging"

    def act(self, occasion: Occasion) -> Action:
        """The mean of the valid drafts."""
        mean = occasion.mean_draft
        return Action(weights=occasion.reference if mean is None else mean)


class CounterfactualSelection:
    """The draft with the two experiences of highest mean past contribution; no model, no test, no anchor.

    An experience that was never measured counts 0; ties go to the higher similarity.
    """

    name, label = "counterfactual_selection", "Counterfactual selection"

    def __init__(self) -> None:
        self._sum: defaultdict[str, float] = defaultdict(float)
        self._count: defaultdict[str, int] = defaultdict(int)

    def act(self, occasion: Occasion) -> Action:
        """Pick the two best by mean contribution so far."""
        means = [self._sum[name] / max(self._count[name], 1) for name in occasion.retrieved]
        best = np.argsort(-np.array(means), kind="stable")[:2]
        return Action(weights=occasion.draft(tuple(sorted(int(rank) for rank in best))))

    def learn(self, settlement: Settlement) -> None:
        """Add the date's contributions (Eq. 3)."""
        effects = contributions(settlement.occasion.design, settlement.draft_utilities())
        if effects is None:
            return
        for name, effect in zip(settlement.occasion.retrieved, effects, strict=True):
            self._sum[name] += float(effect)
            self._count[name] += 1
