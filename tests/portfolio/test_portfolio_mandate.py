"""The mandate and its projection: golden cases, geometry, and what is refused."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from memtrial.errors import MandateError, WeightsError
from memtrial.portfolio import (
    AGGRESSIVE,
    BALANCED,
    CONSERVATIVE,
    INVESTORS,
    Investor,
    Mandate,
    project_stocks_and_cash,
)

GOLDEN = Path(__file__).parents[1] / "golden"
EUCLIDEAN = json.loads((GOLDEN / "mandate_projection.json").read_text(encoding="utf-8"))
STOCKS_AND_CASH = json.loads((GOLDEN / "investorbench_projection.json").read_text(encoding="utf-8"))

CLASSES = ("equities", "bonds", "commodities", "real_estate", "cash")


def class_mandate(investor: Investor = CONSERVATIVE) -> Mandate:
    return investor.mandate(CLASSES, risky=("equities", "real_estate"), defensive=("bonds", "cash"))


@st.composite
def mandates(draw: st.DrawFn) -> Mandate:
    """A satisfiable mandate over two to seven assets, some in neither group, with bounds that touch 0 and 1."""
    groups = draw(st.lists(st.sampled_from("rdo"), min_size=2, max_size=7))
    share = st.one_of(st.sampled_from([0.0, 0.4, 0.6, 1.0]), st.floats(0.0, 1.0))
    return Mandate(
        name="drawn",
        risky_cap=1.0 if set(groups) == {"r"} else draw(share),
        defensive_floor=draw(share) if "d" in groups else 0.0,
        risk_aversion=5.0,
        risky=tuple(group == "r" for group in groups),
        defensive=tuple(group == "d" for group in groups),
    )


@st.composite
def mandates_and_drafts(draw: st.DrawFn) -> tuple[Mandate, np.ndarray]:
    mandate = draw(mandates())
    scale = draw(st.sampled_from([1.0, 1.0, 30.0]))
    elements = st.one_of(st.floats(-scale, scale), st.integers(-1, 2).map(lambda i: i / 2))
    rows = draw(st.integers(1, 8))
    return mandate, draw(hnp.arrays(np.float64, (rows, mandate.n_assets), elements=elements))


def feasible_points(mandate: Mandate, rng: np.random.Generator, n: int) -> np.ndarray:
    """Random portfolios that satisfy the mandate, corners included."""
    risky, defensive = np.array(mandate.risky), np.array(mandate.defensive)
    points = rng.dirichlet(np.full(mandate.n_assets, 0.3), size=n)
    # Mix towards a portfolio that satisfies everything until the point does.
    anchor = (defensive if defensive.any() else ~risky if (~risky).any() else risky).astype(float)
    anchor /= anchor.sum()
    over = np.maximum(points[:, risky].sum(1) - mandate.risky_cap, 0) / np.maximum(points[:, risky].sum(1), 1e-300)
    under = np.maximum(mandate.defensive_floor - points[:, defensive].sum(1), 0) / np.maximum(
        1 - points[:, defensive].sum(1), 1e-300
    )
    mix = np.minimum(np.maximum(over, under), 1.0)[:, None]
    return points * (1 - mix) + anchor * mix


def dykstra(mandate: Mandate, x: np.ndarray) -> np.ndarray:
    """The projection by Dykstra's algorithm: cyclic projections onto the four sets, each with its correction."""
    risky, defensive = np.array(mandate.risky, float), np.array(mandate.defensive, float)
    sets = (
        lambda w: np.maximum(w, 0),
        lambda w: w - (w.sum() - 1) / w.size,
        lambda w: w - risky * max(risky @ w - mandate.risky_cap, 0) / max(risky.sum(), 1),
        lambda w: w + defensive * max(mandate.defensive_floor - defensive @ w, 0) / max(defensive.sum(), 1),
    )
    w, corrections = x.copy(), np.zeros((len(sets), x.size))
    for _ in range(20_000):
        before = corrections.copy()
        for i, project in enumerate(sets):
            moved = w + corrections[i]
            w = project(moved)
            corrections[i] = moved - w
        # The point may rest while the corrections still move; only their rest is convergence.
        if np.abs(corrections - before).max() < 1e-11:
            break
    return w


@pytest.mark.parametrize("case", EUCLIDEAN["cases"], ids=lambda case: case["name"])
def test_projection_matches_golden(case: dict[str, Any]) -> None:
    given_ = case["input"]
    mandate = Mandate(
        name=case["name"],
        risky_cap=given_["M"],
        defensive_floor=given_["m"],
        risk_aversion=1.0,
        risky=tuple(given_["risky"]),
        defensive=tuple(given_["defensive"]),
    )
    np.testing.assert_allclose(mandate.project(given_["x"]), case["output"]["w"], rtol=0, atol=EUCLIDEAN["tolerance"])


@pytest.mark.parametrize("case", STOCKS_AND_CASH["cases"], ids=lambda case: case["name"])
def test_stocks_and_cash_matches_golden(case: dict[str, Any]) -> None:
    given_ = case["input"]
    weights = project_stocks_and_cash(
        given_["x"], cash=given_["cash"], risky_cap=given_["M"], defensive_floor=given_["m"]
    )
    np.testing.assert_allclose(weights, case["output"]["w"], rtol=0, atol=STOCKS_AND_CASH["tolerance"])


@given(mandates_and_drafts())
@settings(max_examples=150, deadline=None)
def test_projection_satisfies_the_mandate_and_is_idempotent(drawn: tuple[Mandate, np.ndarray]) -> None:
    mandate, drafts = drawn
    projected = mandate.project(drafts)
    assert (projected >= 0).all()
    np.testing.assert_allclose(projected.sum(1), 1, rtol=0, atol=1e-12)
    assert mandate.satisfied(projected).all()
    np.testing.assert_array_equal(mandate.project(projected), projected)


@given(mandates_and_drafts(), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_no_portfolio_within_the_mandate_is_closer(drawn: tuple[Mandate, np.ndarray], seed: int) -> None:
    mandate, drafts = drawn
    points = feasible_points(mandate, np.random.default_rng(seed), 200)
    assert mandate.satisfied(points).all()
    for draft, projected in zip(drafts, mandate.project(drafts), strict=True):
        # Variational inequality: a convex projection is nearest exactly when no feasible direction approaches x.
        assert ((points - projected) @ (draft - projected)).max() <= 1e-9 * (1 + np.abs(draft).max())


@given(mandates_and_drafts())
@settings(max_examples=60, deadline=None)
def test_projection_equals_dykstra(drawn: tuple[Mandate, np.ndarray]) -> None:
    mandate, drafts = drawn
    draft = drafts[0] / max(1.0, np.abs(drafts[0]).max())
    np.testing.assert_allclose(mandate.project(draft), dykstra(mandate, draft), rtol=0, atol=1e-6)


@given(mandates_and_drafts())
@settings(max_examples=100, deadline=None)
def test_a_batch_equals_its_rows(drawn: tuple[Mandate, np.ndarray]) -> None:
    mandate, drafts = drawn
    single = np.stack([mandate.project(draft) for draft in drafts])
    np.testing.assert_allclose(mandate.project(drafts), single, rtol=0, atol=1e-15)


def test_every_active_set_is_met() -> None:
    mandate = class_mandate()
    drafts = np.array(
        [[0.2, 0.3, 0.2, 0.1, 0.2], [0.8, 0.2, 0.0, 0.0, 0.0], [0.1, 0.0, 0.9, 0.0, 0.0], [0.7, 0.0, 0.3, 0.0, 0.0]]
    )
    projected = mandate.project(drafts)
    risky, defensive = projected[:, [0, 3]].sum(1), projected[:, [1, 4]].sum(1)
    np.testing.assert_array_equal(projected[0], drafts[0])
    assert np.isclose(risky, 0.4).tolist() == [False, True, False, True]
    assert np.isclose(defensive, 0.4).tolist() == [False, False, True, True]


def test_a_satisfying_draft_keeps_its_bits_and_the_input_is_untouched() -> None:
    drafts = np.array([[0.1, 0.3, 0.2, 0.1, 0.3], [1.0, 0.0, 0.0, 0.0, 0.0]])
    before = drafts.copy()
    projected = class_mandate().project(drafts)
    projected[0, 0] = 9.0
    np.testing.assert_array_equal(drafts, before)
    np.testing.assert_array_equal(class_mandate().project(drafts)[0], before[0])


def test_huge_weights_are_projected_exactly() -> None:
    mandate = class_mandate(AGGRESSIVE)
    np.testing.assert_allclose(
        mandate.project([1e12 + 0.25, 1e12, 0, 0, 0]), [0.625, 0.375, 0, 0, 0], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(mandate.project([1e308, -1e308, 0, 0, 0]).sum(), 1.0, rtol=0, atol=1e-12)


def test_bounds_that_overlap_are_still_satisfiable() -> None:
    # M + m > 1 with every asset in a group: the floor alone decides.
    mandate = Mandate(
        name="tight",
        risky_cap=0.9,
        defensive_floor=0.4,
        risk_aversion=1.0,
        risky=(True, False),
        defensive=(False, True),
    )
    np.testing.assert_allclose(mandate.project([1.0, 0.0]), [0.6, 0.4], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"risky_cap": 1.2}, "risky_cap is 1.2"),
        ({"defensive_floor": float("nan")}, "defensive_floor is nan"),
        ({"risk_aversion": -1.0}, "risk_aversion is -1"),
        ({"defensive": (True, True, False)}, "asset 0 is both risky and defensive"),
        ({"defensive": (False, True)}, "one entry per asset"),
        ({"defensive": (False, False, False)}, "no asset is defensive"),
        ({"risky": (True, True, True), "defensive": (False,) * 3, "defensive_floor": 0.0}, "every asset is risky"),
        ({"risky": (), "defensive": ()}, "at least one asset"),
    ],
)
def test_a_mandate_that_cannot_be_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {
        "name": "mine",
        "risky_cap": 0.4,
        "defensive_floor": 0.4,
        "risk_aversion": 5.0,
        "risky": (True, False, False),
        "defensive": (False, True, False),
    }
    with pytest.raises(MandateError, match=message) as caught:
        Mandate(**(fields | changes))
    assert "\n" not in str(caught.value)
    assert "'mine'" in str(caught.value)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_weight_that_is_no_number_is_named(bad: float) -> None:
    with pytest.raises(WeightsError, match="weight of commodities of portfolio 1 is"):
        class_mandate().project([[0.2] * 5, [0.2, 0.2, bad, 0.2, 0.2]])
    with pytest.raises(WeightsError, match="weight of commodities is"):
        class_mandate().project([0.2, 0.2, bad, 0.2, 0.2])


@pytest.mark.parametrize("shape", [(4,), (2, 4), (2, 2, 5), ()])
def test_the_wrong_number_of_weights_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(WeightsError, match="one weight per asset"):
        class_mandate().project(np.zeros(shape))


def test_no_drafts_project_to_no_drafts() -> None:
    assert class_mandate().project(np.empty((0, 5))).shape == (0, 5)


def test_the_investors_of_the_paper() -> None:
    profiles = {i.name: (i.risky_cap, i.defensive_floor, i.risk_aversion) for i in INVESTORS.values()}
    assert profiles == {
        "conservative": (0.40, 0.40, 10.0),
        "balanced": (0.65, 0.20, 5.0),
        "aggressive": (0.90, 0.05, 2.0),
    }
    assert INVESTORS["balanced"] is BALANCED
    mandate = class_mandate(BALANCED)
    assert mandate.risky == (True, False, False, True, False)
    assert mandate.defensive == (False, True, False, False, True)
    assert mandate.risk_aversion == 5.0


def test_an_investor_refuses_unknown_and_repeated_names() -> None:
    with pytest.raises(MandateError, match="equity not among the assets"):
        BALANCED.mandate(CLASSES, risky=("equity",), defensive=("bonds",))
    with pytest.raises(MandateError, match="repeat a name"):
        BALANCED.mandate(("a", "a"), risky=("a",), defensive=())


def test_mandates_are_values() -> None:
    mandate = class_mandate()
    assert mandate == class_mandate()
    assert hash(mandate) == hash(class_mandate())
    assert mandate != class_mandate(BALANCED)
    copied = pickle.loads(pickle.dumps(mandate))
    np.testing.assert_array_equal(copied.project([1.0, 0, 0, 0, 0]), mandate.project([1.0, 0, 0, 0, 0]))


@given(hnp.arrays(np.float64, (3, 5), elements=st.floats(-2, 2) | st.sampled_from([float("nan"), float("inf")])))
@settings(max_examples=100, deadline=None)
def test_stocks_and_cash_is_an_allocation_within_the_cap(drafts: np.ndarray) -> None:
    for investor, cash in itertools.product(INVESTORS.values(), (0, 4)):
        bounds = {"risky_cap": investor.risky_cap, "defensive_floor": investor.defensive_floor}
        projected = project_stocks_and_cash(drafts, cash=cash, **bounds)
        assert (projected >= 0).all()
        np.testing.assert_allclose(projected.sum(1), 1, rtol=0, atol=1e-12)
        stocks = np.delete(projected, cash, axis=1).sum(1)
        assert (stocks <= min(investor.risky_cap, 1 - investor.defensive_floor) + 1e-12).all()
        again = project_stocks_and_cash(projected, cash=cash, **bounds)
        np.testing.assert_allclose(again, projected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(project_stocks_and_cash(drafts[1], cash=cash, **bounds), projected[1])


def test_stocks_and_cash_stands_huge_weights() -> None:
    projected = project_stocks_and_cash([1e308, 1e308, 1e308], cash=2, risky_cap=0.9, defensive_floor=0.05)
    np.testing.assert_allclose(projected, [1 / 3] * 3, rtol=0, atol=1e-15)


def test_stocks_and_cash_refuses_a_column_that_is_not_there() -> None:
    with pytest.raises(MandateError, match="cash is column 5"):
        project_stocks_and_cash([0.2] * 5, cash=5, risky_cap=0.4, defensive_floor=0.4)


def test_a_mandate_reads_as_what_it_demands() -> None:
    mandate = BALANCED.mandate(("stocks", "bonds"), risky=("stocks",), defensive=("bonds",))
    assert str(mandate) == "balanced: at most 65 % in stocks; at least 20 % in bonds"
