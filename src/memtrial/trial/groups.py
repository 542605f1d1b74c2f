"""Sums over experiences that were measured equally often: all that a fit of the value model reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Groups:
    """For each count n, the number of experiences measured n times and the sum of outer products of their vectors.

    A vector is (content features, mean contribution), so the outer products hold Z'Z, Z'm and m'm of the group.

    Parameters
    ----------
    deviations
        Grid of tau^2 / sigma^2, (n_deviation,).
    width
        Length of a vector, d + 1.
    """

    def __init__(self, deviations: NDArray[np.float64], width: int) -> None:
        self._deviations = deviations
        self._width = width
        self._clear()

    def _clear(self) -> None:
        cells = self._width * self._width
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._used = 0
        # Column 0 is the number of experiences, the rest their outer products.
        self._sums = np.zeros((8, 1 + cells))
        self._weights = np.zeros((self._deviations.size, 8))
        self._logs = np.zeros((self._deviations.size, 8))

    def move(
        self,
        before: NDArray[np.int64],
        after: NDArray[np.int64],
        vectors_before: NDArray[np.float64],
        vectors_after: NDArray[np.float64],
    ) -> None:
        """Move experiences from their group ``before`` (none where it is 0) to ``after``, (k,); vectors (k, d + 1)."""
        taken, added = _rows(vectors_before), _rows(vectors_after)
        for row, (old, new) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
            if old:
                self._take(old, taken[row])
            slot = self._slot(new)  # may move the sums to a larger array
            self._sums[slot] += added[row]

    def rebuild(self, counts: NDArray[np.int64], vectors: NDArray[np.float64]) -> None:
        """Start again from all experiences: their ``counts`` (H,) >= 1 and vectors (H, d + 1)."""
        self._clear()
        for count in np.unique(counts).tolist():
            members = vectors[counts == count]
            slot = self._slot(count)
            self._sums[slot, 0] = len(members)
            self._sums[slot, 1:] = (members.T @ members).ravel()

    def weighted(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over all experiences for each deviation b of the grid.

        Returns
        -------
        tuple
            Sum of log(b + 1/n), (n_deviation,), and the outer products weighted by 1 / (b + 1/n),
            (n_deviation, d + 1, d + 1).
        """
        used = self._sums[: self._used]
        moments = self._weights[:, : self._used] @ used[:, 1:]
        return self._logs[:, : self._used] @ used[:, 0], moments.reshape(-1, self._width, self._width)

    def _slot(self, count: int) -> int:
        slot = self._slots.get(count)
        if slot is not None:
            return slot
        if self._free:
            slot = self._free.pop()
        else:
            slot = self._used
            self._used += 1
            if slot == len(self._sums):
                self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
                self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)], axis=1)
                self._logs = np.concatenate([self._logs, np.zeros_like(self._logs)], axis=1)
        diagonal = self._deviations + 1.0 / count
        self._slots[count] = slot
        self._weights[:, slot] = 1.0 / diagonal
        self._logs[:, slot] = np.log(diagonal)
        return slot

    def _take(self, count: int, row: NDArray[np.float64]) -> None:
        slot = self._slots[count]
        if self._sums[slot, 0] == 1.0:
            # The last one leaves: exactly 0, not what rounding left behind.
            self._sums[slot] = 0.0
            self._free.append(self._slots.pop(count))
        else:
            self._sums[slot] -= row


def _rows(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = np.empty((len(vectors), 1 + vectors.shape[1] ** 2))
    rows[:, 0] = 1.0
    rows[:, 1:] = (vectors[:, :, None] * vectors[:, None, :]).reshape(len(vectors), -1)
    return rows
