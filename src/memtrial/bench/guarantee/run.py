"""Many histories without signal, on any executor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtrial.bench.executors import Executor, Serial
from memtrial.bench.guarantee.lane import RULES, Ask, Verdicts, judged
from memtrial.bench.guarantee.nulls import NULLS
from memtrial.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleFigures:
    """One rule over all histories of one kind.

    ``ever_trusted_pct`` is the share of histories in which memory was ever trusted in full, ``ever_trusted_se`` its
    standard error, ``weight_pct`` the mean share of the capital that memory moved; all in %.
    """

    ever_trusted_pct: float
    ever_trusted_se: float
    weight_pct: float


@dataclass(frozen=True, kw_only=True, slots=True)
class GuaranteeResult:
    """Figures by null and rule, over ``lanes`` histories each."""

    lanes: int
    seed: int
    nulls: Mapping[str, Mapping[str, RuleFigures]]

    def document(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "lanes": self.lanes,
            "seed": self.seed,
            "nulls": {
                null: {
                    "decisions": NULLS[null].dates,
                    "covered": NULLS[null].covered,
                    "rules": {
                        rule: {name: round(getattr(figures, name), 3) for name in RuleFigures.__slots__}
                        for rule, figures in rules.items()
                    },
                }
                for null, rules in self.nulls.items()
            },
        }


def run_guarantee(
    *,
    lanes: int = 400,
    nulls: Sequence[str] = tuple(NULLS),
    seed: int = 0,
    executor: Executor | None = None,
    on_lane: Callable[[], object] = lambda: None,
) -> GuaranteeResult:
    """Judge ``lanes`` histories of each of ``nulls``.

    Raises
    ------
    InputError
        When a null is unknown.
    """
    unknown = [null for null in nulls if null not in NULLS]
    if unknown:
        raise InputError(f"no null is called {unknown[0]!r}; choose from {', '.join(NULLS)}")
    if not nulls:
        raise InputError(f"no null was named; choose from {', '.join(NULLS)}")
    if lanes < 1:
        raise InputError(f"lanes = {lanes}; at least one history is needed")
    asks = [Ask(null, number, seed) for null in nulls for number in range(lanes)]
    found: dict[str, dict[int, Verdicts]] = {null: {} for null in nulls}
    for ask, verdicts in (executor or Serial()).run(judged, asks):
        found[ask.null][ask.number] = verdicts
        on_lane()
    return GuaranteeResult(
        lanes=lanes,
        seed=seed,
        nulls={
            null: {rule: _figures([of[number] for number in range(lanes)], rule) for rule in RULES}
            for null, of in found.items()
        },
    )


def _figures(lanes: Sequence[Verdicts], rule: str) -> RuleFigures:
    ever = sum(lane.ever[rule] for lane in lanes) / len(lanes)
    return RuleFigures(
        ever_trusted_pct=100 * ever,
        ever_trusted_se=100 * math.sqrt(ever * (1 - ever) / len(lanes)),
        weight_pct=100 * sum(lane.weight[rule] for lane in lanes) / len(lanes),
    )
