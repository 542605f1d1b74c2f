"""Content features of experiences: standardised principal components of their embeddings (paper §3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError

ROUNDING = 1e-7
"""Spread below this fraction of the embeddings' norm is float32 rounding, not content."""


@dataclass(frozen=True, slots=True, eq=False)
class ContentBasis:
    """A frozen basis of content features.

    Fit it on the embeddings of experiences known at decision time, and keep it until it is refitted on purpose: a new
    basis changes the features of every experience (see ``Trial.rebase``).

    Attributes
    ----------
    mean
        Mean embedding, (dim,).
    projection
        From a centred embedding to its features, (dim, d); columns beyond the components found are 0.
    """

    mean: NDArray[np.float64]
    projection: NDArray[np.float64]

    @classmethod
    def fit(cls, embeddings: ArrayLike, d: int = 8) -> ContentBasis:
        """The first ``d`` principal components, each scaled to mean 0 and standard deviation 1 over ``embeddings``.

        Parameters
        ----------
        embeddings
            (n, dim), one row per experience known at decision time; rows with NaN (unknown) are left out.
        d
            Number of features. Only min(d, n - 1) components exist; the rest, and components without variance, are 0.

        Raises
        ------
        InputError
            When ``embeddings`` is not a matrix or ``d`` is below 1.
        """
        matrix = np.asarray(embeddings, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] == 0:
            raise InputError(f"embeddings must have shape (n, dim), got {matrix.shape}")
        if d < 1:
            raise InputError(f"d = {d} content features; at least 1 is needed")
        matrix = matrix[np.isfinite(matrix).all(axis=1)]
        n, dim = matrix.shape
        projection = np.zeros((dim, d))
        mean = matrix.mean(axis=0) if n else np.zeros(dim)
        if n >= 2:
            centred = matrix - mean
            # R of a QR has the same components as a tall matrix, at a fraction of the cost.
            square = np.linalg.qr(centred, mode="r") if n > dim else centred
            _, spread, axes = np.linalg.svd(square, full_matrices=False)
            found = min(d, n - 1, int((spread > ROUNDING * float(np.linalg.norm(matrix))).sum()))
            axes = axes[:found]
            largest = np.abs(axes).argmax(axis=1)
            signs = np.sign(axes[np.arange(found), largest])
            projection[:, :found] = (axes * signs[:, None]).T * (np.sqrt(n) / spread[:found])
        mean.setflags(write=False)
        projection.setflags(write=False)
        return cls(mean, projection)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.projection.shape[1]

    def features(self, embeddings: ArrayLike) -> NDArray[np.float64]:
        """Features of ``embeddings``, (n, dim) to (n, d); an unknown embedding (a row with NaN) has features 0.

        Raises
        ------
        InputError
            When ``embeddings`` is not (n, dim) with the basis' own dim.
        """
        matrix = np.asarray(embeddings, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self.mean.size:
            raise InputError(f"embeddings must have shape (n, {self.mean.size}), got {matrix.shape}")
        unknown = np.isnan(matrix - self.mean).any(axis=1, keepdims=True)
        return np.where(unknown, 0.0, matrix - self.mean) @ self.projection
