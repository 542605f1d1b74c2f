"""Has memory predicted what it had not seen? Forward scores, the trust test, the trusted subset (paper §3.3-3.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError
from memtrial.records import Learner
from memtrial.trial.design import Design

CONSTANT = 1e-12
"""Spread below this fraction of the size of a list of numbers is rounding: the list is constant."""


class Scores:
    """The forward scores of one learner, kept as their number, mean and spread.

    The memory used does not grow with the number of scores, and the order in which they came changes rounding only.
    """

    __slots__ = ("_squares", "mean", "n")

    def __init__(self, scores: Iterable[float] = ()) -> None:
        self.n = 0
        self.mean = math.nan
        self._squares = 0.0
        for score in scores:
            self.add(score)

    def add(self, score: float) -> None:
        """Take one more score, between -1 and 1, into account."""
        self.n += 1
        before = 0.0 if self.n == 1 else self.mean
        self.mean = before + (score - before) / self.n
        self._squares += (score - before) * (score - self.mean)

    @property
    def sd(self) -> float:
        """Standard deviation with n - 1 in the denominator; NaN below two scores, exactly 0 when all are equal."""
        if self.n < 2:
            return math.nan
        sd = math.sqrt(max(self._squares, 0.0) / (self.n - 1))
        return 0.0 if sd <= CONSTANT * abs(self.mean) else sd


@dataclass(frozen=True, slots=True)
class TrustTest:
    """Outcome of the trust test: whether it passes, and its one-sided p-value."""

    passes: bool
    p_value: float


def forward_score(predictions: ArrayLike, centred: ArrayLike) -> float | None:
    """How well values predicted before the outcome ranked what was measured after it (paper Eq. 8).

    Parameters
    ----------
    predictions
        Predicted values of the recalled experiences, (k,).
    centred
        Their centred contributions, (k,); NaN when they could not be estimated.

    Returns
    -------
    float or None
        Pearson correlation, -1 to 1. None, and not 0, when there is nothing to score: fewer than two experiences,
        a missing contribution, or a vector without differences.

    Raises
    ------
    InputError
        When the two do not have the same shape (k,).
    """
    predicted = np.asarray(predictions, dtype=np.float64)
    measured = np.asarray(centred, dtype=np.float64)
    if predicted.ndim != 1 or predicted.shape != measured.shape:
        raise InputError(f"predictions {predicted.shape} and contributions {measured.shape} must be of equal length")
    if predicted.size < 2:
        return None
    # Plain floats: for a handful of numbers they are several times faster than array calls.
    left, right = _deviations(predicted.tolist()), _deviations(measured.tolist())
    if left is None or right is None:
        return None
    score = sum(x * y for x, y in zip(left, right, strict=True))
    return min(1.0, max(-1.0, score))


def _deviations(numbers: list[float]) -> list[float] | None:
    """Deviations from the mean scaled to length 1; None when they are all rounding, or a number is missing."""
    mean = sum(numbers) / len(numbers)
    deviations = [number - mean for number in numbers]
    norm = math.hypot(*deviations)
    floor = CONSTANT * len(numbers) * max(abs(number) for number in numbers)
    if not norm > floor or math.isinf(norm):
        return None
    return [deviation / norm for deviation in deviations]


def select_learner(per_experience: Scores, content_aware: Scores, min_scores: int = 10) -> Learner:
    """The learner that speaks (paper §3.3, Algorithm F.3 line 2).

    ``"content_aware"`` only when both have at least ``min_scores`` forward scores and its mean score is higher by more
    than rounding; each mean is over the learner's own scores.
    """
    if min(per_experience.n, content_aware.n) < min_scores:
        return "per_experience"
    # Without content variance both learners predict alike and their means differ by rounding: that is a tie.
    higher = content_aware.mean > per_experience.mean + CONSTANT
    return "content_aware" if higher else "per_experience"


def trust_test(scores: Scores | Iterable[float], alpha: float = 0.05, min_scores: int = 10) -> TrustTest:
    """Whether the mean forward score is above 0 beyond chance (paper Eq. 9).

    One-sided Student t test with n - 1 degrees of freedom. It passes when n >= ``min_scores`` and p < ``alpha``. Below
    two scores p = 1; scores that are all equal give p = 0 when positive and 1 otherwise.
    """
    known = scores if isinstance(scores, Scores) else Scores(scores)
    if known.n < 2:
        p_value = 1.0
    elif known.sd == 0.0:
        p_value = 0.0 if known.mean > 0 else 1.0
    else:
        from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]  # slow to import, and not needed before the second score

        p_value = float(stdtr(known.n - 1, -known.mean / (known.sd / math.sqrt(known.n))))
    return TrustTest(known.n >= min_scores and p_value < alpha, p_value)


def f_test(
    *, within: float, between: float, experiences: int, observations: int, dates: int, alpha: float = 0.05
) -> TrustTest:
    """Whether the experiences differed in the past: the in-sample alternative to the trust test (paper §4.3).

    One-way analysis of variance of the centred contributions. Centring takes one degree of freedom per date from the
    residual; without that the test passes too often.

    Parameters
    ----------
    within, between
        Sums of squares within and between experiences.
    experiences, observations, dates
        Numbers H of measured experiences, N of contributions and D of dates; H - 1 and N - H - D degrees of freedom.
    alpha
        Level.
    """
    groups, residual = experiences - 1, observations - experiences - dates
    if groups < 1 or residual < 1 or not between > 0:
        return TrustTest(False, 1.0)
    if not within > CONSTANT * between:
        return TrustTest(True, 0.0)
    from scipy.special import fdtrc  # pyright: ignore[reportMissingTypeStubs]

    p_value = float(fdtrc(groups, residual, (between / groups) / (within / residual)))
    return TrustTest(p_value < alpha, p_value)


def trusted_subset(
    design: Design, values: ArrayLike, valid: NDArray[np.bool_] | None = None
) -> tuple[int | None, float]:
    """The valid draft whose experiences have the highest total value (paper Eq. 10).

    Parameters
    ----------
    design
        The design of the date.
    values
        Predicted value of each recalled experience, (k,), a fraction per period.
    valid
        Whether each draft may be deployed, bool (n_drafts,); None means all.

    Returns
    -------
    tuple
        Index of the draft in the design and its total value. Ties go to the fewest experiences, then to the
        lexicographically first. ``(None, 0.0)`` when no draft is valid. Memory may act only when the total is > 0.

    Raises
    ------
    InputError
        When ``values`` is not (k,) and finite or ``valid`` is not (n_drafts,).
    """
    value = np.asarray(values, dtype=np.float64)
    if value.shape != (design.k,) or not np.isfinite(value).all():
        raise InputError(f"{design.k} finite values are needed, got {value}")
    totals = design.membership @ value
    if valid is not None:
        if valid.shape != (design.n_drafts,):
            raise InputError(f"validity of {design.n_drafts} drafts is needed, got shape {valid.shape}")
        if not valid.any():
            return None, 0.0
        totals = np.where(valid, totals, -np.inf)
    # The design is ordered by (size, lexicographic), so the first of the tied is the one wanted.
    tied = totals >= totals.max() - CONSTANT * np.abs(value).sum()
    best = int(tied.argmax())
    return best, float(totals[best])
