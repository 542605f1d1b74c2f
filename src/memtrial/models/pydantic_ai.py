"""Anthropic's and Google's models, by pydantic-ai's direct requests (extra ``providers``)."""

from __future__ import annotations

import time
from typing import Any

from memtrial.errors import ModelError
from memtrial.models.faults import Faults
from memtrial.models.openai_compatible import RETRIES
from memtrial.models.prices import Tokens, list_price
from memtrial.models.protocol import Message, Reply, Request
from memtrial.models.providers import find_provider, missing_extra


class PydanticAIModel:
    """A model of Anthropic or Google.

    Neither takes a grammar, and Anthropic takes no seed: there, drafts are samples that a recording makes repeatable.

    Parameters
    ----------
    model
        The provider's name of the model.
    provider
        ``"anthropic"`` or ``"google"``.
    api_key
        The key; never logged, recorded or put into an error.
    base_url
        Where the provider listens; ``None`` takes its own address.
    timeout_seconds
        Longest wait for one attempt; ``None`` takes the provider's own.
    retries
        How often the SDK repeats a request after a transport error, HTTP 429 or 5xx.

    Raises
    ------
    ProviderError
        When the extra or the key is missing, or the provider is unknown.
    """

    def __init__(
        self,
        model: str,
        *,
        provider: str,
        api_key: str | None,
        base_url: str | None = None,
        timeout_seconds: float | None = None,
        retries: int = RETRIES,
    ) -> None:
        self._provider = find_provider(provider)
        if not api_key:
            raise self._provider.no_key()
        self._name = model
        self._address = base_url
        self._timeout = timeout_seconds or self._provider.timeout_seconds
        build = {"anthropic": _anthropic, "google": _google}[provider]
        try:
            self._model = build(model, api_key, base_url, self._timeout, retries)
        except ImportError:
            raise missing_extra(f"provider {provider}", "providers") from None
        self._faults = Faults(
            provider=self._provider, model=model, address=base_url or f"{provider}'s address", secret=api_key
        )

    @property
    def identity(self) -> str:
        """Provider and model."""
        return f"{self._provider.name}:{self._name}"

    @property
    def grammatical(self) -> bool:
        """No: neither provider takes a grammar."""
        return False

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``.

        Raises
        ------
        ProviderError
            When the key, the model name, the temperature or the address is refused.
        ModelError
            When the provider fails for the moment.
        """
        started = time.perf_counter()
        answer = await self._ask(request)
        usage = answer.usage
        if not answer.parts and not usage.input_tokens:
            raise self._faults.strange("an empty answer")
        tokens: Tokens = {
            "input_tokens": usage.input_tokens,
            "cached_tokens": usage.cache_read_tokens,
            "output_tokens": usage.output_tokens,
        }
        return Reply(
            text="".join(part.content for part in answer.parts if part.part_kind == "text"),
            **tokens,
            latency_seconds=round(time.perf_counter() - started, 3),
            cost_usd=list_price(self._provider.name, self._name, address=self._address, **tokens)
            if usage.input_tokens
            else None,
        )

    async def _ask(self, request: Request) -> Any:
        from pydantic_ai import exceptions
        from pydantic_ai.direct import model_request

        settings: Any = {
            "temperature": request.temperature,
            "seed": request.seed,
            "max_tokens": request.max_tokens,
            "timeout": self._timeout,
            "anthropic_cache_instructions": True,
        }
        if self._provider.name != "anthropic":
            del settings["anthropic_cache_instructions"]
        try:
            return await model_request(self._model, _conversation(request.messages), model_settings=settings)
        except exceptions.ModelHTTPError as error:  # "from None": the SDK's message may quote the key
            raise self._faults.status(error.status_code, error.body) from None
        except Exception as error:  # Google's SDK lets the errors of its HTTP library through, and there are several
            raise self._transport(error) from None

    def _transport(self, error: Exception) -> ModelError:
        """A timeout, a missing server or nonsense: libraries tell them apart by the class of the error or its cause."""
        names = " ".join(type(link).__name__.lower() for link in _chain(error))
        if "timeout" in names:
            return self._faults.timeout(self._timeout)
        if "connect" in names:
            return self._faults.unreachable(error)
        return self._faults.strange(f"{type(error).__name__}: {error}")


def _chain(error: BaseException) -> list[BaseException]:
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links:
        links.append(link)
        link = link.__cause__ or link.__context__
    return links


def _conversation(messages: tuple[Message, ...]) -> list[Any]:
    """The messages in pydantic-ai's nouns."""
    from pydantic_ai import messages as nouns

    turns: list[Any] = []
    for message in messages:
        if message.role == "assistant":
            turns.append(nouns.ModelResponse(parts=[nouns.TextPart(content=message.content)]))
            continue
        kind = nouns.SystemPromptPart if message.role == "system" else nouns.UserPromptPart
        part = kind(content=message.content)
        if turns and isinstance(turns[-1], nouns.ModelRequest):
            turns[-1] = nouns.ModelRequest(parts=[*turns[-1].parts, part])
        else:
            turns.append(nouns.ModelRequest(parts=[part]))
    return turns


def _anthropic(model: str, api_key: str, base_url: str | None, timeout: float, retries: int) -> Any:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=timeout,
        max_retries=retries,
        default_headers={"Connection": "close"},  # see client_options of the OpenAI adapter
    )
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


def _google(model: str, api_key: str, base_url: str | None, timeout: float, retries: int) -> Any:
    from google.genai import Client
    from google.genai.types import HttpOptions, HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    options = HttpOptions(
        base_url=base_url,
        timeout=int(timeout * 1000),
        headers={"Connection": "close"},
        retry_options=HttpRetryOptions(attempts=retries + 1),
    )
    return GoogleModel(
        model, provider=GoogleProvider(client=Client(vertexai=False, api_key=api_key, http_options=options))
    )
