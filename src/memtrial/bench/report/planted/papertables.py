"""The paper's tables on PlantedMem, from a finished run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.registry import FAMILIES
from memtrial.bench.planted.result import SettingResult
from memtrial.bench.report.evidence import paired
from memtrial.bench.report.planted.comparison import Comparison, Source, collect
from memtrial.bench.report.planted.lookup import (
    COLUMNS,
    GUARDED,
    OWN,
    PAPER_COLUMNS,
    REFERENCE,
    SAME,
    Run,
    design_key,
    design_label,
)
from memtrial.bench.report.planted.published import printed_rows
from memtrial.bench.report.typography import p_equals

UTILITY, TRUST = "% per month", "%"
SHARE = ": share of decisions, or of the capital when guarded"
AGENTS = FAMILIES["Experience-learning agents"]

CORE_AND_INFORMATIVE = {key: COLUMNS[key] for key in ("core", "informative")}
SPLIT = {key: COLUMNS[key] for key in ("no_signal", "signal", "informative")}


def paper_tables(run: Run) -> tuple[Comparison, ...]:
    """Every table that the paper has on PlantedMem, in its order."""
    return (
        main_results(run),
        trust_of_variants(run),
        _utility(run, "D.4", "Utilities of every variant (behind Figure 4)", {**SPLIT, "core": COLUMNS["core"]}),
        _utility(run, "D.5", "Every baseline with the anchored action of memtrial", SPLIT),
        _utility(
            run, "D.9", "Sensitivity to the trust test", CORE_AND_INFORMATIVE, {OWN: "default: α = 0.05, 10 scores"}
        ),
        designs(run),
        _utility(
            run, "D.11", "Strength of the anchor", {"core": COLUMNS["core"]}, {"memtrial_always_reference": "α₀ = 1"}
        ),
        designs_by_regime(run),
        _table(
            run,
            "D.13",
            f"Trust rate by regime{SHARE}",
            PAPER_COLUMNS,
            run.trust,
            unit=TRUST,
            decimals=1,
        ),
        _utility(run, "D.14", "Utility by regime", PAPER_COLUMNS),
        weak_reference(run),
    )


def main_results(run: Run) -> Comparison:
    """Table 3: core mean of every method, the improvement over the best agent, and the trust rate."""
    rows = printed_rows("3")[:-2]
    return _table(
        run, "3", "Main results: mean of the five core regimes", {"core": COLUMNS["core"]}, run.utility, rows=rows
    )


def improvement(run: Run) -> tuple[str, NDArray[np.float64]] | None:
    """The best experience-learning agent on the core regimes, and memtrial's gain over it by world, in % of it."""
    ours = run.utility(OWN, "core")
    found = {name: values for name in AGENTS if (values := run.utility(name, "core")) is not None}
    if ours is None or not found:
        return None
    best = max(found, key=lambda name: float(found[name].mean()))
    return best, 100 * (ours - found[best]) / found[best]


def _p_of_gain(run: Run, best: str) -> str:
    """One-sided p of memtrial's gain over ``best``, paired over worlds, as in the paper."""
    gain = run.gain(OWN, "core", best)
    found = None if gain is None else paired(gain, np.zeros_like(gain))
    if found is None or not found.known:
        return ""
    return f", one-sided {p_equals(found.p / 2 if found.mean > 0 else 1 - found.p / 2)}"


def summary_of_main(run: Run) -> Comparison:
    """The last two lines of Table 3."""
    better = improvement(run)
    known = {"improvement_pct": better[1] if better else None, "trust_rate_pct": run.trust(OWN, "core")}
    labels = {
        "improvement_pct": f"Gain over the best agent ({run.label(better[0])}{_p_of_gain(run, better[0])})"
        if better
        else "",
        "trust_rate_pct": "Trust rate of memtrial",
    }
    columns = {"core": COLUMNS["core"]}
    cells = collect("3", tuple(known), tuple(columns), lambda row, _: known[row], comparable=run.comparable)
    return Comparison(
        id="3",
        title="memtrial against the best experience-learning agent, and how often it trusts",
        unit="%",
        decimals=1,
        columns=columns,
        labels={row: labels[row] for row, _ in cells},
        cells=cells,
    )


def trust_of_variants(run: Run) -> Comparison:
    """Table D.3: variants of the main setting, and the designs."""
    designed = {design_key(each): each for each in run.result.designs}

    def source(row: str, column: str) -> NDArray[np.float64] | None:
        name, _, key = row.rpartition("@")
        if key in designed:
            return run.trust(name or OWN, column, designed[key])
        return None if row.endswith(("_half", "_full")) else run.trust(row, column)

    return _table(
        run, "D.3", f"Trust rate of every variant{SHARE}", CORE_AND_INFORMATIVE, source, unit=TRUST, decimals=1,
        names=_design_names("D.3", designed),
    )  # fmt: skip


def designs(run: Run) -> Comparison:
    """Table D.10: k and the design."""
    designed = {design_key(each): each for each in run.result.designs}
    return _table(
        run, "D.10", "Number of retrieved experiences and the design", CORE_AND_INFORMATIVE,
        lambda row, column: _designed(run, row, column, designed),
        names=_design_names("D.10", designed),
    )  # fmt: skip


def designs_by_regime(run: Run) -> Comparison:
    """Table D.12: the same by regime."""
    designed = {design_key(each): each for each in run.result.designs}

    def source(row: str, column: str) -> NDArray[np.float64] | None:
        if row == REFERENCE:
            return run.utility(row, column)
        return _designed(run, row, column, designed)

    columns = {**PAPER_COLUMNS, "core": COLUMNS["core"]}
    names = _design_names("D.12", designed)
    return _table(run, "D.12", "Utility by regime for each design", columns, source, names=names)


def weak_reference(run: Run) -> Comparison:
    """Table D.15: 1/N as the reference."""
    weak = run.weak
    names = {
        "memtrial_always_reference": "always 1/N when not trusted (q = 1)",
        OWN: "memtrial, anchored (α₀ = 0.9)",
    }
    return _table(
        run, "D.15", "1/N as the reference", {**PAPER_COLUMNS, "core": COLUMNS["core"]},
        lambda row, column: run.utility(row, column, weak) if weak else None,
        names=names,
    )  # fmt: skip


def _utility(
    run: Run, table: str, title: str, columns: Mapping[str, str], names: Mapping[str, str] | None = None
) -> Comparison:
    return _table(run, table, title, columns, run.utility, names=names or {})


def _table(
    run: Run,
    table: str,
    title: str,
    columns: Mapping[str, str],
    source: Source,
    *,
    rows: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    unit: str = UTILITY,
    decimals: int = 3,
) -> Comparison:
    printed_ones = rows or printed_rows(table)
    wanted = [each for row in printed_ones for each in _with_guarded(row)]
    cells = collect(table, wanted, tuple(columns), source, comparable=run.comparable)
    given = names or {}
    labels = {row: given.get(row) or run.label(row) for row in wanted}
    ran = [row for row in wanted if any((row, column) in cells for column in columns)]
    shown = {key: heading for key, heading in columns.items() if any((row, key) in cells for row in ran)}
    return Comparison(
        id=table,
        title=title,
        unit=unit,
        decimals=decimals,
        columns=shown,
        labels={row: labels[row] for row in ran},
        cells=cells,
        missing_rows={row: labels[row] for row in wanted if row not in ran and "@" not in row},
        missing_columns={key: heading for key, heading in columns.items() if key not in shown},
    )


def _with_guarded(row: str) -> tuple[str, ...]:
    """A row, and the guarded preset beside memtrial."""
    if SAME.get(row, row) == OWN:
        return row, GUARDED
    return (row, f"{GUARDED}@{row}") if row.endswith(("_half", "_full")) else (row,)


def _designed(run: Run, row: str, column: str, designed: Mapping[str, SettingResult]) -> NDArray[np.float64] | None:
    name, _, key = row.rpartition("@")
    return run.utility(name or OWN, column, designed[key]) if key in designed else None


def _design_names(table: str, designed: Mapping[str, SettingResult]) -> dict[str, str]:
    names: dict[str, str] = {}
    for key in printed_rows(table):
        if key.endswith(("_half", "_full")):
            drafts = designed[key].setting.drafted.n_drafts if key in designed else None
            names[key] = design_label(key, drafts)
            names[f"{GUARDED}@{key}"] = f"{design_label(key)}, guarded"
    return names
