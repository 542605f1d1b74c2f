"""Pools of base allocations: where a memory-free draft is drawn from.

The paper draws from 2,828 logged allocations that are not published. The default here is the Dirichlet distribution
that was chosen because it meets the paper's memory-free, reference and beta = 0.5 figures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.market import CLASSES, PlantedMarket
from memtrial.errors import InputError, WeightsError

if TYPE_CHECKING:
    import polars

    from memtrial.policy import Policy

CALIBRATED = (0.56, 0.19, 0.05, 0.20)
"""Mean of the calibrated pool: equities, bonds, cash, commodities."""
CONCENTRATION = 8.0

BUNDLED = {"portbench": "portbench_allocations.parquet", "gpt-4.1-mini": "gpt-4.1-mini_drafts.parquet"}
"""Real logged allocations that ship with the package."""


class Pool(Protocol):
    """A source of memory-free drafts."""

    @property
    def identity(self) -> str:
        """Its name; equal identities draw equal allocations."""
        ...

    def draw(self, rng: np.random.Generator, days: Sequence[date], n: int) -> NDArray[np.float64]:
        """``n`` allocations for each day, (n_days, n, 4), each non-negative and summing to 1."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class DirichletPool:
    """Dirichlet(concentration times mean), the same on every date.

    Attributes
    ----------
    mean
        Mean allocation in the order of the classes.
    concentration
        Sum of the parameters; the larger, the more alike the drafts.
    """

    mean: tuple[float, ...] = CALIBRATED
    concentration: float = CONCENTRATION

    def __post_init__(self) -> None:
        if len(self.mean) != len(CLASSES) or min(self.mean) <= 0 or abs(sum(self.mean) - 1) > 1e-9:
            raise InputError(f"mean {self.mean}: give {len(CLASSES)} positive shares that sum to 1")
        if not 0 < self.concentration < np.inf:
            raise InputError(f"concentration {self.concentration} must be a positive number")

    @property
    def identity(self) -> str:
        """``calibrated``, or the parameters."""
        if self == DirichletPool():
            return "calibrated"
        return f"dirichlet({self.concentration:g}*{','.join(f'{share:g}' for share in self.mean)})"

    def draw(self, rng: np.random.Generator, days: Sequence[date], n: int) -> NDArray[np.float64]:
        """Independent draws."""
        return rng.dirichlet(self.concentration * np.array(self.mean), (len(days), n))


class WeightsPool:
    """Allocations that were logged, drawn with replacement.

    Parameters
    ----------
    weights
        The allocations, (n, 4) in the order of the classes.
    name
        Name on pages and in the manifest.
    days
        Date of each allocation; when given, a date draws from its own allocations only.

    Raises
    ------
    WeightsError
        When a row is no allocation.
    """

    def __init__(self, weights: NDArray[np.float64], *, name: str, days: Sequence[date] | None = None) -> None:
        self.weights = _allocations(np.asarray(weights, dtype=np.float64), name)
        self.name = name
        self.days = None if days is None else tuple(days)
        if self.days is not None and len(self.days) != len(self.weights):
            raise InputError(f"pool {name}: {len(self.days)} dates for {len(self.weights)} allocations; give one each")

    @property
    def identity(self) -> str:
        """Name and a checksum of the allocations."""
        content = self.weights.tobytes() + "".join(f"|{day}" for day in self.days or ()).encode()
        return f"{self.name}.{hashlib.sha256(content).hexdigest()[:12]}"

    def draw(self, rng: np.random.Generator, days: Sequence[date], n: int) -> NDArray[np.float64]:
        """Uniform draws with replacement."""
        position = rng.random((len(days), n))
        if self.days is None:
            return self.weights[(position * len(self.weights)).astype(np.int64)]
        rows: dict[date, list[int]] = {}
        for row, day in enumerate(self.days):
            rows.setdefault(day, []).append(row)
        if missing := [day for day in days if day not in rows]:
            raise InputError(
                f"pool {self.name} has no allocation for {missing[0]} and {len(missing) - 1} other decision dates; "
                "add them, or leave its dates out to draw from all rows on every date"
            )
        own = [np.array(rows[day]) for day in days]
        drawn = [mine[(u * len(mine)).astype(np.int64)] for mine, u in zip(own, position, strict=True)]
        return self.weights[np.array(drawn)]

    def write(self, path: Path) -> None:
        """Keep the pool as Parquet; :func:`read_pool` reads it back."""
        import polars

        dated = {} if self.days is None else {"date": list(self.days)}
        polars.DataFrame(dated | dict(zip(CLASSES, self.weights.T, strict=True))).write_parquet(path)


def named_pool(name: str, days: Sequence[date]) -> Pool:
    """``calibrated``, a bundled pool, or a file of weights.

    Raises
    ------
    InputError
        When there is no such pool or file.
    """
    if name == "calibrated":
        return DirichletPool()
    if name in BUNDLED:
        with resources.as_file(resources.files("memtrial.bench.planted") / "data" / BUNDLED[name]) as path:
            return _pool(_frame(path), name, ())
    path = Path(name)
    if not path.is_file():
        raise InputError(f"pool {name!r} is neither calibrated, {', '.join(BUNDLED)} nor a file; name one of these")
    return read_pool(path, days)


def pool_of_run(identity: str, name: str | None, days: Sequence[date]) -> Pool:
    """The pool a run drew from: the one called ``name``, or of the bundled ones the one it names.

    Raises
    ------
    InputError
        When it is not that pool, or not among the bundled ones.
    """
    for known in (name,) if name else ("calibrated", *BUNDLED):
        pool = named_pool(known, days)
        if pool.identity == identity:
            return pool
    raise InputError(f"the run draws from the pool {identity}; name its file with --pool")


def read_pool(path: Path, days: Sequence[date] = ()) -> WeightsPool:
    """A pool from a CSV, Parquet or JSONL file with one column per class.

    Other numeric columns are dropped and the four classes scaled to sum to 1. A ``date`` column counts when it covers
    every one of ``days``: each date then draws from its own rows; otherwise every date draws from all rows.

    Raises
    ------
    InputError
        When the file cannot be read, lacks a class, or a row is no allocation.
    """
    return _pool(_frame(path), path.stem, days)


def _pool(frame: polars.DataFrame, name: str, days: Sequence[date]) -> WeightsPool:
    if missing := [column for column in CLASSES if column not in frame.columns]:
        raise InputError(f"pool {name}: no column {', '.join(missing)}; name the columns {', '.join(CLASSES)}")
    try:
        weights = frame.select(CLASSES).to_numpy().astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"pool {name}: a weight is not a number ({error}); give fractions") from error
    dated = [] if "date" not in frame.columns else [str(day)[:10] for day in frame["date"].to_list()]
    if days and {str(day) for day in days} <= set(dated):
        return WeightsPool(_scaled(weights, name), name=name, days=[date.fromisoformat(day) for day in dated])
    return WeightsPool(_scaled(weights, name), name=name)


def _frame(path: Path) -> polars.DataFrame:
    import polars

    readers: dict[str, Any] = {
        ".csv": polars.read_csv,
        ".parquet": polars.read_parquet,
        ".jsonl": polars.read_ndjson,
        ".ndjson": polars.read_ndjson,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"pool {path}: files end with {', '.join(readers)}")
    try:
        with path.open("rb") as file:  # a path may hold what polars takes for a pattern
            return reader(file)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise InputError(f"pool {path} cannot be read ({' '.join(str(error).split())[:200]})") from error


def _scaled(weights: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        total = weights.sum(axis=1, keepdims=True)
    bad = np.flatnonzero(
        ~(np.isfinite(weights).all(axis=1) & (weights >= 0).all(axis=1) & (total[:, 0] > 0) & np.isfinite(total[:, 0]))
    )
    if bad.size:
        raise WeightsError(
            f"pool {name}, row {int(bad[0]) + 1}: {weights[bad[0]].tolist()} for {', '.join(CLASSES)} is no "
            "allocation; weights are finite, not negative, and not all zero"
        )
    return weights / total


def _allocations(weights: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if weights.ndim != 2 or weights.shape[1] != len(CLASSES) or not len(weights):
        raise WeightsError(f"pool {name}: weights have shape {weights.shape}; they must be (n, {len(CLASSES)}), n > 0")
    scaled = _scaled(weights, name)
    if (off := np.abs(weights.sum(axis=1) - 1.0)).max() > 1e-6:
        raise WeightsError(f"pool {name}, row {int(off.argmax()) + 1}: the weights do not sum to 1; scale them first")
    scaled.setflags(write=False)
    return scaled


async def drafts_of(policy: Policy, market: PlantedMarket, *, draws: int = 1, name: str | None = None) -> WeightsPool:
    """Memory-free drafts of any policy on every decision date, as a pool that draws by date.

    Parameters
    ----------
    policy
        Who drafts; it sees :meth:`PlantedMarket.state` and no experiences.
    market
        The dates.
    draws
        Drafts per date.
    name
        Name of the pool; by default the policy's.

    Raises
    ------
    InputError
        When ``draws`` is below 1, or a date got no valid draft.
    """
    from memtrial.policy import draft_all
    from memtrial.policy.contract import policy_identity

    if draws < 1:
        raise InputError(f"draws = {draws}; at least one draft per date is needed")
    weights: list[tuple[float, ...]] = []
    days: list[date] = []
    for month, day in enumerate(market.days):
        drafts = await draft_all(policy, market.state(month), (), [()] * draws)
        valid = [draft.weights for draft in drafts if draft.weights is not None]
        if not valid:
            raise InputError(f"{day}: the policy gave no valid draft ({drafts[0].problem}); ask for more draws")
        weights += valid
        days += [day] * len(valid)
    return WeightsPool(np.array(weights), name=name or policy_identity(policy), days=days)
