"""Reply forms: what they ask for can be read, and everything else is refused."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.errors import ReplyError
from memtrial.policy import FORMS, RATING_SHARES, RatingsForm, WeightsForm

ASSETS = ("equities", "bonds", "cash")
GOOD = {"equities": 0.5, "bonds": 0.3, "cash": 0.2}

names = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
        lambda name: name != "reason"
    ),
    min_size=1,
    max_size=8,
    unique=True,
)


@given(names, st.data())
def test_weights_round_trip(assets: list[str], data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.integers(0, 100), min_size=len(assets), max_size=len(assets)).filter(any))
    weights = [part / sum(parts) for part in parts]
    reply = {**dict(zip(assets, weights, strict=True)), "reason": 'growth beats "fear"'}
    for text in (json.dumps(reply), f"```json\n{json.dumps(reply, indent=1)}\n```", f" {json.dumps(reply)}\n"):
        read, reason = WeightsForm().read(text, assets)
        assert read == pytest.approx(weights)
        assert sum(read) == pytest.approx(1)
        assert reason == 'growth beats "fear"'


@given(names, st.data())
def test_ratings_round_trip(assets: list[str], data: st.DataObject) -> None:
    ratings = data.draw(
        st.lists(st.sampled_from(list(RATING_SHARES)), min_size=len(assets), max_size=len(assets)).filter(
            lambda drawn: any(rating != "avoid" for rating in drawn)
        )
    )
    read, reason = RatingsForm().read(json.dumps(dict(zip(assets, ratings, strict=True))), assets)
    shares = [RATING_SHARES[rating] for rating in ratings]
    assert read == pytest.approx([share / sum(shares) for share in shares])
    assert reason is None


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 13, 60, 150])
def test_the_example_of_the_weights_form_is_itself_valid(count: int) -> None:
    assets = [f"a{number}" for number in range(count)]
    example = re.search(r"\{.*?\}", WeightsForm().instruction(assets))
    assert example is not None
    weights, _ = WeightsForm().read(example[0], assets)
    assert weights == pytest.approx([1 / count] * count, abs=0.011)


BAD = {
    "empty": "",
    "prose": "I would hold bonds.",
    "prose before": f"Sure! {json.dumps(GOOD)}",
    "prose after": f"{json.dumps(GOOD)} Hope this helps.",
    "two objects": json.dumps(GOOD) * 2,
    "a list": "[0.5, 0.3, 0.2]",
    "a number": "1",
    "null": "null",
    "cut off": json.dumps(GOOD)[:-1],
    "single quotes": str(GOOD),
    "percentages": json.dumps({"equities": 50, "bonds": 30, "cash": 20}),
    "percent signs": json.dumps({"equities": "50%", "bonds": "30%", "cash": "20%"}),
    "words": json.dumps({**GOOD, "cash": "0.2"}),
    "booleans": '{"equities": true, "bonds": false, "cash": false}',
    "null weight": json.dumps({**GOOD, "cash": None}),
    "nested": json.dumps({"weights": GOOD}),
    "nested weight": json.dumps({**GOOD, "cash": {"weight": 0.2}}),
    "list weight": json.dumps({**GOOD, "cash": [0.2]}),
    "NaN": '{"equities": NaN, "bonds": 0.5, "cash": 0.5}',
    "Infinity": '{"equities": Infinity, "bonds": 0.5, "cash": 0.5}',
    "minus Infinity": '{"equities": -Infinity, "bonds": 0.5, "cash": 0.5}',
    "overflow": '{"equities": 1e999, "bonds": 0.5, "cash": 0.5}',
    "huge integer": '{"equities": 1' + "0" * 400 + ', "bonds": 0, "cash": 0}',
    "endless integer": '{"equities": 1' + "0" * 5000 + ', "bonds": 0, "cash": 0}',
    "deep": "[" * 100_000,
    "duplicate": '{"equities": 0.5, "bonds": 0.3, "cash": 0.1, "cash": 0.2}',
    "duplicate inside": '{"equities": 0.5, "bonds": 0.3, "cash": 0.2, "reason": {"a": 1, "a": 2}}',
    "missing": json.dumps({"equities": 0.5, "bonds": 0.5}),
    "unknown": json.dumps({**GOOD, "gold": 0.0}),
    "negative": json.dumps({"equities": 1.2, "bonds": -0.2, "cash": 0.0}),
    "sum too small": json.dumps({"equities": 0.5, "bonds": 0.3, "cash": 0.18}),
    "all zero": json.dumps({"equities": 0, "bonds": 0, "cash": 0}),
    "reason is data": json.dumps({**GOOD, "reason": {"why": "growth"}}),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("form", FORMS)
def test_a_bad_reply_is_refused_in_one_line(form: str, name: str) -> None:
    with pytest.raises(ReplyError) as caught:
        FORMS[form].read(BAD[name], ASSETS)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    for form in FORMS.values():
        try:
            weights, _ = form.read(text, ASSETS)
        except ReplyError:
            continue
        assert sum(weights) == pytest.approx(1)


def test_ratings_refuse_what_is_no_rating() -> None:
    good = {"equities": "overweight", "bonds": "neutral", "cash": "avoid"}
    form = RatingsForm()
    assert form.read(json.dumps(good), ASSETS)[0] == pytest.approx((2 / 3, 1 / 3, 0))
    for bad in (
        {**good, "cash": "Avoid"},
        {**good, "cash": 1},
        {**good, "cash": None},
        {**good, "gold": "avoid"},
        {"equities": "neutral", "bonds": "neutral"},
        dict.fromkeys(ASSETS, "avoid"),
    ):
        with pytest.raises(ReplyError):
            form.read(json.dumps(bad), ASSETS)


def test_rounding_is_forgiven_and_scaled() -> None:
    weights, reason = WeightsForm().read('{"equities": 0.333, "bonds": 0.333, "cash": 0.333, "reason": null}', ASSETS)
    assert weights == pytest.approx((1 / 3,) * 3)
    assert reason is None
