"""What the classifier sees of a line: hashed pieces of words, neighbours, and concepts.

A feature is hashed by its name with CRC-32 into one of ``2**bits`` buckets, the same on every machine. The three groups
are scaled apart, so that a long line is no louder than a short one: pieces by 1/√n, neighbours by 0.5/√n, concepts by
0.25.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from zlib import crc32

from memtrial.intake.lexicon import Lexicon, fold, is_spaceless, words

PIECE_SCALE, NEIGHBOUR_SCALE, CONCEPT_SCALE = 1.0, 0.5, 0.25
PIECE_SIZES = (3, 4, 5)
"""Lengths in characters of the pieces of a word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineFeatures:
    """Names of the features of one line, by group; a name may come more than once in the first two."""

    pieces: list[str]
    neighbours: list[str]
    concepts: list[str]


def line_features(line: str, lexicon: Lexicon) -> LineFeatures:
    """Features of a line, in whatever writing it comes."""
    line_words = words(fold(line))
    units = cut(line_words)
    pieces = [piece for unit in units for piece in pieces_of(unit)]
    if units:
        pieces.append(first_name(units[0]))
    neighbours = [f"{left} {right}" for left, right in pairwise(units)]
    neighbours.extend(f"{left} _ {right}" for left, right in zip(units, units[2:], strict=False))
    concepts = concept_names([concept for _, concept in lexicon.of_line(line_words)])
    return LineFeatures(pieces=pieces, neighbours=neighbours, concepts=concepts)


def bucket(name: str, bits: int) -> int:
    """Bucket of a feature."""
    return crc32(name.encode("utf-8", "replace")) & ((1 << bits) - 1)


def cut(line_words: Iterable[str]) -> list[str]:
    """Words, with every spaceless run cut into its characters, pairs and triples."""
    units: list[str] = []
    for word in line_words:
        if is_spaceless(word):
            units.extend(word[start : start + size] for size in (1, 2, 3) for start in range(len(word) - size + 1))
        else:
            units.append(word)
    return units


def pieces_of(unit: str) -> list[str]:
    """The unit itself, and the pieces of a word with its edges marked."""
    names = [f"word {unit}"]
    if unit.isalpha() and not is_spaceless(unit):
        edged = f"<{unit}>"
        names.extend(
            edged[start : start + size] for size in PIECE_SIZES for start in range(len(edged) - size + 1)
        )  # fmt: skip
    return names


def first_name(unit: str) -> str:
    """Feature of the word that opens a line."""
    return f"first {unit}"


def concept_names(sequence: list[int]) -> list[str]:
    """Features of the concepts of a line, in order of appearance: each, each two, each two in a row, and the first."""
    present = sorted(set(sequence))
    names = [f"concept {concept}" for concept in present]
    names.extend(f"concepts {left} {right}" for left, right in combinations(present, 2))
    names.extend(f"row {left} {right}" for left, right in sorted(set(pairwise(sequence))))
    if sequence:
        names.append(f"opens {sequence[0]}")
    return names
