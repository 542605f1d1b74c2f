"""Investor profiles, and the three of the paper (App. D.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from memtrial.errors import MandateError
from memtrial.portfolio.mandate import Mandate, check_profile


@dataclass(frozen=True, kw_only=True, slots=True)
class Investor:
    """An investor profile θ = (M, m, γ), before any universe of assets (paper §3.1, App. D.1).

    Attributes
    ----------
    name
        Name of the investor.
    risky_cap, defensive_floor
        M and m, fractions of wealth in [0, 1].
    risk_aversion
        γ of Eq. 1, at least 0.
    """

    name: str
    risky_cap: float
    defensive_floor: float
    risk_aversion: float

    def __post_init__(self) -> None:
        check_profile(self.name, self.risky_cap, self.defensive_floor, self.risk_aversion)

    def mandate(self, assets: Sequence[str], *, risky: Collection[str], defensive: Collection[str]) -> Mandate:
        """This investor's mandate over ``assets``.

        Parameters
        ----------
        assets
            Names of the assets, in the order of the weights.
        risky, defensive
            Names of those that count against the cap and towards the floor.

        Raises
        ------
        MandateError
            When a name in ``risky`` or ``defensive`` is not an asset, an asset is named twice, or no portfolio can
            satisfy the mandate.
        """
        if len(set(assets)) != len(assets):
            raise MandateError(f"mandate {self.name!r}: assets {', '.join(assets)} repeat a name; name each asset once")
        # A misspelt name would quietly loosen the mandate.
        if unknown := sorted((set(risky) | set(defensive)) - set(assets)):
            raise MandateError(
                f"mandate {self.name!r}: {', '.join(unknown)} not among the assets {', '.join(assets)}; "
                "name only assets of the portfolio"
            )
        return Mandate(
            name=self.name,
            risky_cap=self.risky_cap,
            defensive_floor=self.defensive_floor,
            risk_aversion=self.risk_aversion,
            risky=tuple(asset in risky for asset in assets),
            defensive=tuple(asset in defensive for asset in assets),
            assets=tuple(assets),
        )


CONSERVATIVE = Investor(name="conservative", risky_cap=0.40, defensive_floor=0.40, risk_aversion=10.0)
"""The paper's conservative investor: M = 0.40, m = 0.40, γ = 10."""

BALANCED = Investor(name="balanced", risky_cap=0.65, defensive_floor=0.20, risk_aversion=5.0)
"""The paper's balanced investor: M = 0.65, m = 0.20, γ = 5."""

AGGRESSIVE = Investor(name="aggressive", risky_cap=0.90, defensive_floor=0.05, risk_aversion=2.0)
"""The paper's aggressive investor: M = 0.90, m = 0.05, γ = 2."""

INVESTORS: Mapping[str, Investor] = MappingProxyType({i.name: i for i in (CONSERVATIVE, BALANCED, AGGRESSIVE)})
"""The paper's three investors by name."""
