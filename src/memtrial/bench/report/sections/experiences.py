"""What each experience turned out to be worth."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from memtrial.bench.report.charts import Interval, IntervalAxis
from memtrial.bench.report.palette import direction
from memtrial.bench.report.sections.case import Case, learner_words
from memtrial.bench.report.typography import NBSP, counted, number, visible
from memtrial.trial import Standing, Value


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
    standing: str
    standing_tone: str
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
                standing=_standing_words(case.standings.get(value.id)),
                standing_tone=_standing_tone(case.standings.get(value.id)),
                text="" if shown is None else visible(shown.text),
            )
        )
    return Ranking(
        rows=tuple(lines),
        axis=axis.heading() if values else "",
        summary=" ".join(words for words in (_summary(values, intervals, case), _judged(case)) if words),
        learner=learner_words(learner),
    )


def _interval(value: float, sd: float) -> Interval:
    tone = direction(value, least=sd) or "reference"
    return Interval(low=100 * (value - sd), middle=100 * value, high=100 * (value + sd), tone=tone)


def _standing_words(standing: Standing | None) -> str:
    verdict = "not known" if standing is None else standing.verdict
    retire = standing is not None and standing.retire
    return f"{verdict.replace(' ', NBSP)}{f', proposed{NBSP}for retirement' if retire else ''}"


def _standing_tone(standing: Standing | None) -> str:
    return {"helps": "helped", "harms": "hurt"}.get(standing.verdict, "") if standing else ""


def _judged(case: Case) -> str:
    """How many memories have a verdict of their own."""
    judged = list(case.standings.values())
    if not judged:
        return ""
    helps, harms, open_ = (
        sum(item.verdict == verdict for item in judged) for verdict in ("helps", "harms", "not known")
    )
    retire = " (proposed for retirement)" if harms else ""
    return (
        f"Of {counted(len(judged), 'measured memory', 'measured memories')} {helps} {'was' if helps == 1 else 'were'} "
        f"shown to help and {harms} to harm{retire}; {open_} {'is' if open_ == 1 else 'are'} not known."
    )


def _summary(values: list[Value], intervals: list[Interval], case: Case) -> str:
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
        f"seen is what the {'purse bets on' if case.purse else 'trust test asks'}."
    )
