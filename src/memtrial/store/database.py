"""The store: what an agent decided, what came of it and what it remembers, in one database."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sqlalchemy import Connection, Row, func, select
from sqlalchemy.exc import SQLAlchemyError

from memtrial.errors import DecisionError, MemtrialError, StoreError
from memtrial.records import Decision, Experience, Expiry, Outcome, utc
from memtrial.store import schema, writing
from memtrial.store.opening import explained, located, opened
from memtrial.store.reading import (
    batches,
    known_contributions,
    known_decisions,
    known_outcomes,
    load_decisions,
    load_events,
    load_outcomes,
    of_agent,
)
from memtrial.store.rows import Basis, Contribution, experience_of, floats

_PIECE = 10_000
"""Vectors read at a time: a large memory never lies in the process twice."""


class Store:
    """One database of memories, decisions and outcomes, shared by any number of scopes, agents and processes.

    Every write is one transaction: when a method has returned, its record is on the disk, whole; when it raised,
    nothing has changed. Records are only added. Every read takes ``as_of`` (aware) and answers as the store stood
    then: experiences and outcomes with ``known_at`` not after it, decisions with ``decided_at`` not after it. Times
    are UTC. Safe to use from several threads.

    Parameters
    ----------
    url
        ``sqlite:///agent.db``, a path (``agent.db``), or ``:memory:`` for a store that ends with the process. A new
        file is made with its tables; its folder must exist.
    create
        Whether a missing file is made; otherwise it is an error.

    Raises
    ------
    StoreError
        The file cannot be opened, is damaged, is something else or is of a newer version; it is left as it was. Every
        method raises it too when the database fails.
    """

    def __init__(self, url: str | Path, *, create: bool = True) -> None:
        self._file = located(url)
        if not create and self._file is not None and not self._file.exists():
            raise StoreError(f"there is no store at {self._file}; name the file that a run wrote")
        self._closed = False
        # A store in memory has one connection, which its threads share in turn.
        self._turn: AbstractContextManager[Any] = nullcontext() if self._file else RLock()
        self._engine = opened(self._file)

    @property
    def file(self) -> Path | None:
        """Its file, absolute; ``None`` in memory."""
        return self._file

    def close(self) -> None:
        """Let go of the database; a closed store refuses everything. Closing twice does nothing."""
        self._closed = True
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writes --------------------------------------------------------------------------------------------------

    def add_experience(self, scope: str, experience: Experience, *, embedder: str, vector: ArrayLike) -> bool:
        """Keep one experience and its vector, as ``add_experiences`` does; whether the vector was new."""
        return self.add_experiences(scope, [(experience, vector)], embedder=embedder) == 1

    def add_experiences(self, scope: str, items: Iterable[tuple[Experience, ArrayLike]], *, embedder: str) -> int:
        """Keep experiences and their vectors, all or none.

        An experience that is there already, with the same content, is kept as it is: writing it again is harmless, and
        with another ``embedder`` adds the vector of that one. A vector that is there is never replaced.

        Parameters
        ----------
        items
            Pairs of an experience and its vector, (dimension,), kept as float32.
        embedder
            Identity of the model that made the vectors.

        Returns
        -------
        int
            How many vectors were new.

        Raises
        ------
        StoreError
            An id that is there with other content, or vectors of another dimension than this embedder's in the scope.
        InputError
            A vector that is not finite or not (dimension,).
        """
        prepared = writing.prepared(scope, items, embedder)
        with self._write() as connection:
            return writing.add_experiences(connection, scope, prepared, embedder)

    def add_basis(self, basis_id: str, *, embedder: str, mean: ArrayLike, projection: ArrayLike) -> None:
        """Keep a content basis: ``mean`` (dim,), ``projection`` (dim, d), as float64. The same again is harmless.

        Raises
        ------
        StoreError
            The id is there with other content.
        InputError
            Shapes that do not belong together.
        """
        row = writing.basis_row(basis_id, embedder, mean, projection)
        with self._write() as connection:
            writing.add_basis(connection, row)

    def add_decision(self, decision: Decision) -> None:
        """Keep a decision whole: receipt, drafts, verdict, action.

        Raises
        ------
        DecisionError
            The id, or the agent's decision of this ``sequence``, is there already.
        StoreError
            It shows an experience, or names a basis, that is not in the store as it is shown.
        TimeError
            It shows an experience that was not known when it was taken.
        InputError
            Its parts do not fit each other.
        """
        writing.check_decision(decision)
        with self._write() as connection:
            writing.add_decision(connection, decision)

    def add_outcome(self, outcome: Outcome) -> None:
        """Keep what came of a decision.

        Raises
        ------
        DecisionError
            The decision is unknown or already settled.
        TimeError
            The outcome is dated before its decision.
        InputError
            It has not one utility per draft, or not one contribution per recalled experience.
        """
        with self._write() as connection:
            writing.add_outcome(connection, outcome)

    def expire(self, decision_id: str) -> None:
        """Give up a decision whose outcome will never come; the journal keeps it.

        Raises
        ------
        DecisionError
            The decision is unknown, settled or already expired.
        """
        with self._write() as connection:
            writing.expire(connection, decision_id)

    # -- reads, as the store stood at a time -----------------------------------------------------------------------

    def experiences(self, scope: str, *, as_of: datetime, ids: Sequence[str] | None = None) -> tuple[Experience, ...]:
        """The experiences of a scope (or those of them in ``ids``), in the order (known, id)."""
        moment = utc(as_of, "as_of")
        table = schema.experiences
        query = select(table).where(table.c.scope == scope)
        # Given both conditions, SQLite would rather walk through all that was known than look up a few ids.
        parts = (
            [query.where(table.c.known_at <= moment)]
            if ids is None
            else [query.where(table.c.id.in_(some)) for some in batches(ids)]
        )
        with self._read() as connection:
            found = [experience_of(row) for part in parts for row in connection.execute(part).mappings()]
        return tuple(sorted((e for e in found if e.known_at <= moment), key=lambda e: (e.known_at, e.id)))

    def experience(self, scope: str, experience_id: str, *, as_of: datetime) -> Experience | None:
        """One experience, or ``None`` when it was not known."""
        found = self.experiences(scope, as_of=as_of, ids=[experience_id])
        return found[0] if found else None

    def count_experiences(self, scope: str, *, as_of: datetime) -> int:
        """How many experiences of a scope were known."""
        table = schema.experiences
        known = (table.c.scope == scope, table.c.known_at <= utc(as_of, "as_of"))
        with self._read() as connection:
            return connection.execute(select(func.count()).select_from(table).where(*known)).scalar_one()

    def decision(self, decision_id: str, *, as_of: datetime) -> Decision | None:
        """One decision, or ``None`` when it was not taken yet."""
        query = known_decisions(utc(as_of, "as_of")).where(schema.decisions.c.id == decision_id)
        with self._read() as connection:
            found = load_decisions(connection, query)
        return found[0] if found else None

    def decisions(self, scope: str, agent: str, *, as_of: datetime) -> tuple[Decision, ...]:
        """The decisions of an agent, in order."""
        query = known_decisions(utc(as_of, "as_of")).where(of_agent(scope, agent))
        with self._read() as connection:
            return tuple(load_decisions(connection, query))

    def find_decision(self, prefix: str, *, as_of: datetime) -> Decision:
        """The one decision whose id is, or else begins with, ``prefix``.

        Raises
        ------
        DecisionError
            There is none, or more than one.
        """
        moment = utc(as_of, "as_of")
        table = schema.decisions
        begins = func.substr(table.c.id, 1, len(prefix)) == prefix
        query = select(table.c.id).where(table.c.decided_at <= moment, begins).order_by(table.c.id).limit(4)
        with self._read() as connection:
            ids = list(connection.execute(query).scalars())
            if not ids:
                by = "" if moment.year == 9999 else f" by {moment.isoformat()}"
                raise DecisionError(f"no decision {prefix!r} was taken{by}; check the id")
            if ids[0] != prefix and len(ids) > 1:
                shown = ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")
                raise DecisionError(f"several decisions begin with {prefix!r}: {shown}; give more of the id")
            return load_decisions(connection, select(table).where(table.c.id == ids[0]))[0]

    def outcome(self, decision_id: str, *, as_of: datetime) -> Outcome | None:
        """What came of a decision, or ``None`` when that was not known yet."""
        query = known_outcomes(utc(as_of, "as_of")).where(schema.outcomes.c.decision_id == decision_id)
        with self._read() as connection:
            found = load_outcomes(connection, query)
        return found[0] if found else None

    def outcomes(self, scope: str, agent: str, *, as_of: datetime) -> tuple[Outcome, ...]:
        """The outcomes of an agent's decisions, in the order (known, decision)."""
        query = known_outcomes(utc(as_of, "as_of")).where(of_agent(scope, agent))
        with self._read() as connection:
            return tuple(load_outcomes(connection, query))

    def contributions(self, scope: str, agent: str, *, as_of: datetime) -> tuple[Contribution, ...]:
        """What each experience contributed to an agent's decisions, in the order (known, decision, rank)."""
        query = known_contributions(utc(as_of, "as_of")).where(of_agent(scope, agent))
        with self._read() as connection:
            return tuple(Contribution(**row) for row in connection.execute(query).mappings())

    # -- what a restart and a model of content need -----------------------------------------------------------------

    def journal(self, scope: str, agent: str) -> Iterator[Decision | Outcome | Expiry]:
        """An agent's decisions, outcomes and expiries in the exact order in which they were written.

        It takes no ``as_of``: it replays what already happened, to take up an agent where it stopped, and the trial
        applies the known times itself, as it did the first time.
        """
        table = schema.journal
        mine = (table.c.scope == scope, table.c.agent == agent)
        query = select(table.c.event, table.c.decision_id).where(*mine).order_by(table.c.position)
        with self._read() as connection:
            events = [(row.event, row.decision_id) for row in connection.execute(query)]
        # Rows never change, so the pieces may be read one after the other while others write.
        for some in batches(events):
            with self._read() as connection:
                found = load_events(connection, some)
            yield from found

    def agents(self) -> tuple[tuple[str, str], ...]:
        """Scope and name of every agent with a journal, in the order of their first decisions.

        It takes no ``as_of``: it says whose memory this is, not what was known.
        """
        table = schema.journal
        mine = (table.c.scope, table.c.agent)
        query = select(*mine).group_by(*mine).order_by(func.min(table.c.position))
        with self._read() as connection:
            return tuple((row.scope, row.agent) for row in connection.execute(query))

    def count_events(self, scope: str, agent: str) -> int:
        """Number of events in an agent's journal: has another process written since?

        It takes no ``as_of``: it is about the store itself, not about what was known.
        """
        table = schema.journal
        count = select(func.count()).select_from(table).where(table.c.scope == scope, table.c.agent == agent)
        with self._read() as connection:
            return connection.execute(count).scalar_one()

    def remembered(self, scope: str) -> frozenset[str]:
        """Decisions that already have an experience in a scope: those that need no reflection any more.

        It takes no ``as_of``: an experience is written once, whenever that was.
        """
        table = schema.experiences
        query = select(table.c.decision_id).where(table.c.scope == scope, table.c.decision_id.is_not(None))
        with self._read() as connection:
            return frozenset(connection.execute(query).scalars())

    def embedders(self, scope: str) -> frozenset[str]:
        """Identities of the embedders that a scope has vectors of.

        It takes no ``as_of``: it is about the store itself, not about what was known.
        """
        query = select(schema.vectors.c.embedder).where(schema.vectors.c.scope == scope).distinct()
        with self._read() as connection:
            return frozenset(connection.execute(query).scalars())

    def has_basis(self, basis_id: str) -> bool:
        """Whether a content basis is in the store."""
        with self._read() as connection:
            query = select(schema.bases.c.id).where(schema.bases.c.id == basis_id)
            return connection.execute(query).first() is not None

    def basis(self, basis_id: str) -> Basis:
        """A content basis, as it was added.

        Raises
        ------
        StoreError
            It is not in the store.
        """
        with self._read() as connection:
            row = connection.execute(select(schema.bases).where(schema.bases.c.id == basis_id)).mappings().first()
        if row is None:
            raise StoreError(f"{self._name}: content basis {basis_id} is not in the store")
        projection = floats(row["projection"]).reshape(row["dimension"], row["d"])
        return Basis(id=row["id"], embedder=row["embedder"], mean=floats(row["mean"]), projection=projection)

    def vectors(self, scope: str, ids: Sequence[str], embedder: str) -> NDArray[np.float32]:
        """Vectors of experiences, (n_ids, dimension), in the order of ``ids``; NaN where there is none.

        It takes no ``as_of``: ``ids`` come from a read that did. The dimension is 0 before the first vector.
        """
        table = schema.vectors
        mine = (table.c.scope == scope, table.c.embedder == embedder)
        query = select(table.c.experience_id, table.c.vector).where(*mine)
        with self._read() as connection:
            dimension = writing.dimension(connection, scope, embedder) or 0
            found = {
                row.experience_id: np.frombuffer(row.vector, dtype="<f4")
                for some in batches(ids)
                for row in connection.execute(query.where(table.c.experience_id.in_(some)))
            }
        matrix = np.full((len(ids), dimension), np.nan, dtype=np.float32)
        for place, identity in enumerate(ids):
            if identity in found:
                matrix[place] = found[identity]
        return matrix

    def new_vectors(self, scope: str, embedder: str, *, after: int) -> Iterator[Sequence[Row[Any, Any, Any, Any]]]:
        """Vectors recorded after a place in the sequence, in pieces, with the known time of each: for an index.

        Rows have ``recorded``, ``experience_id``, ``known_at`` (UTC) and ``vector`` (little-endian float32). It takes
        no ``as_of``: the index applies the known times itself, to every question anew.
        """
        table, memory = schema.vectors, schema.experiences
        query = (
            select(table.c.recorded, table.c.experience_id, memory.c.known_at, table.c.vector)
            .join(memory, (memory.c.scope == table.c.scope) & (memory.c.id == table.c.experience_id))
            .where(table.c.scope == scope, table.c.embedder == embedder)
            .order_by(table.c.recorded)
            .limit(_PIECE)
        )
        while True:
            with self._read() as connection:
                rows = connection.execute(query.where(table.c.recorded > after)).all()
            if rows:
                yield rows
                after = rows[-1].recorded
            if len(rows) < _PIECE:
                return

    @property
    def _name(self) -> str:
        return str(self._file or "store in memory")

    @contextmanager
    def _connection(self, *, write: bool) -> Generator[Connection]:
        if self._closed:
            raise StoreError(f"{self._name} was closed; open it again")
        try:
            with self._turn, self._engine.connect() as raw:
                connection = raw.execution_options(memtrial_write=write)
                with connection.begin():
                    yield connection
        except MemtrialError:
            raise
        except (SQLAlchemyError, UnicodeEncodeError, OverflowError) as error:
            raise explained(self._file, error) from error
        except (ValueError, LookupError, TypeError) as error:
            if write:
                raise
            raise StoreError(f"{self._name}: a row is damaged ({error}); restore it from a backup") from error

    def _read(self) -> AbstractContextManager[Connection]:
        return self._connection(write=False)

    def _write(self) -> AbstractContextManager[Connection]:
        if self._file is not None and not self._file.exists():
            raise StoreError(f"{self._file} was deleted while it was open; nothing can be kept any more, open it anew")
        return self._connection(write=True)
