"""What is known of a model's values before it runs."""

from __future__ import annotations

import math
from typing import TypeAlias

import onnx.shape_inference
from onnx import GraphProto, ModelProto, TensorProto, TypeProto, helper

from dmlops.onnx.metadata import size_of

__all__ = ["Shape", "contradicts", "inferred_types", "is_plain"]

Shape: TypeAlias = tuple[int | None, ...]


def inferred_types(model: ModelProto) -> dict[str, TypeProto]:
    """The types of the values that are computed, with the sizes that follow from those of the inputs."""
    bare = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    source, graph = model.graph, GraphProto(node=model.graph.node, input=model.graph.input)
    for tensor in source.initializer:  # inference reads values of shapes, indices and amounts only
        small = math.prod(tensor.dims) <= 1024
        graph.initializer.append(
            tensor if small else TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
        )
    graph.sparse_initializer.extend(source.sparse_initializer)
    for value in graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if size_of(dim) is None:  # a size below 0
                dim.Clear()
    for declared, values in ((graph.value_info, source.value_info), (graph.output, source.output)):
        declared.extend(values)
        for value in declared:
            value.type.tensor_type.ClearField("shape")
    bare.graph.CopyFrom(graph)
    inferred = onnx.shape_inference.infer_shapes(bare).graph
    types = {value.name: value.type for value in (*inferred.value_info, *inferred.output)}
    names = {dim.dim_param for value in graph.input for dim in value.type.tensor_type.shape.dim}
    for kind in types.values():
        for dim in kind.tensor_type.shape.dim:
            if dim.dim_param and dim.dim_param not in names:  # inference makes up names, too
                dim.Clear()
    return types


def is_plain(kind: TypeProto) -> bool:
    """Whether a value is a dense tensor whose elements have a fixed size."""
    element = kind.tensor_type.elem_type
    return element in helper.get_all_tensor_dtypes() and element != TensorProto.STRING


def contradicts(actual: tuple[int, ...], known: Shape) -> bool:
    return len(actual) != len(known) or any(b not in (None, a) for a, b in zip(actual, known, strict=True))
