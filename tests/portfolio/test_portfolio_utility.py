"""Eq. 1: golden cases, its parts, its algebra, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.errors import PricesError, WeightsError
from memtrial.portfolio import check_weights, decompose, drift, equal_weight, portfolio_path, utilities, utility

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "utility.json").read_text(encoding="utf-8"))
SEEDS = st.integers(0, 2**32 - 1)


def market(seed: int, days: int, assets: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random portfolios (6, assets), daily returns (days, assets) and holdings (assets,)."""
    rng = np.random.default_rng(seed)
    returns = np.maximum(rng.normal(0.0, 0.02, (days, assets)), -0.9)
    return rng.dirichlet(np.ones(assets), 6), returns, rng.dirichlet(np.ones(assets))


def by_hand(w: np.ndarray, returns: np.ndarray, held: np.ndarray, gamma: float, cost: float, ddof: int) -> float:
    """Eq. 1 day by day, from its definition."""
    value, positions, daily = 1.0, w.copy(), []
    for day in returns:
        positions = positions * (1 + day)
        daily.append(positions.sum() / value - 1)
        value = positions.sum()
    variance = daily[0] ** 2 if len(daily) == 1 else len(daily) * np.var(daily, ddof=ddof)
    return value - 1 - cost * np.abs(w - held).sum() - gamma / 2 * variance


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_utility_matches_golden(case: dict[str, Any]) -> None:
    given_ = case["input"]
    terms = {"holdings": given_["w0"], "risk_aversion": given_["gamma"], "cost": given_["cost"]}
    expected = pytest.approx(case["output"]["u"], rel=0, abs=GOLDEN["tolerance"])
    assert utility(given_["w"], given_["daily"], **terms) == expected
    assert utilities([given_["w"]], given_["daily"], **terms)[0] == expected


@given(SEEDS, st.sampled_from([1, 2, 5, 20]), st.sampled_from([0, 1]))
@settings(max_examples=60, deadline=None)
def test_utilities_follow_the_definition(seed: int, days: int, ddof: int) -> None:
    weights, returns, held = market(seed, days)
    found = utilities(weights, returns, holdings=held, risk_aversion=5.0, ddof=ddof)
    expected = [by_hand(w, returns, held, 5.0, 0.0015, ddof) for w in weights]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    single = [utility(w, returns, holdings=held, risk_aversion=5.0, ddof=ddof) for w in weights]
    np.testing.assert_allclose(found, single, rtol=0, atol=1e-14)


@given(SEEDS, st.sampled_from([1, 20]), st.floats(0, 20), st.floats(0, 0.01))
@settings(max_examples=60, deadline=None)
def test_the_parts_add_up_exactly(seed: int, days: int, gamma: float, cost: float) -> None:
    weights, returns, held = market(seed, days)
    parts = decompose(weights[0], returns, holdings=held, risk_aversion=gamma, cost=cost)
    assert parts.utility == parts.gross_return - parts.cost - parts.risk
    assert parts.utility == utility(weights[0], returns, holdings=held, risk_aversion=gamma, cost=cost)
    assert parts.turnover == pytest.approx(np.abs(weights[0] - held).sum(), rel=0, abs=1e-15)
    assert parts.cost == cost * parts.turnover
    assert parts.gross_return == pytest.approx(portfolio_path(weights[0], returns)[-1] - 1, rel=0, abs=1e-13)
    assert parts.risk >= 0


@given(SEEDS, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_without_cost_and_risk_a_blend_earns_the_blend(seed: int, q: float) -> None:
    (a, b, *_), returns, held = market(seed, 20)
    free = {"holdings": held, "risk_aversion": 0.0, "cost": 0.0}
    blended = utility(q * a + (1 - q) * b, returns, **free)
    apart = q * utility(a, returns, **free) + (1 - q) * utility(b, returns, **free)
    assert blended == pytest.approx(apart, rel=0, abs=1e-13)


@given(SEEDS, st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_drift_sums_to_one_and_composes(seed: int, split: int) -> None:
    weights, returns, _ = market(seed, 20)
    after = drift(weights, returns)
    np.testing.assert_allclose(after.sum(1), 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(drift(drift(weights, returns[:split]), returns[split:]), after, rtol=0, atol=1e-14)
    np.testing.assert_allclose(drift(weights[0], returns), after[0], rtol=0, atol=1e-15)


def test_holding_what_one_has_costs_nothing_and_a_full_switch_costs_thirty_basis_points() -> None:
    flat = np.zeros((20, 2))
    assert utility([0.3, 0.7], flat, holdings=[0.3, 0.7], risk_aversion=10.0) == 0.0
    assert utility([1.0, 0.0], flat, holdings=[0.0, 1.0], risk_aversion=10.0) == pytest.approx(-0.003, abs=1e-17)


def test_the_path_leaves_out_its_start() -> None:
    np.testing.assert_allclose(portfolio_path([0.5, 0.5], [[0.1, 0.0], [0.1, -0.1]]), [1.05, 1.055], rtol=0, atol=1e-15)


def test_a_blend_of_two_hundred_and_one_weights_in_one_call() -> None:
    (a, b, *_), returns, held = market(7, 20, assets=5)
    q = np.linspace(0, 1, 201)[:, None]
    found = utilities(q * a + (1 - q) * b, returns, holdings=held, risk_aversion=5.0)
    assert found.shape == (201,)
    assert found[-1] == pytest.approx(utility(a, returns, holdings=held, risk_aversion=5.0), abs=1e-14)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), -1.0, -1.5])
def test_a_return_that_cannot_be_is_named(bad: float) -> None:
    returns = np.zeros((5, 3))
    returns[3, 2] = bad
    for evaluate in (
        lambda: utility(equal_weight(3), returns, holdings=equal_weight(3), risk_aversion=1.0),
        lambda: drift(equal_weight(3), returns),
        lambda: portfolio_path(equal_weight(3), returns),
    ):
        with pytest.raises(PricesError, match=r"row 3 \(day\), column 2 \(asset\)") as caught:
            evaluate()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(5, 2), (3,), (0, 3)])
def test_misaligned_returns_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(PricesError, match="returns have"):
        utilities([equal_weight(3)], np.zeros(shape), holdings=equal_weight(3), risk_aversion=1.0)


def test_one_day_needs_no_degrees_of_freedom_but_two_days_need_more_than_ddof() -> None:
    held = equal_weight(2)
    assert utility(held, [[0.1, 0.1]], holdings=held, risk_aversion=2.0, ddof=1) == pytest.approx(0.1 - 0.01)
    with pytest.raises(PricesError, match="ddof=2"):
        utility(held, np.zeros((2, 2)), holdings=held, risk_aversion=2.0, ddof=2)


@pytest.mark.parametrize("holdings", [[0.5, 0.5], [0.5, 0.5, float("nan")]])
def test_holdings_that_are_not_weights_are_refused(holdings: list[float]) -> None:
    with pytest.raises(WeightsError, match="holdings are"):
        utilities([equal_weight(3)], np.zeros((5, 3)), holdings=holdings, risk_aversion=1.0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, -0.1, 0.6], "weight of bonds is -0.1; a weight must not be negative"),
        ([0.5, float("nan"), 0.5], "weight of bonds is nan; a weight must be a finite number"),
        ([0.5, 0.5, float("inf")], "weight of cash is inf"),
        ([0.5, 0.3, 0.1], r"sum to 0.9, not 1 \(equities 0.5, bonds 0.3, cash 0.1\)"),
        ([0.5, 0.5], "one weight per asset"),
        ([40, 30, 30], "sum to 100, not 1"),
    ],
)
def test_weights_that_are_no_allocation_are_named(weights: list[float], message: str) -> None:
    with pytest.raises(WeightsError, match=message) as caught:
        check_weights(weights, ("equities", "bonds", "cash"))
    assert "\n" not in str(caught.value)


def test_rounding_is_forgiven() -> None:
    checked = check_weights([0.5 + 5e-7, 0.5, -1e-15], ("a", "b", "c"))
    np.testing.assert_array_equal(checked, [0.5 + 5e-7, 0.5, 0.0])
    with pytest.raises(WeightsError, match="portfolio 1"):
        utilities([[0.5, 0.5], [0.5, 0.6]], np.zeros((5, 2)), holdings=[0.5, 0.5], risk_aversion=1.0)
