"""The OpenAI-compatible adapter against a real HTTP server, through the real SDK."""

from __future__ import annotations

import asyncio
import socket
import sys
import traceback
from typing import Any

import pytest
from models_server import KEY, Script, StandIn, need, request

from memtrial.errors import ModelError, OutageError, ProviderError
from memtrial.models import OpenAIModel
from memtrial.models.openai_compatible import OpenAIModel as Model

need("openai")


def model(server: StandIn, **changes: Any) -> OpenAIModel:
    return Model("gpt-test", **{"base_url": server.url, "api_key": KEY, "retries": 0, **changes})


async def test_a_reply_carries_text_tokens_and_latency(server: StandIn) -> None:
    server.scripts = [Script(text="Grüße ✓", usage={"prompt_tokens_details": {"cached_tokens": 64}})]
    reply = await model(server).complete(request())
    assert reply.text == "Grüße ✓"
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (100, 64, 9)
    assert reply.latency_seconds > 0
    assert reply.cost_usd is None  # a proxy's price is not known
    body = server.seen[0].body
    assert body["response_format"] == {"type": "json_object"}
    assert (body["temperature"], body["seed"], body["max_completion_tokens"]) == (0.7, 7, 50)
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


async def test_text_is_asked_without_json_mode_and_other_providers_with_max_tokens(server: StandIn) -> None:
    await model(server, provider="deepseek").complete(request(answer="text"))
    assert "response_format" not in server.seen[0].body
    assert server.seen[0].body["max_tokens"] == 50


async def test_lm_studio_is_held_to_json_by_a_schema(server: StandIn) -> None:
    await model(server, provider="lmstudio", api_key=None).complete(request())
    assert server.seen[0].body["response_format"]["type"] == "json_schema"


async def test_llama_cpp_gets_the_grammar_and_no_response_format(server: StandIn) -> None:
    llama = model(server, provider="llamacpp", api_key=None)
    assert llama.grammatical
    await llama.complete(request(grammar='root ::= "a"'))
    assert server.seen[0].body["grammar"] == 'root ::= "a"'
    assert "response_format" not in server.seen[0].body


async def test_deepseek_cache_hits_and_openrouter_cost_are_read(server: StandIn) -> None:
    server.scripts = [Script(usage={"prompt_cache_hit_tokens": 32}), Script(usage={"cost": 0.0125})]
    assert (await model(server, provider="deepseek").complete(request())).cached_tokens == 32
    assert (await model(server, provider="openrouter").complete(request())).cost_usd == 0.0125


async def test_missing_usage_and_empty_content_are_not_invented(server: StandIn) -> None:
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": None}}
    server.scripts = [Script(raw={"id": "1", "object": "chat.completion", "choices": [choice]})]
    reply = await model(server).complete(request())
    assert (reply.text, reply.input_tokens, reply.cost_usd) == ("", 0, None)


@pytest.mark.parametrize(
    ("status", "message", "kind", "says"),
    [
        (401, f"Incorrect API key provided: {KEY}", ProviderError, "OPENAI_API_KEY"),
        (403, "no access", ProviderError, "refused the key"),
        (404, "The model does not exist", ProviderError, "no model 'gpt-test'"),
        (402, "Insufficient balance", ProviderError, "no credit"),
        (429, "You exceeded your current quota", ProviderError, "no credit"),
        (400, "API key not valid. Please pass a valid one.", ProviderError, "refused the key"),
        (400, "Your credit balance is too low", ProviderError, "no credit"),
        (429, "slow down", OutageError, "HTTP 429"),
        (400, "Unsupported value: 'temperature' does not support 0.7", ProviderError, "temperature 1"),
        (400, f"context too long\nfor {KEY}", ModelError, "refused the request"),
        (500, "oops", OutageError, "HTTP 500"),
    ],
)
async def test_a_refusal_is_one_clear_line_without_the_key(
    server: StandIn, status: int, message: str, kind: type[ModelError], says: str
) -> None:
    server.scripts = [Script(status=status, raw={"error": {"message": message, "code": "some_code"}})]
    with pytest.raises(ModelError) as caught:
        await model(server).complete(request())
    assert type(caught.value) is kind
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_a_server_error_is_retried_by_the_sdk(server: StandIn) -> None:
    server.scripts = [Script(status=500, raw={"error": {"message": "oops"}}, headers={"retry-after-ms": "1"})]
    reply = await model(server, retries=2).complete(request())
    assert reply.text == "fine"
    assert len(server.seen) == 2


async def test_no_server_and_a_slow_server_are_told_apart(server: StandIn) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ProviderError, match=rf"cannot be reached at http://127.0.0.1:{port}/v1"):
        await model(server, base_url=f"http://127.0.0.1:{port}/v1").complete(request())
    server.scripts = [Script(delay=0.5)]
    with pytest.raises(ModelError, match=r"no answer within 0.1 s") as caught:
        await model(server, timeout_seconds=0.1).complete(request())
    assert not isinstance(caught.value, ProviderError)


@pytest.mark.parametrize(
    "raw", [b"<html>busy</html>", {"hello": 1}, {"choices": []}, {"error": {"message": "upstream down"}}, b"", b"[]"]
)
async def test_an_answer_outside_the_protocol_is_a_model_error(server: StandIn, raw: Any) -> None:
    server.scripts = [Script(raw=raw)]
    with pytest.raises(ModelError, match="outside the protocol"):
        await model(server).complete(request())


async def test_an_error_sent_with_http_200_keeps_its_own_code(server: StandIn) -> None:
    server.scripts = [Script(raw={"error": {"message": "No auth", "code": 401}})]
    with pytest.raises(ProviderError, match="OPENROUTER_API_KEY"):
        await model(server, provider="openrouter").complete(request())


def test_one_model_serves_several_event_loops(server: StandIn) -> None:
    shared = model(server)
    for _ in range(3):
        assert asyncio.run(shared.complete(request())).text == "fine"


def test_set_up_errors_name_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        Model("gpt-test")
    with pytest.raises(ProviderError, match="did you mean openrouter"):
        Model("gpt-test", provider="openruter")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ProviderError, match=r"pip install 'memtrial\[openai\]'"):
        Model("gpt-test", api_key=KEY)


def test_the_key_is_in_no_repr(server: StandIn) -> None:
    shown = model(server)
    assert KEY not in repr(shown) + repr(vars(shown)["_faults"])
