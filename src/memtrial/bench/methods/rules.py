"""Rule-based methods: portfolios that need neither a model nor a memory (paper, Appendix D.2)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Action, Occasion, Settlement
from memtrial.portfolio import minimum_variance

LOOKBACK = 60
"""Daily returns that minimum variance is estimated from."""


class EqualWeight:
    """1/N, projected to the mandate (DeMiguel et al., 2009)."""

    name, label = "1/N", "1/N"

    def act(self, occasion: Occasion) -> Action:
        """1/N, whatever the reference is."""
        return Action(weights=occasion.equal_weight)

    def learn(self, settlement: Settlement) -> None:
        """Nothing to learn."""


class MinimumVariance:
    """Long-only minimum variance over the past 60 daily returns, projected to the mandate (Markowitz, 1955)."""

    name, label = "minimum_variance", "Minimum variance"

    def act(self, occasion: Occasion) -> Action:
        """Estimate, then project."""
        past = np.ascontiguousarray(occasion.past_returns[-LOOKBACK:])
        return Action(weights=occasion.mandate.project(_minimum_variance(past.tobytes(), past.shape[1])))

    def learn(self, settlement: Settlement) -> None:
        """Nothing to learn."""


@lru_cache(maxsize=512)
def _minimum_variance(past: bytes, n_assets: int) -> NDArray[np.float64]:
    # Worlds and investors share one price history, and estimating costs more than the rest of a decision.
    weights = minimum_variance(np.frombuffer(past).reshape(-1, n_assets))
    weights.setflags(write=False)
    return weights
