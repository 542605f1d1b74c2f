"""From a store or a folder to the verdict, as the command line does it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import agent_worlds
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from memtrial.agent import Agent
from memtrial.bench.permute import permutation_test, planted_runs, recorded_runs, replay
from memtrial.bench.permute.shuffles import shuffles
from memtrial.bench.planted import REGIMES, Setting, plan_run, run_planted
from memtrial.bench.planted.plan import MANIFEST, manifest
from memtrial.errors import InputError, MemtrialError
from memtrial.serve.permute import permute
from memtrial.store import Store
from memtrial.trial import Settings


def command(*arguments: str) -> Any:
    """The command, mounted alone."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(permute)
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


def made(*arguments: str) -> dict[str, Any]:
    done = command(*arguments, "--json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def refused(*arguments: str) -> str:
    done = command(*arguments)
    assert isinstance(done.exception, MemtrialError)
    return str(done.exception)


def agent(file: Path, **changes: Any) -> Agent:
    fields: dict[str, Any] = {
        "memory": file,
        "policy": agent_worlds.tilting,
        "assets": agent_worlds.ASSETS,
        "embedder": agent_worlds.EMBEDDER,
        "settings": Settings.paper(),
    }
    return Agent(**{**fields, **changes})


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents in a store; the memory of both grows, so that the content basis is refitted on the way."""
    file = tmp_path_factory.mktemp("stored") / "memtrial.db"
    for name in ("anna", "bob"):
        with agent(file, name=name, scope=f"of {name}") as one:
            agent_worlds.run(one, 40)
    return file


def test_the_store_gives_the_predictions_that_were_made(stored: Path) -> None:
    """Replayed under the true names, values choose and score as the agent's own learners did."""
    (run,) = recorded_runs(f"sqlite:///{stored}", agent="anna")
    replayed = replay(run, shuffles([run], 1, np.random.default_rng(0)))
    with Store(stored) as store:
        outcomes = store.outcomes("of anna", "anna", as_of=agent_worlds.START + timedelta(days=4000))
        own = [outcome for outcome in outcomes if outcome.contributions is not None and len(outcome.contributions) > 1]
    assert sum(dated.rebased is not None for dated in run.dates) >= 2
    assert len(own) == len(replayed.scores)
    compared = 0
    for outcome, score in zip(own, replayed.scores[:, 0], strict=True):
        stated = {round(value, 6) for value in outcome.scores.values()}
        assert round(float(score), 6) in stated | ({0.0} if len(stated) < 2 else set())
        compared += bool(stated)
    assert compared > 15


def test_the_agents_of_the_last_scope_are_tested_and_named(stored: Path) -> None:
    last = made("--db", f"sqlite:///{stored}", "--permutations", "99")
    assert last["runs"] == ["agent bob, scope of bob"], "runs of another scope are another experiment"
    for chosen in (("--agent", "bob"), ("--scope", "of bob")):
        assert made("--db", f"sqlite:///{stored}", *chosen, "--permutations", "99") == last
    other = made("--db", f"sqlite:///{stored}", "--agent", "anna", "--permutations", "99")
    assert other["runs"] == ["agent anna, scope of anna"]
    assert other["n_dates"] == last["n_dates"]


def test_the_verdict_comes_first(stored: Path) -> None:
    done = command("--db", str(stored), "--permutations", "19")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == made("--db", str(stored), "--permutations", "19")["verdict"]
    assert "Null: " in done.stdout


def test_an_outcome_that_was_delivered_late_was_of_no_use_before(tmp_path: Path) -> None:
    with agent(tmp_path / "late.db") as one:
        made_decisions = agent_worlds.run(one, 3)
        at = agent_worlds.START + timedelta(weeks=3)
        late = one.decide("calm", at=at)
        after = one.decide("calm again", at=at + timedelta(weeks=1))
        one.settle(late.id, agent_worlds.moves(3), known_at=at + timedelta(days=2))
    (run,) = recorded_runs(tmp_path / "late.db")  # type: ignore[arg-type]
    assert len(run.dates) == len(made_decisions) + 1
    assert run.dates[-1].known_at > after.decided_at


def test_what_is_not_there_is_said_in_one_line(stored: Path, tmp_path: Path) -> None:
    assert "there is no store at" in refused("--db", str(tmp_path / "none.db"))
    said = refused("--db", str(stored), "--agent", "eve")
    assert "no decision of agent 'eve'" in said
    assert "agent anna in scope of anna" in said
    Store(tmp_path / "empty.db").close()
    assert "holds no decision" in refused("--db", str(tmp_path / "empty.db"))
    assert "--regime chooses from a PlantedMem run" in refused("--regime", "many")
    assert "--agent chooses from a store" in refused(str(tmp_path), "--agent", "bob")
    assert "holds no PlantedMem run" in refused(str(tmp_path))


def test_the_demo_can_be_tested(tmp_path: Path) -> None:
    file, out = tmp_path / "demo.db", tmp_path / "out"
    arguments = ("demo", "--db", f"sqlite:///{file}", "--out", str(out), "--months", "30", "--json")
    subprocess.run([sys.executable, "-m", "memtrial", *arguments], check=True, capture_output=True, timeout=240)
    result = made("--db", f"sqlite:///{file}", "--permutations", "199")
    assert len(result["runs"]) >= 3
    assert result["n_dates"] == 90
    assert result["n_left_out"] > 0, "the warm-up recalls nothing"
    assert 0.005 <= result["forward_score"]["p"] <= 1
    assert result["gain_pct"]["low"] <= result["gain_pct"]["mean"] <= result["gain_pct"]["high"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("planted")
    regimes = [REGIMES["no_influence"], REGIMES["beta_0.5"]]
    run_planted(plan_run(regimes=regimes, methods=["1/N"], worlds=2, seed=7, setting=Setting()), out=out)
    return out


def test_planted_memories_are_found_where_they_are(folder: Path) -> None:
    useful = made(str(folder), "--regime", "beta_0.5", "--world", "16", "--permutations", "199")
    assert useful["n_dates"] == 3 * 132
    assert useful["n_days"] == 132
    assert useful["n_experiences"] == 12
    assert useful["gain_pct"]["p"] <= 0.01
    assert useful["verdict"].startswith("Memory helps")
    none = made(str(folder), "--regime", "no_influence", "--investor", "balanced", "--permutations", "199")
    assert none["runs"] == ["no_influence, world 15, balanced"]
    assert none["gain_pct"]["p"] > 0.05


def test_planted_memories_without_skill_give_all_p_values_alike(tmp_path: Path) -> None:
    """A run needs its manifest only: what methods met is made again from it."""
    plan = plan_run(regimes=[REGIMES["noise_only"]], methods=["1/N"], worlds=60, seed=11)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest(plan)), encoding="utf-8")
    p = []
    for world in plan.numbers:
        (run,) = planted_runs(tmp_path, world=world, investor="balanced")
        result = permutation_test([run], permutations=39, seed=world)
        assert result.gain is not None
        p.append(result.gain.p)
    assert 0.4 < float(np.mean(p)) < 0.65
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_a_lane_that_is_not_there_is_said(folder: Path) -> None:
    for arguments, said in (
        ((), "choose one of no_influence, beta_0.5"),
        (("--regime", "many"), "no regime 'many'"),
        (("--regime", "beta_0.5", "--world", "9"), "no world 9"),
        (("--regime", "beta_0.5", "--investor", "bold"), "no investor 'bold'"),
        (("--regime", "beta_0.5", "--pool", "portbench"), "draws from the pool calibrated"),
    ):
        assert said in refused(str(folder), *arguments)
    with pytest.raises(InputError):
        planted_runs(folder, regime="many")
