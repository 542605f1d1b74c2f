"""A run replayed under many namings of its memories: learn, predict, score, choose (paper Eqs. 5-8 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.permute.beliefs import Beliefs
from memtrial.bench.permute.dates import TrialledDate, TrialledRun
from memtrial.bench.permute.shuffles import Key, key
from memtrial.trial import Settings
from memtrial.trial.trust import CONSTANT

MIN_SCORES = Settings.paper().min_scores
"""Scores that both learners need before the better one speaks."""
_CELLS = 4_000_000
"""Memories times histories worked on at once."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Replayed:
    """What the values would have said on every date of a run, by naming; the first naming is the true one.

    Attributes
    ----------
    scores
        Forward score of the learner that speaks, (n_dates, n_histories); 0 where its values say nothing.
    gains
        What the chosen draft earned beyond the mean valid draft of its size, a fraction per period, the same shape; 0
        where no subset has a positive total.
    over_none
        What the true naming's choice earned beyond the draft that was shown no memory, a fraction per period,
        (n_dates,); 0 where it chooses none or that draft is missing.
    spoke
        Whether the true naming has a score, bool (n_dates,).
    acted
        Whether the true naming chooses a draft, bool (n_dates,).
    """

    scores: NDArray[np.float64]
    gains: NDArray[np.float64]
    over_none: NDArray[np.float64]
    spoke: NDArray[np.bool_]
    acted: NDArray[np.bool_]


def replay(
    run: TrialledRun, drawn: Mapping[Key, NDArray[np.intp]], on_date: Callable[[float], object] = bool
) -> Replayed:
    """Replay ``run`` under every naming in ``drawn``, each date with what was known at it.

    Dates without contributions are left out: they teach nothing and nothing is asked of them. ``on_date`` is told
    which part of a date was done, 1 at a time unless the namings are too many to be worked on at once.
    """
    rows = {name: row for row, name in enumerate(sorted({name for dated in run.dates for name in dated.ids}))}
    histories = next(iter(drawn.values())).shape[1] if drawn else 1
    step = max(1, _CELLS // max(len(rows), 1))
    starts = range(0, histories, step)
    pieces = [
        _Replay(run, rows, {name: orders[:, start : start + step] for name, orders in drawn.items()}).run(
            lambda: on_date(1 / len(starts))
        )
        for start in starts
    ]
    return Replayed(
        scores=np.concatenate([piece.scores for piece in pieces], axis=1),
        gains=np.concatenate([piece.gains for piece in pieces], axis=1),
        over_none=pieces[0].over_none,
        spoke=pieces[0].spoke,
        acted=pieces[0].acted,
    )


def measured_dates(run: TrialledRun) -> tuple[TrialledDate, ...]:
    """The dates of a run whose contributions are known."""
    return tuple(dated for dated in run.dates if dated.centred is not None)


@dataclass(slots=True, eq=False)
class _Waiting:
    dated: TrialledDate
    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    centred: NDArray[np.float64]
    scores: tuple[NDArray[np.float64], NDArray[np.float64]]


class _Replay:
    def __init__(self, run: TrialledRun, rows: Mapping[str, int], drawn: Mapping[Key, NDArray[np.intp]]) -> None:
        self._run, self._rows, self._drawn = run, rows, drawn
        self._histories = next(iter(drawn.values())).shape[1] if drawn else 1
        d = next((dated.features.shape[1] for dated in run.dates if dated.ids), 1)
        self._beliefs = Beliefs(len(rows), d, self._histories)
        # Number and sum of the scores of both learners.
        self._n = np.zeros((2, self._histories))
        self._sums = np.zeros((2, self._histories))
        self._waiting: list[_Waiting] = []

    def run(self, on_date: Callable[[], object]) -> Replayed:
        scores: list[NDArray[np.float64]] = []
        gains: list[NDArray[np.float64]] = []
        over_none: list[float] = []
        spoke: list[np.bool_] = []
        acted: list[np.bool_] = []
        for dated in self._run.dates:
            self._learn(dated)
            if dated.rebased is not None:
                self._beliefs.rebase(
                    {self._rows[name]: vector for name, vector in dated.rebased.items() if name in self._rows}
                )
            centred = dated.centred
            if centred is not None:
                values, score = self._predict(dated, centred)
                earned, gain = chosen(dated, values)
                scores.append(np.nan_to_num(score))
                gains.append(np.nan_to_num(gain))
                over_none.append(float(np.nan_to_num(earned[0] - dated.utilities[0])))
                spoke.append(np.isfinite(score[0]))
                acted.append(np.isfinite(gain[0]))
            on_date()
        shape = (len(scores), self._histories)
        return Replayed(
            scores=np.array(scores).reshape(shape),
            gains=np.array(gains).reshape(shape),
            over_none=np.array(over_none),
            spoke=np.array(spoke, dtype=np.bool_),
            acted=np.array(acted, dtype=np.bool_),
        )

    def _predict(
        self, dated: TrialledDate, centred: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values of the slots by the learner that speaks, (k, n_histories), and its score, (n_histories,)."""
        ordered = key(dated)[1]
        sorted_rows = np.array([self._rows[name] for name in ordered], dtype=np.intp)
        places = [ordered.index(name) for name in dated.ids]
        labels = sorted_rows[self._drawn[key(dated)]][places]
        rows = sorted_rows[places]
        self._beliefs.see(rows, dated.features)
        predicted = self._beliefs.predict(labels)
        scores = (scored(predicted[0], centred), scored(predicted[1], centred))
        self._waiting.append(_Waiting(dated, rows, labels, centred, scores))
        content = self._content_speaks()
        return np.where(content, predicted[1], predicted[0]), np.where(content, scores[1], scores[0])

    def _content_speaks(self) -> NDArray[np.bool_]:
        mean = self._sums / np.maximum(self._n, 1.0)
        return np.asarray((self._n >= MIN_SCORES).all(axis=0) & (mean[1] > mean[0] + CONSTANT))

    def _learn(self, dated: TrialledDate) -> None:
        """Every outcome known by the decision, in the order in which they became known."""
        due = [item for item in self._waiting if item.dated.known_at <= dated.decided_at]
        self._waiting = [item for item in self._waiting if item.dated.known_at > dated.decided_at]
        for item in sorted(due, key=lambda item: item.dated.known_at):
            self._beliefs.observe(item.rows, item.labels, item.centred)
            for learner, score in enumerate(item.scores):
                self._n[learner] += np.isfinite(score)
                self._sums[learner] += np.nan_to_num(score)


def scored(values: NDArray[np.float64], centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """Forward scores (Eq. 8) of values (k, n_histories): (n_histories,), NaN where either side is constant."""
    right = _directions(centred[:, None])
    return np.clip((_directions(values) * right).sum(axis=0), -1.0, 1.0)


def _directions(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns centred and scaled to length 1; NaN where a column is constant."""
    deviation = numbers - numbers.mean(axis=0)
    norm = np.sqrt((deviation**2).sum(axis=0))
    differs = norm > CONSTANT * len(numbers) * np.abs(numbers).max(axis=0)
    return np.where(differs, deviation / np.where(differs, norm, 1.0), np.nan)


def chosen(dated: TrialledDate, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the draft chosen by Eq. 10 earned, and that less the mean of the valid drafts of its size.

    Values are those of the slots, (k, n_histories); both results are (n_histories,), NaN where no total is positive.
    Of subsets with equal totals the smaller counts; of equal size, their average, so that no rank is favoured.
    """
    valid = np.isfinite(dated.utilities)
    shown = dated.design.membership[valid].astype(np.float64)
    earned, size = dated.utilities[valid], shown.sum(axis=1).astype(np.intp)
    rounding = CONSTANT * np.abs(values).sum(axis=0)
    totals = shown @ values
    highest = totals.max(axis=0)
    tied = totals >= highest - rounding
    smallest = np.where(tied, size[:, None], dated.design.k + 1).min(axis=0)
    best = tied & (size[:, None] == smallest)
    usual = np.array([earned[size == m].mean() if (size == m).any() else np.nan for m in range(dated.design.k + 1)])
    own = np.where(highest > rounding, (best * earned[:, None]).sum(axis=0) / best.sum(axis=0), np.nan)
    return own, own - usual[smallest]
