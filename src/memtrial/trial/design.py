"""Which subsets of the recalled experiences are drafted (paper §3.2, Eq. 2, App. C.1).

"The paper" is *MemTrial: Learning When to Trust Memory in LLM Portfolio Agents*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import InputError

DesignKind = Literal["half", "full", "auto"]

MAX_RECALLED = 6
"""Largest number of recalled experiences: a full factorial of six is 64 drafts."""


@dataclass(frozen=True, slots=True)
class Design:
    """The subsets that are drafted on one date, ordered by (size, lexicographic rank).

    Attributes
    ----------
    k
        Number of recalled experiences.
    kind
        ``"half"``: the subsets of even size (Eq. 2); ``"full"``: all subsets.
    subsets
        Ranks (0-based, ascending) of the experiences that each draft is shown, n_drafts tuples.
    membership
        Whether draft i is shown experience j, bool (n_drafts, k), read-only.
    contrast
        Eq. 3 as a matrix: ``utilities @ contrast`` is the mean with minus the mean without each experience, float
        (n_drafts, k), read-only.
    """

    k: int
    kind: Literal["half", "full"]
    subsets: tuple[tuple[int, ...], ...]
    membership: NDArray[np.bool_] = field(compare=False, repr=False)
    contrast: NDArray[np.float64] = field(compare=False, repr=False)

    @property
    def n_drafts(self) -> int:
        """Number of drafts."""
        return len(self.subsets)

    @property
    def separates(self) -> bool:
        """Whether the drafts, all valid, can tell the experiences apart."""
        return not (self.k == 2 and self.kind == "half")


@lru_cache(maxsize=64)
def design(k: int, kind: DesignKind = "auto") -> Design:
    """The design for ``k`` recalled experiences (paper Eq. 2).

    Parameters
    ----------
    k
        Number of recalled experiences, 0 to 6. With 0 there is one draft, shown nothing.
    kind
        ``"half"``: 2^(k-1) drafts. At k = 4 (the paper's) every main effect is clear of all interactions of two
        experiences; at k = 3 it is mixed with the interaction of the other two; at k = 2 the two experiences are
        always shown together and cannot be told apart. ``"full"``: 2^k drafts. ``"auto"``:
        half from k = 4, full below, so that three or four experiences cost eight drafts.

    Raises
    ------
    InputError
        When ``k`` or ``kind`` is out of range, or for half of k = 1, which never shows the experience.
    """
    if k not in range(MAX_RECALLED + 1):
        raise InputError(f"k = {k} recalled experiences cannot be designed; recall 0 to {MAX_RECALLED}")
    if kind not in ("half", "full", "auto"):
        raise InputError(f"design kind {kind!r} is unknown; use 'half', 'full' or 'auto'")
    if kind == "half" and k == 1:
        raise InputError("a half fraction of k = 1 has no draft with the experience; use 'full' or 'auto'")
    half = kind == "half" or (kind == "auto" and k >= 4)
    sizes = range(0, k + 1, 2 if half else 1)
    subsets = tuple(subset for size in sizes for subset in combinations(range(k), size))
    shows = [[j in subset for j in range(k)] for subset in subsets]
    membership = np.array(shows, dtype=np.bool_).reshape(len(subsets), k)
    shown = membership.astype(np.float64)
    contrast = shown / np.maximum(shown.sum(axis=0), 1) - (1 - shown) / np.maximum((1 - shown).sum(axis=0), 1)
    membership.setflags(write=False)
    contrast.setflags(write=False)
    return Design(k, "half" if half else "full", subsets, membership, contrast)
