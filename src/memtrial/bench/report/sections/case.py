"""The run as the sections look at it: one investor in front, its experiences named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.classalloc.result import ClassAllocResult, InvestorResult, MethodResult
from memtrial.bench.report.evidence import Paired, paired
from memtrial.bench.report.typography import chance, counted, listed, number, visible
from memtrial.records import Decision, Experience, Learner, Outcome, Verdict
from memtrial.standings import standings_of
from memtrial.trial import Standing

PRIMARY, REFERENCE, SHADOW = "balanced", "1/N", "memtrial_never_trusts"
PRESETS = ("memtrial", "memtrial_guarded")
_KINDS: dict[str, str] = {"per_experience": "each experience alone", "content_aware": "pooled over similar content"}


def learner_words(learner: Learner) -> str:
    """A value model in words: ``each experience alone, forgetting``."""
    kind, _, forgetting = learner.partition("/")
    return f"{_KINDS.get(kind, visible(kind))}{', forgetting' if forgetting else ''}"


@dataclass(frozen=True)
class Case:
    """A run with one investor in front."""

    result: ClassAllocResult

    @cached_property
    def name(self) -> str:
        """The investor in front: balanced, or the first there is."""
        return PRIMARY if PRIMARY in self.result.investors else next(iter(self.result.investors))

    @property
    def primary(self) -> InvestorResult:
        """The investor in front."""
        return self.result.investors[self.name]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Its decisions, in order."""
        return self.primary.decisions

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Its outcomes, one per decision."""
        return self.primary.outcomes

    @property
    def pairs(self) -> list[tuple[Decision, Outcome]]:
        """Decisions with their outcomes."""
        return list(zip(self.decisions, self.outcomes, strict=True))

    @property
    def months(self) -> int:
        """Number of decisions."""
        return len(self.decisions)

    @cached_property
    def alpha(self) -> float:
        """Level of the trust rule."""
        return self.decisions[-1].verdict.alpha

    @cached_property
    def own(self) -> str:
        """Key of the deployed agent among the methods."""
        return self.result.deployed

    @cached_property
    def purse(self) -> bool:
        """Whether memory earns its weight by bets; otherwise by a test, all or nothing."""
        return self.decisions[-1].verdict.rule == "purse"

    @cached_property
    def trusted(self) -> tuple[int, ...]:
        """Rows of the decisions on which memory moved the whole action."""
        return tuple(row for row, decision in enumerate(self.decisions) if decision.verdict.trusted)

    @cached_property
    def moved(self) -> tuple[int, ...]:
        """Rows of the decisions on which memory moved any of the capital."""
        return tuple(row for row, decision in enumerate(self.decisions) if decision.verdict.weight > 0)

    @cached_property
    def late(self) -> int:
        """Number of outcomes that were known only after the next decision."""
        following = zip(self.outcomes, self.decisions[1:], strict=False)
        return sum(outcome.known_at > later.decided_at for outcome, later in following)

    @cached_property
    def holding(self) -> int:
        """Smallest number of decisions such that each outcome was known before the decision that many later."""
        waits = (
            sum(later.decided_at < outcome.known_at for later in self.decisions[row + 1 :])
            for row, outcome in enumerate(self.outcomes)
        )
        return 1 + max(waits)

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """The verdict on each memory after the last outcome, by id."""
        found = standings_of(self.decisions, self.outcomes, alpha=self.alpha, holding=self.holding)
        return {standing.id: standing for standing in found}

    @cached_property
    def experiences(self) -> dict[str, Experience]:
        """Every experience that was ever recalled, by id."""
        return {shown.id: shown for decision in self.decisions for shown in decision.recall.experiences}

    @cached_property
    def labels(self) -> dict[str, str]:
        """A short name of each experience: its month, with a letter where a month has several."""
        taken: dict[str, int] = {}
        names: dict[str, str] = {}
        for key, shown in sorted(self.experiences.items(), key=lambda item: (item[1].valid_at, item[0])):
            month = f"{shown.valid_at:%Y-%m}"
            taken[month] = taken.get(month, 0) + 1
            names[key] = month if taken[month] == 1 else f"{month}{chr(96 + min(taken[month], 26))}"
        return names

    def scores(self, learner: Learner, by: datetime) -> list[float]:
        """Forward scores of ``learner`` that were known by a time."""
        return [
            outcome.scores[learner] for outcome in self.outcomes if outcome.known_at <= by and learner in outcome.scores
        ]

    def method(self, name: str, investor: str | None = None) -> MethodResult | None:
        """A method's result, if it took part."""
        return self.result.investors[investor or self.name].methods.get(name)

    def against(self, name: str, other: str = REFERENCE, investor: str | None = None) -> Paired | None:
        """Utility per month of one method minus that of another, ``None`` when one of them did not take part."""
        ours, theirs = self.method(name, investor), self.method(other, investor)
        return None if ours is None or theirs is None else paired(monthly(ours), monthly(theirs))

    def subset(self, decision: Decision, ranks: Sequence[int]) -> str:
        """The experiences of a draft by name."""
        if not ranks:
            return "none"
        if len(ranks) == len(decision.recall.shown) > 2:
            return f"all {number(len(ranks), 0)}"
        return listed(self.labels[decision.recall.shown[rank].experience.id] for rank in ranks)


def monthly(method: MethodResult) -> NDArray[np.float64]:
    """Utility of each month, (n_months,)."""
    return np.array([month.utility for month in method.months])


def blend_utility(outcome: Outcome, reference_weight: float) -> float | None:
    """Utility of the anchored blend with a weight of the reference, from the stored grid."""
    grid = outcome.blend_utilities
    return None if grid is None else grid[round(reference_weight * (len(grid) - 1))]


def chosen(verdict: Verdict) -> tuple[int, ...]:
    """Ranks of the experiences whose draft memory would have held."""
    return verdict.subset if verdict.extra is None else verdict.extra


def favourite(decision: Decision, outcome: Outcome) -> float | None:
    """Utility of the draft that memory valued most; ``None`` where there is none."""
    for draft, earned in zip(decision.drafts, outcome.draft_utilities, strict=True):
        if draft.subset == chosen(decision.verdict):
            return earned
    return None


def moved_effect(pairs: Sequence[tuple[Decision, Outcome]]) -> Paired:
    """What the whole action earned more than the anchored blend alone, from the same holdings."""
    known = [
        (outcome.utility, anchored)
        for decision, outcome in pairs
        if (anchored := blend_utility(outcome, decision.verdict.reference_weight)) is not None
    ]
    return paired([earned for earned, _ in known], [anchored for _, anchored in known])


def trust_effect(pairs: Sequence[tuple[Decision, Outcome]]) -> Paired:
    """What memory's favourite draft earned more than the anchored blend, on decisions where both are known."""
    known = [
        (earned, anchored)
        for decision, outcome in pairs
        if (earned := favourite(decision, outcome)) is not None
        and (anchored := blend_utility(outcome, decision.verdict.reference_weight)) is not None
    ]
    return paired([earned for earned, _ in known], [anchored for _, anchored in known])


def more_or_less(difference: Paired, than: str, alpha: float = 0.05, per: str = "a month") -> str:
    """``0.066 pp a month less than 1/N (± 0.051, n = 71; within what chance explains, p = 0.20)``."""
    if difference.same:
        return f"exactly what {than} earned (n = {difference.n})"
    size = f"{number(abs(100 * difference.mean), 3)} pp {per} {'more' if difference.mean > 0 else 'less'} than {than}"
    if not difference.known:
        return f"{size} (n = {difference.n}, too few for an error)"
    error = number(100 * difference.se, 3)
    return f"{size} (s.e. {error}, n = {difference.n}; {chance(difference.p, alpha)})"


def policy_words(case: Case) -> str:
    """Who drafted, and how often."""
    usage = case.result.usage
    if not usage.calls:
        return f"Drafts by {visible(case.result.policy)}; no model was called."
    replayed = f", {number(usage.replayed, 0)} of them replayed from a recording" if usage.replayed else ""
    return f"Drafts by {visible(case.result.policy)}: {counted(usage.calls, 'call')}{replayed}."
