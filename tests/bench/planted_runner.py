"""A PlantedMem run in a process of its own, to be killed: ``python planted_runner.py FOLDER EXECUTOR WORKERS``."""

import sys
from pathlib import Path

from memtrial.bench.executors import make_executor
from memtrial.bench.planted import named_regimes, plan_run, run_planted

METHODS = ("memtrial", "memtrial_guarded", "memrl", "hedge")


def plan(worlds: int = 3, seed: int = 0):
    return plan_run(regimes=named_regimes(["no_influence", "beta_0.5"]), methods=METHODS, worlds=worlds, seed=seed)


def say(progress) -> None:
    sys.stdout.write(f"{progress.done}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    folder, name, workers = sys.argv[1:]
    run_planted(plan(), out=Path(folder), executor=make_executor(name, workers=int(workers)), on_progress=say)
