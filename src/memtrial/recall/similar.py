"""Recall by similarity of situations alone."""

from __future__ import annotations

from memtrial.models.embedders import Embedder
from memtrial.records import Recall, Recalled, State
from memtrial.store import ExactIndex, Store


class SimilarityRecall:
    """The experiences of a scope whose situation is most similar to the state's; a ``Recaller``.

    Only experiences known when the decision is taken take part. Outcomes do not: the ranking would be the same with any
    others. Texts that say nearly the same may all be shown; one experience is shown once.

    Parameters
    ----------
    store
        The memory.
    embedder
        Embeds the state's situation; only vectors under its identity are compared.
    scope
        Whose memory.
    """

    def __init__(self, store: Store, embedder: Embedder, *, scope: str) -> None:
        self._store = store
        self._embedder = embedder
        self._scope = scope
        self._index = ExactIndex(store, scope, embedder.identity)

    def __call__(self, state: State, k: int) -> Recall:
        """The receipt of the at most ``k`` most similar experiences known by ``state.decided_at``.

        Raises
        ------
        InputError
            A negative ``k``, or vectors of another dimension in the store.
        StoreError
            The store cannot be read.
        """
        as_of = state.decided_at
        query = self._embedder.embed([state.situation])[0]
        found = self._index.search(query, k, as_of=as_of)
        ids = [identity for identity, _ in found]
        memories = {item.id: item for item in self._store.experiences(self._scope, as_of=as_of, ids=ids)}
        return Recall(
            as_of=as_of,
            query=state.situation,
            embedder=self._embedder.identity,
            pool=self._index.pool(as_of=as_of),
            shown=tuple(
                Recalled(experience=memories[identity], rank=rank, similarity=similarity)
                for rank, (identity, similarity) in enumerate(found)
            ),
        )
