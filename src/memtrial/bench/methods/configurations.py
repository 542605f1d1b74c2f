"""Configurations of the one memtrial, and the baselines that wear its anchor: one line each, grouped by table."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from memtrial.bench.methods.anchored import Anchored
from memtrial.bench.methods.contract import Deployment, Method
from memtrial.bench.methods.hedge import Hedge
from memtrial.bench.methods.memtrial import Memtrial
from memtrial.bench.methods.registry import METHODS, Maker
from memtrial.errors import InputError
from memtrial.trial import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """A preset of the trial's settings with ``changes``; calling it makes a fresh deployment."""

    name: str
    label: str
    preset: Callable[..., Settings]
    changes: Mapping[str, Any]

    def settings(self, deployment: Deployment) -> Settings:
        """The settings of the trial, planned for what the benchmark drafts."""
        return self.preset(design=deployment.design, dimensions=deployment.dimensions, **self.changes)

    def __call__(self, deployment: Deployment) -> Memtrial:
        """A fresh deployment."""
        return Memtrial(self.settings(deployment), name=self.name, label=self.label)


def _paper(name: str, label: str, **changes: Any) -> Configuration:
    return Configuration(name=f"memtrial_{name}", label=label, preset=Settings.paper, changes=changes)


def _guarded(name: str, label: str, **changes: Any) -> Configuration:
    return Configuration(name=f"guarded_{name}", label=label, preset=Settings.guarded, changes=changes)


_ABLATIONS = (
    _paper("per_experience", "per-experience learner only", learners=("per_experience",)),
    _paper("content_aware", "content-aware learner only", learners=("content_aware",)),
    _paper("f_test", "in-sample F-test", trust="f_test"),
    _paper("no_test", "no trust test", trust="always"),
    _paper("never_trusts", "memtrial, never trusts", hold=True),
    _paper("draft_average", "draft average (q = 0)", alpha0=0.0),
    _paper("always_reference", "always the reference (q = 1)", alpha0=1.0),
    _paper("uniform_prior", "uniform prior (α₀ = 0.5)", alpha0=0.5),
    _paper("fixed_blend", "no online learning (q = α₀)", lambda0=math.inf),
)
_TEST = (
    *(_paper(f"alpha_{level}", f"test level {level}", alpha=level) for level in (0.01, 0.02, 0.1, 0.2)),
    *(_paper(f"scores_{least}", f"at least {least} forward scores", min_scores=least) for least in (5, 20)),
)
_ANCHOR = tuple(
    _paper(f"anchor_{prior}_{strength}", f"α₀ = {prior}, λ₀ = {strength}", alpha0=prior, lambda0=float(strength))
    for prior in (0.5, 0.75, 0.9, 0.95)
    for strength in (1, 4, 16)
    if (prior, strength) != (0.9, 4)
)
_SWITCHES = (
    _paper("veto", "paper + veto on worth", veto=1.5),
    _paper("scaled", "paper + scaled pooling", scaled=True),
    _paper("purse", "paper, purse for the t-test", trust="purse", cap=math.inf),
    _paper("purse_hard", "paper, purse, all or nothing", trust="purse", cap=math.inf, graded=False),
    _guarded("no_veto", "guarded, no veto", veto=None),
    _guarded("no_forgetting", "guarded, nothing forgotten", forgetting=None),
    _guarded("no_cap", "guarded, no cap on the purse", cap=math.inf),
    _guarded("hard", "guarded, all or nothing", graded=False),
    _guarded("alpha_0.1", "guarded, level 0.1", alpha=0.1),
    _guarded("plain_pooling", "guarded, plain pooling", scaled=False),
    _guarded("extra_draft", "guarded + ninth draft", extra_draft=True),
)


def _hedge_on_reference(deployment: Deployment) -> Method:
    return Hedge(
        deployment.rng,
        fixed="reference",
        prior=0.9,
        name="hedge_prior_0.9",
        label="Hedge, prior 0.9 on the reference",
    )


def _anchored(name: str, deployment: Deployment) -> Method:
    return Anchored(METHODS[name](deployment))


_ANCHORED: Mapping[str, Maker] = {
    "hedge_prior_0.9": _hedge_on_reference,
    **{
        f"anchored_{name}": partial(_anchored, name)
        for name in METHODS
        if name not in ("1/N", "minimum_variance", "memtrial", "memtrial_guarded")
    },
}

ABLATIONS = tuple(each.name for each in _ABLATIONS)
"""One step of memtrial changed at a time (Figure 4, Tables D.3 and D.4)."""
SENSITIVITY = tuple(each.name for each in (*_TEST, *_ANCHOR))
"""Level and least number of scores of the test (Table D.9), and strength of the anchor (Table D.11)."""
ANCHORED = tuple(_ANCHORED)
"""Hedge with its prior on the reference, and every LLM-based baseline with memtrial's anchor (Table D.5)."""
SWITCHES = tuple(each.name for each in _SWITCHES)
"""What is added to the paper, one switch at a time, and what ``guarded`` is without each of its parts."""

CONFIGURATIONS: Mapping[str, Maker] = MappingProxyType(
    {**{each.name: each for each in (*_ABLATIONS, *_TEST, *_ANCHOR, *_SWITCHES)}, **_ANCHORED}
)
"""Every configuration by name; calling one makes a fresh deployment."""


def make(name: str, deployment: Deployment) -> Method:
    """A fresh deployment of the method or configuration called ``name``.

    Raises
    ------
    InputError
        When there is none of that name; the message has the nearest names.
    """
    maker = METHODS.get(name) or CONFIGURATIONS.get(name)
    if maker is None:
        known = [*METHODS, *CONFIGURATIONS]
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        suggested = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(METHODS)}"
        raise InputError(f"no method is called {name!r}; {suggested}")
    return maker(deployment)
