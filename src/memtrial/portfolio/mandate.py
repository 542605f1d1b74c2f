"""The investor's mandate and the exact projection onto it (paper §3.1, App. D.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import MandateError, WeightsError

_TOLERANCE = 1e-12
"""Slack within which a share meets its bound: a few rounding errors of a sum of weights, far below one basis point."""


@dataclass(frozen=True, kw_only=True)
class Mandate:
    """A cap on the risky share, a floor on the defensive share, and the risk aversion (θ = (M, m, γ), paper §3.1).

    A portfolio satisfies it when it is long-only, sums to 1, holds at most ``risky_cap`` in risky assets and at least
    ``defensive_floor`` in defensive ones. Assets may belong to neither group, never to both.

    Attributes
    ----------
    name
        Name of the investor, used in messages.
    risky_cap, defensive_floor
        M and m, fractions of wealth in [0, 1].
    risk_aversion
        γ of Eq. 1, at least 0.
    risky, defensive
        Membership of each asset, length n_assets.
    assets
        Names of the assets, for messages only; empty when they have none.

    Raises
    ------
    MandateError
        At construction, when a bound is out of range, the groups are inconsistent, or no portfolio can satisfy it:
        a floor without a defensive asset, or a cap below 1 when every asset is risky.
    """

    name: str
    risky_cap: float
    defensive_floor: float
    risk_aversion: float
    risky: tuple[bool, ...]
    defensive: tuple[bool, ...]
    assets: tuple[str, ...] = ()
    _shares: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    _members: NDArray[np.bool_] = field(init=False, repr=False, compare=False)
    _totals: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    _assembly: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_profile(self.name, self.risky_cap, self.defensive_floor, self.risk_aversion)
        _check_groups(self)
        risky, defensive = np.array(self.risky, dtype=bool), np.array(self.defensive, dtype=bool)
        members, totals, assembly = _cases(risky, defensive, self.risky_cap, self.defensive_floor)
        shares = np.stack([np.ones(risky.size), risky, defensive], axis=1).astype(np.float64)
        for name, array in (("_shares", shares), ("_members", members), ("_totals", totals), ("_assembly", assembly)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __str__(self) -> str:
        """What it demands, in words: equal mandates read the same."""
        names = self.assets or tuple(f"asset {i}" for i in range(len(self.risky)))
        parts = [
            f"{bound} {100 * share:g} % in {', '.join(n for n, member in zip(names, group, strict=True) if member)}"
            for bound, share, group in (
                ("at most", self.risky_cap, self.risky),
                ("at least", self.defensive_floor, self.defensive),
            )
            if any(group)
        ]
        return f"{self.name}: {'; '.join(parts) or 'long-only, fully invested'}"

    @property
    def n_assets(self) -> int:
        """Number of assets the mandate speaks of."""
        return len(self.risky)

    def satisfied(self, weights: ArrayLike) -> NDArray[np.bool_]:
        """Whether each portfolio satisfies the mandate, up to rounding (1e-12).

        Parameters
        ----------
        weights
            Shape (n_assets,) or (n, n_assets), fractions of wealth.

        Returns
        -------
        Shape () or (n,).
        """
        values = np.asarray(weights, dtype=np.float64)
        return self._satisfied(self._rows(values)).reshape(values.shape[:-1])

    def project(self, weights: ArrayLike) -> NDArray[np.float64]:
        """The nearest portfolio, in Euclidean distance, that satisfies the mandate (P_θ, paper App. D.3).

        Exact, by enumeration of the active set: neither bound, the cap, the floor, or both. A portfolio that already
        satisfies the mandate comes back unchanged.

        Parameters
        ----------
        weights
            Shape (n_assets,) or (n, n_assets): any finite numbers, not necessarily an allocation.

        Returns
        -------
        A new array of the same shape: fractions of wealth, each row non-negative and summing to 1.

        Raises
        ------
        WeightsError
            When a weight is not finite, or the number of assets is not that of the mandate.
        """
        values = np.asarray(weights, dtype=np.float64)
        rows = self._rows(values)
        satisfied = self._satisfied(rows)
        if satisfied.all():
            return values.copy()
        projected = self._nearest(rows)
        # Rows that need nothing keep their very bits, whatever they are batched with.
        projected[satisfied] = rows[satisfied]
        return projected.reshape(values.shape)

    def _rows(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if values.ndim not in (1, 2) or values.shape[-1] != self.n_assets:
            raise WeightsError(
                f"weights have shape {values.shape}, but mandate {self.name!r} needs "
                f"({self.n_assets},) or (n, {self.n_assets}): one weight per asset"
            )
        rows = np.atleast_2d(values)
        if not np.isfinite(rows).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
            where = f"{self._asset(column)}" if values.ndim == 1 else f"{self._asset(column)} of portfolio {row}"
            raise WeightsError(f"weight of {where} is {rows[row, column]}; a weight must be a finite number")
        return rows

    def _asset(self, column: int) -> str:
        return self.assets[column] if self.assets else f"asset {column}"

    def _satisfied(self, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
        shares = rows @ self._shares
        return (
            (rows >= 0.0).all(axis=1)
            & (np.abs(shares[:, 0] - 1.0) <= _TOLERANCE)
            & (shares[:, 1] <= self.risky_cap + _TOLERANCE)
            & (shares[:, 2] >= self.defensive_floor - _TOLERANCE)
        )

    def _nearest(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        candidates = self._assembly @ _simplex_projections(rows, self._members, self._totals)  # (n, case, asset)
        shares = candidates @ self._shares[:, 1:]
        above_cap = shares[..., 0] > self.risky_cap + _TOLERANCE
        below_floor = shares[..., 1] < self.defensive_floor - _TOLERANCE
        # A bound that the relaxed optimum breaks is active in the relaxation with that bound, and an optimum of a
        # relaxation that satisfies the bound left out is the optimum. No distance has to be compared.
        conditions = [~above_cap[:, 0] & ~below_floor[:, 0], above_cap[:, 0] & ~below_floor[:, 1]]
        conditions.append(below_floor[:, 0] & ~above_cap[:, 2])
        case = np.select(conditions, [0, 1, 2], 3)
        return candidates[np.arange(len(rows)), case]


def _simplex_projections(
    rows: NDArray[np.float64], members: NDArray[np.bool_], totals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Projection of each row onto {w ≥ 0, Σ w = total} within each group of assets: (n, n_groups, n_assets)."""
    values = np.where(members, rows[:, None, :], -np.inf)
    # Only differences to the largest weight matter; taking them first keeps sums exact for weights of any size.
    with np.errstate(over="ignore"):
        values -= values.max(axis=-1, keepdims=True)
        descending = np.sort(values, axis=-1)[..., ::-1]
        excess = np.cumsum(descending, axis=-1) - totals[:, None]
    # The threshold of the sort-based projection is the largest of the running ones.
    running: NDArray[np.float64] = excess / np.arange(1.0, rows.shape[1] + 1.0)
    return np.maximum(values - running.max(axis=-1, keepdims=True), 0.0)


def _cases(
    risky: NDArray[np.bool_], defensive: NDArray[np.bool_], cap: float, floor: float
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Groups of assets, what each must sum to, and which groups make up each of the four active sets."""
    groups = (
        (np.ones_like(risky), 1.0, (0,)),
        (risky, cap, (1, 3)),
        (~risky, 1.0 - cap, (1,)),
        (defensive, floor, (2, 3)),
        (~defensive, 1.0 - floor, (2,)),
        (~(risky | defensive), 1.0 - cap - floor, (3,)),
    )
    present = [group for group in groups if group[0].any()]
    members = np.array([group[0] for group in present])
    totals = np.array([max(group[1], 0.0) for group in present])
    assembly = np.array([[float(case in group[2]) for group in present] for case in range(4)])
    return members, totals, assembly


def check_profile(name: str, cap: float, floor: float, aversion: float) -> None:
    """Raise MandateError when M or m is not a fraction, or γ is not a finite number of at least 0."""
    for what, value in (("risky_cap", cap), ("defensive_floor", floor)):
        if not 0.0 <= value <= 1.0:
            raise MandateError(f"mandate {name!r}: {what} is {value}; it must be a fraction between 0 and 1")
    if not (isfinite(aversion) and aversion >= 0.0):
        raise MandateError(f"mandate {name!r}: risk_aversion is {aversion}; it must be a finite number, at least 0")


def _check_groups(mandate: Mandate) -> None:
    n, start = len(mandate.risky), f"mandate {mandate.name!r}"
    if n == 0 or len(mandate.defensive) != n or len(mandate.assets) not in (0, n):
        raise MandateError(
            f"{start}: risky, defensive and assets describe {n}, {len(mandate.defensive)} and {len(mandate.assets)} "
            "assets; give one entry per asset, for at least one asset"
        )
    for column, (is_risky, is_defensive) in enumerate(zip(mandate.risky, mandate.defensive, strict=True)):
        if is_risky and is_defensive:
            asset = mandate.assets[column] if mandate.assets else f"asset {column}"
            raise MandateError(f"{start}: {asset} is both risky and defensive; leave it in one group")
    if mandate.defensive_floor > 0.0 and not any(mandate.defensive):
        raise MandateError(
            f"{start} cannot be satisfied: it needs {mandate.defensive_floor:g} in defensive assets and no asset is "
            "defensive; name a defensive asset or set defensive_floor to 0"
        )
    if mandate.risky_cap < 1.0 and all(mandate.risky):
        raise MandateError(
            f"{start} cannot be satisfied: it allows {mandate.risky_cap:g} in risky assets and every asset is risky; "
            "add an asset that is not, or set risky_cap to 1"
        )


def project_stocks_and_cash(
    weights: ArrayLike, *, cash: int, risky_cap: float, defensive_floor: float
) -> NDArray[np.float64]:
    """InvestorBench's mandate: scale stocks down to min(M, 1 − m), rest to cash (paper App. D.3).

    Non-finite and negative weights become 0, the rest is scaled to sum to 1 (all zero: all cash), and if the stock
    share exceeds the cap, stocks are scaled down to it and the rest goes to cash.

    Parameters
    ----------
    weights
        Shape (n_assets,) or (n, n_assets).
    cash
        Column of cash; every other asset is a stock.
    risky_cap, defensive_floor
        M and m, fractions of wealth.

    Returns
    -------
    A new array of the same shape: fractions of wealth, each row summing to 1.

    Raises
    ------
    MandateError
        When M or m is not a fraction, or ``cash`` is not a column.
    """
    check_profile("stocks and cash", risky_cap, defensive_floor, 0.0)
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim not in (1, 2) or not 0 <= cash < values.shape[-1]:
        raise MandateError(
            f"cash is column {cash}, but weights have shape {values.shape}; give a column of the weights"
        )
    stocks = np.where(np.isfinite(values) & (values > 0.0), values, 0.0)
    stocks /= np.maximum(stocks.max(axis=-1, keepdims=True), 1.0)  # so that the sum cannot overflow
    total = stocks.sum(axis=-1, keepdims=True)
    stocks /= np.where(total > 0.0, total, 1.0)
    stocks[..., cash] = 0.0
    share, cap = stocks.sum(axis=-1, keepdims=True), min(risky_cap, 1.0 - defensive_floor)
    stocks *= cap / np.maximum(share, cap) if cap > 0.0 else 0.0
    stocks[..., cash] = np.maximum(1.0 - stocks.sum(axis=-1), 0.0)
    return stocks
