"""From what was recorded to the figures of the tables, on records made by hand; and the command."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from memtrial.bench.correlation import spearman
from memtrial.bench.planted.aggregate import method_figures
from memtrial.bench.planted.lane import agreement, run_lane
from memtrial.bench.planted.regimes import CORE, REGIMES
from memtrial.bench.planted.turns import turn_figures
from memtrial.errors import InputError
from memtrial.serve.bench import bench_app, joined
from memtrial.serve.planted import Request, folder_of, named_methods, plan_of, split


def test_a_method_is_averaged_over_test_dates_and_investors():
    utility, weight = np.full((2, 3, 132), 0.01), np.zeros((2, 3, 132))
    utility[:, :, :12] = 9.0  # the warm-up does not count
    utility[1] = 0.02
    weight[0, 0, 12:24] = 1.0
    weight[1, 2, 50:] = 0.6
    weight[:, :, 5] = 1.0
    figures = method_figures("m", "M", utility, weight)
    assert figures.utility == pytest.approx(1.5)
    assert figures.utility_sd == pytest.approx(math.sqrt(0.5))
    np.testing.assert_allclose(figures.utility_by_investor["balanced"], [1.0, 2.0])
    assert figures.trust_rate_pct == pytest.approx(100 * (12 + 82 * 0.6) / 720)
    assert figures.trust_rate_by_year[0] == pytest.approx(100 / 6)
    assert figures.trust_rate_by_year[9] == pytest.approx(10)
    assert figures.ever_trusted_pct == pytest.approx(100 / 6)
    assert figures.months_to_half is None
    weight[:, :, 30:] = 1.0
    assert method_figures("m", "M", utility, weight).months_to_full == 19


def test_a_turn_is_measured_on_the_lanes_that_trusted():
    regime = REGIMES["swap_0.5"]
    utility, anchor, weight = (np.zeros((2, 3, 132)) for _ in range(3))
    utility[:, :, 12:72] = 0.002
    utility[:, :, 72:] = -0.001
    weight[0, :, 40:76] = 1.0  # three lanes withdraw in the fourth month
    weight[1, 0, 40:] = 0.5  # one never does
    weight[1, 1, 40:72] = 1.0  # this one had withdrawn by itself
    figures = turn_figures(regime, utility, weight, anchor)
    assert (figures.lanes, figures.trusted, figures.never_withdrew) == (6, 4, 1)
    assert figures.months_to_withdrawal == pytest.approx((3 * 4 + 60) / 4)
    assert figures.loss_pp == pytest.approx(-(3 * 0.4 + 6.0) / 4)
    assert figures.gain_before == pytest.approx(0.2)
    assert figures.gain_1_24 == figures.gain_25_60 == pytest.approx(-0.1)
    assert figures.gain_1_24_se == pytest.approx(0)
    nobody = turn_figures(regime, utility, np.zeros_like(weight), anchor)
    assert nobody.trusted == 0
    assert nobody.months_to_withdrawal is None
    assert nobody.loss_pp is None


def test_spearman_is_that_of_scipy():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    for _ in range(50):
        values, quality = rng.integers(-3, 4, 12).astype(float), rng.permutation([1] * 3 + [0] * 6 + [-1] * 3)
        assert spearman(values, quality) == pytest.approx(spearmanr(values, quality).statistic, abs=1e-12)
    assert math.isnan(spearman(np.zeros(12), quality))
    assert agreement(np.zeros(12), quality.astype(float)) == 0.0
    assert math.isnan(agreement(values, np.zeros(12)))


def test_a_method_that_holds_no_allocation_is_named(monkeypatch):
    from planted_worlds import episode

    from memtrial.bench.methods import EqualWeight
    from memtrial.bench.methods.contract import Action
    from memtrial.errors import WeightsError

    monkeypatch.setattr(EqualWeight, "act", lambda self, occasion: Action(weights=np.array([2.0, -1.0, 0.0, 0.0])))
    with pytest.raises(WeightsError, match="1/N holds .* in month 0 of world 0, regime beta_0.1".replace(".1", "[.]1")):
        run_lane(episode("beta_0.1"), ("memory_free", "1/N"))


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["--regimes", "a", "b", "--json"], ["--regimes", "a,b", "--json"]),
        (["--regimes", "a,b", "--regimes", "c", "d"], ["--regimes", "a,b", "--regimes", "c,d"]),
        (["--methods", "x", "--worlds", "3"], ["--methods", "x", "--worlds", "3"]),
        (["--worlds", "3", "stray"], ["--worlds", "3", "stray"]),
    ],
)
def test_names_of_a_list_are_joined(given, made):
    assert joined(given) == made


def test_names_are_taken_apart():
    assert split(("a, b", "c a", "")) == ("a", "b", "c")
    methods = named_methods((), ablations=False)
    assert len(methods) == 16
    assert named_methods(("all",), ablations=True)[:16] == methods
    assert "guarded_no_veto" in named_methods((), ablations=True)
    further = plan_of(Request(ablations=True)).parts[0].paper_methods
    assert {"memtrial_f_test", "memtrial_alpha_0.2", "anchored_memrl"} <= set(further)
    assert named_methods(("memtrial", "guarded_no_veto"), ablations=False) == ("memtrial", "guarded_no_veto")


def test_the_default_plan_is_the_papers_table_and_what_goes_beyond(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = plan_of(Request())
    (part,) = made.parts
    assert (made.worlds, made.first_world, made.seed) == (100, 15, 0)
    assert [regime.key for regime in part.regimes] == list(REGIMES)
    assert not part.setting.mandate
    assert folder_of(Request(), made) == folder_of(Request(), plan_of(Request(worlds=7)))
    assert folder_of(Request(), made) != folder_of(Request(), plan_of(Request(seed=7)))
    with pytest.raises(InputError, match="both name the folder"):
        plan_of(Request(resume=tmp_path, out=tmp_path))


ASKED = ["planted", "--worlds", "1", "--executor", "serial", "--methods", "memtrial,memrl self_consistency"]


def test_the_command_prints_one_json_document(tmp_path):
    out = str(tmp_path / "run")
    asked = [*ASKED, "--regimes", "core", "swap_0.5", "informative", "--out", out, "--json"]
    done = CliRunner().invoke(bench_app, asked, catch_exceptions=False)
    assert done.exit_code == 0
    made = json.loads(done.stdout)
    assert made["worlds"] == 1
    assert made["seconds"] > 0
    assert made["decisions_per_second"] == pytest.approx((7 * 3 + 1) * 3 * 132 / made["seconds"])
    assert list(made["regimes"]) == [*CORE, "informative", "swap_0.5"]
    for key, regime in made["regimes"].items():
        further = ["memtrial_never_trusts"] if key == "swap_0.5" else []
        assert list(regime["methods"]) == ["memtrial", "memrl", "self_consistency", *further]
        for figures in regime["methods"].values():
            assert {"utility", "utility_sd", "trust_rate_pct", "ever_trusted_pct"} <= set(figures)
            assert figures["utility_sd"] is None
            assert 0 <= figures["trust_rate_pct"] <= 100
    mean = np.mean([made["regimes"][key]["methods"]["memtrial"]["utility"] for key in CORE])
    assert made["core"]["memtrial"] == pytest.approx(mean)
    assert set(made["rank_correlation"]["beta_0.25"]) == {"year_1", "year_10"}
    assert set(made["rank_correlation"]["beta_0.25"]["year_10"]) == {"memtrial", "memrl"}
    assert "noise_only" not in made["rank_correlation"]
    assert set(made["turns"]) == {"swap_0.5"}
    assert made["turns"]["swap_0.5"]["memtrial"]["lanes"] == 3
    again = CliRunner().invoke(bench_app, ["planted", "--resume", out, "--json"], catch_exceptions=False)
    assert json.loads(again.stdout) == made
    more = CliRunner().invoke(bench_app, ["planted", "--resume", out, "--seed", "3"])
    assert isinstance(more.exception, InputError)
    assert "holds another run" in str(more.exception)


def test_the_command_prints_a_table_and_keeps_stderr_quiet(tmp_path):
    asked = [*ASKED, "--regimes", "no_influence", "--designs", "--weak-reference", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-c", "from memtrial.serve.bench import bench_app; bench_app()", *asked],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("PlantedMem, 1 worlds") == 8
    assert "reference 1/N" in done.stdout
    assert "Self-consistency" in done.stdout


def test_help_is_light():
    code = (
        "import sys\n"
        "from memtrial.serve.bench import bench_app\n"
        "heavy = {'numpy', 'scipy', 'polars', 'joblib', 'ray'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
