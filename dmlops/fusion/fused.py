"""dmlops.fuse: a function of arrays as few passes over them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dmlops import _core, structure
from dmlops.fusion import arguments, pickling, tracing
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.compiler import compile_nodes, compile_plainly, is_same, with_pieces
from dmlops.fusion.graph import Input, described
from dmlops.fusion.keys import IteratorError, bytes_of, key_of
from dmlops.fusion.parameters import Call, Once, Template, template
from dmlops.fusion.programs import Programs
from dmlops.fusion.recording import Recording
from dmlops.fusion.results import Results
from dmlops.fusion.traced import RefusedError, refuse
from dmlops.late_imports import late
from dmlops.logs import warn
from dmlops.progress import tracked
from dmlops.refused_arrays import is_lazy
from dmlops.warming import warm_up

if TYPE_CHECKING:
    from dmlops.fusion.explanation import Explanation
    from dmlops.fusion.proof import Proof

__all__ = ["Fused", "fuse"]


class _Bound(functools.partial[Any]):
    """A fused method of an instance; it has `reference`, `explain`, `prove` and `warm_up`, too."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.func, name)
        return functools.partial(found, *self.args) if inspect.ismethod(found) else found


class Fused:
    """A function that ``dmlops.fuse`` has been given. It is called as the function is.

    Parameters
    ----------
    function : function
        What is fused.
    automatic : bool
        Where no device is named, and no default was chosen: whether NumPy arrays are moved where that is estimated to take
        least time, or on the default device, as operators move them.
    counted_as : str, optional
        The name that ``dmlops.counters`` has for its calls. Default: the function's.

    Attributes
    ----------
    max_programs : int
        How many programs are kept, each for one combination of shapes, strides, dtypes and constants. Where there are more,
        those that were not used for longest are dropped, and traced again when they are needed. It may be set.
    max_bytes : int
        How many bytes their constants and tables may have together. The newest program is kept however large it is. It may be
        set.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], *, automatic: bool = True, counted_as: str | None = None) -> None:
        if isinstance(function, functools._lru_cache_wrapper):  # NumPy's arrays have no hash
            function = function.__wrapped__
        self._signature = arguments.signature_of(function)
        of_functions = functools.WRAPPER_UPDATES if inspect.isfunction(function) else ()
        functools.update_wrapper(self, function, updated=of_functions)
        self.__name__ = arguments.name_of(function)
        self._function = function
        self._automatic = automatic
        self._row = _core._row(counted_as or self.__name__)  # where calls are counted that make a program,
        self._row_of_found = self._row | _core._FOUND  # and those that find it
        kinds = [one.kind for one in self._signature.parameters.values()]
        self._positional = len(kinds) if all(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) else -1
        self._programs = Programs()
        self._said = False  # that programs come and go
        self._by_value = Programs()  # which arrays are constants, where the function needs their values
        self._templates = Programs()  # of programs whose tables depend on parameters
        self.max_programs = 512
        self.max_bytes = 64 << 20

    def __repr__(self) -> str:
        return f"<dmlops.fuse of {self.__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickling.reduced(self, protocol)

    @property
    def carrier(self) -> Any:
        """What pickle takes by name, and cloudpickle also by value."""
        return self.__dict__.get("_carrier") or self.__dict__.setdefault("_carrier", pickling.carrier_of(self))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Bound(self, instance)

    def __call__(self, *args: Any, out: Any = None, device: Any = None, progress: Any = None, **kwargs: Any) -> Any:
        """Run the function in as few passes over its arrays as it takes."""
        if tracing.is_untraced():
            return self._function(*args, **kwargs)
        compiled, arrays, how = self._find(args, kwargs)
        if compiled is None:
            return self._elsewhere(args, kwargs, arrays, (out, device, progress))
        if device is None and self._automatic:
            device = _core._automatic_default()
        if progress is not None:
            how = tracked(self.__name__, progress, how)
        results = compiled.program.run(arrays, None if out is None else compiled.returned.out(out), device, how)
        if compiled.returned.alone:
            return results[0]
        return compiled.returned.of_call(results, lambda: structure.leaves(self._bound(args, kwargs)))

    def _elsewhere(self, args: Any, kwargs: Any, arrays: Any, how: tuple[Any, Any, Any]) -> Any:
        """The call of traced or Dask arrays."""
        out, device, progress = how
        if any(map(is_lazy, arrays)):
            if out is not None or progress is not None:
                raise TypeError(f"{self!r} of Dask arrays takes neither out nor progress")
            with late():
                from dmlops.dask.fused import by_chunks

            return by_chunks(self, args, kwargs, device)
        if any(one is not None for one in how):  # inside another fused function, or its reference
            refuse(f"{self!r} with out, device or progress", "give them to the outer function")
        return self._function(*args, **kwargs)

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function itself by NumPy, and dmlops' operators in it by their twins in ``dmlops.reference``."""
        with late():
            from dmlops.fusion.reference import run

        return run(self._function, args, kwargs)

    def explain(self, *args: Any, device: Any = None, **kwargs: Any) -> Explanation:
        """Say what a call becomes, where it runs and why: passes, estimates, plans and kernels.

        It prints as text, and draws itself in notebooks.
        """
        with late():
            from dmlops.fusion.explanation import Explanation, Place

        found, inputs, _ = self._find(args, kwargs)
        if found is not None:
            found.program.check_indices(inputs)
        arrays = structure.leaves((args, kwargs))
        return Explanation(self.__name__, self._compiled(args, kwargs), Place.of(arrays, device, self._automatic))

    def prove(self, *args: Any, **kwargs: Any) -> Proof:
        """Prove that the program equals the function in NumPy, for every array of these shapes, dtypes and strides."""
        with late():
            from dmlops.fusion.proof import prove

        return prove(self.__name__, self._compiled(args, kwargs))

    def warm_up(self, *args: Any, device: Any = None, **kwargs: Any) -> None:
        """Compile what calls with arguments like these need, as ``dmlops.warm_up`` does."""
        warm_up(self, *args, device=device, **kwargs)

    # --- finding programs ---

    def _is_of_the_host(self, args: Any, kwargs: Any) -> bool:
        """Whether the host alone can run it."""
        return self._compiled(args, kwargs).program.is_of_the_host

    def _compiled(self, args: Any, kwargs: Any) -> Compiled:
        """The program for a call, with that call's own arguments."""
        compiled, _, _ = self._find(args, kwargs)
        if compiled is None:
            raise TypeError("the arguments are traced or Dask arrays: pass NumPy arrays of the same shape, such as a block")
        if not compiled.is_traced:
            compiled = self._traced(compiled, *self._bound(args, kwargs))
        args, kwargs = arguments.with_inputs(self._bound(args, kwargs), compiled)
        program = with_pieces(compiled.program, described(compiled.inputs), compiled.results)
        return compiled._replace(args=args, kwargs=kwargs, program=program)

    def _bound(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if kwargs or len(args) != self._positional:
            bound = arguments.bind(self, args, kwargs)
            return bound.args, bound.kwargs
        return args, kwargs

    def _find(self, args: Any, kwargs: Any) -> tuple[Compiled | None, list[Any], Any]:
        """The program for a call's arguments, its inputs among them, and where the call is counted.

        There is none where arrays are traced, or Dask's.
        """
        if kwargs or len(args) != self._positional:
            args, kwargs = self._bound(args, kwargs)
        arrays: list[Any] = []
        others: list[Any] = []
        kept: list[Any] = []
        try:
            key: Any = tuple([key_of(one, arrays, others, kept) for one in args])
            if kwargs:
                key = "named", key, key_of(kwargs, arrays, others, kept)
        except IteratorError as error:
            raise arguments.no_iterator(self, args, kwargs, error.iterator) from None
        if others:
            return None, arrays, None
        if len(arrays) > 1 and arguments.are_shared(arrays):  # which a function may see, and changes all together
            key = "shared", arguments.firsts(arrays), key
        compiled = self._programs.get(key)
        if compiled is not None:
            return compiled, arrays, self._row_of_found
        return self._find_seldom(key, args, kwargs, arrays, kept)

    def _find_seldom(
        self, key: Any, args: Any, kwargs: Any, arrays: list[Any], kept: list[Any]
    ) -> tuple[Compiled, list[Any], int]:
        """A new program; or one with small arrays as constants, where the function needs their values."""
        numbers = self._by_value.get(key)
        if numbers:
            found = self._programs.get(_whole(key, arrays, numbers))
            if found is not None:
                return found, _others(arrays, numbers), self._row_of_found
        kept_by_template: list[Any] = []
        loose = arguments.firsts(arrays), Call(args, kwargs, ()).key(kept_by_template)
        state = self._templates.get(loose)
        found = None
        if isinstance(state, Template):
            numbers = tuple(sorted(state.numbers))
            found = state.of(Call(args, kwargs, numbers))
        if found is None:
            found, numbers = self._traced_anew(args, kwargs, arrays, numbers)
            self._learn(loose, kept_by_template, state, Call(args, kwargs, numbers), found)
        if numbers:
            self._by_value.put(key, numbers, kept, 0, self.max_programs, 0)
        return self._keep(_whole(key, arrays, numbers), kept, found), _others(arrays, numbers), self._row

    def _traced_anew(self, args: Any, kwargs: Any, arrays: list[Any], numbers: Any) -> tuple[Compiled, tuple[int, ...]]:
        """A program, and the numbers of the arrays that are constants in it."""
        for tried in [numbers] if numbers else arguments.constants_to_try(arrays):
            constants = {number: arguments.constant(arrays[number]) for number in tried}
            try:
                return _compile(self, args, kwargs, arrays, constants), tried
            except RefusedError as error:
                last = error
        raise last

    def _learn(self, loose: Any, kept: list[Any], state: Any, call: Call, found: Compiled) -> None:
        """Remember the first values of parameters; of the second ones a template."""
        if not call.values or len(found.program.passes) > 1:
            return
        new: Any = None
        if state is None:
            new = call.once(found.program)
        elif isinstance(state, Once) and state.numbers == call.numbers and not is_same(found.program, state.program):
            new = template(self, call, found, state)
        if new is not None:
            self._templates.put(loose, new, kept, 0, self.max_programs, 0)

    def _traced(self, compiled: Compiled, args: Any, kwargs: Any) -> Compiled:
        """The program of a template as a trace gives it, for proofs; they must be the same."""
        found = [structure.array_from(one) for one in structure.leaves((args, kwargs))]
        arrays = [one for one in found if one is not None]
        traced, _ = self._traced_anew(args, kwargs, arrays, compiled.numbers)
        traced = traced._replace(program=compile_plainly(described(traced.inputs), traced.results))  # as the template's was
        if not is_same(traced.program, compiled.program):
            raise AssertionError(f"{self!r} has another program than its trace with these values")
        return traced

    def _keep(self, key: Any, kept: list[Any], compiled: Compiled) -> Compiled:
        dropped = self._programs.put(key, compiled, kept, compiled.nbytes, self.max_programs, self.max_bytes)
        _core._count_programs(1, dropped)
        if self._programs.evicted > self.max_programs and not self._said:
            self._said = warn(
                "%r has dropped %d programs, and traces again what comes back: raise its max_programs (%d) or max_bytes (%d), "
                "or pass fewer different shapes and constants",
                self,
                self._programs.evicted,
                self.max_programs,
                self.max_bytes,
            )
        return compiled


def _whole(key: Any, arrays: list[Any], numbers: tuple[int, ...]) -> Any:
    """The key with the bytes of the arrays that are constants."""
    return ("by value", key, tuple([bytes_of(arguments.constant(arrays[number])) for number in numbers])) if numbers else key


def _others(arrays: list[Any], numbers: tuple[int, ...]) -> list[Any]:
    return [one for number, one in enumerate(arrays) if number not in numbers] if numbers else arrays


def _compile(fused: Fused, args: Any, kwargs: Any, arrays: list[Any], constants: Any = ()) -> Compiled:
    """Trace the function; `constants` has arrays that are no inputs, by their numbers."""
    if not arrays:
        raise arguments.no_array(fused, args, kwargs)
    traced = [one for number, one in enumerate(arrays) if number not in constants]
    inputs = tuple(Input(number, one.shape, one.dtype, one.strides) for number, one in enumerate(traced))
    if any(node.dtype.hasobject for node in inputs):
        raise arguments.of_objects(fused, args, kwargs)
    left = iter(inputs)
    places = [constants[number] if number in constants else next(left) for number in range(len(arrays))]
    args, kwargs = arguments.with_places((args, kwargs), [places[first] for first in arguments.firsts(arrays)])
    trace = Recording()
    of_inputs = {node: trace.array(node) for node in inputs}

    def array(value: Any) -> Any:
        return of_inputs[value] if isinstance(value, Input) else value

    try:
        returned = tracing.run(trace, fused._function, structure.rebuilt(args, array), structure.rebuilt(kwargs, array))
        results = Results(repr(fused), trace.own(returned), structure.leaves((args, kwargs)))
    finally:
        trace.ended = True
    program = compile_nodes(described(traced), results.nodes)
    return Compiled(fused._function, args, kwargs, trace, inputs, tuple(results.nodes), results, program)


def fuse(function: Callable[..., Any]) -> Fused:
    """Make one pass of a function that moves the elements of arrays, casts and scales, however many steps it has.

    Parameters
    ----------
    function : function
        Its arguments are arrays, or lists, tuples and dicts of arrays; others are constants. It returns an array, or a tuple,
        list or dict of arrays, made by NumPy's functions, operators of dmlops, and einops, and of what is no array. It is run
        once for each combination of shapes, strides, dtypes and constants, with arrays that know no values.

    Returns
    -------
    Fused
        A function with the same arguments, and with `out`, `device` and `progress`, as every operator has them: arrays in give
        new NumPy arrays, device arrays in give device arrays. By default NumPy arrays are moved on the host or on the best
        Vulkan device, whichever is estimated to take less time (``"auto"``); ``set_default_device`` and ``DMLOPS_DEVICE``
        decide otherwise. It has the methods ``reference(...)``, the function itself, run by NumPy; ``explain(...,
        device=None)``, what a call becomes, where it runs and why; and ``prove(...)``, which raises where the program differs
        from NumPy, for whatever values; and ``warm_up(..., device=None)``, which compiles in advance what calls like this one
        need. Its attributes ``max_programs`` and ``max_bytes`` bound what it keeps.

    Raises
    ------
    TypeError
        When it is called: the function looks at values, or combines different elements, or maps items of more than two
        bytes by other than exact operations. The error names the line. Or no argument is an array.
    ValueError
        The function has a parameter `out`, `device` or `progress` of its own; when it is called: as operators raise it.

    See Also
    --------
    compare : runs a fused function, too, on every device and in NumPy.

    Notes
    -----
    Functions of each element alone, such as ``astype``, ufuncs and ``numpy.where``, of items of one byte or two, become
    tables that NumPy computes. Of larger items the host computes some exact operations, such as ``+ - * /`` and ``clip``.

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
