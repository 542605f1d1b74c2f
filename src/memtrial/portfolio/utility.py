"""What a portfolio earned its investor: certainty-equivalent utility (paper Eq. 1) and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import PricesError, WeightsError

TRADING_COST = 0.0015
"""Proportional cost per unit of L1 distance moved: 15 basis points (paper App. D.3)."""

_SUM_TOLERANCE = 1e-6
_NEGATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Decomposition:
    """The parts of one utility, fractions per holding period; ``utility`` is ``gross_return - cost - risk``.

    Attributes
    ----------
    gross_return
        Return of the portfolio over the period, before costs.
    cost
        Trading cost: rate times ``turnover``.
    risk
        γ/2 times the variance of daily returns times the number of days (one day: the squared return).
    utility
        Certainty-equivalent return (Eq. 1).
    turnover
        L1 distance from the holdings to the weights, fraction of wealth (2 = everything sold and rebought).
    """

    gross_return: float
    cost: float
    risk: float
    utility: float
    turnover: float


def utilities(
    weights: ArrayLike,
    returns: ArrayLike,
    *,
    holdings: ArrayLike,
    risk_aversion: float,
    cost: float = TRADING_COST,
    ddof: int = 0,
) -> NDArray[np.float64]:
    """Certainty-equivalent utility of each of several portfolios held over one period (paper Eq. 1).

    The portfolio is bought once and held, so its weights drift with prices: u = R − γ/2 · V with R the period return
    less ``cost`` times the L1 distance from ``holdings``, and V the variance of daily portfolio returns times
    the number of days (for one day, the squared return). Mandates are the caller's: project first.

    Parameters
    ----------
    weights
        Shape (n, n_assets), fractions of wealth; each row sums to 1.
    returns
        Simple daily returns of the assets over the holding period, shape (n_days, n_assets).
    holdings
        What was held just before trading, shape (n_assets,), fractions of wealth; all zero when nothing was held.
    risk_aversion
        γ.
    cost
        Fraction paid per unit of L1 distance moved.
    ddof
        Delta degrees of freedom of the variance; the paper's is 0.

    Returns
    -------
    Shape (n,), fractions per holding period.

    Raises
    ------
    WeightsError
        When weights or holdings have the wrong shape, or weights are not allocations.
    PricesError
        When returns are missing, infinite, at or below −1, or not aligned with the weights.
    """
    gross, turnover, variance = _parts(weights, returns, holdings, ddof)
    return gross - cost * turnover - 0.5 * risk_aversion * variance


def utility(
    weights: ArrayLike,
    returns: ArrayLike,
    *,
    holdings: ArrayLike,
    risk_aversion: float,
    cost: float = TRADING_COST,
    ddof: int = 0,
) -> float:
    """Certainty-equivalent utility of one portfolio, weights of shape (n_assets,); see :func:`utilities`."""
    parts = decompose(weights, returns, holdings=holdings, risk_aversion=risk_aversion, cost=cost, ddof=ddof)
    return parts.utility


def decompose(
    weights: ArrayLike,
    returns: ArrayLike,
    *,
    holdings: ArrayLike,
    risk_aversion: float,
    cost: float = TRADING_COST,
    ddof: int = 0,
) -> Decomposition:
    """The parts of the utility of one portfolio, weights of shape (n_assets,); see :func:`utilities`."""
    row = np.asarray(weights, dtype=np.float64)
    if row.ndim != 1:
        raise WeightsError(f"weights have shape {row.shape}; one portfolio has shape (n_assets,)")
    gross, turnover, variance = (float(part[0]) for part in _parts(row[None, :], returns, holdings, ddof))
    paid, risk = cost * turnover, 0.5 * risk_aversion * variance
    return Decomposition(gross_return=gross, cost=paid, risk=risk, utility=gross - paid - risk, turnover=turnover)


def drift(weights: ArrayLike, returns: ArrayLike) -> NDArray[np.float64]:
    """Weights after the period, when the portfolio is held and prices move it.

    Parameters
    ----------
    weights
        Shape (n_assets,) or (n, n_assets), fractions of wealth.
    returns
        Simple daily returns of the assets, shape (n_days, n_assets); no days leave the weights as they are.

    Returns
    -------
    The same shape as ``weights``, each row summing to 1.

    Raises
    ------
    WeightsError, PricesError
        As :func:`utilities`.
    """
    values = np.asarray(weights, dtype=np.float64)
    rows = _rows(np.atleast_2d(values))
    grown = rows * np.prod(1.0 + check_returns(returns, rows.shape[1]), axis=0)
    return (grown / grown.sum(axis=1, keepdims=True)).reshape(values.shape)


def portfolio_path(weights: ArrayLike, returns: ArrayLike) -> NDArray[np.float64]:
    """Wealth at the close of each day of a portfolio that is bought once and held, relative to the wealth invested.

    Parameters
    ----------
    weights
        Shape (n_assets,), fractions of wealth.
    returns
        Simple daily returns of the assets, shape (n_days, n_assets).

    Returns
    -------
    Shape (n_days,); the starting wealth, 1, is not in it.

    Raises
    ------
    WeightsError, PricesError
        As :func:`utilities`.
    """
    row = np.asarray(weights, dtype=np.float64)
    if row.ndim != 1:
        raise WeightsError(f"weights have shape {row.shape}; one portfolio has shape (n_assets,)")
    path = _paths(_rows(row[None, :]), check_returns(returns, row.size))[:, 0]
    return path[1:] / path[0]


def check_weights(weights: ArrayLike, assets: Sequence[str]) -> NDArray[np.float64]:
    """``weights`` as an array, once they are an allocation over ``assets``.

    Negative rounding errors down to −1e-12 become 0; nothing else is changed.

    Parameters
    ----------
    weights
        Shape (n_assets,), fractions of wealth.
    assets
        Names of the assets, in the same order.

    Raises
    ------
    WeightsError
        When the number of weights is not that of the assets, or a weight is not finite or negative, or the weights do
        not sum to 1 within 1e-6.
    """
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise WeightsError(f"weights are not numbers ({error}); give one weight per asset") from error
    if values.shape != (len(assets),):
        raise WeightsError(
            f"weights have shape {values.shape}, but there are {len(assets)} assets ({', '.join(assets)}); "
            "give one weight per asset"
        )
    return _rows(values[None, :], assets)[0]


def check_returns(returns: ArrayLike, n_assets: int) -> NDArray[np.float64]:
    """``returns`` as an array of shape (n_days, n_assets), once every one is finite and above −1.

    Raises
    ------
    PricesError
        Naming the row and column that cannot be evaluated.
    """
    values = np.asarray(returns, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != n_assets:
        raise PricesError(f"returns have shape {values.shape}; they must be (n_days, {n_assets}), a column per asset")
    if values.size and not (values.min() > -1.0 and values.max() < np.inf):
        row, column = (int(i) for i in np.argwhere(~(np.isfinite(values) & (values > -1.0)))[0])
        raise PricesError(
            f"return in row {row} (day), column {column} (asset) is {values[row, column]}; "
            "a return must be a finite number above -1: mend the prices or leave the date out"
        )
    return values


def _parts(
    weights: ArrayLike, returns: ArrayLike, holdings: ArrayLike, ddof: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Gross return, turnover and variance over the period of each portfolio, each of shape (n,)."""
    rows = _rows(np.asarray(weights, dtype=np.float64))
    daily_assets = check_returns(returns, rows.shape[1])
    held = np.asarray(holdings, dtype=np.float64)
    if held.shape != (rows.shape[1],) or not np.isfinite(held).all():
        raise WeightsError(f"holdings are {held.tolist()}; they must be {rows.shape[1]} finite weights, one per asset")
    days = len(daily_assets)
    if not (days == 1 or days > ddof >= 0):
        raise PricesError(f"returns have {days} days; a variance with ddof={ddof} needs at least {max(ddof, 0) + 1}")
    path = _paths(rows, daily_assets)
    daily = path[1:] / path[:-1] - 1.0
    if days == 1:
        variance = daily[0] ** 2
    else:
        deviation = daily - daily.mean(axis=0)
        variance = np.einsum("dn,dn->n", deviation, deviation) * (days / (days - ddof))
    return path[-1] - path[0], np.abs(rows - held).sum(axis=1), variance


def _paths(rows: NDArray[np.float64], returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Wealth before the first day and after each, shape (n_days + 1, n): what an asset grew to, times its weight."""
    growth = np.ones((returns.shape[0] + 1, returns.shape[1]))
    np.cumprod(1.0 + returns, axis=0, out=growth[1:])
    return growth @ rows.T


def _rows(rows: NDArray[np.float64], assets: Sequence[str] = ()) -> NDArray[np.float64]:
    """``rows`` of shape (n, n_assets) once each is an allocation, without negative rounding errors."""
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise WeightsError(f"weights have shape {rows.shape}; they must be (n, n_assets)")
    lowest = rows.min(initial=0.0)
    # Written so that NaN fails: every comparison with it is false.
    if not (lowest >= -_NEGATIVE_TOLERANCE and (np.abs(rows.sum(axis=1) - 1.0) <= _SUM_TOLERANCE).all()):
        raise WeightsError(_weights_problem(rows, assets))
    return np.maximum(rows, 0.0) if lowest < 0.0 else rows


def _weights_problem(rows: NDArray[np.float64], assets: Sequence[str]) -> str:
    of = "" if len(rows) == 1 else " of portfolio {}"
    bad = np.argwhere(~(np.isfinite(rows) & (rows >= -_NEGATIVE_TOLERANCE)))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        asset = assets[column] if assets else f"asset {column}"
        rule = "must not be negative" if np.isfinite(rows[row, column]) else "must be a finite number"
        return f"weight of {asset}{of.format(row)} is {rows[row, column]:.6g}; a weight {rule}"
    row = int(np.argmax(np.abs(rows.sum(axis=1) - 1.0)))
    names = assets or [f"asset {column}" for column in range(rows.shape[1])]
    listed = ", ".join(f"{name} {value:.6g}" for name, value in zip(names, rows[row], strict=True))
    return f"weights{of.format(row)} sum to {rows[row].sum():.8g}, not 1 ({listed}); scale them to sum to 1"
