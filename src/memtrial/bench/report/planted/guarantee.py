"""What the guarded preset promises, what the promise assumes, and what it does not cover, in plain words."""

from __future__ import annotations

GUARANTEE: tuple[tuple[str, str], ...] = (
    (
        "Promised",
        "While the values predict nothing, memory is on every date expected to move at most a share α = 5 % of the "
        "capital, and the chance that one lane is ever trusted in full is at most 5 %, however long it runs and "
        "however often one looks. It needs no least number of scores and no number of looks fixed in advance.",
    ),
    (
        "Why",
        "A purse starts with 1 and bets half of it on every forward score. Where the scores are expected to be 0 or "
        "less this is a game nobody wins on average, so the purse is expected to hold at most 1, and reaches 20 with a "
        "chance of at most 1 in 20. Memory moves the share min(1, purse / 20). Burning what is above the cap, and "
        "dealing the rest out afresh among the learners, add no money.",
    ),
    (
        "Assumed",
        "“Predict nothing” means: given everything known before the date, the correlation between predicted values and "
        "measured contributions is expected to be 0 or less, for every learner that bets. That is a statement about "
        "the correlation, not about money. Experiences worth nothing on average but with unequal and skewed "
        "contributions can have a positive expected correlation, and dividing contributions by the root of the date's "
        "spread (the pooling of this preset) adds to it; then 5 % is exceeded. memtrial bench guarantee measures by "
        "how much.",
    ),
    (
        "Not covered: worth",
        "Values can rank experiences rightly and the best of them can still be worse than the anchor (the regimes "
        "“harm”). No test of ranking sees this. The veto does: a draft is refused when its predicted total does not "
        "make up for what drafts of its size fell short of the anchor in the past. The veto is measured here, not "
        "guaranteed.",
    ),
    (
        "Not covered: turns",
        "Memory that was good and turns has earned its weight. How long it takes to lose it again is what the cap and "
        "the forgetting learners are for, and what the table of turns measures.",
    ),
    (
        "Overlapping outcomes",
        "One purse is a fair game only when each outcome is known before the next bet. If an outcome is known only "
        "after H decisions, H purses take turns and their mean counts. The expected share stays at most α on every "
        "date; “ever in full” is then at most α for each purse, and at most H·α for their mean. In PlantedMem H = 1.",
    ),
    (
        "Per lane",
        "The promise is for one investor's deployment. Of three investors who share the drafts, the chance that any "
        "one is ever trusted in full is larger.",
    ),
    (
        "One history",
        "Worlds differ in memories, retrieval and drafts; all share the one price history from April 2015 to March "
        "2026. Intervals are over worlds and say nothing about another history.",
    ),
)
