"""The families of payloads that text may carry: one table, used by scan, quarantine, validator and corpora."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

Family: TypeAlias = Literal[
    "override",
    "role_spoofing",
    "tool_invocation",
    "approval_bypass",
    "secrets",
    "exfiltration",
    "score_manipulation",
    "memory_manipulation",
    "fake_provenance",
    "delimiter",
    "markup",
    "encoding",
    "lookalike",
    "invisible",
    "other_language",
    "split_instruction",
]
"""Name of a family."""

FAMILIES: tuple[Family, ...] = get_args(Family)
"""Every family, in the order of the table."""

MEANING = MappingProxyType(
    {
        "override": "sets aside what the model was told",
        "role_spoofing": "speaks as the system, its owner or another role",
        "tool_invocation": "asks for a tool, a command or an order",
        "approval_bypass": "wants acceptance without the check",
        "secrets": "asks for credentials or hidden text",
        "exfiltration": "asks to carry data elsewhere",
        "score_manipulation": "dictates a score or a rank",
        "memory_manipulation": "changes what is remembered",
        "fake_provenance": "claims an authority for itself",
        "delimiter": "pretends that the data ends here",
        "markup": "hides text or a request in markup",
        "encoding": "hides text behind an encoding",
        "lookalike": "writes words with characters that look alike",
        "invisible": "hides or breaks words with characters that cannot be seen",
        "other_language": "says it in another language than the rest",
        "split_instruction": "spreads one instruction over several sentences",
    }
)
"""What a payload of each family does, for people and for the model that is asked to write again."""
