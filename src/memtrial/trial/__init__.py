"""What a memory is worth, and when it may act: designed drafts, contributions, values, trust, anchored action.

An implementation of *MemTrial: Learning When to Trust Memory in LLM Portfolio Agents* on NumPy alone: no files, no
clock, no global state. Utilities, contributions and values are fractions per holding period; times are aware.
"""

from memtrial.trial.anchor import REFERENCE_WEIGHTS, Anchor, bernoulli_kl, blend, blends
from memtrial.trial.attribution import centre, contributions, scaled, spread
from memtrial.trial.candidates import Candidate, candidates
from memtrial.trial.design import MAX_RECALLED, Design, DesignKind, design
from memtrial.trial.docket import Learned
from memtrial.trial.features import ContentBasis
from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, Fit, Variances
from memtrial.trial.loop import Trial
from memtrial.trial.purse import Purse, Purses, richest
from memtrial.trial.settings import VALUE_KINDS, Settings, TrustRule, ValueKind
from memtrial.trial.standing import Standing, Standings
from memtrial.trial.trust import Scores, TrustTest, f_test, forward_score, select_learner, trust_test, trusted_subset
from memtrial.trial.values import Value, ValueModel
from memtrial.trial.verdict import act_on
from memtrial.trial.veto import Gaps

__all__ = [
    "CONTENT_GRID",
    "DEVIATION_GRID",
    "MAX_RECALLED",
    "REFERENCE_WEIGHTS",
    "VALUE_KINDS",
    "Anchor",
    "Candidate",
    "ContentBasis",
    "Design",
    "DesignKind",
    "Fit",
    "Gaps",
    "Learned",
    "Purse",
    "Purses",
    "Scores",
    "Settings",
    "Standing",
    "Standings",
    "Trial",
    "TrustRule",
    "TrustTest",
    "Value",
    "ValueKind",
    "ValueModel",
    "Variances",
    "act_on",
    "bernoulli_kl",
    "blend",
    "blends",
    "candidates",
    "centre",
    "contributions",
    "design",
    "f_test",
    "forward_score",
    "richest",
    "scaled",
    "select_learner",
    "spread",
    "trust_test",
    "trusted_subset",
]
