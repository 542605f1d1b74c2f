"""The public surface: exact, documented, and drawn in the errors module."""

from __future__ import annotations

import inspect

import pytest

import memtrial
from memtrial import errors


@pytest.mark.parametrize("name", memtrial.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    value = getattr(memtrial, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert (value.__doc__ or "").strip()
    assert name in dir(memtrial)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = memtrial.nothing_like_this


def test_the_error_tree_is_the_one_that_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    kinds = [value for value in vars(errors).values() if inspect.isclass(value)]
    assert len(kinds) == 13
    for kind in kinds:
        assert kind.__name__ in drawn
        assert issubclass(kind, errors.MemtrialError)
