"""The evidence on PlantedMem as one HTML page that opens offline: ours beside published, the verdict first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from memtrial.bench.planted.result import PlantedResult
from memtrial.bench.report.page import environment
from memtrial.bench.report.planted.ablation_map import ablation_map
from memtrial.bench.report.planted.curves import learning_curves, trust_over_years
from memtrial.bench.report.planted.guarantee import GUARANTEE
from memtrial.bench.report.planted.headline import headline
from memtrial.bench.report.planted.lookup import Run
from memtrial.bench.report.planted.measured import conventions, provenance, regimes
from memtrial.bench.report.planted.missing import command, lacking, unmeasured
from memtrial.bench.report.planted.papertables import paper_tables, summary_of_main
from memtrial.bench.report.planted.present import shown
from memtrial.bench.report.planted.presets import false_trust_table, presets_table, switches_table, turns_table
from memtrial.bench.report.planted.regime_bars import by_regime
from memtrial.errors import InputError

NO_NOTES: Mapping[str, str] = MappingProxyType({})


def write_planted_report(
    result: PlantedResult, path: Path | str, *, version: str = "", notes: Mapping[str, str] = NO_NOTES
) -> Path:
    """Write a run as one HTML file that opens offline.

    Parameters
    ----------
    result
        The run; any part of it may be missing, and the page says which.
    path
        The file; missing folders are made.
    version
        Version of memtrial; the running one by default.
    notes
        More lines for "how this was measured", by heading.

    Returns
    -------
    The path written.

    Raises
    ------
    InputError
        When the run has no regime.
    """
    target = Path(path)
    page = render_planted(result, version=version, notes=notes)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The page allows its own script by hash, so not a byte may change on the way to the disk.
    target.write_bytes(page.encode("utf-8"))
    return target


def render_planted(result: PlantedResult, *, version: str = "", notes: Mapping[str, str] = NO_NOTES) -> str:
    """A run as one HTML page; parameters and errors as in :func:`write_planted_report`."""
    if not result.settings or not result.regimes:
        raise InputError("the run has no regime, so there is nothing to report; run at least one")
    run = Run(result)
    template = environment().get_template("planted.html.j2")
    return template.render(
        run=run,
        head=headline(run),
        missing=unmeasured(run),
        command=command(run),
        guarantee=GUARANTEE,
        conventions=conventions(run),
        regimes=regimes(run),
        provenance=provenance(run, version=version, notes=notes),
        **_beyond(run),
        **_paper(run),
    )


def _beyond(run: Run) -> dict[str, object]:
    """Sections past the paper."""
    return {
        "presets": presets_table(run),
        "turns": turns_table(run),
        "switches": switches_table(run),
        "quiet": false_trust_table(run),
        "years": trust_over_years(run),
    }


def _paper(run: Run) -> dict[str, object]:
    """Sections that stand in the paper."""
    tables = [shown(table, lacking(run, table)) for table in paper_tables(run)]
    summary = summary_of_main(run)
    return {
        "main_table": tables[0],
        "main_summary": shown(summary, "") if summary.labels else None,
        "tables": tables[1:],
        "heat": ablation_map(run),
        "curves": learning_curves(run),
        "bars": by_regime(run),
    }
