"""Cutting a model into the leading part that only moves data, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, helper

from dmlops.onnx.graph import Graph
from dmlops.onnx.inference import is_plain
from dmlops.onnx.node import data_of
from dmlops.onnx.operator_table import UNFUSED, VIEWS

__all__ = ["cut", "split", "tensors"]

# Operators that do not belong to the leading part where all their data, if any, is constant: look-ups in tables of weights.
_OF_INPUTS = ("ConstantOfShape", "Gather", "GatherElements", "GatherND", "Range", "Scatter", "ScatterElements", "ScatterND")

# Sums into which onnxruntime takes a Transpose, also by way of what it drops, or takes into a product as a scale.
_SUMS, _DROPPED = ("Gemm", "MatMul", "Reduce"), ("Cast", "Div", "Dropout", "Identity", "Mul")
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


def split(model: ModelProto) -> tuple[ModelProto | None, ModelProto | None]:
    """Cut a model into the leading part that only moves data, and the rest.

    Parameters
    ----------
    model : onnx.ModelProto
        Any valid model. It is not changed.

    Returns
    -------
    moved : onnx.ModelProto or None
        A model that ``dmlops.onnx.backend`` runs. None where no leading part moves data.
    rest : onnx.ModelProto or None
        Its inputs are outputs of `moved` and inputs of `model`. None where the whole model only moves data.

    See Also
    --------
    Session : runs both parts.

    Notes
    -----
    A node belongs to the leading part if it can run on a device and its data comes from inputs of the model. Gather of a
    constant is left out: it is a look-up in a table of weights. So is, at the end of the part, what moves nothing: Reshape,
    Flatten, Squeeze, Unsqueeze and Identity. A Transpose stays with the Gemm, MatMul or reduction that reads it: onnxruntime
    makes it part of that. Nodes that compute shapes are in both parts where both need them.

    Examples
    --------
    >>> import dmlops.onnx
    >>> from onnx import parser
    >>> model = parser.parse_model('''
    ...     <ir_version: 10, opset_import: ["": 21]>
    ...     net (float[N, H, W, 3] photo) => (float[N, 3, H, W] y) {
    ...         x = Transpose <perm = [0, 3, 1, 2]> (photo)
    ...         y = Relu (x)
    ...     }''')
    >>> moved, rest = dmlops.onnx.split(model)
    >>> [node.op_type for node in moved.graph.node], [node.op_type for node in rest.graph.node]
    (['Transpose'], ['Relu'])
    """
    return cut(model, Graph(model))


def cut(model: ModelProto, graph: Graph) -> tuple[ModelProto | None, ModelProto | None]:
    """Cut a model, of which `graph` knows what can be moved."""
    protos = model.graph.node
    movers = _movers(graph, protos)
    if not movers:
        return None, model
    shapes = {k for k, node in enumerate(graph.nodes) if k not in graph.problems and graph.on_host(node)}
    results = {name for k in movers for name in graph.nodes[k].outputs}
    others = [name for name in graph.outputs if name not in results]
    rest = _needed(protos, set(range(len(protos))) - movers - shapes, set(others), shapes)
    if not rest and not others:
        return model, None
    moved = _needed(protos, movers, set(), shapes)
    read_first, read_then = ({name for k in part for name in _reads(protos[k])} for part in (moved, rest))
    passed = [name for k in sorted(movers) for name in graph.nodes[k].outputs if name in read_then]
    ends = [*passed, *(name for name in graph.outputs if name in results and name not in passed)]
    first = _part(model, graph, moved, read_first, [], ends)
    unread = graph.inputs.keys() - read_first  # onnxruntime checks these, too
    return first, _part(model, graph, rest, read_then | unread, passed, others)


def _movers(graph: Graph, protos: Sequence[NodeProto], left: frozenset[int] = frozenset()) -> set[int]:
    """The positions of the nodes that move data from inputs of the model, without those that are `left` to onnxruntime."""
    # Types that NumPy itself lacks do not reach onnxruntime as NumPy arrays.
    ready = {name for name, kind in graph.inputs.items() if is_plain(kind) and _is_numpy(kind.tensor_type.elem_type)}
    ready |= set(graph.initializers)
    found: list[int] = []
    for k, node in enumerate(graph.nodes):
        if k in graph.problems or k in left or not all(name in ready for name in node.inputs if name):
            continue
        if not graph.on_host(node):
            if node.operator in _OF_INPUTS and graph.known.issuperset(data_of(node)):
                continue
            if graph.maps and node.operator in UNFUSED:
                continue
            found.append(k)
        ready.update(node.outputs)
    movers = set(found)
    for k in reversed(found):
        followed = any(name in graph.nodes[other].inputs for other in movers for name in graph.nodes[k].outputs)
        if (graph.nodes[k].operator in VIEWS or graph.is_map(graph.nodes[k])) and not followed:
            movers.remove(k)
    unsafe = _unsafe(graph, protos, movers)
    return _movers(graph, protos, left | unsafe) if unsafe else movers


def _unsafe(graph: Graph, protos: Sequence[NodeProto], movers: set[int]) -> set[int]:
    """The movers that onnxruntime may fuse with what it runs, and round otherwise then.

    It fuses maps with their neighbours; a scale with MatMul, also by way of a Transpose, and of nodes that do nothing; and a
    Transpose with a sum.
    """
    maps = {k for k in movers if graph.is_map(graph.nodes[k])}
    others = [k for k in range(len(protos)) if k not in movers]
    added: set[str] = set()
    for node in reversed([graph.nodes[k] for k in others]):
        if node.operator.startswith(_SUMS) or (node.operator in _DROPPED and added.intersection(node.outputs)):
            added.update(node.inputs)
    floats = {name for name in added if graph.type_of(name) in _FLOATS}
    turned = {k for k in movers if graph.nodes[k].operator == "Transpose" and floats.intersection(graph.nodes[k].outputs)}
    if turned:
        return turned
    moved = {name for k in movers for name in graph.nodes[k].outputs}
    for node in [graph.nodes[k] for k in others]:
        if node.operator == "MatMul" and moved.intersection(node.inputs):
            return maps
        if (node.operator in graph.operators or node.operator == "Dropout") and moved.intersection(node.inputs):
            moved.update(node.outputs)
    read = {name for k in others for name in _reads(protos[k])}.union(graph.outputs)
    return {k for k in maps if read.intersection(graph.nodes[k].outputs)}


def _is_numpy(element: int) -> bool:
    return helper.tensor_dtype_to_np_dtype(element).isbuiltin == 1


def _needed(protos: Iterable[NodeProto], wanted: set[int], outputs: set[str], shapes: set[int]) -> list[int]:
    """The nodes `wanted`, and of `shapes` those that they or the outputs need, in order."""
    needed, names = [], set(outputs)
    for k, proto in reversed(list(enumerate(protos))):
        if k in wanted or (k in shapes and names.intersection(proto.output)):
            needed.append(k)
            names.update(_reads(proto))
    return needed[::-1]


def _part(
    model: ModelProto, graph: Graph, nodes: Iterable[int], read: set[str], passed: Iterable[str], outputs: Iterable[str]
) -> ModelProto:
    """A model of some of the nodes, with everything else of the model that they read.

    It declares the sizes of what is passed from part to part as far as those of the inputs say. Others may be out of date, and
    those of inputs are checked.
    """
    source, kept = model.graph, read.union(outputs)
    protos = [source.node[k] for k in nodes]
    made = {name for proto in protos for name in proto.output}.difference(outputs)
    target = helper.make_graph(
        protos,
        source.name,
        [value for value in source.input if value.name in kept] + [_value(name, graph.types) for name in passed],
        [_value(name, graph.types | graph.outputs) for name in outputs],
        [tensor for tensor in source.initializer if tensor.name in kept],
        source.doc_string,
        [value for value in source.value_info if value.name in made],
        [tensor for tensor in source.sparse_initializer if tensor.values.name in kept],
    )
    target.quantization_annotation.extend(note for note in source.quantization_annotation if note.tensor_name in kept)
    part = helper.make_model(target, ir_version=model.ir_version, opset_imports=model.opset_import, functions=model.functions)
    part.metadata_props.extend(model.metadata_props)
    return part


def _value(name: str, types: Mapping[str, TypeProto]) -> ValueInfoProto:
    if name not in types:
        raise ValueError(f"the type of {name!r} cannot be inferred: the model is not valid")
    return helper.make_value_info(name, types[name])


def _reads(proto: NodeProto) -> Iterator[str]:
    """The values that a node reads, those that its subgraphs take from outside included."""
    yield from filter(None, proto.input)
    for inner in _subgraphs(proto):
        for node in inner.node:
            yield from _reads(node)


def tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """The initializers of a graph and of its subgraphs, and the tensors among the attributes."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield from [attribute.t] if attribute.type == AttributeProto.TENSOR else attribute.tensors
        for inner in _subgraphs(node):
            yield from tensors(inner)


def _subgraphs(proto: NodeProto) -> Iterator[GraphProto]:
    for attribute in proto.attribute:
        yield from [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
