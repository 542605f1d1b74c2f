"""Exact search over the vectors of a scope: a NumPy matrix with its known times beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError
from memtrial.records import utc
from memtrial.store.database import Store

DECIMALS = 7
"""Similarities are rounded to this: finer differences depend on the machine that multiplied."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class ExactIndex:
    """The vectors of one embedder in one scope, searched exactly.

    Rows are kept in the order of their known times, so that what is known by a time is a leading part of the matrix:
    what came later takes no part in the product. New rows, of any process, are taken up at the next question.

    Parameters
    ----------
    store
        Where the vectors are.
    scope, embedder
        Which of them; vectors of two embedders are never compared.
    """

    def __init__(self, store: Store, scope: str, embedder: str) -> None:
        self._store = store
        self._scope = scope
        self._embedder = embedder
        self._lock = Lock()
        self._last = 0
        self._size = 0
        self._known = np.empty(0, dtype=np.int64)
        self._ids = np.empty(0, dtype=object)
        self._lengths = np.empty(0, dtype=np.float64)
        self._matrix = np.empty((0, 0), dtype=np.float32)

    def pool(self, *, as_of: datetime) -> int:
        """How many vectors were known at ``as_of`` (aware)."""
        moment = _microseconds(utc(as_of, "as_of"))
        with self._lock:
            self._refresh()
            return self._prefix(moment)

    def search(self, query: ArrayLike, k: int, *, as_of: datetime) -> list[tuple[str, float]]:
        """The ``k`` experiences known at ``as_of`` that are most similar to ``query``, best first.

        Parameters
        ----------
        query
            (dimension,); a zero vector is similar to nothing, 0 to each.
        k, as_of
            At most so many, of those known by then (aware).

        Returns
        -------
        list of (experience id, similarity)
            Cosine similarity in [-1, 1], rounded to 7 decimals; equals are in the order of their ids.

        Raises
        ------
        InputError
            A query of another dimension or with a number that is not finite, or a negative ``k``.
        TimeError
            ``as_of`` has no time zone.
        """
        moment = _microseconds(utc(as_of, "as_of"))
        wanted = np.asarray(query, dtype=np.float32)
        if wanted.ndim != 1 or not np.isfinite(wanted).all():
            raise InputError(f"a query must be finite with shape (dimension,), got shape {wanted.shape}")
        if k < 0:
            raise InputError(f"k = {k} experiences; it cannot be negative")
        with self._lock:
            self._refresh()
            n = self._prefix(moment)
            if n == 0 or k == 0:
                return []
            if wanted.size != self._matrix.shape[1]:
                raise InputError(
                    f"scope {self._scope!r} has vectors of {self._matrix.shape[1]} dimensions from "
                    f"{self._embedder!r}, the query has {wanted.size}"
                )
            return self._ranked(wanted, k, n)

    def _ranked(self, query: NDArray[np.float32], k: int, n: int) -> list[tuple[str, float]]:
        exact = query.astype(np.float64)
        length = float(np.linalg.norm(exact)) or 1.0
        near = self._near(query / np.float32(length), k, n)
        products: NDArray[np.float64] = (self._matrix[near].astype(np.float64) * exact).sum(axis=1)
        cosines = np.clip(products / (self._lengths[near] * length), -1.0, 1.0)
        # + 0.0 turns -0.0 into 0.0
        similarities: list[float] = (np.round(cosines, DECIMALS) + 0.0).tolist()
        ranked = sorted(zip(self._ids[near].tolist(), similarities, strict=True), key=lambda pair: (-pair[1], pair[0]))
        return ranked[:k]

    def _near(self, query: NDArray[np.float32], k: int, n: int) -> NDArray[np.intp]:
        """Rows that can be among the best k: a fast product in float32, whose worst rounding error is allowed for."""
        if k >= n:
            return np.arange(n)
        rough = (self._matrix[:n] @ query) / self._lengths[:n]
        margin = 10.0**-DECIMALS + 4 * query.size * float(np.finfo(np.float32).eps)
        worst = np.partition(rough, n - k)[n - k]
        return np.flatnonzero(rough >= worst - margin)

    def _prefix(self, moment: int) -> int:
        return int(np.searchsorted(self._known[: self._size], moment, side="right"))

    def _refresh(self) -> None:
        for rows in self._store.new_vectors(self._scope, self._embedder, after=self._last):
            self._append(rows)

    def _append(self, rows: Sequence[Any]) -> None:
        start, stop = self._size, self._size + len(rows)
        vectors = np.frombuffer(b"".join(row.vector for row in rows), dtype="<f4").reshape(len(rows), -1)
        lengths: NDArray[np.float64] = np.linalg.norm(vectors.astype(np.float64), axis=1)
        self._reserve(stop, vectors.shape[1])
        self._matrix[start:stop] = vectors
        self._lengths[start:stop] = np.where(lengths > 0, lengths, 1.0)
        self._known[start:stop] = [_microseconds(row.known_at) for row in rows]
        self._ids[start:stop] = [row.experience_id for row in rows]
        first = self._prefix(int(self._known[start:stop].min()))
        # Memories mostly arrive in the order of time; only what a late one displaces is moved.
        order = first + np.argsort(self._known[first:stop], kind="stable")
        for column in (self._known, self._ids, self._lengths, self._matrix):
            column[first:stop] = column[order]
        self._size = stop
        self._last = rows[-1].recorded

    def _reserve(self, size: int, dimension: int) -> None:
        if size <= len(self._known):
            return
        capacity = max(size, 2 * len(self._known), 64)
        n = self._size
        old = (self._known[:n], self._ids[:n], self._lengths[:n], self._matrix[:n])
        self._known = np.empty(capacity, dtype=np.int64)
        self._ids = np.empty(capacity, dtype=object)
        self._lengths = np.empty(capacity, dtype=np.float64)
        self._matrix = np.empty((capacity, dimension), dtype=np.float32)
        if n:
            self._known[:n], self._ids[:n], self._lengths[:n], self._matrix[:n] = old


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
