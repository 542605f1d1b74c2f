"""A PlantedMem result as one JSON document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from memtrial.bench.planted.result import MethodFigures, PlantedResult, RegimeResult, SettingResult


def document(result: PlantedResult, *, report: str | None = None) -> dict[str, Any]:
    """``result`` for ``--json``: utilities in % per month, rates in %, missing numbers as ``null``.

    ``core`` and ``rank_correlation`` are those of the main setting; ``designs`` and ``weak_reference`` hold the other
    settings. Rank correlations are given for the regimes in which the planted quality differs between experiences.
    """
    main = result.main
    made = {
        "worlds": len(result.worlds),
        "first_world": result.worlds[0],
        "seed": result.seed,
        "seconds": result.seconds,
        "decisions_per_second": result.decisions_per_second,
        "setting": asdict(main.setting),
        **_tables(main),
        "rank_correlation": {
            key: {year: _years(regime)[year] for year in ("year_1", "year_10")}
            for key, regime in main.regimes.items()
            if regime.rank_correlation
        },
        "rank_correlation_by_year": {
            key: _years(regime) for key, regime in main.regimes.items() if regime.rank_correlation
        },
        "turns": {
            key: {name: asdict(turn) for name, turn in regime.turns.items()}
            for key, regime in main.regimes.items()
            if regime.turns
        },
        "designs": [
            {"k": each.setting.k, "design": each.setting.drafted.kind, "drafts": each.setting.drafted.n_drafts}
            | _tables(each)
            for each in (result.designs if len(result.designs) > 1 else ())
        ],
        "weak_reference": None if result.weak_reference is None else _tables(result.weak_reference),
        "folder": str(result.folder),
        "report": report,
    }
    return {key: _plain(value) for key, value in made.items()}


def _tables(setting: SettingResult) -> dict[str, Any]:
    return {
        "regimes": {
            key: {
                "methods": {name: _figures(figures) for name, figures in regime.methods.items()},
                "reference": _figures(regime.reference),
            }
            for key, regime in setting.regimes.items()
        },
        "core": {name: figures.utility for name, figures in setting.core.items()},
        "core_sd": {name: figures.utility_sd for name, figures in setting.core.items()},
        "core_trust_rate_pct": {name: figures.trust_rate_pct for name, figures in setting.core.items()},
    }


def _figures(figures: MethodFigures) -> dict[str, Any]:
    return {
        "utility": figures.utility,
        "utility_sd": figures.utility_sd,
        "trust_rate_pct": figures.trust_rate_pct,
        "ever_trusted_pct": figures.ever_trusted_pct,
        "ever_trusted_se": figures.ever_trusted_se,
        "months_to_half": figures.months_to_half,
        "months_to_full": figures.months_to_full,
    }


def _years(regime: RegimeResult) -> dict[str, dict[str, float]]:
    years = len(next(iter(regime.rank_correlation.values())))
    return {
        f"year_{year + 1}": {name: float(values[year]) for name, values in regime.rank_correlation.items()}
        for year in range(years)
    }


def _plain(value: Any) -> Any:
    """``value`` with NaN as ``None``: JSON has no NaN."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Sequence[Any]", value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
