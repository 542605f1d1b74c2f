"""What cannot be opened is refused in one line and left as it was."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from store_records import EMBEDDER, day, decision, experience, outcome, vector

from memtrial.errors import StoreError
from memtrial.store import ExactIndex, Store
from memtrial.store.schema import VERSION


def filled(file: Path) -> Path:
    memories = tuple(experience(n) for n in range(4))
    with Store(file) as store:
        store.add_experiences("s", [(item, vector(n)) for n, item in enumerate(memories)], embedder=EMBEDDER)
        for n in range(10):
            taken = decision(n, memories)
            store.add_decision(taken)
            store.add_outcome(outcome(taken))
    return file


def check_refused(url: str | Path, words: str) -> None:
    with pytest.raises(StoreError, match=words) as caught:
        Store(url)
    assert "\n" not in str(caught.value)


def check_all_reads(store: Store) -> None:
    late = day(9999)
    for scope in ("s", "t"):
        store.experiences(scope, as_of=late)
        store.count_experiences(scope, as_of=late)
        store.decisions(scope, "a", as_of=late)
        store.outcomes(scope, "a", as_of=late)
        store.contributions(scope, "a", as_of=late)
        list(store.journal(scope, "a"))
        ExactIndex(store, scope, EMBEDDER).search(vector(1), 3, as_of=late)


@pytest.mark.parametrize("form", ["sqlite:///{}", "sqlite+pysqlite:///{}", "{}"])
def test_a_new_file_is_made_with_write_ahead_logging(tmp_path: Path, form: str) -> None:
    file = tmp_path / "agent ?%20.db" if form == "{}" else tmp_path / "agent.db"
    with Store(form.format(file)) as store:
        assert store.file == file
        store.add_decision(decision(0))
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT id, application, version FROM meta").fetchall() == [(1, "memtrial", VERSION)]
    assert [item.name for item in tmp_path.iterdir()] == [file.name]


def test_a_relative_path_is_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("agent.db", "sqlite:///agent.db", Path("agent.db")):
        with Store(url) as store:
            assert store.file == tmp_path / "agent.db"


@pytest.mark.parametrize("url", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_is_its_own(url: str) -> None:
    with Store(url) as one, Store(url) as other:
        one.add_decision(decision(0))
        assert one.file is None
        assert len(one.decisions("s", "a", as_of=day(999))) == 1
        assert other.decisions("s", "a", as_of=day(999)) == ()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://me:secret@host/db", r"me:\*\*\*@host/db: PostgreSQL comes with a later version"),
        ("postgresql+psycopg://host/db", "PostgreSQL comes with a later version"),
        ("mysql://host/db", "no store is known for 'mysql'"),
        ("redis://host", "no store is known for 'redis'"),
        ("sqlite+aiosqlite:///a.db", "no store is known for 'sqlite.aiosqlite'"),
        ("sqlite:///a.db?mode=ro", "no host and no options"),
        ("sqlite://a.db", "no host and no options"),
        ("://x", "is not a store"),
        ("sqlite://host:port/x", "is not a store"),
        ("", "empty name"),
    ],
)
def test_another_kind_of_store_is_refused(url: str, words: str) -> None:
    check_refused(url, words)


def test_a_folder_and_a_missing_folder(tmp_path: Path) -> None:
    check_refused(tmp_path, "is a folder; name a file in it")
    check_refused(tmp_path / "none" / "agent.db", "none does not exist; create it first")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"x", b"date,open,close\n" * 1000, bytes(4096), b"SQLite format 3"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "prices.csv"
    file.write_bytes(content)
    check_refused(file, "prices.csv is not a memtrial store")
    assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    file.touch()
    with Store(file) as store:
        check_all_reads(store)


@pytest.mark.parametrize("table", ["prices (day TEXT)", "meta (key TEXT, value TEXT)"])
def test_a_database_of_something_else_is_left_alone(tmp_path: Path, table: str) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"CREATE TABLE {table}")
    content = file.read_bytes()
    check_refused(file, "is a database of something else")
    assert file.read_bytes() == content


def test_a_newer_store_asks_for_an_upgrade(tmp_path: Path) -> None:
    file = filled(tmp_path / "agent.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE meta SET version = ?", (VERSION + 1,))
    check_refused(file, rf"newer memtrial \(schema {VERSION + 1}, this one knows {VERSION}\); upgrade memtrial")


def test_a_store_that_lost_a_table_is_refused(tmp_path: Path) -> None:
    file = filled(tmp_path / "agent.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DROP TABLE scores")
    check_refused(file, "lacks its table scores")


@pytest.mark.parametrize("kept", [100, 4096, 0.5, -1])
def test_a_truncated_file_is_refused_and_left_alone(tmp_path: Path, kept: float) -> None:
    file = filled(tmp_path / "agent.db")
    content = file.read_bytes()
    content = content[: int(kept * len(content)) if kept == 0.5 else int(kept)]
    file.write_bytes(content)
    check_refused(file, "agent.db.*(malformed|not a database|cut short).*it is damaged")
    assert file.read_bytes() == content


def complaint(file: Path) -> str:
    """What is said about a file when everything in it is read; empty when nothing is."""
    try:
        with Store(file) as store:
            check_all_reads(store)
    except StoreError as error:
        return str(error)
    return ""


def test_damage_inside_is_one_clear_line_whatever_it_hits(tmp_path: Path) -> None:
    file = filled(tmp_path / "agent.db")
    content = file.read_bytes()
    chance = random.Random(1)
    said: list[str] = []
    for page in range(0, len(content), 4096):
        file.write_bytes(content[:page] + chance.randbytes(4096) + content[page + 4096 :])
        said.append(complaint(file))
    # A page that no read needs goes unnoticed.
    assert sum(map(bool, said)) > len(said) / 2
    assert not any("\n" in words for words in said)


def test_a_damaged_value_is_said_to_be_damaged(tmp_path: Path) -> None:
    file = filled(tmp_path / "agent.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE decisions SET reference = '[0.5,' WHERE sequence = 3")
    with Store(file) as store, pytest.raises(StoreError, match=r"agent\.db: a row is damaged"):
        store.decisions("s", "a", as_of=day(999))


def test_a_closed_store_refuses_everything(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.decisions("s", "a", as_of=day(0))
    with pytest.raises(StoreError, match="was closed"):
        store.add_decision(decision(0))


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Permissions bind this process, also when the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that an ordinary user can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_what_may_not_be_written_is_refused(open_folder: Path) -> None:
    file = filled(open_folder / "agent.db")
    file.chmod(0o444)
    open_folder.chmod(0o555)
    content = file.read_bytes()
    try:
        with ordinary_user():
            check_refused(file, "agent.db.*(written|permissions)")
            check_refused(open_folder / "new.db", "new.db.* may .*be written")
    finally:
        open_folder.chmod(0o755)
    assert file.read_bytes() == content
    file.chmod(0o444)
    open_folder.chmod(0o777)
    with ordinary_user():
        check_refused(file, "agent.db.*(written|permissions)")
