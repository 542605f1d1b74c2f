"""Stores of an older schema, brought up to date when they are opened: nothing that was kept is lost."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlalchemy import Connection, select, update

from memtrial.store.schema import VERSION, meta

_NOT_A_NUMBER = "x'6e616e'"  # how a column of numbers keeps NaN

_STEPS: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {
        # A verdict had been all or nothing.
        1: (
            "ALTER TABLE verdicts ADD COLUMN weight REAL NOT NULL DEFAULT 0.0",
            "UPDATE verdicts SET weight = trusted",
            "ALTER TABLE verdicts DROP COLUMN trusted",
            "ALTER TABLE verdicts ADD COLUMN unit REAL NOT NULL DEFAULT 1.0",
            "ALTER TABLE verdicts ADD COLUMN rule TEXT NOT NULL DEFAULT 't_test'",
            f"ALTER TABLE verdicts ADD COLUMN wealth REAL NOT NULL DEFAULT {_NOT_A_NUMBER}",
            "ALTER TABLE verdicts ADD COLUMN shares TEXT NOT NULL DEFAULT '{}'",
            "ALTER TABLE verdicts ADD COLUMN extra TEXT",
            "ALTER TABLE verdicts ADD COLUMN bound REAL NOT NULL DEFAULT 0.0",
            "ALTER TABLE verdicts ADD COLUMN vetoed BOOLEAN NOT NULL DEFAULT 0",
            "ALTER TABLE verdicts ADD COLUMN bets BOOLEAN NOT NULL DEFAULT 0",
            "ALTER TABLE verdicts ADD COLUMN terms TEXT NOT NULL DEFAULT ''",
        ),
    }
)
"""What takes a schema of each version to the next."""


def upgrade(connection: Connection) -> None:
    """Take the store to the present schema, in one transaction: all of it or nothing."""
    with connection.begin():
        if connection.execute(select(meta.c.version)).scalar_one() == VERSION:
            return
    writer = connection.execution_options(memtrial_write=True)
    with writer.begin():
        # Another process may have done it since we looked.
        found = writer.execute(select(meta.c.version)).scalar_one()
        for version in range(found, VERSION):
            for statement in _STEPS[version]:
                writer.exec_driver_sql(statement)
        writer.execute(update(meta).values(version=VERSION))
