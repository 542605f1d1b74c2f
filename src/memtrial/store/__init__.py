"""What an agent decided, what came of it and what it remembers: one database, read as it stood at a time."""

from memtrial.store.database import Store
from memtrial.store.rows import Basis, Contribution
from memtrial.store.vectors import ExactIndex

__all__ = ["Basis", "Contribution", "ExactIndex", "Store"]
