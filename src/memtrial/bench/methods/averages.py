"""Methods that average drafts (paper, Appendix D.2)."""

from __future__ import annotations

from memtrial.bench.methods.contract import Action, Occasion, Settlement


class SelfConsistency:
    """The average of the further memory-free drafts (Wang et al., 2022); without them, the design's own."""

    name, label = "self_consistency", "Self-consistency"

    def act(self, occasion: Occasion) -> Action:
        """The mean of the draws."""
        draws = occasion.memory_free
        return Action(weights=draws.mean(axis=0) if len(draws) else occasion.draft(()))

    def learn(self, settlement: Settlement) -> None:
        """Nothing to learn."""


class DraftAveraging:
    """The average of all designed drafts (Bates and Granger, 1969); the reference when none is valid."""

    name, label = "draft_averaging", "Draft averaging"

    def act(self, occasion: Occasion) -> Action:
        """The mean of the valid drafts."""
        mean = occasion.mean_draft
        return Action(weights=occasion.reference if mean is None else mean)

    def learn(self, settlement: Settlement) -> None:
        """Nothing to learn."""
