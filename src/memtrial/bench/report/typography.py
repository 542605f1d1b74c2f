"""How numbers and foreign text are set on a page: units outside, signs as minus signs, nothing invisible."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime

MINUS = "−"
NBSP = "\u00a0"
"""Keeps a number and its sign or unit on one line."""
UNKNOWN = "–"
"""Stands in a cell whose number is not known."""


def number(value: float | None, decimals: int, *, sign: bool = False) -> str:
    """``value`` with fixed decimals and a true minus sign; with ``sign`` also a plus sign.

    What rounds to zero has no sign: the page claims no direction that it does not show.
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    digits = f"{abs(value):,.{decimals}f}".replace(",", NBSP)
    if float(digits.replace(NBSP, "")) == 0.0:
        return digits
    return f"{MINUS if value < 0 else '+' if sign else ''}{digits}"


def percent(value: float | None, decimals: int = 2, *, sign: bool = False) -> str:
    """A fraction as a number of percent or percentage points, without the unit."""
    return UNKNOWN if value is None else number(100 * value, decimals, sign=sign)


def p_equals(p: float) -> str:
    """``p = 0.31``, with three decimals where the threshold is near, never ``p = 0``."""
    if not math.isfinite(p):
        return "p not known"
    relation, digits = ("<", "0.001") if p < 0.001 else ("=", f"{p:.3f}" if p < 0.1 else f"{p:.2f}")
    return f"p{NBSP}{relation}{NBSP}{digits}"


def chance(p: float, alpha: float = 0.05) -> str:
    """Significance in words."""
    words = "more than chance would explain" if p < alpha else "within what chance explains"
    return f"{words}, {p_equals(p)}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 month``, ``71 months``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}".replace(",", NBSP)


def iso(moment: date | datetime) -> str:
    """An ISO date; a time of day is in UTC and is kept to the minute."""
    if isinstance(moment, datetime):
        return f"{moment:%Y-%m-%d %H:%M} UTC"
    return moment.isoformat()


def sentence(words: str) -> str:
    """``words`` as a sentence: a capital first, a full stop last."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


def listed(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def unbroken(words: str) -> str:
    """``words`` with numbers kept on one line with their sign, name or unit."""
    return re.sub(
        r"(?<=\bn) = (?=\d)|(?<=\bρ) = (?=[+−\d])|(?<=\bs\.e\.) (?=\d)|(?<=\d) (?=pp\b|%|USD\b)", _glued, words
    )


def _glued(found: re.Match[str]) -> str:
    return found[0].replace(" ", NBSP)


def visible(text: str) -> str:
    """``text`` with every invisible character written out.

    Models and memories write what they like. A direction mark could make a lesson read as its opposite, so controls
    and format characters are shown as ``[U+202E]`` instead of obeyed. Line breaks and tabs become spaces.
    """
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    # The joiner and the variation selector are what an emoji is made of, and move nothing.
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"} and character != "\u200d"
    return f"[U+{ord(character):04X}]" if hidden else character
