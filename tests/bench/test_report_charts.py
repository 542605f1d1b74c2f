"""Charts and the statistics behind the words, against independent references."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from memtrial.bench.correlation import spearman
from memtrial.bench.report.charts import NARROW, WIDE, Interval, IntervalAxis, Line, LineChart, Scatter
from memtrial.bench.report.charts.scale import Scale, day_ticks, inside, log_ticks, spread, ticks
from memtrial.bench.report.evidence import paired, scores_needed, spearman_interval
from memtrial.bench.report.typography import number, p_equals, percent, unbroken, visible

DAYS = tuple(date(2020, 1, 1) + timedelta(days=30 * step) for step in range(40))


def chart(**changes: object) -> LineChart:
    lines = tuple(
        Line(label=f"method <{index}> & co", values=[0.01 * index] * len(DAYS), tone="tone-1") for index in range(8)
    )
    given = {
        "label": "a test",
        "days": DAYS,
        "lines": lines,
        "y_title": "%",
        "reference": 0.0,
        "reference_label": "1/N",
    }
    return LineChart(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_labels_keep_their_distance_and_their_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wanted = rng.normal(100, 40, rng.integers(1, 14)).tolist()
    placed = spread(wanted, 15, 20, 260)
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    heights = [placed[index] for index in order]
    assert all(after - before >= 15 - 1e-9 for before, after in pairwise(heights))
    assert heights[0] >= 20 - 1e-9
    assert heights[-1] <= 260 + 1e-9


def test_labels_that_have_room_stay_where_they_want_to_be() -> None:
    assert spread([30.0, 100.0, 60.0], 15, 0, 200) == (30.0, 100.0, 60.0)


def test_too_many_labels_shrink_the_gap() -> None:
    assert spread([5.0] * 5, 15, 0, 40) == (0, 10, 20, 30, 40)


def test_end_labels_of_a_chart_do_not_overlap_and_are_escaped() -> None:
    for view in chart().views(WIDE, NARROW):
        assert "<0>" not in view
        heights = [float(y) for y in re.findall(r'y="([\d.]+)" class="name', view)]
        assert len(heights) == 9
        assert all(after - before >= 14.9 for before, after in pairwise(sorted(heights)))


def test_a_line_that_leaves_the_frame_is_cut_at_its_edge() -> None:
    assert inside([(0, 0.0), (10, 4.0), (20, 0.0)], -1, 2) == [[(0, 0.0), (5.0, 2)], [(15.0, 2), (20, 0.0)]]
    assert inside([(0, -5.0), (10, 5.0)], -1, 1) == [[(4.0, -1), (6.0, 1)]]
    assert inside([(0, 5.0), (10, 6.0)], -1, 1) == []
    low = chart(lines=(Line(label="far", values=[-9.0] * len(DAYS), tone="tone-2"),), y_range=(-1.0, 1.0))
    assert "↓ far −9.00" in low.views(WIDE)[0]


def test_gaps_in_a_line_stay_gaps() -> None:
    values = [None, *([0.5] * 10), math.nan, *([0.2] * (len(DAYS) - 12))]
    (view,) = chart(lines=(Line(label="gap", values=values, tone="tone-2"),)).views(WIDE)
    assert len(re.findall(r'class="line tone-2"', view)) == 2


def test_a_chart_of_one_day_and_nothing_known_renders() -> None:
    empty = chart(days=DAYS[:1], lines=(Line(label="none", values=[None], tone="tone-1"),), reference=None)
    assert 'data-row="0"' in empty.views(WIDE)[0]


def test_ticks_are_round_and_inside() -> None:
    assert ticks(-0.9, 1.1) == (-0.5, 0.0, 0.5, 1.0)
    assert ticks(0, 0.07) == (0.0, 0.02, 0.04, 0.06)
    assert log_ticks(0.01, 1.0) == (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    assert log_ticks(1e-4, 1.0) == (0.0001, 0.001, 0.01, 0.1, 1.0)
    assert [words for _, words in day_ticks(DAYS, 900)] == ["2021", "2022", "2023"]
    assert [words for _, words in day_ticks(DAYS, 90)] == ["2021", "2023"]
    assert day_ticks(DAYS[:4], 900)[0] == (date(2020, 1, 1), "2020-01")


def test_a_scale_keeps_inside_its_frame() -> None:
    scale = Scale(0.01, 1.0, 100, 0, log=True)
    assert scale(0.1) == pytest.approx(50)
    assert scale(1e-9) == 100
    assert Scale(3, 3, 0, 10)(3) == 5


def test_scatter_and_intervals_draw_every_point() -> None:
    view = Scatter(label="s", x=[1.0, 2.0], y=[3.0, -1.0], x_title="x, %", y_title="y, %").view()
    assert re.findall(r'data-row="(\d)"', view) == ["0", "1"]
    interval = Interval(low=-1, middle=0, high=1, tone="reference")
    axis = IntervalAxis([interval], "pp")
    assert "−1" in axis.heading()
    assert "<circle" in axis.row(interval)
    assert IntervalAxis([], "pp").heading()


@pytest.mark.parametrize("seed", range(5))
def test_paired_differences_match_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, theirs = rng.normal(size=(2, 30))
    found, expected = paired(ours, theirs), stats.ttest_rel(ours, theirs)
    assert found.p == pytest.approx(float(expected.pvalue))
    assert found.mean / found.se == pytest.approx(float(expected.statistic))


def test_differences_without_spread_or_months() -> None:
    assert paired([1.0, 2.0], [1.0, 2.0]).same
    assert paired([1.0, 2.0], [0.0, 1.0]).p == 0.0
    assert paired([], []).n == 0
    assert not paired([1.0], [0.0]).known


@pytest.mark.parametrize("seed", range(3))
def test_rank_correlation_matches_scipy_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 50)).astype(float)
    assert spearman(first, second) == pytest.approx(float(stats.spearmanr(first, second).statistic))


def test_the_interval_of_a_correlation_resamples_dates() -> None:
    rng = np.random.default_rng(0)
    market = rng.normal(size=40)
    dates = np.repeat(np.arange(40), 4)
    interval = spearman_interval(market[dates], market[dates] + 0.5 * rng.normal(size=160), dates.tolist())
    assert interval is not None
    assert 0.6 < interval[0] < interval[1] < 1
    assert spearman_interval(market[:8], market[:8], list(range(8))) is None
    assert spearman_interval(np.zeros(40), market, list(range(40))) is None


@pytest.mark.parametrize(("mean", "sd"), [(0.2, 0.6), (0.05, 0.6), (0.5, 0.4)])
def test_scores_needed_is_where_the_test_first_passes(mean: float, sd: float) -> None:
    need = scores_needed(mean, sd, alpha=0.05, least=10)
    assert need is not None

    def p(n: int) -> float:
        return float(stats.t.sf(mean / (sd / math.sqrt(n)), n - 1))

    assert p(need) < 0.05
    assert need == 10 or p(need - 1) >= 0.05


def test_scores_that_never_pass() -> None:
    assert scores_needed(-0.1, 0.5, alpha=0.05, least=10) is None
    assert scores_needed(0.001, 0.9, alpha=0.05, least=10) is None
    assert scores_needed(math.nan, 0.5, alpha=0.05, least=10) is None


@pytest.mark.parametrize(
    ("value", "decimals", "sign", "expected"),
    [
        (-0.0004, 3, True, "0.000"), (0.031, 3, True, "+0.031"), (-1.5, 1, False, "−1.5"),
        (None, 2, True, "–"), (math.nan, 2, False, "–"), (1234.5, 1, False, "1\u00a0234.5"),
    ],
)  # fmt: skip
def test_numbers(value: float | None, decimals: int, sign: bool, expected: str) -> None:
    assert number(value, decimals, sign=sign) == expected


def test_small_pieces_of_typography() -> None:
    assert percent(0.1234, 1, sign=True) == "+12.3"
    assert p_equals(0.0) == "p\u00a0<\u00a00.001"
    assert p_equals(0.0499) == "p\u00a0=\u00a00.050"
    assert unbroken("0.1 pp less (s.e. 0.2, n = 71), ρ = −0.1") == (
        "0.1\u00a0pp less (s.e.\u00a00.2, n\u00a0=\u00a071), ρ\u00a0=\u00a0−0.1"
    )
    assert visible("a\u202eb\nc\x00") == "a[U+202E]b c[U+0000]"
    assert visible("naïve 日本 👩‍👩‍👧") == "naïve 日本 👩‍👩‍👧"
