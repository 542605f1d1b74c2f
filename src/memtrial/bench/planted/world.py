"""The randomness of one world: named streams, so that regimes, investors, designs and methods share their draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.market import CLASSES, PlantedMarket
from memtrial.bench.planted.pools import Pool

MEMORY_FREE_DRAWS = 8
DIMENSIONS = 8
"""Number d of content features."""
NOISE = 0.5
"""Standard deviation of the retrieval noise."""
SLOTS = 6
"""Largest number of retrieved experiences; base allocations are drawn for each of the 64 subsets of their ranks."""


def mask(subset: tuple[int, ...]) -> int:
    """The number of a subset of ranks: the same subset has the same base allocation in every design."""
    return sum(1 << rank for rank in subset)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Draws:
    """What is drawn for a world of M experiences, whatever their types.

    Attributes
    ----------
    order
        Permutation that shuffles the types, (M,).
    home
        Home regime of each experience, bool (M,).
    noise
        Retrieval noise, (n_dates, M).
    aim
        Uniform numbers that decide whether an experience points by its type, (n_dates, M).
    anywhere
        Class it points to otherwise, (n_dates, M).
    content
        xi: noise of the content features, (M, d).
    """

    order: NDArray[np.int64]
    home: NDArray[np.bool_]
    noise: NDArray[np.float64]
    aim: NDArray[np.float64]
    anywhere: NDArray[np.int64]
    content: NDArray[np.float64]


class World:
    """One draw of everything that is random.

    Each stream is seeded by (seed, world, name of the stream) alone, so that no draw depends on what else was drawn.

    Parameters
    ----------
    seed
        Seed of all worlds, at least 0.
    number
        Number of this world, at least 0.
    market
        Dates and prices.
    pool
        Where base allocations come from.
    """

    def __init__(self, seed: int, number: int, *, market: PlantedMarket, pool: Pool) -> None:
        self.seed, self.number, self.market, self.pool = seed, number, market, pool

    def stream(self, name: str) -> np.random.Generator:
        """A fresh generator of the stream ``name``."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number, crc32(name.encode()))))

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """b: the allocation beneath the draft of each subset, (n_dates, 64, 4), by :func:`mask`."""
        return self.pool.draw(self.stream("base drafts"), self.market.days, 1 << SLOTS)

    @cached_property
    def memory_free(self) -> NDArray[np.float64]:
        """Further memory-free drafts, (n_dates, 8, 4); their mean is the reference."""
        return self.pool.draw(self.stream("memory-free draws"), self.market.days, MEMORY_FREE_DRAWS)

    def experiences(self, size: int) -> Draws:
        """Everything random about ``size`` experiences."""
        shape = (self.market.n_dates, size)
        return Draws(
            order=self.stream(f"order {size}").permutation(size),
            home=self.stream(f"homes {size}").random(size) < 0.5,
            noise=self.stream(f"retrieval {size}").normal(0.0, NOISE, shape),
            aim=self.stream(f"aim {size}").random(shape),
            anywhere=self.stream(f"anywhere {size}").integers(0, len(CLASSES), shape),
            content=self.stream(f"content {size}").standard_normal((size, DIMENSIONS)),
        )
