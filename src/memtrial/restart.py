"""Taking up an agent from the journal of its store: the same events in the same order give the same state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memtrial.content import Content
from memtrial.errors import InputError
from memtrial.models.embedders import Embedder
from memtrial.records import Decision, Expiry, Outcome
from memtrial.store import Store
from memtrial.trial import Settings, Trial, design


@dataclass(kw_only=True, slots=True)
class Replay:
    """An agent's state: its trial, its content basis, its last decision, and its decisions with an outcome."""

    trial: Trial
    content: Content
    last: Decision | None = None
    settled: dict[str, None] = field(default_factory=dict[str, None])


def replayed(
    store: Store,
    *,
    scope: str,
    agent: str,
    assets: tuple[str, ...],
    settings: Settings,
    embedder: Embedder,
    until: datetime,
) -> Replay:
    """The state of an agent from what was decided and known by ``until`` (UTC).

    Raises
    ------
    InputError
        When the agent decided about other assets, or its memory was embedded by another model.
    """
    _check_embedder(store, scope, embedder)
    content = Content(store, scope, embedder, settings.dimensions)
    replay = Replay(trial=Trial(settings), content=content)
    for event in store.journal(scope, agent):
        if isinstance(event, Decision):
            if event.assets != assets:
                raise InputError(
                    f"agent {agent!r} in scope {scope!r} decides about {', '.join(event.assets)}, not about "
                    f"{', '.join(assets)}; use another agent name for other assets"
                )
            if event.decided_at <= until:
                replay.last = event
                _restore(replay, event)
        elif event.decision_id in replay.trial.pending:
            if isinstance(event, Expiry):
                replay.trial.expire(event.decision_id)
            elif event.known_at <= until:
                _settle(replay, event)
    return replay


def _restore(replay: Replay, decision: Decision) -> None:
    replay.content.replay(decision, replay.trial)
    plan = design(len(decision.recall.shown), decision.design)
    replay.trial.restore(
        decision.id,
        retrieved=[experience.id for experience in decision.recall.experiences],
        features=np.array(decision.features),
        verdict=decision.verdict,
        valid=np.array([weights is not None for weights in decision.projected[: plan.n_drafts]]),
        at=decision.decided_at,
        design=plan,
    )


def _settle(replay: Replay, outcome: Outcome) -> None:
    replay.settled[outcome.decision_id] = None
    designed = outcome.draft_utilities[: replay.trial.drafts_of(outcome.decision_id)]
    replay.trial.settle(
        outcome.decision_id,
        utilities=np.array([np.nan if value is None else value for value in designed]),
        blend_utilities=outcome.blend_utilities,
        known_at=outcome.known_at,
    )


def _check_embedder(store: Store, scope: str, embedder: Embedder) -> None:
    known = store.embedders(scope)
    if known and embedder.identity not in known:
        raise InputError(
            f"the memory of scope {scope!r} was embedded with {', '.join(sorted(known))}, not with "
            f"{embedder.identity}; pass that embedder, since vectors of two models cannot be compared"
        )
