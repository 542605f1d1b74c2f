"""``memtrial explain``: one decision, whole."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import cast

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from memtrial.bench.report.typography import percent, visible
from memtrial.records import Decision, Outcome
from memtrial.store import Store

END = datetime.max.replace(tzinfo=UTC)


def run_explain(prefix: str, *, db: str, as_json: bool) -> None:
    """Print the decision whose id begins with ``prefix``."""
    with Store(db, create=False) as store:
        decision = store.find_decision(prefix, as_of=END)
        outcome = store.outcome(decision.id, as_of=END)
    if as_json:
        content = {"decision": asdict(decision), "outcome": None if outcome is None else asdict(outcome)}
        sys.stdout.write(json.dumps(_plain(content), indent=2) + "\n")
    else:
        _print(decision, outcome)


def _print(decision: Decision, outcome: Outcome | None) -> None:
    console = Console(highlight=False)
    verdict = decision.verdict
    console.print(f"[bold]Decision {decision.id}[/bold]  {decision.decided_at:%Y-%m-%d %H:%M} UTC")
    who = f"agent {decision.agent}, scope {decision.scope}, policy {decision.policy}"
    console.print(visible(who), markup=False)
    console.print(visible(f"mandate {decision.mandate}; risk aversion {decision.risk_aversion:g}"), markup=False)
    console.print(visible(decision.situation), markup=False)
    console.print(f"\nVerdict: memory {visible(verdict.reason)}", markup=False)
    if decision.mean_draft is None:
        console.print("Action: the reference")
    elif not verdict.trusted:
        q = verdict.reference_weight
        console.print(f"Action: {q:.3f} of the reference and {1 - q:.3f} of the average draft")
    console.print(_drafts(decision, outcome))
    console.print(_experiences(decision, outcome))
    if outcome is None:
        console.print("No outcome yet.")
    else:
        console.print(
            f"Outcome known {outcome.known_at:%Y-%m-%d %H:%M} UTC: utility {percent(outcome.utility, 3, sign=True)} %"
        )
    use = decision.usage
    cost = "cost not known" if use.cost_usd is None else f"{use.cost_usd:.4f} USD"
    console.print(
        f"{use.calls} replies ({use.replayed} replayed, {use.retries} retries), {use.input_tokens} tokens in "
        f"({use.cached_tokens} cached), {use.output_tokens} out, {cost}; prompt {decision.prompt[:12]}"
    )


def _drafts(decision: Decision, outcome: Outcome | None) -> Table:
    table = Table(title="Drafts (weights in %)", title_justify="left")
    table.add_column("experiences shown")
    for asset in decision.assets:
        table.add_column(escape(visible(asset)), justify="right")
    table.add_column("utility %", justify="right")
    for position, (draft, weights) in enumerate(zip(decision.drafts, decision.projected, strict=True)):
        earned = None if outcome is None else outcome.draft_utilities[position]
        chosen = decision.verdict.trusted and draft.subset == decision.verdict.subset
        name = ", ".join(f"[{rank + 1}]" for rank in draft.subset) or "none"
        table.add_row(
            name + (" deployed" if chosen else ""),
            *(["–"] * len(decision.assets) if weights is None else _percent(weights)),
            escape(visible(draft.problem or "")) or ("" if earned is None else percent(earned, 3, sign=True)),
        )
    table.add_row("reference", *_percent(decision.reference), "")
    if not decision.verdict.trusted:
        mine = "" if outcome is None else percent(outcome.utility, 3, sign=True)
        name = "reference, deployed" if decision.mean_draft is None else "anchored blend, deployed"
        table.add_row(name, *_percent(decision.action), mine)
    return table


def _experiences(decision: Decision, outcome: Outcome | None) -> Table:
    table = Table(title="Experiences recalled", title_justify="left")
    for heading in ("", "similarity", "value %", "contribution %"):
        table.add_column(heading, justify="right")
    table.add_column("text")
    values = decision.verdict.values[decision.verdict.learner]
    effects = None if outcome is None else outcome.contributions
    for item in decision.recall.shown:
        table.add_row(
            f"[{item.rank + 1}]",
            f"{item.similarity:.3f}",
            percent(values[item.rank], 4, sign=True),
            "" if effects is None else percent(effects[item.rank], 3, sign=True),
            escape(visible(item.experience.text)),
        )
    return table


def _percent(weights: tuple[float, ...]) -> list[str]:
    return [percent(weight, 1) for weight in weights]


def _plain(value: object) -> object:
    """``value`` as JSON: times as ISO text, what is not a number as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value
