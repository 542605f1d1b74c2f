"""The lines of the corpora, with their labels.

A file holds headings ``# family language [difficulty]`` and lines under them; the families that hide
text are written in plain words and disguised as they are read. ``{a|b}`` in a training line stands for
one line with ``a`` and one with ``b``; the lines of one template belong to one group.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from disguises import disguise

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a corpus."""

    text: str
    family: str
    language: str
    difficulty: str
    group: str


def read(pattern: str, *, most: int = 1, seed: int = 0, disguised: bool = True) -> list[Line]:
    """Lines of the files that match ``pattern``, at most ``most`` of each template, disguised or in plain words."""
    return [line for path in sorted(CORPUS.glob(pattern)) for line in _file(path, most, seed, disguised)]


def _file(path: Path, most: int, seed: int, disguised: bool) -> Iterator[Line]:
    family = language = difficulty = ""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if text.startswith("# ") and 2 <= len(text.split()) - 1 <= 3 and text.split()[2] in LANGUAGES:
            _, family, language, *rest = text.split()
            difficulty = rest[0] if rest else ""
            continue
        if not text.strip():
            continue
        for variant in expand(text, most, seed):
            yield Line(
                text=disguise(variant, family, number) if disguised else variant,
                family=family,
                language=language,
                difficulty=difficulty,
                group=f"{path.name}:{number}",
            )


LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja")


def expand(template: str, most: int, seed: int) -> list[str]:
    """Up to ``most`` of the lines that a template stands for, drawn evenly and always the same."""
    parts: list[list[str]] = []
    rest = template
    while rest:
        before, opened, rest = _split(rest)
        parts.append([before])
        if opened:
            parts.append(opened)
    choices = list(product(*parts)) if _size(parts) <= 4096 else []
    rng = random.Random(f"{seed} {template}")
    if choices and len(choices) <= most:
        return ["".join(choice) for choice in choices]
    drawn = {"".join(rng.choice(part) for part in parts): None for _ in range(most * 3)}
    return list(drawn)[:most]


def _size(parts: list[list[str]]) -> int:
    size = 1
    for part in parts:
        size *= len(part)
    return size


def _split(text: str) -> tuple[str, list[str], str]:
    """The text before the first choice, its options, and the rest; braces without a bar are plain text."""
    start = 0
    while (opened := text.find("{", start)) >= 0:
        closed = _closing(text, opened)
        if closed > 0:
            options = _options(text[opened + 1 : closed])
            if len(options) > 1:
                return text[:opened], options, text[closed + 1 :]
        start = opened + 1
    return text, [], ""


def _closing(text: str, opened: int) -> int:
    depth = 0
    for place in range(opened, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return -1


def _options(inside: str) -> list[str]:
    options, depth, current = [], 0, ""
    for character in inside:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "|" and depth == 0:
            options.append(current)
            current = ""
        else:
            current += character
    return [*options, current]
