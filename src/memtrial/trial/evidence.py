"""What was measured about each experience, as sums that a fit can read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtrial.trial.groups import Groups

ROUNDING = 1e-12
"""A sum of squares below this fraction of the total is rounding."""

NO_REPEATS = 1e-9
"""Degrees of freedom below this mean that nothing was measured twice."""

GONE = 1e-13
"""An experience whose evidence faded below this many dates says nothing."""

LOST = 1e-100
"""A weight below this is nothing, and its square must not vanish."""

RESCALE = 1e100
"""Weights are scaled back before they come near the largest float."""

Numbers = NDArray[np.float64]
Moments = tuple[Numbers, Numbers]
"""Sum of log(b + 1/n) for each b, (n_deviation,), and sum of outer products of (z, m) weighted by 1/(b + 1/n),
(n_deviation, d + 1, d + 1)."""


class Counted:
    """Evidence that stays: every date counts 1.

    Experiences measured on the same number of dates share the diagonal of K, so sums per such group are all that a
    fit reads; it costs the same for a dozen experiences and for a hundred thousand.
    """

    def __init__(self, deviations: Numbers, dimensions: int) -> None:
        self._n = np.zeros(16)
        self._sums = np.zeros(16)
        self._groups = Groups(deviations, dimensions + 1)
        self.within = 0.0
        self.squares = 0.0
        self.observations = 0

    def counts(self, rows: NDArray[np.intp] | slice) -> Numbers:
        """Number of dates on which each of ``rows`` was measured."""
        return self._n[rows]

    def means(self, rows: NDArray[np.intp] | slice) -> Numbers:
        """Mean measurement of each of ``rows``; 0 where there is none."""
        return self._sums[rows] / np.maximum(self._n[rows], 1.0)

    def make_room(self, size: int) -> None:
        """Room for ``size`` experiences."""
        if size > self._n.size:
            self._n, self._sums = _grown(self._n, size), _grown(self._sums, size)

    def add(self, rows: NDArray[np.intp], content: Numbers, measured: Numbers, number: int) -> None:
        """One date: ``measured`` (k,) of the distinct ``rows``, whose content is (k, d)."""
        del number
        before, sums = self._n[rows], self._sums[rows]
        mean_before = sums / np.maximum(before, 1.0)
        after, sums = before + 1.0, sums + measured
        mean_after = sums / after
        # At a first measurement the second factor is 0, so it adds nothing to the spread within experiences.
        self.within += float((measured - mean_before) @ (measured - mean_after))
        self.squares += float(measured @ measured)
        self.observations += len(rows)
        self._n[rows], self._sums[rows] = after, sums
        self._groups.move(
            before.astype(np.int64), after.astype(np.int64), joined(content, mean_before), joined(content, mean_after)
        )

    def advance(self, number: int) -> bool:
        """Decision ``number`` was settled; nothing fades here."""
        del number
        return False

    def rebuild(self, content: Numbers) -> None:
        """The content of all measured experiences, (H, d), was replaced."""
        n = self._n[: len(content)]
        self._groups.rebuild(n.astype(np.int64), joined(content, self._sums[: len(content)] / n))

    def noise(self, measured: int) -> float:
        """Pooled variance within the ``measured`` experiences; without repeats everything counts as noise."""
        if not self.observations:
            return 0.0
        repeats = self.observations - measured
        if repeats and self.within > ROUNDING * self.squares:
            return self.within / repeats
        return self.squares / self.observations

    def moments(self, content: Numbers) -> Moments:
        """Sums over all experiences for each deviation of the grid."""
        del content
        return self._groups.weighted()


class Fading:
    """Evidence that fades: with every decision, all earlier dates count ``factor`` times less; the newest counts 1.

    An observation of decision t is kept with weight factor^-t, and everything is scaled by factor^newest when it is
    read, so that the order in which outcomes arrive does not matter. A fit reads the experiences whose evidence has
    not faded away: at 0.94 those of the last 500 decisions.

    Parameters
    ----------
    deviations
        Grid of tau^2 / sigma^2.
    factor
        Between 0 and 1.
    """

    def __init__(self, deviations: Numbers, factor: float) -> None:
        self._deviations, self._factor = deviations, factor
        self._weights = np.zeros(16)
        self._weights2 = np.zeros(16)
        self._means = np.zeros(16)
        self._within = self._freedom = self._squares = self._mass = 0.0
        self._origin = 0
        self._newest = 0
        self._scale = 1.0

    def counts(self, rows: NDArray[np.intp] | slice) -> Numbers:
        """Number of dates on which each of ``rows`` was measured, faded."""
        return self._weights[rows] * self._scale

    def means(self, rows: NDArray[np.intp] | slice) -> Numbers:
        """Weighted mean measurement of each of ``rows``; 0 where there is none."""
        return self._means[rows]

    def make_room(self, size: int) -> None:
        """Room for ``size`` experiences."""
        if size > self._weights.size:
            self._weights, self._weights2 = _grown(self._weights, size), _grown(self._weights2, size)
            self._means = _grown(self._means, size)

    def add(self, rows: NDArray[np.intp], content: Numbers, measured: Numbers, number: int) -> None:
        """One date: ``measured`` (k,) of the distinct ``rows``, of decision ``number``."""
        del content
        weight = self._factor ** (self._origin - number)
        if weight < LOST:
            return  # it comes so late that it counts nothing
        before, before2 = self._weights[rows], self._weights2[rows]
        after, after2 = before + weight, before2 + weight * weight
        step = measured - self._means[rows]
        self._within += float((weight * before / after) @ step**2)
        self._freedom += float((after - after2 / after).sum())
        seen = before > 0
        self._freedom -= float((before[seen] - before2[seen] / before[seen]).sum())
        self._squares += weight * float(measured @ measured)
        self._mass += weight * len(rows)
        self._weights[rows], self._weights2[rows] = after, after2
        self._means[rows] += (weight / after) * step

    def advance(self, number: int) -> bool:
        """Decision ``number`` was settled: evidence ages up to the newest one. Whether anything changed."""
        if number <= self._newest:
            return False
        self._newest = number
        self._scale = self._factor ** (number - self._origin)
        if self._scale * RESCALE < 1.0:
            self._weights *= self._scale
            self._weights2 *= self._scale**2
            for name in ("_within", "_freedom", "_squares", "_mass"):
                setattr(self, name, getattr(self, name) * self._scale)
            self._origin, self._scale = number, 1.0
        return True

    def rebuild(self, content: Numbers) -> None:
        """Nothing is kept that depends on content."""

    def noise(self, measured: int) -> float:
        """Weighted pooled variance within experiences; without repeats everything counts as noise."""
        del measured
        if not self._mass:
            return 0.0
        if self._freedom * self._scale > NO_REPEATS and self._within > ROUNDING * self._squares:
            return self._within / self._freedom
        return self._squares / self._mass

    def moments(self, content: Numbers) -> Moments:
        """Sums over the experiences that still say something, whose content is among ``content`` (H, d)."""
        n, mean = self.counts(slice(0, len(content))), self._means[: len(content)]
        left = n > GONE
        if not left.all():
            n, mean, content = n[left], mean[left], content[left]
        vectors = joined(content, mean)
        width = vectors.shape[1]
        diagonal = self._deviations[:, None] + 1.0 / n
        outer = (vectors[:, :, None] * vectors[:, None, :]).reshape(n.size, width * width)
        return np.log(diagonal).sum(axis=1), ((1.0 / diagonal) @ outer).reshape(-1, width, width)


Evidence = Counted | Fading


def joined(content: Numbers, mean: Numbers) -> Numbers:
    """Features and mean side by side, (k, d + 1): one outer product carries every sum the fit needs."""
    pair = np.empty((mean.size, content.shape[1] + 1))
    pair[:, :-1] = content
    pair[:, -1] = mean
    return pair


def _grown(numbers: Numbers, size: int) -> Numbers:
    return np.concatenate([numbers, np.zeros(max(size, 2 * numbers.size) - numbers.size)])
