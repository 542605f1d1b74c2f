"""How this was measured: enough to check it, and to repeat it."""

from __future__ import annotations

from collections.abc import Mapping

from memtrial.bench.report.sections.case import Case
from memtrial.bench.report.sections.decisions import usage_cost, usage_tokens
from memtrial.bench.report.sections.rules import rules
from memtrial.bench.report.tables import Column, Table, rows
from memtrial.bench.report.typography import counted, listed, number, percent, visible
from memtrial.market.classalloc import DEFENSIVE, HOLDING_SESSIONS, RISKY
from memtrial.portfolio import TRADING_COST


def conventions(case: Case) -> tuple[tuple[str, str], ...]:
    """The rules of the measurement."""
    result = case.result
    drafts = {len(decision.drafts) for decision in case.decisions}
    grown = "grew by every settled month" if result.grown else "stayed what the warm-up wrote"
    bp = number(10_000 * TRADING_COST, 0)
    return (
        ("Utility", "u = R − γ/2 · V: return after costs, minus half the risk aversion times the variance of daily "
                    "returns times the number of days. In % per holding period; differences in pp."),
        ("Holding period", f"{HOLDING_SESSIONS} trading sessions from the close of the decision day."),
        ("Costs", f"{bp} bp of whatever is traded, from the drifted holdings of the same method."),
        ("Nothing from the future", "An outcome is used only by decisions taken after its last session closed."),
        ("Drafts", f"{listed(str(count) for count in sorted(drafts))} per decision, designed so that each experience "
                   "is in half of them. What all drafts of a month share, the market above all, cancels in a "
                   "contribution."),
        ("Contribution", "Mean utility of the drafts shown an experience minus the mean of those not shown it."),
        ("Value", "The contribution an experience is expected to make, learned over months with shrinkage; 0 is an "
                  "average recalled experience."),
        ("Forward score", "Correlation between the values predicted before a month's outcome and the contributions "
                          "measured after it, over the recalled experiences."),
        *rules(case),
        ("Anchored blend", "q · 1/N + (1 − q) · average draft, with q learned from past outcomes."),
        ("Outcome credit", "Mean utility of the drafts that used an experience. Correlations are Spearman's ρ over the "
                           "designed drafts, one point per month and recalled experience."),
        ("Return, Sharpe, drawdown", "From wealth on decision days, after costs; Sharpe annualised over twelve months, "
                                     f"risk-free rate 0. {_every_session(case)}"),
        ("Memory", f"{counted(result.experiences, 'experience')} from "
                   f"{counted(result.warmup_months, 'warm-up month')}; during the test it {grown}."),
    )  # fmt: skip


def _every_session(case: Case) -> str:
    depths = listed(
        f"{percent(method.summary.daily_drawdown_pct / 100, 1)} % for {method.label}"
        for name, method in case.primary.methods.items()
        if name in ("1/N", case.own)
    )
    return f"On every session the greatest drawdown is deeper: {depths}."


def provenance(case: Case, *, recording: str, version: str, notes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Where the numbers come from."""
    result, usage = case.result, case.result.usage
    found = [
        ("Test period", f"{result.days[0]} to {result.wealth_dates[-1]}, {counted(len(result.days), 'decision')}"),
        ("Policy", visible(result.policy)),
        ("Recording", visible(recording) if recording else "none named"),
        ("Replies replayed", f"{number(usage.replayed, 0)} of {number(usage.calls, 0)}"),
        ("Tokens", usage_tokens(usage)),
        ("Retries", number(usage.retries, 0)),
        ("Model time", f"{number(usage.latency_seconds / 3600, 2)} h, as recorded"),
        ("Cost", usage_cost(usage)),
        ("memtrial", version),
    ]
    return (*found, *((visible(name), visible(text)) for name, text in notes.items()))


def investors_profiles(case: Case) -> Table:
    """The investors' mandates."""
    risky, defensive = (listed(names).replace("_", " ") for names in (RISKY, DEFENSIVE))
    return Table(
        caption="Investors",
        columns=(
            Column("Investor", numeric=False),
            Column("At most", f"% in {risky}"),
            Column("At least", f"% in {defensive}"),
            Column("Risk aversion", "γ"),
        ),
        rows=rows(
            (
                visible(name),
                percent(outcome.investor.risky_cap, 0),
                percent(outcome.investor.defensive_floor, 0),
                number(outcome.investor.risk_aversion, 0),
            )
            for name, outcome in case.result.investors.items()
        ),
        titled=True,
    )
