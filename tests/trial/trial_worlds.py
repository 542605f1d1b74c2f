"""Random deployments for the tests of the trial: decisions, outcomes, and when each was known."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from memtrial.records import Verdict
from memtrial.trial import Settings, Trial

START = datetime(2021, 1, 1, tzinfo=UTC)
D = 3


def day(number: float) -> datetime:
    return START + timedelta(days=number)


@dataclass
class Date:
    """One decision and its outcome, taken on ``at`` and known on ``known`` (days)."""

    id: str
    retrieved: list[str]
    features: np.ndarray
    valid: np.ndarray
    utilities: np.ndarray
    blends: np.ndarray | None
    at: float
    known: float


@dataclass
class World:
    """A sequence of dates over a pool of experiences with true values."""

    seed: int
    n_dates: int = 30
    pool: int = 9
    delay: float = 0.5
    missing: float = 0.0
    dates: list[Date] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        content = rng.standard_normal((self.pool, D))
        worth = 0.004 * content[:, 0] + 0.003 * rng.standard_normal(self.pool)
        plan = Trial(settings())
        self.dates = []
        for number in range(self.n_dates):
            k = int(rng.choice([2, 3, 4], p=[0.1, 0.1, 0.8]))
            ranks = rng.choice(self.pool, k, replace=False)
            design = plan.plan(k)
            valid = rng.random(design.n_drafts) >= self.missing
            utilities = rng.normal(0, 0.03) + design.membership @ worth[ranks] + rng.normal(0, 0.004, design.n_drafts)
            utilities[~valid] = np.nan
            ends = rng.normal(0, 0.01, 2)
            blends = np.linspace(ends[0], ends[1], 201) if valid.any() else None
            self.dates.append(
                Date(
                    f"d{number}", [f"e{rank}" for rank in ranks], content[ranks], valid, utilities, blends,
                    number, number + rng.exponential(self.delay) + 0.01,
                )
            )  # fmt: skip


PRESETS = ("paper", "guarded")


def settings(preset: str = "paper", **changes: object) -> Settings:
    make = {"paper": Settings.paper, "guarded": Settings.guarded}[preset]
    return make(dimensions=D, **changes)  # type: ignore[arg-type]


def act(trial: Trial, date: Date, at: float | None = None) -> Verdict:
    return trial.act(
        date.id,
        retrieved=date.retrieved,
        features=date.features,
        valid=date.valid,
        at=day(date.at if at is None else at),
    )


def settle(trial: Trial, date: Date) -> None:
    trial.settle(date.id, utilities=date.utilities, blend_utilities=date.blends, known_at=day(date.known))


def run(world: World, trial: Trial) -> list[Verdict]:
    """Live: each outcome is delivered at the moment it is known, between decisions."""
    verdicts, waiting = [], []
    for date in world.dates:
        for past in sorted((d for d in waiting if d.known <= date.at), key=lambda d: d.known):
            settle(trial, past)
            waiting.remove(past)
        verdicts.append(act(trial, date))
        waiting.append(date)
    for past in sorted(waiting, key=lambda d: d.known):
        settle(trial, past)
    return verdicts


def state(trial: Trial) -> bytes:
    """Every number the trial has learned, bit for bit."""
    return "\n".join([*_walked(trial._learning), *trial.pending]).encode()


def _walked(thing: object) -> list[str]:
    if isinstance(thing, np.ndarray):
        return [str(thing.shape), thing.tobytes().hex()]
    if isinstance(thing, dict):
        return [line for key, value in thing.items() for line in (repr(key), *_walked(value))]
    if isinstance(thing, list | tuple):
        return [line for value in thing for line in _walked(value)]
    names = list(getattr(thing, "__slots__", ())) or list(getattr(thing, "__dict__", ()))
    if names:
        return [
            line
            for name in names
            if name not in ("_fit", "_settings")
            for line in (name, *_walked(getattr(thing, name)))
        ]
    return [repr(thing)]
