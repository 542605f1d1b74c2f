"""Start-up: ``import memtrial`` beside ``import numpy``, and ``memtrial --help`` beside ``import typer``.

Run ``python benchmarks/startup.py``. Fresh processes, taken in turn in one run; medians of wall time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
PYTHON = sys.executable
COMMANDS = {
    "python -c pass": [PYTHON, "-c", "pass"],
    "import numpy": [PYTHON, "-c", "import numpy"],
    "import memtrial": [PYTHON, "-c", "import memtrial"],
    "import typer": [PYTHON, "-c", "import typer"],
    "memtrial --help": [str(Path(PYTHON).parent / "memtrial"), "--help"],
}


def main() -> None:
    """Print the medians and the two ratios."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - started)
    median = {name: 1000 * statistics.median(times) for name, times in seconds.items()}
    for name, value in median.items():
        print(f"{name:<18} {value:7.1f} ms")
    print(f"import memtrial / import numpy  {median['import memtrial'] / median['import numpy']:.2f}  (at most 1)")
    print(f"memtrial --help / import typer  {median['memtrial --help'] / median['import typer']:.2f}  (at most 2)")


if __name__ == "__main__":
    main()
