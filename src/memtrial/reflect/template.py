"""Records written by template: situation, decision, result. No model is asked, nothing is invented."""

from __future__ import annotations

from memtrial.records import Experience, fingerprint
from memtrial.reflect.contract import Settled


async def write_record(settled: Settled) -> Experience:
    """The record of a settled decision; a :data:`~memtrial.reflect.contract.Reflector`."""
    decided, situation = settled.decided_at, settled.situation
    held = ", ".join(f"{asset} {100 * w:.0f}" for asset, w in zip(settled.assets, settled.weights, strict=True))
    moves = ", ".join(f"{asset} {100 * r:+.1f}" for asset, r in zip(settled.assets, settled.asset_returns, strict=True))
    own, equal = settled.own_return, settled.equal_return
    text = (
        f"{decided:%Y-%m-%d}: {situation} Held (%): {held}. Then (%): {moves}. "
        f"Result {100 * own:+.1f}, {'beat' if own > equal else 'trailed'} equal weight {100 * equal:+.1f}."
    )
    return Experience(
        id=f"{decided:%Y-%m-%d}-{fingerprint(['record', settled.decision_id, text])[:8]}",
        kind="record",
        situation=situation,
        text=text,
        valid_at=decided,
        known_at=settled.known_at,
        decision_id=settled.decision_id,
    )
