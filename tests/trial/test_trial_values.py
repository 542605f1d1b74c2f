"""The grouped value model against a dense Gaussian process written from Eqs. 5-7."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from memtrial.errors import InputError
from memtrial.trial import CONTENT_GRID, DEVIATION_GRID, VALUE_KINDS, ContentBasis, ValueModel

SEEDS = st.integers(0, 2**32 - 1)
few = limits(max_examples=15, deadline=None)


def observed(seed: int, pool: int, n_dates: int, d: int = 4) -> tuple[ValueModel, np.ndarray, dict[str, list[float]]]:
    rng = np.random.default_rng(seed)
    content = rng.standard_normal((pool, d))
    worth = rng.choice([0, 0.002]) * content[:, 0] + rng.choice([0, 0.002]) * rng.standard_normal(pool)
    model, log = ValueModel(d), {}
    for _ in range(n_dates):
        ranks = rng.choice(pool, min(4, pool), replace=False)
        centred = worth[ranks] + rng.normal(0, 0.005, ranks.size)
        centred -= centred.mean()
        model.observe([f"e{r}" for r in ranks], content[ranks], centred)
        for rank, y in zip(ranks, centred, strict=True):
            log.setdefault(f"e{rank}", []).append(float(y))
    return model, content, log


def dense_log_likelihood(noise: float, a: float, b: float, n: np.ndarray, m: np.ndarray, z: np.ndarray) -> float:
    factor = np.linalg.cholesky(noise * (a * z @ z.T + np.diag(b + 1 / n)))
    white = np.linalg.solve(factor, m)
    return float(-0.5 * (white @ white + m.size * np.log(2 * np.pi)) - np.log(np.diag(factor)).sum())


@few
@given(SEEDS, st.integers(4, 40), st.integers(2, 60))
def test_grouped_fit_equals_dense_cholesky(seed: int, pool: int, n_dates: int) -> None:
    model, content, log = observed(seed, pool, n_dates)
    fit, rows = model.fit(), model.values()
    n, m = np.array([row.n for row in rows]), np.array([row.mean for row in rows])
    z = content[[int(row.id[1:]) for row in rows]]
    assert [row.n for row in rows] == [len(log[row.id]) for row in rows]
    np.testing.assert_allclose(m, [np.mean(log[row.id]) for row in rows], atol=1e-16)
    repeats = n.sum() - n.size
    if repeats:
        spread = sum(((np.array(log[row.id]) - np.mean(log[row.id])) ** 2).sum() for row in rows)
        assert fit.noise == pytest.approx(spread / repeats, rel=1e-10)

    table = [[dense_log_likelihood(fit.noise, a, b, n, m, z) for b in DEVIATION_GRID] for a in CONTENT_GRID]
    np.testing.assert_allclose(fit.log_likelihood, table, rtol=1e-11, atol=1e-9)
    for learner, best in (("per_experience", np.max(table[0])), ("content_aware", np.max(table))):
        chosen = fit.chosen[learner]
        place = table[CONTENT_GRID.index(chosen.content)][DEVIATION_GRID.index(chosen.deviation)]
        assert place == pytest.approx(best, abs=1e-8)
        prior = fit.noise * (chosen.content * z @ z.T + chosen.deviation * np.eye(n.size))
        inverse = np.linalg.inv(prior + fit.noise * np.diag(1 / n))
        np.testing.assert_allclose([row.values[learner] for row in rows], prior @ inverse @ m, atol=1e-13)
        variance = np.diag(prior - prior @ inverse @ prior)
        sds = np.array([row.sds[learner] for row in rows])
        np.testing.assert_allclose(sds**2, variance, atol=1e-10 * fit.noise)
    a = fit.chosen["content_aware"]
    prior = fit.noise * (a.content * z @ z.T + a.deviation * np.eye(n.size))
    beta = fit.noise * a.content * z.T @ np.linalg.solve(prior + fit.noise * np.diag(1 / n), m)
    np.testing.assert_allclose(fit.coefficients, beta, atol=1e-13)


@few
@given(SEEDS)
def test_predicted_values_are_the_reported_ones(seed: int) -> None:
    model, content, _ = observed(seed, 12, 20)
    rows = model.values()
    predicted = model.predict([row.id for row in rows], np.full((len(rows), content.shape[1]), 9.0))
    for learner in VALUE_KINDS:
        np.testing.assert_allclose(predicted[learner], [row.values[learner] for row in rows], atol=1e-16)


@few
@given(SEEDS)
def test_a_new_experience_is_worth_what_its_content_says(seed: int) -> None:
    model, content, _ = observed(seed, 12, 20)
    before = [(row.n, row.values) for row in model.values()]
    predicted = model.predict(["new", "newer"], content[:2])
    np.testing.assert_array_equal(predicted["per_experience"], 0)
    np.testing.assert_allclose(predicted["content_aware"], content[:2] @ model.fit().coefficients, atol=1e-18)
    # Asking about it, a hundred times, teaches nothing.
    for number in range(100):
        model.predict([f"unmeasured{number}"], content[:1])
    assert [(row.n, row.values) for row in model.values()] == before


@few
@given(SEEDS)
def test_a_refitted_basis_equals_having_had_it_from_the_start(seed: int) -> None:
    model, content, log = observed(seed, 10, 25)
    turned = content @ np.random.default_rng(seed).standard_normal((4, 4))
    model.rebase({f"e{i}": turned[i] for i in range(10)})
    fresh = ValueModel(4)
    for identity, centred in log.items():
        for y in centred:
            fresh.observe([identity], turned[[int(identity[1:])]], np.array([y]))
    np.testing.assert_allclose(model.fit().log_likelihood, fresh.fit().log_likelihood, rtol=1e-10)
    values = {row.id: row.values for row in fresh.values()}
    for row in model.values():
        for learner in VALUE_KINDS:
            assert row.values[learner] == pytest.approx(values[row.id][learner], abs=1e-13)


def test_a_refused_basis_changes_nothing() -> None:
    model, content, _ = observed(1, 10, 25)
    before = model.fit().log_likelihood.copy()
    with pytest.raises(InputError, match="e3"):
        model.rebase({f"e{i}": content[i] if i != 3 else np.full(4, np.nan) for i in range(10)})
    np.testing.assert_array_equal(model.fit().log_likelihood, before)


def test_thousands_of_moves_between_groups_leave_no_residue() -> None:
    model, content, log = observed(3, 30, 3000)
    fresh = ValueModel(4)
    for identity, centred in log.items():
        for y in centred:
            fresh.observe([identity], content[[int(identity[1:])]], np.array([y]))
    np.testing.assert_allclose(model.fit().log_likelihood, fresh.fit().log_likelihood, rtol=1e-10)


def test_zeros_are_evidence_and_all_zeros_say_nothing() -> None:
    model = ValueModel(2)
    model.observe(["a", "b"], np.ones((2, 2)), np.zeros(2))
    predicted = model.predict(["a", "b", "c"], np.ones((3, 2)))
    assert model.fit().noise == 0
    assert all((values == 0).all() for values in predicted.values())
    model.observe(["a", "b"], np.ones((2, 2)), np.array([0.01, -0.01]))
    assert [row.mean for row in model.values()] == [0.005, -0.005]
    assert model.fit().noise == pytest.approx(0.0001 / 2)


def test_nothing_measured_predicts_zero() -> None:
    predicted = ValueModel(2).predict(["a"], np.ones((1, 2)))
    assert all((values == 0).all() for values in predicted.values())
    assert ValueModel(2).values() == ()


@pytest.mark.parametrize("grid", [(), (0.1, 0.2), (0.0, 0.2, 0.1), (0.0, np.nan), (0.0, np.inf), (0.0, 0.0)])
def test_grids_that_cannot_be_searched_are_refused(grid: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="content_grid"):
        ValueModel(2, content_grid=grid)
    with pytest.raises(InputError, match="deviation_grid"):
        ValueModel(2, deviation_grid=grid)


@few
@given(SEEDS, st.integers(2, 30), st.integers(2, 12))
def test_content_features_are_standardised_components(seed: int, n: int, dim: int) -> None:
    embeddings = np.random.default_rng(seed).standard_normal((n, dim)) + 3
    basis = ContentBasis.fit(embeddings, d=8)
    features = basis.features(embeddings)
    found = min(8, n - 1, dim)
    assert features.shape == (n, 8)
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(features[:, :found].std(axis=0), 1, rtol=1e-6)
    np.testing.assert_array_equal(features[:, found:], 0)
    np.testing.assert_allclose(features[:, :found].T @ features[:, :found] / n, np.eye(found), atol=1e-6)
    again = ContentBasis.fit(embeddings.copy(), d=8)
    np.testing.assert_array_equal(again.projection, basis.projection)
    assert (np.take_along_axis(basis.projection, np.abs(basis.projection).argmax(axis=0)[None], 0) >= 0).all()


def test_content_that_is_unknown_or_the_same_has_no_features() -> None:
    embeddings = np.random.default_rng(0).standard_normal((6, 5))
    holed = np.vstack([embeddings, np.full((1, 5), np.nan)])
    basis = ContentBasis.fit(holed, d=3)
    np.testing.assert_array_equal(basis.projection, ContentBasis.fit(embeddings, d=3).projection)
    np.testing.assert_array_equal(basis.features(holed)[-1], 0)
    same = ContentBasis.fit(np.tile(embeddings[0].astype(np.float32), (7, 1)))
    np.testing.assert_array_equal(same.features(embeddings), 0)
    assert ContentBasis.fit(np.zeros((0, 5))).features(embeddings).shape == (6, 8)
    with pytest.raises(InputError):
        basis.features(np.zeros((2, 4)))
    with pytest.raises(InputError):
        ContentBasis.fit(np.zeros(5))
