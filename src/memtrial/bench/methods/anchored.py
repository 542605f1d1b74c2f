"""Any method with memtrial's anchored action (paper, Appendix D.5, Table D.5)."""

from __future__ import annotations

from dataclasses import dataclass

from memtrial.bench.methods.contract import Action, Method, Occasion, Settlement
from memtrial.bench.methods.own_action import own_action
from memtrial.trial import Anchor, blend, blends


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Blend(Action):
    """A blend, and what the wrapped method alone would have done."""

    own: Action


class Anchored:
    """Holds q · reference + (1 − q) · x, where x is what the wrapped method would hold (paper, Eq. 11).

    q is learned from what every blend of the reference with x would have earned; the wrapped method learns from x and
    its own utility, as if it were deployed. A date without a valid draft teaches nothing about q, as in memtrial.

    Parameters
    ----------
    method
        What is wrapped.
    alpha0, lambda0
        Prior weight of the reference and its strength, as in :class:`memtrial.trial.Anchor`.
    """

    def __init__(self, method: Method, *, alpha0: float = 0.9, lambda0: float = 4.0) -> None:
        self.method = method
        self.name, self.label = f"anchored_{method.name}", f"{method.label}, anchored"
        self._anchor = Anchor(alpha0, lambda0)

    def act(self, occasion: Occasion) -> Blend:
        """Blend the wrapped method's action with the reference."""
        own = self.method.act(occasion)
        q = self._anchor.weight()
        return Blend(
            weights=blend(occasion.reference, own.weights, q), memory_weight=(1.0 - q) * own.memory_weight, own=own
        )

    def learn(self, settlement: Settlement) -> None:
        """Learn q from all blends, and let the wrapped method learn from its own portfolio.

        Raises
        ------
        InputError
            When the settlement does not carry the action that :meth:`act` returned.
        """
        occasion, own = settlement.occasion, own_action(settlement, Blend).own
        earned = settlement.realised.utilities(blends(occasion.reference, own.weights))
        if occasion.valid.any():
            self._anchor.learn(earned)
        # The blend with q = 0 is the wrapped method's own portfolio.
        self.method.learn(
            Settlement(action=own, utility=float(earned[0]), known_at=settlement.known_at, realised=settlement.realised)
        )
