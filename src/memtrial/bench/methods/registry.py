"""The fifteen methods of the paper (Table 3), and memtrial's own preset beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from memtrial.bench.methods.averages import DraftAveraging, SelfConsistency
from memtrial.bench.methods.contract import Deployment, Method
from memtrial.bench.methods.counterfactual import CounterfactualSelection
from memtrial.bench.methods.drafts import MemoryFree, SimilarityTop
from memtrial.bench.methods.hedge import Hedge
from memtrial.bench.methods.memtrial import Memtrial
from memtrial.bench.methods.outcome_credit import ExpeL, FinMem, MemRL
from memtrial.bench.methods.reflexion import Reflexion
from memtrial.bench.methods.rules import EqualWeight, MinimumVariance
from memtrial.bench.methods.uplift import UpliftCredit
from memtrial.trial import Settings

Maker = Callable[[Deployment], Method]
"""Makes a fresh deployment of a method."""


def _paper(deployment: Deployment) -> Method:
    settings = Settings.paper(design=deployment.design, dimensions=deployment.dimensions)
    return Memtrial(settings, name="memtrial", label="memtrial (paper)")


def _guarded(deployment: Deployment) -> Method:
    settings = Settings.guarded(design=deployment.design, dimensions=deployment.dimensions)
    return Memtrial(settings, name="memtrial_guarded", label="memtrial (guarded)")


METHODS: Mapping[str, Maker] = MappingProxyType(
    {
        "1/N": lambda _: EqualWeight(),
        "minimum_variance": lambda _: MinimumVariance(),
        "memory_free": lambda _: MemoryFree(),
        "self_consistency": lambda _: SelfConsistency(),
        "top_2": lambda _: SimilarityTop(2),
        "top_4": lambda _: SimilarityTop(4),
        "finmem": lambda _: FinMem(),
        "memrl": lambda deployment: MemRL(deployment.rng),
        "reflexion": lambda _: Reflexion(),
        "expel": lambda _: ExpeL(),
        "uplift_credit": lambda deployment: UpliftCredit(deployment.rng),
        "counterfactual_selection": lambda _: CounterfactualSelection(),
        "draft_averaging": lambda _: DraftAveraging(),
        "hedge": lambda deployment: Hedge(deployment.rng),
        "memtrial": _paper,
        "memtrial_guarded": _guarded,
    }
)
"""Every method by name, in the order of Table 3; calling one makes a fresh deployment."""

FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Rule-based": ("1/N", "minimum_variance"),
        "LLM without experience learning": ("memory_free", "self_consistency", "top_2", "top_4"),
        "Experience-learning agents": ("finmem", "memrl", "reflexion", "expel"),
        "Credit and ensembles": ("uplift_credit", "counterfactual_selection", "draft_averaging", "hedge"),
        "memtrial": ("memtrial", "memtrial_guarded"),
    }
)
"""The names of ``METHODS`` by family, in the same order."""
