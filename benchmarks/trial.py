"""What one decision costs the trial: deciding and learning, from a dozen experiences to a hundred thousand.

Run ``python benchmarks/trial.py``. One BLAS thread, one process. Each decision is timed whole, as the agent runs it:
eight drafts projected to the mandate, the verdict (which first learns the previous outcome and refits both value
models), the blend, the utilities of eight drafts and of 201 blends as one matrix product, and the delivery of the
outcome. Drafts, returns and recalled experiences are random and made outside the clock; model calls are not included.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from memtrial.portfolio import Mandate, utilities
from memtrial.trial import CONTENT_GRID, DEVIATION_GRID, Settings, Trial, ValueModel, act_on, blends

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
K, D, DAYS = 4, 8, 20
PAPER = {12: 3.6, 48: 6.9}  # ms per decision, MemTrial App. D.3
DENSE = (12, 48, 338)
START = datetime(2000, 1, 1, tzinfo=UTC)
HOLDINGS = np.full(4, 0.25)
MANDATE = Mandate(
    name="balanced", risky_cap=0.65, defensive_floor=0.15, risk_aversion=5.0,
    risky=(True, False, False, True), defensive=(False, True, True, False),
)  # fmt: skip


class Deployment:
    """One agent with a pool of experiences, driven through time on random drafts and prices."""

    def __init__(self, pool: int, settings: Settings, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.pool = pool
        self.content = self.rng.standard_normal((pool, D))
        self.ids = [f"e{i}" for i in range(pool)]
        self.settings = settings
        self.trial = Trial(settings)
        self.clock = 0

    def prefill(self) -> None:
        """Measure every experience at least once, through restored decisions (nothing is fitted)."""
        nothing = Trial(self.settings).act("nothing", retrieved=[], features=[], valid=np.ones(1, bool), at=self.now())
        verdict = replace(nothing, values=dict.fromkeys(self.trial.learners, (0.0,) * K))
        everything = np.concatenate([np.arange(self.pool), np.arange(-self.pool % K)])
        for ranks in everything.reshape(-1, K):
            name = f"d{self.clock}"
            utility = self.rng.normal(0, 0.01, 8)
            self.trial.restore(
                name, retrieved=[self.ids[r] for r in ranks], features=self.content[ranks],
                verdict=verdict, valid=np.ones(8, bool), at=self.now(),
            )  # fmt: skip
            self.trial.settle(name, utilities=utility, blend_utilities=None, known_at=self.now())
            self.clock += 1

    def now(self) -> datetime:
        return START + timedelta(hours=self.clock)

    def decision(self) -> float:
        """One decision; returns the seconds it took."""
        ranks = self.rng.choice(self.pool, K, replace=False)
        retrieved, features = [self.ids[r] for r in ranks], self.content[ranks]
        raw = self.rng.dirichlet(np.ones(4), 8)
        reference = np.array([0.3, 0.3, 0.3, 0.1])
        returns = self.rng.normal(0.0004, 0.01, (DAYS, 4))
        at, known_at, name = self.now(), self.now() + timedelta(minutes=30), f"d{self.clock}"
        self.clock += 1

        began = time.perf_counter()
        drafts = MANDATE.project(raw)
        mean_draft = drafts.mean(axis=0)
        verdict = self.trial.act(name, retrieved=retrieved, features=features, valid=np.ones(8, bool), at=at)
        action = act_on(verdict, self.trial.plan(K), drafts, reference)
        both = np.concatenate([drafts, action[None], blends(reference, mean_draft)])
        earned = utilities(both, returns, holdings=HOLDINGS, risk_aversion=MANDATE.risk_aversion)
        self.trial.settle(name, utilities=earned[:8], blend_utilities=earned[9:], known_at=known_at)
        return time.perf_counter() - began


def dense_fit(n: NDArray[np.int64], mean: NDArray[np.float64], content: NDArray[np.float64], noise: float) -> float:
    """The textbook fit: a Cholesky factor of K at every grid point; returns the highest log-likelihood."""
    best = -np.inf
    for a in CONTENT_GRID:
        for b in DEVIATION_GRID:
            covariance = noise * (a * content @ content.T + np.diag(b + 1 / n))
            factor = np.linalg.cholesky(covariance)
            white = np.linalg.solve(factor, mean)
            log_determinant = 2 * np.log(np.diag(factor)).sum()
            best = max(best, -0.5 * (white @ white + log_determinant + mean.size * np.log(2 * np.pi)))
    return float(best)


def fits(pool: int, repeats: int) -> tuple[float, float, float]:
    """Median milliseconds of the grouped and the dense fit on the same data, and their disagreement."""
    rng = np.random.default_rng(1)
    content = rng.standard_normal((pool, D))
    model = ValueModel(D)
    for _ in range(max(300, pool // 2)):
        ranks = rng.choice(pool, K, replace=False)
        model.observe([str(r) for r in ranks], content[ranks], rng.normal(0, 0.01, K))
    rows = model.values()
    counts, mean = np.array([row.n for row in rows]), np.array([row.mean for row in rows])
    measured = content[[int(row.id) for row in rows]]
    grouped, dense = [], []
    for _ in range(repeats):
        model.rebase({row.id: content[int(row.id)] for row in rows})  # forgets the fit that is kept
        began = time.perf_counter()
        fit = model.fit()
        grouped.append(time.perf_counter() - began)
        began = time.perf_counter()
        best = dense_fit(counts, mean, measured, fit.noise)
        dense.append(time.perf_counter() - began)
    return float(np.median(grouped)) * 1e3, float(np.median(dense)) * 1e3, abs(best - float(fit.log_likelihood.max()))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pools", type=int, nargs="+", default=[12, 48, 1_000, 10_000, 100_000])
    parser.add_argument("--warm", type=int, default=300, help="dates of history before the clock starts")
    parser.add_argument("--decisions", type=int, default=400, help="timed decisions per pool")
    options = parser.parse_args()

    for name, settings in (("paper", Settings.paper()), ("guarded", Settings.guarded())):
        _decisions(name, settings, options.pools, options.warm, options.decisions)
    print("\nfit of both value models over the whole grid, ms (median)")
    print(f"{'experiences':>12} {'grouped':>8} {'dense':>8} {'times':>8} {'difference of log-likelihood':>30}")
    for pool in DENSE:
        grouped, dense, difference = fits(pool, 7 if pool > 100 else 31)
        print(f"{pool:>12,} {grouped:>8.3f} {dense:>8.2f} {dense / grouped:>8.0f} {difference:>30.1e}")


def _decisions(name: str, settings: Settings, pools: list[int], warm: int, timed: int) -> None:
    deployments = [Deployment(pool, settings) for pool in pools]
    for deployment in deployments:
        deployment.prefill()
        for _ in range(warm):
            deployment.decision()
    # The pools take turns, so that a busy moment of the machine does not fall on one of them.
    seconds = np.array([[deployment.decision() for deployment in deployments] for _ in range(timed)])
    median, tail = np.median(seconds, axis=0) * 1e3, np.percentile(seconds, 95, axis=0) * 1e3

    print(f"decide and learn, preset {name}, ms per decision")
    print(f"{'experiences':>12} {'median':>8} {'p95':>8} {'paper':>8}")
    for pool, middle, high in zip(pools, median, tail, strict=True):
        print(f"{pool:>12,} {middle:>8.3f} {high:>8.3f} {PAPER.get(pool, '-'):>8}")
    print(f"largest / smallest pool: {median[-1] / median[0]:.2f}\n")


if __name__ == "__main__":
    if any(os.environ.get(name) != "1" for name in THREADS):
        # NumPy reads these when it is imported, so the program starts again with them.
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | dict.fromkeys(THREADS, "1"))
    main()
