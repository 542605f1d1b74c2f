"""The trial of a memory, date by date: act before the outcome, learn after it (paper Algorithms F.1-F.3)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError, TimeError
from memtrial.records import Learner, Verdict, utc
from memtrial.trial.attribution import centre, contributions, scaled, spread
from memtrial.trial.candidates import candidates
from memtrial.trial.design import Design, design
from memtrial.trial.docket import Docket, Learned, Pending
from memtrial.trial.learning import Learning
from memtrial.trial.settings import Settings
from memtrial.trial.trust import forward_score
from memtrial.trial.values import Value, checked_features
from memtrial.trial.verdict import judge, speaks, valued


class Trial:
    """One agent's memory on trial (paper Algorithm F.1).

    For each decision: ``plan`` the drafts, ``act`` before the outcome, ``settle`` once it is known. An outcome enters
    the statistics at the first ``act`` whose ``at`` is not before its ``known_at``; outcomes may come late, in any
    order, or never (``expire``). A log of restored decisions and outcomes, replayed in order, gives the same bytes.

    Parameters
    ----------
    settings
        Defaults to the ``guarded`` preset.

    Attributes
    ----------
    settings
        What the trial runs with.
    hold
        Shadow mode; may be switched at any time, since it changes no statistic.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.guarded()
        self.hold = self.settings.hold
        self._candidates = candidates(self.settings)
        self._learning = Learning(self.settings, self._candidates)
        self._docket = Docket()

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learners whose predictions are kept and scored, in the order in which they are reported."""
        return tuple(candidate.name for candidate in self._candidates)

    @property
    def pending(self) -> tuple[str, ...]:
        """Decisions that wait for their outcome, oldest first."""
        return self._docket.open

    def drafts_of(self, decision_id: str) -> int:
        """Number of designed drafts of a decision that waits for its outcome.

        Raises
        ------
        DecisionError
            The decision is unknown, already settled or expired.
        """
        return self._docket.waiting(decision_id).design.n_drafts

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
        extra: tuple[int, ...] | None = None,
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
        extra
            The subset that :meth:`foresee` asked for, when its draft is valid.

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
        pending.predictions = self._learning.predict(pending.retrieved, pending.features)
        known = self._learning.known()
        number = self._docket.made
        pending.bets = self.settings.trust == "purse" and self._learning.purses.may_bet(number)
        pending.reference_weight = known.reference_weight
        verdict = judge(
            self.settings,
            design=pending.design,
            valid=pending.valid,
            predictions=pending.predictions,
            known=known,
            hold=self.hold,
            extra=extra,
            bets=pending.bets,
        )
        self._register(pending)
        return verdict

    def _register(self, pending: Pending) -> None:
        self._docket.register(pending)
        if pending.bets:
            self._learning.purses.open(pending.number)

    def foresee(self, *, retrieved: Sequence[str], features: ArrayLike, at: datetime) -> tuple[int, ...] | None:
        """The subset outside the design whose draft to make too, before drafting; ``None`` when none is wanted.

        It is the set of experiences valued above 0, wanted where memory would have a weight if all drafts were valid.
        Outcomes known by ``at`` are learned, as :meth:`act` does.

        Parameters
        ----------
        retrieved, features, at
            As for :meth:`act`, which must follow.
        """
        if not self.settings.extra_draft or len(retrieved) < 2:
            return None
        plan = self.plan(len(retrieved))
        valid = np.ones(plan.n_drafts, dtype=np.bool_)
        pending = Pending.checked("", retrieved, features, valid, at, design=plan, dimensions=self.settings.dimensions)
        self._docket.not_before_horizon(pending.at)
        self._learn_due(pending.at)
        predictions = self._learning.predict(pending.retrieved, pending.features)
        known = self._learning.known()
        verdict = judge(self.settings, design=plan, valid=valid, predictions=predictions, known=known, hold=self.hold)
        if verdict.weight == 0.0:
            return None
        wanted = valued(predictions[verdict.learner])
        return None if wanted in plan.subsets else wanted

    def restore(
        self,
        decision_id: str,
        *,
        retrieved: Sequence[str],
        features: ArrayLike,
        verdict: Verdict,
        valid: ArrayLike,
        at: datetime,
        design: Design | None = None,
    ) -> None:
        """Take up a past decision as it was stored, in the place of its ``act``, without fitting anything.

        Parameters
        ----------
        decision_id, retrieved, features, valid, at
            As they were given to ``act``.
        verdict
            The verdict as it was given; its predictions and its reference weight are taken up as they are, its bet only
            when it was made by the present terms of the purse.
        design
            The design that was drafted; defaults to ``plan(k)``.

        Raises
        ------
        InputError, TimeError, DecisionError
            As ``act``.
        """
        pending = self._admitted(decision_id, retrieved, features, valid, at, design or self.plan(len(retrieved)))
        stored: dict[Learner, NDArray[np.float64]] = {}
        for learner in self.learners:
            if learner not in verdict.values:
                continue  # the settings were others then: this learner made no prediction, so it gets no score
            values = np.array(verdict.values[learner], dtype=np.float64)
            if values.shape != (len(pending.retrieved),) or not np.isfinite(values).all():
                raise InputError(f"decision {decision_id}: {len(pending.retrieved)} {learner} values are needed")
            stored[learner] = values
        pending.predictions = stored
        pending.reference_weight = verdict.reference_weight
        # Money won by other terms is not this purse's: choosing terms after the scores are known would be hindsight.
        pending.bets = verdict.bets and verdict.terms == self.settings.purse_terms
        self._learn_due(pending.at)
        self._register(pending)

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
            self._learning.learn(pending)

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
        pending.earned = pending.utilities(utilities)
        effects = contributions(pending.design, pending.earned)
        pending.blends = pending.blend_utilities(blend_utilities)
        pending.centred = None if effects is None else centre(effects)
        self._measure(pending)
        self._docket.close(pending, known)
        return Learned(
            decision_id,
            None if effects is None else tuple(effects.tolist()),
            None if pending.centred is None else tuple(pending.centred.tolist()),
            pending.scores or {},
        )

    def expire(self, decision_id: str) -> None:
        """Give up a decision whose outcome will never come; nothing is learned from it.

        Raises
        ------
        DecisionError
            The decision is unknown, already settled or expired.
        """
        pending = self._docket.waiting(decision_id)
        self._docket.close(pending, None)
        self._learning.purses.close(pending.number, None)

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
        self._learning.rebase(checked)
        for pending in self._docket.unlearned():
            rows = [checked.get(identity, unknown) for identity in pending.retrieved]
            pending.features = np.array(rows).reshape(-1, d)

    def values(self, at: datetime | None = None) -> tuple[Value, ...]:
        """What is known about every measured experience: value, spread, number of dates; O(H).

        With ``at`` also the outcomes delivered and known by then are counted; otherwise it is the state of the last
        decision. The trial itself is not changed.
        """
        if at is None:
            return self._learning.values()
        moment = utc(at, "at")
        self._docket.not_before_horizon(moment)
        learning = copy.deepcopy(self._learning)
        for pending in self._docket.due(moment):
            learning.learn(pending)
        return learning.values()

    def estimate(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Value of each of ``ids``, whose content features are (n, d), by the learner that would speak now.

        (n,), a fraction per period. Outcomes count as far as the last decision learned them.
        """
        known = self._learning.known()
        speaker = speaks(self.settings, known)
        return known.unit * self._learning.predict(ids, features)[speaker]

    def _measure(self, pending: Pending) -> None:
        """Forward score of each stored prediction against what was measured (paper Eq. 8), and what is pooled."""
        pending.scores = {}
        if pending.centred is None or pending.earned is None:
            return
        if self.settings.scaled:
            pending.spread = spread(pending.earned)
            if pending.spread == 0.0:
                pending.centred = np.zeros_like(pending.centred)
            pending.pooled = scaled(pending.centred, pending.spread)
        else:
            pending.pooled = pending.centred
        for learner, predicted in pending.predictions.items():
            score = forward_score(predicted, pending.centred)
            if score is not None:
                pending.scores[learner] = score
