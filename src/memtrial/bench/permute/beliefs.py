"""The value learners of the trial, fitted on many permuted histories at once.

A shuffle of names within dates leaves untouched how often each memory was measured and what its content is, so the
matrices of :class:`memtrial.trial.ValueModel` are the same in every permuted history and only the sums of
contributions differ. One factorisation per date serves all of them; nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, TIE

_ROUNDING = 1e-12
_A, _B = np.array(CONTENT_GRID), np.array(DEVIATION_GRID)


@dataclass(frozen=True, slots=True, eq=False)
class _Fits:
    """Chosen deviations, (n_histories,), of both learners, and coefficients, (n_histories, d)."""

    own: NDArray[np.float64]
    both: NDArray[np.float64]
    coefficients: NDArray[np.float64]


class Beliefs:
    """Both learners (paper Eqs. 5-7) in ``n_histories`` histories that differ in which memory is called what.

    Parameters
    ----------
    n_memories, dimensions, n_histories
        H, d, and the number of histories.
    """

    def __init__(self, n_memories: int, dimensions: int, n_histories: int) -> None:
        self._n = np.zeros(n_memories)
        self._sums = np.zeros((n_memories, n_histories))
        self._features = np.zeros((n_memories, dimensions))
        self._within = np.zeros(n_histories)
        self._squares = np.zeros(n_histories)
        self._column = np.arange(n_histories)
        self._fits: _Fits | None = None

    def see(self, rows: NDArray[np.intp], features: NDArray[np.float64]) -> None:
        """Take the content, (k, d), of recalled memories that were not measured yet."""
        fresh = self._n[rows] == 0
        self._features[rows[fresh]] = features[fresh]

    def rebase(self, features: Mapping[int, NDArray[np.float64]]) -> None:
        """Replace all content; a memory that is not given has unknown content, 0."""
        self._features[:] = 0.0
        for row, vector in features.items():
            self._features[row] = vector
        self._fits = None

    def observe(self, rows: NDArray[np.intp], labels: NDArray[np.intp], centred: NDArray[np.float64]) -> None:
        """Learn one date: contributions (k,) of its slots, which each history gives to ``labels``, (k, n_histories).

        ``rows`` are the memories of the date, (k,).
        """
        before = np.maximum(self._n[labels], 1.0)
        sums = self._sums[labels, self._column]
        deviation = centred[:, None] - sums / before
        # A first measurement adds nothing to the spread within memories.
        after = self._n[labels] + 1.0
        self._within += np.where(
            after > 1, deviation * (centred[:, None] - (sums + centred[:, None]) / after), 0.0
        ).sum(0)
        self._squares += float(centred @ centred)
        self._sums[labels, self._column] = sums + centred[:, None]
        self._n[rows] += 1.0
        self._fits = None

    def predict(self, labels: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values of ``labels``, (k, n_histories), by the per-experience and the content-aware learner."""
        if self._fits is None:
            self._fits = self._fitted()
        fits, n = self._fits, self._n[labels]
        mean = self._sums[labels, self._column] / np.maximum(n, 1.0)
        own, both = fits.own * n, fits.both * n
        expected = np.einsum("kpd,pd->kp", self._features[labels], fits.coefficients)
        return own / (own + 1.0) * mean, expected + both / (both + 1.0) * (mean - expected)

    def _noise(self) -> NDArray[np.float64]:
        observations, measured = self._n.sum(), (self._n > 0).sum()
        if not observations:
            return np.zeros_like(self._within)
        pooled = self._within / max(observations - measured, 1.0)
        repeated = (observations > measured) & (self._within > _ROUNDING * self._squares)
        return np.asarray(np.where(repeated, pooled, self._squares / observations), dtype=np.float64)

    def _fitted(self) -> _Fits:
        seen = self._n > 0
        noise = self._noise()
        known = noise > 0
        n, content = self._n[seen], self._features[seen]
        mean = self._sums[seen] / n[:, None]
        precision = n / (_B[:, None] * n + 1.0)
        # (B, d, H): weighted content, from which every matrix follows.
        weighted = precision[:, None, :] * content.T
        spectrum = np.linalg.eigh(weighted @ content)
        roots, axes = np.maximum(spectrum.eigenvalues, 0.0), spectrum.eigenvectors
        rotated = axes.transpose(0, 2, 1) @ (weighted @ mean)
        scale = 1.0 + _A[:, None, None] * roots
        gain = _A[:, None, None] / scale
        determinant = np.log(scale).sum(axis=2) - np.log(precision).sum(axis=1)
        explained = gain.transpose(1, 0, 2) @ rotated**2
        quadratic = precision @ mean**2 - explained.transpose(1, 0, 2)
        table = -0.5 * (determinant[:, :, None] + quadratic / np.where(known, noise, 1.0))
        i, j = np.divmod(_first_best(table.reshape(-1, noise.size)), _B.size)
        own = _first_best(table[0])
        shrunk = gain[i, j] * rotated[j, :, self._column]
        return _Fits(
            own=np.where(known, _B[own], 0.0),
            both=np.where(known, _B[j], 0.0),
            coefficients=np.where(known[:, None], np.einsum("pde,pe->pd", axes[j], shrunk), 0.0),
        )


def _first_best(table: NDArray[np.float64]) -> NDArray[np.intp]:
    """Row of the maximum of each column, (n_grid, n_histories); of the tied, the first."""
    return (table >= table.max(axis=0) - TIE).argmax(axis=0)
