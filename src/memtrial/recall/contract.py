"""What every way to recall looks like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from memtrial.records import Recall, State

Recaller: TypeAlias = Callable[[State, int], Recall]
"""``(state, k)`` to the receipt of at most k experiences, all known by ``state.decided_at``, best first."""
