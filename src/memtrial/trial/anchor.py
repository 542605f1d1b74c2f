"""What to do until memory can be trusted: the anchored blend (paper §3.5, Eq. 11, App. C.4)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError

REFERENCE_WEIGHTS: NDArray[np.float64] = np.arange(201) / 200
"""The grid of reference weights q = 0, 0.005, ..., 1, (201,), read-only."""
REFERENCE_WEIGHTS.setflags(write=False)

ROUNDING = 1e-12
"""Differences below this fraction are rounding."""


def bernoulli_kl(q: ArrayLike, alpha0: float) -> NDArray[np.float64]:
    """Kullback-Leibler divergence of Bernoulli(``q``) from Bernoulli(``alpha0``), in nats, the shape of ``q``.

    0 log 0 counts as 0, so q = 0 and q = 1 are finite for 0 < ``alpha0`` < 1. At ``alpha0`` = 0 or 1 it is infinite
    everywhere but at ``alpha0``.
    """
    weight = np.asarray(q, dtype=np.float64)
    return _relative_entropy(weight, alpha0) + _relative_entropy(1 - weight, 1 - alpha0)


def _relative_entropy(p: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    positive = p > 0
    if prior == 0:
        return np.where(positive, np.inf, 0.0)
    return p * np.log(np.where(positive, p, 1.0) / prior)


def blend(reference: ArrayLike, mean_draft: ArrayLike, q: float) -> NDArray[np.float64]:
    """Blend ``q * reference + (1 - q) * mean_draft``, (n_assets,), fractions of wealth (paper Eq. 11).

    Both ends satisfy the mandate, which is convex, so the blend does too.
    """
    return q * np.asarray(reference, dtype=np.float64) + (1 - q) * np.asarray(mean_draft, dtype=np.float64)


def blends(reference: ArrayLike, mean_draft: ArrayLike) -> NDArray[np.float64]:
    """Every blend on the grid ``REFERENCE_WEIGHTS``, (201, n_assets), fractions of wealth."""
    q = REFERENCE_WEIGHTS[:, None]
    return q * np.asarray(reference, dtype=np.float64) + (1 - q) * np.asarray(mean_draft, dtype=np.float64)


class Anchor:
    """How far the conservative reference is held, learned from what every blend would have earned (paper Eq. 11).

    Follow-the-regularised-leader: q maximises the mean utility of past blends minus
    lambda0 * sigma / sqrt(n) * KL(q || alpha0), where sigma is half the mean absolute gap between the utilities of the
    reference and of the mean draft. Only a running sum of 201 numbers and of the gap is kept.

    Parameters
    ----------
    alpha0
        Prior weight of the reference, 0 to 1; the weight before any outcome.
    lambda0
        Strength of the prior, unit-free, >= 0; infinite keeps ``alpha0``.

    Raises
    ------
    InputError
        When either is out of range.
    """

    def __init__(self, alpha0: float = 0.9, lambda0: float = 4.0) -> None:
        if not 0 <= alpha0 <= 1:
            raise InputError(f"alpha0 = {alpha0} is not a weight between 0 and 1")
        if not lambda0 >= 0:
            raise InputError(f"lambda0 = {lambda0} must be at least 0")
        self.alpha0 = float(alpha0)
        self.lambda0 = float(lambda0)
        self.n = 0
        self._sums: NDArray[np.float64] = np.zeros(REFERENCE_WEIGHTS.size)
        self._gaps = 0.0
        self._penalty = bernoulli_kl(REFERENCE_WEIGHTS, self.alpha0)
        distance = np.abs(REFERENCE_WEIGHTS - self.alpha0)
        # Nearest the prior first; of two equally near the larger, which the reversed stable sort puts first.
        self._preference = REFERENCE_WEIGHTS.size - 1 - np.argsort(np.round(distance[::-1], 12), kind="stable")

    @property
    def sigma(self) -> float:
        """Half the mean absolute utility gap between reference and mean draft, a fraction per period; 0 at n = 0."""
        return 0.5 * self._gaps / self.n if self.n else 0.0

    def learn(self, utilities: ArrayLike) -> None:
        """Take one date into account.

        Parameters
        ----------
        utilities
            Utility of every blend on ``REFERENCE_WEIGHTS``, (201,), a fraction per period.

        Raises
        ------
        InputError
            When the shape is not (201,) or a number is not finite; nothing is learned.
        """
        earned = np.asarray(utilities, dtype=np.float64)
        if earned.shape != self._sums.shape or not np.isfinite(earned).all():
            raise InputError(f"{self._sums.size} finite utilities of blends are needed, got shape {earned.shape}")
        self.n += 1
        self._sums += earned
        self._gaps += abs(float(earned[-1]) - float(earned[0]))

    def weight(self) -> float:
        """The reference weight q, 0 to 1 (paper Eq. 11, Algorithm F.3 line 8).

        ``alpha0`` before the first outcome, when the mean draft never differed from the reference, and when ``alpha0``
        is 0 or 1, or ``lambda0`` infinite. Ties go to the weight nearest ``alpha0``, then to the larger.
        """
        if self.n == 0 or self.alpha0 in (0.0, 1.0) or math.isinf(self.lambda0):
            return self.alpha0
        mean = self._sums / self.n
        sigma = self.sigma
        if sigma <= ROUNDING * 0.1 * float(np.abs(mean).max()):
            return self.alpha0
        objective = mean - (self.lambda0 * sigma / math.sqrt(self.n)) * self._penalty
        best = float(objective.max())
        tied = objective >= best - ROUNDING * (best - float(objective.min()))
        return float(REFERENCE_WEIGHTS[self._preference[tied[self._preference].argmax()]])
