"""What the words of a line are about: thirty concepts in nine languages, and how a line is cut into words.

Text is folded before it is cut: compatibility forms and case are gone, and so are the accents of Latin, Greek and
Cyrillic letters. Chinese and Japanese have no spaces; their runs are cut into single characters, pairs and triples.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

SPACELESS = "\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Ideographs and kana, as the inside of a character class."""

_WORDS = re.compile(rf"[{SPACELESS}]+|[^\W\d_{SPACELESS}]+(?:'[^\W\d_]+)*|\d+|[^\s\w]")
_ASCII_WORDS = re.compile(r"[a-z]+(?:'[a-z]+)*|[0-9]+|[^\sa-z0-9_]")
_SPACELESS_RUN = re.compile(rf"[{SPACELESS}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_LONGEST_TERM = 8
_LOUD = frozenset({"90", "95", "99", "100"})


def fold(text: str) -> str:
    """``text`` in lower case without compatibility forms and accents; kana keep their marks."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if not _ACCENTS.search(unicodedata.normalize("NFD", plain)):
        return plain
    return "".join(_unaccented(character) for character in plain)


@cache
def _unaccented(character: str) -> str:
    if character < "\u00c0" or character > "\u1fff":
        return character
    return _ACCENTS.sub("", unicodedata.normalize("NFD", character))


def words(folded: str) -> list[str]:
    """The words, numbers and marks of a folded line, in order; numbers are one word, but for the loud ones."""
    found: list[str] = (_ASCII_WORDS if folded.isascii() else _WORDS).findall(folded)
    return [word if not word[0].isdigit() or word in _LOUD else "0" for word in found]


def is_spaceless(word: str) -> bool:
    """Whether ``word`` is a run of ideographs or kana."""
    return word[0] >= "\u3005" and _SPACELESS_RUN.match(word) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lexicon:
    """Concepts by word.

    Attributes
    ----------
    concepts
        Names, in the order of the file.
    whole, stems
        Concepts (as indices) of whole words and of beginnings of words.
    phrases
        By first word: the words that must follow (the last as a beginning), and the concept.
    terms
        Concepts of terms that are looked for inside spaceless runs.
    """

    concepts: tuple[str, ...]
    whole: dict[str, tuple[int, ...]]
    stems: dict[str, tuple[int, ...]]
    phrases: dict[str, tuple[tuple[tuple[str, ...], int], ...]]
    terms: dict[str, tuple[int, ...]]
    _seen: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def of_word(self, word: str) -> tuple[int, ...]:
        """Concepts of one word."""
        known = self._seen.get(word)
        if known is None:
            found = set(self.whole.get(word, ()))
            for length in range(2, len(word) + 1):
                found.update(self.stems.get(word[:length], ()))
            known = tuple(sorted(found))
            if len(self._seen) > 200_000:
                self._seen.clear()
            self._seen[word] = known
        return known

    def of_run(self, run: str) -> list[tuple[int, int]]:
        """``(place, concept)`` of every term inside a spaceless run; places count characters."""
        found: list[tuple[int, int]] = []
        for start in range(len(run)):
            for end in range(start + 1, min(start + _LONGEST_TERM, len(run)) + 1):
                found.extend((start, concept) for concept in self.terms.get(run[start:end], ()))
        return found

    def of_line(self, line_words: list[str]) -> list[tuple[int, int]]:
        """``(place, concept)`` of every word and phrase of a line; places count words, or two characters of a run."""
        found: list[tuple[int, int]] = []
        place = 0
        for index, word in enumerate(line_words):
            if is_spaceless(word):
                found.extend((place + offset // 2, concept) for offset, concept in self.of_run(word))
                place += max(1, len(word) // 2)
                continue
            found.extend((place, concept) for concept in self.of_word(word))
            for rest, concept in self.phrases.get(word, ()):
                if follows(line_words, index + 1, rest):
                    found.append((place, concept))
            place += 1
        return found


def follows(line_words: list[str], start: int, rest: tuple[str, ...]) -> bool:
    """Whether the words from ``start`` on are ``rest``, the last as a beginning."""
    end = start + len(rest)
    if end > len(line_words):
        return False
    *inner, last = rest
    return line_words[start : end - 1] == inner and line_words[end - 1].startswith(last)


@cache
def bundled() -> Lexicon:
    """The lexicon that comes with the package."""
    return read((files("memtrial.intake") / "data" / "lexicon.txt").read_text(encoding="utf-8").splitlines())


def read(lines: Iterable[str]) -> Lexicon:
    """A lexicon from lines: ``[concept]``, then lines of a language code and its stems."""
    names: list[str] = []
    whole: dict[str, set[int]] = {}
    stems: dict[str, set[int]] = {}
    terms: dict[str, set[int]] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            names.append(line.strip().strip("[]"))
            continue
        concept = len(names) - 1
        for entry in line.split()[1:]:
            stem, closed = fold(entry.removesuffix("$")), entry.endswith("$")
            if is_spaceless(stem):
                terms.setdefault(stem, set()).add(concept)
                continue
            parts = words(stem.replace("_", " "))
            if len(parts) > 1:
                phrases.setdefault(parts[0], []).append((tuple(parts[1:]), concept))
            elif stem.endswith("_") or closed:
                whole.setdefault(parts[0], set()).add(concept)
            else:
                stems.setdefault(parts[0], set()).add(concept)
    return Lexicon(
        concepts=tuple(names),
        whole=_sorted(whole),
        stems=_sorted(stems),
        phrases={first: tuple(rest) for first, rest in phrases.items()},
        terms=_sorted(terms),
    )


def _sorted(table: dict[str, set[int]]) -> dict[str, tuple[int, ...]]:
    return {word: tuple(sorted(concepts)) for word, concepts in table.items()}
