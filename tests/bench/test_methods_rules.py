"""Every scoring rule against numbers worked out by hand, and the estimators against a plain computation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from methods_worlds import BOUND, COST, Date, frozen, plain, play, settle, world
from numpy.typing import NDArray

from memtrial.bench.methods import (
    Action,
    Anchored,
    CounterfactualSelection,
    DraftAveraging,
    EqualWeight,
    ExpeL,
    FinMem,
    Hedge,
    MemoryFree,
    MemRL,
    Method,
    MinimumVariance,
    Realised,
    Reflexion,
    SelfConsistency,
    SimilarityTop,
    UpliftCredit,
)
from memtrial.bench.methods.drafts import best_pair, random_pair
from memtrial.bench.methods.uplift import RunningRidge
from memtrial.errors import InputError
from memtrial.portfolio import minimum_variance
from memtrial.trial import Anchor, blends


class Greedy:
    """Randomness under which nothing is ever explored."""

    def random(self) -> float:
        return 1.0


def never() -> np.random.Generator:
    return Greedy()  # type: ignore[return-value]


def shown(method: Method, date: Date) -> set[int]:
    """Ranks that the deployed draft of a plain date was made with; the action is not settled."""
    return set(np.flatnonzero(method.act(date.occasion).weights).tolist())


def after(method: Method, *outcomes: Sequence[float]) -> Method:
    """``method`` after one plain date for each of ``outcomes``, one day's returns of the four assets."""
    play(method, [plain(number, returns=returns) for number, returns in enumerate(outcomes)])
    return method


def worth(method: Method, *ids: str) -> list[float]:
    return method.worth(ids, np.zeros((len(ids), 8))).tolist()  # type: ignore[attr-defined]


def test_one_over_n_is_not_the_reference() -> None:
    assert EqualWeight().act(plain(0).occasion).weights.tolist() == [0.25] * 4


def test_minimum_variance_is_estimated_from_the_last_sixty_days() -> None:
    occasion = world(1, 1)[0].occasion
    past = np.concatenate([np.random.default_rng(2).normal(0, 0.2, (40, 4)), occasion.past_returns])
    action = MinimumVariance().act(replace(occasion, past_returns=frozen(past)))
    np.testing.assert_array_equal(action.weights, BOUND.project(minimum_variance(occasion.past_returns)))


def test_self_consistency_averages_the_draws_and_otherwise_holds_the_memory_free_draft() -> None:
    occasion = plain(0).occasion
    assert SelfConsistency().act(occasion).weights.tolist() == [0.25] * 4
    drawn = replace(occasion, memory_free=frozen([[1, 0, 0, 0], [0, 1, 0, 0]]))
    assert SelfConsistency().act(drawn).weights.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_retrieval_and_memory_free_take_their_draft() -> None:
    assert shown(SimilarityTop(2), plain(0)) == {0, 1}
    assert shown(SimilarityTop(4), plain(0)) == {0, 1, 2, 3}
    assert MemoryFree().act(plain(0).occasion).weights.tolist() == [0.25] * 4


def test_a_missing_draft_gives_the_reference_and_a_subset_outside_the_design_a_further_draft() -> None:
    assert SimilarityTop(2).act(plain(0, missing=[(0, 1)]).occasion).weights.tolist() == [0.1, 0.2, 0.3, 0.4]
    half = world(1, 1, ks=(3,), kind="half", further=True)[0].occasion
    np.testing.assert_array_equal(SimilarityTop(4).act(half).weights, half.further((0, 1, 2)))


def test_draft_averaging_averages_what_is_valid() -> None:
    occasion = plain(0, missing=[(0, 1), (2, 3)]).occasion
    np.testing.assert_allclose(DraftAveraging().act(occasion).weights, [0.25] * 4)
    nothing = replace(occasion, drafts=frozen(np.full((8, 4), np.nan)))
    assert DraftAveraging().act(nothing).weights.tolist() == [0.1, 0.2, 0.3, 0.4]


def test_the_best_pair_breaks_ties_by_rank_and_takes_what_there_is() -> None:
    assert best_pair([0.0, 1.0, 0.0, 1.0]) == (1, 3)
    assert best_pair([0.0, 0.0, 0.0, 1.0]) == (0, 3)
    assert best_pair([-1.0, -1.0, -1.0]) == (0, 1)
    assert (best_pair([5.0]), best_pair([])) == ((0,), ())


def test_a_random_pair_is_any_pair_alike() -> None:
    rng = np.random.default_rng(0)
    counts = dict.fromkeys([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], 0)
    for _ in range(6000):
        counts[random_pair(rng, 4)] += 1
    assert all(880 < count < 1120 for count in counts.values())
    assert (random_pair(rng, 1), random_pair(rng, 0)) == ((0,), ())


GOOD, BAD = (0.1, 0.1, 0.0, 0.0), (-0.1, -0.1, 0.0, 0.0)
"""Days on which the draft of the first two ranks earns more, and less, than 1/N."""


def test_finmem_weighs_similarity_with_importance() -> None:
    assert worth(after(FinMem(), GOOD), "a", "b", "c") == [1.0, 1.0, 0.0]
    # 0.9 and 0.8 fall to 0.8 and 0.7; c has 0.7 too, and the more similar is kept.
    assert shown(after(FinMem(), BAD), plain(9)) == {0, 1}
    # A second loss leaves 0.7 and 0.6, and c overtakes b.
    assert shown(after(FinMem(), BAD, BAD), plain(9)) == {0, 2}
    assert shown(after(FinMem(), BAD, BAD, GOOD), plain(9)) == {0, 1}


def test_finmem_counts_what_was_used_only() -> None:
    method = FinMem()
    date = plain(0, returns=BAD, missing=[(0, 1)])
    settle(method, date, method.act(date.occasion))
    assert worth(method, "a", "b", "c", "d") == [0.0] * 4


def test_expel_votes_and_starts_from_similarity() -> None:
    assert shown(ExpeL(), plain(0)) == {0, 1}
    assert worth(after(ExpeL(), GOOD, GOOD, BAD), "a", "b", "c") == [1.0, 1.0, 0.0]
    assert shown(after(ExpeL(), BAD), plain(9)) == {2, 3}


def test_an_outcome_that_only_equals_one_over_n_is_a_vote_against() -> None:
    assert worth(after(ExpeL(), (0.01, 0.01, 0.01, 0.01)), "a") == [-1.0]  # costs are paid
    level = plain(0)
    method = ExpeL()
    action = method.act(level.occasion)
    drifted = Date(replace(level.occasion, equal_weight=action.weights), level.returns)
    settle(method, drifted, action)
    assert worth(method, "a") == [-1.0]


def test_memrl_moves_a_tenth_of_the_way() -> None:
    # Draft (½, ½, 0, 0) from holdings ¼ each: gross 10 %, cost 15 bp of 1.
    first = 0.1 * (0.1 - COST)
    assert worth(after(MemRL(never()), GOOD), "a", "b", "c") == pytest.approx([first, first, 0.0])
    second = first + 0.1 * ((-0.1 - COST) - first)
    method = after(MemRL(never()), GOOD, BAD)
    assert worth(method, "a") == pytest.approx([second])
    assert second < 0
    assert shown(method, plain(9)) == {2, 3}


def test_memrl_explores_a_tenth_of_the_dates() -> None:
    method = MemRL(np.random.default_rng(3))
    other = sum(shown(method, plain(number)) != {0, 1} for number in range(3000))
    assert other / 3000 == pytest.approx(0.1 * 5 / 6, abs=0.015)


def test_reflexion_follows_the_last_three_winners() -> None:
    assert Reflexion().act(plain(0).occasion).weights.tolist() == [0.25] * 4
    method = after(Reflexion(), (0.01, 0, 0, 0))
    np.testing.assert_allclose(method.act(plain(9).occasion).weights, [0.4375, 0.1875, 0.1875, 0.1875])
    method = after(Reflexion(), (0.01, 0, 0, 0), (0, 0, 0, 0.01), (0, 0, 0.01, 0), (0, 0, 0.02, 0))
    np.testing.assert_allclose(method.act(plain(9).occasion).weights, [0.1875, 0.1875, 0.1875 + 1 / 6, 0.1875 + 1 / 12])


def test_reflexion_compounds_returns_and_keeps_the_mandate() -> None:
    method, date = Reflexion(), world(1, 1)[0]
    steady, volatile = [0.01] * 20, [0.2, -0.18] * 10  # the higher mean compounds to less
    returns = np.column_stack([volatile, steady, [0.0] * 20, [0.0] * 20])
    settle(method, Date(date.occasion, returns), method.act(date.occasion))
    tilted = 0.75 * date.occasion.drafts[0] + 0.25 * np.array([0, 1, 0, 0])
    np.testing.assert_allclose(method.act(date.occasion).weights, BOUND.project(tilted))


def ridge(rows: NDArray[np.float64], targets: NDArray[np.float64], penalty: Sequence[float]) -> NDArray[np.float64]:
    return np.linalg.solve(rows.T @ rows + np.diag(penalty), rows.T @ targets)


def test_a_running_ridge_equals_the_regression_solved_afresh() -> None:
    rng = np.random.default_rng(4)
    rows = np.zeros((400, 40))
    regression = RunningRidge()
    columns: list[int] = []
    targets = rng.normal(0, 3, 400)
    for number, target in enumerate(targets):
        while len(columns) < min(40, 5 + number // 4):  # new columns come in all the time
            columns.append(regression.column(0.001 if len(columns) < 2 else 1.0))
        where = [0, 1, *(2 + rng.choice(len(columns) - 2, 2, replace=False))]
        rows[number, where] = [1.0, rng.normal(0, 3), 1.0, 1.0]
        regression.add(where, rows[number, where].tolist(), float(target))
    expected = ridge(rows, targets, [0.001] * 2 + [1.0] * 38)
    np.testing.assert_allclose([regression[column] for column in columns], expected, rtol=1e-9, atol=1e-10)


def test_uplift_is_the_ridge_coefficient_with_the_market_held_fixed() -> None:
    dates = world(5, 50)
    method = UpliftCredit(np.random.default_rng(1))
    names = [f"experience {i}" for i in range(8)]
    rows, targets = np.zeros((50, 10)), np.zeros(50)
    for number, date in enumerate(dates):
        action = method.act(date.occasion)
        settlement = settle(method, date, action)
        drafts = date.occasion.drafts
        subset = date.occasion.design.subsets[int((drafts == action.weights).all(axis=1).argmax())]
        rows[number, :2] = 1.0, 100 * settlement.realised.equal_weight
        for rank in subset:
            rows[number, 2 + names.index(date.occasion.retrieved[rank])] = 1.0
        targets[number] = 100 * settlement.utility
    expected = ridge(rows, targets, [0.001] * 2 + [1.0] * 8)[2:] / 100
    np.testing.assert_allclose(worth(method, *names), expected, rtol=1e-8, atol=1e-12)


def test_uplift_uses_the_two_highest_coefficients() -> None:
    method = UpliftCredit(never())
    # a and b lose against the market, then c and d are used.
    date = plain(0, returns=(-0.1, -0.1, 0.1, 0.1))
    settle(method, date, method.act(date.occasion))
    assert shown(method, plain(1)) == {2, 3}


def test_counterfactual_selection_ranks_mean_contributions() -> None:
    method = CounterfactualSelection()
    date = plain(0, returns=(0.0, 0.04, 0.0, 0.02))
    settle(method, date, method.act(date.occasion))
    utilities = Realised(date.occasion, date.returns, COST).drafts
    shows = date.occasion.design.membership
    expected = [utilities[shows[:, j]].mean() - utilities[~shows[:, j]].mean() for j in range(4)]
    assert worth(method, "a", "b", "c", "d") == pytest.approx(expected)
    assert shown(method, plain(1)) == {1, 3}
    # An experience that was never measured counts 0: better than a and c, which did harm.
    assert min(expected) < 0
    assert shown(method, plain(2, retrieved=("a", "new", "c", "newer"))) == {1, 3}


def test_hedge_starts_at_its_prior() -> None:
    date = plain(0)
    weights = Hedge(never()).act(date.occasion).weights
    # 1/N, memory-free and all four: ¼ each. FinMem and MemRL: the first two.
    np.testing.assert_allclose(weights, [0.35, 0.35, 0.15, 0.15])
    anchored = Hedge(never(), fixed="reference", prior=0.9).act(date.occasion).weights
    np.testing.assert_allclose(anchored, 0.9 * np.array([0.1, 0.2, 0.3, 0.4]) + 0.025 * np.array([1.5, 1.5, 0.5, 0.5]))


def test_hedge_weighs_exponentially_at_the_scale_of_the_gaps() -> None:
    method = Hedge(never())
    play(method, [plain(0, returns=GOOD)])
    # 1/N, memory-free and top-4 hold ¼ each and earn 5 %; FinMem and MemRL earn 10 % less 15 bp.
    quarter, pair = 0.05, 0.1 - COST
    sigma = 0.5 * (0.5 * (quarter + pair) - quarter)
    ratio = math.exp((pair - quarter) / (4 * sigma / math.sqrt(1)))
    total = 3 + 2 * ratio
    assert method.shares() == pytest.approx([1 / total] * 3 + [ratio / total] * 2)


def test_hedge_lets_its_own_agents_learn_from_their_own_drafts() -> None:
    method = Hedge(never())
    play(method, [plain(0, returns=BAD), plain(1, returns=BAD)])
    choices = method.act(plain(2).occasion).choices
    # MemRL has lost with a and b and tries c and d; FinMem as worked out above.
    assert [choice.subset for choice in choices] == [(), (0, 1, 2, 3), (0, 2), (2, 3)]


def test_hedge_keeps_its_prior_while_nothing_differs() -> None:
    method = Hedge(never())
    date = plain(0)
    level = replace(date.occasion, drafts=frozen(np.full((8, 4), 0.25)))
    settle(method, Date(level, date.returns), method.act(level))
    assert method.shares() == [0.2] * 5


def test_the_anchor_is_learned_from_the_blends_with_what_it_wraps() -> None:
    method, own, anchor = Anchored(FinMem()), FinMem(), Anchor(0.9, 4.0)
    weights: list[float] = []
    for date in world(8, 40):
        occasion = date.occasion
        alone = own.act(occasion)
        action = method.act(occasion)
        q = anchor.weight()
        weights.append(q)
        np.testing.assert_allclose(action.weights, q * occasion.reference + (1 - q) * alone.weights, atol=1e-15)
        settle(own, date, alone)
        settle(method, date, action)
        anchor.learn(Realised(occasion, date.returns, COST).utilities(blends(occasion.reference, alone.weights)))
    assert len(set(weights)) > 5
    assert (method.name, method.label) == ("anchored_finmem", "FinMem, anchored")


@pytest.mark.parametrize("method", [FinMem(), MemRL(never()), Hedge(never()), Anchored(FinMem())])
def test_an_outcome_of_another_action_is_refused(method: Method) -> None:
    date = plain(0)
    method.act(date.occasion)
    with pytest.raises(InputError, match="settle the very action"):
        settle(method, date, Action(weights=date.occasion.reference))


def test_hedge_on_the_reference_compares_with_the_reference() -> None:
    method = Hedge(never(), fixed="reference", prior=0.9)
    for date in (plain(0, returns=GOOD), plain(1, returns=BAD, missing=[(0, 1)])):
        settle(method, date, method.act(date.occasion))
    alike = Hedge(never(), prior=0.9)
    for date in (plain(0, returns=GOOD), plain(1, returns=BAD, missing=[(0, 1)])):
        swapped = Date(replace(date.occasion, equal_weight=date.occasion.reference), date.returns)
        settle(alike, swapped, alike.act(swapped.occasion))
    assert method.shares() == pytest.approx(alike.shares())
    assert method.shares()[0] != pytest.approx(0.9, abs=1e-3)


def test_the_agents_within_hedge_are_those_outside() -> None:
    hedge, outside = Hedge(np.random.default_rng(5)), (FinMem(), MemRL(np.random.default_rng(5)))
    for date in world(9, 120):
        mixture = hedge.act(date.occasion)
        for choice, method in zip(mixture.choices[2:], outside, strict=True):
            action = method.act(date.occasion)
            np.testing.assert_array_equal(choice.weights, action.weights)
            settle(method, date, action)
        settle(hedge, date, mixture)


def test_counterfactual_selection_takes_means_not_sums() -> None:
    method = CounterfactualSelection()
    good, better = (0.02, 0.0, 0.0, 0.0), (0.03, 0.0, 0.0, 0.0)
    play(method, [plain(0, retrieved=("often", "x", "y", "z"), returns=good)])
    play(method, [plain(1, retrieved=("often", "x", "y", "z"), returns=good)])
    play(method, [plain(2, retrieved=("once", "u", "v", "w"), returns=better)])
    often, once = worth(method, "often", "once")
    assert 0 < often < once < 2 * often
