"""Every decision opened whole, as in the paper's Table E.1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from memtrial.bench.report.palette import direction
from memtrial.bench.report.sections.case import (
    REFERENCE,
    Case,
    blend_utility,
    chosen,
    favourite,
    learner_words,
)
from memtrial.bench.report.sections.purse import full_trust, veto_words
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
from memtrial.records import Decision, Draft, Outcome, Usage, Verdict, Weights


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
    mark: str
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
    mark = _mark(verdict)
    held = mark or f"anchored, q = {number(verdict.reference_weight, 3)}"
    return Opened(
        id=decision.id,
        day=decision.decided_at.date().isoformat(),
        mark=mark,
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
    if verdict.rule == "purse":
        yield from _purse(verdict)
    elif verdict.n_scores >= 2 and not verdict.trusted:
        yield (
            f"By then {counted(verdict.n_scores, 'forward score')} had a mean of "
            f"{number(verdict.mean_score, 2, sign=True)} ({p_equals(verdict.p_value)}; needs p < {verdict.alpha:g}); "
            f"values: {learner_words(verdict.learner)}."
        )
    if verdict.trusted:
        yield f"Memory chose the draft shown {case.subset(decision, chosen(verdict))}, and it was held."
    elif decision.mean_draft is not None:
        q, weight = (1 - verdict.weight) * verdict.reference_weight, verdict.weight
        mine = f"{percent(weight, 1)} % the draft shown {case.subset(decision, chosen(verdict))}, " if weight else ""
        yield (
            f"Held: {mine}{percent(q, 1)} % {REFERENCE} and {percent(1 - weight - q, 1)} % the average draft."
        )  # fmt: skip
    earned = favourite(decision, outcome)
    anchored = blend_utility(outcome, verdict.reference_weight)
    if verdict.total > 0 and earned is not None and anchored is not None:
        change = f"{number(abs(100 * (earned - anchored)), 2)} pp {'more' if earned > anchored else 'less'}"
        would = "earned" if verdict.trusted else "would have earned"
        yield f"Memory's favourite ({case.subset(decision, chosen(verdict))}) {would} {change} than the anchored blend."
    if outcome.contributions is None:
        yield "What each experience changed is not known: too few drafts were valid to tell them apart."


def _mark(verdict: Verdict) -> str:
    """What a list of decisions says about one."""
    if verdict.trusted:
        return "trusted"
    if verdict.weight > 0:
        return f"memory moved {percent(verdict.weight, 1)} %"
    return "vetoed" if verdict.vetoed else ""


def _purse(verdict: Verdict) -> Iterator[str]:
    """The purse behind a weight, who spoke, and the veto."""
    spoke = f"{learner_words(verdict.learner)}, with {percent(verdict.shares.get(verdict.learner), 0)} % of the purse"
    scores = counted(verdict.n_scores, "forward score")
    mean = f" (mean {number(verdict.mean_score, 2, sign=True)})" if verdict.n_scores else ""
    yield (
        f"The purse held {number(verdict.wealth, 2)}; {full_trust(verdict)} is full trust. The values are those of the "
        f"learner that held most of it: {spoke}, {scores} by then{mean}."
    )
    if verdict.vetoed:
        yield f"Vetoed: {veto_words(verdict)}."
    if not verdict.bets:
        yield "The purse did not bet on this month: the outcome before was still to come."


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
        tag = _tag(verdict) if draft.subset == chosen(verdict) and verdict.total > 0 else ""
        total = verdict.unit * sum(values[rank] for rank in draft.subset)
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


def _tag(verdict: Verdict) -> str:
    """What became of the draft that memory valued most."""
    if verdict.trusted:
        return "deployed"
    if verdict.weight > 0:
        return f"{percent(verdict.weight, 1)} % of the mix"
    return "memory's favourite, vetoed" if verdict.vetoed else "memory's favourite"


def _closing_rows(case: Case, row: int) -> Iterator[Row]:
    """The average draft, the blend, the mix of both where memory moves a part, the reference, and the market."""
    decision, outcome = case.pairs[row]
    verdict, count = decision.verdict, len(decision.assets)
    if decision.mean_draft is not None:
        q = verdict.reference_weight
        mixed = tuple(q * a + (1 - q) * b for a, b in zip(decision.reference, decision.mean_draft, strict=True))
        alone = verdict.weight == 0.0
        rest = "deployed" if alone else "" if verdict.trusted else f"{percent(1 - verdict.weight, 1)} % of the mix"
        cells = _weights(decision.mean_draft, count)
        yield Row(cells=("average draft", *cells, "", percent(blend_utility(outcome, 0.0), 2, sign=True), ""))
        yield Row(
            cells=(
                _named(f"anchored blend, q = {number(q, 3)}" if alone else "anchored blend", rest),
                *_weights(decision.action if alone else mixed, count),
                "",
                percent(outcome.utility if alone else blend_utility(outcome, q), 2, sign=True),
                "",
            ),
            kind="own" if alone else "",
        )
        if not alone and not verdict.trusted:
            mix = (_named("mix of both", "deployed"), *_weights(decision.action, count))
            yield Row(cells=(*mix, "", percent(outcome.utility, 2, sign=True), ""), kind="own")
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
            value=percent(decision.verdict.unit * value, 3, sign=True),
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
    elif case.purse:
        found[:0] = _partly(case)
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


def _partly(case: Case) -> Iterator[tuple[int, str]]:
    """Where memory moved most, and where the veto refused the most promising choice."""
    verdicts = [decision.verdict for decision in case.decisions]
    if case.moved:
        yield max(case.moved, key=lambda row: verdicts[row].weight), "memory moved its largest share"
    vetoed = [row for row, verdict in enumerate(verdicts) if verdict.vetoed]
    if vetoed:
        yield max(vetoed, key=lambda row: verdicts[row].unit * verdicts[row].total), "the veto refused most"


def escaped(text: str) -> Markup:
    """Several lines of foreign text, each made visible."""
    return Markup("\n").join(escape(visible(line)) for line in text.splitlines())
