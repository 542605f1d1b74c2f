"""The exact index answers as brute force would, whatever the order of arrival."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from store_records import EMBEDDER, day, experience, vector

from memtrial.errors import InputError
from memtrial.records import Experience
from memtrial.store import ExactIndex, Store
from memtrial.store.vectors import DECIMALS

Item = tuple[Experience, NDArray[np.float32]]


def brute(items: list[Item], query: NDArray[np.float32], k: int, as_of: datetime) -> list[tuple[str, float]]:
    wanted = query.astype(np.float64)
    answers: list[tuple[str, float]] = []
    for item, stored in items:
        if item.known_at <= as_of:
            row = stored.astype(np.float64)
            lengths = float(np.linalg.norm(row) * np.linalg.norm(wanted))
            answers.append((item.id, round(float((row * wanted).sum()) / lengths, DECIMALS) if lengths else 0.0))
    return sorted(answers, key=lambda pair: (-pair[1], pair[0]))[:k]


@settings(max_examples=30, deadline=None)
@given(
    known=st.lists(st.integers(0, 9), max_size=40),
    # Few different vectors make many ties; 0 is the zero vector.
    seeds=st.lists(st.integers(0, 6), min_size=40, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=3),
    k=st.integers(0, 45),
    by=st.integers(-1, 10),
    seed=st.integers(0, 6),
)
def test_it_is_brute_force(known: list[int], seeds: list[int], cuts: list[int], k: int, by: int, seed: int) -> None:
    items: list[Item] = [
        (experience(n, known=at), vector(seeds[n]) if seeds[n] else np.zeros(8, dtype=np.float32))
        for n, at in enumerate(known)
    ]
    query = vector(seed) if seed else np.zeros(8, dtype=np.float32)
    with Store(":memory:") as store:
        index = ExactIndex(store, "s", EMBEDDER)
        done = 0
        for cut in [*sorted(cuts), len(items)]:
            store.add_experiences("s", items[done:cut], embedder=EMBEDDER)
            done = max(done, min(cut, len(items)))
            present = items[:done]
            assert index.search(query, k, as_of=day(by)) == brute(present, query, k, day(by))
            assert index.pool(as_of=day(by)) == sum(at <= by for at in known[:done])


@pytest.mark.parametrize("dimension", [3, 256])
def test_many_near_neighbours_are_ranked_by_their_exact_similarity(dimension: int) -> None:
    chance = np.random.default_rng(3)
    centre = chance.normal(size=dimension)
    rows = (centre + 1e-3 * chance.normal(size=(3000, dimension))).astype(np.float32)
    items: list[Item] = [(experience(n, known=n % 7), rows[n]) for n in range(len(rows))]
    with Store(":memory:") as store:
        store.add_experiences("s", items, embedder=EMBEDDER)
        index = ExactIndex(store, "s", EMBEDDER)
        for k in (1, 16, 400):
            query = centre.astype(np.float32)
            assert index.search(query, k, as_of=day(3)) == brute(items, query, k, day(3))


def test_the_filter_comes_before_the_limit(tmp_path: Path) -> None:
    with Store(tmp_path / "agent.db") as store:
        items: list[Item] = [(experience(n, known=n), np.array([1, n], dtype=np.float32)) for n in range(10)]
        store.add_experiences("s", items, embedder=EMBEDDER)
        index = ExactIndex(store, "s", EMBEDDER)
        # The nearest to (0, 1) are the latest: unfiltered, they would take every place.
        found = index.search([0, 1], 3, as_of=day(4))
        assert [identity for identity, _ in found] == ["e004", "e003", "e002"]
        assert found[0][1] == round(4 / 17**0.5, DECIMALS)


def test_equals_are_in_the_order_of_their_ids(tmp_path: Path) -> None:
    with Store(tmp_path / "agent.db") as store:
        for n in (7, 3, 9, 1):
            store.add_experience("s", experience(n, known=10 - n), embedder=EMBEDDER, vector=[2.0, 0.0])
        found = ExactIndex(store, "s", EMBEDDER).search([1.0, 0.0], 3, as_of=day(99))
        assert found == [("e001", 1.0), ("e003", 1.0), ("e007", 1.0)]


def test_zero_is_similar_to_nothing_and_never_minus_zero() -> None:
    with Store(":memory:") as store:
        store.add_experience("s", experience(1), embedder=EMBEDDER, vector=[0.0, 0.0])
        store.add_experience("s", experience(2), embedder=EMBEDDER, vector=[-1e-9, 1.0])
        index = ExactIndex(store, "s", EMBEDDER)
        assert repr(index.search([1.0, 0.0], 9, as_of=day(9))) == "[('e001', 0.0), ('e002', 0.0)]"
        assert repr(index.search([0.0, 0.0], 9, as_of=day(9))) == "[('e001', 0.0), ('e002', 0.0)]"


def test_an_empty_pool_and_wrong_questions() -> None:
    with Store(":memory:") as store:
        index = ExactIndex(store, "s", EMBEDDER)
        assert index.search([1.0], 5, as_of=day(0)) == []
        assert index.pool(as_of=day(0)) == 0
        store.add_experience("s", experience(1), embedder=EMBEDDER, vector=[1.0, 0.0])
        assert index.search([1.0, 0.0], 5, as_of=day(0)) == []
        with pytest.raises(InputError, match="2 dimensions from 'model:1', the query has 1"):
            index.search([1.0], 5, as_of=day(2))
        with pytest.raises(InputError, match="finite"):
            index.search([1.0, np.nan], 5, as_of=day(2))
        with pytest.raises(InputError, match="negative"):
            index.search([1.0, 0.0], -1, as_of=day(2))
