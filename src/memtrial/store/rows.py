"""Records to rows and back, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import RowMapping

from memtrial.errors import InputError
from memtrial.records import Decision, Draft, Experience, Outcome, Recall, Recalled, Usage, Verdict

Row: TypeAlias = RowMapping | Mapping[str, Any]

EXPERIENCE = tuple(field.name for field in fields(Experience))
USAGE = tuple(field.name for field in fields(Usage))
VERDICT = tuple(field.name for field in fields(Verdict))
_ELSEWHERE = {"recall", "drafts", "projected", "verdict", "usage"}
OWN = tuple(field.name for field in fields(Decision) if field.name not in _ELSEWHERE)
"""Fields of a decision that its row carries under their own name."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Basis:
    """A stored content basis.

    ``mean`` (dim,) and ``projection`` (dim, d) are float64 and read-only; ``embedder`` made the vectors it was
    fitted on.
    """

    id: str
    embedder: str
    mean: NDArray[np.float64]
    projection: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Contribution:
    """What one recalled experience contributed to one decision: utility per period, counterfactual (paper Eq. 3).

    ``known_at`` is when the outcome it was measured from was known (UTC).
    """

    decision_id: str
    experience_id: str
    rank: int
    contribution: float
    decided_at: datetime
    known_at: datetime


def vector_bytes(vector: Any, what: str) -> bytes:
    """A finite, non-empty vector as little-endian float32; anything else is an ``InputError``."""
    array = np.asarray(vector, dtype="<f4")
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise InputError(f"{what}: a vector must be finite with shape (dimension,), got shape {array.shape}")
    return array.tobytes()


def floats_bytes(values: Any) -> bytes:
    """Values as little-endian float64 in C order."""
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def floats(blob: bytes) -> NDArray[np.float64]:
    """The values of ``floats_bytes``, read-only, in one dimension."""
    return np.frombuffer(blob, dtype="<f8")


def experience_row(scope: str, experience: Experience) -> dict[str, Any]:
    return {"scope": scope, **{name: getattr(experience, name) for name in EXPERIENCE}}


def experience_of(row: Row) -> Experience:
    return Experience(**{name: row[name] for name in EXPERIENCE})


def usage_row(usage: Usage) -> dict[str, Any]:
    return {name: getattr(usage, name) for name in USAGE}


def usage_of(row: Row) -> Usage:
    return Usage(**{name: row[name] for name in USAGE})


def decision_row(decision: Decision, position: int) -> dict[str, Any]:
    recall = decision.recall
    return {
        **{name: getattr(decision, name) for name in OWN},
        **usage_row(decision.usage),
        "journal": position,
        "recall_as_of": recall.as_of,
        "recall_query": recall.query,
        "recall_embedder": recall.embedder,
        "recall_pool": recall.pool,
    }


def recalled_rows(decision: Decision) -> list[dict[str, Any]]:
    return [
        {
            "decision_id": decision.id,
            "rank": item.rank,
            "scope": decision.scope,
            "experience_id": item.experience.id,
            "similarity": item.similarity,
        }
        for item in decision.recall.shown
    ]


def draft_rows(decision: Decision) -> list[dict[str, Any]]:
    return [
        {
            "decision_id": decision.id,
            "position": position,
            "subset": draft.subset,
            "weights": draft.weights,
            "projected": projected,
            "problem": draft.problem,
            "reason": draft.reason,
            "requests": draft.requests,
            **usage_row(draft.usage),
        }
        for position, (draft, projected) in enumerate(zip(decision.drafts, decision.projected, strict=True))
    ]


def verdict_row(decision: Decision) -> dict[str, Any]:
    verdict = decision.verdict
    row = {name: getattr(verdict, name) for name in VERDICT}
    return {"decision_id": decision.id, **row, "values": dict(verdict.values), "shares": dict(verdict.shares)}


def decision_of(row: Row, shown: list[Row], drafted: list[Row], verdict: Row) -> Decision:
    """The decision of its row, its recalled experiences in rank order, its drafts in design order, its verdict."""
    return Decision(
        **{name: row[name] for name in OWN},
        recall=Recall(
            as_of=row["recall_as_of"],
            query=row["recall_query"],
            embedder=row["recall_embedder"],
            pool=row["recall_pool"],
            shown=tuple(
                Recalled(experience=experience_of(item), rank=item["rank"], similarity=item["similarity"])
                for item in shown
            ),
        ),
        drafts=tuple(
            Draft(
                subset=item["subset"],
                weights=item["weights"],
                problem=item["problem"],
                reason=item["reason"],
                usage=usage_of(item),
                requests=item["requests"],
            )
            for item in drafted
        ),
        projected=tuple(item["projected"] for item in drafted),
        verdict=Verdict(**{name: verdict[name] for name in VERDICT}),
        usage=usage_of(row),
    )


def outcome_row(outcome: Outcome, position: int) -> dict[str, Any]:
    blends = outcome.blend_utilities
    return {
        "decision_id": outcome.decision_id,
        "journal": position,
        "known_at": outcome.known_at,
        "returns": outcome.returns,
        "utility": outcome.utility,
        "draft_utilities": outcome.draft_utilities,
        "blend_utilities": None if blends is None else floats_bytes(blends),
        "measured": outcome.contributions is not None,
    }


def contribution_rows(outcome: Outcome) -> list[dict[str, Any]]:
    return [
        {"decision_id": outcome.decision_id, "rank": rank, "contribution": contribution}
        for rank, contribution in enumerate(outcome.contributions or ())
    ]


def score_rows(outcome: Outcome) -> list[dict[str, Any]]:
    return [
        {"decision_id": outcome.decision_id, "learner": learner, "score": score}
        for learner, score in outcome.scores.items()
    ]


def _reported(learner: str) -> tuple[bool, bool, str]:
    """Order in which learners are reported: each experience alone first, those that forget last."""
    return "/" in learner, not learner.startswith("per_experience"), learner


def outcome_of(row: Row, contributed: list[Row], scored: list[Row]) -> Outcome:
    """The outcome of its row, its contributions in rank order and its scores."""
    found = {item["learner"]: item["score"] for item in scored}
    blends = row["blend_utilities"]
    return Outcome(
        decision_id=row["decision_id"],
        known_at=row["known_at"],
        returns=row["returns"],
        utility=row["utility"],
        draft_utilities=row["draft_utilities"],
        blend_utilities=None if blends is None else tuple(floats(blends).tolist()),
        contributions=tuple(item["contribution"] for item in contributed) if row["measured"] else None,
        scores={learner: found[learner] for learner in sorted(found, key=_reported)},
    )
