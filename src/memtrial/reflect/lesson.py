"""Lessons: what a language model takes from a settled decision, in at most 60 words."""

from __future__ import annotations

import json

from memtrial.errors import ModelError, OutageError, ProviderError, RecordingError, ReplyError
from memtrial.models.protocol import LanguageModel, Message, Request, seed_of, usage_of
from memtrial.records import Experience, Usage, fingerprint
from memtrial.reflect.contract import Settled
from memtrial.reflect.template import write_record

LONGEST_LESSON = 60
"""Words."""

ROLE = (
    "You look back at a portfolio decision whose result is known, and note what to remember of it.\n"
    f"Answer with two or three plain sentences, {LONGEST_LESSON} words at most, and nothing else: what the market "
    "looked like, what the decision got right or wrong, and what to do when such a market returns. No lists, braces or "
    "headings. Use only what is written below; a good result can be luck, and a bad one can follow a sound decision."
)
"""System message of a lesson."""


class LessonWriter:
    """Asks a language model for a lesson; a :data:`~memtrial.reflect.contract.Reflector`.

    An invalid lesson is answered once with the error. After a second one, or when the model fails for the moment, the
    record by template takes its place: nothing is made up.

    Parameters
    ----------
    model
        The model to ask, usually seen through a recording.
    temperature
        Sampling temperature.
    seed
        Seed of the deployment. Each request's own seed follows from it and from the prompt.
    max_tokens
        Longest reply.
    """

    def __init__(self, model: LanguageModel, *, temperature: float = 0.3, seed: int = 0, max_tokens: int = 200) -> None:
        self._model = model
        self._temperature = temperature
        self._seed = seed
        self._max_tokens = max_tokens
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """What all lessons of this writer took so far."""
        return self._usage

    async def __call__(self, settled: Settled) -> Experience:
        """The lesson of ``settled``, or its record by template."""
        lesson = await self.lesson(settled)
        return lesson if lesson is not None else await write_record(settled)

    async def lesson(self, settled: Settled) -> Experience | None:
        """The lesson of ``settled``, or ``None`` when the model gave no valid one.

        Raises
        ------
        OutageError, ProviderError, RecordingError
            When the model does not answer or is misconfigured, or a recording lacks the request.
        """
        messages = lesson_messages(settled)
        for attempt in range(2):
            try:
                reply = await self._model.complete(self._request(messages))
            except (OutageError, ProviderError, RecordingError):
                raise
            except ModelError:
                return None
            self._usage += usage_of(reply, retry=attempt > 0)
            try:
                return _experience(settled, read_lesson(reply.text))
            except ReplyError as error:
                again = f"That lesson cannot be kept: {error}. Write it again in the form asked for."
                said = Message(role="assistant", content=reply.text)
                messages = (*messages, said, Message(role="user", content=again))
        return None

    def _request(self, messages: tuple[Message, ...]) -> Request:
        return Request(
            model=self._model.identity,
            messages=messages,
            temperature=self._temperature,
            seed=seed_of(self._seed, messages),
            max_tokens=self._max_tokens,
            answer="text",
        )


def lesson_messages(settled: Settled) -> tuple[Message, ...]:
    """The prompt of a lesson: the market as it was read, the decision, and the result."""
    pairs = list(zip(settled.assets, settled.weights, settled.asset_returns, strict=True))
    held = ", ".join(f"{asset} {100 * weight:.0f}" for asset, weight, _ in pairs)
    moves = ", ".join(f"{asset} {100 * move:+.1f}" for asset, _, move in pairs)
    result = f"Result (%): {100 * settled.own_return:+.1f}; equal weights {100 * settled.equal_return:+.1f}"
    if settled.reference_return is not None:
        result += f"; reference {100 * settled.reference_return:+.1f}"
    user = (
        f"Decision of {settled.decided_at:%Y-%m-%d}.\nSituation: {settled.situation}\n{settled.state_text}\n\n"
        f"Held (%): {held}\nReturns that followed (%): {moves}\n{result}\n\nNow the lesson:"
    )
    return (Message(role="system", content=ROLE), Message(role="user", content=user))


def read_lesson(text: str) -> str:
    """The lesson in ``text`` as one line.

    Raises
    ------
    ReplyError
        When it is empty, longer than 60 words, or data instead of sentences.
    """
    lesson = " ".join(text.split())
    words = len(lesson.split())
    if not any(character.isalpha() for character in lesson):
        raise ReplyError("it has no words")
    if lesson[0] in "{[" or "```" in lesson or _is_json(lesson):
        raise ReplyError("it is data, not sentences")
    if words > LONGEST_LESSON:
        raise ReplyError(f"it has {words} words; use {LONGEST_LESSON} at most")
    return lesson


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _experience(settled: Settled, lesson: str) -> Experience:
    day = f"{settled.decided_at:%Y-%m-%d}"
    text = f"{day}: {lesson}"
    return Experience(
        id=f"{day}-{fingerprint(['lesson', settled.decision_id, text])[:8]}",
        kind="lesson",
        situation=settled.situation,
        text=text,
        valid_at=settled.decided_at,
        known_at=settled.known_at,
        decision_id=settled.decision_id,
    )
