"""The learners that may speak: each value model, remembering everything or forgetting."""

from __future__ import annotations

from dataclasses import dataclass

from memtrial.records import Learner
from memtrial.trial.settings import Settings, ValueKind


@dataclass(frozen=True, slots=True)
class Candidate:
    """A learner: which value model, and the factor by which its evidence fades with every decision (``None``: never).

    ``stake`` is its first share of the purse.
    """

    name: Learner
    kind: ValueKind
    forgetting: float | None
    stake: float


def candidates(settings: Settings) -> tuple[Candidate, ...]:
    """The candidates of a trial, in the order in which ties are broken."""
    kinds = settings.learners
    if settings.forgetting is None:
        return tuple(Candidate(kind, kind, None, 1.0 / len(kinds)) for kind in kinds)
    kept = (1.0 - settings.forgetting_share) / len(kinds)
    fading = settings.forgetting_share / len(kinds)
    return (
        *(Candidate(kind, kind, None, kept) for kind in kinds),
        *(Candidate(_forgetting(kind, settings.forgetting), kind, settings.forgetting, fading) for kind in kinds),
    )


def _forgetting(kind: ValueKind, factor: float) -> Learner:
    return f"{kind}/{factor!r}"
