"""Runs that agents left in a store."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.permute.dates import TrialledDate, TrialledRun
from memtrial.errors import InputError
from memtrial.records import Decision, Expiry, Outcome
from memtrial.trial import ContentBasis, design

if TYPE_CHECKING:
    from memtrial.store import Store

Contents = dict[str, NDArray[np.float64]]


def recorded_runs(url: str, *, scope: str | None = None, agent: str | None = None) -> tuple[TrialledRun, ...]:
    """The deployments in the store at ``url``, in the order of their first decisions.

    Parameters
    ----------
    url
        ``sqlite:///memtrial.db``; the store has to exist.
    scope, agent
        Only those of this scope and of this agent; by default the agents of the scope that came last.

    Raises
    ------
    StoreError
        The store cannot be read.
    InputError
        No such agent decided anything.
    """
    from memtrial.store import Store

    with Store(url, create=False) as store:
        return tuple(_run(store, *pair) for pair in agents_asked(store, url, scope, agent))


def agents_asked(store: Store, url: str, scope: str | None, agent: str | None) -> list[tuple[str, str]]:
    """Scope and name of the agents in the store at ``url`` that were asked for.

    Without a scope or an agent, those of the scope that came last: runs of other scopes are other experiments.

    Raises
    ------
    InputError
        When there is none, naming those that there are.
    """
    everyone = store.agents()
    if scope is None and agent is None and everyone:
        scope = everyone[-1][0]
    chosen = [pair for pair in everyone if scope in (None, pair[0]) and agent in (None, pair[1])]
    if chosen:
        return chosen
    if not everyone:
        raise InputError(f"{url} holds no decision; name a store that a run wrote")
    known = "; ".join(f"agent {name} in scope {where}" for where, name in everyone)
    asked = " ".join(f"{what} {value!r}" for what, value in (("scope", scope), ("agent", agent)) if value is not None)
    raise InputError(f"{url} holds no decision of {asked}; it holds {known}")


def _run(store: Store, scope: str, agent: str) -> TrialledRun:
    reader = _Reader(store, scope)
    for event in store.journal(scope, agent):
        if isinstance(event, Decision):
            reader.decided(event)
        elif isinstance(event, Outcome):
            reader.settled(event)
        else:
            reader.expired(event)
    return TrialledRun(name=f"agent {agent}, scope {scope}", memory=scope, dates=reader.dates())


class _Reader:
    """Takes an agent's journal in, event by event."""

    def __init__(self, store: Store, scope: str) -> None:
        self._store, self._scope = store, scope
        self._decisions: dict[str, Decision] = {}
        self._outcomes: dict[str, tuple[Outcome, datetime]] = {}
        self._rebased: dict[str, Contents] = {}
        self._basis: str | None = None
        self._seen: dict[str, None] = {}
        self._last: datetime | None = None

    def decided(self, decision: Decision) -> None:
        if decision.basis is not None and decision.basis != self._basis:
            self._basis = decision.basis
            self._rebased[decision.id] = self._contents(decision.basis)
        self._seen.update(dict.fromkeys(experience.id for experience in decision.recall.experiences))
        self._decisions[decision.id] = decision
        self._last = decision.decided_at

    def _contents(self, basis_id: str) -> Contents:
        """Features of everything recalled before, in a new basis."""
        ids = list(self._seen)
        stored = self._store.basis(basis_id)
        vectors = self._store.vectors(self._scope, ids, stored.embedder).astype(np.float64)
        if not ids or not vectors.shape[1]:
            return {}
        features = ContentBasis(mean=stored.mean, projection=stored.projection).features(vectors)
        return dict(zip(ids, features, strict=True))

    def settled(self, outcome: Outcome) -> None:
        usable = outcome.known_at
        # One that was delivered late was of no use to the decisions taken meanwhile.
        if self._last is not None and self._last >= usable:
            usable = self._last + timedelta(microseconds=1)
        self._outcomes[outcome.decision_id] = (outcome, usable)

    def expired(self, expiry: Expiry) -> None:
        self._outcomes.pop(expiry.decision_id, None)

    def dates(self) -> tuple[TrialledDate, ...]:
        """The decisions that have an outcome, in the order of time."""
        made: list[TrialledDate] = []
        # A new basis counts from its decision on, even if that one has no outcome.
        rebased: Contents | None = None
        for identity, decision in self._decisions.items():
            if identity in self._rebased:
                rebased = self._rebased[identity]
            if identity in self._outcomes:
                made.append(_dated(decision, *self._outcomes[identity], rebased))
                rebased = None
        return tuple(made)


def _dated(decision: Decision, outcome: Outcome, usable: datetime, rebased: Contents | None) -> TrialledDate:
    shown = decision.recall.experiences
    drafted = design(len(shown), decision.design)
    # A further draft, made of the memories valued above 0, is no part of the design.
    earned = outcome.draft_utilities[: drafted.n_drafts]
    return TrialledDate(
        decided_at=decision.decided_at,
        known_at=usable,
        ids=tuple(experience.id for experience in shown),
        features=np.array(decision.features, dtype=np.float64).reshape(len(shown), -1 if shown else 1),
        design=drafted,
        utilities=np.array([np.nan if value is None else value for value in earned]),
        rebased=rebased,
    )
