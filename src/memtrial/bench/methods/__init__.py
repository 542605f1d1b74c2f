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
from memtrial.trial import Settings

METHODS: Mapping[str, Callable[[Settings], Method]] = MappingProxyType(
    {
        "1/N": lambda _: EqualWeight(),
        "minimum_variance": lambda _: MinimumVariance(),
        "memory_free": lambda _: MemoryFree(),
        "top_2": lambda _: SimilarityTop(2),
        "top_4": lambda _: SimilarityTop(4),
        "draft_averaging": lambda _: DraftAveraging(),
        "counterfactual_selection": lambda _: CounterfactualSelection(),
        "memtrial": Memtrial,
        "memtrial_never_trusts": never_trusts,
    }
)
"""Every method by name; calling one with the settings of the trial makes a fresh deployment."""

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
