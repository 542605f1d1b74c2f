"""Regimes of PlantedMem: how strongly memories move a draft, what they are worth, and when that changes.

Paper §4.1 and App. D.3 for the first seven; the others ask what a test of ranking cannot see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import InputError

Turn = Literal["never", "swap", "lost", "fade"]

WARMUP, TEST = 12, 120
MONTHS = WARMUP + TEST
"""Decision dates of an episode: 12 to warm up, 120 that count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Regime:
    """How the experiences of a world are made.

    Attributes
    ----------
    key
        Name in options, files and JSON.
    label
        Name on pages.
    influence
        beta: share of a draft that the experiences it was shown move, 0 to 1.
    useful, neutral, misleading
        Number of experiences of each type.
    signal
        kappa: what the first content feature tells about the type; 0 = nothing.
    turn
        What happens at ``turn_month``: ``"swap"``: useful and misleading change places; ``"lost"``: all become
        neutral and still move the draft; ``"fade"``: the influence falls linearly to 0.
    turn_month
        First date (0-based, warm-up included) of the new state; 72 is test month 60.
    fade_months
        Dates over which the influence fades: it is whole at ``turn_month`` and 0 this many dates later.
    """

    key: str
    label: str
    influence: float
    useful: int = 3
    neutral: int = 6
    misleading: int = 3
    signal: float = 0.0
    turn: Turn = "never"
    turn_month: int = WARMUP + 60
    fade_months: int = 24

    def __post_init__(self) -> None:
        if not 0 <= self.influence <= 1:
            raise InputError(f"regime {self.key}: the influence is {self.influence}; it is a share from 0 to 1")
        if min(self.useful, self.neutral, self.misleading) < 0 or not self.size:
            raise InputError(f"regime {self.key}: counts of experiences must not be negative, and one is needed")
        if self.turn not in ("never", "swap", "lost", "fade"):
            raise InputError(f"regime {self.key}: turn {self.turn!r}; use 'never', 'swap', 'lost' or 'fade'")
        if not self.key or set(self.key) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"):
            raise InputError(f"regime {self.key!r}: a key has letters, digits, '.', '_' and '-' only")

    @property
    def size(self) -> int:
        """Number M of experiences."""
        return self.useful + self.neutral + self.misleading

    @property
    def turns(self) -> bool:
        """Whether anything changes during the episode."""
        return self.turn != "never"

    def types(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Type of each experience at the start, (M,): +1 useful, 0 neutral, -1 misleading, shuffled by ``order``."""
        return np.repeat((1, 0, -1), (self.useful, self.neutral, self.misleading))[order]

    def quality(self, types: NDArray[np.int64], months: int = MONTHS) -> NDArray[np.int64]:
        """Type q of each experience on each date, (months, M)."""
        planted = np.tile(types, (months, 1))
        if self.turn in ("swap", "lost"):
            planted[self.turn_month :] *= -1 if self.turn == "swap" else 0
        return planted

    def influences(self, months: int = MONTHS) -> NDArray[np.float64]:
        """The influence beta on each date, (months,)."""
        if self.turn != "fade":
            return np.full(months, self.influence)
        faded = (np.arange(months) - self.turn_month) / self.fade_months
        return self.influence * (1.0 - np.clip(faded, 0.0, 1.0))


def _turning(beta: float, turn: Turn, label: str) -> Regime:
    return Regime(key=f"{turn}_{beta:g}", label=f"{label}, β = {beta:g}", influence=beta, turn=turn)


def _harm(beta: float) -> Regime:
    return Regime(key=f"harm_{beta:g}", label=f"Harm, β = {beta:g}", influence=beta, useful=0, neutral=6, misleading=6)


REGIMES: Mapping[str, Regime] = MappingProxyType(
    {
        regime.key: regime
        for regime in (
            Regime(key="no_influence", label="No influence", influence=0.0),
            Regime(key="noise_only", label="Noise only", influence=0.5, useful=0, neutral=12, misleading=0),
            Regime(key="beta_0.1", label="β = 0.1", influence=0.1),
            Regime(key="beta_0.25", label="β = 0.25", influence=0.25),
            Regime(key="beta_0.5", label="β = 0.5", influence=0.5),
            Regime(key="many", label="Many experiences", influence=0.25, useful=12, neutral=24, misleading=12),
            Regime(
                key="informative",
                label="Informative content",
                influence=0.25,
                useful=12,
                neutral=24,
                misleading=12,
                signal=1.5,
            ),
            _harm(0.25),
            _harm(0.5),
            _turning(0.25, "swap", "Swap"),
            _turning(0.5, "swap", "Swap"),
            _turning(0.25, "lost", "Lost"),
            _turning(0.5, "lost", "Lost"),
            _turning(0.5, "fade", "Fade"),
        )
    }
)
"""The fourteen regimes by key."""

CORE = ("no_influence", "noise_only", "beta_0.1", "beta_0.25", "beta_0.5")
"""The five regimes behind the paper's PlantedMem column."""

PAPER = (*CORE, "many", "informative")
TURNS = tuple(key for key, regime in REGIMES.items() if regime.turns)

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"all": tuple(REGIMES), "paper": PAPER, "core": CORE, "turns": TURNS}
)


def named_regimes(names: Iterable[str]) -> tuple[Regime, ...]:
    """The regimes that ``names`` (keys or groups) ask for, each once, in the order of :data:`REGIMES`.

    Raises
    ------
    InputError
        When a name is neither a regime nor a group.
    """
    wanted: set[str] = set()
    for name in names:
        if name not in REGIMES and name not in GROUPS:
            raise InputError(
                f"regime {name!r} is unknown; use {', '.join(REGIMES)}, or one of the groups {', '.join(GROUPS)}"
            )
        wanted.update(GROUPS.get(name, (name,)))
    return tuple(regime for key, regime in REGIMES.items() if key in wanted)
