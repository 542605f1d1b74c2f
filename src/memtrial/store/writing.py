"""Rows of new records, checked against what is there. Each function runs inside one write transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sqlalchemy import Connection, func, select

from memtrial.errors import DecisionError, InputError, StoreError, TimeError
from memtrial.records import Decision, Experience, Outcome
from memtrial.store import rows, schema
from memtrial.store.reading import batches


class Prepared(NamedTuple):
    """An experience and its vector, ready to be written."""

    experience: Experience
    vector: bytes


def prepared(scope: str, items: Iterable[tuple[Experience, ArrayLike]], embedder: str) -> list[Prepared]:
    """Checked experiences, each id once."""
    unique: dict[str, Prepared] = {}
    for experience, vector in items:
        new = Prepared(experience, rows.vector_bytes(vector, f"experience {experience.id} in scope {scope!r}"))
        kept = unique.setdefault(experience.id, new)
        _same(scope, kept.experience, experience)
    sizes = {len(item.vector) // 4 for item in unique.values()}
    if len(sizes) > 1:
        raise StoreError(f"vectors of {embedder!r} came in several dimensions, {sorted(sizes)}; it must have one")
    return list(unique.values())


def add_experiences(connection: Connection, scope: str, items: Sequence[Prepared], embedder: str) -> int:
    """Insert what is missing; how many vectors were."""
    size = dimension(connection, scope, embedder)
    if items and size is not None and len(items[0].vector) // 4 != size:
        raise StoreError(
            f"scope {scope!r} has vectors of {embedder!r} with {size} dimensions, got {len(items[0].vector) // 4}; "
            "give another model another identity"
        )
    return sum(_add_some(connection, scope, some, embedder) for some in batches(items))


def _add_some(connection: Connection, scope: str, items: Sequence[Prepared], embedder: str) -> int:
    ids = [item.experience.id for item in items]
    known = stored(connection, scope, ids)
    for item in items:
        if item.experience.id in known:
            _same(scope, known[item.experience.id], item.experience)
    table = schema.vectors
    embedded = set(
        connection.execute(
            select(table.c.experience_id).where(
                table.c.scope == scope, table.c.embedder == embedder, table.c.experience_id.in_(ids)
            )
        ).scalars()
    )
    fresh = [rows.experience_row(scope, item.experience) for item in items if item.experience.id not in known]
    new = [
        {
            "scope": scope,
            "experience_id": item.experience.id,
            "embedder": embedder,
            "dimension": len(item.vector) // 4,
            "vector": item.vector,
        }
        for item in items
        if item.experience.id not in embedded
    ]
    _insert(connection, schema.experiences, fresh)
    _insert(connection, table, new)
    return len(new)


def _same(scope: str, kept: Experience, given: Experience) -> None:
    if kept != given:
        changed = next(name for name in rows.EXPERIENCE if getattr(kept, name) != getattr(given, name))
        raise StoreError(
            f"experience {given.id} is in scope {scope!r} with another {changed}; "
            "edited text is a new experience with a new id"
        )


def stored(connection: Connection, scope: str, ids: Sequence[str]) -> dict[str, Experience]:
    """Experiences of a scope by id, whenever they were known: for comparing, not for showing."""
    table = schema.experiences
    query = select(table).where(table.c.scope == scope, table.c.id.in_(ids))
    return {row["id"]: rows.experience_of(row) for row in connection.execute(query).mappings()}


def dimension(connection: Connection, scope: str, embedder: str) -> int | None:
    """Dimension of an embedder's vectors in a scope, or ``None`` when there is none yet."""
    table = schema.vectors
    query = select(table.c.dimension).where(table.c.scope == scope, table.c.embedder == embedder).limit(1)
    return connection.execute(query).scalar()


def basis_row(basis_id: str, embedder: str, mean: ArrayLike, projection: ArrayLike) -> dict[str, Any]:
    """A checked content basis."""
    centre, axes = np.asarray(mean, dtype=np.float64), np.asarray(projection, dtype=np.float64)
    if centre.ndim != 1 or axes.ndim != 2 or axes.shape[0] != centre.size:
        raise InputError(
            f"basis {basis_id}: mean (dim,) and projection (dim, d) are needed, got {centre.shape} and {axes.shape}"
        )
    return {
        "id": basis_id,
        "embedder": embedder,
        "dimension": centre.size,
        "d": axes.shape[1],
        "mean": rows.floats_bytes(centre),
        "projection": rows.floats_bytes(axes),
    }


def add_basis(connection: Connection, row: dict[str, Any]) -> None:
    """Insert a basis that is not there."""
    table = schema.bases
    kept = connection.execute(select(table).where(table.c.id == row["id"])).mappings().first()
    if kept is None:
        connection.execute(table.insert(), row)
    elif dict(kept) != row:
        raise StoreError(f"content basis {row['id']} is in the store with other content; give the new one its own id")


def check_decision(decision: Decision) -> None:
    """Raise when the parts of a decision do not fit each other."""
    where, shown = f"decision {decision.id}", decision.recall.shown
    if len(decision.projected) != len(decision.drafts):
        raise InputError(f"{where} has {len(decision.drafts)} drafts and {len(decision.projected)} projected ones")
    if [item.rank for item in shown] != list(range(len(shown))):
        raise InputError(f"{where} must show its experiences in rank order, 0, 1, …")
    if len({item.experience.id for item in shown}) != len(shown):
        raise InputError(f"{where} shows an experience twice; show each once")
    if decision.recall.as_of > decision.decided_at:
        raise TimeError(f"{where} recalled as of {decision.recall.as_of.isoformat()}, after it was taken")
    for item in shown:
        if item.experience.known_at > decision.recall.as_of:
            known = item.experience.known_at.isoformat()
            raise TimeError(f"{where} shows experience {item.experience.id}, known only at {known}, after its recall")


def add_decision(connection: Connection, decision: Decision) -> None:
    """Insert a new decision with its parts."""
    where, table = f"decision {decision.id}", schema.decisions
    if connection.execute(select(table.c.id).where(table.c.id == decision.id)).first():
        raise DecisionError(f"{where} is already in the store; every decision needs its own id")
    same = (table.c.scope == decision.scope, table.c.agent == decision.agent, table.c.sequence == decision.sequence)
    taken = connection.execute(select(table.c.id).where(*same)).scalar()
    if taken is not None:
        raise DecisionError(
            f"{where}: agent {decision.agent!r} in scope {decision.scope!r} already took its decision number "
            f"{decision.sequence}, {taken}; take the agent up from the store and decide again"
        )
    known = stored(connection, decision.scope, [item.experience.id for item in decision.recall.shown])
    for item in decision.recall.shown:
        if item.experience.id not in known:
            raise StoreError(f"{where} shows experience {item.experience.id}, which is not in scope {decision.scope!r}")
        _same(decision.scope, known[item.experience.id], item.experience)
    basis = select(schema.bases.c.id).where(schema.bases.c.id == decision.basis)
    if decision.basis is not None and not connection.execute(basis).first():
        raise StoreError(f"{where} uses content basis {decision.basis}, which is not in the store; add it first")
    position = _enter(connection, decision.scope, decision.agent, "decision", decision.id)
    connection.execute(table.insert(), rows.decision_row(decision, position))
    _insert(connection, schema.recalled, rows.recalled_rows(decision))
    _insert(connection, schema.drafts, rows.draft_rows(decision))
    connection.execute(schema.verdicts.insert(), rows.verdict_row(decision))


def add_outcome(connection: Connection, outcome: Outcome) -> None:
    """Insert the outcome of a decision that has none."""
    where, table = f"decision {outcome.decision_id}", schema.decisions
    query = select(table.c.scope, table.c.agent, table.c.decided_at).where(table.c.id == outcome.decision_id)
    decided = connection.execute(query).first()
    if decided is None:
        raise DecisionError(f"{where} is not in the store; settle a decision that was taken")
    _still_open(connection, outcome.decision_id)
    if outcome.known_at < decided.decided_at:
        raise TimeError(
            f"{where} was taken at {decided.decided_at.isoformat()}; "
            f"its outcome cannot have been known before, at {outcome.known_at.isoformat()}"
        )
    for given, part, name in (
        (outcome.draft_utilities, schema.drafts, "draft utilities"),
        (outcome.contributions, schema.recalled, "contributions"),
    ):
        count = select(func.count()).select_from(part).where(part.c.decision_id == outcome.decision_id)
        needed = connection.execute(count).scalar_one()
        if given is not None and len(given) != needed:
            raise InputError(f"{where} needs {needed} {name}, got {len(given)}")
    position = _enter(connection, decided.scope, decided.agent, "outcome", outcome.decision_id)
    connection.execute(schema.outcomes.insert(), rows.outcome_row(outcome, position))
    _insert(connection, schema.contributions, rows.contribution_rows(outcome))
    _insert(connection, schema.scores, rows.score_rows(outcome))


def expire(connection: Connection, decision_id: str) -> None:
    """Enter that the outcome of a decision will never come."""
    table = schema.decisions
    decided = connection.execute(select(table.c.scope, table.c.agent).where(table.c.id == decision_id)).first()
    if decided is None:
        raise DecisionError(f"decision {decision_id} is not in the store; expire a decision that was taken")
    _still_open(connection, decision_id)
    _enter(connection, decided.scope, decided.agent, "expiry", decision_id)


def _still_open(connection: Connection, decision_id: str) -> None:
    table = schema.journal
    ended = select(table.c.event).where(table.c.decision_id == decision_id, table.c.event != "decision")
    event = connection.execute(ended).scalar()
    if event is not None:
        how = "settled; an outcome is given once" if event == "outcome" else "expired; it can no longer be settled"
        raise DecisionError(f"decision {decision_id} was already {how}")


def _enter(connection: Connection, scope: str, agent: str, event: str, decision_id: str) -> int:
    row = {"scope": scope, "agent": agent, "event": event, "decision_id": decision_id}
    new = schema.journal.insert().values(row).returning(schema.journal.c.position)
    return connection.execute(new).scalar_one()


def _insert(connection: Connection, table: Any, new: list[dict[str, Any]]) -> None:
    # An empty list would insert one row of defaults.
    if new:
        connection.execute(table.insert(), new)
