"""The paper's tables as the page shows them: ours, published, difference, and the reasons beneath."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from memtrial.bench.report.palette import TONES
from memtrial.bench.report.planted.comparison import Compared, Comparison
from memtrial.bench.report.planted.lookup import OWN
from memtrial.bench.report.tables import Column, Row, Table
from memtrial.bench.report.typography import NBSP, UNKNOWN, number

BESIDE = 2
"""Columns up to which published numbers stand beside ours; with more they stand beneath."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A table of the paper on the page: its anchor, its data, its reasons by letter, and what is missing."""

    id: str
    title: str
    table: Table | None
    reasons: tuple[tuple[str, str], ...]
    missing: str
    method: str = ""


def shown(comparison: Comparison, missing: str) -> Shown:
    """A comparison, set."""
    layout = _beside if len(comparison.columns) <= BESIDE else _beneath
    return Shown(
        id=anchor(comparison.id),
        title=f"Table {comparison.id}. {comparison.title}",
        table=layout(comparison) if comparison.labels else None,
        reasons=tuple((letter, text) for text, letter in comparison.reasons.items()),
        missing=missing,
    )


def anchor(table: str) -> str:
    """Id of a table on the page."""
    return "table-" + table.lower().replace(".", "-")


def _beside(comparison: Comparison) -> Table:
    columns = [Column("Method", numeric=False)]
    for heading in comparison.columns.values():
        columns += [Column(heading, comparison.unit), Column("Published", comparison.unit), Column("Difference", "pp")]
    lines = tuple(
        Row(
            cells=(
                label,
                *(
                    part
                    for column in comparison.columns
                    for part in _triple(comparison, comparison.cells.get((row, column)))
                ),
            ),
            kind="own" if row == OWN else "",
            tone=TONES.get(row, ""),
        )
        for row, label in comparison.labels.items()
    )
    return Table(caption=comparison.title, columns=tuple(columns), rows=lines)


def _beneath(comparison: Comparison) -> Table:
    columns = (
        Column("Method", numeric=False),
        *(Column(heading, comparison.unit) for heading in comparison.columns.values()),
    )
    lines: list[Row] = []
    for row, label in comparison.labels.items():
        triples = [_triple(comparison, comparison.cells.get((row, column))) for column in comparison.columns]
        ours, published, difference = zip(*triples, strict=True)
        if not any(cell.published for column in comparison.columns if (cell := comparison.cells.get((row, column)))):
            lines.append(Row(cells=(label, *ours), kind="own" if row == OWN else "", tone=TONES.get(row, "")))
            continue
        lines += [
            Row(cells=(label, *ours), kind="own first" if row == OWN else "first", tone=TONES.get(row, "")),
            Row(cells=("published", *published), kind="published"),
            Row(cells=("difference, pp", *difference), kind="difference"),
        ]
    return Table(caption=comparison.title, columns=columns, rows=tuple(lines))


def _triple(comparison: Comparison, cell: Compared | None) -> tuple[str, str, str | Markup]:
    if cell is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    ours = spread(cell.mean, cell.sd, comparison.decimals)
    if cell.published is None:
        return ours, UNKNOWN, UNKNOWN
    places = cell.published.decimals
    return ours, spread(cell.published.mean, cell.published.sd, places), _difference(comparison, cell, places)


def _difference(comparison: Comparison, cell: Compared, places: int) -> str | Markup:
    words = number(cell.difference, places, sign=True)
    if not cell.apart:
        return words
    return Markup('<strong class="apart">{}</strong><sup>{}</sup>').format(words, comparison.reasons[cell.reason])


def spread(mean: float, sd: float, decimals: int) -> str:
    """``0.866 ± 0.041``; one world has no sd."""
    if not math.isfinite(sd):
        return number(mean, decimals)
    return f"{number(mean, decimals)}{NBSP}±{NBSP}{number(sd, decimals)}"
