"""What a permutation test says: one verdict, a few sentences, one JSON document."""

from __future__ import annotations

from typing import Any

from memtrial.bench.permute.permutation import Effect, Estimate, PermutationTest
from memtrial.bench.report.typography import counted, number, p_equals

ALPHA = 0.05


def verdict(result: PermutationTest) -> str:
    """The answer in one sentence.

    Whether memory helps is decided by the gain alone, at 5 %. The score is a second test, also at 5 %, whose sentence
    never says more than that it matters which memory is which.
    """
    score, gain, none = result.forward_score, result.gain, result.over_none
    if score is None or gain is None or none is None:
        return f"Nothing to test: {result.nothing}."
    over = f"over {counted(result.n_dates, 'decision')}"
    earned = f"choosing by its values earned {_pp(gain.mean)} per period {over}"
    if gain.p < ALPHA:
        beyond = f"{earned} beyond the same choice with shuffled names ({p_equals(gain.p)})"
        if none.low > 0:
            return f"Memory helps: {beyond}, and {_pp(none.mean)} beyond drafts without memory."
        so = "does not pay" if none.high < 0 else "is not shown to pay"
        return (
            f"It pays to know which memory is which, memory itself {so}: {beyond}, but "
            f"{_pp(none.mean)} against drafts without memory (95 % from {_pp(none.low)} to {_pp(none.high)})."
        )
    if score.p < ALPHA:
        return (
            "It matters which memory is which, but choosing by it is not shown to pay: the values predicted unseen "
            "decisions "
            f"({p_equals(score.p)}), and {earned}, within what shuffled names give ({p_equals(gain.p)})."
        )
    if max(gain.p, score.p) > 1 - ALPHA / 2:
        return (
            f"Memory is not shown to help, rather the opposite: {earned} beyond the same choice with shuffled names "
            f"({p_equals(gain.p)}), at a mean forward score of {number(score.mean, 2, sign=True)} "
            f"({p_equals(score.p)})."
        )
    return f"Memory is not shown to help: {earned}, within what shuffled names give ({p_equals(gain.p)})."


def sentences(result: PermutationTest) -> list[str]:
    """The verdict first, then what it rests on, a line each."""
    lines = [verdict(result), ""]
    if result.forward_score and result.gain and result.over_none:
        lines += [
            _line("Forward score", 1.0, result.forward_score),
            _line("Gain, % per period", 100.0, result.gain),
            _line("Against no memory, %", 100.0, result.over_none),
            "",
            f"The values differed on {result.n_spoke} and chose a draft on {result.n_acted} of "
            f"{counted(result.n_dates, 'decision')}; {counted(result.n_experiences, 'experience')}; "
            f"{counted(result.permutations, 'shuffle')}, seed {result.seed}.",
            "Null: within a date it makes no difference which memory is which. p: share of shuffled runs, all values "
            "learned anew, that do at least as well.",
            f"Intervals: 95 %, block bootstrap over {counted(result.n_days, 'day')} in blocks of {result.block}. "
            "Gain: against a drafted subset of the same size.",
        ]
    if result.n_left_out:
        lines.append(
            f"{counted(result.n_left_out, 'decision')} left out: fewer than two memories recalled, or too few valid "
            "drafts to tell them apart."
        )
    return [*lines, *(f"Of {name}." for name in result.runs)]


def _line(what: str, unit: float, found: Estimate) -> str:
    mean, low, high = (number(unit * end, 3, sign=True) for end in (found.mean, found.low, found.high))
    tested = f"   {p_equals(found.p)}" if isinstance(found, Effect) else ""
    return f"{what:<21}{mean:>8}   95 % from {low} to {high}{tested}"


def _pp(fraction: float) -> str:
    return f"{number(100 * fraction, 3, sign=True)} pp"


def document(result: PermutationTest) -> dict[str, Any]:
    """The result as JSON can hold it; gains in % per period, effects ``None`` when there was nothing to test."""
    return {
        "benchmark": "permute",
        "verdict": verdict(result),
        "runs": list(result.runs),
        "n_dates": result.n_dates,
        "n_left_out": result.n_left_out,
        "n_days": result.n_days,
        "n_experiences": result.n_experiences,
        "permutations": result.permutations,
        "seed": result.seed,
        "block_days": result.block,
        "dates_scored": result.n_spoke,
        "dates_chosen": result.n_acted,
        "forward_score": _numbers(result.forward_score, 1.0),
        "gain_pct": _numbers(result.gain, 100.0),
        "over_no_memory_pct": _numbers(result.over_none, 100.0),
    }


def _numbers(found: Estimate | None, unit: float) -> dict[str, float] | None:
    if found is None:
        return None
    tested = {"p": found.p} if isinstance(found, Effect) else {}
    return {"mean": unit * found.mean, "low": unit * found.low, "high": unit * found.high, **tested}
