"""How memories are found: ``(state, k)`` to the receipt of what is shown."""

from memtrial.recall.contract import Recaller
from memtrial.recall.similar import SimilarityRecall

__all__ = ["Recaller", "SimilarityRecall"]
