"""What is read is what was written, bit for bit, in this process and after a restart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_records import EMBEDDER, any_decision, any_outcome, day, decision, experience, outcome, vector

from memtrial.errors import DecisionError, InputError, StoreError, TimeError
from memtrial.records import Decision, Outcome, Recall, Recalled
from memtrial.store import Store


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_any_decision_and_outcome_come_back_bit_for_bit(data: st.DataObject) -> None:
    taken = data.draw(any_decision())
    settled = data.draw(any_outcome(taken))
    with Store(":memory:") as store:
        items = [(item, vector(0)) for item in taken.recall.experiences]
        store.add_experiences(taken.scope, items, embedder=EMBEDDER)
        store.add_decision(taken)
        store.add_outcome(settled)
        # repr, because NaN differs from itself and -0.0 does not differ from 0.0
        assert repr(store.decision(taken.id, as_of=taken.decided_at)) == repr(taken)
        assert repr(store.outcome(taken.id, as_of=settled.known_at)) == repr(settled)
        assert repr(list(store.journal(taken.scope, taken.agent))) == repr([taken, settled])
        for item, _ in items:
            assert store.experience(taken.scope, item.id, as_of=item.known_at) == item


def test_a_restart_reads_what_was_written(tmp_path: Path) -> None:
    memories = tuple(experience(n) for n in range(4))
    taken = decision(0, memories)
    with Store(tmp_path / "agent.db") as store:
        store.add_experiences("s", [(item, vector(n)) for n, item in enumerate(memories)], embedder=EMBEDDER)
        store.add_decision(taken)
        store.add_outcome(outcome(taken))
    with Store(f"sqlite:///{tmp_path}/agent.db") as store:
        assert repr(store.decision(taken.id, as_of=day(100))) == repr(taken)
        assert store.outcome(taken.id, as_of=day(101)) == outcome(taken)
        assert store.experiences("s", as_of=day(100)) == memories
        found = store.vectors("s", ["e002", "none", "e000"], EMBEDDER)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, [vector(2), np.full(8, np.nan), vector(0)])
        assert store.vectors("s", ["e000"], "another").shape == (1, 0)


def test_the_journal_keeps_the_order_of_events_not_of_times(tmp_path: Path) -> None:
    taken = [decision(n) for n in range(3)]
    other = decision(0, agent="b")
    written: list[Decision | Outcome] = [
        taken[0], taken[1], outcome(taken[1], after=9), outcome(taken[0], after=50), taken[2], outcome(taken[2]),
    ]  # fmt: skip
    with Store(tmp_path / "agent.db") as store:
        for event in written:
            if isinstance(event, Decision):
                store.add_decision(event)
            else:
                store.add_outcome(event)
        store.add_decision(other)
        assert repr(list(store.journal("s", "a"))) == repr(written)
        assert repr(list(store.journal("s", "b"))) == repr([other])
        assert list(store.journal("other", "a")) == []
        by_time = [taken[2].id, taken[1].id, taken[0].id]
        assert [item.decision_id for item in store.outcomes("s", "a", as_of=day(999))] == by_time


def test_a_journal_may_be_written_to_while_it_is_replayed() -> None:
    with Store(":memory:") as store:
        store.add_decision(decision(0))
        for event in store.journal("s", "a"):
            assert isinstance(event, Decision)
            store.add_outcome(outcome(event))
        assert len(list(store.journal("s", "a"))) == 2


def test_the_same_experience_again_is_harmless_and_another_content_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "agent.db") as store:
        assert store.add_experience("s", experience(1), embedder=EMBEDDER, vector=vector(1))
        assert not store.add_experience("s", experience(1), embedder=EMBEDDER, vector=vector(1))
        assert store.add_experience("s", experience(1), embedder="model:2", vector=vector(2, 3))
        assert store.add_experience("t", experience(1, text="of another scope"), embedder=EMBEDDER, vector=vector(1))
        with pytest.raises(StoreError, match="e001 is in scope 's' with another text"):
            store.add_experiences(
                "s",
                [(experience(2), vector(2)), (experience(1, text="edited"), vector(1))],
                embedder=EMBEDDER,
            )
        assert store.count_experiences("s", as_of=day(9)) == 1, "all or none"
        twice = [(experience(3), vector(3)), (experience(3, known=4), vector(3))]
        with pytest.raises(StoreError, match="another known_at"):
            store.add_experiences("s", twice, embedder=EMBEDDER)
        with pytest.raises(StoreError, match="8 dimensions, got 4"):
            store.add_experience("s", experience(5), embedder=EMBEDDER, vector=vector(5, 4))
        with pytest.raises(InputError, match="finite"):
            store.add_experience("s", experience(5), embedder=EMBEDDER, vector=[np.nan])
        np.testing.assert_array_equal(store.vectors("s", ["e001"], "model:2"), [vector(2, 3)])


def test_a_decision_is_written_once_and_only_whole(tmp_path: Path) -> None:
    memory = experience(1)
    with Store(tmp_path / "agent.db") as store:
        with pytest.raises(StoreError, match="shows experience e001, which is not in scope 's'"):
            store.add_decision(decision(0, (memory,)))
        store.add_experience("s", memory, embedder=EMBEDDER, vector=vector(1))
        with pytest.raises(StoreError, match="another text"):
            store.add_decision(decision(0, (experience(1, text="not what was stored"),)))
        with pytest.raises(StoreError, match="basis b1, which is not in the store"):
            store.add_decision(decision(0, (memory,), basis="b1"))
        with pytest.raises(TimeError, match="known only at 2020-01-02"):
            store.add_decision(decision(0, (memory,), at=day(0)))
        late = Recall(as_of=day(101), query="", embedder=EMBEDDER, pool=0, shown=())
        with pytest.raises(TimeError, match="after it was taken"):
            store.add_decision(decision(0, recall=late))
        with pytest.raises(InputError, match="8 drafts and 0 projected"):
            store.add_decision(decision(0, projected=()))
        ranked = Recall(
            as_of=day(100),
            query="",
            embedder=EMBEDDER,
            pool=1,
            shown=(Recalled(experience=memory, rank=1, similarity=0.0),),
        )
        with pytest.raises(InputError, match="rank order"):
            store.add_decision(decision(0, recall=ranked))
        assert list(store.journal("s", "a")) == []
        store.add_decision(decision(0, (memory,)))
        with pytest.raises(DecisionError, match="s-a-0000 is already in the store"):
            store.add_decision(decision(0, (memory,)))
        with pytest.raises(DecisionError, match="decision number 0, s-a-0000"):
            store.add_decision(decision(0, (memory,), id="another"))
        assert len(list(store.journal("s", "a"))) == 1


def test_an_outcome_is_given_once_to_a_decision_that_was_taken(tmp_path: Path) -> None:
    taken = decision(0)
    with Store(tmp_path / "agent.db") as store:
        with pytest.raises(DecisionError, match="s-a-0000 is not in the store"):
            store.add_outcome(outcome(taken))
        store.add_decision(taken)
        with pytest.raises(TimeError, match="cannot have been known before"):
            store.add_outcome(outcome(taken, after=-1))
        with pytest.raises(InputError, match="8 draft utilities, got 1"):
            store.add_outcome(outcome(taken, draft_utilities=(0.0,)))
        with pytest.raises(InputError, match="0 contributions, got 1"):
            store.add_outcome(outcome(taken, contributions=(0.0,)))
        assert store.outcomes("s", "a", as_of=day(999)) == ()
        store.add_outcome(outcome(taken, contributions=None, blend_utilities=None, scores={}))
        with pytest.raises(DecisionError, match="already settled"):
            store.add_outcome(outcome(taken))
        (kept,) = store.outcomes("s", "a", as_of=day(999))
        assert kept.contributions is None
        assert len(list(store.journal("s", "a"))) == 2


def test_a_basis_comes_back_and_never_changes(tmp_path: Path) -> None:
    mean = np.array([0.1, -0.0, 1e-300])
    projection = np.arange(6.0).reshape(3, 2)[:, ::-1]
    with Store(tmp_path / "agent.db") as store:
        store.add_basis("b1", embedder=EMBEDDER, mean=mean, projection=projection)
        store.add_basis("b1", embedder=EMBEDDER, mean=mean, projection=projection)
        with pytest.raises(StoreError, match="b1 is in the store with other content"):
            store.add_basis("b1", embedder=EMBEDDER, mean=mean + 1, projection=projection)
        with pytest.raises(InputError, match="projection"):
            store.add_basis("b2", embedder=EMBEDDER, mean=mean, projection=projection.T)
        with pytest.raises(StoreError, match="b2 is not in the store"):
            store.basis("b2")
        store.add_decision(decision(0, basis="b1"))
        kept = store.basis("b1")
    assert (kept.id, kept.embedder) == ("b1", EMBEDDER)
    assert kept.mean.tobytes() == mean.tobytes()
    np.testing.assert_array_equal(kept.projection, projection)


def test_text_that_no_database_can_keep_is_refused_in_one_line() -> None:
    with Store(":memory:") as store:
        with pytest.raises(StoreError, match="lone surrogate") as caught:
            store.add_experience("s", experience(1, text="\ud83d"), embedder=EMBEDDER, vector=vector(1))
        assert "\n" not in str(caught.value)
        assert store.count_experiences("s", as_of=day(9)) == 0
