"""A verdict on every memory of an agent, from its journal."""

from __future__ import annotations

from bisect import bisect_left
from datetime import datetime
from math import ceil

import numpy as np

from memtrial.records import Decision, Expiry, Outcome, utc
from memtrial.store import Store
from memtrial.trial import Standing, Standings, centre


def standings(
    store: Store, *, scope: str, agent: str, as_of: datetime, alpha: float = 0.05, holding: int | None = None
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
        Number of wealths that take turns, as :attr:`memtrial.trial.Settings.holding`; by default the number of
        decisions within which nine in ten outcomes were known. A wealth never bets again before its last outcome is
        known, so a number that is too small costs evidence, never validity.
    """
    moment = utc(as_of, "as_of")
    history = _History(moment)
    for event in store.journal(scope, agent):
        history.add(event)
    turns = holding or history.usual_wait()
    judged = Standings(alpha, turns)
    betting = history.betting(turns)
    for outcome in sorted(
        history.known(), key=lambda item: (item.known_at, history.decisions[item.decision_id].sequence)
    ):
        decision = history.decisions[outcome.decision_id]
        judged.observe(
            [experience.id for experience in decision.recall.experiences],
            centre(np.array(outcome.contributions)),
            decision=decision.sequence,
            bets=outcome.decision_id in betting,
        )
    return judged.standing()


class _History:
    """An agent's decisions and when each was closed."""

    def __init__(self, as_of: datetime) -> None:
        self._as_of = as_of
        self.decisions: dict[str, Decision] = {}
        self._outcomes: list[Outcome] = []
        self._expired: set[str] = set()

    def add(self, event: Decision | Outcome | Expiry) -> None:
        if isinstance(event, Decision):
            if event.decided_at <= self._as_of:
                self.decisions[event.id] = event
        elif isinstance(event, Outcome):
            if event.known_at <= self._as_of:
                self._outcomes.append(event)
        else:
            self._expired.add(event.decision_id)

    def known(self) -> list[Outcome]:
        """Outcomes that measured something."""
        return [outcome for outcome in self._outcomes if outcome.contributions]

    def usual_wait(self) -> int:
        """Number of decisions from one to the first that knew its outcome, for nine in ten outcomes; at least 1."""
        times = [decision.decided_at for decision in self.decisions.values()]
        waits = [
            bisect_left(times, outcome.known_at) - self.decisions[outcome.decision_id].sequence
            for outcome in self._outcomes
        ]
        return min(max(1, sorted(waits)[ceil(0.9 * len(waits)) - 1]), MOST_TURNS) if waits else 1

    def betting(self, turns: int) -> set[str]:
        """Decisions that were taken when the last bet of their turn was closed."""
        closed = {outcome.decision_id: outcome.known_at for outcome in self._outcomes}
        last: dict[int, str] = {}
        found: set[str] = set()
        for decision in self.decisions.values():
            turn = decision.sequence % turns
            before = last.get(turn)
            end = None if before is None else closed.get(before)
            if before is None or before in self._expired or (end is not None and end <= decision.decided_at):
                last[turn] = decision.id
                found.add(decision.id)
        return found


MOST_TURNS = 1000
"""More wealths than this per memory would learn nothing."""
