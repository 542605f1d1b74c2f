"""Records for the tests of the store: plain ones, and any that hypothesis can think of."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
from hypothesis import strategies as st

from memtrial.records import Decision, Draft, Experience, Outcome, Recall, Recalled, Usage, Verdict

START = datetime(2020, 1, 1, tzinfo=UTC)
EMBEDDER = "model:1"


def day(n: float) -> datetime:
    return START + timedelta(days=n)


def vector(seed: int, dimension: int = 8) -> Any:
    return np.random.default_rng(seed).normal(size=dimension).astype(np.float32)


def experience(n: int, *, known: float | None = None, **changes: Any) -> Experience:
    fields: dict[str, Any] = {
        "id": f"e{n:03d}",
        "kind": "lesson",
        "situation": f"situation {n}",
        "text": f"text {n}",
        "valid_at": day(n),
        "known_at": day(n if known is None else known),
    }
    return Experience(**{**fields, **changes})


def decision(
    n: int, shown: tuple[Experience, ...] = (), *, scope: str = "s", agent: str = "a", **changes: Any
) -> Decision:
    at = changes.pop("at", None) or day(100 + n)
    weights = (0.25, 0.75)
    verdict = Verdict(
        weight=0.0,
        reason="too few scores",
        learner="per_experience",
        values={"per_experience": (0.1,) * len(shown), "content_aware": (-0.0,) * len(shown)},
        n_scores=0,
        mean_score=math.nan,
        sd_score=math.nan,
        p_value=1.0,
        alpha=0.05,
        min_scores=10,
        subset=(),
        total=-0.0,
        reference_weight=0.9,
    )
    fields: dict[str, Any] = {
        "id": f"{scope}-{agent}-{n:04d}",
        "scope": scope,
        "agent": agent,
        "sequence": n,
        "decided_at": at,
        "assets": ("SPY", "BND"),
        "situation": "calm",
        "state_text": "calm, 1.5 %",
        "holdings": weights,
        "mandate": "long-only",
        "risk_aversion": 5.0,
        "cost": 0.0015,
        "recall": Recall(
            as_of=at,
            query="calm",
            embedder=EMBEDDER,
            pool=len(shown),
            shown=tuple(Recalled(experience=e, rank=rank, similarity=0.5) for rank, e in enumerate(shown)),
        ),
        "design": "half",
        "features": ((0.0,) * 8,) * len(shown),
        "basis": None,
        "drafts": tuple(Draft(subset=(), weights=weights, reason=f"draft {i}", usage=Usage(calls=1)) for i in range(8)),
        "projected": (weights,) * 8,
        "reference": weights,
        "mean_draft": weights,
        "verdict": verdict,
        "action": weights,
        "policy": "policy:1",
        "prompt": "0" * 64,
        "usage": Usage(calls=8, cost_usd=None),
    }
    return Decision(**{**fields, **changes})


def outcome(taken: Decision, *, after: float = 1.0, **changes: Any) -> Outcome:
    shown = len(taken.recall.shown)
    fields: dict[str, Any] = {
        "decision_id": taken.id,
        "known_at": taken.decided_at + timedelta(days=after),
        "returns": ((0.01, -0.0), (1e-300, 0.1 + 0.2)),
        "utility": 0.1 + 0.2,
        "draft_utilities": tuple(None if i == 0 else 0.1 * i for i in range(len(taken.drafts))),
        "blend_utilities": tuple(np.linspace(0, 1, 201).tolist()),
        "contributions": tuple(0.1 * i for i in range(shown)),
        "scores": {"per_experience": 0.5, "content_aware": -0.25},
    }
    return Outcome(**{**fields, **changes})


TEXT = st.text(max_size=12)
FLOAT = st.floats()
FINITE = st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, 2**40)
WEIGHTS = st.lists(FINITE, max_size=4).map(tuple)
ZONE = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=12))])
# fold says which of two readings of a local clock is meant; in UTC there is one.
MOMENT = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=ZONE).map(  # noqa: DTZ001
    lambda moment: moment.replace(fold=0)
)
USAGE = st.builds(
    Usage,
    calls=COUNT,
    replayed=COUNT,
    retries=COUNT,
    input_tokens=COUNT,
    cached_tokens=COUNT,
    output_tokens=COUNT,
    latency_seconds=FLOAT,
    cost_usd=st.none() | FLOAT,
)
DRAFT = st.builds(
    Draft,
    subset=st.lists(st.integers(0, 9), max_size=4).map(tuple),
    weights=st.none() | WEIGHTS,
    problem=st.none() | TEXT,
    reason=st.none() | TEXT,
    usage=USAGE,
    requests=st.lists(TEXT, max_size=3).map(tuple),
)


@st.composite
def any_experience(draw: st.DrawFn, identity: str, latest: datetime) -> Experience:
    known = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3000)).map(lambda gap: latest - gap)
    return Experience(
        id=identity,
        kind=draw(st.sampled_from(["lesson", "record"])),
        situation=draw(TEXT),
        text=draw(TEXT),
        valid_at=draw(MOMENT),
        known_at=draw(known),
        decision_id=draw(st.none() | TEXT),
    )


@st.composite
def any_decision(draw: st.DrawFn) -> Decision:
    """A decision, with the experiences that it shows, which must be stored first."""
    at = draw(MOMENT.filter(lambda moment: 100 < moment.year < 9000))
    ids = draw(st.lists(TEXT, unique=True, max_size=4))
    shown = [draw(any_experience(identity, at)) for identity in ids]
    drafts = draw(st.lists(DRAFT, max_size=4))
    values = st.tuples(*[FLOAT] * len(ids))
    return decision(
        draw(st.integers(0, 2**40)),
        scope=draw(TEXT),
        agent=draw(TEXT),
        at=at,
        id=draw(TEXT),
        assets=tuple(draw(st.lists(TEXT, max_size=3))),
        situation=draw(TEXT),
        state_text=draw(TEXT),
        holdings=draw(WEIGHTS),
        mandate=draw(TEXT),
        risk_aversion=draw(FLOAT),
        cost=draw(FLOAT),
        recall=Recall(
            as_of=at,
            query=draw(TEXT),
            embedder=draw(TEXT),
            pool=draw(COUNT),
            shown=tuple(
                Recalled(experience=item, rank=rank, similarity=draw(FLOAT)) for rank, item in enumerate(shown)
            ),
        ),
        design=draw(st.sampled_from(["half", "full"])),
        features=tuple(draw(st.lists(WEIGHTS, max_size=3))),
        drafts=tuple(drafts),
        projected=tuple(draw(st.none() | WEIGHTS) for _ in drafts),
        reference=draw(WEIGHTS),
        mean_draft=draw(st.none() | WEIGHTS),
        verdict=Verdict(
            weight=draw(FLOAT),
            unit=draw(FLOAT),
            rule=draw(st.sampled_from(["purse", "t_test"])),
            wealth=draw(FLOAT),
            shares=draw(st.dictionaries(st.sampled_from(["per_experience", "content_aware/0.94"]), FLOAT)),
            extra=draw(st.none() | st.lists(st.integers(0, 9), max_size=4).map(tuple)),
            bound=draw(FLOAT),
            vetoed=draw(st.booleans()),
            bets=draw(st.booleans()),
            terms=draw(TEXT),
            reason=draw(TEXT),
            learner=draw(st.sampled_from(["per_experience", "content_aware"])),
            values={"per_experience": draw(values), "content_aware": draw(values)},
            n_scores=draw(COUNT),
            mean_score=draw(FLOAT),
            sd_score=draw(FLOAT),
            p_value=draw(FLOAT),
            alpha=draw(FLOAT),
            min_scores=draw(COUNT),
            subset=tuple(draw(st.lists(st.integers(0, 9), max_size=4))),
            total=draw(FLOAT),
            reference_weight=draw(FLOAT),
        ),
        action=draw(WEIGHTS),
        usage=draw(USAGE),
    )


@st.composite
def any_outcome(draw: st.DrawFn, taken: Decision) -> Outcome:
    shown = len(taken.recall.shown)
    scores = {learner: draw(st.none() | FLOAT) for learner in ("per_experience", "content_aware")}
    return outcome(
        taken,
        known_at=taken.decided_at + draw(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9999))),
        returns=tuple(draw(st.lists(WEIGHTS, max_size=3))),
        utility=draw(FLOAT),
        draft_utilities=tuple(draw(st.none() | FLOAT) for _ in taken.drafts),
        blend_utilities=draw(st.none() | st.lists(FLOAT, max_size=5).map(tuple)),
        contributions=draw(st.none() | st.tuples(*[FLOAT] * shown)),
        scores={learner: score for learner, score in scores.items() if score is not None},
    )
