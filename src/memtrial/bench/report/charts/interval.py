"""Intervals on a shared scale, one small picture per table row."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from memtrial.bench.report.charts.scale import Scale, decimals, padded, ticks
from memtrial.bench.report.charts.svg import LETTER, Size, canvas, element, text
from memtrial.bench.report.typography import number

WIDTH, EDGE = 168, 14


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """An estimate with its interval; ``tone`` is its colour class."""

    low: float
    middle: float
    high: float
    tone: str


class IntervalAxis:
    """The scale that the intervals of one table share; 0 is always on it.

    Parameters
    ----------
    intervals
        Everything it must hold.
    unit
        Unit of the axis.
    """

    def __init__(self, intervals: list[Interval], unit: str) -> None:
        ends = [end for interval in intervals for end in (interval.low, interval.high)]
        low, high = padded(ends, include=(0.0,))
        self.unit = unit
        self.x = Scale(low, high, EDGE, WIDTH - EDGE)
        self.ticks = ticks(low, high, 4)

    def heading(self) -> Markup:
        """Ticks and unit, for the table's head."""
        places = decimals(self.ticks)
        labels = [number(value, places, sign=True) for value in self.ticks]
        room = abs(self.x(self.ticks[-1]) - self.x(self.ticks[0])) / max(len(self.ticks) - 1, 1)
        # Where neighbours would touch, only every second or third is written, 0 among them.
        every = math.ceil(LETTER * max(len(label) for label in labels) / room) if room > 0 else 1
        origin = self.ticks.index(0.0) if 0.0 in self.ticks else 0
        parts = [
            text(label, self.x(value), 11, anchor="middle")
            for index, (value, label) in enumerate(zip(self.ticks, labels, strict=True))
            if (index - origin) % every == 0
        ]
        return canvas(Size("interval", WIDTH, 16), f"scale in {self.unit}", *parts)

    def row(self, interval: Interval) -> Markup:
        """One interval. Its numbers stand beside it in the table, so it is hidden from screen readers."""
        x, middle = self.x, 11
        grid = "".join(f"M{x(value):.1f} 0V22" for value in self.ticks)
        parts = [
            element("path", d=grid, class_="grid"),
            element("path", d=f"M{x(0.0):.1f} 0V22", class_="line reference"),
            element(
                "path", d=f"M{x(interval.low):.1f} {middle}H{x(interval.high):.1f}", class_=f"line {interval.tone}"
            ),
            element("circle", cx=x(interval.middle), cy=middle, r=3.6, class_=f"dot {interval.tone}"),
        ]
        return element(
            "svg",
            Markup("").join(parts),
            viewBox=f"0 0 {WIDTH} 22",
            class_="chart interval",
            aria_hidden="true",
        )
