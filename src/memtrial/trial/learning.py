"""Everything a trial has learned from settled outcomes, and what it predicts from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.records import Learner
from memtrial.trial.anchor import REFERENCE_WEIGHTS, Anchor
from memtrial.trial.candidates import Candidate
from memtrial.trial.docket import Pending
from memtrial.trial.evidence import Counted
from memtrial.trial.purse import Purses
from memtrial.trial.settings import Settings
from memtrial.trial.trust import Scores
from memtrial.trial.values import Value, ValueModel
from memtrial.trial.verdict import Known
from memtrial.trial.veto import Gaps


@dataclass(slots=True)
class Mean:
    """A running mean."""

    n: int = 0
    total: float = 0.0

    def add(self, number: float) -> None:
        """One more number."""
        self.n += 1
        self.total += number


class Learning:
    """Value models, forward scores, purses, gaps and the anchor, fed one settled decision at a time."""

    def __init__(self, settings: Settings, known: Sequence[Candidate]) -> None:
        self._settings, self._candidates = settings, tuple(known)
        self.models: dict[float | None, ValueModel] = {
            factor: ValueModel(settings.dimensions, settings.content_grid, settings.deviation_grid, factor)
            for factor in dict.fromkeys(candidate.forgetting for candidate in known)
        }
        self._scores: dict[Learner, Scores] = {candidate.name: Scores() for candidate in known}
        self.purses = Purses(
            settings.holding,
            [candidate.stake for candidate in known],
            bet=settings.bet,
            fixed_share=settings.fixed_share,
            cap=settings.cap,
        )
        self._gaps = Gaps()
        self._anchor = Anchor(settings.alpha0, settings.lambda0)
        self._roots = Mean()
        self._dates = 0

    @property
    def unit(self) -> float:
        """What one unit of a pooled value is worth in utility per period: 1, or the mean root of the draft spread."""
        if not self._settings.scaled or not self._roots.n:
            return 1.0
        return self._roots.total / self._roots.n

    def learn(self, pending: Pending) -> None:
        """Take in one settled decision."""
        scores = pending.scores or {}
        for learner, score in scores.items():
            self._scores[learner].add(score)
        self.purses.close(pending.number, [scores.get(candidate.name) for candidate in self._candidates])
        self._observe(pending)
        if pending.measured:
            self._dates += 1
            self._roots.add(pending.spread**0.5)
        if pending.blends is not None:
            self._anchor.learn(pending.blends)
            self._learn_gaps(pending, pending.blends)

    def _observe(self, pending: Pending) -> None:
        for model in self.models.values():
            model.advance(pending.number)
            if pending.measured and pending.pooled is not None:
                model.observe(pending.retrieved, pending.features, pending.pooled, pending.number)

    def _learn_gaps(self, pending: Pending, blends: NDArray[np.float64]) -> None:
        if self._settings.veto is None or pending.earned is None:
            return
        anchor = float(blends[round(pending.reference_weight * (REFERENCE_WEIGHTS.size - 1))])
        self._gaps.learn(pending.design, pending.earned, anchor)

    def predict(self, ids: Sequence[str], features: NDArray[np.float64]) -> dict[Learner, NDArray[np.float64]]:
        """Value of each of ``ids``, (k,), by every candidate, in units of :attr:`unit`."""
        found = {factor: model.predict(ids, features) for factor, model in self.models.items()}
        return {candidate.name: found[candidate.forgetting][candidate.kind] for candidate in self._candidates}

    def known(self) -> Known:
        """What a verdict is made from."""
        kept = self.models[None]
        assert isinstance(kept.evidence, Counted)
        return Known(
            candidates=self._candidates,
            scores=self._scores,
            measured=(kept.evidence, kept.n_experiences, self._dates),
            purses=self.purses,
            gaps=self._gaps,
            unit=self.unit,
            reference_weight=self._anchor.weight(),
        )

    def rebase(self, features: Mapping[str, ArrayLike]) -> None:
        """Replace the content features of all experiences."""
        for model in self.models.values():
            model.rebase(features)

    def values(self) -> tuple[Value, ...]:
        """What is known about every measured experience, by every candidate, in utility per period."""
        unit = self.unit
        tables = {factor: model.values() for factor, model in self.models.items()}
        return tuple(
            Value(
                first.id,
                round(first.n),
                unit * first.mean,
                {c.name: unit * tables[c.forgetting][row].values[c.kind] for c in self._candidates},
                {c.name: unit * tables[c.forgetting][row].sds[c.kind] for c in self._candidates},
            )
            for row, first in enumerate(tables[None])
        )
