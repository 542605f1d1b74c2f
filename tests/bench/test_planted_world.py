"""The laws of a planted world."""

from dataclasses import fields
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_worlds import episode, world

from memtrial.bench.methods.contract import Occasion, Realised
from memtrial.bench.planted.episode import SKILL, Episode
from memtrial.bench.planted.market import CLASSES, build, load_market
from memtrial.bench.planted.outcomes import measure
from memtrial.bench.planted.plan import DESIGNS
from memtrial.bench.planted.regimes import CORE, MONTHS, PAPER, REGIMES, TURNS, Regime, named_regimes
from memtrial.bench.planted.setting import Setting
from memtrial.bench.planted.world import mask
from memtrial.errors import InputError, PricesError
from memtrial.market.classalloc import ASSETS, load
from memtrial.portfolio import INVESTORS, TRADING_COST, utilities

SETTINGS = st.builds(
    lambda design, reference, mandate: Setting(k=design[0], design=design[1], reference=reference, mandate=mandate),
    st.sampled_from(DESIGNS),
    st.sampled_from(["memory_free", "1/N"]),
    st.booleans(),
)
few = settings(max_examples=15, deadline=None)


def test_the_regimes_are_those_of_the_paper_and_of_what_turns():
    table = {key: (r.influence, r.useful, r.neutral, r.misleading, r.signal, r.turn) for key, r in REGIMES.items()}
    assert table == {
        "no_influence": (0.0, 3, 6, 3, 0.0, "never"),
        "noise_only": (0.5, 0, 12, 0, 0.0, "never"),
        "beta_0.1": (0.1, 3, 6, 3, 0.0, "never"),
        "beta_0.25": (0.25, 3, 6, 3, 0.0, "never"),
        "beta_0.5": (0.5, 3, 6, 3, 0.0, "never"),
        "many": (0.25, 12, 24, 12, 0.0, "never"),
        "informative": (0.25, 12, 24, 12, 1.5, "never"),
        "harm_0.25": (0.25, 0, 6, 6, 0.0, "never"),
        "harm_0.5": (0.5, 0, 6, 6, 0.0, "never"),
        "swap_0.25": (0.25, 3, 6, 3, 0.0, "swap"),
        "swap_0.5": (0.5, 3, 6, 3, 0.0, "swap"),
        "lost_0.25": (0.25, 3, 6, 3, 0.0, "lost"),
        "lost_0.5": (0.5, 3, 6, 3, 0.0, "lost"),
        "fade_0.5": (0.5, 3, 6, 3, 0.0, "fade"),
    }
    assert tuple(REGIMES)[:5] == CORE
    assert tuple(REGIMES)[:7] == PAPER
    assert TURNS == ("swap_0.25", "swap_0.5", "lost_0.25", "lost_0.5", "fade_0.5")
    assert named_regimes(["turns", "core", "beta_0.1"]) == tuple(REGIMES[key] for key in (*CORE, *TURNS))
    with pytest.raises(InputError, match=r"'swop' is unknown.*swap_0\.5"):
        named_regimes(["swop"])


@pytest.mark.parametrize("wrong", [{"influence": 1.5}, {"key": "a/b"}, {"useful": -1}, {"turn": "jump"}])
def test_an_impossible_regime_is_refused(wrong):
    with pytest.raises(InputError, match="regime"):
        Regime(**({"key": "mine", "label": "Mine", "influence": 0.5} | wrong))


def test_the_market_is_that_of_the_bundled_prices():
    market, bundled = load_market(), load()
    assert market.days[0] == date(2015, 4, 1)
    assert market.days[-1] == date(2026, 3, 2)
    assert market.n_dates == MONTHS == 132
    columns = [ASSETS.index(name) for name in CLASSES]
    for month in (0, 50, 131):
        row = bundled.session(market.days[month])
        after = bundled.levels[row : row + 21, columns]
        np.testing.assert_allclose(market.growth[month], after / after[0], rtol=1e-12)
        before = bundled.levels[row - 60 : row + 1, columns]
        np.testing.assert_array_equal(market.past[month], before[1:] / before[:-1] - 1)
        assert market.rising[month] == ((before[1:, 0] / before[:-1, 0] - 1).mean() > 0)
        total = after[-1] / after[0]
        assert (total[market.best[month]], total[market.worst[month]]) == (total.max(), total.min())


def test_an_outcome_is_known_before_the_next_decision_and_not_before_its_own():
    market = load_market()
    for known, (this, following) in zip(market.known_at, pairwise(market.decided_at), strict=False):
        assert this < known < following


def test_too_few_prices_are_refused():
    bundled = load()
    with pytest.raises(PricesError, match="132 monthly decisions"):
        build(bundled.dates[:2800], bundled.levels[:2800, :4])


@few
@given(regime=st.sampled_from(list(REGIMES)), setting=SETTINGS, number=st.integers(0, 50))
def test_every_portfolio_is_an_allocation_within_the_mandate(regime, setting, number):
    planted = episode(regime, number=number, setting=setting)
    for investor in INVESTORS.values():
        for realised in list(planted.desk(investor))[::33]:
            occasion = realised.occasion
            held = np.vstack(
                [occasion.drafts, occasion.memory_free, occasion.reference, occasion.equal_weight,
                 occasion.further((0, setting.k - 1) if setting.k > 1 else (0,))]
            )  # fmt: skip
            assert held.min() >= 0
            np.testing.assert_allclose(held.sum(axis=1), 1, atol=1e-12)
            assert occasion.mandate.satisfied(held).all()
            np.testing.assert_array_equal(occasion.holdings, 0.25)


@few
@given(setting=SETTINGS, number=st.integers(0, 50))
def test_without_influence_drafts_are_base_draws_whatever_they_were_shown(setting, number):
    planted = episode("no_influence", number=number, setting=setting)
    masks = [mask(subset) for subset in setting.drafted.subsets]
    np.testing.assert_array_equal(planted.drafts, planted.world.base[:, masks])


@few
@given(regime=st.sampled_from(list(REGIMES)), number=st.integers(0, 50), month=st.integers(0, MONTHS - 1))
def test_a_draft_is_base_and_the_mean_of_where_its_experiences_point(regime, number, month):
    planted = episode(regime, number=number)
    beta = planted.influence[month]
    for row, subset in enumerate(planted.setting.drafted.subsets):
        base = planted.world.base[month, mask(subset)]
        pointed = [planted.pointed[month, planted.retrieved[month, rank]] for rank in subset]
        mean = np.bincount(pointed, minlength=4) / max(len(subset), 1)
        expected = base if not subset else (1 - beta) * base + beta * mean
        np.testing.assert_allclose(planted.drafts[month, row], expected, atol=1e-15)
        np.testing.assert_allclose(planted.draft(month, subset), expected, atol=1e-15)


def test_useful_experiences_point_to_the_best_class_and_misleading_ones_to_the_worst():
    hits = {1: [], 0: [], -1: []}
    for number in range(60):
        planted = episode("beta_0.5", number=number)
        market = planted.market
        aims = {1: market.best, 0: market.best, -1: market.worst}
        for kind, target in aims.items():
            hits[kind].append((planted.pointed == target[:, None])[planted.quality == kind])
    # By its type with probability 0.7, else anywhere: a quarter of the rest hits as well.
    expected = {1: SKILL + (1 - SKILL) / 4, 0: 0.25, -1: SKILL + (1 - SKILL) / 4}
    for kind, found in hits.items():
        sample = np.concatenate(found)
        error = np.sqrt(expected[kind] * (1 - expected[kind]) / sample.size)
        assert abs(sample.mean() - expected[kind]) < 4 * error, kind


def test_retrieval_prefers_the_home_regime_and_is_in_descending_order():
    at_home = []
    for number in range(30):
        planted = episode("many", number=number)
        draws = planted.world.experiences(48)
        assert (np.diff(planted.similarity, axis=1) <= 0).all()
        assert all(len(set(row)) == 4 for row in planted.retrieved.tolist())
        scores = (draws.home == planted.market.rising[:, None]) + draws.noise
        np.testing.assert_array_equal(np.sort(scores, axis=1)[:, ::-1][:, :4], planted.similarity)
        at_home.append((draws.home[planted.retrieved] == planted.market.rising[:, None]).mean())
        assert 0.2 < draws.home.mean() < 0.8
        assert abs(draws.noise.std() - 0.5) < 0.02
    assert np.mean(at_home) > 0.9


def test_types_are_shuffled_and_counted():
    seen = set()
    for number in range(20):
        quality = episode("beta_0.25", number=number).quality[0]
        assert sorted(quality.tolist()) == [-1] * 3 + [0] * 6 + [1] * 3
        seen.add(tuple(quality.tolist()))
    assert len(seen) > 15
    assert sorted(episode("harm_0.5").quality[0].tolist()) == [-1] * 6 + [0] * 6
    assert not episode("noise_only").quality.any()


def test_content_tells_the_type_only_where_it_is_informative():
    rows = {key: [] for key in ("many", "informative")}
    for key, found in rows.items():
        for number in range(60):
            planted = episode(key, number=number)
            kinds = planted.quality[0]
            found.append([planted.features[kinds == kind].mean(axis=0) for kind in (1, 0, -1)])
    informative, many = np.mean(rows["informative"], axis=0), np.mean(rows["many"], axis=0)
    np.testing.assert_allclose(informative[:, 0], [1.5, 0, -1.5], atol=0.15)
    assert np.abs(informative[:, 1:]).max() < 0.15
    assert np.abs(many).max() < 0.15


def test_what_turns_turns_at_test_month_60():
    before, swapped, lost = (episode(key) for key in ("beta_0.5", "swap_0.5", "lost_0.5"))
    np.testing.assert_array_equal(swapped.quality[:72], before.quality[:72])
    np.testing.assert_array_equal(swapped.quality[72:], -before.quality[72:])
    np.testing.assert_array_equal(swapped.drafts[:72], before.drafts[:72])
    np.testing.assert_array_equal(lost.drafts[:72], before.drafts[:72])
    assert not lost.quality[72:].any()
    assert (lost.influence == 0.5).all()
    base = lost.world.base[:, [mask(subset) for subset in lost.setting.drafted.subsets]]
    assert np.abs(lost.drafts - base)[72:, 1:].max() > 0.1
    faded = episode("fade_0.5").influence
    np.testing.assert_allclose(faded[[0, 72, 84, 96, 131]], [0.5, 0.5, 0.25, 0, 0])
    np.testing.assert_allclose(np.diff(faded[72:97]), -0.5 / 24)


@few
@given(number=st.integers(0, 1000), seed=st.integers(0, 5))
def test_the_same_seed_gives_the_same_bytes(number, seed):
    first, second = world(number, seed=seed), world(number, seed=seed)
    for one, other in ((first.base, second.base), (first.memory_free, second.memory_free)):
        assert one.tobytes() == other.tobytes()
    draws, again = first.experiences(12), second.experiences(12)
    for field in fields(draws):
        assert getattr(draws, field.name).tobytes() == getattr(again, field.name).tobytes()
    assert first.base.tobytes() != world(number + 1, seed=seed).base.tobytes()
    assert first.base.tobytes() != world(number, seed=seed + 1).base.tobytes()
    assert first.stream("method memrl").random() == second.stream("method memrl").random()
    assert first.stream("method memrl").random() != first.stream("method hedge").random()


def test_regimes_designs_and_investors_of_a_world_share_their_draws():
    half, full = episode(setting=Setting(k=4, design="half")), episode(setting=Setting(k=4, design="full"))
    rows = [full.setting.drafted.subsets.index(subset) for subset in half.setting.drafted.subsets]
    np.testing.assert_array_equal(half.drafts, full.drafts[:, rows])
    six = episode(setting=Setting(k=6, design="half"))
    np.testing.assert_array_equal(six.retrieved[:, :4], half.retrieved)
    balanced = INVESTORS["balanced"]
    many, informative = (episode(key) for key in ("many", "informative"))
    for one, other in ((many, informative), (half, episode("no_influence"))):
        np.testing.assert_array_equal(one.desk(balanced).reference_utility, other.desk(balanced).reference_utility)
    np.testing.assert_array_equal(many.drafts, informative.drafts)
    cautious, bold = (half.desk(INVESTORS[name]) for name in ("conservative", "aggressive"))
    np.testing.assert_array_equal(cautious.occasion(7).drafts, bold.occasion(7).drafts)
    # A draft that is not in the design is the one that the full design makes.
    np.testing.assert_allclose(cautious.occasion(7).further((1,)), full.drafts[7, 2], atol=1e-15)


def test_the_reference_is_the_mean_of_the_memory_free_draws_or_equal_weight():
    occasion = episode().desk(INVESTORS["balanced"]).occasion(3)
    np.testing.assert_allclose(occasion.reference, occasion.memory_free.mean(axis=0), atol=1e-15)
    weak = episode(setting=Setting(reference="1/N")).desk(INVESTORS["balanced"]).occasion(3)
    np.testing.assert_array_equal(weak.reference, 0.25)
    assert len(weak.memory_free) == 8


def test_nothing_of_the_future_is_in_an_occasion():
    """Prices after a decision change its drafts only through where experiences point, and nothing else."""
    planted = episode("no_influence")
    market, month = planted.market, 40
    shocked = np.array(market.returns)
    shocked[month:] *= -1.0
    growth = np.ones(market.growth.shape)
    np.cumprod(1 + shocked, axis=1, out=growth[:, 1:])
    other_market = type(market)(
        **{field.name: getattr(market, field.name) for field in fields(market)}
        | {"returns": shocked, "growth": growth, "best": market.worst, "worst": market.best}
    )
    other_world = type(planted.world)(0, 0, market=other_market, pool=planted.world.pool)
    other = Episode(other_world, planted.regime, planted.setting)
    ours, theirs = (each.desk(INVESTORS["balanced"]).occasion(month) for each in (planted, other))
    for field in fields(Occasion):
        if field.name in ("further", "mandate", "design"):
            continue
        one, another = getattr(ours, field.name), getattr(theirs, field.name)
        assert np.array_equal(one, another), field.name
    np.testing.assert_array_equal(ours.further((0,)), theirs.further((0,)))
    assert ours.past_returns.shape == (60, 4)
    assert not np.shares_memory(ours.past_returns, market.returns)


@few
@given(regime=st.sampled_from(list(REGIMES)), setting=SETTINGS, month=st.integers(0, MONTHS - 1))
def test_what_was_measured_beforehand_is_what_the_contract_measures(regime, setting, month):
    for investor in INVESTORS.values():
        ours = list(episode(regime, setting=setting).desk(investor))[month]
        plain = Realised(ours.occasion, ours.returns, TRADING_COST)
        for name in ("drafts", "blends", "equal_weight"):
            np.testing.assert_allclose(getattr(ours, name), getattr(plain, name), rtol=0, atol=1e-15)
        reference = ours.occasion.reference[None]
        np.testing.assert_allclose(ours.utilities(reference), plain.utilities(reference), rtol=0, atol=1e-15)


def test_measure_is_equation_1():
    market, rng = load_market(), np.random.default_rng(3)
    weights = rng.dirichlet(np.ones(4), 30)
    parts = measure(weights, market.growth[9], np.full(4, 0.25))
    expected = utilities(weights, market.returns[9], holdings=np.full(4, 0.25), risk_aversion=5.0)
    np.testing.assert_allclose(parts.utility(5.0), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("wrong", [{"k": 7}, {"k": 2, "design": "half"}, {"reference": "cash"}])
def test_an_impossible_setting_is_refused(wrong):
    with pytest.raises(InputError):
        Setting(**wrong)
