"""Numbers and small arrays among the arguments that decide about tables alone: another value is not traced again.

A function is traced with each value until two have given tables that differ. Then it is traced once more, with parameters in
place of floats and of those arrays: they record what is computed of them, and know no values. If the program that this gives
has the bytes of those that both values have, it is a template: for other values what was recorded is computed again, by NumPy,
and so are the tables. If not, as where the function looks at a value, each value is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlops import structure
from dmlops.fusion import tracing
from dmlops.fusion.arguments import OfFunction
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.compiler import Program, TemplateCompiler, is_same
from dmlops.fusion.graph import Node, Parameter, described
from dmlops.fusion.keys import key_of
from dmlops.fusion.recording import Recording
from dmlops.fusion.results import Results
from dmlops.fusion.traced import Traced
from dmlops.fusion.watched import Watched, asks_for_types

__all__ = ["NEVER", "Call", "Once", "Template", "template"]

NEVER = object()  # each value is traced

# --- calls ----------------------------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return type(value) is float or isinstance(value, np.floating)


class Call:
    """A call's arguments, of which floats and the arrays that have these numbers are parameters."""

    def __init__(self, args: Any, kwargs: Any, numbers: Sequence[int]) -> None:
        self.arguments, self.numbers = (args, kwargs), frozenset(numbers)
        self.values: list[Any] = []

        def found(value: Any) -> Any:
            self.values.append(value)
            return value

        self.with_parameters(found)

    def with_parameters(self, change: Callable[[Any], Any]) -> Any:
        """The arguments, with something else in place of each parameter."""
        count = -1

        def changed(value: Any) -> Any:
            nonlocal count
            if structure.is_array(value):
                count += 1
                return change(value) if count in self.numbers else value
            return change(value) if _is_number(value) else value

        return structure.rebuilt(self.arguments, changed)

    def key(self, kept: list[Any]) -> Any:
        """What a template is for: all but the values of parameters."""
        args, kwargs = self.with_parameters(lambda value: value if structure.is_array(value) else type(value))
        return key_of(args, [], [], kept), key_of(kwargs, [], [], kept)

    def once(self, program: Program) -> Once:
        """What is kept of the first call."""
        return Once(self.numbers, [np.array(one) if isinstance(one, np.ndarray) else one for one in self.values], program)


class Once(NamedTuple):
    """The first call of some arguments, and its program."""

    numbers: frozenset[int]
    values: list[Any]
    program: Program


# --- templates ------------------------------------------------------------------------------------------------------


class Template(NamedTuple):
    """A program of which only tables depend on parameters."""

    compiled: Compiled
    numbers: frozenset[int]
    compiler: TemplateCompiler
    parameters: tuple[Parameter, ...]
    derived: tuple[Any, ...]

    def program(self, given: Sequence[Any]) -> Program:
        """The program for other values. Raises where it would be no such program."""
        values: dict[Node, Any] = dict(zip(self.parameters, given, strict=True))
        for one in self.derived:
            one.update(values)
        return self.compiler.again(values)

    def of(self, call: Call) -> Compiled | None:
        """What a call becomes; None where its values are to be traced."""
        try:
            made = self.program(call.values)
        except Exception:  # that a trace with these values raises again, if it is one of the function's
            return None
        return self.compiled._replace(args=(), kwargs={}, program=made, is_traced=False, numbers=tuple(sorted(self.numbers)))


def template(fused: OfFunction, call: Call, compiled: Compiled, once: Once) -> Any:
    """A template, which gives what both calls have; else NEVER."""
    if asks_for_types(fused._function):
        return NEVER
    try:
        found = _traced(fused, call, compiled)
        if is_same(found.program(once.values), once.program) and is_same(found.program(call.values), compiled.program):
            return found
    except Exception:  # it looks at values, or does with them what no table does
        pass
    return NEVER


def _traced(fused: OfFunction, call: Call, compiled: Compiled) -> Template:
    trace, parameters = Recording(), list[Any]()
    trace.derived = []
    inputs = iter(compiled.inputs)
    traced: dict[int, Traced] = {}  # by the identity of arrays: what is passed twice is one array

    def parameter(value: Any) -> Traced:
        known = traced.get(id(value)) if structure.is_array(value) else None
        found = Watched(trace, Parameter(value)) if known is None else known
        parameters.append(found._node)
        return traced.setdefault(id(value), found) if structure.is_array(value) else found

    def array(value: Any) -> Any:
        if isinstance(value, Traced) or not structure.is_array(value):
            return value
        return traced.setdefault(id(value), trace.array(next(inputs)))

    args, kwargs = structure.rebuilt(call.with_parameters(parameter), array)
    try:
        returned = tracing.run(trace, fused._function, args, kwargs)
        if not all(isinstance(one, Traced) and not isinstance(one._node, Parameter) for one in structure.leaves(returned)):
            raise NotImplementedError("a result that is no array")
        results = Results(repr(fused), trace.own(returned), structure.leaves((args, kwargs)))
    finally:
        trace.ended = True
    compiler = TemplateCompiler(described(compiled.inputs))
    made = compiled._replace(trace=trace, results=tuple(results.nodes), returned=results)
    made = made._replace(program=compiler.compile(results.nodes))
    return Template(made, call.numbers, compiler, tuple(parameters), tuple(trace.derived))
