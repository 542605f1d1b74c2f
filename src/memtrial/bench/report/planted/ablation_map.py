"""Figure 4: what changes when one step of memtrial is changed."""

from __future__ import annotations

import math

from memtrial.bench.report.charts import Cell, HeatMap, HeatRow
from memtrial.bench.report.evidence import paired
from memtrial.bench.report.planted.lookup import OWN, Run
from memtrial.bench.report.planted.papertables import SPLIT
from memtrial.bench.report.planted.published import printed
from memtrial.bench.report.tables import Column, Figure, Table, rows
from memtrial.bench.report.typography import number, p_equals

VARIANTS = {
    "memtrial_per_experience": "per-experience only",
    "memtrial_content_aware": "content-aware only",
    "memtrial_f_test": "in-sample F-test",
    "memtrial_no_test": "no trust test",
    "memtrial_never_trusts": "never trusts",
    "memtrial_draft_average": "draft average (q = 0)",
    "memtrial_uniform_prior": "uniform prior",
    "memtrial_fixed_blend": "fixed blend",
    "memtrial_always_reference": "reference (q = 1)",
}


def ablation_map(run: Run) -> Figure | None:
    """Figure 4: change in utility against memtrial when one step is changed, %."""
    columns = [key for key in SPLIT if run.utility(OWN, key) is not None]
    variants = [row for row in VARIANTS if any(run.utility(row, key) is not None for key in columns)]
    if not columns or not variants:
        return None
    found = {(row, key): change(run, row, key) for row in variants for key in columns}
    heat = HeatMap(
        label="Change in utility when one step of memtrial is changed, in %, ours above published.",
        columns=[SPLIT[key] for key in columns],
        short_columns=["No signal", "Signal", "Inform."] if len(columns) == 3 else [SPLIT[key] for key in columns],
        rows=[
            HeatRow(
                label=VARIANTS[row],
                short=VARIANTS[row]
                .replace("-experience", "-exp.")
                .replace(" (q = 0)", "")
                .replace("content-aware", "content"),
                cells=[
                    Cell(value=ours, other=theirs, clear=p < 0.05)
                    for ours, theirs, p in (found[row, key] for key in columns)
                ],
            )
            for row in variants
        ],
        key="upper: ours (bold: p < 0.05), lower: published",
        full=15.0,
    )
    table = Table(
        caption="Change in utility against memtrial",
        columns=(
            Column("Variant", numeric=False),
            *(part for key in columns for part in (Column(SPLIT[key], "%"), Column("Published", "%"), Column("p"))),
        ),
        rows=rows([VARIANTS[row], *(text for key in columns for text in _cells(found[row, key]))] for row in variants),
    )
    return Figure(
        id="figure-4",
        title="Which step of memtrial earns its keep? (Figure 4)",
        caption="Change in mean utility when one step is changed, % of memtrial's. Published: from the means of Table "
        "D.4. p: two-sided paired t-test over worlds.",
        views=heat.views(),
        table=table,
        wide=False,
    )


def change(run: Run, row: str, key: str) -> tuple[float | None, float | None, float]:
    own, other = run.utility(OWN, key), run.utility(row, key)
    theirs, base = printed("D.4", row, key), printed("D.4", OWN, key)
    published = 100 * (theirs.mean / base.mean - 1) if theirs and base else None
    if own is None or other is None:
        return None, published, math.nan
    return 100 * (float(other.mean()) / float(own.mean()) - 1), published, paired(other, own).p


def _cells(found: tuple[float | None, float | None, float]) -> tuple[str, str, str]:
    ours, theirs, p = found
    return number(ours, 1, sign=True), number(theirs, 1, sign=True), p_equals(p).removeprefix("p").strip("\u00a0= ")
