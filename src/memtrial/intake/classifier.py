"""A small linear classifier: does a line tell the reader what to do, or tell of a market?

Logistic regression over hashed features (:mod:`memtrial.intake.features`), trained by
``benchmarks/intake_classifier.py`` on the corpora under ``tests/intake/corpus`` and shipped as eight-bit integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import sqrt

from memtrial.intake.families import FAMILIES, Family
from memtrial.intake.features import CONCEPT_SCALE, NEIGHBOUR_SCALE, PIECE_SCALE, bucket, cut, first_name, pieces_of
from memtrial.intake.lexicon import Lexicon, bundled, fold, is_spaceless, words

_MOST_REMEMBERED = 300_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Sums:
    """What a stretch of text adds up to; stretches add.

    Attributes
    ----------
    pieces, neighbours
        Sums of weights.
    piece_count, neighbour_count
        How many features were added.
    concepts
        Concepts in order of appearance.
    words
        Number of words; a run without spaces counts one for two characters.
    """

    pieces: float
    piece_count: int
    neighbours: float
    neighbour_count: int
    concepts: tuple[int, ...]
    words: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            pieces=self.pieces + other.pieces,
            piece_count=self.piece_count + other.piece_count,
            neighbours=self.neighbours + other.neighbours,
            neighbour_count=self.neighbour_count + other.neighbour_count,
            concepts=self.concepts + other.concepts,
            words=self.words + other.words,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Classifier:
    """Weights and what they were trained for.

    Attributes
    ----------
    lexicon
        Words by concept.
    weights
        One per bucket, in logits.
    bias, threshold
        A line whose logit reaches ``threshold`` is marked.
    family_weights
        One row per family that the words can tell apart: a bias, then one weight per concept.
    families
        Names of those rows.
    """

    lexicon: Lexicon
    weights: Sequence[float]
    bias: float
    threshold: float
    family_weights: Sequence[Sequence[float]]
    families: tuple[Family, ...]
    _units: dict[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]])
    _names: dict[str, float] = field(default_factory=dict[str, float])
    _rows: dict[tuple[int, ...], float] = field(default_factory=dict[tuple[int, ...], float])

    @property
    def bits(self) -> int:
        """Buckets are two to this power."""
        return len(self.weights).bit_length() - 1

    def sums(self, text: str) -> Sums:
        """What ``text`` adds up to."""
        line_words = words(fold(text))
        units = line_words if text.isascii() else cut(line_words)
        known = self._units
        total, count = 0.0, 0
        for unit in units:
            weight, number = known.get(unit) or self._unit(unit)
            total += weight
            count += number
        if units:
            total += self._weight(first_name(units[0]))
            count += 1
        names = self._names
        near = 0.0
        for left, right in pairwise(units):
            name = f"{left} {right}"
            weight_or_none = names.get(name)
            near += self._weight(name) if weight_or_none is None else weight_or_none
        for left, right in zip(units, units[2:], strict=False):
            name = f"{left} _ {right}"
            weight_or_none = names.get(name)
            near += self._weight(name) if weight_or_none is None else weight_or_none
        return Sums(
            pieces=total,
            piece_count=count,
            neighbours=near,
            neighbour_count=max(0, 2 * len(units) - 3) if len(units) > 1 else 0,
            concepts=tuple(concept for _, concept in self.lexicon.of_line(line_words)),
            words=sum(max(1, len(word) // 2) if is_spaceless(word) else 1 for word in line_words),
        )

    def logit(self, sums: Sums) -> float:
        """Log odds that this stretch carries an instruction."""
        score = self.bias
        if sums.piece_count:
            score += PIECE_SCALE * sums.pieces / sqrt(sums.piece_count)
        if sums.neighbour_count:
            score += NEIGHBOUR_SCALE * sums.neighbours / sqrt(sums.neighbour_count)
        known = self._rows.get(sums.concepts)
        return score + (self._concepts(sums.concepts) if known is None else known)

    def marks(self, text: str) -> bool:
        """Whether a line carries an instruction."""
        return self.logit(self.sums(text)) >= self.threshold

    def family(self, concepts: Sequence[int]) -> Family:
        """The family that the concepts of a marked line point to."""
        present = set(concepts)
        scores = [row[0] + sum(row[1 + concept] for concept in present) for row in self.family_weights]
        return self.families[max(range(len(scores)), key=scores.__getitem__)]

    def _unit(self, unit: str) -> tuple[float, int]:
        if len(self._units) > _MOST_REMEMBERED:
            self._units.clear()
        names = pieces_of(unit)
        value = (sum(self.weights[bucket(name, self.bits)] for name in names), len(names))
        self._units[unit] = value
        return value

    def _weight(self, name: str) -> float:
        if len(self._names) > _MOST_REMEMBERED:
            self._names.clear()
        value = self.weights[bucket(name, self.bits)]
        self._names[name] = value
        return value

    def _concepts(self, sequence: tuple[int, ...]) -> float:
        from memtrial.intake.features import concept_names

        if len(self._rows) > _MOST_REMEMBERED:
            self._rows.clear()
        value = CONCEPT_SCALE * sum(self._weight(name) for name in concept_names(list(sequence)))
        self._rows[sequence] = value
        return value


@cache
def trained() -> Classifier:
    """The classifier that comes with the package."""
    import numpy as np

    with (files("memtrial.intake") / "data" / "classifier.npz").open("rb") as stream, np.load(stream) as saved:
        weights = saved["weights"].astype(float) * float(saved["step"])
        family_weights = saved["family_weights"].astype(float)
        return Classifier(
            lexicon=bundled(),
            weights=weights.tolist(),
            bias=float(saved["bias"]),
            threshold=float(saved["threshold"]),
            family_weights=family_weights.tolist(),
            families=tuple(FAMILIES[index] for index in saved["families"].tolist()),
        )
