"""What happens when memories turn: gains around the turn, months to withdrawal, and the loss until then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtrial.bench.planted.regimes import WARMUP, Regime
from memtrial.bench.planted.result import TurnFigures

HALF = 0.5


def turn_figures(
    regime: Regime, utility: NDArray[np.float64], weight: NDArray[np.float64], anchor: NDArray[np.float64]
) -> TurnFigures:
    """The figures of one method.

    Parameters
    ----------
    regime
        A regime that turns after the warm-up.
    utility, weight
        Of the method, (n_worlds, n_investors, n_dates); utility as a fraction.
    anchor
        Utility of the anchor, same shape.
    """
    gain = 100.0 * (utility - anchor)
    turn = regime.turn_month
    # The first decision of the new state cannot know it: whoever trusts then, trusted at the turn.
    trusted = weight[:, :, turn] >= HALF
    months = _withdrawal(weight[:, :, turn:])
    after = np.cumsum(gain[:, :, turn:], axis=-1)
    lost = np.take_along_axis(after, months[:, :, None] - 1, axis=-1)[:, :, 0]
    before, near, far = (
        _mean_and_error(gain[:, :, window])
        for window in (slice(WARMUP, turn), slice(turn, turn + 24), slice(turn + 24, turn + 60))
    )
    some = bool(trusted.any())
    return TurnFigures(
        lanes=int(trusted.size),
        trusted=int(trusted.sum()),
        months_to_withdrawal=float(months[trusted].mean()) if some else None,
        never_withdrew=int((months[trusted] == weight.shape[-1] - turn).sum()),
        loss_pp=float(lost[trusted].mean()) if some else None,
        gain_before=before[0],
        gain_1_24=near[0],
        gain_25_60=far[0],
        gain_before_se=before[1],
        gain_1_24_se=near[1],
        gain_25_60_se=far[1],
    )


def _withdrawal(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Months from the turn to the first weight below one half, (n_worlds, n_investors); all, if there is none."""
    low = np.less(weight, HALF)
    first = np.argmax(low, axis=-1)
    first[~low.any(axis=-1)] = weight.shape[-1]
    return first


def _mean_and_error(gain: NDArray[np.float64]) -> tuple[float, float]:
    if gain.shape[-1] == 0:
        return float("nan"), float("nan")
    by_world = np.asarray(gain.mean(axis=(1, 2)))
    spread = by_world.std(ddof=1) / np.sqrt(by_world.size) if by_world.size > 1 else float("nan")
    return float(by_world.mean()), float(spread)
