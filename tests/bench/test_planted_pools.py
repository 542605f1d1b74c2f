"""Pools of base allocations."""

from datetime import date

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_worlds import episode, world

from memtrial.bench.planted.market import CLASSES, load_market
from memtrial.bench.planted.outcomes import measure
from memtrial.bench.planted.pools import (
    BUNDLED,
    CALIBRATED,
    DirichletPool,
    WeightsPool,
    drafts_of,
    named_pool,
    read_pool,
)
from memtrial.errors import InputError, WeightsError
from memtrial.portfolio import INVESTORS

DAYS = (date(2020, 1, 2), date(2020, 2, 3))


def test_the_calibrated_pool_has_the_published_mean():
    drawn = named_pool("calibrated", ()).draw(np.random.default_rng(0), DAYS, 20_000)
    assert drawn.shape == (2, 20_000, 4)
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), CALIBRATED, atol=0.005)
    shares = np.array(CALIBRATED)
    np.testing.assert_allclose(drawn.var(axis=(0, 1)), shares * (1 - shares) / 9, rtol=0.05)


@pytest.mark.parametrize(("name", "n"), [("portbench", 31), ("gpt-4.1-mini", 426)])
def test_real_allocations_are_bundled(name, n):
    pool = named_pool(name, load_market().days)
    assert isinstance(pool, WeightsPool)
    assert pool.weights.shape == (n, 4)
    assert pool.days is None
    assert pool.identity.startswith(name)
    planted = episode(pool=pool)
    np.testing.assert_allclose(planted.drafts.sum(axis=2), 1, atol=1e-12)
    base = planted.world.base.reshape(-1, 4)
    assert {tuple(row) for row in base.round(9)} <= {tuple(row) for row in pool.weights.round(9)}


def test_real_allocations_are_reduced_to_the_four_classes():
    from importlib import resources

    folder = resources.files("memtrial.bench.planted") / "data"
    with resources.as_file(folder / BUNDLED["portbench"]) as path:
        raw = polars.read_parquet(path)
    four = raw.select(CLASSES).to_numpy()
    np.testing.assert_allclose(named_pool("portbench", ()).weights, four / four.sum(axis=1, keepdims=True), atol=1e-15)
    assert raw["cryptocurrency"].sum() > 0


def test_the_bundled_drafts_are_those_of_the_logged_ones():
    from pathlib import Path

    logged = polars.read_csv(Path(__file__).parents[1] / "data" / "llm_drafts_memoryfree.csv")
    four = logged.select(CLASSES).to_numpy()
    np.testing.assert_allclose(
        named_pool("gpt-4.1-mini", ()).weights, four / four.sum(axis=1, keepdims=True), atol=1e-15
    )


def test_memory_free_and_reference_are_near_the_published_utilities():
    """Paper: .76 +- .08 and .788 +- .032 over worlds; a run of this pool elsewhere: .754 and .790."""
    free, reference, market = [], [], load_market()
    holdings = np.full(4, 0.25)
    for number in range(40):
        drawn = world(number)
        mean = drawn.memory_free.mean(axis=1, keepdims=True)
        for found, weights in ((free, drawn.base[:, :1]), (reference, mean)):
            parts = measure(weights, market.growth, holdings)
            by_investor = [parts.utility(investor.risk_aversion)[12:].mean() for investor in INVESTORS.values()]
            found.append(100 * np.mean(by_investor))
    assert abs(np.mean(free) - 0.754) < 3 * 0.08 / np.sqrt(40)
    assert abs(np.mean(reference) - 0.790) < 3 * 0.03 / np.sqrt(40)
    assert 0.05 < np.std(free, ddof=1) < 0.11
    assert 0.015 < np.std(reference, ddof=1) < 0.045


FRAME = {"equities": [0.5, 0.2], "bonds": [0.2, 0.2], "cash": [0.1, 0.4], "commodities": [0.0, 0.2], "gold": [0.2, 0.0]}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_pool_is_read_from_a_file(tmp_path, kind):
    path = tmp_path / f"mine.{kind}"
    frame = polars.DataFrame(FRAME)
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[kind](path)
    pool = named_pool(str(path), DAYS)
    np.testing.assert_allclose(pool.weights, [[0.625, 0.25, 0.125, 0], [0.2, 0.2, 0.4, 0.2]])
    drawn = pool.draw(np.random.default_rng(0), DAYS, 400)
    assert 0.4 < (drawn[..., 0] == 0.2).mean() < 0.6


def test_a_file_with_every_decision_date_draws_by_date(tmp_path):
    path = tmp_path / "dated.csv"
    polars.DataFrame(FRAME | {"date": [str(day) for day in DAYS]}).write_csv(path)
    drawn = read_pool(path, DAYS).draw(np.random.default_rng(0), DAYS, 3)
    np.testing.assert_allclose(drawn[0], [[0.625, 0.25, 0.125, 0]] * 3)
    np.testing.assert_allclose(drawn[1], [[0.2, 0.2, 0.4, 0.2]] * 3)
    assert read_pool(path, (*DAYS, date(2021, 1, 4))).days is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("equities,bonds,cash\n1,0,0\n", "no column commodities"),
        ("equities,bonds,cash,commodities\n0.5,0.5,0,0\n-0.1,0.5,0.3,0.3\n", "row 2"),
        ("equities,bonds,cash,commodities\n0,0,0,0\n", "row 1"),
        ("equities,bonds,cash,commodities\nmuch,0,0,0\n", "not a number"),
        ("equities,bonds,cash,commodities\n", "n > 0"),
    ],
)
def test_a_bad_file_is_refused_by_row(tmp_path, content, problem):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=problem):
        read_pool(path)


def test_unknown_pools_and_formats_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"neither calibrated, portbench, gpt-4\.1-mini nor a file"):
        named_pool("nowhere.csv", ())
    other = tmp_path / "pool.xlsx"
    other.write_bytes(b"PK")
    with pytest.raises(InputError, match="files end with"):
        read_pool(other)
    broken = tmp_path / "pool.parquet"
    broken.write_bytes(b"PAR1 not really")
    with pytest.raises(InputError, match="cannot be read"):
        read_pool(broken)
    with pytest.raises(WeightsError, match="do not sum to 1"):
        WeightsPool(np.array([[0.5, 0.2, 0.1, 0.1]]), name="short")


@settings(max_examples=20, deadline=None)
@given(
    concentration=st.floats(0.5, 50),
    shares=st.lists(st.floats(0.05, 1), min_size=4, max_size=4),
    seed=st.integers(0, 9),
)
def test_any_dirichlet_draws_allocations(concentration, shares, seed):
    mean = tuple(share / sum(shares) for share in shares)
    pool = DirichletPool(mean=mean, concentration=concentration)
    drawn = pool.draw(np.random.default_rng(seed), DAYS, 5)
    assert drawn.min() >= 0
    np.testing.assert_allclose(drawn.sum(axis=-1), 1, atol=1e-12)


async def test_any_policys_drafts_can_be_planted(tmp_path):
    market = load_market()
    seen = []

    def momentum(state, experiences):
        assert not experiences
        assert state.assets == CLASSES
        seen.append(state)
        return (1.0, 0.0, 0.0, 0.0) if "stocks rallied" in state.situation else (0.1, 0.6, 0.3, 0.0)

    pool = await drafts_of(momentum, market, draws=2, name="momentum")
    assert pool.weights.shape == (264, 4)
    assert {state.decided_at for state in seen} == set(market.decided_at)
    assert str(market.days[131]) in max(seen, key=lambda state: state.decided_at).text
    planted = episode("no_influence", pool=pool)
    by_day = dict(zip(pool.days, pool.weights.tolist(), strict=True))
    for month, day in enumerate(market.days):
        np.testing.assert_array_equal(planted.drafts[month], [by_day[day]] * 8)
    pool.write(tmp_path / "momentum.parquet")
    again = read_pool(tmp_path / "momentum.parquet", market.days)
    assert again.identity == pool.identity


async def test_a_policy_that_never_answers_is_no_pool():
    with pytest.raises(InputError, match="2015-04-01: the policy gave no valid draft"):
        await drafts_of(lambda state, experiences: (2.0, 0.0, 0.0, 0.0), load_market())
