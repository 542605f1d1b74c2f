"""A table of the paper as data: ours beside published, their difference, and the reason where they differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_lowercase
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.report.evidence import student_quantile
from memtrial.bench.report.planted.published import Printed, printed
from memtrial.bench.report.planted.reasons import ANOTHER_SETTING, reason

FAR = 0.99865
"""One-sided probability of three standard errors, beyond which a difference is more than chance in tables with many
cells; with few worlds that takes more than three (Student's t)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One cell: our mean and sd over ``worlds`` worlds, what the paper printed, and whether settings are comparable."""

    table: str
    row: str
    column: str
    mean: float
    sd: float
    worlds: int
    published: Printed | None
    comparable: bool = True

    @property
    def difference(self) -> float:
        """Ours minus published; NaN without a published number."""
        return self.mean - self.published.mean if self.published else math.nan

    @property
    def se(self) -> float:
        """Standard error of the difference over worlds, which differ between the two; NaN below two worlds."""
        if self.published is None or self.worlds < 2:
            return math.nan
        return math.sqrt(self.sd**2 / self.worlds + self.published.sd**2 / self.published.worlds)

    @property
    def apart(self) -> bool:
        """Whether chance and rounding do not explain the difference."""
        if self.published is None or not math.isfinite(self.se):
            return False
        far = student_quantile(self.worlds - 1, FAR)
        return abs(self.difference) > far * self.se + 1.01 * self.published.rounding

    @property
    def reason(self) -> str:
        """Why the two differ; empty where chance and rounding explain it."""
        if not self.apart:
            return ""
        return reason(self.table, self.row, self.column, self.difference) if self.comparable else ANOTHER_SETTING


def compared(table: str, row: str, column: str, by_world: NDArray[np.float64], *, comparable: bool = True) -> Compared:
    """A cell from one number per world, (n_worlds,)."""
    sd = float(by_world.std(ddof=1)) if by_world.size > 1 else math.nan
    return Compared(
        table=table,
        row=row,
        column=column,
        mean=float(by_world.mean()),
        sd=0.0 if sd < 1e-12 else sd,
        worlds=by_world.size,
        published=printed(table, row, column),
        comparable=comparable,
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A table of the paper.

    Attributes
    ----------
    id, title
        Number in the paper (``"D.13"``), and what it shows.
    unit
        Of every number.
    decimals
        Of ours.
    columns
        Heading by key.
    labels
        Heading of each row that ran.
    cells
        By row and column; a column that did not run is absent.
    missing_rows, missing_columns
        Headings of what did not run, by key.
    """

    id: str
    title: str
    unit: str
    decimals: int
    columns: dict[str, str]
    labels: dict[str, str]
    cells: dict[tuple[str, str], Compared]
    missing_rows: dict[str, str] = field(default_factory=dict[str, str])
    missing_columns: dict[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Letter by reason, in the order in which they first appear."""
        found = dict.fromkeys(cell.reason for cell in self.ordered if cell.reason)
        return {text: ascii_lowercase[index] for index, text in enumerate(found)}

    @property
    def ordered(self) -> list[Compared]:
        """The cells, row by row."""
        return [
            self.cells[row, column] for row in self.labels for column in self.columns if (row, column) in self.cells
        ]


Source: TypeAlias = Callable[[str, str], NDArray[np.float64] | None]
"""Numbers by world for a row and a column, (n_worlds,); ``None`` when they did not run."""


def collect(
    table: str, rows: Sequence[str], columns: Sequence[str], source: Source, *, comparable: bool = True
) -> dict[tuple[str, str], Compared]:
    """Every cell that ran; ``comparable``: under the paper's own setting."""
    found = ((row, column, source(row, column)) for row in rows for column in columns)
    return {
        (row, column): compared(table, row, column, values, comparable=comparable)
        for row, column, values in found
        if values is not None
    }
