"""Markets: class indices, situations in words, and the bundled data."""

from memtrial.market.class_index import class_index
from memtrial.market.situation import class_situation

__all__ = ["class_index", "class_situation"]
