"""Law 5 at the store: kill -9 and other processes lose nothing that was acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from store_records import EMBEDDER, day, decision, experience, outcome, vector
from store_writer import MEMORIES

from memtrial.errors import StoreError
from memtrial.store import ExactIndex, Store, opening

WRITER = Path(__file__).with_name("store_writer.py")


def writer(file: Path, mode: str, name: str, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, str(WRITER), str(file), mode, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def killed(process: subprocess.Popen[str], after: int, pause: float) -> list[tuple[str, str]]:
    """What a process acknowledged until it was killed, a moment after so many lines."""
    lines: list[str] = []
    with process:
        assert process.stdout is not None
        for _ in range(after):
            lines.append(process.stdout.readline())
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    assert process.returncode == -signal.SIGKILL
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return [(event, identity) for event, identity in pairs]


def test_kill_9_loses_nothing_and_leaves_nothing_half(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    chance = random.Random(5)
    acknowledged: list[tuple[str, str]] = []
    for _ in range(4):
        process = writer(file, "decisions", "", 100_000)
        acknowledged += killed(process, chance.randrange(1, 25), chance.uniform(0, 0.02))
        with Store(file) as store:
            late = day(999_999)
            taken = store.decisions("s", "a", as_of=late)
            settled = store.outcomes("s", "a", as_of=late)
            events = list(store.journal("s", "a"))
        # Whole, in order, and no more than the one write that was under way.
        expected = [decision(n, MEMORIES) for n in range(len(taken))]
        assert repr(taken) == repr(tuple(expected))
        assert settled == tuple(outcome(item) for item in expected[: len(settled)])
        assert {identity for event, identity in acknowledged if event == "decision"} <= {item.id for item in taken}
        assert {identity for event, identity in acknowledged if event == "outcome"} <= {
            item.decision_id for item in settled
        }
        assert len(taken) - len(settled) in (0, 1)
        assert len(events) == len(taken) + len(settled)
    assert len(acknowledged) >= 4


def test_two_processes_write_to_one_new_file_and_lose_nothing(tmp_path: Path) -> None:
    file, count = tmp_path / "agent.db", 60
    processes = [writer(file, "experiences", name, count) for name in ("left", "right")]
    for process in processes:
        with process:
            assert process.stdout is not None
            assert len(process.stdout.readlines()) == count
        assert process.returncode == 0
    with Store(file) as store:
        ids = {item.id for item in store.experiences("s", as_of=day(999))}
        assert ids == {f"{name}-{n}" for name in ("left", "right") for n in range(count)}
        assert ExactIndex(store, "s", EMBEDDER).pool(as_of=day(999)) == 2 * count


def test_an_index_sees_what_another_process_added(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    with Store(file) as store:
        store.add_experience("s", experience(50, known=5), embedder=EMBEDDER, vector=vector(50))
        index = ExactIndex(store, "s", EMBEDDER)
        assert index.search(vector(3), 1, as_of=day(99))[0][0] == "e050"
        with writer(file, "experiences", "other", 10) as process:
            process.communicate()
        assert process.returncode == 0
        assert index.pool(as_of=day(99)) == 11
        assert index.search(vector(3), 1, as_of=day(99)) == [("other-3", 1.0)]
        assert index.search(vector(3), 1, as_of=day(2.5))[0][0] != "other-3"


@pytest.mark.parametrize("url", ["agent.db", ":memory:"])
def test_threads_share_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(tmp_path)
    failures: list[BaseException] = []

    def work(store: Store, name: str) -> None:
        try:
            for n in range(20):
                store.add_experience("s", experience(n, id=f"{name}-{n}"), embedder=EMBEDDER, vector=vector(n))
                store.count_experiences("s", as_of=day(9))
        except BaseException as error:
            failures.append(error)

    with Store(url) as store:
        threads = [threading.Thread(target=work, args=(store, name)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert store.count_experiences("s", as_of=day(99)) == 80


def test_a_store_kept_busy_says_so_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.05)
    with Store(tmp_path / "agent.db") as store, Store(tmp_path / "agent.db") as other:
        with other._write():
            with pytest.raises(StoreError, match="locked; another process keeps it busy"):
                store.add_decision(decision(0))
            assert store.decisions("s", "a", as_of=day(999)) == (), "readers do not wait for a writer"
        store.add_decision(decision(0))
        assert len(store.decisions("s", "a", as_of=day(999))) == 1
