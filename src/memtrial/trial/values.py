"""What each experience is worth: the hierarchical value model, fitted exactly (paper §3.3, Eqs. 5-7, App. C.2).

Experiences measured on the same number of dates share the diagonal of K, so the likelihood and the coefficients depend
on the data only through sums over such groups. The sums are updated when an outcome arrives, and a fit costs the same
for a dozen experiences and for a hundred thousand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError
from memtrial.records import Learner
from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, Fit, checked_grid, fitted
from memtrial.trial.groups import Groups

ROUNDING = 1e-12
"""A sum of squares below this fraction of the total is rounding."""


@dataclass(frozen=True, slots=True)
class Value:
    """What is known about one measured experience; utilities in fractions per period.

    Attributes
    ----------
    id
        The experience.
    n
        Number of dates with a realised outcome on which it was recalled.
    mean
        Mean of its centred contributions.
    values
        Posterior mean of its value, by learner (Eq. 7); 0 is an average recalled experience.
    sds
        Posterior standard deviation, by learner, given the chosen variances.
    """

    id: str
    n: int
    mean: float
    values: Mapping[Learner, float]
    sds: Mapping[Learner, float]


class ValueModel:
    """Values of experiences, pooled over experiences and over similar content (paper Eqs. 5-7).

    Parameters
    ----------
    dimensions
        Number d of content features.
    content_grid, deviation_grid
        Ratios of the two variances to the noise variance; strictly increasing, starting at 0.

    Raises
    ------
    InputError
        When a grid or ``dimensions`` is out of range.
    """

    def __init__(
        self,
        dimensions: int = 8,
        content_grid: Sequence[float] = CONTENT_GRID,
        deviation_grid: Sequence[float] = DEVIATION_GRID,
    ) -> None:
        if dimensions < 1:
            raise InputError(f"dimensions = {dimensions}; at least 1 content feature is needed")
        self._content = checked_grid(content_grid, "content_grid")
        self._deviation = checked_grid(deviation_grid, "deviation_grid")
        self._d = dimensions
        self._rows: dict[str, int] = {}
        self._n = np.zeros(16, dtype=np.int64)
        self._sums = np.zeros(16)
        self._features = np.zeros((16, dimensions))
        self._groups = Groups(self._deviation, dimensions + 1)
        self._within = 0.0
        self._squares = 0.0
        self._observations = 0
        self._fit: Fit | None = None

    @property
    def n_experiences(self) -> int:
        """Number H of measured experiences."""
        return len(self._rows)

    def observe(self, ids: Sequence[str], features: NDArray[np.float64], centred: NDArray[np.float64]) -> None:
        """Learn one date: centred contributions (k,) of ``ids`` (distinct), whose content features are (k, d).

        Features count when an experience is measured for the first time; later they stay as they are until
        ``rebase``. Costs O(k d^2), whatever the number of experiences.
        """
        rows = self._rows_of(ids, features)
        before, sums = self._n[rows], self._sums[rows]
        mean_before = sums / np.maximum(before, 1)
        after, sums = before + 1, sums + centred
        mean_after = sums / after
        # At a first measurement the second factor is 0, so it adds nothing to the spread within experiences.
        self._within += float((centred - mean_before) @ (centred - mean_after))
        self._squares += float(centred @ centred)
        self._observations += len(ids)
        self._n[rows], self._sums[rows] = after, sums
        content = self._features[rows]
        self._groups.move(before, after, _joined(content, mean_before), _joined(content, mean_after))
        self._fit = None

    def _rows_of(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.intp]:
        rows = np.empty(len(ids), dtype=np.intp)
        for position, identity in enumerate(ids):
            row = self._rows.get(identity)
            if row is None:
                row = self._rows[identity] = len(self._rows)
                if row == self._n.size:
                    self._n = np.concatenate([self._n, np.zeros_like(self._n)])
                    self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
                    self._features = np.concatenate([self._features, np.zeros_like(self._features)])
                self._features[row] = features[position]
            rows[position] = row
        return rows

    def rebase(self, features: Mapping[str, ArrayLike]) -> None:
        """Replace all content features after the basis was refitted; costs one pass over the experiences.

        Parameters
        ----------
        features
            New features (d,) by experience; one that is not given has unknown content, features 0.

        Raises
        ------
        InputError
            When a vector is not (d,) and finite; nothing is changed.
        """
        replaced = np.zeros_like(self._features)
        for identity, row in self._rows.items():
            if identity in features:
                replaced[row] = checked_features(features[identity], self._d, identity)
        self._features = replaced
        measured = len(self._rows)
        n = self._n[:measured]
        self._groups.rebuild(n, _joined(replaced[:measured], self._sums[:measured] / n))
        self._fit = None

    def fit(self) -> Fit:
        """Both learners, fitted on everything observed so far; kept until the next outcome (Eqs. 6-7)."""
        if self._fit is None:
            log_diagonal, moments = self._groups.weighted()
            self._fit = fitted(
                noise=self._noise(),
                n_experiences=len(self._rows),
                content_grid=self._content,
                deviation_grid=self._deviation,
                log_diagonal=log_diagonal,
                moments=moments,
            )
        return self._fit

    def _noise(self) -> float:
        """Pooled variance within experiences; without repeats everything counts as noise."""
        if not self._observations:
            return 0.0
        repeats = self._observations - len(self._rows)
        if repeats and self._within > ROUNDING * self._squares:
            return self._within / repeats
        return self._squares / self._observations

    def predict(self, ids: Sequence[str], features: NDArray[np.float64]) -> dict[Learner, NDArray[np.float64]]:
        """Value of each of ``ids`` by both learners, (k,), a fraction per period (paper Algorithm F.2 line 9).

        An experience that was never measured is worth what its ``features`` (k, d) say: 0 to the per-experience
        learner. One that was measured keeps the features it was measured with.
        """
        found = [self._rows.get(identity, -1) for identity in ids]
        rows = np.array(found, dtype=np.intp)
        measured = rows >= 0
        n = np.where(measured, self._n[rows], 0)
        mean = self._sums[rows] / np.maximum(n, 1)
        content = np.where(measured[:, None], self._features[rows], features)
        return self._posterior_means(n, mean, content)

    def _posterior_means(
        self, n: NDArray[np.int64], mean: NDArray[np.float64], content: NDArray[np.float64]
    ) -> dict[Learner, NDArray[np.float64]]:
        fit = self.fit()
        own, both = fit.chosen["per_experience"], fit.chosen["content_aware"]
        # b / (b + 1/n), written so that n = 0 gives 0: nothing measured, nothing of its own.
        trust_own = own.deviation * n / (own.deviation * n + 1.0)
        trust_both = both.deviation * n / (both.deviation * n + 1.0)
        expected = content @ fit.coefficients
        return {"per_experience": trust_own * mean, "content_aware": expected + trust_both * (mean - expected)}

    def values(self) -> tuple[Value, ...]:
        """Everything known about every measured experience, in the order of first measurement; O(H)."""
        measured = len(self._rows)
        fit, n, content = self.fit(), self._n[:measured], self._features[:measured]
        mean = self._sums[:measured] / n
        means = self._posterior_means(n, mean, content)
        own, both = fit.chosen["per_experience"], fit.chosen["content_aware"]
        sd_own = np.sqrt(fit.noise * own.deviation / (own.deviation * n + 1.0))
        remaining = 1.0 / (both.deviation * n + 1.0)
        from_content = np.einsum("hi,ij,hj->h", content, fit.covariance, content, optimize=True)
        sd_both = np.sqrt(fit.noise * both.deviation * remaining + remaining**2 * np.maximum(from_content, 0.0))
        columns = zip(
            self._rows, n.tolist(), mean.tolist(), means["per_experience"].tolist(), means["content_aware"].tolist(),
            sd_own.tolist(), sd_both.tolist(), strict=True,
        )  # fmt: skip
        return tuple(
            Value(
                identity, count, average, {"per_experience": v_own, "content_aware": v_both},
                {"per_experience": s_own, "content_aware": s_both},
            )
            for identity, count, average, v_own, v_both, s_own, s_both in columns
        )  # fmt: skip


def _joined(content: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Features and mean side by side, (k, d + 1): one outer product carries every sum the fit needs."""
    joined = np.empty((mean.size, content.shape[1] + 1))
    joined[:, :-1] = content
    joined[:, -1] = mean
    return joined


def checked_features(features: ArrayLike, dimensions: int, name: str) -> NDArray[np.float64]:
    """``features`` as a (d,) array, or InputError when they are not."""
    vector = np.asarray(features, dtype=np.float64)
    if vector.shape != (dimensions,) or not np.isfinite(vector).all():
        raise InputError(f"content features of {name} must be {dimensions} finite numbers, got {features}")
    return vector
