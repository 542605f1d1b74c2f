"""Rendering: templates with everything escaped, the stylesheet and the script inside the page, nothing loaded."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import cast

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from memtrial.bench.classalloc.result import ClassAllocResult
from memtrial.bench.report.sections.case import Case
from memtrial.bench.report.sections.credit import credit
from memtrial.bench.report.sections.decisions import escaped, opened, pointers
from memtrial.bench.report.sections.experiences import ranking
from memtrial.bench.report.sections.headline import headline
from memtrial.bench.report.sections.measured import conventions, investors_profiles, provenance
from memtrial.bench.report.sections.methods import investors_table, methods_table, words
from memtrial.bench.report.sections.trust import has_scores, trust_figures
from memtrial.bench.report.sections.wealth import wealth_figures
from memtrial.bench.report.typography import unbroken
from memtrial.errors import InputError

NO_NOTES: Mapping[str, str] = MappingProxyType({})


def write_report(
    result: ClassAllocResult,
    path: Path | str,
    *,
    model_note: str = "",
    recording: str = "",
    version: str = "",
    notes: Mapping[str, str] = NO_NOTES,
) -> Path:
    """Write a run as one HTML file that opens offline.

    Parameters
    ----------
    result
        The run.
    path
        The file; missing folders are made.
    model_note, recording, version, notes
        As in :func:`render`.

    Returns
    -------
    The path written.
    """
    target = Path(path)
    page = render(result, model_note=model_note, recording=recording, version=version, notes=notes)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The page allows its own script by hash, so not a byte may change on the way to the disk.
    target.write_bytes(page.encode("utf-8"))
    return target


def render(
    result: ClassAllocResult,
    *,
    model_note: str = "",
    recording: str = "",
    version: str = "",
    notes: Mapping[str, str] = NO_NOTES,
) -> str:
    """A run as one HTML page.

    Parameters
    ----------
    result
        The run.
    model_note
        A plain statement of what the model that drafted can and cannot do.
    recording
        Name of the recording that the replies came from, if any.
    version
        Version of memtrial; the running one by default.
    notes
        More lines for "how this was measured", by heading.

    Raises
    ------
    InputError
        When the run has no decision.
    """
    if not result.investors or not next(iter(result.investors.values())).decisions:
        raise InputError("the run has no decision, so there is nothing to report; run at least one test month")
    case = Case(result)
    found = provenance(case, recording=recording, version=version or _version(), notes=notes)
    template = environment().get_template("classalloc.html.j2")
    return template.render(case=case, head=headline(case, model_note), provenance=found, **_sections(case))


def _sections(case: Case) -> dict[str, object]:
    """What each section's template prints."""
    return {
        "methods": methods_table(case),
        "investors": investors_table(case),
        "wealth": wealth_figures(case),
        "scored": has_scores(case),
        "trust": trust_figures(case),
        "ranking": ranking(case),
        "credit": credit(case),
        "pointers": pointers(case),
        "opened": opened(case),
        "conventions": conventions(case),
        "profiles": investors_profiles(case),
        "words": words(case),
    }


@cache
def environment() -> Environment:
    """Templates, stylesheet and script; also for pages other than the report."""
    made = Environment(
        loader=FunctionLoader(lambda name: _packaged("templates", name)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _packaged("static", "page.css"), _packaged("static", "page.js")
    shared = cast("dict[str, object]", made.globals)
    shared.update(style=Markup(style), style_hash=_hash(style), script=Markup(script), script_hash=_hash(script))
    made.filters["foreign"] = escaped
    made.filters["unbroken"] = unbroken
    return made


def _packaged(folder: str, name: str) -> str:
    text = (resources.files("memtrial.bench.report") / folder / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _hash(text: str) -> str:
    """What the content security policy knows an inline block by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _version() -> str:
    from memtrial import __version__

    return __version__
