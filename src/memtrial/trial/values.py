"""What each experience is worth: the hierarchical value model, fitted exactly (paper §3.3, Eqs. 5-7, App. C.2).

The evidence is kept as sums that are updated when an outcome arrives (see :mod:`memtrial.trial.evidence`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError
from memtrial.records import Learner
from memtrial.trial.evidence import Counted, Evidence, Fading
from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, Fit, checked_grid, fitted


@dataclass(frozen=True, slots=True)
class Value:
    """What is known about one measured experience; utilities in fractions per period.

    Attributes
    ----------
    id
        The experience.
    n
        Number of dates with a realised outcome on which it was recalled (faded, where evidence fades).
    mean
        Mean of its centred contributions.
    values
        Posterior mean of its value, by learner (Eq. 7); 0 is an average recalled experience.
    sds
        Posterior standard deviation, by learner, given the chosen variances.
    """

    id: str
    n: float
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
    forgetting
        Factor by which evidence fades with every decision; ``None``: it stays.

    Raises
    ------
    InputError
        When a grid, ``dimensions`` or ``forgetting`` is out of range.
    """

    def __init__(
        self,
        dimensions: int = 8,
        content_grid: Sequence[float] = CONTENT_GRID,
        deviation_grid: Sequence[float] = DEVIATION_GRID,
        forgetting: float | None = None,
    ) -> None:
        if dimensions < 1:
            raise InputError(f"dimensions = {dimensions}; at least 1 content feature is needed")
        if forgetting is not None and not 0 < forgetting < 1:
            raise InputError(f"forgetting = {forgetting} must lie between 0 and 1; None keeps everything")
        self._content = checked_grid(content_grid, "content_grid")
        self._deviation = checked_grid(deviation_grid, "deviation_grid")
        self._d = dimensions
        self._rows: dict[str, int] = {}
        self._features = np.zeros((16, dimensions))
        self._evidence: Evidence = (
            Counted(self._deviation, dimensions) if forgetting is None else Fading(self._deviation, forgetting)
        )
        self._fit: Fit | None = None

    @property
    def n_experiences(self) -> int:
        """Number H of measured experiences."""
        return len(self._rows)

    @property
    def evidence(self) -> Evidence:
        """The sums that were measured, for reading."""
        return self._evidence

    def observe(
        self, ids: Sequence[str], features: NDArray[np.float64], centred: NDArray[np.float64], number: int = 0
    ) -> None:
        """Learn one date: centred contributions (k,) of ``ids`` (distinct), whose content features are (k, d).

        Features count when an experience is measured for the first time; later they stay as they are until
        ``rebase``. ``number`` is that of the decision, which matters only where evidence fades. Costs O(k d^2),
        whatever the number of experiences.
        """
        rows = self._rows_of(ids, features)
        self._evidence.add(rows, self._features[rows], centred, number)
        self._fit = None

    def advance(self, number: int) -> None:
        """Decision ``number`` was settled, with or without contributions: fading evidence ages."""
        if self._evidence.advance(number):
            self._fit = None

    def _rows_of(self, ids: Sequence[str], features: NDArray[np.float64]) -> NDArray[np.intp]:
        rows = np.empty(len(ids), dtype=np.intp)
        for position, identity in enumerate(ids):
            row = self._rows.get(identity)
            if row is None:
                row = self._rows[identity] = len(self._rows)
                if row == len(self._features):
                    self._features = np.concatenate([self._features, np.zeros_like(self._features)])
                    self._evidence.make_room(len(self._features))
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
        self._evidence.rebuild(replaced[: len(self._rows)])
        self._fit = None

    def fit(self) -> Fit:
        """Both learners, fitted on everything observed so far; kept until the next outcome (Eqs. 6-7)."""
        if self._fit is None:
            measured = len(self._rows)
            log_diagonal, moments = self._evidence.moments(self._features[:measured])
            self._fit = fitted(
                noise=self._evidence.noise(measured),
                n_experiences=measured,
                content_grid=self._content,
                deviation_grid=self._deviation,
                log_diagonal=log_diagonal,
                moments=moments,
            )
        return self._fit

    def predict(self, ids: Sequence[str], features: NDArray[np.float64]) -> dict[Learner, NDArray[np.float64]]:
        """Value of each of ``ids`` by both learners, (k,), a fraction per period (paper Algorithm F.2 line 9).

        An experience that was never measured is worth what its ``features`` (k, d) say: 0 to the per-experience
        learner. One that was measured keeps the features it was measured with.
        """
        found = [self._rows.get(identity, -1) for identity in ids]
        rows = np.array(found, dtype=np.intp)
        measured = rows >= 0
        n = np.where(measured, self._evidence.counts(rows), 0.0)
        content = np.where(measured[:, None], self._features[rows], features)
        return self._posterior_means(n, self._evidence.means(rows), content)

    def _posterior_means(
        self, n: NDArray[np.float64], mean: NDArray[np.float64], content: NDArray[np.float64]
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
        fit, n, content = self.fit(), self._evidence.counts(slice(0, measured)), self._features[:measured]
        mean = self._evidence.means(slice(0, measured))
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


def checked_features(features: ArrayLike, dimensions: int, name: str) -> NDArray[np.float64]:
    """``features`` as a (d,) array, or InputError when they are not."""
    vector = np.asarray(features, dtype=np.float64)
    if vector.shape != (dimensions,) or not np.isfinite(vector).all():
        raise InputError(f"content features of {name} must be {dimensions} finite numbers, got {features}")
    return vector
