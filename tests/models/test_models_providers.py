"""Anthropic and Google through pydantic-ai, prices, and models by name."""

from __future__ import annotations

import asyncio
import socket
import sys
import traceback
from pathlib import Path

import pytest
from models_server import KEY, Script, StandIn, need, request

from memtrial.errors import ModelError, OutageError, ProviderError
from memtrial.models import Message, PydanticAIModel, Request, resolve_model
from memtrial.models.prices import list_price

need("pydantic_ai")
need("anthropic")
need("google.genai")
need("openai")


def claude(server: StandIn, **changes: float) -> PydanticAIModel:
    return PydanticAIModel(
        "claude-haiku-4-5", provider="anthropic", api_key=KEY, base_url=server.root, retries=0, **changes
    )


def gemini(server: StandIn, **changes: float) -> PydanticAIModel:
    return PydanticAIModel(
        "gemini-2.5-flash", provider="google", api_key=KEY, base_url=server.root, retries=0, **changes
    )


async def test_anthropic_answers_a_whole_conversation(server: StandIn) -> None:
    conversation = Request(
        model="anthropic:claude-haiku-4-5",
        messages=(
            Message(role="system", content="You are short."),
            Message(role="user", content="one"),
            Message(role="assistant", content="eins"),
            Message(role="user", content="two"),
        ),
        temperature=0.7,
        seed=1,
        max_tokens=33,
    )
    reply = await claude(server).complete(conversation)
    assert reply.text == "fine"
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (100, 40, 9)
    seen = server.seen[0]
    assert KEY in (seen.headers.get("x-api-key") or seen.headers["authorization"])
    assert (seen.body["temperature"], seen.body["max_tokens"]) == (0.7, 33)
    assert [turn["role"] for turn in seen.body["messages"]] == ["user", "assistant", "user"]
    assert seen.body["system"][0]["text"] == "You are short."
    assert seen.body["system"][0]["cache_control"]["type"] == "ephemeral"


async def test_google_answers(server: StandIn) -> None:
    reply = await gemini(server).complete(request(model="google:gemini-2.5-flash"))
    assert (reply.text, reply.input_tokens, reply.cached_tokens, reply.output_tokens) == ("fine", 100, 40, 9)
    config = server.seen[0].body["generationConfig"]
    assert (config["temperature"], config["seed"], config["maxOutputTokens"]) == (0.7, 7, 50)


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [(401, ProviderError, "_API_KEY"), (404, ProviderError, "no model"), (500, OutageError, "HTTP 500")],
)
async def test_refusals_are_one_line_without_the_key(
    server: StandIn, status: int, kind: type[ModelError], says: str
) -> None:
    refusal = {"type": "error", "error": {"type": "x", "code": status, "status": "X", "message": f"bad {KEY}"}}
    for model in (claude(server), gemini(server)):
        server.scripts = [Script(status=status, raw=refusal)]
        with pytest.raises(ModelError, match=says) as caught:
            await model.complete(request())
        assert type(caught.value) is kind
        assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_an_answer_outside_the_protocol_is_a_model_error(server: StandIn) -> None:
    for model in (claude(server), gemini(server)):
        for raw in (b"<html>busy</html>", {"hello": 1}):
            server.scripts = [Script(raw=raw)]
            with pytest.raises(ModelError) as caught:
                await model.complete(request())
            assert not isinstance(caught.value, ProviderError)
            assert "\n" not in str(caught.value)


async def test_no_server_and_a_slow_server_are_told_apart(server: StandIn) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        root = f"http://127.0.0.1:{free.getsockname()[1]}"
    for provider, name in (("anthropic", "claude-haiku-4-5"), ("google", "gemini-2.5-flash")):
        absent = PydanticAIModel(name, provider=provider, api_key=KEY, base_url=root, retries=0)
        with pytest.raises(ProviderError, match="cannot be reached"):
            await absent.complete(request())
    for slow in (claude(server, timeout_seconds=0.2), gemini(server, timeout_seconds=0.2)):
        server.scripts = [Script(delay=0.6)]
        with pytest.raises(ModelError, match="no answer within") as caught:
            await slow.complete(request())
        assert not isinstance(caught.value, ProviderError)


def test_one_model_serves_several_event_loops(server: StandIn) -> None:
    for shared in (claude(server), gemini(server)):
        for _ in range(2):
            assert asyncio.run(shared.complete(request())).text == "fine"


def test_prices_are_known_or_none() -> None:
    pytest.importorskip("genai_prices")
    tokens = {"input_tokens": 1_000_000, "cached_tokens": 0, "output_tokens": 0}
    paid = list_price("openai", "gpt-4o-mini", address="https://api.openai.com/v1", **tokens)
    assert paid == pytest.approx(0.15)
    cached = list_price("openai", "gpt-4o-mini", address=None, **{**tokens, "cached_tokens": 1_000_000})
    assert cached is not None
    assert cached < paid
    assert list_price("openai", "no-such-model", address=None, **tokens) is None
    assert list_price("openai", "gpt-4o-mini", address="http://proxy/v1", **tokens) is None
    assert list_price("ollama", "gpt-4o-mini", address=None, **tokens) is None


@pytest.mark.parametrize(
    ("spec", "identity"),
    [
        ("openai:gpt-4.1-mini", "openai:gpt-4.1-mini"),
        ("anthropic:claude-haiku-4-5", "anthropic:claude-haiku-4-5"),
        ("google:gemini-2.5-flash", "google:gemini-2.5-flash"),
        ("openrouter:meta/llama:free", "openrouter:meta/llama:free"),
        ("deepseek:deepseek-chat", "deepseek:deepseek-chat"),
    ],
)
def test_a_model_by_name(spec: str, identity: str) -> None:
    variable = f"{spec.split(':')[0].upper()}_API_KEY"
    assert resolve_model(spec, environ={variable: KEY}).identity == identity
    with pytest.raises(ProviderError, match=variable):
        resolve_model(spec, environ={variable: " "})


@pytest.mark.parametrize("name", ["ollama", "lmstudio", "vllm", "llamacpp"])
async def test_a_server_at_home_needs_no_key(server: StandIn, name: str) -> None:
    model = resolve_model(f"{name}:qwen2.5:7b", environ={f"{name.upper()}_BASE_URL": server.url})
    assert (await model.complete(request())).text == "fine"
    assert server.seen[0].body["model"] == "qwen2.5:7b"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("opnai:gpt", "did you mean openai"),
        ("gpt-4o", "is not PROVIDER:MODEL"),
        ("openai:", "is not PROVIDER:MODEL"),
        ("", "is not PROVIDER:MODEL"),
        ("model.gguf", "did you mean local:model.gguf"),
        ("local:nowhere.gguf", "no model file at nowhere.gguf"),
    ],
)
def test_a_bad_name_is_one_clear_line(spec: str, says: str) -> None:
    with pytest.raises(ProviderError, match=says) as caught:
        resolve_model(spec, environ={})
    assert "\n" not in str(caught.value)


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in ("anthropic", "google.genai", "xllamacpp"):
        monkeypatch.setitem(sys.modules, module, None)
    for spec in ("anthropic:x", "google:x"):
        with pytest.raises(ProviderError, match=r"pip install 'memtrial\[providers\]'"):
            resolve_model(spec, environ={"ANTHROPIC_API_KEY": KEY, "GOOGLE_API_KEY": KEY})
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(ProviderError, match=r"pip install 'memtrial\[local\]'"):
        resolve_model(f"local:{tmp_path / 'm.gguf'}", environ={})
    with pytest.raises(ProviderError, match="no base URL"):
        resolve_model("local:x.gguf", environ={}, base_url="http://x")
