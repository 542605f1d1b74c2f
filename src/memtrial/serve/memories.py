"""``memtrial memories``: which memories were shown to help, which to harm, and which are not known."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtrial.trial import Standing

ORDER = ("harms", "helps", "not known")


def run_memories(
    db: str, *, scope: str | None, agent: str | None, as_of: datetime, alpha: float, holding: int | None, as_json: bool
) -> None:
    """Print the verdict on every memory of every agent in the store, or of the chosen ones."""
    from memtrial.bench.permute.recorded import agents_asked
    from memtrial.standings import standings
    from memtrial.store import Store

    with Store(db, create=False) as store:
        found = [
            (where, name, standings(store, scope=where, agent=name, as_of=as_of, alpha=alpha, holding=holding))
            for where, name in agents_asked(store, db, scope, agent)
        ]
    if as_json:
        agents = [
            {"scope": where, "agent": name, "memories": [_document(item) for item in judged]}
            for where, name, judged in found
        ]
        sys.stdout.write(
            json.dumps(
                {
                    "as_of": None if as_of.year == 9999 else as_of.isoformat(),
                    "alpha": alpha,
                    "agents": agents,
                },
                indent=2,
            )
            + "\n"
        )
        return
    measured = [one for one in found if one[2]]
    for where, name, judged in measured or found:
        _print(where, name, judged)


def _document(item: Standing) -> dict[str, Any]:
    return {**asdict(item), "evidence": item.evidence, "retire": item.retire}


def _print(scope: str, agent: str, judged: tuple[Standing, ...]) -> None:
    from rich.console import Console
    from rich.table import Table

    from memtrial.bench.report.typography import number, visible

    console = Console(highlight=False)
    console.print(visible(f"agent {agent}, scope {scope}: {_summary(judged)}"), markup=False)
    table = Table()
    table.add_column("memory", no_wrap=True)
    table.add_column("verdict")
    for heading in ("dates", "mean\npp / period", "evidence", "needed"):
        table.add_column(heading, justify="right")
    for item in sorted(judged, key=lambda item: (ORDER.index(item.verdict), -item.evidence, item.id))[:SHOWN]:
        table.add_row(
            visible(item.id),
            f"{item.verdict}, proposed for retirement" if item.retire else item.verdict,
            str(item.n),
            number(100 * item.mean, 3, sign=True),
            number(item.evidence, 1),
            number(item.needed, 0),
        )
    if judged:
        console.print(table)
    if len(judged) > SHOWN:
        console.print(f"… and {len(judged) - SHOWN} more; --json has all")


SHOWN = 20
"""Memories in a table."""


def _summary(judged: tuple[Standing, ...]) -> str:
    if not judged:
        return "no memory has been measured yet; a settled decision that recalled at least two measures them"
    counts = {verdict: sum(item.verdict == verdict for item in judged) for verdict in ORDER}
    return (
        f"{counts['helps']} of {len(judged)} memories were shown to help, {counts['harms']} to harm, "
        f"{counts['not known']} are not known"
    )
