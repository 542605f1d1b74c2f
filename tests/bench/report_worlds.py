"""Synthetic ClassAlloc runs for the tests of the report: real prices, invented drafts, the real trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal

import numpy as np

from memtrial.bench.classalloc.evaluate import (
    COMPARED,
    agent_result,
    credit_table,
    evaluate,
    falling,
    wealth_dates,
)
from memtrial.bench.classalloc.result import ClassAllocResult, InvestorResult, deployed_method
from memtrial.bench.methods import Deployment, make
from memtrial.market.classalloc import ASSETS, DEFENSIVE, RISKY, ClassAllocMarket, DecisionDate, decided_at, known_at
from memtrial.market.classalloc import load as load_market
from memtrial.portfolio import INVESTORS, TRADING_COST, Investor, Mandate, drift, equal_weight, utilities
from memtrial.records import (
    Decision,
    Draft,
    Experience,
    Outcome,
    Recall,
    Recalled,
    Usage,
    Weights,
    as_weights,
    fingerprint,
)
from memtrial.trial import Settings, Trial, act_on, blends, design

K = 4


@dataclass
class World:
    """A run to invent.

    ``influence`` tilts every draft that shows an experience towards what that experience favours, ``skill`` towards
    what will in fact earn most, by how good the experience is; ``missing`` is the share of drafts without an answer;
    ``pool`` keeps only the first experiences; ``dead`` are months in which no draft was valid; ``note`` is put into
    every text that a model or a memory could have written. ``preset`` and ``changes`` are the settings that are
    deployed; with ``extra_draft`` among the changes all sixteen subsets can be drafted. ``hold`` keeps memory in shadow
    mode.
    """

    months: int = 71
    seed: int = 1
    influence: float = 0.05
    skill: float = 0.0
    noise: float = 0.05
    missing: float = 0.03
    pool: int = 58
    dead: tuple[int, ...] = ()
    min_scores: int = 10
    alpha: float = 0.05
    note: str = ""
    preset: Literal["guarded", "paper"] = "paper"
    changes: Mapping[str, Any] = field(default_factory=dict)
    hold: bool = False

    @property
    def settings(self) -> Settings:
        made = Settings.guarded if self.preset == "guarded" else Settings.paper
        return made(alpha=self.alpha, min_scores=self.min_scores, hold=self.hold, **self.changes)

    def result(self) -> ClassAllocResult:
        market = load_market()
        warmup = [day for day in market.decisions if day.split == "warmup"]
        test = tuple(day for day in market.decisions if day.split == "test")[: self.months]
        experiences = [self._experience(market, day) for day in warmup][: self.pool]
        months = list(self._drafted(market, test, experiences))
        investors = {name: self._investor(investor, market, test, months) for name, investor in INVESTORS.items()}
        primary = investors["balanced"]
        credit = credit_table(primary.decisions, primary.outcomes, primary.methods["1/N"].months)
        return ClassAllocResult(
            assets=ASSETS,
            policy=f"synthetic momentum {self.note} t=0.7 seed={self.seed}",
            settings=self.settings,
            grown=False,
            warmup_months=len(warmup),
            experiences=len(experiences),
            days=tuple(day.day for day in test),
            class_returns=tuple(
                as_weights((np.prod(1 + market.returns_between(day.day, day.outcome_day), axis=0) - 1).tolist())
                for day in test
            ),
            wealth_dates=wealth_dates(market, test),
            falling=falling(market, test),
            investors=investors,
            credit=credit,
            usage=sum((decision.usage for decision in primary.decisions), Usage()),
            missing_drafts=sum(d.weights is None for decision in primary.decisions for d in decision.drafts),
        )

    def _experience(self, market: ClassAllocMarket, day: DecisionDate) -> Experience:
        situation = market.situation(day.day)
        text = f"{day.day}: {situation} Held (%): equities 33, bonds 0, cash 67. Result −1.2, trailed equal weight."
        return Experience(
            id=f"{day.day}-{fingerprint(text)[:8]}",
            kind="record",
            situation=situation,
            text=f"{text} {self.note}".strip(),
            valid_at=decided_at(day.day),
            known_at=known_at(day.outcome_day),
        )

    def _drafted(
        self, market: ClassAllocMarket, test: tuple[DecisionDate, ...], experiences: list[Experience]
    ) -> Iterator[tuple[Recall, tuple[Draft, ...]]]:
        rng = np.random.default_rng(self.seed)
        tilts = rng.standard_normal((len(experiences), len(ASSETS))).round(3)
        quality = rng.standard_normal(len(experiences))
        likely = rng.exponential(size=len(experiences)) + 0.02
        for number, day in enumerate(test):
            past = market.returns_before(day.day, 63).sum(axis=0)
            future = market.returns_between(day.day, day.outcome_day).sum(axis=0)
            chosen = rng.choice(len(experiences), K, replace=False, p=likely / likely.sum())
            shown = tuple(
                Recalled(experience=experiences[row], rank=rank, similarity=0.92 - 0.04 * rank)
                for rank, row in enumerate(chosen)
            )
            recall = Recall(
                as_of=decided_at(day.day),
                query=market.situation(day.day),
                embedder="synthetic",
                pool=self.pool,
                shown=shown,
            )
            drafts = []
            for subset in design(K, "full" if self.settings.extra_draft else "half").subsets:
                pull = past * 4 + self.influence * tilts[chosen[list(subset)]].sum(axis=0)
                pull = pull + self.skill * future * quality[chosen[list(subset)]].sum()
                pull = pull + self.noise * rng.standard_normal(len(ASSETS))
                lost = number in self.dead or rng.random() < self.missing
                drafts.append(self._draft(subset, pull, lost))
            yield recall, tuple(drafts)

    def _draft(self, subset: tuple[int, ...], pull: np.ndarray, lost: bool) -> Draft:
        usage = Usage(calls=1, replayed=1, retries=int(lost), input_tokens=612, output_tokens=57, latency_seconds=4.2)
        if lost:
            return Draft(subset=subset, weights=None, problem=f"two invalid replies: not JSON {self.note}", usage=usage)
        weights = np.exp(3 * pull)
        weights = (weights / weights.sum()).tolist()
        best = ASSETS[int(np.argmax(weights))]
        reason = f"{best.capitalize()} strongest, momentum holds {self.note}".strip()
        return Draft(subset=subset, weights=as_weights(weights), reason=reason, usage=usage, requests=("ab" * 32,))

    def _investor(
        self,
        investor: Investor,
        market: ClassAllocMarket,
        test: tuple[DecisionDate, ...],
        months: list[tuple[Recall, tuple[Draft, ...]]],
    ) -> InvestorResult:
        mandate = investor.mandate(ASSETS, risky=RISKY, defensive=DEFENSIVE)
        deployed = _Deployed(self, market, mandate, Trial(self.settings))
        for day, (recall, drafts) in zip(test, months, strict=True):
            deployed.month(day, recall, drafts)
        deployed.settle_until(None)
        decisions = tuple(deployed.decisions)
        methods = {
            name: agent_result(name, decisions, market=market, months=test, mandate=mandate)
            if name == deployed_method(self.settings)
            else evaluate(make(name, Deployment()), market=market, months=test, decisions=decisions, mandate=mandate)
            for name in COMPARED
        }
        end = max(outcome.known_at for outcome in deployed.outcomes.values()) + timedelta(days=1)
        return InvestorResult(
            investor=investor,
            methods=methods,
            decisions=decisions,
            outcomes=tuple(deployed.outcomes[decision.id] for decision in decisions),
            values=deployed.trial.values(at=end),
        )


class _Deployed:
    """One investor's agent on the drafts of a world."""

    def __init__(self, world: World, market: ClassAllocMarket, mandate: Mandate, trial: Trial) -> None:
        self.world, self.market, self.mandate, self.trial = world, market, mandate, trial
        self.decisions: list[Decision] = []
        self.outcomes: dict[str, Outcome] = {}
        self.waiting: list[tuple[DecisionDate, Decision]] = []

    def month(self, day: DecisionDate, recall: Recall, drafts: tuple[Draft, ...]) -> None:
        self.settle_until(day)
        decision = self._decide(day, recall, drafts)
        self.decisions.append(decision)
        self.waiting.append((day, decision))

    def _decide(self, day: DecisionDate, recall: Recall, made: tuple[Draft, ...]) -> Decision:
        project = self.mandate.project
        plan = design(K)
        seen = {
            "retrieved": [e.id for e in recall.experiences],
            "features": np.zeros((K, 8)),
            "at": decided_at(day.day),
        }
        asked = self.trial.foresee(**seen)
        designed = tuple(next(draft for draft in made if draft.subset == subset) for subset in plan.subsets)
        drafts = (*designed, *(draft for draft in made if draft.subset == asked))
        projected = tuple(
            None if draft.weights is None else as_weights(project(np.array(draft.weights)).tolist()) for draft in drafts
        )
        valid = [weights for weights in projected[: len(designed)] if weights is not None]
        reference = as_weights(project(equal_weight(len(ASSETS))).tolist())
        mean = as_weights(np.mean(valid, axis=0).tolist()) if valid else None
        identity = f"classalloc-{self.mandate.name}-{day.day}"
        verdict = self.trial.act(
            identity,
            valid=[weights is not None for weights in projected[: len(designed)]],
            extra=asked if asked is not None and projected[-1] is not None else None,
            **seen,
        )
        rows = np.array([(np.nan,) * len(ASSETS) if weights is None else weights for weights in projected])
        extra = rows[-1] if len(rows) > len(designed) else None
        acted = act_on(verdict, plan, rows[: len(designed)], np.array(reference), extra=extra)
        action = as_weights(acted.tolist())
        return Decision(
            id=identity,
            scope="synthetic",
            agent=self.mandate.name,
            sequence=len(self.decisions),
            decided_at=decided_at(day.day),
            assets=ASSETS,
            situation=self.market.situation(day.day),
            state_text=self.market.context(day.day),
            holdings=self._holdings(day),
            mandate=str(self.mandate),
            risk_aversion=self.mandate.risk_aversion,
            cost=TRADING_COST,
            recall=recall,
            design="half",
            features=((0.0,) * 8,) * K,
            basis=None,
            drafts=drafts,
            projected=projected,
            reference=reference,
            mean_draft=mean,
            verdict=verdict,
            action=action,
            policy=f"synthetic {self.world.note}",
            prompt=fingerprint(identity),
            usage=sum((draft.usage for draft in drafts), Usage()),
        )

    def _holdings(self, day: DecisionDate) -> Weights:
        if not self.decisions:
            return as_weights(equal_weight(len(ASSETS)).tolist())
        before = self.decisions[-1]
        moved = self.market.returns_between(before.decided_at.date(), day.day)
        return as_weights(drift(np.array(before.action), moved).tolist())

    def settle_until(self, day: DecisionDate | None) -> None:
        """Settle every outcome known when ``day`` is decided; all of them without a day."""
        for when, decision in list(self.waiting):
            if day is None or known_at(when.outcome_day) <= decided_at(day.day):
                self._settle(when, decision)
                self.waiting.remove((when, decision))

    def _settle(self, when: DecisionDate, decision: Decision) -> None:
        returns = self.market.returns_between(when.day, when.outcome_day)

        def earned(rows: list[Weights] | np.ndarray) -> np.ndarray:
            return utilities(
                np.array(rows),
                returns,
                holdings=np.array(decision.holdings),
                risk_aversion=self.mandate.risk_aversion,
                cost=TRADING_COST,
            )

        draft = [None if weights is None else float(earned([weights])[0]) for weights in decision.projected]
        mean = decision.mean_draft
        mixed = None if mean is None else earned(blends(np.array(decision.reference), np.array(mean)))
        learned = self.trial.settle(
            decision.id,
            utilities=[np.nan if value is None else value for value in draft[: design(K).n_drafts]],
            blend_utilities=mixed,
            known_at=known_at(when.outcome_day),
        )
        self.outcomes[decision.id] = Outcome(
            decision_id=decision.id,
            known_at=known_at(when.outcome_day),
            returns=tuple(as_weights(row) for row in returns.tolist()),
            utility=float(earned([decision.action])[0]),
            draft_utilities=tuple(draft),
            blend_utilities=None if mixed is None else as_weights(mixed.tolist()),
            contributions=learned.contributions,
            scores=learned.scores,
        )


def held_in_shadow(result: ClassAllocResult) -> ClassAllocResult:
    """The same run, its last balanced verdict passed but held back by a human."""
    primary = result.investors["balanced"]
    last = primary.decisions[-1]
    verdict = replace(
        last.verdict, weight=0.0, n_scores=64, mean_score=0.4, sd_score=0.5, p_value=0.001,
        reason="held in shadow mode; otherwise trusted: values ranked the experiences right on unseen dates",
    )  # fmt: skip
    decisions = (*primary.decisions[:-1], replace(last, verdict=verdict))
    return replace(result, investors={**result.investors, "balanced": replace(primary, decisions=decisions)})
