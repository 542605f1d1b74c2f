"""Every error memtrial raises on purpose.

    MemtrialError
    ├── InputError            what was given is wrong (also a ValueError)
    │   ├── WeightsError      weights that are not an allocation
    │   ├── PricesError       prices or returns that cannot be evaluated
    │   ├── TimeError         a time without a zone, or in the wrong order
    │   └── MandateError      a mandate that no portfolio can satisfy
    ├── DecisionError         a decision that is unknown, or was already settled
    ├── ModelError            a language model or embedder that cannot be asked
    │   ├── ProviderError     an unknown provider, a missing key, a missing extra
    │   ├── OutageError       a provider that does not answer for the moment: ask again
    │   ├── ReplyError        a reply that is not of the agreed form
    │   └── RecordingError    a recording that is damaged or lacks the request
    └── StoreError            a memory that cannot be opened, read or written

Every message says what was wrong, where, and what to do next.
"""

from __future__ import annotations


class MemtrialError(Exception):
    """Base of every error that memtrial raises on purpose."""


class InputError(MemtrialError, ValueError):
    """What was given is wrong."""


class WeightsError(InputError):
    """Weights that are not an allocation over the assets."""


class PricesError(InputError):
    """Prices or returns that cannot be evaluated (missing, infinite, misaligned)."""


class TimeError(InputError):
    """A time without a zone, or times in an impossible order."""


class MandateError(InputError):
    """A mandate that no portfolio can satisfy."""


class DecisionError(MemtrialError):
    """A decision that is unknown, or that was already settled."""


class ModelError(MemtrialError):
    """A language model or embedder that cannot be asked."""


class ProviderError(ModelError):
    """An unknown provider, a missing key or a missing extra."""


class OutageError(ModelError):
    """A provider that does not answer for the moment; asking again may do."""


class ReplyError(ModelError):
    """A reply that is not of the agreed form."""


class RecordingError(ModelError):
    """A recording that is damaged or that lacks the request."""


class StoreError(MemtrialError):
    """A memory that cannot be opened, read or written."""
