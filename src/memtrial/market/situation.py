"""A market's situation in words: qualitative, outcome-free, made to be embedded and compared.

An embedder averages words, so it cannot tell "equities up, bonds down" from the reverse when both use the same words.
Each asset class therefore has its own vocabulary for what it did.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

MONTH = 21

_MONTH_WORDS: Mapping[str, tuple[str, str, str, str, str]] = {
    "equities": ("stocks sold off", "stocks slipped", "stocks paused", "stocks gained", "stocks rallied"),
    "bonds": ("yields jumped", "yields edged up", "yields were unchanged", "yields edged down", "yields tumbled"),
    "commodities": ("oil and metals plunged", "raw materials softened", "raw materials held", "raw materials firmed",
                    "oil and metals soared"),
    "real_estate": ("property slumped", "landlords weakened", "property was steady", "landlords improved",
                    "property surged"),
}  # fmt: skip
_TREND_WORDS: Mapping[str, tuple[str, str, str]] = {
    "equities": ("in a bear market", "in a range-bound market", "in a bull market"),
    "bonds": ("as rates trend higher", "with rates stable", "as rates trend lower"),
    "commodities": ("amid a glut", "with supply balanced", "amid a boom"),
    "real_estate": ("in a housing downturn", "with housing flat", "in a housing upswing"),
}
_NERVES = ("calm", "normal nerves", "turbulence")


def class_situation(assets: Sequence[str], past: NDArray[np.float64]) -> str:
    """The situation after ``past``, in words.

    Last month's move is graded in five steps and the whole window's trend in three, both in units of the window's own
    volatility, so that the words mean the same in calm and in nervous years.

    Parameters
    ----------
    assets
        Names of the classes; ``cash`` and unknown classes are left out.
    past
        Daily simple returns up to the decision, shape (n_days, n_assets).
    """
    phrases: list[str] = []
    for column, asset in enumerate(assets):
        if asset not in _MONTH_WORDS:
            continue
        daily = past[:, column]
        spread = float(daily.std(ddof=1)) or 1.0
        month = float(daily[-MONTH:].sum()) / (spread * MONTH**0.5)
        trend = float(daily.sum()) / (spread * len(daily) ** 0.5)
        move = _MONTH_WORDS[asset][bisect_left((-1.0, -0.25, 0.25, 1.0), month)]
        drift = _TREND_WORDS[asset][bisect_left((-0.5, 0.5), trend)]
        phrases.append(f"{move} {drift}")
    nerves = float(past[-MONTH:, 0].std(ddof=1)) / (float(past[:, 0].std(ddof=1)) or 1.0)
    phrases.append(_NERVES[bisect_left((0.75, 1.25), nerves)])
    return "; ".join(phrases) + "."
