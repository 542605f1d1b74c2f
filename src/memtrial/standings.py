"""A verdict on every memory of an agent, from its journal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from datetime import datetime
from math import ceil

import numpy as np

from memtrial.records import Decision, Outcome, utc
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
    decisions: list[Decision] = []
    outcomes: list[Outcome] = []
    expired: set[str] = set()
    for event in store.journal(scope, agent):
        if isinstance(event, Decision):
            if event.decided_at <= moment:
                decisions.append(event)
        elif isinstance(event, Outcome):
            if event.known_at <= moment:
                outcomes.append(event)
        else:
            expired.add(event.decision_id)
    return standings_of(decisions, outcomes, expired=expired, alpha=alpha, holding=holding)


def standings_of(
    decisions: Sequence[Decision],
    outcomes: Sequence[Outcome],
    *,
    expired: Collection[str] = (),
    alpha: float = 0.05,
    holding: int | None = None,
) -> tuple[Standing, ...]:
    """:func:`standings` from the records themselves: an agent's ``decisions`` in order, and what came of them.

    Parameters
    ----------
    decisions, outcomes
        Everything that counts.
    expired
        Decisions whose outcome was given up.
    alpha, holding
        As for :func:`standings`.
    """
    turns = holding or _usual_wait(decisions, outcomes)
    made = {decision.id: decision for decision in decisions}
    betting = _betting(decisions, outcomes, expired, turns)
    judged = Standings(alpha, turns)
    for outcome in sorted(outcomes, key=lambda item: (item.known_at, made[item.decision_id].sequence)):
        if outcome.contributions:
            decision = made[outcome.decision_id]
            judged.observe(
                [experience.id for experience in decision.recall.experiences],
                centre(np.array(outcome.contributions)),
                decision=decision.sequence,
                bets=decision.id in betting,
            )
    return judged.standing()


def _usual_wait(decisions: Sequence[Decision], outcomes: Sequence[Outcome]) -> int:
    """Number of decisions from one to the first that knew its outcome, for nine in ten outcomes; at least 1."""
    times = [decision.decided_at for decision in decisions]
    place = {decision.id: row for row, decision in enumerate(decisions)}
    waits = sorted(bisect_left(times, outcome.known_at) - place[outcome.decision_id] for outcome in outcomes)
    return min(max(1, waits[ceil(0.9 * len(waits)) - 1]), MOST_TURNS) if waits else 1


def _betting(
    decisions: Sequence[Decision], outcomes: Sequence[Outcome], expired: Collection[str], turns: int
) -> set[str]:
    """Decisions that were taken when the last bet of their turn was closed."""
    closed = {outcome.decision_id: outcome.known_at for outcome in outcomes}
    last: dict[int, str] = {}
    found: set[str] = set()
    for decision in decisions:
        turn = decision.sequence % turns
        before = last.get(turn)
        end = None if before is None else closed.get(before)
        if before is None or before in expired or (end is not None and end <= decision.decided_at):
            last[turn] = decision.id
            found.add(decision.id)
    return found


MOST_TURNS = 1000
"""More wealths than this per memory would learn nothing."""
