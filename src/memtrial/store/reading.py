"""Whole records out of rows: every select of decisions and outcomes is here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, select

from memtrial.records import Decision, Expiry, Outcome
from memtrial.store import schema
from memtrial.store.rows import Row, decision_of, outcome_of

T = TypeVar("T")
BATCH = 500
"""Ids per query: far below the number of parameters that any database takes."""


def batches(items: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    """``items`` in pieces of at most ``size``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def known_decisions(as_of: datetime) -> Select[Any]:
    """Decisions taken by ``as_of``, in the order of their agents."""
    table = schema.decisions
    return select(table).where(table.c.decided_at <= as_of).order_by(table.c.sequence, table.c.id)


def known_outcomes(as_of: datetime) -> Select[Any]:
    """Outcomes known by ``as_of``, in the order in which they are learned."""
    table = schema.outcomes
    return (
        select(table)
        .join(schema.decisions, schema.decisions.c.id == table.c.decision_id)
        .where(table.c.known_at <= as_of)
        .order_by(table.c.known_at, schema.decisions.c.sequence, table.c.decision_id)
    )


def known_contributions(as_of: datetime) -> Select[Any]:
    """Contributions measured by outcomes known by ``as_of``, in the order in which they are learned."""
    given, shown = schema.contributions, schema.recalled
    decided, settled = schema.decisions, schema.outcomes
    return (
        select(given, shown.c.experience_id, decided.c.decided_at, settled.c.known_at)
        .join(settled, settled.c.decision_id == given.c.decision_id)
        .join(decided, decided.c.id == given.c.decision_id)
        .join(shown, and_(shown.c.decision_id == given.c.decision_id, shown.c.rank == given.c.rank))
        .where(settled.c.known_at <= as_of)
        .order_by(settled.c.known_at, decided.c.sequence, given.c.decision_id, given.c.rank)
    )


def of_agent(scope: str, agent: str) -> ColumnElement[bool]:
    """The decisions of one agent."""
    return and_(schema.decisions.c.scope == scope, schema.decisions.c.agent == agent)


def load_decisions(connection: Connection, query: Select[Any]) -> list[Decision]:
    """The decisions that a query of the table finds, whole, in its order."""
    rows = connection.execute(query).mappings().all()
    ids = [row["id"] for row in rows]
    shown = _by_decision(connection, _recalled(), schema.recalled, schema.recalled.c.rank, ids)
    drafted = _by_decision(connection, select(schema.drafts), schema.drafts, schema.drafts.c.position, ids)
    verdicts = _by_decision(connection, select(schema.verdicts), schema.verdicts, None, ids)
    return [decision_of(row, shown[row["id"]], drafted[row["id"]], verdicts[row["id"]][0]) for row in rows]


def load_outcomes(connection: Connection, query: Select[Any]) -> list[Outcome]:
    """The outcomes that a query of the table finds, whole, in its order."""
    rows = connection.execute(query).mappings().all()
    ids = [row["decision_id"] for row in rows]
    table = schema.contributions
    contributed = _by_decision(connection, select(table), table, table.c.rank, ids)
    scored = _by_decision(connection, select(schema.scores), schema.scores, None, ids)
    return [outcome_of(row, contributed[row["decision_id"]], scored[row["decision_id"]]) for row in rows]


def load_events(connection: Connection, events: Sequence[tuple[str, str]]) -> list[Decision | Outcome | Expiry]:
    """The records of (event, decision id) entries of the journal, in their order."""
    taken = [identity for event, identity in events if event == "decision"]
    settled = [identity for event, identity in events if event == "outcome"]
    by_id = select(schema.decisions).where(schema.decisions.c.id.in_(taken))
    of_id = select(schema.outcomes).where(schema.outcomes.c.decision_id.in_(settled))
    found: dict[tuple[str, str], Decision | Outcome | Expiry] = {
        (event, identity): Expiry(decision_id=identity) for event, identity in events if event == "expiry"
    }
    found.update({("decision", item.id): item for item in load_decisions(connection, by_id)})
    found.update({("outcome", item.decision_id): item for item in load_outcomes(connection, of_id)})
    return [found[entry] for entry in events]


def _recalled() -> Select[Any]:
    table, memory = schema.recalled, schema.experiences
    return select(
        table.c.decision_id.label("of_decision"),
        table.c.rank,
        table.c.similarity,
        *(column for column in memory.c if column.name != "recorded"),
    ).join(memory, and_(memory.c.scope == table.c.scope, memory.c.id == table.c.experience_id))


def _by_decision(
    connection: Connection, query: Select[Any], table: Table, order: ColumnElement[Any] | None, ids: Sequence[str]
) -> defaultdict[str, list[Row]]:
    """Rows of a table that belongs to decisions, by decision."""
    found: defaultdict[str, list[Row]] = defaultdict(list)
    # A recalled experience has a decision of its own; the receipt's goes under another name.
    key = "of_decision" if table is schema.recalled else "decision_id"
    for some in batches(ids):
        chosen = query.where(table.c.decision_id.in_(some))
        for row in connection.execute(chosen if order is None else chosen.order_by(order)).mappings():
            found[row[key]].append(row)
    return found
