"""What many portfolios earned, all at once: Eq. 1 split into the parts that the three investors weigh differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.methods.contract import Occasion, Realised
from memtrial.portfolio import TRADING_COST


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Parts:
    """Net return (after costs) and variance over the period of portfolios, of any one shape; fractions."""

    net: NDArray[np.float64]
    variance: NDArray[np.float64]

    def utility(self, risk_aversion: float) -> NDArray[np.float64]:
        """Certainty-equivalent utility (Eq. 1) for an investor."""
        return self.net - 0.5 * risk_aversion * self.variance


def measure(weights: NDArray[np.float64], growth: NDArray[np.float64], holdings: NDArray[np.float64]) -> Parts:
    """The parts of Eq. 1, as :func:`memtrial.portfolio.utilities` computes them, without its checks.

    Parameters
    ----------
    weights
        Allocations, (..., n, n_assets).
    growth
        What 1 in each asset becomes, from 1 on, (..., n_days + 1, n_assets).
    holdings
        Held before, (n_assets,).
    """
    path = growth @ np.swapaxes(weights, -1, -2)
    daily = path[..., 1:, :] / path[..., :-1, :]
    daily -= daily.mean(axis=-2, keepdims=True)
    variance = np.einsum("...dn,...dn->...n", daily, daily)
    turnover = np.abs(weights - holdings).sum(axis=-1)
    return Parts(net=path[..., -1, :] - path[..., 0, :] - TRADING_COST * turnover, variance=variance)


class Measured(Realised):
    """An outcome whose portfolios were measured beforehand, together with those of all other dates.

    Parameters
    ----------
    occasion
        The decision date.
    returns
        Daily simple returns of the holding period, (n_days, n_assets).
    growth
        What 1 in each asset became, (n_days + 1, n_assets).
    drafts, blends, equal_weight
        The utilities that methods ask for; see :class:`Realised`.
    """

    def __init__(
        self,
        occasion: Occasion,
        returns: NDArray[np.float64],
        growth: NDArray[np.float64],
        *,
        drafts: NDArray[np.float64],
        blends: NDArray[np.float64],
        equal_weight: float,
    ) -> None:
        super().__init__(occasion, returns, TRADING_COST)
        self._growth = growth
        self.drafts, self.blends, self.equal_weight = drafts, blends, equal_weight

    def utilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Utility of each row of ``weights``, (n, n_assets) to (n,)."""
        occasion = self.occasion
        return measure(weights, self._growth, occasion.holdings).utility(occasion.mandate.risk_aversion)
