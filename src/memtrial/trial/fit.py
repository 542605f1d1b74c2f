"""Choice of the variances and coefficients of the value model (paper Eqs. 6-7, Algorithm F.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import InputError
from memtrial.records import Learner

CONTENT_GRID = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Default grid of the content variance, as a ratio to the noise variance."""
DEVIATION_GRID = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Default grid of the variance of an experience's own deviation, as a ratio to the noise variance."""

TIE = 1e-9
"""Log-likelihoods within this distance are equal."""


@dataclass(frozen=True, slots=True)
class Variances:
    """Variances chosen for one learner, as ratios to the noise variance.

    ``content`` is sigma_beta^2 / sigma^2 and ``deviation`` is tau^2 / sigma^2.
    """

    content: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Both learners fitted on the same outcomes (paper Algorithm F.2).

    Attributes
    ----------
    noise
        Noise variance sigma^2 of one contribution; 0 when nothing was measured or all contributions are 0.
    log_likelihood
        Eq. 6 over the grid, (n_content, n_deviation); NaN when ``noise`` is 0.
    chosen
        The variances that maximise it, by learner.
    coefficients
        beta of the content-aware learner (Eq. 7), (d,).
    covariance
        Posterior covariance of beta, (d, d).
    """

    noise: float
    log_likelihood: NDArray[np.float64]
    chosen: Mapping[Learner, Variances]
    coefficients: NDArray[np.float64]
    covariance: NDArray[np.float64]


def fitted(
    *,
    noise: float,
    n_experiences: int,
    content_grid: NDArray[np.float64],
    deviation_grid: NDArray[np.float64],
    log_diagonal: NDArray[np.float64],
    moments: NDArray[np.float64],
) -> Fit:
    """Both learners over the whole grid; the per-experience learner is the row without content variance.

    Parameters
    ----------
    noise
        sigma^2 of one contribution.
    n_experiences
        Number H of measured experiences.
    content_grid, deviation_grid
        Ratios a = sigma_beta^2 / sigma^2, (n_content,), and b = tau^2 / sigma^2, (n_deviation,).
    log_diagonal
        Sum over experiences of log(b + 1/n_h), (n_deviation,).
    moments
        Sum over experiences of (z_h, m_h)(z_h, m_h)' / (b + 1/n_h), (n_deviation, d + 1, d + 1).
    """
    d: int = moments.shape[1] - 1
    if noise == 0.0:
        none = Variances(0.0, 0.0)
        unknown = np.full((content_grid.size, deviation_grid.size), np.nan)
        return Fit(noise, unknown, {"per_experience": none, "content_aware": none}, np.zeros(d), np.zeros((d, d)))
    a = content_grid[:, None, None]
    # Z'DZ = Q diag(roots) Q' turns every point of the grid into sums over d numbers.
    spectrum = np.linalg.eigh(moments[:, :d, :d])
    roots, axes = np.maximum(spectrum.eigenvalues, 0.0), spectrum.eigenvectors
    rotated: NDArray[np.float64] = np.matmul(moments[:, d:, :d], axes)[:, 0]
    scale = 1.0 + a * roots
    log_determinant = log_diagonal + np.log(scale).sum(axis=2)
    quadratic = moments[:, d, d] - (a * rotated**2 / scale).sum(axis=2)
    constant = n_experiences * math.log(2 * math.pi * noise)
    table = -0.5 * (constant + log_determinant + quadratic / noise)
    i, j = _first_best(table)
    _, own = _first_best(table[:1])
    chosen: dict[Learner, Variances] = {
        "per_experience": Variances(0.0, float(deviation_grid[own])),
        "content_aware": Variances(float(content_grid[i]), float(deviation_grid[j])),
    }
    shrunk = axes[j] * (content_grid[i] / scale[i, j])
    return Fit(noise, table, chosen, shrunk.dot(rotated[j]), noise * (shrunk @ axes[j].T))


def _first_best(table: NDArray[np.float64]) -> tuple[int, int]:
    """Place of the maximum; of the tied, the smallest content variance, then the smallest deviation."""
    place = int((table >= table.max() - TIE).argmax())
    return place // table.shape[1], place % table.shape[1]


def checked_grid(grid: Sequence[float], name: str) -> NDArray[np.float64]:
    """``grid`` as an array, or InputError when it is not strictly increasing and finite from 0."""
    ratios = np.asarray(grid, dtype=np.float64)
    ordered = ratios.ndim == 1 and ratios.size > 0 and bool((ratios[1:] > ratios[:-1]).all())
    if not ordered or ratios[0] != 0 or not np.isfinite(ratios[-1]):
        raise InputError(f"{name} must be finite, strictly increasing and start at 0, got {tuple(grid)}")
    return ratios
