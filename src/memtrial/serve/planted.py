"""``memtrial bench planted``: plan, run with progress, print, report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtrial.errors import InputError

if TYPE_CHECKING:
    from memtrial.bench.planted import Plan, PlantedResult, Progress, RegimeResult, Setting


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What was asked for on the command line; ``None`` and empty where nothing was said."""

    worlds: int | None = None
    first_world: int | None = None
    regimes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    ablations: bool = False
    designs: bool = False
    weak_reference: bool = False
    reference: Literal["memory_free", "1/N"] | None = None
    mandate: bool | None = None
    k: int | None = None
    design: Literal["half", "full", "auto"] | None = None
    pool: str | None = None
    seed: int | None = None
    workers: int | None = None
    executor: Literal["serial", "joblib", "ray"] = "joblib"
    ray_address: str | None = None
    resume: Path | None = None
    out: Path | None = None
    as_json: bool = False

    @property
    def plans(self) -> bool:
        """Whether anything was said that determines the tables."""
        said = (self.reference, self.mandate, self.k, self.design, self.seed)
        flags = (self.regimes, self.methods, self.ablations, self.designs, self.weak_reference)
        return any(each is not None for each in said) or any(flags)


def run_bench(request: Request, *, cpus: int) -> None:
    """Run PlantedMem, print the tables or one JSON document, write the report."""
    from memtrial.bench.executors import make_executor
    from memtrial.bench.planted import document, run_planted

    workers = request.workers
    if workers is None and request.ray_address is None and request.executor != "serial":
        workers = cpus
    executor = make_executor(request.executor, workers=workers, address=request.ray_address)
    plan = plan_of(request)
    folder = folder_of(request, plan)
    try:
        with _progress() as advance:
            result = run_planted(plan, out=folder, executor=executor, on_progress=advance)
    except KeyboardInterrupt:
        sys.stderr.write(f"memtrial: interrupted; memtrial bench planted --resume {folder} goes on\n")
        raise
    report = _report(result)
    if request.as_json:
        made = document(result, report=str(report))
        sys.stdout.write(json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    else:
        _print(result, report)


def plan_of(request: Request) -> Plan:
    """The plan that was asked for; of a run that is resumed without further options, its own.

    Raises
    ------
    InputError
        When an option is out of range or contradicts another.
    """
    if request.resume is not None and request.out is not None:
        raise InputError("--resume and --out both name the folder of the run; give one of them")
    if request.resume is not None and not request.plans:
        return _kept_plan(request, request.resume)
    from memtrial.bench.methods import CONFIGURATIONS
    from memtrial.bench.planted import REGIMES, Setting, load_market, named_pool, named_regimes, plan_run
    from memtrial.bench.planted.plan import FIRST_WORLD

    setting = Setting(
        k=request.k or 4,
        design=request.design or "auto",
        reference=request.reference or "memory_free",
        mandate=bool(request.mandate),
    )
    return plan_run(
        regimes=named_regimes(split(request.regimes)) or tuple(REGIMES.values()),
        methods=named_methods(split(request.methods), ablations=request.ablations),
        paper_methods=tuple(CONFIGURATIONS) if request.ablations else (),
        setting=setting,
        pool=named_pool(request.pool or "calibrated", load_market().days),
        worlds=request.worlds or 100,
        first_world=FIRST_WORLD if request.first_world is None else request.first_world,
        seed=request.seed or 0,
        designs=request.designs,
        weak_reference=request.weak_reference,
    )


def _kept_plan(request: Request, folder: Path) -> Plan:
    from memtrial.bench.planted import Plan
    from memtrial.bench.planted.market import load_market
    from memtrial.bench.planted.plan import parts_of, read_manifest
    from memtrial.bench.planted.pools import pool_of_run

    kept = read_manifest(folder)
    return Plan(
        parts=parts_of(kept),
        worlds=request.worlds or int(kept["worlds"]),
        first_world=int(kept["first_world"]) if request.first_world is None else request.first_world,
        seed=int(kept["seed"]),
        pool=pool_of_run(str(kept["pool"]), request.pool, load_market().days),
    )


def split(names: Sequence[str]) -> tuple[str, ...]:
    """Names apart by commas, spaces or repetition, each once."""
    return tuple(dict.fromkeys(name for each in names for name in each.replace(",", " ").split()))


def named_methods(names: Sequence[str], *, ablations: bool) -> tuple[str, ...]:
    """Methods and configurations by name; ``all`` (or nothing) stands for every method.

    With ``ablations`` the switches of the two presets join them; all other configurations run in the paper's regimes.
    """
    from memtrial.bench.methods import METHODS, SWITCHES

    wanted = dict.fromkeys(each for name in names or ("all",) for each in (METHODS if name == "all" else (name,)))
    if ablations:
        wanted |= dict.fromkeys(SWITCHES)
    return tuple(wanted)


def folder_of(request: Request, plan: Plan) -> Path:
    """Where the run goes: the folder that was named, or one for exactly these options.

    Raises
    ------
    InputError
        When it cannot be made or written.
    """
    from memtrial.bench.planted.plan import EXTENSIBLE, manifest
    from memtrial.records import fingerprint

    named = request.resume or request.out
    if named is None:
        content = {key: value for key, value in manifest(plan).items() if key not in EXTENSIBLE}
        named = Path("out") / f"planted-{fingerprint(content)[:8]}"
    try:
        named.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {named} cannot be made ({error.strerror}); name another with --out") from error
    if not os.access(named, os.W_OK | os.X_OK):
        raise InputError(f"the folder {named} cannot be written; name another with --out")
    return named


@contextmanager
def _progress() -> Generator[Callable[[Progress], None]]:
    """A bar on stderr with the time left; silent when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:>24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, disable=not console.is_terminal, transient=True) as bars:
        bar = bars.add_task("worlds × regimes", total=None)

        def advance(progress: Progress) -> None:
            # What an earlier run did says nothing about the speed of this one.
            left = progress.total - progress.resumed
            last = progress.last
            where = "worlds × regimes" if last is None else f"world {last.world}, {last.regime.key}"
            bars.update(bar, total=left, completed=progress.done - progress.resumed, description=where)

        yield advance


def _report(result: PlantedResult) -> Path:
    """The HTML report, and each of its tables as Parquet, beside the shards."""
    from memtrial.bench.report.planted import write_planted_report, write_planted_tables

    write_planted_tables(result, result.folder / "tables")
    return write_planted_report(result, result.folder / "report.html")


def _print(result: PlantedResult, report: Path) -> None:
    from rich.console import Console

    from memtrial.bench.planted import CORE
    from memtrial.bench.report.planted.headline import ENOUGH

    console = Console()
    for setting in result.settings.values():
        console.print(_title(setting.setting, len(result.worlds)), highlight=False, markup=False)
        for keys in _columns(tuple(setting.regimes)):
            # The mean of the core regimes stands beside them.
            means = {name: each.utility for name, each in setting.core.items() if CORE[0] in keys}
            console.print(_table({key: setting.regimes[key] for key in keys}, means))
    few = len(result.worlds) < ENOUGH
    for line in (
        *(
            (f"{len(result.worlds)} worlds show the form of the evidence; a verdict needs at least {ENOUGH}.",)
            if few
            else ()
        ),
        f"{result.decisions:,} decisions in {result.seconds:.1f} s ({result.decisions_per_second:,.0f} a second)",
        f"Run: {result.folder}",
        f"Report: {report}",
    ):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _columns(keys: Sequence[str], width: int = 5) -> list[Sequence[str]]:
    return [keys[start : start + width] for start in range(0, len(keys), width)]


def _title(setting: Setting, worlds: int) -> str:
    design = setting.drafted
    return (
        f"PlantedMem, {worlds} worlds, {design.k} experiences, {design.kind} design ({design.n_drafts} drafts), "
        f"reference {setting.reference}, {'with' if setting.mandate else 'without'} mandate, pool {setting.pool}: "
        "utility, % a month"
    )


def _table(regimes: dict[str, RegimeResult], core: dict[str, float]) -> Any:
    """Utilities by method and regime; below each method that trusts, its trust rate."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from memtrial.bench.report.typography import number

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    for key in regimes:
        table.add_column(key.replace("_", "\n"), justify="right")
    if core:
        table.add_column("core", justify="right")
    rows = {name: figures.label for each in regimes.values() for name, figures in each.methods.items()}
    for name, label in (rows | {"reference": "Reference"}).items():
        found = [each.reference if name == "reference" else each.methods.get(name) for each in regimes.values()]
        mean = [number(core[name], 3)] if core else []
        table.add_row(label, *("" if figures is None else number(figures.utility, 3) for figures in found), *mean)
        if any(figures is not None and figures.trust_rate_pct for figures in found):
            trust = ("" if figures is None else number(figures.trust_rate_pct, 1) for figures in found)
            table.add_row("  trust rate, %", *trust, style="dim")
    return table
