"""The trial's equations against independently checked numbers, one file per equation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtrial.trial import (
    REFERENCE_WEIGHTS,
    Anchor,
    Scores,
    ValueModel,
    bernoulli_kl,
    centre,
    contributions,
    design,
    forward_score,
    select_learner,
    trust_test,
    trusted_subset,
)
from memtrial.trial.fit import fitted
from memtrial.trial.groups import Groups

LEARNER = {"pe": "per_experience", "ca": "content_aware"}


def golden(name: str) -> list[Any]:
    path = Path(__file__).parents[1] / "golden" / f"{name}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    return [
        pytest.param(case["input"], case["output"], document["tolerance"], id=case["name"])
        for case in document["cases"]
    ]


def numbers(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("design"))
def test_design(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    planned = design(given["k"], given["kind"])
    assert [list(subset) for subset in planned.subsets] == expected["subsets"]
    assert planned.membership.shape == (planned.n_drafts, given["k"])
    assert [list(np.flatnonzero(row)) for row in planned.membership] == expected["subsets"]


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("attribution"))
def test_attribution(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    effects = contributions(design(given["k"], given["kind"]), numbers(given["U"]))
    if expected["c"][0] is None:
        assert effects is None
        return
    assert effects is not None
    np.testing.assert_allclose(effects, expected["c"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(centre(effects), expected["y"], rtol=0, atol=tolerance)


def observed(given: dict[str, Any]) -> ValueModel:
    content = np.array(given["Z"])
    model = ValueModel(content.shape[1], given["a_grid"], given["b_grid"])
    for experience, measured in given["obs"]:
        model.observe([str(experience)], content[[experience]], np.array([measured]))
    return model


@pytest.mark.parametrize(
    ("given", "expected", "tolerance"), [case for case in golden("value_model") if "obs" in case.values[0]]
)
def test_value_model(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    model, content = observed(given), np.array(given["Z"])
    fit = model.fit()
    rows = model.values()
    assert [int(row.id) for row in rows] == expected["ids"]
    assert [row.n for row in rows] == expected["n"]
    np.testing.assert_allclose([row.mean for row in rows], expected["m"], rtol=0, atol=tolerance)
    assert fit.noise == pytest.approx(expected["sigma2"], abs=tolerance)
    assert fit.chosen["per_experience"].content == 0
    assert fit.chosen["per_experience"].deviation == expected["pe"]["b"]
    assert fit.chosen["content_aware"].content == expected["ca"]["a"]
    assert fit.chosen["content_aware"].deviation == expected["ca"]["b"]
    np.testing.assert_allclose(fit.coefficients, expected["ca"]["beta"], rtol=0, atol=tolerance)
    predicted = model.predict([str(i) for i in range(len(content))], content)
    for short, learner in LEARNER.items():
        np.testing.assert_allclose(predicted[learner], expected[short]["predictions"], rtol=0, atol=tolerance)
    if expected["ca"].get("loglik") is not None and fit.noise > 0:
        np.testing.assert_allclose(fit.log_likelihood, expected["ca"]["loglik"], rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("given", "expected", "tolerance"), [case for case in golden("value_model") if "obs" not in case.values[0]]
)
def test_fixed_variances(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    mean, content, noise = np.array(given["m"]), np.array(given["Z"]), given["sigma2"]
    counts = np.array(given["n"]).astype(int)
    a, b = np.array([given["sigma_beta2"] / noise]), np.array([given["tau2"] / noise])
    groups = Groups(b, content.shape[1] + 1)
    groups.rebuild(counts, np.column_stack([content, mean]))
    log_diagonal, moments = groups.weighted()
    fit = fitted(
        noise=noise, n_experiences=mean.size, content_grid=a, deviation_grid=b,
        log_diagonal=log_diagonal, moments=moments,
    )  # fmt: skip
    expected_value = content @ fit.coefficients
    value = expected_value + b * counts / (b * counts + 1) * (mean - expected_value)
    assert fit.log_likelihood[0, 0] == pytest.approx(expected["loglik"], abs=tolerance)
    np.testing.assert_allclose(fit.coefficients, expected["beta"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(value, expected["v"], rtol=0, atol=tolerance)


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("learner_selection"))
def test_learner_selection(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    selected = select_learner(Scores(given["pe"]), Scores(given["ca"]), given["min_scores"])
    assert selected == LEARNER[expected["selected"]]


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("forward_score"))
def test_forward_score(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    score = forward_score(given["v"], numbers(given["y"]))
    assert score == (None if expected["rho"] is None else pytest.approx(expected["rho"], abs=tolerance))


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("trust_test"))
def test_trust(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    test = trust_test(given["scores"], given["alpha"], given["min_scores"])
    assert test.p_value == pytest.approx(expected["p"], abs=tolerance)
    assert test.passes == expected["passes"]


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("trusted_subset"))
def test_trusted_subset(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    planned = design(given["k"], given["kind"])
    best, total = trusted_subset(planned, given["v"])
    assert best is not None
    assert list(planned.subsets[best]) == expected["subset"]
    assert total == pytest.approx(expected["total"], abs=tolerance)
    assert (total > 0) == expected["act"]


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("kl"))
def test_kl(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    assert float(bernoulli_kl(given["q"], given["a0"])) == pytest.approx(expected["kl"], abs=tolerance)


@pytest.mark.parametrize(("given", "expected", "tolerance"), golden("anchored_blend"))
def test_anchored_blend(given: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    from memtrial.portfolio import utilities
    from memtrial.trial import blends

    anchor = Anchor(given["alpha0"], given["lambda0"])
    for mean_draft, daily in zip(given["bars"], given["daily"], strict=True):
        path = blends(given["ref"], mean_draft)
        anchor.learn(utilities(path, daily, holdings=given["w0"], risk_aversion=given["gamma"]))
    assert anchor.sigma == pytest.approx(expected["sigma_hat"], abs=tolerance)
    assert anchor.weight() == pytest.approx(expected["q"], abs=tolerance)
    assert REFERENCE_WEIGHTS.shape == (201,)
