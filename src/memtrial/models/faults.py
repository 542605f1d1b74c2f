"""What went wrong at a provider, in one line, without its key.

A fault of the set-up (key, model name, address) is a :class:`~memtrial.errors.ProviderError`, a fault of the moment
(overload, timeout) an :class:`~memtrial.errors.OutageError`. Both stop the decision before anything is stored: an
outage is nobody's decision. What the provider refuses or garbles for good is a plain
:class:`~memtrial.errors.ModelError`, and only that draft is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from memtrial.errors import ModelError, OutageError, ProviderError
from memtrial.models.providers import Provider

LONGEST_DETAIL = 200
SHORTEST_SECRET = 4


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Writes the errors of one model at one provider.

    ``secret`` is the key; it is cut out of whatever the provider answers.
    """

    provider: Provider
    model: str
    address: str
    secret: str | None = field(default=None, repr=False)

    def status(self, code: int, body: object) -> ModelError:
        """The error of an HTTP answer with status ``code`` and this ``body``."""
        who, detail = self._who, self._detail(body)
        lowered = detail.lower()
        if code in (401, 403) or (code == 400 and "api key" in lowered):
            hint = f"; check {self.provider.key_variable}" if self.provider.key_variables else ""
            return ProviderError(f"{who} refused the key (HTTP {code}){hint}")
        if code == 402 or (code in (400, 429) and ("quota" in lowered or "credit balance" in lowered)):
            return ProviderError(f"{who} has no credit or quota left for this key (HTTP {code}): {detail}")
        if code == 404:
            return ProviderError(
                f"{who} has no model {self.model!r} at {self._where} (HTTP 404): {detail}; "
                f"check the model name and the base URL"
            )
        if code in (400, 422) and "temperature" in lowered:
            return ProviderError(
                f"{who} does not take this temperature for {self.model}: {detail}; "
                f"draft with temperature 1 or choose a model that samples"
            )
        if code in (400, 422):
            return ModelError(f"{who} refused the request (HTTP {code}): {detail}")
        return OutageError(f"{who} answered HTTP {code}, retries included: {detail}; try again later")

    def timeout(self, seconds: float) -> OutageError:
        """The error of an answer that did not come."""
        return OutageError(f"{self._who} gave no answer within {seconds:g} s, retries included; try again later")

    def unreachable(self, error: BaseException) -> ProviderError:
        """The error of a server that is not there."""
        cause = error.__cause__ or error
        return ProviderError(
            f"{self._who} cannot be reached at {self._where} ({self._detail(str(cause) or type(cause).__name__)}); "
            f"is the server running and the base URL right?"
        )

    def strange(self, body: object) -> ModelError:
        """The error of an answer that is not of the protocol."""
        return ModelError(f"{self._who} answered outside the protocol: {self._detail(body)}")

    @property
    def _where(self) -> str:
        """The address without a name and password in it."""
        return re.sub(r"//[^/@]*@", "//", self.address)

    @property
    def _who(self) -> str:
        return self.provider.name

    def _detail(self, body: object) -> str:
        text = " ".join(_words(body).split())
        if self.secret is not None and len(self.secret) >= SHORTEST_SECRET:
            text = text.replace(self.secret, "[key]")
        return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 1] + "…"


def _words(body: object) -> str:
    """The human part of an error body: providers nest it differently."""
    if isinstance(body, Mapping):
        fields = cast("Mapping[str, object]", body)
        parts = [_words(fields[name]) for name in ("message", "error", "detail", "code") if fields.get(name)]
        return ", ".join(dict.fromkeys(part for part in parts if part)) or "no details"
    if body is None or body == "":
        return "no details"
    return str(body)
