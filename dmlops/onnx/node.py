"""A node of a graph, and its operands that are numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = ["FROM_SHAPES", "Node", "axes_of", "data_of", "ints_of", "is_data", "positive"]

FROM_SHAPES = ("EyeLike", "Shape", "Size")  # of their operand only the shape counts, and the type
# The places of the operands that are moved, where that is not the first alone; None: all of them.
_DATA = {
    "Concat": None,
    "ConstantOfShape": (),
    "Range": (),
    "Scatter": (0, 2),
    "ScatterElements": (0, 2),
    "ScatterND": (0, 2),
    "Where": (1, 2),
}


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of a graph. `version` is the opset that its operator's definition came with; `opset` is the model's."""

    name: str
    operator: str
    domain: str
    opset: int
    version: int
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        operator = f"{self.domain}.{self.operator}" if self.domain else self.operator
        which = repr(self.name) if self.name else f"of output {next(iter(self.outputs), None)!r}"
        return f"node {which} ({operator}, opset {self.opset})"


def ints_of(node: Node, operand: Array | None, attribute: str) -> list[int] | None:
    """The operand as a list, or the attribute that older versions have in its place; None if there is neither."""
    if operand is not None and operand.ndim != 1:
        raise ValueError(f"{attribute} must be a vector, not of the shape {list(operand.shape)}")
    found = node.attributes.get(attribute) if operand is None else operand
    return None if found is None else [int(value) for value in np.asarray(found).reshape(-1)]


def axes_of(node: Node, operand: Array | None, rank: int, repeats: bool = False) -> list[int] | None:
    """The axes that an operand or the attribute `axes` names, none below 0, or twice; None if there is neither."""
    axes = ints_of(node, operand, "axes")
    found = None if axes is None else [positive(axis, rank) for axis in axes]
    if found and not repeats and len(set(found)) < len(found):
        raise ValueError(f"axes {axes} name an axis twice")
    return found


def positive(axis: int, rank: int) -> int:
    """The number of an axis that may be counted from the end."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def data_of(node: Node) -> tuple[str, ...]:
    """The operands that are moved; others are shapes, indices or amounts."""
    return tuple(name for place, name in enumerate(node.inputs) if is_data(node, place))


def is_data(node: Node, place: int) -> bool:
    """Whether the operand at a place is moved."""
    places = _DATA.get(node.operator, (0,))
    return places is None or place in places
