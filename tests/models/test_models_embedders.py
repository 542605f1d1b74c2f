"""Embedders: offline, over HTTP, and missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from models_server import KEY, Script, StandIn, need

from memtrial.errors import ModelError, ProviderError
from memtrial.models import Embedder, FastEmbedder, OpenAIEmbedder, WordLlamaEmbedder, resolve_embedder

need("openai")
need("wordllama")


def remote(server: StandIn, **changes: object) -> OpenAIEmbedder:
    return OpenAIEmbedder("m", **{"api_key": KEY, "base_url": server.url, "retries": 0, **changes})  # type: ignore[arg-type]


def test_wordllama_gives_unit_vectors_and_zeros_for_blank_texts() -> None:
    embedder = resolve_embedder(environ={})
    assert isinstance(embedder, WordLlamaEmbedder)
    vectors = embedder.embed(["stocks rise", "", " \n", "Aktien steigen 📈"])
    assert vectors.shape == (4, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 0, 1], atol=1e-6)
    assert embedder.embed([]).shape == (0, 256)
    assert not embedder.embed([""]).any()
    np.testing.assert_array_equal(vectors[0], embedder.embed(["stocks rise"])[0])


def test_one_text_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match="a list of texts"):
        WordLlamaEmbedder().embed("stocks")


def test_remote_vectors_come_in_the_order_of_the_texts(server: StandIn) -> None:
    embedder = remote(server)
    texts = ["x" * (number + 1) for number in range(70)]
    texts[3] = " "
    vectors = embedder.embed(texts)
    assert vectors.shape == (70, 3)
    assert not vectors[3].any()
    np.testing.assert_allclose(vectors[9], np.array([10, 1, 0]) / np.sqrt(101), rtol=1e-6)
    assert [len(seen.body["input"]) for seen in server.seen] == [64, 5]  # in batches, and blanks are not sent
    assert embedder.identity == "openai:m"


def test_a_dimension_is_known_given_or_probed(server: StandIn) -> None:
    known = OpenAIEmbedder("text-embedding-3-small", api_key=KEY, base_url=server.url)
    assert known.dimension == 1536
    assert remote(server, dimension=3).embed([]).shape == (0, 3)
    assert not server.seen
    assert remote(server).dimension == 3
    assert len(server.seen) == 1
    with pytest.raises(ModelError, match="vectors of length 3, not 4"):
        remote(server, dimension=4).embed(["a"])


@pytest.mark.parametrize(
    ("status", "raw", "says"),
    [
        (401, {"error": {"message": KEY}}, "OPENAI_API_KEY"),
        (404, {"error": "no"}, "no model 'm'"),
        (500, {"error": "no"}, "HTTP 500"),
        (200, {"object": "list", "data": [], "model": "m"}, "outside the protocol"),
        (200, {"data": [{"index": 0, "embedding": ["x"]}]}, "outside the protocol"),
        (200, b"<html>", "outside the protocol"),
    ],
)
def test_refusals_are_one_line(server: StandIn, status: int, raw: object, says: str) -> None:
    server.scripts = [Script(status=status, raw=raw)]
    with pytest.raises(ModelError, match=says) as caught:
        remote(server).embed(["a"])
    assert KEY not in str(caught.value)


def test_an_absent_server_is_named() -> None:
    with pytest.raises(ProviderError, match=r"cannot be reached at http://127\.0\.0\.1:9/v1"):
        OpenAIEmbedder("m", provider="ollama", base_url="http://127.0.0.1:9/v1", retries=0).embed(["a"])


def test_embedders_by_name(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = resolve_embedder("ollama:nomic-embed-text", environ={"OLLAMA_BASE_URL": server.url})
    assert isinstance(ollama, Embedder)
    assert ollama.embed(["a"]).shape == (1, 3)
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        resolve_embedder("openai:text-embedding-3-small", environ={})
    with pytest.raises(ProviderError, match="did you mean fastembed"):
        resolve_embedder("fastembd:x", environ={})
    with pytest.raises(ProviderError, match="unknown embedder"):
        resolve_embedder("anthropic:x", environ={})
    monkeypatch.setitem(sys.modules, "fastembed", None)
    fast = resolve_embedder("fastembed:BAAI/bge-base-en-v1.5", environ={})
    assert isinstance(fast, FastEmbedder)
    assert fast.identity == "fastembed:BAAI/bge-base-en-v1.5"
    with pytest.raises(ProviderError, match="pip install fastembed"):
        fast.embed(["a"])
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ProviderError, match="pip install wordllama"):
        WordLlamaEmbedder().embed(["a"])
