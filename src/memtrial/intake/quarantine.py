"""Quarantine: a line that carries an instruction is replaced by a marker; the document survives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtrial.intake.families import FAMILIES, Family
from memtrial.intake.scan import Span, scan

MARKER = re.compile(rf"\[quarantined: (?:{'|'.join(FAMILIES)})\]")
"""What a marker looks like."""

_BULLET = re.compile(r"\s*(?:[-*•]\s+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuarantinedLine:
    """A line taken out, for review.

    Attributes
    ----------
    line
        Its number, from 0.
    family
        What it tries.
    layer
        What found it.
    original
        The line as it was.
    """

    line: int
    family: Family
    layer: str
    original: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Quarantined:
    """A document after quarantine, and what was taken out of it."""

    text: str
    lines: tuple[QuarantinedLine, ...]


def marker(family: Family) -> str:
    """The marker of a family."""
    return f"[quarantined: {family}]"


def quarantine(text: str, *, scanner: Callable[[str], Sequence[Span]] = scan) -> Quarantined:
    """Replace every line that a finding covers.

    Markers stay as they are, so a second pass changes nothing. The scan is repeated until a pass finds nothing, because
    taking a line out brings its neighbours together.

    Parameters
    ----------
    text
        Lines of any writing.
    scanner
        What finds; the bundled one unless given.
    """
    lines = text.split("\n")
    taken: list[QuarantinedLine] = []
    while found := _findings(lines, scanner):
        for number, span in found.items():
            taken.append(
                QuarantinedLine(line=number, family=span.family, layer=span.layer, original=lines[number])
            )  # fmt: skip
            bullet = _BULLET.match(lines[number])
            lines[number] = f"{bullet.group() if bullet else ''}{marker(span.family)}"
    return Quarantined(text="\n".join(lines), lines=tuple(sorted(taken, key=lambda line: line.line)))


def _findings(lines: Sequence[str], scanner: Callable[[str], Sequence[Span]]) -> dict[int, Span]:
    """The finding of each line; markers are not shown to the scanner, and line ends other than ``\\n`` are spaces."""
    shown = ["" if MARKER.fullmatch(line.strip().lstrip("-*• ")) else " ".join(line.splitlines()) for line in lines]
    found: dict[int, Span] = {}
    for span in scanner("\n".join(shown)):
        for number in range(span.first, span.last + 1):
            if shown[number].strip():
                found.setdefault(number, span)
    return found
