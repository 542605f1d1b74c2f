"""Beyond the paper: the two presets beside each other, the memories that turn, and one switch at a time."""

from __future__ import annotations

import math

import numpy as np
from markupsafe import Markup

from memtrial.bench.methods.configurations import SWITCHES
from memtrial.bench.planted.result import MethodFigures, TurnFigures
from memtrial.bench.report.charts import Interval, IntervalAxis
from memtrial.bench.report.evidence import Paired, half_width, paired
from memtrial.bench.report.palette import TONES
from memtrial.bench.report.planted.lookup import COLUMNS, GUARDED, OWN, REFERENCE, Run
from memtrial.bench.report.tables import Column, Row, Table
from memtrial.bench.report.typography import NBSP, UNKNOWN, number

PRESETS = (OWN, GUARDED)


def against(run: Run, ours: str, theirs: str, column: str) -> Paired | None:
    """Paired difference over worlds, pp per month."""
    gain = run.gain(ours, column, theirs)
    return None if gain is None else paired(gain, np.zeros_like(gain))


def presets_table(run: Run) -> Table | None:
    """Both presets over every regime that ran."""
    presets = [name for name in PRESETS if run.ran(name)]
    if not presets:
        return None
    both = len(presets) == 2
    apart = {each.regime.key: against(run, GUARDED, OWN, each.regime.key) for each in run.regimes()} if both else {}
    intervals = {key: _interval(found) for key, found in apart.items() if found and found.known}
    axis = IntervalAxis(list(intervals.values()), "pp per month") if intervals else None
    columns = [
        Column("Regime", numeric=False),
        Column("Reference", "%/month"),
    ]
    columns += [part for name in presets for part in _heads(_short(name))]
    if both:
        columns.append(Column("Guarded − paper", "pp/month"))
    if axis:
        columns.append(Column("95 % interval", axis.heading(), numeric=False))
    lines: list[Row] = []
    for each in run.regimes():
        key = each.regime.key
        cells: list[str | Markup] = [COLUMNS[key], number(each.reference.utility, 3)]
        for name in presets:
            cells += _preset(run, name, key)
        if both:
            cells.append(estimate(apart[key]))
        if axis:
            cells.append(axis.row(intervals[key]) if key in intervals else "")
        lines.append(Row(cells=tuple(cells)))
    return Table(
        caption="The paper's preset and the guarded one in every regime", columns=tuple(columns), rows=tuple(lines)
    )


def _heads(name: str) -> tuple[Column, ...]:
    return (
        Column(f"{name}: gain", "pp/month ± s.e."),
        Column("moved", "% of capital"),
        Column("ever full", "% of lanes"),
    )


def _preset(run: Run, name: str, key: str) -> list[str | Markup]:
    figures = run.figures(name, key)
    if figures is None:
        return [UNKNOWN] * 3
    return [
        estimate(against(run, name, REFERENCE, key), toned=True),
        number(figures.trust_rate_pct, 1),
        _ever(run, figures),
    ]


def _ever(run: Run, figures: MethodFigures) -> Markup:
    """``12.2 ± 2.7``, and ``15 of 123`` beneath."""
    share = number(figures.ever_trusted_pct, 1)
    if math.isfinite(figures.ever_trusted_se):
        share += f"{NBSP}±{NBSP}{number(figures.ever_trusted_se, 1)}"
    count = f"{round(figures.ever_trusted_pct / 100 * run.lanes)}{NBSP}of{NBSP}{run.lanes}"
    return Markup('{} <span class="under">{}</span>').format(share, count)


def turns_table(run: Run) -> Table | None:
    """What each preset did when the memories turned."""
    lines = [
        Row(
            cells=(f"{COLUMNS[each.regime.key]}: {_short(name)}", *_turned(each.turns[name])),
            tone=TONES.get(name, ""),
            kind="first" if name == OWN else "",
        )
        for each in run.regimes()
        for name in PRESETS
        if name in each.turns
    ]
    if not lines:
        return None
    columns = (
        Column("Regime and preset", numeric=False),
        Column("Trusted at the turn", "lanes"),
        Column("Until withdrawal", "months, mean"),
        Column("Never withdrew", "lanes"),
        Column("Lost until then", "pp, mean"),
        Column("Gain before", "pp/month ± s.e."),
        Column("1–24 months after", "pp/month ± s.e."),
        Column("25–60 months after", "pp/month ± s.e."),
    )
    return Table(caption="Memories that turn at test month 60", columns=columns, rows=tuple(lines))


def _turned(found: TurnFigures) -> tuple[str | Markup, ...]:
    stages = (
        (found.gain_before, found.gain_before_se),
        (found.gain_1_24, found.gain_1_24_se),
        (found.gain_25_60, found.gain_25_60_se),
    )
    return (
        f"{found.trusted}{NBSP}of{NBSP}{found.lanes}",
        number(found.months_to_withdrawal, 1),
        number(found.never_withdrew, 0),
        number(found.loss_pp, 2, sign=True),
        *(_plus(mean, se, toned=True) for mean, se in stages),
    )


def switches_table(run: Run) -> Table | None:
    """Utility of each switch minus that of the preset it changes, by regime."""
    ran = [name for name in SWITCHES if run.ran(name)]
    regimes = [each.regime.key for each in run.regimes()]
    if not ran:
        return None
    lines = [
        _switch(run, name, base, regimes) for name, base in ((GUARDED, OWN), *((name, base_of(name)) for name in ran))
    ]
    columns = (
        Column("Changed", numeric=False),
        Column("Against", numeric=False),
        *(Column(COLUMNS[key], "pp/month") for key in regimes),
    )
    return Table(
        caption="One switch at a time: difference to the preset it changes", columns=columns, rows=tuple(lines)
    )


def _switch(run: Run, name: str, base: str, regimes: list[str]) -> Row:
    cells = (_stacked(against(run, name, base, key)) for key in regimes)
    return Row(
        cells=(run.label(name), _short(base), *cells), kind="own" if name == GUARDED else "", tone=TONES.get(name, "")
    )


def false_trust_table(run: Run) -> Table | None:
    """How often each switch ever trusts memory that has nothing to tell."""
    keys = [key for key in ("no_influence", "noise_only") if key in run.main.regimes]
    names = [name for name in (*PRESETS, *SWITCHES) if run.ran(name)]
    if not keys or not names:
        return None
    lines = [
        Row(
            cells=(run.label(name), *(cell for key in keys for cell in _false(run, name, key))),
            tone=TONES.get(name, ""),
            kind="own" if name == GUARDED else "",
        )
        for name in names
    ]
    columns = (
        Column("Preset or switch", numeric=False),
        *(
            part
            for key in keys
            for part in (Column(f"{COLUMNS[key]}: moved", "% of capital"), Column("ever full", "% of lanes"))
        ),
    )
    return Table(caption="Memory without anything to tell", columns=columns, rows=tuple(lines))


def _false(run: Run, name: str, key: str) -> tuple[str | Markup, ...]:
    figures = run.figures(name, key)
    if figures is None:
        return UNKNOWN, UNKNOWN
    return number(figures.trust_rate_pct, 1), _ever(run, figures)


def estimate(found: Paired | None, *, toned: bool = False) -> str | Markup:
    """``+0.031 ± 0.012``, standard error over worlds; coloured when it is further than two of them from 0."""
    return UNKNOWN if found is None else _plus(found.mean, found.se, toned=toned)


def _plus(mean: float, se: float, *, toned: bool) -> str | Markup:
    words = number(mean, 3, sign=True)
    if not math.isfinite(se):
        return words
    words = f"{words}{NBSP}±{NBSP}{number(se, 3)}"
    clear = toned and abs(mean) > 2 * se and se > 0
    return Markup('<span class="{}">{}</span>').format("helped" if mean > 0 else "hurt", words) if clear else words


def _stacked(found: Paired | None) -> str | Markup:
    if found is None:
        return UNKNOWN
    tone = (
        ""
        if not (found.known and found.se > 0 and abs(found.mean) > 2 * found.se)
        else "helped"
        if found.mean > 0
        else "hurt"
    )
    under = Markup('<span class="under">±{}{}</span>').format(NBSP, number(found.se, 3)) if found.known else ""
    return Markup('<span class="{}">{}</span>{}').format(tone, number(found.mean, 3, sign=True), under)


def _interval(found: Paired) -> Interval:
    half = half_width(found.se * math.sqrt(found.n), found.n, 0.95)
    low, high = found.mean - half, found.mean + half
    return Interval(
        low=low, middle=found.mean, high=high, tone="helped" if low > 0 else "hurt" if high < 0 else "reference"
    )


def _short(name: str) -> str:
    return {OWN: "paper", GUARDED: "guarded", REFERENCE: "reference"}[name]


def base_of(name: str) -> str:
    return GUARDED if name.startswith("guarded_") else OWN
