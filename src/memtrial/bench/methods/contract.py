"""The contract of a benchmark method: act on an occasion, later learn from its outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memtrial.portfolio import Mandate, utilities
from memtrial.records import FULL_WEIGHT
from memtrial.trial import Design, DesignKind, blends


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Deployment:
    """What a fresh deployment of a method is made with.

    Attributes
    ----------
    design
        Which subsets are drafted, so that a trial plans what the benchmark drafts.
    dimensions
        Number d of content features.
    rng
        The method's own randomness.
    """

    design: DesignKind = "auto"
    dimensions: int = 8
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))


def _not_drafted(subset: tuple[int, ...]) -> NDArray[np.float64] | None:
    del subset


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Occasion:
    """One decision date of one investor, before its outcome. All portfolios are after the mandate.

    Attributes
    ----------
    id
        Identity of the occasion.
    decided_at
        When the decision is taken (UTC).
    retrieved
        Ids of the k recalled experiences in rank order.
    similarity
        Their retrieval scores, (k,), descending.
    features
        Their content features, (k, d).
    design
        The subsets that were drafted.
    drafts
        Their drafts, (n_drafts, n_assets); a row of NaN where the draft is missing.
    memory_free
        Further drafts made without experiences, apart from that of the design, (n_draws, n_assets); may be empty.
    reference
        The reference of the anchor, (n_assets,).
    equal_weight
        1/N, (n_assets,).
    past_returns
        Daily simple returns before the decision, (n_days, n_assets).
    holdings
        What this method holds just before the decision, (n_assets,).
    mandate
        The investor's mandate.
    further
        Makes the draft of a subset that is not in the design, (n_assets,); ``None`` when it cannot be made.
    """

    id: str
    decided_at: datetime
    retrieved: tuple[str, ...]
    similarity: NDArray[np.float64]
    features: NDArray[np.float64]
    design: Design
    drafts: NDArray[np.float64]
    memory_free: NDArray[np.float64]
    reference: NDArray[np.float64]
    equal_weight: NDArray[np.float64]
    past_returns: NDArray[np.float64]
    holdings: NDArray[np.float64]
    mandate: Mandate
    further: Callable[[tuple[int, ...]], NDArray[np.float64] | None] = _not_drafted

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


class Realised:
    """What the portfolios of an occasion earned, as one-step counterfactuals from the holdings before it.

    Everything is computed once, however many methods with the same holdings ask.

    Parameters
    ----------
    occasion
        The decision date.
    returns
        Daily simple returns of the holding period, (n_days, n_assets).
    cost
        Proportional trading cost.
    """

    def __init__(self, occasion: Occasion, returns: NDArray[np.float64], cost: float) -> None:
        self.occasion, self.returns, self.cost = occasion, returns, cost

    def utilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Certainty-equivalent utility (Eq. 1) of each row of ``weights``, (n, n_assets) to (n,)."""
        return utilities(
            weights,
            self.returns,
            holdings=self.occasion.holdings,
            risk_aversion=self.occasion.mandate.risk_aversion,
            cost=self.cost,
        )

    @cached_property
    def drafts(self) -> NDArray[np.float64]:
        """Utility of each draft, (n_drafts,); NaN where it is missing."""
        valid = self.occasion.valid
        earned = np.full(valid.size, np.nan)
        if valid.any():
            earned[valid] = self.utilities(self.occasion.drafts[valid])
        return earned

    @cached_property
    def blends(self) -> NDArray[np.float64] | None:
        """Utility of each anchored blend on the grid of reference weights, (201,); ``None`` without a valid draft."""
        mean = self.occasion.mean_draft
        return None if mean is None else self.utilities(blends(self.occasion.reference, mean))

    @cached_property
    def equal_weight(self) -> float:
        """Utility of 1/N."""
        return float(self.utilities(self.occasion.equal_weight[None])[0])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Action:
    """What a method holds, and the share of the capital that learned values of memory moved, 0 to 1."""

    weights: NDArray[np.float64]
    memory_weight: float = 0.0

    @property
    def trusted(self) -> bool:
        """Whether memory was trusted in full."""
        return self.memory_weight >= FULL_WEIGHT


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Settlement:
    """What came of a method's action: its own ``utility`` (a fraction per period), and what else would have earned."""

    action: Action
    utility: float
    known_at: datetime
    realised: Realised

    @property
    def occasion(self) -> Occasion:
        """The decision date."""
        return self.realised.occasion


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


@runtime_checkable
class Valued(Protocol):
    """A method that believes something about what each experience is worth."""

    def worth(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Value of each of ``ids``, whose content features are (n, d): (n,), larger is better, 0 when unknown."""
        ...
