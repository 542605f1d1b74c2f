"""memtrial: the memory of an LLM agent that trades or allocates a portfolio, and the court that tries it.

The public names. Importing the package loads none of them; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtrial.agent import Agent
    from memtrial.errors import (
        DecisionError,
        InputError,
        MandateError,
        MemtrialError,
        ModelError,
        OutageError,
        PricesError,
        ProviderError,
        RecordingError,
        ReplyError,
        StoreError,
        TimeError,
        WeightsError,
    )
    from memtrial.policy import Answer, LLMPolicy, Policy
    from memtrial.portfolio import AGGRESSIVE, BALANCED, CONSERVATIVE, INVESTORS, Investor, Mandate
    from memtrial.records import Decision, Draft, Experience, Outcome, Recall, State, Verdict
    from memtrial.store import Store
    from memtrial.trial import Settings, Trial

_HOMES = {
    "memtrial.agent": ("Agent",),
    "memtrial.errors": (
        "DecisionError",
        "InputError",
        "MandateError",
        "MemtrialError",
        "ModelError",
        "OutageError",
        "PricesError",
        "ProviderError",
        "RecordingError",
        "ReplyError",
        "StoreError",
        "TimeError",
        "WeightsError",
    ),
    "memtrial.policy": ("Answer", "LLMPolicy", "Policy"),
    "memtrial.portfolio": ("AGGRESSIVE", "BALANCED", "CONSERVATIVE", "INVESTORS", "Investor", "Mandate"),
    "memtrial.records": ("Decision", "Draft", "Experience", "Outcome", "Recall", "State", "Verdict"),
    "memtrial.store": ("Store",),
    "memtrial.trial": ("Settings", "Trial"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__version__ = "0.2.0"
__all__ = [
    "AGGRESSIVE",
    "BALANCED",
    "CONSERVATIVE",
    "INVESTORS",
    "Agent",
    "Answer",
    "Decision",
    "DecisionError",
    "Draft",
    "Experience",
    "InputError",
    "Investor",
    "LLMPolicy",
    "Mandate",
    "MandateError",
    "MemtrialError",
    "ModelError",
    "OutageError",
    "Outcome",
    "Policy",
    "PricesError",
    "ProviderError",
    "Recall",
    "RecordingError",
    "ReplyError",
    "Settings",
    "State",
    "Store",
    "StoreError",
    "TimeError",
    "Trial",
    "Verdict",
    "WeightsError",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'memtrial' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
