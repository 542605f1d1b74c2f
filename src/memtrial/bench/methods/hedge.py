"""Hedge: exponential weights over a fixed portfolio and the memory configurations (paper, Appendix D.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from memtrial.bench.methods.contract import Action, Occasion, Realised, Settlement
from memtrial.bench.methods.drafts import Choice, Chooser, MemoryFree, SimilarityTop, earned
from memtrial.bench.methods.outcome_credit import FinMem, MemRL
from memtrial.bench.methods.own_action import own_action

STRENGTH = 4.0
"""λ₀ of Eq. 11, which scales the learning rate."""

Fixed = Literal["equal_weight", "reference"]
"""The first expert, which no memory moves."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mixture(Action):
    """A mixture, and what each memory configuration would have deployed."""

    choices: tuple[Choice, ...]


class Hedge:
    """Exponential weights over 1/N, memory-free, top-4, FinMem and MemRL (Freund and Schapire, 1997).

    Weight ∝ prior · exp(mean utility / λ_n), with λ_n = 4 σ̂ / √n as in Eq. 11, where σ̂ is half the mean absolute gap
    between the first expert's utility and the mean of the others'. FinMem and MemRL are instances of its own, which
    learn from what their own drafts earned. Before any outcome, or without any gap, the weights are the prior.

    Parameters
    ----------
    rng
        Randomness of MemRL's exploration.
    fixed
        The first expert: ``"equal_weight"`` or ``"reference"``.
    prior
        Prior weight of the first expert; the others share the rest. Uniform by default.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        fixed: Fixed = "equal_weight",
        prior: float | None = None,
        name: str = "hedge",
        label: str = "Hedge",
    ) -> None:
        self.name, self.label, self.fixed = name, label, fixed
        self._experts: tuple[Chooser, ...] = (MemoryFree(), SimilarityTop(4), FinMem(), MemRL(rng))
        others = len(self._experts)
        first = 1.0 / (others + 1) if prior is None else prior
        self._prior = [first, *((1.0 - first) / others for _ in range(others))]
        self._sums = [0.0] * (others + 1)
        self._gaps = 0.0
        self._n = 0

    def act(self, occasion: Occasion) -> Mixture:
        """Mix what the experts would do."""
        choices = tuple(expert.act(occasion) for expert in self._experts)
        shares = self.shares()
        first = occasion.equal_weight if self.fixed == "equal_weight" else occasion.reference
        weights = shares[0] * first
        for share, choice in zip(shares[1:], choices, strict=True):
            weights += share * choice.weights
        return Mixture(weights=weights, choices=choices)

    def learn(self, settlement: Settlement) -> None:
        """Credit every expert with what it would have earned, and let the experts learn from it.

        Raises
        ------
        InputError
            When the settlement does not carry the action that :meth:`act` returned.
        """
        utilities = [self._first(settlement.realised)]
        for expert, choice in zip(self._experts, own_action(settlement, Mixture).choices, strict=True):
            utility = earned(choice, settlement.realised)
            utilities.append(utility)
            own = Settlement(action=choice, utility=utility, known_at=settlement.known_at, realised=settlement.realised)
            expert.learn(own)
        self._n += 1
        self._sums = [total + utility for total, utility in zip(self._sums, utilities, strict=True)]
        self._gaps += abs(utilities[0] - sum(utilities[1:]) / (len(utilities) - 1))

    def shares(self) -> list[float]:
        """Weight of each expert, (5,), the fixed portfolio first."""
        if self._n == 0:
            return self._prior
        means = [total / self._n for total in self._sums]
        sigma = 0.5 * self._gaps / self._n
        best = max(means)
        if sigma <= 1e-13 * max(abs(mean) for mean in means):
            return self._prior
        rate = math.sqrt(self._n) / (STRENGTH * sigma)
        grown = [prior * math.exp(rate * (mean - best)) for prior, mean in zip(self._prior, means, strict=True)]
        total = sum(grown)
        return [weight / total for weight in grown]

    def _first(self, realised: Realised) -> float:
        if self.fixed == "equal_weight":
            return realised.equal_weight
        if realised.blends is not None:
            return float(realised.blends[-1])  # q = 1
        return float(realised.utilities(realised.occasion.reference[None])[0])
