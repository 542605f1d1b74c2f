"""The loop around everything: decide, settle, reflect, on a real SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from agent_worlds import ASSETS, EMBEDDER, START, as_bytes, moves, run, tilting

import memtrial
from memtrial.agent import Agent
from memtrial.errors import DecisionError, InputError, PricesError, StoreError, TimeError, WeightsError
from memtrial.records import Experience, Recall, Recalled, State
from memtrial.reflect import Settled, write_record
from memtrial.trial import Settings


def test_a_users_loop_is_ten_lines(tmp_path: Path) -> None:
    def my_policy(state: State, experiences: Sequence[Experience]) -> dict[str, float]:
        return {"stocks": 0.5, "bonds": 0.3, "cash": 0.2}

    with memtrial.Agent(memory=tmp_path / "agent.db", policy=my_policy, assets=["stocks", "bonds", "cash"]) as agent:
        decision = agent.decide("Stocks fell for three months; yields are rising.")
        outcome = agent.settle(decision.id, {"stocks": 0.012, "bonds": -0.003, "cash": 0.001})
    assert decision.action == pytest.approx(np.array([0.35, 0.33, 0.32]), abs=0.02)
    assert outcome.utility == pytest.approx(0.003, abs=0.001)


def test_a_decision_is_durable_before_it_is_returned(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decision = agent.decide("calm", at=START)
        with memtrial.Store(tmp_path / "a.db") as other:
            assert as_bytes(other.decision(decision.id, as_of=START)) == as_bytes(decision)


def test_memory_fills_and_the_number_of_drafts_follows(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decisions = run(agent, 8)
    assert [len(decision.drafts) for decision in decisions] == [1, 2, 4, 8, 8, 8, 8, 8]
    assert [decision.recall.pool for decision in decisions] == list(range(8))


def test_deciding_again_returns_the_stored_decision_without_a_call(tmp_path: Path) -> None:
    calls: list[str] = []

    def counting(state: State, experiences: Sequence[Experience]) -> Sequence[float]:
        calls.append(state.text)
        return [0.2, 0.3, 0.5]

    with Agent(memory=tmp_path / "a.db", policy=counting, assets=ASSETS) as agent:
        first = agent.decide("calm", at=START)
        assert as_bytes(agent.decide("calm", at=START)) == as_bytes(first)
        assert len(calls) == 1
        with pytest.raises(DecisionError, match="another state"):
            agent.decide("storm", at=START)


def test_reopening_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "whole.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        whole = run(agent, 30)
        values = agent.trial.values()
    parts = []
    for first in range(0, 30, 7):
        with Agent(memory=tmp_path / "parts.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            parts += run(agent, min(7, 30 - first), first=first)
            again = agent.trial.values()
    assert [as_bytes(decision) for decision in parts] == [as_bytes(decision) for decision in whole]
    assert repr(values) == repr(again)


@pytest.mark.parametrize(
    "settings",
    [Settings.paper(), Settings.guarded(), Settings.guarded(extra_draft=True)],
    ids=["paper", "guarded", "extra"],
)
def test_memory_moves_the_action_exactly_as_far_as_its_verdict_says(tmp_path: Path, settings: Settings) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, settings=settings) as agent:
        decisions = run(agent, 60)
    assert any(decision.verdict.trusted for decision in decisions), "the memories of this world should earn trust"
    for decision in decisions:
        verdict, q = decision.verdict, decision.verdict.reference_weight
        assert decision.mean_draft is not None
        expected = q * np.array(decision.reference) + (1 - q) * np.array(decision.mean_draft)
        if verdict.weight > 0:
            subsets = [draft.subset for draft in decision.drafts]
            draft = decision.projected[subsets.index(verdict.subset if verdict.extra is None else verdict.extra)]
            expected = verdict.weight * np.array(draft) + (1 - verdict.weight) * expected
            assert verdict.total > 0
            assert not verdict.vetoed
            assert verdict.weight == (
                1.0 if settings.trust == "t_test" else pytest.approx(min(1.0, 0.05 * verdict.wealth))
            )
        assert decision.action == pytest.approx(expected, abs=1e-15)
    drafted = {len(decision.drafts) for decision in decisions if len(decision.recall.shown) == 4}
    assert drafted == ({8, 9} if settings.extra_draft else {8})


def test_the_extra_draft_survives_reopening(tmp_path: Path) -> None:
    terms = {"policy": tilting, "assets": ASSETS, "embedder": EMBEDDER, "settings": Settings.guarded(extra_draft=True)}
    with Agent(memory=tmp_path / "whole.db", **terms) as agent:  # type: ignore[arg-type]
        whole = run(agent, 40)
    parts = []
    for first in range(0, 40, 9):
        with Agent(memory=tmp_path / "parts.db", **terms) as agent:  # type: ignore[arg-type]
            parts += run(agent, min(9, 40 - first), first=first)
    assert [as_bytes(decision) for decision in parts] == [as_bytes(decision) for decision in whole]


def test_an_agent_goes_on_under_the_other_preset(tmp_path: Path) -> None:
    for first, settings in ((0, Settings.paper()), (20, Settings.guarded()), (40, Settings.paper())):
        with Agent(
            memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, settings=settings
        ) as agent:
            decisions = run(agent, 20, first=first)
        if settings.trust == "purse":
            assert decisions[0].verdict.wealth == 1.0, "what was scored before the purse was opened is not bet on"
            assert decisions[-1].verdict.wealth > 1.0
        assert decisions[-1].verdict.n_scores > first / 2


def test_shadow_mode_measures_everything_and_moves_nothing(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, shadow=True) as agent:
        decisions = run(agent, 60)
    assert not any(decision.verdict.trusted for decision in decisions)
    assert any("shadow" in decision.verdict.reason for decision in decisions)
    assert decisions[-1].verdict.n_scores > 30


def test_a_policy_that_fails_leaves_missing_drafts_and_the_reference(tmp_path: Path) -> None:
    def broken(state: State, experiences: Sequence[Experience]) -> Sequence[float]:
        raise RuntimeError("no tea today")

    with Agent(memory=tmp_path / "a.db", policy=broken, assets=ASSETS) as agent:
        decision = agent.decide("calm", at=START)
        assert decision.action == decision.reference
        assert decision.drafts[0].problem == "RuntimeError: no tea today"
        assert agent.settle(decision.id, [0.01, 0.0, 0.0], known_at=START).contributions is None


@pytest.mark.parametrize("weights", [[0.5, 0.6, -0.1], [0.5, 0.1, 0.1], [0.5, 0.5], [float("nan"), 0.5, 0.5], "half"])
def test_weights_that_are_no_allocation_are_never_guessed(tmp_path: Path, weights: object) -> None:
    with Agent(memory=tmp_path / "a.db", policy=lambda state, shown: weights, assets=ASSETS) as agent:  # type: ignore[arg-type, return-value]
        decision = agent.decide("calm", at=START)
    assert decision.drafts[0].weights is None
    assert "WeightsError" in (decision.drafts[0].problem or "")


def test_async_policies_and_running_loops(tmp_path: Path) -> None:
    async def slow(state: State, experiences: Sequence[Experience]) -> Sequence[float]:
        await asyncio.sleep(0)
        return [0.2, 0.3, 0.5]

    async def inside() -> None:
        with Agent(memory=tmp_path / "a.db", policy=slow, assets=ASSETS) as agent:
            decision = agent.decide("calm", at=START)
            other = await agent.adecide("calm again", at=START + timedelta(days=1))
            await agent.asettle(other.id, [0.0, 0.0, 0.0], known_at=START + timedelta(days=2))
            assert decision.drafts[0].weights == (0.2, 0.3, 0.5)

    asyncio.run(inside())


def test_holdings_follow_the_last_action_and_its_outcome(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        first = agent.decide("calm", at=START)
        assert first.holdings == agent.reference
        second = agent.decide("calm", at=START + timedelta(days=1))
        assert second.holdings == first.action
        agent.settle(second.id, [0.5, 0.0, 0.0], known_at=START + timedelta(days=2))
        third = agent.decide("calm", at=START + timedelta(days=2))
        assert third.holdings is not None
        assert third.holdings[0] > second.action[0]
        assert agent.decide("x", at=START + timedelta(days=3), holdings=[1, 0, 0]).holdings == (1.0, 0.0, 0.0)


def test_an_expired_decision_teaches_nothing_and_stays_expired(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decision = agent.decide("calm", at=START)
        agent.expire(decision.id)
        with pytest.raises(DecisionError, match="expired"):
            agent.settle(decision.id, [0, 0, 0], known_at=START)
    with (
        Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent,
        pytest.raises(DecisionError, match="expired"),
    ):
        agent.settle(decision.id, [0, 0, 0], known_at=START)


def test_a_recall_of_the_users_own_is_shown_and_kept(tmp_path: Path) -> None:
    mine = Experience(id="mine", kind="record", situation="calm", text="calm paid", valid_at=START, known_at=START)

    def recall(state: State, k: int) -> Recall:
        return Recall(
            as_of=state.decided_at,
            query=state.situation,
            embedder="mine",
            pool=1,
            shown=(Recalled(experience=mine, rank=0, similarity=1.0),),
        )

    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, recall=recall) as agent:
        decision = agent.decide("calm", at=START)
        assert decision.recall.experiences == (mine,)
        assert agent.store.experience("default", "mine", as_of=START) == mine


class TestBadInput:
    """Every mistake gets one clear line, and nothing is lost."""

    @pytest.fixture
    def agent(self, tmp_path: Path):
        with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
            yield agent

    def test_outcome_of_an_unknown_decision(self, agent: Agent) -> None:
        with pytest.raises(DecisionError, match="unknown to agent 'agent'"):
            agent.settle("nope", [0, 0, 0])

    def test_outcome_given_twice(self, agent: Agent) -> None:
        decision = agent.decide("calm", at=START)
        agent.settle(decision.id, [0.01, 0, 0], known_at=START)
        with pytest.raises(DecisionError, match="already settled"):
            agent.settle(decision.id, [0.02, 0, 0], known_at=START)
        outcome = agent.store.outcome(decision.id, as_of=START)
        assert outcome is not None
        assert outcome.returns == ((0.01, 0.0, 0.0),)

    def test_outcome_before_its_decision(self, agent: Agent) -> None:
        decision = agent.decide("calm", at=START)
        with pytest.raises(TimeError, match="before its decision"):
            agent.settle(decision.id, [0.01, 0, 0], known_at=START - timedelta(seconds=1))
        agent.settle(decision.id, [0.01, 0, 0], known_at=START)

    @pytest.mark.parametrize(
        "returns",
        [[0.01, float("nan"), 0], [0.01, float("inf"), 0], [0.01, -1.5, 0], [0.01, 0.0], {"stocks": 0.1}, "up", [[]]],
    )
    def test_returns_that_cannot_be_evaluated(self, agent: Agent, returns: object) -> None:
        decision = agent.decide("calm", at=START)
        with pytest.raises(PricesError) as caught:
            agent.settle(decision.id, returns, known_at=START)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        agent.settle(decision.id, [0.01, 0, 0], known_at=START)

    def test_naive_times(self, agent: Agent) -> None:
        naive = datetime(2024, 1, 1)  # noqa: DTZ001
        with pytest.raises(TimeError, match="no time zone"):
            agent.decide("calm", at=naive)
        decision = agent.decide("calm", at=START)
        with pytest.raises(TimeError, match="no time zone"):
            agent.settle(decision.id, [0, 0, 0], known_at=naive)

    def test_a_decision_in_the_past(self, agent: Agent) -> None:
        run(agent, 3)
        with pytest.raises(TimeError, match="order of time"):
            agent.decide("calm", at=START + timedelta(hours=1))

    def test_a_decision_before_one_whose_outcome_is_not_known(self, agent: Agent) -> None:
        agent.decide("calm", at=START + timedelta(days=200))
        with pytest.raises(TimeError, match="order of time"):
            agent.decide("calm", at=START + timedelta(days=50))

    def test_times_and_texts_of_the_wrong_kind(self, agent: Agent) -> None:
        with pytest.raises(TimeError, match="aware datetime"):
            agent.decide("calm", at="2024-01-01")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="Unicode"):
            agent.decide("half a \ud800 character", at=START)

    @pytest.mark.parametrize("k", [-1, 7])
    def test_a_number_of_experiences_that_cannot_be_designed(self, agent: Agent, k: int) -> None:
        with pytest.raises(InputError, match="0 to 6"):
            Agent(memory=agent.store, policy=tilting, assets=ASSETS, embedder=EMBEDDER, k=k)

    def test_a_recall_from_the_future_is_refused_before_anything_is_drafted(self, agent: Agent) -> None:
        future = START + timedelta(days=9)
        late = Experience(id="x", kind="record", situation="s", text="t", valid_at=future, known_at=future)

        def recall(state: State, k: int) -> Recall:
            shown = (Recalled(experience=late, rank=0, similarity=1.0),)
            return Recall(as_of=state.decided_at, query="", embedder="mine", pool=1, shown=shown)

        seer = Agent(memory=agent.store, policy=tilting, assets=ASSETS, embedder=EMBEDDER, recall=recall, name="seer")
        with pytest.raises(TimeError, match="known only at"):
            seer.decide("calm", at=START)
        assert agent.store.count_experiences("default", as_of=future) == 0

    def test_holdings_that_are_no_allocation(self, agent: Agent) -> None:
        with pytest.raises(WeightsError, match="sum"):
            agent.decide("calm", at=START, holdings=[0.5, 0.1, 0.1])
        with pytest.raises(WeightsError, match="not fit"):
            agent.decide("calm", at=START, holdings={"gold": 1.0})
        with pytest.raises(WeightsError, match="not numbers"):
            agent.decide("calm", at=START, holdings="all in")  # type: ignore[arg-type]
        assert agent.decide("calm", at=START, holdings={"cash": 1, "stocks": 0, "bonds": 0}).holdings == (0, 0, 1)

    def test_assets_that_do_not_fit(self, agent: Agent, tmp_path: Path) -> None:
        state = State(decided_at=START, text="x", situation="x", assets=("gold",))
        with pytest.raises(InputError, match="gold"):
            agent.decide(state)
        with pytest.raises(InputError, match="distinct"):
            Agent(memory=agent.store, policy=tilting, assets=["a", "a"])

    def test_a_memory_that_cannot_be_opened(self, tmp_path: Path) -> None:
        (tmp_path / "broken.db").write_bytes(b"this is no database, it is a letter" * 50)
        with pytest.raises(StoreError):
            Agent(memory=tmp_path / "broken.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER)


def test_outcomes_late_and_out_of_order_are_used_once_known(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decisions = [agent.decide(f"day {n}", at=START + timedelta(days=n)) for n in range(6)]
        late = START + timedelta(days=10)
        for decision in reversed(decisions):
            agent.settle(decision.id, moves(0, 1), known_at=late)
        before = agent.decide("before", at=late - timedelta(seconds=1))
        after = agent.decide("after", at=late)
    assert before.recall.pool == 0
    assert after.recall.pool == 6


def test_two_agents_share_a_scope_and_keep_their_trials(tmp_path: Path) -> None:
    with memtrial.Store(tmp_path / "a.db") as store:
        one = Agent(memory=store, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="one")
        two = Agent(memory=store, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="two", shadow=True)
        other = Agent(memory=store, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="one", scope="elsewhere")
        run(one, 4)
        run(two, 4)  # the same decisions at the same times: eight memories of eight decisions
        assert two.decide("calm", at=START + timedelta(days=40)).recall.pool == 8
        assert other.decide("calm", at=START + timedelta(days=40)).recall.pool == 0
        assert two.trial.pending != one.trial.pending


def test_an_experience_that_could_not_be_written_is_caught_up(tmp_path: Path) -> None:
    broken = [True]

    async def moody(settled: Settled) -> Experience:
        if broken[0]:
            raise RuntimeError("the model is asleep")
        return await write_record(settled)

    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, reflector=moody) as agent:
        decision = agent.decide("calm", at=START)
        with pytest.raises(RuntimeError, match="asleep"):
            agent.settle(decision.id, [0.01, 0, 0], known_at=START)
        assert agent.store.outcome(decision.id, as_of=START) is not None
    broken[0] = False
    later = START + timedelta(days=1)
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, reflector=moody) as agent:
        assert agent.decide("calm again", at=later).recall.pool == 1
        assert agent.store.count_experiences("default", as_of=later) == 1


def test_another_process_on_the_same_agent_is_noticed(tmp_path: Path) -> None:
    with (
        Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as deciding,
        Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as settling,
    ):
        decision = deciding.decide("calm", at=START)
        settling.settle(decision.id, [0.01, 0, 0], known_at=START)
        assert deciding.trial.pending == ()
        following = deciding.decide("calm", at=START + timedelta(days=1))
        assert following.recall.pool == 1
        with pytest.raises(DecisionError, match="already settled"):
            deciding.settle(decision.id, [0.02, 0, 0], known_at=START)
        assert settling.decide("storm", at=START + timedelta(days=2)).sequence == 2


def test_an_interrupt_while_writing_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decision = agent.decide("calm", at=START)

        def interrupted(outcome: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(agent.store, "add_outcome", interrupted)
            with pytest.raises(KeyboardInterrupt):
                agent.settle(decision.id, [0.01, 0, 0], known_at=START)
        assert agent.settle(decision.id, [0.01, 0, 0], known_at=START).utility > 0


def test_another_embedder_is_refused_rather_than_seeing_an_empty_memory(tmp_path: Path) -> None:
    class Other:
        identity, dimension = "other:3", 3

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.ones((len(texts), 3), dtype=np.float32)

    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        run(agent, 3)
    with (
        Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=Other()) as agent,
        pytest.raises(InputError, match="wordllama"),
    ):
        agent.decide("calm", at=START + timedelta(days=90))


def test_a_decision_is_scored_under_the_terms_it_was_taken_under(tmp_path: Path) -> None:
    calm = replace(memtrial.BALANCED.mandate(ASSETS, risky=["stocks"], defensive=["bonds", "cash"]))
    wild = memtrial.AGGRESSIVE.mandate(ASSETS, risky=["stocks"], defensive=["bonds", "cash"])
    utilities = []
    for name, later in (("a", calm), ("b", wild)):
        path = tmp_path / f"{name}.db"
        with Agent(memory=path, policy=tilting, assets=ASSETS, embedder=EMBEDDER, mandate=calm) as agent:
            decision = agent.decide("calm", at=START)
        with Agent(memory=path, policy=tilting, assets=ASSETS, embedder=EMBEDDER, mandate=later) as agent:
            utilities.append(agent.settle(decision.id, moves(3), known_at=START).utility)
            if later is wild:
                with pytest.raises(DecisionError, match="another mandate"):
                    agent.decide("calm", at=START)
    assert utilities[0] == utilities[1]


def test_replace_keeps_times_in_utc() -> None:
    state = State(decided_at=datetime(2024, 1, 1, tzinfo=UTC), text="", situation="", assets=ASSETS)
    assert replace(state, text="x").decided_at.tzinfo is UTC


class Labelled:
    """Returns by label, in an order of their own, like a series of a data frame library."""

    def __init__(self, **values: float) -> None:
        self.values = values

    def keys(self) -> list[str]:
        return list(self.values)

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array(list(self.values.values()))


def test_labelled_returns_and_holdings_are_read_by_label(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        first = agent.decide("calm", at=START, holdings=Labelled(cash=1.0, stocks=0.0, bonds=0.0))  # type: ignore[arg-type]
        assert first.holdings == (0.0, 0.0, 1.0)
        by_label = Labelled(cash=0.001, bonds=0.002, stocks=0.003)
        assert agent.settle(first.id, by_label, known_at=START).returns == ((0.003, 0.002, 0.001),)  # type: ignore[arg-type]
        second = agent.decide("calm", at=START + timedelta(days=1))
        daily = {"cash": [0.0, 0.0], "bonds": [0.01, 0.02], "stocks": [0.1, 0.2]}
        settled = agent.settle(second.id, daily, known_at=START + timedelta(days=1))  # type: ignore[arg-type]
        assert settled.returns == ((0.1, 0.01, 0.0), (0.2, 0.02, 0.0))
        third = agent.decide("calm", at=START + timedelta(days=2))
        with pytest.raises(PricesError, match="one for each"):
            agent.settle(third.id, {"gold": 0.1}, known_at=START + timedelta(days=2))


def test_an_agent_keeps_its_assets(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        decision = agent.decide("calm", at=START)
    turned = tuple(reversed(ASSETS))
    with (
        Agent(memory=tmp_path / "a.db", policy=tilting, assets=turned, embedder=EMBEDDER) as agent,
        pytest.raises(InputError, match="use another agent name"),
    ):
        agent.settle(decision.id, [0.1, 0, 0], known_at=START)


def test_a_reflector_cannot_date_a_memory_before_its_outcome(tmp_path: Path) -> None:
    async def early(settled: Settled) -> Experience:
        return replace(await write_record(settled), known_at=settled.decided_at)

    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, reflector=early) as agent:
        decision = agent.decide("calm", at=START)
        with pytest.raises(TimeError, match="seen too early"):
            agent.settle(decision.id, [0.5, 0, 0], known_at=START + timedelta(days=30))
        assert agent.store.count_experiences("default", as_of=START + timedelta(days=99)) == 0


def test_a_reflector_may_be_plain_and_forget_where_it_came_from(tmp_path: Path) -> None:
    asked: list[str] = []

    def plain(settled: Settled) -> Experience:
        asked.append(settled.decision_id)
        return Experience(
            id=f"mine-{len(asked)}", kind="lesson", situation=settled.situation, text="hold cash",
            valid_at=settled.decided_at, known_at=settled.known_at,
        )  # fmt: skip

    for first in (0, 2):
        with Agent(
            memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, reflector=plain
        ) as agent:  # type: ignore[arg-type]
            run(agent, 2, first=first)
    assert len(asked) == len(set(asked)) == 4


def test_a_policy_that_takes_from_an_empty_iterator_loses_its_draft(tmp_path: Path) -> None:
    with Agent(
        memory=tmp_path / "a.db", policy=lambda state, shown: next(iter(())), assets=ASSETS, embedder=EMBEDDER
    ) as agent:
        decision = agent.decide("calm", at=START)
    assert "StopIteration" in (decision.drafts[0].problem or "")
    assert "StopIteration" in decision.verdict.reason


def test_what_a_failing_policy_says_may_be_half_a_character(tmp_path: Path) -> None:
    def broken(state: State, shown: Sequence[Experience]) -> Sequence[float]:
        raise ValueError("bad \ud83d")

    with Agent(memory=tmp_path / "a.db", policy=broken, assets=ASSETS, embedder=EMBEDDER) as agent:
        assert agent.decide("calm", at=START).drafts[0].problem == "ValueError: bad ?"


def test_values_as_of_a_time_are_those_of_then(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        run(agent, 12)
        then = START + timedelta(weeks=11, days=5)
        before = agent.values(then)
        run(agent, 8, first=12)
        assert repr(agent.values(then)) == repr(before)
        assert len(agent.values(START + timedelta(weeks=60))) > len(before)


def test_a_store_deleted_while_open_is_noticed(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        agent.decide("calm", at=START)
        (tmp_path / "a.db").unlink()
        with pytest.raises(StoreError, match="deleted"):
            agent.decide("calm", at=START + timedelta(days=1))


async def test_the_same_question_at_once_has_one_answer(tmp_path: Path) -> None:
    with Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER) as agent:
        one, two = await asyncio.gather(agent.adecide("calm", at=START), agent.adecide("calm", at=START))
    assert as_bytes(one) == as_bytes(two)


@pytest.mark.parametrize("cost", [float("nan"), -0.1])
def test_a_cost_that_is_none(tmp_path: Path, cost: float) -> None:
    with pytest.raises(InputError, match="cost"):
        Agent(memory=tmp_path / "a.db", policy=tilting, assets=ASSETS, embedder=EMBEDDER, cost=cost)
