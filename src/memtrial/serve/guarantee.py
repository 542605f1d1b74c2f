"""``memtrial bench guarantee``: is memory without skill ever trusted?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from memtrial.bench.guarantee import GuaranteeResult

RULE_WORDS = {"t_test": "t-test", "purse": "purse", "guarded": "guarded", "plain": "plain", "naive": "naive"}


def guarantee(
    lanes: Annotated[int, typer.Option(help="Histories of each kind.", min=1)] = 400,
    nulls: Annotated[str, typer.Option(help="Names apart by commas. Default: all.", metavar="LIST")] = "all",
    seed: Annotated[int, typer.Option(help="Seed of the histories.", min=0)] = 0,
    workers: Annotated[int | None, typer.Option(help="Histories at a time. Default: one per CPU.", min=1)] = None,
    executor: Annotated[
        Literal["serial", "joblib", "ray"], typer.Option(help="Where the work is done; the numbers are the same.")
    ] = "joblib",
    ray_address: Annotated[str | None, typer.Option(help="A running Ray cluster, or auto.", metavar="ADDRESS")] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the JSON document there.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Histories in which no memory is worth anything: how often is it trusted all the same?"""
    from memtrial.bench.executors import make_executor
    from memtrial.bench.guarantee import NULLS, run_guarantee

    named = tuple(dict.fromkeys(nulls.replace(",", " ").split()))
    chosen = tuple(NULLS) if "all" in named else named
    where = make_executor(
        executor,
        workers=workers if ray_address or executor == "serial" else workers or os.cpu_count() or 1,
        address=ray_address,
    )
    with _progress(lanes * len(chosen)) as advance:
        result = run_guarantee(lanes=lanes, nulls=chosen, seed=seed, executor=where, on_lane=advance)
    made = json.dumps(result.document(), indent=2) + "\n"
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(made, encoding="utf-8")
    if as_json:
        sys.stdout.write(made)
    else:
        _print(result)


@contextmanager
def _progress(total: int) -> Generator[Callable[[], None]]:
    """A bar on stderr with the time left; silent when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("histories"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bars:
        bar = bars.add_task("", total=total)
        yield lambda: bars.update(bar, advance=1)


def _print(result: GuaranteeResult) -> None:
    from rich.console import Console
    from rich.table import Table

    from memtrial.bench.guarantee import NULLS
    from memtrial.bench.report.typography import number

    table = Table(
        title=f"Ever trusted in full, % of {result.lanes} histories ± s.e. (mean share of the capital, %)",
        title_justify="left",
    )
    table.add_column("history")
    table.add_column("dates", justify="right")
    for words in RULE_WORDS.values():
        table.add_column(words, justify="right")
    for key, rules in result.nulls.items():
        null = NULLS[key]
        cells = [
            f"{number(rules[rule].ever_trusted_pct, 1)} ± {number(rules[rule].ever_trusted_se, 1)}\n"
            f"({number(rules[rule].weight_pct, 1)})"
            for rule in RULE_WORDS
        ]
        table.add_row(null.label + ("" if null.covered else " *"), str(null.dates), *cells)
    console = Console()
    console.print(table)
    for line in (
        "t-test: the paper's rule. purse: without cap. guarded: the preset. plain: the same, contributions pooled as "
        "they are. naive: a purse that bets while earlier bets are open.",
        "* not covered: contributions that differ in spread and are skewed can be ranked without being worth anything.",
    ):
        console.print(line, highlight=False)
