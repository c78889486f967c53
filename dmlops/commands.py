"""``python -m dmlops compare CALL`` and ``prove CALL``: a fused function, or an operator, on arrays of random values."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from dmlops import explain, operators
from dmlops.comparison import compare as compared
from dmlops.fusion.proof import ProofError

__all__ = ["compare", "prove"]

_CALL = (
    'MODULE:FUNCTION(...), for example "steps:prepare(uint8[8,480,640,3], size=224)", or an operator; '
    "an array is DTYPE[SHAPE], or a view of it, and gets random values"
)


def compare(arguments: list[str]) -> int:
    parser = _parser("compare", "Runs a function on each device and in NumPy, and compares results, to the bit, and times.")
    parser.add_argument("--device", action="append", help="an index, a name or a type; several times for several")
    parser.add_argument("--repeat", type=int, default=5, help="runs on each device; their median is printed (default: 5)")
    options = parser.parse_args(arguments)

    def run() -> tuple[int, object]:
        name, args, kwargs = _call(options.call)
        plain = name in (*explain.OPERATORS, *operators.COMPOSED)
        function = name if plain else explain.fused(name)
        found = compared(function, *args, devices=options.device, repeat=options.repeat, **kwargs)
        return 0 if found else 1, found

    return explain.attempted(run)


def prove(arguments: list[str]) -> int:
    parser = _parser("prove", "Proves that a fused function equals NumPy's for every array of these shapes and dtypes.")
    options = parser.parse_args(arguments)

    def run() -> tuple[int, object]:
        name, args, kwargs = _call(options.call)
        try:
            return 0, explain.fused(name).prove(*args, **kwargs)
        except ProofError as error:
            return 1, error

    return explain.attempted(run)


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m dmlops {name}", description=description)
    parser.add_argument("call", metavar="CALL", help=_CALL)
    return parser


def _call(call: str) -> tuple[str, list[Any], dict[str, Any]]:
    """A function's or an operator's name, and its arguments."""
    name = explain.name_of(call)
    if ":" not in name and name not in explain.EVERY_OPERATOR:
        raise ValueError(explain.no_operator(call))
    args, kwargs = explain.arguments_of(call, _with_values)
    return name, args, kwargs


def _with_values(value: Any) -> Any:
    """Arrays with random values: of floats between -1000 and 1000, of others any bytes."""
    if isinstance(value, list):
        return [_with_values(one) for one in value]
    array = explain.with_memory(value)
    random = np.random.default_rng(0)
    if array.dtype.kind in "fc":
        array[...] = random.uniform(-1000, 1000, array.shape).astype(array.dtype)
    elif array.dtype.kind == "b":
        array[...] = random.integers(0, 2, array.shape)
    elif array.size:
        items = random.integers(0, 256, (array.size, array.dtype.itemsize), np.uint8)
        array[...] = items.view(array.dtype).reshape(array.shape)
    return array
