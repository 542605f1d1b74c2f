"""Two measurements of the same things against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from memtrial.bench.report.charts.scale import Scale, decimals, padded, ticks
from memtrial.bench.report.charts.svg import Size, canvas, element, text
from memtrial.bench.report.typography import number

CANVAS = Size("square", 340, 300)
LEFT, TOP, RIGHT, BOTTOM = 46, 28, 332, 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Scatter:
    """Points (x, y); point ``i`` is row ``i`` of the table behind the chart.

    ``tones`` are colour classes per point, or empty for one colour.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    x_title: str
    y_title: str
    tones: Sequence[str] = ()

    def view(self) -> Markup:
        """The chart."""
        across = Scale(*padded(self.x, include=(0.0,)), LEFT, RIGHT)
        up = Scale(*padded(self.y, include=(0.0,)), BOTTOM, TOP)
        tones = self.tones or ("tone-1",) * len(self.x)
        points = (
            element("circle", cx=across(x), cy=up(y), r=2.8, class_=f"point {tone}", data_row=str(row))
            for row, (x, y, tone) in enumerate(zip(self.x, self.y, tones, strict=True))
        )
        return canvas(CANVAS, self.label, self._frame(across, up), element("g", Markup("").join(points), class_="hits"))

    def _frame(self, across: Scale, up: Scale) -> Markup:
        parts: list[Markup] = []
        on_x, on_y = ticks(across.low, across.high, 6), ticks(up.low, up.high, 6)
        for value in on_x:
            parts.append(element("path", d=f"M{across(value):.1f} {TOP}V{BOTTOM}", class_="grid"))
            parts.append(text(number(value, decimals(on_x), sign=True), across(value), BOTTOM + 16, anchor="middle"))
        for value in on_y:
            parts.append(element("path", d=f"M{LEFT} {up(value):.1f}H{RIGHT}", class_="grid"))
            parts.append(text(number(value, decimals(on_y), sign=True), LEFT - 5, up(value) + 4, anchor="end"))
        zero = f"M{across(0):.1f} {TOP}V{BOTTOM}M{LEFT} {up(0):.1f}H{RIGHT}"
        parts.append(element("path", d=zero, class_="line reference"))
        parts.append(text(self.y_title, 2, 13, kind="axis"))
        parts.append(text(self.x_title, RIGHT, BOTTOM + 36, anchor="end", kind="axis"))
        return Markup("").join(parts)
