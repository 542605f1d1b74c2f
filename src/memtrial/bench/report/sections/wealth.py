"""Wealth relative to the reference, per investor."""

from __future__ import annotations

from bisect import bisect_left
from datetime import date

from memtrial.bench.classalloc.result import InvestorResult, MethodResult
from memtrial.bench.report.charts import NARROW, Line, LineChart, Size, padded
from memtrial.bench.report.palette import SHORT, tone
from memtrial.bench.report.sections.case import PRESETS, REFERENCE, SHADOW, Case
from memtrial.bench.report.tables import Column, Figure, Table, rows
from memtrial.bench.report.typography import counted, listed, number, visible
from memtrial.portfolio import relative

HALF = Size("middle", 540, 320, narrow=True)
NAMES = {**SHORT, "memtrial": "paper"}
OUTLIER = 2.5
"""A line this many times further from 1/N than all others would flatten them: it leaves the frame instead."""


def wealth_figures(case: Case) -> tuple[Figure, ...]:
    """The investor in front, wide; the others, small, on the same scale."""
    names = [case.name, *(name for name in case.result.investors if name != case.name)]
    series = {name: _series(case, case.result.investors[name]) for name in names}
    series = {name: lines for name, lines in series.items() if lines}
    scale = _scale([line for lines in series.values() for line in lines])
    return tuple(_figure(case, name, lines, scale, wide=name == case.name) for name, lines in series.items())


def _figure(case: Case, name: str, lines: tuple[Line, ...], scale: tuple[float, float], *, wide: bool) -> Figure:
    days = _days(case)
    ends = listed(f"{line.label} {number(line.values[-1], 1, sign=True)} %" for line in lines)
    chart = LineChart(
        label=f"Wealth relative to 1/N, {name} investor, at the end: {ends}.",
        days=days,
        lines=lines,
        y_title="% ahead of 1/N",
        x_title="decision day",
        reference=0.0,
        reference_label="1/N",
        phases=case.result.falling,
        phases_label="equities falling",
        y_range=scale,
        decimals=1,
    )
    table = Table(
        caption=f"Wealth relative to 1/N in %, {name} investor, at the close of each decision day",
        columns=(Column("Day", numeric=False), *(Column(line.label, "%") for line in lines)),
        rows=rows(
            (day.isoformat(), *(number(line.values[row], 2, sign=True) for line in lines))
            for row, day in enumerate(days)
        ),
    )
    return Figure(
        id=f"wealth-{name}",
        title="Who ended ahead of 1/N, and when?" if wide else f"The same for the {name} investor",
        caption=_caption(case, name, lines, scale) if wide else "",
        views=chart.views() if wide else chart.views(HALF, NARROW),
        table=table,
        wide=wide,
    )


def _scale(lines: list[Line]) -> tuple[float, float]:
    """One scale for all charts, from the lines that are of a size."""
    reach = {id(line): max(abs(value) for value in line.values if value is not None) for line in lines}
    ordered = sorted(lines, key=lambda line: reach[id(line)])
    while len(ordered) > 1 and _outlies(ordered, reach):
        ordered.pop()
    return padded([value for line in ordered for value in line.values if value is not None], include=(0.0,))


def _outlies(ordered: list[Line], reach: dict[int, float]) -> bool:
    """Whether the furthest line and its like (one method has a line per investor) are far from all others."""
    furthest = ordered[-1]
    others = [reach[id(line)] for line in ordered if line.label != furthest.label]
    return bool(others) and reach[id(furthest)] > OUTLIER * max(others)


def _caption(case: Case, name: str, lines: tuple[Line, ...], scale: tuple[float, float]) -> str:
    words = f"Wealth after costs over that of 1/N, {name} investor."
    if case.result.falling:
        words += f" Shaded: {counted(len(case.result.falling), 'phase')} in which equities lost 5 % or more."
    else:
        words += " Equities had no phase in which they lost 5 % or more."
    methods = case.result.investors[name].methods
    for hidden, drawn in _twins(case, case.result.investors[name]).items():
        words += f" {visible(methods[hidden].label)} held the same as {visible(methods[drawn].label)}: one line."
    if any(not scale[0] <= value <= scale[1] for line in lines for value in line.values if value is not None):
        words += " A line that would flatten all others is cut at the frame (↓ or ↑ before its name)."
    return words


def _days(case: Case) -> tuple[date, ...]:
    """Every decision day, and the last day of all."""
    return (*case.result.days, case.result.wealth_dates[-1])


def _series(case: Case, investor: InvestorResult) -> tuple[Line, ...]:
    reference = investor.methods.get(REFERENCE)
    if reference is None:
        return ()
    at = [bisect_left(case.result.wealth_dates, day) for day in _days(case)]
    return tuple(
        _line(name, method, reference, at, strong=name == case.own)
        for name, method in investor.methods.items()
        if name != REFERENCE and name not in _twins(case, investor)
    )


def _line(name: str, method: MethodResult, reference: MethodResult, at: list[int], *, strong: bool) -> Line:
    ahead = 100 * (relative(method.wealth, reference.wealth) - 1)
    return Line(
        label=visible(method.label),
        short=NAMES.get(name, ""),
        values=[float(ahead[row]) for row in at],
        tone=tone(name),
        strong=strong,
        dashed=name == SHADOW,
    )


def _twins(case: Case, investor: InvestorResult) -> dict[str, str]:
    """Versions of memtrial that held what another one held, with that other: one line is enough for both."""
    versions = [name for name in dict.fromkeys((case.own, *PRESETS, SHADOW)) if name in investor.methods]
    found: dict[str, str] = {}
    for place, name in enumerate(versions):
        wealth = investor.methods[name].wealth
        drawn = [other for other in versions[:place] if investor.methods[other].wealth == wealth]
        if drawn:
            found[name] = drawn[0]
    return found
