"""The stand-in provider, for every test that asks one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "models"))

from models_server import StandIn


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A provider on 127.0.0.1, speaking the real protocols."""
    with StandIn() as stand_in:
        yield stand_in
