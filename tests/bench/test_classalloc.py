"""ClassAlloc on the bundled real prices: known figures, timing of outcomes, methods on the same drafts."""

from __future__ import annotations

import asyncio
import csv
import itertools
from collections import defaultdict
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from classalloc_worlds import momentum

from memtrial.bench.classalloc import ClassAllocResult, document, run_classalloc
from memtrial.bench.classalloc.evaluate import COMPARED, evaluate
from memtrial.bench.methods import Action, Deployment, Memtrial, Occasion, Settlement, make
from memtrial.bench.report.sections.case import Case
from memtrial.market.classalloc import ASSETS, DEFENSIVE, RISKY, decided_at, known_at, load
from memtrial.models import WordLlamaEmbedder
from memtrial.standings import standings
from memtrial.store import Store
from memtrial.store.vectors import DECIMALS
from memtrial.trial import Settings

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ClassAllocResult:
    with Store(tmp_path_factory.mktemp("classalloc") / "run.db") as store:
        return asyncio.run(run_classalloc(momentum, store=store, scope="momentum"))


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> ClassAllocResult:
    with Store(tmp_path_factory.mktemp("classalloc-paper") / "run.db") as store:
        return asyncio.run(run_classalloc(momentum, store=store, scope="momentum", settings=Settings.paper()))


def average(result: ClassAllocResult, method: str) -> float:
    """Utility in % a month, averaged over the investors."""
    return float(np.mean([r.methods[method].summary.utility_pct_month for r in result.investors.values()]))


def test_one_over_n_and_minimum_variance_earn_what_is_known(result: ClassAllocResult) -> None:
    assert average(result, "1/N") == pytest.approx(0.636, abs=0.002)
    assert average(result, "minimum_variance") == pytest.approx(0.234, abs=0.005)


def test_risk_and_return_agree_with_the_paper_up_to_dividends(result: ClassAllocResult) -> None:
    equal = result.investors["balanced"].methods["1/N"].summary
    assert equal.max_drawdown_pct == pytest.approx(12.0, abs=0.05)
    assert equal.sharpe == pytest.approx(1.22, abs=0.03)
    assert equal.cumulative_return_pct == pytest.approx(82.0, abs=2.5)
    assert len(result.falling) == 4


class Logged:
    """Allocations that another model made, by date."""

    name, label = "logged", "logged"

    def __init__(self, weights: dict[date, list[float]]) -> None:
        self.weights = weights

    def act(self, occasion: Occasion) -> Action:
        return Action(weights=occasion.mandate.project(np.array(self.weights[occasion.decided_at.date()])))

    def learn(self, settlement: Settlement) -> None:
        """Nothing."""


def test_logged_allocations_of_a_real_model_evaluate_to_the_known_average(result: ClassAllocResult) -> None:
    drafts: dict[tuple[str, str], dict[date, list[float]]] = defaultdict(dict)
    with (DATA / "llm_drafts_memoryfree.csv").open() as file:
        for row in csv.DictReader(file):
            weights = [float(row[asset]) for asset in ASSETS]
            drafts[row["seed"], row["draw"]][date.fromisoformat(row["date"])] = weights
    market = load()
    months = tuple(when for when in market.decisions if when.split == "test")
    earned = [
        evaluate(
            Logged(weights),
            market=market,
            months=months,
            decisions=outcome.decisions,
            mandate=outcome.investor.mandate(ASSETS, risky=RISKY, defensive=DEFENSIVE),
        ).summary.utility_pct_month
        for weights in drafts.values()
        for outcome in result.investors.values()
    ]
    assert len(drafts) == 6
    assert np.mean(earned) == pytest.approx(0.728, abs=0.003)


def test_the_trial_without_a_store_is_the_agents_trial(result: ClassAllocResult) -> None:
    same_as_alone(result, Settings.guarded(), "memtrial_guarded")


def test_the_other_preset_is_evaluated_as_if_it_were_deployed(
    result: ClassAllocResult, paper: ClassAllocResult
) -> None:
    same_as_alone(paper, Settings.paper(), "memtrial")
    assert (result.preset, paper.preset) == ("guarded", "paper")
    for name, outcome in result.investors.items():
        for method in ("memtrial", "memtrial_guarded", "memtrial_never_trusts", "hedge"):
            mine, theirs = outcome.methods[method], paper.investors[name].methods[method]
            assert mine.label == theirs.label
            for here, there in zip(mine.months, theirs.months, strict=True):
                assert here.weights == pytest.approx(there.weights, abs=1e-9)
                assert here.memory_weight == pytest.approx(there.memory_weight, abs=1e-9)


def same_as_alone(result: ClassAllocResult, settings: Settings, name: str) -> None:
    """The agent's months are those of its trial alone, without a store."""
    market = load()
    months = tuple(when for when in market.decisions if when.split == "test")
    for outcome in result.investors.values():
        alone = evaluate(
            Memtrial(settings),
            market=market,
            months=months,
            decisions=outcome.decisions,
            mandate=outcome.investor.mandate(ASSETS, risky=RISKY, defensive=DEFENSIVE),
        )
        for mine, agents in zip(alone.months, outcome.methods[name].months, strict=True):
            assert mine.weights == pytest.approx(agents.weights, abs=1e-12)
            assert mine.memory_weight == pytest.approx(agents.memory_weight, abs=1e-12)


def test_a_late_outcome_costs_a_bet(result: ClassAllocResult) -> None:
    primary = result.investors["balanced"]
    known = {
        decision.id: outcome.known_at for decision, outcome in zip(primary.decisions, primary.outcomes, strict=True)
    }
    betting: list[str] = []
    for decision in primary.decisions:
        closed = all(known[earlier] <= decision.decided_at for earlier in betting)
        assert decision.verdict.bets == closed
        if closed:
            betting.append(decision.id)
    assert 0 < len(primary.decisions) - len(betting) <= 9


def test_the_standings_of_the_report_are_those_of_the_store(tmp_path: Path) -> None:
    with Store(tmp_path / "standings.db") as store:
        made = asyncio.run(run_classalloc(momentum, store=store, scope="momentum", months=30))
        case = Case(made)
        end = max(outcome.known_at for outcome in case.outcomes)
        judged = standings(store, scope="momentum", agent="balanced", as_of=end, holding=case.holding)
    assert case.holding == 2
    assert tuple(case.standings.values()) == judged


def test_a_draft_beyond_the_design_is_no_part_of_the_credit_table(tmp_path: Path) -> None:
    with Store(tmp_path / "extra.db") as store:
        settings = Settings.guarded(extra_draft=True)
        made = asyncio.run(run_classalloc(momentum, store=store, scope="extra", months=30, settings=settings))
    primary = made.investors["balanced"]
    assert any(len(decision.drafts) == 9 for decision in primary.decisions)
    measured = [outcome for outcome in primary.outcomes if outcome.contributions is not None]
    assert made.credit.n == 4 * len(measured)


def test_an_outcome_is_used_only_after_its_sessions(result: ClassAllocResult) -> None:
    months = [when for when in load().decisions if when.split == "test"]
    late = sum(known_at(a.outcome_day) > decided_at(b.day) for a, b in itertools.pairwise(months))
    assert late == 9
    decisions = result.investors["balanced"].decisions
    # With one outcome a month, 71 decisions see at most 70 outcomes, less the one that is still running.
    for number, decision in enumerate(decisions):
        known = sum(known_at(when.outcome_day) <= decision.decided_at for when in months[:number])
        assert decision.verdict.n_scores <= known
        assert known in (number, number - 1)


def test_the_pool_stays_the_warm_up(result: ClassAllocResult) -> None:
    assert result.experiences == 58
    assert {decision.recall.pool for decision in result.investors["balanced"].decisions} == {58}


def test_every_memory_can_be_shown_to_have_come_before(result: ClassAllocResult) -> None:
    for decision in result.investors["aggressive"].decisions:
        assert all(experience.known_at <= decision.decided_at for experience in decision.recall.experiences)


def test_the_pool_can_grow(tmp_path: Path) -> None:
    with Store(tmp_path / "grow.db") as store:
        grown = asyncio.run(run_classalloc(momentum, store=store, scope="grow", months=6, grow=True))
    pools = [decision.recall.pool for decision in grown.investors["balanced"].decisions]
    assert pools[0] == 58
    assert pools[-1] > 60
    assert pools == sorted(pools)


def test_all_subsets_can_be_drafted(tmp_path: Path) -> None:
    with Store(tmp_path / "full.db") as store:
        settings = Settings.paper(design="full")
        full = asyncio.run(run_classalloc(momentum, store=store, scope="full", months=12, settings=settings))
    assert {len(decision.drafts) for decision in full.investors["balanced"].decisions} == {16}
    assert full.investors["balanced"].decisions[-1].verdict.n_scores > 0


def test_a_run_that_is_repeated_takes_everything_from_the_store(tmp_path: Path) -> None:
    calls: list[date] = []

    def counting(state: object, experiences: object) -> list[float]:
        calls.append(date.today())  # noqa: DTZ011
        return [0.2, 0.2, 0.2, 0.2, 0.2]

    with Store(tmp_path / "twice.db") as store:
        first = asyncio.run(run_classalloc(counting, store=store, scope="twice", months=4))
        paid = len(calls)
        again = asyncio.run(run_classalloc(counting, store=store, scope="twice", months=4))
    assert len(calls) == paid
    assert repr(first.investors) == repr(again.investors)


def test_identical_drafts_give_no_score_and_no_trust(tmp_path: Path) -> None:
    with Store(tmp_path / "same.db") as store:
        same = asyncio.run(run_classalloc(lambda state, shown: [0.2] * 5, store=store, scope="same", months=14))
    for decision in same.investors["balanced"].decisions:
        assert decision.verdict.n_scores == 0
        assert not decision.verdict.trusted


def test_the_document_has_what_is_promised(result: ClassAllocResult) -> None:
    made = document(result, recording="r", report="p", seconds=1.0)
    assert made["benchmark"] == "classalloc"
    assert made["preset"] == "guarded"
    assert made["decisions"] == 71
    fields = {"utility_pct_month", "cumulative_return_pct", "sharpe", "max_drawdown_pct", "trust_rate_pct"}
    assert set(made["methods"]) == set(COMPARED)
    assert all(set(figures) == fields for figures in made["methods"].values())
    assert set(made["by_investor"]) == {"conservative", "balanced", "aggressive"}
    assert made["table1"]["outcome_credit_vs_market"] > 0.8
    assert abs(made["table1"]["contribution_vs_market"]) < 0.3


@pytest.mark.parametrize("name", COMPARED)
def test_every_method_keeps_the_contract(name: str, result: ClassAllocResult) -> None:
    """Act on any occasion, with a weight vector that satisfies the mandate; learn from any outcome."""
    market = load()
    months = tuple(when for when in market.decisions if when.split == "test")[:14]
    outcome = result.investors["conservative"]
    mandate = outcome.investor.mandate(ASSETS, risky=RISKY, defensive=DEFENSIVE)
    method = make(name, Deployment())
    assert method.name == name
    done = evaluate(method, market=market, months=months, decisions=outcome.decisions[:14], mandate=mandate)
    for entry in done.months:
        assert mandate.satisfied(np.array(entry.weights))
        assert entry.utility == pytest.approx(entry.gross_return - entry.cost - entry.risk, abs=1e-15)
    again = evaluate(
        make(name, Deployment()), market=market, months=months, decisions=outcome.decisions[:14], mandate=mandate
    )
    assert again == done


def test_the_ranking_does_not_hang_on_the_last_digits_of_a_machine() -> None:
    """A recording replays only where the same four experiences are recalled in the same order."""
    market = load()
    texts = [market.situation(when.day) for when in market.decisions]
    vectors = WordLlamaEmbedder().embed(texts).astype(np.float64)
    noise = 2e-7  # single precision, generously
    for query in vectors[58:]:
        best = np.sort(vectors[:58] @ query)[::-1][:5]
        lower, upper = np.round(best - noise, DECIMALS), np.round(best + noise, DECIMALS)
        assert (lower[:-1] > upper[1:]).all()
