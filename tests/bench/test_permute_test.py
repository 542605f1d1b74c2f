"""Whether the p-values are what they say: uniform under the null, small with useful memories, large when inverted."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from permute_worlds import planted

from memtrial.bench.permute import TrialledRun, document, permutation_test, sentences, verdict
from memtrial.errors import InputError


def test_without_signal_the_p_values_are_uniform() -> None:
    """400 runs of 16 decisions; a Kolmogorov-Smirnov distance of .081 has a chance of 1 %."""
    found = [permutation_test([planted(seed, n=16, pool=6)], permutations=39, seed=seed) for seed in range(400)]
    for name in ("forward_score", "gain"):
        p = np.array([getattr(result, name).p for result in found])
        grid = np.arange(1, 41) / 40
        excess = np.array([(p <= level + 1e-12).mean() - level for level in grid])
        assert excess.max() < 0.081, "more small p-values than there should be"
        assert excess.min() > -0.081
        assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_two_investors_who_share_their_drafts_count_once() -> None:
    """The same numbers twice are no more evidence than once."""

    def doubled(seed: int) -> list[TrialledRun]:
        run = planted(seed, n=16, pool=6)
        return [run, replace(run, name="again")]

    found = [permutation_test(doubled(seed), permutations=39, seed=seed) for seed in range(120)]
    p = np.array([result.forward_score.p for result in found if result.forward_score])
    assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)
    once = permutation_test([planted(3, n=16, pool=6)], permutations=39, seed=3)
    twice = found[3]
    assert (twice.n_dates, twice.n_days) == (32, 16)
    assert twice.gain is not None
    assert once.gain is not None
    assert twice.gain.p == once.gain.p


@pytest.mark.parametrize("how", [{"worth": 0.01}, {"content": 0.015}])
def test_useful_memories_are_found(how: dict[str, float]) -> None:
    result = permutation_test([planted(1, n=60, **how)], permutations=199)
    assert result.forward_score is not None
    assert result.gain is not None
    assert result.forward_score.p <= 0.01
    assert result.gain.p <= 0.01
    assert 0 < result.gain.low < result.gain.mean < result.gain.high
    assert verdict(result).startswith("Memory helps: ")


def test_with_the_sign_inverted_the_p_value_is_near_one() -> None:
    """What was learned from the first half is the opposite of what holds in the second."""
    run = planted(2, n=30, worth=0.02)
    half, end = run.dates[15].decided_at, run.dates[-1].decided_at + timedelta(days=1)
    learned = [replace(dated, known_at=half) for dated in run.dates[:15]]

    def second_half(sign: int) -> TrialledRun:
        later = [replace(dated, known_at=end, utilities=sign * dated.utilities) for dated in run.dates[15:]]
        return replace(run, dates=(*learned, *later))

    right = permutation_test([second_half(1)], permutations=199)
    assert right.gain is not None
    assert right.gain.p <= 0.01
    result = permutation_test([second_half(-1)], permutations=199)
    assert result.forward_score is not None
    assert result.gain is not None
    assert min(result.forward_score.p, result.gain.p) > 0.95
    assert result.gain.mean < 0
    assert "rather the opposite" in verdict(result)


def test_memories_that_harm_differently_are_not_called_helpful() -> None:
    run = planted(1, n=60, worth=0.01)
    burdened = [
        replace(dated, utilities=dated.utilities - 0.1 * dated.design.membership.any(axis=1)) for dated in run.dates
    ]
    result = permutation_test([replace(run, dates=tuple(burdened))], permutations=99)
    assert result.gain is not None
    assert result.over_none is not None
    assert result.gain.p <= 0.01
    assert result.over_none.high < 0
    assert verdict(result).startswith("It pays to know which memory is which, memory itself does not pay: ")


def test_equal_seeds_give_equal_results() -> None:
    run = planted(4, n=30, worth=0.003)
    first, again, other = (permutation_test([run], permutations=99, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert first.gain is not None
    assert other.gain is not None
    assert first.gain.mean == other.gain.mean


def test_the_p_value_counts_the_true_naming() -> None:
    result = permutation_test([planted(1, n=60, worth=0.03)], permutations=9)
    assert result.gain is not None
    assert result.gain.p == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (planted(0, n=0), "no decision has an outcome"),
        (planted(0, n=10, k=1), "no decision recalled two"),
        (planted(0, n=1), "known on 1 day"),
        (planted(0, n=20, missing=1.0), "known on 0 days"),
    ],
)
def test_nothing_to_test_is_said_plainly(run: TrialledRun, why: str) -> None:
    result = permutation_test([run], permutations=19)
    assert result.forward_score is None
    assert result.gain is None
    assert verdict(result).startswith("Nothing to test: ")
    assert why in verdict(result)
    assert document(result)["gain_pct"] is None


def test_drafts_that_never_differ_leave_nothing_to_test() -> None:
    run = planted(0, n=20)
    same = replace(run, dates=tuple(replace(dated, utilities=np.full(8, 0.01)) for dated in run.dates))
    assert "never told one experience from another" in verdict(permutation_test([same], permutations=19))


def test_the_document_and_the_page_say_the_same() -> None:
    result = permutation_test([planted(1, n=40, worth=0.01)], permutations=99, seed=2)
    made = json.loads(json.dumps(document(result)))
    assert {"n_dates", "n_experiences", "permutations", "forward_score", "gain_pct", "verdict"} <= made.keys()
    assert made["over_no_memory_pct"].keys() == {"mean", "low", "high"}
    assert made["forward_score"].keys() == {"mean", "low", "high", "p"}
    assert result.gain is not None
    assert made["gain_pct"]["mean"] == pytest.approx(100 * result.gain.mean)
    lines = sentences(result)
    assert lines[0] == made["verdict"]
    assert any(f"{100 * result.gain.mean:+.3f}" in line for line in lines[1:])


@pytest.mark.parametrize("wrong", [{"permutations": 0}, {"seed": -1}])
def test_impossible_options_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        permutation_test([planted(0, n=3)], **wrong)
