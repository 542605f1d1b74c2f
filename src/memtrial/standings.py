"""A verdict on every memory of an agent, from its journal."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from memtrial.records import Decision, Outcome, utc
from memtrial.store import Store
from memtrial.trial import Standing, Standings, centre


def standings(
    store: Store, *, scope: str, agent: str, as_of: datetime, alpha: float = 0.05, holding: int = 1
) -> tuple[Standing, ...]:
    """Which memories were shown to help, which to harm, and which are not known, at a time.

    Only decisions and outcomes known by ``as_of`` count. Memories that harm are proposed for retirement; nothing is
    removed.

    Parameters
    ----------
    store, scope, agent
        Whose decisions.
    as_of
        Aware.
    alpha
        Largest expected share of false verdicts among those given.
    holding
        As :attr:`memtrial.trial.Settings.holding`.
    """
    moment = utc(as_of, "as_of")
    decisions: dict[str, Decision] = {}
    outcomes: list[Outcome] = []
    for event in store.journal(scope, agent):
        if isinstance(event, Decision):
            decisions[event.id] = event
        elif isinstance(event, Outcome) and event.known_at <= moment and event.contributions:
            outcomes.append(event)
    judged = Standings(alpha, holding)
    for outcome in sorted(outcomes, key=lambda item: (item.known_at, decisions[item.decision_id].sequence)):
        decision = decisions[outcome.decision_id]
        ids = [experience.id for experience in decision.recall.experiences]
        judged.observe(ids, centre(np.array(outcome.contributions)), decision=decision.sequence)
    return judged.standing()
