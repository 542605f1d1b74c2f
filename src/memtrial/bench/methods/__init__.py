"""Ways to use memory, behind one contract, shared by every benchmark."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from memtrial.bench.methods.baselines import (
    LOOKBACK,
    CounterfactualSelection,
    DraftAveraging,
    EqualWeight,
    MemoryFree,
    MinimumVariance,
    SimilarityTop,
)
from memtrial.bench.methods.contract import Action, Method, Occasion, Settlement
from memtrial.bench.methods.memtrial import Memtrial, never_trusts

METHODS: Mapping[str, Callable[[], Method]] = MappingProxyType(
    {
        "1/N": EqualWeight,
        "minimum_variance": MinimumVariance,
        "memory_free": MemoryFree,
        "top_2": lambda: SimilarityTop(2),
        "top_4": lambda: SimilarityTop(4),
        "draft_averaging": DraftAveraging,
        "counterfactual_selection": CounterfactualSelection,
        "memtrial": Memtrial,
        "memtrial_never_trusts": never_trusts,
    }
)
"""Every method by name; calling one makes a fresh deployment."""

__all__ = [
    "LOOKBACK",
    "METHODS",
    "Action",
    "CounterfactualSelection",
    "DraftAveraging",
    "EqualWeight",
    "MemoryFree",
    "Memtrial",
    "Method",
    "MinimumVariance",
    "Occasion",
    "Settlement",
    "SimilarityTop",
    "never_trusts",
]
