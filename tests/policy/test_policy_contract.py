"""Any callable drafts: what is accepted as an allocation, and what becomes a missing draft."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.errors import ProviderError, RecordingError, WeightsError
from memtrial.policy import Answer, allocation, draft_all
from memtrial.records import Experience, State, Usage

ASSETS = ("equities", "bonds", "cash")
WHEN = datetime(2024, 1, 31, 22, tzinfo=UTC)
STATE = State(decided_at=WHEN, text="text", situation="situation", assets=ASSETS)
MEMORIES = tuple(
    Experience(id=str(n), kind="record", situation="s", text=f"memory {n}", valid_at=WHEN, known_at=WHEN)
    for n in range(4)
)
HALF = tuple(subset for size in (0, 2, 4) for subset in combinations(range(4), size))


def sync_policy(state: State, experiences: Sequence[Experience]) -> dict[str, float]:
    return {"cash": 0.2, "equities": 0.5, "bonds": 0.3}


async def async_policy(state: State, experiences: Sequence[Experience]) -> list[float]:
    await asyncio.sleep(0)
    return [0.5, 0.3, 0.2]


class Agent:
    def __call__(self, state: State, experiences: Sequence[Experience]) -> Any:
        return np.array([0.5, 0.3, 0.2])

    def method(self, state: State, experiences: Sequence[Experience]) -> Any:
        return (0.5, 0.3, 0.2)


class AsyncAgent:
    async def __call__(self, state: State, experiences: Sequence[Experience]) -> Any:
        return Answer(weights=(0.5, 0.3, 0.2), reason="because")


class Graph:
    """As a compiled graph is wrapped: a synchronous call that hands back an awaitable with a dict."""

    async def ainvoke(self, values: Mapping[str, Any]) -> dict[str, float]:
        await asyncio.sleep(0)
        return dict(zip(values["assets"], (0.5, 0.3, 0.2), strict=True))

    def __call__(self, state: State, experiences: Sequence[Experience]) -> Any:
        return self.ainvoke({"assets": state.assets, "memories": [each.text for each in experiences]})


class Labelled:
    """What a pandas Series looks like: values in their own order, under labels."""

    def __init__(self, values: Mapping[Any, float]) -> None:
        self._values = dict(values)

    def keys(self) -> Any:
        return self._values.keys()

    def __iter__(self) -> Any:
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)


@pytest.mark.parametrize(
    "policy",
    [
        sync_policy,
        async_policy,
        Agent(),
        Agent().method,
        AsyncAgent(),
        Graph(),
        functools.partial(async_policy),
        lambda state, experiences: deque([0.5, 0.3, 0.2]),
        lambda state, experiences: Labelled({"bonds": 0.3, "cash": 0.2, "equities": 0.5}),
        lambda state, experiences: Labelled({0: 0.5, 1: 0.3, 2: 0.2}),
        lambda state, experiences: [Decimal("0.5"), Decimal("0.3"), Decimal("0.2")],
    ],
)
async def test_every_kind_of_callable_drafts(policy: Any) -> None:
    drafts = await draft_all(policy, STATE, MEMORIES, HALF)
    assert [draft.subset for draft in drafts] == list(HALF)
    for draft in drafts:
        assert draft.weights == pytest.approx((0.5, 0.3, 0.2))
        assert draft.problem is None


async def test_a_draft_sees_its_experiences_in_rank_order() -> None:
    seen: dict[tuple[str, ...], None] = {}

    def policy(state: State, experiences: Sequence[Experience]) -> Any:
        seen[tuple(each.id for each in experiences)] = None
        return [1, 0, 0]

    await draft_all(policy, STATE, MEMORIES, HALF)
    assert sorted(seen) == sorted(tuple(str(rank) for rank in subset) for subset in HALF)


async def test_synchronous_policies_run_side_by_side() -> None:
    barrier = threading.Barrier(2, timeout=10)

    def policy(state: State, experiences: Sequence[Experience]) -> Any:
        barrier.wait()
        return [1, 0, 0]

    drafts = await draft_all(policy, STATE, MEMORIES, HALF[:2])
    assert all(draft.weights == (1, 0, 0) for draft in drafts)


async def test_a_policy_that_raises_gives_a_missing_draft_with_the_problem_in_one_line() -> None:
    def policy(state: State, experiences: Sequence[Experience]) -> Any:
        if len(experiences) == 2:
            raise RuntimeError("my agent\nbroke " + "x" * 1000)
        return [1, 0, 0]

    drafts = await draft_all(policy, STATE, MEMORIES, HALF)
    broken = [draft for draft in drafts if len(draft.subset) == 2]
    assert len(broken) == 6
    for draft in broken:
        assert draft.weights is None
        assert draft.problem is not None
        assert draft.problem.startswith("RuntimeError: my agent broke")
        assert len(draft.problem) <= 300
    assert sum(draft.weights is not None for draft in drafts) == 2


@pytest.mark.parametrize("error", [RecordingError("miss"), ProviderError("no key")])
async def test_a_miss_or_a_bad_set_up_stops_the_decision_after_the_others_are_done(error: Exception) -> None:
    done: list[int] = []

    async def policy(state: State, experiences: Sequence[Experience]) -> Any:
        if not experiences:
            raise error
        await asyncio.sleep(0.02)
        done.append(len(experiences))
        return [1, 0, 0]

    with pytest.raises(type(error), match=str(error)):
        await draft_all(policy, STATE, MEMORIES, HALF)
    assert len(done) == len(HALF) - 1  # what was paid for was not thrown away


async def test_an_answer_keeps_its_usage_whatever_its_weights() -> None:
    used = Usage(calls=1, input_tokens=9)
    answers = iter(
        [
            Answer(weights=(0.9, 0.9, 0.9), usage=used, requests=("k",)),
            Answer(weights=None, usage=used),
            Answer(weights=[0.333, 0.333, 0.333], usage=used),  # type: ignore[arg-type]
        ]
    )

    async def policy(state: State, experiences: Sequence[Experience]) -> Answer:
        return next(answers)

    wrong, silent, rounded = await draft_all(policy, STATE, MEMORIES, ((), (0,), (1,)))
    assert (wrong.weights, wrong.usage, wrong.requests) == (None, used, ("k",))
    assert "sum to 2.7" in str(wrong.problem)
    assert silent.problem == "the policy gave no weights"
    assert rounded.weights == pytest.approx((1 / 3,) * 3)
    assert sum(rounded.weights or ()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "value",
    [
        None,
        1.0,
        "abc",
        b"abc",
        {0.5, 0.3, 0.2},
        frozenset({0.5, 0.3, 0.2}),
        (weight for weight in (0.5, 0.3, 0.2)),
        [],
        [1.0],
        [50, 30, 20],
        [0.5, 0.3, "0.2"],
        [True, False, False],
        [np.bool_(True), np.bool_(False), np.bool_(False)],
        [None, 0.5, 0.5],
        [float("nan"), 0.5, 0.5],
        [float("inf"), 0.5, 0.5],
        [10**400, 0, 0],
        [1.5, -0.5, 0],
        [0.5 + 0j, 0.3, 0.2],
        [[0.5], [0.3], [0.2]],
        np.array([[0.5], [0.3], [0.2]]),
        np.array([0.5, 0.3, 0.2]).astype("U8"),
        {"equities": 1.0},
        {"equities": 0.5, "bonds": 0.3, "cash": 0.2, "gold": 0.0},
        Labelled({"equities": 0.5, "bonds": 0.5}),
        Labelled({"a": 0.5, "b": 0.3, "c": 0.2}),
    ],
)
def test_what_is_no_allocation_is_refused(value: object) -> None:
    with pytest.raises(WeightsError):
        allocation(value, ASSETS)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_an_allocation_is_never_invented(numbers: list[float]) -> None:
    if abs(sum(numbers) - 1) > 0.01:
        with pytest.raises(WeightsError, match="must sum to 1"):
            allocation(numbers, ASSETS)
    else:
        assert sum(allocation(numbers, ASSETS)) == pytest.approx(1)
