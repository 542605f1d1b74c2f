"""What each recalled experience changed on one date (paper §3.2, Eqs. 3-4)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError
from memtrial.trial.design import Design

SAME = 1e-12
"""Utilities that differ by less than this fraction of the largest are the same portfolio up to rounding."""


def contributions(design: Design, utilities: ArrayLike) -> NDArray[np.float64] | None:
    """Counterfactual contribution of each recalled experience (paper Eq. 3, an estimated Banzhaf value).

    Mean utility of the drafts that were shown it minus the mean of those that were not; whatever all drafts of the
    date share, the market above all, cancels. When drafts are missing the same main effects are estimated by least
    squares on the valid ones. Drafts with equal utilities give exactly 0.

    Parameters
    ----------
    design
        The design of the date.
    utilities
        Utility of each draft, (n_drafts,), a fraction per period; NaN where the draft is missing.

    Returns
    -------
    NDArray or None
        (k,), a fraction per period; None when the valid drafts cannot separate the experiences (rank below k + 1).

    Raises
    ------
    InputError
        When the shape is not (n_drafts,) or a utility is infinite.
    """
    utility = np.asarray(utilities, dtype=np.float64)
    if utility.shape != (design.n_drafts,):
        raise InputError(f"utilities of {design.n_drafts} drafts are needed, got shape {utility.shape}")
    valid = np.isfinite(utility)
    complete = bool(valid.all())
    if not complete and bool(np.isinf(utility).any()):
        raise InputError("a draft has an infinite utility; use NaN for a missing draft")
    known = utility if complete else utility[valid]
    if known.size == 0 or not design.separates:
        return None
    # Taking one draft off first keeps a large market move from costing digits.
    moved = known - known[0]
    if float(np.abs(moved).max()) <= SAME * float(np.abs(known).max()):
        moved = np.zeros_like(moved)
    if complete:
        return moved @ design.contrast
    columns = np.column_stack([np.ones(known.size), design.membership[valid]])
    if np.linalg.matrix_rank(columns) < design.k + 1:
        return None
    return (np.linalg.pinv(columns) @ moved)[1:]


def centre(contributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Contributions relative to the date's mean, (k,) to (k,), a fraction per period (paper Eq. 4)."""
    return contributions - contributions.mean() if contributions.size else contributions


def spread(utilities: NDArray[np.float64]) -> float:
    """Standard deviation of the utilities of the valid drafts of a date (n - 1), a fraction per period.

    Exactly 0 when they differ by rounding only, or there are fewer than two.

    Parameters
    ----------
    utilities
        Utility of each draft, (n_drafts,); NaN where it is missing.
    """
    valid = utilities[np.isfinite(utilities)]
    if valid.size < 2:
        return 0.0
    sd = float(valid.std(ddof=1))
    return 0.0 if sd <= SAME * float(np.abs(valid).max()) else sd


def scaled(centred: NDArray[np.float64], sd: float) -> NDArray[np.float64]:
    """Centred contributions (k,) divided by the root of the date's draft spread; 0 where the drafts did not differ.

    Signal and noise of a contribution both grow with the spread, so that their quotients are more alike across dates
    than the contributions are.
    """
    return centred / math.sqrt(sd) if sd > 0 else np.zeros_like(centred)
