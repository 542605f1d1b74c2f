"""A verdict per memory: what it promises about false verdicts, what it finds, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from memtrial.errors import InputError
from memtrial.trial.standing import BET, CAP, SCALE, Standings

POOL = 12


def names(ranks: np.ndarray) -> list[str]:
    return [f"e{rank}" for rank in ranks]


def dates(seed: int, n: int, worth: np.ndarray, *, noise: float = 1.0):
    """``n`` dates of four of the memories, whose contributions have means ``worth`` (pool,)."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        ranks = rng.choice(worth.size, 4, replace=False)
        y = worth[ranks] + noise * rng.standard_normal(4)
        yield ranks, y - y.mean()


def ever(standings: Standings, run) -> set[str]:
    """Every verdict on any memory at any look, as ``"e3 helps"``."""
    found: set[str] = set()
    for number, (ranks, y) in enumerate(run):
        standings.observe(names(ranks), y, decision=number)
        found |= {f"{item.id} {item.verdict}" for item in standings.standing() if item.verdict != "not known"}
    return found


def test_memories_without_skill_are_rarely_ever_judged() -> None:
    false = [bool(ever(Standings(), dates(seed, 132, np.zeros(POOL)))) for seed in range(100)]
    assert np.mean(false) <= 0.05


def test_volatile_and_heavy_tailed_dates_do_not_break_it() -> None:
    def run(seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(132):
            y = rng.standard_t(3, 4) * np.exp(0.8 * rng.standard_normal())
            yield rng.choice(POOL, 4, replace=False), y - y.mean()

    assert np.mean([bool(ever(Standings(), run(seed))) for seed in range(60)]) <= 0.07


def test_useful_and_misleading_memories_are_found_and_told_apart() -> None:
    worth = np.array([0.8] * 3 + [0.0] * 6 + [-0.8] * 3)
    right = wrong = 0
    for seed in range(20):
        standings = Standings()
        for ranks, y in dates(seed, 132, worth):
            standings.observe(names(ranks), y)
        for item in standings.standing():
            truth = worth[int(item.id[1:])]
            expected = "helps" if truth > 0 else "harms" if truth < 0 else "not known"
            right += truth != 0 and item.verdict == expected
            wrong += item.verdict not in ("not known", expected)
            assert item.retire == (item.verdict == "harms")
    assert right >= 0.7 * 20 * 6
    assert wrong <= 0.05 * right


def test_a_verdict_is_lost_soon_after_a_memory_turned() -> None:
    worth = np.array([1.5] * 3 + [0.0] * 6 + [-1.5] * 3)
    standings = Standings()
    for ranks, y in dates(1, 150, worth):
        standings.observe(names(ranks), y)
    before = {item.id for item in standings.standing() if item.verdict == "helps"}
    assert before >= {"e0", "e1", "e2"}
    for ranks, y in dates(2, 20, -worth):
        standings.observe(names(ranks), y)
    assert not before & {item.id for item in standings.standing() if item.verdict == "helps"}


def test_the_wealths_are_what_the_formula_says() -> None:
    standings = Standings()
    standings.observe(["a", "b"], [0.004, -0.004])
    standings.observe(["a", "b"], [-0.001, 0.001])
    standings.observe(["a", "b"], [0.1, -0.1])
    second = 0.001 / (SCALE * 0.004)
    expected = (1 + BET) * (1 - BET * second) * (1 + BET)
    a, b = standings.standing()
    assert a.help_evidence == pytest.approx(expected)
    assert (a.harm_evidence, b.help_evidence) == (0.0, 0.0)
    assert b.harm_evidence == pytest.approx(expected)
    assert a.n == 3
    assert a.mean == pytest.approx(0.103 / 3)
    assert a.needed == pytest.approx(4 / 0.05)


def test_wealth_above_the_cap_is_burnt() -> None:
    standings = Standings()
    for _ in range(60):
        standings.observe(["a", "b"], [1.0, -1.0])
    ceiling = CAP * 4 / 0.05
    assert standings.standing()[0].help_evidence <= ceiling * (1 + 1e-12)
    helps, harms = standings.standing()
    assert (helps.verdict, harms.verdict) == ("helps", "harms")
    assert "proposed for retirement" in harms.reason
    assert helps.needed == pytest.approx(4 / (2 * 0.05)), "two verdicts share the level"


def test_overlapping_outcomes_need_wealths_that_take_turns() -> None:
    def run(seed: int):
        rng = np.random.default_rng(seed)
        path = np.vstack([np.zeros(POOL), rng.standard_normal((205, POOL)).cumsum(axis=0)])
        for number in range(200):
            ranks = rng.choice(POOL, 4, replace=False)
            y = (path[number + 5] - path[number])[ranks]
            yield ranks, y - y.mean()

    naive = np.mean([bool(ever(Standings(), run(seed))) for seed in range(20)])
    turns = np.mean([bool(ever(Standings(holding=5), run(seed))) for seed in range(20)])
    assert naive > 0.15
    assert turns <= 0.05


def test_one_alone_and_identical_drafts() -> None:
    standings = Standings()
    standings.observe(["a"], [0.0])
    assert standings.standing() == ()
    standings.observe(["a", "b"], [0.0, 0.0])
    first, _ = standings.standing()
    assert (first.n, first.verdict, first.evidence) == (1, "not known", 0.0)


@limits(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_neither_units_nor_the_sign_convention_matter(seed: int, unit: float) -> None:
    plain, scaled, mirrored = Standings(), Standings(), Standings()
    for ranks, y in dates(seed, 40, np.linspace(-1, 1, POOL)):
        plain.observe(names(ranks), y)
        scaled.observe(names(ranks), unit * y)
        mirrored.observe(names(ranks), -y)
    for one, two, three in zip(plain.standing(), scaled.standing(), mirrored.standing(), strict=True):
        assert one.verdict == two.verdict
        assert two.help_evidence == pytest.approx(one.help_evidence)
        assert three.harm_evidence == pytest.approx(one.help_evidence)


def test_what_is_kept_does_not_grow_with_dates() -> None:
    standings = Standings()
    sizes = set()
    for number, (ranks, y) in enumerate(dates(3, 300, np.zeros(POOL))):
        standings.observe(names(ranks), y)
        if number > 50:
            sizes.add((standings._n.size, standings._sums.size, standings._wealth.size, len(standings._rows)))
    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("ids", "y", "said"),
    [
        (["a", "a"], [1.0, -1.0], "recalled twice"),
        (["a", "b"], [1.0], "2 finite centred contributions"),
        (["a", "b"], [np.nan, 1.0], "2 finite centred contributions"),
    ],
)
def test_what_is_wrong_is_refused_and_changes_nothing(ids: list[str], y: list[float], said: str) -> None:
    standings = Standings()
    with pytest.raises(InputError, match=said):
        standings.observe(ids, y)
    assert standings.standing() == ()


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": 1.0}, {"holding": 0}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Standings(**wrong)  # type: ignore[arg-type]
