"""The verdict on a memory whose weight is earned by bets: the sentences and figures that only a purse has."""

from __future__ import annotations

import math
from statistics import fmean

from memtrial.bench.report.evidence import Paired
from memtrial.bench.report.sections.case import REFERENCE, Case, more_or_less, moved_effect
from memtrial.bench.report.typography import counted, listed, number, percent, visible
from memtrial.records import Verdict

PATIENCE = 1200
"""Months after which the outlook says that full trust is out of reach."""
HELD, NOTHING_VALUED = "held in shadow mode", "no designed subset has a positive total"
"""How a verdict says that it is held back, and that nothing was worth deploying."""


def full_trust(verdict: Verdict) -> str:
    """The wealth of full trust, as a number."""
    return number(1 / verdict.alpha, 0)


def sentence(case: Case) -> str:
    """What memory moves now, and the bets it earned that with."""
    verdict = case.decisions[-1].verdict
    full = f"{full_trust(verdict)} is full trust"
    settled = bets_settled(case)
    if not settled:
        return (
            "Memory moves nothing yet: nothing it predicted has been measured so far. "
            f"Its purse still holds 1; {full}."
        )  # fmt: skip
    bets = f"its bets on {counted(settled, 'unseen month')} turned 1 into {number(verdict.wealth, 2)}; {full}"
    if verdict.trusted:
        return f"Memory moves the whole action: {bets}."
    if verdict.weight > 0:
        return f"Memory moves {percent(verdict.weight, 1)} % of the capital: {bets}."
    return f"Memory moves nothing now, as {why_not(verdict)}: {bets}."


def bets_settled(case: Case) -> int:
    """Number of bets that were decided when the last decision was taken."""
    now = case.decisions[-1].decided_at
    return sum(
        decision.verdict.bets and outcome.known_at <= now and bool(outcome.scores) for decision, outcome in case.pairs
    )


def why_not(verdict: Verdict) -> str:
    """Why memory moves nothing, as a clause."""
    if verdict.reason.startswith(HELD):
        if "otherwise trusted" not in verdict.reason:
            return "it is held in shadow mode"
        would = percent(min(1.0, verdict.alpha * verdict.wealth), 1)
        return f"it is held in shadow mode (otherwise {would} % of the capital)"
    if verdict.vetoed:
        return f"its choice was vetoed ({veto_words(verdict)})"
    if NOTHING_VALUED in verdict.reason:
        return "no draft has a predicted value above 0"
    return visible(verdict.reason).removeprefix("not trusted: ")


def veto_words(verdict: Verdict) -> str:
    """What the choice promised, and what it had to make up for."""
    promised = f"{percent(verdict.total * verdict.unit, 3, sign=True)} pp predicted"
    short = f"{percent(-verdict.bound, 3)} pp short of the anchor"
    return f"{promised}, while drafts of that size had fallen at least {short}, chance allowed for"


def action(case: Case) -> str:
    """What it has moved so far, what that earned, and what to do."""
    last = case.decisions[-1].verdict
    if not case.moved:
        kept = f"{percent(last.reference_weight, 1)} % in {REFERENCE}"
        return f"It has not moved any capital so far: memtrial held the anchored blend throughout, at the end {kept}."
    effect = moved_effect([case.pairs[row] for row in case.moved])
    return f"{_moved(case)} {_earned(effect, case)} {_advice(effect, last)}"


def _moved(case: Case) -> str:
    weights = [decision.verdict.weight for decision in case.decisions]
    whole = f", the whole action on {len(case.trusted)}" if case.trusted else ""
    return (
        f"It moved capital on {len(case.moved)} of {counted(case.months, 'decision')}{whole}: "
        f"{percent(fmean(weights), 1)} % on average over all of them, {percent(max(weights), 1)} % at most."
    )


def _earned(effect: Paired, case: Case) -> str:
    if not effect.n:
        return "What that earned against the anchored blend is not known."
    return f"There the action earned {more_or_less(effect, 'the anchored blend alone', case.alpha)}."


def _advice(effect: Paired, last: Verdict) -> str:
    if effect.known and effect.mean < 0 and effect.p < last.alpha:
        return "That is a loss beyond chance: keep it in shadow mode and go on measuring."
    if last.trusted:
        return (
            f"You can leave it on: without skill its purse would ever have reached {full_trust(last)} with a chance of "
            f"at most {percent(last.alpha, 0)} %."
        )
    return (
        f"It has not earned more. Left on, its share is expected to be at most {percent(last.alpha, 0)} % of the "
        "capital on any date if it has no skill."
    )


def outlook(case: Case) -> str:
    """How much longer full trust would take at the rate so far."""
    last = case.decisions[-1].verdict
    settled = bets_settled(case)
    if last.trusted or not settled:
        return ""
    rate = math.log(last.wealth) / (case.months - 1)
    need = math.log(1 / last.alpha / last.wealth) / rate if rate > 0 else math.inf
    if need > PATIENCE:
        return "At this rate full trust is out of reach."
    return f"At this rate full trust would take about {counted(math.ceil(need), 'more month')}."


def others(case: Case) -> str:
    """What memory moves for the other investors."""
    last = {
        visible(name): each.decisions[-1].verdict
        for name, each in case.result.investors.items()
        if name != case.name
    }  # fmt: skip
    if not last:
        return ""
    if not any(verdict.weight for verdict in last.values()):
        wealth = listed(f"{number(verdict.wealth, 2)} ({name})" for name, verdict in last.items())
        return f"For the other investors it moves nothing now either; there the purse holds {wealth}."
    found = listed(f"{percent(verdict.weight, 1)} % ({name})" for name, verdict in last.items())
    return f"For the other investors it now moves {found} of the capital."


def vetoes(case: Case) -> str:
    """How often the choice was refused for its worth."""
    refused = sum(decision.verdict.vetoed for decision in case.decisions)
    if not refused:
        return ""
    return (
        f"On {refused} of {counted(case.months, 'decision')} its choice was vetoed: drafts of that size had fallen "
        "further short of the anchor than it promised to gain."
    )


def figures(case: Case) -> list[tuple[str, str, str]]:
    """The share moved and the purse: name, number with unit, count."""
    last = case.decisions[-1].verdict
    weights = [decision.verdict.weight for decision in case.decisions]
    moved = f"any on {len(case.moved)} of {counted(case.months, 'month')}, all on {len(case.trusted)}"
    return [
        ("Moved by memory", f"{percent(fmean(weights), 1)} % of capital", moved),
        ("The purse", f"1 → {number(last.wealth, 2)}", f"n = {bets_settled(case)}, full trust at {full_trust(last)}"),
    ]  # fmt: skip
