"""Runs: shards, resumption, executors, manifest."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
from planted_runner import METHODS, plan

from memtrial.bench.executors import Joblib, Ray, Serial, make_executor
from memtrial.bench.planted import load, plan_run, run_planted
from memtrial.bench.planted.lane import YEAR_ENDS
from memtrial.bench.planted.plan import MANIFEST, SHARDS, Part, Plan
from memtrial.bench.planted.regimes import PAPER, REGIMES, Regime
from memtrial.bench.planted.setting import Setting
from memtrial.bench.planted.shards import COLUMNS, read_shard
from memtrial.errors import InputError

RUNNER = Path(__file__).with_name("planted_runner.py")


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    run_planted(plan(), out=folder)
    return folder


def shards(folder):
    root = folder / SHARDS
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


def test_a_shard_holds_every_decision(serial):
    task = next(iter(plan().tasks()))
    frame = polars.read_parquet(serial / SHARDS / task.file)
    assert tuple(frame.columns) == COLUMNS
    assert frame.height == 3 * (len(METHODS) + 1) * 132
    assert frame.n_unique(["investor", "method", "month"]) == frame.height
    assert frame["method"].unique(maintain_order=True).to_list() == [*METHODS, "reference"]
    assert frame["memory_weight"].is_between(0, 1).all()
    ranked = frame.filter(polars.col("rank_correlation").is_not_null())
    assert set(ranked["investor"]) == {"balanced"}
    assert set(ranked["month"]) == set(YEAR_ENDS) == set(range(23, 132, 12))
    assert {"memtrial", "memrl"} <= set(ranked["method"])
    record = read_shard(serial / SHARDS / task.file, task)
    one = frame.filter(investor="balanced", method="memrl", month=71)
    assert record.utility[1, 2, 71] == one["utility"].item()


@pytest.mark.parametrize("executor", [Joblib(1), Joblib(2)], ids=["joblib-1", "joblib-2"])
def test_executors_and_workers_agree_to_the_last_digit(serial, tmp_path, executor):
    run_planted(plan(), out=tmp_path, executor=executor)
    assert shards(tmp_path) == shards(serial)


def test_ray_agrees_to_the_last_digit(serial, tmp_path):
    pytest.importorskip("ray", reason="needs the extra: pip install 'memtrial[ray]'")
    # In a process of its own: Ray leaves threads and open sockets behind.
    environ = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, RUNNER, tmp_path, "ray", "2"], capture_output=True, text=True, env=environ, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(n) for n in range(7)]
    assert shards(tmp_path) == shards(serial)


@pytest.mark.parametrize("name", ["serial", "joblib"])
def test_a_killed_run_goes_on(serial, tmp_path, name):
    with subprocess.Popen(
        [sys.executable, RUNNER, tmp_path, name, "1"], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        for line in process.stdout:
            if int(line) == 2:
                os.killpg(process.pid, signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    assert 2 <= len(shards(tmp_path)) < 6
    with pytest.raises(InputError, match="missing; resume"):
        load(tmp_path)
    seen = []
    result = run_planted(plan(), out=tmp_path, on_progress=seen.append)
    assert seen[0].resumed == seen[0].done >= 2
    assert [progress.done for progress in seen] == list(range(seen[0].resumed, 7))
    assert shards(tmp_path) == shards(serial)
    assert result.regimes["beta_0.5"].methods["memtrial"].utility == pytest.approx(
        load(serial).regimes["beta_0.5"].methods["memtrial"].utility, abs=0
    )


def damage(path, how):
    content = path.read_bytes()
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "other":
        shutil.copy(path.with_name("00016.parquet"), path)
    elif how == "gone":
        path.unlink()
    else:
        frame = polars.read_parquet(path).with_columns(utility=polars.lit(float("nan")))
        frame.write_parquet(path)


@pytest.mark.parametrize("how", ["cut", "empty", "other", "gone", "nan"])
def test_a_damaged_shard_is_computed_again(serial, tmp_path, how):
    folder = tmp_path / "run"
    shutil.copytree(serial, folder)
    path = folder / SHARDS / next(iter(plan().tasks())).file
    damage(path, how)
    with pytest.raises(InputError, match="resume"):
        load(folder)
    seen = []
    run_planted(plan(), out=folder, on_progress=seen.append)
    assert [progress.done for progress in seen] == [5, 6]
    assert shards(folder) == shards(serial)


def test_a_run_can_be_given_more_worlds(serial, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(serial, folder)
    seen = []
    result = run_planted(plan(worlds=4), out=folder, on_progress=seen.append)
    assert (seen[0].resumed, seen[-1].done) == (6, 8)
    assert result.worlds == (15, 16, 17, 18)
    first = load(serial).regimes["beta_0.5"].methods["memtrial"].utility_by_world
    np.testing.assert_array_equal(result.regimes["beta_0.5"].methods["memtrial"].utility_by_world[:3], first)


def other_plans():
    regimes, methods = (REGIMES["no_influence"], REGIMES["beta_0.5"]), METHODS
    yield "seed is 0, now it would be 7", plan(seed=7)
    yield "memtrial_veto", plan_run(regimes=regimes, methods=(*METHODS, "memtrial_veto"), worlds=3)
    yield (
        "regimes no_influence, beta_0.5, now .* regimes no_influence",
        plan_run(regimes=regimes[:1], methods=methods, worlds=3),
    )
    yield '"k": 3', plan_run(regimes=regimes, methods=methods, worlds=3, setting=Setting(k=3))
    yield (
        "parts is tables: 1, now it would be tables: 2",
        plan_run(regimes=regimes, methods=methods, worlds=3, weak_reference=True),
    )


@pytest.mark.parametrize(("difference", "other"), list(other_plans()))
def test_another_plan_is_refused_by_its_difference(serial, difference, other):
    before = (serial / MANIFEST).read_bytes()
    with pytest.raises(InputError, match="holds another run: its ") as caught:
        run_planted(other, out=serial)
    assert re.search(difference, str(caught.value)), caught.value
    assert (serial / MANIFEST).read_bytes() == before


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no PlantedMem run"):
        load(tmp_path)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / MANIFEST).write_text('{"format": 99}')
    with pytest.raises(InputError, match="not of format 1"):
        load(tmp_path)


def test_the_manifest_holds_what_determines_the_numbers(serial):
    kept = json.loads((serial / MANIFEST).read_text())
    determining = "format memtrial numpy seed worlds first_world pool market trading_cost investors parts"
    assert set(determining.split()) <= set(kept)
    assert kept["parts"][0]["methods"] == list(METHODS)
    assert [regime["influence"] for regime in kept["parts"][0]["regimes"]] == [0.0, 0.5]
    assert str(serial) not in json.dumps(kept)


def test_a_regime_of_ones_own(tmp_path):
    mine = Regime(key="mostly_harm", label="Mostly harm", influence=0.3, useful=1, neutral=2, misleading=5)
    result = run_planted(plan_run(regimes=(mine,), methods=("memtrial",), worlds=1), out=tmp_path)
    assert result.regimes["mostly_harm"].regime == mine
    assert load(tmp_path).regimes["mostly_harm"].regime == mine
    assert np.isnan(result.regimes["mostly_harm"].methods["memtrial"].utility_sd)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"worlds": 0}, "at least one world"),
        ({"methods": ("memtral",)}, "did you mean"),
        ({"methods": ("memtrial", "memtrial")}, "named twice"),
        ({"methods": ("reference",)}, "recorded in every run"),
        ({"methods": ()}, "nothing to compute"),
    ],
)
def test_an_impossible_plan_is_refused(wrong, problem):
    with pytest.raises(InputError, match=problem):
        plan_run(**wrong)


def test_parts_must_differ_and_draw_from_the_pool():
    part = Part(setting=Setting(), regimes=(REGIMES["beta_0.1"],), methods=("memtrial",))
    with pytest.raises(InputError, match="same setting"):
        Plan(parts=(part, part))
    other = Part(setting=Setting(pool="mine"), regimes=part.regimes, methods=part.methods)
    with pytest.raises(InputError, match="draws from mine"):
        Plan(parts=(other,))


def test_designs_and_the_weak_reference_are_tables_of_their_own():
    made = plan_run(designs=True, weak_reference=True, worlds=1)
    keys = [(p.setting.k, p.setting.drafted.kind, p.setting.drafted.n_drafts, p.setting.reference) for p in made.parts]
    assert keys == [
        (4, "half", 8, "memory_free"),
        (2, "full", 4, "memory_free"),
        (3, "half", 4, "memory_free"),
        (3, "full", 8, "memory_free"),
        (4, "full", 16, "memory_free"),
        (5, "half", 16, "memory_free"),
        (6, "half", 32, "memory_free"),
        (4, "half", 8, "1/N"),
    ]
    assert len({task.file for task in made.tasks()}) == len(list(made.tasks())) == 14 + 7 * 7
    assert {regime.key for part in made.parts[1:] for regime in part.regimes} == set(PAPER)


def test_the_papers_tables_have_its_regimes_and_turns_have_the_anchor():
    made = plan_run(methods=("memtrial",), paper_methods=("memtrial_f_test", "memtrial"), worlds=1)
    by_regime = {task.regime.key: task.methods for task in made.tasks()}
    assert by_regime["beta_0.25"] == ("memtrial", "memtrial_f_test")
    assert by_regime["harm_0.5"] == ("memtrial",)
    assert by_regime["swap_0.5"] == ("memtrial", "memtrial_never_trusts")


def test_executors_by_name():
    assert make_executor("serial") == Serial()
    assert make_executor("joblib", workers=3) == Joblib(3)
    with pytest.raises(InputError, match="unknown; use serial, joblib or ray"):
        make_executor("dask")
    with pytest.raises(InputError, match="at least one worker"):
        make_executor("joblib", workers=0)
    with pytest.raises(InputError, match="--ray-address needs --executor ray"):
        make_executor("joblib", address="10.0.0.1:6379")


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'memtrial\[ray\]'"):
        make_executor("ray")
    with pytest.raises(InputError, match=r"memtrial\[ray\]"):
        list(Ray(1).run(abs, [1]))


def test_a_cluster_that_does_not_answer_is_named_at_once():
    pytest.importorskip("ray", reason="needs the extra: pip install 'memtrial[ray]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InputError, match=f"the Ray cluster {address} cannot be used .*refused"):
            list(Ray(1, address).run(abs, [1]))


def test_an_error_in_a_worker_reaches_the_caller():
    for executor in (Serial(), Joblib(2)):
        with pytest.raises(ZeroDivisionError):
            list(executor.run(inverse, [1.0, 0.0]))


def inverse(x):
    return 1.0 / x
