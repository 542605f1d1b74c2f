"""Does the guarantee hold? Histories in which no memory is worth anything, judged by every rule."""

from memtrial.bench.guarantee.lane import RULES
from memtrial.bench.guarantee.nulls import NULLS, Null
from memtrial.bench.guarantee.run import GuaranteeResult, RuleFigures, run_guarantee

__all__ = ["NULLS", "RULES", "GuaranteeResult", "Null", "RuleFigures", "run_guarantee"]
