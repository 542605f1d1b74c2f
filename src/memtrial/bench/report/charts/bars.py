"""Bars with intervals, grouped: one bar per row, its name at its foot and its uncertainty as a whisker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from markupsafe import Markup

from memtrial.bench.report.charts.scale import Scale, decimals, padded, ticks
from memtrial.bench.report.charts.svg import LETTER, MIDDLE, NARROW, Size, canvas, diamond, element, text
from memtrial.bench.report.typography import number

TOP, BOTTOM, STEP, HEAD, RIGHT = 24, 40, 17, 21, 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """One bar: its value, the ends of its interval if any, what else was found (a hollow mark), its name and colour.

    A value of ``None`` leaves the row empty.
    """

    label: str
    value: float | None
    tone: str
    low: float | None = None
    high: float | None = None
    other: float | None = None
    strong: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BarGroup:
    """Bars that belong together under one heading."""

    heading: str
    bars: Sequence[Bar]


@dataclass(frozen=True, kw_only=True, slots=True)
class BarChart:
    """Horizontal bars from a reference at 0.

    Attributes
    ----------
    label
        What it shows, in a sentence, for those who cannot see it.
    groups
        The bars; row ``i`` of the table behind the chart belongs to the ``i``-th bar, counted through all groups.
    x_title
        What the horizontal axis measures, with its unit.
    reference_label
        Name of the line at 0.
    other_label
        What the hollow mark of a bar means.
    sign
        Whether positive numbers carry a plus sign.
    """

    label: str
    groups: Sequence[BarGroup]
    x_title: str
    reference_label: str = ""
    other_label: str = ""
    sign: bool = True

    def views(self, *sizes: Size) -> tuple[Markup, ...]:
        """The chart in every width; its height follows from the number of bars."""
        return tuple(_Drawing(self, size).svg() for size in sizes or (MIDDLE, NARROW))


class _Drawing:
    """One chart on one canvas."""

    def __init__(self, chart: BarChart, size: Size) -> None:
        self.chart, self.size = chart, size
        bars = [bar for group in chart.groups for bar in group.bars]
        self.left = LETTER * max((len(bar.label) for bar in bars), default=0) + 14
        rows = HEAD * len(chart.groups) + STEP * len(bars)
        self.bottom = TOP + rows + 6
        self.height = self.bottom + BOTTOM + (16 if chart.other_label else 0)
        ends = [end for bar in bars for end in (bar.value, bar.low, bar.high, bar.other) if end is not None]
        self.x = Scale(*padded(ends, include=(0.0,)), self.left, size.width - RIGHT)

    def svg(self) -> Markup:
        parts: list[Markup] = [self._frame()]
        y, row = float(TOP), 0
        for group in self.chart.groups:
            parts.append(text(group.heading, 2, y + 16, kind="group"))
            y += HEAD
            for bar in group.bars:
                parts.append(self._bar(bar, y, row))
                y, row = y + STEP, row + 1
        size = Size(self.size.name, self.size.width, math.ceil(self.height), self.size.narrow)
        return canvas(size, self.chart.label, *parts)

    def _bar(self, bar: Bar, y: float, row: int) -> Markup:
        strong = " strong" if bar.strong else ""
        middle = y + STEP / 2
        parts = [text(bar.label, self.left - 8, middle + 4, anchor="end", kind=f"name {bar.tone}{strong}")]
        if _known(bar.value):
            start, end = sorted((self.x(0.0), self.x(bar.value)))
            parts.append(
                element(
                    "rect", x=start, y=y + 3, width=max(end - start, 0.8), height=STEP - 6, class_=f"bar {bar.tone}"
                )
            )
        if _known(bar.low) and _known(bar.high):
            low, high = self.x(bar.low), self.x(bar.high)
            ends = f"M{low:.1f} {middle - 3:.1f}V{middle + 3:.1f}M{high:.1f} {middle - 3:.1f}V{middle + 3:.1f}"
            whisker = f"M{low:.1f} {middle:.1f}H{high:.1f}{ends}"
            parts.append(element("path", d=whisker, class_=f"whisker {bar.tone}"))
        if _known(bar.other):
            parts.append(diamond(self.x(bar.other), middle, bar.tone))
        parts.append(
            element(
                "g", element("rect", x=0, y=y, width=self.size.width, height=STEP, data_row=str(row)), class_="hits"
            )
        )
        return Markup("").join(parts)

    def _frame(self) -> Markup:
        chart, x = self.chart, self.x
        marks = ticks(x.low, x.high, 5 if self.size.narrow else 7)
        places = decimals(marks)
        parts: list[Markup] = []
        for value in marks:
            parts.append(element("path", d=f"M{x(value):.1f} {TOP}V{self.bottom:.1f}", class_="grid"))
            where = self.bottom + 16
            parts.append(text(number(value, places, sign=chart.sign), x(value), where, anchor="middle"))
        parts.append(element("path", d=f"M{x(0.0):.1f} {TOP - 4}V{self.bottom:.1f}", class_="line reference"))
        if chart.reference_label:
            room = self.size.width - x(0.0) > LETTER * len(chart.reference_label)
            parts.append(
                text(chart.reference_label, x(0.0), TOP - 8, anchor="start" if room else "end", kind="name reference")
            )
        parts.append(text(chart.x_title, self.size.width - RIGHT, self.bottom + 34, anchor="end", kind="axis"))
        if chart.other_label:
            parts.append(diamond(8, self.bottom + 46, "reference"))
            parts.append(text(chart.other_label, 18, self.bottom + 50, kind="axis"))
        return Markup("").join(parts)


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)
