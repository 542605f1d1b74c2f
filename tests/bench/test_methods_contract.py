"""What every method and every configuration must keep, on invented occasions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from methods_worlds import BOUND, Date, frozen, play, settle, world

from memtrial.bench.methods import (
    ABLATIONS,
    ANCHORED,
    CONFIGURATIONS,
    FAMILIES,
    METHODS,
    SENSITIVITY,
    SWITCHES,
    Action,
    Configuration,
    Deployment,
    Method,
    Valued,
    make,
)
from memtrial.errors import InputError
from memtrial.trial import Settings

NAMES = (*METHODS, *CONFIGURATIONS)
EXPLORING = ("memrl", "uplift_credit", "hedge", "anchored_memrl", "anchored_uplift_credit", "anchored_hedge")


def fresh(name: str, seed: int = 0) -> Method:
    return make(name, Deployment(rng=np.random.default_rng(seed)))


def same(left: list[Action], right: list[Action]) -> bool:
    return all(
        np.array_equal(a.weights, b.weights) and a.memory_weight == b.memory_weight
        for a, b in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_any_occasion_is_answered_with_an_allocation_within_the_mandate(name: str) -> None:
    """0 to 4 experiences, missing drafts, dates without any; arrays of an occasion are read-only."""
    dates = world(1, 40, ks=(4, 2, 0, 1, 3, 4), missing=0.25)
    dates[7].occasion = replace(dates[7].occasion, drafts=frozen(np.full_like(dates[7].occasion.drafts, np.nan)))
    for action in play(fresh(name), dates):
        assert action.weights.shape == (4,)
        assert BOUND.satisfied(action.weights)
        assert 0.0 <= action.memory_weight <= 1.0


@pytest.mark.parametrize("kind", ["half", "full"])
@pytest.mark.parametrize("name", METHODS)
def test_every_design_is_answered(name: str, kind: str) -> None:
    for further in (False, True):
        for k in (3, 4, 5):
            method = METHODS[name](Deployment(design=kind, rng=np.random.default_rng(0)))  # type: ignore[arg-type]
            dates = world(2, 6, ks=(k,), kind=kind, further=further)  # type: ignore[arg-type]
            assert all(BOUND.satisfied(action.weights) for action in play(method, dates))


@pytest.mark.parametrize("name", NAMES)
def test_no_action_knows_a_later_outcome(name: str) -> None:
    dates = world(3, 30)
    turn = 18
    shuffled = np.random.default_rng(9).permutation(np.arange(turn, 30))
    others = [
        *dates[:turn],
        *(Date(dates[i].occasion, dates[j].returns) for i, j in zip(range(turn, 30), shuffled, strict=True)),
    ]
    assert same(play(fresh(name), dates)[: turn + 1], play(fresh(name), others)[: turn + 1])


@pytest.mark.parametrize("name", NAMES)
def test_the_same_randomness_gives_the_same_actions(name: str) -> None:
    dates = world(4, 40)
    assert same(play(fresh(name), dates), play(fresh(name), dates))


@pytest.mark.parametrize("name", EXPLORING)
def test_exploration_comes_from_the_deployment(name: str) -> None:
    dates = world(4, 60)
    assert not same(play(fresh(name, 1), dates), play(fresh(name, 2), dates))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_by_its_name(name: str) -> None:
    method = fresh(name)
    assert method.name == name
    assert method.label


@pytest.mark.parametrize("name", NAMES)
def test_outcomes_may_come_late(name: str) -> None:
    """Two decisions are open at any time."""
    dates, method = world(5, 25), fresh(name)
    actions: list[Action] = []
    for number, date in enumerate(dates):
        actions.append(method.act(date.occasion))
        assert BOUND.satisfied(actions[-1].weights)
        if number:
            settle(method, dates[number - 1], actions[number - 1])


@pytest.mark.parametrize("name", [*METHODS, "memtrial_veto", "guarded_hard"])
def test_what_is_believed_has_one_number_for_each(name: str) -> None:
    method = fresh(name)
    play(method, world(6, 30))
    if not isinstance(method, Valued):
        assert name not in ("memrl", "finmem", "expel", "uplift_credit", "counterfactual_selection", "memtrial")
        return
    worth = method.worth(["experience 0", "experience 1", "never seen"], np.zeros((3, 8)))
    assert worth.shape == (3,)
    assert np.isfinite(worth).all()
    assert worth[2] == 0.0


def test_families_list_every_method_once_in_order() -> None:
    assert [name for names in FAMILIES.values() for name in names] == list(METHODS)
    assert len(METHODS) == 16


def test_groups_list_every_configuration_once() -> None:
    assert [*ABLATIONS, *SENSITIVITY, *SWITCHES, *ANCHORED] == list(CONFIGURATIONS)
    assert not set(METHODS) & set(CONFIGURATIONS)
    assert len(set(SENSITIVITY)) == 4 + 2 + 11


def test_labels_tell_methods_apart() -> None:
    labels = [fresh(name).label for name in NAMES]
    assert len(set(labels)) == len(labels)


def test_a_configuration_is_its_preset_with_what_it_names_changed() -> None:
    def settings(name: str) -> Settings:
        found = CONFIGURATIONS[name]
        assert isinstance(found, Configuration)
        return found.settings(Deployment(design="full", dimensions=3))

    assert settings("memtrial_veto") == Settings.paper(design="full", dimensions=3, veto=1.5)
    assert settings("memtrial_anchor_0.75_16") == Settings.paper(design="full", dimensions=3, alpha0=0.75, lambda0=16)
    assert settings("memtrial_scores_5") == Settings.paper(design="full", dimensions=3, min_scores=5)
    assert settings("guarded_alpha_0.1") == Settings.guarded(design="full", dimensions=3, alpha=0.1)
    assert settings("guarded_no_veto") == Settings.guarded(design="full", dimensions=3, veto=None)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean memrl"):
        make("memrll", Deployment())
    with pytest.raises(InputError, match="known are 1/N"):
        make("???", Deployment())


def test_the_blend_that_never_trusts_is_draft_averaging_with_the_anchor() -> None:
    """Paper, Table D.5: draft averaging with memtrial's anchor is the test that never passes."""
    dates = world(7, 60, ks=(4, 3, 4, 0), missing=0.1)
    dates[9].occasion = replace(dates[9].occasion, drafts=frozen(np.full_like(dates[9].occasion.drafts, np.nan)))
    mine, trials = play(fresh("anchored_draft_averaging"), dates), play(fresh("memtrial_never_trusts"), dates)
    for one, other in zip(mine, trials, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=1e-15)
    assert len({action.weights.tobytes() for action in mine}) > 50
