"""Reference portfolios: minimum variance against brute force and a general solver."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from memtrial.errors import PricesError, WeightsError
from memtrial.portfolio import equal_weight, minimum_variance

SEEDS = st.integers(0, 2**32 - 1)


def sample(seed: int, days: int, assets: int) -> np.ndarray:
    """Correlated daily returns whose volatilities span cash to crypto."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(days, 2)) @ rng.normal(size=(2, assets))
    return (factor + rng.normal(size=(days, assets))) * np.geomspace(1e-4, 2e-2, assets)[rng.permutation(assets)]


def brute_force(covariance: np.ndarray) -> np.ndarray:
    """Least variance over every support whose fully invested optimum is long-only."""
    n, best = len(covariance), np.inf
    weights = np.zeros(n)
    for support in itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(1, n + 1)):
        index = list(support)
        raw = np.linalg.solve(covariance[np.ix_(index, index)], np.ones(len(index)))
        candidate = np.zeros(n)
        candidate[index] = raw / raw.sum()
        if (candidate >= -1e-12).all() and (variance := candidate @ covariance @ candidate) < best:
            best, weights = variance, candidate
    return weights


@given(SEEDS, st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_minimum_variance_is_the_best_support(seed: int, assets: int) -> None:
    returns = sample(seed, 60, assets)
    expected = brute_force(np.atleast_2d(np.cov(returns, rowvar=False, ddof=1)))
    np.testing.assert_allclose(minimum_variance(returns), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("assets", [5, 40])
def test_minimum_variance_equals_a_general_solver(assets: int) -> None:
    returns = sample(3, 60, assets)
    covariance = np.cov(returns, rowvar=False) / np.var(returns, axis=0).min()
    solved = minimize(
        lambda w: w @ covariance @ w,
        equal_weight(assets),
        jac=lambda w: 2 * covariance @ w,
        bounds=[(0, None)] * assets,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    weights = minimum_variance(returns)
    assert weights @ covariance @ weights <= solved.fun * (1 + 1e-9) + 1e-12
    np.testing.assert_allclose(weights, solved.x, rtol=0, atol=1e-4)


@given(SEEDS, st.sampled_from([(60, 5), (20, 30), (2, 4), (60, 100)]))
@settings(max_examples=30, deadline=None)
def test_optimality_conditions_hold_even_when_the_covariance_is_singular(seed: int, shape: tuple[int, int]) -> None:
    returns = sample(seed, *shape)
    weights = minimum_variance(returns)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, rel=0, abs=1e-12)
    np.testing.assert_array_equal(minimum_variance(returns), weights)
    centred = returns - returns.mean(0)
    deviations = centred.std(0)
    # No asset covaries less with the portfolio than the portfolio with itself.
    portfolio = centred @ weights
    slack = (centred.T @ portfolio - portfolio @ portfolio) / len(returns)
    assert (slack >= -1e-8 * deviations * deviations.min()).all()


def test_assets_without_variance_share_equally() -> None:
    returns = np.column_stack([np.full(60, 7e-5), sample(1, 60, 2), np.full(60, 1e-4)])
    np.testing.assert_array_equal(minimum_variance(returns), [0.5, 0, 0, 0.5])
    np.testing.assert_array_equal(minimum_variance(np.zeros((60, 4))), equal_weight(4))


def test_identical_assets_are_one_asset() -> None:
    returns = sample(2, 60, 3)
    weights = minimum_variance(np.column_stack([returns, returns]))
    np.testing.assert_allclose(weights[:3] + weights[3:], minimum_variance(returns), rtol=0, atol=1e-9)


def test_the_scale_of_returns_does_not_matter() -> None:
    returns = sample(4, 60, 5)
    np.testing.assert_allclose(minimum_variance(returns * 1e-3), minimum_variance(returns), rtol=0, atol=1e-9)


@pytest.mark.parametrize("returns", [np.zeros((1, 3)), np.zeros(5), np.zeros((5, 0))])
def test_too_little_to_estimate_is_refused(returns: np.ndarray) -> None:
    with pytest.raises(PricesError, match="minimum variance needs"):
        minimum_variance(returns)


def test_a_missing_return_is_named() -> None:
    returns = sample(5, 60, 3)
    returns[41, 1] = np.nan
    with pytest.raises(PricesError, match=r"row 41 \(day\), column 1"):
        minimum_variance(returns)


def test_equal_weight() -> None:
    np.testing.assert_array_equal(equal_weight(4), [0.25] * 4)
    with pytest.raises(WeightsError, match="at least one asset"):
        equal_weight(0)
