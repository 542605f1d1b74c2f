"""A model or an embedder from one word on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from memtrial.errors import ProviderError
from memtrial.models.embedders import Embedder, FastEmbedder, OpenAIEmbedder, WordLlamaEmbedder
from memtrial.models.local import LocalModel
from memtrial.models.openai_compatible import OpenAIModel
from memtrial.models.protocol import LanguageModel
from memtrial.models.providers import PROVIDERS, find_provider, unknown
from memtrial.models.pydantic_ai import PydanticAIModel

DEFAULT_EMBEDDER = "wordllama"


def resolve_model(spec: str, *, environ: Mapping[str, str], base_url: str | None = None) -> LanguageModel:
    """The language model that ``spec`` names.

    Parameters
    ----------
    spec
        ``PROVIDER:MODEL``, for example ``openai:gpt-4.1-mini``, ``ollama:qwen2.5:7b`` or ``local:FILE.gguf``.
    environ
        Where keys (``OPENAI_API_KEY`` …) and addresses (``OPENAI_BASE_URL`` …) are looked up.
    base_url
        Address of the server; takes precedence over ``environ`` and the provider's own.

    Raises
    ------
    ProviderError
        When the provider is unknown, or a key, an extra or a file is missing.
    """
    name, model = _split(spec)
    provider = find_provider(name)
    if provider.kind == "local":
        if base_url is not None:
            raise ProviderError("a local model runs in this process and has no base URL; use llamacpp: for a server")
        return LocalModel(model)
    key, address = provider.key(environ), provider.address(base_url, environ)
    if provider.kind == "pydantic_ai":
        return PydanticAIModel(model, provider=name, api_key=key, base_url=address)
    return OpenAIModel(model, provider=name, api_key=key, base_url=address)


def resolve_embedder(
    spec: str = DEFAULT_EMBEDDER, *, environ: Mapping[str, str], base_url: str | None = None
) -> Embedder:
    """The embedder that ``spec`` names.

    Parameters
    ----------
    spec
        ``wordllama`` (offline), ``fastembed:MODEL``, or ``PROVIDER:MODEL`` of an OpenAI-compatible provider.
    environ, base_url
        As for :func:`resolve_model`.

    Raises
    ------
    ProviderError
        When the embedder is unknown, or a key or a package is missing.
    """
    if spec == WordLlamaEmbedder.name:
        return WordLlamaEmbedder()
    name, model = _split(spec)
    if name == FastEmbedder.name:
        return FastEmbedder(model)
    provider = PROVIDERS.get(name)
    if provider is None or provider.kind != "openai":
        served = [each.name for each in PROVIDERS.values() if each.kind == "openai"]
        raise ProviderError(unknown("embedder", name, [WordLlamaEmbedder.name, FastEmbedder.name, *served]))
    return OpenAIEmbedder(
        model, provider=name, api_key=provider.key(environ), base_url=provider.address(base_url, environ)
    )


def _split(spec: str) -> tuple[str, str]:
    name, _, model = spec.strip().partition(":")
    if not model and name.endswith(".gguf"):
        raise ProviderError(f"{spec!r} names no provider; did you mean local:{spec}?")
    if not model:
        known = ", ".join(PROVIDERS)
        raise ProviderError(f"{spec!r} is not PROVIDER:MODEL, for example openai:gpt-4.1-mini; providers: {known}")
    return name, model
