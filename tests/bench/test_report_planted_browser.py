"""The page on PlantedMem in a real browser: quiet, offline, no wider than the screen, and usable by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planted_report_runs import invented
from test_report_browser import Visit, browser

from memtrial.bench.report.planted import write_planted_report

__all__ = ["browser"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_planted_report(invented(), tmp_path_factory.mktemp("planted") / "report.html")


@pytest.fixture(scope="module")
def partial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small = invented(3, ("beta_0.25", "no_influence"), ("1/N", "memtrial"), designs=False)
    return write_planted_report(small, tmp_path_factory.mktemp("partial") / "report.html")


OUTSIDE = """() => [...document.querySelectorAll('.views svg, td svg, th svg')].flatMap(svg => {
    const frame = svg.getBoundingClientRect();
    return frame.width ? [...svg.querySelectorAll('text')].filter(text => {
      const box = text.getBoundingClientRect();
      return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
    }).map(text => text.textContent) : [];
})"""
ARRIVED = """() => {
    const top = document.querySelector(location.hash).getBoundingClientRect().top;
    return top < innerHeight && top > -40;
}"""
OVERLAPPING = """() => [...document.querySelectorAll('.views svg, th svg')].flatMap(svg => {
    if (!svg.getBoundingClientRect().width) return [];
    const boxes = [...svg.querySelectorAll('text:not(.group)')].map(t => [t.textContent, t.getBoundingClientRect()]);
    return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) =>
      Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1.5 &&
      Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 5).map(([b]) => a + ' | ' + b));
})"""


@pytest.mark.parametrize("which", ["file", "partial"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_quiet_offline_and_no_wider_than_the_screen(
    browser: Any, request: pytest.FixtureRequest, which: str, scheme: str, width: int
) -> None:
    address = request.getfixturevalue(which).as_uri()
    visit = Visit(browser, address, color_scheme=scheme, viewport={"width": width, "height": 900})
    with visit as page:
        page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        shown = page.evaluate("[...document.querySelectorAll('.views')].map(v => [...v.children].filter("
                              "s => s.getBoundingClientRect().width > 0).length)")  # fmt: skip
        outside, overlapping = page.evaluate(OUTSIDE), page.evaluate(OVERLAPPING)
    assert visit.complaints == []
    assert visit.requests == [address]
    assert wide <= 0
    assert set(shown) == {1}
    assert outside == []
    assert overlapping == []


def test_contents_lead_to_their_sections(browser: Any, file: Path) -> None:
    with Visit(browser, file.as_uri(), viewport={"width": 1280, "height": 900}, reduced_motion="reduce") as page:
        for link in page.locator("nav a").all():
            link.click()
            page.wait_for_function(ARRIVED)


def test_bars_curves_and_map_read_their_table(browser: Any, file: Path) -> None:
    with Visit(browser, file.as_uri(), viewport={"width": 1280, "height": 900}) as page:
        page.wait_for_load_state()
        for name, row in (("figure-6-gain", 9), ("figure-4", 4), ("figure-5-informative", 3)):
            figure = page.locator(f"#{name}")
            figure.scroll_into_view_if_needed()
            cells = figure.locator("tbody tr").nth(row).locator("th, td").all_text_contents()
            figure.locator(f"svg.middle [data-row='{row}']").hover()
            assert page.locator(".tip td.n").all_text_contents() == cells
            figure.locator(".views").focus()
            page.keyboard.press("End")
            last = figure.locator("tbody tr").last.locator("th, td").all_text_contents()
            assert page.locator(".tip td.n").all_text_contents() == last
            page.keyboard.press("Escape")


def test_prints_whole(browser: Any, file: Path) -> None:
    with Visit(browser, file.as_uri(), viewport={"width": 794, "height": 1123}) as page:
        page.emulate_media(media="print")
        assert page.locator("#verdict-title").is_visible()
        assert page.locator("#table-d-15 table").is_visible()
        assert page.locator("nav").is_hidden()
