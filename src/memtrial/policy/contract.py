"""Who drafts: any callable from a state and experiences to weights, and how a decision's drafts are made."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from memtrial.errors import OutageError, ProviderError, RecordingError, WeightsError
from memtrial.records import Draft, Experience, State, Usage, Weights

ROUNDING = 0.01
"""How far from 1 a sum of weights may be and still count as rounding."""
EXACT = 1e-9
UNORDERED = (str, bytes, bytearray, set, frozenset)
"""Types that can be counted and iterated, and are still no sequence of weights."""
LONGEST_PROBLEM = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A policy's answer with what it took; a policy may also return bare weights.

    ``weights`` is ``None`` when the policy gave no valid answer, and ``problem`` then says why in one line.
    """

    weights: Weights | None
    problem: str | None = None
    reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    requests: tuple[str, ...] = ()


Allocation: TypeAlias = Answer | Sequence[float] | Mapping[str, float]
Policy: TypeAlias = Callable[[State, Sequence[Experience]], Allocation | Awaitable[Allocation]]


def allocation(value: object, assets: Sequence[str]) -> Weights:
    """``value`` as weights in the order of ``assets``.

    Parameters
    ----------
    value
        A mapping from asset to weight that names every asset (a pandas Series counts as one), or a sequence in the
        order of ``assets``. Weights are fractions, not negative, and sum to 1; a sum within 0.01 of 1 is rounding and
        is scaled to 1.
    assets
        Names of the assets.

    Raises
    ------
    WeightsError
        When ``value`` is anything else: memtrial never guesses an allocation.
    """
    numbers = _numbers(value, assets)
    for asset, number in zip(assets, numbers, strict=True):
        if not math.isfinite(number):
            raise WeightsError(f"the weight of {asset} is {number}; every weight must be a finite number")
        if number < 0:
            raise WeightsError(f"the weight of {asset} is {number:g}; weights must not be negative")
    total = math.fsum(numbers)
    if abs(total - 1.0) > ROUNDING:
        raise WeightsError(f"the weights sum to {total:g}; they must sum to 1")
    return tuple(number / total for number in numbers)


def _numbers(value: object, assets: Sequence[str]) -> list[float]:
    kind = type(value).__name__
    named = _named(value)
    if named is not None:
        missing = [asset for asset in assets if asset not in named]
        extra = [str(name) for name in named if name not in assets]
        if missing or extra:
            wrong = f"lack {', '.join(missing)}" if missing else f"name the unknown {', '.join(extra)}"
            raise WeightsError(f"the weights {wrong}; give one weight for each of {', '.join(assets)}")
        raw = [named[asset] for asset in assets]
    elif isinstance(value, UNORDERED) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise WeightsError(f"weights are a mapping or a sequence of numbers, not {kind}")
    else:
        raw = list(cast("Sequence[Any]", value))
        if len(raw) != len(assets):
            raise WeightsError(f"{len(raw)} weights for {len(assets)} assets; give one for each of {', '.join(assets)}")
    return [_number(each) for each in raw]


def _named(value: object) -> Mapping[Any, Any] | None:
    """``value`` by name when it has names: a pandas Series is read by its labels, never by position."""
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value)
    keys = getattr(value, "keys", None)
    if not callable(keys):
        return None
    names = list(cast("Callable[[], Sequence[Any]]", keys)())
    numbers = list(cast("Sequence[Any]", value))
    if len(names) != len(numbers) or names == list(range(len(names))):
        return None
    return dict(zip(names, numbers, strict=True))


def _number(value: object) -> float:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool | str | bytes) or value is None or kind in ("b", "S", "U") or getattr(value, "ndim", 0):
        raise WeightsError(f"a weight is {value!r}; every weight must be a number")
    try:
        return float(cast("Any", value)) + 0.0  # -0.0 becomes 0.0
    except (TypeError, ValueError, OverflowError) as error:
        raise WeightsError(f"a weight is not a number ({error})") from error


def policy_identity(policy: Policy) -> str:
    """What a receipt calls a policy: its own ``identity``, or its name."""
    own: object = getattr(policy, "identity", None)
    if isinstance(own, str):
        return own
    name: object = getattr(policy, "__qualname__", None)
    return name if isinstance(name, str) else type(policy).__qualname__


async def draft_all(
    policy: Policy,
    state: State,
    experiences: Sequence[Experience],
    subsets: Sequence[tuple[int, ...]],
) -> tuple[Draft, ...]:
    """One draft per subset, made concurrently, in the order of ``subsets``.

    A synchronous policy runs in threads. A policy that raises, or answers with weights that are no allocation, gives
    a missing draft with the problem recorded. A misconfigured provider and a recording miss stop the decision, once
    the other drafts are done: what was paid for is kept.

    Parameters
    ----------
    policy
        The callable that drafts.
    state
        What it sees.
    experiences
        Recalled experiences in rank order, length k.
    subsets
        Ranks shown to each draft, n_drafts tuples.
    """
    # A depth-first order of the prompts lets a model with one prompt cache reuse the longest prefix.
    order = sorted(range(len(subsets)), key=lambda index: subsets[index])
    tasks = {index: _draft(policy, state, experiences, subsets[index]) for index in order}
    made = dict(zip(tasks, await asyncio.gather(*tasks.values(), return_exceptions=True), strict=True))
    drafts: list[Draft] = []
    for index in range(len(subsets)):
        draft = made[index]
        if isinstance(draft, BaseException):
            raise draft
        drafts.append(draft)
    return tuple(drafts)


async def _draft(policy: Policy, state: State, experiences: Sequence[Experience], subset: tuple[int, ...]) -> Draft:
    shown = tuple(experiences[rank] for rank in subset)
    try:
        answer = _checked(await _ask(policy, state, shown), state.assets)
    except (OutageError, ProviderError, RecordingError):
        raise
    except Exception as error:  # the user's policy may raise anything; the other drafts still count
        answer = Answer(weights=None, problem=_line(f"{type(error).__name__}: {error}"))
    return Draft(
        subset=subset,
        weights=answer.weights,
        problem=answer.problem,
        reason=answer.reason,
        usage=answer.usage,
        requests=answer.requests,
    )


def _checked(answer: Allocation, assets: Sequence[str]) -> Answer:
    """The answer with weights that are an allocation, or a problem instead of them."""
    if not isinstance(answer, Answer):
        return Answer(weights=allocation(answer, assets))
    if answer.weights is None:
        return replace(answer, problem=answer.problem or "the policy gave no weights")
    try:
        weights = allocation(answer.weights, assets)
    except WeightsError as error:  # what the answer took is still owed to the receipt
        return replace(answer, weights=None, problem=_line(f"WeightsError: {error}"))
    exact = type(answer.weights) is tuple and abs(math.fsum(answer.weights) - 1.0) < EXACT
    return answer if exact else replace(answer, weights=weights)


def _line(text: str) -> str:
    """``text`` as one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_PROBLEM else line[: LONGEST_PROBLEM - 1] + "…"


def _called(policy: Policy, state: State, shown: Sequence[Experience]) -> Allocation | Awaitable[Allocation]:
    try:
        return policy(state, shown)
    except StopIteration as error:  # a future cannot carry it, and would wait for ever
        raise RuntimeError("the policy raised StopIteration: it took from an empty iterator") from error


async def _ask(policy: Policy, state: State, shown: Sequence[Experience]) -> Allocation:
    if inspect.iscoroutinefunction(policy) or inspect.iscoroutinefunction(getattr(policy, "__call__", None)):  # noqa: B004
        return await cast("Awaitable[Allocation]", policy(state, shown))
    answer = await asyncio.to_thread(_called, policy, state, shown)
    if inspect.isawaitable(answer):
        return await answer
    return answer
