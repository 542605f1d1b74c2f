"""Every decision opened whole, as in the paper's Table E.1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from memtrial.bench.report.palette import direction
from memtrial.bench.report.sections.case import (
    LEARNER_WORDS,
    REFERENCE,
    Case,
    blend_utility,
    favourite,
)
from memtrial.bench.report.tables import Column, Row, Table
from memtrial.bench.report.typography import (
    UNKNOWN,
    counted,
    iso,
    listed,
    number,
    p_equals,
    percent,
    sentence,
    visible,
)
from memtrial.records import Decision, Draft, Outcome, Usage, Weights


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One recalled experience on one date; contribution and value in pp."""

    label: str
    similarity: str
    contribution: str
    contribution_tone: str
    value: str
    value_tone: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """One decision, whole."""

    id: str
    day: str
    trusted: bool
    line: str
    verdict: tuple[str, ...]
    drafts: Table
    experiences: tuple[Shown, ...]
    situation: str
    state_text: str
    receipt: tuple[tuple[str, str], ...]


def opened(case: Case) -> tuple[Opened, ...]:
    """Every decision of the investor in front."""
    return tuple(_opened(case, row) for row in range(case.months))


def _opened(case: Case, row: int) -> Opened:
    decision, outcome = case.pairs[row]
    verdict = decision.verdict
    held = "trusted" if verdict.trusted else f"anchored, q = {number(verdict.reference_weight, 3)}"
    return Opened(
        id=decision.id,
        day=decision.decided_at.date().isoformat(),
        trusted=verdict.trusted,
        line=f"{held}, utility {percent(outcome.utility, 2, sign=True)} %",
        verdict=tuple(_verdict(case, decision, outcome)),
        drafts=_drafts(case, row),
        experiences=tuple(_experiences(case, decision, outcome)),
        situation=visible(decision.situation),
        state_text=decision.state_text,
        receipt=_receipt(decision),
    )


def _verdict(case: Case, decision: Decision, outcome: Outcome) -> Iterator[str]:
    verdict = decision.verdict
    yield sentence(visible(verdict.reason))
    if verdict.n_scores >= 2 and not verdict.trusted:
        yield (
            f"By then {counted(verdict.n_scores, 'forward score')} had a mean of "
            f"{number(verdict.mean_score, 2, sign=True)} ({p_equals(verdict.p_value)}; needs p < {verdict.alpha:g}); "
            f"the values are {LEARNER_WORDS[verdict.learner]}."
        )
    if verdict.trusted:
        yield f"Memory chose the draft shown {case.subset(decision, verdict.subset)}, and it was held."
    elif decision.mean_draft is not None:
        q = verdict.reference_weight
        yield f"Held: {percent(q, 1)} % {REFERENCE} and {percent(1 - q, 1)} % the average draft."
    earned = favourite(decision, outcome)
    anchored = blend_utility(outcome, verdict.reference_weight)
    if verdict.total > 0 and earned is not None and anchored is not None:
        change = f"{number(abs(100 * (earned - anchored)), 2)} pp {'more' if earned > anchored else 'less'}"
        would = "earned" if verdict.trusted else "would have earned"
        yield f"Memory's favourite ({case.subset(decision, verdict.subset)}) {would} {change} than the anchored blend."
    if outcome.contributions is None:
        yield "What each experience changed is not known: too few drafts were valid to tell them apart."


def _drafts(case: Case, row: int) -> Table:
    decision = case.decisions[row]
    names = decision.assets
    columns = (
        Column("Draft shown", numeric=False),
        *(Column(visible(name).replace("_", " ").capitalize(), "%") for name in names),
        Column("Predicted", "pp"),
        Column("Utility", "%"),
        Column("The model's reason", numeric=False),
    )
    return Table(
        caption=f"Drafts of {decision.decided_at:%Y-%m-%d}, after the mandate",
        columns=columns,
        rows=(*_draft_rows(case, row), *_closing_rows(case, row)),
    )


def _draft_rows(case: Case, row: int) -> Iterator[Row]:
    decision, outcome = case.pairs[row]
    verdict = decision.verdict
    values = verdict.values[verdict.learner]
    for draft, held, earned in zip(decision.drafts, decision.projected, outcome.draft_utilities, strict=True):
        chosen = draft.subset == verdict.subset and verdict.total > 0
        tag = "deployed" if chosen and verdict.trusted else "memory's favourite" if chosen else ""
        total = sum(values[rank] for rank in draft.subset)
        yield Row(
            cells=(
                _named(case.subset(decision, draft.subset), tag),
                *_weights(held, len(decision.assets)),
                percent(total, 3, sign=True),
                percent(earned, 2, sign=True),
                _reason(draft, held),
            ),
            kind="own" if tag == "deployed" else "",
        )


def _closing_rows(case: Case, row: int) -> Iterator[Row]:
    """The average draft, the blend, the reference, and what the market did."""
    decision, outcome = case.pairs[row]
    verdict, count = decision.verdict, len(decision.assets)
    if decision.mean_draft is not None:
        q = verdict.reference_weight
        mixed = tuple(q * a + (1 - q) * b for a, b in zip(decision.reference, decision.mean_draft, strict=True))
        anchored = blend_utility(outcome, q) if verdict.trusted else outcome.utility
        cells = _weights(decision.mean_draft, count)
        yield Row(cells=("average draft", *cells, "", percent(blend_utility(outcome, 0.0), 2, sign=True), ""))
        yield Row(
            cells=(
                _named(f"anchored blend, q = {number(q, 3)}", "" if verdict.trusted else "deployed"),
                *_weights(mixed if verdict.trusted else decision.action, count),
                "",
                percent(anchored, 2, sign=True),
                "",
            ),
            kind="" if verdict.trusted else "own",
        )
    only = decision.mean_draft is None
    utility = outcome.utility if only else blend_utility(outcome, 1.0)
    yield Row(
        cells=(
            _named(REFERENCE, "deployed" if only else ""),
            *_weights(decision.reference, count),
            "",
            percent(utility, 2, sign=True),
            "no valid draft, so the reference was held" if only else "",
        ),
        kind="own" if only else "reference",
    )
    moves = case.result.class_returns[row]
    cells = tuple(percent(move, 1, sign=True) for move in moves)
    yield Row(cells=("the market's own move", *cells, "", "", "return of each class, %"), kind="total")


def _named(name: str, tag: str) -> str | Markup:
    return Markup('{} <span class="tag">{}</span>').format(name, tag) if tag else name


def _weights(weights: Weights | None, count: int) -> tuple[str, ...]:
    return (UNKNOWN,) * count if weights is None else tuple(percent(weight, 1) for weight in weights)


def _reason(draft: Draft, held: Weights | None) -> str | Markup:
    if draft.weights is None:
        return Markup('<span class="problem">no valid draft: {}</span>').format(
            visible(draft.problem or "no reason recorded")
        )
    words: Markup = Markup("<bdi>{}</bdi>").format(visible(draft.reason)) if draft.reason else Markup("")
    if held is not None and max(abs(a - b) for a, b in zip(draft.weights, held, strict=True)) > 0.0005:
        asked = " / ".join(percent(weight, 0) for weight in draft.weights)
        words += Markup(' <span class="quiet">(before the mandate: {})</span>').format(asked)
    return words


def _experiences(case: Case, decision: Decision, outcome: Outcome) -> Iterator[Shown]:
    values = decision.verdict.values[decision.verdict.learner]
    effects = outcome.contributions or (None,) * len(decision.recall.shown)
    for shown, value, effect in zip(decision.recall.shown, values, effects, strict=True):
        yield Shown(
            label=case.labels[shown.experience.id],
            similarity=number(shown.similarity, 3),
            contribution=percent(effect, 2, sign=True),
            contribution_tone=direction(effect),
            value=percent(value, 3, sign=True),
            value_tone=direction(value),
            text=visible(shown.experience.text),
        )


def _receipt(decision: Decision) -> tuple[tuple[str, str], ...]:
    usage, recall = decision.usage, decision.recall
    return (
        ("Decided", iso(decision.decided_at)),
        ("Decision", visible(decision.id)),
        ("Prompt hash", visible(decision.prompt)),
        ("Policy", visible(decision.policy)),
        ("Recalled", f"{len(recall.shown)} of {counted(recall.pool, 'experience')}, by {visible(recall.embedder)}"),
        ("Tokens", usage_tokens(usage)),
        (
            "Latency",
            f"{number(usage.latency_seconds, 1)} s of model time, {counted(usage.retries, 'retry', 'retries')}",
        ),
        ("Cost", usage_cost(usage)),
    )


def usage_tokens(usage: Usage) -> str:
    """Tokens in words."""
    cached = f" ({number(usage.cached_tokens, 0)} cached)" if usage.cached_tokens else ""
    return (
        f"{number(usage.input_tokens, 0)} in{cached}, {number(usage.output_tokens, 0)} out, "
        f"{counted(usage.calls, 'call')}"
    )


def usage_cost(usage: Usage) -> str:
    """Cost in words; an unknown price is said, not guessed."""
    if usage.cost_usd is None:
        return "not known: the model has no price"
    replayed = f" ({number(usage.replayed, 0)} of {counted(usage.calls, 'reply', 'replies')} replayed)"
    return f"{number(usage.cost_usd, 4)} USD{replayed if usage.replayed else ''}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A decision worth opening, and why."""

    id: str
    day: str
    why: str


def pointers(case: Case) -> tuple[Pointer, ...]:
    """A few decisions to start with; the first is shown when the page opens."""
    spreads = [max(outcome.contributions) - min(outcome.contributions) if outcome.contributions else -1.0
               for outcome in case.outcomes]  # fmt: skip
    found = [(spreads.index(max(spreads)), "memory changed most")] if max(spreads) > 0 else []
    if case.trusted:
        found.insert(0, (case.trusted[0], "memory was trusted for the first time"))
    else:
        verdicts = [decision.verdict for decision in case.decisions]
        ready = [row for row, verdict in enumerate(verdicts) if verdict.n_scores >= verdict.min_scores]
        if ready:
            found.append((min(ready, key=lambda row: verdicts[row].p_value), "closest to being trusted"))
    utilities = [outcome.utility for outcome in case.outcomes]
    found.append((utilities.index(min(utilities)), "the worst month"))
    lost = [sum(draft.weights is None for draft in decision.drafts) for decision in case.decisions]
    if max(lost):
        found.append((lost.index(max(lost)), "most drafts missing"))
    whys: dict[int, list[str]] = {}
    for row, why in found:
        whys.setdefault(row, []).append(why)
    return tuple(
        Pointer(case.decisions[row].id, case.decisions[row].decided_at.date().isoformat(), listed(why))
        for row, why in whys.items()
    )


def escaped(text: str) -> Markup:
    """Several lines of foreign text, each made visible."""
    return Markup("\n").join(escape(visible(line)) for line in text.splitlines())
