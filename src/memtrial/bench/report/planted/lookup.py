"""A finished run, looked up by method and column of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.configurations import CONFIGURATIONS
from memtrial.bench.planted.regimes import CORE, PAPER, REGIMES
from memtrial.bench.planted.result import MethodFigures, PlantedResult, RegimeResult, SettingResult
from memtrial.bench.report.typography import NBSP, number

NO_SIGNAL, SIGNAL = CORE[:2], CORE[2:]
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType({"core": CORE, "no_signal": NO_SIGNAL, "signal": SIGNAL})
"""Columns that average regimes, world by world."""

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "core": "Core",
        "no_signal": "No signal",
        "signal": "With signal",
        **{key: regime.label.replace(" = ", f"{NBSP}={NBSP}") for key, regime in REGIMES.items()},
        "informative": "Informative",
        "many": "Many exp.",
    }
)
"""Heading of each column."""

PAPER_COLUMNS: Mapping[str, str] = MappingProxyType({key: COLUMNS[key] for key in PAPER})

REFERENCE, OWN, GUARDED = "reference", "memtrial", "memtrial_guarded"

CREDIT, COUNTERFACTUAL = "memrl", "counterfactual_selection"
LINES = (CREDIT, COUNTERFACTUAL, OWN, GUARDED)
"""Methods of the figures."""

NAMES: Mapping[str, str] = MappingProxyType(
    {
        CREDIT: "outcome credit (MemRL)",
        COUNTERFACTUAL: "counterfactual",
        OWN: "memtrial",
        GUARDED: "memtrial guarded",
    }
)
NARROW_NAMES: Mapping[str, str] = MappingProxyType(
    {CREDIT: "credit", COUNTERFACTUAL: "CF select", OWN: "memtrial", GUARDED: "guarded"}
)
"""What they are called in charts, and on narrow screens."""

SAME: Mapping[str, str] = MappingProxyType(
    {
        "memtrial_anchor_0.9_4": "memtrial",
        "memtrial_anchor_0.5_4": "memtrial_uniform_prior",
        "anchored_draft_averaging": "memtrial_never_trusts",
    }
)
"""Configurations that are another one under a second name."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    result: PlantedResult

    @property
    def worlds(self) -> int:
        """Number of worlds."""
        return len(self.result.worlds)

    @property
    def lanes(self) -> int:
        """Lanes of one regime: an investor in a world each."""
        return self.worlds * len(self.result.investors)

    @property
    def main(self) -> SettingResult:
        """The setting the run was asked for."""
        return self.result.main

    @property
    def comparable(self) -> bool:
        """Whether the main setting is the one that comes nearest to the paper's."""
        setting = self.main.setting
        return setting.pool == "calibrated" and not setting.mandate

    @property
    def weak(self) -> SettingResult | None:
        """The setting with 1/N as its reference (Table D.15), also when it is the main one."""
        return self.main if self.main.setting.reference == "1/N" else self.result.weak_reference

    def label(self, row: str) -> str:
        """What a row is called; what did not run is known by its configuration, or by its key."""
        if row == REFERENCE:
            return "Reference"
        if row.startswith("memtrial_anchor_"):
            _, _, alpha0, lambda0 = row.split("_")
            return f"α₀ = {alpha0}, λ₀ = {lambda0}"
        known = self.result.labels.get(row) or getattr(CONFIGURATIONS.get(row), "label", None)
        if known is None and row.startswith("anchored_"):
            return f"{self.label(row.removeprefix('anchored_'))}, anchored"
        return known or row.replace("_", " ")

    def figures(self, row: str, regime: str, setting: SettingResult | None = None) -> MethodFigures | None:
        """One method in one regime, if it ran."""
        found = (setting or self.main).regimes.get(regime)
        if found is None:
            return None
        if row == REFERENCE:
            return found.reference
        return found.methods.get(row) or found.methods.get(SAME.get(row, row))

    def utility(self, row: str, column: str, setting: SettingResult | None = None) -> NDArray[np.float64] | None:
        """Utility by world, % per month, (n_worlds,); a column of several regimes needs all of them."""
        found = self._all(row, column, setting)
        return None if found is None else np.mean([each.utility_by_world for each in found], axis=0)

    def trust(self, row: str, column: str, setting: SettingResult | None = None) -> NDArray[np.float64] | None:
        """100 times the mean weight of memory by world, (n_worlds,)."""
        found = self._all(row, column, setting)
        return None if found is None else np.mean([each.trust_rate_by_world for each in found], axis=0)

    def gain(self, row: str, column: str, over: str = REFERENCE) -> NDArray[np.float64] | None:
        """Utility minus that of ``over`` by world, pp per month, (n_worlds,)."""
        ours, theirs = self.utility(row, column), self.utility(over, column)
        return None if ours is None or theirs is None else ours - theirs

    def ever(self, row: str, column: str) -> tuple[float, float, int] | None:
        """Share of lanes in which memory was ever trusted in full, in %, its s.e. over worlds, number of lanes.

        Over several regimes, which share their worlds, the standard error is at most the mean of theirs.
        """
        found = self._all(row, column, None)
        if found is None:
            return None
        share, error = (
            float(np.mean([getattr(each, name) for each in found])) for name in ("ever_trusted_pct", "ever_trusted_se")
        )
        return share, error, self.lanes * len(found)

    def ran(self, row: str) -> bool:
        """Whether a method ran in any regime of the main setting."""
        return any(self.figures(row, regime) for regime in self.main.regimes)

    def regimes(self) -> tuple[RegimeResult, ...]:
        """Regimes of the main setting, in their order."""
        return tuple(self.main.regimes[key] for key in REGIMES if key in self.main.regimes)

    def _all(self, row: str, column: str, setting: SettingResult | None) -> list[MethodFigures] | None:
        found = [self.figures(row, regime, setting) for regime in GROUPS.get(column, (column,))]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None


def design_key(setting: SettingResult) -> str:
    """``"k4_half"``: the row of a design in the published tables."""
    return f"k{setting.setting.k}_{setting.setting.drafted.kind}"


def design_label(key: str, drafts: int | None = None) -> str:
    """``"k = 4, half fraction"``."""
    k, _, kind = key.removeprefix("k").partition("_")
    words = "half fraction" if kind == "half" else "full factorial"
    return f"k{NBSP}={NBSP}{k}, {words}" + (f" ({number(drafts, 0)} drafts)" if drafts else "")
