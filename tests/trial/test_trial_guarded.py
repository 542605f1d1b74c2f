"""The guarded preset against checked numbers: purse, veto, pooling, forgetting, and two traces end to end."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtrial.portfolio import utilities
from memtrial.records import Verdict
from memtrial.trial import (
    DEVIATION_GRID,
    Gaps,
    Purse,
    Purses,
    Settings,
    Trial,
    ValueModel,
    act_on,
    blends,
    centre,
    contributions,
    design,
    richest,
    scaled,
    spread,
)
from memtrial.trial.docket import Pending
from memtrial.trial.learning import Learning
from memtrial.trial.verdict import judge

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "guarded.json").read_text(encoding="utf-8"))
TOLERANCE = DOCUMENT["tolerance"]
NAMES = {
    "pe/1": "per_experience",
    "ca/1": "content_aware",
    "pe/.94": "per_experience/0.94",
    "ca/.94": "content_aware/0.94",
}
START = datetime(2020, 1, 1, tzinfo=UTC)


def cases(group: str) -> Any:
    found = [case for case in DOCUMENT["cases"] if case["group"] == group]
    assert found
    return pytest.mark.parametrize("case", found, ids=[case["name"] for case in found])


def near(number: float) -> Any:
    return pytest.approx(number, abs=TOLERANCE, rel=0)


def numbers(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual, float), numbers(expected), rtol=0, atol=TOLERANCE)


def test_every_group_is_read_here() -> None:
    groups = {case["group"] for case in DOCUMENT["cases"]}
    assert groups == {
        "purse", "weight", "candidate", "statistics", "pooling", "rescale", "veto", "interleaved", "ninth", "trace",
    }  # fmt: skip
    assert len(DOCUMENT["cases"]) == 60


@cases("purse")
def test_purse(case: dict[str, Any]) -> None:
    given = case["input"]
    cap = math.inf if given["cap"] is None else given["cap"]
    purse = Purse(given["prior"], bet=given["bet"], fixed_share=given["fixed_share"], cap=cap)
    purse.wealth, purse.shares = given["wealth"], list(given["shares"])
    out = case["output"]
    many = isinstance(out["wealth"], list)
    dates = (
        zip(given["scores"], out["wealth"], out["shares"], strict=True)
        if many
        else [(given["scores"], out["wealth"], out["shares"])]
    )
    for scores, wealth, shares in dates:
        purse.settle(scores)
        assert purse.wealth == near(wealth)
        same(purse.shares, shares)


@cases("candidate")
def test_candidate(case: dict[str, Any]) -> None:
    assert richest(case["input"]["shares"]) == case["output"]["index"]


def verdict_of(
    wealth: float, values: list[float], *, k: int, kind: str = "auto", alpha: float = 0.05, gaps: list[float] = ()
) -> Verdict:  # type: ignore[assignment]
    """The verdict at a wealth, on values of all four candidates, after some gaps of every size."""
    settings = Settings.guarded(alpha=alpha, design=kind, cap=max(40.0, 2 / alpha))
    trial = Trial(settings)
    learning: Learning = trial._learning
    learning.purses._purses[0].wealth = wealth
    plan = design(k, kind)  # type: ignore[arg-type]
    for gap in gaps:
        learning._gaps.learn(plan, np.full(plan.n_drafts, gap), 0.0)
    return judge(
        settings,
        design=plan,
        valid=np.ones(plan.n_drafts, bool),
        predictions={name: np.array(values) for name in trial.learners},
        known=learning.known(),
        hold=False,
    )


@cases("weight")
def test_weight(case: dict[str, Any]) -> None:
    given = case["input"]
    share = given["total"] / given["k"]
    vetoed = [-1.0] * 6 if given["vetoed"] else []
    verdict = verdict_of(given["wealth"], [share] * given["k"], k=given["k"], alpha=given["alpha"], gaps=vetoed)
    assert verdict.weight == near(case["output"]["weight"])


@cases("statistics")
def test_statistics(case: dict[str, Any]) -> None:
    gamma = case["input"]["gamma"]
    model = ValueModel(forgetting=None if gamma == 1 else gamma)
    rows: dict[str, int] = {}
    for arrival, expected in zip(case["input"]["arrivals"], case["output"]["after_each_arrival"], strict=True):
        number, ids = arrival["decision"], [str(name) for name in arrival.get("ids") or []]
        model.advance(number)
        if ids and arrival.get("y") is not None:
            for name in ids:
                rows.setdefault(name, len(rows))
            model.observe(ids, np.zeros((len(ids), 8)), np.array(arrival["y"]), number)
        evidence = model.evidence
        where = np.array([rows[name] for name in expected["n"]], dtype=np.intp)
        counts, means = evidence.counts(where), evidence.means(where)
        same(counts, list(expected["n"].values()))
        same(means * counts, list(expected["s"].values()))
        assert evidence.noise(len(rows)) == near(expected["sigma2"])
    assert len(DEVIATION_GRID) == 8


@cases("pooling")
def test_pooling(case: dict[str, Any]) -> None:
    plan = design(case["input"]["k"], case["input"]["kind"])
    earned = numbers(case["input"]["U"])
    expected = case["output"]
    effects = contributions(plan, earned)
    if expected["y"] is None:
        assert effects is None or plan.k < 2  # one alone: see Pending.measured
        return
    assert effects is not None
    sd = spread(earned)
    assert sd == near(expected["s"])
    assert math.sqrt(sd) == near(expected["root"])
    same(scaled(centre(effects), sd), expected["pooled"])
    same(centre(effects) if sd else np.zeros(plan.k), expected["y"])


@cases("rescale")
def test_rescale(case: dict[str, Any]) -> None:
    learning: Learning = Trial()._learning
    for root in case["input"]["past_roots"]:
        learning._roots.add(root)
    assert learning.unit == near(case["output"]["unit"])
    same(learning.unit * np.array(case["input"]["v"]), case["output"]["v_utility"])


@cases("veto")
def test_veto(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["output"]
    gaps = Gaps()
    for size, values in given["gaps"].items():
        plan = design(4, "full")
        for value in values:
            earned = np.array([value if len(subset) == int(size) else np.nan for subset in plan.subsets])
            gaps.learn(plan, earned, 0.0)
    n, mean, se = gaps.known(given["size"])
    assert n == expected["n"]
    same([mean, se], [expected["mean"], expected["se"]])
    bound = gaps.bound(given["size"], z=given["z"], least=given["min_dates"])
    assert bound == near(expected["bound"])
    assert (given["unit"] * given["total"] + bound <= 0) == expected["vetoed"]


@cases("interleaved")
def test_interleaved(case: dict[str, Any]) -> None:
    given, decisions = case["input"], iter(case["output"]["decisions"])
    purses = Purses(given["H"], given["prior"], bet=given["bet"], fixed_share=given["fixed_share"], cap=given["cap"])
    for event in given["events"]:
        number = event["decision"]
        if event["event"] == "decide":
            expected = next(decisions)
            assert purses.may_bet(number) == expected["bet"]
            assert purses.wealth == near(expected["wealth"])
            same(purses.shares, expected["shares"])
            assert list(NAMES)[richest(purses.shares)] == expected["candidate"]
            assert min(1.0, given["alpha"] * purses.wealth) == near(expected["weight"])
            if expected["bet"]:
                purses.open(number)
        else:
            purses.close(number, event["scores"] if event["event"] == "settle" else None)
    assert next(decisions, None) is None


@cases("ninth")
def test_extra_draft(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["output"]
    settings = Settings.guarded(design=given["kind"], alpha=given["alpha"], extra_draft=True)
    trial = Trial(settings)
    trial._learning.purses._purses[0].wealth = given["wealth"]
    values = np.array(given["v"])
    trial._learning.predict = lambda ids, features: dict.fromkeys(trial.learners, values)  # type: ignore[method-assign]
    if given["vetoed"]:
        plan = trial.plan(given["k"])
        for _ in range(6):
            trial._learning._gaps.learn(plan, np.full(plan.n_drafts, -1.0), 0.0)
    asked = {
        "retrieved": [f"e{rank}" for rank in range(given["k"])],
        "features": np.zeros((given["k"], 8)),
        "at": START,
    }
    wanted = trial.foresee(**asked)
    assert (wanted is not None) == expected["extra_call"]
    plan = trial.plan(given["k"])
    verdict = trial.act("now", valid=np.ones(plan.n_drafts, bool), extra=wanted, **asked)
    assert verdict.weight == near(expected["weight"])
    assert list(verdict.subset) == expected["best_designed"]
    if expected["subset"] is not None and verdict.weight:
        assert list(verdict.extra or verdict.subset) == expected["subset"]


def moment(number: float) -> datetime:
    return START + timedelta(days=number)


@cases("trace")
def test_every_date_of_the_trace(case: dict[str, Any]) -> None:
    given, content = case["input"], np.array(case["input"]["Z"])
    trial = Trial(
        Settings.guarded(
            dimensions=content.shape[1], alpha=given["alpha"], veto=given["z"], veto_dates=given["min_dates"],
            alpha0=given["alpha0"], lambda0=given["lambda0"], holding=given["H"], bet=given["bet"],
            fixed_share=given["fixed_share"], cap=given["cap"],
            content_grid=tuple(given["a_grid"]), deviation_grid=tuple(given["b_grid"]),
        )
    )  # fmt: skip
    assert [NAMES[name] for name in given["candidates"]] == list(trial.learners)
    events = given.get("events") or [
        {"event": event, "decision": number} for number in range(len(given["dates"])) for event in ("decide", "settle")
    ]
    holdings = np.array(given["w0"])
    drafts: dict[int, np.ndarray] = {}
    for clock, event in enumerate(events):
        number = event["decision"]
        date, expected = given["dates"][number], case["output"]["dates"][number]
        if event["event"] == "decide":
            drafts[number] = np.array([numbers(row) for row in date["drafts"]])
            _decided(trial, number, clock, date, content, drafts[number], expected)
        elif event["event"] == "settle":
            _settled(trial, number, clock, date, drafts[number], expected, holdings, given)
        else:
            trial.expire(str(number))


def _decided(
    trial: Trial, number: int, clock: int, date: Any, content: np.ndarray, drafts: np.ndarray, expected: Any
) -> None:
    ids = date["retrieved"]
    valid, reference = np.isfinite(drafts).all(axis=1), np.array(date["ref"])
    verdict = trial.act(
        str(number), retrieved=[str(name) for name in ids], features=content[np.array(ids, int)], valid=valid,
        at=moment(clock),
    )  # fmt: skip
    for name, values in expected["predictions"].items():
        same(verdict.values[NAMES[name]], values)
    assert verdict.wealth == near(expected["wealth"])
    same(list(verdict.shares.values()), expected["shares"])
    assert verdict.learner == NAMES[expected["candidate"]]
    assert list(verdict.subset) == (expected["subset"] or [])
    assert verdict.total == near(expected["total"])
    assert verdict.unit == near(expected["unit"])
    assert verdict.bound == near(expected["bound"])
    assert (verdict.vetoed, verdict.bets) == (expected["vetoed"], expected["bet"])
    assert verdict.weight == near(expected["weight"])
    assert verdict.reference_weight == near(expected["q"])
    same(act_on(verdict, trial.plan(len(ids)), drafts, reference), expected["weights"])
    for factor, fitted in expected["hyper"].items():
        fit = trial._learning.models[None if factor == "1.0" else float(factor)].fit()
        own, both = fit.chosen["per_experience"], fit.chosen["content_aware"]
        assert fit.noise == near(fitted["sigma2"])
        assert (own.deviation, both.content, both.deviation) == (fitted["pe_b"], fitted["ca_a"], fitted["ca_b"])


def _settled(
    trial: Trial,
    number: int,
    clock: int,
    date: Any,
    drafts: np.ndarray,
    expected: Any,
    holdings: np.ndarray,
    given: Any,
) -> None:
    valid, reference = np.isfinite(drafts).all(axis=1), np.array(date["ref"])
    terms = {
        "returns": np.array(date["daily"]),
        "holdings": holdings,
        "risk_aversion": given["gamma"],
        "cost": given["cost"],
    }
    earned = np.full(len(drafts), np.nan)
    mixes = None
    if valid.any():
        earned[valid] = utilities(drafts[valid], **terms)
        mixes = utilities(blends(reference, drafts[valid].mean(axis=0)), **terms)
    learned = trial.settle(str(number), utilities=earned, blend_utilities=mixes, known_at=moment(clock))
    outcome = expected["outcome"]
    if outcome is None:
        return
    same(earned, outcome["U"])
    same([learned.scores.get(NAMES[name]) for name in NAMES], outcome["scores"])
    pending: Pending = next(item for item in trial._docket.unlearned() if item.id == str(number))
    if outcome.get("y") is not None and pending.centred is not None:
        same(pending.centred, outcome["y"])
    if outcome.get("pooled") is not None and pending.pooled is not None:
        same(pending.pooled, outcome["pooled"])
