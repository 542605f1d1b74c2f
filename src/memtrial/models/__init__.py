"""The machines memtrial asks: language models, embedders, and recordings of what they said."""

from memtrial.models.embedders import Embedder, FastEmbedder, OpenAIEmbedder, WordLlamaEmbedder
from memtrial.models.local import LocalModel
from memtrial.models.openai_compatible import OpenAIModel
from memtrial.models.protocol import LanguageModel, Message, Reply, Request
from memtrial.models.providers import PROVIDERS, Provider
from memtrial.models.pydantic_ai import PydanticAIModel
from memtrial.models.recording import Recorded, Recording, compress
from memtrial.models.resolve import resolve_embedder, resolve_model

__all__ = [
    "PROVIDERS",
    "Embedder",
    "FastEmbedder",
    "LanguageModel",
    "LocalModel",
    "Message",
    "OpenAIEmbedder",
    "OpenAIModel",
    "Provider",
    "PydanticAIModel",
    "Recorded",
    "Recording",
    "Reply",
    "Request",
    "WordLlamaEmbedder",
    "compress",
    "resolve_embedder",
    "resolve_model",
]
