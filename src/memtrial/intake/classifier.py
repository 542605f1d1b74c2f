# ruff: noqa: E501  (patterns and tables are not broken)
"""A small linear classifier: does a line tell the reader what to do, or tell of a market?

Logistic regression over hashed features (:mod:`memtrial.intake.features`), trained by
``benchmarks/intake_classifier.py`` on the corpora under ``tests/intake/corpus`` and shipped as eight-bit integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import sqrt
from typing import TypeAlias

from memtrial.intake.families import FAMILIES, Family
from memtrial.intake.features import (
    CONCEPT_SCALE,
    NEIGHBOUR_SCALE,
    PIECE_SCALE,
    bucket,
    concept_names,
    cut,
    first_name,
    pieces_of,
)
from memtrial.intake.lexicon import Lexicon, bundled, fold, follows, is_spaceless, words

_MOST_REMEMBERED, _MOST_FOLLOWERS = 50_000, 2_000

Phrases: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
Next: TypeAlias = tuple[float, Phrases]
Unit: TypeAlias = tuple[float, int, tuple[int, ...], Phrases, dict[str, Next], dict[str, float]]
"""Of one word: weight and number of its pieces, its concepts, phrases it begins, weights with the next and second next."""


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
    _units: dict[str, Unit] = field(default_factory=dict[str, Unit])
    _names: dict[str, float] = field(default_factory=dict[str, float])
    _rows: dict[tuple[int, ...], float] = field(default_factory=dict[tuple[int, ...], float])

    @property
    def bits(self) -> int:
        """Buckets are two to this power."""
        return len(self.weights).bit_length() - 1

    def sums(self, text: str) -> Sums:
        """What ``text`` adds up to."""
        line_words = words(fold(text))
        if not text.isascii() and any(is_spaceless(word) for word in line_words):
            return self._sums(cut(line_words), line_words)
        return self._sums(line_words, None)

    def _sums(self, units: list[str], line_words: list[str] | None) -> Sums:
        """Sums over units; ``line_words`` are given where some units are pieces of a run without spaces."""
        known = self._units
        entries = [known.get(unit) or self._unit(unit) for unit in units]
        total, near, count = 0.0, 0.0, 0
        found: list[int] = []
        last = len(entries) - 1
        for place, (weight, number, concepts, phrases, nexts, seconds) in enumerate(entries):
            total += weight
            count += number
            if concepts:
                found.extend(concepts)
            if place == last:
                break
            right = units[place + 1]
            pair = nexts.get(right) or self._next(nexts, phrases, units[place], right)
            near += pair[0]
            if pair[1]:
                found.extend(concept for rest, concept in pair[1] if follows(units, place + 1, rest))
            if place + 1 < last:
                right = units[place + 2]
                second = seconds.get(right)
                near += self._second(seconds, units[place], right) if second is None else second
        if units:
            total += self._first(units[0])
            count += 1
        if line_words is not None:
            found = [concept for _, concept in self.lexicon.of_line(line_words)]
        counted = units if line_words is None else line_words
        return Sums(
            pieces=total,
            piece_count=count,
            neighbours=near,
            neighbour_count=max(0, 2 * len(units) - 3) if len(units) > 1 else 0,
            concepts=tuple(found),
            words=len(counted)
            if line_words is None
            else sum(max(1, len(w) // 2) if is_spaceless(w) else 1 for w in counted),
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

    def _unit(self, unit: str) -> Unit:
        if len(self._units) > _MOST_REMEMBERED:
            self._units.clear()
        names = pieces_of(unit)
        bits = self.bits
        value: Unit = (
            sum(self.weights[bucket(name, bits)] for name in names),
            len(names),
            () if is_spaceless(unit) else self.lexicon.of_word(unit),
            self.lexicon.phrases.get(unit, ()),
            {},
            {},
        )
        self._units[unit] = value
        return value

    def _next(self, known: dict[str, Next], phrases: Phrases, left: str, right: str) -> Next:
        """Weight of two neighbours, and the phrases that they may begin."""
        if len(known) > _MOST_FOLLOWERS:
            known.clear()
        begun = tuple((rest, concept) for rest, concept in phrases if right.startswith(rest[0]))
        known[right] = value = (self.weights[bucket(f"{left} {right}", self.bits)], begun)
        return value

    def _second(self, known: dict[str, float], left: str, right: str) -> float:
        if len(known) > _MOST_FOLLOWERS:
            known.clear()
        known[right] = value = self.weights[bucket(f"{left} _ {right}", self.bits)]
        return value

    def _first(self, unit: str) -> float:
        known = self._names.get(unit)
        if known is None:
            if len(self._names) > _MOST_REMEMBERED:
                self._names.clear()
            known = self._names[unit] = self.weights[bucket(first_name(unit), self.bits)]
        return known

    def _concepts(self, sequence: tuple[int, ...]) -> float:
        if len(self._rows) > _MOST_REMEMBERED:
            self._rows.clear()
        value = CONCEPT_SCALE * sum(self.weights[bucket(name, self.bits)] for name in concept_names(list(sequence)))
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
            families=tuple(FAMILIES[int(index)] for index in saved["families"].astype(int)),
        )
