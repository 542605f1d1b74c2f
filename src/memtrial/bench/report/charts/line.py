"""Lines over time: bands of uncertainty, shaded phases, a reference, and a name at the end of every line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from markupsafe import Markup

from memtrial.bench.report.charts.scale import Scale, day_ticks, decimals, inside, log_ticks, padded, spread, ticks
from memtrial.bench.report.charts.svg import (
    LETTER,
    MIDDLE,
    NARROW,
    WIDE,
    Size,
    canvas,
    diamond,
    element,
    polyline,
    text,
)
from memtrial.bench.report.typography import number

TOP, BOTTOM, LEFT, LABEL_GAP = 30, 40, 46, 15


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line: a value per day (``None`` or ``nan`` where there is none), its name, colour class and weight."""

    label: str
    values: Sequence[float | None]
    tone: str
    short: str = ""
    strong: bool = False
    dashed: bool = False
    show_last: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Band:
    """Uncertainty between two lines."""

    low: Sequence[float | None]
    high: Sequence[float | None]
    tone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LineChart:
    """A chart over time.

    Attributes
    ----------
    label
        What it shows, in a sentence, for those who cannot see it.
    days
        The dates, in order; row ``i`` of the table behind it belongs to day ``i``.
    y_title
        What the vertical axis measures, with its unit.
    reference, reference_label
        A horizontal line that is always drawn, and its name.
    phases, phases_label
        Spans of dates to shade, and what they are.
    dots
        Single measurements, a value and a colour class per day.
    marks, marks_label
        Days marked above the time axis, and what the mark means.
    y_range
        Least range of the vertical axis, so that charts can share a scale.
    log
        Whether the vertical axis is logarithmic.
    decimals
        Decimals of the value at the end of a line.
    sign
        Whether positive numbers carry a plus sign.
    hollow
        What somebody else found, as hollow marks: the day it belongs to, the value and the colour class.
    """

    label: str
    days: tuple[date, ...]
    lines: tuple[Line, ...]
    y_title: str
    x_title: str = ""
    reference: float | None = None
    reference_label: str = ""
    bands: tuple[Band, ...] = ()
    phases: tuple[tuple[date, date], ...] = ()
    phases_label: str = ""
    dots: tuple[tuple[float | None, str], ...] = ()
    marks: tuple[int, ...] = ()
    marks_label: str = ""
    y_range: tuple[float, float] | None = None
    log: bool = False
    decimals: int = 2
    sign: bool = True
    hollow: tuple[tuple[int, float, str], ...] = ()

    def views(self, *sizes: Size) -> tuple[Markup, ...]:
        """The chart in every width."""
        return tuple(_Drawing(self, size).svg() for size in sizes or (WIDE, MIDDLE, NARROW))


class _Drawing:
    """One chart on one canvas."""

    def __init__(self, chart: LineChart, size: Size) -> None:
        self.chart, self.size = chart, size
        self.bottom = size.height - BOTTOM - (16 if chart.marks else 0)
        low, high = chart.y_range or self._range()
        self.y = Scale(low, high, self.bottom, TOP, chart.log)
        self.labels = [self._name(line) for line in chart.lines]
        bold = [1.12 if line.strong else 1.0 for line in chart.lines]
        names = [len(label) * weight for label, weight in zip(self.labels, bold, strict=True)]
        self.right = size.width - LETTER * max([*names, len(chart.reference_label)]) - 18
        first, last = chart.days[0].toordinal(), chart.days[-1].toordinal()
        self.x = Scale(first, max(last, first + 1), LEFT, self.right)

    def _name(self, line: Line) -> str:
        name = line.short if self.size.narrow and line.short else line.label
        last = _last(line.values)
        if last is None or not line.show_last:
            return name
        outside = "↓ " if last[1] < self.y.low else "↑ " if last[1] > self.y.high else ""
        return f"{outside}{name} {number(last[1], self.chart.decimals, sign=self.chart.sign)}"

    def _range(self) -> tuple[float, float]:
        chart = self.chart
        series = [line.values for line in chart.lines]
        series += [side for band in chart.bands for side in (band.low, band.high)]
        series.append([value for value, _ in chart.dots])
        series.append([value for _, value, _ in chart.hollow])
        known = [value for values in series for value in values if value is not None]
        include = () if chart.reference is None else (chart.reference,)
        return padded(known, include=include)

    def at(self, row: int) -> float:
        """Where day ``row`` stands."""
        return self.x(self.chart.days[row].toordinal())

    def svg(self) -> Markup:
        """Everything, from the back to the front."""
        return canvas(
            self.size,
            self.chart.label,
            self._phases(),
            self._grid(),
            self._bands(),
            self._reference(),
            self._dots(),
            self._lines(),
            self._hollow(),
            self._marks(),
            self._names(),
            self._hits(),
        )

    def _phases(self) -> Markup:
        parts: list[Markup] = []
        label, taken = self.chart.phases_label, 2 + LETTER * len(self.chart.y_title)
        for phase in self.chart.phases:
            left, right = (self.x(day.toordinal()) for day in phase)
            parts.append(
                element("rect", x=left, y=TOP, width=max(right - left, 1), height=self.bottom - TOP, class_="phase")
            )
            # Above the frame, where no data can run through it, over the first phase with room for the name.
            if label and taken < left < self.right - LETTER * len(label):
                parts.append(text(label, left, TOP - 6, kind="small"))
                label = ""
        return Markup("").join(parts)

    def _grid(self) -> Markup:
        chart, parts = self.chart, list[Markup]()
        at = log_ticks(self.y.low, self.y.high) if chart.log else ticks(self.y.low, self.y.high)
        form = _log_label if chart.log else _label(decimals(at), chart.sign)
        for value in at:
            y = self.y(value)
            parts.append(element("path", d=f"M{LEFT} {y:.1f}H{self.right:.1f}", class_="grid"))
            parts.append(text(form(value), LEFT - 6, y + 4, anchor="end"))
        parts.append(text(chart.y_title, 2, 14, kind="axis"))
        for day, words in day_ticks(chart.days, self.right - LEFT):
            x = self.x(day.toordinal())
            parts.append(element("path", d=f"M{x:.1f} {self.bottom}v5", class_="tick"))
            parts.append(text(words, x, self.bottom + 18, anchor="middle"))
        parts.append(element("path", d=f"M{LEFT} {self.bottom}H{self.right:.1f}", class_="axis-line"))
        if chart.x_title:
            below = 50 if chart.marks else 34
            parts.append(text(chart.x_title, self.right, self.bottom + below, anchor="end", kind="axis"))
        return Markup("").join(parts)

    def _bands(self) -> Markup:
        parts: list[Markup] = []
        for band in self.chart.bands:
            edges = [
                (self.at(row), self.y(low), self.y(high))
                for row, (low, high) in enumerate(zip(band.low, band.high, strict=True))
                if low is not None and high is not None and math.isfinite(low) and math.isfinite(high)
            ]
            if len(edges) > 1:
                around = [(x, high) for x, _, high in edges] + [(x, low) for x, low, _ in reversed(edges)]
                parts.append(element("path", d=polyline(around) + "Z", class_=f"band {band.tone}"))
        return Markup("").join(parts)

    def _reference(self) -> Markup:
        if self.chart.reference is None:
            return Markup("")
        y = self.y(self.chart.reference)
        return element("path", d=f"M{LEFT} {y:.1f}H{self.right:.1f}", class_="line reference")

    def _dots(self) -> Markup:
        return Markup("").join(
            element("circle", cx=self.at(row), cy=self.y(value), r=2.6, class_=f"dot {tone}")
            for row, (value, tone) in enumerate(self.chart.dots)
            if value is not None and math.isfinite(value)
        )

    def _lines(self) -> Markup:
        parts: list[Markup] = []
        for line in sorted(self.chart.lines, key=lambda line: line.strong):
            kind = f"line {line.tone}{' strong' if line.strong else ''}{' dashed' if line.dashed else ''}"
            for run in _runs([(self.at(row), value) for row, value in enumerate(line.values)]):
                for piece in inside(run, self.y.low, self.y.high):
                    points = [(x, self.y(value)) for x, value in piece]
                    parts.append(element("path", d=polyline(points), class_=kind))
        return Markup("").join(parts)

    def _hollow(self) -> Markup:
        return Markup("").join(diamond(self.at(row), self.y(value), tone) for row, value, tone in self.chart.hollow)

    def _marks(self) -> Markup:
        if not self.chart.marks:
            return Markup("")
        y = self.bottom + 33
        parts = [element("path", d=f"M{self.at(row) - 4:.1f} {y}l4 -8l4 8z", class_="mark") for row in self.chart.marks]
        parts.append(text(f"▲ {self.chart.marks_label}", LEFT, y + 17, kind="mark-name"))
        return Markup("").join(parts)

    def _names(self) -> Markup:
        ends: list[tuple[float, float, str, str]] = []
        for line, name in zip(self.chart.lines, self.labels, strict=False):
            last = _last(line.values)
            if last is not None:
                strong = " strong" if line.strong else ""
                ends.append((self.at(last[0]), self.y(last[1]), name, line.tone + strong))
        if self.chart.reference is not None and self.chart.reference_label:
            ends.append((self.right, self.y(self.chart.reference), self.chart.reference_label, "reference"))
        heights = spread([y for _, y, _, _ in ends], LABEL_GAP, TOP, self.bottom)
        parts: list[Markup] = []
        for (x, y, name, tone), height in zip(ends, heights, strict=True):
            lead = f"M{x:.1f} {y:.1f}L{self.right + 4:.1f} {y:.1f}L{self.right + 12:.1f} {height:.1f}"
            parts.append(element("path", d=lead, class_=f"lead {tone}"))
            parts.append(text(name, self.right + 14, height + 4, kind=f"name {tone}"))
        return Markup("").join(parts)

    def _hits(self) -> Markup:
        """A column per day, to hover over."""
        at = [self.at(row) for row in range(len(self.chart.days))]
        edges = [LEFT, *((a + b) / 2 for a, b in pairwise(at)), self.right]
        return element(
            "g",
            Markup("").join(
                element(
                    "rect", x=left, y=TOP, width=max(right - left, 0.5), height=self.bottom - TOP, data_row=str(row)
                )
                for row, (left, right) in enumerate(pairwise(edges))
            ),
            class_="hits",
        )


def _last(values: Sequence[float | None]) -> tuple[int, float] | None:
    for row in range(len(values) - 1, -1, -1):
        value = values[row]
        if value is not None and math.isfinite(value):
            return row, value
    return None


def _runs(points: Sequence[tuple[float, float | None]]) -> list[list[tuple[float, float]]]:
    """Stretches without a gap."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, value in points:
        if value is not None and math.isfinite(value):
            runs[-1].append((x, value))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _label(places: int, sign: bool) -> Callable[[float], str]:
    return lambda value: number(value, places, sign=sign)


def _log_label(value: float) -> str:
    return f"{value:g}"
