"""Documents are a contract: their code runs, their links exist, and the project speaks of itself alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


EXAMPLES = list(find_examples(str(ROOT / "README.md"), str(ROOT / "docs")))


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_python_blocks_run(
    example: CodeExample, eval_example: EvalExample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = eval_example.run(example)
    assert isinstance(made, dict)
    if "agent" in made:
        made["agent"].close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_bundled_file_has_its_source_on_the_provenance_page() -> None:
    text = (ROOT / "docs" / "provenance.md").read_text(encoding="utf-8")
    bundled = [*(ROOT / "src").glob("**/data/*"), *(ROOT / "tests" / "data").glob("*")]
    assert len(bundled) >= 7
    for file in bundled:
        assert file.name in text or f"*{''.join(file.suffixes[-2:])}" in text, f"{file.name} has no source"


def test_the_commands_of_the_makefile_are_those_of_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "test", "bench"} <= set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    assert shutil.which("make") is not None


def test_the_repository_stays_small() -> None:
    kept = [path for path in ROOT.glob("**/*") if path.is_file() and not _built(path)]
    assert sum(path.stat().st_size for path in kept) < 60e6


def _built(path: Path) -> bool:
    return any(part.startswith(".") or part in {"out", "build", "dist"} for part in path.relative_to(ROOT).parts)
