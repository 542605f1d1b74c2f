"""Does memory help at all? A permutation test over the dates of a finished run."""

from memtrial.bench.permute.dates import TrialledDate, TrialledRun
from memtrial.bench.permute.document import document, sentences, verdict
from memtrial.bench.permute.permutation import Effect, Estimate, PermutationTest, permutation_test
from memtrial.bench.permute.planted import planted_runs
from memtrial.bench.permute.recorded import recorded_runs
from memtrial.bench.permute.replay import Replayed, replay

__all__ = [
    "Effect",
    "Estimate",
    "PermutationTest",
    "Replayed",
    "TrialledDate",
    "TrialledRun",
    "document",
    "permutation_test",
    "planted_runs",
    "recorded_runs",
    "replay",
    "sentences",
    "verdict",
]
