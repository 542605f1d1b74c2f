"""What the classifier sees of a line: hashed pieces of words, pairs of words, and concepts with their pairs.

A piece is hashed with CRC-32 into one of ``2**bits`` buckets, the same on every machine. Three groups are scaled apart,
so that a long line is no louder than a short one: pieces and pairs by the root of their number, concepts by a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from zlib import crc32

from memtrial.intake.lexicon import Lexicon, fold, is_spaceless, words

CONCEPT_SCALE = 0.35
"""Value of a concept, and of a pair of concepts, in a line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineFeatures:
    """Buckets of one line, by group."""

    pieces: list[int]
    pairs: list[int]
    concepts: list[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Featuriser:
    """Cuts a line into buckets; words already seen are remembered."""

    lexicon: Lexicon
    bits: int
    _pieces: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def bucket(self, name: str) -> int:
        """Bucket of a feature."""
        return crc32(name.encode("utf-8", "replace")) & ((1 << self.bits) - 1)

    def __call__(self, line: str) -> LineFeatures:
        """Features of a line (in any writing; it is folded here)."""
        units = cut(words(fold(line)))
        pieces: list[int] = []
        for unit in units:
            pieces.extend(self.pieces(unit))
        if units:
            pieces.append(self.bucket(f"first {units[0]}"))
        pairs = [self.bucket(f"{left} {right}") for left, right in pairwise(units)]
        return LineFeatures(pieces=pieces, pairs=pairs, concepts=self.concepts(words(fold(line))))

    def pieces(self, unit: str) -> list[int]:
        """The word itself, and its pieces of three to five characters."""
        known = self._pieces.get(unit)
        if known is None:
            known = [self.bucket(f"word {unit}")]
            if unit.isalpha() and not is_spaceless(unit):
                edged = f"<{unit}>"
                known.extend(
                    self.bucket(edged[start : start + size])
                    for size in (3, 4, 5)
                    for start in range(len(edged) - size + 1)
                )
            if len(self._pieces) > 200_000:
                self._pieces.clear()
            self._pieces[unit] = known
        return known

    def concepts(self, line_words: list[str]) -> list[int]:
        """Buckets of the concepts in a line, and of their pairs."""
        present = sorted({concept for _, concept in self.lexicon.of_line(line_words)})
        buckets = [self.bucket(f"concept {concept}") for concept in present]
        buckets.extend(self.bucket(f"concepts {left} {right}") for left, right in combinations(present, 2))
        return buckets


def cut(line_words: list[str]) -> list[str]:
    """Words, with every spaceless run cut into its characters, pairs and triples."""
    units: list[str] = []
    for word in line_words:
        if is_spaceless(word):
            units.extend(word[start : start + size] for size in (1, 2, 3) for start in range(len(word) - size + 1))
        else:
            units.append(word)
    return units
