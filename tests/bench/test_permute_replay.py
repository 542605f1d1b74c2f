"""The batched replay against the trial's own value models, and what a choice earns."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from permute_worlds import START, planted

from memtrial.bench.permute import TrialledDate, TrialledRun, replay
from memtrial.bench.permute.replay import chosen
from memtrial.bench.permute.shuffles import key, shuffles
from memtrial.errors import InputError
from memtrial.trial import Scores, ValueModel, design, forward_score, select_learner, trusted_subset


def renamed(run: TrialledRun, drawn: dict, column: int) -> TrialledRun:
    """The run with the names of one shuffle, features following the names."""
    dates = []
    for dated in run.dates:
        ordered = key(dated)[1]
        order = drawn[key(dated)][:, column]
        names = tuple(ordered[order[ordered.index(name)]] for name in dated.ids)
        features = dated.features[[dated.ids.index(name) for name in names]]
        dates.append(replace(dated, ids=names, features=features))
    return replace(run, dates=tuple(dates))


def by_the_trial(run: TrialledRun) -> tuple[list[float], list[float]]:
    """Scores and gains of a run by the trial's own parts, one outcome after the other."""
    model = ValueModel(run.dates[0].features.shape[1])
    known = {"per_experience": Scores(), "content_aware": Scores()}
    waiting: list = []
    scores, gains = [], []
    for dated in run.dates:
        due = sorted((item for item in waiting if item[0].known_at <= dated.decided_at), key=lambda i: i[0].known_at)
        for item in due:
            waiting.remove(item)
            model.observe(item[0].ids, item[0].features, item[1])
            for learner, score in item[2].items():
                if score is not None:
                    known[learner].add(score)
        if dated.rebased is not None:
            model.rebase(dated.rebased)
        if dated.centred is None:
            continue
        predicted = model.predict(dated.ids, dated.features)
        own = {learner: forward_score(values, dated.centred) for learner, values in predicted.items()}
        waiting.append((dated, dated.centred, own))
        speaks = select_learner(known["per_experience"], known["content_aware"])
        scores.append(own[speaks] or 0.0)
        valid = np.isfinite(dated.utilities)
        best, total = trusted_subset(dated.design, predicted[speaks], valid)
        size = dated.design.membership.sum(axis=1)
        if total <= 0:
            gains.append(0.0)
        else:
            alike = valid & (size == size[best])
            gains.append(float(dated.utilities[best] - dated.utilities[alike].mean()))
    return scores, gains


@limits(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, 5]), st.booleans(), st.booleans())
def test_every_naming_is_replayed_as_the_trial_would(seed: int, k: int, signal: bool, holes: bool) -> None:
    run = planted(seed, n=40, k=k, worth=0.01 * signal, content=0.01 * signal, delay=15.0, missing=0.1 * holes, pool=9)
    drawn = shuffles([run], 3, np.random.default_rng(seed))
    replayed = replay(run, drawn)
    for column in range(4):
        scores, gains = by_the_trial(renamed(run, drawn, column))
        np.testing.assert_allclose(replayed.scores[:, column], scores, atol=1e-9)
        untied = np.abs(replayed.gains[:, column] - gains) < 1e-12
        # Where values are equal the trial takes the first subset, the test the average of the equal ones.
        assert untied.mean() > 0.7


def test_a_new_content_basis_is_followed() -> None:
    run = planted(5, n=40, worth=0.005, content=0.02)
    turned = -2.0 * np.eye(3)[[1, 2, 0]]
    seen: dict[str, np.ndarray] = {}
    dates = []
    for number, dated in enumerate(run.dates):
        new = number >= 20
        features = dated.features @ turned if new else dated.features
        rebased = {name: vector @ turned for name, vector in seen.items()} if number == 20 else None
        seen.update(zip(dated.ids, dated.features, strict=True))
        dates.append(replace(dated, features=features, rebased=rebased))
    other = replace(run, dates=tuple(dates))
    drawn = shuffles([other], 2, np.random.default_rng(0))
    np.testing.assert_allclose(replay(other, drawn).scores[:, 0], by_the_trial(other)[0], atol=1e-9)
    assert np.abs(replay(run, drawn).scores - replay(other, drawn).scores)[25:].max() > 1e-6


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    run = planted(6, n=25, worth=0.01)
    drawn = shuffles([run], 40, np.random.default_rng(1))
    whole = replay(run, drawn)
    monkeypatch.setattr(sys.modules["memtrial.bench.permute.replay"], "_CELLS", 8 * 7)
    done: list[float] = []
    pieces = replay(run, drawn, done.append)
    np.testing.assert_allclose(pieces.scores, whole.scores, atol=1e-9)
    np.testing.assert_allclose(pieces.gains, whole.gains, atol=1e-12)
    assert sum(done) == pytest.approx(25)


def test_an_outcome_does_not_count_before_it_is_known() -> None:
    run = planted(7, n=30, worth=0.02)
    late = replace(
        run, dates=tuple(replace(dated, known_at=dated.decided_at + timedelta(days=4000)) for dated in run.dates)
    )
    replayed = replay(late, shuffles([late], 3, np.random.default_rng(0)))
    assert not replayed.scores.any()
    assert not replayed.gains.any()


def test_shuffles_move_names_among_the_slots_of_a_date_and_are_shared_by_runs() -> None:
    first, second = planted(8, n=12, name="a"), planted(8, n=12, name="b")
    alone, both = (shuffles(runs, 50, np.random.default_rng(3)) for runs in ([first], [first, second]))
    assert alone.keys() == both.keys()
    for orders in alone.values():
        assert (orders[:, 0] == np.arange(4)).all()
        assert (np.sort(orders, axis=0) == np.arange(4)[:, None]).all()
        assert len({tuple(order) for order in orders.T}) > 10


def test_equal_values_favour_no_rank() -> None:
    dated = planted(9, n=1).dates[0]
    earned, gain = chosen(dated, np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    assert np.isnan(gain[0]), "a total of 0 is no reason to act"
    pairs = [row for row, subset in enumerate(dated.design.subsets) if len(subset) == 2]
    with_first = [row for row in pairs if 0 in dated.design.subsets[row]]
    assert earned[1] == pytest.approx(dated.utilities[with_first].mean())
    assert gain[1] == pytest.approx(dated.utilities[with_first].mean() - dated.utilities[pairs].mean())


def test_over_the_names_of_a_date_the_choice_gains_nothing() -> None:
    from itertools import permutations

    dated = planted(10, n=1).dates[0]
    values = np.array(list(permutations([0.3, 0.1, -0.2, -0.4]))).T
    assert np.nanmean(chosen(dated, values)[1]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ids": ("a", "a")},
        {"ids": ("a", "b", "c")},
        {"features": np.full((2, 3), np.nan)},
        {"utilities": np.zeros(3)},
        {"utilities": np.array([0.0, 0.0, 0.0, np.inf])},
    ],
)
def test_an_impossible_date_is_refused(wrong: dict) -> None:
    fine = {
        "decided_at": START,
        "known_at": START,
        "ids": ("a", "b"),
        "features": np.zeros((2, 3)),
        "design": design(2),
        "utilities": np.zeros(4),
    }
    TrialledDate(**fine)
    with pytest.raises(InputError, match="decision of 2021"):
        TrialledDate(**{**fine, **wrong})
