"""Bytes as arguments: what the fuzzer once found, and what chance brings. `make check` and `make soak` fuzz for longer."""

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzz
from strategies import FEWER

CORPUS = sorted((pathlib.Path(__file__).resolve().parent / "fuzz" / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_corpus(path, vulkan):
    fuzz.one(path.read_bytes())


@FEWER
@given(data=st.binary(min_size=8, max_size=80))
def test_any_bytes(data, vulkan):
    fuzz.one(data)


def test_the_bytes_reach_every_operator_and_most_succeed_somewhere():
    reached = {
        (fuzz.arguments(fuzz.Choices(path.read_bytes()))[0], type(fuzz.attempt(path.read_bytes(), "host")) is tuple)
        for path in CORPUS
    }
    assert len(reached) == 2 * len(fuzz.OPERATORS), reached
