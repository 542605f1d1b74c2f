"""Run PlantedMem: every world, regime and setting of a plan, resumable, on any executor."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from memtrial.bench.executors import Executor, Serial
from memtrial.bench.planted.aggregate import aggregate
from memtrial.bench.planted.episode import Episode
from memtrial.bench.planted.lane import LaneRecord, run_lane
from memtrial.bench.planted.market import load_market
from memtrial.bench.planted.plan import (
    MANIFEST,
    SHARDS,
    TIMING,
    Plan,
    Task,
    manifest,
    read_manifest,
    refuse_another,
)
from memtrial.bench.planted.pools import Pool
from memtrial.bench.planted.regimes import MONTHS
from memtrial.bench.planted.result import PlantedResult
from memtrial.bench.planted.shards import is_whole, write_shard
from memtrial.bench.planted.world import World
from memtrial.portfolio import INVESTORS


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a run is: shards done of all, those that were there before it started, and the last one done."""

    done: int
    total: int
    resumed: int
    last: Task | None = None


def run_planted(
    plan: Plan,
    *,
    out: Path,
    executor: Executor | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> PlantedResult:
    """Compute every shard of ``plan`` that ``out`` does not hold yet, and return what the run found.

    The numbers do not depend on the executor, on the number of workers, or on interruptions. A shard that is
    unfinished or damaged is computed again.

    Parameters
    ----------
    plan
        What to compute.
    out
        Folder of the run; one that holds the beginning of the same run is continued, also with more worlds.
    executor
        Where the work is done; by default in this process.
    on_progress
        Called before the first shard and after each.
    clock
        Seconds, for the time that is reported.

    Raises
    ------
    InputError
        When ``out`` holds another run; the message names the difference.
    """
    started = clock()
    asked = manifest(plan)
    _enter(out, asked)
    tasks = tuple(plan.tasks())
    missing = [task for task in tasks if not is_whole(out / SHARDS / task.file, task)]
    report = on_progress or _silent
    resumed = done = len(tasks) - len(missing)
    report(Progress(done=done, total=len(tasks), resumed=resumed))
    decisions = 0
    try:
        for task, record in (executor or Serial()).run(partial(compute, pool=plan.pool), missing):
            write_shard(out / SHARDS / task.file, task, record)
            done += 1
            decisions += len(INVESTORS) * len(task.methods) * MONTHS
            report(Progress(done=done, total=len(tasks), resumed=resumed, last=task))
    finally:
        _add_time(out, clock() - started if missing else 0.0, decisions)
    return aggregate(out)


def compute(task: Task, pool: Pool) -> LaneRecord:
    """One shard."""
    world = World(task.seed, task.world, market=load_market(), pool=pool)
    return run_lane(Episode(world, task.regime, task.setting), task.methods)


def _enter(out: Path, asked: dict[str, Any]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if (out / MANIFEST).exists():
        kept = read_manifest(out)
        refuse_another(kept, asked, out)
        if kept == asked:
            return
    _replace(out / MANIFEST, asked)


def _add_time(out: Path, seconds: float, decisions: int) -> None:
    """Add to the time that was spent on the run so far."""
    try:
        kept = cast("dict[str, Any]", json.loads((out / TIMING).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        kept = {}
    total = {
        "seconds": float(kept.get("seconds", 0.0)) + seconds,
        "decisions": int(kept.get("decisions", 0)) + decisions,
    }
    _replace(out / TIMING, total)


def _replace(path: Path, document: dict[str, Any]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def _silent(progress: Progress) -> None:
    del progress
