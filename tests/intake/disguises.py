"""Ways to write a line so that it is not read at first sight: encodings, look-alikes, invisible characters."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable
from urllib.parse import quote

_CYRILLIC = str.maketrans("aeopcxyiABEKMHOPCTX", "аеорсхуіАВЕКМНОРСТХ")
_GREEK = str.maketrans("oviuaBEZHIKMNOPTX", "ονιυαΒΕΖΗΙΚΜΝΟΡΤΧ")
_TO_LATIN = str.maketrans("аеорсхуАВЕКМНОРСТХ", "aeopcxyABEKMHOPCTX")
_LEET = str.maketrans("oieastOIEAST", "013457013457")
_WIDE = {place: place + 0xFEE0 for place in range(0x21, 0x7F)}


def _bold(text: str) -> str:
    return "".join(
        chr(0x1D41A + ord(c) - 97) if "a" <= c <= "z" else chr(0x1D400 + ord(c) - 65) if "A" <= c <= "Z" else c
        for c in text
    )


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" for c in text)


def _binary(text: str) -> str:
    return " ".join(f"{byte:08b}" for byte in text.encode())


def _between(text: str, character: str) -> str:
    return character.join(text)


def _tags(text: str) -> str:
    ascii_text = text.encode("ascii", "ignore").decode()
    return "Clean sweep of the low." + "".join(chr(0xE0000 + ord(c)) for c in ascii_text)


def _tags_or_broken(text: str) -> str:
    return _tags(text) if text.isascii() else _between(text, "\u200b")


def _rot13_or_base64(text: str) -> str:
    return codecs.encode(text, "rot13") if text.isascii() else base64.b64encode(text.encode()).decode()


def _latin_or_wide(text: str) -> str:
    changed = text.translate(_CYRILLIC) if text[0] < "\u0400" else text.translate(_TO_LATIN)
    return changed if changed != text else _between(text, "\u200d")


def _leet_or_mixed(text: str) -> str:
    return text.translate(_LEET) if text.isascii() else _latin_or_wide(text)


ENCODINGS: tuple[Callable[[str], str], ...] = (
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: text.encode().hex(),
    lambda text: quote(text, safe="") if not text.isascii() else "".join(f"%{ord(c):02X}" for c in text),
    _rot13_or_base64,
    lambda text: "".join(f"&#{ord(c)};" for c in text),
    _escaped,
    _binary,
    lambda text: "see " + base64.b64encode(base64.b64encode(text.encode())).decode(),
    lambda text: text[::-1] if text.isascii() else text.encode().hex(" "),
)
LOOKALIKES: tuple[Callable[[str], str], ...] = (
    _latin_or_wide,
    lambda text: _bold(text) if text[0] < "\u0400" else _latin_or_wide(text),
    lambda text: text.translate(_WIDE) if text[0] < "\u0400" else _latin_or_wide(text),
    lambda text: text.translate(_GREEK) if text[0] < "\u0400" else _latin_or_wide(text),
    _leet_or_mixed,
)
INVISIBLES: tuple[Callable[[str], str], ...] = (
    lambda text: _between(text, "\u200b"),
    _tags_or_broken,
    lambda text: "\u202e" + text[::-1] + "\u202c",
    lambda text: _between(text, "\u2060"),
    lambda text: _between(text, "\ufeff"),
    lambda text: _between(text, "\u00ad"),
)
DISGUISES = {"encoding": ENCODINGS, "lookalike": LOOKALIKES, "invisible": INVISIBLES}


def disguise(text: str, family: str, number: int) -> str:
    """``text`` under the disguise of its family that ``number`` picks; other families are left as they are."""
    ways = DISGUISES.get(family)
    return ways[number % len(ways)](text) if ways else text
