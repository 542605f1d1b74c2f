"""Where independent tasks run: in this process, in worker processes, or on a Ray cluster.

Results come as they finish, in any order. A task must depend on its argument alone, so that every executor and number
of workers gives the same result; each runs with one BLAS thread.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from memtrial.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

CONNECT_SECONDS = 10.0
"""How long a named Ray cluster may take to answer."""


class Executor(Protocol):
    """Runs one task on many items."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def workers(self) -> int:
        """How many items it works on at a time; 0 when the cluster decides."""
        ...

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """Yield each item with its result as soon as it is there. Both must be picklable."""
        ...


def single_threaded(task: Callable[[Item], Result], item: Item) -> tuple[Item, Result]:
    """``task(item)`` with one BLAS thread."""
    from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs]

    with threadpool_limits(limits=1):
        return item, task(item)


@dataclass(frozen=True, slots=True)
class Serial:
    """One after the other, in this process."""

    @property
    def name(self) -> str:
        """``"serial"``."""
        return "serial"

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """In the order of ``items``."""
        for item in items:
            yield single_threaded(task, item)


@dataclass(frozen=True, slots=True)
class Joblib:
    """In worker processes of this machine.

    Attributes
    ----------
    workers
        Number of processes, at least 1.
    """

    workers: int

    @property
    def name(self) -> str:
        """``"joblib"``."""
        return "joblib"

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """As they finish."""
        import joblib  # pyright: ignore[reportMissingTypeStubs]

        library = cast("Any", joblib)  # it has no types
        with library.parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = library.Parallel(n_jobs=self.workers, return_as="generator_unordered", batch_size=1)
            yield from parallel(library.delayed(single_threaded)(task, item) for item in items)


@dataclass(frozen=True, slots=True)
class Ray:
    """On Ray: a cluster of this machine, or one that is named.

    Attributes
    ----------
    workers
        Number of items at a time; 0: as many as the cluster has CPUs.
    address
        Address of a running cluster, ``"auto"`` for the one of this machine; ``None`` starts one for the run. Every
        node of a cluster needs the same version of memtrial.
    """

    workers: int = 0
    address: str | None = None

    @property
    def name(self) -> str:
        """``"ray"``."""
        return "ray"

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        """As they finish."""
        ray = _ray(closed=self.address is None)
        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        try:
            yield from self._stream(ray, task, items)
        finally:
            if ours:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        try:
            if self.address is not None:
                _answers(self.address)
                ray.init(address=self.address, **quiet)
                return
            ray.init(address="local", num_cpus=self.workers or None, include_dashboard=False, **quiet)
        except Exception as error:  # Ray raises many kinds
            where = f"the Ray cluster {self.address}" if self.address else "a Ray cluster on this machine"
            raise InputError(
                f"{where} cannot be used ({' '.join(str(error).split())[:300]}); check the address and RAY_AUTH_MODE, "
                "or use --executor joblib"
            ) from error

    def _stream(self, ray: Any, task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
        remote = ray.remote(num_cpus=1, max_retries=3)(single_threaded)
        shared = ray.put(task)
        limit = 2 * (self.workers or max(1, int(ray.cluster_resources().get("CPU", 1))))
        waiting = list(reversed(items))
        running: list[Any] = []
        while waiting or running:
            while waiting and len(running) < limit:
                running.append(remote.remote(shared, waiting.pop()))
            done, running = ray.wait(running, num_returns=1)
            yield ray.get(done[0])


def _answers(address: str) -> None:
    """Raise OSError unless something listens at HOST:PORT: Ray itself would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        with socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS):
            pass


def _ray(*, closed: bool = False) -> Any:
    """The module; ``closed``: a cluster that this process starts takes orders from nobody else."""
    if closed and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        # Ray reads these when it is imported, and only then.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
    except ImportError as error:
        raise InputError(
            "the executor 'ray' needs the extra: pip install 'memtrial[ray]', or use --executor joblib"
        ) from error
    return ray


def make_executor(name: str, *, workers: int | None = None, address: str | None = None) -> Executor:
    """The executor called ``name``.

    Parameters
    ----------
    name
        ``"serial"``, ``"joblib"`` or ``"ray"``.
    workers
        Number of items at a time; by default one per CPU (for a named Ray cluster, one per CPU of the cluster).
    address
        Address of a running Ray cluster.

    Raises
    ------
    InputError
        When there is no such executor, Ray is not installed, or the options contradict each other.
    """
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: at least one worker is needed")
    if address is not None and name != "ray":
        raise InputError(f"--ray-address needs --executor ray, not {name}")
    if name == "serial":
        return Serial()
    if name == "joblib":
        return Joblib(workers or os.cpu_count() or 1)
    if name == "ray":
        ray = Ray(workers or (0 if address else os.cpu_count() or 1), address)
        _ray(closed=address is None)
        return ray
    raise InputError(f"executor {name!r} is unknown; use serial, joblib or ray")
