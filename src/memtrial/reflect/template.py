"""Records written by template: situation, decision, result. No model is asked, nothing is invented."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memtrial.records import Experience, fingerprint
from memtrial.reflect.contract import Settled


async def write_record(settled: Settled) -> Experience:
    """The record of a settled decision; a :data:`~memtrial.reflect.contract.Reflector`."""
    return allocation_record(
        decision_id=settled.decision_id,
        decided_at=settled.decided_at,
        situation=settled.situation,
        assets=settled.assets,
        weights=settled.weights,
        asset_returns=np.asarray(settled.asset_returns, dtype=np.float64),
        known_at=settled.known_at,
    )


def allocation_record(
    *,
    decision_id: str,
    decided_at: datetime,
    situation: str,
    assets: Sequence[str],
    weights: Sequence[float],
    asset_returns: NDArray[np.float64],
    known_at: datetime,
) -> Experience:
    """A settled allocation as an experience.

    Parameters
    ----------
    decision_id, decided_at, situation
        The decision, when it was taken, and the situation it met (embedded as it is).
    assets, weights
        What was held, fractions.
    asset_returns
        Simple return of each asset over the holding period, shape (n_assets,).
    known_at
        When the outcome was known, and so when the record may first be recalled.
    """
    held = ", ".join(f"{asset} {100 * weight:.0f}" for asset, weight in zip(assets, weights, strict=True))
    moves = ", ".join(f"{asset} {100 * move:+.1f}" for asset, move in zip(assets, asset_returns, strict=True))
    own = float(np.dot(np.asarray(weights, dtype=np.float64), asset_returns))
    equal = float(np.mean(asset_returns))
    text = (
        f"{decided_at:%Y-%m-%d}: {situation} Held (%): {held}. Then (%): {moves}. "
        f"Result {100 * own:+.1f}, {'beat' if own > equal else 'trailed'} equal weight {100 * equal:+.1f}."
    )
    return Experience(
        id=f"{decided_at:%Y-%m-%d}-{fingerprint(['record', decided_at.isoformat(), situation, text])[:8]}",
        kind="record",
        situation=situation,
        text=text,
        valid_at=decided_at,
        known_at=known_at,
        decision_id=decision_id,
    )
