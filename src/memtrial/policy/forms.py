"""Reply forms: how a language model states an allocation, and what counts as an answer.

Two forms. ``weights`` is a JSON object of weights, for capable models. ``ratings`` is a short reason and then a rating
per asset, for small ones: asked for numbers they copy the example, asked for ratings they read the market.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from memtrial.errors import ReplyError, WeightsError
from memtrial.policy.contract import allocation
from memtrial.records import Weights

RATING_SHARES: Mapping[str, float] = {"overweight": 2.0, "neutral": 1.0, "underweight": 0.5, "avoid": 0.0}
"""Shares of an asset by its rating; weights are the shares divided by their sum."""


class ReplyForm(Protocol):
    """How a model answers: the words that ask for it, the grammar that enforces it, and how it is read."""

    @property
    def name(self) -> str: ...

    @property
    def closing(self) -> str:
        """The last line of the prompt, after the experiences."""
        ...

    def instruction(self, assets: Sequence[str]) -> str:
        """The words that ask for this form."""
        ...

    def grammar(self, assets: Sequence[str]) -> str:
        """A GBNF grammar of exactly this form, without free white space."""
        ...

    def read(self, text: str, assets: Sequence[str]) -> tuple[Weights, str | None]:
        """Weights and reason of a reply; raise :class:`~memtrial.errors.ReplyError` when it is not of this form."""
        ...


class WeightsForm:
    """``{"equities": 0.3, …, "reason": "…"}``: weights as JSON numbers, in any order."""

    name = "weights"
    closing = "Now the JSON object for today:"

    def instruction(self, assets: Sequence[str]) -> str:
        """The words that ask for weights, with an example that itself sums to 1."""
        example = ", ".join(f'"{asset}": {share}' for asset, share in zip(assets, _shares(len(assets)), strict=True))
        return (
            f"Answer with one JSON object and nothing else: a weight for every asset and a reason of at most 20 words, "
            f'for example {{{example}, "reason": "..."}}. Weights are fractions between 0 and 1, not percentages, and '
            f"sum to 1."
        )

    def grammar(self, assets: Sequence[str]) -> str:
        """A GBNF grammar with two decimals per weight."""
        fields = ' "," '.join(f"{_literal(json.dumps(asset) + ':')} number" for asset in assets)
        return (
            f'root ::= "{{" {fields} ",\\"reason\\":\\"" reason "\\"}}"\n'
            'number ::= "0." [0-9] [0-9] | "1.00"\n'
            "reason ::= [A-Za-z0-9 ,.%+;:()'-]{10,80}\n"
        )

    def read(self, text: str, assets: Sequence[str]) -> tuple[Weights, str | None]:
        """Weights and reason of a reply."""
        answer = _object(text)
        reason = _reason(answer)
        try:
            return allocation(answer, assets), reason
        except WeightsError as error:
            raise ReplyError(str(error)) from error


class RatingsForm:
    """``{"reason":"…","equities":"overweight",…}``: a reason first, then a rating per asset.

    Weights are proportional to the shares of :data:`RATING_SHARES`; a reply that avoids every asset is no allocation.
    """

    name = "ratings"
    closing = "Now the reason and the ratings for today:"

    def instruction(self, assets: Sequence[str]) -> str:
        """The words that ask for ratings, with a rule of thumb: a small model left alone rates at random."""
        keys = ", ".join(json.dumps(asset) for asset in assets)
        return (
            "Rate rising assets overweight and falling assets underweight or avoid, unless past decisions in the same "
            "situation teach otherwise.\n"
            'Answer with one JSON object: first "reason", at most 10 words that say which assets are strongest and '
            f"which weakest; then a rating for each of {keys}: {', '.join(RATING_SHARES)}."
        )

    def grammar(self, assets: Sequence[str]) -> str:
        """A GBNF grammar of one line; the reason starts with an asset, which keeps it about the market."""
        fields = ' "," '.join(f'{_literal(json.dumps(asset) + ":")} "\\"" rating "\\""' for asset in assets)
        ratings = " | ".join(_literal(rating) for rating in RATING_SHARES)
        subjects = " | ".join(_literal(asset.replace("_", " ").capitalize()) for asset in assets)
        return (
            f'root ::= "{{\\"reason\\":\\"" reason "\\"," {fields} "}}"\n'
            f"rating ::= {ratings}\n"
            f'reason ::= ({subjects}) " " [A-Za-z0-9 ,.%+;-]{{15,60}}\n'
        )

    def read(self, text: str, assets: Sequence[str]) -> tuple[Weights, str | None]:
        """Weights and reason of a reply."""
        answer = _object(text)
        reason = _reason(answer)
        extra = [name for name in answer if name not in assets]
        if extra:
            raise ReplyError(f"the ratings name the unknown {', '.join(extra)}; rate only {', '.join(assets)}")
        shares: list[float] = []
        for asset in assets:
            rating = answer.get(asset)
            if not isinstance(rating, str) or rating not in RATING_SHARES:
                raise ReplyError(f'the rating of "{asset}" is {rating!r}; use one of {", ".join(RATING_SHARES)}')
            shares.append(RATING_SHARES[rating])
        total = sum(shares)
        if total == 0:
            raise ReplyError("every asset is rated avoid, which is no allocation; rate at least one of them higher")
        return tuple(share / total for share in shares), reason


FORMS: Mapping[str, ReplyForm] = {"weights": WeightsForm(), "ratings": RatingsForm()}


def _literal(text: str) -> str:
    """``text`` as a GBNF literal, which escapes as JSON does."""
    return json.dumps(text)


def _shares(count: int) -> list[str]:
    """Equal weights that sum to 1 as written: the first ones take what rounding leaves over."""
    digits = max(2, len(str(count)))
    whole = 10**digits
    return [f"{(whole // count + (rank < whole % count)) / whole:.{digits}f}" for rank in range(count)]


def _reason(answer: dict[str, object]) -> str | None:
    """The reason, taken out of ``answer``; it may be left out, but it may not be anything else than words."""
    reason = answer.pop("reason", None)
    if reason is not None and not isinstance(reason, str):
        raise ReplyError(f"the reason is {json.dumps(reason)[:60]}; give it in words, in quotes")
    return reason


def _object(text: str) -> dict[str, object]:
    """The one JSON object in ``text``; models like to wrap it in a code fence, and nothing else is forgiven."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        answer = json.loads(bare, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the reply is not JSON ({error}); answer with one JSON object and nothing else") from error
    if not isinstance(answer, dict):
        raise ReplyError("the reply is not a JSON object; answer with one JSON object and nothing else")
    return cast("dict[str, object]", answer)


def _no_constant(name: str) -> object:
    raise ReplyError(f"the reply holds {name}, which is not a number; answer with finite numbers")


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    answer = dict(pairs)
    if len(answer) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ReplyError(f'the reply names "{twice}" twice; name it once')
    return answer
