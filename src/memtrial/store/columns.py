"""Column types that keep a value exact on every database."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Double, Text, TypeDecorator
from sqlalchemy.types import TypeEngine, UserDefinedType

from memtrial.records import utc


class Moment(TypeDecorator[datetime]):
    """An aware datetime, kept in UTC to the microsecond; a naive one is refused with ``TimeError``.

    SQLite has no zone: there it is text of fixed width, which sorts as the times do.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = utc(value, "time")
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class _Real(UserDefinedType[float]):
    """A REAL column of SQLite that takes what it is given; SQLAlchemy's own makes a float of bytes first."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "REAL"


class Number(TypeDecorator[float]):
    """A float that comes back with the same bits.

    A REAL column of SQLite turns NaN into NULL and -0.0 into 0.0; these two are kept as bytes, which sums ignore.
    """

    impl = Double
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return _Real() if dialect.name == "sqlite" else self.impl_instance

    def process_bind_param(self, value: float | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        number = float(value)
        if math.isnan(number) or (number == 0.0 and math.copysign(1.0, number) < 0):
            return repr(number).encode("ascii")
        return number

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:  # noqa: ARG002
        return None if value is None else float(value)


class Json(TypeDecorator[Any]):
    """Tuples, mappings and numbers as JSON text; floats come back with the same bits, lists as tuples."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else _frozen(json.loads(value))


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value
