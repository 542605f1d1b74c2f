"""A ClassAlloc run as one JSON document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memtrial.bench.classalloc.result import ClassAllocResult, Summary
from memtrial.bench.classalloc.run import PRIMARY

FIELDS = ("utility_pct_month", "cumulative_return_pct", "sharpe", "max_drawdown_pct", "trust_rate_pct")


def document(result: ClassAllocResult, *, recording: str, report: str, seconds: float) -> Mapping[str, Any]:
    """The run in figures: every method for the balanced investor, and for each investor under ``by_investor``.

    ``memtrial`` is the paper's preset and ``memtrial_guarded`` the guarded one; ``preset`` says which was deployed.

    ``recording`` and ``report`` are paths; ``seconds`` is how long the run took.
    """
    primary = result.investors[PRIMARY].methods
    return {
        "benchmark": "classalloc",
        "investor": PRIMARY,
        "preset": result.preset,
        "decisions": len(result.days),
        "experiences": result.experiences,
        "policy": result.policy,
        "recording": recording,
        "methods": {name: figures(method.summary) for name, method in primary.items()},
        "by_investor": {
            investor: {name: figures(method.summary) for name, method in outcome.methods.items()}
            for investor, outcome in result.investors.items()
        },
        "table1": {
            "outcome_credit_vs_market": _number(result.credit.outcome_credit_vs_market),
            "contribution_vs_market": _number(result.credit.contribution_vs_market),
            "outcome_credit_vs_contribution": _number(result.credit.outcome_credit_vs_contribution),
            "pairs": result.credit.n,
        },
        "missing_drafts": result.missing_drafts,
        "usage": {
            "calls": result.usage.calls,
            "replayed": result.usage.replayed,
            "retries": result.usage.retries,
            "input_tokens": result.usage.input_tokens,
            "cached_tokens": result.usage.cached_tokens,
            "output_tokens": result.usage.output_tokens,
            "cost_usd": result.usage.cost_usd,
        },
        "report": report,
        "seconds": round(seconds, 2),
    }


def figures(summary: Summary) -> Mapping[str, float | None]:
    """The figures of one method, rounded to what is shown; null where a run is too short to say."""
    return {field: _number(getattr(summary, field)) for field in FIELDS}


def _number(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
