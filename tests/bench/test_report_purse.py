"""A memory that earns its weight by bets: partial weight, vetoed, held in shadow, full trust, in words and tables."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from report_reading import Node, read
from report_worlds import World

from memtrial.bench.classalloc.result import ClassAllocResult, InvestorResult
from memtrial.bench.report import render
from memtrial.bench.report.sections.case import Case, learner_words
from memtrial.records import Decision, Outcome

SKILLED = World(months=40, skill=1.5, influence=0.02, noise=0.02, seed=3, preset="guarded")
LABELS = {"memtrial": "memtrial (paper)", "memtrial_guarded": "memtrial (guarded)"}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def written(value: float, decimals: int, *, sign: bool = False) -> str:
    text = format(value, f"{'+' if sign else ''}.{decimals}f").replace("-", "−")
    return text.lstrip("+−") if not re.search("[1-9]", text) else text


def alone(result: ClassAllocResult, investor: str) -> ClassAllocResult:
    """The run with one investor in front and no other."""
    return replace(result, investors={investor: result.investors[investor]})


def headline(result: ClassAllocResult) -> str:
    return plain(read(render(result)).one("h1").text)


def bets(primary: InvestorResult) -> int:
    now = primary.decisions[-1].decided_at
    pairs = zip(primary.decisions, primary.outcomes, strict=True)
    return sum(d.verdict.bets and o.known_at <= now and bool(o.scores) for d, o in pairs)


@pytest.fixture(scope="module")
def skilled() -> ClassAllocResult:
    return SKILLED.result()


@pytest.fixture(scope="module")
def page(skilled: ClassAllocResult) -> Node:
    return read(render(skilled))


@pytest.fixture(scope="module")
def partial() -> ClassAllocResult:
    return World(skill=0.3, seed=5, preset="guarded").result()


@pytest.fixture(scope="module")
def extra() -> ClassAllocResult:
    return replace(SKILLED, changes={"extra_draft": True}).result()


def test_a_partial_weight_is_the_first_thing_said(partial: ClassAllocResult) -> None:
    primary = partial.investors["balanced"]
    last = primary.decisions[-1].verdict
    assert 0.05 < last.weight < 0.5
    assert last.weight == pytest.approx(0.05 * last.wealth)
    assert headline(partial) == (
        f"Memory moves {written(100 * last.weight, 1)} % of the capital: its bets on {bets(primary)} unseen months "
        f"turned 1 into {written(last.wealth, 2)}; 20 is full trust."
    )


def test_the_lead_says_what_was_moved_and_what_that_earned(partial: ClassAllocResult) -> None:
    primary = partial.investors["balanced"]
    weights = [decision.verdict.weight for decision in primary.decisions]
    gains = [
        outcome.utility - outcome.blend_utilities[round(200 * decision.verdict.reference_weight)]
        for decision, outcome in zip(primary.decisions, primary.outcomes, strict=True)
        if decision.verdict.weight > 0 and outcome.blend_utilities is not None
    ]
    lead = plain(read(render(partial)).one("p", class_="lead").text)
    assert lead.startswith(
        f"It moved capital on {len(gains)} of 71 decisions: {written(100 * sum(weights) / 71, 1)} % on average over "
        f"all of them, {written(100 * max(weights), 1)} % at most."
    )
    mean = sum(gains) / len(gains)
    assert f"earned {written(abs(100 * mean), 3)} pp a month {'more' if mean > 0 else 'less'} than the anchored" in lead
    assert "expected to be at most 5 % of the capital on any date" in lead
    others = {name: each.decisions[-1].verdict.weight for name, each in partial.investors.items()}
    assert (
        f"For the other investors it now moves {written(100 * others['conservative'], 1)} % (conservative) and "
        f"{written(100 * others['aggressive'], 1)} % (aggressive) of the capital." in lead
    )


def test_the_outlook_reaches_full_trust_at_the_rate_so_far(partial: ClassAllocResult) -> None:
    wealth = partial.investors["balanced"].decisions[-1].verdict.wealth
    rate = wealth ** (1 / 70)
    (found,) = re.findall(r"full trust would take about (\d+) more months", plain(render(partial)))
    assert wealth * rate ** (int(found) - 1) < 20 <= wealth * rate ** int(found)


def test_full_trust_moves_the_whole_action(skilled: ClassAllocResult, page: Node) -> None:
    last = skilled.investors["balanced"].decisions[-1].verdict
    assert last.trusted
    assert plain(page.one("h1").text) == (
        f"Memory moves the whole action: its bets on {bets(skilled.investors['balanced'])} unseen months turned 1 into "
        f"{written(last.wealth, 2)}; 20 is full trust."
    )
    lead = plain(page.one("p", class_="lead").text)
    assert "more month" not in lead
    assert "without skill its purse would ever have reached 20 with a chance of at most 5 %" in lead


def test_a_veto_is_said_with_what_it_weighed() -> None:
    result = alone(World(months=24, preset="guarded").result(), "conservative")
    last = result.investors["conservative"].decisions[-1].verdict
    assert last.vetoed
    assert last.weight == 0.0
    page = read(render(result))
    promised = f"{written(100 * last.unit * last.total, 3, sign=True)} pp predicted"
    short = f"drafts of that size had fallen at least {written(-100 * last.bound, 3)} pp short of the anchor"
    assert f"Memory moves nothing now, as its choice was vetoed ({promised}, while {short}" in plain(
        page.one("h1").text
    )
    article = page.all("article")[-1]
    assert f"Vetoed: {promised}, while {short}" in plain(article.text)
    (favourite,) = [cells for cells in article.all("table")[0].rows() if "memory's favourite, vetoed" in cells[0]]
    assert favourite[6] == written(100 * last.unit * last.total, 3, sign=True)
    assert "On 2 of 24 decisions its choice was vetoed" in plain(page.one("section", id="verdict").text)
    rows = page.one("figure", id="purse").one("table").rows()
    assert [row[-1] for row in rows].count("vetoed") == 2


def test_what_is_held_in_shadow_says_what_it_would_move() -> None:
    result = replace(SKILLED, months=26, hold=True).result()
    primary = result.investors["aggressive"]
    assert all(decision.verdict.weight == 0.0 for decision in primary.decisions)
    verdict = primary.decisions[-2].verdict
    shown = replace(
        result,
        investors={"aggressive": replace(primary, decisions=primary.decisions[:-1], outcomes=primary.outcomes[:-1])},
    )
    assert "otherwise trusted" in verdict.reason
    sentence = headline(replace(shown, class_returns=result.class_returns[:-1], days=result.days[:-1]))
    would = written(100 * min(1.0, 0.05 * verdict.wealth), 1)
    assert f"Memory moves nothing now, as it is held in shadow mode (otherwise {would} % of the capital)" in sentence


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (World(months=1, preset="guarded"), "Memory moves nothing yet: nothing it predicted has been measured so far"),
        (World(months=4, missing=1.0, preset="guarded"), "nothing it predicted has been measured so far"),
        (World(months=8, dead=(7,), preset="guarded"), "as no draft is valid, so the reference is held"),
    ],
)
def test_states_with_little_to_show_still_render(world: World, words: str) -> None:
    page = read(render(world.result()))
    assert words in plain(page.one("h1").text)
    assert "nan" not in page.one("main").text.lower()


def _deployed(lines: list[list[str]]) -> list[str]:
    (found,) = [cells for cells in lines if "deployed" in cells[0]]
    return found


def _checked(article: Node, decision: Decision, outcome: Outcome) -> None:
    verdict = decision.verdict
    lines = article.all("table")[0].rows()
    deployed = _deployed(lines)
    assert deployed[1:6] == [written(100 * weight, 1) for weight in decision.action]
    assert deployed[7] == written(100 * outcome.utility, 2, sign=True)
    values = verdict.values[verdict.learner]
    for cells, draft in zip(lines, decision.drafts, strict=False):
        assert cells[6] == written(100 * verdict.unit * sum(values[rank] for rank in draft.subset), 3, sign=True)
    experiences = article.all("table")[1].rows()
    assert [cells[2] for cells in experiences] == [written(100 * verdict.unit * v, 3, sign=True) for v in values]
    part = 0 < verdict.weight < 0.999
    mixed = [cells[0] for cells in lines if "of the mix" in cells[0]]
    assert len(mixed) == (2 if part else 0)
    if part:
        shares = [written(100 * share, 1) for share in (verdict.weight, 1 - verdict.weight)]
        assert [re.findall(r"([\d.]+) % of the mix", name) for name in mixed] == [[share] for share in shares]
        assert plain(deployed[0]) == "mix of both deployed"
        assert f"Held: {shares[0]} % the draft shown" in plain(article.text)


@pytest.mark.parametrize("run", ["skilled", "partial", "extra"])
def test_decisions_show_the_mix_that_was_held(run: str, request: pytest.FixtureRequest) -> None:
    result: ClassAllocResult = request.getfixturevalue(run)
    primary = result.investors["balanced"]
    articles = read(render(result)).all("article")
    weights = [decision.verdict.weight for decision in primary.decisions]
    assert any(0 < weight < 0.999 for weight in weights)
    for article, decision, outcome in zip(articles, primary.decisions, primary.outcomes, strict=True):
        _checked(article, decision, outcome)
        assert f"The purse held {written(decision.verdict.wealth, 2)}; 20 is full trust" in plain(article.text)
        assert ("The purse did not bet on this month" in article.text) == (not decision.verdict.bets)


def test_a_draft_beyond_the_design_has_its_row(extra: ClassAllocResult) -> None:
    primary = extra.investors["balanced"]
    articles = read(render(extra)).all("article")
    found = 0
    for article, decision in zip(articles, primary.decisions, strict=True):
        if decision.verdict.extra is not None:
            found += 1
            lines = article.all("table")[0].rows()
            tagged = [cells for cells in lines[:9] if "deployed" in cells[0] or "of the mix" in cells[0]]
            assert tagged == [lines[8]]
    assert found > 10


def test_the_list_of_decisions_names_what_memory_moved(skilled: ClassAllocResult, page: Node) -> None:
    for item, decision in zip(
        page.all("details", class_="decision"), skilled.investors["balanced"].decisions, strict=True
    ):
        weight = decision.verdict.weight
        day = decision.decided_at.date().isoformat()
        mark = " · trusted" if weight >= 0.999 else f" · memory moved {written(100 * weight, 1)} %" if weight else ""
        assert plain(item.attributes["data-label"]) == f"{day}{mark}"
    whys = plain(page.one("p", class_="pointers").text)
    assert "memory was trusted for the first time" in whys


def test_the_chart_of_the_purse_marks_one_and_full_trust(skilled: ClassAllocResult, page: Node) -> None:
    figure = page.one("figure", id="purse")
    decisions = skilled.investors["balanced"].decisions
    for view in figure.all("svg"):
        words = [node.text for node in view.all("text")]
        assert "1 at the start" in words
        assert "20 full trust" in words
        assert {"1", "2", "5", "10", "20"} <= set(words)
    rows = figure.one("table").rows()
    assert [row[3] for row in rows] == [written(decision.verdict.wealth, 2) for decision in decisions]
    assert [row[4] for row in rows] == [written(100 * decision.verdict.weight, 1) for decision in decisions]
    marks = [node for node in figure.walk() if node.has({"class_": "mark"})]
    assert len(marks) == 3 * sum(decision.verdict.trusted for decision in decisions)
    assert not page.all("figure", id="p-values")


def test_the_deployed_preset_is_the_marked_row(page: Node) -> None:
    for table in page.one("section", id="methods").all("table"):
        (own,) = table.all("tr", class_="own")
        assert own.one("th").text == "memtrial (guarded)"
        assert {row[0] for row in table.rows()} >= set(LABELS.values())


def test_how_it_was_measured_gives_both_rules(page: Node) -> None:
    terms = {node.one("dt").text: plain(node.one("dd").text) for node in page.one("section", id="measured").all("div")
             if node.all("dt") and len(node.all("dt")) == 1}  # fmt: skip
    assert terms["Trust by a purse"].startswith("memtrial (guarded), deployed. A wealth of 1 bets 50 % of itself")
    assert terms["Trust by a t-test"].startswith("memtrial (paper), a row beside it. One-sided t-test")
    assert "mean plus 1.5 standard errors, from 6 months on" in terms["Veto"]
    assert "fades to 0.94 of itself a decision" in terms["Who speaks"]
    assert "costs a bet, never the guarantee" in terms["Late outcomes"]
    assert set(LABELS.values()) <= set(terms)
    assert "no description" not in terms.values()


def test_late_outcomes_are_counted(partial: ClassAllocResult) -> None:
    text = plain(read(render(partial)).one("section", id="measured").text)
    unbet = sum(not decision.verdict.bets for decision in partial.investors["balanced"].decisions)
    assert (
        f"9 of 70 outcomes were known only after the next decision. The purse sits such a decision out ({unbet} "
        in text
    )


@pytest.mark.parametrize("run", ["skilled", "partial"])
def test_every_experience_has_its_standing(run: str, request: pytest.FixtureRequest) -> None:
    result: ClassAllocResult = request.getfixturevalue(run)
    case = Case(result)
    learner = case.decisions[-1].verdict.learner
    values = sorted(case.primary.values, key=lambda value: (-value.values[learner], value.id))
    page = read(render(result))
    rows = page.one("table", class_="ranked").rows()
    assert [row[2] for row in rows] == [written(100 * value.values[learner], 3, sign=True) for value in values]
    for row, value in zip(rows, values, strict=True):
        standing = case.standings[value.id]
        retire = ", proposed for retirement" if standing.verdict == "harms" else ""
        assert plain(row[6]) == f"{standing.verdict}{retire}"
    helps = sum(standing.verdict == "helps" for standing in case.standings.values())
    assert f"Of {len(case.standings)} measured memories {helps} w" in plain(page.one("section", id="experiences").text)


def test_a_harmful_memory_is_proposed_for_retirement() -> None:
    result = World(pool=6, skill=0.6, influence=0.0, noise=0.0, missing=0.0, seed=3, preset="guarded").result()
    case = Case(result)
    verdicts = [standing.verdict for standing in case.standings.values()]
    assert verdicts.count("harms") > 0
    section = read(render(result)).one("section", id="experiences")
    standings = [plain(row[6]) for row in section.one("table", class_="ranked").rows()]
    assert standings.count("harms, proposed for retirement") == verdicts.count("harms")
    count = verdicts.count("harms")
    assert f"shown to help and {count} to harm (proposed for retirement); " in plain(section.text)


def test_learners_have_names() -> None:
    assert learner_words("per_experience") == "each experience alone"
    assert learner_words("content_aware/0.94") == "pooled over similar content, forgetting"
