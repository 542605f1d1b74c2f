"""One colour per method, on every page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TONES: Mapping[str, str] = MappingProxyType(
    {
        "1/N": "reference",
        "memtrial": "tone-1",
        "memtrial_never_trusts": "tone-2",
        "memory_free": "tone-3",
        "counterfactual_selection": "tone-4",
        "draft_averaging": "tone-5",
        "top_2": "tone-6",
        "top_4": "tone-7",
        "minimum_variance": "tone-8",
        "memtrial_guarded": "tone-10",
        "memrl": "tone-11",
        "uplift_credit": "tone-12",
        "finmem": "tone-13",
        "reflexion": "tone-14",
        "expel": "tone-15",
        "hedge": "tone-16",
        "self_consistency": "tone-9",
    }
)
"""Colour class of each method by its key; the stylesheet knows what they look like in light, dark and print."""

SHORT: Mapping[str, str] = MappingProxyType(
    {
        "memtrial_never_trusts": "shadow",
        "memtrial_guarded": "guarded",
        "memrl": "MemRL",
        "self_consistency": "Self-cons.",
        "uplift_credit": "Uplift",
        "memory_free": "No memory",
        "counterfactual_selection": "CF select",
        "draft_averaging": "Averaging",
        "minimum_variance": "Min. var.",
        "top_2": "Top-2",
        "top_4": "Top-4",
    }
)
"""Names short enough for the end of a line on a narrow screen."""

SPARE = ("tone-9", "tone-3", "tone-4", "tone-5", "tone-6", "tone-7")


def tone(name: str) -> str:
    """Colour class of a method; one that is not listed gets a spare colour that depends on its name only."""
    return TONES.get(name) or SPARE[sum(name.encode()) % len(SPARE)]


def direction(value: float | None, *, least: float = 0.0) -> str:
    """``"helped"``, ``"hurt"``, or nothing when ``value`` is not further from 0 than ``least``."""
    if value is None or not abs(value) > least:
        return ""
    return "helped" if value > 0 else "hurt"
