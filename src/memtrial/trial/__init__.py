"""What a memory is worth, and when it may act: designed drafts, contributions, values, trust, anchored action.

An implementation of *MemTrial: Learning When to Trust Memory in LLM Portfolio Agents* on NumPy alone: no files, no
clock, no global state. Utilities, contributions and values are fractions per holding period; times are aware.
"""

from memtrial.trial.anchor import REFERENCE_WEIGHTS, Anchor, bernoulli_kl, blend, blends
from memtrial.trial.attribution import centre, contributions
from memtrial.trial.design import MAX_RECALLED, Design, DesignKind, design
from memtrial.trial.docket import Learned
from memtrial.trial.features import ContentBasis
from memtrial.trial.fit import CONTENT_GRID, DEVIATION_GRID, Fit, Variances
from memtrial.trial.loop import LEARNERS, Trial
from memtrial.trial.settings import Settings
from memtrial.trial.trust import Scores, TrustTest, forward_score, select_learner, trust_test, trusted_subset
from memtrial.trial.values import Value, ValueModel
from memtrial.trial.verdict import act_on

__all__ = [
    "CONTENT_GRID",
    "DEVIATION_GRID",
    "LEARNERS",
    "MAX_RECALLED",
    "REFERENCE_WEIGHTS",
    "Anchor",
    "ContentBasis",
    "Design",
    "DesignKind",
    "Fit",
    "Learned",
    "Scores",
    "Settings",
    "Trial",
    "TrustTest",
    "Value",
    "ValueModel",
    "Variances",
    "act_on",
    "bernoulli_kl",
    "blend",
    "blends",
    "centre",
    "contributions",
    "design",
    "forward_score",
    "select_learner",
    "trust_test",
    "trusted_subset",
]
