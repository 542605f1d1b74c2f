"""Figure 6: gain over the reference, and trust, by regime."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.regimes import PAPER
from memtrial.bench.report.charts import Bar, BarChart, BarGroup
from memtrial.bench.report.evidence import Paired, half_width, paired
from memtrial.bench.report.palette import tone
from memtrial.bench.report.planted.lookup import COLUMNS, GUARDED, LINES, NAMES, NARROW_NAMES, OWN, REFERENCE, Run
from memtrial.bench.report.planted.published import printed
from memtrial.bench.report.tables import Column, Figure, Table, rows
from memtrial.bench.report.typography import counted, number

WHOLE = (0.0, 100.0)
"""A share in %."""


def by_regime(run: Run) -> tuple[Figure, ...]:
    """Gain over the reference, and trust rate, by regime."""
    return tuple(made for made in (_gains(run), _trusts(run)) if made)


def published_gain(method: str, regime: str) -> float | None:
    """Published utility minus that of the published reference, pp per month (Table D.14)."""
    theirs, base = printed("D.14", method, regime), printed("D.14", REFERENCE, regime)
    return theirs.mean - base.mean if theirs and base else None


def published_trust(method: str, regime: str) -> float | None:
    """Published trust rate, % of decisions (Table D.13)."""
    theirs = printed("D.13", method, regime)
    return theirs.mean if theirs else None


def _gains(run: Run) -> Figure | None:
    groups, body = _bars(LINES, run.gain, published_gain, 3, sign=True)
    if not groups:
        return None
    chart = BarChart(
        label="Gain over the reference by regime and method, pp per month.",
        groups=groups,
        x_title="gain over the reference (pp per month)",
        reference_label="reference",
        other_label="published (Table D.14)",
    )
    return Figure(
        id="figure-6-gain",
        title="What does memory earn over the reference? (Figure 6, top)",
        caption=f"Whiskers: 95 % interval over {counted(run.worlds, 'world')}, investors averaged first.",
        views=chart.views(),
        table=_table("Gain over the reference by regime", "Gain", "pp/month", body),
        wide=False,
    )


def _trusts(run: Run) -> Figure | None:
    groups, body = _bars((OWN, GUARDED), run.trust, published_trust, 1, limits=WHOLE)
    if not groups:
        return None
    chart = BarChart(
        label="Share of the capital moved by memory, by regime.",
        groups=groups,
        x_title="capital moved by memory (%)",
        other_label="published (Table D.13)",
        sign=False,
    )
    return Figure(
        id="figure-6-trust",
        title="How often is memory trusted? (Figure 6, bottom)",
        caption="memtrial: share of decisions on which it acts on its values. Guarded: mean share of the capital.",
        views=chart.views(),
        table=_table("Trust rate by regime", "Trust", "%", body),
        wide=False,
    )


def _bars(
    methods: Sequence[str],
    ours: Callable[[str, str], NDArray[np.float64] | None],
    theirs: Callable[[str, str], float | None],
    decimals: int,
    *,
    sign: bool = False,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[list[BarGroup], list[list[str]]]:
    """The bars of every regime that ran, and the rows of the table behind them."""
    groups: list[BarGroup] = []
    body: list[list[str]] = []
    for key in PAPER:
        bars: list[Bar] = []
        for name in methods:
            values, other = ours(name, key), theirs(name, key)
            if values is None:
                continue
            found = paired(values, np.zeros_like(values))
            bars.append(_bar(name, found, other, limits))
            mean, published = (number(value, decimals, sign=sign) for value in (found.mean, other))
            body.append([COLUMNS[key], NAMES[name], mean, number(found.se, decimals), published])
        if bars:
            groups.append(BarGroup(heading=COLUMNS[key], bars=bars))
    return groups, body


def _bar(name: str, found: Paired, other: float | None, limits: tuple[float, float]) -> Bar:
    half = half_width(found.se * math.sqrt(found.n), found.n, 0.95) if found.known else math.nan
    known = math.isfinite(half)
    return Bar(
        label=NARROW_NAMES[name],
        value=found.mean,
        tone=tone(name),
        low=max(found.mean - half, limits[0]) if known else None,
        high=min(found.mean + half, limits[1]) if known else None,
        other=other,
        strong=name in (OWN, GUARDED),
    )


def _table(caption: str, heading: str, unit: str, body: list[list[str]]) -> Table:
    columns = (
        Column("Regime", numeric=False),
        Column("Method", numeric=False),
        Column(heading, unit),
        Column("s.e.", "pp"),
        Column("Published", unit),
    )
    return Table(caption=caption, columns=columns, rows=rows(body))
