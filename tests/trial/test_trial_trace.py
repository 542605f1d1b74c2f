"""48 decisions end to end against an independent implementation: paper Algorithms F.1-F.3."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtrial.portfolio import utilities
from memtrial.records import Verdict
from memtrial.trial import Settings, Trial, blend, blends, centre, contributions

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "agent_trace.json").read_text(encoding="utf-8"))
TOLERANCE = DOCUMENT["tolerance"]
LEARNER = {"pe": "per_experience", "ca": "content_aware"}
START = datetime(2020, 1, 1, tzinfo=UTC)


def close(actual: Any, expected: Any) -> bool:
    return bool(np.allclose(actual, expected, rtol=0, atol=TOLERANCE))


def same_verdict(verdict: Verdict, expected: dict[str, Any]) -> None:
    assert verdict.trusted == expected["trusted"], verdict.reason
    assert verdict.reason.startswith("trusted: " if expected["trusted"] else "not trusted: ")
    assert (verdict.n_scores, verdict.learner) == (expected["n"], LEARNER[expected["learner"]])
    assert list(verdict.subset) == expected["subset"]
    assert verdict.reference_weight == pytest.approx(expected["q"], abs=TOLERANCE)
    assert close(verdict.p_value, expected["p"])
    assert close(verdict.total, expected["total"])
    assert close(verdict.values["per_experience"], expected["pred_pe"])
    assert close(verdict.values["content_aware"], expected["pred_ca"])


@pytest.mark.parametrize("case", DOCUMENT["cases"], ids=lambda case: case["name"])
def test_every_date_of_the_trace(case: dict[str, Any]) -> None:
    given, content = case["input"], np.array(case["input"]["Z"])
    trial = Trial(
        Settings.paper(
            alpha=given["alpha"], min_scores=given["min_scores"], alpha0=given["alpha0"], lambda0=given["lambda0"],
            content_grid=tuple(given["a_grid"]), deviation_grid=tuple(given["b_grid"]), dimensions=content.shape[1],
        )
    )  # fmt: skip
    for number, (date, expected) in enumerate(zip(given["dates"], case["output"]["dates"], strict=True)):
        at = START + timedelta(days=30 * number)
        drafts, plan = np.array(date["drafts"]), trial.plan(len(date["retrieved"]))
        verdict = trial.act(
            str(number),
            retrieved=[str(experience) for experience in date["retrieved"]],
            features=content[date["retrieved"]],
            valid=np.ones(plan.n_drafts, dtype=bool),
            at=at,
        )
        same_verdict(verdict, expected)

        mean_draft = drafts.mean(axis=0)
        action = (
            drafts[plan.subsets.index(verdict.subset)]
            if verdict.trusted
            else blend(date["ref"], mean_draft, verdict.reference_weight)
        )
        assert close(action, expected["weights"])
        everything = np.vstack([drafts, action, blends(date["ref"], mean_draft)])
        earned = utilities(everything, date["daily"], holdings=given["w0"], risk_aversion=given["gamma"])
        assert close(earned[plan.n_drafts], expected["utility"])
        assert close(earned[: plan.n_drafts], expected["U"])
        learned = trial.settle(
            str(number),
            utilities=earned[: plan.n_drafts],
            blend_utilities=earned[plan.n_drafts + 1 :],
            known_at=at + timedelta(days=29),
        )
        assert learned.centred is not None
        assert close(learned.centred, expected["y"])
        effects = contributions(plan, expected["U"])
        assert effects is not None
        assert close(centre(effects), expected["y"])
