"""Who drafts a ClassAlloc run: a bundled recording, or any model, seen through a recording of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from memtrial.errors import InputError
from memtrial.market.classalloc import ROLE
from memtrial.models import LanguageModel, Recorded, Recording, resolve_model
from memtrial.policy import FORMS, LLMPolicy
from memtrial.reflect import LessonWriter, Reflector, write_record

BUNDLED = "qwen2.5-coder-0.5b-instruct-q4.seed0.jsonl.xz"
Form = Literal["weights", "ratings"]
Kind = Literal["lesson", "record"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafter:
    """A policy, how its outcomes become experiences, the recording behind both, and a word about the model.

    ``scope`` names what it drafts in a store: another model, sampling, server or recording is another memory.
    """

    policy: LLMPolicy
    reflector: Reflector
    recording: Recording
    scope: str
    note: str


def drafter(
    spec: str | None,
    *,
    recording: Path | None,
    folder: Path,
    environ: Mapping[str, str],
    base_url: str | None = None,
    form: Form | None = None,
    kind: Kind | None = None,
    temperature: float = 0.7,
    seed: int = 0,
    max_tokens: int = 200,
) -> Drafter:
    """Who drafts, from what was asked for on the command line.

    Parameters
    ----------
    spec
        ``provider:MODEL``, or ``None`` to replay ``recording``.
    recording
        The recording to replay or to add to. Without it the bundled one is replayed, and a live model is recorded in
        ``folder``.
    folder
        Where the recording of a live model goes when none is named.
    environ
        Environment with the provider's key.
    base_url
        Another address of an OpenAI-compatible provider.
    form, kind
        Reply form and kind of experience; by default ratings and records for local models, weights and lessons for
        the others.
    temperature, seed, max_tokens
        Sampling; a model that reasons before it answers needs more tokens.

    Raises
    ------
    ProviderError
        When the model cannot be asked.
    RecordingError
        When the recording cannot be used.
    """
    model: LanguageModel | None = None
    if spec is None:
        if base_url is not None:
            raise InputError("--base-url needs a live policy; add --policy openai:MODEL")
        kept = Recording(recording) if recording else bundled_recording()
    else:
        model = resolve_model(spec, base_url=base_url, environ=environ)
        kept = Recording(recording or folder / f"{_slug(model.identity)}.jsonl", model=model.identity)
        kept.hold()
    small = kept.model.startswith("local:")
    seen = Recorded(kept, model)
    reply_form = FORMS[form or ("ratings" if small else "weights")]
    kind = kind or ("record" if small else "lesson")
    policy = LLMPolicy(seen, role=ROLE, form=reply_form, temperature=temperature, seed=seed, max_tokens=max_tokens)
    return Drafter(
        policy=policy,
        reflector=LessonWriter(seen, seed=seed) if kind == "lesson" else write_record,
        recording=kept,
        scope=f"{policy.identity} {kind} {(base_url or 'live') if model else f'replay {kept.checksum()[:12]}'}",
        note=_note(kept.model),
    )


def bundled_recording() -> Recording:
    """The recording that ships with memtrial: a real small model's drafts of the whole benchmark."""
    with resources.as_file(resources.files("memtrial.bench.classalloc") / "data" / BUNDLED) as path:
        return Recording(path)


def _slug(identity: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", identity)


def _note(model: str) -> str:
    if "0.5b" in model.lower():
        return (
            "The drafts are by a language model of half a billion parameters, small enough for two CPU cores. It "
            "answers in the agreed form and reacts to what it is shown, but its reasons often misread the numbers and "
            "its allocations are not good advice. They show what memtrial measures, not what a capable model can do."
        )
    return "What these drafts show holds for this model, these prompts and this period."
