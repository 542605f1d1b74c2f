"""A verdict on every memory, with the share of wrong verdicts under control whenever one looks.

Wealths that bet on each memory and against it, judged together by the e-BH procedure. Why not t-tests:
``docs/decisions/0012-a-verdict-per-memory.md``; ``benchmarks/standings.py`` measures both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.errors import InputError

StandingVerdict = Literal["helps", "harms", "not known"]

BET = 0.9
"""Share of a wealth that is bet on r = 1."""
SCALE = 1.5
"""A date whose largest contribution stays below this multiple of the usual largest one is bet on with less."""
CAP = 2.0
"""A wealth is burnt above this multiple of what a lone verdict needs, so that a verdict can be lost in months."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What is known about one memory, always relative to the memories that were recalled beside it.

    Attributes
    ----------
    id
        The experience.
    verdict
        ``"helps"``, ``"harms"`` (it is proposed for retirement, never removed) or ``"not known"``.
    n
        Number of dates on which it was measured.
    mean
        Mean of its centred contributions, a fraction per period.
    help_evidence, harm_evidence
        What an initial 1 has become that bet, on every date, on its being better (worse) than the others; a value of
        20 arises by chance in at most one of twenty memories. 0 while the mean points the other way.
    needed
        Evidence that its verdict needs now, given how many memories are judged at once.
    reason
        The verdict in words.
    """

    id: str
    verdict: StandingVerdict
    n: int
    mean: float
    help_evidence: float
    harm_evidence: float
    needed: float
    reason: str

    @property
    def evidence(self) -> float:
        """The larger of the two."""
        return max(self.help_evidence, self.harm_evidence)

    @property
    def retire(self) -> bool:
        """Whether its retirement is proposed."""
        return self.verdict == "harms"


class Standings:
    """Judges every measured memory; of the verdicts that stand at any look, at most ``alpha`` are expected to be false.

    On each date the centred contributions y become r = y / max(1.5 c, max |y|), in [-1, 1], where c is the mean of
    max |y| over the dates learned before. Every memory has two wealths, 1 at the start, which bet on it and against
    it: W <- W (1 + 0.9 r) and W <- W (1 - 0.9 r). The null of the first is that E[r | past] <= 0 on the dates on which
    the memory is recalled: *what it changes is, on average, not more than what the memories recalled beside it
    change*, where the few very large dates count no more than their share. The null of the second is the mirror image.
    Where it makes no difference which memory is which, both hold exactly.

    Under its null a wealth is a supermartingale, so at any look it is expected to be at most 1, and the e-BH procedure
    over all 2 H wealths keeps the false discovery rate at ``alpha`` however memories depend on each other. Wealth above
    twice 2 H / alpha is burnt, which keeps the promise and lets a verdict fall within months after a memory turned.

    Three limits. Verdicts are relative: among harmful memories a neutral one is rightly said to help. Large dates are
    cut: a memory that mostly loses a little and rarely gains very much can have E[r] < 0 and a mean of 0. A verdict
    against the sign of the mean is never given, but in a stress test (exponential contributions whose spread differs
    between memories by a factor of two) 3 % of runs of 132 dates had a verdict, and 17 % of 500. And which memories
    are recalled must not depend on outcomes otherwise than through the past.

    What is kept does not grow with the number of dates.

    Parameters
    ----------
    alpha
        Largest expected share of false verdicts among those given.
    holding
        Smallest number of decisions such that the outcome of one is known before the decision that many later. Above
        1 each memory's wealths take turns and are averaged: the promise then holds at every fixed date, and evidence
        comes more slowly.

    Raises
    ------
    InputError
        When ``alpha`` is not between 0 and 1 or ``holding`` is below 1.
    """

    def __init__(self, alpha: float = 0.05, holding: int = 1) -> None:
        if not 0 < alpha < 1:
            raise InputError(f"alpha = {alpha} must lie between 0 and 1")
        if holding < 1:
            raise InputError(f"holding = {holding} decisions; at least 1 is needed")
        self.alpha, self.holding = alpha, holding
        self._rows: dict[str, int] = {}
        self._n = np.zeros(16, dtype=np.int64)
        self._sums = np.zeros(16)
        self._wealth = np.ones((16, 2, holding))
        self._largest = 0.0
        self._dates = 0

    def observe(self, ids: Sequence[str], centred: ArrayLike, *, decision: int = 0, bets: bool = True) -> None:
        """Learn one date: centred contributions (k,) of ``ids``, fractions per period; O(k).

        Parameters
        ----------
        ids
            The recalled experiences, distinct. One alone says nothing about itself and is left out.
        centred
            Their contributions less the mean of the date; all 0 counts as a date on which nothing differed.
        decision
            Number of the decision; it only matters when ``holding`` is above 1.
        bets
            Whether the wealths bet on this date: not when a bet of the same turn was still open at the decision.

        Raises
        ------
        InputError
            When ids repeat, or ``centred`` is not (k,) and finite; nothing is changed.
        """
        y = np.asarray(centred, dtype=np.float64)
        if len(set(ids)) != len(ids):
            raise InputError(f"an experience was recalled twice in {list(ids)}; recall each once")
        if y.shape != (len(ids),) or not np.isfinite(y).all():
            raise InputError(f"{len(ids)} finite centred contributions are needed, got {centred}")
        if len(ids) < 2:
            return
        rows = self._rows_of(ids)
        self._n[rows] += 1
        self._sums[rows] += y
        share = self._scaled(y)
        if not bets:
            return
        turn = decision % self.holding
        self._wealth[rows, :, turn] *= 1.0 + BET * np.stack([share, -share], axis=1)
        burnt_above = CAP * 2 * len(self._rows) / self.alpha
        self._wealth[rows, :, turn] = np.minimum(self._wealth[rows, :, turn], burnt_above)

    def _scaled(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """r of the class, (k,); the scale is known before the date, so that it biases no bet."""
        largest = float(np.abs(y).max())
        scale = max(largest, SCALE * self._largest / max(self._dates, 1))
        self._largest += largest
        self._dates += 1
        return y / scale if scale > 0 else y

    def _rows_of(self, ids: Sequence[str]) -> NDArray[np.intp]:
        for identity in ids:
            self._rows.setdefault(identity, len(self._rows))
        while len(self._rows) > self._n.size:
            self._n = np.concatenate([self._n, np.zeros_like(self._n)])
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._wealth = np.concatenate([self._wealth, np.ones_like(self._wealth)])
        return np.array([self._rows[identity] for identity in ids], dtype=np.intp)

    def standing(self) -> tuple[Standing, ...]:
        """The verdict on every measured memory, in the order of first measurement; O(H log H)."""
        measured = len(self._rows)
        n, sums = self._n[:measured], self._sums[:measured]
        # An e-value may be set to 0 but not raised: the mean has to point where the bets do.
        agrees = np.stack([sums > 0, sums < 0], axis=1)
        evidence = np.where(agrees, self._wealth[:measured].mean(axis=2), 0.0)
        verdicts = _verdicts(evidence.ravel(), self.alpha)
        columns = zip(
            self._rows, n.tolist(), (sums / np.maximum(n, 1)).tolist(), evidence[:, 0].tolist(),
            evidence[:, 1].tolist(), strict=True,
        )  # fmt: skip
        level = 2 * measured / self.alpha
        return tuple(_judged(*column, verdicts=verdicts, level=level) for column in columns)


def _verdicts(evidence: NDArray[np.float64], alpha: float) -> int:
    """Number of verdicts by e-BH: the largest k with k of the m e-values at least m / (k alpha); 0 if there is none."""
    m = evidence.size
    passing = np.flatnonzero(np.sort(evidence)[::-1] >= m / (alpha * np.arange(1, m + 1)))
    return int(passing[-1]) + 1 if passing.size else 0


def _judged(identity: str, n: int, mean: float, helps: float, harms: float, *, verdicts: int, level: float) -> Standing:
    verdict: StandingVerdict = "not known"
    if verdicts and max(helps, harms) >= level / verdicts:
        verdict = "helps" if helps > harms else "harms"
    # One more verdict would make it easier for all.
    needed = level / (verdicts + (verdict == "not known"))
    return Standing(
        id=identity,
        verdict=verdict,
        n=n,
        mean=mean,
        help_evidence=helps,
        harm_evidence=harms,
        needed=needed,
        reason=_reason(verdict, n, mean, max(helps, harms), needed),
    )


def _reason(verdict: StandingVerdict, n: int, mean: float, evidence: float, needed: float) -> str:
    dates = f"{n} date{'' if n == 1 else 's'}"
    gap = f"{abs(100 * mean):.3f} pp {'more' if mean >= 0 else 'less'} than the memories recalled beside it"
    if verdict == "not known":
        return f"not known: evidence {evidence:,.3g} on {dates}, {needed:,.0f} is needed; so far {gap}"
    advice = "; proposed for retirement" if verdict == "harms" else ""
    return f"{verdict}: {gap} on {dates}, evidence {evidence:,.0f} where {needed:,.0f} is needed{advice}"
