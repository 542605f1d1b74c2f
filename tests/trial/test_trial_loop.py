"""The loop's edges: few retrieved, missing drafts, holding, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from trial_worlds import D, World, act, day, run, settings, settle, state

from memtrial.errors import DecisionError, InputError, TimeError
from memtrial.trial import (
    REFERENCE_WEIGHTS,
    Anchor,
    Scores,
    Settings,
    Trial,
    bernoulli_kl,
    blends,
    centre,
    contributions,
    design,
    trust_test,
    trusted_subset,
)

SEEDS = st.integers(0, 2**32 - 1)
few = limits(max_examples=20, deadline=None)
FLAT = np.zeros(201)


def decide(trial: Trial, name: str, k: int, at: float, valid: np.ndarray | None = None) -> Any:
    n_drafts = trial.plan(k).n_drafts
    return trial.act(
        name, retrieved=[f"e{i}" for i in range(k)], features=np.eye(max(k, D))[:k, :D],
        valid=np.ones(n_drafts, bool) if valid is None else valid, at=day(at),
    )  # fmt: skip


@few
@given(SEEDS, st.integers(0, 6), st.floats(-1, 1))
def test_the_market_cancels_and_centred_contributions_sum_to_zero(seed: int, k: int, market: float) -> None:
    plan = design(k)
    utilities = np.random.default_rng(seed).normal(0, 0.01, plan.n_drafts)
    effects, moved = contributions(plan, utilities), contributions(plan, utilities + market)
    assert effects is not None
    assert moved is not None
    np.testing.assert_allclose(effects, moved, atol=1e-14)
    assert abs(centre(effects).sum()) < 1e-15


def test_any_two_drafts_may_be_missing_but_a_complementary_pair() -> None:
    plan = design(4)
    worth = np.array([0.01, -0.02, 0.03, 0.005])
    for pair in combinations(range(8), 2):
        utilities = 0.1 + plan.membership @ worth
        utilities[list(pair)] = np.nan
        effects = contributions(plan, utilities)
        complementary = set(plan.subsets[pair[0]]) ^ set(plan.subsets[pair[1]]) == {0, 1, 2, 3}
        if complementary:
            assert effects is None
        else:
            assert effects is not None
            np.testing.assert_allclose(effects, worth, atol=1e-14)


def test_drafts_equal_up_to_rounding_changed_nothing() -> None:
    utilities = np.full(8, 0.1) + np.array([0, 1, -1, 0, 1, 0, 0, 1]) * 1e-17
    np.testing.assert_array_equal(contributions(design(4), utilities), np.zeros(4))


@few
@given(SEEDS)
def test_memory_is_trusted_only_on_a_positive_total_and_never_when_held(seed: int) -> None:
    world = World(seed, n_dates=40, missing=0.05)
    free, held = Trial(settings(min_scores=2, alpha=0.9)), Trial(settings(min_scores=2, alpha=0.9, hold=True))
    verdicts, shadowed = run(world, free), run(world, held)
    assert any(verdict.trusted for verdict in verdicts)
    for date, verdict, shadow in zip(world.dates, verdicts, shadowed, strict=True):
        assert not shadow.trusted
        assert shadow.reason == f"held in shadow mode; otherwise {verdict.reason}"
        assert shadow.values == verdict.values
        plan = free.plan(len(date.retrieved))
        if date.valid.any():
            chosen = plan.subsets.index(verdict.subset)
            totals = plan.membership @ np.array(verdict.values[verdict.learner])
            assert date.valid[chosen]
            assert verdict.total == pytest.approx(totals[date.valid].max(), abs=1e-12)
        if verdict.trusted:
            assert verdict.total > 0
            assert verdict.p_value < verdict.alpha
            assert verdict.n_scores >= verdict.min_scores
            assert sum(verdict.values[verdict.learner][rank] for rank in verdict.subset) > 0
    assert state(free) == state(held)


def test_reasons_are_words_a_trader_can_read() -> None:
    trial = Trial(settings())
    assert decide(trial, "a", 4, 0).reason == "not trusted: 0 forward scores, 10 are needed"
    assert decide(trial, "b", 0, 0).reason == "not trusted: no experience was recalled"
    none = decide(trial, "c", 4, 0, np.zeros(8, bool))
    assert (none.reason, none.subset, none.trusted) == (
        "not trusted: no draft is valid, so the reference is held", (), False,
    )  # fmt: skip
    trial._learning._scores["per_experience"].add(0.5)
    assert decide(trial, "d", 4, 0).reason == "not trusted: 1 forward score, 10 are needed"
    for score in [0.5, -0.5] * 5:
        trial._learning._scores["per_experience"].add(score)
    assert decide(trial, "e", 4, 0).reason == "not trusted: p = 0.39 is not below 0.05"
    for score in [0.8, 0.9] * 5:
        trial._learning._scores["per_experience"].add(score)
    assert decide(trial, "f", 4, 0).reason == "not trusted: no designed subset has a positive total value"
    assert np.isnan(Trial(settings()).act("x", retrieved=[], features=[], valid=[True], at=day(0)).mean_score)


def test_one_or_no_experience_teaches_the_anchor_only() -> None:
    trial = Trial(settings())
    decide(trial, "one", 1, 0)
    learned = trial.settle("one", utilities=[0.01, 0.03], blend_utilities=FLAT, known_at=day(1))
    assert learned.contributions == pytest.approx((0.02,))
    assert (learned.centred, learned.scores) == ((0.0,), {})
    decide(trial, "none", 0, 2)
    assert trial.settle("none", utilities=[0.01], blend_utilities=FLAT, known_at=day(3)).contributions == ()
    decide(trial, "next", 4, 4)
    assert trial.values() == ()
    assert trial._learning._anchor.n == 2


def test_identical_drafts_are_evidence_and_no_score() -> None:
    trial = Trial(settings())
    decide(trial, "same", 4, 0)
    learned = trial.settle("same", utilities=np.full(8, 0.1), blend_utilities=FLAT, known_at=day(1))
    assert (learned.centred, learned.scores) == ((0.0,) * 4, {})
    decide(trial, "next", 4, 1)
    assert [(row.n, row.mean) for row in trial.values()] == [(1, 0.0)] * 4


def test_without_a_valid_draft_nothing_is_recorded() -> None:
    trial = Trial(settings())
    decide(trial, "empty", 4, 0, np.zeros(8, bool))
    with pytest.raises(InputError, match="no valid draft"):
        trial.settle("empty", utilities=np.full(8, np.nan), blend_utilities=FLAT, known_at=day(1))
    learned = trial.settle("empty", utilities=np.full(8, np.nan), blend_utilities=None, known_at=day(1))
    assert (learned.contributions, learned.centred, learned.scores) == (None, None, {})
    decide(trial, "next", 4, 2)
    assert (trial.values(), trial._learning._anchor.n) == ((), 0)


def test_an_expired_decision_teaches_nothing_and_stays_closed() -> None:
    trial = Trial(settings())
    decide(trial, "lost", 4, 0)
    assert trial.pending == ("lost",)
    trial.expire("lost")
    assert trial.pending == ()
    for again in (lambda: trial.expire("lost"), lambda: decide(trial, "lost", 4, 1)):
        with pytest.raises(DecisionError):
            again()
    with pytest.raises(DecisionError, match="already expired"):
        trial.settle("lost", utilities=np.zeros(8), blend_utilities=FLAT, known_at=day(1))


def refusals() -> list[Any]:
    good: dict[str, Any] = {
        "retrieved": ["a", "b", "c", "e"], "features": np.zeros((4, D)), "valid": np.ones(8, bool), "at": day(5),
    }  # fmt: skip
    return [
        pytest.param(good | {"retrieved": ["a", "b", "a", "e"]}, InputError, "recalled twice", id="repeated"),
        pytest.param(good | {"features": np.zeros((4, D + 1))}, InputError, "features", id="features shape"),
        pytest.param(good | {"features": np.full((4, D), np.nan)}, InputError, "finite", id="features nan"),
        pytest.param(good | {"valid": np.ones(16, bool)}, InputError, "8 booleans", id="validity shape"),
        pytest.param(good | {"valid": np.ones(8)}, InputError, "booleans", id="validity type"),
        pytest.param(good | {"at": datetime(2021, 1, 9)}, TimeError, "no time zone", id="naive"),  # noqa: DTZ001
        pytest.param(good | {"at": day(0.5)}, TimeError, "already learned", id="before what is learned"),
        pytest.param(
            good | {"retrieved": list("abcdefg"), "features": np.zeros((7, D))}, InputError, "0 to 6", id="seven"
        ),
    ]


@pytest.mark.parametrize(("given_", "error", "words"), refusals())
def test_refused_decisions_change_nothing(given_: dict[str, Any], error: type[Exception], words: str) -> None:
    trial = Trial(settings())
    decide(trial, "first", 4, 0)
    trial.settle("first", utilities=np.arange(8) / 100, blend_utilities=FLAT, known_at=day(1))
    decide(trial, "second", 4, 2)
    before = state(trial)
    with pytest.raises(error, match=words) as caught:
        trial.act("third", **given_)
    assert "\n" not in str(caught.value)
    assert state(trial) == before
    with pytest.raises(DecisionError, match="already made"):
        decide(trial, "second", 4, 3)
    assert state(trial) == before


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"decision_id": "unheard"}, DecisionError, "unknown"),
        ({"known_at": day(-1)}, TimeError, "cannot have been known before"),
        ({"known_at": datetime(2021, 1, 9)}, TimeError, "no time zone"),  # noqa: DTZ001
        ({"utilities": np.zeros(7)}, InputError, "8 utilities"),
        ({"utilities": np.full(8, np.inf)}, InputError, "infinite"),
        ({"utilities": np.zeros(8), "decision_id": "holed"}, InputError, "draft 2 was not valid"),
        ({"blend_utilities": np.zeros(200)}, InputError, "201"),
        ({"blend_utilities": np.full(201, np.nan)}, InputError, "201"),
    ],
)
def test_refused_outcomes_change_nothing(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    trial = Trial(settings())
    decide(trial, "first", 4, 0)
    decide(trial, "holed", 4, 0, np.arange(8) != 2)
    outcome = {"utilities": np.arange(8) / 100, "blend_utilities": FLAT, "known_at": day(1)}
    before = state(trial)
    wrong = {"decision_id": "first"} | outcome | changes
    with pytest.raises(error, match=words) as caught:
        trial.settle(**wrong)
    assert "\n" not in str(caught.value)
    assert (state(trial), trial.pending) == (before, ("first", "holed"))
    trial.settle("first", **outcome)
    with pytest.raises(DecisionError, match="already settled"):
        trial.settle("first", **outcome)


def test_restored_predictions_must_be_whole() -> None:
    trial = Trial(settings())
    whole = act(Trial(settings()), World(0).dates[0])
    for values in ({"per_experience": (0.0,) * 3}, {"per_experience": (0.0,) * 4, "content_aware": (np.nan,) * 4}):
        with pytest.raises(InputError, match="values are needed"):
            trial.restore("a", retrieved=list("abcd"), features=np.zeros((4, D)), verdict=replace(whole, values=values),
                          valid=np.ones(8, bool), at=day(0))  # fmt: skip
    assert trial.pending == ()


@few
@given(SEEDS)
def test_rebase_reaches_decisions_whose_outcome_is_still_out(seed: int) -> None:
    world = World(seed, n_dates=12, pool=6)
    content = np.random.default_rng(seed).standard_normal((6, D))
    early, late = Trial(settings()), Trial(settings())
    new = {f"e{i}": content[i] for i in range(6)}
    for trial in (early, late):
        for date in world.dates:
            act(trial, date)
        if trial is early:
            trial.rebase(new)
        for date in world.dates:
            settle(trial, date)
        if trial is late:
            trial.rebase(new)
    for one, other in zip(early.values(day(1000)), late.values(day(1000)), strict=True):
        assert (one.id, one.n) == (other.id, other.n)
        assert one.values == pytest.approx(other.values, abs=1e-14)


def test_a_verdict_and_a_trial_can_be_pickled() -> None:
    trial = Trial(settings())
    verdicts = run(World(1), trial)
    assert repr(pickle.loads(pickle.dumps(verdicts))) == repr(verdicts)
    assert state(pickle.loads(pickle.dumps(trial))) == state(trial)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0.0}, {"alpha": 1.0}, {"min_scores": 1}, {"alpha0": 1.1}, {"lambda0": -1.0}, {"dimensions": 0},
        {"design": "quarter"}, {"content_grid": (0.1,)}, {"deviation_grid": ()}, {"lambda0": float("nan")},
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Settings.paper(**wrong)


def test_paper_settings() -> None:
    paper = Settings.paper()
    assert (paper.alpha, paper.min_scores, paper.alpha0, paper.lambda0, paper.dimensions) == (0.05, 10, 0.9, 4.0, 8)
    assert (paper.design, paper.hold) == ("auto", False)


@pytest.mark.parametrize(("k", "kind", "n_drafts"), [(0, "auto", 1), (1, "auto", 2), (3, "auto", 8), (4, "auto", 8)])
def test_auto_design(k: int, kind: Any, n_drafts: int) -> None:
    assert design(k, kind).n_drafts == n_drafts
    assert design(k, kind) is design(k, kind)
    with pytest.raises(ValueError, match="read-only"):
        design(k, kind).membership[...] = True


@pytest.mark.parametrize(("k", "kind"), [(7, "auto"), (-1, "full"), (4, "third"), (1, "half")])
def test_designs_that_cannot_measure_are_refused(k: int, kind: Any) -> None:
    with pytest.raises(InputError):
        design(k, kind)


def test_half_of_two_experiences_measures_nothing_and_is_never_planned() -> None:
    assert contributions(design(2, "half"), [0.01, 0.02]) is None
    assert Trial(Settings.paper(design="half")).plan(2).n_drafts == 4


def test_trusted_subset_ranges_over_valid_drafts() -> None:
    plan = design(4)
    values = np.array([0.3, 0.2, -0.1, -0.1])
    valid = np.array([subset != (0, 1) for subset in plan.subsets])
    best, total = trusted_subset(plan, values, valid)
    assert plan.subsets[best or 0] == (0, 1, 2, 3)
    assert total == pytest.approx(0.3)
    only_bad = np.array([subset == (2, 3) for subset in plan.subsets])
    assert trusted_subset(plan, values, only_bad)[1] < 0
    assert trusted_subset(plan, values, np.zeros(8, bool)) == (None, 0.0)


@few
@given(SEEDS, st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), st.floats(0, 10), st.integers(1, 30))
def test_anchor_weight_maximises_equation_11(seed: int, alpha0: float, lambda0: float, n: int) -> None:
    earned = np.random.default_rng(seed).normal(0, 0.01, (n, 2)) @ np.array([REFERENCE_WEIGHTS, REFERENCE_WEIGHTS**2])
    anchor = Anchor(alpha0, lambda0)
    for row in earned:
        anchor.learn(row)
    weight = anchor.weight()
    if alpha0 in (0.0, 1.0):
        assert weight == alpha0
        return
    sigma = np.abs(earned[:, -1] - earned[:, 0]).mean() / 2
    penalty = [float(bernoulli_kl(q, alpha0)) for q in REFERENCE_WEIGHTS]
    objective = earned.mean(axis=0) - lambda0 * sigma / np.sqrt(n) * np.array(penalty)
    assert objective[np.flatnonzero(weight == REFERENCE_WEIGHTS)[0]] == pytest.approx(objective.max(), abs=1e-14)


def test_anchor_ties_go_to_the_prior_and_then_to_the_reference() -> None:
    anchor = Anchor(0.5, 0.0)
    anchor.learn(np.where(np.abs(REFERENCE_WEIGHTS - 0.5) > 0.201, -0.01, 0.0) - np.eye(201)[0] * 0.01)
    assert anchor.weight() == 0.5
    hollow = Anchor(0.5, 0.0)
    hollow.learn(np.abs(np.abs(REFERENCE_WEIGHTS - 0.5) - 0.2) * -1 - np.eye(201)[0] * 0.01)
    assert hollow.weight() == 0.7


@few
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40))
def test_scores_are_kept_as_mean_and_spread(values: list[float]) -> None:
    scores = Scores(values)
    assert scores.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert scores.sd == pytest.approx(np.std(values, ddof=1), abs=1e-7)
    assert trust_test(scores) == trust_test(values)


def test_blends_run_from_the_mean_draft_to_the_reference() -> None:
    path = blends([1.0, 0.0], [0.2, 0.8])
    np.testing.assert_allclose(path[[0, 200]], [[0.2, 0.8], [1.0, 0.0]])
    np.testing.assert_allclose(path.sum(axis=1), 1)
