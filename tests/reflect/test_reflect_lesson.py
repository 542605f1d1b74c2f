"""Memories of settled decisions: lessons over real HTTP, and the record that stands in for them."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from models_server import KEY, Script, StandIn, need

from memtrial.errors import InputError, OutageError, ProviderError, RecordingError, ReplyError, TimeError
from memtrial.models import OpenAIModel, Recorded, Recording
from memtrial.reflect import LessonWriter, Reflector, Settled, write_record
from memtrial.reflect.lesson import read_lesson

WHEN = datetime(2024, 1, 31, 22, tzinfo=UTC)
SETTLED = Settled(
    decision_id="d1",
    decided_at=WHEN,
    situation="equities rising, bonds flat",
    state_text="equities: 1-month +3.1",
    assets=("equities", "bonds"),
    weights=(0.7, 0.3),
    asset_returns=(0.04, -0.01),
    known_at=WHEN + timedelta(days=28),
    reference_return=0.012,
)
GOOD = "Rising equities carried the month.\nHolding most in them paid; do so again when bonds stand still."


def writer(server: StandIn, **changes: object) -> LessonWriter:
    need("openai")
    return LessonWriter(OpenAIModel("gpt-test", api_key=KEY, base_url=server.url, retries=0))


async def test_a_lesson_is_an_experience_of_its_situation(server: StandIn) -> None:
    server.scripts = [Script(text=GOOD)]
    lessons = writer(server)
    lesson = await lessons.lesson(SETTLED)
    assert lesson is not None
    assert lesson.kind == "lesson"
    assert lesson.text == "2024-01-31: " + GOOD.replace("\n", " ")
    assert lesson.situation == SETTLED.situation
    assert (lesson.valid_at, lesson.known_at, lesson.decision_id) == (WHEN, SETTLED.known_at, "d1")
    assert lesson.id.startswith("2024-01-31-")
    body = server.seen[0].body
    assert "response_format" not in body  # sentences are asked for
    asked = body["messages"][1]["content"]
    for fact in (
        "equities: 1-month +3.1",
        "equities 70, bonds 30",
        "equities +4.0, bonds -1.0",
        "+2.5",
        "+1.5",
        "+1.2",
    ):
        assert fact in asked
    assert (lessons.usage.calls, lessons.usage.retries) == (1, 0)


async def test_an_invalid_lesson_is_asked_once_again_with_the_error(server: StandIn) -> None:
    server.scripts = [Script(text="word " * 61), Script(text=GOOD)]
    lessons = writer(server)
    lesson = await lessons(SETTLED)
    assert lesson.kind == "lesson"
    assert "it has 61 words; use 60 at most" in server.seen[1].body["messages"][-1]["content"]
    assert (lessons.usage.calls, lessons.usage.retries) == (2, 1)


@pytest.mark.parametrize("status", [200, 422])
async def test_without_a_valid_lesson_the_record_takes_its_place(server: StandIn, status: int) -> None:
    server.default = lambda seen: Script(text='{"lesson": "buy"}', status=status)
    lessons = writer(server)
    assert await lessons.lesson(SETTLED) is None
    assert await lessons(SETTLED) == await write_record(SETTLED)


async def test_an_outage_is_no_lesson(server: StandIn) -> None:
    server.default = lambda seen: Script(status=500, headers={"retry-after-ms": "1"})
    with pytest.raises(OutageError):
        await writer(server)(SETTLED)


async def test_a_bad_set_up_and_a_recording_miss_are_not_hidden(server: StandIn, tmp_path: Path) -> None:
    server.default = lambda seen: Script(status=401, raw={"error": {"message": KEY}})
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        await writer(server)(SETTLED)
    with pytest.raises(RecordingError, match="has no reply"):
        await LessonWriter(Recorded(Recording(tmp_path / "r.jsonl", model="m")))(SETTLED)


@pytest.mark.parametrize(
    "text", ["", " \n", "...", "{}", '{"a": 1}', "[1]", '"quoted"', "12", "```\nx\n```", "w " * 61]
)
def test_what_is_no_lesson_is_refused(text: str) -> None:
    with pytest.raises(ReplyError):
        read_lesson(text)


def test_sixty_words_are_kept_as_one_line() -> None:
    assert read_lesson(" wörd\n" * 60) == " ".join(["wörd"] * 60)


async def test_the_record_says_situation_decision_and_result() -> None:
    reflector: Reflector = write_record
    record = await reflector(SETTLED)
    assert record.text == (
        "2024-01-31: equities rising, bonds flat Held (%): equities 70, bonds 30. "
        "Then (%): equities +4.0, bonds -1.0. Result +2.5, beat equal weight +1.5."
    )
    assert record.id.startswith("2024-01-31-")
    assert (await reflector(replace(SETTLED, decision_id="d2"))).id != record.id


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"weights": (1.0,)}, InputError),
        ({"asset_returns": (0.1, 0.1, 0.1)}, InputError),
        ({"asset_returns": (float("nan"), 0.1)}, InputError),
        ({"weights": (float("inf"), 0.1)}, InputError),
        ({"known_at": WHEN - timedelta(days=1)}, TimeError),
        ({"decided_at": WHEN.replace(tzinfo=None)}, TimeError),
    ],
)
def test_impossible_facts_are_refused(changes: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        dataclasses.replace(SETTLED, **changes)


def test_returns_may_be_an_array() -> None:
    settled = dataclasses.replace(SETTLED, asset_returns=np.array([0.04, -0.01]))
    assert settled == SETTLED
    assert settled.own_return == pytest.approx(0.025)
    assert settled.equal_return == pytest.approx(0.015)
