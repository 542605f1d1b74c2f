"""From data to pixels: scales, round ticks, and labels that keep their distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear or logarithmic map from data ``low`` … ``high`` to pixels ``start`` … ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Pixels of ``value``, kept inside the frame."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """At most ``most`` round numbers (1, 2 or 5 times a power of ten apart) in ``low`` … ``high``."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return (low,)
    step = 10.0 ** math.floor(math.log10(span / most))
    for factor in (1, 2, 5, 10, 20):
        first, last = math.ceil(low / (step * factor) - 1e-9), math.floor(high / (step * factor) + 1e-9)
        if last - first + 1 <= most:
            return tuple(round(index * step * factor, 12) for index in range(first, last + 1))
    return (low, high)


def log_ticks(low: float, high: float) -> tuple[float, ...]:
    """1, 2, 5 of each power of ten in ``low`` … ``high``; over many powers only their ones."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1,) if len(powers) > 4 else (1, 2, 5)
    return tuple(
        round(factor * 10.0**power, 12)
        for power in powers
        for factor in factors
        if low * 0.999 <= factor * 10.0**power <= high * 1.001
    )


def decimals(step_of: Sequence[float]) -> int:
    """Decimals that tell neighbouring ticks apart."""
    if len(step_of) < 2:
        return 2
    step = min(abs(after - before) for before, after in pairwise(step_of))
    return max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 2


def padded(values: Sequence[float], *, include: Sequence[float] = (), share: float = 0.06) -> tuple[float, float]:
    """Range of the finite ``values`` and ``include``, with a little room; never empty."""
    known = [value for value in (*values, *include) if math.isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    room = share * (high - low) or 0.5 * abs(high) or 1.0
    return low - room, high + room


def day_ticks(days: Sequence[date], room: float) -> tuple[tuple[date, str], ...]:
    """Dates to label on a time axis: turns of the year on long spans, of the month on short ones.

    ``room`` is the length of the axis in pixels.
    """
    first, last = days[0], days[-1]
    if (last - first).days > 3 * 365:
        years = [date(year, 1, 1) for year in range(first.year + 1, last.year + 1)]
        every = math.ceil(len(years) * 44 / room)
        return tuple((day, f"{day:%Y}") for day in years[::every])
    months = [
        date(year, month, 1)
        for year in range(first.year, last.year + 1)
        for month in range(1, 13)
        if first <= date(year, month, 1) <= last
    ]
    every = math.ceil(len(months) * 66 / room) or 1
    return tuple((day, f"{day:%Y-%m}") for day in months[::every]) or ((first, first.isoformat()),)


def inside(run: Sequence[tuple[float, float]], low: float, high: float) -> list[list[tuple[float, float]]]:
    """The pieces of a line that lie in ``low`` … ``high``, cut where it crosses the edge."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for number, (x, value) in enumerate(run):
        if number:
            before, was = run[number - 1]
            edges = [edge for edge in (low, high) if min(was, value) < edge < max(was, value)]
            for edge in sorted(edges, reverse=was > value):
                pieces[-1].append((before + (x - before) * (edge - was) / (value - was), edge))
                if not low <= value <= high and len(pieces[-1]) > 1:
                    pieces.append([])
        if low <= value <= high:
            pieces[-1].append((x, value))
    return [piece for piece in pieces if piece]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> tuple[float, ...]:
    """Positions as near as possible to ``wanted`` that are ``gap`` apart and inside ``low`` … ``high``.

    Neighbours that would overlap are merged into a block around the mean of what they want, as often as needed. When
    there is too little room for all, the gap shrinks.
    """
    if not wanted:
        return ()
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[tuple[float, list[int]]] = []
    for index in order:
        blocks.append((min(max(wanted[index], low), high), [index]))
        while len(blocks) > 1 and _bottom(blocks[-2], gap) + gap > _top(blocks[-1], gap):
            (left, first), (right, second) = blocks[-2:]
            centre = (left * len(first) + right * len(second)) / (len(first) + len(second))
            half = gap * (len(first) + len(second) - 1) / 2
            blocks[-2:] = [(min(max(centre, low + half), high - half), first + second)]
    placed = [0.0] * len(wanted)
    for block in blocks:
        for rank, index in enumerate(block[1]):
            placed[index] = _top(block, gap) + rank * gap
    return tuple(placed)


def _top(block: tuple[float, list[int]], gap: float) -> float:
    return block[0] - gap * (len(block[1]) - 1) / 2


def _bottom(block: tuple[float, list[int]], gap: float) -> float:
    return block[0] + gap * (len(block[1]) - 1) / 2
