"""A language model in this process: any GGUF file, no key, no network (extra ``local``)."""

from __future__ import annotations

import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from memtrial.errors import ModelError, ProviderError
from memtrial.models.protocol import Reply, Request
from memtrial.models.providers import missing_extra

CONTEXT_TOKENS = 8192


class LocalModel:
    """A GGUF model run by llama.cpp inside this process.

    One request is computed at a time: on a CPU, two at once are no faster, and one slot keeps the shared prefix of a
    decision's drafts cached.

    Parameters
    ----------
    path
        The GGUF file.
    threads
        CPU threads; ``None`` leaves the choice to llama.cpp.

    Raises
    ------
    ProviderError
        When the file or the extra is missing, or the file cannot be loaded.
    """

    def __init__(self, path: Path | str, *, threads: int | None = None) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ProviderError(f"there is no model file at {self.path}; name a GGUF file: local:FILE.gguf")
        self._identity = f"local:{self.path.stem}@{_checksum(self.path)[:12]}"
        self._server = _load(self.path, threads)
        self._turn = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memtrial-local")

    @property
    def identity(self) -> str:
        """File name and checksum: the same on every machine."""
        return self._identity

    @property
    def grammatical(self) -> bool:
        """llama.cpp holds a model to a grammar."""
        return True

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``, one at a time, in order of arrival."""
        return await asyncio.get_running_loop().run_in_executor(self._turn, self._complete, request)

    def _complete(self, request: Request) -> Reply:
        body: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": request.temperature,
            "seed": request.seed,
            "max_tokens": request.max_tokens,
            "cache_prompt": True,
        }
        if request.grammar is not None:
            body["grammar"] = request.grammar
        started = time.perf_counter()
        answer = self._server.handle_chat_completions(body)
        if "choices" not in answer:
            problem = " ".join(str(answer.get("error", answer)).split())
            raise ModelError(f"{self.identity} refused the request: {problem[:200]}")
        usage: dict[str, Any] = answer.get("usage") or {}
        details: dict[str, Any] = usage.get("prompt_tokens_details") or {}
        return Reply(
            text=answer["choices"][0]["message"]["content"] or "",
            input_tokens=usage.get("prompt_tokens", 0),
            cached_tokens=details.get("cached_tokens", 0),
            output_tokens=usage.get("completion_tokens", 0),
            latency_seconds=round(time.perf_counter() - started, 3),
            cost_usd=0.0,
        )


def _load(path: Path, threads: int | None) -> Any:
    try:
        import xllamacpp as untyped  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise missing_extra("a local model", "local") from None
    xllamacpp: Any = untyped
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.verbosity = 0
    if threads is not None:
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise ProviderError(f"{path} cannot be loaded as a GGUF model: {error}") from error


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
