# ruff: noqa: E501  (patterns and tables are not broken)
"""The validator of narratives: what fails here is never indexed.

It trusts neither the model that wrote the text nor the quarantine before it, and scans for payloads on its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memtrial.intake.families import MEANING
from memtrial.intake.narrative import SECTIONS, Narrative, Section, parse
from memtrial.intake.scan import scan

MINIMUM_WORDS = 60
"""Fewest words of all bodies together."""

SURER = 1.0
"""Logits by which the classifier has to be surer here than in quarantine: one false alarm refuses a whole note."""

Code = Literal[
    "section_missing",
    "section_repeated",
    "section_order",
    "section_empty",
    "preamble",
    "too_short",
    "outcome",
    "malformed_number",
    "json",
    "table",
    "execution",
    "payload",
]
"""Stable name of a problem."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a narrative cannot be indexed.

    Attributes
    ----------
    code
        Stable name.
    where
        Section, or ``"note"`` for the whole.
    message
        What is wrong and what to do, fit to be sent back to a model. It quotes a payload by its family only.
    """

    code: Code
    where: str
    message: str


def validate(narrative: str | Narrative) -> tuple[Problem, ...]:
    """Everything that is wrong with a narrative, in the order of the text; empty when it may be indexed.

    Parameters
    ----------
    narrative
        A text, or what :func:`memtrial.intake.narrative.parse` made of it.
    """
    parsed = parse(narrative) if isinstance(narrative, str) else narrative
    text = narrative if isinstance(narrative, str) else narrative.text
    return (*_form(parsed), *_wording(parsed), *_payloads(text))


def _form(parsed: Narrative) -> Iterator[Problem]:
    names = [section.name for section in parsed.sections]
    counts = Counter(names)
    if parsed.preamble:
        yield Problem(code="preamble", where="note", message="text before the first section; begin with the title")
    for name in SECTIONS:
        if not counts[name]:
            yield Problem(code="section_missing", where=name, message=f'the section "{name}" is missing; add it')
        elif counts[name] > 1:
            yield Problem(
                code="section_repeated", where=name, message=f"it appears {counts[name]} times; write it once"
            )
    once = list(dict.fromkeys(names))
    expected = [name for name in SECTIONS if counts[name]]
    if once != expected:
        first = next(found for found, due in zip(once, expected, strict=True) if found != due)
        yield Problem(code="section_order", where=first, message=f"out of order; the order is {', '.join(SECTIONS)}")
    for section in parsed.sections:
        if _is_empty(section):
            yield Problem(
                code="section_empty", where=section.name, message="nothing is written under it; write a sentence"
            )
    length = sum(len(re.findall(r"\w+", section.body)) for section in parsed.sections)
    if length < MINIMUM_WORDS:
        yield Problem(code="too_short", where="note", message=f"it has {length} words; write at least {MINIMUM_WORDS}")


_FILLER = re.compile(
    r"(?:n\s*/?\s*a|tbd|todo|tbc|\.{2,}|…|null|none provided|placeholder|empty|lorem ipsum.*)[.!]?", re.IGNORECASE
)


def _is_empty(section: Section) -> bool:
    body = section.body.strip(" \t\n-*•–—_:()[]")
    return not any(character.isalpha() for character in body) or _FILLER.fullmatch(body) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wording:
    """A wording, and the words of which one must be there for it to be looked for."""

    words: frozenset[str]
    pattern: re.Pattern[str]

    def search(self, body: str, body_words: frozenset[str]) -> re.Match[str] | None:
        if self.words.isdisjoint(body_words) if self.words else body.isascii():
            return None
        return self.pattern.search(body)


def _wordings(*pairs: tuple[str, str]) -> tuple[_Wording, ...]:
    return tuple(
        _Wording(words=frozenset(words.split()), pattern=re.compile(text, re.IGNORECASE)) for words, text in pairs
    )


def _found(wordings: tuple[_Wording, ...], body: str, body_words: frozenset[str]) -> re.Match[str] | None:
    for wording in wordings:
        if found := wording.search(body, body_words):
            return found
    return None


_TRADE = r"(?:trade|setup|position|entry|idea|short|long|order|it|this(?: one)?|we|i|bot|agent)"
_RESULT = (
    r"(?:profit|loss|win|gain|winner|loser|break-?\s?even|breakeven|scratch|the money|green|red|positive|negative)"
)
_TARGET = r"(?:(?:first|second|third|final|full|initial|profit|price|partial|both|all|the|its|our|their|1st|2nd)\s+){0,3}(?:targets?|tp\s?\d?s?|take[- ]profits?|objective)"
_STOP = r"(?:(?:the|its|our|their|my|initial|trailing|protective)\s+){0,2}(?:stop(?:[- ]?loss)?(?:es|s)?|sl)"
_OUTCOME = _wordings(
    ("closed ended finished exited resulted settled concluded came got culminated turned went",
     rf"\b(?:closed|ended|finished|exited|resulted|settled|concluded|came out|got out|culminated|turned|went)\s+(?:out\s+)?(?:up\s+)?(?:as|in|at|with|for|into|on)?\s*(?:an?|the|small|big|large|full|deep|slight|modest|solid|nice|clean|quick)?\s*(?:an?\s+)?(?:small|big|large|full|slight|modest|solid|nice|clean|quick)?\s*{_RESULT}\b"),
    ("stopped stoped stop stopout took",
     r"\bstopp?ed[- ]?out\b|\bstop[- ]?out\b|\bgot stopped\b|\bwas stopped\b|\btook (?:the |a )?(?:full )?(?:loss|stop|hit|L)\b"),
    ("hit hits hitting reached reaches triggered tagged took touched filled ran struck made got achieved",
     rf"\b(?:hit|hits|hitting|reached|reaches|triggered|tagged|took|touched|filled|ran into|struck|made it to|got to|achieved)\s+{_STOP}\b(?! (?:hunt|run|cluster|pool)s?)"),
    ("stop stops stoploss stoplosses sl tp",
     rf"\b{_STOP}\s+(?:loss\s+)?(?:was|were|got|has been|had been|is)\s+(?:then\s+|later\s+|subsequently\s+|eventually\s+)?(?:hit|triggered|taken|struck|filled|tagged|reached)\b|\b(?:sl|tp\s?\d?)\s+(?:was\s+)?(?:hit|triggered|filled|reached)\b"),
    ("hit hits reached tagged touched filled achieved delivered met smashed made got ran took",
     rf"(?<!before )(?<!until )\b(?:hit|hits|reached|tagged|touched|filled|achieved|delivered|met|smashed|made it to|got to|ran to|ran all the way to|took)\s+{_TARGET}\b"),
    ("target targets tp tps take profit profits objective",
     rf"\b{_TARGET}\s+(?:was|were|got|has been|had been|have been)\s+(?:then\s+|later\s+|eventually\s+|subsequently\s+|quickly\s+|never\s+|not\s+)?(?:hit|reached|met|filled|achieved|tagged|touched|taken)\b"),
    ("p pnl roi mfe mae",
     r"\bp\s?[&/]\s?l\b|\bpnl\b|\bp\s?and\s?l\b|\broi\b|\bmfe\b|\bmae\b"),
    ("profit profits profitable profitability profitably profited unprofitable profiting",
     r"(?<!take )(?<!take-)\bprofits?\b(?![- ](?:taking|tak|target|warning|margin))|\bprofitab\w+|\bprofited\b|\bunprofitable\b"),
    ("r multiples multiple",
     r"(?<![\w.:])[+\-−–]?\d+(?:[.,]\d+)?\s?-?\s?R\b(?![:/&])|\b(?:one|two|three|four|five|half an|minus one|multiple)\s+R\b(?![:/&])|\bR[- ]multiples?\b"),
    ("r rr rrr risk reward",
     r"\bR\s?[:/]\s?R\b|\bRRR?\b|\b(?:risk|reward)[- /:]*(?:to[- ])?(?:reward|risk)(?: ratio)?\s*(?:of|was|is|:|at|=)?\s*(?:about |around |roughly )?\d"),
    ("would could might should",
     r"\b(?:would|could|might|should)(?:'ve|\s+have|\s+of)\s+(?:\w+ly\s+|easily\s+|then\s+|since\s+|probably\s+|been\s+(?:a\s+)?)*(?:made|hit|won|win|lost|lose|loss|stopped|reached|paid|worked|failed|returned|gained|netted|earned|resulted|closed|ended|run|ran|cost|yielded|produced|given|winner|loser|profitable|avoided|saved|missed|doubled|banked|delivered|succeeded|turned)\b"),
    ("hindsight hind retrospect fact turned",
     r"\b(?:in|with)\s+(?:hind\s?sight|retrospect)\b|\bhindsight\b|\bafter the fact\b|\bas it turned out\b|\bturned out (?:to be )?(?:well|badly|fine|right|wrong|correct|a |great|poorly|profitab)"),
    ("won lost paid worked succeeded played netted banked made failed win loss winner loser success failure closed exited liquidated profitable",
     rf"\b{_TRADE}\s+(?:\w+ly\s+|then\s+|later\s+)?(?:won|lost|paid(?: off)?|worked(?: out| well| perfectly)?|succeeded|played out|netted|banked|lost money|made money|failed(?! to)|was a (?:win|loss|winner|loser|success|failure)|was (?:closed|exited|liquidated|profitable))\b"),
    ("won winning losing lost winner loser losers winners win loss wins losses",
     r"\b(?:won|winning|losing|lost|winner|loser|losers|winners)\s+(?:trade|position|setup|by\b|\d|money|of\b|on this|the trade)|\b(?:was|is|became|as|be)\s+an?\s+(?:\w+\s+)?(?:winner|loser|win|loss)\b|\b(?:big|small|clean|clear|full|easy|nice|quick|missed|net|final|realized|realised|another|eventual|small)\s+(?:win|loss|winner|loser)\b|\bwin rate\b|\bthe (?:win|loss|winner|loser)\b|\ba (?:win|winner|loss|loser)\b"),
    ("made gained lost netted banked booked returned earned cost yielded pocketed gave up down returning earning losing gaining netting making",
     r"\b(?:made|gained|lost|netted|banked|booked|returned|earned|cost us|yielded|pocketed|gave back|up|down|returning|earning|losing|gaining|netting|making)\s+(?:us\s+|about\s+|around\s+|nearly\s+|over\s+|a\s+)?[+\-−$€£]?\s?\d[\d.,]*\s?(?:%|percent|usdt?|dollars|eur|bps|pips|points|ticks|k\b)?(?:\s+(?:on|in|for|from) (?:the |this )?(?:trade|position|account|day))?(?=\W|$)(?!\s*(?:of|out|times|touches|tests|candles|bars|hours|days|sessions|retests))"),
    ("banked booked pocketed realised realized secured locked money paid worked played broke break breakeven scratch scratched",
     r"\b(?:banked|booked|pocketed|realised|realized|secured|locked in)\s+(?:\w+\s+){0,2}(?:profit|gain|gains|loss|losses|pips|money|returns?)\b|\bmade money\b|\blost money\b|\bmoney was (?:made|lost)\b|\bpaid off\b|\bpaid out\b|\bworked out\b|\bplayed out\b|\bbroke even\b|\bbreak-?even exit\b|\bscratch(?:ed)? (?:trade|the trade|for)\b"),
    ("outcome result",
     r"\b(?:final|trade|eventual|actual|realised|realized|its|the)\s+(?:outcome|result)\b(?! of the (?:election|vote|meeting|auction))|\boutcome\s*[:=]|\bresult\s*[:=]"),
    ("after subsequently eventually ultimately later went followed happened",
     rf"\bafter (?:the |our |my )?(?:entry|fill|acceptance|rejection|decision)\b[^.]{{0,30}}\b(?:price|market|it|{_TRADE})\b|\bprice (?:subsequently|eventually|ultimately|went on to|later)\b|\b(?:subsequently|ultimately|eventually) (?:fell|rose|rallied|dropped|reversed|collapsed|sold off|ran|broke|failed|hit|reached|moved|won|lost|stopped)\b|\bwent on to\b|\bthe (?:move|drop|rally) that followed\b|\bwhat (?:happened|followed) (?:next|after|later)\b"),
    ("exit exited closed taken knocked shaken kicked liquidated",
     r"\bexit(?:ed)?\s+(?:at|with|in|for)\s+(?:a\s+)?(?:small\s+)?(?:profit|loss|gain|break)|\bexit reason\b|\bclosed (?:by|via|at) (?:tp|sl|stop|target|the stop|the target)\b|\b(?:taken|knocked|shaken|kicked) out (?:at|by|of|for|before)\b|\bliquidated\b"),
    ("ausgestoppt gewinntrade verlusttrade ziel gewinn verlust gewonnen verloren gagnant perdant objectif stop ganador ganadora perdedor perdedora objetivo ganancia ganancias p profitto perdita obiettivo lucro preju alvo",
     r"\bausgestoppt\b|\bgewinntrade\b|\bverlusttrade\b|\bziel (?:wurde )?erreicht\b|\bmit (?:gewinn|verlust)\b|\b(?:trade|position) (?:gewonnen|verloren)\b|\bgagnant\b|\bperdant\b|\bobjectif atteint\b|\bstop touché\b|\bganador\w*|\bperdedor\w*|\bobjetivo alcanzado\b|\bcon (?:ganancia|pérdida)s?\b|\bin (?:profitto|perdita)\b|\bobiettivo raggiunto\b|\bcom (?:lucro|prejuízo)\b|\balvo atingido\b"),
    ("",
     r"\bс прибылью\b|\bс убытком\b|\bстоп сработал\b|\bцель достигнута\b|盈利|亏损|止损出局|止盈|獲利|利確|損切りに|利益で|損失で"),
)  # fmt: skip

_NUMBER = re.compile(
    r"(?<![\w.])(?!(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:\d{4}|\d{2})(?!\.?\d))(?!\d{4}\.\d{2}\.\d{2}(?!\.?\d))\d+(?:\.\d+){2,}(?![\w])"
    r"|\d\.{2,}\d|\d,{2,}\d|\d\.,\d|\d,\.\d|(?<![\w,])\d+,\d{1,2},\d+|\d+\.\d+,\d+\.\d+|\d+,\d+\.\d+,\d"
    r"|\b[Nn][Aa][Nn]\b(?!\s+bread)|\d%%|[+\-−]{2,}\d|\d+\.\d*e\b|(?<!\w)\$\$\d|\d+\.\s\d+\.\d|\d+\.\d+\.(?=[a-z])"
)
_JSON = re.compile(r"[{\[]\s*[\"'][\w $-]+[\"']\s*:|[\"'][\w -]+[\"']\s*:\s*(?:[\"'\[{]|-?\d|true|false|null)|```|^\s*[{}\]]\s*,?\s*$|\{\s*\w+\s*:\s*[^{}\n]*\}|^\s*[{\[].*[}\]]\s*$", re.MULTILINE)  # fmt: skip
_TABLE = re.compile(r"^\s*\|.*\|\s*$|^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$|^[^|\n]+\|[^|\n]+\|[^|\n]+(?:\|[^|\n]*)*$", re.MULTILINE)  # fmt: skip
_QUANTITY = r"(?:lots?|contracts?|units?|coins?|shares?|tokens?)"
_EXECUTION = _wordings(
    ("buy sell enter exit reenter accumulate short long",
     r"\b(?:buy|sell|enter|exit|re-?enter|short it|long it|accumulate)\s+(?:(?:the|a|an|this|half|more|some|it|long|short|longs|shorts|here|btc|eth|xrp\w*|sol\w*)\s+){0,2}(?:at|@|now|here|when|once|if|on (?:the|a) (?:open|retest|break|close|next|pullback|dip|touch)|immediately|\d)"),
    ("go open take initiate enter add close scale build",
     r"\bgo (?:long|short)\b|\b(?:open|take|initiate|enter|add to|close|scale into|build)\s+(?:an?\s+|the\s+|your\s+)?(?:new\s+|full\s+|half\s+|small\s+)?(?:long|short|position|longs|shorts)\b(?!\s+(?:setup|idea|interest|squeeze|liquidat|bias|case|side))"),
    ("order orders buy sell",
     r"(?<!resting )\b(?:market|limit|stop|stop[- ]limit|stop[- ]market|oco|trailing[- ]stop|iceberg|bracket|gtc|post[- ]only|reduce[- ]only|fok|ioc)[- ]+orders?\b(?!\s*(?:flow|book|block|imbalance))|\bbuy[- ](?:stop|limit)\b|\bsell[- ](?:stop|limit)\b"),
    ("place set put move trail tighten keep use position bring shift raise lower adjust leave hide tuck",
     r"\b(?:place|set|put|move|trail|tighten|keep|use|position|bring|shift|raise|lower|adjust|leave|hide|tuck)\s+(?:(?:a|an|the|your|our|its|my|initial|tight|wide|hard|protective|trailing|first|final|tighter|wider)\s+){0,3}(?:stops?(?:[- ]loss(?:es)?)?|sl|tps?\d?|take[- ]profits?|targets?|limits?|bids?|offers?|orders?|bracket)\b"),
    ("stop stops sl tp take target targets entry invalidation limit",
     r"\b(?:stop(?:[- ]loss)?|sl|tp\s?\d?|take[- ]profit|targets?|entry|invalidation|limit)\s*(?:price|level)?\s*(?:is|at|@|:|=|to|set at|placed at|of)\s*(?:about |around )?\$?\d+[\d.,]*(?!\s*(?:h|m|d|w|min|hour|/100|%|percent|R|bullish|bearish)\b)"),
    ("lot lots contract contracts unit units coin coins share shares token tokens x leverage lev",
     rf"\b\d+(?:[.,]\d+)?\s*{_QUANTITY}\b|\b\d+\s*x\s+(?:leverage|lev|margin)\b|\bleverage\s*(?:of|at|:|=)?\s*\d+|\b(?:with|use|using|apply)\s+(?:high|low|max|maximum|moderate|\d+x)\s+leverage\b"),
    ("risk size allocate commit invest deploy stake put position half full double quarter max maximum minimum reduced normal reduce increase cut halve",
     r"\b(?:risk|size|allocate|commit|invest|deploy|stake|put)\s+(?:only\s+|up to\s+|about\s+|at most\s+|just\s+|no more than\s+)?\d+(?:[.,]\d+)?\s*(?:%|percent|bps|usdt?|dollars|units|of (?:the )?(?:account|equity|capital|balance))|\bposition siz(?:e|ing)\s*(?:of|:|=|should|at|is)\b|\b(?:half|full|double|quarter|max(?:imum)?|minimum|reduced|normal)[- ](?:size|position size|risk size)\b|\b(?:reduce|increase|cut|double|halve) (?:the |your )?(?:size|position|exposure)\b"),
    ("take book scale move entry enter sell buy",
     r"\btake (?:partial )?profits?\s+(?:at|on|near|around|when|into|above|below|half|early|partially|here)\b|\b(?:take|book) partials\b|\bscale (?:out|in)\b|\bmove (?:the )?stop to (?:break|entry)|\b(?:entry|enter) on (?:a|the) (?:limit|market)\b|\bsell (?:half|all|everything)\b|\bbuy (?:half|all|more)\b"),
)  # fmt: skip


_MARKS = frozenset('{}[]`"|')
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[a-z]+")


def _wording(parsed: Narrative) -> Iterator[Problem]:
    for section in parsed.sections:
        body = section.body
        body_words = frozenset(_LETTERS.findall(body.lower()))
        found = _found(_OUTCOME, body, body_words)
        if found:
            message = f'"{_quoted(found)}" tells what came of it; leave every result out'
            yield Problem(code="outcome", where=section.name, message=message)
        found = _NUMBER.search(body) if "nan" in body_words or _DIGIT.search(body) else None
        if found:
            message = f'"{_quoted(found)}" is not a number; use words or drop it'
            yield Problem(code="malformed_number", where=section.name, message=message)
        marked = not _MARKS.isdisjoint(body)
        if marked and _JSON.search(body):
            yield Problem(code="json", where=section.name, message="it has braces or fields; write sentences")
        if marked and _TABLE.search(body):
            yield Problem(code="table", where=section.name, message="it has a table; write sentences or points")
        found = _found(_EXECUTION, body, body_words)
        if found:
            message = f'"{_quoted(found)}" is an instruction to trade; say what it means for the risk instead'
            yield Problem(code="execution", where=section.name, message=message)


def _quoted(found: re.Match[str]) -> str:
    return " ".join(found.group().split())[:60]


def _payloads(text: str) -> Iterator[Problem]:
    spans = scan(text, surer=SURER)
    where = _places(text.splitlines()) if spans else []
    for span in spans:
        message = f"line {span.last + 1} {MEANING[span.family]} ({span.family}); leave it out"
        yield Problem(code="payload", where=where[span.last], message=message)


def _places(lines: list[str]) -> list[str]:
    """The section of each line."""
    places: list[str] = []
    current = "note"
    for line in lines:
        sections = parse(line).sections
        current = sections[0].name if sections else current
        places.append(current)
    return places
