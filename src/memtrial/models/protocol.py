"""What memtrial asks of a language model: one method, one request, one reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol, runtime_checkable

from memtrial.records import Usage, fingerprint, unicode_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Everything that determines a reply, and nothing else.

    Attributes
    ----------
    model
        Identity of the model, the same on every machine (provider and name; for a file, its name and checksum).
    messages
        The conversation.
    temperature
        Sampling temperature.
    seed
        Sampling seed, for providers that take one.
    max_tokens
        Longest reply, in tokens.
    grammar
        A GBNF grammar for models that can be held to one; others are told the form in words.
    answer
        What the reply should be: providers with a JSON mode are put into it, or left out of it for ``"text"``.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float
    seed: int
    max_tokens: int
    grammar: str | None = None
    answer: Literal["json", "text"] = "json"

    def content(self) -> Mapping[str, object]:
        """The request as plain JSON values; ``answer`` is left out at its default, as in the first recordings."""
        content = asdict(self)
        if self.answer == "json":
            del content["answer"]
        return content

    @property
    def key(self) -> str:
        """Hash of the whole request: equal requests have equal keys on every machine."""
        return fingerprint(self.content())


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model said, and what it took.

    ``cached_tokens`` are input tokens served from the provider's prompt cache. ``cost_usd`` is ``None`` when the
    price is not known. ``replayed`` marks a reply read from a recording.
    """

    text: str
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    latency_seconds: float = 0.0
    cost_usd: float | None = None
    replayed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", unicode_text(self.text))


@runtime_checkable
class LanguageModel(Protocol):
    """A machine that answers requests.

    ``identity`` is the model id that goes into every request; ``grammatical`` says whether it can be held to a
    grammar.
    """

    @property
    def identity(self) -> str: ...

    @property
    def grammatical(self) -> bool: ...

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``; raise :class:`~memtrial.errors.ModelError` when that is not possible."""
        ...


def seed_of(seed: int, messages: Sequence[Message]) -> int:
    """A request's own seed, from the deployment's seed and its prompt: equal prompts of two deployments differ."""
    prompt = fingerprint([seed, [[message.role, message.content] for message in messages]])
    return int(prompt, 16) % 2**31


def usage_of(reply: Reply, *, retry: bool) -> Usage:
    """What a reply took, for a receipt."""
    return Usage(
        calls=1,
        replayed=int(reply.replayed),
        retries=int(retry),
        input_tokens=reply.input_tokens,
        cached_tokens=reply.cached_tokens,
        output_tokens=reply.output_tokens,
        latency_seconds=reply.latency_seconds,
        cost_usd=reply.cost_usd,
    )
