# ruff: noqa: E501  (patterns and tables are not broken)
"""The scan: which parts of a text carry an instruction, and of what family.

Two layers, each enough on its own: patterns with rules over concepts, and the classifier. Both see the line as it is
and every other reading of it (:mod:`memtrial.intake.decode`). A payload may be spread, so sentences and windows of two
neighbouring sentences are judged as well; the shorter or the more pieced together the stretch, the surer the
classifier has to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from memtrial.intake.classifier import Classifier, Sums, trained
from memtrial.intake.decode import is_suspect, readings
from memtrial.intake.families import Family
from memtrial.intake.lexicon import Lexicon, fold, words

SENTENCE_MARGIN, WINDOW_MARGIN = 0.8, 1.6
"""Logits by which a sentence inside a line, and two neighbouring lines, have to be surer."""

Layer = Literal["pattern", "classifier", "writing"]
"""What found it: a pattern or rule, the classifier, or the trick of writing itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One finding.

    Attributes
    ----------
    first, last
        Numbers of the lines it covers, from 0, both included.
    family
        What it tries.
    layer
        What found it.
    """

    first: int
    last: int
    family: Family
    layer: Layer


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_CHAT = r"(?:system|developer|assistant|admin|sys|user|human|ai)"
PATTERNS: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("delimiter", _pattern(r"<\|?/?(?:im_start|im_end|endoftext|system|assistant|user|eot_id|start_header_id)\|?>|\[/?INST\]|<<\s*/?SYS\s*>>|</?s>")),
    ("delimiter", _pattern(r"</(?:\w*(?:memor|data|dat[eo]|context|document|donn|daten|данн|数据|記憶|データ)\w*)>")),
    ("delimiter", _pattern(r"^\s*#{2,}\s*(?:instruction|system|response|task|prompt|new instruction)s?\b")),
    ("delimiter", re.compile(r"<<<|>>>|‹‹‹|›››|```|\"\"\"|~~~~|\]\]\]|\}\}\}")),
    ("delimiter", _pattern(r"[-=*_~#(\[][ \t]{0,3}/?[ \t]{0,3}(?:end|ende|fin|fine|fim|конец|结束)\s*(?:of|der|des|de|del|delle|das|dos)?\s*(?:the|la|los|las|le|les|i|os)?\s*(?:\w+\s+){0,2}(?:memor|data\b|context|notes|document|record|block|erinnerung|daten|dokument|mémoire|donnée|datos|documento|memoria|dati|dados|воспоминан|данных|документ)")),
    ("delimiter", re.compile(r"(?:记忆|数据|文档|上下文|記憶|データ|文書|文脈)(?:の)?(?:结束|結束|終わり|終了)")),
    ("role_spoofing", re.compile(r"(?:^|[.;|\]\s])(?:SYSTEM|System|ADMIN|Admin|DEVELOPER|Developer|OPERATOR|Operator|SYSTEMA|SYSTÈME|Système|SISTEMA|Sistema|Systeem|СИСТЕМА|Система|Assistant|ASSISTANT|Human|USER)\s*(?:notice|message|override|prompt)?\s*:\s+\w")),
    ("role_spoofing", _pattern(rf"\[\s*{_CHAT}\s*\]|\(\s*{_CHAT}\s*\)\s*:")),
    ("role_spoofing", re.compile(r"(?:系统|管理员|开发者|システム|管理者|開発者)\s*[::]")),
    ("role_spoofing", _pattern(r"[\"']role[\"']\s*:\s*[\"']")),
    ("tool_invocation", _pattern(r"</?(?:tool|function)[_-]?(?:call|use)?s?>|[\"'](?:tool|function|name|arguments|tool_calls?)[\"']\s*:\s*[\"{\[]")),
    ("tool_invocation", _pattern(r"\b[a-z]+(?:[._][a-z]+)+\s*\(|\b(?:place|submit|open|close|transfer|withdraw|execute|market|send|delete|update)_[a-z_]+\b")),
    ("tool_invocation", _pattern(r"\bcurl\s+-|\brm\s+-rf|\bsudo\s|\bos\.system|\bwget\s+http|\bDROP\s+TABLE|\bDELETE\s+FROM|\beval\s*\(|\b(?:POST|GET|PUT)\s+(?:\w+\s+){0,6}(?:to\s+)?https?://")),
    ("score_manipulation", _pattern(r"[\"']?(?:score|verdict|rating|confidence|agent_rank_score|rank_score)[\"']?\s*(?::\s*[\"{]|:?=\s*[\"\d])")),
    ("fake_provenance", _pattern(r"\b(?:trust(?:_level)?|verified|authority|provenance|review_status|source_type)\s*[=]\s*\w|\breview_status\b")),
    ("exfiltration", _pattern(r"https?://[^\s)]*\?[^\s)]*=\s*(?:\{|API|KEY|balance|position)|[\w.+-]+@[\w-]+\.\w{2,}")),
    ("markup", _pattern(r"<!--|-->|</?(?:script|iframe|style|span|div|img|svg|details|summary|small|font|meta|link|object|embed|form|input|template|noscript|p|a|b|i|br|body|html|title|sub|sup|mark|u)(?:\s[^<>]*)?/?>")),
    ("markup", _pattern(r"!\[[^\]]*\]\(|\]\(\s*(?:javascript|data|vbscript):|\]\([^)\s]*\?[^)\s]*\)|^\s*\[//\]:")),
    ("split_instruction", _pattern(r"(?:concatenate|combine (?:them|both)|put them together|join (?:these|them|both)|read (?:them|these) as one)\b")),
)  # fmt: skip
"""Forms that no journal has, in the line as written."""

_MARKS = re.compile(r"[<>\[\]{}|`\"=@#~_*‹›(]|--|://")
_LOUD = (
    "system:", "system ", "admin", "developer", "operator", "assistant:", "human:", "user:", "sistema:", "système :", "système:",
    "systeme", "система:", "rm -rf", "sudo ", "concatenate", "combine", "put them together", "join ", "as one", "curl -",
    "drop table", "delete from", "结束", "終わり", "終了", "结束", "系统", "管理", "开发者", "システム", "開発者", "os.system", "wget",
    "review_status",
)  # fmt: skip
"""Without one of these no pattern can match."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """Two concepts near each other, with others that must or must not be in the sentence."""

    family: Family
    first: str
    second: str
    within: int = 5
    also: tuple[str, ...] = ()
    unless: tuple[str, ...] = ("own", "market")


RULES: tuple[Rule, ...] = (
    Rule(family="override", first="disregard", second="instruction"),
    Rule(family="override", first="instruction", second="disregard", also=("prior",)),
    Rule(family="role_spoofing", first="system", second="role"),
    Rule(family="role_spoofing", first="role", second="agent"),
    Rule(family="secrets", first="reveal", second="secret", within=6, unless=("own",)),
    Rule(family="secrets", first="secret", second="secret", within=6),
    Rule(family="approval_bypass", first="approve", second="skip", also=("check",)),
    Rule(family="approval_bypass", first="skip", second="check", also=("any",)),
    Rule(family="approval_bypass", first="skip", second="check", also=("from_now",)),
    Rule(family="memory_manipulation", first="erase", second="memory", also=("any",)),
    Rule(family="score_manipulation", first="score", second="top", also=("any", "must")),
    Rule(family="score_manipulation", first="score", second="top", also=("from_now",)),
    Rule(family="exfiltration", first="send", second="address", also=("memory",)),
    Rule(family="tool_invocation", first="tool", second="order", also=("urgent",)),
)
"""What blunt requests say in every language."""


class Scanner:
    """Scans texts; keeps what it has learned about words, so that the next text is faster."""

    def __init__(self, classifier: Classifier, *, surer: float = 0.0) -> None:
        """``surer`` is added to the classifier's threshold, in logits; patterns and tricks of writing do not change."""
        self._classifier = replace(classifier, threshold=classifier.threshold + surer) if surer else classifier
        self._lexicon = classifier.lexicon
        self._rules = tuple(_numbered(rule, classifier.lexicon) for rule in RULES)

    def __call__(self, text: str) -> tuple[Span, ...]:
        """Findings in the order of their lines; a line has at most one of its own."""
        found: list[Span] = []
        previous: tuple[int, str, Sums] | None = None
        loud = _is_loud(text)
        suspect = not text.isascii() or is_suspect(text)
        for number, line in enumerate(text.splitlines()):
            if not line.strip():
                previous = None
                continue
            sums, span = self._line(number, line, loud, suspect)
            if span is None and previous is not None and sums is not None:
                span = self._window(previous[0], number, f"{previous[1]} {line}", previous[2] + sums)
            if span is not None:
                found.append(span)
            previous = (number, line, sums) if span is None and sums is not None else None
        return tuple(found)

    def _line(self, number: int, line: str, loud: bool, suspect: bool) -> tuple[Sums | None, Span | None]:
        """The sums of an innocent line, or the finding."""
        hit = self._judge(line, loud)
        if isinstance(hit, Sums):
            for reading in readings(line, suspect=suspect):
                if reading.plain:
                    return None, Span(first=number, last=number, family=reading.family, layer="writing")
                inner = self._judge(reading.text, _is_loud(reading.text))
                if not isinstance(inner, Sums):
                    return None, Span(first=number, last=number, family=reading.family, layer=inner[1])
            return hit, None
        return None, Span(first=number, last=number, family=hit[0], layer=hit[1])

    def _judge(self, line: str, loud: bool) -> tuple[Family, Layer] | Sums:
        if loud or _MARKS.search(line):
            for family, pattern in PATTERNS:
                if pattern.search(line):
                    return family, "pattern"
        classifier = self._classifier
        parts = [classifier.sums(sentence) for sentence in sentences(line)]
        if not parts:
            return classifier.sums(line)
        whole = parts[0]
        for part in parts[1:]:
            whole += part
        ruled = self._ruled(line, whole)
        if ruled is not None:
            return ruled, "pattern"
        if classifier.logit(whole) >= classifier.threshold:
            return classifier.family(whole.concepts), "classifier"
        if len(parts) > 1:
            surer = classifier.threshold + SENTENCE_MARGIN
            for stretch in (*parts, *(left + right for left, right in pairwise(parts))):
                if stretch.words > 2 and classifier.logit(stretch) >= surer:
                    return classifier.family(stretch.concepts), "classifier"
        return whole

    def _window(self, first: int, last: int, joined: str, sums: Sums) -> Span | None:
        classifier = self._classifier
        if self._ruled(joined, sums) is not None:
            return Span(first=first, last=last, family="split_instruction", layer="pattern")
        if classifier.logit(sums) < classifier.threshold + WINDOW_MARGIN:
            return None
        return Span(first=first, last=last, family="split_instruction", layer="classifier")

    def _ruled(self, line: str, sums: Sums) -> Family | None:
        present = set(sums.concepts)
        for rule in self._rules:
            if rule.needs <= present and not rule.unless & present:
                placed = self._lexicon.of_line(words(fold(line)))
                starts = [place for place, concept in placed if concept == rule.first]
                ends = [place for place, concept in placed if concept == rule.second]
                if any(0 < end - start <= rule.within for start in starts for end in ends):
                    return rule.family
        return None


def _is_loud(text: str) -> bool:
    lower = text.lower()
    return any(loud in lower for loud in _LOUD)


@dataclass(frozen=True, kw_only=True, slots=True)
class _NumberedRule:
    family: Family
    first: int
    second: int
    within: int
    needs: frozenset[int]
    unless: frozenset[int]


def _numbered(rule: Rule, lexicon: Lexicon) -> _NumberedRule:
    number = lexicon.concepts.index
    return _NumberedRule(
        family=rule.family,
        first=number(rule.first),
        second=number(rule.second),
        within=rule.within,
        needs=frozenset(number(name) for name in (rule.first, rule.second, *rule.also)),
        unless=frozenset(number(name) for name in rule.unless),
    )


_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[。!?;])")


def sentences(line: str) -> Sequence[str]:
    """The sentences of a line."""
    return [part for part in _SENTENCE.split(line) if part.strip()]


@cache
def _bundled_scanner(surer: float) -> Scanner:
    return Scanner(trained(), surer=surer)


def scan(text: str, *, surer: float = 0.0) -> tuple[Span, ...]:
    """Findings in ``text``, by the classifier that comes with the package.

    Parameters
    ----------
    text
        Lines of any writing.
    surer
        Logits by which the classifier has to be surer than usual.

    Returns
    -------
    tuple of Span
        In the order of the lines; empty when nothing was found.
    """
    return _bundled_scanner(surer)(text)


def marked_lines(spans: Sequence[Span]) -> Iterator[int]:
    """Numbers of the lines that the findings cover, each once and in order."""
    yield from sorted({number for span in spans for number in range(span.first, span.last + 1)})
