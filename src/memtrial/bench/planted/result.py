"""What a PlantedMem run found: figures by setting, regime and method.

Utilities are in % per month; gains and losses in percentage points (pp). A *world* is one draw of types, retrieval and
drafts; a *lane* is one investor in one world. Months are numbered from 0 with the warm-up (test months: 12 to 131);
test years from 1 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.regimes import Regime
from memtrial.bench.planted.setting import Setting


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MethodFigures:
    """One method in one regime.

    Attributes
    ----------
    name, label
        Key, and name on pages.
    utility, utility_sd
        Mean and sd (ddof 1; NaN for one world) over worlds of the utility averaged over test dates and investors,
        % per month.
    utility_by_world
        The same by world, (n_worlds,); paired across methods, regimes and settings of one run.
    utility_by_investor
        By investor, (n_worlds,) each.
    trust_rate_pct, trust_rate_sd, trust_rate_by_world
        100 times the mean weight of memory over test decisions, its sd over worlds, and by world.
    trust_rate_by_year, trust_rate_by_year_se
        The same by test year, and its standard error over worlds, (10,).
    ever_trusted_pct, ever_trusted_se
        Lanes in which memory was trusted in full on some test date, in %, and its standard error over worlds (the
        lanes of a world share its draws).
    months_to_half, months_to_full
        Median over lanes of the first test month (1-based) with a weight of at least one half, or trusted in full;
        ``None`` when that never happens in half of the lanes.
    """

    name: str
    label: str
    utility: float
    utility_sd: float
    utility_by_world: NDArray[np.float64]
    utility_by_investor: Mapping[str, NDArray[np.float64]]
    trust_rate_pct: float
    trust_rate_sd: float
    trust_rate_by_world: NDArray[np.float64]
    trust_rate_by_year: NDArray[np.float64]
    trust_rate_by_year_se: NDArray[np.float64]
    ever_trusted_pct: float
    ever_trusted_se: float
    months_to_half: float | None
    months_to_full: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnFigures:
    """What a method did when the memories turned.

    Attributes
    ----------
    lanes, trusted
        Number of lanes, and of those with a weight of at least one half on the first date of the new state (whose
        decision cannot know it yet).
    months_to_withdrawal
        Mean over the trusted lanes of the number of months from that date to the first with a weight below one half;
        a lane that never withdraws counts the months that were left. ``None`` without a trusted lane.
    never_withdrew
        Trusted lanes that did not withdraw.
    loss_pp
        Mean over the trusted lanes of the sum, over those months, of utility minus the anchor's, pp (negative: lost).
    gain_before, gain_1_24, gain_25_60
        Mean utility minus the anchor's, pp per month, all lanes: test months before the turn, the 24 from it on, and
        the rest up to 60.
    gain_before_se, gain_1_24_se, gain_25_60_se
        Standard errors over worlds.
    """

    lanes: int
    trusted: int
    months_to_withdrawal: float | None
    never_withdrew: int
    loss_pp: float | None
    gain_before: float
    gain_1_24: float
    gain_25_60: float
    gain_before_se: float
    gain_1_24_se: float
    gain_25_60_se: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RegimeResult:
    """All methods in one regime.

    Attributes
    ----------
    regime
        How its experiences were made.
    methods
        By name, in the order of the run.
    reference
        The reference of the anchor, held on every date; it is always there, whatever methods ran.
    rank_correlation
        For each method that values experiences: Spearman correlation between its values and the planted quality of all
        M experiences, balanced investor, mean over worlds, at the end of test years 1 to 10, (10,). A constant vector
        of values counts as 0. NaN where all planted qualities are equal.
    rank_correlation_se
        Its standard error over worlds, (10,).
    turns
        By method, when the regime turns; else empty.
    """

    regime: Regime
    methods: Mapping[str, MethodFigures]
    reference: MethodFigures
    rank_correlation: Mapping[str, NDArray[np.float64]]
    rank_correlation_se: Mapping[str, NDArray[np.float64]]
    turns: Mapping[str, TurnFigures]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CoreFigures:
    """A method's mean over the five core regimes: utility in % per month and trust rate in %, with sd over worlds."""

    utility: float
    utility_sd: float
    utility_by_world: NDArray[np.float64]
    trust_rate_pct: float
    trust_rate_sd: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SettingResult:
    """All regimes under one setting.

    ``core`` is by method, with ``"reference"`` for the reference; empty unless all five core regimes ran.
    """

    setting: Setting
    regimes: Mapping[str, RegimeResult]
    core: Mapping[str, CoreFigures]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PlantedResult:
    """A finished run.

    Attributes
    ----------
    folder
        Where its shards and ``manifest.json`` are.
    seed
        Seed of all worlds.
    worlds
        Numbers of the worlds.
    investors
        Their names.
    settings
        By ``Setting.key``; the first is the main one, then those of other designs, then those of the weak reference.
    labels
        Label of every method by name.
    seconds
        Time spent on the run so far, resumed parts included.
    decisions
        Decisions taken in that time (one method, one investor, one date).
    manifest
        Everything that determines the numbers, as written to ``manifest.json``.
    """

    folder: Path
    seed: int
    worlds: tuple[int, ...]
    investors: tuple[str, ...]
    settings: Mapping[str, SettingResult]
    labels: Mapping[str, str]
    seconds: float
    decisions: int
    manifest: Mapping[str, object]

    @property
    def main(self) -> SettingResult:
        """The setting that the run was asked for."""
        return next(iter(self.settings.values()))

    @property
    def regimes(self) -> Mapping[str, RegimeResult]:
        """Regimes of the main setting."""
        return self.main.regimes

    @property
    def designs(self) -> tuple[SettingResult, ...]:
        """Every setting that differs from the main one in k and design only, the main one first (Table D.10)."""
        main = self.main.setting
        return tuple(s for s in self.settings.values() if s.setting.reference == main.reference)

    @property
    def weak_reference(self) -> SettingResult | None:
        """The setting with 1/N as its reference, when it is not the main one (Table D.15)."""
        others = (s for s in self.settings.values() if s.setting.reference == "1/N")
        return next((s for s in others if s is not self.main), None)

    @property
    def decisions_per_second(self) -> float:
        """Decisions a second; 0 when nothing was computed."""
        return self.decisions / self.seconds if self.seconds > 0 else 0.0


def load(folder: Path) -> PlantedResult:
    """The result of the run in ``folder``, from its shards.

    Raises
    ------
    InputError
        When there is no run, or a shard of it is missing or damaged.
    """
    from memtrial.bench.planted.aggregate import aggregate

    return aggregate(folder)
