"""The page says what the data say, in the order that was promised, and nothing foreign can act in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from report_reading import Node, read
from report_worlds import World, held_in_shadow

from memtrial.bench.classalloc.result import ClassAllocResult
from memtrial.bench.report import render, write_report
from memtrial.errors import InputError

SECTIONS = ["verdict", "methods", "wealth", "trust", "experiences", "credit", "decisions", "measured"]
HOSTILE = (
    "</script></style></title><img src=x onerror=alert(1)><script>alert(1)</script>\"'&amp;{{7*7}}"
    "\u202edeussaP\u2066\x07"
)


@pytest.fixture(scope="module")
def result() -> ClassAllocResult:
    return World().result()


@pytest.fixture(scope="module")
def page(result: ClassAllocResult) -> Node:
    return read(render(result, model_note="A small model.", recording="seed0.jsonl.xz", notes={"Seeds": "1 of 3"}))


@pytest.fixture(scope="module")
def trusted() -> ClassAllocResult:
    return World(months=40, skill=1.5, influence=0.02, noise=0.02, seed=3).result()


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def written(value: float, decimals: int, *, sign: bool = False) -> str:
    """A second, independent way to set a number."""
    text = format(value, f"{'+' if sign else ''}.{decimals}f").replace("-", "−")
    return text.lstrip("+−") if not re.search("[1-9]", text) else text


def test_sections_stand_in_order_under_one_heading(page: Node) -> None:
    sections = [node for node in page.walk() if node.tag == "section"]
    assert [node.attributes["id"] for node in sections] == SECTIONS
    assert len(page.all("h1")) == 1
    assert [link.attributes["href"] for link in page.one("nav").all("a")] == [f"#{name}" for name in SECTIONS]
    for section in sections:
        assert page.all("h1", id=section.attributes["aria-labelledby"]) + page.all(
            "h2", id=section.attributes["aria-labelledby"]
        )


def test_ids_are_unique_and_every_link_on_the_page_leads_somewhere(page: Node) -> None:
    ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    assert all(link.attributes["href"].removeprefix("#") in ids for link in page.all("a"))


def test_the_verdict_comes_first_and_counts_right(page: Node, result: ClassAllocResult) -> None:
    primary = result.investors["balanced"]
    last = primary.decisions[-1]
    scores = [o.scores["per_experience"] for o in primary.outcomes if o.known_at <= last.decided_at and o.scores]
    assert last.verdict.learner == "per_experience"
    assert len(scores) == last.verdict.n_scores
    sentence = plain(page.one("h1").text)
    assert sentence.startswith(
        "Memory is not trusted: on the last decision its values had ranked the experiences right"
    )
    assert f"on {sum(score > 0 for score in scores)} of {len(scores)} unseen months" in sentence
    assert f"mean forward score {written(last.verdict.mean_score, 2, sign=True)}, p = " in sentence


def test_method_table_equals_the_data(page: Node, result: ClassAllocResult) -> None:
    methods = result.investors["balanced"].methods
    table = page.one("section", id="methods").all("table")[0]
    reference = [month.utility for month in methods["1/N"].months]
    for cells, (name, method) in zip(table.rows(), methods.items(), strict=True):
        months, summary = method.months, method.summary
        assert cells[0] == method.label
        assert cells[1] == written(summary.utility_pct_month, 3)
        if name != "1/N":
            mean = sum(month.utility - base for month, base in zip(months, reference, strict=True)) / len(months)
            assert cells[2] == written(100 * mean, 3, sign=True)
        figures = (summary.gross_pct_month, summary.cost_pct_month, summary.risk_pct_month)
        assert cells[6:9] == [written(value, 3) for value in figures]
        assert cells[9] == written(summary.cumulative_return_pct, 1, sign=True)
        assert cells[10:12] == [written(summary.sharpe, 2), written(summary.max_drawdown_pct, 1)]
        moved = sum(month.memory_weight > 0 for month in months)
        share = sum(month.memory_weight for month in months) / len(months)
        own_rule = name in {"memtrial", "memtrial_guarded", "memtrial_never_trusts"}
        assert cells[12] == (f"{written(100 * share, 1)} ({moved}/{len(months)})" if own_rule else "")


def test_columns_have_equal_decimals(page: Node) -> None:
    for table in page.all("table"):
        for column in zip(*table.rows(), strict=True):
            numbers = [re.fullmatch(r"[+−]?\d[\d\u00a0]*(?:\.(\d+))?", cell) for cell in column]
            places = {len(found[1] or "") for found in numbers if found}
            assert len(places) <= 1, column


def test_no_number_carries_a_hyphen_for_minus(page: Node) -> None:
    own = [node for node in page.walk() if node.tag in {"td", "text", "dd", "h1"}]
    foreign = {bdi.text for bdi in page.all("bdi")}
    for node in own:
        if not any(words in node.text for words in foreign):
            assert not re.search(r"(?<![\w.])-\d", node.text), node.text


def test_investors_table_averages(page: Node, result: ClassAllocResult) -> None:
    table = page.one("section", id="methods").all("table")[1]
    for cells, name in zip(table.rows(), result.investors["balanced"].methods, strict=True):
        found = [each.methods[name].summary.utility_pct_month for each in result.investors.values()]
        assert cells[1:4] == [written(value, 3) for value in found]
        assert cells[4] == written(sum(found) / 3, 3)


def test_every_decision_is_opened_whole(page: Node, result: ClassAllocResult) -> None:
    primary = result.investors["balanced"]
    articles = page.all("article")
    assert [article.attributes["id"] for article in articles] == [decision.id for decision in primary.decisions]
    for row, (article, decision, outcome) in enumerate(zip(articles, primary.decisions, primary.outcomes, strict=True)):
        drafts, shown = article.all("table")
        lines = drafts.rows()
        assert len(lines) == len(decision.drafts) + 4
        for cells, draft, held, earned in zip(
            lines, decision.drafts, decision.projected, outcome.draft_utilities, strict=False
        ):
            if held is None or earned is None:
                assert cells[1:6] == ["–"] * 5
                assert cells[8] == f"no valid draft: {draft.problem}"
            else:
                assert cells[1:6] == [written(100 * weight, 1) for weight in held]
                assert cells[7] == written(100 * earned, 2, sign=True)
                assert draft.reason is not None
                assert cells[8].startswith(draft.reason)
        (deployed,) = [cells for cells in lines if "deployed" in cells[0]]
        assert deployed[1:6] == [written(100 * weight, 1) for weight in decision.action]
        assert deployed[7] == written(100 * outcome.utility, 2, sign=True)
        assert lines[-1][0] == "the market's own move"
        assert lines[-1][1:6] == [written(100 * move, 1, sign=True) for move in result.class_returns[row]]
        assert outcome.contributions is not None
        for cells, effect, item in zip(shown.rows(), outcome.contributions, decision.recall.shown, strict=True):
            assert cells[1] == written(100 * effect, 2, sign=True)
            assert cells[4] == item.experience.text
        assert decision.prompt in article.text


def test_experiences_are_ranked_by_value(page: Node, result: ClassAllocResult) -> None:
    values = sorted(result.investors["balanced"].values, key=lambda value: -value.values["per_experience"])
    lines = page.one("table", class_="ranked").rows()
    assert [cells[2] for cells in lines] == [written(100 * v.values["per_experience"], 3, sign=True) for v in values]
    assert [cells[4] for cells in lines] == [str(value.n) for value in values]


def test_table_one_stands_beside_the_paper(page: Node, result: ClassAllocResult) -> None:
    ours, *paper = page.one("section", id="credit").all("table")[-1].rows()
    credit = result.credit
    assert ours[1] == written(credit.outcome_credit_vs_market, 2, sign=True)
    assert ours[3] == written(credit.contribution_vs_market, 2, sign=True)
    assert ours[5] == written(credit.outcome_credit_vs_contribution, 2, sign=True)
    assert ours[7] == str(credit.n)
    assert [row[1::2][:3] for row in paper] == [
        ["+0.91", "+0.04", "+0.11"], ["+0.92", "+0.03", "+0.04"], ["+0.95", "−0.07", "−0.03"],
        ["+0.97", "+0.02", "+0.02"],
    ]  # fmt: skip


def test_every_chart_has_its_table_and_every_hit_a_row(page: Node) -> None:
    figures = page.all("figure")
    assert len(figures) == 3 + 2 + 3
    for figure in figures:
        count = len(figure.one("tbody").all("tr"))
        hits = {int(node.attributes["data-row"]) for node in figure.walk() if "data-row" in node.attributes}
        assert hits == set(range(count))
        assert all(view.attributes["aria-label"] for view in figure.all("svg"))


def test_a_trusted_run_says_what_trust_earned(trusted: ClassAllocResult) -> None:
    primary = trusted.investors["balanced"]
    page = read(render(trusted))
    count = sum(decision.verdict.trusted for decision in primary.decisions)
    assert 0 < count < len(primary.decisions)
    gains = [
        outcome.utility - outcome.blend_utilities[round(200 * decision.verdict.reference_weight)]
        for decision, outcome in zip(primary.decisions, primary.outcomes, strict=True)
        if decision.verdict.trusted and outcome.blend_utilities is not None
    ]
    mean = sum(gains) / count
    size = f"{written(abs(100 * mean), 3)} pp a month {'more' if mean > 0 else 'less'} than the anchor would have"
    sentence = plain(page.one("h1").text)
    assert sentence.startswith(f"Memory was trusted on {count} of 40 decisions; those earned {size}")
    marks = [node for node in page.one("figure", id="p-values").walk() if node.has({"class_": "mark"})]
    assert len(marks) == 3 * count
    assert sum("· trusted" in item.attributes["data-label"] for item in page.all("details", class_="decision")) == count


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (World(months=1), "Memory is not trusted yet: nothing it predicted has been measured so far"),
        (World(months=8), "and trust needs at least 10"),
        (World(months=4, missing=1.0), "nothing it predicted has been measured so far"),
        (World(months=8, dead=(7,)), "Memory is not trusted yet"),
    ],
)
def test_states_with_little_to_show_still_render(world: World, words: str) -> None:
    page = read(render(world.result()))
    assert words in plain(page.one("h1").text)
    assert "nan" not in page.one("main").text.lower()
    if world.missing == 1.0:
        text = plain(page.one("main").text)
        assert "No experience has been measured yet" in text
        assert "no valid draft: two invalid replies" in text
        assert "no valid draft, so the reference was held" in text


def test_the_other_investors_are_not_passed_over(trusted: ClassAllocResult) -> None:
    counts = [
        f"{sum(decision.verdict.trusted for decision in trusted.investors[name].decisions)} of 40 ({name})"
        for name in ("conservative", "aggressive")
    ]
    page = read(render(trusted))
    assert f"For the other investors it was trusted on {counts[0]} and {counts[1]} decisions." in plain(
        page.one("p", class_="lead").text
    )


def test_a_passed_test_that_a_human_holds_back_is_said(result: ClassAllocResult) -> None:
    page = read(render(held_in_shadow(result)))
    assert "passed its test on the last decision but was not acted on: held in shadow mode" in page.one("h1").text


def test_a_run_without_the_reference_or_a_shadow_still_renders(result: ClassAllocResult) -> None:
    primary = result.investors["balanced"]
    alone = replace(primary, methods={"memtrial": primary.methods["memtrial"]})
    page = read(render(replace(result, investors={"balanced": alone})))
    assert "nothing to compare wealth with" in page.one("section", id="wealth").text


def test_a_run_without_decisions_is_refused(result: ClassAllocResult) -> None:
    with pytest.raises(InputError, match="no decision"):
        render(replace(result, investors={}))


def test_foreign_text_is_inert() -> None:
    world = World(months=12, note=HOSTILE, missing=0.2)
    html = render(world.result(), model_note=HOSTILE, recording=HOSTILE, notes={HOSTILE: HOSTILE})
    page = read(html)
    assert len(page.all("script")) == len(page.all("style")) == len(page.all("title")) == 1
    assert not page.all("img")
    assert not [name for node in page.walk() for name in node.attributes if name.startswith("on")]
    assert "[U+202E]deussaP[U+2066][U+0007]" in page.one("main").text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08]", html)
    assert "{{7*7}}" in page.one("main").text


def test_nothing_is_loaded_from_elsewhere(result: ClassAllocResult) -> None:
    html = render(result)
    assert not re.search(r"""(?:src|href|srcset|action|data)\s*=\s*["']?\s*(?:https?:|//|file:)""", html, re.IGNORECASE)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket", html)
    assert "default-src 'none'" in html
    assert len(html.encode()) < 1_500_000


def test_equal_runs_give_equal_bytes_on_disk(tmp_path: Path) -> None:
    first = write_report(World(months=6).result(), tmp_path / "new" / "report.html")
    second = write_report(World(months=6).result(), str(tmp_path / "again.html"))
    assert first == tmp_path / "new" / "report.html"
    assert first.read_bytes() == second.read_bytes()
    assert b"\r" not in first.read_bytes()
