"""The schema is one that PostgreSQL can share."""

from __future__ import annotations

from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from memtrial.store.schema import metadata


def test_every_table_can_be_made_in_postgresql() -> None:
    dialect = postgresql.dialect()
    made = "\n".join(str(CreateTable(table).compile(dialect=dialect)) for table in metadata.sorted_tables)
    for kind in ("TIMESTAMP WITH TIME ZONE", "DOUBLE PRECISION", "BYTEA", "BIGSERIAL", "BOOLEAN"):
        assert kind in made
    assert "REAL" not in made
    for table in metadata.sorted_tables:
        for index in table.indexes:
            assert "CREATE INDEX" in str(CreateIndex(index).compile(dialect=dialect))


def test_every_row_of_a_memory_names_its_scope() -> None:
    for name in ("experiences", "vectors", "decisions", "recalled", "journal"):
        assert not metadata.tables[name].c.scope.nullable
