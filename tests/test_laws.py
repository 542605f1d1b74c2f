"""The laws of the design, as properties of the whole agent on a real store."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from agent_worlds import ASSETS, EMBEDDER, MOODS, START, as_bytes, moves, number, run, tilting
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.agent import Agent
from memtrial.records import Decision, Experience, Outcome, State
from memtrial.store import Store
from memtrial.trial import Settings

few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def overlapping(path: Path, *, until: int, scramble_after: int, seed: int) -> Decision:
    """Decide daily with outcomes that take nine days; those known after a day are scrambled by ``seed``.

    Outcomes are handed over at once, long before they are known, so only ``known_at`` can hide them.
    """
    with Agent(memory=path, policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decision = agent.decide("start", at=START)
        for day in range(until):
            at = START + timedelta(days=day)
            decision = agent.decide(f"{MOODS[day % 5]} {day}", at=at) if day else decision
            known = day + 9
            returns = moves(day) if known <= scramble_after else moves(number(seed, day))
            agent.settle(decision.id, returns, known_at=START + timedelta(days=known))
        return agent.decide("the day in question", at=START + timedelta(days=until))


@few
@given(until=st.integers(10, 24), seed=st.integers(0, 10**6))
def test_law_1_what_becomes_known_later_changes_nothing(until: int, seed: int) -> None:
    with TemporaryDirectory() as folder:
        true = overlapping(Path(folder) / "a.db", until=until, scramble_after=10**6, seed=0)
        scrambled = overlapping(Path(folder) / "b.db", until=until, scramble_after=until, seed=seed)
        # Experiences are written in words of their outcome; those of the future exist in the store and stay unseen.
        assert as_bytes(true) == as_bytes(scrambled)


@few
@given(week=st.integers(2, 19))
def test_law_1_a_store_cut_off_at_t_decides_the_same(week: int) -> None:
    with TemporaryDirectory() as folder:
        full, cut = Path(folder) / "full.db", Path(folder) / "cut.db"
        with Agent(memory=full, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="past") as agent:
            run(agent, 20)
        with Agent(memory=cut, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="past") as agent:
            run(agent, week)
        at = START + timedelta(weeks=week, days=-1)
        decided = []
        for path in (full, cut):
            with Agent(memory=path, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="fresh") as agent:
                decided.append(as_bytes(agent.decide("calm markets drift", at=at)))
        assert decided[0] == decided[1]


def test_law_2_outcomes_do_not_rank(tmp_path: Path) -> None:
    for name, order in (("a", range(12)), ("b", reversed(range(12)))):
        with Agent(memory=tmp_path / f"{name}.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            for week, outcome in enumerate(order):
                decision = agent.decide(f"{MOODS[week % 5]} {week}", at=START + timedelta(weeks=week))
                agent.settle(decision.id, moves(outcome), known_at=decision.decided_at)
    found = []
    for name in "ab":
        with Agent(
            memory=tmp_path / f"{name}.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="fresh", k=6
        ) as agent:
            receipt = agent.decide("storm and fear", at=START + timedelta(weeks=20)).recall
            found.append([(item.experience.situation, item.similarity) for item in receipt.shown])
    assert found[0] == found[1]


def test_law_4_a_receipt_says_everything(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decision = run(agent, 12)[-1]
    assert [item.rank for item in decision.recall.shown] == [0, 1, 2, 3]
    assert decision.recall.pool == 11
    assert decision.policy == "tilting"
    assert len(decision.prompt) == 64
    assert {draft.subset for draft in decision.drafts} == {
        (), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 1, 2, 3),
    }  # fmt: skip


@few
@given(torn=st.integers(1, 17))
def test_law_5_a_write_that_fails_leaves_the_agent_as_the_store_is(torn: int) -> None:
    with TemporaryDirectory() as folder:
        with Agent(memory=Path(folder) / "whole.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            whole = [as_bytes(decision) for decision in run(agent, 18)]
        failing = Path(folder) / "failing.db"
        with Agent(memory=failing, policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            made = run(agent, torn)
            lock = sqlite3.connect(failing)
            lock.execute("CREATE TRIGGER full BEFORE INSERT ON drafts BEGIN SELECT RAISE(ABORT, 'disk full'); END")
            lock.commit()
            failed = False
            try:
                run(agent, 1, first=torn)
            except Exception as error:
                failed = "disk full" in str(error)
            assert failed
            lock.execute("DROP TRIGGER full")
            lock.commit()
            lock.close()
            made += run(agent, 18 - torn, first=torn)
        assert [as_bytes(decision) for decision in made] == whole


@few
@given(weeks=st.integers(1, 30), shadow=st.booleans(), settings=st.sampled_from([Settings.paper(), Settings.guarded()]))
def test_law_6_memory_moves_nothing_without_a_verdict(weeks: int, shadow: bool, settings: Settings) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        with Agent(
            memory=path, policy=tilting, assets=ASSETS, embedder=EMBEDDER, shadow=shadow, settings=settings
        ) as agent:
            for decision in run(agent, weeks):
                verdict, mean = decision.verdict, np.array(decision.mean_draft)
                blend = verdict.reference_weight * np.array(decision.reference) + (1 - verdict.reference_weight) * mean
                if shadow or verdict.weight == 0:
                    assert np.allclose(decision.action, blend, atol=1e-15)
                assert not (shadow and verdict.weight)
                if settings.trust == "t_test":
                    assert verdict.n_scores >= 10 or not verdict.weight
                else:
                    assert verdict.weight <= 0.05 * 1.5**verdict.n_scores


def test_law_7_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    runs: list[list[bytes]] = []
    for name in "ab":
        with Agent(memory=tmp_path / f"{name}.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            runs.append([as_bytes(decision) for decision in run(agent, 15)])
    assert runs[0] == runs[1]


def test_law_7_a_copied_store_goes_on_like_the_original(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        run(agent, 15)
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    onward: list[list[bytes]] = []
    for name in "ab":
        with Agent(memory=tmp_path / f"{name}.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            onward.append([as_bytes(decision) for decision in run(agent, 5, first=15)])
    assert onward[0] == onward[1]


def test_law_8_an_empty_memory_is_drafted_without_any(tmp_path: Path) -> None:
    seen: list[int] = []

    def watching(state: State, experiences: Sequence[Experience]) -> Sequence[float]:
        seen.append(len(experiences))
        return [0.2, 0.3, 0.5]

    with Agent(memory=tmp_path / "a.db", policy=watching, assets=ASSETS) as agent:
        decision = agent.decide("calm", at=START)
    assert seen == [0]
    assert "no experience was recalled" in decision.verdict.reason


def test_outcomes_and_decisions_read_back_as_they_were(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decisions = run(agent, 14)
    with Store(tmp_path / "a.db") as store:
        events = list(store.journal("default", "agent"))
    assert [as_bytes(event) for event in events if isinstance(event, Decision)] == [as_bytes(d) for d in decisions]
    assert sum(isinstance(event, Outcome) for event in events) == 14
