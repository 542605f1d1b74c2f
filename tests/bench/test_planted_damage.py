"""Runs that were moved, damaged or named oddly: one clear line, and never another run's numbers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from memtrial.bench.planted import load, plan_run, run_planted
from memtrial.bench.planted.plan import MANIFEST, SHARDS
from memtrial.bench.planted.pools import read_pool
from memtrial.bench.planted.regimes import REGIMES
from memtrial.errors import InputError
from memtrial.serve.cli import app


def plan(seed=0):
    return plan_run(regimes=[REGIMES["beta_0.5"]], methods=["memory_free"], worlds=2, seed=seed)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("damage") / "run"
    run_planted(plan(), out=out)
    return out


def shard(folder: Path) -> Path:
    return folder / SHARDS / next(iter(plan().tasks())).file


@pytest.mark.parametrize("name", ["run[1]", "run*", "run?", "a run {b}"])
def test_a_folder_whose_name_is_a_pattern_holds_its_own_numbers(whole, tmp_path, name):
    run_planted(plan(seed=7), out=tmp_path / "run1")
    run_planted(plan(), out=tmp_path / name)
    mine, true = (load(folder).regimes["beta_0.5"].methods["memory_free"] for folder in (tmp_path / name, whole))
    np.testing.assert_array_equal(mine.utility_by_world, true.utility_by_world)
    shutil.move(tmp_path / name, tmp_path / "moved[2]")
    assert load(tmp_path / "moved[2]").worlds == (15, 16)


def test_a_pool_whose_name_is_a_pattern_is_read_itself(tmp_path):
    rows = "equities,bonds,cash,commodities\n{},0,0,{}\n"
    (tmp_path / "q1.csv").write_text(rows.format(1, 0))
    (tmp_path / "q[1].csv").write_text(rows.format(0, 1))
    drawn = read_pool(tmp_path / "q[1].csv").draw(np.random.default_rng(0), load_days(), 1)
    assert (drawn[..., 3] == 1).all()


def load_days():
    from memtrial.bench.planted import load_market

    return load_market().days[:3]


@pytest.mark.parametrize(
    "kept",
    [
        {"format": 1}, {"format": 1, "parts": []},
        {"format": 1, "parts": [{"setting": {}, "regimes": [], "methods": []}]},
        {"format": 1, "parts": 3}, {"worlds": -3}, {"seed": "x"}, {"first_world": None}, {"pool": 7},
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [["planted", "--resume"], ["permute"]])
def test_a_damaged_manifest_is_one_line(whole, tmp_path, kept, command):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    good = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(kept if "format" in kept else good | kept))
    done = CliRunner().invoke(app, ["bench", *command, str(folder)])
    assert isinstance(done.exception, InputError)
    assert "\n" not in str(done.exception)


@pytest.mark.parametrize(
    "change",
    [
        polars.col("utility").cast(polars.String),
        polars.col("rank_correlation").cast(polars.String),
        polars.lit(3).cast(polars.Int16).alias("month"),
        polars.lit(7.0).alias("memory_weight"),
        polars.lit(None).cast(polars.Float64).alias("utility"),
    ],
)
def test_a_shard_with_impossible_contents_is_computed_again(whole, tmp_path, change):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    path, before = shard(folder), shard(folder).read_bytes()
    polars.read_parquet(path, glob=False).with_columns(change).write_parquet(path)
    with pytest.raises(InputError, match="resume the run"):
        load(folder)
    run_planted(plan(), out=folder)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "wrong",
    [
        ["planted", "--first-world", "99999999999999999999"],
        ["planted", "--first-world", "2147483640", "--worlds", "100"],
        ["guarantee", "--nulls", ","],
        ["guarantee", "--nulls", "normal"],
    ],
)
def test_what_cannot_be_run_leaves_nothing_behind(tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["bench", *wrong])
    assert isinstance(done.exception, InputError)
    assert not list(tmp_path.rglob("*.json"))


def test_a_closed_stdout_is_no_reason_to_fail(tmp_path):
    command = f"{sys.executable} -m memtrial bench guarantee --lanes 1 --nulls gaussian --executor serial >&-"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
