"""Recordings: what a model said, kept under the hash of the whole request.

A recording is a JSON Lines file, plain or compressed with xz: a header line, then one line per reply. A live
recording is only ever appended to, one durable line per reply, so that a run which is killed never pays twice.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO, cast

from memtrial.errors import RecordingError
from memtrial.models.protocol import LanguageModel, Reply, Request
from memtrial.records import fingerprint

FORMAT = 1


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
        self._grammars = False
        self._held: BinaryIO | None = None
        if self.path.exists() and not _unborn(self.path, model):
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

    @property
    def grammatical(self) -> bool | None:
        """Whether the recorded model was held to grammars; ``None`` while nothing is recorded."""
        return self._grammars if self._replies else None

    def checksum(self) -> str:
        """SHA-256 (hex) of what it holds now."""
        return fingerprint([self.model, sorted((key, reply.text) for key, reply in self._replies.items())])

    def get(self, key: str) -> Reply | None:
        """The recorded reply to the request with this key, marked as replayed."""
        return self._replies.get(key)

    def check_writable(self) -> None:
        """Raise :class:`~memtrial.errors.RecordingError` when a reply could not be kept: ask before paying for it."""
        if self.path.suffix == ".xz":
            raise RecordingError(f"recording {self.path} is compressed and read only; record to a .jsonl file")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab"):
                pass
        except OSError as error:
            raise self._unwritable(error) from error

    def hold(self) -> None:
        """Keep the recording to this process for as long as it lives: two runs at once would both pay.

        Raises
        ------
        RecordingError
            When another process holds it, or it cannot be written.
        """
        self.check_writable()
        if self._held is None:
            try:
                self._held = Path(f"{self.path}.lock").open("ab")  # noqa: SIM115 - held until the process ends
            except OSError as error:
                raise self._unwritable(error) from error
            if not _lock(self._held, wait=False):
                self._held.close()
                self._held = None
                raise RecordingError(f"another run records to {self.path}; wait for it, or name another recording")

    def close(self) -> None:
        """Let another process record."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def add(self, request: Request, reply: Reply) -> Reply:
        """Keep ``reply`` durably, then return it. The file is only ever appended to.

        Raises
        ------
        RecordingError
            When the file is compressed or cannot be written.
        """
        self.check_writable()
        entry = {"key": request.key, "request": request.content(), "reply": _stored(reply)}
        line = json.dumps(entry).encode("utf-8") + b"\n"
        try:
            with self.path.open("r+b") as file:
                _lock(file)
                end = _mend(file)
                file.write(line if end else _header(self.model) + line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error
        self._keep(request.key, replace(reply, replayed=True), grammar=request.grammar)
        return reply

    def _keep(self, key: str, reply: Reply, *, grammar: object) -> None:
        self._replies[key] = reply
        self._grammars = self._grammars or grammar is not None

    def _unwritable(self, error: OSError) -> RecordingError:
        return RecordingError(f"recording {self.path} cannot be written ({error}); free the disk or name another file")

    def _load(self) -> str:
        lines = _lines(self.path)
        header = _object(self.path, 1, lines[0])
        if header.get("memtrial_recording") != FORMAT or not isinstance(header.get("model"), str):
            raise RecordingError(f"{self.path} is not a memtrial recording of format {FORMAT}; check the path")
        for number, line in enumerate(lines[1:], start=2):
            self._read(number, line)
        return cast("str", header["model"])

    def _read(self, number: int, line: bytes) -> None:
        entry = _object(self.path, number, line)
        request = entry.get("request")
        try:
            reply = Reply(**cast("dict[str, object]", entry["reply"]), replayed=True)  # pyright: ignore[reportArgumentType]
            key = cast("str", entry["key"])
            if key != fingerprint(request):
                raise ValueError("its key is not the hash of its request")
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(self.path, number, error) from error
        self._keep(key, reply, grammar=cast("Mapping[str, object]", request).get("grammar"))


class Recorded:
    """A language model seen through a recording.

    Every request that the recording holds is answered from it, without a call. Others are asked of ``model`` and
    recorded, or, when there is no ``model`` (replay), refused.

    Parameters
    ----------
    recording
        The recording.
    model
        The live model, or ``None`` to replay.
    grammatical
        Whether requests carry grammars; ``None`` takes it from the model, or in replay from what was recorded.

    Raises
    ------
    RecordingError
        When ``model`` is not the recorded one.
    """

    def __init__(
        self, recording: Recording, model: LanguageModel | None = None, *, grammatical: bool | None = None
    ) -> None:
        if model is not None and model.identity != recording.model:
            raise RecordingError(
                f"recording {recording.path} is of model {recording.model}, not of {model.identity}; "
                f"name another recording file"
            )
        self.recording = recording
        self._model = model
        if grammatical is None:
            grammatical = model.grammatical if model is not None else recording.grammatical is not False
        self._grammatical = grammatical
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

        Equal requests made at the same time are paid once.

        Raises
        ------
        RecordingError
            In replay, when the recording lacks the request.
        """
        key = request.key
        while True:
            known = self.recording.get(key)
            if known is not None:
                return known
            if self._model is None:
                raise self._miss(key)
            if key not in self._pending:
                return await self._record(key, request, self._model)
            # Wait for the one who asked first; if that one is cancelled, look again.
            first = self._pending[key]
            await asyncio.wait([first])
            if not first.cancelled():
                return replace(first.result(), replayed=True)

    async def _record(self, key: str, request: Request, model: LanguageModel) -> Reply:
        self.recording.check_writable()
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._pending[key] = future
        try:
            reply = self.recording.add(request, await model.complete(request))
        except asyncio.CancelledError:
            future.cancel()
            raise
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # mark as retrieved: the caller below sees the same error
            raise
        else:
            future.set_result(reply)
            return reply
        finally:
            del self._pending[key]

    def _miss(self, key: str) -> RecordingError:
        return RecordingError(
            f"recording {self.recording.path} has no reply to request {key[:12]} "
            f"({len(self.recording)} replies of {self.recording.model}); the prompt, the model or the data "
            f"changed since it was made: record it anew by naming a live policy"
        )


def compress(source: Path, target: Path) -> int:
    """Write ``source`` as an xz-compressed recording, sorted by key for stable bytes; return the number of replies.

    ``source`` is checked as it is when opened; ``target`` appears whole or not at all.
    """
    Recording(source)  # a damaged recording is not worth keeping
    header, *lines = _lines(source)
    body = {str(json.loads(line)["key"]): line for line in lines}  # the last reply to a request counts, as in a replay
    content = b"".join(line + b"\n" for line in (header, *(body[key] for key in sorted(body))))
    part = target.with_name(target.name + ".part")
    part.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    part.replace(target)
    return len(body)


def _lines(path: Path) -> list[bytes]:
    """The whole lines of a recording; a torn last one, which a killed run leaves behind, is not one of them."""
    raw = _raw(path)
    *lines, tail = raw.split(b"\n")
    if tail and _whole(tail):
        lines.append(tail)  # only its line end was lost
    if not lines:
        raise RecordingError(f"recording {path} is empty; delete it or name another")
    return lines


def _raw(path: Path) -> bytes:
    try:
        if path.suffix != ".xz":
            return path.read_bytes()
        with lzma.open(path, "rb") as file:
            return file.read()
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise RecordingError(f"recording {path} cannot be read ({error}); restore it or record anew") from error


def _unborn(path: Path, model: str | None) -> bool:
    """Whether a run was killed before it had written the header of this recording of ``model``."""
    if model is None or path.suffix == ".xz" or not path.is_file() or path.stat().st_size > len(_header(model)):
        return False
    raw = _raw(path)
    return b"\n" not in raw and _header(model).startswith(raw)


def _mend(file: BinaryIO) -> int:
    """Make the next write start a line, and return how many bytes precede it.

    A torn tail is cut off (its reply was never acknowledged); a whole entry without its line end is kept.
    """
    end = start = file.seek(0, os.SEEK_END)
    tail = b""
    while start > 0 and b"\n" not in tail:
        step = min(65536, start)
        start = file.seek(start - step)
        tail = file.read(step) + tail
    torn = tail[tail.rfind(b"\n") + 1 :]
    if torn and _whole(torn):
        file.seek(end)
        return end + file.write(b"\n")
    if torn:
        end -= len(torn)
        file.truncate(end)
    return file.seek(end)


def _lock(file: BinaryIO, *, wait: bool = True) -> bool:
    """Whether this process now holds ``file`` alone; released when the file is closed."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _object(path: Path, number: int, line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise _damaged(path, number, error) from error
    if not isinstance(entry, dict):
        raise _damaged(path, number, "not an object")
    return cast("dict[str, object]", entry)


def _damaged(path: Path, number: int, why: object) -> RecordingError:
    return RecordingError(f"recording {path} is damaged at line {number} ({why}); restore it")


def _header(model: str) -> bytes:
    return json.dumps({"memtrial_recording": FORMAT, "model": model}).encode("utf-8") + b"\n"


def _stored(reply: Reply) -> Mapping[str, object]:
    content = asdict(reply)
    del content["replayed"]
    return content
