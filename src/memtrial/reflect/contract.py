"""Who writes memories: any async callable from a settled decision to an experience."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import numpy as np

from memtrial.errors import InputError, TimeError
from memtrial.records import Experience, Weights, as_weights, utc


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """A decision and what came of it: all that may be known when a memory of it is written.

    Attributes
    ----------
    decision_id, decided_at
        The decision, and when it was taken (UTC).
    situation
        The situation it met, without outcome: what is embedded.
    state_text
        What the policy read.
    assets, weights
        What was held, fractions in the order of ``assets``.
    asset_returns
        Simple return of each asset over the holding period, fractions, (n_assets,); any sequence is taken.
    known_at
        When the outcome was known (UTC), and so when a memory of it may first be recalled.
    reference_return
        Simple return of the reference over the same period; ``None`` takes equal weights.

    Raises
    ------
    InputError
        When lengths differ or a number is not finite.
    TimeError
        When a time has no zone, or the outcome was known before the decision.
    """

    decision_id: str
    decided_at: datetime
    situation: str
    state_text: str
    assets: tuple[str, ...]
    weights: Weights
    asset_returns: tuple[float, ...]
    known_at: datetime
    reference_return: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "decided_at", utc(self.decided_at, "decided_at"))
        object.__setattr__(self, "known_at", utc(self.known_at, "known_at"))
        object.__setattr__(self, "assets", tuple(self.assets))
        object.__setattr__(self, "weights", as_weights(self.weights))
        object.__setattr__(self, "asset_returns", as_weights(self.asset_returns))
        if not len(self.assets) == len(self.weights) == len(self.asset_returns):
            raise InputError(
                f"decision {self.decision_id} has {len(self.assets)} assets, {len(self.weights)} weights and "
                f"{len(self.asset_returns)} returns; give one weight and one return per asset"
            )
        if not np.isfinite([*self.weights, *self.asset_returns]).all():
            raise InputError(f"decision {self.decision_id} has a weight or a return that is not a finite number")
        if self.known_at < self.decided_at:
            raise TimeError(f"decision {self.decision_id} has an outcome known before it was taken; check known_at")

    @property
    def own_return(self) -> float:
        """Simple return of what was held, a fraction."""
        return in_order([weight * move for weight, move in zip(self.weights, self.asset_returns, strict=True)])

    @property
    def equal_return(self) -> float:
        """Simple return of equal weights, a fraction."""
        return in_order(self.asset_returns) / len(self.asset_returns)


def in_order(numbers: Sequence[float]) -> float:
    """The sum, added from left to right.

    A library may add in another order on another processor, and the last digit can decide a word of a prompt.
    """
    total = 0.0
    for number in numbers:
        total += number
    return total


Reflector: TypeAlias = Callable[[Settled], Awaitable[Experience]]
"""Writes the memory of a settled decision."""
