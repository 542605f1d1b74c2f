"""Embedders: text to vectors, under a model id and a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import ProviderError


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. ``identity`` names the model; vectors of two identities are never compared."""

    @property
    def identity(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of ``texts``, shape (n_texts, dimension); an empty text has the zero vector."""
        ...


class WordLlamaEmbedder:
    """wordllama's 256-dimensional token embeddings, averaged: offline, half a millisecond a query, no download."""

    identity = "wordllama:l2_supercat_256"
    dimension = 256

    def __init__(self) -> None:
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of ``texts``, shape (n_texts, 256)."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        if self._model is None:
            self._model = _load_wordllama()
        return unit(np.asarray(self._model.embed(list(texts)), dtype=np.float32))


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """``vectors`` scaled to length 1 row by row; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _load_wordllama() -> Any:
    try:
        import wordllama
    except ImportError as error:
        raise ProviderError("the default embedder needs wordllama: pip install wordllama") from error
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
