"""The stylesheet: enough contrast in light, dark and print, and three sizes of type."""

from __future__ import annotations

import re
from importlib import resources

import pytest

STYLE = (resources.files("memtrial.bench.report") / "static" / "page.css").read_text(encoding="utf-8")
TONES = [f"tone-{index}" for index in range(1, 17)]
TEXT = [
    *((name, "paper") for name in ("ink", "muted", "accent", "helped", "hurt", "reference", *TONES)),
    *((name, "own") for name in ("ink", "muted", "hurt")),
    *((name, "panel") for name in ("ink", "muted")),
]
MARKS = [(name, "phase") for name in ("accent", "helped", "hurt", "reference", *TONES)]


def schemes() -> dict[str, dict[str, str]]:
    """Variables by scheme; dark and print change what light sets."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    light, dark, printed = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", block)) for block in blocks)
    return {"light": light, "dark": light | dark, "print": light | printed}


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
@pytest.mark.parametrize(("front", "back", "least"), [(*p, 4.5) for p in TEXT] + [(*p, 3.0) for p in MARKS])
def test_contrast(scheme: str, front: str, back: str, least: float) -> None:
    colours = schemes()[scheme]
    assert contrast(colours[front], colours[back]) >= least


def test_every_scheme_sets_every_colour() -> None:
    found = schemes()
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    names = [set(re.findall(r"--([\w-]+): #", block)) for block in blocks]
    assert names[0] == names[1] == names[2] == set(found["light"])


def test_colours_are_variables() -> None:
    rules = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert not re.findall(r"#[0-9a-f]{3,6}\b", rules)
