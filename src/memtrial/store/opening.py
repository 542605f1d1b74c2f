"""Opening a store: where it is, whether it is ours, and what is wrong when it is not."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from memtrial.errors import StoreError
from memtrial.store.schema import VERSION, meta, metadata
from memtrial.store.upgrade import upgrade

APPLICATION = "memtrial"
BUSY_SECONDS = 30.0
"""How long a write waits for a write of another process."""

_MAGIC = b"SQLite format 3\x00"
_NOTHING_CHANGED = "nothing was changed"


def located(url: str | Path) -> Path | None:
    """The file of a store, absolute; ``None`` for one in memory.

    Raises
    ------
    StoreError
        A scheme that this version does not know, or options in the URL.
    """
    text = str(url)
    if isinstance(url, Path) or (":" not in text and text):
        return Path(text).absolute()
    if text == ":memory:":
        return None
    if "://" not in text:
        if text:
            return Path(text).absolute()
        raise StoreError("the store has an empty name; pass a file, for example sqlite:///memtrial.db")
    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise StoreError(f"{text!r} is not a store; pass a file, for example sqlite:///memtrial.db") from error
    _refuse_scheme(parsed)
    return None if parsed.database in (None, "", ":memory:") else Path(parsed.database).absolute()


def _refuse_scheme(parsed: URL) -> None:
    shown = parsed.render_as_string(hide_password=True)
    scheme = parsed.get_backend_name()
    if scheme in ("postgresql", "postgres"):
        raise StoreError(
            f"{shown}: PostgreSQL comes with a later version; use a file, for example sqlite:///memtrial.db"
        )
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise StoreError(f"{shown}: no store is known for {parsed.drivername!r}; use sqlite:///memtrial.db")
    if parsed.query or parsed.host:
        raise StoreError(f"{shown}: a store takes no host and no options; use sqlite:///memtrial.db, or /// and a path")


def opened(file: Path | None) -> Engine:
    """An engine on a store that is ours, of this version, with its tables made when it is new.

    Raises
    ------
    StoreError
        The file cannot be read or written, is damaged, is something else, or is of a newer version. It is left as it
        was.
    """
    if file is not None:
        _check_file(file)
    engine = _engine(file)
    try:
        with engine.connect() as connection:
            if not _ours(connection, file):
                _create(connection, file)
            upgrade(connection)
    except SQLAlchemyError as error:
        engine.dispose()
        raise explained(file, error) from error
    except BaseException:
        engine.dispose()
        raise
    return engine


def explained(file: Path | None, error: Exception) -> StoreError:
    """What a failure of the database means, in one line: the file, what, what to do."""
    cause = getattr(error, "orig", None) or error
    what = " ".join(str(cause).split())
    advice = {
        "not a database": "it is damaged or something else; restore it from a backup or name another file",
        "malformed": "it is damaged; restore it from a backup or name another file",
        "unable to open": "check that its folder exists and may be written",
        "readonly": "check that the file and its folder may be written",
        "locked": "another process keeps it busy; try again, or end that process",
        "full": "make room on the disk and try again",
        "disk I/O": "check the disk and its free space",
        "surrogates": "the text has half a character (a lone surrogate); repair it before storing it",
    }
    remedy = next((advice[word] for word in advice if word in what), "what was given cannot be stored")
    return StoreError(f"{file or 'store in memory'}: {what}; {remedy}; {_NOTHING_CHANGED}")


def _check_file(file: Path) -> None:
    if file.is_dir():
        raise StoreError(f"{file} is a folder; name a file in it, for example {file / 'memtrial.db'}")
    if not file.parent.is_dir():
        raise StoreError(f"{file}: the folder {file.parent} does not exist; create it first")
    if not _may(file.parent, os.W_OK | os.X_OK):
        raise StoreError(f"{file}: the folder {file.parent} may not be written; name a file in another folder")
    if not file.exists():
        return
    if not _may(file, os.R_OK | os.W_OK):
        raise StoreError(f"{file} may not be read and written; change its permissions or name another file")
    logged = any(Path(f"{file}-{log}").exists() for log in ("wal", "journal"))
    try:
        with file.open("rb") as stream:
            start = stream.read(18)
            size = stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}; name another file") from error
    if start and not start.startswith(_MAGIC):
        raise StoreError(
            f"{file} is not a memtrial store, or its start is damaged; restore it from a backup or name another file; "
            f"{_NOTHING_CHANGED}"
        )
    # SQLite reads a last page that is cut short as if zeros followed. With a log, it mends the page from there.
    page = int.from_bytes(start[16:18], "big")
    if not logged and page > 1 and size % page:
        raise StoreError(f"{file} is cut short, it is damaged; restore it from a backup; {_NOTHING_CHANGED}")


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _engine(file: Path | None) -> Engine:
    if file is None:
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        engine = create_engine(URL.create("sqlite", database=str(file)), connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: Any) -> None:
    # The driver's own transactions begin late and commit before DDL; ours begin where they are told to.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=ON")
    # FULL: what was acknowledged survives a loss of power, not only of the process.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A writer that began as a reader could fail halfway when another process wrote in between.
    write = connection.get_execution_options().get("memtrial_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _ours(connection: Connection, file: Path | None) -> bool:
    """Whether the tables are there; False for an empty file; StoreError for another one's, or a newer."""
    with connection.begin():
        tables = set(inspect(connection).get_table_names())
        if not tables:
            return False
        found = None
        if meta.name in tables:
            columns = {column["name"] for column in inspect(connection).get_columns(meta.name)}
            if columns >= set(meta.columns.keys()):
                found = connection.execute(select(meta.c.application, meta.c.version)).first()
    if found is None or found.application != APPLICATION:
        raise StoreError(f"{file} is a database of something else; name another file; {_NOTHING_CHANGED}")
    if found.version < 1:
        raise StoreError(f"{file} names an impossible schema version {found.version}; restore it; {_NOTHING_CHANGED}")
    if found.version > VERSION:
        raise StoreError(
            f"{file} was written by a newer memtrial (schema {found.version}, this one knows {VERSION}); "
            f"upgrade memtrial; {_NOTHING_CHANGED}"
        )
    missing = set(metadata.tables) - tables
    if missing:
        raise StoreError(f"{file} lacks its table {min(missing)}; restore it from a backup; {_NOTHING_CHANGED}")
    return True


def _create(connection: Connection, file: Path | None) -> None:
    if file is not None:
        _write_ahead(connection)
    writer = connection.execution_options(memtrial_write=True)
    with writer.begin():
        # Another process may have made them since we looked.
        if not inspect(writer).get_table_names():
            metadata.create_all(writer)
            writer.execute(meta.insert(), {"id": 1, "application": APPLICATION, "version": VERSION})


def _write_ahead(connection: Connection) -> None:
    """Switch the file to write-ahead logging, for good; SQLite does not wait for others here, so we do."""
    deadline = time.monotonic() + BUSY_SECONDS
    driver: Any = connection.connection.driver_connection
    while True:
        try:
            driver.execute("PRAGMA journal_mode=WAL").close()
            return
        except driver.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
