"""The page on PlantedMem: whole, honest about what is missing, and equal to its Parquet files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from planted_report_runs import invented, without
from report_reading import Node, read
from test_report_look import contrast, schemes

from memtrial.bench.planted.plan import plan_run
from memtrial.bench.planted.regimes import CORE, named_regimes
from memtrial.bench.planted.result import PlantedResult
from memtrial.bench.planted.run import run_planted
from memtrial.bench.report.charts import NARROW, Bar, BarChart, BarGroup, Cell, HeatMap, HeatRow
from memtrial.bench.report.palette import TONES
from memtrial.bench.report.planted import render_planted, write_planted_report, write_planted_tables
from memtrial.bench.report.planted.comparison import compared
from memtrial.bench.report.planted.headline import headline
from memtrial.bench.report.planted.lookup import Run
from memtrial.bench.report.planted.papertables import improvement, paper_tables
from memtrial.bench.report.planted.published import plotted, printed, printed_rows
from memtrial.bench.report.planted.reasons import REASONS, reason
from memtrial.bench.report.typography import number
from memtrial.errors import InputError

PAPER = ("3", "D.3", "D.4", "D.5", "D.9", "D.10", "D.11", "D.12", "D.13", "D.14", "D.15")


@pytest.fixture(scope="module")
def whole() -> PlantedResult:
    return invented()


@pytest.fixture(scope="module")
def page(whole: PlantedResult) -> Node:
    return read(render_planted(whole, version="9.9"))


@pytest.fixture(scope="module")
def tables(whole: PlantedResult, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    folder = tmp_path_factory.mktemp("tables")
    return {path.stem: pl.read_parquet(path) for path in write_planted_tables(whole, folder)}


def section(page: Node, table: str) -> Node:
    return page.one("section", id="table-" + table.lower().replace(".", "-"))


def stem(table: str) -> str:
    return "table_" + table.lower().replace(".", "_")


def plus(mean: float, sd: float, decimals: int) -> str:
    return f"{number(mean, decimals)}\u00a0±\u00a0{number(sd, decimals)}"


@pytest.mark.parametrize(
    ("table", "row", "column", "mean", "sd"),
    [
        ("3", "memtrial", "core", 0.87, 0.04),
        ("3", "minimum_variance", "core", -0.04, 0.0),
        ("3", "improvement_pct", "core", 12.6, 10.1),
        ("D.3", "memtrial_no_test", "informative", 64.9, 18.6),
        ("D.3", "k6_half", "core", 49.1, 9.8),
        ("D.4", "memtrial_draft_average", "no_signal", 0.747, 0.032),
        ("D.5", "anchored_counterfactual_selection", "signal", 0.838, 0.040),
        ("D.9", "memtrial_alpha_0.2", "informative", 0.88, 0.07),
        ("D.10", "k3_full", "core", 0.865, 0.051),
        ("D.11", "memtrial_anchor_0.5_16", "core", 0.86, 0.04),
        ("D.12", "k5_half", "beta_0.5", 1.170, 0.110),
        ("D.13", "memtrial_f_test", "many", 14.8, 17.7),
        ("D.14", "memrl", "noise_only", 0.658, 0.089),
        ("D.15", "memtrial_uniform_prior", "beta_0.25", 0.852, 0.100),
    ],
)  # fmt: skip
def test_published_numbers(table: str, row: str, column: str, mean: float, sd: float) -> None:
    found = printed(table, row, column)
    assert found is not None
    assert (found.mean, found.sd) == (mean, sd)


def test_published_tables_agree_with_each_other() -> None:
    for regime in CORE:
        means = [printed("D.14", "memtrial", regime) for regime in CORE]
        assert printed("D.14", "reference", regime) is not None
    assert np.mean([each.mean for each in means if each]) == pytest.approx(
        printed("D.4", "memtrial", "core").mean, abs=2e-3
    )
    assert [len(printed_rows(table)) for table in PAPER] == [17, 23, 10, 15, 7, 7, 13, 8, 3, 6, 6]
    assert plotted("5", "informative", "memtrial") == {"year_1": 0.02, "year_10": 0.66}


def test_page_is_whole_and_loads_nothing(page: Node, whole: PlantedResult) -> None:
    text = render_planted(whole)
    assert "default-src 'none'" in page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?\s*(?:https?:|//|file:)""", text)
    assert not [node for node in page.walk() if "style" in node.attributes or "onclick" in node.attributes]
    assert render_planted(whole) == text
    assert "Not in this run" not in text
    for number_of in PAPER:
        assert section(page, number_of).all("table")
    assert {node.attributes["id"] for node in page.all("figure")} == {
        "figure-4", "figure-5-beta-0-25", "figure-5-beta-0-5", "figure-5-informative", "figure-6-gain",
        "figure-6-trust", "figure-trust-beta-0-25", "figure-trust-swap-0-5",
    }  # fmt: skip


def test_every_link_has_its_target_and_every_id_is_unique(page: Node) -> None:
    ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    links = [node.attributes["href"] for node in page.all("a")]
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert {f"#table-{table.lower().replace('.', '-')}" for table in PAPER} <= set(links)


def test_every_row_has_a_cell_per_column(page: Node) -> None:
    for table in page.all("table"):
        heads = len(table.one("thead").all("th"))
        assert {len(row) for row in table.rows()} == {heads}


@pytest.mark.parametrize("table", PAPER)
def test_every_number_of_a_paper_table_is_in_its_parquet(
    page: Node, whole: PlantedResult, tables: dict[str, pl.DataFrame], table: str
) -> None:
    known = next(each for each in paper_tables(Run(whole)) if each.id == table)
    shown = section(page, table).all("table")[0].rows()
    lines = iter(shown)
    frame = tables[stem(table)].filter(~pl.col("row").str.ends_with("_pct"))
    for row, label in known.labels.items():
        cells = frame.filter(pl.col("row") == row).to_dicts()
        assert [cell["column"] for cell in cells] == [c for c in known.columns if (row, c) in known.cells]
        ours = [plus(cell["ours"], cell["ours_sd"], known.decimals) for cell in cells]
        theirs = [_published(table, cell) for cell in cells]
        apart = [_difference(table, cell, known.reasons) for cell in cells]
        if len(known.columns) <= 2:
            triples = [text for three in zip(ours, theirs, apart, strict=True) for text in three]
            assert next(lines) == [label, *triples]
            continue
        assert next(lines) == [label, *ours]
        if any(cell["published"] is not None for cell in cells):
            assert next(lines) == ["published", *theirs]
            assert next(lines) == ["difference, pp", *apart]
    assert next(lines, None) is None


def _published(table: str, cell: dict[str, object]) -> str:
    found = printed(table, str(cell["row"]), str(cell["column"]))
    assert cell["published"] == (found.mean if found else None)
    return plus(found.mean, found.sd, found.decimals) if found else "–"


def _difference(table: str, cell: dict[str, object], letters: dict[str, str]) -> str:
    found = printed(table, str(cell["row"]), str(cell["column"]))
    if found is None:
        assert cell["difference"] is None
        return "–"
    assert cell["difference"] == pytest.approx(cell["ours"] - found.mean)  # type: ignore[operator]
    return number(cell["difference"], found.decimals, sign=True) + letters.get(str(cell["reason"]), "")  # type: ignore[arg-type]


def test_presets_turns_and_switches_are_in_their_parquet(page: Node, tables: dict[str, pl.DataFrame]) -> None:
    presets, turns, switches = (
        page.one("section", id=name).all("table")[0].rows() for name in ("presets", "turns", "switches")
    )
    frame = tables["presets"]
    for line, regime in zip(presets, frame["regime"].unique(maintain_order=True), strict=True):
        of = {each["method"]: each for each in frame.filter(pl.col("regime") == regime).to_dicts()}
        assert line[1] == number(of["reference"]["utility"], 3)
        for at, name in ((2, "memtrial"), (5, "memtrial_guarded")):
            each = of[name]
            lanes = round(each["ever_trusted_pct"] * each["lanes"] / 100)
            assert line[at] == f"{number(each['gain'], 3, sign=True)}\u00a0±\u00a0{number(each['gain_se'], 3)}"
            assert line[at + 1] == number(each["moved_pct"], 1)
            ever = f"{number(each['ever_trusted_pct'], 1)}\u00a0±\u00a0{number(each['ever_trusted_se'], 1)}"
            assert line[at + 2].split() == f"{ever} {lanes}\u00a0of\u00a0{each['lanes']}".split()
    shown = tables["turns"].filter(pl.col("method").is_in(["memtrial", "memtrial_guarded"])).to_dicts()
    for line, each in zip(turns, shown, strict=True):
        assert line[2] == number(each["months_to_withdrawal"], 1)
        assert line[5] == f"{number(each['gain_before'], 3, sign=True)}\u00a0±\u00a0{number(each['gain_before_se'], 3)}"
    for line, name in zip(switches, tables["switches"]["changed"].unique(maintain_order=True), strict=True):
        each = tables["switches"].filter(pl.col("changed") == name).to_dicts()
        cells = (f"{number(e['difference'], 3, sign=True)}±\u00a0{number(e['difference_se'], 3)}" for e in each)
        assert line[2:] == list(cells)


def test_figures_are_in_their_parquet(page: Node, tables: dict[str, pl.DataFrame]) -> None:
    bars = page.one("figure", id="figure-6-gain").rows()
    for line, each in zip(bars, tables["figure_6"].to_dicts(), strict=True):
        assert line[2:] == [
            number(each["gain"], 3, sign=True), number(each["gain_se"], 3), number(each["published_gain"], 3, sign=True)
        ]  # fmt: skip
    curve = page.one("figure", id="figure-5-informative").rows()
    own = tables["figure_5"].filter((pl.col("regime") == "informative") & (pl.col("method") == "memtrial"))
    heads = [head.text for head in page.one("figure", id="figure-5-informative").one("thead").all("th")]
    at = heads.index("memtrial")
    assert [line[at] for line in curve] == [number(value, 2, sign=True) for value in own["rank_correlation"]]
    assert own["published"].drop_nulls().to_list() == [0.02, 0.66]
    heat = page.one("figure", id="figure-4").rows()
    change = tables["figure_4"].to_dicts()
    assert [text for line in heat for text in line[1::3]] == [
        number(each["change_pct"], 1, sign=True) for each in change
    ]


def test_difference_counts_rounding_and_both_standard_errors() -> None:
    near = compared("3", "memtrial", "core", np.full(100, 0.8749))
    assert not near.apart
    spread = np.concatenate([np.full(50, 0.83), np.full(50, 0.95)])
    assert compared("3", "memtrial", "core", spread).se == pytest.approx(
        np.hypot(spread.std(ddof=1) / 10, 0.04 / 10)
    )  # fmt: skip
    assert not compared("3", "1/N", "core", np.full(100, 0.5749)).apart
    far = compared("3", "1/N", "core", np.full(100, 0.6))
    assert far.apart
    assert "dividends" in far.reason
    assert compared("3", "memtrial", "core", np.full(1, 2.0)).reason == ""
    few = np.array([0.80, 0.83, 0.84, 0.81])
    assert not compared("3", "memtrial", "core", few).apart
    assert compared("3", "memtrial", "core", np.tile(few, 10)).apart
    assert compared("3", "memtrial_guarded", "core", np.full(9, 2.0)).reason == ""


def test_a_reason_for_more_is_no_reason_for_less() -> None:
    assert "grid of variances nor β" in reason("D.13", "memtrial", "many", +20.0)
    assert "Not traced" in reason("D.13", "memtrial", "many", -20.0)
    assert "one line" in reason("3", "memrl", "core", 0.1)
    assert "2,828" in reason("3", "memory_free", "core", -0.1)
    assert "Not traced" in reason("3", "top_2", "core", -0.1)
    assert "In part: the reference here" in reason("D.15", "memtrial", "beta_0.5", 0.1)
    assert "grid of variances" in reason("D.15", "memtrial_always_reference", "many", 0.1)
    assert "In part" not in reason("D.14", "memtrial_no_test", "many", 0.1)
    assert "degrees of freedom" in reason("D.13", "memtrial_f_test", "many", 9.0)
    assert len({known.text for known in REASONS}) == len(REASONS)


def test_reasons_stand_under_their_table_only_where_something_differs(page: Node, whole: PlantedResult) -> None:
    for table in paper_tables(Run(whole)):
        notes = [node.text for node in section(page, table.id).all("p", class_="reason")]
        wanted = [f"{letter} {text}" for text, letter in table.reasons.items()]
        assert notes[: len(wanted)] == wanted


def test_improvement_is_over_the_best_agent(whole: PlantedResult) -> None:
    found = improvement(Run(whole))
    assert found is not None
    best, gains = found
    core = whole.main.core
    assert core[best].utility == max(core[name].utility for name in ("finmem", "memrl", "reflexion", "expel"))
    own, theirs = core["memtrial"].utility_by_world, core[best].utility_by_world
    assert gains == pytest.approx(100 * (own / theirs - 1))


def test_missing_parts_are_named_with_the_command() -> None:
    small = invented(40, ("no_influence", "beta_0.25"), ("1/N", "memtrial"), designs=False)
    page = read(render_planted(small))
    told = " ".join(node.text for node in page.all("div", class_="empty"))
    assert "12 regimes" in told
    assert "--weak-reference" in told
    assert "memtrial bench planted --worlds 40 --regimes all --ablations --designs --weak-reference" in " ".join(
        told.split()
    )
    assert "everything (--weak-reference)" in section(page, "D.15").text
    assert "--designs" in section(page, "D.10").text
    assert "--ablations" in page.one("section", id="switches").text
    assert "--regimes turns" in page.one("section", id="turns").text
    assert "Noise only" in section(page, "D.13").text
    assert "the columns Core" in section(page, "3").text
    assert not page.all("figure", id="figure-4")


def test_one_world_has_no_spread() -> None:
    page = render_planted(invented(1))
    assert "nan" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.DOTALL).lower().split()
    assert "Too few worlds to act on: 1\u00a0world ran" in page or "Too few worlds to act on: 1 world ran" in page


def test_verdicts() -> None:
    assert headline(Run(invented(3))).sentence.startswith("Too few worlds")
    assert headline(Run(invented())).sentence.startswith("The guarded preset may let memory move money")
    assert "was not judged" in headline(Run(invented(methods=("memtrial", "1/N"), designs=False))).sentence
    assert "cannot say" in headline(Run(invented(methods=("1/N",), designs=False))).sentence
    careless = _with_ever(invented(), 20.0)
    assert headline(Run(careless)).sentence.startswith("Do not let the guarded preset move money")


def _with_ever(result: PlantedResult, pct: float) -> PlantedResult:
    main = result.main
    regimes = {
        key: replace(each, methods={name: replace(m, ever_trusted_pct=pct) for name, m in each.methods.items()})
        for key, each in main.regimes.items()
    }
    return replace(result, settings={main.setting.key: replace(main, regimes=regimes)})


def test_another_setting_is_said_not_to_be_the_papers(whole: PlantedResult) -> None:
    main = whole.main
    setting = replace(main.setting, mandate=True)
    page = render_planted(replace(whole, settings={setting.key: replace(main, setting=setting)}))
    assert "not the paper&#39;s setting (the mandate is on)" in page


def test_foreign_text_stays_text(tmp_path: Path) -> None:
    note = "<script>alert(1)</script>\u202e"
    page = write_planted_report(invented(3, note=note), tmp_path / "deep" / "page.html", notes={note: note})
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "[U+202E]" in text


def test_a_run_without_regimes_is_refused() -> None:
    with pytest.raises(InputError, match="no regime"):
        render_planted(without(invented(3, CORE, ("memtrial",), designs=False), *CORE))


def test_a_real_run(tmp_path: Path) -> None:
    plan = plan_run(
        regimes=named_regimes(["no_influence", "beta_0.5"]),
        methods=("1/N", "memtrial", "memtrial_guarded"),
        worlds=2,
    )
    result = run_planted(plan, out=tmp_path / "run")
    page = read(write_planted_report(result, tmp_path / "page.html").read_text(encoding="utf-8"))
    known = {path.stem: pl.read_parquet(path) for path in write_planted_tables(result, tmp_path / "tables")}
    assert set(known) == {
        "table_d_12", "table_d_13", "table_d_14", "figure_5", "figure_6", "trust_by_year", "presets", "switches",
    }  # fmt: skip
    own = result.regimes["beta_0.5"].methods["memtrial"]
    row = known["table_d_14"].filter((pl.col("row") == "memtrial") & (pl.col("column") == "beta_0.5")).to_dicts()[0]
    assert row["ours"] == pytest.approx(own.utility)
    assert row["ours_sd"] == pytest.approx(own.utility_sd)
    assert plus(own.utility, own.utility_sd, 3) in section(page, "D.14").text


def chart(cells: int) -> BarChart:
    bars = [
        Bar(label=f"<{index}>", value=index - 1.0, tone="tone-1", low=index - 1.5, high=index - 0.5, other=0.3)
        for index in range(cells)
    ]
    return BarChart(label="a & b", groups=[BarGroup(heading="<one>", bars=bars)], x_title="pp", reference_label="0")


def test_bars_have_a_row_each_and_are_escaped() -> None:
    for view in chart(4).views():
        assert sorted(re.findall(r'data-row="(\d+)"', view)) == ["0", "1", "2", "3"]
        assert "<0>" not in view
        assert "<one>" not in view
        assert view.count("hollow") == 4
        assert view.count('class="bar') == 4
    without_value = BarChart(
        label="", groups=[BarGroup(heading="", bars=[Bar(label="", value=None, tone="x")])], x_title=""
    )
    assert 'class="bar' not in without_value.views(NARROW)[0]


def test_heat_map_is_blue_for_gains_and_orange_for_losses() -> None:
    cells = [Cell(value=5.0, other=-20.0, clear=True), Cell(value=None)]
    heat = HeatMap(label="", columns=["a", "b"], short_columns=["a", "b"], rows=[HeatRow(label="r", cells=cells)],
                   key="", full=10.0)  # fmt: skip
    for view in heat.views():
        shades = re.findall(r'class="heat (\w+)" fill-opacity="([\d.]+)"', view)
        assert [tone for tone, _ in shades[:2]] == ["helped", "hurt"]
        assert float(shades[0][1]) < float(shades[1][1]) == pytest.approx(0.45)
        assert "+5.0" in view
        assert "−20.0" in view
        assert "heat-own strong" in view


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
@pytest.mark.parametrize("tone", [f"tone-{index}" for index in range(10, 17)])
def test_new_colours_have_contrast(scheme: str, tone: str) -> None:
    colours = schemes()[scheme]
    assert contrast(colours[tone], colours["paper"]) >= 4.5


def test_every_method_has_its_own_colour() -> None:
    assert len(set(TONES.values())) == len(TONES)
