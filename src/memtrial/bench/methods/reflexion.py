"""Reflexion: the last outcomes tilt the next draft (paper, Appendix D.2)."""

from __future__ import annotations

from collections import deque

import numpy as np

from memtrial.bench.methods.contract import Action, Occasion, Settlement

TILT = 0.25
"""Share of the capital that follows the reflections."""
REMEMBERED = 3
"""Number of reflections that are kept in mind."""


class Reflexion:
    """The memory-free draft, a quarter of it moved to what did best in the last three periods (Shinn et al., 2023).

    A reflection is the asset with the highest compounded return of a realised holding period; the quarter is divided
    equally among the reflections at hand, and nothing is moved before the first.
    """

    name, label = "reflexion", "Reflexion"

    def __init__(self) -> None:
        self._best: deque[int] = deque(maxlen=REMEMBERED)

    def act(self, occasion: Occasion) -> Action:
        """Tilt, then project."""
        draft = occasion.draft(())
        if not self._best:
            return Action(weights=draft)
        tilted = (1.0 - TILT) * draft
        for asset in self._best:
            tilted[asset] += TILT / len(self._best)
        return Action(weights=occasion.mandate.project(tilted))

    def learn(self, settlement: Settlement) -> None:
        """Remember which asset did best."""
        self._best.append(int(np.prod(1.0 + settlement.realised.returns, axis=0).argmax()))
