"""``memtrial bench guarantee``: is memory without skill ever trusted?"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from memtrial.bench.guarantee import GuaranteeResult

RULE_WORDS = {
    "t_test": "t-test (paper)",
    "purse": "purse, no cap",
    "guarded": "guarded",
    "naive": "naive product",
}


def guarantee(
    lanes: Annotated[int, typer.Option(help="Histories of each kind.", min=1)] = 400,
    nulls: Annotated[str, typer.Option(help="Names apart by commas. Default: all.", metavar="LIST")] = "all",
    seed: Annotated[int, typer.Option(help="Seed of the histories.", min=0)] = 0,
    workers: Annotated[int | None, typer.Option(help="Histories at a time. Default: one per CPU.", min=1)] = None,
    executor: Annotated[
        Literal["serial", "joblib", "ray"], typer.Option(help="Where the work is done; the numbers are the same.")
    ] = "joblib",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Histories in which no memory is worth anything: how often is it trusted all the same?"""
    from memtrial.bench.executors import make_executor
    from memtrial.bench.guarantee import NULLS, run_guarantee

    named = tuple(dict.fromkeys(nulls.replace(",", " ").split()))
    result = run_guarantee(
        lanes=lanes,
        nulls=tuple(NULLS) if "all" in named else named,
        seed=seed,
        executor=make_executor(executor, workers=workers or os.cpu_count() or 1),
    )
    if as_json:
        sys.stdout.write(json.dumps(result.document(), indent=2) + "\n")
    else:
        _print(result)


def _print(result: GuaranteeResult) -> None:
    from rich.console import Console
    from rich.table import Table

    from memtrial.bench.guarantee import NULLS
    from memtrial.bench.report.typography import number

    table = Table(title=f"Memory without skill, {result.lanes} histories of each kind", title_justify="left")
    table.add_column("history")
    table.add_column("decisions", justify="right")
    for words in RULE_WORDS.values():
        table.add_column(f"{words}\never trusted %\n(weight %)", justify="right")
    for key, rules in result.nulls.items():
        null = NULLS[key]
        cells = [
            f"{number(rules[rule].ever_trusted_pct, 1)} ± {number(rules[rule].ever_trusted_se, 1)} "
            f"({number(rules[rule].weight_pct, 1)})"
            for rule in RULE_WORDS
        ]
        table.add_row(null.label + ("" if null.covered else " *"), str(null.dates), *cells)
    console = Console()
    console.print(table)
    console.print(
        "* not covered: contributions that differ in spread and are skewed can be ranked without being worth anything.",
        highlight=False,
    )
