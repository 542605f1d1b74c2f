"""memtrial as a benchmark method: the trial alone, without a store."""

from __future__ import annotations

from dataclasses import replace

from memtrial.bench.methods.contract import Action, Occasion, Settlement
from memtrial.trial import Settings, Trial, act_on


class Memtrial:
    """The trial of the paper (Algorithms F.1–F.3); configurations differ in ``settings`` only."""

    def __init__(self, settings: Settings, *, name: str = "memtrial", label: str = "memtrial") -> None:
        self.name, self.label = name, label
        self._trial = Trial(settings)

    def act(self, occasion: Occasion) -> Action:
        """The trusted draft, or the anchored blend."""
        verdict = self._trial.act(
            occasion.id,
            retrieved=occasion.retrieved,
            features=occasion.features,
            valid=occasion.valid,
            at=occasion.decided_at,
        )
        weights = act_on(verdict, occasion.design, occasion.drafts, occasion.reference)
        return Action(weights=weights, trusted=verdict.trusted)

    def learn(self, settlement: Settlement) -> None:
        """Settle the occasion."""
        self._trial.settle(
            settlement.occasion.id,
            utilities=settlement.draft_utilities(),
            blend_utilities=settlement.blend_utilities(),
            known_at=settlement.known_at,
        )


def never_trusts(settings: Settings) -> Memtrial:
    """memtrial in shadow mode: the anchored blend on every date."""
    return Memtrial(replace(settings, hold=True), name="memtrial_never_trusts", label="memtrial that never trusts")
