"""The contract of a benchmark method: act on an occasion, later learn from its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memtrial.portfolio import Mandate, utilities
from memtrial.trial import Design, blends


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Occasion:
    """One decision date of one investor, before its outcome.

    Attributes
    ----------
    id
        Identity of the occasion.
    decided_at
        When the decision is taken (UTC).
    retrieved
        Ids of the k recalled experiences in rank order.
    features
        Their content features, (k, d).
    design
        The subsets that were drafted.
    drafts
        Drafts after the mandate, (n_drafts, n_assets); a row of NaN where the draft is missing.
    reference
        The reference after the mandate, (n_assets,).
    past_returns
        Daily simple returns before the decision, (n_days, n_assets).
    holdings
        What this method holds just before the decision, (n_assets,).
    mandate
        The investor's mandate.
    """

    id: str
    decided_at: datetime
    retrieved: tuple[str, ...]
    features: NDArray[np.float64]
    design: Design
    drafts: NDArray[np.float64]
    reference: NDArray[np.float64]
    past_returns: NDArray[np.float64]
    holdings: NDArray[np.float64]
    mandate: Mandate

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which drafts are valid, (n_drafts,)."""
        return np.asarray(np.isfinite(self.drafts).all(axis=1))

    @property
    def mean_draft(self) -> NDArray[np.float64] | None:
        """Average of the valid drafts, (n_assets,); ``None`` when there is none."""
        valid = self.valid
        return self.drafts[valid].mean(axis=0) if valid.any() else None

    def draft(self, subset: tuple[int, ...]) -> NDArray[np.float64]:
        """The draft made with ``subset``; the reference where it is missing or was not drafted."""
        if subset in self.design.subsets:
            weights = self.drafts[self.design.subsets.index(subset)]
            if np.isfinite(weights).all():
                return weights
        return self.reference


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Settlement:
    """What an occasion's portfolios earned, as one-step counterfactuals from the method's own holdings.

    ``returns`` are the daily simple returns of the holding period, (n_days, n_assets); ``cost`` the proportional cost.
    """

    occasion: Occasion
    known_at: datetime
    returns: NDArray[np.float64]
    cost: float

    def utilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Certainty-equivalent utility (Eq. 1) of each row of ``weights``, (n, n_assets) to (n,)."""
        return utilities(
            weights,
            self.returns,
            holdings=self.occasion.holdings,
            risk_aversion=self.occasion.mandate.risk_aversion,
            cost=self.cost,
        )

    def draft_utilities(self) -> NDArray[np.float64]:
        """Utility of each draft, (n_drafts,); NaN where it is missing."""
        valid = self.occasion.valid
        earned = np.full(valid.size, np.nan)
        if valid.any():
            earned[valid] = self.utilities(self.occasion.drafts[valid])
        return earned

    def blend_utilities(self) -> NDArray[np.float64] | None:
        """Utility of each anchored blend on the grid of reference weights, (201,)."""
        mean = self.occasion.mean_draft
        return None if mean is None else self.utilities(blends(self.occasion.reference, mean))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Action:
    """What a method holds, and whether it acted on learned values of memory."""

    weights: NDArray[np.float64]
    trusted: bool = False


class Method(Protocol):
    """A way to use memory. It acts on every occasion in the order of time, and learns from every outcome once.

    An outcome reaches ``learn`` only when it is known at the next occasion.
    """

    @property
    def name(self) -> str:
        """Key in tables and JSON."""
        ...

    @property
    def label(self) -> str:
        """Name on pages."""
        ...

    def act(self, occasion: Occasion) -> Action:
        """The weights to hold."""
        ...

    def learn(self, settlement: Settlement) -> None:
        """Take in an outcome."""
        ...
