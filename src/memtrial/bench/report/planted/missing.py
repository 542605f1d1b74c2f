"""What a run did not measure, and the command that measures it."""

from __future__ import annotations

from collections.abc import Iterable

from memtrial.bench.methods.configurations import ABLATIONS, ANCHORED, CONFIGURATIONS, SENSITIVITY, SWITCHES
from memtrial.bench.planted.regimes import REGIMES
from memtrial.bench.report.planted.comparison import Comparison
from memtrial.bench.report.planted.headline import ENOUGH
from memtrial.bench.report.planted.lookup import COLUMNS, GROUPS, REFERENCE, Run, design_key
from memtrial.bench.report.planted.published import LARGE
from memtrial.bench.report.typography import counted

PARTS = {
    "all ablations": ABLATIONS,
    "all settings of the test and the anchor": SENSITIVITY,
    "all baselines with the anchor": ANCHORED,
    "all switches one at a time": SWITCHES,
}
"""Groups of configurations, by what they are called."""
MOST = 6
"""Names that are written out; more are counted."""


def command(run: Run) -> str:
    """The command that measures everything on this page, on as many worlds or on enough of them."""
    worlds = run.worlds if run.worlds >= ENOUGH else LARGE
    return f"memtrial bench planted --worlds {worlds} --regimes all --ablations --designs --weak-reference"


def lacking(run: Run, table: Comparison) -> str:
    """What a table misses, with the options that add it; empty when it is whole."""
    if table.id == "D.15" and run.weak is None:
        return "everything (--weak-reference)"
    parts: list[str] = []
    rows = {row: label for row, label in table.missing_rows.items() if not _ran(run, row)}
    if rows:
        parts.append(f"{_some(rows.values())} ({_flags(rows)})")
    columns = [key for key in table.missing_columns if not _regimes(key) <= set(run.main.regimes)]
    if columns:
        parts.append(f"the columns {_some(table.missing_columns[key] for key in columns)} (--regimes paper)")
    if not parts and (table.missing_rows or table.missing_columns):
        parts.append(_some([*table.missing_rows.values(), *table.missing_columns.values()]))
    return ", and ".join(parts)


def unmeasured(run: Run) -> tuple[str, ...]:
    """What the whole page misses: regimes, methods and settings."""
    found: list[str] = []
    regimes = [COLUMNS[key] for key in REGIMES if key not in run.main.regimes]
    if regimes:
        found.append(f"{counted(len(regimes), 'regime')}: {'; '.join(regimes)}")
    found += [f"{words} (--ablations)" for words, names in PARTS.items() if not all(run.ran(name) for name in names)]
    if len(run.result.designs) < 2:
        found.append("other designs than the main one (--designs)")
    if run.weak is None:
        found.append("1/N as the reference (--weak-reference)")
    return tuple(found)


def _some(names: Iterable[str]) -> str:
    known = list(names)
    more = [f"and {len(known) - MOST} more"] if len(known) > MOST else []
    return "; ".join(known[:MOST] + more)


def _ran(run: Run, row: str) -> bool:
    """Whether a row could be there, if only its columns were."""
    if row.endswith(("_half", "_full")):
        return any(design_key(each) == row for each in run.result.designs)
    return row == REFERENCE or run.ran(row)


def _flags(rows: Iterable[str]) -> str:
    """The options that add rows."""
    flags = {
        "--designs" if row.endswith(("_half", "_full")) else "--ablations" if row in CONFIGURATIONS else "--methods all"
        for row in rows
    }
    return " ".join(sorted(flags))


def _regimes(column: str) -> set[str]:
    """The regimes a column needs."""
    return set(GROUPS.get(column, (column,)))
