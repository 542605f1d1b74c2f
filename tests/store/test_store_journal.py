"""The journal: what happened in which order, what ended how, and what others wrote meanwhile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from store_records import EMBEDDER, day, decision, experience, outcome, vector

from memtrial.errors import DecisionError, StoreError
from memtrial.records import Decision, Expiry, Outcome
from memtrial.store import Store

LATE = day(1000)


def test_a_decision_ends_once_settled_or_expired(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        first, second = decision(0), decision(1)
        store.add_decision(first)
        store.add_decision(second)
        store.add_outcome(outcome(first))
        store.expire(second.id)
        for settle in (lambda: store.add_outcome(outcome(first)), lambda: store.expire(first.id)):
            with pytest.raises(DecisionError, match="already settled"):
                settle()
        for settle in (lambda: store.add_outcome(outcome(second)), lambda: store.expire(second.id)):
            with pytest.raises(DecisionError, match="already expired"):
                settle()
        with pytest.raises(DecisionError, match="not in the store"):
            store.expire("nothing")
        events = list(store.journal("s", "a"))
        assert [type(event) for event in events] == [Decision, Decision, Outcome, Expiry]
        assert events[-1] == Expiry(decision_id=second.id)
        assert store.outcome(second.id, as_of=LATE) is None


def test_what_another_process_wrote_is_counted(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as one, Store(tmp_path / "a.db") as two:
        assert one.count_events("s", "a") == 0
        taken = decision(0)
        two.add_decision(taken)
        assert one.count_events("s", "a") == 1
        two.add_outcome(outcome(taken))
        assert one.count_events("s", "a") == 2
        assert one.count_events("s", "another") == 0


def test_what_needs_no_reflection_and_who_embedded_it(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        assert store.remembered("s") == frozenset()
        assert store.embedders("s") == frozenset()
        store.add_experience("s", experience(0, decision_id="d0"), embedder=EMBEDDER, vector=vector(0))
        store.add_experience("s", experience(1, decision_id=None), embedder="model:2", vector=vector(1))
        assert store.remembered("s") == {"d0"}
        assert store.embedders("s") == {EMBEDDER, "model:2"}
        assert store.remembered("t") == frozenset()


def test_a_basis_is_there_once_it_was_added(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        assert not store.has_basis("b")
        store.add_basis("b", embedder=EMBEDDER, mean=np.zeros(3), projection=np.zeros((3, 2)))
        assert store.has_basis("b")


def test_reading_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        Store(tmp_path / "none.db", create=False)
    assert not (tmp_path / "none.db").exists()
