"""A process of its own that writes to a store and says what was acknowledged: ``store_writer.py FILE MODE NAME N``."""

from __future__ import annotations

import sys

from store_records import EMBEDDER, decision, experience, outcome, vector

from memtrial.store import Store

MEMORIES = tuple(experience(n) for n in range(4))


def say(*words: str) -> None:
    print(*words, flush=True)


def decisions(store: Store, count: int) -> None:
    """Decisions, and after each the outcome of the one before, from where the last process stopped."""
    store.add_experiences("s", [(item, vector(n)) for n, item in enumerate(MEMORIES)], embedder=EMBEDDER)
    first = len(list(store.journal("s", "a"))) // 2
    for n in range(max(first - 1, 0), first + count):
        taken = decision(n, MEMORIES)
        if store.decision(taken.id, as_of=taken.decided_at) is None:
            store.add_decision(taken)
            say("decision", taken.id)
        settled = outcome(taken)
        if store.outcome(taken.id, as_of=settled.known_at) is None:
            store.add_outcome(settled)
            say("outcome", taken.id)


def experiences(store: Store, name: str, count: int) -> None:
    for n in range(count):
        store.add_experience("s", experience(n, id=f"{name}-{n}"), embedder=EMBEDDER, vector=vector(n))
        say("experience", f"{name}-{n}")


def main(file: str, mode: str, name: str, count: str) -> None:
    with Store(file) as store:
        if mode == "decisions":
            decisions(store, int(count))
        else:
            experiences(store, name, int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
