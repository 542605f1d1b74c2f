"""The local model, end to end and offline: a draft under each grammar with a 135M test model."""

from __future__ import annotations

import re
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pytest
from models_server import gguf, need, request

from memtrial.errors import ModelError, ProviderError
from memtrial.models import LocalModel, Recorded, Recording, resolve_model
from memtrial.policy import FORMS, LLMPolicy, draft_all
from memtrial.records import Experience, State

need("xllamacpp")

WHEN = datetime(2024, 1, 31, 22, tzinfo=UTC)
ASSETS = ("equities", "real_estate", "cash")
STATE = State(decided_at=WHEN, text="equities rose, real_estate fell", situation="calm", assets=ASSETS)
MEMORY = Experience(id="a", kind="record", situation="s", text="equities beat cash", valid_at=WHEN, known_at=WHEN)


async def test_a_local_model_drafts_under_both_grammars(tmp_path: Path) -> None:
    model = LocalModel(gguf(), threads=1)  # more threads than free cores wait for each other
    assert model.grammatical
    assert model.identity.startswith("local:SmolLM2-135M-Instruct")
    for name, form in FORMS.items():
        path = tmp_path / f"{name}.jsonl"
        live = Recorded(Recording(path, model=model.identity), model)
        made = await draft_all(LLMPolicy(live, role="You decide.", form=form), STATE, [MEMORY], ((0,),))
        # A grammar holds the form, not the sense: two decimals may miss a sum of 1, and all may be avoided.
        assert made[0].weights is not None or re.search("sum to|avoid", str(made[0].problem)), made[0].problem
        assert made[0].usage.output_tokens > 0
        assert made[0].usage.cost_usd == 0.0
        replay = LLMPolicy(Recorded(Recording(path)), role="You decide.", form=form)
        again = await draft_all(replay, STATE, [MEMORY], ((0,),))
        assert (again[0].weights, again[0].requests) == (made[0].weights, made[0].requests)
    with pytest.raises(ModelError, match="refused the request"):
        await model.complete(request("word " * 9000, model=model.identity))
    with pytest.raises(ModelError, match="refused the request"):
        await model.complete(request(model=model.identity, grammar="this is no grammar"))


def test_a_file_that_is_no_model_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"not a model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ProviderError, match="cannot be loaded as a GGUF model"):
            resolve_model(f"local:{path}", environ={})
