"""A small world with planted memories: some experiences tilt the policy the right way, some the wrong way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtrial.agent import Agent
from memtrial.models.embedders import WordLlamaEmbedder
from memtrial.records import Decision, Experience, State

EMBEDDER = WordLlamaEmbedder()
"""Loaded once for all tests; loading is most of what opening an agent costs."""
ASSETS = ("stocks", "bonds", "cash")
START = datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
MOODS = ("calm markets drift", "storm and fear", "quiet bonds", "rally of stocks", "slow summer trade")


def number(*parts: object) -> int:
    """A number that depends on ``parts`` and nothing else."""
    return int(sha256(repr(parts).encode()).hexdigest()[:8], 16)


def tilting(state: State, experiences: Sequence[Experience]) -> Sequence[float]:
    """Each experience moves weight to stocks or to cash, by its id; plus a little noise per prompt."""
    tilt = sum(0.15 if number(item.id) % 2 else -0.15 for item in experiences)
    noise = (number(state.text, [item.id for item in experiences]) % 100 - 50) / 2000
    stocks = min(0.9, max(0.05, 0.4 + tilt + noise))
    return [stocks, (1 - stocks) / 2, (1 - stocks) / 2]


def moves(n: int, days: int = 5) -> NDArray[np.float64]:
    """Daily returns of period ``n``: stocks mostly rise."""
    rng = np.random.default_rng(n)
    return rng.normal([0.004, 0.0, 0.0], [0.004, 0.002, 0.0001], (days, 3))


def run(agent: Agent, n: int, *, first: int = 0) -> list[Decision]:
    """Decide weekly; each outcome is known when the next decision is taken."""
    made: list[Decision] = []
    for week in range(first, first + n):
        at = START + timedelta(weeks=week)
        decision = agent.decide(f"{MOODS[week % 5]}, week {week}", at=at)
        agent.settle(decision.id, moves(week), known_at=at + timedelta(days=5))
        made.append(decision)
    return made


def as_bytes(record: Any) -> bytes:
    """A record as bytes, exact to the last digit."""
    return json.dumps(asdict(record), default=str, sort_keys=True).encode()
