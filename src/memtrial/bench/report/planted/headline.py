"""The verdict of the page: one sentence to act on, what follows from it, and the figures beneath."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memtrial.bench.report.evidence import Paired
from memtrial.bench.report.planted.comparison import Compared, compared
from memtrial.bench.report.planted.lookup import GUARDED, NO_SIGNAL, OWN, REFERENCE, Run
from memtrial.bench.report.planted.presets import against
from memtrial.bench.report.typography import counted, number

ENOUGH = 20
"""Worlds below which no verdict is given."""
PROMISED = 5.0
"""Lanes ever trusted in full without signal, in %, that the guarded preset promises at most."""
STRONG, WEAK = "beta_0.5", "beta_0.25"


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """The sentence, what to do, and the figures beneath: name, value, count."""

    sentence: str
    action: str
    figures: tuple[tuple[str, str, str], ...]


def headline(run: Run) -> Headline:
    """The verdict of a run."""
    return Headline(sentence=_sentence(run), action=_action(run), figures=_figures(run))


def false_trust(run: Run, name: str) -> tuple[float, float, int] | None:
    """Lanes ever trusted in full where memory has nothing to tell, in %, its s.e. over worlds, and their number."""
    found = [each for key in NO_SIGNAL if run.figures(name, key) and (each := run.ever(name, key))]
    if not found:
        return None
    share, error = (sum(each[part] for each in found) / len(found) for part in (0, 1))
    return share, error, sum(lanes for _, _, lanes in found)


def _sentence(run: Run) -> str:
    quiet, gain = false_trust(run, GUARDED), against(run, GUARDED, REFERENCE, STRONG)
    if run.worlds < ENOUGH:
        return f"Too few worlds to act on: {counted(run.worlds, 'world')} ran, and a verdict needs at least {ENOUGH}."
    if quiet is None or gain is None:
        return _paper_sentence(run)
    safe, useful = quiet[0] - 2 * quiet[1] <= PROMISED, gain.mean - 2 * gain.se > 0
    useless = f"memory with nothing to tell was ever trusted in full in {_rate(*quiet)}"
    earned = f"memory that is worth something earned {_pp(gain)} over the reference (β\u00a0=\u00a00.5)"
    if safe and useful:
        return f"The guarded preset may let memory move money: {useless}, and {earned}."
    if safe:
        return f"The guarded preset is safe but of no use here: {useless}, but {earned}."
    return f"Do not let the guarded preset move money: {useless}, more than the {number(PROMISED, 0)} % promised."


def _paper_sentence(run: Run) -> str:
    gain = against(run, OWN, REFERENCE, STRONG) or against(run, OWN, REFERENCE, WEAK)
    quiet = false_trust(run, OWN)
    if gain is None and quiet is None:
        return "This run cannot say whether memory may move money: memtrial did not run where the answer is known."
    parts = ["The guarded preset was not judged in this run."]
    if gain:
        parts.append(f"The paper's preset earned {_pp(gain)} over the reference where memory is worth something.")
    if quiet:
        parts.append(f"It was ever trusted in full in {_rate(*quiet)} where memory has nothing to tell.")
    return " ".join(parts)


def _action(run: Run) -> str:
    if run.worlds < ENOUGH:
        return "What follows shows the form of the evidence, not the evidence."
    parts: list[str] = []
    paper = false_trust(run, OWN)
    if paper and false_trust(run, GUARDED):
        parts.append(f"The paper's t-test trusted useless memory in {_rate(*paper)}.")
    harm = [found for name in (OWN, GUARDED) if (found := against(run, name, REFERENCE, "harm_0.5"))]
    if len(harm) == 2:
        parts.append(
            f"With memories of which none is useful and half mislead, the paper's preset moves the "
            f"result by {_pp(harm[0])} and the guarded one by {_pp(harm[1])}."
        )
    swap = run.main.regimes.get("swap_0.5")
    months = {name: swap.turns[name].months_to_withdrawal for name in (OWN, GUARDED) if swap and name in swap.turns}
    if len(months) == 2 and all(value is not None for value in months.values()):
        parts.append(
            f"After good and bad memories change places, trust is withdrawn after {number(months[GUARDED], 1)} months "
            f"(paper: {number(months[OWN], 1)})."
        )
    return " ".join(parts)


def _figures(run: Run) -> tuple[tuple[str, str, str], ...]:
    found: list[tuple[str, str, str]] = []
    core = run.utility(OWN, "core")
    if core is not None:
        cell = compared("3", OWN, "core", core)
        found.append(("memtrial, core regimes", f"{number(cell.mean, 3)} %/month", _beside(cell)))
    guarded = against(run, GUARDED, OWN, "core")
    if guarded:
        found.append(
            ("guarded against paper, core", _pp(guarded), f"s.e. {number(guarded.se, 3)}, n = {guarded.n} worlds")
        )
    for name, words in ((GUARDED, "guarded"), (OWN, "paper")):
        quiet = false_trust(run, name)
        if quiet:
            found.append(
                (f"ever trusted without signal, {words}", f"{number(quiet[0], 1)} %", _lanes(quiet[1], quiet[2]))
            )
    return tuple(found)


def _beside(cell: Compared) -> str:
    if cell.published is None:
        return f"n = {cell.worlds} worlds"
    sd = f"sd {number(cell.sd, 3)}, " if math.isfinite(cell.sd) else ""
    return f"{sd}published {number(cell.published.mean, 2)}, n = {cell.worlds} worlds"


def _pp(found: Paired) -> str:
    return f"{number(found.mean, 3, sign=True)} pp/month"


def _rate(share: float, error: float, lanes: int) -> str:
    return f"{number(share, 1)} % of lanes ({_lanes(error, lanes)})"


def _lanes(error: float, lanes: int) -> str:
    known = f"s.e. {number(error, 1)}, " if math.isfinite(error) else ""
    return f"{known}n = {lanes}"
