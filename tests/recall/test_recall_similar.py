"""Recall by similarity: what was known, best first, whatever came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memtrial.errors import InputError, StoreError
from memtrial.models.embedders import WordLlamaEmbedder
from memtrial.recall import Recaller, SimilarityRecall
from memtrial.records import Experience, Recall, State
from memtrial.store import Store

START = datetime(2021, 3, 1, 12, tzinfo=UTC)


class Angles:
    """A situation is an angle in degrees."""

    identity = "angles:2"
    dimension = 2

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        turns = np.radians([float(text) for text in texts])
        return np.stack([np.cos(turns), np.sin(turns)], axis=1).astype(np.float32)


def day(n: float) -> datetime:
    return START + timedelta(days=n)


def memory(identity: str, situation: str, known: float, text: str = "") -> Experience:
    return Experience(
        id=identity, kind="record", situation=situation, text=text, valid_at=day(known), known_at=day(known)
    )


def remember(store: Store, *memories: Experience, scope: str = "s") -> None:
    vectors = Angles().embed([item.situation for item in memories])
    store.add_experiences(scope, list(zip(memories, vectors, strict=True)), embedder=Angles.identity)


def state(situation: str, at: float) -> State:
    return State(decided_at=day(at), text="", situation=situation, assets=("A",))


def test_the_receipt(tmp_path: Path) -> None:
    far, near, later = memory("a", "60", 1), memory("b", "0", 2), memory("c", "10", 9)
    with Store(tmp_path / "agent.db") as store:
        remember(store, far, near, later)
        recall: Recaller = SimilarityRecall(store, Angles(), scope="s")
        receipt = recall(state("0", 5), 4)
    assert (receipt.as_of, receipt.query, receipt.embedder, receipt.pool) == (day(5), "0", "angles:2", 2)
    assert receipt.experiences == (near, far)
    assert [(item.rank, item.similarity) for item in receipt.shown] == [(0, 1.0), (1, 0.5)]


def test_an_empty_and_a_thin_memory() -> None:
    with Store(":memory:") as store:
        recall = SimilarityRecall(store, Angles(), scope="s")
        nothing = Recall(as_of=day(0), query="0", embedder="angles:2", pool=0, shown=())
        assert recall(state("0", 0), 4) == nothing
        remember(store, memory("a", "30", 1))
        assert recall(state("0", 0), 4) == nothing
        assert [item.experience.id for item in recall(state("0", 1), 4).shown] == ["a"]
        assert recall(state("0", 1), 0).shown == ()
        assert recall(state("0", 1), 0).pool == 1
        with pytest.raises(InputError, match="negative"):
            recall(state("0", 1), -1)


def test_twins_are_both_shown_and_in_the_order_of_their_ids() -> None:
    with Store(":memory:") as store:
        remember(store, memory("b", "20", 1), memory("c", "20", 0), memory("a", "20", 2), memory("d", "80", 2))
        shown = SimilarityRecall(store, Angles(), scope="s")(state("20", 3), 3).experiences
    assert [item.id for item in shown] == ["a", "b", "c"]


def test_what_is_shown_of_a_memory_moves_no_rank() -> None:
    receipts: list[list[tuple[str, float]]] = []
    for words in (("won 5 %", "lost 9 %", "flat"), ("lost 9 %", "flat", "won 5 %")):
        with Store(":memory:") as store:
            remember(store, *(memory(f"m{n}", str(20 * n), 0, text) for n, text in enumerate(words)))
            receipt = SimilarityRecall(store, Angles(), scope="s")(state("35", 1), 3)
        receipts.append([(item.experience.id, item.similarity) for item in receipt.shown])
    assert receipts[0] == receipts[1]


def test_later_memories_and_other_scopes_change_no_byte() -> None:
    known = [memory(f"m{n}", str(7 * n), n % 3) for n in range(9)]
    receipts: list[str] = []
    for later in ([], [memory(f"x{n}", "33", 3.5 + n) for n in range(9)]):
        with Store(":memory:") as store:
            if later:
                remember(store, *later)
                remember(store, *later, memory("m0", "33", 0), scope="t")
            remember(store, *known)
            receipts.append(repr(SimilarityRecall(store, Angles(), scope="s")(state("33", 3), 4)))
    assert receipts[0] == receipts[1]


def test_memories_added_between_two_decisions_are_found() -> None:
    with Store(":memory:") as store:
        recall = SimilarityRecall(store, Angles(), scope="s")
        for n in range(5):
            remember(store, memory(f"m{n}", str(50 - n), 5 - n))
            assert recall(state("0", 9), 1).experiences[0].id == f"m{n}"


def test_vectors_of_two_models_are_never_compared() -> None:
    with Store(":memory:") as store:
        remember(store, memory("a", "0", 0))
        store.add_experience("s", memory("b", "0", 0), embedder="another", vector=[1.0, 0.0])
        receipt = SimilarityRecall(store, Angles(), scope="s")(state("0", 1), 4)
    assert [item.id for item in receipt.experiences] == ["a"]
    assert receipt.pool == 1


def test_a_closed_store_cannot_recall() -> None:
    with Store(":memory:") as store:
        recall = SimilarityRecall(store, Angles(), scope="s")
    with pytest.raises(StoreError, match="closed"):
        recall(state("0", 0), 1)


def test_words_with_the_default_embedder() -> None:
    embedder = WordLlamaEmbedder()
    texts = ["stocks fall and volatility jumps", "bonds rally as rates fall", "a quiet week, prices hardly move"]
    with Store(":memory:") as store:
        for n, (text, vector) in enumerate(zip(texts, embedder.embed(texts), strict=True)):
            store.add_experience("s", memory(f"m{n}", text, 0), embedder=embedder.identity, vector=vector)
        shown = SimilarityRecall(store, embedder, scope="s")(state("volatility jumps while stocks drop", 1), 2).shown
    assert shown[0].experience.id == "m0"
    assert 1 > shown[0].similarity > shown[1].similarity
