"""Figure 5: do the values find the useful memories? And how fast is memory trusted?"""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.report.charts import Band, Line, LineChart
from memtrial.bench.report.evidence import student_quantile
from memtrial.bench.report.palette import tone
from memtrial.bench.report.planted.lookup import COLUMNS, GUARDED, LINES, NAMES, NARROW_NAMES, OWN, Run
from memtrial.bench.report.planted.published import plotted
from memtrial.bench.report.tables import Column, Figure, Table, rows
from memtrial.bench.report.typography import counted, number

YEARS = tuple(date(2016 + year, 3, 31) for year in range(1, 11))
"""Ends of the ten test years."""


def learning_curves(run: Run) -> tuple[Figure, ...]:
    """Figure 5: rank correlation of the values with the planted quality over the ten test years."""
    return tuple(made for regime in ("beta_0.25", "informative", "beta_0.5") if (made := _curve(run, regime)))


def _curve(run: Run, regime: str) -> Figure | None:
    found = run.main.regimes.get(regime)
    known = {name: found.rank_correlation[name] for name in LINES if found and name in found.rank_correlation}
    if found is None or not known:
        return None
    hollow = tuple(
        (0 if year == "year_1" else 9, value, tone(name))
        for name in known
        for year, value in plotted("5", regime, name).items()
    )
    chart = LineChart(
        label=f"Rank correlation between values and planted quality by test year, {found.regime.label}.",
        days=YEARS,
        lines=tuple(_line(name, values) for name, values in known.items()),
        bands=tuple(_band(name, values, found.rank_correlation_se[name], run.worlds) for name, values in known.items()),
        y_title="rank correlation with the planted quality (−1 to +1)",
        x_title="end of test year",
        reference=0.0,
        reference_label="no skill",
        hollow=hollow,
    )
    columns = (Column("End of year", numeric=False), *(Column(NAMES[name]) for name in known))
    body = [
        [f"{year} ({day:%Y-%m})", *(number(float(values[year - 1]), 2, sign=True) for values in known.values())]
        for year, day in enumerate(YEARS, 1)
    ]
    return Figure(
        id=f"figure-5-{regime.replace('.', '-').replace('_', '-')}",
        title=f"Do the values find the useful memories? {found.regime.label} (Figure 5)",
        caption="Spearman correlation between the values and the planted quality of all experiences, balanced "
        f"investor, mean over {counted(run.worlds, 'world')} with its 95 % band. Hollow: where the paper's "
        "lines begin and end; in which month they begin is not said.",
        views=chart.views(),
        table=Table(caption=f"Rank correlation by test year, {found.regime.label}", columns=columns, rows=rows(body)),
        wide=False,
    )


def trust_over_years(run: Run) -> tuple[Figure, ...]:
    """Share of the capital given to memory by test year: where it helps, and where it turns."""
    return tuple(made for regime in ("beta_0.25", "swap_0.5") if (made := _years(run, regime)))


QUESTIONS = {
    "beta_0.25": "How fast is memory trusted where it helps?",
    "swap_0.5": "How fast is trust withdrawn when memory turns?",
}


def _years(run: Run, regime: str) -> Figure | None:
    figures = {name: each for name in (OWN, GUARDED) if (each := run.figures(name, regime))}
    if not figures:
        return None
    found = {name: each.trust_rate_by_year for name, each in figures.items()}
    quiet = {name: each.trust_rate_by_year for name in found if (each := run.figures(name, "noise_only"))}
    label = COLUMNS[regime]
    lines = [_line(name, values) for name, values in found.items()]
    lines += [_line(name, values, f"{NARROW_NAMES[name]}, noise", dashed=True) for name, values in quiet.items()]
    known = plotted("5_trust_rate_pct", regime, OWN) if OWN in found else {}
    chart = LineChart(
        label=f"Share of the capital moved by memory in each test year, {label}.",
        days=YEARS,
        lines=tuple(lines),
        bands=tuple(
            _band(name, each.trust_rate_by_year, each.trust_rate_by_year_se, run.worlds)
            for name, each in figures.items()
        ),
        y_title="capital moved by memory (%)",
        x_title="end of test year",
        hollow=tuple((0 if year == "year_1" else 9, value, tone(OWN)) for year, value in known.items()),
        decimals=0,
        sign=False,
        y_range=(0.0, 100.0),
    )
    columns = (Column("Test year", numeric=False), *(Column(line.label, "%") for line in lines))
    body = [[f"{year}", *(number(line.values[year - 1], 1) for line in lines)] for year in range(1, 11)]
    marks = (
        " Hollow: the paper's first and tenth year, balanced investor alone."
        if known
        else " The memories turn at the start of year 6."
    )
    return Figure(
        id=f"figure-trust-{regime.replace('.', '-').replace('_', '-')}",
        title=f"{QUESTIONS[regime]} {label}",
        caption=f"Mean share of the capital by test year, {counted(run.lanes, 'lane')}, with its 95 % band; dashed: "
        f"noise only.{marks}",
        views=chart.views(),
        table=Table(caption=f"Share of capital moved by memory, {label}", columns=columns, rows=rows(body)),
        wide=False,
    )


def _band(name: str, values: NDArray[np.float64], se: NDArray[np.float64], worlds: int) -> Band:
    """95 % interval of the mean over worlds; nothing for one world."""
    far = student_quantile(worlds - 1, 0.975) if worlds > 1 else np.nan
    low, high = values - far * se, values + far * se
    known = np.isfinite(low) & np.isfinite(high)
    return Band(
        low=[float(value) if there else None for value, there in zip(low, known, strict=True)],
        high=[float(value) if there else None for value, there in zip(high, known, strict=True)],
        tone=tone(name),
    )


def _line(name: str, values: NDArray[np.float64], label: str = "", *, dashed: bool = False) -> Line:
    return Line(
        label=label or NAMES[name],
        short=label or NARROW_NAMES[name],
        values=[float(value) for value in values],
        tone=tone(name),
        strong=name in (OWN, GUARDED) and not dashed,
        dashed=dashed,
    )
