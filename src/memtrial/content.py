"""Content features of experiences: which basis is in force at a decision, and when it is fitted anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtrial.models.embedders import Embedder
from memtrial.records import Decision, Recall, fingerprint
from memtrial.store import Store
from memtrial.trial import ContentBasis, Trial

GROWTH = 2.0


class Content:
    """The content basis of one agent (paper, Appendix D.3: principal components of the retrieval embeddings).

    The basis is fitted on the experiences known at a decision and then stays, so that predictions can be compared; it
    is fitted anew when the pool has doubled since. Stored predictions are never recomputed.
    """

    def __init__(self, store: Store, scope: str, embedder: Embedder, dimensions: int) -> None:
        self._store, self._scope, self._embedder, self._d = store, scope, embedder, dimensions
        self._id: str | None = None
        self._basis: ContentBasis | None = None
        self._fitted_on = 0
        self._seen: dict[str, None] = {}

    def at(self, recall: Recall, trial: Trial) -> tuple[str | None, NDArray[np.float64]]:
        """Basis id and features (k, d) of the recalled experiences, after refitting the basis if that is due."""
        if recall.shown and recall.pool >= max(2, GROWTH * self._fitted_on):
            self._fit(recall, trial)
        ids = [experience.id for experience in recall.experiences]
        self._seen.update(dict.fromkeys(ids))
        return self._id, self._features(ids)

    def replay(self, decision: Decision, trial: Trial) -> None:
        """Put the basis of a stored decision in force, at the point where it came into force."""
        if decision.basis is not None and decision.basis != self._id:
            self._adopt(decision.basis, self._stored(decision.basis), decision.recall.pool, trial)
        self._seen.update(dict.fromkeys(experience.id for experience in decision.recall.experiences))

    def _fit(self, recall: Recall, trial: Trial) -> None:
        known = [experience.id for experience in self._store.experiences(self._scope, as_of=recall.as_of)]
        vectors = self._vectors(known)
        if int(np.isfinite(vectors).all(axis=1).sum()) < 2:
            return
        # Fitted once per pool: another processor would find the same basis but for its last digits.
        identity = fingerprint([self._scope, self._embedder.identity, self._d, sorted(known)])[:16]
        if not self._store.has_basis(identity):
            fitted = ContentBasis.fit(vectors, self._d)
            self._store.add_basis(
                identity, embedder=self._embedder.identity, mean=fitted.mean, projection=fitted.projection
            )
        self._adopt(identity, self._stored(identity), recall.pool, trial)

    def _stored(self, identity: str) -> ContentBasis:
        stored = self._store.basis(identity)
        return ContentBasis(mean=stored.mean, projection=stored.projection)

    def _adopt(self, identity: str, basis: ContentBasis, fitted_on: int, trial: Trial) -> None:
        self._id, self._basis, self._fitted_on = identity, basis, fitted_on
        ids = list(self._seen)
        trial.rebase(dict(zip(ids, self._features(ids), strict=True)))

    def _features(self, ids: list[str]) -> NDArray[np.float64]:
        if self._basis is None or not ids:
            return np.zeros((len(ids), self._d))
        return self._basis.features(self._vectors(ids))

    def _vectors(self, ids: list[str]) -> NDArray[np.float64]:
        """Embeddings (n, dimension); a row of NaN where there is none."""
        stored = self._store.vectors(self._scope, ids, self._embedder.identity)
        if stored.shape[1] == 0:
            return np.full((len(ids), self._embedder.dimension), np.nan)
        return stored.astype(np.float64)
