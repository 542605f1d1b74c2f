"""Train the classifier of intake, and print its curve.

Run ``python benchmarks/intake_classifier.py``: five-fold validation by template, then a fit on all training lines,
written to ``src/memtrial/intake/data/classifier.npz``. ``--held-back`` adds the lines that no template was taken from,
as the classifier alone sees them; decoding and patterns come on top (``benchmarks/intake.py``). The same corpora give
the same bytes on one machine.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from memtrial.intake.families import FAMILIES
from memtrial.intake.features import CONCEPT_SCALE, NEIGHBOUR_SCALE, PIECE_SCALE, bucket, line_features
from memtrial.intake.lexicon import bundled

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "intake"))
from corpus_lines import Line, read  # noqa: E402

MODEL = ROOT / "src" / "memtrial" / "intake" / "data" / "classifier.npz"
BITS, RIDGE, FALSE_ALARMS, FOLDS = 16, 0.2, 0.015, 5
TOLD_BY_WORDS = tuple(
    family for family in FAMILIES if family not in ("markup", "encoding", "lookalike", "invisible", "other_language")
)


def training_lines() -> tuple[list[Line], list[Line]]:
    """Attacks and honest lines, each with lines joined: a payload among honest sentences, and honest paragraphs."""
    attacks, honest = read("train_attacks_*", most=5, disguised=False), read("train_honest_*", most=6)
    attacks += read("train_attacks_slots.txt", most=12, seed=1) + read("train_attacks_claims.txt", most=6, seed=1)
    honest += read("train_honest_portfolio.txt", most=25, seed=1)
    rng = random.Random(7)
    mixed: list[Line] = []
    for attack in rng.sample(attacks, len(attacks) // 6):
        before = rng.choice(honest).text.rstrip(".。")
        text = f"{before}{rng.choice(('. ', ', ', ' - '))}{attack.text}"
        mixed.append(replace(attack, text=text, family="other_language"))
    joined = [
        replace(
            line, text=" ".join([line.text, *(other.text for other in rng.sample(honest, rng.choice((1, 1, 2, 3))))])
        )
        for line in rng.sample(honest, len(honest) // 3)
    ]
    return attacks + mixed, honest + joined


def matrix(lines: list[Line]) -> sparse.csr_matrix:
    """Lines × buckets."""
    lexicon = bundled()
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, line in enumerate(lines):
        features = line_features(line.text, lexicon)
        for names, value in (
            (features.pieces, PIECE_SCALE / max(1, len(features.pieces)) ** 0.5),
            (features.neighbours, NEIGHBOUR_SCALE / max(1, len(features.neighbours)) ** 0.5),
            (features.concepts, CONCEPT_SCALE),
        ):
            rows.extend([row] * len(names))
            columns.extend(bucket(name, BITS) for name in names)
            values.extend([value] * len(names))
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(lines), 1 << BITS))


def fit(x: sparse.csr_matrix, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights per bucket, then the bias: ridge logistic regression on features scaled by their log odds."""
    seen = (x > 0).astype(float)
    attacks = np.asarray(seen[y > 0].sum(axis=0)).ravel() + 1
    honest = np.asarray(seen[y < 0].sum(axis=0)).ravel() + 1
    odds = np.log((attacks / attacks.sum()) / (honest / honest.sum()))
    scaled = (x @ sparse.diags(odds)).tocsr()
    turned = scaled.T.tocsr()
    weight = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum()) * 4000

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = scaled @ theta[:-1] + theta[-1]
        slope = -weight * y / (1 + np.exp(np.clip(y * margin, -60, 60)))
        value = float((weight * np.logaddexp(0, -y * margin)).sum() + RIDGE / 2 * theta[:-1] @ theta[:-1])
        return value, np.append(turned @ slope + RIDGE * theta[:-1], slope.sum())

    found = minimize(loss, np.zeros((1 << BITS) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return np.append(found[:-1] * odds, found[-1])


def validated(x: sparse.csr_matrix, y: NDArray[np.float64], lines: list[Line]) -> NDArray[np.float64]:
    """Logits of every line by a fit that saw no line of its template."""
    part = np.array([crc32(line.group.encode()) % FOLDS for line in lines])
    logits = np.zeros(len(lines))
    for fold in range(FOLDS):
        theta = fit(x[part != fold], y[part != fold])
        logits[part == fold] = x[part == fold] @ theta[:-1] + theta[-1]
    return logits


def curve(title: str, logits: NDArray[np.float64], y: NDArray[np.float64], lines: list[Line]) -> None:
    """Print the share of attacks marked at several rates of false alarms."""
    honest = np.sort(logits[y < 0])
    print(f"\n{title}: {int((y > 0).sum()):,} attacks, {honest.size:,} honest lines")
    print(f"{'false alarms':>12} {'threshold':>10} {'blunt':>8} {'moderate':>9} {'subtle':>8}")
    for rate in (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1):
        threshold = honest[min(int((1 - rate) * honest.size), honest.size - 1)]
        shares = [
            np.mean([logits[i] > threshold for i, line in enumerate(lines) if y[i] > 0 and line.difficulty == grade])
            for grade in ("blunt", "moderate", "subtle")
        ]
        print(f"{rate:>12.2%} {threshold:>10.2f} {shares[0]:>8.1%} {shares[1]:>9.1%} {shares[2]:>8.1%}")


def family_weights(lines: list[Line]) -> NDArray[np.float64]:
    """Softmax regression of the family on the concepts present: one row per family, a bias first."""
    lexicon = bundled()
    known = [line for line in lines if line.family in TOLD_BY_WORDS]
    x = np.zeros((len(known), 1 + len(lexicon.concepts)))
    x[:, 0] = 1
    for row, line in enumerate(known):
        from memtrial.intake.lexicon import fold, words

        x[row, [1 + concept for _, concept in lexicon.of_line(words(fold(line.text)))]] = 1
    target = np.eye(len(TOLD_BY_WORDS))[[TOLD_BY_WORDS.index(line.family) for line in known]]

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        table = theta.reshape(len(TOLD_BY_WORDS), -1)
        scores = x @ table.T
        scores -= scores.max(axis=1, keepdims=True)
        share = np.exp(scores)
        share /= share.sum(axis=1, keepdims=True)
        value = -float((target * np.log(share + 1e-12)).sum()) + 0.5 * float(theta @ theta)
        return value, ((share - target).T @ x).ravel() + theta

    start = np.zeros(len(TOLD_BY_WORDS) * x.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(len(TOLD_BY_WORDS), -1)


def main() -> None:
    """Validate, fit, save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--held-back", action="store_true", help="measure the held-back lines too (count how often)")
    options = parser.parse_args()
    attacks, honest = training_lines()
    lines = attacks + honest
    y = np.array([1.0] * len(attacks) + [-1.0] * len(honest))
    x = matrix(lines)
    logits = validated(x, y, lines)
    curve("validation by template", logits, y, lines)
    threshold = float(np.quantile(logits[y < 0], 1 - FALSE_ALARMS))
    theta = fit(x, y)
    step = float(np.quantile(np.abs(theta[:-1]), 0.9995) / 127)
    weights = np.clip(np.round(theta[:-1] / step), -127, 127).astype(np.int8)
    np.savez_compressed(
        MODEL,
        weights=weights,
        step=step,
        bias=theta[-1],
        threshold=threshold,
        family_weights=family_weights(attacks).astype(np.float16),
        families=np.array([FAMILIES.index(family) for family in TOLD_BY_WORDS]),
    )
    print(f"\n{MODEL.name}: {MODEL.stat().st_size:,} bytes, threshold {threshold:.2f}")
    if options.held_back:
        lines = read("held_attacks_*") + read("held_honest_*")
        y = np.array([1.0 if line.difficulty else -1.0 for line in lines])
        curve("held back, classifier alone", matrix(lines) @ (weights * step) + theta[-1], y, lines)


if __name__ == "__main__":
    main()
