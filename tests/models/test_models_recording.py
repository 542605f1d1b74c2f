"""Recordings: byte for byte, paid once, torn, damaged, killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from models_server import KEY, Script, Seen, StandIn, need, request

import memtrial.errors
from memtrial.errors import ModelError, ProviderError, RecordingError
from memtrial.models import OpenAIModel, Recorded, Recording, Reply, compress

MODEL = "openai:gpt-test"
SOURCE = str(Path(memtrial.errors.__file__).parents[1])


class Live:
    """A live model that counts; it can be held up, and can fail."""

    identity = MODEL
    grammatical = False

    def __init__(self, *, delay: float = 0.0, error: Exception | None = None) -> None:
        self.asked = 0
        self._delay = delay
        self._error = error

    async def complete(self, request: object) -> Reply:
        self.asked += 1
        await asyncio.sleep(self._delay)
        if self._error is not None:
            raise self._error
        return Reply(text=f"réponse {self.asked} ✓\u2028", input_tokens=3, cost_usd=None, latency_seconds=0.25)


async def record(path: Path, *texts: str) -> list[Reply]:
    recorded = Recorded(Recording(path, model=MODEL), Live())
    return [await recorded.complete(request(text)) for text in texts]


async def test_a_replay_is_the_same_and_makes_no_call(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "run.jsonl"
    first = await record(path, "a", "b")
    before = path.read_bytes()
    live = Live()
    for model in (None, live):
        replay = Recorded(Recording(path), model)
        again = [await replay.complete(request(text)) for text in ("a", "b")]
        assert [reply.text for reply in again] == [reply.text for reply in first]
        assert all(reply.replayed for reply in again)
        assert not any(reply.replayed for reply in first)
    assert live.asked == 0
    assert path.read_bytes() == before
    assert len(Recording(path)) == 2
    assert request("a").key in Recording(path)


async def test_a_miss_and_a_wrong_model_are_clear_errors(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    await record(path, "a")
    with pytest.raises(RecordingError, match=r"has no reply to request [0-9a-f]{12} \(1 replies of openai:gpt-test\)"):
        await Recorded(Recording(path)).complete(request("never asked"))
    with pytest.raises(RecordingError, match="is of model openai:gpt-test, not of other"):
        Recording(path, model="other")
    stranger = Live()
    stranger.identity = "other"
    with pytest.raises(RecordingError, match="not of other"):
        Recorded(Recording(path), stranger)
    with pytest.raises(RecordingError, match="there is no recording at"):
        Recording(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(RecordingError, match="is empty"):
        Recording(tmp_path / "empty.jsonl")


@pytest.mark.parametrize("cut", [1, 2, 40, 300])
async def test_a_torn_last_line_is_tolerated_and_the_file_stays_appendable(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "run.jsonl"
    await record(path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    kept = 2 if cut == 1 else 1  # only the line end was lost: the reply is whole
    assert len(Recording(path)) == kept
    await record(path, "a", "b", "c")
    assert len(Recording(path)) == 3
    assert all(json.loads(line) for line in path.read_bytes().splitlines())
    assert len(path.read_bytes().splitlines()) == 4


@pytest.mark.parametrize("kept", [0, 1, 20, -1])
async def test_a_run_killed_in_the_header_starts_again(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "run.jsonl"
    await record(path, "a")
    whole = path.read_bytes()
    path.write_bytes(whole.splitlines(keepends=True)[0][:kept])
    await record(path, "a")
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[:-20],
        lambda line: b"[]",
        lambda line: b"\x00" * 10,
        lambda line: line.replace(b'"content": "b"', b'"content": "B"'),
        lambda line: line.replace(b'"text"', b'"txet"'),
        lambda line: line.replace(b'"reply"', b'"relpy"'),
    ],
)
async def test_a_damaged_line_is_named(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "run.jsonl"
    await record(path, "a", "b", "c")
    lines = path.read_bytes().splitlines()
    lines[2] = damage(lines[2])  # type: ignore[operator]
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(RecordingError, match="damaged at line 3"):
        Recording(path)
    with pytest.raises(RecordingError, match="damaged at line 3"):
        compress(path, tmp_path / "run.jsonl.xz")
    assert not (tmp_path / "run.jsonl.xz").exists()


def test_another_file_is_no_recording(tmp_path: Path) -> None:
    for content in (b'{"a": 1}\n', b'{"memtrial_recording": 2, "model": "m"}\n', b'{"memtrial_recording": 1}\n'):
        (tmp_path / "x.jsonl").write_bytes(content)
        with pytest.raises(RecordingError, match="not a memtrial recording"):
            Recording(tmp_path / "x.jsonl", model="m")
    with pytest.raises(RecordingError, match="cannot be read"):
        Recording(tmp_path)
    (tmp_path / "x.jsonl.xz").write_bytes(b"not xz")
    with pytest.raises(RecordingError, match="cannot be read"):
        Recording(tmp_path / "x.jsonl.xz")


async def test_xz_round_trip(tmp_path: Path) -> None:
    path, packed = tmp_path / "run.jsonl", tmp_path / "run.jsonl.xz"
    first = await record(path, "a", "b", "c")
    path.write_bytes(path.read_bytes() + b'{"key": "torn')
    assert compress(path, packed) == 3
    bytes_once = packed.read_bytes()
    assert compress(path, packed) == 3
    assert packed.read_bytes() == bytes_once
    replay = Recorded(Recording(packed))
    assert [(await replay.complete(request(text))).text for text in "abc"] == [reply.text for reply in first]
    live = Live()
    with pytest.raises(RecordingError, match="read only"):  # refused before it is paid for
        await Recorded(Recording(packed), live).complete(request("d"))
    assert live.asked == 0


async def test_an_unwritable_recording_is_refused_before_paying(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    live = Live()
    with pytest.raises(RecordingError, match="cannot be written"):
        await Recorded(Recording(tmp_path / "file" / "run.jsonl", model=MODEL), live).complete(request())
    assert live.asked == 0


async def test_equal_requests_at_the_same_time_are_paid_once(tmp_path: Path) -> None:
    live = Live(delay=0.02)
    recorded = Recorded(Recording(tmp_path / "run.jsonl", model=MODEL), live)
    replies = await asyncio.gather(*(recorded.complete(request("same")) for _ in range(8)))
    assert live.asked == 1
    assert len({reply.text for reply in replies}) == 1
    assert sum(not reply.replayed for reply in replies) == 1


async def test_a_failed_request_fails_for_all_and_can_be_asked_again(tmp_path: Path) -> None:
    live = Live(delay=0.02, error=ModelError("busy"))
    recorded = Recorded(Recording(tmp_path / "run.jsonl", model=MODEL), live)
    results = await asyncio.gather(*(recorded.complete(request()) for _ in range(3)), return_exceptions=True)
    assert [str(result) for result in results] == ["busy"] * 3
    assert live.asked == 1
    with pytest.raises(ModelError):
        await recorded.complete(request())
    assert live.asked == 2


async def test_a_cancelled_request_does_not_cancel_the_one_that_waits_for_it(tmp_path: Path) -> None:
    live = Live(delay=0.05)
    recorded = Recorded(Recording(tmp_path / "run.jsonl", model=MODEL), live)
    first, second = (asyncio.create_task(recorded.complete(request())) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await second).text.startswith("réponse 2")
    assert first.cancelled()


async def test_replay_asks_as_the_recording_did(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recording = Recording(path, model=MODEL)
    assert Recorded(recording).grammatical  # nothing is known yet
    recording.add(request("a"), Reply(text="x"))
    assert not Recorded(Recording(path)).grammatical
    recording.add(request("a", grammar="root ::= [a]"), Reply(text="x"))
    assert Recorded(Recording(path)).grammatical


async def test_the_key_of_the_provider_is_not_recorded(tmp_path: Path, server: StandIn) -> None:
    need("openai")
    path = tmp_path / "run.jsonl"
    live = OpenAIModel("gpt-test", api_key=KEY, base_url=server.url)
    await Recorded(Recording(path, model=live.identity), live).complete(request())
    assert KEY.encode() not in path.read_bytes()
    server.scripts = [Script(status=401, raw={"error": {"message": KEY}})]
    with pytest.raises(ProviderError):
        await Recorded(Recording(path), live).complete(request("new"))
    assert KEY.encode() not in path.read_bytes()


RUN = """
import asyncio, sys
from memtrial.models import Message, OpenAIModel, Recorded, Recording, Request
async def main():
    live = OpenAIModel("gpt-test", api_key="k", base_url=sys.argv[1], retries=0)
    recorded = Recorded(Recording(sys.argv[2], model=live.identity), live)
    for number in range(8):
        ask = Request(model=live.identity, messages=(Message(role="user", content=str(number)),),
                      temperature=0.7, seed=1, max_tokens=9)
        print((await recorded.complete(ask)).text, flush=True)
asyncio.run(main())
"""


def test_a_killed_run_never_pays_twice(tmp_path: Path, server: StandIn) -> None:
    need("openai")
    path = tmp_path / "run.jsonl"
    hang = {"5": 5.0}

    def echo(seen: Seen) -> Script:
        asked = seen.body["messages"][0]["content"]
        return Script(text=f"answer {asked}", delay=hang.pop(asked, 0.0))

    server.default = echo
    command = [sys.executable, "-c", RUN, server.url, str(path)]
    environ = {**os.environ, "PYTHONPATH": SOURCE}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(server.seen) < 6 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    said = process.communicate()[0].splitlines()
    assert said == [f"answer {number}" for number in range(5)]
    before = path.read_bytes()
    again = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60)
    assert again.stdout.splitlines() == [f"answer {number}" for number in range(8)]
    assert path.read_bytes().startswith(before)
    asked = [seen.body["messages"][0]["content"] for seen in server.seen]
    assert asked == [*"012345", *"567"]  # only the one that was never answered is asked again
    third = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60)
    assert third.stdout == again.stdout
    assert len(server.seen) == len(asked)


def test_two_open_recordings_may_append_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    one, two = Recording(path, model=MODEL), Recording(path, model=MODEL)
    for number in range(3):
        one.add(request(f"one {number}"), Reply(text="1"))
        two.add(request(f"two {number}"), Reply(text="2"))
    assert len(Recording(path)) == 6


def test_one_run_records_to_a_file_at_a_time(tmp_path: Path) -> None:
    first = Recording(tmp_path / "r.jsonl", model="m")
    second = Recording(tmp_path / "r.jsonl", model="m")
    first.hold()
    first.hold()
    with pytest.raises(RecordingError, match="another run records"):
        second.hold()
    first.close()
    second.hold()
    second.close()
