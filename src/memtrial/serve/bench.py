"""``memtrial bench``: benchmarks on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

bench_app = typer.Typer(
    name="bench",
    help="Benchmarks: does memory help, and would memtrial notice when it does not?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

LISTS = ("--regimes", "--methods")


class Listed(TyperCommand):
    """A command whose list options take their names apart by commas, by spaces, or by repeating the option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the names after a list option before the options are read."""
        return super().parse_args(ctx, joined(args))


def joined(args: list[str]) -> list[str]:
    """``args`` with every name up to the next option joined to the first after a list option."""
    made: list[str] = []
    listing = False
    for arg in args:
        if arg.startswith("-"):
            listing = False
        elif listing and made[-1] not in LISTS:
            made[-1] += f",{arg}"
            continue
        made.append(arg)
        listing = listing or arg in LISTS
    return made


@bench_app.callback()
def bench() -> None:
    """Benchmarks: does memory help, and would memtrial notice when it does not?"""


@bench_app.command(cls=Listed)
def planted(
    worlds: Annotated[int | None, typer.Option(help="Number of worlds. Default: 100.", min=1)] = None,
    first_world: Annotated[
        int | None, typer.Option(help="Number of the first world. Default: 15, as in the paper.", min=0)
    ] = None,
    regimes: Annotated[
        list[str] | None,
        typer.Option(help="all, paper, core, turns, or names apart by commas or spaces. Default: all.", metavar="LIST"),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(help="all, or names of methods and configurations. Default: all.", metavar="LIST"),
    ] = None,
    ablations: Annotated[bool, typer.Option("--ablations", help="Add the configurations of memtrial.")] = False,
    designs: Annotated[bool, typer.Option("--designs", help="Add k = 2 to 6, half and full.")] = False,
    weak_reference: Annotated[bool, typer.Option("--weak-reference", help="Add 1/N as the reference.")] = False,
    reference: Annotated[
        Literal["memory_free", "1/N"] | None, typer.Option(help="Reference of the anchor. Default: memory_free.")
    ] = None,
    mandate: Annotated[
        bool | None, typer.Option("--mandate/--no-mandate", help="Project drafts to the mandates. Default: no.")
    ] = None,
    k: Annotated[int | None, typer.Option(help="Experiences retrieved on a date. Default: 4.", min=1, max=6)] = None,
    design: Annotated[
        Literal["half", "full", "auto"] | None, typer.Option(help="Which of their subsets are drafted. Default: auto.")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            help="Base allocations: calibrated, portbench, gpt-4.1-mini, or a CSV, Parquet or JSONL file of weights.",
            metavar="NAME|FILE",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all worlds. Default: 0.", min=0)] = None,
    workers: Annotated[int | None, typer.Option(help="Tasks at a time. Default: one per CPU.", min=1)] = None,
    executor: Annotated[
        Literal["serial", "joblib", "ray"], typer.Option(help="Where the work is done; the numbers are the same.")
    ] = "joblib",
    ray_address: Annotated[str | None, typer.Option(help="A running Ray cluster, or auto.", metavar="ADDRESS")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the run in this folder, as it was planned.", metavar="DIR")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run. Default: one for these options below out/.", metavar="DIR")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """PlantedMem: real prices, memories whose worth is known, every method side by side.

    Finished worlds are kept: the same command goes on where it was stopped.
    """
    from memtrial.serve.planted import Request, run_bench

    run_bench(
        Request(
            worlds=worlds,
            first_world=first_world,
            regimes=tuple(regimes or ()),
            methods=tuple(methods or ()),
            ablations=ablations,
            designs=designs,
            weak_reference=weak_reference,
            reference=reference,
            mandate=mandate,
            k=k,
            design=design,
            pool=pool,
            seed=seed,
            workers=workers,
            executor=executor,
            ray_address=ray_address,
            resume=resume,
            out=out,
            as_json=as_json,
        ),
        cpus=os.cpu_count() or 1,
    )
