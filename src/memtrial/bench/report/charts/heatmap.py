"""A heat map of changes: blue gains, orange losses, the number in every cell and a second one beneath it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from memtrial.bench.report.charts.svg import LETTER, MIDDLE, NARROW, Size, canvas, element, text
from memtrial.bench.report.typography import number

TOP, HALF, GAP = 24, 19, 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A change with, if there is one, what somebody else found, and whether the change is more than chance."""

    value: float | None
    other: float | None = None
    clear: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatRow:
    """One row: its name, a shorter one for narrow screens, and a cell per column."""

    label: str
    cells: Sequence[Cell]
    short: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatMap:
    """Changes by row and column.

    Attributes
    ----------
    label
        What it shows, in a sentence, for those who cannot see it.
    columns, short_columns
        Headings, and the same for narrow screens.
    rows
        Row ``i`` of the table behind the chart belongs to row ``i`` here.
    key
        What the upper and the lower number of a cell are.
    full
        Size of change that has the full colour.
    decimals
        Decimals of the numbers.
    """

    label: str
    columns: Sequence[str]
    short_columns: Sequence[str]
    rows: Sequence[HeatRow]
    key: str
    full: float
    decimals: int = 1

    def views(self, *sizes: Size) -> tuple[Markup, ...]:
        """The map in every width; its height follows from the number of rows."""
        return tuple(self._view(size) for size in sizes or (MIDDLE, NARROW))

    def _view(self, size: Size) -> Markup:
        names = [row.short or row.label if size.narrow else row.label for row in self.rows]
        left = LETTER * max(len(name) for name in names) + 10
        width = (size.width - left) / len(self.columns)
        heads = self.short_columns if size.narrow else self.columns
        parts = [
            text(head, left + (index + 0.5) * width, TOP - 9, anchor="middle", kind="group")
            for index, head in enumerate(heads)
        ]
        for index, (row, name) in enumerate(zip(self.rows, names, strict=True)):
            y = TOP + index * (2 * HALF + GAP)
            parts.append(text(name, left - 8, y + HALF + 4, anchor="end"))
            cells = (self._cell(cell, left + at * width, y, width) for at, cell in enumerate(row.cells))
            parts.extend(cells)
            hit = element("rect", x=0, y=y, width=size.width, height=2 * HALF, data_row=str(index))
            parts.append(element("g", hit, class_="hits"))
        bottom = TOP + len(self.rows) * (2 * HALF + GAP)
        parts.append(text(self.key, size.width - 2, bottom + 14, anchor="end", kind="axis"))
        return canvas(Size(size.name, size.width, bottom + 22, size.narrow), self.label, *parts)

    def _cell(self, cell: Cell, x: float, y: float, width: float) -> Markup:
        upper = self._half(cell.value, x, y, width, "heat-own strong" if cell.clear else "heat-own")
        return upper + self._half(cell.other, x, y + HALF, width, "heat-other")

    def _half(self, value: float | None, x: float, y: float, width: float, kind: str) -> Markup:
        change = 0.0 if value is None or not math.isfinite(value) else value
        depth = min(abs(change) / self.full, 1.0)
        box = element(
            "rect",
            x=x + 1,
            y=y,
            width=width - 2,
            height=HALF,
            class_="heat helped" if change > 0 else "heat hurt",
            fill_opacity=f"{0.03 + 0.42 * depth:.2f}",
        )
        return box + text(number(value, self.decimals, sign=True), x + width / 2, y + 14, anchor="middle", kind=kind)
