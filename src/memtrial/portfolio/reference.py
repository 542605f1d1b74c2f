"""Portfolios that need no opinion: what memory is measured against (paper App. D.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import PricesError, WeightsError
from memtrial.portfolio.utility import check_returns

_RISKLESS = 1e-12
"""Standard deviation, relative to the largest return, below which only rounding is left."""
_NEGLIGIBLE = 1e-12
"""Weight below which an asset is not held."""
_GRADIENT_TOLERANCE = 1e-11
"""Gain, per unit length of an asset's column, below which it is not worth holding."""


def equal_weight(n: int) -> NDArray[np.float64]:
    """The 1/N portfolio over ``n`` assets (cash counts as one), before any mandate; shape (n,).

    Raises
    ------
    WeightsError
        When ``n`` is less than 1.
    """
    if n < 1:
        raise WeightsError(f"an equal-weight portfolio needs at least one asset, got {n}")
    return np.full(n, 1.0 / n)


def minimum_variance(returns: ArrayLike) -> NDArray[np.float64]:
    """The long-only portfolio of least sample variance, before any mandate (paper App. D.2: past 60 daily returns).

    Exact, by an active-set method on the demeaned returns, so the covariance matrix (``ddof=1``, which scales it and
    moves no weight) is never formed or inverted. Where several portfolios share the least variance the answer is one
    of them, always the same: assets without any variance share equally, and of identical assets the first is held.

    Parameters
    ----------
    returns
        Simple daily returns, shape (n_days, n_assets), at least two days.

    Returns
    -------
    Shape (n_assets,), fractions of wealth summing to 1.

    Raises
    ------
    PricesError
        When a return is missing, infinite or at or below −1, or there are fewer than two days or no asset.
    """
    values = np.asarray(returns, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 1:
        raise PricesError(f"returns have shape {values.shape}; minimum variance needs (n_days >= 2, n_assets >= 1)")
    values = check_returns(values, values.shape[1])
    centred = values - values.mean(axis=0)
    deviation = np.sqrt((centred**2).mean(axis=0))
    riskless = deviation <= _RISKLESS * np.abs(values).max()
    if riskless.any():
        return riskless / riskless.sum()
    # min w'Σw on the simplex is the direction of min y'Σy + (1 - Σy)² over y >= 0: along w = y / Σy the best value is
    # v / (1 + v), which rises with v = w'Σw. In units of the calmest asset v is at most 1, so both terms are felt.
    risk = centred / (deviation.min() * np.sqrt(len(values)))
    design = np.vstack([risk, np.ones(values.shape[1])])
    target = np.zeros(len(design))
    target[-1] = 1.0
    solution = _non_negative_least_squares(design, target)
    return solution / solution.sum()


def _non_negative_least_squares(design: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """argmin ‖design · y − target‖ over y >= 0, by the active-set method of Lawson and Hanson (1974), ch. 23."""
    n = design.shape[1]
    norms = np.sqrt((design**2).sum(axis=0))
    solution, free, barred = np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for _ in range(10 * n):  # 3n is customary; the bound only guards against rounding
        gradient = design.T @ (target - design @ solution) / norms
        gradient[free | barred] = -np.inf
        entering = int(np.argmax(gradient))
        if gradient[entering] <= _GRADIENT_TOLERANCE:
            break
        free[entering] = True
        proposal = _least_squares(design, target, free)
        if proposal[entering] <= 0.0:  # its gain was rounding: it depends on the free assets
            free[entering], barred[entering] = False, True
            continue
        barred[:] = False
        while (proposal[free] <= 0.0).any():
            blocking = free & (proposal <= 0.0)
            step = np.min(solution[blocking] / (solution[blocking] - proposal[blocking]))
            solution += step * (proposal - solution)
            free &= solution > _NEGLIGIBLE
            solution[~free] = 0.0
            proposal = _least_squares(design, target, free)
        solution = proposal
    return solution


def _least_squares(
    design: NDArray[np.float64], target: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    solution = np.zeros(design.shape[1])
    solution[free] = np.linalg.lstsq(design[:, free], target, rcond=None)[0]
    return solution
