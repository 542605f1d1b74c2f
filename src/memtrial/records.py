"""The nouns of memtrial: frozen records that every room shares.

Times are timezone-aware and kept in UTC. A *decided* time is when an action was taken; a *known* time is when a
fact could first have been used. Weights are fractions of wealth in the order of ``assets``. Returns and utilities are
fractions per holding period.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal, TypeAlias

from memtrial.errors import InputError, TimeError

Weights = tuple[float, ...]
FULL_WEIGHT = 0.999
"""A share of the capital from which memory counts as fully trusted."""

Learner: TypeAlias = str
"""A value model by name: ``per_experience``, ``content_aware``, or one that forgets (``per_experience/0.94``)."""


def utc(moment: datetime, what: str) -> datetime:
    """``moment`` in UTC.

    Parameters
    ----------
    moment
        A timezone-aware time.
    what
        Its name in the error message, for example ``"as_of"``.

    Raises
    ------
    TimeError
        When ``moment`` has no time zone: memtrial never guesses one.
    """
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TimeError(f"{what} is {moment!r}; pass an aware datetime")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise TimeError(
            f"{what} {moment.isoformat()} has no time zone; pass an aware datetime, "
            f"for example datetime({moment.year}, {moment.month}, {moment.day}, tzinfo=UTC)"
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise TimeError(
            f"{what} {moment.isoformat()} cannot be told in UTC; pass a time within the years 1 to 9999"
        ) from error


def unicode_text(text: str) -> str:
    """``text`` with half characters (lone surrogates) replaced: models and exceptions may say anything."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fingerprint(content: object) -> str:
    """SHA-256 (hex) of the canonical JSON of ``content``: equal content, equal id, on every machine."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What the agent sees when it decides.

    Attributes
    ----------
    decided_at
        When the decision is taken (aware, UTC).
    text
        What the policy reads, exact numbers included.
    situation
        The same moment in words, without outcome: what is embedded and compared when memories are recalled.
    assets
        Names of the assets, in the order of every weight vector.
    holdings
        Weights held just before the decision (drifted), or ``None`` when nothing is held yet.
    attributes
        Anything else the user's own policy wants to see; memtrial does not read it.
    """

    decided_at: datetime
    text: str
    situation: str
    assets: tuple[str, ...]
    holdings: Weights | None = None
    attributes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        object.__setattr__(self, "decided_at", utc(self.decided_at, "decided_at"))
        object.__setattr__(self, "assets", tuple(self.assets))
        for name in ("text", "situation"):
            try:
                getattr(self, name).encode("utf-8")
            except UnicodeEncodeError as error:
                raise InputError(
                    f"the state's {name} is not valid Unicode ({error.reason}); repair it first"
                ) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Experience:
    """One memory: a situation, and what the agent took from it.

    Attributes
    ----------
    id
        Identity within its scope. Edited text is a new experience with a new id.
    kind
        ``"lesson"`` (written by a model, at most 60 words) or ``"record"`` (written by template).
    situation
        What is embedded: the situation as it looked at decision time, without outcome.
    text
        What a policy is shown: it may carry the decision, its outcome and a lesson.
    decision_id
        The decision it came from, if any.
    valid_at
        When the situation it describes was true (UTC).
    known_at
        When it could first have been recalled (UTC).
    """

    id: str
    kind: Literal["lesson", "record"]
    situation: str
    text: str
    valid_at: datetime
    known_at: datetime
    decision_id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "valid_at", utc(self.valid_at, "valid_at"))
        object.__setattr__(self, "known_at", utc(self.known_at, "known_at"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """One recalled experience: its place in the ranking (from 0) and its similarity to the query (cosine)."""

    experience: Experience
    rank: int
    similarity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """The receipt of one recall: what was asked, when, of how many, and what was shown in which order.

    ``pool`` counts the experiences known by ``as_of``; ``embedder`` is the model id that ranked them.
    """

    as_of: datetime
    query: str
    embedder: str
    pool: int
    shown: tuple[Recalled, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "as_of", utc(self.as_of, "as_of"))

    @property
    def experiences(self) -> tuple[Experience, ...]:
        """The experiences shown, in rank order."""
        return tuple(item.experience for item in self.shown)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a draft cost.

    ``cost_usd`` is ``None`` when the price of the model is not known. ``replayed`` counts replies that came from a
    recording: they cost nothing now, and their tokens, latency and cost are those of the original call.
    """

    calls: int = 0
    replayed: int = 0
    retries: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    latency_seconds: float = 0.0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            replayed=self.replayed + other.replayed,
            retries=self.retries + other.retries,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            latency_seconds=self.latency_seconds + other.latency_seconds,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """One draft of a decision, made with a subset of the recalled experiences.

    Attributes
    ----------
    subset
        Ranks of the experiences it was shown (0-based, ascending).
    weights
        What the policy answered, before the mandate; ``None`` when it gave no valid answer.
    problem
        Why ``weights`` is missing, in one line.
    reason
        The policy's own words, if it gave any.
    usage
        Tokens, cost, latency and retries.
    requests
        Hashes of the model requests behind it, the key into a recording.
    """

    subset: tuple[int, ...]
    weights: Weights | None
    problem: str | None = None
    reason: str | None = None
    usage: Usage = Usage()
    requests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("problem", "reason"):
            said = getattr(self, name)
            if said is not None:
                object.__setattr__(self, name, unicode_text(said))


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the trial said about memory on one decision (paper §3.3–3.5).

    Attributes
    ----------
    weight
        Share of the capital that memory moves: the action is ``weight`` times the draft of ``subset`` (or of
        ``extra``), and the anchored blend for the rest.
    reason
        The verdict in words.
    learner
        The value model that spoke.
    values
        Predicted value of each recalled experience, by learner, in rank order; times ``unit``, a utility per period.
    unit
        What one unit of ``values`` and ``total`` is worth in utility per period.
    n_scores, mean_score, sd_score
        Forward scores of that learner so far (Eq. 8); ``nan`` when there are too few.
    rule
        How memory earns its weight: ``purse``, ``t_test``, ``f_test`` or ``always``.
    p_value
        One-sided p of the test (Eq. 9), 1 when ``n_scores < 2``; with a purse 1 / ``wealth``, at most 1, which is valid
        whenever one looks (when purses take turns, at every fixed date).
    alpha, min_scores
        Level of the rule, and least number of scores of the t-test.
    wealth, shares
        What the purse turned 1 into, and the share of each learner; ``nan`` and empty without a purse.
    subset, total
        The designed subset with the highest total value, and that total (Eq. 10).
    extra
        A further subset, outside the design, whose draft stands for that of ``subset``; ``None`` when there is none.
    bound, vetoed
        What a draft of this size has to make up for, at most 0, and whether it was refused for that.
    bets, terms
        Whether the purse bets on the forward scores of this decision, and by which terms.
    reference_weight
        q of the anchored blend (Eq. 11), whether or not the blend is deployed.
    """

    weight: float
    reason: str
    learner: Learner
    values: Mapping[Learner, tuple[float, ...]]
    unit: float = 1.0
    n_scores: int
    mean_score: float
    sd_score: float
    rule: str = "t_test"
    p_value: float
    alpha: float
    min_scores: int
    wealth: float = math.nan
    shares: Mapping[Learner, float] = field(default_factory=dict[Learner, float])
    subset: tuple[int, ...]
    total: float
    extra: tuple[int, ...] | None = None
    bound: float = 0.0
    vetoed: bool = False
    bets: bool = False
    terms: str = ""
    reference_weight: float

    @property
    def trusted(self) -> bool:
        """Whether memory moves the whole action."""
        return self.weight >= FULL_WEIGHT


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """One decision, whole: its receipt, its drafts, its verdict and its action.

    Attributes
    ----------
    id
        A pure function of scope, agent and time, so that a repeated request finds the same decision.
    sequence
        Number of the decision within its agent, from 0.
    holdings
        Weights held just before, drifted; costs are paid on the distance from them.
    mandate, risk_aversion, cost
        The terms it was taken under, by which its outcome is scored: what the mandate demands, γ of Eq. 1, and the
        proportional cost as a fraction of the L1 distance traded.
    design
        Which subsets of the recalled experiences were drafted.
    features, basis
        Content features of the recalled experiences, (k, d), and the id of the content basis they are in (``None``
        when nothing is known about content yet).
    projected
        The drafts after the mandate, in design order; ``None`` where the draft is missing.
    reference, mean_draft
        The two ends of the anchored blend.
    action
        The weights to hold.
    policy
        Identity of the policy that drafted.
    prompt
        Hash of the state and the experiences shown.
    """

    id: str
    scope: str
    agent: str
    sequence: int
    decided_at: datetime
    assets: tuple[str, ...]
    situation: str
    state_text: str
    holdings: Weights
    mandate: str
    risk_aversion: float
    cost: float
    recall: Recall
    design: Literal["half", "full"]
    features: tuple[tuple[float, ...], ...]
    basis: str | None
    drafts: tuple[Draft, ...]
    projected: tuple[Weights | None, ...]
    reference: Weights
    mean_draft: Weights | None
    verdict: Verdict
    action: Weights
    policy: str
    prompt: str
    usage: Usage

    def __post_init__(self) -> None:
        object.__setattr__(self, "decided_at", utc(self.decided_at, "decided_at"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a decision.

    Attributes
    ----------
    decision_id
        The decision it settles.
    known_at
        When the outcome was known (UTC); only decisions at or after it may use it.
    returns
        Simple returns of the holding period, shape (n_days, n_assets).
    utility
        Certainty-equivalent utility of the action (Eq. 1), a fraction per period.
    draft_utilities
        The same for every draft, in design order; ``None`` where the draft is missing.
    blend_utilities
        Utility of each anchored blend on the grid of reference weights 0, 0.005, … 1; ``None`` without valid drafts.
    contributions
        Counterfactual contribution of each recalled experience (Eq. 3), or ``None`` when they cannot be estimated.
    scores
        Forward score of each learner on this date (Eq. 8); a learner without a score is absent.
    """

    decision_id: str
    known_at: datetime
    returns: tuple[tuple[float, ...], ...]
    utility: float
    draft_utilities: tuple[float | None, ...]
    blend_utilities: tuple[float, ...] | None
    contributions: tuple[float, ...] | None
    scores: Mapping[Learner, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "known_at", utc(self.known_at, "known_at"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Expiry:
    """A decision that was given up: its outcome will never come, and nothing is learned from it."""

    decision_id: str


def as_weights(values: Sequence[float]) -> Weights:
    """``values`` as a tuple of plain floats."""
    return tuple(float(value) for value in values)
