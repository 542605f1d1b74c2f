"""Outcome credit against contribution, each against the market (paper, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.report.charts import Scatter
from memtrial.bench.report.evidence import spearman_interval
from memtrial.bench.report.sections.case import Case
from memtrial.bench.report.tables import Column, Figure, Row, Table, rows
from memtrial.bench.report.typography import MINUS, UNKNOWN, counted, number

PAPER = (
    ("PortBench-Full", "+0.91", "+0.04", "+0.11"),
    ("PortBench-Raw", "+0.92", "+0.03", "+0.04"),
    ("InvestorBench", "+0.95", f"{MINUS}0.07", f"{MINUS}0.03"),
    ("ClassAlloc, gpt-4.1-mini", "+0.97", "+0.02", "+0.02"),
)
"""Table 1 of *MemTrial: Learning When to Trust Memory in LLM Portfolio Agents*, means over three seeds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Credit:
    """Three scatter plots and the table of correlations; no figures without points."""

    figures: tuple[Figure, ...]
    table: Table
    summary: str


def credit(case: Case) -> Credit:
    """Table 1 on this run."""
    found = case.result.credit
    points: NDArray[np.float64] = np.array(found.points, dtype=np.float64).reshape(-1, 3)
    dates, names = _points(case, len(points))
    return Credit(
        figures=_figures(points, dates, names) if len(points) else (),
        table=_table(case, points, dates),
        summary=_summary(case),
    )


def _points(case: Case, count: int) -> tuple[list[str], list[str]]:
    """Date and experience of each point, in the order in which the run measured them."""
    dates: list[str] = []
    names: list[str] = []
    for decision, outcome in case.pairs:
        if outcome.contributions is not None:
            for experience in decision.recall.experiences:
                dates.append(decision.decided_at.date().isoformat())
                names.append(case.labels[experience.id])
    if len(dates) != count:
        return [str(row + 1) for row in range(count)], [UNKNOWN] * count
    return dates, names


def _figures(points: NDArray[np.float64], dates: list[str], names: list[str]) -> tuple[Figure, ...]:
    earned, effect, market = (100 * points).T.tolist()
    table = _points_table(points, dates, names)
    plans = (
        ("credit-market", "Does outcome credit follow the market?", market, earned, "1/N utility, %", "credit, %"),
        ("contribution-market", "Does the contribution?", market, effect, "1/N utility, %", "contribution, pp"),
        (
            "credit-contribution",
            "Does credit tell what memory changed?",
            effect,
            earned,
            "contribution, pp",
            "credit, %",
        ),
    )
    return tuple(
        Figure(
            id=key,
            title=title,
            views=(
                Scatter(label=f"{title} {y_title} over {x_title}.", x=x, y=y, x_title=x_title, y_title=y_title).view(),
            ),
            table=table,
            wide=False,
        )
        for key, title, x, y, x_title, y_title in plans
    )


def _points_table(points: NDArray[np.float64], dates: list[str], names: list[str]) -> Table:
    return Table(
        caption="Outcome credit, contribution and the market, per recalled experience and month",
        columns=(
            Column("Day", numeric=False),
            Column("Experience", numeric=False),
            Column("Outcome credit", "%"),
            Column("Contribution", "pp"),
            Column("1/N", "%"),
        ),
        rows=rows(
            (day, name, *(number(100 * value, 2, sign=True) for value in point))
            for day, name, point in zip(dates, names, points.tolist(), strict=True)
        ),
    )


def _table(case: Case, points: NDArray[np.float64], dates: list[str]) -> Table:
    found = case.result.credit
    order = {day: row for row, day in enumerate(dict.fromkeys(dates))}
    which = [order[day] for day in dates]
    ours: list[str] = []
    for rho, first, second in (
        (found.outcome_credit_vs_market, 0, 2),
        (found.contribution_vs_market, 1, 2),
        (found.outcome_credit_vs_contribution, 0, 1),
    ):
        interval = spearman_interval(points[:, first], points[:, second], which) if len(points) else None
        ends = "" if interval is None else f"{number(interval[0], 2, sign=True)} to {number(interval[1], 2, sign=True)}"
        ours += [number(rho, 2, sign=True), ends or UNKNOWN]
    lines = [Row(cells=("This run", *ours, number(found.n, 0)), kind="own")]
    for name, *correlations in PAPER:
        cells = [cell for rho in correlations for cell in (rho, UNKNOWN)]
        lines.append(Row(cells=(f"Paper: {name}", *cells, UNKNOWN), kind="reference"))
    pairs = ("Credit, market", "Contribution, market", "Credit, contribution")
    return Table(
        caption="Spearman correlations, this run beside the paper's Table 1",
        columns=(
            Column("Benchmark", numeric=False),
            *(column for pair in pairs for column in (Column(pair, "ρ"), Column("95 %", "interval"))),
            Column("Pairs", "n"),
        ),
        rows=tuple(lines),
        titled=True,
        note=(
            "Intervals resample whole months, because the experiences of one month share its market. The paper's rows "
            "are means over three seeds of gpt-4.1-mini (Table 1); it gives no interval over months and no n of pairs."
        ),
    )


def _summary(case: Case) -> str:
    found = case.result.credit
    if found.n < 3:
        return "Too few measured months to correlate anything yet."
    credit_rho = number(found.outcome_credit_vs_market, 2, sign=True)
    effect_rho = number(found.contribution_vs_market, 2, sign=True)
    words = (
        f"Over {counted(found.n, 'pair')} of a month and a recalled experience, outcome credit (the mean utility of "
        f"the drafts that used an experience) goes with the market at ρ = {credit_rho}; the contribution (that mean "
        f"minus the mean of the drafts without it) at ρ = {effect_rho}."
    )
    # Said only where the data say it: credit must follow the market closely, the contribution hardly.
    if found.outcome_credit_vs_market > 0.5 > 2 * abs(found.contribution_vs_market):
        words += " An agent that learns from outcome credit learns which months were good, not which experiences were."
    return words
