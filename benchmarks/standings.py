"""A verdict per memory, measured where the truth is known: how often is one false, and how many are found?

Run ``python benchmarks/standings.py``. PlantedMem worlds, balanced investor, a look after every month. ``e`` is what
memtrial does (see ``memtrial.trial.standing``); ``t`` is the usual alternative: a two-sided t-test per memory over its
contributions, five at least, with the procedure of Benjamini and Yekutieli. Neutral memories that are called anything
count as false.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from memtrial.bench.planted import REGIMES, DirichletPool, Setting, load_market
from memtrial.bench.planted.episode import Episode
from memtrial.bench.planted.world import World
from memtrial.portfolio import INVESTORS
from memtrial.trial import Standings, centre, contributions

ALPHA = 0.05
ASKED = ("no_influence", "noise_only", "beta_0.25", "beta_0.5", "many")


def usual(measured: dict[str, list[float]]) -> dict[str, int]:
    """+1, -1 or 0 for each memory by t-tests with Benjamini-Yekutieli."""
    tested = {name: values for name, values in measured.items() if len(values) >= 5 and np.std(values) > 0}
    found = dict.fromkeys(measured, 0)
    if not tested:
        return found
    p = np.array([ttest_1samp(values, 0.0).pvalue for values in tested.values()])
    m = p.size
    order = np.argsort(p)
    limits = ALPHA * np.arange(1, m + 1) / (m * (1 / np.arange(1, m + 1)).sum())
    passing = np.flatnonzero(p[order] <= limits)
    for place in order[: passing[-1] + 1] if passing.size else []:
        name = list(tested)[place]
        found[name] = 1 if np.mean(tested[name]) > 0 else -1
    return found


def world(episode: Episode) -> dict[str, list[dict[str, int]]]:
    """The verdicts of both procedures after every month."""
    judged, measured = Standings(ALPHA), defaultdict[str, list[float]](list)
    looks: dict[str, list[dict[str, int]]] = {"e": [], "t": []}
    for month, realised in enumerate(episode.desk(INVESTORS["balanced"])):
        effects = contributions(realised.occasion.design, realised.drafts)
        if effects is not None:
            y = centre(effects)
            judged.observe(realised.occasion.retrieved, y, decision=month)
            for name, value in zip(realised.occasion.retrieved, y.tolist(), strict=True):
                measured[name].append(value)
        sign = {"helps": 1, "harms": -1, "not known": 0}
        looks["e"].append({item.id: sign[item.verdict] for item in judged.standing()})
        looks["t"].append(usual(measured))
    return looks


def figures(regime: str, worlds: int) -> dict[str, NDArray[np.float64]]:
    """Ever false, false share at the end, found at the end and half-way, in %, by procedure."""
    market, rows = load_market(), {"e": [], "t": []}
    for number in range(15, 15 + worlds):
        episode = Episode(World(0, number, market=market, pool=DirichletPool()), REGIMES[regime], Setting())
        for procedure, looks in world(episode).items():
            wrong = [
                sum(said != 0 and said != _truth(episode, month, name) for name, said in look.items())
                for month, look in enumerate(looks)
            ]
            given = sum(said != 0 for said in looks[-1].values())
            rows[procedure].append(
                [any(wrong), wrong[-1] / max(given, 1), _found(episode, looks, 131), _found(episode, looks, 65)]
            )
    return {procedure: 100 * np.array(found, float).mean(axis=0) for procedure, found in rows.items()}


def _truth(episode: Episode, month: int, name: str) -> int:
    return int(episode.quality[month, episode.ids.index(name)]) if episode.influence[month] else 0


def _found(episode: Episode, looks: list[dict[str, int]], month: int) -> float:
    known = [name for name in episode.ids if _truth(episode, month, name)]
    if not known:
        return float("nan")
    return sum(looks[month].get(name, 0) == _truth(episode, month, name) for name in known) / len(known)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worlds", type=int, default=100)
    options = parser.parse_args()
    print(f"{options.worlds} worlds, level {100 * ALPHA:g} %, in %: e / t")
    print(f"{'regime':>14} {'ever false':>14} {'false at end':>14} {'found at end':>14} {'found half-way':>14}")
    for regime in ASKED:
        found = figures(regime, options.worlds)
        cells = (f"{found['e'][i]:.0f} / {found['t'][i]:.0f}" if found["e"][i] >= 0 else "-" for i in range(4))
        print(f"{regime:>14} " + " ".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    main()
