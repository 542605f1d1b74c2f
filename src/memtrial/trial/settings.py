"""What a trial is run with."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memtrial.errors import InputError
from memtrial.trial.design import DesignKind
from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, checked_grid


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Settings of a trial; the defaults are the paper's.

    Attributes
    ----------
    design
        Which subsets are drafted: ``"half"``, ``"full"`` or ``"auto"`` (half from four experiences, full below).
    alpha
        Level of the trust test (Eq. 9).
    min_scores
        Least number of forward scores before memory can be trusted, and before learners are compared.
    alpha0
        Prior weight of the reference in the anchored blend (Eq. 11).
    lambda0
        Strength of that prior, unit-free.
    content_grid
        sigma_beta^2 / sigma^2 that are tried (Eq. 6); strictly increasing from 0.
    deviation_grid
        tau^2 / sigma^2 that are tried (Eq. 6); strictly increasing from 0.
    dimensions
        Number d of content features.
    hold
        Shadow mode: everything is measured and learned, and memory never moves the action.

    Raises
    ------
    InputError
        When a setting is out of range.
    """

    design: DesignKind = "auto"
    alpha: float = 0.05
    min_scores: int = 10
    alpha0: float = 0.9
    lambda0: float = 4.0
    content_grid: tuple[float, ...] = CONTENT_GRID
    deviation_grid: tuple[float, ...] = DEVIATION_GRID
    dimensions: int = 8
    hold: bool = False

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise InputError(f"trial settings: {problem}")
        for name in ("content_grid", "deviation_grid"):
            object.__setattr__(self, name, tuple(checked_grid(getattr(self, name), name).tolist()))

    def _problem(self) -> str | None:
        if self.design not in ("half", "full", "auto"):
            return f"design = {self.design!r}; use 'half', 'full' or 'auto'"
        if not 0 < self.alpha < 1:
            return f"alpha = {self.alpha} must lie between 0 and 1"
        if self.min_scores < 2:
            return f"min_scores = {self.min_scores}; a test needs at least 2 scores"
        if not 0 <= self.alpha0 <= 1:
            return f"alpha0 = {self.alpha0} must be a weight between 0 and 1"
        if not (self.lambda0 >= 0 and math.isfinite(self.lambda0)):
            return f"lambda0 = {self.lambda0} must be finite and at least 0"
        if self.dimensions < 1:
            return f"dimensions = {self.dimensions}; at least 1 is needed"
        return None

    @classmethod
    def paper(cls) -> Settings:
        """The settings of *MemTrial: Learning When to Trust Memory in LLM Portfolio Agents* (§3, App. D.2)."""
        return cls()
