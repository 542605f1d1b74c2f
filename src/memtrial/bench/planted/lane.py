"""All methods of one world, regime and setting, date by date: act, settle, learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.correlation import spearman
from memtrial.bench.methods import Deployment, Method, Settlement, Valued, make
from memtrial.bench.planted.episode import Desk, Episode
from memtrial.bench.planted.regimes import WARMUP
from memtrial.bench.planted.world import DIMENSIONS
from memtrial.errors import WeightsError
from memtrial.portfolio import BALANCED, INVESTORS

REFERENCE = "reference"
"""Name under which the reference of the anchor is recorded beside the methods."""

YEAR_ENDS = tuple(range(WARMUP + 11, WARMUP + 120, 12))
"""Last date of each test year: 23, 35, … 131."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LaneRecord:
    """What the methods did in one world.

    Attributes
    ----------
    methods
        Names, with ``"reference"`` last, n_methods.
    utility
        Utility of what each held, a fraction, (n_investors, n_methods, n_dates).
    memory_weight
        Share of the capital that memory moved, the same shape.
    rank_correlation
        Spearman correlation of values and planted quality, balanced investor, after the last date of each test year,
        (n_methods, 10); NaN for methods that do not value experiences.
    """

    methods: tuple[str, ...]
    utility: NDArray[np.float64]
    memory_weight: NDArray[np.float64]
    rank_correlation: NDArray[np.float64]


def run_lane(episode: Episode, methods: Sequence[str]) -> LaneRecord:
    """Run fresh deployments of ``methods`` for the three investors.

    Every date starts from the equal-weight holdings, and its outcome is learned before the next. Correlations are
    taken once the outcome of the last date of a test year was delivered.

    Raises
    ------
    InputError
        When a method is unknown.
    WeightsError
        When a method holds what is no allocation.
    """
    names = (*methods, REFERENCE)
    shape = (len(INVESTORS), len(names), episode.market.n_dates)
    utility, weight = np.zeros(shape), np.zeros(shape)
    correlation = np.full((len(names), len(YEAR_ENDS)), np.nan)
    for row, investor in enumerate(INVESTORS.values()):
        desk = episode.desk(investor)
        deployed = [_deployed(name, episode) for name in methods]
        judged = _Judge(episode, deployed, correlation) if investor.name == BALANCED.name else None
        _run(desk, deployed, episode, utility[row], weight[row], judged)
        utility[row, -1] = desk.reference_utility
    return LaneRecord(methods=names, utility=utility, memory_weight=weight, rank_correlation=correlation)


def _deployed(name: str, episode: Episode) -> Method:
    # The same draws for each investor, regime and setting of a world.
    rng = episode.world.stream(f"method {name}")
    return make(name, Deployment(design=episode.setting.design, dimensions=DIMENSIONS, rng=rng))


def _run(
    desk: Desk,
    deployed: Sequence[Method],
    episode: Episode,
    utility: NDArray[np.float64],
    weight: NDArray[np.float64],
    judged: _Judge | None,
) -> None:
    held = np.zeros((episode.market.n_dates, len(deployed), episode.market.growth.shape[-1]))
    for month, realised in enumerate(desk):
        actions = [method.act(realised.occasion) for method in deployed]
        for row, action in enumerate(actions):
            held[month, row] = action.weights
            weight[row, month] = action.memory_weight
        earned = utility[:-1, month] = realised.utilities(held[month])
        known_at = episode.market.known_at[month]
        for method, action, own in zip(deployed, actions, earned.tolist(), strict=True):
            method.learn(Settlement(action=action, utility=own, known_at=known_at, realised=realised))
        if judged is not None and month in YEAR_ENDS:
            judged.year(month)
    _check(held, deployed, episode)


class _Judge:
    """Compares what methods believe with what was planted."""

    def __init__(self, episode: Episode, deployed: Sequence[Method], correlation: NDArray[np.float64]) -> None:
        self._episode, self._correlation = episode, correlation
        self._valued = [(row, method) for row, method in enumerate(deployed) if isinstance(method, Valued)]

    def year(self, month: int) -> None:
        """Record the correlations after ``month``."""
        episode, column = self._episode, YEAR_ENDS.index(month)
        for row, method in self._valued:
            worth = method.worth(episode.ids, episode.features)
            self._correlation[row, column] = agreement(worth, episode.quality[month].astype(np.float64))


def agreement(values: NDArray[np.float64], quality: NDArray[np.float64]) -> float:
    """Rank correlation of values and planted quality; constant values agree with nothing, 0; NaN for one quality."""
    rho = spearman(values, quality)
    return 0.0 if np.isnan(rho) and np.ptp(quality) > 0 else rho


def _check(held: NDArray[np.float64], deployed: Sequence[Method], episode: Episode) -> None:
    fine = np.isfinite(held).all(-1) & (held >= -1e-12).all(-1) & (np.abs(held.sum(-1) - 1.0) <= 1e-6)
    if not fine.all():
        month, row = (int(index) for index in np.argwhere(~fine)[0])
        raise WeightsError(
            f"{deployed[row].name} holds {held[month, row].tolist()} in month {month} of world {episode.world.number}, "
            f"regime {episode.regime.key}; weights are finite, not negative, and sum to 1"
        )
