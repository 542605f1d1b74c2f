"""What PlantedMem costs: milliseconds per date of one investor and world, and how much of it is the benchmark's own.

Run ``python benchmarks/planted.py``. One BLAS thread, one process. The paper's table of 100 worlds, 7 regimes and 3
investors has 277,200 such dates, each with the decisions of all methods.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
FREE = ("memory_free",)
TABLE_DATES, CPUS, MINUTES = 100 * 7 * 3 * 132, 2, 4


def seconds_per_date(regime: str, methods: tuple[str, ...], worlds: int) -> float:
    """Seconds of one world, divided by its dates and investors."""
    from memtrial.bench.planted import REGIMES, DirichletPool, Setting, load_market
    from memtrial.bench.planted.episode import Episode
    from memtrial.bench.planted.lane import run_lane
    from memtrial.bench.planted.world import World

    market = load_market()
    began = time.perf_counter()
    for number in range(worlds):
        world = World(0, number, market=market, pool=DirichletPool())
        run_lane(Episode(world, REGIMES[regime], Setting()), methods)
    return (time.perf_counter() - began) / (worlds * 3 * market.n_dates)


def main() -> None:
    """Print the table."""
    from memtrial.bench.methods import METHODS
    from memtrial.bench.planted import PAPER

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worlds", type=int, default=4)
    options = parser.parse_args()
    seconds_per_date("beta_0.25", tuple(METHODS), 1)  # imports and caches
    print("ms per date (one investor, one world)")
    print(f"{'regime':>14} {'benchmark alone':>16} {f'{len(METHODS)} methods':>12}")
    whole: list[float] = []
    for regime in PAPER:
        alone = seconds_per_date(regime, FREE, options.worlds)
        whole.append(seconds_per_date(regime, tuple(METHODS), options.worlds))
        print(f"{regime:>14} {1e3 * alone:>16.3f} {1e3 * whole[-1]:>12.3f}")
    mean = sum(whole) / len(whole)
    allowed = 60 * MINUTES * CPUS / TABLE_DATES
    print(f"{'mean':>14} {'':>16} {1e3 * mean:>12.3f}   ({1e3 * allowed:.2f} for {MINUTES} minutes on {CPUS} CPUs)")
    print(f"the table of 100 worlds: {mean * TABLE_DATES / CPUS / 60:.1f} minutes on {CPUS} CPUs")


if __name__ == "__main__":
    if any(os.environ.get(name) != "1" for name in THREADS):
        # NumPy reads these when it is imported, so the program starts again with them.
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | dict.fromkeys(THREADS, "1"))
    main()
