"""Uplift credit: outcomes regressed on which experiences were used, the market held fixed (paper, Appendix D.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Occasion, Settlement
from memtrial.bench.methods.drafts import EXPLORATION, Chooser, Subset, best_pair, random_pair, used

INDICATOR_RIDGE = 1.0
"""Penalty on the squared coefficient of an experience."""
CONTROL_RIDGE = 0.001
"""Penalty on the squared intercept and market coefficient."""
PERCENT = 100.0


class RunningRidge:
    """Ridge regression whose solution follows every new row, O(p²) for p coefficients.

    Keeps the inverse of the penalised normal matrix and applies the Sherman–Morrison formula, which equals solving the
    normal equations afresh. Columns may be added at any time; they are 0 in all rows before.
    """

    def __init__(self) -> None:
        self._n = 0
        self._inverse: NDArray[np.float64] = np.zeros((16, 16))
        self._solution: NDArray[np.float64] = np.zeros(16)

    def column(self, penalty: float) -> int:
        """Add a coefficient with ``penalty`` > 0 on its square; returns its index."""
        if self._n == len(self._solution):
            self._inverse = np.pad(self._inverse, (0, self._n))
            self._solution = np.pad(self._solution, (0, self._n))
        self._inverse[self._n, self._n] = 1.0 / penalty
        self._n += 1
        return self._n - 1

    def add(self, columns: Sequence[int], row: Sequence[float], target: float) -> None:
        """Add a row that has the values ``row`` in ``columns`` and 0 elsewhere, with its ``target``."""
        where, values = list(columns), np.array(row)
        inverse, solution = self._inverse[: self._n, : self._n], self._solution[: self._n]
        direction = values @ inverse[where]
        step = direction / (1.0 + float(direction[where] @ values))
        solution += step * (target - float(solution[where] @ values))
        inverse -= step[:, None] * direction

    def __getitem__(self, column: int) -> float:
        """The coefficient of ``column``."""
        return float(self._solution[column])


class UpliftCredit(Chooser):
    """Utility regressed on indicators of the experiences used (Gutierrez and Gérardy, 2017).

    The utility of 1/N is the market control; ridge 1 on the indicators, .001 on intercept and control; the two highest
    coefficients are used, a tenth of the dates try a random pair. Utilities enter in % per period. That unit matters
    to the penalty on the control only, which is next to none in %, as a "small" penalty should be: the coefficients of
    the indicators scale with the unit. In PlantedMem (core, 100 worlds) fractions would earn .004 % a month less.
    """

    name, label = "uplift_credit", "Uplift credit"

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._regression = RunningRidge()
        self._controls = [self._regression.column(CONTROL_RIDGE) for _ in range(2)]
        self._columns: dict[str, int] = {}

    def choose(self, occasion: Occasion) -> Subset:
        """The two with the highest coefficients, or any two."""
        if self._rng.random() < EXPLORATION:
            return random_pair(self._rng, occasion.design.k)
        return best_pair([self._uplift(name) for name in occasion.retrieved])

    def learn(self, settlement: Settlement) -> None:
        """Add the date to the regression."""
        indicators = [self._column(name) for name in used(settlement)]
        market = PERCENT * settlement.realised.equal_weight
        self._regression.add(
            [*self._controls, *indicators], [1.0, market, *(1.0 for _ in indicators)], PERCENT * settlement.utility
        )

    def worth(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coefficients, (n,), fractions per period."""
        del features
        return np.array([self._uplift(name) for name in ids]) / PERCENT

    def _uplift(self, name: str) -> float:
        column = self._columns.get(name)
        return 0.0 if column is None else self._regression[column]

    def _column(self, name: str) -> int:
        if name not in self._columns:
            self._columns[name] = self._regression.column(INDICATOR_RIDGE)
        return self._columns[name]
