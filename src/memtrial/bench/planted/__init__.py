"""PlantedMem: real prices, planted memories of known worth (paper §4.1, App. D.3), and regimes in which they turn."""

from memtrial.bench.planted.document import document
from memtrial.bench.planted.market import CLASSES, PlantedMarket, load_market
from memtrial.bench.planted.plan import Part, Plan, plan_run
from memtrial.bench.planted.pools import DirichletPool, Pool, WeightsPool, drafts_of, named_pool, read_pool
from memtrial.bench.planted.regimes import CORE, PAPER, REGIMES, TURNS, Regime, named_regimes
from memtrial.bench.planted.result import (
    CoreFigures,
    MethodFigures,
    PlantedResult,
    RegimeResult,
    SettingResult,
    TurnFigures,
    load,
)
from memtrial.bench.planted.run import Progress, run_planted
from memtrial.bench.planted.setting import Setting

__all__ = [
    "CLASSES",
    "CORE",
    "PAPER",
    "REGIMES",
    "TURNS",
    "CoreFigures",
    "DirichletPool",
    "MethodFigures",
    "Part",
    "Plan",
    "PlantedMarket",
    "PlantedResult",
    "Pool",
    "Progress",
    "Regime",
    "RegimeResult",
    "Setting",
    "SettingResult",
    "TurnFigures",
    "WeightsPool",
    "document",
    "drafts_of",
    "load",
    "load_market",
    "named_pool",
    "named_regimes",
    "plan_run",
    "read_pool",
    "run_planted",
]
