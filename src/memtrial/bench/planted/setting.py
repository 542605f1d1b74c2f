"""What a table of PlantedMem holds fixed: design, reference, mandate and pool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memtrial.errors import InputError
from memtrial.trial import Design, DesignKind, design

ReferenceKind = Literal["memory_free", "1/N"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """The part of an episode that regimes and methods share.

    Attributes
    ----------
    k
        Experiences retrieved on a date, 1 to 6.
    design
        Which of their subsets are drafted.
    reference
        The anchor's reference: the mean of eight memory-free draws, or 1/N (paper Table D.15).
    mandate
        Whether every draft, the reference and 1/N are projected to each investor's mandate.
    pool
        Identity of the pool of base allocations.
    """

    k: int = 4
    design: DesignKind = "auto"
    reference: ReferenceKind = "memory_free"
    mandate: bool = False
    pool: str = "calibrated"

    def __post_init__(self) -> None:
        if not 1 <= self.k <= 6:
            raise InputError(f"k = {self.k}; 1 to 6 experiences can be retrieved")
        if self.reference not in ("memory_free", "1/N"):
            raise InputError(f"reference {self.reference!r} is unknown; use 'memory_free' or '1/N'")
        if not design(self.k, self.design).separates:
            raise InputError(f"k = {self.k}, design {self.design!r}: the drafts cannot tell the experiences apart")

    @property
    def drafted(self) -> Design:
        """The designed subsets."""
        return design(self.k, self.design)

    @property
    def key(self) -> str:
        """Name of the folder of its shards, for example ``k4-half-memory_free-free-calibrated``."""
        parts = (
            f"k{self.k}",
            self.drafted.kind,
            "equal_weight" if self.reference == "1/N" else self.reference,
            "mandate" if self.mandate else "free",
            re.sub(r"[^A-Za-z0-9._]+", "_", self.pool)[:60],
        )
        return "-".join(parts)
