"""``memtrial explain``: one decision, whole."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import cast

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from memtrial.bench.report.sections.case import blend_utility, chosen, learner_words
from memtrial.bench.report.sections.purse import full_trust, veto_words
from memtrial.bench.report.typography import NBSP, counted, listed, number, percent, visible
from memtrial.records import Decision, Outcome, Verdict
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
    for line in (*_trust(verdict), _action(decision)):
        console.print(visible(line), markup=False)
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


def _trust(verdict: Verdict) -> Iterator[str]:
    """What the verdict rests on: the purse, the learner that spoke, the veto."""
    who = f"Values: {learner_words(verdict.learner)}; {counted(verdict.n_scores, 'forward score')}"
    mean = f", mean {number(verdict.mean_score, 2, sign=True)}" if verdict.n_scores else ""
    if verdict.rule != "purse":
        yield f"{who}{mean}"
        return
    share = percent(verdict.shares.get(verdict.learner), 0)
    wealth = f"Purse: 1 became {number(verdict.wealth, 2)}, {full_trust(verdict)} is full trust"
    yield f"{wealth}; memory moves {percent(verdict.weight, 1)} % of the capital"
    yield f"{who}{mean}; {share} % of the purse"
    if verdict.vetoed:
        yield f"Veto: {veto_words(verdict)}"
    if not verdict.bets:
        yield "No bet: an outcome before was still to come"


def _action(decision: Decision) -> str:
    """What was held, as a mix."""
    verdict = decision.verdict
    if decision.mean_draft is None:
        return "Action: the reference"
    mine = f"the draft of {_shown(chosen(verdict))}"
    if verdict.trusted:
        return f"Action: {mine}"
    weight, q = verdict.weight, (1 - verdict.weight) * verdict.reference_weight
    parts = [f"{weight:.3f} of {mine}"] if weight else []
    parts += [f"{q:.3f} of the reference", f"{1 - weight - q:.3f} of the average draft"]
    return f"Action: {listed(parts)}"


def _shown(ranks: tuple[int, ...]) -> str:
    return ", ".join(f"[{rank + 1}]" for rank in ranks) or "none"


def _drafts(decision: Decision, outcome: Outcome | None) -> Table:
    table = Table(title="Drafts (weights in %)", title_justify="left")
    table.add_column("experiences shown")
    for asset in decision.assets:
        table.add_column(escape(visible(asset)), justify="right")
    table.add_column("utility %", justify="right")
    for position, (draft, weights) in enumerate(zip(decision.drafts, decision.projected, strict=True)):
        earned = None if outcome is None else outcome.draft_utilities[position]
        mine = draft.subset == chosen(decision.verdict) and decision.verdict.total > 0
        table.add_row(
            _shown(draft.subset) + (_fate(decision.verdict) if mine else ""),
            *(["–"] * len(decision.assets) if weights is None else _percent(weights)),
            escape(visible(draft.problem or "")) or ("" if earned is None else percent(earned, 3, sign=True)),
        )
    table.add_row("reference", *_percent(decision.reference), "")
    _add_action(table, decision, outcome)
    return table


def _add_action(table: Table, decision: Decision, outcome: Outcome | None) -> None:
    """The anchored blend, and the mix with it where memory moves a part."""
    verdict, mean = decision.verdict, decision.mean_draft
    if verdict.trusted:
        return
    if mean is not None and verdict.weight > 0:
        q = verdict.reference_weight
        anchored = tuple(q * a + (1 - q) * b for a, b in zip(decision.reference, mean, strict=True))
        earned = None if outcome is None else blend_utility(outcome, q)
        share = f"anchored blend ({percent(1 - verdict.weight, 1)}{NBSP}%)"
        table.add_row(share, *_percent(anchored), "" if earned is None else percent(earned, 3, sign=True))
        name = "mix of both, deployed"
    else:
        name = "reference, deployed" if mean is None else "anchored blend, deployed"
    table.add_row(name, *_percent(decision.action), "" if outcome is None else percent(outcome.utility, 3, sign=True))


def _fate(verdict: Verdict) -> str:
    """What became of the draft that memory valued most."""
    if verdict.trusted:
        return " deployed"
    if verdict.weight > 0:
        return f" ({percent(verdict.weight, 1)}{NBSP}%)"
    return " vetoed" if verdict.vetoed else ""


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
            percent(decision.verdict.unit * values[item.rank], 4, sign=True),
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
