"""What each experience turned out to be worth."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from memtrial.bench.report.charts import Interval, IntervalAxis
from memtrial.bench.report.palette import direction
from memtrial.bench.report.sections.case import LEARNER_WORDS, Case
from memtrial.bench.report.typography import counted, number, visible
from memtrial.trial import Value


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """One experience with its value; numbers in pp per month."""

    label: str
    known: str
    picture: Markup
    value: str
    sd: str
    tone: str
    n: str
    mean: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """Experiences from the most to the least valuable, and what to make of them."""

    rows: tuple[Ranked, ...]
    axis: Markup | str
    summary: str
    learner: str


def ranking(case: Case) -> Ranking:
    """Every measured experience by its posterior mean."""
    learner = case.decisions[-1].verdict.learner
    values = sorted(case.primary.values, key=lambda value: (-value.values[learner], value.id))
    intervals = [_interval(value.values[learner], value.sds[learner]) for value in values]
    axis = IntervalAxis(intervals, "pp per month")
    lines: list[Ranked] = []
    for value, interval in zip(values, intervals, strict=True):
        shown = case.experiences.get(value.id)
        lines.append(
            Ranked(
                label=case.labels.get(value.id, visible(value.id)),
                known="" if shown is None else shown.known_at.date().isoformat(),
                picture=axis.row(interval),
                value=number(interval.middle, 3, sign=True),
                sd=number(100 * value.sds[learner], 3),
                tone="" if interval.tone == "reference" else interval.tone,
                n=number(value.n, 0),
                mean=number(100 * value.mean, 3, sign=True),
                text="" if shown is None else visible(shown.text),
            )
        )
    return Ranking(
        rows=tuple(lines),
        axis=axis.heading() if values else "",
        summary=_summary(values, intervals),
        learner=LEARNER_WORDS[learner],
    )


def _interval(value: float, sd: float) -> Interval:
    tone = direction(value, least=sd) or "reference"
    return Interval(low=100 * (value - sd), middle=100 * value, high=100 * (value + sd), tone=tone)


def _summary(values: list[Value], intervals: list[Interval]) -> str:
    if not values:
        return "No experience has been measured yet: the first outcome is still to come, or no month could be measured."
    if all(interval.middle == 0.0 for interval in intervals):
        return (
            f"{counted(len(values), 'experience')} on trial, and all are worth the same: the fit explains every "
            "difference between them by noise."
        )
    helped = sum(interval.tone == "helped" for interval in intervals)
    hurt = sum(interval.tone == "hurt" for interval in intervals)
    return (
        f"{counted(len(values), 'experience')} on trial. {helped} stand above 0 and {hurt} below it by more than one "
        "posterior standard deviation. That alone is no evidence: whether such values hold on months they have not "
        "seen is what the trust test asks."
    )
