"""Recordings: what a model said, kept under the hash of the whole request.

A recording is a JSON Lines file, plain or compressed with xz: a header line, then one line per reply. A live
recording is only ever appended to, one durable line per reply, so that a run which is killed never pays twice.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal, cast

from memtrial.errors import RecordingError
from memtrial.models.protocol import LanguageModel, Reply, Request

FORMAT = 1
Mode = Literal["replay", "record"]


class Recording:
    """Replies by request key, in a file.

    Parameters
    ----------
    path
        ``*.jsonl`` (appended to) or ``*.jsonl.xz`` (read only).
    model
        Identity of the recorded model; needed when the file does not exist yet.

    Raises
    ------
    RecordingError
        When the file is missing and no ``model`` is named, or when it is damaged or of another model.
    """

    def __init__(self, path: Path | str, *, model: str | None = None) -> None:
        self.path = Path(path)
        self._replies: dict[str, Reply] = {}
        if self.path.exists():
            self.model = self._load()
            if model is not None and model != self.model:
                raise RecordingError(
                    f"recording {self.path} is of model {self.model}, not of {model}; name another recording file"
                )
        elif model is None:
            raise RecordingError(f"there is no recording at {self.path}; record one first or check the path")
        else:
            self.model = model

    def __len__(self) -> int:
        return len(self._replies)

    def __contains__(self, key: str) -> bool:
        return key in self._replies

    def get(self, key: str) -> Reply | None:
        """The recorded reply to the request with this key, marked as replayed."""
        return self._replies.get(key)

    def add(self, request: Request, reply: Reply) -> Reply:
        """Keep ``reply`` durably, then return it. The file is only ever appended to."""
        if self.path.suffix == ".xz":
            raise RecordingError(f"recording {self.path} is compressed and read only; record to a .jsonl file")
        line = json.dumps({"key": request.key, "request": request.content(), "reply": _stored(reply)})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = not self.path.exists() or self.path.stat().st_size == 0
        with self.path.open("ab") as file:
            if fresh:
                file.write(_header(self.model))
            file.write(line.encode("utf-8") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._replies[request.key] = replace(reply, replayed=True)
        return reply

    def _load(self) -> str:
        lines = list(_lines(self.path))
        if not lines:
            raise RecordingError(f"recording {self.path} is empty; delete it or name another")
        header = _parsed(self.path, 1, lines[0], last=False)
        if header is None or header.get("memtrial_recording") != FORMAT:
            raise RecordingError(f"{self.path} is not a memtrial recording of format {FORMAT}; check the path")
        for number, line in enumerate(lines[1:], start=2):
            entry = _parsed(self.path, number, line, last=number == len(lines))
            if entry is not None:
                self._replies[cast("str", entry["key"])] = _restored(cast("dict[str, object]", entry["reply"]))
        return cast("str", header["model"])


class Recorded:
    """A language model seen through a recording.

    Every request that the recording holds is answered from it, without a call. Others are asked of ``model`` and
    recorded, or, when there is no ``model`` (replay), refused.
    """

    def __init__(self, recording: Recording, model: LanguageModel | None = None, *, grammatical: bool = True) -> None:
        self.recording = recording
        self._model = model
        self._grammatical = model.grammatical if model is not None else grammatical
        self._pending: dict[str, asyncio.Future[Reply]] = {}

    @property
    def identity(self) -> str:
        """Identity of the recorded model."""
        return self.recording.model

    @property
    def grammatical(self) -> bool:
        """Whether the recorded model was held to grammars."""
        return self._grammatical

    async def complete(self, request: Request) -> Reply:
        """The recorded reply, or a fresh one that is recorded before it is returned.

        Raises
        ------
        RecordingError
            In replay, when the recording lacks the request.
        """
        key = request.key
        known = self.recording.get(key)
        if known is not None:
            return known
        if self._model is None:
            raise RecordingError(
                f"recording {self.recording.path} has no reply to request {key[:12]} "
                f"({len(self.recording)} replies of {self.recording.model}); the prompt, the model or the data "
                f"changed since it was made: record it anew by naming a live policy"
            )
        if key in self._pending:
            return replace(await asyncio.shield(self._pending[key]), replayed=True)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._pending[key] = future
        try:
            reply = self.recording.add(request, await self._model.complete(request))
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # mark as retrieved: the caller below sees the same error
            raise
        else:
            future.set_result(reply)
            return reply
        finally:
            del self._pending[key]


def compress(source: Path, target: Path) -> int:
    """Write ``source`` as an xz-compressed recording, sorted by key for stable bytes; return the number of replies."""
    lines = [line for line in _lines(source) if line]
    body = sorted(set(lines[1:]), key=lambda line: str(json.loads(line)["key"]))
    with lzma.open(target, "wb", preset=9 | lzma.PRESET_EXTREME) as file:
        file.write(lines[0] + b"\n" + b"".join(line + b"\n" for line in body))
    return len(body)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        raw = lzma.open(path, "rb").read() if path.suffix == ".xz" else path.read_bytes()
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise RecordingError(f"recording {path} cannot be read ({error}); restore it or record anew") from error
    yield from raw.split(b"\n")[: None if raw and not raw.endswith(b"\n") else -1]


def _parsed(path: Path, number: int, line: bytes, *, last: bool) -> dict[str, object] | None:
    """The JSON object on a line; ``None`` for a torn last line, which a killed run leaves behind."""
    try:
        entry = json.loads(line)
    except ValueError as error:
        if last:
            return None
        raise RecordingError(f"recording {path} is damaged at line {number} ({error}); restore it") from error
    if not isinstance(entry, dict):
        raise RecordingError(f"recording {path} is damaged at line {number} (not an object); restore it")
    return cast("dict[str, object]", entry)


def _header(model: str) -> bytes:
    return json.dumps({"memtrial_recording": FORMAT, "model": model}).encode("utf-8") + b"\n"


def _stored(reply: Reply) -> Mapping[str, object]:
    content = asdict(reply)
    del content["replayed"]
    return content


def _restored(content: dict[str, object]) -> Reply:
    return Reply(**content, replayed=True)  # pyright: ignore[reportArgumentType]
