"""A function's program for one combination of arguments, as the run, the explanation and the proof of it have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dmlops import structure
from dmlops.fusion.compiler import Program
from dmlops.fusion.graph import Input, Node
from dmlops.fusion.numpy_maps import moved_as_map
from dmlops.fusion.results import Results
from dmlops.fusion.traced import Trace

__all__ = ["Compiled"]


class Compiled(NamedTuple):
    """A function's program for one combination of arguments, and what it was made of.

    `args` and `kwargs` are those of the function, with an Input in place of each array that was traced.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    trace: Trace
    inputs: tuple[Input, ...]
    results: tuple[Node, ...]
    returned: Results
    program: Program
    is_traced: bool = True  # else a template has made it, for which arrays with these numbers are parameters
    numbers: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Of tables and constants, also as they were recorded for proofs."""
        passes = self.program.passes
        if not self.is_traced:
            return sum(len(one.constants_bytes) for one in passes)
        steps = [step for step in self.trace.steps if step.function is not moved_as_map]
        recorded = structure.leaves([(step.args, step.kwargs) for step in steps])
        arrays = {id(one): one.nbytes for one in recorded if isinstance(one, np.ndarray)}
        arrays |= {id(node.array): node.array.nbytes for one in passes for _, node in one.constants}
        return sum(arrays.values()) + sum(len(one.constants_bytes) for one in passes)
