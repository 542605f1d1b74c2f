"""The command line: thin, and light to import; each command loads what it needs."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from memtrial.serve.bench import bench_app
from memtrial.serve.guarantee import guarantee
from memtrial.serve.permute import permute

app = typer.Typer(
    name="memtrial",
    help="The memory of an LLM agent that trades or allocates a portfolio, and the court that tries it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # help without rich loads in half the time
    pretty_exceptions_enable=False,
)

bench_app.command()(permute)
bench_app.command()(guarantee)
app.add_typer(bench_app)

Database = Annotated[str, typer.Option("--db", help="The memory: sqlite:///FILE.", metavar="URL")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
DEFAULT_DB = "sqlite:///memtrial.db"


def _print_version(asked: bool) -> None:
    if asked:
        from memtrial import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Remember decisions, recall both sides, measure what each memory changed, trust it only when it has earned it."""


@app.command()
def demo(
    policy: Annotated[
        str | None,
        typer.Option(help="Draft live: openai:MODEL, anthropic:MODEL, local:FILE.gguf, … Default: the recording."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server.")] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Recording to replay, or to add to with --policy.", metavar="FILE")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the report goes.", metavar="DIR")] = Path("out"),
    db: Database = DEFAULT_DB,
    form: Annotated[
        Literal["weights", "ratings"] | None, typer.Option(help="How the model answers. Default: by provider.")
    ] = None,
    experiences: Annotated[
        Literal["lesson", "record"] | None, typer.Option(help="What is remembered. Default: by provider.")
    ] = None,
    temperature: Annotated[float, typer.Option(help="Sampling temperature.", min=0.0)] = 0.7,
    seed: Annotated[int, typer.Option(help="Sampling seed of the deployment.", min=0)] = 0,
    max_tokens: Annotated[int, typer.Option(help="Longest reply; more for models that reason.", min=20)] = 200,
    months: Annotated[int | None, typer.Option(help="Only the first test months.", min=2, max=71)] = None,
    grow: Annotated[bool, typer.Option("--grow", help="Test months become experiences too.")] = False,
    design: Annotated[
        Literal["half", "full"], typer.Option(help="Draft half of the subsets of what is recalled, or all.")
    ] = "half",
    preset: Annotated[
        Literal["guarded", "paper"],
        typer.Option(help="How memory earns trust: by a purse that bets, or by the paper's t-test."),
    ] = "guarded",
    open_report: Annotated[bool, typer.Option("--open/--no-open", help="Open the report in a browser.")] = False,
    as_json: Json = False,
) -> None:
    """Real markets, real drafts, memory on trial: a report.

    An LLM portfolio agent decides every month for six years. By default its recorded drafts are replayed.
    """
    import os

    from memtrial.serve.demo import Request, run_demo

    run_demo(
        Request(
            policy=policy,
            base_url=base_url,
            recording=recording,
            out=out,
            db=db,
            form=form,
            experiences=experiences,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            months=months,
            grow=grow,
            design=design,
            preset=preset,
            open_report=open_report,
            as_json=as_json,
        ),
        environ=os.environ,
    )


@app.command()
def explain(
    decision: Annotated[str, typer.Argument(help="Id of a decision, or the beginning of one.")],
    db: Database = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """One decision whole: recall, drafts, verdict, outcome."""
    from memtrial.serve.explain import run_explain

    run_explain(decision, db=db, as_json=as_json)


@app.command()
def memories(
    db: Database = DEFAULT_DB,
    scope: Annotated[str | None, typer.Option(help="Only this scope. Default: that of the last run.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only this agent. Default: all of the scope.")] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(help="What was known by then (UTC). Default: everything.", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"]),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Largest expected share of false verdicts.", min=0.0, max=1.0)] = 0.05,
    holding: Annotated[
        int | None,
        typer.Option(help="Decisions until an outcome is known. Default: what it mostly was.", min=1, max=1000),
    ] = None,
    as_json: Json = False,
) -> None:
    """Which memories were shown to help, which to harm, and which are not known.

    Those that harm are proposed for retirement; nothing is removed.
    """
    from memtrial.serve.memories import run_memories

    run_memories(
        db,
        scope=scope,
        agent=agent,
        as_of=datetime.max.replace(tzinfo=UTC) if as_of is None else as_of.replace(tzinfo=UTC),
        alpha=alpha,
        holding=holding,
        as_json=as_json,
    )


def main() -> None:
    """Entry point: 0 on success, 2 on bad usage, 1 on failure with one clear line."""
    from memtrial.errors import MemtrialError

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        app()
    except MemtrialError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'a file'}: {error.strerror or error}")


def _fail(message: str) -> None:
    from memtrial.bench.report.typography import visible

    sys.stderr.write(f"memtrial: {' '.join(visible(message).split())}\n")
    raise SystemExit(1)
