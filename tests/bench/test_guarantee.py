"""The guarantee on histories without signal: it holds where it is claimed, and the naive product breaks it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from memtrial.bench.guarantee import NULLS, run_guarantee
from memtrial.bench.guarantee.lane import Ask, judged
from memtrial.errors import InputError
from memtrial.trial import Purse


@limits(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.floats(0.05, 0.95),
    st.sampled_from([0.0, 0.03, 0.3]),
    st.sampled_from([2.0, 40.0, math.inf]),
)
def test_scores_without_skill_never_make_money_on_average(
    seed: int, candidates: int, bet: float, fixed_share: float, cap: float
) -> None:
    """One step from any state: averaged over all orders of the measured values, the purse does not grow."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(candidates))
    predicted = rng.normal(size=(candidates, 4))
    measured = rng.exponential(size=4)
    start = Purse(prior.tolist(), bet=bet, fixed_share=fixed_share, cap=cap)
    for _ in range(int(rng.integers(0, 5))):
        start.settle(rng.uniform(-1, 1, candidates).tolist())
    wealth = []
    from itertools import permutations

    for order in permutations(range(4)):
        purse = Purse(prior.tolist(), bet=bet, fixed_share=fixed_share, cap=cap)
        purse.wealth, purse.shares = start.wealth, list(start.shares)
        scores = [float(np.corrcoef(row, measured[list(order)])[0, 1]) for row in predicted]
        purse.settle(scores)
        assert sum(purse.shares) == pytest.approx(1.0, abs=1e-12)
        wealth.append(purse.wealth)
    assert np.mean(wealth) <= start.wealth * (1 + 1e-12)


def test_the_paper_trusts_noise_and_the_purse_does_not() -> None:
    """Fixed seeds: 60 histories of 132 decisions."""
    rules = run_guarantee(lanes=60, nulls=["gaussian"], seed=1).nulls["gaussian"]
    assert rules["t_test"].ever_trusted_pct >= 12
    for rule in ("purse", "guarded"):
        assert rules[rule].ever_trusted_pct <= 6
    assert rules["guarded"].weight_pct <= 5


def test_five_hundred_decisions_do_not_wear_the_guarantee_down() -> None:
    rules = run_guarantee(lanes=20, nulls=["gaussian_500"], seed=3).nulls["gaussian_500"]
    assert rules["t_test"].ever_trusted_pct >= 12
    assert rules["guarded"].ever_trusted_pct <= 10
    assert rules["guarded"].weight_pct <= 5


def test_overlapping_outcomes_break_the_naive_product_and_not_the_purses_that_take_turns() -> None:
    rules = run_guarantee(lanes=60, nulls=["overlapping"], seed=2).nulls["overlapping"]
    assert rules["naive"].ever_trusted_pct > 5 + rules["naive"].ever_trusted_se
    assert rules["guarded"].ever_trusted_pct <= 5
    assert rules["purse"].ever_trusted_pct <= 5
    assert rules["guarded"].weight_pct <= 5


@pytest.mark.parametrize("null", NULLS)
def test_a_history_depends_on_its_number_alone(null: str) -> None:
    first, again = judged(Ask(null, 3, 0)), judged(Ask(null, 3, 0))
    assert first == again
    assert judged(Ask(null, 4, 0)) != first


def test_an_unknown_null_is_named() -> None:
    with pytest.raises(InputError, match="gaussian_500"):
        run_guarantee(lanes=1, nulls=["normal"])
