"""What the text defences catch, what they cost, and how fast they are.

Run ``python benchmarks/intake.py``. First the held-back lines (``tests/intake/corpus/held_*``) through the whole scan,
by difficulty, family and language; then the held-back narratives through the validator; then memories a second, of
nine sections and about 200 words, through quarantine and validator on one core.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "intake"))
from corpus_lines import Line, read
from narratives import HELD_BODIES, held_back

from memtrial.intake.narrative import SECTIONS, TITLE
from memtrial.intake.quarantine import quarantine
from memtrial.intake.scan import scan
from memtrial.intake.validate import validate


def shares(lines: list[Line], by: Callable[[Line], str]) -> dict[str, tuple[float, int]]:
    """Share marked and number of lines by label."""
    found: dict[str, list[bool]] = defaultdict(list)
    for line in lines:
        found[by(line)].append(bool(scan(line.text)))
    return {label: (sum(hits) / len(hits), len(hits)) for label, hits in sorted(found.items())}


def corpus(which: str) -> None:
    """Print what is marked of a held-back set."""
    attacks, honest = read(f"{which}_attacks*"), read(f"{which}_honest*")
    for title, by in (("difficulty", "difficulty"), ("family", "family"), ("language", "language")):
        print(f"\nattacks marked, by {title}")
        for label, (share, count) in shares(attacks, lambda line, by=by: getattr(line, by)).items():
            print(f"  {label:<22} {share:>7.1%} of {count}")
    print("\nhonest lines marked, by language")
    for label, (share, count) in shares(honest, lambda line: line.language).items():
        print(f"  {label:<22} {share:>7.1%} of {count}")
    marked = sum(bool(scan(line.text)) for line in honest)
    print(f"  {'all':<22} {marked / len(honest):>7.1%} of {len(honest)}")
    named = [spans[0].family == line.family for line in attacks if (spans := scan(line.text))]
    print(f"family named right where marked: {sum(named) / len(named):.0%}")


def narratives() -> None:
    """Print how many held-back narratives are judged right."""
    judged: dict[str, list[bool]] = defaultdict(list)
    for case in held_back():
        codes = {problem.code for problem in validate(case.text)}
        judged[case.code or "valid"].append(case.code in codes if case.code else not codes)
    right = sum(sum(hits) for hits in judged.values())
    total = sum(len(hits) for hits in judged.values())
    print(f"\nnarratives judged right: {right / total:.1%} of {total}")
    for code, hits in sorted(judged.items()):
        print(f"  {code:<22} {sum(hits) / len(hits):>7.1%} of {len(hits)}")


def speed(count: int) -> None:
    """Print memories a second; every memory is another text."""
    rng = random.Random(3)
    texts = [_memory(rng) for _ in range(count)]
    words = sum(len(text.split()) for text in texts) / count
    for text in texts[:50]:
        validate(quarantine(text).text)
    for name, work in (
        ("scan", lambda text: scan(text)),
        ("validate (scans too)", lambda text: validate(text)),
        ("quarantine + validate", lambda text: validate(quarantine(text).text)),
    ):
        began = time.perf_counter()
        for text in texts:
            work(text)
        print(f"{name:<24} {count / (time.perf_counter() - began):>8,.0f} memories a second ({words:.0f} words each)")


def _memory(rng: random.Random) -> str:
    bodies = {
        name: " ".join(rng.sample(HELD_BODIES[name], rng.choice((1, 1, 2)))) for name in SECTIONS if "Main" not in name
    }
    points = [point for name in ("Main confluences", "Main concerns") for point in HELD_BODIES[name]]
    bodies |= {name: rng.choice(points) for name in SECTIONS if "Main" in name}
    symbol = f"{''.join(rng.choices('ABCDEFGHKLMNPRSTUXZ', k=4))}USDT"
    bodies["Entry setup summary"] = bodies["Entry setup summary"].replace("XRPUSDT", symbol)
    return f"{TITLE}\n\n" + "\n\n".join(f"{name}:\n{bodies[name]}" for name in SECTIONS) + "\n"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--memories", type=int, default=2000)
    parser.add_argument("--speed-only", action="store_true", help="leave the held-back lines alone")
    parser.add_argument("--which", default="held", help="which lines, by the beginning of their files")
    options = parser.parse_args()
    if not options.speed_only:
        corpus(options.which)
        narratives()
    print()
    speed(options.memories)


if __name__ == "__main__":
    main()
