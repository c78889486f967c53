"""dmlops.fuse: a function of arrays as few passes over them."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dmlops.fusion import structure, tracing
from dmlops.fusion.compiler import Program, compile_nodes
from dmlops.fusion.graph import Constant, Input, Node
from dmlops.fusion.traced import Trace, Traced, refuse
from dmlops.progress import tracked

if TYPE_CHECKING:
    from dmlops.fusion.explanation import Explanation
    from dmlops.fusion.proof import Proof

__all__ = ["Fused", "fuse"]

_MOST_PROGRAMS = 64  # of one function, each for one combination of shapes, strides, dtypes and constants
_RESERVED = ("out", "device", "progress")


class Compiled(NamedTuple):
    """A function's program for one combination of arguments, and what it was made of."""

    trace: Trace
    inputs: tuple[Node, ...]
    results: tuple[Node, ...]
    structure: Any  # of the results, a number for each
    program: Program


class _Bound(functools.partial[Any]):
    """A fused method of an instance; it has `reference`, `explain` and `prove`, too."""

    def __getattr__(self, name: str) -> Any:
        return functools.partial(getattr(self.func, name), *self.args)


class Fused:
    """A function that ``dmlops.fuse`` has been given. It is called as the function is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = inspect.signature(function)
        kinds = [one.kind for one in self._signature.parameters.values()]
        for name in set(_RESERVED) & set(self._signature.parameters):
            raise ValueError(f"a fused function has no parameter of its own that is called {name}: every operator takes it")
        self._positional = len(kinds) if all(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) else -1
        self._programs: dict[Any, Compiled] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<dmlops.fuse of {self.__name__}>"  # type: ignore[attr-defined]

    def __reduce__(self) -> Any:
        """By name, as a function is pickled; a function that has none is given to ``fuse`` again."""
        found: Any = sys.modules.get(self._function.__module__)
        for name in self._function.__qualname__.split("."):
            found = getattr(found, name, None)
        return self._function.__qualname__ if found is self else (fuse, (self._function,))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Bound(self, instance)

    def __call__(self, *args: Any, out: Any = None, device: Any = None, progress: Any = None, **kwargs: Any) -> Any:
        """Run the function in as few passes over its arrays as it takes."""
        if tracing.is_untraced():
            return self._function(*args, **kwargs)
        compiled, arrays = self._find(args, kwargs)
        if compiled is None and any(map(structure.is_lazy, arrays)):
            if out is not None or progress is not None:
                raise TypeError(f"{self!r} of Dask arrays takes neither out nor progress")
            from dmlops.dask.fused import by_chunks

            return by_chunks(self, args, kwargs, device)
        if compiled is None:  # inside another fused function, or its reference
            if any(one is not None for one in (out, device, progress)):
                refuse(f"{self!r} with out, device or progress", "give them to the outer function")
            return self._function(*args, **kwargs)
        how = None if progress is None else tracked(self._function.__name__, progress)
        results = compiled.program.run(arrays, None if out is None else _out(compiled, out), device, how)
        if compiled.structure == 0:
            return results[0]
        return structure.rebuilt(compiled.structure, lambda number: results[number])

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function itself by NumPy, and dmlops' operators in it by their twins in ``dmlops.reference``."""
        from dmlops.fusion.reference import run

        return run(self._function, args, kwargs)

    def explain(self, *args: Any, device: Any = None, **kwargs: Any) -> Explanation:
        """Say what a call becomes: passes, plans and kernels. It prints as text, and draws itself in notebooks."""
        from dmlops.fusion.explanation import Explanation

        return Explanation(self._function.__name__, self._compiled(args, kwargs), device)

    def prove(self, *args: Any, **kwargs: Any) -> Proof:
        """Prove that the program equals the function in NumPy, for every array of these shapes, dtypes and strides."""
        from dmlops.fusion.proof import prove

        return prove(self._function.__name__, self._compiled(args, kwargs), (self._function, args, kwargs))

    # --- finding programs ---

    def _compiled(self, args: Any, kwargs: Any) -> Compiled:
        compiled, _ = self._find(args, kwargs)
        if compiled is None:
            raise TypeError("the arguments are traced or Dask arrays: pass NumPy arrays of the same shape, such as a block")
        return compiled

    def _find(self, args: Any, kwargs: Any) -> tuple[Compiled | None, list[Any]]:
        """The program for a call's arguments, and the arrays among them; None where these are traced, or Dask's."""
        if kwargs or len(args) != self._positional:
            bound = self._signature.bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        arrays: list[Any] = []
        key = [structure.with_keys(one, arrays) for one in args]
        if kwargs:
            key.append(structure.with_keys(kwargs, arrays))
        if any(structure.is_recorded(one) or structure.is_lazy(one) for one in arrays):
            return None, arrays
        whole = tuple(key)
        try:
            compiled = self._programs.get(whole)
        except TypeError:
            raise TypeError(f"{self!r} takes arrays and hashable constants, not {args!r}") from None
        if compiled is None:
            compiled = _compile(self, args, kwargs, arrays)
            with self._lock:
                while len(self._programs) >= _MOST_PROGRAMS:
                    self._programs.pop(next(iter(self._programs)))
                self._programs[whole] = compiled
        return compiled, arrays


def _compile(fused: Fused, args: Any, kwargs: Any, arrays: list[Any]) -> Compiled:
    if not arrays:
        raise TypeError(f"{fused!r} has no array among its arguments")
    trace = Trace()
    inputs = tuple(Input(number, one.shape, one.dtype, one.strides) for number, one in enumerate(arrays))
    for node in inputs:
        if node.dtype.hasobject:
            raise TypeError(f"{fused!r} takes arrays of plain bytes, not of Python objects")
    left = iter(inputs)

    def traced(value: Any) -> Any:
        return value if structure.array_from(value) is None else trace.array(next(left))

    returned = tracing.run(trace, fused._function, structure.rebuilt(args, traced), structure.rebuilt(kwargs, traced))
    results: list[Node] = []

    def number(value: Any) -> int:
        results.append(_result(fused, value))
        return len(results) - 1

    form = structure.rebuilt(returned, number)
    program = compile_nodes([(one.dtype, one.shape, one.strides) for one in arrays], results)
    return Compiled(trace, inputs, tuple(results), form, program)


def _result(fused: Fused, value: Any) -> Node:
    if isinstance(value, Traced):
        return value._node
    if isinstance(value, (np.ndarray, np.generic)):
        return Constant(np.array(value))
    raise TypeError(f"{fused!r} must return an array, or a tuple, list or dict of arrays, not {type(value).__name__}")


def _out(compiled: Compiled, out: Any) -> list[Any]:
    """The arrays for the results, given in a structure as that of the results."""
    if compiled.structure == 0:
        return [out]
    given = out
    if isinstance(compiled.structure, dict):
        if not isinstance(out, dict) or compiled.structure.keys() - out.keys():
            raise TypeError(f"out must be a dict with the results' keys {', '.join(map(repr, compiled.structure))}")
        given = [out[key] for key in compiled.structure]
    return structure.leaves(list(given) if isinstance(given, (list, tuple)) else [given])


def fuse(function: Callable[..., Any]) -> Fused:
    """Make one pass of a function that moves the elements of arrays, casts and scales, however many steps it has.

    Parameters
    ----------
    function : function
        Its arguments are arrays, or lists, tuples and dicts of arrays; others are constants, and hashable. It returns an array,
        or a tuple, list or dict of arrays, made by NumPy's functions, operators of dmlops, and einops. It is run once for each
        combination of shapes, strides, dtypes and constants, with arrays that know no values.

    Returns
    -------
    Fused
        A function with the same arguments, and with `out`, `device` and `progress`, as every operator has them: arrays in give
        new NumPy arrays, device arrays in give device arrays. It has the methods ``reference(...)``, the function itself, run
        by NumPy; ``explain(..., device=None)``, what a call becomes; and ``prove(...)``, which raises where the program
        differs from NumPy, for whatever values.

    Raises
    ------
    TypeError
        When it is called: the function looks at values, or combines different elements, or maps items of more than two bytes.
        The error names the line. Or an argument is neither an array nor hashable.
    ValueError
        The function has a parameter `out`, `device` or `progress` of its own; when it is called: as operators raise it.

    See Also
    --------
    compare : runs a fused function, too, on every device and in NumPy.

    Notes
    -----
    Functions of each element alone, such as ``astype``, ufuncs and ``numpy.where``, of items of one byte or two, become
    tables that NumPy computes.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> @dmlops.fuse
    ... def prepare(photo):
    ...     x = np.moveaxis(photo[1:-1, 1:-1, ::-1], -1, 0)
    ...     return x.astype(np.float32) / 255
    >>> photo = np.full((4, 5, 3), [0, 51, 255], np.uint8)
    >>> prepare(photo)[:, 0, 0]
    array([1. , 0.2, 0. ], dtype=float32)
    >>> prepare.explain(photo, device="host").passes
    1
    >>> prepare.prove(photo).elements
    18
    """
    return Fused(function)
