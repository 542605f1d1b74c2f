"""The permutation test: statistics, p-values and intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.permute.dates import TrialledRun
from memtrial.bench.permute.replay import Replayed, measured_dates, replay
from memtrial.bench.permute.shuffles import shuffles
from memtrial.errors import InputError

BOOTSTRAPS = 2000
LEVEL = 0.95
_TIED = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A mean over dates with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect(Estimate):
    """One with its one-sided p-value."""

    p: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PermutationTest:
    """Whether it matters which memory is which.

    Attributes
    ----------
    runs
        Names of the deployments.
    n_dates
        Decisions whose contributions are known, over all runs; ``n_left_out`` are the others.
    n_days
        Distinct days among them: what the interval resamples, in blocks of ``block`` days.
    n_spoke, n_acted
        Dates on which the values differed, and on which they chose a draft.
    n_experiences
        Memories that were recalled.
    permutations, seed
        How many namings were drawn, and from which seed.
    forward_score
        Effect on the mean forward score (Eq. 8); ``None`` when there is nothing to test.
    gain
        Effect on what the chosen draft (Eq. 10) earned beyond the same choice with shuffled names, a fraction per
        period; ``None`` when there is nothing to test.
    over_none
        What the chosen draft earned beyond the draft that was shown no memory, a fraction per period; it is not a
        part of the test, and tells apart memories that help from memories that harm differently.
    nothing
        Why there is nothing to test, in words.
    """

    runs: tuple[str, ...]
    n_dates: int
    n_left_out: int
    n_days: int
    block: int
    n_spoke: int
    n_acted: int
    n_experiences: int
    permutations: int
    seed: int
    forward_score: Effect | None
    gain: Effect | None
    over_none: Estimate | None
    nothing: str | None = None


def permutation_test(
    runs: Sequence[TrialledRun],
    *,
    permutations: int = 999,
    seed: int = 0,
    on_date: Callable[[float], object] = bool,
) -> PermutationTest:
    """Test whether memory helps, by shuffling which memory is which within every date.

    *The null*: on every date, each assignment of the recalled memories' names to the slots of the design is equally
    likely, given what all drafts earned and which memories were recalled; that is, which memory it is tells nothing
    about what it changes. *Exactness*: a shuffled naming then has the same distribution as the true one, and
    statistics of all of them are computed by the same function (outcomes learned as they became known, both learners
    refitted on every date), so the true statistic is equally likely to hold any rank among the P + 1, and
    P(p <= a) <= a for every number of dates and any distribution of utilities. It needs that names did not move the
    recorded numbers in another way: a trusted decision changes the next holdings, and thus a little of the next
    costs, so with carried holdings the test is exact for shadow runs and only very nearly so for others. A memory's
    rank counts as part of its name: when one memory always comes first and first slots always earn more, that is found.

    The learners are the two of the paper with its grids, unscaled and without forgetting, whatever the run used.
    The score is the mean over dates of the forward score of the learner that the paper would select; a date on which
    values say nothing counts 0. The gain is the mean over dates of what the chosen draft earned less the mean of the
    valid drafts of its size; that is what the same choice earns on average over shuffles of the date's names (exactly
    when no draft is missing); a date without a positive total counts 0. Its p-value asks whether *which* memories
    are shown matters, not whether showing memories beats showing none: see ``over_none``.

    Intervals: circular block bootstrap of the date-wise values over days (all runs of a day together), blocks of
    n_days^(1/3) days rounded up, 2000 draws, percentiles; they take the learned values as they were.

    Parameters
    ----------
    runs
        Finished deployments; what they recalled alike on a day is shuffled alike.
    permutations
        P; p-values are (1 + number of shuffled statistics at least as large) / (1 + P).
    seed
        Of the shuffles and the bootstrap; equal seeds give equal results.
    on_date
        Called with the number of dates done since the last call.

    Raises
    ------
    InputError
        When ``permutations`` or ``seed`` is out of range.
    """
    if permutations < 1 or seed < 0:
        raise InputError(f"permutations = {permutations}, seed = {seed}; at least 1 is needed, and seed 0 or above")
    shuffling, resampling = (np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(2))
    drawn = shuffles(runs, permutations, shuffling)
    replayed = [replay(run, drawn, on_date) for run in runs]
    days = [dated.decided_at.date() for run in runs for dated in measured_dates(run)]
    n_days = len(set(days))
    block = int(np.ceil(round(n_days ** (1 / 3), 9))) if n_days else 0
    nothing = _nothing(runs, replayed, n_days)
    scores = gains = over_none = None
    if nothing is None:
        means = _Means(days, _resampled(n_days, block, resampling))
        scores = means.effect([item.scores for item in replayed])
        gains = means.effect([item.gains for item in replayed])
        over_none = means.estimate(np.concatenate([item.over_none for item in replayed]))
    return PermutationTest(
        runs=tuple(run.name for run in runs),
        n_dates=len(days),
        n_left_out=sum(len(run.dates) for run in runs) - len(days),
        n_days=n_days,
        block=block,
        n_spoke=int(sum(item.spoke.sum() for item in replayed)),
        n_acted=int(sum(item.acted.sum() for item in replayed)),
        n_experiences=len({(run.memory, name) for run in runs for dated in run.dates for name in dated.ids}),
        permutations=permutations,
        seed=seed,
        forward_score=scores,
        gain=gains,
        over_none=over_none,
        nothing=nothing,
    )


def _nothing(runs: Sequence[TrialledRun], replayed: Sequence[Replayed], n_days: int) -> str | None:
    dates = [dated for run in runs for dated in run.dates]
    if not dates:
        return "no decision has an outcome yet"
    if all(len(dated.ids) < 2 for dated in dates):
        return "no decision recalled two experiences, and a memory is compared with those recalled beside it"
    if n_days < 2:
        return f"contributions are known on {n_days} day{'' if n_days == 1 else 's'}, and at least 2 are needed"
    if not any((item.scores != 0).any() or (item.gains != 0).any() for item in replayed):
        return "the values never told one experience from another, nor do they under any other naming"
    return None


class _Means:
    """Means of date-wise values: their place among shuffled ones, and their spread over resampled days."""

    def __init__(self, days: Sequence[date], draws: NDArray[np.intp]) -> None:
        distinct = {day: number for number, day in enumerate(sorted(set(days)))}
        self._rows = np.array([distinct[day] for day in days], dtype=np.intp)
        self._counts = np.bincount(self._rows).astype(np.float64)
        self._draws = draws

    def effect(self, tables: Sequence[NDArray[np.float64]]) -> Effect:
        """From one (n_dates, 1 + P) table per run, the true naming in column 0."""
        values = np.concatenate(tables)
        statistic = values.mean(axis=0)
        floor = statistic[0] - _TIED * np.abs(values).max(initial=0.0)
        found = self.estimate(values[:, 0])
        p = float((statistic >= floor).sum()) / statistic.size
        return Effect(mean=found.mean, low=found.low, high=found.high, p=p)

    def estimate(self, values: NDArray[np.float64]) -> Estimate:
        """From the values of all dates, (n_dates,)."""
        sums = np.bincount(self._rows, weights=values)
        means = sums[self._draws].sum(axis=1) / self._counts[self._draws].sum(axis=1)
        tail = 100 * (1 - LEVEL) / 2
        low, high = np.percentile(means, [tail, 100 - tail]).tolist()
        return Estimate(mean=float(values.mean()), low=low, high=high)


def _resampled(n: int, block: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Days of each bootstrap sample, (BOOTSTRAPS, n): blocks of neighbours from random starts, around the end."""
    starts = rng.integers(0, n, (BOOTSTRAPS, -(-n // block)))
    days = (starts[:, :, None] + np.arange(block)) % n
    return days.reshape(BOOTSTRAPS, -1)[:, :n]
