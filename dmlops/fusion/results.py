"""What a fused function returns: arrays that a program makes, and beside them what is no array."""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from dmlops import structure
from dmlops.fusion.graph import Constant, Node
from dmlops.fusion.keys import attributes_of, key_of_constant
from dmlops.fusion.traced import Traced, constant_from

__all__ = ["Results"]


class _Array:
    """Stands for the array of that number."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Argument:
    """Stands for the argument of that number, among the leaves of all: a call returns its own."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Value:
    """What is no array, and was made when the function was traced."""

    def __init__(self, value: Any, copied: bool) -> None:
        self.value, self.copied = value, copied


class Results:
    """The containers that a function returns, and the nodes of the arrays in them."""

    def __init__(self, name: str, returned: Any, arguments: Sequence[Any]) -> None:
        self._name = name
        self._arguments = {id(one): number for number, one in enumerate(arguments)}
        self.nodes: list[Node] = []
        self.form = structure.rebuilt(returned, self._leaf)
        self.alone = isinstance(self.form, _Array)
        if not self.nodes and structure.leaves(self.form):
            self._refuse(returned)

    def _refuse(self, value: Any) -> NoReturn:
        lazy = inspect.isgenerator(value) or inspect.isasyncgen(value)
        kind = f"{type(value).__name__}{', which cannot be traced: make a list instead' * lazy}"
        raise TypeError(f"{self._name} must return an array, or a tuple, list or dict of arrays, not {kind}")

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, Traced):
            self.nodes.append(value._node)
        elif isinstance(value, (np.ndarray, np.generic)):
            self.nodes.append(Constant(constant_from(value)))
        elif inspect.iscoroutine(value):
            value.close()  # else Python warns that nobody has awaited it
            advice = "fuse a plain function of the arrays, and call it in the async one"
            raise TypeError(f"{self._name} is an async function, which cannot be traced: {advice}")
        elif structure.is_array(value):
            self._refuse(value)
        elif id(value) in self._arguments and not isinstance(value, (int, str, type(None))):
            return _Argument(self._arguments[id(value)])
        else:
            return self._value(value)
        return _Array(len(self.nodes) - 1)

    def _value(self, value: Any) -> _Value:
        """Refused where a traced array can be seen in it. Copied for each call where all that is in it is known."""
        traced: list[Any] = []
        kept: list[Any] = []
        try:
            key_of_constant(value, traced, kept)
            unknown = [one for one in kept if not isinstance(one, (type, types.FunctionType, types.BuiltinFunctionType, Enum))]
            for one in unknown:
                key_of_constant(attributes_of(one), traced, [])
        except TypeError:  # an iterator
            self._refuse(value)
        if traced:
            self._refuse(value)
        return _Value(value, not unknown)

    def of_call(self, arrays: Sequence[Any], arguments: Callable[[], Sequence[Any]]) -> Any:
        """What a call returns; `arguments` gives the leaves of its own."""

        def leaf(value: Any) -> Any:
            if isinstance(value, _Array):
                return arrays[value.number]
            if isinstance(value, _Argument):
                return arguments()[value.number]
            return copy.deepcopy(value.value) if value.copied else value.value

        return arrays[0] if self.alone else structure.rebuilt(self.form, leaf)

    def out(self, out: Any) -> list[Any]:
        """The arrays for the results, given in containers as those of the results; by key in dicts, whatever their order."""
        if self.alone:
            return [out]
        arrays: list[Any] = []
        _find_out(self.form, out, "out", arrays)
        return arrays


def _find_out(form: Any, given: Any, name: str, arrays: list[Any]) -> None:
    if isinstance(form, _Array):
        arrays.append(given)
    if not structure.is_container(form):
        return
    children = dict(structure.items_of(form))
    if structure.is_dict(form):
        keys = [key for key, one in children.items() if any(isinstance(leaf, _Array) for leaf in structure.leaves(one))]
        if not structure.is_dict(given) or any(key not in given for key in keys):
            raise TypeError(f"{name} must be a dict with the results' keys {', '.join(map(repr, keys))}")
    else:
        keys = list(children)
        if not structure.is_container(given) or structure.is_dict(given):
            raise TypeError(f"{name} must be a list or tuple, as the result is, not {type(given).__name__}")
        if len(given) != len(keys):
            raise ValueError(f"{name} must have one array per result: {len(keys)}, got {len(given)}")
    for key in keys:
        _find_out(children[key], given[key], f"{name}[{key!r}]", arrays)
