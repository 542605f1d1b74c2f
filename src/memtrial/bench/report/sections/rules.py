"""How memory earns its weight, under either preset, in words."""

from __future__ import annotations

from memtrial.bench.report.sections.case import Case
from memtrial.bench.report.typography import counted, number, percent
from memtrial.trial import Settings


def rules(case: Case) -> tuple[tuple[str, str], ...]:
    """The two trust rules, what outcomes that come late cost, and the verdict on a single memory."""
    paper, guarded = _settings(case)
    here, there = ("deployed", "a row beside it") if case.purse else ("a row beside it", "deployed")
    veto = "" if guarded.veto is None else _veto(guarded)
    return (
        ("Trust by a purse", f"memtrial (guarded), {here}. {_purse(guarded)}"),
        ("Who speaks", _speakers(guarded)),
        *((("Veto", veto),) if veto else ()),
        ("Trust by a t-test", f"memtrial (paper), {there}. {_test(paper)}"),
        ("Late outcomes", _late(case)),
        ("Standing", _standing(case)),
    )


def _settings(case: Case) -> tuple[Settings, Settings]:
    """Settings of the paper's row and of the guarded one: those deployed, and the other preset as it is."""
    deployed = case.result.settings
    return (Settings.paper(), deployed) if case.purse else (deployed, Settings.guarded())


def _purse(settings: Settings) -> str:
    alpha = percent(settings.alpha, 0)
    return (
        f"A wealth of 1 bets {percent(settings.bet, 0)} % of itself on the forward score of every month; memory moves "
        f"that wealth times {alpha} % of the capital, all of it from {number(1 / settings.alpha, 0)} on. Without skill "
        f"(an expected forward score of at most 0) it is expected to move at most {alpha} % on any date, and is ever "
        f"fully trusted with a chance of at most {alpha} %, whenever one looks."
    )


def _speakers(settings: Settings) -> str:
    factor = settings.forgetting
    twice = "" if factor is None else f", each once more with evidence that fades to {factor:g} of itself a decision"
    return (
        f"Two learners, each experience alone and pooled over similar content{twice}, share the purse; the one with "
        "most of it speaks. They pool contributions in units of how far the drafts of the month lay apart."
    )


def _veto(settings: Settings) -> str:
    return (
        "memtrial (guarded) refuses a draft whose predicted value does not make up for what drafts of its size fell "
        f"short of the anchored blend on past months: mean plus {settings.veto:g} standard errors, from "
        f"{counted(settings.veto_dates, 'month')} on."
    )


def _test(settings: Settings) -> str:
    return (
        f"One-sided t-test that the mean forward score is above 0: p < {settings.alpha:g} and at least "
        f"{counted(settings.min_scores, 'score')}; then memory moves the whole action, else nothing."
    )


def _late(case: Case) -> str:
    following = counted(case.months - 1, "outcome")
    if not case.late:
        return f"None of {following} was known only after the next decision."
    found = f"{case.late} of {following} {'was' if case.late == 1 else 'were'} known only after the next decision"
    if not case.purse:
        return f"{found}, which did without."
    unbet = sum(not decision.verdict.bets for decision in case.decisions)
    return (
        f"{found}. The purse sits such a decision out ({counted(unbet, 'decision')} without a bet): a late outcome "
        "costs a bet, never the guarantee."
    )


def _standing(case: Case) -> str:
    looks = "however often one looks" if case.holding == 1 else "on any one date"
    return (
        "A verdict on each memory by bets of its own, on whether it changed more than those recalled beside it. At "
        f"most {percent(case.alpha, 0)} % of the verdicts are expected to be false, {looks}. "
        f"memtrial memories --holding {case.holding} prints the same."
    )
