"""Who drafts: any callable, or a language model with its prompts and reply forms."""

from memtrial.policy.contract import Allocation, Answer, Policy, allocation, draft_all
from memtrial.policy.forms import FORMS, RATING_SHARES, RatingsForm, ReplyForm, WeightsForm
from memtrial.policy.llm import LLMPolicy
from memtrial.policy.prompts import correction, decision_messages, experience_block

__all__ = [
    "FORMS",
    "RATING_SHARES",
    "Allocation",
    "Answer",
    "LLMPolicy",
    "Policy",
    "RatingsForm",
    "ReplyForm",
    "WeightsForm",
    "allocation",
    "correction",
    "decision_messages",
    "draft_all",
    "experience_block",
]
