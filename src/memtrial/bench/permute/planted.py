"""Lanes of a PlantedMem run, made again from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtrial.bench.permute.dates import TrialledDate, TrialledRun
from memtrial.errors import InputError


def planted_runs(
    folder: Path,
    *,
    regime: str | None = None,
    world: int | None = None,
    investor: str | None = None,
    pool: str | None = None,
) -> tuple[TrialledRun, ...]:
    """What methods met in one world of the run in ``folder``, one deployment per investor.

    Parameters
    ----------
    folder
        A folder that PlantedMem wrote.
    regime, world
        Which lane; the regime may be left out when there is only one, the world is by default the first.
    investor
        One of the investors; by default all.
    pool
        The pool of base allocations, where the manifest's own name does not lead to it.

    Raises
    ------
    InputError
        The folder holds no such run or lane, or it was made from other prices or another pool.
    """
    from memtrial.bench.planted.episode import Episode
    from memtrial.bench.planted.market import load_market
    from memtrial.bench.planted.plan import parts_of, read_manifest
    from memtrial.bench.planted.pools import pool_of_run
    from memtrial.bench.planted.world import World
    from memtrial.portfolio import INVESTORS

    kept = read_manifest(folder)
    part = parts_of(kept)[0]
    regimes = {item.key: item for item in part.regimes}
    chosen = _named(folder, "regime", regime if regime or len(regimes) > 1 else next(iter(regimes)), regimes)
    market = load_market()
    if kept["market"] != market.identity:
        raise InputError(f"{folder} was made from other prices than this version has; run it again")
    first, worlds = int(kept["first_world"]), int(kept["worlds"])
    number = first if world is None else world
    if number not in range(first, first + worlds):
        raise InputError(f"{folder} has no world {number}; it has {first} to {first + worlds - 1}")
    people = INVESTORS if investor is None else {investor: _named(folder, "investor", investor, INVESTORS)}
    source = World(int(kept["seed"]), number, market=market, pool=pool_of_run(str(kept["pool"]), pool, market.days))
    episode = Episode(source, chosen, part.setting)
    return tuple(
        TrialledRun(
            name=f"{chosen.key}, world {number}, {name}",
            memory=f"world {number}",
            dates=tuple(
                _dated(realised, known) for realised, known in zip(episode.desk(person), market.known_at, strict=True)
            ),
        )
        for name, person in people.items()
    )


def _dated(realised: Any, known_at: Any) -> TrialledDate:
    occasion = realised.occasion
    return TrialledDate(
        decided_at=occasion.decided_at,
        known_at=known_at,
        ids=occasion.retrieved,
        features=occasion.features,
        design=occasion.design,
        utilities=realised.drafts,
    )


def _named(folder: Path, what: str, name: str | None, known: Mapping[str, Any]) -> Any:
    if name is None or name not in known:
        asked = f"no {what} {name!r}" if name else f"several {what}s, and none was named"
        raise InputError(f"{folder} has {asked}; choose one of {', '.join(known)}")
    return known[name]
