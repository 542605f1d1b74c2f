"""Ways to use memory, behind one contract, shared by every benchmark."""

from memtrial.bench.methods.anchored import Anchored
from memtrial.bench.methods.averages import DraftAveraging, SelfConsistency
from memtrial.bench.methods.configurations import (
    ABLATIONS,
    ANCHORED,
    CONFIGURATIONS,
    SENSITIVITY,
    SWITCHES,
    Configuration,
    make,
)
from memtrial.bench.methods.contract import Action, Deployment, Method, Occasion, Realised, Settlement, Valued
from memtrial.bench.methods.counterfactual import CounterfactualSelection
from memtrial.bench.methods.drafts import MemoryFree, SimilarityTop
from memtrial.bench.methods.hedge import Hedge
from memtrial.bench.methods.memtrial import Memtrial
from memtrial.bench.methods.outcome_credit import ExpeL, FinMem, MemRL
from memtrial.bench.methods.reflexion import Reflexion
from memtrial.bench.methods.registry import FAMILIES, METHODS, Maker
from memtrial.bench.methods.rules import LOOKBACK, EqualWeight, MinimumVariance
from memtrial.bench.methods.uplift import UpliftCredit

__all__ = [
    "ABLATIONS",
    "ANCHORED",
    "CONFIGURATIONS",
    "FAMILIES",
    "LOOKBACK",
    "METHODS",
    "SENSITIVITY",
    "SWITCHES",
    "Action",
    "Anchored",
    "Configuration",
    "CounterfactualSelection",
    "Deployment",
    "DraftAveraging",
    "EqualWeight",
    "ExpeL",
    "FinMem",
    "Hedge",
    "Maker",
    "MemRL",
    "MemoryFree",
    "Memtrial",
    "Method",
    "MinimumVariance",
    "Occasion",
    "Realised",
    "Reflexion",
    "SelfConsistency",
    "Settlement",
    "SimilarityTop",
    "UpliftCredit",
    "Valued",
    "make",
]
