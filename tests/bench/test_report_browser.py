"""The page in a real browser: quiet, offline, as wide as the screen, and usable by keyboard."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_worlds import World

from memtrial.bench.classalloc.result import ClassAllocResult
from memtrial.bench.report import write_report

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip


def unavailable(reason: str) -> None:
    """Skip on a developer's machine, fail where the browser is promised."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("playwright is not installed: pip install 'memtrial[dev]'")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        unavailable("chromium is not installed: apt-get install chromium")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def result() -> ClassAllocResult:
    return World(months=24).result()


@pytest.fixture(scope="module", params=["guarded", "paper"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report under either preset: partial weights and full trust, or none at all."""
    world = World(months=26, skill=1.5, influence=0.02, noise=0.02, seed=3, preset="guarded")
    made = world if request.param == "guarded" else World(months=24)
    return write_report(made.result(), tmp_path_factory.mktemp("either") / "report.html")


@pytest.fixture(scope="module")
def file(result: ClassAllocResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(result, tmp_path_factory.mktemp("report") / "report.html")


class Visit:
    """A page that remembers what it complained about and what it asked for."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *problem: object) -> None:
        self.context.close()


def shown(page: Any) -> list[str]:
    """Ids of the decisions that can be seen."""
    return page.evaluate(
        "[...document.querySelectorAll('.decision article')].filter(a => a.checkVisibility()).map(a => a.id)"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_no_complaint_no_request_no_overflow(browser: Any, either: Path, scheme: str, width: int) -> None:
    visit = Visit(browser, either.as_uri(), color_scheme=scheme, viewport={"width": width, "height": 900})
    with visit as page:
        for summary in page.locator("summary:visible").all()[:12]:
            summary.click()
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        charts = page.evaluate("[...document.querySelectorAll('.views')].map(v => [...v.children].filter("
                               "s => s.getBoundingClientRect().width > 0).length)")  # fmt: skip
        outside = page.evaluate("""() => [...document.querySelectorAll('.views svg')].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return frame.width ? [...svg.querySelectorAll('text')].filter(text => {
              const box = text.getBoundingClientRect();
              return box.left < frame.left - 1 || box.right > frame.right + 1;
            }).map(text => text.textContent) : [];
        })""")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert visit.complaints == []
    assert visit.requests == [either.as_uri()]
    assert wide <= 0
    assert set(charts) == {1}
    assert outside == []
    assert (paper == "rgb(22, 24, 28)") == (scheme == "dark")


def test_the_table_of_methods_needs_no_scrolling_on_a_laptop(browser: Any, either: Path) -> None:
    with Visit(browser, either.as_uri(), viewport={"width": 1280, "height": 900}) as page:
        hidden = page.evaluate("(() => { const box = document.querySelector('#methods .scroll');"
                               "return box.scrollWidth - box.clientWidth; })()")  # fmt: skip
        rows = page.locator("#methods .scroll").first.locator("tbody tr").count()
    assert rows == 16
    assert hidden <= 0


def test_one_decision_is_chosen_by_keyboard(browser: Any, file: Path, result: ClassAllocResult) -> None:
    ids = [decision.id for decision in result.investors["balanced"].decisions]
    with Visit(browser, f"{file.as_uri()}#{ids[5]}") as page:
        assert shown(page) == [ids[5]]
        page.locator(".picker select").focus()
        page.keyboard.press("ArrowDown")
        assert shown(page) == [ids[6]]
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert shown(page) == [ids[7]]
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert shown(page) == [ids[5]]
        assert page.url.endswith(f"#{ids[5]}")
        assert page.locator(".picker output").inner_text() == f"6 of {len(ids)}"
        page.locator(".picker select").focus()
        page.keyboard.press("End")
        assert shown(page) == [ids[-1]]
        assert page.locator("[data-step='1']").is_disabled()


def test_links_open_decisions(browser: Any, file: Path) -> None:
    with Visit(browser, file.as_uri()) as page:
        links = page.locator(".pointers a")
        first = links.first.get_attribute("href")
        assert shown(page) == [first.removeprefix("#")]
        last = links.last.get_attribute("href")
        links.last.click()
        page.wait_for_function("hash => location.hash === hash", arg=last)
        assert shown(page) == [last.removeprefix("#")]


def test_charts_read_their_table_by_pointer_and_by_key(browser: Any, file: Path) -> None:
    with Visit(browser, file.as_uri(), viewport={"width": 1280, "height": 900}) as page:
        figure = page.locator("#wealth-balanced")
        page.wait_for_load_state()
        figure.scroll_into_view_if_needed()
        row = figure.locator("tbody tr").nth(3).locator("th, td").all_text_contents()
        figure.locator("svg.wide [data-row='3']").hover()
        assert page.locator(".tip td.n").all_text_contents() == row
        figure.locator(".views").focus()
        page.keyboard.press("Home")
        assert page.locator(".tip td.n").first.text_content() == figure.locator("tbody th").first.text_content()
        page.keyboard.press("Escape")
        assert page.locator(".tip").is_hidden()


def test_without_scripts_everything_can_be_read(browser: Any, file: Path, result: ClassAllocResult) -> None:
    with Visit(browser, file.as_uri(), java_script_enabled=False) as page:
        assert page.locator(".decision > summary:visible").count() == len(result.days)
        assert page.locator(".picker").is_hidden()
        page.locator(".decision > summary").nth(2).click()
        assert page.locator("article").nth(2).is_visible()
        page.locator("#wealth-balanced summary").click()
        assert page.locator("#wealth-balanced tbody tr").first.is_visible()


def test_hostile_text_does_nothing_in_a_browser(browser: Any, tmp_path: Path) -> None:
    note = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    report = write_report(World(months=6, note=note).result(), tmp_path / "hostile.html", model_note=note)
    visit = Visit(browser, report.as_uri())
    with visit as page:
        title = page.title()
        assert note in page.locator("article").first.text_content()
    assert title.startswith("memtrial on ClassAlloc")
    assert visit.complaints == []
    assert visit.requests == [report.as_uri()]
