"""memtrial as a benchmark method: the trial alone, without a store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Action, Occasion, Settlement
from memtrial.trial import Settings, Trial, act_on


class Memtrial:
    """The trial (paper Algorithms F.1–F.3); configurations differ in ``settings`` only."""

    def __init__(self, settings: Settings, *, name: str = "memtrial", label: str = "memtrial") -> None:
        self.name, self.label = name, label
        self._trial = Trial(settings)

    def act(self, occasion: Occasion) -> Action:
        """The trusted draft as far as it is trusted, the anchored blend for the rest."""
        asked = self._trial.foresee(retrieved=occasion.retrieved, features=occasion.features, at=occasion.decided_at)
        extra = None if asked is None else occasion.further(asked)
        verdict = self._trial.act(
            occasion.id,
            retrieved=occasion.retrieved,
            features=occasion.features,
            valid=occasion.valid,
            at=occasion.decided_at,
            extra=asked if extra is not None else None,
        )
        weights = act_on(verdict, occasion.design, occasion.drafts, occasion.reference, extra=extra)
        return Action(weights=weights, memory_weight=verdict.weight)

    def learn(self, settlement: Settlement) -> None:
        """Settle the occasion."""
        self._trial.settle(
            settlement.occasion.id,
            utilities=settlement.realised.drafts,
            blend_utilities=settlement.realised.blends,
            known_at=settlement.known_at,
        )

    def worth(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values by the learner that spoke last."""
        return self._trial.estimate(ids, features)
