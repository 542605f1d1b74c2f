"""Invented PlantedMem results for the tests of the page: a fixture, no measurement.

Utilities are a level per method and regime plus noise per world, so that every part of the page has something to show.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from memtrial.bench.methods.configurations import ABLATIONS, ANCHORED, SENSITIVITY, SWITCHES
from memtrial.bench.methods.registry import METHODS
from memtrial.bench.planted.regimes import CORE, REGIMES, Regime
from memtrial.bench.planted.result import (
    CoreFigures,
    MethodFigures,
    PlantedResult,
    RegimeResult,
    SettingResult,
    TurnFigures,
)
from memtrial.bench.planted.setting import Setting

INVESTORS = ("conservative", "balanced", "aggressive")
REFERENCE = 0.787
GAIN = {"beta_0.1": 0.003, "beta_0.25": 0.12, "beta_0.5": 0.28, "many": 0.05, "informative": 0.08,
        "harm_0.25": -0.06, "harm_0.5": -0.2, "swap_0.25": 0.01, "swap_0.5": -0.02, "lost_0.25": 0.03, "lost_0.5": 0.05,
        "fade_0.5": 0.2}  # fmt: skip
DESIGNS = (Setting(), Setting(k=2), Setting(k=3, design="half"), Setting(k=3, design="full"),
           Setting(k=4, design="full"), Setting(k=5, design="half"), Setting(k=6, design="half"))  # fmt: skip
ALL = (*METHODS, *ABLATIONS, *SENSITIVITY, *ANCHORED, *SWITCHES)


def invented(
    worlds: int = 40,
    regimes: Iterable[str] = tuple(REGIMES),
    methods: Iterable[str] = ALL,
    *,
    designs: bool = True,
    seed: int = 0,
    note: str = "",
) -> PlantedResult:
    """A result with these parts; ``note`` is put where foreign text can stand."""
    made = _Made(worlds, np.random.default_rng(seed))
    names, keys = tuple(methods), tuple(regimes)
    settings = [made.setting(Setting(), keys, names)]
    if designs:
        own = [name for name in names if name == "memtrial"]
        settings += [made.setting(setting, keys, own) for setting in DESIGNS[1:]]
        settings.append(made.setting(Setting(reference="1/N"), keys, names))
    return PlantedResult(
        folder=Path(f"invented{note}"),
        seed=seed,
        worlds=tuple(range(worlds)),
        investors=INVESTORS,
        settings={each.setting.key: each for each in settings},
        labels={name: f"{name.replace('_', ' ')}{note}" for name in names},
        seconds=12.5,
        decisions=1000 * worlds,
        manifest={},
    )


class _Made:
    def __init__(self, worlds: int, rng: np.random.Generator) -> None:
        self.worlds, self.rng = worlds, rng
        self.luck = rng.normal(0.0, 0.03, worlds)

    def setting(self, setting: Setting, regimes: tuple[str, ...], methods: Iterable[str]) -> SettingResult:
        names = tuple(methods)
        found = {key: self.regime(REGIMES[key], names) for key in regimes}
        core = {}
        if set(CORE) <= set(found):
            core = {name: self.core([found[key].methods[name] for key in CORE]) for name in names}
        return SettingResult(setting=setting, regimes=found, core=core)

    def regime(self, regime: Regime, names: tuple[str, ...]) -> RegimeResult:
        methods = {name: self.method(name, regime) for name in names}
        ranked = {name: self.curve(regime) for name in names if name in ("memrl", "memtrial", "memtrial_guarded",
                                                                         "counterfactual_selection")}  # fmt: skip
        turns = {name: self.turn() for name in names if regime.turns and name.startswith(("memtrial", "guarded"))}
        reference = self.method("reference", regime)
        return RegimeResult(
            regime=regime,
            methods=methods,
            reference=reference,
            rank_correlation=ranked,
            rank_correlation_se={name: np.full(10, 0.02 if self.worlds > 1 else np.nan) for name in ranked},
            turns=turns,
        )

    def method(self, name: str, regime: Regime) -> MethodFigures:
        acts = name.startswith(("memtrial", "guarded", "counterfactual"))
        gain = GAIN.get(regime.key, 0.0) if acts else {"reference": 0.0, "1/N": -0.19}.get(name, -0.03)
        if "guarded" in name and gain < 0:
            gain /= 5
        sd = 0.0 if name == "1/N" else 0.002 if name == "reference" else 0.03
        values = REFERENCE + gain + (name != "1/N") * self.luck + self.rng.normal(0.0, sd, self.worlds)
        trust = np.clip(self.rng.normal(3 + 250 * max(gain, 0.0), 2.0, self.worlds), 0, 100) * acts
        quiet = 24.0 if "guarded" not in name else 100 / (3 * self.worlds)
        return MethodFigures(
            name=name,
            label=name,
            utility=float(values.mean()),
            utility_sd=float(values.std(ddof=1)) if self.worlds > 1 else float("nan"),
            utility_by_world=values,
            utility_by_investor=dict.fromkeys(INVESTORS, values),
            trust_rate_pct=float(trust.mean()),
            trust_rate_sd=float(trust.std(ddof=1)) if self.worlds > 1 else float("nan"),
            trust_rate_by_world=trust,
            trust_rate_by_year=float(trust.mean()) * np.linspace(0.2, 1.2, 10),
            trust_rate_by_year_se=np.full(10, 2.0 if self.worlds > 1 else np.nan),
            ever_trusted_pct=(quiet if gain == 0 else 90.0) * acts,
            ever_trusted_se=1.5 if self.worlds > 1 else float("nan"),
            months_to_half=12.0,
            months_to_full=None,
        )

    def curve(self, regime: Regime) -> np.ndarray:
        if regime.influence == 0 or regime.key == "noise_only":
            return np.full(10, np.nan)
        return np.sort(self.rng.uniform(0.0, 0.85, 10))

    def turn(self) -> TurnFigures:
        return TurnFigures(
            lanes=3 * self.worlds, trusted=2 * self.worlds, months_to_withdrawal=float(self.rng.uniform(3, 15)),
            never_withdrew=1, loss_pp=-2.5, gain_before=0.197, gain_1_24=-0.3, gain_25_60=-0.17, gain_before_se=0.01,
            gain_1_24_se=0.03, gain_25_60_se=0.02,
        )  # fmt: skip

    def core(self, figures: list[MethodFigures]) -> CoreFigures:
        values = np.mean([each.utility_by_world for each in figures], axis=0)
        trust = np.mean([each.trust_rate_by_world for each in figures], axis=0)
        return CoreFigures(
            utility=float(values.mean()), utility_sd=float(np.std(values)), utility_by_world=values,
            trust_rate_pct=float(trust.mean()), trust_rate_sd=float(np.std(trust)),
        )  # fmt: skip


def without(result: PlantedResult, *regimes: str) -> PlantedResult:
    """The same result without some regimes."""
    settings = {
        key: replace(each, regimes={name: kept for name, kept in each.regimes.items() if name not in regimes}, core={})
        for key, each in result.settings.items()
    }
    return replace(result, settings=settings)
