"""The providers memtrial knows by name: where they listen, which key they want, which dialect they speak."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from memtrial.errors import ProviderError

Kind = Literal["openai", "pydantic_ai", "local"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """One provider.

    Attributes
    ----------
    name
        The word before the colon in ``PROVIDER:MODEL``.
    kind
        Which adapter speaks to it.
    base_url
        Where it listens unless told otherwise.
    key_variables
        Environment variables that may hold the key, in order.
    needs_key
        Whether it answers without a key.
    json_mode
        How it is held to JSON: ``"object"``, or ``"schema"`` when it only knows schemas.
    token_limit
        Its name for the longest reply.
    grammatical
        Whether it can be held to a GBNF grammar.
    timeout_seconds
        Longest wait for one attempt; a server on one's own processor queues the drafts of a decision.
    """

    name: str
    kind: Kind = "openai"
    base_url: str | None = None
    key_variables: tuple[str, ...] = ()
    needs_key: bool = True
    json_mode: Literal["object", "schema"] = "object"
    token_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    grammatical: bool = False
    timeout_seconds: float = 120.0

    def address(self, base_url: str | None, environ: Mapping[str, str]) -> str | None:
        """Where to ask: ``base_url`` if given, else ``NAME_BASE_URL`` of the environment, else the preset."""
        return base_url or environ.get(f"{self.name.upper()}_BASE_URL") or self.base_url

    def key(self, environ: Mapping[str, str]) -> str | None:
        """The key in the environment, or ``None`` for a provider that needs none.

        Raises
        ------
        ProviderError
            When a key is needed and none is set.
        """
        for variable in self.key_variables:
            if environ.get(variable, "").strip():
                return environ[variable].strip()
        if self.needs_key:
            raise self.no_key()
        return None

    def no_key(self) -> ProviderError:
        """The error of a missing key."""
        return ProviderError(f"{self.name} needs a key: set the environment variable {self.key_variable}")

    @property
    def key_variable(self) -> str:
        """The environment variable to name in messages."""
        return " or ".join(self.key_variables)


def _at_home(name: str, base_url: str, *, json_mode: Literal["object", "schema"] = "object") -> Provider:
    """A server on one's own machine: no key needed, and slow."""
    return Provider(
        name=name,
        base_url=base_url,
        key_variables=(f"{name.upper()}_API_KEY",),
        needs_key=False,
        json_mode=json_mode,
        grammatical=name == "llamacpp",
        timeout_seconds=600.0,
    )


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            name="openai",
            base_url="https://api.openai.com/v1",
            key_variables=("OPENAI_API_KEY",),
            token_limit="max_completion_tokens",  # its reasoning models refuse max_tokens
        ),
        Provider(name="anthropic", kind="pydantic_ai", key_variables=("ANTHROPIC_API_KEY",)),
        Provider(name="google", kind="pydantic_ai", key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        Provider(name="openrouter", base_url="https://openrouter.ai/api/v1", key_variables=("OPENROUTER_API_KEY",)),
        Provider(name="deepseek", base_url="https://api.deepseek.com/v1", key_variables=("DEEPSEEK_API_KEY",)),
        _at_home("ollama", "http://localhost:11434/v1"),
        _at_home("lmstudio", "http://localhost:1234/v1", json_mode="schema"),  # it refuses json_object
        _at_home("vllm", "http://localhost:8000/v1"),
        _at_home("llamacpp", "http://localhost:8080/v1"),
        Provider(name="local", kind="local", needs_key=False, grammatical=True),
    )
}
"""Every provider by name."""


def find_provider(name: str) -> Provider:
    """The provider of this name.

    Raises
    ------
    ProviderError
        When there is none; the message lists the known ones.
    """
    provider = PROVIDERS.get(name)
    if provider is None:
        raise ProviderError(unknown("provider", name, PROVIDERS))
    return provider


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One line that says ``name`` is unknown, what was probably meant, and what there is."""
    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=1)
    guess = f" did you mean {close[0]}?" if close else ""
    return f"unknown {what} {name!r};{guess} known: {', '.join(names)}"


def missing_extra(what: str, extra: str) -> ProviderError:
    """The error of an extra that is not installed."""
    return ProviderError(f"{what} needs an extra: pip install 'memtrial[{extra}]'")
