"""Who drafts: any callable from a state and experiences to weights, and how a decision's drafts are made."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from memtrial.errors import ProviderError, RecordingError, WeightsError
from memtrial.records import Draft, Experience, State, Usage, Weights

ROUNDING = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A policy's answer with what it took; a policy may also return bare weights.

    ``weights`` is ``None`` when the policy gave no valid answer, and ``problem`` then says why in one line.
    """

    weights: Weights | None
    problem: str | None = None
    reason: str | None = None
    usage: Usage = Usage()
    requests: tuple[str, ...] = ()


Allocation: TypeAlias = Answer | Sequence[float] | Mapping[str, float]
Policy: TypeAlias = Callable[[State, Sequence[Experience]], Allocation | Awaitable[Allocation]]


def allocation(value: object, assets: Sequence[str]) -> Weights:
    """``value`` as weights in the order of ``assets``.

    Parameters
    ----------
    value
        A mapping from asset to weight that names every asset, or a sequence in the order of ``assets``. Weights are
        fractions, not negative, and sum to 1; a sum within 0.01 of 1 is rounding and is scaled to 1.
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
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        missing = [asset for asset in assets if asset not in named]
        extra = [name for name in named if name not in assets]
        if missing or extra:
            wrong = f"lack {', '.join(missing)}" if missing else f"name the unknown {', '.join(map(str, extra))}"
            raise WeightsError(f"the weights {wrong}; give one weight for each of {', '.join(assets)}")
        raw = [named[asset] for asset in assets]
    elif isinstance(value, str) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise WeightsError(f"weights are a mapping or a sequence of numbers, not {type(value).__name__}")
    else:
        raw = list(cast("Sequence[Any]", value))
        if len(raw) != len(assets):
            raise WeightsError(f"{len(raw)} weights for {len(assets)} assets; give one for each of {', '.join(assets)}")
    try:
        return [float(number) for number in raw if not isinstance(number, bool | str)] if _plain(raw) else []
    except (TypeError, ValueError) as error:
        raise WeightsError(f"a weight is not a number ({error})") from error


def _plain(raw: Sequence[object]) -> bool:
    for number in raw:
        if isinstance(number, bool | str) or number is None:
            raise WeightsError(f"a weight is {number!r}; every weight must be a number")
    return True


async def draft_all(
    policy: Policy,
    state: State,
    experiences: Sequence[Experience],
    subsets: Sequence[tuple[int, ...]],
) -> tuple[Draft, ...]:
    """One draft per subset, made concurrently, in the order of ``subsets``.

    A synchronous policy runs in threads. A policy that raises, or answers with weights that are no allocation, gives
    a missing draft with the problem recorded; a misconfigured provider and a recording miss stop the decision.

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
    made = dict(zip(tasks, await asyncio.gather(*tasks.values()), strict=True))
    return tuple(made[index] for index in range(len(subsets)))


async def _draft(policy: Policy, state: State, experiences: Sequence[Experience], subset: tuple[int, ...]) -> Draft:
    shown = tuple(experiences[rank] for rank in subset)
    try:
        answer = await _ask(policy, state, shown)
        if not isinstance(answer, Answer):
            answer = Answer(weights=allocation(answer, state.assets))
        elif answer.weights is not None:
            allocation(answer.weights, state.assets)
    except (RecordingError, ProviderError):
        raise
    except Exception as error:  # the user's policy may raise anything; the other drafts still count
        answer = Answer(weights=None, problem=f"{type(error).__name__}: {error}")
    return Draft(
        subset=subset,
        weights=answer.weights,
        problem=answer.problem,
        reason=answer.reason,
        usage=answer.usage,
        requests=answer.requests,
    )


async def _ask(policy: Policy, state: State, shown: Sequence[Experience]) -> Allocation:
    if inspect.iscoroutinefunction(policy) or inspect.iscoroutinefunction(getattr(policy, "__call__", None)):  # noqa: B004
        return await cast("Awaitable[Allocation]", policy(state, shown))
    answer = await asyncio.to_thread(policy, state, shown)
    if inspect.isawaitable(answer):
        return await answer
    return cast("Allocation", answer)
