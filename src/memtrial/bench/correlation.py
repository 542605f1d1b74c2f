"""Rank correlation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1, ties sharing their mean rank, (n,)."""
    unique, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    del unique
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[inverse]


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Rank correlation; ``nan`` when one side is constant."""
    left, right = ranks(first), ranks(second)
    left, right = left - left.mean(), right - right.mean()
    size = math.sqrt(float(left @ left) * float(right @ right))
    return float(left @ right) / size if size > 0 else math.nan
