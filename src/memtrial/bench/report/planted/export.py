"""Every table and figure of the page as Parquet: the numbers unrounded, one row per cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from memtrial.bench.methods.configurations import SWITCHES
from memtrial.bench.planted.regimes import PAPER
from memtrial.bench.planted.result import PlantedResult
from memtrial.bench.report.planted.ablation_map import VARIANTS, change
from memtrial.bench.report.planted.comparison import Comparison
from memtrial.bench.report.planted.lookup import GUARDED, LINES, OWN, REFERENCE, Run
from memtrial.bench.report.planted.papertables import SPLIT, paper_tables, summary_of_main
from memtrial.bench.report.planted.presets import PRESETS, against, base_of
from memtrial.bench.report.planted.published import plotted
from memtrial.bench.report.planted.regime_bars import published_gain, published_trust

Record = Mapping[str, object]


def write_planted_tables(result: PlantedResult, folder: Path | str) -> tuple[Path, ...]:
    """Write every table and figure that the run has, each as a Parquet file.

    Utilities are in % per month, rates in %, differences in percentage points; ``se`` are standard errors over worlds.
    Parts that did not run have no file.

    Returns
    -------
    The paths written.
    """
    run, target = Run(result), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    tables = {_name(table): list(_cells(table)) for table in paper_tables(run)}
    tables["table_3"] += list(_cells(summary_of_main(run)))
    tables |= {
        "figure_4": list(_ablations(run)),
        "figure_5": list(_curves(run)),
        "figure_6": list(_bars(run)),
        "trust_by_year": list(_years(run)),
        "presets": list(_presets(run)),
        "turns": list(_turns(run)),
        "switches": list(_switches(run)),
    }
    return tuple(_write(target / f"{name}.parquet", records) for name, records in tables.items() if records)


def _name(table: Comparison) -> str:
    return "table_" + table.id.lower().replace(".", "_")


def _write(path: Path, records: list[Record]) -> Path:
    import polars as pl

    pl.DataFrame(records, infer_schema_length=None).write_parquet(path)
    return path


def _cells(table: Comparison) -> Iterable[Record]:
    for cell in table.ordered:
        known = cell.published
        yield {
            "table": table.id,
            "row": cell.row,
            "label": table.labels[cell.row],
            "column": cell.column,
            "unit": table.unit,
            "ours": cell.mean,
            "ours_sd": _finite(cell.sd),
            "worlds": cell.worlds,
            "published": known.mean if known else None,
            "published_sd": known.sd if known else None,
            "published_worlds": known.worlds if known else None,
            "difference": _finite(cell.difference),
            "difference_se": _finite(cell.se),
            "apart": cell.apart,
            "reason": cell.reason,
        }


def _ablations(run: Run) -> Iterable[Record]:
    for row in VARIANTS:
        for column in SPLIT:
            ours, theirs, p = change(run, row, column)
            if ours is not None:
                found = {"variant": row, "column": column, "change_pct": ours, "published_pct": theirs, "p": _finite(p)}
                yield found


def _curves(run: Run) -> Iterable[Record]:
    for each in run.regimes():
        for name, values in each.rank_correlation.items():
            known = plotted("5", each.regime.key, name)
            for year, value in enumerate(values.tolist(), 1):
                yield {
                    "regime": each.regime.key,
                    "method": name,
                    "year": year,
                    "rank_correlation": _finite(value),
                    "published": known.get(f"year_{year}"),
                }


def _bars(run: Run) -> Iterable[Record]:
    for key in PAPER:
        for name in LINES:
            found, trust = against(run, name, REFERENCE, key), run.trust(name, key)
            if found is None or trust is None:
                continue
            yield {
                "regime": key,
                "method": name,
                "gain": found.mean,
                "gain_se": _finite(found.se),
                "published_gain": published_gain(name, key),
                "trust_pct": float(trust.mean()),
                "published_trust_pct": published_trust(name, key),
            }


def _years(run: Run) -> Iterable[Record]:
    for each in run.regimes():
        for name in PRESETS:
            if name in each.methods:
                for year, value in enumerate(each.methods[name].trust_rate_by_year.tolist(), 1):
                    yield {"regime": each.regime.key, "method": name, "year": year, "trust_pct": _finite(value)}


def _presets(run: Run) -> Iterable[Record]:
    for each in run.regimes():
        key = each.regime.key
        for name in (REFERENCE, *PRESETS, *(switch for switch in SWITCHES if run.ran(switch))):
            figures, gain = run.figures(name, key), against(run, name, REFERENCE, key)
            if figures is None or gain is None:
                continue
            yield {
                "regime": key,
                "method": name,
                "utility": figures.utility,
                "utility_sd": _finite(figures.utility_sd),
                "gain": gain.mean,
                "gain_se": _finite(gain.se),
                "moved_pct": figures.trust_rate_pct,
                "ever_trusted_pct": figures.ever_trusted_pct,
                "ever_trusted_se": _finite(figures.ever_trusted_se),
                "lanes": run.lanes,
                "months_to_half": figures.months_to_half,
                "months_to_full": figures.months_to_full,
            }


def _turns(run: Run) -> Iterable[Record]:
    for each in run.regimes():
        for name, found in each.turns.items():
            numbers = {
                key: _finite(value) if isinstance(value, float) else value for key, value in asdict(found).items()
            }
            yield {"regime": each.regime.key, "method": name, **numbers}


def _switches(run: Run) -> Iterable[Record]:
    ran = [name for name in SWITCHES if run.ran(name)]
    pairs = [(GUARDED, OWN), *((name, base_of(name)) for name in ran)]
    for each in run.regimes():
        for name, base in pairs:
            found = against(run, name, base, each.regime.key)
            if found:
                yield {
                    "regime": each.regime.key,
                    "changed": name,
                    "against": base,
                    "difference": found.mean,
                    "difference_se": _finite(found.se),
                }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
