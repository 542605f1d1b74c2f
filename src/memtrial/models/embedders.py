"""Embedders: text to vectors, under a model id and a dimension."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memtrial.errors import ProviderError
from memtrial.models.faults import Faults
from memtrial.models.openai_compatible import RETRIES, client_options, load_sdk
from memtrial.models.providers import find_provider

Vectors = NDArray[np.float32]
BATCH = 64
"""Texts per request: small servers refuse more."""
KNOWN_DIMENSIONS = {
    "openai:text-embedding-3-small": 1536,
    "openai:text-embedding-3-large": 3072,
    "openai:text-embedding-ada-002": 1536,
}


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. ``identity`` names the model; vectors of two identities are never compared."""

    @property
    def identity(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of ``texts``, shape (n_texts, dimension); an empty text has the zero vector."""
        ...


class WordLlamaEmbedder:
    """wordllama's 256-dimensional token embeddings, averaged: offline, half a millisecond a query, no download."""

    name = "wordllama"
    identity = "wordllama:l2_supercat_256"
    dimension = 256

    def __init__(self) -> None:
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of ``texts``, shape (n_texts, 256)."""
        return _embedded(texts, self._vectors, lambda: self.dimension)

    def _vectors(self, texts: list[str]) -> Vectors:
        if self._model is None:
            self._model = _load_wordllama()
        return np.asarray(self._model.embed(texts), dtype=np.float32)


class OpenAIEmbedder:
    """Any server with the OpenAI ``/embeddings`` protocol (extra ``openai``).

    Parameters
    ----------
    model, base_url, api_key, provider
        As for :class:`~memtrial.models.openai_compatible.OpenAIModel`.
    dimension
        Length of the vectors; ``None`` asks the server once, with one word, when it is needed.

    Raises
    ------
    ProviderError
        When the extra or a key is missing.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        provider: str = "openai",
        dimension: int | None = None,
        retries: int = RETRIES,
    ) -> None:
        preset = find_provider(provider)
        self._sdk: Any = load_sdk()
        if api_key is None and preset.needs_key:
            raise preset.no_key()
        address = base_url or preset.base_url
        self._timeout = preset.timeout_seconds
        self._model = model
        self.identity = f"{provider}:{model}"
        self._dimension = dimension or KNOWN_DIMENSIONS.get(self.identity)
        self._client: Any = self._sdk.OpenAI(**client_options(address, api_key, timeout=self._timeout, retries=retries))
        self._faults = Faults(provider=preset, model=model, address=address or "its address", secret=api_key)

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        if self._dimension is None:
            self._dimension = int(self._request(["dimension"]).shape[1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of ``texts``, shape (n_texts, dimension).

        Raises
        ------
        ProviderError, ModelError
            As for a language model of the same provider.
        """
        return _embedded(texts, self._vectors, lambda: self.dimension)

    def _vectors(self, texts: list[str]) -> Vectors:
        batches = [self._request(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return np.concatenate(batches)

    def _request(self, texts: list[str]) -> Vectors:
        sdk = self._sdk
        try:
            answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = np.asarray([row.embedding for row in rows], dtype=np.float32)
        except sdk.APITimeoutError:
            raise self._faults.timeout(self._timeout) from None
        except sdk.APIConnectionError as error:
            raise self._faults.unreachable(error) from None
        except sdk.APIStatusError as error:
            raise self._faults.status(error.status_code, error.body) from None
        except (sdk.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise self._faults.strange(str(error)) from None
        self._check(vectors, len(texts))
        return vectors

    def _check(self, vectors: Vectors, count: int) -> None:
        if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
            raise self._faults.strange(f"{len(vectors)} vectors for {count} texts, or vectors that are not numbers")
        if self._dimension is not None and vectors.shape[1] != self._dimension:
            raise self._faults.strange(f"vectors of length {vectors.shape[1]}, not {self._dimension}")


class FastEmbedder:
    """fastembed's ONNX models, for example ``BAAI/bge-base-en-v1.5``; downloads the model once.

    Parameters
    ----------
    model
        A model that fastembed knows.
    cache_dir
        Where the model file is kept; ``None`` leaves the choice to fastembed.

    Raises
    ------
    ProviderError
        On first use, when fastembed is not installed, or cannot load or fetch the model.
    """

    name = "fastembed"

    def __init__(self, model: str, *, cache_dir: Path | str | None = None) -> None:
        self._name = model
        self._cache = None if cache_dir is None else str(cache_dir)
        self._model: Any = None
        self._dimension: int | None = None
        self.identity = f"fastembed:{model}"

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        if self._dimension is None:
            self._dimension = int(self._vectors(["dimension"]).shape[1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of ``texts``, shape (n_texts, dimension)."""
        return _embedded(texts, self._vectors, lambda: self.dimension)

    def _vectors(self, texts: list[str]) -> Vectors:
        if self._model is None:
            self._model = self._load()
        return np.asarray(list(self._model.embed(texts)), dtype=np.float32)

    def _load(self) -> Any:
        try:
            import fastembed  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ProviderError("this embedder needs fastembed: pip install fastembed") from None
        try:
            return fastembed.TextEmbedding(self._name, cache_dir=self._cache)  # pyright: ignore
        except Exception as error:  # the hub may be out of reach in many ways
            problem = " ".join(str(error).split())[:200]
            raise ProviderError(
                f"fastembed cannot load {self._name}: {problem}; check the name and the network"
            ) from error


def unit(vectors: Vectors) -> Vectors:
    """``vectors`` scaled to length 1 row by row; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _embedded(texts: Sequence[str], vectors: Callable[[list[str]], Vectors], dimension: Callable[[], int]) -> Vectors:
    """Unit vectors of ``texts``; blank ones are never sent, because providers refuse or invent them."""
    if isinstance(texts, str):
        raise TypeError("embed() takes a list of texts, not one text; write embed([text])")
    filled = [index for index, text in enumerate(texts) if text.strip()]
    if not filled:
        return np.zeros((len(texts), dimension()), dtype=np.float32)
    found = unit(vectors([texts[index] for index in filled]))
    if len(filled) == len(texts):
        return found
    result = np.zeros((len(texts), found.shape[1]), dtype=np.float32)
    result[filled] = found
    return result


def _load_wordllama() -> Any:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        import wordllama  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise ProviderError("the default embedder needs wordllama: pip install wordllama") from None
    finally:
        # Its import sets up everybody's logging; that is for the program to do, not for a library.
        root.setLevel(level)
        root.handlers[:] = handlers
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
