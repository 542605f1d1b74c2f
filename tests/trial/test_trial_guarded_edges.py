"""What a breaker tried on the guarded preset: extremes, late outcomes, other terms, stale extra drafts, wrong types."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trial_worlds import D, World, act, day, run, settings, settle

from memtrial.errors import InputError
from memtrial.trial import Purse, Purses, Settings, Trial, ValueModel, richest


def test_a_wealth_without_cap_neither_overflows_nor_vanishes() -> None:
    for score, end in ((1.0, 1e300), (-1.0, 1e-300)):
        purses = Purses(1, [0.5, 0.5], bet=0.5, fixed_share=0.0, cap=math.inf)
        for number in range(3000):
            purses.open(number)
            purses.close(number, [score, score])
        assert purses.wealth == pytest.approx(end)
        assert sum(purses.shares) == pytest.approx(1.0)
        assert richest(purses.shares) == 0


@pytest.mark.parametrize("factor", [0.5, 0.8, 0.94])
def test_an_outcome_that_comes_after_ages_changes_nothing(factor: float) -> None:
    model, late = ValueModel(D, forgetting=factor), ValueModel(D, forgetting=factor)
    rng = np.random.default_rng(0)
    for number in range(20_000, 20_040):
        ids, y = [f"e{i}" for i in rng.permutation(8)[:4]], rng.normal(size=4)
        for each in (model, late):
            each.advance(number)
            each.observe(ids, np.zeros((4, D)), y - y.mean(), number)
    late.observe(["e0", "e1", "new", "e3"], np.zeros((4, D)), np.array([9.0, -3.0, -3.0, -3.0]), 3)
    ids = [f"e{i}" for i in range(8)]
    for one, other in zip(
        model.predict(ids, np.zeros((8, D))).values(), late.predict(ids, np.zeros((8, D))).values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert np.isfinite(late.predict(["new"], np.zeros((1, D)))["per_experience"]).all()


def test_long_histories_fade_without_losing_digits() -> None:
    rng = np.random.default_rng(1)
    model = ValueModel(D, forgetting=0.94)
    log = []
    for number in range(0, 9000, 3):
        ids, y = [f"e{i}" for i in rng.permutation(6)[:4]], rng.normal(size=4)
        model.advance(number)
        model.observe(ids, np.zeros((4, D)), y, number)
        log.append((number, ids, y))
    newest = log[-1][0]
    for name, row in (("e0", 0), ("e5", 0)):
        weights = [(0.94 ** (newest - number), y[ids.index(name)]) for number, ids, y in log if name in ids]
        n = sum(weight for weight, _ in weights)
        mean = sum(weight * value for weight, value in weights) / n
        row = model._rows[name]
        assert model.evidence.counts(np.array([row]))[0] == pytest.approx(n, rel=1e-12)
        assert model.evidence.means(np.array([row]))[0] == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize(
    "other",
    [{"bet": 0.4}, {"holding": 2}, {"cap": 60.0}, {"fixed_share": 0.0}, {"forgetting": None}, {"forgetting": 0.9}],
)
def test_money_won_by_other_terms_is_not_taken_up(other: dict[str, Any]) -> None:
    """Choosing the terms after the scores are known would be hindsight."""
    world = World(3, n_dates=25, delay=0.3)
    live = Trial(settings("guarded", **other))
    verdicts = run(world, live)
    for terms, expected in ((other, live), ({}, None)):
        again = Trial(settings("guarded", **terms))
        for date, verdict in zip(world.dates, verdicts, strict=True):
            again.restore(date.id, retrieved=date.retrieved, features=date.features, verdict=verdict, valid=date.valid,
                          at=day(date.at), design=again.plan(len(date.retrieved)))  # fmt: skip
            if math.isfinite(date.known):
                settle(again, replace(date, known=max(date.known, date.at)))
        last = replace(world.dates[-1], id="last", at=10_000)
        wealth = act(again, last).wealth
        assert wealth == 1.0 if expected is None else wealth != 1.0


def test_an_extra_draft_is_used_only_while_it_is_the_one_wanted() -> None:
    trial = Trial(Settings.guarded(extra_draft=True, dimensions=D))
    values = np.array([0.03, 0.01, 0.02, -0.04])
    trial._learning.predict = lambda ids, features: dict.fromkeys(trial.learners, values)  # type: ignore[method-assign]
    asked = {"retrieved": list("abcd"), "features": np.zeros((4, D)), "at": day(0)}
    assert trial.foresee(**asked) == (0, 1, 2)
    values = np.array([0.03, -0.01, 0.02, -0.04])
    verdict = trial.act("a", valid=np.ones(8, bool), extra=(0, 1, 2), **asked)
    assert (verdict.extra, verdict.subset) == (None, (0, 2))
    assert trial.act("b", valid=np.ones(8, bool), extra=(9, 1), **{**asked, "at": day(1)}).extra is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": "0.05"}, {"alpha": None}, {"veto": "1"}, {"holding": "2"}, {"holding": 2.0}, {"holding": math.nan},
        {"dimensions": 8.0}, {"veto_dates": math.nan}, {"min_scores": math.nan}, {"hold": "no"}, {"extra_draft": 1},
        {"alpha0": math.nan}, {"learners": ()}, {"learners": ("per_experience", "per_experience")}, {"trust": "luck"},
        {"bet": 1.0}, {"cap": 0.5}, {"cap": 10.0}, {"forgetting": 1.0}, {"alpha0": 0.901}, {"veto": math.inf},
    ],
)  # fmt: skip
def test_settings_of_the_wrong_kind_are_refused_in_one_line(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Settings.guarded(**wrong)
    assert "\n" not in str(caught.value)
    assert next(iter(wrong)) in str(caught.value)


@pytest.mark.parametrize("wrong", [{"forgetting": 0.9}, {"holding": 2}])
def test_only_a_purse_forgets_and_takes_turns(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Settings.paper(**wrong)


def test_settings_can_be_compared_and_hashed() -> None:
    assert Settings.guarded(learners=["content_aware"]) == Settings.guarded(learners=("content_aware",))
    assert len({Settings.guarded(), Settings(), Settings.paper()}) == 2


def test_a_purse_never_goes_below_its_losses() -> None:
    purse = Purse([1.0], bet=0.5, fixed_share=0.0, cap=40.0)
    for _ in range(12):
        purse.settle([1.0])
    assert purse.wealth == 40.0
    for _ in range(4):
        purse.settle([-1.0])
    assert purse.wealth == pytest.approx(2.5)
