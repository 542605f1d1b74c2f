"""Small PlantedMem worlds for tests."""

from memtrial.bench.planted.episode import Episode
from memtrial.bench.planted.market import load_market
from memtrial.bench.planted.pools import DirichletPool, Pool
from memtrial.bench.planted.regimes import REGIMES, Regime
from memtrial.bench.planted.setting import Setting
from memtrial.bench.planted.world import World


def world(number: int = 0, *, seed: int = 0, pool: Pool | None = None) -> World:
    return World(seed, number, market=load_market(), pool=pool or DirichletPool())


def episode(
    regime: str | Regime = "beta_0.5", *, number: int = 0, setting: Setting | None = None, pool: Pool | None = None
) -> Episode:
    made = regime if isinstance(regime, Regime) else REGIMES[regime]
    return Episode(world(number, pool=pool), made, setting or Setting())
