# ruff: noqa: E501  (patterns and tables are not broken)
"""The normaliser that needs no model: a narrative from the structured fields of a setup, in words instead of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memtrial.errors import InputError
from memtrial.intake.narrative import Narrative, compose


@dataclass(frozen=True, kw_only=True, slots=True)
class SetupFacts:
    """What was known of a setup when it was decided.

    Attributes
    ----------
    symbol, side, poi_type, origin_interval
        Instrument, ``long`` or ``short``, kind of the point of interest (``EFVG``) and its timeframe (``1H``).
    decision
        What the agent decided.
    score
        Entry score, 0 to 100, if any.
    components
        Component scores, 0 to 1 of their maximum, by name.
    strategy, regime, session
        Labels, as they are written elsewhere; empty when unknown.
    rsi, adx, atr_share
        RSI and ADX (0 to 100), and ATR as a fraction of its usual value.
    contradictions, confluences, concerns
        Short phrases without prices.
    reason
        Why it was decided so, one sentence.
    """

    symbol: str
    side: Literal["long", "short"]
    poi_type: str
    origin_interval: str
    decision: Literal["accept", "reject", "hold", "skip"]
    score: float | None = None
    components: Mapping[str, float] = field(default_factory=dict[str, float])
    strategy: str = ""
    regime: str = ""
    session: str = ""
    rsi: float | None = None
    adx: float | None = None
    atr_share: float | None = None
    contradictions: Sequence[str] = ()
    confluences: Sequence[str] = ()
    concerns: Sequence[str] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("symbol", "poi_type", "origin_interval"):
            if not str(getattr(self, name)).strip():
                raise InputError(f"{name} of a setup is empty; a narrative needs it")
        for name, low, high in (("score", 0, 100), ("rsi", 0, 100), ("adx", 0, 100), ("atr_share", 0, 1e6)):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InputError(f"{name} of {self.symbol} is {value}; pass a number from {low} to {high:g}, or None")


_DECIDED = {"accept": "accepted", "reject": "rejected", "hold": "put on hold", "skip": "skipped"}


def narrate(facts: SetupFacts) -> Narrative:
    """The narrative of a setup: qualitative, contradictions first, nothing of what came of it."""
    bias = "bullish" if facts.side == "long" else "bearish"
    decided = _DECIDED[facts.decision]
    place = f"{facts.origin_interval} {facts.poi_type}"
    graded = sorted(facts.components.items(), key=lambda item: (-item[1], item[0]))
    strong = [f"{_words(name)} is {_grade(value)}" for name, value in graded if value >= 0.5]
    weak = [f"{_words(name)} is {_grade(value)}" for name, value in reversed(graded) if value < 0.5]
    conflict = _listed(facts.contradictions)
    summary = (
        f"{facts.side.capitalize()} setup on {facts.symbol} at a {place} POI, {decided} with a {_score(facts.score)}."
    )
    return compose(
        {
            "Entry setup summary": " ".join(
                part
                for part in (
                    f"The main contradiction: {conflict}." if conflict else "",
                    summary,
                    f"The strategy is {_words(facts.strategy)}." if facts.strategy else "",
                )
                if part
            ),
            "Market structure and momentum": (
                f"The idea is {bias}. The regime is {_words(facts.regime) or 'not recorded'}, the trend is "
                f"{_trend(facts.adx)} and momentum is {_momentum(facts.rsi)}."
            ),
            "POI and entry trigger": (
                f"The point of interest is a {place} zone on the {'demand' if facts.side == 'long' else 'supply'} side. "
                f"{_sentence(strong[:2] + weak[:2]) or 'Its components were not recorded.'}"
            ),
            "Liquidity, FVG and obstacles": _obstacles(facts),
            "Market data and session context": (
                f"The session is {_words(facts.session) or 'not recorded'} and volatility is {_volatility(facts.atr_share)}."
            ),
            "Main confluences": [*facts.confluences, *strong] or ["No confluence was recorded"],
            "Main concerns": [*facts.contradictions, *facts.concerns, *weak] or ["No concern was recorded"],
            "Agent verdict": f"The agent {'was' if facts.decision == 'hold' else 'has'} {'waiting' if facts.decision == 'hold' else decided}: "
            f"{facts.reason.strip().rstrip('.') or 'no reason was recorded'}.",
            "Memory note": (
                f"Compare with other {facts.side} setups at {facts.poi_type} zones by "
                f"{'how the contradiction was weighed' if conflict else 'the quality of the zone and of the path'}."
            ),
        }
    )  # fmt: skip


def _obstacles(facts: SetupFacts) -> str:
    about = ("liquidity", "obstacle", "path", "fvg", "gap", "block", "sweep", "target", "room")
    told = [point for point in (*facts.concerns, *facts.confluences) if any(word in point.lower() for word in about)]
    return _sentence(told) or "No obstacle, gap or pool of liquidity was recorded on the path."


def _listed(points: Sequence[str]) -> str:
    return "; ".join(point.strip().rstrip(".") for point in points if point.strip())


def _sentence(points: Sequence[str]) -> str:
    joined = _listed(points)
    return f"{joined[0].upper()}{joined[1:]}." if joined else ""


def _words(label: str) -> str:
    return " ".join(label.replace("_", " ").split())


def _grade(value: float) -> str:
    return "strong" if value >= 0.75 else "fair" if value >= 0.5 else "weak" if value >= 0.25 else "critically weak"


def _score(score: float | None) -> str:
    if score is None:
        return "score that was not recorded"
    return f"{'high' if score >= 75 else 'moderate' if score >= 55 else 'low'} score"


def _trend(adx: float | None) -> str:
    return "not recorded" if adx is None else "strong" if adx >= 25 else "forming" if adx >= 18 else "weak"


def _momentum(rsi: float | None) -> str:
    if rsi is None:
        return "not recorded"
    return next(
        word
        for limit, word in ((25, "oversold"), (35, "near oversold"), (45, "soft"), (55, "neutral"), (65, "firm"), (75, "near overbought"), (101, "overbought"))
        if rsi < limit
    )  # fmt: skip


def _volatility(share: float | None) -> str:
    return (
        "not recorded" if share is None else "elevated" if share >= 1.25 else "usual" if share >= 0.8 else "compressed"
    )
