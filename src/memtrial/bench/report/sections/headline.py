"""The verdict first: a sentence to act on, and what happened in words."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from memtrial.bench.report.evidence import paired, scores_needed
from memtrial.bench.report.sections import purse
from memtrial.bench.report.sections.case import (
    REFERENCE,
    SHADOW,
    Case,
    more_or_less,
    policy_words,
    trust_effect,
)
from memtrial.bench.report.typography import counted, listed, number, p_equals, percent, visible
from memtrial.records import Verdict
from memtrial.trial import design


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """The sentence, what to do, and the facts behind it as (heading, sentences)."""

    sentence: str
    action: str
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    figures: tuple[tuple[str, str, str], ...]


def headline(case: Case, model_note: str) -> Headline:
    """The verdict on the whole run."""
    return Headline(
        sentence=purse.sentence(case) if case.purse else _sentence(case),
        action=" ".join(words for words in _lead(case) if words),
        facts=(
            ("Who drafted", (policy_words(case), visible(model_note))),
            ("What memory changed", _changed(case)),
            ("What trusting it would have cost", _cost(case)),
        ),
        figures=_figures(case),
    )


def _lead(case: Case) -> tuple[str, ...]:
    """What to do, how much longer it would take, and what the other investors saw."""
    if case.purse:
        return purse.action(case), purse.outlook(case), purse.others(case)
    return _action(case), _outlook(case), _others(case)


def _sentence(case: Case) -> str:
    last = case.decisions[-1].verdict
    if case.trusted:
        effect = trust_effect([case.pairs[row] for row in case.trusted])
        where = f"Memory was trusted on {len(case.trusted)} of {counted(case.months, 'decision')}"
        if effect.n == 0:
            return f"{where}; what they earned against the anchor is not known."
        worth = f"{number(abs(100 * effect.mean), 3)} pp a month {'more' if effect.mean > 0 else 'less'}"
        tail = f" ({p_equals(effect.p)}, n = {effect.n})" if effect.known else ""
        return f"{where}; those earned {worth} than the anchor would have{tail}."
    if last.n_scores == 0:
        return (
            f"Memory is not trusted yet: nothing it predicted has been measured so far, "
            f"and trust needs at least {last.min_scores} measured months."
        )
    right = f"its values had ranked the experiences right on {_right(case)} of {_unseen(last)}"
    figures = f"mean forward score {number(last.mean_score, 2, sign=True)}, {p_equals(last.p_value)}"
    if last.n_scores < last.min_scores:
        return f"Memory is not trusted yet: {right}, and trust needs at least {last.min_scores}."
    if last.p_value < last.alpha:
        return f"Memory passed its test on the last decision but was not acted on: {visible(last.reason)}."
    return f"Memory is not trusted: on the last decision {right} ({figures}; trust needs p < {last.alpha:g})."


def _unseen(verdict: Verdict) -> str:
    return counted(verdict.n_scores, "unseen month")


def _right(case: Case) -> int:
    last = case.decisions[-1]
    return sum(score > 0 for score in case.scores(last.verdict.learner, last.decided_at))


def _action(case: Case) -> str:
    last = case.decisions[-1].verdict
    kept = f"{percent(last.reference_weight, 1)} % in {REFERENCE}"
    if not case.trusted:
        return f"Do not let this memory move money. memtrial held the anchored blend throughout, at the end {kept}."
    effect = trust_effect([case.pairs[row] for row in case.trusted])
    now = "was trusted" if last.trusted else "was not trusted"
    if effect.n and effect.mean > 0 and effect.p < case.alpha:
        return f"On the last decision it {now}. Trusting it has paid so far, beyond chance."
    paid = "has not paid" if not effect.n or effect.mean <= 0 else "has paid, but not beyond chance"
    return f"On the last decision it {now}. Trusting it {paid}: keep it in shadow mode and go on measuring."


def _outlook(case: Case) -> str:
    """How much longer the test would need."""
    last = case.decisions[-1].verdict
    if last.trusted or last.n_scores < last.min_scores or last.p_value < last.alpha:
        return ""
    need = scores_needed(last.mean_score, last.sd_score, alpha=last.alpha, least=last.min_scores)
    if need is None:
        return "At this rate no number of further months would make it pass."
    rate = last.n_scores / max(case.months - 1, 1)
    months = round((need - last.n_scores) / rate)
    return f"At this rate the test would need about {counted(months, 'more month')}, {number(need, 0)} scores in all."


def _others(case: Case) -> str:
    """The headline is about one investor; the others may have seen it differently."""
    counts = {
        name: sum(decision.verdict.trusted for decision in each.decisions)
        for name, each in case.result.investors.items()
        if name != case.name
    }
    if not counts:
        return ""
    if not any(counts.values()):
        return (
            "For the other investors it was never trusted either."
            if not case.trusted
            else ("For the other investors it was never trusted.")
        )
    found = listed(f"{count} of {case.months} ({visible(name)})" for name, count in counts.items())
    return f"For the other investors it was trusted on {found} decisions."


def _changed(case: Case) -> tuple[str, ...]:
    with_memory: list[float] = []
    without: list[float] = []
    moved: list[float] = []
    spreads: list[float] = []
    for decision, outcome in case.pairs:
        # A draft beyond the design was chosen by what is known; it says nothing about showing experiences as such.
        designed = design(len(decision.recall.shown), decision.design).n_drafts
        utilities, held = outcome.draft_utilities[:designed], decision.projected[:designed]
        earned = [value for value in utilities if value is not None]
        if len(earned) > 1:
            spreads.append(max(earned) - min(earned))
        bare, base = utilities[0], held[0]
        rest = [value for value in utilities[1:] if value is not None]
        shown = [weights for weights in held[1:] if weights is not None]
        if bare is None or base is None or not rest:
            continue
        with_memory.append(fmean(rest))
        without.append(bare)
        moved.append(fmean(sum(abs(a - b) for a, b in zip(weights, base, strict=True)) / 2 for weights in shown))
    if not moved:
        return ("No month had valid drafts both with and without experiences, so this is not known.",)
    effect = paired(with_memory, without)
    return (
        f"Showing experiences moved {percent(fmean(moved), 0)} % of the portfolio on average (drafts with experiences "
        f"against the draft without, n = {len(moved)}).",
        f"The drafts of one month differed by {percent(fmean(spreads), 2)} pp of utility from best to worst.",
        f"Drafts with experiences earned {more_or_less(effect, 'the draft without', case.alpha)}.",
    )


def _cost(case: Case) -> tuple[str, ...]:
    lines: list[str] = []
    tempted = [pair for pair in case.pairs if pair[0].verdict.total > 0]
    effect = trust_effect(tempted)
    if effect.n:
        lines.append(
            f"On {effect.n} of {counted(case.months, 'decision')} the values favoured a draft. Deploying it in full, "
            f"without waiting for evidence, would have earned {more_or_less(effect, 'the anchored blend', case.alpha)}."
        )
    lines.append(purse.vetoes(case))
    shadow = case.against(case.own, SHADOW)
    if shadow is not None:
        same = "As it never trusted, memtrial earned " if not case.moved else "Over all months memtrial earned "
        lines.append(f"{same}{more_or_less(shadow, 'the same agent in shadow mode', case.alpha)}.")
    for name in ("counterfactual_selection", "memory_free"):
        difference, method = case.against(name), case.method(name)
        if difference is not None and method is not None:
            lines.append(f"{visible(method.label)} earned {more_or_less(difference, REFERENCE, case.alpha)}.")
    return tuple(words for words in lines if words) or ("The methods to compare with did not take part in this run.",)


def _figures(case: Case) -> tuple[tuple[str, str, str], ...]:
    """Name, number with unit, uncertainty or count."""
    own, last = case.against(case.own), case.decisions[-1].verdict
    cost = case.result.usage.cost_usd
    found = purse.figures(case) if case.purse else _test_figures(case)
    if own is not None:
        error = f"s.e. {number(100 * own.se, 3)}, n = {own.n}"
        found.append((f"memtrial against {REFERENCE}", f"{percent(own.mean, 3, sign=True)} pp/month", error))
    basis = "" if case.purse else f", {p_equals(last.p_value)}"
    found.append(("Mean forward score", number(last.mean_score, 2, sign=True), f"n = {last.n_scores}{basis}"))
    credit = case.result.credit
    found.append(
        ("Outcome credit against the market", f"ρ = {number(credit.outcome_credit_vs_market, 2, sign=True)}",
         f"n = {credit.n}")
    )  # fmt: skip
    usage = case.result.usage
    paid = "not known" if cost is None else f"{number(cost, 2)} USD"
    found.append(("Cost of drafting", paid, f"{counted(usage.calls, 'call')}, {number(usage.replayed, 0)} replayed"))
    return tuple(found)


def _test_figures(case: Case) -> list[tuple[str, str, str]]:
    trusted = percent(len(case.trusted) / case.months, 1)
    return [("Trusted", f"{trusted} %", f"{len(case.trusted)} of {counted(case.months, 'decision')}")]
