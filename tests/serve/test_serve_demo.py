"""The demo as a user runs it: a process, a recording, a store, a report."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from models_server import Script, Seen, StandIn, need

from memtrial.records import Decision
from memtrial.store import Store

need("openai")

PROGRAM = [sys.executable, "-m", "memtrial"]
MONTHS = "4"


def memtrial(*arguments: str, folder: Path, check: bool = True, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Run the command in ``folder`` with a key that opens nothing, on a terminal of ``columns``."""
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, env={**environment(), "COLUMNS": str(columns)}, capture_output=True,
        text=True, timeout=240, check=False,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return done


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**kept, "OPENAI_API_KEY": "sk-local", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def weights(seen: Seen) -> Script:
    """Weights that follow the prompt, so that every draft differs and can be told from the others."""
    random.seed(json.dumps(seen.body["messages"]))
    shares = [random.randint(1, 9) for _ in range(5)]
    names = ("equities", "bonds", "commodities", "real_estate", "cash")
    content = {name: share / sum(shares) for name, share in zip(names, shares, strict=True)}
    return Script(text=json.dumps({**content, "reason": "because"}), delay=0.002)


@pytest.fixture
def provider() -> Any:
    with StandIn() as server:
        server.default = weights
        yield server


def live(server: StandIn) -> list[str]:
    return [
        "demo", "--policy", "openai:gpt-test", "--base-url", server.url, "--experiences", "record",
        "--months", MONTHS, "--json",
    ]  # fmt: skip


def dump(database: Path, without: tuple[str, ...] = ("latency_seconds", "replayed")) -> list[tuple[Any, ...]]:
    """Every row of the store, except by default how long calls took and whether a reply came from the recording."""
    rows: list[tuple[Any, ...]] = []
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for table in sorted(tables):
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            kept = [i for i, name in enumerate(names) if name not in without]
            rows += [(table, *(row[i] for i in kept)) for row in cursor]
    connection.close()
    return sorted(rows, key=repr)


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("bundled")
    return folder, json.loads(memtrial("demo", "--json", folder=folder).stdout)


def test_the_bundled_demo_replays_real_drafts(bundled: tuple[Path, dict[str, Any]]) -> None:
    folder, made = bundled
    assert made["benchmark"] == "classalloc"
    assert made["decisions"] == 71
    assert "qwen2.5-coder-0.5b" in made["policy"]
    assert made["usage"]["replayed"] == made["usage"]["calls"]
    assert (folder / made["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    by_investor = made["by_investor"]
    earned = sum(by_investor[name]["1/N"]["utility_pct_month"] for name in by_investor) / 3
    assert earned == pytest.approx(0.636, abs=0.002)


def test_the_default_preset_is_guarded_and_both_have_their_rows(bundled: tuple[Path, dict[str, Any]]) -> None:
    folder, made = bundled
    assert made["preset"] == "guarded"
    for methods in (made["methods"], *made["by_investor"].values()):
        assert {"memtrial", "memtrial_guarded", "memtrial_never_trusts"} <= set(methods)
    assert made["by_investor"]["balanced"] == made["methods"]
    report = (folder / made["report"]).read_text(encoding="utf-8")
    assert "full trust" in report
    assert 'id="purse"' in report


def test_the_paper_preset_has_the_figures_of_the_paper_preset(
    bundled: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """Both presets on one store; each evaluates the other from the same drafts."""
    folder, guarded = bundled
    both = tmp_path / "memtrial.db"
    shutil.copy(folder / "memtrial.db", both)
    made = json.loads(memtrial("demo", "--preset", "paper", "--json", folder=tmp_path).stdout)
    assert made["preset"] == "paper"
    known = {"conservative": (0.5133, 0.5132), "balanced": (0.6595, 0.6585), "aggressive": (0.7490, 0.7479)}
    for investor, (paper, own) in known.items():
        for document in (made, guarded):
            methods = document["by_investor"][investor]
            assert methods["memtrial"]["utility_pct_month"] == pytest.approx(paper, abs=5e-4)
            assert methods["memtrial_guarded"]["utility_pct_month"] == pytest.approx(own, abs=5e-4)
            assert methods["memtrial"]["trust_rate_pct"] == 0.0
            assert methods["memtrial_guarded"]["trust_rate_pct"] > 0.0
    assert made["by_investor"] == guarded["by_investor"]
    assert 'id="p-values"' in (tmp_path / made["report"]).read_text(encoding="utf-8")
    with sqlite3.connect(both) as connection:
        rows = connection.execute("SELECT DISTINCT scope FROM decisions").fetchall()
    connection.close()
    assert sorted(scope.rsplit(" ", 1)[1] for (scope,) in rows) == ["guarded", "paper"]


def test_the_table_fits_a_terminal_and_names_what_was_deployed(tmp_path: Path) -> None:
    shown = memtrial("demo", "--months", "2", folder=tmp_path).stdout
    assert "2 months; deployed: memtrial (guarded)" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if line.startswith(("│", "┃")))
    for label in ("memtrial (paper)", "memtrial (guarded)", "memtrial, never trusts", "Counterfactual selection"):
        assert label in shown
    shown = memtrial("demo", "--months", "2", "--preset", "paper", folder=tmp_path).stdout
    assert "deployed: memtrial (paper)" in shown


def test_a_partial_weight_is_explained_as_a_mix(bundled: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = bundled
    with Store(folder / "memtrial.db", create=False) as store:
        (scope,) = {where for where, _ in store.agents()}
        made = [event for event in store.journal(scope, "balanced") if isinstance(event, Decision)]
        vetoed = next(
            event
            for event in store.journal(scope, "conservative")
            if isinstance(event, Decision) and event.verdict.vetoed
        )
    part = next(decision for decision in made if 0 < decision.verdict.weight < 0.999)
    weight, q = part.verdict.weight, (1 - part.verdict.weight) * part.verdict.reference_weight
    shown = " ".join(memtrial("explain", part.id, folder=folder, columns=200).stdout.split())
    assert f"memory moves {100 * weight:.1f} % of the capital" in shown
    assert f"Action: {weight:.3f} of the draft of" in shown
    assert f"{q:.3f} of the reference and {1 - weight - q:.3f} of the average draft" in shown
    assert "mix of both" in shown
    assert f"({100 * weight:.1f}\u00a0%)" in memtrial("explain", part.id, folder=folder, columns=200).stdout
    top = max(part.verdict.values[part.verdict.learner]) * part.verdict.unit
    assert f"+{100 * top:.4f}" in shown
    shown = " ".join(memtrial("explain", vetoed.id, folder=folder, columns=200).stdout.split())
    assert f"drafts of that size had fallen at least {-100 * vetoed.verdict.bound:.3f} pp short of the anchor" in shown
    assert "memory moves 0.0 % of the capital" in shown


def test_it_can_be_explained_afterwards(bundled: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = bundled
    with sqlite3.connect(folder / "memtrial.db") as connection:
        (decision,) = connection.execute("SELECT id FROM decisions ORDER BY decided_at DESC").fetchone()
    connection.close()
    shown = memtrial("explain", decision, folder=folder).stdout
    assert "Verdict: memory" in shown
    assert "Experiences recalled" in shown
    whole = json.loads(memtrial("explain", decision, "--json", folder=folder).stdout)
    assert whole["decision"]["id"] == decision
    assert len(whole["outcome"]["draft_utilities"]) == 8


def test_the_same_recording_gives_the_same_figures(bundled: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    _, first = bundled
    again = json.loads(memtrial("demo", "--json", folder=tmp_path).stdout)
    for document in (first, again):
        del document["seconds"]
    assert first == again


def test_a_killed_live_run_goes_on_and_pays_nothing_twice(provider: StandIn, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    first = json.loads(memtrial(*live(provider), folder=whole).stdout)
    asked = Counter(json.dumps(seen.body, sort_keys=True) for seen in provider.seen)
    assert max(asked.values()) == 1, "three investors share their drafts"
    provider.seen.clear()

    moments = random.Random(5)
    kills = 0
    for _ in range(4):
        process = subprocess.Popen(
            [*PROGRAM, *live(provider)], cwd=broken, env=environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        target = len(provider.seen) + moments.randint(8, 25)
        while len(provider.seen) < target and process.poll() is None:
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills >= 2
    killed = json.loads(memtrial(*live(provider), folder=broken).stdout)

    assert dump(whole / "memtrial.db") == dump(broken / "memtrial.db")
    for document in (first, killed):
        del document["seconds"], document["usage"]
    assert first == killed
    # What was in flight when it was killed could not be kept; everything recorded was never asked for again.
    again = Counter(json.dumps(seen.body, sort_keys=True) for seen in provider.seen)
    assert set(again) == set(asked)
    assert sum(again.values()) - len(again) <= 8 * kills


def test_a_recording_of_a_live_run_replays_without_the_provider(provider: StandIn, tmp_path: Path) -> None:
    made = json.loads(memtrial(*live(provider), folder=tmp_path).stdout)
    provider.seen.clear()
    (tmp_path / "memtrial.db").unlink()
    replayed = memtrial(
        "demo", "--recording", made["recording"], "--months", MONTHS, "--json", "--experiences", "record",
        folder=tmp_path,
    )  # fmt: skip
    again = json.loads(replayed.stdout)
    assert provider.seen == []
    assert again["methods"] == made["methods"]


FAILURES = {
    "unknown provider": (["demo", "--policy", "opnai:gpt-4"], 1, "opnai"),
    "no model": (["demo", "--policy", "openai"], 1, "PROVIDER:MODEL"),
    "no such file": (["demo", "--policy", "local:nowhere.gguf"], 1, "nowhere.gguf"),
    "no recording": (["demo", "--recording", "nowhere.jsonl"], 1, "nowhere.jsonl"),
    "address without a policy": (["demo", "--base-url", "http://127.0.0.1:9"], 1, "--policy"),
    "a recording miss": (["demo", "--seed", "3"], 1, "has no reply to request"),
    "no server": (["demo", "--policy", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--months", "2"], 1, ""),
    "a database that is none": (["demo", "--db", "broken.db", "--months", "2"], 1, "broken.db"),
    "another database": (["demo", "--db", "mysql://x/y", "--months", "2"], 1, "mysql"),
    "no such decision": (["explain", "20200101"], 1, "memtrial.db"),
    "unknown option": (["demo", "--nonsense"], 2, "--nonsense"),
    "unknown preset": (["demo", "--preset", "bold"], 2, "preset"),
    "unknown command": (["dream"], 2, "dream"),
    "months out of range": (["demo", "--months", "0"], 2, "months"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_bad_input_gets_one_clear_line(name: str, tmp_path: Path) -> None:
    arguments, code, part = FAILURES[name]
    (tmp_path / "broken.db").write_bytes(b"Dear diary, " * 500)
    done = memtrial(*arguments, folder=tmp_path, check=False)
    assert done.returncode == code
    assert done.stdout == ""
    assert part in done.stderr
    assert "Traceback" not in done.stderr
    if code == 1:
        assert done.stderr.startswith("memtrial: ")
        assert done.stderr.count("\n") == 1
    assert (tmp_path / "broken.db").read_bytes() == b"Dear diary, " * 500


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [*PROGRAM, "demo", "--policy", "openai:gpt-4.1-mini"],
        cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "OPENAI_API_KEY" in done.stderr


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from memtrial.serve.cli import app; from typer.testing import CliRunner; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0; "
        "print([name for name in ('numpy', 'scipy', 'sqlalchemy', 'polars', 'wordllama') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_loads_nothing_but_itself() -> None:
    code = "import sys, memtrial; print([name for name in ('numpy', 'typer', 'sqlalchemy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_shorter_run_after_a_longer_one(tmp_path: Path) -> None:
    short = json.loads(memtrial("demo", "--months", "3", "--json", folder=tmp_path).stdout)
    memtrial("demo", "--months", "6", "--json", folder=tmp_path)
    again = json.loads(memtrial("demo", "--months", "3", "--json", folder=tmp_path).stdout)
    assert again["methods"] == short["methods"]


def test_a_replay_asks_its_recording_also_in_a_used_folder(tmp_path: Path) -> None:
    made = json.loads(memtrial("demo", "--months", "2", "--json", folder=tmp_path).stdout)
    empty = tmp_path / "empty.jsonl"
    model = made["policy"].split(" ")[0]
    empty.write_text(json.dumps({"memtrial_recording": 1, "model": model}) + "\n", encoding="utf-8")
    done = memtrial("demo", "--recording", "empty.jsonl", "--months", "2", folder=tmp_path, check=False)
    assert done.returncode == 1
    assert "has no reply to request" in done.stderr


def test_an_outage_is_nobodys_decision(provider: StandIn, tmp_path: Path) -> None:
    answers = provider.default
    provider.default = lambda seen: (
        Script(status=500, headers={"retry-after-ms": "1"}) if len(provider.seen) > 70 else answers(seen)
    )
    done = memtrial(*live(provider), folder=tmp_path, check=False)
    assert done.returncode == 1
    assert "HTTP 500" in done.stderr
    provider.default = answers
    healed = json.loads(memtrial(*live(provider), folder=tmp_path).stdout)
    assert healed["missing_drafts"] == 0


def test_odd_names_and_folders_do_not_matter(tmp_path: Path) -> None:
    folder = tmp_path / "a [b] ü"
    folder.mkdir()
    done = memtrial("demo", "--months", "2", "--out", "run[/1]", "--db", "my [db] é.db", folder=folder)
    assert "run[/1]/report.html" in done.stdout
    assert (folder / "run[/1]" / "report.html").is_file()


def test_the_recording_holds_all_sixteen_subsets(tmp_path: Path) -> None:
    full = json.loads(memtrial("demo", "--design", "full", "--json", folder=tmp_path).stdout)
    assert full["usage"]["calls"] == full["usage"]["replayed"] == 58 + 71 * 16


def test_a_replay_with_interrupts_is_the_same_run(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    arguments = ["demo", "--months", "8", "--json", "--grow", "--recording"]
    live_once = tmp_path / "r.jsonl"
    with StandIn() as server:
        server.default = weights
        first = ["demo", "--policy", "openai:gpt-test", "--base-url", server.url, "--experiences", "record"]
        memtrial(*first, "--months", "8", "--grow", "--json", "--recording", str(live_once), folder=tmp_path)
    replay = [*arguments, str(live_once), "--experiences", "record"]
    one = json.loads(memtrial(*replay, folder=whole).stdout)
    for pause in (0.9, 1.6, 2.3):
        process = subprocess.Popen(
            [*PROGRAM, *replay], cwd=broken, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
    two = json.loads(memtrial(*replay, folder=broken).stdout)
    del one["seconds"], two["seconds"]
    assert one == two
    assert dump(whole / "memtrial.db", without=()) == dump(broken / "memtrial.db", without=())
