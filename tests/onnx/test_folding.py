"""Arithmetic of shapes and constants: exported models whose sizes are computed run, and equal onnx's reference evaluator."""

import dmlops.onnx
import numpy as np
import onnx
import onnx.defs
import onnxruntime
import pytest
from dmlops.onnx.folding import _EXACT, _EXACT_FOR_INTEGERS
from dmlops.onnx.graph import Graph, UnsupportedNodeError
from onnx import parser
from onnx.reference import ReferenceEvaluator

X = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)

MODELS = {
    "flatten as exporters write it": """
        g (float[N, C, H, W] x) => (float[A, B] y) <
            int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, int64[1] rest = {-1}
        > {
            shape = Shape (x)
            n = Gather (shape, zero)
            c = Gather (shape, one)
            nc = Mul (n, c)
            first = Unsqueeze (nc, front)
            sizes = Concat <axis = 0> (first, rest)
            y = Reshape (x, sizes)
        }""",
    "a resize to half of the size, in floats": """
        g (float[N, C, H, W] x) => (float[N, C, A, B] y) <
            int64[1] zero = {0}, int64[1] two = {2}, int64[1] four = {4}, float half = {0.5}, float[0] none = {}
        > {
            shape = Shape (x)
            front = Slice (shape, zero, two)
            back = Slice (shape, two, four)
            floats = Cast <to = 1> (back)
            halves = Mul (floats, half)
            whole = Floor (halves)
            ints = Cast <to = 7> (whole)
            sizes = Concat <axis = 0> (front, ints)
            y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">
                (x, none, none, sizes)
        }""",
    "a centre crop": """
        g (float[N, C, H, W] x) => (float[N, C, 3, 3] y) <
            int64[2] axes = {2, 3}, int64[2] wanted = {3, 3}, int64[2] two = {2, 2}
        > {
            shape = Shape <start = 2> (x)
            extra = Sub (shape, wanted)
            begin = Div (extra, two)
            end = Add (begin, wanted)
            y = Slice (x, begin, end, axes)
        }""",
    "a size or another": """
        g (float[N, C, H, W] x) => (float[A, B, C, D] y) <int64[4] wanted = {-1, 3, -1, 6}, int64[4] minus = {-1, -1, -1, -1}> {
            shape = Shape (x)
            negative = Equal (wanted, minus)
            sizes = Where (negative, shape, wanted)
            y = Reshape (x, sizes)
        }""",
    "padding to a multiple": """
        g (float[N, C, H, W] x) => (float[N, C, A, B] y) <
            int64[4] multiple = {1, 1, 8, 8}, int64[4] zeros = {0, 0, 0, 0}, int64[4] same = {0, 0, 0, 0}
        > {
            shape = Shape (x)
            negative = Sub (zeros, shape)
            missing = Mod (negative, multiple)
            pads = Concat <axis = 0> (same, missing)
            y = Pad (x, pads)
        }""",
    "a range of rows": """
        g (float[N, C, H, W] x) => (float[N, C, A, W] y) <int64 two = {2}, int64 zero = {0}, int64 step = {3}> {
            shape = Shape (x)
            h = Gather (shape, two)
            rows = Range (zero, h, step)
            y = Gather <axis = 2> (x, rows)
        }""",
    "a product of sizes": """
        g (float[N, C, H, W] x) => (float[A] y) <int64[1] front = {0}> {
            shape = Shape (x)
            count = ReduceProd <keepdims = 1> (shape)
            y = Reshape (x, count)
        }""",
}


def model_of(text, opset=18):
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> {text}')
    onnx.checker.check_model(model)
    return model


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("declared", [False, True])
def test_models_whose_sizes_are_computed(device, name, declared):
    """With sizes that the model declares, all of it is folded when it is prepared."""
    model = model_of(MODELS[name])
    if declared:
        for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, X.shape, strict=True):
            dim.dim_value = size
    (expected,) = ReferenceEvaluator(model).run(None, {"x": X})
    prepared = dmlops.onnx.backend.prepare(model, device)
    assert not declared or len(prepared._program._steps) == 1
    for x in (X, dmlops.asarray(X, device=device)):
        (result,) = prepared.run([x])
        assert result.dtype == expected.dtype and result.shape == expected.shape and result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_sessions_run_them(device, name):
    """The rest, which needs no sizes, is onnxruntime's."""
    text = MODELS[name].replace(" y)", " z)", 1).rstrip()[:-1] + "    z = Relu (y)\n}"
    model = model_of(text)
    expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": X})
    session = dmlops.onnx.Session(model.SerializeToString(), device=device)
    assert np.array_equal(session.run(None, {"x": X})[0], expected[0])


def test_what_depends_on_data_is_refused():
    model = model_of("g (float[N] x, int64[1] k) => (float[M] y) { m = Mul (x, x) y = Reshape (m, k) }")
    with pytest.raises(UnsupportedNodeError, match="Mul.* is no movement of data"):
        dmlops.onnx.backend.prepare(model)
    model = model_of("g (float[N] x, int64[1] k) => (float[M] y, int64[1] m) { m = Add (k, k) y = Reshape (x, k) }")
    with pytest.raises(UnsupportedNodeError, match="Add.* is no movement of data"):
        dmlops.onnx.backend.prepare(model)


def test_amounts_may_be_computed_of_inputs(device):
    """They are needed on the host, and so are the inputs."""
    model = model_of("g (float[N] x, int64[2] k) => (float[A, B] y) { m = Neg (k) s = Abs (m) y = Reshape (x, s) }")
    prepared = dmlops.onnx.backend.prepare(model, device)
    (result,) = prepared.run([X.ravel(), np.array([9, 16])])
    assert np.array_equal(result, X.reshape(9, 16))


def test_sums_of_floats_are_not_folded():
    """Their order is open, so the bits may differ."""
    model = model_of(
        "g (float[2] x) => (float[2] y) <float[2] c = {1, 2}> { s = ReduceSum (c) k = Shape (x) y = Expand (s, k) }"
    )
    assert [Graph(model).nodes[k].operator for k in Graph(model).problems] == ["ReduceSum"]


def test_the_operators_that_are_folded_are_onnx_s():
    schemas = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    assert schemas >= _EXACT | _EXACT_FOR_INTEGERS
