"""``memtrial demo``: the main job on real prices, with recorded or live drafts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import webbrowser
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtrial import __version__
from memtrial.errors import InputError

if TYPE_CHECKING:
    from memtrial.bench.classalloc import ClassAllocResult
    from memtrial.trial import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What was asked for on the command line."""

    policy: str | None
    base_url: str | None
    recording: Path | None
    out: Path
    db: str
    form: Literal["weights", "ratings"] | None
    experiences: Literal["lesson", "record"] | None
    temperature: float
    seed: int
    max_tokens: int
    months: int | None
    grow: bool
    design: Literal["half", "full"]
    preset: Literal["guarded", "paper"]
    open_report: bool
    as_json: bool


def run_demo(request: Request, *, environ: Mapping[str, str]) -> None:
    """Run ClassAlloc, write the report, print the table or one JSON document."""
    from memtrial.bench.classalloc import document, drafter, run_classalloc
    from memtrial.bench.report import write_report
    from memtrial.store import Store

    started = time.perf_counter()
    _prepare(request.out)
    who = drafter(
        request.policy,
        recording=request.recording,
        folder=request.out / "recordings",
        environ=environ,
        base_url=request.base_url,
        form=request.form,
        kind=request.experiences,
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.max_tokens,
    )
    with Store(request.db) as store, _progress(request) as advance:
        result = _interruptible(
            run_classalloc(
                who.policy,
                store=store,
                scope=f"classalloc {request.design} {who.scope} v{__version__} {request.preset}",
                months=request.months,
                grow=request.grow,
                settings=_settings(request),
                reflector=who.reflector,
                on_month=advance,
            )
        )
    report = write_report(
        result,
        request.out / "report.html",
        model_note=who.note,
        recording=who.recording.path.name,
        version=__version__,
    )
    seconds = time.perf_counter() - started
    if request.as_json:
        made = document(result, recording=str(who.recording.path), report=str(report), seconds=seconds)
        sys.stdout.write(json.dumps(made, indent=2) + "\n")
    else:
        _print_table(result, report, seconds)
    if request.open_report and _has_screen(environ):
        webbrowser.open(report.resolve().as_uri())


def _settings(request: Request) -> Settings:
    """The preset that is deployed.

    The guarded one keeps one purse, although an outcome is at times known only after the next decision: a purse that
    still waits sits that decision out, which costs a bet and never the guarantee.
    """
    from memtrial.trial import Settings

    made = Settings.paper if request.preset == "paper" else Settings.guarded
    return made(design=request.design)


def _interruptible(run: Coroutine[Any, Any, ClassAllocResult]) -> ClassAllocResult:
    try:
        return asyncio.run(run)
    except KeyboardInterrupt:
        sys.stderr.write("memtrial: interrupted; run the same command again to go on where it stopped\n")
        raise


def _prepare(out: Path) -> None:
    """Fail before the work, not after it, when the report cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out} cannot be made ({error.strerror}); name another folder") from error
    if not os.access(out, os.W_OK | os.X_OK) or (out / "report.html").is_dir():
        raise InputError(f"--out {out} cannot be written; name another folder")


def _has_screen(environ: Mapping[str, str]) -> bool:
    return sys.platform in {"darwin", "win32"} or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


@contextmanager
def _progress(request: Request) -> Generator[Callable[[str], None]]:
    """A bar on stderr with the time left; silent when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from memtrial.market.classalloc import load
    from memtrial.portfolio import INVESTORS

    splits = [date.split for date in load().decisions]
    months = request.months or splits.count("test")
    pools = len(INVESTORS) if request.grow else 1
    total = pools * splits.count("warmup") + len(INVESTORS) * months
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:>14}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("warmup", total=total)

        def advance(stage: str) -> None:
            bar.update(task, advance=1, description=stage)

        yield advance


def _title(result: ClassAllocResult) -> str:
    label = result.investors["balanced"].methods[result.deployed].label
    return f"ClassAlloc, balanced investor, {len(result.days)} months; deployed: {label}"


def _print_table(result: ClassAllocResult, report: Path, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    from memtrial.bench.report.sections.methods import TRUSTING
    from memtrial.bench.report.typography import number

    console = Console()
    table = Table(title=_title(result), title_justify="left")
    table.add_column("method", no_wrap=True)
    for heading in ("utility\n% / month", "return\n%", "Sharpe", "drawdown\n%", "memory\nmoved %"):
        table.add_column(heading, justify="right")
    for name, method in result.investors["balanced"].methods.items():
        figures = method.summary
        table.add_row(
            method.label,
            number(figures.utility_pct_month, 3),
            number(figures.cumulative_return_pct, 1),
            number(figures.sharpe, 2),
            number(figures.max_drawdown_pct, 1),
            number(figures.trust_rate_pct, 1) if name in TRUSTING else "",
            style="bold" if name == result.deployed else None,
        )
    console.print(table)
    console.print(f"Drafts by {result.policy}", highlight=False, markup=False)
    if result.missing_drafts:
        console.print(
            f"{result.missing_drafts} drafts had no valid answer; the report says which", highlight=False, markup=False
        )
    last = result.investors["balanced"].decisions[-1]
    console.print(f"Last verdict: memory {last.verdict.reason}", highlight=False, markup=False)
    console.print(f"One decision whole: memtrial explain {last.id}", highlight=False, markup=False)
    console.print(f"Report: {report}   ({seconds:.1f} s)", highlight=False, markup=False, soft_wrap=True)
