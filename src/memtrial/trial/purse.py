"""Trust with a guarantee: a wealth that bets on every forward score.

H0: whatever is known at a decision, the expected forward score of every candidate is at most 0 (memory does not rank
unseen contributions better than chance). Under H0 the wealth is a test supermartingale that starts at 1, so at every
date its expectation is at most 1, and the chance that it *ever* reaches 1/alpha is at most alpha (Ville's inequality),
however often and whenever one looks. The weight min(1, alpha * wealth) therefore hands on no date more than alpha of
the capital, in expectation, to memory without skill.

H0 speaks of the *correlation* within a date. Memories that are worth nothing on average but whose contributions differ
in spread and are skewed can have a positive expected correlation; the guarantee does not cover them.
"""

from __future__ import annotations

from collections.abc import Sequence

TIE = 1e-12
"""Shares within this distance are equal."""

SMALLEST, LARGEST = 1e-300, 1e300
"""Wealth stays between these, far from where floats end."""


class Purse:
    """One wealth, divided among candidate learners that each bet on their own forward scores.

    The cap burns what lies above it, and the fixed share deals part of the money out afresh; neither adds money, so
    the guarantee stands.

    Parameters
    ----------
    prior
        First share of each candidate, adding up to 1.
    bet
        Share of its money that a candidate bets on a score: a score of r multiplies it by 1 + ``bet`` * r.
    fixed_share
        Part that is dealt out afresh, by the prior, after every date with a score.
    cap
        Wealth above this is burnt, in proportion.
    """

    __slots__ = ("_bet", "_cap", "_fixed_share", "_prior", "shares", "wealth")

    def __init__(self, prior: Sequence[float], *, bet: float, fixed_share: float, cap: float) -> None:
        self._prior = tuple(prior)
        self._bet, self._fixed_share, self._cap = bet, fixed_share, cap
        self.wealth = 1.0
        self.shares = list(self._prior)

    def settle(self, scores: Sequence[float | None]) -> None:
        """One date's forward score of each candidate; ``None`` where it has none.

        Without any score nothing moves; a candidate without one keeps its money.
        """
        if all(score is None for score in scores):
            return
        grown = [
            share * (1.0 if score is None else 1.0 + self._bet * score)
            for share, score in zip(self.shares, scores, strict=True)
        ]
        growth = sum(grown)
        self.wealth = min(self._cap, LARGEST, max(SMALLEST, self.wealth * growth))
        keep = 1.0 - self._fixed_share
        self.shares = [
            keep * money / growth + self._fixed_share * prior for money, prior in zip(grown, self._prior, strict=True)
        ]


class Purses:
    """Purses that take turns, so that none bets again before its last outcome is known.

    With holding periods that overlap, the product of bets on dependent outcomes is no martingale. With ``holding`` H
    purses, decision t bets with purse t mod H, and their mean keeps the bound on the expected weight at every date.
    That the wealth ever reaches 1/alpha is bounded by alpha for each purse alone, and for the mean by H * alpha.

    Parameters
    ----------
    holding
        Number H of purses.
    prior, bet, fixed_share, cap
        As for :class:`Purse`.
    """

    def __init__(self, holding: int, prior: Sequence[float], *, bet: float, fixed_share: float, cap: float) -> None:
        self._purses = [Purse(prior, bet=bet, fixed_share=fixed_share, cap=cap) for _ in range(holding)]
        self._open: dict[int, int] = {}

    def may_bet(self, number: int) -> bool:
        """Whether decision ``number`` can bet: the bet before it of the same purse is closed."""
        return number % len(self._purses) not in self._open

    def open(self, number: int) -> None:
        """Decision ``number`` bets."""
        self._open[number % len(self._purses)] = number

    def close(self, number: int, scores: Sequence[float | None] | None) -> None:
        """Decision ``number`` was settled with these scores, or (None) will never be; a decision that did not bet
        moves nothing."""
        turn = number % len(self._purses)
        if self._open.get(turn) != number:
            return
        del self._open[turn]
        if scores is not None:
            self._purses[turn].settle(scores)

    @property
    def wealth(self) -> float:
        """Mean wealth."""
        return sum(purse.wealth for purse in self._purses) / len(self._purses)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of each candidate in all the money."""
        total = sum(purse.wealth for purse in self._purses)
        money = zip(*([purse.wealth * share for share in purse.shares] for purse in self._purses), strict=True)
        return tuple(sum(parts) / total for parts in money)


def richest(shares: Sequence[float]) -> int:
    """The candidate that speaks: the one with the largest share, the first of equal ones.

    Without content variance both learners predict alike and their shares differ by rounding, hence the tolerance.
    """
    best = max(shares) - TIE
    return next(place for place, share in enumerate(shares) if share >= best)
