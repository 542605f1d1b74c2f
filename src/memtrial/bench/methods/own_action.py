"""What a method remembers of an occasion travels with its action, and comes back with the outcome."""

from __future__ import annotations

from typing import TypeVar

from memtrial.bench.methods.contract import Action, Settlement
from memtrial.errors import InputError

A = TypeVar("A", bound=Action)


def own_action(settlement: Settlement, kind: type[A]) -> A:
    """The settled action, of the kind that the method returned.

    Raises
    ------
    InputError
        When it is of another kind.
    """
    if isinstance(settlement.action, kind):
        return settlement.action
    raise InputError(
        f"occasion {settlement.occasion.id}: a {kind.__name__} is settled, not a {type(settlement.action).__name__}; "
        "settle the very action that act() returned"
    )
