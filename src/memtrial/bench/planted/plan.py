"""What a run computes, and the manifest that says so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from memtrial.bench.methods import METHODS, Deployment, make
from memtrial.bench.planted.lane import REFERENCE
from memtrial.bench.planted.market import load_market
from memtrial.bench.planted.pools import DirichletPool, Pool
from memtrial.bench.planted.regimes import PAPER, REGIMES, Regime
from memtrial.bench.planted.setting import Setting
from memtrial.errors import InputError
from memtrial.portfolio import INVESTORS, TRADING_COST

FORMAT = 1
MANIFEST, TIMING, SHARDS = "manifest.json", "timing.json", "shards"

DESIGNS = ((2, "full"), (3, "half"), (3, "full"), (4, "half"), (4, "full"), (5, "half"), (6, "half"))
"""k and design of paper Table D.10."""
DESIGN_METHODS = ("self_consistency", "memtrial", "memtrial_guarded")
WEAK_METHODS = (
    "1/N",
    "draft_averaging",
    "memtrial_always_reference",
    "memtrial_never_trusts",
    "memtrial",
    "memtrial_uniform_prior",
    "memtrial_guarded",
)
"""Methods of paper Table D.15, and the guarded preset."""

ANCHOR = "memtrial_never_trusts"
"""The method whose utility is the anchor's."""

FIRST_WORLD = 15
"""Worlds 0 to 14 are for development, as in the paper; the tables are made of those from here on."""

LAST_WORLD = 2**31
"""World numbers stay below this."""

EXTENSIBLE = ("worlds", "first_world", "labels")
"""A run may go on with more worlds, or with other names on pages; whatever else differs is another run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One table: a setting, its regimes and its methods.

    Attributes
    ----------
    setting, regimes
        What the methods meet.
    methods
        Methods of every regime.
    paper_methods
        Further methods of the paper's own regimes: its tables have no others.
    """

    setting: Setting
    regimes: tuple[Regime, ...]
    methods: tuple[str, ...]
    paper_methods: tuple[str, ...] = ()

    def methods_in(self, regime: Regime) -> tuple[str, ...]:
        """The methods of one regime; where memories turn, the anchor is one of them, so that a loss can be measured."""
        further = self.paper_methods if regime.key in PAPER else (ANCHOR,) if regime.turns else ()
        return tuple(dict.fromkeys((*self.methods, *further)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One shard: a world under one regime and setting."""

    setting: Setting
    regime: Regime
    world: int
    methods: tuple[str, ...]
    seed: int

    @property
    def file(self) -> Path:
        """Its place below the shards."""
        return Path(self.setting.key) / self.regime.key / f"{self.world:05d}.parquet"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a run computes.

    Attributes
    ----------
    parts
        Tables; the first is the main one. No two have the same setting.
    worlds, first_world
        How many worlds, and the number of the first.
    seed
        Seed of all worlds.
    pool
        Where base allocations come from; every setting names its identity.
    """

    parts: tuple[Part, ...]
    worlds: int = 100
    first_world: int = FIRST_WORLD
    seed: int = 0
    pool: Pool = field(default_factory=DirichletPool)

    def __post_init__(self) -> None:
        if self.worlds < 1 or self.first_world < 0 or self.seed < 0 or self.first_world + self.worlds > LAST_WORLD:
            raise InputError(
                f"worlds = {self.worlds}, first world = {self.first_world}, seed = {self.seed}; at least one world is "
                f"needed, its number lies below {LAST_WORLD:,}, and neither number nor seed is negative"
            )
        if not self.parts or not all(part.regimes and part.methods for part in self.parts):
            raise InputError("nothing to compute; name at least one regime and one method")
        if len({part.setting.key for part in self.parts}) < len(self.parts):
            raise InputError("two parts of the plan have the same setting; join their regimes and methods")
        for part in self.parts:
            _check_part(part, self.pool)

    @property
    def numbers(self) -> range:
        """Numbers of the worlds."""
        return range(self.first_world, self.first_world + self.worlds)

    def tasks(self) -> Iterator[Task]:
        """All shards, world by world, so that an unfinished run has whole worlds."""
        for world in self.numbers:
            for part in self.parts:
                for regime in part.regimes:
                    yield Task(
                        setting=part.setting,
                        regime=regime,
                        world=world,
                        methods=part.methods_in(regime),
                        seed=self.seed,
                    )


def _check_part(part: Part, pool: Pool) -> None:
    if part.setting.pool != pool.identity:
        raise InputError(f"setting {part.setting.key} draws from {part.setting.pool}, the plan from {pool.identity}")
    keys = [regime.key for regime in part.regimes]
    methods = (*part.methods, *part.paper_methods)
    for what, names in (("regime", keys), ("method", methods)):
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"{what} {', '.join(repeated)} is named twice; name each once")
    if REFERENCE in methods:
        raise InputError(f"{REFERENCE!r} is recorded in every run; leave it out of the methods")
    for name in methods:
        make(name, Deployment(design=part.setting.design))


def plan_run(
    *,
    regimes: Sequence[Regime] = tuple(REGIMES.values()),
    methods: Sequence[str] = tuple(METHODS),
    paper_methods: Sequence[str] = (),
    setting: Setting | None = None,
    pool: Pool | None = None,
    worlds: int = 100,
    first_world: int = FIRST_WORLD,
    seed: int = 0,
    designs: bool = False,
    weak_reference: bool = False,
) -> Plan:
    """A plan with one main table, and the tables of other designs and of the weak reference beside it.

    Parameters
    ----------
    regimes, methods, paper_methods, setting
        The main table; ``paper_methods`` run in the paper's regimes only.
    pool
        Where base allocations come from; it overrides the setting's.
    worlds, first_world, seed
        As in :class:`Plan`.
    designs
        Add the settings of paper Table D.10, in the paper's regimes.
    weak_reference
        Add 1/N as the reference (paper Table D.15), in the paper's regimes.

    Raises
    ------
    InputError
        When a method is unknown or an option out of range.
    """
    source = pool or DirichletPool()
    main = replace(setting or Setting(), pool=source.identity)
    further = tuple(name for name in paper_methods if name not in methods)
    parts = [Part(setting=main, regimes=tuple(regimes), methods=tuple(methods), paper_methods=further)]
    papers = tuple(regime for regime in regimes if regime.key in PAPER)
    others = [(replace(main, k=k, design=kind), DESIGN_METHODS) for k, kind in (DESIGNS if designs else ())]
    others += [(replace(main, reference="1/N"), WEAK_METHODS)] if weak_reference else []
    taken = {main.key}
    for other, names in others:
        if other.key not in taken and papers:
            taken.add(other.key)
            parts.append(Part(setting=other, regimes=papers, methods=names))
    return Plan(parts=tuple(parts), worlds=worlds, first_world=first_world, seed=seed, pool=source)


def manifest(plan: Plan) -> dict[str, Any]:
    """Everything that determines the numbers of a run, as JSON can hold it."""
    names = dict.fromkeys(name for part in plan.parts for regime in part.regimes for name in part.methods_in(regime))
    document = {
        "format": FORMAT,
        "memtrial": metadata.version("memtrial"),
        "numpy": metadata.version("numpy"),
        "seed": plan.seed,
        "worlds": plan.worlds,
        "first_world": plan.first_world,
        "pool": plan.pool.identity,
        "market": load_market().identity,
        "trading_cost": TRADING_COST,
        "investors": {name: asdict(investor) for name, investor in INVESTORS.items()},
        "labels": {name: make(name, Deployment()).label for name in names},
        "parts": [
            {
                "setting": asdict(part.setting),
                "regimes": [asdict(regime) for regime in part.regimes],
                "methods": list(part.methods),
                "paper_methods": list(part.paper_methods),
            }
            for part in plan.parts
        ],
    }
    return cast("dict[str, Any]", json.loads(json.dumps(document)))


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the run in ``folder``.

    Raises
    ------
    InputError
        When there is none, or it cannot be read.
    """
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{folder} holds no PlantedMem run ({MANIFEST} is missing); name the folder of one") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}); start the run in another folder") from error
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("format") != FORMAT:
        raise InputError(f"{path} is not of format {FORMAT}; start the run in another folder")
    kept = cast("dict[str, Any]", document)
    try:
        parts, first, worlds = parts_of(kept), int(kept["first_world"]), int(kept["worlds"])
        sound = bool(parts) and first >= 0 and worlds >= 1 and int(kept["seed"]) >= 0 and isinstance(kept["pool"], str)
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        raise InputError(f"{path} is damaged ({error!r}); start the run in another folder") from error
    if not sound:
        raise InputError(f"{path} is damaged; start the run in another folder")
    return kept


def parts_of(document: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts that a manifest names."""
    return tuple(
        Part(
            setting=Setting(**part["setting"]),
            regimes=tuple(Regime(**regime) for regime in part["regimes"]),
            methods=tuple(part["methods"]),
            paper_methods=tuple(part["paper_methods"]),
        )
        for part in document["parts"]
    )


def refuse_another(kept: Mapping[str, Any], asked: Mapping[str, Any], folder: Path) -> None:
    """Raise InputError, naming the difference, unless both manifests give the same numbers."""
    for key in asked:
        if key in EXTENSIBLE or kept.get(key) == asked[key]:
            continue
        was, now = _difference(kept.get(key), asked[key])
        raise InputError(
            f"{folder} holds another run: its {key} is {was}, now it would be {now}; repeat its options, or choose "
            "another folder"
        )


def _difference(kept: object, asked: object) -> tuple[str, str]:
    """Both values in short: of parts, the first thing that differs."""
    both = (kept, asked)
    if all(isinstance(each, list) for each in both):
        return _first_difference(*cast("tuple[list[dict[str, Any]], list[dict[str, Any]]]", both))
    return _short(kept), _short(asked)


def _first_difference(kept: list[dict[str, Any]], asked: list[dict[str, Any]]) -> tuple[str, str]:
    if len(kept) != len(asked):
        return f"tables: {len(kept)}", f"tables: {len(asked)}"
    for was, now in zip(kept, asked, strict=True):
        for key in now:
            if was.get(key) != now[key]:
                return f"{key} {_short(was.get(key))}", f"{key} {_short(now[key])}"
    return _short(kept), _short(asked)


def _short(value: object) -> str:
    """A value on one line; of regimes only the keys, which is what options name."""
    if isinstance(value, list):
        rows = cast("list[Any]", value)
        return ", ".join(str(cast("dict[str, Any]", row)["key"]) if isinstance(row, dict) else str(row) for row in rows)
    return json.dumps(value, ensure_ascii=False)[:300]
