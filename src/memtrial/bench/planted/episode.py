"""One world under one regime and setting: retrieval, drafts and outcomes on every date (paper App. D.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Occasion
from memtrial.bench.planted.market import CLASSES, DEFENSIVE, RISKY, PlantedMarket
from memtrial.bench.planted.outcomes import Measured, Parts, measure
from memtrial.bench.planted.regimes import Regime
from memtrial.bench.planted.setting import Setting
from memtrial.bench.planted.world import Draws, World, mask
from memtrial.portfolio import Investor, Mandate, equal_weight
from memtrial.trial import REFERENCE_WEIGHTS

SKILL = 0.7
"""Probability that a useful (misleading) experience points to the best (worst) class by its type."""

_UNIT = np.eye(len(CLASSES))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Portfolios:
    """What can be held on every date, after an investor's mandate.

    Attributes
    ----------
    drafts
        Designed drafts, (n_dates, n_drafts, 4).
    memory_free
        Further memory-free drafts, (n_dates, 8, 4).
    reference
        (n_dates, 4).
    equal_weight
        1/N, (4,).
    """

    drafts: NDArray[np.float64]
    memory_free: NDArray[np.float64]
    reference: NDArray[np.float64]
    equal_weight: NDArray[np.float64]


class Episode:
    """Everything methods meet in one world.

    Parameters
    ----------
    world
        The draws.
    regime
        How its experiences are made.
    setting
        Design, reference and mandate.

    Attributes
    ----------
    ids
        Ids of the M experiences.
    features
        z: content features, (M, d).
    quality
        q: planted type of each experience on each date, (n_dates, M).
    pointed
        Class each experience points to on each date, (n_dates, M).
    retrieved
        The k experiences of highest retrieval score on each date, best first, (n_dates, k).
    similarity
        Their retrieval scores, (n_dates, k).
    influence
        beta on each date, (n_dates,).
    """

    def __init__(self, world: World, regime: Regime, setting: Setting) -> None:
        self.world, self.regime, self.setting = world, regime, setting
        market, draws = world.market, world.experiences(regime.size)
        types = regime.types(draws.order)
        self.ids = tuple(f"m{number:02d}" for number in range(regime.size))
        self.features = draws.content.copy()
        self.features[:, 0] += regime.signal * types
        self.quality = regime.quality(types, market.n_dates)
        self.influence = regime.influences(market.n_dates)
        self.pointed = _pointed(draws, self.quality, market)
        score = (draws.home == market.rising[:, None]) + draws.noise
        self.retrieved = np.argsort(-score, axis=1, kind="stable")[:, : setting.k]
        self.similarity = np.take_along_axis(score, self.retrieved, axis=1)

    @property
    def market(self) -> PlantedMarket:
        """Dates and prices."""
        return self.world.market

    @cached_property
    def drafts(self) -> NDArray[np.float64]:
        """The designed drafts before any mandate, (n_dates, n_drafts, 4)."""
        design = self.setting.drafted
        base = self.world.base[:, [mask(subset) for subset in design.subsets]]
        size = np.maximum(design.membership.sum(axis=1, keepdims=True), 1)
        directions = _UNIT[np.take_along_axis(self.pointed, self.retrieved, axis=1)]
        tilt = np.einsum("nk,tkc->tnc", design.membership / size, directions)
        share = self.influence[:, None] * (design.membership.any(axis=1))
        return (1.0 - share[:, :, None]) * base + share[:, :, None] * tilt

    def draft(self, month: int, subset: tuple[int, ...]) -> NDArray[np.float64]:
        """The draft of any subset of ranks, designed or not, before any mandate, (4,)."""
        base = self.world.base[month, mask(subset)]
        if not subset:
            return base
        pointed = self.pointed[month, self.retrieved[month, list(subset)]]
        share = self.influence[month]
        return (1.0 - share) * base + share * _UNIT[pointed].mean(axis=0)

    def mandate(self, investor: Investor) -> Mandate:
        """The investor's mandate, or his risk aversion alone when the setting has no mandate."""
        if self.setting.mandate:
            return investor.mandate(CLASSES, risky=RISKY, defensive=DEFENSIVE)
        nobody = (False,) * len(CLASSES)
        return Mandate(
            name=investor.name,
            risky_cap=1.0,
            defensive_floor=0.0,
            risk_aversion=investor.risk_aversion,
            risky=nobody,
            defensive=nobody,
            assets=CLASSES,
        )

    def portfolios(self, mandate: Mandate) -> Portfolios:
        """Every draft projected first, the reference averaged afterwards."""
        project = _projection(mandate) if self.setting.mandate else _unchanged
        memory_free = project(self.world.memory_free)
        equal = project(equal_weight(len(CLASSES)))
        weak = self.setting.reference == "1/N"
        return Portfolios(
            drafts=project(self.drafts),
            memory_free=memory_free,
            reference=np.tile(equal, (self.market.n_dates, 1)) if weak else memory_free.mean(axis=1),
            equal_weight=equal,
        )

    @cached_property
    def _unconstrained(self) -> tuple[Portfolios, Parts]:
        portfolios = self.portfolios(self.mandate(_ANYBODY))
        return portfolios, self._measured(portfolios)

    def _measured(self, portfolios: Portfolios) -> Parts:
        """Parts of Eq. 1 of drafts, blends, 1/N and reference, (n_dates, n_drafts + 201 + 2)."""
        mean = portfolios.drafts.mean(axis=1)[:, None]
        q = REFERENCE_WEIGHTS[:, None]
        reference = portfolios.reference[:, None]
        equal = np.broadcast_to(portfolios.equal_weight, reference.shape)
        everything = np.concatenate([portfolios.drafts, q * reference + (1 - q) * mean, equal, reference], axis=1)
        return measure(everything, self.market.growth, _HOLDINGS)

    def desk(self, investor: Investor) -> Desk:
        """The dates as ``investor`` meets them."""
        mandate = self.mandate(investor)
        if self.setting.mandate:
            portfolios = self.portfolios(mandate)
            return Desk(self, mandate, portfolios, self._measured(portfolios))
        return Desk(self, mandate, *self._unconstrained)


class Desk:
    """The dates of an episode as one investor meets them.

    Attributes
    ----------
    reference_utility
        What the reference earned on each date, (n_dates,), a fraction.
    """

    def __init__(self, episode: Episode, mandate: Mandate, portfolios: Portfolios, parts: Parts) -> None:
        self._episode, self._mandate, self._portfolios = episode, mandate, portfolios
        self._earned = parts.utility(mandate.risk_aversion)
        self.reference_utility = self._earned[:, -1]

    def __iter__(self) -> Iterator[Measured]:
        """The outcome of each date in the order of time; its ``occasion`` is what is known before it."""
        n = self._episode.setting.drafted.n_drafts
        market = self._episode.market
        for month, earned in enumerate(self._earned):
            yield Measured(
                self.occasion(month),
                market.returns[month],
                market.growth[month],
                drafts=earned[:n],
                blends=earned[n:-2],
                equal_weight=float(earned[-2]),
            )

    def occasion(self, month: int) -> Occasion:
        """What is known before the decision of ``month`` (0-based)."""
        episode, portfolios = self._episode, self._portfolios
        rows = episode.retrieved[month]
        ranked = cast("list[int]", rows.tolist())
        return Occasion(
            id=f"{month:03d}",
            decided_at=episode.market.decided_at[month],
            retrieved=tuple(episode.ids[row] for row in ranked),
            similarity=episode.similarity[month],
            features=episode.features[rows],
            design=episode.setting.drafted,
            drafts=portfolios.drafts[month],
            memory_free=portfolios.memory_free[month],
            reference=portfolios.reference[month],
            equal_weight=portfolios.equal_weight,
            past_returns=episode.market.past[month],
            holdings=_HOLDINGS,
            mandate=self._mandate,
            further=partial(self._further, month),
        )

    def _further(self, month: int, subset: tuple[int, ...]) -> NDArray[np.float64]:
        draft = self._episode.draft(month, subset)
        return self._mandate.project(draft) if self._episode.setting.mandate else draft


def _pointed(draws: Draws, quality: NDArray[np.int64], market: PlantedMarket) -> NDArray[np.int64]:
    """Class each experience points to on each date, (n_dates, M)."""
    by_type = np.where(quality > 0, market.best[:, None], market.worst[:, None])
    return np.where((quality != 0) & (draws.aim < SKILL), by_type, draws.anywhere)


def _projection(mandate: Mandate) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def project(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return mandate.project(weights.reshape(-1, weights.shape[-1])).reshape(weights.shape)

    return project


def _unchanged(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights


_HOLDINGS = equal_weight(len(CLASSES))
_HOLDINGS.setflags(write=False)
_ANYBODY = Investor(name="anybody", risky_cap=1.0, defensive_floor=0.0, risk_aversion=0.0)
