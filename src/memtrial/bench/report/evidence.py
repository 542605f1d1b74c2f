"""What the numbers support: paired differences, intervals, and how long a test still needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import (  # pyright: ignore[reportMissingTypeStubs]
    stdtr,  # pyright: ignore[reportUnknownVariableType]
    stdtrit,  # pyright: ignore[reportUnknownVariableType]
)

from memtrial.bench.correlation import spearman

FAR = 10_000
"""A test that needs more scores than this is not worth waiting for."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Mean difference of two series on the same dates, its standard error, and the two-sided p of a paired t-test.

    ``se`` and ``p`` are ``nan`` below two dates.
    """

    mean: float
    se: float
    n: int
    p: float

    @property
    def same(self) -> bool:
        """Whether the two never differed."""
        return self.n > 0 and self.mean == 0.0 and not self.se > 0.0

    @property
    def known(self) -> bool:
        """Whether there is a difference with an error to speak of."""
        return self.n >= 2


def paired(ours: ArrayLike, theirs: ArrayLike) -> Paired:
    """Compare two series, (n,) each."""
    difference = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    n = difference.size
    if n == 0:
        return Paired(math.nan, math.nan, 0, math.nan)
    difference = np.where(np.abs(difference) < 1e-15, 0.0, difference)
    mean = float(difference.mean())
    if n == 1:
        return Paired(mean, math.nan, 1, math.nan)
    se = float(difference.std(ddof=1)) / math.sqrt(n)
    if se == 0.0:
        return Paired(mean, 0.0, n, 1.0 if mean == 0.0 else 0.0)
    return Paired(mean, se, n, 2 * student_cdf(n - 1, -abs(mean) / se))


def student_cdf(freedom: int, t: float) -> float:
    """Probability that Student's t lies below ``t``."""
    return float(stdtr(freedom, t))  # pyright: ignore[reportUnknownArgumentType]


def student_quantile(freedom: int, probability: float) -> float:
    """The t below which Student's t lies with ``probability``."""
    return float(stdtrit(freedom, probability))  # pyright: ignore[reportUnknownArgumentType]


def half_width(sd: float, n: int, level: float) -> float:
    """Half the width of the two-sided ``level`` interval of a mean of ``n`` scores; ``nan`` below two."""
    return student_quantile(n - 1, (1 + level) / 2) * sd / math.sqrt(n) if n >= 2 else math.nan


def scores_needed(mean: float, sd: float, *, alpha: float, least: int) -> int | None:
    """How many scores the trust test would need if mean and spread stayed as they are; ``None`` when it never passes.

    A mean that is not positive never passes, and more than :data:`FAR` scores count as never.
    """
    if not mean > 0 or not math.isfinite(sd):
        return None

    def passes(n: int) -> bool:
        return mean * math.sqrt(n) > student_quantile(n - 1, 1 - alpha) * sd

    if not passes(FAR):
        return None
    low, high = max(least, 2), FAR
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle + 1, high)
    return low


def spearman_interval(
    first: NDArray[np.float64], second: NDArray[np.float64], dates: Sequence[int], *, draws: int = 400, seed: int = 0
) -> tuple[float, float] | None:
    """95 % interval of a rank correlation by resampling whole dates: points of one date share their market.

    ``dates`` has the date of each point. ``None`` below ten dates.
    """
    label = np.asarray(dates)
    members: list[NDArray[np.intp]] = [np.flatnonzero(label == which) for which in np.unique(label)]
    if len(members) < 10:
        return None
    rng = np.random.default_rng(seed)
    found: list[float] = []
    for _ in range(draws):
        drawn = [members[int(which)] for which in rng.integers(0, len(members), len(members))]
        rows: NDArray[np.intp] = np.concatenate(drawn)
        found.append(spearman(first[rows], second[rows]))
    known = [rho for rho in found if math.isfinite(rho)]
    if not known:
        return None
    low, high = np.quantile(known, [0.025, 0.975]).tolist()
    return low, high
