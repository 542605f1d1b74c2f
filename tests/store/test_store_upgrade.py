"""A store of the first schema opens, keeps everything, and goes on."""

from __future__ import annotations

import gzip
import math
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memtrial import Agent, Store
from memtrial.errors import StoreError
from memtrial.records import Decision
from memtrial.store.schema import VERSION
from memtrial.trial import Settings

OLD = Path(__file__).parents[1] / "data" / "store_schema_1.db.gz"
ASSETS = ("stocks", "bonds", "cash")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.db"
    file.write_bytes(gzip.decompress(OLD.read_bytes()))
    return file


def test_verdicts_of_the_first_schema_are_kept_as_they_were(old: Path) -> None:
    with sqlite3.connect(old) as raw:
        before = raw.execute("SELECT decision_id, trusted, reason, total, p_value FROM verdicts").fetchall()
    with Store(old) as store:
        decisions = [event for event in store.journal("default", "agent") if isinstance(event, Decision)]
    verdicts = {decision.id: decision.verdict for decision in decisions}
    assert len(verdicts) == len(before) == 14
    for identity, trusted, reason, total, p_value in before:
        verdict = verdicts[identity]
        assert (verdict.trusted, verdict.reason, verdict.total, verdict.p_value) == (
            bool(trusted),
            reason,
            total,
            p_value,
        )
        assert (verdict.rule, verdict.unit, verdict.shares, verdict.bets) == ("t_test", 1.0, {}, False)
        assert math.isnan(verdict.wealth)
    with sqlite3.connect(old) as raw:
        assert raw.execute("SELECT version FROM meta").fetchone() == (VERSION,)


def test_an_agent_takes_up_a_store_of_the_first_schema(old: Path) -> None:
    with Agent(memory=old, policy=lambda *_: (0.4, 0.4, 0.2), assets=ASSETS, settings=Settings.paper()) as agent:
        assert len(agent.trial.pending) == 1
        decision = agent.decide("Month 14: stocks rose.", at=datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=420))
        assert decision.sequence == 14
        assert decision.verdict.n_scores >= 0
        assert len(decision.recall.shown) == 4


def test_a_store_that_was_upgraded_opens_again(old: Path) -> None:
    for _ in range(2):
        with Store(old) as store:
            assert store.count_events("default", "agent") == 27


def test_an_upgrade_that_fails_changes_nothing(old: Path) -> None:
    with sqlite3.connect(old) as raw:
        raw.execute("ALTER TABLE verdicts ADD COLUMN bound REAL")  # the upgrade will stumble over it, half-way
    before = old.read_bytes()
    with pytest.raises(StoreError, match="bound"):
        Store(old)
    with sqlite3.connect(old) as raw:
        assert raw.execute("SELECT version FROM meta").fetchone() == (1,)
        columns = {row[1] for row in raw.execute("PRAGMA table_info(verdicts)")}
    assert "trusted" in columns
    assert "weight" not in columns
    assert len(before) == old.stat().st_size
