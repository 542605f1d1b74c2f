"""A veto on worth: the trust rule asks whether memory ranks right, this asks whether its choice is worth holding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memtrial.trial.design import Design


class Gaps:
    """What drafts of each size earned beyond the anchor on settled dates, kept as number, mean and spread.

    A date gives one gap per size: mean utility of its valid designed drafts of that size, less the utility of that
    date's anchored blend, whether or not it was deployed.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, float, float]] = {}

    def learn(self, design: Design, utilities: NDArray[np.float64], anchor: float) -> None:
        """Take one date into account.

        Parameters
        ----------
        design
            What was drafted.
        utilities
            Utility of each draft, (n_drafts,), a fraction per period; NaN where it is missing.
        anchor
            Utility of the anchored blend.
        """
        earned: dict[int, list[float]] = {}
        for subset, utility in zip(design.subsets, utilities.tolist(), strict=True):
            if not math.isnan(utility):
                earned.setdefault(len(subset), []).append(utility)
        for size, values in earned.items():
            gap = sum(values) / len(values) - anchor
            n, mean, squares = self._known.get(size, (0, 0.0, 0.0))
            step = gap - mean
            mean += step / (n + 1)
            self._known[size] = (n + 1, mean, squares + step * (gap - mean))

    def known(self, size: int) -> tuple[int, float, float]:
        """Number of dates, mean gap and its standard error (population sd over the root of n); NaN without dates."""
        n, mean, squares = self._known.get(size, (0, math.nan, math.nan))
        return n, mean, math.sqrt(squares / n) / math.sqrt(n) if n else math.nan

    def bound(self, size: int, *, z: float, least: int) -> float:
        """What a draft of ``size`` has to make up for, at most 0: min(0, mean + z * se), 0 below ``least`` dates."""
        n, mean, se = self.known(size)
        return min(0.0, mean + z * se) if n >= least else 0.0
