"""Histories in which no memory is worth anything, made to break the guarantee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[np.random.Generator, int, int], NDArray[np.float64]]
"""(rng, n_dates, n_experiences) -> what each experience adds to a draft on each date, (n_dates, n_experiences)."""

OVERLAP = 5
"""Decisions that a long holding period lasts."""

SIZE = 0.005
"""Standard deviation of a contribution, a fraction per period."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Null:
    """A history without signal: the mean contribution of every experience is 0.

    Attributes
    ----------
    key, label
        Name in JSON and on pages.
    draw
        The contributions.
    dates
        Number of decisions.
    overlap
        After how many decisions an outcome is known; contributions of that many decisions share their shocks.
    covered
        Whether the guarantee covers it: whether the expected forward score is at most 0.
    """

    key: str
    label: str
    draw: Draw
    dates: int = 132
    overlap: int = 1
    covered: bool = True


def _gaussian(rng: np.random.Generator, dates: int, experiences: int) -> NDArray[np.float64]:
    return SIZE * rng.standard_normal((dates, experiences))


def _unequal(rng: np.random.Generator, dates: int, experiences: int) -> NDArray[np.float64]:
    return _gaussian(rng, dates, experiences) * np.exp(0.8 * rng.standard_normal(experiences))


def _volatile(rng: np.random.Generator, dates: int, experiences: int) -> NDArray[np.float64]:
    moves = rng.standard_t(3, (dates, experiences)) / np.sqrt(3)
    return SIZE * moves * np.exp(0.5 * rng.standard_normal((dates, 1)))


def _skewed(rng: np.random.Generator, dates: int, experiences: int) -> NDArray[np.float64]:
    moves = rng.exponential(1.0, (dates, experiences)) - 1.0
    return SIZE * moves * np.exp(0.8 * rng.standard_normal(experiences))


def _overlapping(rng: np.random.Generator, dates: int, experiences: int) -> NDArray[np.float64]:
    shocks = rng.standard_normal((dates + OVERLAP - 1, experiences))
    return SIZE * np.lib.stride_tricks.sliding_window_view(shocks, OVERLAP, axis=0).sum(axis=-1) / np.sqrt(OVERLAP)


NULLS: Mapping[str, Null] = MappingProxyType(
    {
        null.key: null
        for null in (
            Null(key="gaussian", label="Gaussian", draw=_gaussian),
            Null(key="gaussian_500", label="Gaussian", draw=_gaussian, dates=500),
            Null(key="unequal", label="unequal spread", draw=_unequal),
            Null(key="volatile", label="heavy tails", draw=_volatile),
            Null(key="skewed", label="unequal, skewed", draw=_skewed, covered=False),
            Null(
                key="overlapping",
                label="five overlap",
                draw=_overlapping,
                dates=200,
                overlap=OVERLAP,
            ),
        )
    }
)
"""The histories by name."""
