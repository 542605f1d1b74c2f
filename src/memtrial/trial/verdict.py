"""May memory act on this decision? (paper Algorithm F.3 lines 2-8)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from memtrial.records import Learner, Verdict
from memtrial.trial.anchor import blend
from memtrial.trial.design import Design
from memtrial.trial.settings import Settings
from memtrial.trial.trust import Scores, TrustTest, select_learner, trust_test, trusted_subset


def judge(
    settings: Settings,
    *,
    design: Design,
    valid: NDArray[np.bool_],
    predictions: Mapping[Learner, NDArray[np.float64]],
    scores: Mapping[Learner, Scores],
    reference_weight: float,
    hold: bool,
) -> Verdict:
    """The verdict on one decision.

    Parameters
    ----------
    settings
        Level and least number of scores of the test.
    design, valid
        What was drafted, and which drafts are valid, bool (n_drafts,).
    predictions
        Predicted value of each recalled experience by learner, (k,), a fraction per period.
    scores
        Forward scores of each learner known by now.
    reference_weight
        q of the anchored blend.
    hold
        Shadow mode: never trust.
    """
    learner = select_learner(scores["per_experience"], scores["content_aware"], settings.min_scores)
    known = scores[learner]
    test = trust_test(known, settings.alpha, settings.min_scores)
    best, total = trusted_subset(design, predictions[learner], valid)
    objection = _objection(settings, known, test, design.k, best, total)
    reason = f"not trusted: {objection}" if objection else f"trusted: {_evidence(known, test)}"
    return Verdict(
        trusted=objection is None and not hold,
        reason=f"held in shadow mode; otherwise {reason}" if hold else reason,
        learner=learner,
        values={name: tuple(values.tolist()) for name, values in predictions.items()},
        n_scores=known.n,
        mean_score=known.mean,
        sd_score=known.sd,
        p_value=test.p_value,
        alpha=settings.alpha,
        min_scores=settings.min_scores,
        subset=() if best is None else design.subsets[best],
        total=total,
        reference_weight=reference_weight,
    )


def act_on(
    verdict: Verdict, design: Design, drafts: NDArray[np.float64], reference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights to hold, (n_assets,): the trusted draft, or the anchored blend (paper Algorithm F.1 lines 8-11).

    Parameters
    ----------
    verdict
        The verdict on the decision.
    design, drafts
        What was drafted, and the drafts after the mandate, (n_drafts, n_assets); a row of NaN where one is missing.
    reference
        The reference after the mandate, (n_assets,); it is held when no draft is valid.
    """
    valid = np.isfinite(drafts).all(axis=1)
    if not valid.any():
        return reference
    if verdict.trusted:
        return drafts[design.subsets.index(verdict.subset)]
    return blend(reference, drafts[valid].mean(axis=0), verdict.reference_weight)


def _objection(
    settings: Settings, known: Scores, test: TrustTest, k: int, best: int | None, total: float
) -> str | None:
    """Why memory may not act, in words; None when it may."""
    if best is None:
        return "no draft is valid, so the reference is held"
    if k == 0:
        return "no experience was recalled"
    if known.n < settings.min_scores:
        return f"{known.n} forward score{'' if known.n == 1 else 's'}, {settings.min_scores} are needed"
    if not test.passes:
        return f"p = {test.p_value:.2g} is not below {settings.alpha:g}"
    if not total > 0:
        return "no designed subset has a positive total value"
    return None


def _evidence(known: Scores, test: TrustTest) -> str:
    return (
        "values ranked the experiences right on unseen dates "
        f"(mean score {known.mean:+.2f}, n = {known.n}, p = {test.p_value:.2g})"
    )
