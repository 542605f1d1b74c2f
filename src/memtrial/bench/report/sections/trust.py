"""The verdict over time: forward scores, their interval, and the p-value of the trust test."""

from __future__ import annotations

import math
from typing import TypeAlias

from memtrial.bench.report.charts import Band, Line, LineChart
from memtrial.bench.report.evidence import half_width
from memtrial.bench.report.palette import direction
from memtrial.bench.report.sections.case import LEARNER_WORDS, Case
from memtrial.bench.report.tables import Column, Figure, Table, rows
from memtrial.bench.report.typography import UNKNOWN, counted, number, p_equals, percent
from memtrial.records import Decision, Outcome

Edge: TypeAlias = tuple[float | None, float | None]
FLOOR = 1e-4
"""Below this a p-value leaves the chart: nobody needs to see how far."""


def trust_figures(case: Case) -> tuple[Figure, Figure]:
    """The mean forward score with its interval, and the p-value with its threshold."""
    return _scores(case), _p_values(case)


def has_scores(case: Case) -> bool:
    """Whether anything was ever scored."""
    return any(decision.verdict.n_scores > 0 for decision in case.decisions)


def _scores(case: Case) -> Figure:
    verdicts = [decision.verdict for decision in case.decisions]
    level = 1 - 2 * case.alpha
    means = [verdict.mean_score if verdict.n_scores else None for verdict in verdicts]
    halves = [half_width(verdict.sd_score, verdict.n_scores, level) for verdict in verdicts]
    edges: list[Edge] = [
        (mean - half, mean + half) if mean is not None and math.isfinite(half) else (None, None)
        for mean, half in zip(means, halves, strict=True)
    ]
    dots = [
        (score, direction(score)) if (score := outcome.scores.get(verdict.learner)) is not None else (None, "")
        for verdict, outcome in zip(verdicts, case.outcomes, strict=True)
    ]
    interval = f"{percent(level, 0)} % interval"
    chart = LineChart(
        label="Running mean of the forward scores with its interval, and the score of each month.",
        days=case.result.days,
        lines=(Line(label="mean score", short="mean", values=means, tone="tone-1", strong=True),),
        bands=(Band(low=[low for low, _ in edges], high=[high for _, high in edges], tone="tone-1"),),
        dots=tuple(dots),
        y_title=f"forward score (correlation, −1 to +1), {interval}",
        x_title="decision day",
        reference=0.0,
        reference_label="no skill",
        phases=case.result.falling,
        phases_label="equities falling",
        marks=case.trusted,
        marks_label="trusted",
        y_range=(-1.05, 1.05),
    )
    return Figure(
        id="forward-scores",
        title="Did the values predict months they had not seen?",
        caption=_caption(interval, verdicts[-1].min_scores, sum(score is None for score, _ in dots)),
        views=chart.views(),
        table=_table(case, edges, interval),
    )


def _caption(interval: str, least: int, unscored: int) -> str:
    missing = (
        f" {counted(unscored, 'month')} {'has' if unscored == 1 else 'have'} no score: the values said the same of "
        "every experience shown, or the drafts earned the same, and then nothing is ranked."
        if unscored
        else ""
    )
    return (
        "Line: mean of the forward scores known on each decision day. Dots: each month's own score, the correlation of "
        "the values predicted before the outcome with the contributions measured after it (blue: ranked right, orange: "
        f"ranked wrong). Band: {interval} of the mean; trust needs its lower edge above 0 and at least "
        f"{counted(least, 'score')}.{missing}"
    )


def _p_values(case: Case) -> Figure:
    verdicts = [decision.verdict for decision in case.decisions]
    known = [verdict.p_value if verdict.n_scores >= 2 else None for verdict in verdicts]
    measured = [p for p in known if p is not None]
    last = measured[-1] if measured else math.nan
    chart = LineChart(
        label=f"p-value of the trust test on each decision day; the threshold is {case.alpha:g}.",
        days=case.result.days,
        lines=(Line(label=p_equals(last), values=known, tone="tone-1", strong=True, show_last=False),),
        y_title="p-value, one-sided (log scale)",
        x_title="decision day",
        reference=case.alpha,
        reference_label=f"needs p < {case.alpha:g}",
        phases=case.result.falling,
        marks=case.trusted,
        marks_label="trusted",
        y_range=(max(min([*measured, case.alpha / 5]), FLOOR), 1.0),
        log=True,
        sign=False,
    )
    return Figure(
        id="p-values",
        title="Was that more than chance?",
        caption=(
            "One-sided t-test of the mean forward score on each decision day. The level holds for one test; it is "
            "applied every month, so a single month just below the line is weak evidence."
        ),
        views=chart.views(),
        table=_table(case, [(None, None)] * len(verdicts), ""),
    )


def _table(case: Case, edges: list[Edge], interval: str) -> Table:
    shown = (Column("Low", interval), Column("High", interval)) if interval else ()
    lines = (
        _row(decision, outcome, edge if interval else ())
        for (decision, outcome), edge in zip(case.pairs, edges, strict=True)
    )
    return Table(
        caption="The trust test on each decision day",
        columns=(
            Column("Day", numeric=False),
            Column("Scores", "n"),
            Column("Mean score"),
            *shown,
            Column("p", "one-sided"),
            Column("This month's score"),
            Column("Values", numeric=False),
            Column("Verdict", numeric=False),
        ),
        rows=rows(lines),
    )


def _row(decision: Decision, outcome: Outcome, edge: tuple[float | None, ...]) -> tuple[str, ...]:
    verdict = decision.verdict
    return (
        decision.decided_at.date().isoformat(),
        number(verdict.n_scores, 0),
        number(verdict.mean_score, 2, sign=True),
        *(number(end, 2, sign=True) for end in edge),
        number(verdict.p_value, 3) if verdict.n_scores >= 2 else UNKNOWN,
        number(outcome.scores.get(verdict.learner), 2, sign=True),
        LEARNER_WORDS[verdict.learner],
        "trusted" if verdict.trusted else "not trusted",
    )
