"""Decisions that wait for their outcome, and outcomes that wait to be learned."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import DecisionError, InputError, TimeError
from memtrial.records import Learner, utc
from memtrial.trial.anchor import REFERENCE_WEIGHTS
from memtrial.trial.design import Design


@dataclass(frozen=True, slots=True)
class Learned:
    """What one outcome taught (paper Eqs. 3, 4, 8).

    Attributes
    ----------
    decision_id
        The decision that was settled.
    contributions
        Counterfactual contribution of each recalled experience, in rank order, a fraction per period; None when the
        valid drafts cannot separate the experiences.
    centred
        The same relative to their mean on the date.
    scores
        Forward score of each learner's stored prediction; a learner without a score is absent.
    """

    decision_id: str
    contributions: tuple[float, ...] | None
    centred: tuple[float, ...] | None
    scores: Mapping[Learner, float]


@dataclass(slots=True, eq=False)
class Pending:
    """A decision as it is kept until it is learned; what follows ``number`` is filled by its outcome.

    ``features`` (k, d), ``predictions`` (k,) by learner, ``valid`` (n_drafts,), ``earned`` (n_drafts,), ``centred`` and
    ``pooled`` (k,), ``blends`` (201,). ``reference_weight`` and ``bets`` are those of its verdict.
    """

    id: str
    at: datetime
    retrieved: tuple[str, ...]
    features: NDArray[np.float64]
    design: Design
    valid: NDArray[np.bool_]
    predictions: Mapping[Learner, NDArray[np.float64]]
    reference_weight: float = 1.0
    bets: bool = False
    number: int = -1
    earned: NDArray[np.float64] | None = None
    spread: float = 0.0
    centred: NDArray[np.float64] | None = None
    pooled: NDArray[np.float64] | None = None
    scores: dict[Learner, float] | None = None
    blends: NDArray[np.float64] | None = None

    @property
    def measured(self) -> bool:
        """Whether the outcome told experiences apart: one alone is always 0 after centring, which says nothing."""
        return self.centred is not None and len(self.retrieved) >= 2

    @classmethod
    def checked(
        cls,
        decision_id: str,
        retrieved: Sequence[str],
        features: ArrayLike,
        valid: ArrayLike,
        at: datetime,
        *,
        design: Design,
        dimensions: int,
    ) -> Pending:
        """A decision without predictions, or the error that says what is wrong with it."""
        ids = tuple(retrieved)
        where = f"decision {decision_id}"
        if len(set(ids)) != len(ids):
            raise InputError(f"{where}: an experience was recalled twice in {list(ids)}; recall each once")
        content = np.array(features, dtype=np.float64)
        if content.size == 0:
            content = content.reshape(0, dimensions)
        if content.shape != (len(ids), dimensions) or not np.isfinite(content).all():
            raise InputError(
                f"{where}: features must be finite, shape ({len(ids)}, {dimensions}), got {content.shape}; "
                "give 0 for unknown content"
            )
        usable = np.array(valid)
        if usable.dtype != np.bool_ or usable.shape != (design.n_drafts,) or design.k != len(ids):
            raise InputError(f"{where}: validity must be {design.n_drafts} booleans, one per draft of {len(ids)}")
        return cls(decision_id, utc(at, "at"), ids, content, design, usable, {})

    def utilities(self, given: ArrayLike) -> NDArray[np.float64]:
        """``given`` as (n_drafts,) utilities, or the error: only valid drafts can have earned something."""
        utility = np.asarray(given, dtype=np.float64)
        if utility.shape != self.valid.shape:
            raise InputError(f"decision {self.id}: {self.valid.size} utilities are needed, got shape {utility.shape}")
        extra = np.flatnonzero(~self.valid & ~np.isnan(utility))
        if extra.size:
            raise InputError(f"decision {self.id}: draft {extra[0]} was not valid, its utility must be NaN")
        return utility

    def blend_utilities(self, given: ArrayLike | None) -> NDArray[np.float64] | None:
        """``given`` as (201,) utilities, or the error."""
        if given is None:
            return None
        utility = np.array(given, dtype=np.float64)
        if not self.valid.any():
            raise InputError(f"decision {self.id} had no valid draft to blend with; pass blend_utilities=None")
        if utility.shape != REFERENCE_WEIGHTS.shape or not np.isfinite(utility).all():
            raise InputError(
                f"decision {self.id}: {REFERENCE_WEIGHTS.size} finite utilities of blends are needed, "
                f"got shape {utility.shape}"
            )
        return utility


class Docket:
    """Keeps decisions from the moment they are made to the moment their outcome is learned."""

    def __init__(self) -> None:
        self._open: dict[str, Pending] = {}
        self._delivered: list[tuple[datetime, int, Pending]] = []
        self._closed: dict[str, Literal["settled", "expired"]] = {}
        self._made = 0
        self._horizon = datetime.min.replace(tzinfo=UTC)

    @property
    def made(self) -> int:
        """Number of decisions so far, which is the number of the next."""
        return self._made

    @property
    def open(self) -> tuple[str, ...]:
        """Decisions without an outcome, oldest first."""
        return tuple(self._open)

    def unlearned(self) -> Iterator[Pending]:
        """Every decision that has not been learned."""
        yield from self._open.values()
        yield from (pending for _, _, pending in self._delivered)

    def admit(self, pending: Pending) -> None:
        """Raise when the decision is not new, or was taken before an outcome that was already learned."""
        if pending.id in self._open or pending.id in self._closed:
            raise DecisionError(f"decision {pending.id} was already made; every decision needs its own id")
        self.not_before_horizon(pending.at)

    def not_before_horizon(self, at: datetime) -> None:
        """Raise when ``at`` lies before an outcome that was already learned: it would look ahead."""
        if at < self._horizon:
            raise TimeError(
                f"at {at.isoformat()} lies before an outcome that was already learned, "
                f"known at {self._horizon.isoformat()}; take decisions in the order of time"
            )

    def register(self, pending: Pending) -> None:
        """Keep a new decision."""
        pending.number = self._made
        self._made += 1
        self._open[pending.id] = pending

    def waiting(self, decision_id: str) -> Pending:
        """The decision without an outcome, or the error."""
        pending = self._open.get(decision_id)
        if pending is None:
            state = self._closed.get(decision_id)
            raise DecisionError(
                f"decision {decision_id} was already {state}"
                if state
                else f"decision {decision_id} is unknown; act on it, or restore it, first"
            )
        return pending

    def close(self, pending: Pending, known_at: datetime | None) -> None:
        """Its outcome was delivered, to be learned from ``known_at`` on, or (None) will never come."""
        del self._open[pending.id]
        self._closed[pending.id] = "expired" if known_at is None else "settled"
        if known_at is not None:
            heapq.heappush(self._delivered, (known_at, pending.number, pending))

    def take_due(self, at: datetime) -> Iterator[Pending]:
        """Hand over the outcomes known by ``at``, in the order (known, decision)."""
        while self._delivered and self._delivered[0][0] <= at:
            known, _, pending = heapq.heappop(self._delivered)
            # One that was delivered late may have been known before what is already learned.
            self._horizon = max(self._horizon, known)
            yield pending

    def due(self, at: datetime) -> list[Pending]:
        """The outcomes that ``take_due`` would hand over, which stay where they are."""
        entries = sorted(self._delivered, key=lambda entry: entry[:2])
        return [pending for known, _, pending in entries if known <= at]
