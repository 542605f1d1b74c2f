"""A finished run, reduced to what a permutation test reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import InputError
from memtrial.trial import Design, centre, contributions


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrialledDate:
    """One decision with its outcome.

    Attributes
    ----------
    decided_at
        When the decision was taken (UTC).
    known_at
        When its outcome could first be used (UTC): known, and delivered.
    ids
        The k recalled experiences in rank order.
    features
        Their content features, (k, d); 0 where the content is unknown.
    design
        The subsets that were drafted.
    utilities
        What each designed draft earned, (n_drafts,), a fraction per period; NaN where the draft is missing.
    rebased
        New content features, (d,), of every experience seen before, when the content basis changed at this decision.
    """

    decided_at: datetime
    known_at: datetime
    ids: tuple[str, ...]
    features: NDArray[np.float64]
    design: Design
    utilities: NDArray[np.float64]
    rebased: Mapping[str, NDArray[np.float64]] | None = None

    def __post_init__(self) -> None:
        k, where = len(self.ids), f"decision of {self.decided_at.isoformat()}"
        if len(set(self.ids)) != k or self.design.k != k:
            raise InputError(f"{where}: {self.design.k} distinct experiences are needed, got {list(self.ids)}")
        if self.features.ndim != 2 or len(self.features) != k or not np.isfinite(self.features).all():
            raise InputError(f"{where}: features must be finite, one row for each of {k} experiences")
        if self.utilities.shape != (self.design.n_drafts,) or np.isinf(self.utilities).any():
            raise InputError(f"{where}: {self.design.n_drafts} utilities are needed; NaN where the draft is missing")

    @property
    def centred(self) -> NDArray[np.float64] | None:
        """Centred contributions (paper Eqs. 3-4), (k,); ``None`` when there are fewer than two or none can be had."""
        if len(self.ids) < 2:
            return None
        effects = contributions(self.design, self.utilities)
        return None if effects is None else centre(effects)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialledRun:
    """The dates of one deployment in the order of its decisions; ``memory`` names the pool its ids belong to."""

    name: str
    memory: str
    dates: tuple[TrialledDate, ...]
