"""What a function computes of its parameters, and the maps that it makes with them, so that both can be made again."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from dmlops import structure
from dmlops.fusion.expressions import Expression, Varying
from dmlops.fusion.graph import Node, Parameter
from dmlops.fusion.interned import expression_of
from dmlops.fusion.maps import Map, dtype_made
from dmlops.fusion.traced import Trace, Traced
from dmlops.fusion.watched import Watched

__all__ = ["evaluated", "record_map"]

_BY_NUMBERS = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: abs,
}


class _Derived(NamedTuple):
    function: Any
    args: Any
    kwargs: Any
    node: Parameter

    def update(self, values: dict[Node, Any]) -> None:
        made = _computed(self.function, *_with_values((self.args, self.kwargs), values))
        kinds = [(type(one), np.shape(one), np.asarray(one).dtype) for one in (made, self.node.value)]
        if kinds[0] != kinds[1]:
            raise ValueError("another value has another shape or dtype")
        values[self.node] = made


class _Mapped(NamedTuple):
    """How the expression of a map is made; `whole` has the arguments that are not broadcast."""

    function: Any
    args: Any
    kwargs: Any
    whole: tuple[Any, ...]
    node: Map

    def update(self, values: dict[Node, Any]) -> None:
        def argument(value: Any, place: Any) -> Any:
            if isinstance(value, Parameter):
                return constant_argument(values[value], place in self.whole)
            return values[value].expression if isinstance(value, Map) else value

        expression = expression_of(
            self.function,
            tuple([argument(value, place) for place, value in enumerate(self.args)]),
            {name: argument(value, name) for name, value in self.kwargs.items()},
        )
        old = self.node
        values[old] = made = Map(old.operands[0], values.get(old.source, old.source), expression, old.dtype)
        if dtype_made(made) != old.dtype:
            raise ValueError("another value has another dtype")


def constant_argument(value: Any, whole: bool) -> Any:
    """A constant as an argument of an expression."""
    if not isinstance(value, np.ndarray):
        return value
    array = np.array(value)  # what the caller's becomes later is not seen
    return Varying(array) if array.ndim > 0 and not whole else array


def _with_values(arguments: Any, values: dict[Node, Any]) -> Any:
    return structure.rebuilt(arguments, lambda one: values[one] if isinstance(one, Parameter) else one)


def _computed(function: Any, args: Any, kwargs: Any) -> Any:
    plain = all(type(one) in (float, int) for one in args) and not kwargs
    return (_BY_NUMBERS.get(function, function) if plain else function)(*args, **kwargs)


def evaluated(trace: Trace, function: Any, args: Any, kwargs: Any) -> Any:
    """What a function makes of parameters, itself a parameter; NotImplemented where it has others, or none."""
    nodes = [one._node for one in structure.leaves((args, kwargs)) if isinstance(one, Traced)]
    parameters = [one for one in nodes if isinstance(one, Parameter)]
    if not parameters or len(parameters) < len(nodes):
        return NotImplemented
    args, kwargs = structure.rebuilt((args, kwargs), lambda one: one._node if isinstance(one, Traced) else one)
    if kwargs.get("copy", ...) is None:  # of the method reshape, for which older versions of NumPy have no argument
        kwargs = {name: value for name, value in kwargs.items() if name != "copy"}
    values: dict[Node, Any] = {one: one.value for one in parameters}
    made = _computed(function, *_with_values((args, kwargs), values))
    if not isinstance(made, (np.ndarray, np.generic, float)):
        raise NotImplementedError("what is computed of a parameter is no array, and no number")
    node = Parameter(made)
    assert trace.derived is not None
    trace.derived.append(_Derived(function, args, kwargs, node))
    return Watched(trace, node)


def record_map(trace: Trace, expression: Expression, given: tuple[Any, Any], whole: tuple[Any, ...], node: Any) -> None:
    """How a map is made of the arguments that its function was given, with parameters as such."""
    if not isinstance(node, Map) or trace.derived is None:
        raise NotImplementedError("a function of several results")

    def argument(value: Any, made: Any) -> Any:
        if not isinstance(value, Traced):
            return made
        own = value._node
        return own if isinstance(own, Parameter) or (isinstance(own, Map) and made is own.expression) else made

    args = tuple(map(argument, given[0], expression.args))
    kwargs = {name: argument(value, expression.kwargs[name]) for name, value in given[1].items()}
    trace.derived.append(_Mapped(expression.function, args, kwargs, whole, node))
