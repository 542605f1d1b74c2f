"""How a PlantedMem run was measured, and where its numbers come from."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from types import MappingProxyType

from memtrial.bench.report.planted.lookup import COLUMNS, Run
from memtrial.bench.report.typography import NBSP, counted, listed, number, visible

REGIME_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "no_influence": "the experiences do not move drafts",
        "noise_only": "all neutral, they move half of a draft at random",
        "beta_0.1": "3 useful, 6 neutral, 3 misleading ones move a tenth of a draft",
        "beta_0.25": "3 useful, 6 neutral, 3 misleading ones move a quarter of a draft",
        "beta_0.5": "3 useful, 6 neutral, 3 misleading ones move half of a draft",
        "many": "48 experiences, a quarter of a draft; what they say tells nothing about their worth",
        "informative": "48 experiences, a quarter of a draft; what they say tells something",
        "harm_0.25": "6 neutral, 6 misleading, none useful; a quarter of a draft",
        "harm_0.5": "6 neutral, 6 misleading, none useful; half of a draft",
        "swap_0.25": "useful and misleading ones change places at test month 60; a quarter of a draft",
        "swap_0.5": "useful and misleading ones change places at test month 60; half of a draft",
        "lost_0.25": "all become neutral at test month 60 and still move a quarter of a draft",
        "lost_0.5": "all become neutral at test month 60 and still move half of a draft",
        "fade_0.5": "from test month 60 the influence fades from a half to nothing within 24 months",
    }
)
"""What each regime plants."""


def regimes(run: Run) -> tuple[tuple[str, str], ...]:
    """What each regime of the run plants."""
    return tuple((COLUMNS[each.regime.key], REGIME_WORDS.get(each.regime.key, "")) for each in run.regimes())


def conventions(run: Run) -> tuple[tuple[str, str], ...]:
    """What the words and numbers of the page mean."""
    return (
        (
            "PlantedMem",
            "Real prices of equities, bonds, cash and commodities, 132 monthly dates from April 2015 to March 2026, of "
            "which the first 12 warm up. Twelve (or 48) planted experiences point to asset classes, useful ones "
            "rightly and misleading ones wrongly with probability 0.7; drafts that show them are moved by a share β.",
        ),
        (
            "World, lane",
            f"A world is one draw of experiences, retrieval and base drafts; a lane is one of the "
            f"{counted(len(run.result.investors), 'investor')} in one world. The investors of a world "
            "share its draws and are averaged before any standard error is taken.",
        ),
        (
            "± and s.e.",
            "± in the paper's tables is the sd over worlds, as the paper prints it. s.e. is the standard error "
            "over worlds of a paired difference: the same worlds under both methods.",
        ),
        (
            "Difference",
            "Ours minus published. A difference with a letter is larger than three standard errors (more with few "
            "worlds; both runs' worlds) and the paper's rounding; its reason stands beneath the table.",
        ),
        (
            "Trust",
            "memtrial acts on its values in full or not at all, so its trust rate is a share of decisions; the guarded "
            "preset gives memory a share of the capital, and its mean is shown. Ever full: lanes in which that share "
            "reached 99.9 % on some test date; its standard error is over worlds, whose lanes share their draws.",
        ),
        (
            "Core",
            "Mean of no influence, noise only, β = 0.1, 0.25 and 0.5, world by world. No signal: the first two; with "
            "signal: the other three.",
        ),
        (
            "After a turn",
            "Withdrawal: first month with less than half of the capital, in lanes that gave memory half or more "
            "at the turn. Lost: utility minus the anchor's, summed until then. Gains are against the anchor, all "
            "lanes. The anchor is memtrial that never trusts; where it did not run, the reference stands in.",
        ),
    )


def provenance(run: Run, *, version: str, notes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Where the numbers come from."""
    result, setting = run.result, run.main.setting
    speed = f"{number(result.seconds, 1)}{NBSP}s, {number(result.decisions_per_second, 0)} decisions a second"
    found = {
        "Worlds": f"{counted(run.worlds, 'world')}, seed {result.seed}",
        "Investors": visible(listed(result.investors)),
        "Setting": f"k = {setting.k}, {setting.drafted.kind} design, reference {setting.reference}, "
        f"mandate {'on' if setting.mandate else 'off'}, pool {visible(setting.pool)}",
        "Like for like": _comparable(run),
        "Run time": f"{speed} ({counted(result.decisions, 'decision')})" if result.seconds > 0 else "not recorded",
        "Run folder": visible(result.folder.name),
        "Version": f"memtrial {version or _version()}, Python {platform.python_version()}",
        **{visible(heading): visible(text) for heading, text in notes.items()},
    }
    return tuple(found.items())


def _comparable(run: Run) -> str:
    setting = run.main.setting
    changed = [
        words
        for words, differs in (
            ("the mandate is on", setting.mandate),
            (f"the pool is {visible(setting.pool)}", setting.pool != "calibrated"),
            ("1/N is the reference", setting.reference != "memory_free"),
            (f"k = {setting.k}, {setting.drafted.kind} design", (setting.k, setting.drafted.kind) != (4, "half")),
        )
        if differs
    ]
    if not changed:
        return "the setting that comes nearest to the paper's: calibrated pool, mandate off, k = 4 half fraction"
    return f"not the paper's setting ({listed(changed)}), so differences to published numbers are to be expected"


def _version() -> str:
    from memtrial import __version__

    return __version__
