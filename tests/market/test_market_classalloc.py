"""The class indices: built by the rule from real prices, checked against published levels."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from memtrial.errors import PricesError
from memtrial.market import class_index, class_situation
from memtrial.market.classalloc import ASSETS, bundled_outcomes, load

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def built() -> tuple[list[date], dict[str, np.ndarray]]:
    prices = pl.read_parquet(DATA / "class_prices_2015.parquet")
    classes = pl.read_csv(DATA / "asset_classes.csv")
    tickers = classes["ticker"].to_list()
    dates = prices["date"].to_list()
    levels = class_index(dates, prices.select(tickers).to_numpy(), classes["class"].to_list(), start=date(2015, 1, 2))
    return dates, dict(levels)


def test_the_bundled_levels_are_built_by_the_rule(built: tuple[list[date], dict[str, np.ndarray]]) -> None:
    dates, levels = built
    market = load()
    assert list(market.dates) == dates
    for column, asset in enumerate(ASSETS):
        assert market.levels[:, column] == pytest.approx(levels[asset], rel=1e-12)


def test_levels_agree_with_the_published_ones(built: tuple[list[date], dict[str, np.ndarray]]) -> None:
    dates, levels = built
    checked = 0
    with (DATA / "reference_levels.csv").open() as file:
        for row in csv.DictReader(file):
            if row["class"] == "equities":
                continue  # published without the dividends of 18 stocks: see the next test
            ours = levels[row["class"]][dates.index(date.fromisoformat(row["date"]))]
            assert ours == pytest.approx(float(row["level_published"]), rel=3e-7)
            checked += 1
    assert checked == 24


def test_equities_differ_by_the_dividends_only(built: tuple[list[date], dict[str, np.ndarray]]) -> None:
    dates, levels = built
    with (DATA / "reference_levels.csv").open() as file:
        first = [row for row in csv.DictReader(file) if row["class"] == "equities"][:4]
    published = np.array([float(row["level_published"]) for row in first])
    ours = levels["equities"][[dates.index(date.fromisoformat(row["date"])) for row in first]]
    assert np.abs(np.diff(np.log(ours)) - np.diff(np.log(published))).max() < 6e-4


def test_shipped_outcomes_are_the_levels_twenty_sessions_on() -> None:
    market = load()
    assert len(market.decisions) == 129
    assert sum(when.split == "test" for when in market.decisions) == 71
    for when, moves in zip(market.decisions, bundled_outcomes(), strict=True):
        row = market.session(when.day)
        assert market.dates[row + 20] == when.outcome_day
        assert np.prod(1 + market.returns_between(when.day, when.outcome_day), axis=0) - 1 == pytest.approx(moves)


def test_the_context_is_the_papers() -> None:
    """Table E.1 and Appendix G.2 quote the market data of 1 April 2022; equities differ by dividends."""
    text = load().context(date(2022, 4, 1))
    assert "bonds: 1-month -2.06; 3-month -5.59; 6-month -5.23; volatility 0.45" in text
    assert "commodities: 1-month -1.35; 3-month +21.55; 6-month +22.05; volatility 2.03" in text
    assert "cash: 1-month -0.05; 3-month -0.12; 6-month -0.16; volatility 0.01" in text


def test_nothing_after_the_decision_enters_its_context() -> None:
    market = load()
    day = date(2022, 4, 1)
    future = market.levels.copy()
    future[market.session(day) + 1 :] *= 3.0
    scrambled = type(market)(dates=market.dates, levels=future, decisions=market.decisions)
    assert scrambled.context(day) == market.context(day)
    assert scrambled.situation(day) == market.situation(day)


def test_situations_carry_no_numbers_and_no_outcome() -> None:
    market = load()
    texts = [market.situation(when.day) for when in market.decisions]
    assert not any(character.isdigit() for text in texts for character in text)
    assert len(set(texts[:58])) == 58


def test_the_mirror_image_of_a_situation_reads_differently() -> None:
    rng = np.random.default_rng(0)
    past = rng.normal(0.001, 0.01, (126, 5))
    assert class_situation(ASSETS, past) != class_situation(ASSETS, -past)


def small() -> tuple[list[date], np.ndarray]:
    dates = [date(2015, 1, 1) + timedelta(days=day) for day in range(60)]
    prices = np.cumprod(np.full((60, 2), 1.01), axis=0)
    return dates, prices


def test_a_late_listing_waits_twenty_sessions() -> None:
    dates, prices = small()
    prices[:40, 1] = np.nan
    prices[40:, 1] = np.cumprod(np.full(20, 2.0))
    levels = class_index(dates, prices, ["a", "a"], start=dates[0])["a"]
    assert levels[-1] == pytest.approx(1.01**59)


def test_an_asset_without_a_price_is_left_out_of_the_day() -> None:
    dates, prices = small()
    prices[10, 1] = np.nan
    levels = class_index(dates, prices, ["a", "a"], start=dates[0])["a"]
    assert levels[-1] == pytest.approx(1.01**59)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda dates, prices: (dates[::-1], prices), "does not come after"),
        (lambda dates, prices: (dates, prices[:, :1]), "shape"),
        (lambda dates, prices: (dates, -prices), "not a positive number"),
        (lambda dates, prices: (dates, prices * np.inf), "not a positive number"),
        (lambda dates, prices: ([day + timedelta(days=400) for day in dates], prices), "not among"),
    ],
)
def test_bad_prices_are_named(spoil: object, message: str) -> None:
    dates, prices = spoil(*small())  # type: ignore[operator]
    with pytest.raises(PricesError, match=message):
        class_index(dates, prices, ["a", "b"], start=date(2015, 1, 1))


def test_a_day_without_a_session_is_named() -> None:
    market = load()
    with pytest.raises(PricesError, match="not a trading session"):
        market.session(date(2022, 4, 2))
    with pytest.raises(PricesError, match="are needed"):
        market.returns_before(date(2015, 1, 5), 126)
