"""What the paper printed on PlantedMem: numbers only, by table, row and column."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

LARGE, SMALL = 100, 50
"""Worlds behind a published number: test seeds 15 to 114, and 15 to 64 for the designs."""

COARSE = frozenset({("3", "core"), ("D.9", "core"), ("D.9", "informative"), ("D.11", "core"), ("D.15", "core")})
"""Utilities that were printed with two decimals; the others have three."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A published mean and its sd over ``worlds`` worlds, rounded to ``decimals``."""

    mean: float
    sd: float
    worlds: int
    decimals: int

    @property
    def rounding(self) -> float:
        """How far the printed mean may lie from the one it was rounded from."""
        return 0.5 * 10.0**-self.decimals


def printed(table: str, row: str, column: str) -> Printed | None:
    """The published number of a cell, or ``None`` when the paper has none."""
    found = _document()["tables"].get(table, {}).get(row, {}).get(column)
    if found is None:
        return None
    mean, sd = found
    designed = table in ("D.10", "D.12") or row.endswith(("_half", "_full"))
    return Printed(mean, sd, SMALL if designed else LARGE, decimals(table, row, column))


def printed_rows(table: str) -> tuple[str, ...]:
    """Rows of a published table, in its order."""
    return tuple(_document()["tables"][table])


def decimals(table: str, row: str, column: str) -> int:
    """Decimals the paper printed a number with."""
    if table in ("D.3", "D.13") or row.endswith("_pct"):
        return 1
    return 2 if (table, column) in COARSE else 3


def plotted(figure: str, regime: str, method: str) -> dict[str, float]:
    """What the text says of a figure: ``year_1`` and ``year_10`` of a line, where it says so."""
    return dict(_document()["figures"].get(figure, {}).get(regime, {}).get(method, {}))


@cache
def _document() -> dict[str, Any]:
    text = (resources.files("memtrial.bench.report.planted") / "published.json").read_text(encoding="utf-8")
    return json.loads(text)
