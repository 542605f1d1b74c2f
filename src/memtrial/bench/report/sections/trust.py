"""The verdict over time: forward scores, and what trust is made of, the purse's wealth or the test's p-value."""

from __future__ import annotations

import math
from typing import TypeAlias

from memtrial.bench.report.charts import Band, Line, LineChart
from memtrial.bench.report.evidence import half_width
from memtrial.bench.report.palette import direction, tone
from memtrial.bench.report.sections.case import Case, learner_words
from memtrial.bench.report.tables import Column, Figure, Table, rows
from memtrial.bench.report.typography import UNKNOWN, counted, number, p_equals, percent
from memtrial.records import Decision, Outcome, Verdict

Edge: TypeAlias = tuple[float | None, float | None]
FLOOR = 1e-4
"""Below this a p-value leaves the chart: nobody needs to see how far."""


def trust_figures(case: Case) -> tuple[Figure, Figure]:
    """The mean forward score with its interval; then the purse with its marks, or the p-value with its threshold."""
    return _scores(case), _wealth(case) if case.purse else _p_values(case)


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
        lines=(Line(label="mean score", short="mean", values=means, tone=tone(case.own), strong=True),),
        bands=(Band(low=[low for low, _ in edges], high=[high for _, high in edges], tone=tone(case.own)),),
        dots=tuple(dots),
        y_title=f"forward score (correlation, −1 to +1), {interval}",
        x_title="decision day",
        reference=0.0,
        reference_label="no skill",
        phases=case.result.falling,
        phases_label="equities falling",
        marks=case.trusted,
        marks_label=_mark(case),
        y_range=(-1.05, 1.05),
    )
    return Figure(
        id="forward-scores",
        title="Did the values predict months they had not seen?",
        caption=_caption(case, interval, sum(score is None for score, _ in dots)),
        views=chart.views(),
        table=_table(case, edges, interval),
    )


def _mark(case: Case) -> str:
    return "full trust" if case.purse else "trusted"


def _caption(case: Case, interval: str, unscored: int) -> str:
    missing = (
        f" {counted(unscored, 'month')} {'has' if unscored == 1 else 'have'} no score: the values said the same of "
        "every experience shown, or the drafts earned the same, and then nothing is ranked."
        if unscored
        else ""
    )
    least = case.decisions[-1].verdict.min_scores
    needs = (
        "the purse bets on each dot"
        if case.purse
        else f"trust needs its lower edge above 0 and at least {counted(least, 'score')}"
    )
    return (
        "Line: mean of the forward scores known on each decision day. Dots: each month's own score, the correlation of "
        "the values predicted before the outcome with the contributions measured after it (blue: ranked right, orange: "
        f"ranked wrong). Band: {interval} of the mean; {needs}.{missing}"
    )


def _p_values(case: Case) -> Figure:
    verdicts = [decision.verdict for decision in case.decisions]
    known = [verdict.p_value if verdict.n_scores >= 2 else None for verdict in verdicts]
    measured = [p for p in known if p is not None]
    last = measured[-1] if measured else math.nan
    chart = LineChart(
        label=f"p-value of the trust test on each decision day; the threshold is {case.alpha:g}.",
        days=case.result.days,
        lines=(Line(label=p_equals(last), values=known, tone=tone(case.own), strong=True, show_last=False),),
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


def _wealth(case: Case) -> Figure:
    verdicts = [decision.verdict for decision in case.decisions]
    wealth = [verdict.wealth for verdict in verdicts]
    full = 1 / case.alpha
    chart = LineChart(
        label=f"What the purse turned 1 into, by decision day; {full:g} is full trust.",
        days=case.result.days,
        lines=(
            Line(
                label=f"{full:g} full trust",
                values=[full] * len(wealth),
                tone="reference",
                dashed=True,
                show_last=False,
            ),
            Line(label="purse", values=wealth, tone=tone(case.own), strong=True),
        ),
        y_title="wealth from 1 (log scale)",
        x_title="decision day",
        reference=1.0,
        reference_label="1 at the start",
        phases=case.result.falling,
        phases_label="equities falling",
        marks=case.trusted,
        marks_label=_mark(case),
        y_range=(min(0.5, *wealth) * 0.9, max(full, *wealth) * 1.25),
        log=True,
        sign=False,
    )
    return Figure(
        id="purse",
        title="What have bets on unseen months earned?",
        caption=(
            "A purse that starts with 1 bets on the forward score of every month. Memory moves the wealth times "
            f"{percent(case.alpha, 0)} % of the capital, all of it from {full:g} on, and nothing where no draft is "
            f"valued above 0 or the veto refuses. Without skill the wealth is expected to stay at most 1, and reaches "
            f"{full:g} with a chance of at most {percent(case.alpha, 0)} %, whenever one looks."
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
        caption="The purse on each decision day" if case.purse else "The trust test on each decision day",
        columns=(
            Column("Day", numeric=False),
            Column("Scores", "n"),
            Column("Mean score"),
            *shown,
            *((Column("Wealth"), Column("Weight", "% of capital")) if case.purse else (Column("p", "one-sided"),)),
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
        *_evidence(verdict),
        number(outcome.scores.get(verdict.learner), 2, sign=True),
        learner_words(verdict.learner),
        _said(verdict),
    )


def _evidence(verdict: Verdict) -> tuple[str, ...]:
    if verdict.rule == "purse":
        return number(verdict.wealth, 2), percent(verdict.weight, 1)
    return (number(verdict.p_value, 3) if verdict.n_scores >= 2 else UNKNOWN,)


def _said(verdict: Verdict) -> str:
    if verdict.trusted:
        return "trusted"
    if verdict.weight > 0:
        return "trusted in part"
    return "vetoed" if verdict.vetoed else "not trusted"
