"""What a trial is run with: one set of switches, two presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from memtrial.errors import InputError
from memtrial.trial.design import DesignKind
from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, checked_grid

TrustRule = Literal["purse", "t_test", "f_test", "always"]
"""How memory earns its weight; see :attr:`Settings.trust`."""

ValueKind = Literal["per_experience", "content_aware"]
"""A value model: of each experience alone, or pooled over similar content (paper §3.3)."""

VALUE_KINDS: tuple[ValueKind, ValueKind] = ("per_experience", "content_aware")

_WEIGHT_STEPS = 200
_WHOLE = ("dimensions", "min_scores", "holding", "veto_dates")
_NUMBERS = ("alpha", "forgetting", "forgetting_share", "bet", "fixed_share", "cap", "veto", "alpha0", "lambda0")
_OPTIONAL = ("forgetting", "veto")
_SWITCHES = ("scaled", "graded", "extra_draft", "hold")


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Settings of a trial; the defaults are those of the ``guarded`` preset.

    Change a preset with :func:`dataclasses.replace`, or by keyword: ``Settings.paper(alpha=0.01)``.

    Attributes
    ----------
    design
        Which subsets are drafted: ``"half"``, ``"full"`` or ``"auto"`` (half from four experiences, full below).
    dimensions
        Number d of content features.
    content_grid
        sigma_beta^2 / sigma^2 that are tried (Eq. 6); strictly increasing from 0.
    deviation_grid
        tau^2 / sigma^2 that are tried (Eq. 6); strictly increasing from 0.
    learners
        The value models that may speak: ``"per_experience"``, ``"content_aware"`` or both.
    forgetting
        A factor below 1 adds, for each learner, a second one whose evidence loses that factor with every decision, so
        that memories that turn are noticed. ``None``: nothing is forgotten (the paper).
    forgetting_share
        Part of the first stake that the forgetting learners get.
    scaled
        Pool contributions divided by the root of the spread of the date's drafts, so that volatile dates do not
        drown the others. ``False``: as they are (the paper).
    trust
        How memory earns its weight. ``"purse"``: a wealth, 1 at the start, bets on every forward score; memory moves
        the share min(1, alpha * wealth) of the capital, so that memory without skill is on no date expected to move
        more than ``alpha`` of it. ``"t_test"``: the draft is deployed in full while the mean forward score is above 0
        (the paper, Eq. 9). ``"f_test"``: while the experiences differed in the past (in-sample). ``"always"``:
        without a test.
    alpha
        Level of the trust rule.
    min_scores
        Least number of forward scores before the t-test can pass, and before its learners are compared.
    graded
        With ``"purse"``: the weight grows with the wealth. ``False``: nothing below the wealth 1 / alpha, all above.
    bet
        Share of its money that the purse bets on a forward score.
    fixed_share
        Part of the purse that is dealt out afresh among the learners after every score, as at the start.
    cap
        Wealth above this is burnt, so that trust can be lost in months. Infinite: never.
    holding
        Smallest number H of decisions such that the outcome of one is known before the H-th after it; with
        overlapping holding periods H purses take turns.
    veto
        z of the one-sided bound on what drafts of the chosen size fell short of the anchor in the past; a draft whose
        total value does not make up for it is refused. ``None``: no veto (the paper).
    veto_dates
        Least number of dates the bound is computed from.
    extra_draft
        On dates on which memory has a weight, one more draft is made of exactly the experiences valued above 0.
    alpha0
        Prior weight of the reference in the anchored blend (Eq. 11).
    lambda0
        Strength of that prior, unit-free. Infinite: the weight stays ``alpha0``.
    hold
        Shadow mode: everything is measured and learned, and memory never moves the action.

    Raises
    ------
    InputError
        When a setting is out of range, or two contradict each other.
    """

    design: DesignKind = "auto"
    dimensions: int = 8
    content_grid: tuple[float, ...] = CONTENT_GRID
    deviation_grid: tuple[float, ...] = DEVIATION_GRID
    learners: tuple[ValueKind, ...] = VALUE_KINDS
    forgetting: float | None = 0.94
    forgetting_share: float = 0.3
    scaled: bool = True
    trust: TrustRule = "purse"
    alpha: float = 0.05
    min_scores: int = 10
    graded: bool = True
    bet: float = 0.5
    fixed_share: float = 0.03
    cap: float = 40.0
    holding: int = 1
    veto: float | None = 1.5
    veto_dates: int = 6
    extra_draft: bool = False
    alpha0: float = 0.9
    lambda0: float = 4.0
    hold: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "learners", tuple(self.learners))
        for check in (self._wrong_type, self._out_of_range, self._contradiction):
            if problem := check():
                raise InputError(f"trial settings: {problem}")
        for name in ("content_grid", "deviation_grid"):
            object.__setattr__(self, name, tuple(checked_grid(getattr(self, name), name).tolist()))

    def _wrong_type(self) -> str | None:
        for name in _WHOLE:
            if not _is_whole(getattr(self, name)):
                return f"{name} = {getattr(self, name)!r} must be a whole number"
        for name in _NUMBERS:
            if not _is_number(getattr(self, name)) and not (name in _OPTIONAL and getattr(self, name) is None):
                return f"{name} = {getattr(self, name)!r} must be a number"
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                return f"{name} = {getattr(self, name)!r} must be True or False"
        return None

    def _out_of_range(self) -> str | None:
        if self.design not in ("half", "full", "auto"):
            return f"design = {self.design!r}; use 'half', 'full' or 'auto'"
        if self.trust not in ("purse", "t_test", "f_test", "always"):
            return f"trust = {self.trust!r}; use 'purse', 't_test', 'f_test' or 'always'"
        if not self.learners or len(set(self.learners)) != len(self.learners) or set(self.learners) - set(VALUE_KINDS):
            return f"learners = {self.learners}; name each of {' and '.join(VALUE_KINDS)} at most once, at least one"
        for name in ("dimensions", "holding", "veto_dates"):
            if getattr(self, name) < 1:
                return f"{name} = {getattr(self, name)}; at least 1 is needed"
        if self.min_scores < 2:
            return f"min_scores = {self.min_scores}; a test needs at least 2 scores"
        return self._no_share()

    def _no_share(self) -> str | None:
        for name in ("alpha", "forgetting"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                return f"{name} = {value} must lie between 0 and 1"
        for name in ("forgetting_share", "fixed_share", "alpha0"):
            if not 0 <= getattr(self, name) <= 1:
                return f"{name} = {getattr(self, name)} must be a share between 0 and 1"
        if not 0 <= self.bet < 1:
            return f"bet = {self.bet}; the purse bets a share of its money from 0 to below 1"
        if not self.cap >= 1:
            return f"cap = {self.cap}; the purse starts with 1, so the cap is at least 1"
        if not self.lambda0 >= 0:
            return f"lambda0 = {self.lambda0} must be at least 0"
        if self.veto is not None and not (self.veto >= 0 and math.isfinite(self.veto)):
            return f"veto = {self.veto} must be finite and at least 0, or None for no veto"
        return None

    def _contradiction(self) -> str | None:
        if self.forgetting is not None and self.trust != "purse":
            return f"trust = {self.trust!r} knows no forgetting learners; set forgetting=None"
        if self.holding > 1 and self.trust != "purse":
            return f"trust = {self.trust!r} cannot take turns; holding = {self.holding} needs trust='purse'"
        if self.trust == "purse" and self.cap * self.alpha < 1:
            return f"a purse capped at {self.cap:g} never reaches 1 / alpha = {1 / self.alpha:g}; raise one"
        steps = self.alpha0 * _WEIGHT_STEPS
        if self.veto is not None and abs(steps - round(steps)) > 1e-9:
            return f"alpha0 = {self.alpha0}; with a veto it must be a multiple of {1 / _WEIGHT_STEPS:g}"
        return None

    @property
    def purse_terms(self) -> str:
        """What the purse bets by, in one line; empty without a purse. Wealth earned by other terms does not count."""
        if self.trust != "purse":
            return ""
        fades = "" if self.forgetting is None else f" fading {self.forgetting!r} x {self.forgetting_share!r}"
        return (
            f"{'+'.join(self.learners)}{fades}; bet {self.bet!r}, fixed share {self.fixed_share!r}, cap {self.cap!r}, "
            f"holding {self.holding}"
        )

    @classmethod
    def paper(cls, **changes: Any) -> Settings:
        """*MemTrial: Learning When to Trust Memory in LLM Portfolio Agents* (§3, App. D.2), with ``changes``."""
        faithful = cls(forgetting=None, scaled=False, trust="t_test", veto=None)
        return replace(faithful, **changes)

    @classmethod
    def guarded(cls, **changes: Any) -> Settings:
        """The product's default, with ``changes``: a purse, a veto on worth, forgetting learners, scaled pooling."""
        return replace(cls(), **changes)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
