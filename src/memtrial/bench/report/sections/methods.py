"""Every method on the same drafts: what it earned, and whether that differs from the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from markupsafe import Markup

from memtrial.bench.classalloc.result import MethodResult
from memtrial.bench.report.charts import Interval, IntervalAxis
from memtrial.bench.report.evidence import Paired, half_width
from memtrial.bench.report.palette import tone
from memtrial.bench.report.sections.case import PRESETS, REFERENCE, SHADOW, Case
from memtrial.bench.report.tables import Column, Row, Table
from memtrial.bench.report.typography import NBSP, UNKNOWN, counted, listed, number, p_equals, visible

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "1/N": "equal weight, projected to the mandate: the reference",
        "minimum_variance": "long-only minimum variance over the past 60 daily returns",
        "memory_free": "the draft made without experiences",
        "top_2": "the draft shown the 2 most similar experiences",
        "top_4": "the draft shown all 4 recalled experiences",
        "finmem": "the draft with the 2 of highest similarity plus importance, which decisions that beat 1/N raise",
        "memrl": "the draft with the 2 of highest Q, which moves a tenth towards each utility; explores on a tenth of "
        "the dates",
        "reflexion": "the draft without experiences, a quarter of it moved to the classes that did best lately",
        "expel": "the draft with the 2 experiences of most votes: up when a decision beat 1/N, down otherwise",
        "uplift_credit": "the draft with the 2 of highest uplift, a ridge regression of utility on what was shown",
        "hedge": "exponential weights over 1/N, memory-free, top-4, FinMem and MemRL",
        "draft_averaging": "the average of all designed drafts",
        "counterfactual_selection": "the draft with the 2 experiences of highest mean past contribution, untested",
        "memtrial": "the trusted draft while the t-test passes, otherwise the anchored blend",
        "memtrial_guarded": "the trusted draft as far as the purse has earned it, the anchored blend for the rest",
        "memtrial_never_trusts": "the anchored blend on every date (shadow mode)",
    }
)
"""What each method does."""

TRUSTING = (*PRESETS, SHADOW)
"""The methods with a rule of trust."""

COLUMNS = (
    Column("Utility", "%/month"),
    Column("Against 1/N", "pp/month"),
    Column("s.e.", "pp"),
    Column("p"),
)
REST = (
    Column("Gross", "%/month"),
    Column("Cost", "%/month"),
    Column("Risk", "%/month"),
    Column("Return", "%"),
    Column("Sharpe"),
    Column("Drawdown", "%"),
    Column(Markup("Acted on <br>memory"), "% (months)"),
)


def methods_table(case: Case) -> Table:
    """The investor in front, in full."""
    methods = case.primary.methods
    differences = {name: found for name in methods if name != REFERENCE and (found := case.against(name))}
    intervals = {name: _interval(found) for name, found in differences.items() if found.known}
    axis = IntervalAxis(list(intervals.values()), "pp per month")
    picture = Column("Difference, 95 % interval", axis.heading(), numeric=False)
    lines = tuple(
        Row(
            cells=(
                visible(method.label),
                number(method.summary.utility_pct_month, 3),
                *_difference(differences.get(name)),
                axis.row(intervals[name]) if name in intervals else "",
                *_figures(method),
                _acted(name, method),
            ),
            kind=_kind(name, case),
            tone=tone(name),
        )
        for name, method in methods.items()
    )
    return Table(
        caption=f"Every method on the same drafts, {case.name} investor, {counted(case.months, 'month')}",
        columns=(Column("Method", numeric=False), *COLUMNS, picture, *REST),
        rows=lines,
        note=_significance(differences, case),
    )


def investors_table(case: Case) -> Table:
    """Utility of every method for every investor, and the average."""
    investors = case.result.investors
    lines: list[Row] = []
    for name, method in case.primary.methods.items():
        found = [other.methods.get(name) for other in investors.values()]
        utilities = [None if each is None else each.summary.utility_pct_month for each in found]
        known = [value for value in utilities if value is not None]
        lines.append(
            Row(
                cells=(
                    visible(method.label),
                    *(number(value, 3) for value in utilities),
                    number(fmean(known), 3),
                    _moved(found) if name in PRESETS else "",
                ),
                kind=_kind(name, case),
                tone=tone(name),
            )
        )
    columns = (
        Column("Method", numeric=False),
        *(Column(visible(name), "%/month") for name in investors),
        Column("Average", "%/month"),
        Column("Acted on memory", "% of capital, same order"),
    )
    caption = f"Utility by investor, {counted(case.months, 'month')} each"
    return Table(caption=caption, columns=columns, rows=tuple(lines))


def words(case: Case) -> tuple[tuple[str, str], ...]:
    """What each method of this run does."""
    return tuple(
        (visible(method.label), WORDS.get(name, "no description")) for name, method in case.primary.methods.items()
    )


def _figures(method: MethodResult) -> tuple[str, ...]:
    summary = method.summary
    return (
        number(summary.gross_pct_month, 3),
        number(summary.cost_pct_month, 3),
        number(summary.risk_pct_month, 3),
        number(summary.cumulative_return_pct, 1, sign=True),
        number(summary.sharpe, 2),
        number(summary.max_drawdown_pct, 1),
    )


def _acted(name: str, method: MethodResult) -> str:
    """What a trust rule let memory move; the other methods have none."""
    if name not in TRUSTING:
        return ""
    moved = sum(month.memory_weight > 0 for month in method.months)
    return f"{number(method.summary.trust_rate_pct, 1)} ({moved}/{len(method.months)})"


def _difference(found: Paired | None) -> tuple[str | Markup, str, str]:
    if found is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    p = p_equals(found.p).removeprefix("p").removeprefix(f"{NBSP}=").strip() if found.known else UNKNOWN
    return number(100 * found.mean, 3, sign=True), number(100 * found.se, 3), p


def _interval(found: Paired) -> Interval:
    half = half_width(found.se * found.n**0.5, found.n, 0.95)
    low, high = found.mean - half, found.mean + half
    tone = "helped" if low > 0 else "hurt" if high < 0 else "reference"
    return Interval(low=100 * low, middle=100 * found.mean, high=100 * high, tone=tone)


def _kind(name: str, case: Case) -> str:
    return {case.own: "own", REFERENCE: "reference"}.get(name, "")


def _moved(found: Sequence[MethodResult | None]) -> str:
    return ", ".join(UNKNOWN if each is None else number(each.summary.trust_rate_pct, 1) for each in found)


def _significance(differences: Mapping[str, Paired], case: Case) -> str:
    known = {name: found for name, found in differences.items() if found.known and not found.same}
    if not known:
        return "No method can be told from 1/N: there are too few months, or they held the same."
    # Bonferroni: a table of several comparisons finds a small p by chance.
    level = case.alpha / len(known)
    apart = [name for name, found in known.items() if found.p < level]
    smallest = min(known.values(), key=lambda found: found.p)
    tested = f"paired t-tests over {smallest.n} months, {counted(len(known), 'comparison')}, each at p < {level:.3f}"
    if not apart:
        return (
            f"No method differs from 1/N by more than chance would explain ({tested}; {p_equals(smallest.p)} at least)."
        )
    labels = listed(visible(case.primary.methods[name].label) for name in apart)
    return f"Beyond what chance explains, 1/N differs from {labels} only ({tested})."
