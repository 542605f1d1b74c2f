"""One file per world, regime and setting: written whole or not at all, checked when read."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from memtrial.bench.planted.lane import REFERENCE, YEAR_ENDS, LaneRecord
from memtrial.bench.planted.plan import Task
from memtrial.bench.planted.regimes import MONTHS
from memtrial.errors import InputError
from memtrial.portfolio import BALANCED, INVESTORS

COLUMNS = ("world", "regime", "investor", "month", "method", "utility", "memory_weight", "rank_correlation")
"""Columns of a shard; ``utility`` is a fraction per month, ``rank_correlation`` is null but at the ends of years."""


NUMBERS = ("utility", "memory_weight", "rank_correlation")


def write_shard(path: Path, task: Task, record: LaneRecord) -> None:
    """Write the shard of ``task``: a row per investor, method and month, in this order."""
    import polars

    investors, methods, months = record.utility.shape
    correlation = np.full(record.utility.shape, np.nan)
    balanced = list(INVESTORS).index(BALANCED.name)
    correlation[balanced][:, list(YEAR_ENDS)] = record.rank_correlation
    rows = investors * methods * months
    frame = polars.DataFrame(
        {
            "world": np.full(rows, task.world, dtype=np.int32),
            "regime": polars.repeat(task.regime.key, rows, eager=True),
            "investor": polars.Series(np.repeat(list(INVESTORS), methods * months).tolist()),
            "month": np.tile(np.arange(months, dtype=np.int16), investors * methods),
            "method": polars.Series(np.tile(np.repeat(record.methods, months), investors).tolist()),
            "utility": record.utility.ravel(),
            "memory_weight": record.memory_weight.ravel(),
            "rank_correlation": polars.Series(correlation.ravel()).fill_nan(None),
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            frame.write_parquet(file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_shard(path: Path, task: Task) -> LaneRecord:
    """The record of ``task``.

    Raises
    ------
    InputError
        When the file is missing, damaged, or of another task.
    """
    import polars

    try:
        with path.open("rb") as file:  # a path may hold what polars takes for a pattern
            frame = polars.read_parquet(file)
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing; resume the run to compute it") from error
    except (polars.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path} is damaged ({' '.join(str(error).split())[:200]}); resume the run") from error
    methods = (*task.methods, REFERENCE)
    shape = (len(INVESTORS), len(methods), MONTHS)
    kinds = {frame.schema[name] for name in NUMBERS if name in frame.columns}
    if tuple(frame.columns) != COLUMNS or kinds != {polars.Float64} or frame.height != int(np.prod(shape)):
        raise InputError(f"{path} has other columns or rows than this run writes; resume the run")
    if frame["month"].to_list() != list(range(MONTHS)) * (frame.height // MONTHS):
        raise InputError(f"{path} has other months than this run writes; resume the run")
    written = frame.select("world", "regime").row(0)
    held = tuple(frame["method"].gather_every(MONTHS).head(len(methods)).to_list())
    if written != (task.world, task.regime.key) or held != methods:
        raise InputError(f"{path} is of world {written[0]}, regime {written[1]}, or of other methods; resume the run")
    utility, weight = (frame[name].to_numpy().reshape(shape) for name in ("utility", "memory_weight"))
    if not (np.isfinite(utility).all() and ((weight >= 0) & (weight <= 1)).all()):
        raise InputError(f"{path} has missing or impossible numbers; resume the run")
    correlation = frame["rank_correlation"].fill_null(np.nan).to_numpy().reshape(shape)
    balanced = list(INVESTORS).index(BALANCED.name)
    return LaneRecord(
        methods=methods,
        utility=utility,
        memory_weight=weight,
        rank_correlation=correlation[balanced][:, list(YEAR_ENDS)],
    )


def is_whole(path: Path, task: Task) -> bool:
    """Whether the shard of ``task`` is there and can be read."""
    try:
        read_shard(path, task)
    except InputError:
        return False
    return True
