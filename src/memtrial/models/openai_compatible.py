"""Language models behind the OpenAI chat-completions protocol, by the ``openai`` SDK (extra ``openai``)."""

from __future__ import annotations

import math
import time
from typing import Any, cast

from memtrial.errors import ModelError
from memtrial.models.faults import Faults
from memtrial.models.prices import Tokens, list_price
from memtrial.models.protocol import Reply, Request
from memtrial.models.providers import find_provider, missing_extra

RETRIES = 2
"""Retries of transport errors, 429 and 5xx, made by the SDK."""


class OpenAIModel:
    """A model at any server that speaks chat completions.

    Parameters
    ----------
    model
        The provider's name of the model.
    base_url
        Where the server listens; ``None`` takes the provider's own address.
    api_key
        The key; never logged, recorded or put into an error.
    provider
        Name of the provider: openai, openrouter, deepseek, ollama, lmstudio, vllm or llamacpp.
    timeout_seconds
        Longest wait for one attempt; ``None`` takes the provider's own.
    retries
        How often the SDK repeats a request after a transport error, HTTP 429 or 5xx.
    client
        A ready ``openai.AsyncOpenAI``, used as it is.

    Raises
    ------
    ProviderError
        When the extra or a key is missing, or the provider is unknown.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        provider: str = "openai",
        timeout_seconds: float | None = None,
        retries: int = RETRIES,
        client: Any = None,
    ) -> None:
        self._provider = find_provider(provider)
        self._model = model
        self._address = base_url or self._provider.base_url
        self._timeout = timeout_seconds or self._provider.timeout_seconds
        self._sdk: Any = load_sdk()
        if client is None:
            if api_key is None and self._provider.needs_key:
                raise self._provider.no_key()
            client = self._sdk.AsyncOpenAI(
                **client_options(self._address, api_key, timeout=self._timeout, retries=retries)
            )
        else:
            self._address = str(client.base_url).rstrip("/")
        self._client: Any = client
        self._faults = Faults(
            provider=self._provider,
            model=model,
            address=self._address or "its address",
            secret=api_key or cast("str | None", getattr(client, "api_key", None)),
        )

    @property
    def identity(self) -> str:
        """Provider and model."""
        return f"{self._provider.name}:{self._model}"

    @property
    def grammatical(self) -> bool:
        """Whether the server takes a grammar; of the known ones llama.cpp's does."""
        return self._provider.grammatical

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
        try:
            message = answer.choices[0].message
        except (AttributeError, IndexError, KeyError, TypeError):
            message = None
        if message is None:
            raise self._complaint(answer)
        usage = getattr(answer, "usage", None)
        tokens = _tokens(usage)
        cost = _reported_cost(usage)
        if cost is None and usage is not None:
            cost = list_price(self._provider.name, self._model, address=self._address, **tokens)
        return Reply(
            text=message.content or getattr(message, "refusal", None) or "",
            **tokens,
            latency_seconds=round(time.perf_counter() - started, 3),
            cost_usd=cost,
        )

    async def _ask(self, request: Request) -> Any:
        sdk = self._sdk
        try:
            return await self._client.chat.completions.create(**self._body(request))
        except sdk.APITimeoutError:
            raise self._faults.timeout(self._timeout) from None
        except sdk.APIConnectionError as error:
            raise self._faults.unreachable(error) from None
        except sdk.APIStatusError as error:  # "from None": the SDK's message may quote the key
            raise self._faults.status(error.status_code, error.body) from None
        except (sdk.OpenAIError, ValueError) as error:
            raise self._faults.strange(str(error)) from None

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": request.temperature,
            "seed": request.seed,
            self._provider.token_limit: request.max_tokens,
        }
        if request.grammar is not None and self._provider.grammatical:
            # llama.cpp takes a grammar or a response format, not both.
            body["extra_body"] = {"grammar": request.grammar, "cache_prompt": True}
        elif request.answer == "json":
            body["response_format"] = (
                {"type": "json_object"}
                if self._provider.json_mode == "object"
                else {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
            )
        return body

    def _complaint(self, answer: Any) -> ModelError:
        """The error in an answer without choices: OpenRouter reports some with HTTP 200."""
        error = getattr(answer, "error", None)
        code = cast("dict[str, object]", error).get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and code >= 400:
            return self._faults.status(code, cast("object", error))
        return self._faults.strange(cast("object", error) if error else "no choices")


def load_sdk() -> Any:
    """The ``openai`` package, or the error that names its extra."""
    try:
        import openai
    except ImportError:
        raise missing_extra("an OpenAI-compatible server", "openai") from None
    return openai


def client_options(base_url: str | None, api_key: str | None, *, timeout: float, retries: int) -> dict[str, Any]:
    """Arguments of the SDK's clients.

    Connections are closed after each answer: one kept open would belong to an event loop that a later call, made
    under another ``asyncio.run``, no longer has.
    """
    return {
        "base_url": base_url,
        "api_key": api_key or "no-key",  # the SDK insists on one; servers that need none ignore it
        "timeout": timeout,
        "max_retries": retries,
        "default_headers": {"Connection": "close"},
    }


def _tokens(usage: Any) -> Tokens:
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or getattr(usage, "prompt_cache_hit_tokens", None)  # DeepSeek
    return {
        "input_tokens": _count(getattr(usage, "prompt_tokens", None)),
        "cached_tokens": _count(cached),
        "output_tokens": _count(getattr(usage, "completion_tokens", None)),
    }


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _reported_cost(usage: Any) -> float | None:
    cost = getattr(usage, "cost", None)
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not math.isfinite(cost) or cost < 0:
        return None
    return float(cost)
