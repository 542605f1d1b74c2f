"""ClassAlloc: an LLM allocates five asset classes for six years, month by month, with its memory on trial."""

from memtrial.bench.classalloc.document import document
from memtrial.bench.classalloc.drafter import Drafter, bundled_recording, drafter
from memtrial.bench.classalloc.result import (
    ClassAllocResult,
    CreditTable,
    InvestorResult,
    MethodResult,
    Month,
    Summary,
)
from memtrial.bench.classalloc.run import run_classalloc

__all__ = [
    "ClassAllocResult",
    "CreditTable",
    "Drafter",
    "InvestorResult",
    "MethodResult",
    "Month",
    "Summary",
    "bundled_recording",
    "document",
    "drafter",
    "run_classalloc",
]
