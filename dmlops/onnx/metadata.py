"""What a session says of its model, with the names and the attributes that onnxruntime has for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from onnx import ModelProto, TensorProto, TensorShapeProto, ValueInfoProto

__all__ = ["ModelMetadata", "NodeArg", "described", "metadata", "size_of"]


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or an output."""

    name: str
    type: str
    shape: list[int | str | None]


@dataclasses.dataclass(frozen=True)
class ModelMetadata:
    """Where a model comes from, and what its author says of it."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


def metadata(model: ModelProto) -> ModelMetadata:
    return ModelMetadata(
        model.producer_name,
        model.graph.name,
        model.domain,
        model.doc_string,
        model.graph.doc_string,
        model.model_version,
        {entry.key: entry.value for entry in model.metadata_props},
    )


def described(values: Iterable[ValueInfoProto], arguments: Iterable[Any]) -> list[Any]:
    """What onnxruntime says of each value, or would say if it had a kernel for the leading part."""
    there = {argument.name: argument for argument in arguments}
    return [there.get(value.name) or NodeArg(value.name, _type(value), _shape(value)) for value in values]


def _type(value: ValueInfoProto) -> str:
    return f"tensor({TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()})"


def _shape(value: ValueInfoProto) -> list[int | str | None]:
    return [size_of(dim) for dim in value.type.tensor_type.shape.dim]


def size_of(dim: TensorShapeProto.Dimension) -> int | str | None:
    """A size, its name, or None if it has neither. Some exporters write -1 for a size that is not known."""
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None
    return dim.dim_param or None
