"""The tables of a store: one schema for SQLite and PostgreSQL.

Rows are only ever added, never changed. ``known_at`` and ``decided_at`` say when a row could first have been used;
``recorded`` and ``position`` say in which order rows were written.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from memtrial.store.columns import Json, Moment, Number

VERSION = 2
"""Version of this schema; a store of a newer one is refused."""

metadata = MetaData()

# SQLite numbers rows by itself, and never reuses a number, only for a primary key of type INTEGER.
_Serial = BigInteger().with_variant(Integer, "sqlite")


def _reference(name: str, target: str, **options: Any) -> Column[Any]:
    """A column that takes its type from the column it refers to."""
    return Column(name, ForeignKey(target), **options)


def _usage() -> list[Column[Any]]:
    return [
        Column("calls", BigInteger, nullable=False),
        Column("replayed", BigInteger, nullable=False),
        Column("retries", BigInteger, nullable=False),
        Column("input_tokens", BigInteger, nullable=False),
        Column("cached_tokens", BigInteger, nullable=False),
        Column("output_tokens", BigInteger, nullable=False),
        Column("latency_seconds", Number, nullable=False),
        Column("cost_usd", Number),
    ]


meta = Table(
    "meta",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("application", Text, nullable=False),
    Column("version", Integer, nullable=False),
)

experiences = Table(
    "experiences",
    metadata,
    Column("recorded", _Serial, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("situation", Text, nullable=False),
    Column("text", Text, nullable=False),
    # Not a foreign key: a memory may be imported without the decision it came from.
    Column("decision_id", Text),
    Column("valid_at", Moment, nullable=False),
    Column("known_at", Moment, nullable=False),
    UniqueConstraint("scope", "id"),
    Index("experiences_known", "scope", "known_at"),
    sqlite_autoincrement=True,
)

vectors = Table(
    "vectors",
    metadata,
    # Its own sequence: an experience may be embedded again, by another model, long after it was recorded.
    Column("recorded", _Serial, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("experience_id", Text, nullable=False),
    Column("embedder", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    UniqueConstraint("scope", "experience_id", "embedder"),
    ForeignKeyConstraint(["scope", "experience_id"], ["experiences.scope", "experiences.id"]),
    Index("vectors_recorded", "scope", "embedder", "recorded"),
    sqlite_autoincrement=True,
)

bases = Table(
    "bases",
    metadata,
    Column("id", Text, primary_key=True),
    Column("embedder", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("d", Integer, nullable=False),
    Column("mean", LargeBinary, nullable=False),
    Column("projection", LargeBinary, nullable=False),
)

journal = Table(
    "journal",
    metadata,
    Column("position", _Serial, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("decision_id", Text, nullable=False),
    UniqueConstraint("decision_id", "event"),
    Index("journal_agent", "scope", "agent", "position"),
    sqlite_autoincrement=True,
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", Text, primary_key=True),
    _reference("journal", "journal.position", nullable=False, unique=True),
    Column("scope", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("decided_at", Moment, nullable=False),
    Column("assets", Json, nullable=False),
    Column("situation", Text, nullable=False),
    Column("state_text", Text, nullable=False),
    Column("holdings", Json, nullable=False),
    Column("mandate", Text, nullable=False),
    Column("risk_aversion", Number, nullable=False),
    Column("cost", Number, nullable=False),
    Column("recall_as_of", Moment, nullable=False),
    Column("recall_query", Text, nullable=False),
    Column("recall_embedder", Text, nullable=False),
    Column("recall_pool", BigInteger, nullable=False),
    Column("design", Text, nullable=False),
    Column("features", Json, nullable=False),
    _reference("basis", "bases.id"),
    Column("reference", Json, nullable=False),
    Column("mean_draft", Json),
    Column("action", Json, nullable=False),
    Column("policy", Text, nullable=False),
    Column("prompt", Text, nullable=False),
    *_usage(),
    UniqueConstraint("scope", "agent", "sequence"),
)

recalled = Table(
    "recalled",
    metadata,
    _reference("decision_id", "decisions.id", primary_key=True),
    Column("rank", Integer, primary_key=True, autoincrement=False),
    Column("scope", Text, nullable=False),
    Column("experience_id", Text, nullable=False),
    Column("similarity", Number, nullable=False),
    UniqueConstraint("decision_id", "experience_id"),
    ForeignKeyConstraint(["scope", "experience_id"], ["experiences.scope", "experiences.id"]),
    Index("recalled_experience", "scope", "experience_id"),
)

drafts = Table(
    "drafts",
    metadata,
    _reference("decision_id", "decisions.id", primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("subset", Json, nullable=False),
    Column("weights", Json),
    Column("projected", Json),
    Column("problem", Text),
    Column("reason", Text),
    Column("requests", Json, nullable=False),
    *_usage(),
)

verdicts = Table(
    "verdicts",
    metadata,
    _reference("decision_id", "decisions.id", primary_key=True),
    Column("weight", Number, nullable=False),
    Column("reason", Text, nullable=False),
    Column("learner", Text, nullable=False),
    Column("values", Json, nullable=False),
    Column("unit", Number, nullable=False),
    Column("rule", Text, nullable=False),
    Column("wealth", Number, nullable=False),
    Column("shares", Json, nullable=False),
    Column("extra", Json),
    Column("bound", Number, nullable=False),
    Column("vetoed", Boolean, nullable=False),
    Column("bets", Boolean, nullable=False),
    Column("terms", Text, nullable=False),
    Column("n_scores", BigInteger, nullable=False),
    Column("mean_score", Number, nullable=False),
    Column("sd_score", Number, nullable=False),
    Column("p_value", Number, nullable=False),
    Column("alpha", Number, nullable=False),
    Column("min_scores", BigInteger, nullable=False),
    Column("subset", Json, nullable=False),
    Column("total", Number, nullable=False),
    Column("reference_weight", Number, nullable=False),
)

outcomes = Table(
    "outcomes",
    metadata,
    _reference("decision_id", "decisions.id", primary_key=True),
    _reference("journal", "journal.position", nullable=False, unique=True),
    Column("known_at", Moment, nullable=False),
    Column("returns", Json, nullable=False),
    Column("utility", Number, nullable=False),
    Column("draft_utilities", Json, nullable=False),
    Column("blend_utilities", LargeBinary),
    # Tells an outcome without contributions from one of a decision that recalled nothing.
    Column("measured", Boolean, nullable=False),
)

contributions = Table(
    "contributions",
    metadata,
    _reference("decision_id", "outcomes.decision_id", primary_key=True),
    Column("rank", Integer, primary_key=True, autoincrement=False),
    Column("contribution", Number, nullable=False),
    # The experience is the one that was recalled at this rank.
    ForeignKeyConstraint(["decision_id", "rank"], ["recalled.decision_id", "recalled.rank"]),
)

scores = Table(
    "scores",
    metadata,
    _reference("decision_id", "outcomes.decision_id", primary_key=True),
    Column("learner", Text, primary_key=True),
    Column("score", Number, nullable=False),
)
