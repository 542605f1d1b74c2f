"""A language model as a policy: prompt, reply, one correction, then a draft or a missing draft."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.errors import ModelError, OutageError, ProviderError, RecordingError, ReplyError
from memtrial.models.protocol import LanguageModel, Message, Request, seed_of, usage_of
from memtrial.policy.contract import Answer
from memtrial.policy.forms import ReplyForm
from memtrial.policy.prompts import correction, decision_messages
from memtrial.records import Experience, State, Usage


class LLMPolicy:
    """Asks a language model for an allocation.

    What the drafts of a decision share comes first in the prompt (role, form of the reply, market data), the
    experiences last, so that a provider's prompt cache serves the shared part. An invalid reply is answered once with
    the error; a second one makes the draft missing. Nothing is guessed.

    Parameters
    ----------
    model
        The model to ask, usually seen through a recording.
    role
        The system message: who the model is and what it decides.
    form
        The reply form.
    temperature
        Sampling temperature; drafts are meant to be samples, so 0 removes the spread between identical prompts.
    seed
        Seed of the deployment. Each request's own seed follows from it and from the prompt.
    max_tokens
        Longest reply.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        role: str,
        form: ReplyForm,
        temperature: float = 0.7,
        seed: int = 0,
        max_tokens: int = 200,
    ) -> None:
        self._model = model
        self._role = role
        self._form = form
        self._temperature = temperature
        self._seed = seed
        self._max_tokens = max_tokens

    @property
    def identity(self) -> str:
        """Model, reply form, temperature and seed, as kept on every receipt."""
        sampling = f"t={self._temperature:g} seed={self._seed} max_tokens={self._max_tokens}"
        return f"{self._model.identity} {self._form.name} {sampling}"

    async def __call__(self, state: State, experiences: Sequence[Experience]) -> Answer:
        """Draft an allocation with ``experiences`` in the prompt."""
        messages = decision_messages(self._role, self._form, state, experiences)
        requests: list[str] = []
        usage = Usage()
        problem = ""
        for attempt in range(2):
            request = self._request(messages, state)
            requests.append(request.key)
            try:
                reply = await self._model.complete(request)
            except (OutageError, ProviderError, RecordingError):
                raise
            except ModelError as error:  # refused for good: only this draft is missing, and what it took is kept
                return Answer(weights=None, problem=str(error), usage=usage, requests=tuple(requests))
            usage += usage_of(reply, retry=attempt > 0)
            try:
                weights, reason = self._form.read(reply.text, state.assets)
            except ReplyError as error:
                problem = str(error)
                messages = (*messages, Message(role="assistant", content=reply.text), correction(problem))
            else:
                return Answer(weights=weights, reason=reason, usage=usage, requests=tuple(requests))
        return Answer(weights=None, problem=f"two invalid replies: {problem}", usage=usage, requests=tuple(requests))

    def _request(self, messages: tuple[Message, ...], state: State) -> Request:
        return Request(
            model=self._model.identity,
            messages=messages,
            temperature=self._temperature,
            seed=seed_of(self._seed, messages),
            max_tokens=self._max_tokens,
            grammar=self._form.grammar(state.assets) if self._model.grammatical else None,
        )
