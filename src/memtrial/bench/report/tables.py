"""A table as data: columns with units, rows of set text. The templates make HTML of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, its unit, and whether it holds numbers (right-aligned, tabular figures)."""

    heading: str
    unit: str = ""
    numeric: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row: cells in the order of the columns, the first one its heading.

    ``kind`` marks it: ``"own"`` (what this page is about), ``"reference"``, ``"total"`` or nothing. ``tone`` is the
    colour class of a swatch before the heading.
    """

    cells: tuple[str | Markup, ...]
    kind: str = ""
    tone: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table with its caption, which is read out but only shown when ``titled``."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    titled: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A chart with the question it answers as title, in one or more widths, and the table behind it.

    Row ``i`` of ``table`` is what hovering over ``data-row="i"`` of a view shows.
    """

    id: str
    title: str
    views: tuple[Markup, ...]
    table: Table
    caption: str = ""
    wide: bool = field(default=True)


def rows(cells: Iterable[Iterable[str | Markup]]) -> tuple[Row, ...]:
    """Plain rows."""
    return tuple(Row(cells=tuple(line)) for line in cells)
