"""From shards to figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.lane import REFERENCE
from memtrial.bench.planted.plan import ANCHOR, SHARDS, TIMING, Part, Task, parts_of, read_manifest
from memtrial.bench.planted.regimes import CORE, WARMUP, Regime
from memtrial.bench.planted.result import CoreFigures, MethodFigures, PlantedResult, RegimeResult, SettingResult
from memtrial.bench.planted.shards import read_shard
from memtrial.bench.planted.turns import HALF, turn_figures
from memtrial.portfolio import INVESTORS
from memtrial.records import FULL_WEIGHT


def aggregate(folder: Path) -> PlantedResult:
    """The result of the run in ``folder``.

    Raises
    ------
    InputError
        When there is no run, or a shard of it is missing or damaged.
    """
    document = read_manifest(folder)
    seed = int(document["seed"])
    worlds = tuple(range(document["first_world"], document["first_world"] + document["worlds"]))
    labels = cast("dict[str, str]", document["labels"]) | {REFERENCE: "Reference"}
    settings: dict[str, SettingResult] = {}
    for part in parts_of(document):
        regimes = {regime.key: _regime(folder, part, regime, worlds, seed, labels) for regime in part.regimes}
        settings[part.setting.key] = SettingResult(setting=part.setting, regimes=regimes, core=_core(regimes))
    seconds, decisions = _timing(folder)
    return PlantedResult(
        folder=folder,
        seed=seed,
        worlds=worlds,
        investors=tuple(INVESTORS),
        settings=settings,
        labels=labels,
        seconds=seconds,
        decisions=decisions,
        manifest=document,
    )


def _regime(
    folder: Path, part: Part, regime: Regime, worlds: Sequence[int], seed: int, labels: Mapping[str, str]
) -> RegimeResult:
    methods = part.methods_in(regime)
    tasks = [Task(setting=part.setting, regime=regime, world=world, methods=methods, seed=seed) for world in worlds]
    records = [read_shard(folder / SHARDS / task.file, task) for task in tasks]
    names = records[0].methods
    # (n_worlds, n_investors, n_methods, n_dates)
    utility = np.stack([record.utility for record in records])
    weight = np.stack([record.memory_weight for record in records])
    correlation = np.stack([record.rank_correlation for record in records])
    figures = {
        name: method_figures(name, labels.get(name, name), utility[:, :, row], weight[:, :, row])
        for row, name in enumerate(names)
    }
    reference = figures.pop(REFERENCE)
    anchor = utility[:, :, names.index(ANCHOR if ANCHOR in names else REFERENCE)]
    turns = {
        name: turn_figures(regime, utility[:, :, names.index(name)], weight[:, :, names.index(name)], anchor)
        for name in (figures if regime.turns else ())
    }
    valued = {name: row for row, name in enumerate(names) if not np.isnan(correlation[:, row]).all()}
    return RegimeResult(
        regime=regime,
        methods=figures,
        reference=reference,
        rank_correlation={name: correlation[:, row].mean(axis=0) for name, row in valued.items()},
        rank_correlation_se={name: _error(correlation[:, row]) for name, row in valued.items()},
        turns=turns,
    )


def method_figures(name: str, label: str, utility: NDArray[np.float64], weight: NDArray[np.float64]) -> MethodFigures:
    """Figures of one method from its utility (a fraction) and weight, both (n_worlds, n_investors, n_dates)."""
    earned, moved = 100.0 * utility[:, :, WARMUP:], weight[:, :, WARMUP:]
    by_investor = earned.mean(axis=2)
    yearly = 100.0 * moved.reshape(*moved.shape[:2], -1, 12).mean(axis=(1, 3))
    ever = 100.0 * (moved >= FULL_WEIGHT).any(axis=2).mean(axis=1)
    by_world, trust = by_investor.mean(axis=1), 100.0 * moved.mean(axis=(1, 2))
    return MethodFigures(
        name=name,
        label=label,
        utility=float(by_world.mean()),
        utility_sd=_sd(by_world),
        utility_by_world=by_world,
        utility_by_investor=dict(zip(INVESTORS, by_investor.T, strict=True)),
        trust_rate_pct=float(trust.mean()),
        trust_rate_sd=_sd(trust),
        trust_rate_by_world=trust,
        trust_rate_by_year=yearly.mean(axis=0),
        trust_rate_by_year_se=_error(yearly),
        ever_trusted_pct=float(ever.mean()),
        ever_trusted_se=float(_error(ever)),
        months_to_half=_median_first(moved >= HALF),
        months_to_full=_median_first(moved >= FULL_WEIGHT),
    )


def _median_first(reached: NDArray[np.bool_]) -> float | None:
    """Median over lanes of the first month (1-based) that is true, or ``None`` when half of the lanes have none."""
    first = np.where(reached.any(axis=2), reached.argmax(axis=2) + 1.0, np.inf)
    middle = float(np.median(first))
    return middle if np.isfinite(middle) else None


def _core(regimes: Mapping[str, RegimeResult]) -> dict[str, CoreFigures]:
    if not set(CORE) <= set(regimes):
        return {}
    rows = [{**regimes[key].methods, REFERENCE: regimes[key].reference} for key in CORE]
    core: dict[str, CoreFigures] = {}
    for name in rows[0]:
        utility = np.mean([row[name].utility_by_world for row in rows], axis=0)
        trust = np.mean([row[name].trust_rate_by_world for row in rows], axis=0)
        core[name] = CoreFigures(
            utility=float(utility.mean()),
            utility_sd=_sd(utility),
            utility_by_world=utility,
            trust_rate_pct=float(trust.mean()),
            trust_rate_sd=_sd(trust),
        )
    return core


def _sd(by_world: NDArray[np.float64]) -> float:
    return float(by_world.std(ddof=1)) if by_world.size > 1 else float("nan")


def _error(by_world: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard error over worlds, the first axis; NaN for one world."""
    worlds = len(by_world)
    return by_world.std(axis=0, ddof=1) / np.sqrt(worlds) if worlds > 1 else np.full(by_world.shape[1:], np.nan)


def _timing(folder: Path) -> tuple[float, int]:
    try:
        kept = cast("dict[str, Any]", json.loads((folder / TIMING).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return 0.0, 0
    return float(kept["seconds"]), int(kept["decisions"])
