"""``memtrial bench permute``: does memory help at all, on any finished run?"""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from memtrial.bench.permute import PermutationTest, TrialledRun


def permute(
    run: Annotated[
        Path | None, typer.Argument(help="Folder of a PlantedMem run. Default: the store.", metavar="[DIR]")
    ] = None,
    db: Annotated[
        str, typer.Option("--db", help="The memory: sqlite:///FILE.", metavar="URL")
    ] = "sqlite:///memtrial.db",
    scope: Annotated[
        str | None, typer.Option(help="Only this scope of the store. Default: that of the last run.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only this agent of the store. Default: all of the scope.")] = None,
    regime: Annotated[str | None, typer.Option(help="Regime of the PlantedMem run.")] = None,
    world: Annotated[int | None, typer.Option(help="World of the PlantedMem run. Default: its first.", min=0)] = None,
    investor: Annotated[str | None, typer.Option(help="Investor of the PlantedMem run. Default: all.")] = None,
    pool: Annotated[
        str | None, typer.Option(help="File of base allocations the PlantedMem run drew from.", metavar="FILE")
    ] = None,
    permutations: Annotated[int, typer.Option(help="Number of shuffles.", min=1)] = 999,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Does memory help at all? A permutation test on a finished run.

    Within every date it is shuffled which memory is which, and all values are learned anew.
    """
    from memtrial.errors import InputError

    misplaced = _misplaced(run, scope=scope, agent=agent, regime=regime, world=world, investor=investor, pool=pool)
    if misplaced:
        raise InputError(misplaced)
    if run is not None and (run.is_file() or "://" in str(run) or str(run).startswith("sqlite:")):
        raise InputError(f"{run} is not the folder of a PlantedMem run; for a store, say --db {run}")
    if run is None:
        from memtrial.bench.permute.recorded import recorded_runs

        runs = recorded_runs(db, scope=scope, agent=agent)
    else:
        from memtrial.bench.permute.planted import planted_runs

        runs = planted_runs(run, regime=regime, world=world, investor=investor, pool=pool)
    _report(_tested(runs, permutations, seed), as_json=as_json)


def _misplaced(run: Path | None, **given: object) -> str | None:
    """What does not go together, in words."""
    foreign = ("regime", "world", "investor", "pool") if run is None else ("scope", "agent")
    named = [f"--{name}" for name in foreign if given[name] is not None]
    if not named:
        return None
    where = "a PlantedMem run; name its folder" if run is None else "a store; leave the folder out"
    return f"{', '.join(named)} chooses from {where}"


def _tested(runs: tuple[TrialledRun, ...], permutations: int, seed: int) -> PermutationTest:
    """The test, with a bar on stderr; silent when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from memtrial.bench.permute.permutation import permutation_test

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("decisions", total=sum(len(run.dates) for run in runs))
        return permutation_test(
            runs, permutations=permutations, seed=seed, on_date=lambda part: bar.advance(task, part)
        )


def _report(result: PermutationTest, *, as_json: bool) -> None:
    import json

    from memtrial.bench.permute.document import document, sentences
    from memtrial.bench.report.typography import visible

    if as_json:
        typer.echo(json.dumps(document(result), indent=2))
    else:
        lines = [visible(line) for line in sentences(result)]
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns
            lines = [textwrap.fill(line, width, break_long_words=False) for line in lines]
        typer.echo("\n".join(lines))
