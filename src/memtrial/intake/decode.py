# ruff: noqa: E501  (patterns and tables are not broken)
"""Other readings of a line: what is left when tricks of writing are undone.

Each reading names the trick. A trick that no honest writer needs is *plain* (a hidden payload that decodes to words,
words of mixed alphabets): finding it is enough. Others, such as a single soft hyphen, only give one more text to scan.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote_to_bytes

from memtrial.intake.families import Family
from memtrial.intake.lexicon import SPACELESS

DEEPEST = 3
"""How many encodings may lie inside each other."""

LONGEST = 20_000
"""Characters of a line that are decoded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One more way to read a line.

    Attributes
    ----------
    family
        The trick that was undone.
    text
        The line without it.
    plain
        Whether the trick alone marks the line.
    """

    family: Family
    text: str
    plain: bool


_SUSPECT = re.compile(
    r"[%\\]|&#|&\w+;|[A-Za-z0-9+/_=-]{16,}|(?:\b\w[ ._*-]){4}|[A-Za-z][0134578@$!|][A-Za-z]|\b[0134578@$!][a-z]{2}"
    r"|(?:[0-9A-Fa-f]{2}[ :,]){5}|(?:[01]{8} ?){3}|(?:[.\-]{1,5} ){5}"
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
_BROKEN_WORD = re.compile("(?<=\\w)[\u200b\u200c\u200d\u2060\ufeff\u180e\u034f\u2061-\u2064\u115f\u1160](?=\\w)")
_BIDI = re.compile("[\u202d\u202e]")
_TAGS = re.compile("(?<!\U0001f3f4)(?:[\U000e0020-\U000e007e]{2,})")
_SELECTORS = re.compile("[\U000e0100-\U000e01ef]{3,}|[\ufe00-\ufe0d]{3,}")
_MATHEMATICAL = re.compile("[\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189]")
_FULLWIDTH_WORD = re.compile("[\uff21-\uff3a\uff41-\uff5a]{2,}")
_KANA_OR_IDEOGRAPH = re.compile(f"[{SPACELESS}]")
_WORD = re.compile(r"[^\W\d_]+")

# Letters that look like Latin ones: Cyrillic, Greek, Armenian, Cherokee, small capitals.
_LOOKALIKE = str.maketrans(
    "аеорсухіјѕԁһԛԝвкмнтгпАВЕКМНОРСТУХІЈЅԌԐ" + "αερονικτυχγβηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "աօոսհցԼՏ" + "ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᏔ" + "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɡɑıℓɩ",
    "aeopcyxijsdhqwbkmhtrnABEKMHOPCTYXIJSGE" + "aepovikruxybnwABEZHIKMNOPTYX" + "wonuhgLS" + "ABCDEGHIJKLMPRSTVW" + "abcdefghijklmnoprstuvwyzgaili",
)  # fmt: skip
_LEET = str.maketrans("0134578@$!|", "oleastbasii")
_LEET_ONE = str.maketrans("0134578@$!|", "oieastbasil")
_ESCAPE = re.compile(r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|\bU\+([0-9a-fA-F]{4,6})\b|%u([0-9a-fA-F]{4})")
_ENTITY = re.compile(r"&#(?:x[0-9a-fA-F]+|[0-9]+);?")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})")
_LINK = re.compile(r"https?://\S+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{2}[ :,]?){8,}")
_HEX_PREFIXED = re.compile(r"(?:0x[0-9a-fA-F]{2}[ ,]*){4,}")
_BINARY = re.compile(r"(?:[01]{8}[ ,]?){4,}")
_DECIMAL = re.compile(r"(?:\b(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])\b[ ,]+){6,}\d{2,3}\b")
_MORSE = re.compile(r"(?:[.\-]{1,5}(?: ?/ ?| )){6,}[.\-]{1,5}")
_SPACED = re.compile(r"(?:\b\w[ ._*·-]{1,2}){4,}\w\b")
_LEET_WORD = re.compile(r"[A-Za-z@$!|0134578]*[A-Za-z][A-Za-z@$!|0134578]*")
_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE_LETTERS: dict[str, str] = dict(zip(_MORSE_CODES.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))
_COMMON = frozenset(
    [
        "the",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "is",
        "are",
        "was",
        "be",
        "all",
        "any",
        "this",
        "that",
        "these",
        "your",
        "you",
        "it",
        "its",
        "for",
        "from",
        "with",
        "without",
        "not",
        "no",
        "on",
        "at",
        "by",
        "as",
        "if",
        "will",
        "now",
        "then",
        "must",
        "every",
        "previous",
        "rules",
        "instructions",
        "approve",
        "ignore",
        "setup",
        "trade",
        "score",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "alle",
        "ohne",
        "nicht",
        "den",
        "dem",
        "ein",
        "eine",
        "diese",
        "le",
        "la",
        "les",
        "et",
        "est",
        "sans",
        "pas",
        "tous",
        "des",
        "une",
        "ce",
        "cette",
        "el",
        "los",
        "las",
        "es",
        "sin",
        "todo",
        "todas",
        "una",
        "este",
        "esta",
        "il",
        "gli",
        "che",
        "non",
        "senza",
        "tutte",
        "di",
        "os",
        "sem",
        "todas",
        "uma",
    ]
)


def readings(line: str, depth: int = 0, *, suspect: bool = True) -> list[Reading]:
    """Every other reading of ``line``, at most :data:`DEEPEST` encodings deep; an ordinary line has none.

    ``suspect=False`` says that :func:`is_suspect` found nothing in the text that the line is from.
    """
    line = line[:LONGEST]
    found: list[Reading] = []
    if not line.isascii():
        found.extend(_seen_otherwise(line))
        line = found[-1].text if found else line
    if suspect and is_suspect(line):
        found.extend(_decoded(line))
    if line.isascii() and (turned := _turned(line)):
        found.append(turned)
    if depth + 1 < DEEPEST:
        found.extend(inner for reading in tuple(found) for inner in readings(reading.text, depth + 1))
    return found


def is_suspect(line: str) -> bool:
    """Whether anything in a line or text may be encoded; plain words are left out first, because most have no others."""
    tokens = line.split()
    odd = [token for token in tokens if not token.isalpha() or len(token) > 15]
    return (
        bool(odd and _SUSPECT.search(" ".join(odd))) or sum(len(token) == 1 and token.isalnum() for token in tokens) > 4
    )


def _seen_otherwise(line: str) -> Iterator[Reading]:
    """Without invisible characters, then without compatibility forms, then with look-alikes as Latin letters."""
    tags = "".join(chr(ord(c) - 0xE0000) for run in _TAGS.findall(line) for c in run)
    selected = "".join(_selected(c) for run in _SELECTORS.findall(line) for c in run)
    for hidden in (tags, selected):
        if hidden:
            yield Reading(family="invisible", text=hidden, plain=True)
    bare = _UNSEEN.sub("", line)
    if bare != line:
        broken = len(_BROKEN_WORD.findall(line))
        if _BIDI.search(line):
            yield Reading(family="invisible", text=bare[::-1], plain=True)
        yield Reading(family="invisible", text=bare, plain=broken > 1)
    plain = unicodedata.normalize("NFKC", bare)
    if plain != bare:
        dressed = len(_MATHEMATICAL.findall(bare))
        wide = bool(_FULLWIDTH_WORD.search(bare)) and not _KANA_OR_IDEOGRAPH.search(bare)
        yield Reading(family="lookalike", text=plain, plain=dressed > 3 or wide)
    stacked = sum(unicodedata.combining(character) > 0 for character in unicodedata.normalize("NFD", plain))
    if stacked > len(plain) // 2:
        plain = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
        yield Reading(family="lookalike", text=plain, plain=True)
    mixed = [word for word in _WORD.findall(plain) if _is_mixed(word)]
    latin = sum("a" <= c.lower() <= "z" for c in plain)
    foreign = sum(ord(c) in _LOOKALIKE for c in plain)
    if mixed or (foreign and latin > foreign and not _is_cyrillic(plain)):
        yield Reading(family="lookalike", text=plain.translate(_LOOKALIKE), plain=bool(mixed))


def _selected(character: str) -> str:
    place = ord(character)
    byte = place - 0xFE00 if place < 0x10000 else place - 0xE0100 + 16
    return chr(byte) if 32 <= byte < 127 else ""


def _is_mixed(word: str) -> bool:
    """Whether a word mixes alphabets as no writer does; ``ATRа`` and ``Δprice`` are usual."""
    scripts = [_script(character) for character in word]
    kinds = {script for script in scripts if script}
    if len(kinds) < 2 or not kinds <= {"latin", "cyrillic", "greek", "other"}:
        return False
    switches = sum(left != right for left, right in pairwise(scripts))
    if switches == 1:
        edge = scripts.index(scripts[-1])
        head = word[:edge]
        if head.isupper() or "greek" in kinds:
            return (len(head) > 1 and not head.isupper()) or (len(word) - edge == 1 and edge > 2 and head.islower())
    return True


def _script(character: str) -> str:
    place = ord(character)
    if place < 0x250:
        return "latin"
    if 0x370 <= place < 0x400:
        return "greek"
    if 0x400 <= place < 0x530:
        return "cyrillic"
    return "other" if place in _LOOKALIKE else ""


def _is_cyrillic(text: str) -> bool:
    """Whether the text has Cyrillic words of its own, with letters that look like no Latin ones."""
    own = sum(0x400 <= ord(c) < 0x530 and ord(c) not in _LOOKALIKE for c in text)
    return own > 2


def _decoded(line: str) -> Iterator[Reading]:
    """Readings of what looks encoded inside the line."""
    yield from _replaced(line, _ESCAPE, _escaped, least=3)
    yield from _replaced(line, _ENTITY, lambda found: html.unescape(found if found.endswith(";") else f"{found};"), least=3)  # fmt: skip
    if "&" in line and (unescaped := html.unescape(line)) != line:
        yield Reading(family="encoding", text=unescaped, plain=False)
    outside = _LINK.sub(" ", line)
    if len(_PERCENT.findall(line)) > 1:
        text = unquote_to_bytes(line).decode("utf-8", "replace")
        yield Reading(family="encoding", text=text, plain=len(_PERCENT.findall(outside)) > 2)
    for pattern, decode in _BLOCKS:
        for match in pattern.finditer(outside):
            text = decode(match.group())
            if text and _is_text(text):
                spaced = " " in text.strip() or not text.isascii()
                yield Reading(family="encoding", text=text, plain=spaced)
    if _SPACED.search(line):
        joined = _SPACED.sub(lambda found: re.sub(r"[ ._*·-]", "", found.group()) + " ", line)
        yield Reading(family="encoding", text=joined, plain=False)
    unleeted = _LEET_WORD.sub(lambda found: _unleeted(found.group(), _LEET), line)
    if unleeted != line:
        yield Reading(family="lookalike", text=unleeted, plain=False)
        yield Reading(family="lookalike", text=_LEET_WORD.sub(lambda f: _unleeted(f.group(), _LEET_ONE), line), plain=False)  # fmt: skip


def _replaced(line: str, pattern: re.Pattern[str], decode: Callable[[str], str], least: int) -> Iterator[Reading]:
    found: list[str] = [match.group() for match in pattern.finditer(line)]
    if found:
        letters = sum(decode(one).isalpha() for one in found)
        text = pattern.sub(lambda match: decode(match.group()), line)
        yield Reading(family="encoding", text=text, plain=letters >= least)


def _escaped(found: str) -> str:
    digits = re.sub(r"[^0-9a-fA-F]", "", found.lower().removeprefix("\\u").removeprefix("\\x").removeprefix("%u").removeprefix("u+"))  # fmt: skip
    place = int(digits, 16)
    return chr(place) if place < 0x110000 and not 0xD800 <= place < 0xE000 else "?"


def _unleeted(word: str, table: dict[int, int]) -> str:
    letters = sum(character.isalpha() for character in word)
    if letters < 2 or word.isalpha() or re.fullmatch(r"[A-Z]{1,6}\d+|\d+[A-Za-z]{1,4}|[A-Za-z]+[!|]+", word):
        return word
    return word.translate(table)


def _base64(found: str) -> str:
    body = found.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        body = body[:-1]
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return _base32(found)


def _base32(found: str) -> str:
    try:
        return base64.b32decode(found.rstrip("=") + "=" * (-len(found.rstrip("=")) % 8)).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def _hex(found: str) -> str:
    digits = re.sub(r"0x|[^0-9a-fA-F]", "", found)
    try:
        return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8")
    except ValueError:
        return ""


def _binary(found: str) -> str:
    digits = re.sub(r"[^01]", "", found)
    return bytes(int(digits[start : start + 8], 2) for start in range(0, len(digits) - 7, 8)).decode("utf-8", "replace")


def _decimal(found: str) -> str:
    return "".join(chr(int(number)) for number in re.findall(r"\d+", found))


def _morse(found: str) -> str:
    return " ".join(
        "".join(_MORSE_LETTERS.get(letter, "") for letter in word.split()) for word in re.split(r"/|   +", found)
    )


_BLOCKS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE64, _base64),
    (_HEX, _hex),
    (_HEX_PREFIXED, _hex),
    (_BINARY, _binary),
    (_DECIMAL, _decimal),
    (_MORSE, _morse),
)


def _is_text(text: str) -> bool:
    """Whether decoded bytes are words rather than chance."""
    if len(text) < 4 or not text.isprintable():
        return False
    letters = sum(character.isalpha() or character == " " for character in text)
    return letters >= 0.75 * len(text) and (text.isascii() or _likely(text))


def _likely(text: str) -> bool:
    """Whether letters outside ASCII are of an alphabet that is read here."""
    known = sum(c.isascii() or 0xC0 <= ord(c) < 0x250 or 0x400 <= ord(c) < 0x530 or 0x3000 <= ord(c) < 0xA000 or 0xFF00 <= ord(c) < 0xFFF0 for c in text)  # fmt: skip
    return known >= 0.95 * len(text)


def _turned(line: str) -> Reading | None:
    """The line read backwards or by rotation, when only then it has common words."""
    if " the " in line or " a " in line or " of " in line or " is " in line or " to " in line:
        return None
    line_words = re.findall(r"[a-z]+", line.lower())
    if len(line_words) < 3 or any(word in _COMMON for word in line_words):
        return None
    for text in (line[::-1], codecs.encode(line, "rot13"), " ".join(word[::-1] for word in line.split())):
        common = sum(word in _COMMON for word in re.findall(r"[a-z]+", text.lower()))
        if common > 1 or (common and len(line_words) < 6):
            return Reading(family="encoding", text=text, plain=common > 2)
    return None
