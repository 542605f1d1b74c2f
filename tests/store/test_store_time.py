"""Law 1 at the store: a read answers as the store stood at ``as_of``, whatever was written later; scopes are apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_records import EMBEDDER, day, decision, experience, outcome, vector

from memtrial.errors import DecisionError, TimeError
from memtrial.store import ExactIndex, Store

N = 6
DAYS = st.integers(0, 12)


def found(store: Store, prefix: str, as_of: datetime) -> Any:
    try:
        return store.find_decision(prefix, as_of=as_of)
    except DecisionError as error:
        return str(error)


def everything(store: Store, as_of: datetime, scope: str = "s") -> str:
    """Every read of the store at one time, as text."""
    ids = [f"{scope}-a-{n:04d}" for n in range(N)]
    index = ExactIndex(store, scope, EMBEDDER)
    return repr(
        [
            store.experiences(scope, as_of=as_of),
            [store.experience(scope, f"e{n:03d}", as_of=as_of) for n in range(N)],
            store.count_experiences(scope, as_of=as_of),
            store.decisions(scope, "a", as_of=as_of),
            [store.decision(identity, as_of=as_of) for identity in ids],
            [found(store, identity[:length], as_of) for identity in ids for length in (3, 8)],
            store.outcomes(scope, "a", as_of=as_of),
            [store.outcome(identity, as_of=as_of) for identity in ids],
            store.contributions(scope, "a", as_of=as_of),
            index.pool(as_of=as_of),
            [index.search(vector(seed), k, as_of=as_of) for seed in range(3) for k in (1, 3, 99)],
        ]
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[int], list[int], list[int | None]]:
    """Known days of experiences, days of decisions (ascending), and delays of their outcomes."""
    known = draw(st.lists(DAYS, min_size=N, max_size=N))
    decided = sorted(draw(st.lists(DAYS, max_size=N)))
    return known, decided, [draw(st.none() | DAYS) for _ in decided]


def write(store: Store, history: tuple[list[int], list[int], list[int | None]], by: int, later: str | None) -> None:
    """What is known by a day; with ``later`` also everything after it, told in those words, and in front."""
    known, decided, delays = history
    memories = [experience(n, known=at, **({} if at <= by else {"text": f"{later} {n}"})) for n, at in enumerate(known)]
    kept = [item for item in memories if later is not None or item.known_at <= day(by)]
    for item in sorted(kept, key=lambda item: item.known_at, reverse=True):
        seed = int(item.id[1:]) + (1000 if item.text.startswith("scrambled") else 0)
        store.add_experience("s", item, embedder=EMBEDDER, vector=vector(seed))
    for n, (at, delay) in enumerate(zip(decided, delays, strict=True)):
        if at > by and later is None:
            return
        shown = tuple(item for item in memories if item.known_at <= day(at))[:3]
        taken = decision(n, shown, at=day(at), **({} if at <= by else {"state_text": later}))
        store.add_decision(taken)
        if delay is not None and (at + delay <= by or later is not None):
            changed = {"utility": float(len(later or ""))} if at + delay > by else {}
            store.add_outcome(outcome(taken, after=delay, **changed))


@settings(max_examples=25, deadline=None)
@given(history=histories(), by=DAYS)
def test_what_came_later_changes_no_read(history: tuple[list[int], list[int], list[int | None]], by: int) -> None:
    answers: list[str] = []
    for later in (None, "honest", "scrambled"):
        with Store(":memory:") as store:
            write(store, history, by, later)
            answers.append(everything(store, day(by)))
    assert answers[0] == answers[1] == answers[2]


READS: dict[str, Callable[[Store, datetime], object]] = {
    "experiences": lambda store, t: store.experiences("s", as_of=t),
    "experience": lambda store, t: store.experience("s", "e000", as_of=t),
    "count_experiences": lambda store, t: store.count_experiences("s", as_of=t),
    "decision": lambda store, t: store.decision("d", as_of=t),
    "decisions": lambda store, t: store.decisions("s", "a", as_of=t),
    "find_decision": lambda store, t: store.find_decision("d", as_of=t),
    "outcome": lambda store, t: store.outcome("d", as_of=t),
    "outcomes": lambda store, t: store.outcomes("s", "a", as_of=t),
    "contributions": lambda store, t: store.contributions("s", "a", as_of=t),
    "search": lambda store, t: ExactIndex(store, "s", EMBEDDER).search(vector(0), 1, as_of=t),
    "pool": lambda store, t: ExactIndex(store, "s", EMBEDDER).pool(as_of=t),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_a_time_without_a_zone_is_refused(read: Callable[[Store, datetime], object]) -> None:
    with Store(":memory:") as store, pytest.raises(TimeError, match="as_of 2020-01-01T00:00:00 has no time zone"):
        read(store, datetime(2020, 1, 1))  # noqa: DTZ001


def test_every_read_as_of_is_listed_above() -> None:
    takes = {name for name in dir(Store) if not name.startswith("_")}
    writes = {"add_experience", "add_experiences", "add_basis", "add_decision", "add_outcome", "expire"}
    # What a restart and an index need; each says in its docstring why it takes no as_of, or names what it was told.
    timeless = {"journal", "basis", "has_basis", "vectors", "new_vectors", "file", "close"}
    timeless |= {"count_events", "remembered", "embedders", "agents"}
    assert takes - writes - timeless == set(READS) - {"search", "pool"}


def test_known_to_the_microsecond(tmp_path: Path) -> None:
    edge = datetime.fromisoformat("2020-01-02T03:04:05.000001+05:45")
    before = datetime.fromisoformat("2020-01-01T21:19:05+00:00")
    with Store(tmp_path / "agent.db") as store:
        item = experience(1, known_at=edge)
        store.add_experience("s", item, embedder=EMBEDDER, vector=vector(1))
        assert store.experiences("s", as_of=before) == ()
        assert store.experiences("s", as_of=edge) == (item,)
        index = ExactIndex(store, "s", EMBEDDER)
        assert (index.pool(as_of=before), index.pool(as_of=edge)) == (0, 1)


def test_scopes_and_agents_never_see_each_other(tmp_path: Path) -> None:
    late = day(999)
    memories = tuple(experience(n) for n in range(3))
    with Store(tmp_path / "agent.db") as store:
        items = [(item, vector(n)) for n, item in enumerate(memories)]
        store.add_experiences("s", items, embedder=EMBEDDER)
        taken = decision(0, memories)
        store.add_decision(taken)
        store.add_outcome(outcome(taken))
        alone = everything(store, late)
        empty = everything(store, late, scope="t")
        assert "situation" not in empty
        assert store.decisions("s", "b", as_of=late) == ()

        store.add_experiences("t", items[:1], embedder=EMBEDDER)
        store.add_experiences("s", [(item, vector(9)) for item in memories], embedder="model:2")
        for scope, agent in (("t", "a"), ("s", "b")):
            other = decision(0, memories[:1], scope=scope, agent=agent)
            store.add_decision(other)
            store.add_outcome(outcome(other))
        mine = everything(store, late)
        assert store.count_experiences("t", as_of=late) == 1
        assert [item.agent for item in store.decisions("s", "b", as_of=late)] == ["b"]
        assert {item.decision_id for item in store.contributions("t", "a", as_of=late)} == {"t-a-0000"}
    assert mine == alone


def test_a_decision_is_found_by_the_start_of_its_id(tmp_path: Path) -> None:
    with Store(tmp_path / "agent.db") as store:
        for n, identity in enumerate(["ab", "abc", "aBd", "x_1", "x%2"]):
            store.add_decision(decision(n, id=identity))
        late = day(999)
        assert store.find_decision("ab", as_of=late).id == "ab", "a whole id wins over a start"
        assert store.find_decision("abc", as_of=late).id == "abc"
        assert store.find_decision("aB", as_of=late).id == "aBd"
        assert store.find_decision("x%", as_of=late).id == "x%2"
        with pytest.raises(DecisionError, match="several decisions begin with 'a': aBd, ab, abc; give more"):
            store.find_decision("a", as_of=late)
        with pytest.raises(DecisionError, match="no decision 'z' was taken by"):
            store.find_decision("z", as_of=late)
        assert store.find_decision("a", as_of=day(100)).id == "ab"
