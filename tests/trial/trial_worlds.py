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


def settings(**changes: object) -> Settings:
    return Settings(dimensions=D, **changes)  # type: ignore[arg-type]


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
    model, anchor = trial._values, trial._anchor
    scores = [(s.n, s.mean, s._squares) for s in trial._scores.values()]
    groups = model._groups
    parts = [
        repr(scores), repr((anchor.n, anchor._gaps)), repr(list(model._rows)), repr(sorted(groups._slots.items())),
        repr((model._within, model._squares, model._observations)), repr(trial.pending),
    ]  # fmt: skip
    h = model.n_experiences
    arrays = [anchor._sums, model._n[:h], model._sums[:h], model._features[:h], groups._sums[: groups._used]]
    return "\n".join(parts).encode() + b"".join(array.tobytes() for array in arrays)
