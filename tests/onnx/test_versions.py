"""Every version of every operator, compared with NumPy: operands as inputs, as initializers and as attributes."""

import dmlops.onnx
import numpy as np
import onnx
import onnx.defs
import pytest
from dmlops.onnx.operator_table import OPERATORS
from onnx import helper, numpy_helper

NEWEST = onnx.defs.onnx_opset_version()
X = np.arange(2 * 4 * 6 * 4, dtype=np.float32).reshape(2, 4, 6, 4)


def ints(*values):
    return np.array(values, np.int64)


def blocks(x, block, order):
    return dmlops.reference.depth_to_space(x, block, order=order)


class Row:
    """A call of an operator in the opsets `first` to `last`: its inputs, its attributes, and what NumPy makes of it."""

    def __init__(self, operator, first, last, inputs, expected, **attributes):
        self.operator, self.first, self.last = operator, first, last or NEWEST
        self.inputs, self.attributes = inputs, attributes
        self.expected = expected if isinstance(expected, list) else [expected]

    def node(self):
        names = [f"i{k}" if value is not None else "" for k, value in enumerate(self.inputs)]
        return helper.make_node(
            self.operator, names, [f"o{k}" for k in range(len(self.expected))], "the node", **self.attributes
        )


def with_values(indices, values):
    """X, with values at indices of NumPy's."""
    y = X.copy()
    y[indices] = values
    return y


CHOSEN = np.array([2, -1, 0, 1, 3, -2, 1, 0]).reshape(2, 2, 1, 2)  # beside the first elements along three axes
PLACES = np.arange(2)[:, None, None, None], CHOSEN, np.zeros((1, 1, 1, 1), int), np.arange(2)
REVERSED = dmlops.reference.reverse_subsequences(X, [2, 1], 1, batch_axis=0)
ASYMMETRIC = {"coordinate_transformation_mode": "asymmetric"}
EDGES = [(0, 0), (0, 0), (1, 2), (3, 0)]
PADS = [0, 0, 1, 3, 0, 0, 2, 0]
ROWS = [
    Row("Cast", 1, 5, [ints(3, 4)], np.float32([3, 4]), to="FLOAT"),
    Row("Cast", 6, 0, [ints(3, 4)], np.float32([3, 4]), to=1),
    Row("Concat", 1, 3, [X, X[:, :1]], np.concatenate([X, X[:, :1]], 1)),
    Row("Concat", 4, 0, [X, X[..., ::2]], np.concatenate([X, X[..., ::2]], 3), axis=3),
    Row("Concat", 11, 0, [X, X, X], np.concatenate([X, X, X], -2), axis=-2),
    Row("Constant", 1, 0, [], X, value=numpy_helper.from_array(X)),
    Row("Constant", 12, 0, [], ints(1, 2), value_ints=[1, 2]),
    Row("Constant", 12, 0, [], np.float32(1.5), value_float=1.5),
    Row("ConstantOfShape", 9, 0, [ints(2, 3)], np.full((2, 3), 7, np.int8), value=numpy_helper.from_array(np.int8([7]))),
    Row("ConstantOfShape", 9, 0, [ints()], np.zeros((), np.float32)),
    Row("DepthToSpace", 1, 0, [X], blocks(X, 2, "DCR"), blocksize=2),
    Row("DepthToSpace", 11, 0, [X], blocks(X, 2, "CRD"), blocksize=2, mode="CRD"),
    Row("Expand", 8, 0, [X[:, :1], ints(3, 1, 4, 1, 1)], np.broadcast_to(X[:, :1], (3, 2, 4, 6, 4))),
    Row("EyeLike", 9, 0, [X[0, 0]], np.eye(6, 4, k=-1, dtype=np.float32), k=-1),
    Row("EyeLike", 9, 0, [X[0, 0]], np.eye(6, 4, dtype=np.int8), dtype=3),
    Row("Flatten", 1, 0, [X], X.reshape(8, 24), axis=2),
    Row("Flatten", 11, 0, [X], X.reshape(48, 4), axis=-1),
    Row("Gather", 1, 0, [X, ints(3, 0, 0, 1, 2)], X.take([3, 0, 0, 1, 2], 1), axis=1),
    Row("Gather", 11, 0, [X, np.int32([[-1, 0], [2, 2]])], X.take([[-1, 0], [2, 2]], 3), axis=3),
    Row("Gather", 1, 0, [X, np.array(2)], X[:, 2], axis=1),
    Row("GatherElements", 11, 0, [X, CHOSEN], X[PLACES], axis=1),
    Row("GatherElements", 11, 0, [X[0, 0, 0], np.int32([3, -4, 3, 0, 1])], X[0, 0, 0, [3, 0, 3, 0, 1]]),
    Row("GatherND", 11, 0, [X, ints([1, -1], [0, 2])], X[[1, 0], [-1, 2]]),
    Row("GatherND", 12, 0, [X, ints([[1, 5]], [[-1, 0]])], np.stack([X[:1, 1, 5], X[1:, 3, 0]]), batch_dims=1),
    Row("Identity", 1, 0, [X], X),
    Row("OneHot", 9, 10, [ints(1, -1, 5), np.array(3), np.float32([2, 7])], np.float32([[2, 7, 2], [2, 2, 2], [2, 2, 2]])),
    Row("OneHot", 11, 0, [ints(1, -1, 5), np.array(3), np.float32([2, 7])], np.float32([[2, 7, 2], [2, 2, 7], [2, 2, 2]])),
    Row("OneHot", 11, 0, [np.float32([[1, 0]]), np.float32(2), np.int8([0, 1])], np.int8([[[0, 1], [1, 0]]]), axis=1),
    Row("Pad", 1, 1, [X], np.pad(X, EDGES, constant_values=1.5), paddings=PADS, value=1.5),
    Row("Pad", 2, 10, [X], np.pad(X, EDGES, constant_values=1.5), pads=PADS, value=1.5),
    Row("Pad", 2, 10, [X], np.pad(X, EDGES, "reflect"), pads=PADS, mode="reflect"),
    Row("Pad", 2, 10, [X], np.pad(X, EDGES, "edge")[:, 1:], pads=[0, -1, *PADS[2:]], mode="edge"),
    Row("Pad", 11, 0, [X, ints(*PADS), np.float32(7)], np.pad(X, EDGES, constant_values=7)),
    Row("Pad", 11, 0, [X, ints(0, 0, -1, 2, 0, -2, 3, 0)], np.pad(X[:, :2, 1:], [(0, 0), (0, 0), (0, 3), (2, 0)])),
    Row("Pad", 18, 0, [X, ints(1, 3, 2, 0), None, ints(2, -1)], np.pad(X, EDGES, "reflect"), mode="reflect"),
    Row("Pad", 19, 0, [X, ints(*PADS)], np.pad(X, EDGES, "wrap"), mode="wrap"),
    Row("Range", 11, 0, [np.int32(10), np.int32(-1), np.int32(-3)], np.int32([10, 7, 4, 1])),
    Row("Range", 11, 0, [np.float32(1), np.float32(2.1), np.float32(0.5)], np.float32([1, 1.5, 2])),
    Row("Range", 11, 0, [ints(3).reshape(()), ints(3).reshape(()), ints(1).reshape(())], ints()),
    Row("Reshape", 1, 4, [X], X.reshape(2, 4, 24), shape=[0, 4, -1]),
    Row("Reshape", 5, 0, [X, ints(0, -1, 3)], X.reshape(2, 32, 3)),
    Row("Reshape", 14, 0, [X[:0], ints(3, 0)], X[:0].reshape(3, 0), allowzero=1),
    Row("Resize", 10, 10, [X, np.float32([1, 1, 2, 3])], X.repeat(2, 2).repeat(3, 3)),
    Row("Resize", 10, 10, [X, np.float32([1, 0.5, 0.5, 1])], X[:, ::2, ::2]),
    Row("Resize", 11, 0, [X, np.float32([]), np.float32([1, 1, 2, 3])], X.repeat(2, 2).repeat(3, 3)),
    Row("Resize", 11, 0, [X, np.float32([]), np.float32([1, 1, 1 / 3, 1])], X[:, :, ::3], nearest_mode="floor", **ASYMMETRIC),
    Row("Resize", 13, 0, [X, None, None, ints(2, 4, 3, 8)], X[:, :, ::2].repeat(2, 3)),
    Row("Resize", 18, 0, [X, None, np.float32([2, 3])], X.repeat(3, 2).repeat(2, 3), axes=[3, 2]),
    Row("ReverseSequence", 10, 0, [X, ints(2, 1)], REVERSED, time_axis=1, batch_axis=0),
    Row("Scatter", 9, 10, [X, CHOSEN % 4, -X[:, :2, :1, :2]], with_values(PLACES, -X[:, :2, :1, :2]), axis=1),
    Row("ScatterElements", 11, 0, [X, CHOSEN, -X[:, :2, :1, :2]], with_values(PLACES, -X[:, :2, :1, :2]), axis=-3),
    Row("ScatterElements", 16, 0, [X[0, 0, 0], ints(3, -4), np.float32([8, 9])], np.float32([9, 1, 2, 8]), reduction="none"),
    Row("ScatterND", 11, 0, [X, ints([1, -1], [0, 2]), -X[0, :2]], with_values(([1, 0], [-1, 2]), -X[0, :2])),
    Row("ScatterND", 16, 0, [X, ints([[1]]), -X[:1, None]], with_values(1, -X[0]), reduction="none"),
    Row("Shape", 1, 0, [X], ints(2, 4, 6, 4)),
    Row("Shape", 15, 0, [X], ints(4, 6), start=-3, end=3),
    Row("Size", 1, 0, [X], np.array(192)),
    Row("Slice", 1, 9, [X], X[:, 1:-1, :, 2:], starts=[1, 2], ends=[-1, 1000], axes=[1, 3]),
    Row("Slice", 1, 9, [X], X[1:, :2], starts=[1, 0], ends=[2, 2]),
    Row("Slice", 10, 0, [X, ints(-1, 0), ints(-1000, 5), ints(1, 2), ints(-1, 2)], X[:, ::-1, 0:5:2]),
    Row("Slice", 10, 0, [X, np.int32([1]), np.int32([2])], X[1:2]),
    Row("SpaceToDepth", 1, 0, [X], dmlops.reference.space_to_depth(X, 2), blocksize=2),
    Row("SpaceToDepth", 28, 0, [X], dmlops.reference.space_to_depth(X, 2, order="CRD"), blocksize=2, mode="CRD"),
    Row("Split", 1, 12, [X], [X[:, :, :1], X[:, :, 1:]], axis=2, split=[1, 5]),
    Row("Split", 2, 17, [X], [X[:1], X[1:]]),
    Row("Split", 13, 0, [X, ints(3, 0, 3)], [X[:, :, :3], X[:, :, 3:3], X[:, :, 3:]], axis=-2),
    Row("Split", 18, 0, [X], [X[..., :2], X[..., 2:4], X[..., 4:]], axis=3, num_outputs=3),
    Row("Squeeze", 1, 12, [X[:, None, :, None]], X, axes=[1, 3]),
    Row("Squeeze", 13, 0, [X[:, None, :, None], ints(-3, 1)], X),
    Row("Squeeze", 1, 0, [X[:, None, :, None]], X),
    Row("Tile", 1, 5, [X, ints(3), ints(1)], np.tile(X, (1, 3, 1, 1))),
    Row("Tile", 6, 0, [X, ints(2, 1, 3, 1)], np.tile(X, (2, 1, 3, 1))),
    Row("Transpose", 1, 0, [X], X.transpose(0, 3, 1, 2), perm=[0, 3, 1, 2]),
    Row("Transpose", 1, 0, [X], X.T),
    Row("Unsqueeze", 1, 12, [X], X[:, None, :, None], axes=[1, 3]),
    Row("Upsample", 1, 6, [X], X.repeat(2, 2).repeat(3, 3), height_scale=2.0, width_scale=3.0),
    Row("Upsample", 7, 8, [X], X.repeat(2, 2).repeat(3, 3), scales=[1.0, 1.0, 2.0, 3.0]),
    Row("Upsample", 9, 9, [X, np.float32([2, 1, 1.5, 1])], X.repeat(2, 0)[:, :, [0, 0, 1, 2, 2, 3, 4, 4, 5]]),
    Row("Unsqueeze", 13, 0, [X, ints(-1, 0)], X[None, ..., None]),
    Row("Where", 9, 0, [X[0] % 3 == 0, X, np.float32(-1)], np.where(X[0] % 3 == 0, X, -1)),
    Row("Where", 9, 0, [X[0, :, :1] % 3 == 0, X[:, :, :, :1], -X], np.where(X[0, :, :1] % 3 == 0, X[:, :, :, :1], -X)),
    Row("Where", 9, 0, [np.array(True), X[0], X[:, :1]], np.broadcast_to(X[0], X.shape)),
]  # fmt: skip


def definitions(operator):
    history = onnx.defs.get_all_schemas_with_history()
    named = [schema for schema in history if (schema.domain, schema.name) == ("", operator)]
    return {schema.since_version for schema in named if not schema.deprecated}


CASES = [
    pytest.param(row, version, id=f"{row.operator}-{version}-{k}")
    for k, row in enumerate(ROWS)
    for version in sorted(definitions(row.operator) | {row.first})
    if row.first <= version <= row.last and version <= NEWEST
]


def test_every_definition_has_a_row():
    tested = {(case.values[0].operator, case.values[1]) for case in CASES}
    assert tested >= {(name, version) for name in OPERATORS for version in definitions(name)}


def check(results, row):
    assert len(results) == len(row.expected)
    for result, expected in zip(results, row.expected, strict=True):
        expected = np.ascontiguousarray(expected).reshape(expected.shape)
        assert isinstance(result, np.ndarray) and (result.shape, result.dtype) == (expected.shape, expected.dtype)
        assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("row, version", CASES)
def test_as_numpy_has_it(row, version, device):
    given = [value for value in row.inputs if value is not None]
    if row.operator != "Cast":  # a Cast of inputs would be one of data
        check(dmlops.onnx.backend.run_node(row.node(), given, device, opset_version=version), row)
    check(run_with_initializers(row, version, device, row.operator in ("Cast", "Constant")), row)


def run_with_initializers(row, version, device, all_constant):
    """The node in a model where the shapes, or all operands, are constants, and the declared shape of the data is not known."""
    values = {f"i{k}": value for k, value in enumerate(row.inputs) if value is not None}
    others = {"Concat": list(values), "Where": ["i1", "i2"]}
    data = others.get(row.operator, ["i0", "i2"] if row.operator.startswith("Scatter") else ["i0"])
    moved = [] if all_constant else data
    kinds = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in values.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], [None] * values[name].ndim) for name in moved]
    outputs = [
        helper.make_tensor_value_info(f"o{k}", helper.np_dtype_to_tensor_dtype(value.dtype), [None] * value.ndim)
        for k, value in enumerate(row.expected)
    ]
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items() if name not in moved]
    graph = helper.make_graph([row.node()], "graph", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    return dmlops.onnx.backend.run_model(model, [values[name] for name in moved], device)
