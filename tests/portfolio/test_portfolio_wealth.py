"""Wealth metrics and market phases on paths small enough to check by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.errors import PricesError
from memtrial.portfolio import WealthMetrics, falling_phases, relative

PATHS = st.lists(st.floats(0.01, 100), min_size=1, max_size=60)


def test_metrics_by_hand() -> None:
    metrics = WealthMetrics.from_path([1.0, 1.1, 0.99, 1.188])
    growth = np.array([0.1, -0.1, 0.2])
    assert metrics.cumulative_return == pytest.approx(0.188)
    assert metrics.sharpe == pytest.approx(growth.mean() / growth.std(ddof=1) * math.sqrt(252))
    assert metrics.max_drawdown == pytest.approx(0.1)
    monthly = WealthMetrics.from_path([1.0, 1.1, 0.99, 1.188], periods_per_year=12)
    assert monthly.sharpe == pytest.approx(metrics.sharpe * math.sqrt(12 / 252))


@pytest.mark.parametrize("path", [[1.0], [1.0, 1.1], [1.0, 1.1, 1.21, 1.331], [2.0, 2.0, 2.0]])
def test_a_path_that_never_varies_has_no_sharpe_ratio(path: list[float]) -> None:
    metrics = WealthMetrics.from_path(path)
    assert math.isnan(metrics.sharpe)
    assert metrics.max_drawdown == 0.0


@given(PATHS)
@settings(max_examples=100, deadline=None)
def test_drawdown_is_a_fraction(path: list[float]) -> None:
    metrics = WealthMetrics.from_path(path)
    assert 0 <= metrics.max_drawdown <= 1
    assert metrics.max_drawdown >= -min(metrics.cumulative_return, 0) - 1e-12


def test_falling_phases_by_hand() -> None:
    #        0    1    2    3    4    5    6    7    8     9    10   11   12
    index = [100, 104, 100, 103, 105, 95, 101, 94, 105.1, 103, 110, 99, 104]
    # 104 -> 100 is only 3.8 %; the rally to 101 does not split the fall from 105; the last fall has not recovered.
    assert falling_phases(index) == ((4, 7), (10, 11))
    assert falling_phases(index, threshold=0.03) == ((1, 2), (4, 7), (10, 11))
    assert falling_phases([100, 95]) == ((0, 1),)
    assert falling_phases([100, 95.1]) == ()
    assert falling_phases([100.0, 100.0, 90.0, 90.0, 100.0]) == ((1, 2),)
    assert falling_phases([1.0]) == ()


@given(PATHS, st.sampled_from([0.05, 0.2]))
@settings(max_examples=100, deadline=None)
def test_falling_phases_are_ordered_deep_enough_and_complete(path: list[float], threshold: float) -> None:
    phases = falling_phases(path, threshold)
    bounds = [day for phase in phases for day in phase]
    assert bounds == sorted(set(bounds))
    assert all(path[trough] <= path[peak] * (1 - threshold + 1e-9) for peak, trough in phases)
    deepest = WealthMetrics.from_path(path).max_drawdown
    found = max((1 - path[trough] / path[peak] for peak, trough in phases), default=0.0)
    assert found == pytest.approx(deepest) if deepest >= threshold else not phases


def test_relative_wealth() -> None:
    np.testing.assert_allclose(relative([1.0, 1.1, 1.2], [1.0, 1.0, 1.5]), [1.0, 1.1, 0.8])
    with pytest.raises(PricesError, match="same days"):
        relative([1.0, 1.1], [1.0])


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_a_level_that_cannot_be_is_named(bad: float) -> None:
    for evaluate in (WealthMetrics.from_path, falling_phases, lambda p: relative(p, [1.0, 1.0, 1.0])):
        with pytest.raises(PricesError, match="in row 1 is"):
            evaluate([1.0, bad, 1.0])
    with pytest.raises(PricesError, match="at least one day"):
        WealthMetrics.from_path([])
    with pytest.raises(PricesError, match="threshold is 5"):
        falling_phases([1.0, 0.9], threshold=5)
