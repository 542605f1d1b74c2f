"""May memory act on this decision, and on how much of the capital? (paper Algorithm F.3 lines 2-8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.records import FULL_WEIGHT, Learner, Verdict
from memtrial.trial.anchor import blend
from memtrial.trial.candidates import Candidate
from memtrial.trial.design import Design
from memtrial.trial.evidence import Counted
from memtrial.trial.purse import Purses, richest
from memtrial.trial.settings import Settings
from memtrial.trial.trust import Scores, TrustTest, f_test, select_learner, trust_test, trusted_subset
from memtrial.trial.veto import Gaps


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Known:
    """Everything known about memory when a decision is taken.

    Attributes
    ----------
    candidates
        The learners that may speak.
    scores
        Forward scores of each.
    measured
        What was measured about the experiences, and on how many dates.
    purses
        The wealth that bet on the scores.
    gaps
        What drafts of each size earned beyond the anchor.
    unit
        What one unit of a pooled value is worth in utility.
    reference_weight
        q of the anchored blend.
    """

    candidates: Sequence[Candidate]
    scores: Mapping[Learner, Scores]
    measured: tuple[Counted, int, int]
    purses: Purses
    gaps: Gaps
    unit: float
    reference_weight: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """What a trust rule grants: the learner that speaks and the weight of what it says; why, or why not."""

    learner: Learner
    weight: float
    p_value: float
    evidence: str
    objection: str = ""


def judge(
    settings: Settings,
    *,
    design: Design,
    valid: NDArray[np.bool_],
    predictions: Mapping[Learner, NDArray[np.float64]],
    known: Known,
    hold: bool,
    extra: tuple[int, ...] | None = None,
    bets: bool = False,
) -> Verdict:
    """The verdict on one decision.

    Parameters
    ----------
    settings
        The trust rule and the veto.
    design, valid
        What was drafted, and which drafts are valid, bool (n_drafts,).
    predictions
        Predicted value of each recalled experience by learner, (k,).
    known
        What is known by now.
    hold
        Shadow mode: memory moves nothing.
    extra
        A subset outside the design that was drafted too; it is used while it is still the one that is wanted.
    bets
        Whether the purse bets on this decision.
    """
    grant = _RULES[settings.trust](settings, known)
    scores = known.scores[grant.learner]
    best, total = trusted_subset(design, predictions[grant.learner], valid)
    subset = () if best is None else design.subsets[best]
    bound = 0.0
    if settings.veto is not None and best is not None:
        bound = known.gaps.bound(len(subset), z=settings.veto, least=settings.veto_dates)
    vetoed = settings.veto is not None and total > 0 and known.unit * total + bound <= 0
    objection = _objection(design.k, best, grant, total, vetoed=vetoed)
    weight = 0.0 if objection or hold else grant.weight
    return Verdict(
        weight=weight,
        reason=_reason(objection, grant, hold=hold),
        learner=grant.learner,
        values={name: tuple(values.tolist()) for name, values in predictions.items()},
        unit=known.unit,
        n_scores=scores.n,
        mean_score=scores.mean,
        sd_score=scores.sd,
        rule=settings.trust,
        p_value=grant.p_value,
        alpha=settings.alpha,
        min_scores=settings.min_scores,
        wealth=known.purses.wealth if settings.trust == "purse" else math.nan,
        shares=_shares(known) if settings.trust == "purse" else {},
        subset=subset,
        total=total,
        extra=extra if weight > 0 and extra == valued(predictions[grant.learner]) else None,
        bound=bound,
        vetoed=vetoed,
        bets=bets,
        terms=settings.purse_terms if bets else "",
        reference_weight=known.reference_weight,
    )


def valued(values: NDArray[np.float64]) -> tuple[int, ...]:
    """Ranks of the experiences valued above 0: the extra draft, where it is not in the design."""
    return tuple(rank for rank, value in enumerate(values.tolist()) if value > 0)


def speaks(settings: Settings, known: Known) -> Learner:
    """The learner whose values count."""
    return _RULES[settings.trust](settings, known).learner


def act_on(
    verdict: Verdict,
    design: Design,
    drafts: NDArray[np.float64],
    reference: NDArray[np.float64],
    extra: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The weights to hold, (n_assets,): the trusted draft as far as it is trusted, the anchored blend for the rest.

    Paper Algorithm F.1 lines 8-11, where the draft is held in full or not at all.

    Parameters
    ----------
    verdict
        The verdict on the decision.
    design, drafts
        What was drafted, and the drafts after the mandate, (n_drafts, n_assets); a row of NaN where one is missing.
    reference
        The reference after the mandate, (n_assets,); it is held when no draft is valid.
    extra
        The draft of ``verdict.extra`` after the mandate, (n_assets,).
    """
    valid = np.isfinite(drafts).all(axis=1)
    if not valid.any():
        return reference
    anchored = blend(reference, drafts[valid].mean(axis=0), verdict.reference_weight)
    if verdict.weight == 0.0:
        return anchored
    chosen = drafts[design.subsets.index(verdict.subset)] if verdict.extra is None or extra is None else extra
    return chosen if verdict.weight == 1.0 else verdict.weight * chosen + (1.0 - verdict.weight) * anchored


def _t_test(settings: Settings, known: Known) -> Grant:
    learner = _selected(settings, known)
    scores = known.scores[learner]
    test = trust_test(scores, settings.alpha, settings.min_scores)
    evidence = (
        "values ranked the experiences right on unseen dates "
        f"(mean score {scores.mean:+.2f}, n = {scores.n}, p = {test.p_value:.2g})"
    )
    return Grant(
        learner=learner,
        weight=float(test.passes),
        p_value=test.p_value,
        evidence=evidence,
        objection=_failed(settings, scores, test),
    )


def _failed(settings: Settings, scores: Scores, test: TrustTest) -> str:
    if scores.n < settings.min_scores:
        return f"{scores.n} forward score{'' if scores.n == 1 else 's'}, {settings.min_scores} are needed"
    return "" if test.passes else f"p = {test.p_value:.2g} is not below {settings.alpha:g}"


def _f_test(settings: Settings, known: Known) -> Grant:
    evidence, experiences, dates = known.measured
    test = f_test(
        within=evidence.within,
        between=max(evidence.squares - evidence.within, 0.0),
        experiences=experiences,
        observations=evidence.observations,
        dates=dates,
        alpha=settings.alpha,
    )
    return Grant(
        learner=_selected(settings, known),
        weight=float(test.passes),
        p_value=test.p_value,
        evidence=f"the experiences differed on past dates (p = {test.p_value:.2g})",
        objection="" if test.passes else f"the experiences did not differ on past dates (p = {test.p_value:.2g})",
    )


def _always(settings: Settings, known: Known) -> Grant:
    return Grant(learner=_selected(settings, known), weight=1.0, p_value=1.0, evidence="no test was asked for")


def _purse(settings: Settings, known: Known) -> Grant:
    speaker = known.candidates[richest(known.purses.shares)]
    wealth = known.purses.wealth
    weight = min(1.0, settings.alpha * wealth)
    if not settings.graded and weight < 1.0:
        weight = 0.0
    bets = f"bets on unseen dates turned 1 into {wealth:.3g}"
    return Grant(
        learner=speaker.name,
        weight=weight,
        p_value=min(1.0, 1.0 / wealth),
        evidence=bets,
        objection="" if weight else f"{bets}, {1 / settings.alpha:g} are needed",
    )


_RULES = {"purse": _purse, "t_test": _t_test, "f_test": _f_test, "always": _always}


def _selected(settings: Settings, known: Known) -> Learner:
    if len(known.candidates) == 1:
        return known.candidates[0].name
    return select_learner(known.scores["per_experience"], known.scores["content_aware"], settings.min_scores)


def _shares(known: Known) -> dict[Learner, float]:
    return {candidate.name: share for candidate, share in zip(known.candidates, known.purses.shares, strict=True)}


def _objection(k: int, best: int | None, grant: Grant, total: float, *, vetoed: bool) -> str:
    """Why memory may not act, in words; empty when it may."""
    if best is None:
        return "no draft is valid, so the reference is held"
    if k == 0:
        return "no experience was recalled"
    if k == 1:
        return "one experience alone cannot be compared"
    if grant.objection:
        return grant.objection
    if not total > 0:
        return "no designed subset has a positive total value"
    if vetoed:
        return "its choice is not worth what drafts of that size fell short of the anchor"
    return ""


def _reason(objection: str, grant: Grant, *, hold: bool) -> str:
    if objection:
        said = f"not trusted: {objection}"
    elif grant.weight >= FULL_WEIGHT:
        said = f"trusted: {grant.evidence}"
    else:
        said = f"has a stake of {100 * grant.weight:.1f} % of the capital: {grant.evidence}"
    return f"held in shadow mode; otherwise {said}" if hold else said
