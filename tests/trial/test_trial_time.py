"""Nothing from the future, any order of arrival, and the same bytes on replay."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from trial_worlds import PRESETS, D, World, act, day, run, settings, settle, state

from memtrial.errors import TimeError
from memtrial.trial import VALUE_KINDS, Trial

SEEDS = st.integers(0, 2**32 - 1)
few = limits(max_examples=15, deadline=None)


@few
@given(SEEDS, st.integers(5, 29))
def test_what_is_known_later_cannot_touch_a_decision(seed: int, t: int) -> None:
    world = World(seed, delay=4.0)
    rng = np.random.default_rng(seed)
    verdicts = []
    for scrambled in (False, True):
        trial = Trial(settings(min_scores=3, alpha=0.5))
        for date in world.dates[:t]:
            act(trial, date)
            if scrambled and date.known > t:
                date = replace(date, utilities=rng.normal(0, 1, date.utilities.shape), blends=rng.normal(0, 1, 201))
            settle(trial, date)  # delivered early, but known only at its own time
        verdicts.append(repr(act(trial, world.dates[t], at=t)))
    assert verdicts[0] == verdicts[1]


@few
@given(SEEDS)
def test_an_outcome_counts_from_the_moment_it_is_known(seed: int) -> None:
    world = World(seed, n_dates=3, pool=4)
    known = world.dates[0].known

    def mean_after(at: float) -> int:
        trial = Trial(settings())
        act(trial, world.dates[0])
        settle(trial, world.dates[0])
        act(trial, world.dates[1], at=at)
        return len(trial.values())

    assert mean_after(known - 0.001) == 0
    assert mean_after(known) == len(world.dates[0].retrieved)


@few
@given(SEEDS)
def test_order_of_arrival_changes_rounding_only(seed: int) -> None:
    world = World(seed, missing=0.1)
    rng = np.random.default_rng(seed)
    trials = []
    for shuffled in (False, True):
        trial = Trial(settings())
        for date in world.dates:
            act(trial, date)
        order = rng.permutation(len(world.dates)) if shuffled else range(len(world.dates))
        for arrival, number in enumerate(order):
            date = world.dates[number]
            settle(trial, replace(date, known=1000 + arrival) if shuffled else date)
        last = replace(world.dates[0], id="last", retrieved=[f"e{i}" for i in range(4)], features=np.zeros((4, D)),
                       valid=np.ones(8, bool))  # fmt: skip
        trials.append((act(trial, last, at=5000), {row.id: row for row in trial.values()}, trial))
    (one, rows, first), (other, shuffled_rows, second) = trials
    assert one.n_scores == other.n_scores
    np.testing.assert_allclose([one.mean_score, one.p_value], [other.mean_score, other.p_value], rtol=1e-9, atol=1e-12)
    assert one.reference_weight == other.reference_weight
    np.testing.assert_allclose(first._learning._anchor._sums, second._learning._anchor._sums, atol=1e-14)
    assert rows.keys() == shuffled_rows.keys()
    for identity, row in rows.items():
        twin = shuffled_rows[identity]
        assert row.n == twin.n
        np.testing.assert_allclose(row.mean, twin.mean, atol=1e-15)
        for learner in VALUE_KINDS:
            np.testing.assert_allclose(row.values[learner], twin.values[learner], atol=1e-13)


@few
@given(SEEDS, st.floats(0.0, 0.3), st.sampled_from(PRESETS), st.sampled_from([1, 3]))
def test_a_log_replays_to_the_same_bytes(seed: int, missing: float, preset: str, holding: int) -> None:
    world = World(seed, delay=3.0, missing=missing)
    changes = {"min_scores": 3} if preset == "paper" else {"holding": holding}
    live = Trial(settings(preset, **changes))
    verdicts = run(world, live)

    replayed = Trial(settings(preset, **changes))
    waiting = []
    for date, verdict in zip(world.dates, verdicts, strict=True):
        for past in sorted((d for d in waiting if d.known <= date.at), key=lambda d: d.known):
            settle(replayed, past)
            waiting.remove(past)
        replayed.restore(
            date.id, retrieved=date.retrieved, features=date.features, verdict=verdict, valid=date.valid,
            at=day(date.at), design=replayed.plan(len(date.retrieved)),
        )  # fmt: skip
        waiting.append(date)
    for past in sorted(waiting, key=lambda d: d.known):
        settle(replayed, past)
    assert state(replayed) == state(live)
    following = replace(world.dates[-1], id="next", at=1000)
    assert repr(act(replayed, following)) == repr(act(live, following))
    assert state(replayed) == state(live)


@few
@given(SEEDS, st.sampled_from(PRESETS))
def test_the_same_inputs_give_the_same_bytes(seed: int, preset: str) -> None:
    trials = [Trial(settings(preset, min_scores=3)) for _ in range(2)]
    assert repr(run(World(seed), trials[0])) == repr(run(World(seed), trials[1]))
    assert state(trials[0]) == state(trials[1])


@few
@given(SEEDS, st.sampled_from(PRESETS))
def test_the_report_can_look_ahead_of_the_last_decision_without_learning(seed: int, preset: str) -> None:
    world = World(seed, n_dates=8)
    trial = Trial(settings(preset))
    run(world, trial)
    before = state(trial)
    report = trial.values(day(1000))
    assert state(trial) == before
    act(trial, replace(world.dates[0], id="next"), at=1000)
    assert trial.values() == report


def test_a_late_delivery_does_not_open_the_past_again() -> None:
    world = World(5, n_dates=4)
    trial = Trial(settings())
    act(trial, replace(world.dates[0], id="slow"), at=0)
    act(trial, replace(world.dates[1], id="fast"), at=0)
    settle(trial, replace(world.dates[1], id="fast", known=10))
    act(trial, world.dates[2], at=10)
    settle(trial, replace(world.dates[0], id="slow", known=2))  # known on day 2, delivered after day 10
    act(trial, world.dates[3], at=11)
    for late in (lambda: act(trial, replace(world.dates[0], id="past"), at=5), lambda: trial.values(day(5))):
        with pytest.raises(TimeError, match="already learned"):
            late()


def test_importing_the_trial_does_not_import_scipy() -> None:
    program = "import sys, memtrial.trial; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
