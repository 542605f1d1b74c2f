"""The nine sections of a normalised narrative: reading a text into them, and writing the canonical text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TITLE = "Entry reasoning memory."
"""First line of the canonical text."""

SECTIONS: tuple[str, ...] = (
    "Entry setup summary",
    "Market structure and momentum",
    "POI and entry trigger",
    "Liquidity, FVG and obstacles",
    "Market data and session context",
    "Main confluences",
    "Main concerns",
    "Agent verdict",
    "Memory note",
)
"""Names of the sections, in order."""

_NAMES = {name.lower(): name for name in SECTIONS}
_HEADING = re.compile(
    rf"[ \t]*(?:#{{1,6}}[ \t]*|\*\*|__)?(?:\d[.)][ \t]*)?({'|'.join(re.escape(name) for name in SECTIONS)})"
    r"[ \t]*(?:(?::[ \t]*(?:\*\*|__)?|(?:\*\*|__)[ \t]*:?)[ \t]*(.*)|[ \t]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One section as found.

    Attributes
    ----------
    name
        One of :data:`SECTIONS`.
    line
        Number of its heading's line, from 0.
    body
        What stands under the heading, without empty lines at its ends.
    """

    name: str
    line: int
    body: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrative:
    """A text as sections, in the order of the text; nothing is checked.

    Attributes
    ----------
    preamble
        What stands before the first heading, without the title.
    sections
        Every section found, repeated ones too.
    """

    preamble: str
    sections: tuple[Section, ...]

    @property
    def bodies(self) -> Mapping[str, str]:
        """The first body of each section by its name."""
        found: dict[str, str] = {}
        for section in self.sections:
            found.setdefault(section.name, section.body)
        return found

    @property
    def text(self) -> str:
        """The canonical text: title, then the sections found once each and in order, empty lines between them."""
        bodies = self.bodies
        parts = [f"{name}:\n{_tidy(bodies[name])}" for name in SECTIONS if name in bodies]
        return "\n\n".join([TITLE, *parts]) + "\n"


def parse(text: str) -> Narrative:
    """Read a text into sections.

    A heading is the name of a section alone on its line, or followed by a colon; case, ``#``, ``**`` and a number
    before it are ignored. Text after the colon belongs to the section.
    """
    preamble: list[str] = []
    found: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(text.splitlines()):
        heading = _HEADING.fullmatch(line)
        if heading:
            found.append((_NAMES[heading.group(1).lower()], number, [heading.group(2) or ""]))
        else:
            (found[-1][2] if found else preamble).append(line)
    before = "\n".join(preamble).strip()
    return Narrative(
        preamble="" if before.rstrip(".:").lower() == TITLE.rstrip(".").lower() else before,
        sections=tuple(Section(name=name, line=line, body="\n".join(body).strip()) for name, line, body in found),
    )


def compose(bodies: Mapping[str, str | Sequence[str]]) -> Narrative:
    """A narrative from bodies by section name; a sequence becomes a list of points."""
    sections: list[Section] = []
    for name in SECTIONS:
        if name in bodies:
            body = bodies[name]
            joined = body if isinstance(body, str) else "\n".join(f"- {point}" for point in body)
            sections.append(Section(name=name, line=0, body=joined.strip()))
    return Narrative(preamble="", sections=tuple(sections))


def _tidy(body: str) -> str:
    """Single spaces, no empty lines, points with a dash: the same content has the same text."""
    lines = [" ".join(line.split()) for line in body.splitlines()]
    return "\n".join(re.sub(r"^[*•·]\s+", "- ", line) for line in lines if line)
