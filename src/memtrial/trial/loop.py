"""The trial of a memory, date by date: act before the outcome, learn after it (paper Algorithms F.1-F.3)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError, TimeError
from memtrial.records import Learner, Verdict, utc
from memtrial.trial.anchor import Anchor
from memtrial.trial.attribution import centre, contributions
from memtrial.trial.design import Design, design
from memtrial.trial.docket import Docket, Learned, Pending
from memtrial.trial.settings import Settings
from memtrial.trial.trust import Scores, forward_score
from memtrial.trial.values import Value, ValueModel, checked_features
from memtrial.trial.verdict import judge

LEARNERS: tuple[Learner, Learner] = ("per_experience", "content_aware")
"""The two value models, in the order in which they are reported."""


class Trial:
    """One agent's memory on trial (paper Algorithm F.1).

    For each decision: ``plan`` the drafts, ``act`` before the outcome, ``settle`` once it is known. An outcome enters
    the statistics at the first ``act`` whose ``at`` is not before its ``known_at``; outcomes may come late, in any
    order, or never (``expire``). A log of restored decisions and outcomes, replayed in order, gives the same bytes.

    Parameters
    ----------
    settings
        Defaults to the paper's.

    Attributes
    ----------
    settings
        What the trial runs with.
    hold
        Shadow mode; may be switched at any time, since it changes no statistic.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.paper()
        self.hold = self.settings.hold
        self._values = ValueModel(self.settings.dimensions, self.settings.content_grid, self.settings.deviation_grid)
        self._scores: dict[Learner, Scores] = {learner: Scores() for learner in LEARNERS}
        self._anchor = Anchor(self.settings.alpha0, self.settings.lambda0)
        self._docket = Docket()

    @property
    def pending(self) -> tuple[str, ...]:
        """Decisions that wait for their outcome, oldest first."""
        return self._docket.open

    def plan(self, k: int) -> Design:
        """The subsets to draft when ``k`` experiences were recalled (paper Eq. 2).

        One or two experiences are always drafted in full: half of their subsets could not measure them.
        """
        return design(k, "full" if k <= 2 else self.settings.design)

    def act(
        self,
        decision_id: str,
        *,
        retrieved: Sequence[str],
        features: ArrayLike,
        valid: ArrayLike,
        at: datetime,
    ) -> Verdict:
        """Judge memory for one decision, before its outcome (paper Algorithm F.1 lines 5-11).

        First learns every outcome delivered so far with ``known_at`` not after ``at``, in the order (known_at,
        decision). Then fits, predicts, tests, and keeps the decision, with both predictions, until it is settled.

        Parameters
        ----------
        decision_id
            A new id.
        retrieved
            Ids of the k recalled experiences in rank order, without repeats.
        features
            Their content features, (k, d); 0 where the content is unknown.
        valid
            Whether each draft of ``plan(k)`` is valid, bool (n_drafts,).
        at
            When the decision is taken (aware).

        Raises
        ------
        InputError
            Repeated experiences, or an array of the wrong shape.
        TimeError
            ``at`` has no time zone, or lies before an outcome that was already learned.
        DecisionError
            The decision was already made.
        """
        pending = self._admitted(decision_id, retrieved, features, valid, at, self.plan(len(retrieved)))
        self._learn_due(pending.at)
        pending.predictions = self._values.predict(pending.retrieved, pending.features)
        verdict = judge(
            self.settings,
            design=pending.design,
            valid=pending.valid,
            predictions=pending.predictions,
            scores=self._scores,
            reference_weight=self._anchor.weight(),
            hold=self.hold,
        )
        self._docket.register(pending)
        return verdict

    def restore(
        self,
        decision_id: str,
        *,
        retrieved: Sequence[str],
        features: ArrayLike,
        predictions: Mapping[Learner, ArrayLike],
        valid: ArrayLike,
        at: datetime,
        design: Design | None = None,
    ) -> None:
        """Take up a past decision as it was stored, in the place of its ``act``, without fitting anything.

        Parameters
        ----------
        decision_id, retrieved, features, valid, at
            As they were given to ``act``.
        predictions
            ``Verdict.values`` of the decision, both learners, (k,) each.
        design
            The design that was drafted; defaults to ``plan(k)``.

        Raises
        ------
        InputError, TimeError, DecisionError
            As ``act``.
        """
        pending = self._admitted(decision_id, retrieved, features, valid, at, design or self.plan(len(retrieved)))
        stored: dict[Learner, NDArray[np.float64]] = {}
        for learner in LEARNERS:
            values = np.array(predictions.get(learner, np.nan), dtype=np.float64)
            if values.shape != (len(pending.retrieved),) or not np.isfinite(values).all():
                raise InputError(f"decision {decision_id}: {len(pending.retrieved)} {learner} values are needed")
            stored[learner] = values
        pending.predictions = stored
        self._learn_due(pending.at)
        self._docket.register(pending)

    def _admitted(
        self,
        decision_id: str,
        retrieved: Sequence[str],
        features: ArrayLike,
        valid: ArrayLike,
        at: datetime,
        design: Design,
    ) -> Pending:
        pending = Pending.checked(
            decision_id, retrieved, features, valid, at, design=design, dimensions=self.settings.dimensions
        )
        self._docket.admit(pending)
        return pending

    def _learn_due(self, at: datetime) -> None:
        for pending in self._docket.take_due(at):
            for learner, score in (pending.scores or {}).items():
                self._scores[learner].add(score)
            _observe(self._values, pending)
            if pending.blends is not None:
                self._anchor.learn(pending.blends)

    def settle(
        self,
        decision_id: str,
        *,
        utilities: ArrayLike,
        blend_utilities: ArrayLike | None,
        known_at: datetime,
    ) -> Learned:
        """Deliver the outcome of a decision (paper Algorithm F.1 lines 12-14).

        What it taught is computed at once, from the stored predictions, and returned; it counts for decisions from
        ``known_at`` on.

        Parameters
        ----------
        decision_id
            A decision that waits for its outcome.
        utilities
            Utility of each draft, (n_drafts,), a fraction per period; NaN where the draft is missing.
        blend_utilities
            Utility of each blend on ``REFERENCE_WEIGHTS``, (201,), a fraction per period; None when there was no valid
            draft to blend with.
        known_at
            When the outcome was known (aware).

        Raises
        ------
        DecisionError
            The decision is unknown, already settled or expired.
        TimeError
            ``known_at`` has no time zone or lies before the decision.
        InputError
            An array of the wrong shape, or a number for a draft that was not valid. Nothing is changed.
        """
        pending = self._docket.waiting(decision_id)
        known = utc(known_at, "known_at")
        if known < pending.at:
            raise TimeError(
                f"decision {decision_id} was taken at {pending.at.isoformat()}; "
                f"its outcome cannot have been known before, at {known.isoformat()}"
            )
        effects = contributions(pending.design, pending.utilities(utilities))
        pending.blends = pending.blend_utilities(blend_utilities)
        pending.centred = None if effects is None else centre(effects)
        pending.scores = _scores(pending)
        self._docket.close(pending, known)
        return Learned(
            decision_id,
            None if effects is None else tuple(effects.tolist()),
            None if pending.centred is None else tuple(pending.centred.tolist()),
            pending.scores,
        )

    def expire(self, decision_id: str) -> None:
        """Give up a decision whose outcome will never come; nothing is learned from it.

        Raises
        ------
        DecisionError
            The decision is unknown, already settled or expired.
        """
        self._docket.close(self._docket.waiting(decision_id), None)

    def rebase(self, features: Mapping[str, ArrayLike]) -> None:
        """Replace the content features of all experiences after the content basis was refitted.

        Predictions that were made are kept as they are. Costs one pass over the experiences.

        Parameters
        ----------
        features
            New features (d,) by experience; one that is not given has unknown content, features 0.

        Raises
        ------
        InputError
            When a vector is not (d,) and finite; nothing is changed.
        """
        d = self.settings.dimensions
        checked = {identity: checked_features(vector, d, identity) for identity, vector in features.items()}
        unknown = np.zeros(d)
        self._values.rebase(checked)
        for pending in self._docket.unlearned():
            rows = [checked.get(identity, unknown) for identity in pending.retrieved]
            pending.features = np.array(rows).reshape(-1, d)

    def values(self, at: datetime | None = None) -> tuple[Value, ...]:
        """What is known about every measured experience: value, spread, number of dates; O(H).

        With ``at`` also the outcomes delivered and known by then are counted; otherwise it is the state of the last
        decision. The trial itself is not changed.
        """
        if at is None:
            return self._values.values()
        moment = utc(at, "at")
        self._docket.not_before_horizon(moment)
        model = copy.deepcopy(self._values)
        for pending in self._docket.due(moment):
            _observe(model, pending)
        return model.values()


def _scores(pending: Pending) -> dict[Learner, float]:
    """Forward score of each stored prediction against what was measured (paper Eq. 8)."""
    if pending.centred is None:
        return {}
    scores: dict[Learner, float] = {}
    for learner in LEARNERS:
        score = forward_score(pending.predictions[learner], pending.centred)
        if score is not None:
            scores[learner] = score
    return scores


def _observe(model: ValueModel, pending: Pending) -> None:
    # One experience alone is always 0 after centring: that says nothing about it.
    if pending.centred is not None and len(pending.retrieved) >= 2:
        model.observe(pending.retrieved, pending.features, pending.centred)
