"""A session does what onnxruntime does, with random models: the same values, descriptions, and errors.

A model is one example of Hypothesis; HYPOTHESIS_PROFILE says how many there are.
"""

import dmlops
import dmlops.onnx
import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from onnx import helper, numpy_helper, parser
from random_models import models

onnxruntime.set_default_logger_severity(4)
UNCLEAR = (KeyError, AttributeError, ZeroDivisionError, AssertionError, RecursionError, UnicodeError, SystemError)

# What onnxruntime refuses at run time and a session does: onnxruntime's message, and what ONNX's text says.
REFUSED = {
    "Cannot slice scalars": "Slice along no axis is the identity",
    "Cannot concatenate scalars": "Concat of one value is that value",
    "data_rank > 0": "Pad along no axis is the identity",
    "zero effective input extent": "a result without elements needs no element to repeat",
    "Unexpected mode of": "nor does a result of padding an empty input by wrapping",
    "Pad reflect": "NumPy, which the text names, reflects again and again, and repeats an only element",
    "Scale value should be greater than 0": "a size of 0 is a size",
    "does not match y_zero_point type": "DequantizeLinear of int8 is one, behind which onnxruntime quantizes to uint8 again",
    "Invalid sequence length": "an input without elements has nothing to reverse",
    "Number of elements of input 'sizes' (0)": "sizes of which the model does not say how many there are, are sizes",
}

# It takes every Expand to a constant shape of zeros and ones for one that changes nothing, and zeros for ones therefore.
FAULTY_OPTIMIZERS = ["ExpandElimination"]


def outcome(make, source, feed, **options):
    """What a session says of itself (None: it cannot be made), and its results, or the error."""
    try:
        session = make(source, **options)
    except Exception as error:
        return None, error
    described = [[(a.name, a.type, a.shape) for a in values] for values in (session.get_inputs(), session.get_outputs())]
    try:
        return described, session.run(None, feed)
    except Exception as error:
        return described, error


def without_declared_sizes(model):
    """The model that says nothing of the sizes of values that are computed. onnxruntime believes what is declared as a rule."""
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for value in (*bare.graph.value_info, *bare.graph.output):
        value.type.tensor_type.ClearField("shape")
    return bare


def check(case, device):
    model, feed = case
    source = model.SerializeToString()
    options = {"disabled_optimizers": FAULTY_OPTIMIZERS}
    description, results = outcome(dmlops.onnx.Session, source, feed, device=device, **options)
    assert not isinstance(results, UNCLEAR), repr(results)
    wanted_description, wanted = outcome(onnxruntime.InferenceSession, source, feed, **options)
    if isinstance(wanted, Exception) and not isinstance(results, Exception):
        wanted_description, wanted = outcome(
            onnxruntime.InferenceSession, without_declared_sizes(model).SerializeToString(), feed, **options
        )
    if "NOT_IMPLEMENTED" in str(wanted):  # onnxruntime has no kernel for the type
        return
    if isinstance(wanted, Exception):
        assert isinstance(results, Exception) or any(message in str(wanted) for message in REFUSED), str(wanted)
        return
    assert not isinstance(results, Exception), repr(results)
    check_description(description, wanted_description, model, results)
    for result, expected in zip(results, wanted, strict=True):
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
        assert result.tobytes() == expected.tobytes(), (result, expected)


def check_description(description, wanted, model, results):
    """Names, types and sizes of inputs. Sizes of outputs are those that onnxruntime infers of the whole model, or less.

    Where it infers them of wrong declared sizes, a session may tell what is declared of the output itself, or what is true.
    """
    (inputs, outputs), (wanted_inputs, wanted_outputs) = description, wanted
    assert inputs == wanted_inputs
    assert [value[:2] for value in outputs] == [value[:2] for value in wanted_outputs]
    for (_, _, sizes), (_, _, others), value, result in zip(outputs, wanted_outputs, model.graph.output, results, strict=True):
        declared = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for k, size in enumerate(sizes if others else ()):
            said = (others[k], *declared[k : k + 1], *result.shape[k : k + 1])
            assert not isinstance(size, int) or not isinstance(others[k], int) or size in said


# The same models in each run; `make soak` makes others.
@settings(derandomize=settings.default.max_examples < 1000)
@given(case=models())
def test_random_models(case, device):
    check(case, device)


def ramp(*shape):
    return np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.float32).reshape(shape)


def parsed(text, opset=19):
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g {text}')


def session_of(model, device):
    return dmlops.onnx.Session(model.SerializeToString(), device=device)


def test_declared_sizes_that_are_out_of_date(device):
    """As where a batch was made variable by editing inputs and outputs."""
    model = parsed("(float[1, 4, 5, 2] x) => (float[1, 2, 4, 5] y) { t = Transpose <perm = [0, 3, 1, 2]> (x) y = Relu (t) }")
    model = onnx.shape_inference.infer_shapes(model)
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    feed = {"x": ramp(3, 4, 5, 2)}
    check((model, feed), device)
    session = session_of(model, device)
    assert session.moved == ["Transpose"] and session.run(None, feed)[0].shape == (3, 2, 4, 5)
    assert [list(value.shape) for value in session.rest.get_inputs()] == [["N", 2, 4, 5]]


@pytest.mark.parametrize("between", ["", "r = Slice (t, o, e, a)"])
def test_declared_sizes_that_are_out_of_date_and_read(between, device):
    """Where inference knows none, onnxruntime computes Shape of what is declared, for nodes in either part of a model."""
    nodes = f"c = Cast <to = 1> (x) t = Transpose (c) {between} s = Shape ({'r' if between else 't'})"
    for last in ("w = Reshape <allowzero = 1> (z, s) y = Transpose (w)", "u = Relu (z) y = Reshape <allowzero = 1> (u, s)"):
        text = "(uint8[A, B] x) => (float[C, D] y, int64[2] s) <int64[1] o = {0}, int64[1] e = {9}, int64[1] a = {0}>"
        model = parsed(f"{text} {{ {nodes} z = Transpose (t) {last} }}")
        model.graph.value_info.append(helper.make_tensor_value_info("t", 1, [0, 2]))
        model.graph.output[0].type.tensor_type.ClearField("shape")
        session = session_of(model, device)
        for rows in (2, 1):  # as declared, and otherwise
            check((model, {"x": np.zeros((rows, 0), np.uint8)}), device)
            sizes = session.run(None, {"x": np.zeros((rows, 0), np.uint8)})[1]
            assert sizes.tolist() == [0, 2] and bool(session.moved) == (rows == 2)


def test_sizes_that_follow_from_constants_alone(device):
    """Also where every size of the inputs has a name; what the model declares of a value between is out of date."""
    model = parsed(
        "(float[N] x) => (float[1, 2] y) <int64[2] s = {1, 2}> { e = Expand (x, s) a = Abs (e) y = ThresholdedRelu (a) }"
    )
    model.graph.value_info.append(helper.make_tensor_value_info("a", 1, [2, 4]))
    check((model, {"x": ramp(2)}), device)
    session = session_of(model, device)
    assert session.moved == ["Expand"]
    assert [value.shape for value in (*session.rest.get_inputs(), *session.get_outputs())] == [[1, 2], [1, 2]]


# What reads a Transpose, and what else the session moves.
SUMS = {
    "product": ("y = MatMul (x, t)", []),
    "product-of-dropped": ("i = Identity (t) d = Dropout (i) y = Gemm (d, x)", []),
    "product-of-scaled": ("s = Mul (t, k) y = MatMul (s, x)", []),
    "mean": ("y = ReduceMean <axes = [0]> (t)", []),
    "sum-of-moved": ("u = Transpose (t) v = Concat <axis = 1> (t, u) y = ReduceSum (t) z = Abs (v)", []),
    "sum-of-others": ("a = Relu (t) y = ReduceMean (a)", ["Transpose"]),
    "product-of-a-part": ("u = Slice (t, o, e) y = MatMul (x, u)", ["Transpose", "Slice"]),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_transpose_stays_with_the_sum_that_reads_it(name, device):
    """In which onnxruntime adds up in another order then."""
    nodes, moved = SUMS[name]
    constants = "<float k = {0.3}, int64[1] o = {0}, int64[1] e = {30}>"
    model = parsed(f"(float[N, N] x) => (float[A, B] y) {constants} {{ t = Transpose (x) {nodes} }}", 12)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    check((model, {"x": np.random.default_rng(0).random((30, 30), np.float32)}), device)
    assert session_of(model, device).moved == moved


def test_shapes_are_computed_from_what_is_there_not_from_what_is_declared():
    model = parsed("(float[N, 2] x) => (float[A, B] y, int64[2] s) { t = Transpose (x) s = Shape (t) y = Reshape (x, s) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("t", 1, [2, 1]))
    y, s = dmlops.onnx.backend.run_model(model, [ramp(3, 2)], "host")
    assert s.tolist() == list(y.shape) == [2, 3]


# Models in which onnxruntime and ONNX's text differ: the model, its feed, what a session returns, what the backend returns.
DIFFERENCES = {
    "slice-to-INT64_MAX": (
        "(float[N] x) => (float[M] y) <int64[1] m = {-1}, int64[1] e = {9223372036854775807}, int64[1] a = {0}>"
        " { y = Slice (x, m, e, a, m) }",
        {"x": ramp(4)},
        [4, 3, 2, 1],
        [],
    ),
    "slice-to-INT32_MAX": (
        "(float[4] x, int64[1] e) => (float[M] y) <int64[1] m = {-1}, int64[1] a = {0}>"
        " { t = Slice (x, m, e, a, m) y = Transpose (t) }",
        {"x": ramp(4), "e": np.array([2**31 - 1])},
        [4, 3, 2, 1],
        [],
    ),
    "squeeze-no-axes": (
        "(float[1, 2, 1] x) => (float[2] y) <int64[0] a = {}> { t = Squeeze (x, a) y = Transpose (t) }",
        {"x": ramp(1, 2, 1)},
        [1, 2],
        [[[1], [2]]],
    ),
    "squeeze-no-axes-at-run-time": (
        "(float[1, 2, 1] x, int64[K] a) => (float[2] y) { t = Squeeze (x, a) y = Transpose (t) }",
        {"x": ramp(1, 2, 1), "a": np.zeros(0, np.int64)},
        [1, 2],
        [[[1], [2]]],
    ),
    "resize-axes-from-the-end": (
        '(float[N] x) => (float[M] y) <int64[1] s = {1}> { t = Transpose (x) y = Resize <nearest_mode = "floor", axes = [-1],'
        ' keep_aspect_ratio_policy = "not_larger"> (t, , , s) }',
        {"x": ramp(2)},
        [1, 2],
        [1],
    ),
    "resize-in-single-precision": (  # 18 * 20 / 24 is 15; in single precision it is less
        '(float[N] x) => (float[M] y) <int64[1] s = {24}> { y = Resize <nearest_mode = "floor",'
        ' coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        {"x": ramp(20)},
        [1, *range(1, 6), 6, *range(6, 11), 11, *range(11, 16), 15, *range(16, 21)],
        [1, *range(1, 6), 6, *range(6, 11), 11, *range(11, 16), 16, *range(16, 21)],
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_the_text_says_otherwise(name, device):
    text, feed, in_session, by_text = DIFFERENCES[name]
    model = parsed(text)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    check((model, feed), device)
    (result,) = session_of(model, device).run(None, feed)
    assert result.tolist() == in_session
    (result,) = dmlops.onnx.backend.prepare(parsed(text), device).run(feed)
    assert result.tolist() == by_text


# Models in which they agree, and the result.
AGREEMENTS = {
    "half-pixel-symmetric": (
        '(float[N] x) => (float[M] y) <float[1] s = {1.5}> { y = Resize <mode = "nearest", nearest_mode = "ceil",'
        ' coordinate_transformation_mode = "half_pixel_symmetric"> (x, , s) }',
        {"x": ramp(3)},
        [1, 2, 3, 3],
    ),
    "scale-of-seven-tenths": (  # which single precision does not hold
        '(float[N] x) => (float[M] y) <float[1] s = {0.7}> { y = Resize <nearest_mode = "floor",'
        ' coordinate_transformation_mode = "asymmetric"> (x, , s) }',
        {"x": ramp(10)},
        [1, 2, 3, 5, 6, 8, 9],
    ),
    "pads-of-both-signs": (
        "(float[N] x) => (float[M] y) <int64[2] p = {-5, 2}, float v = {9}> { y = Pad (x, p, v) }",
        {"x": ramp(4)},
        [9],
    ),
    "pads-cropped": (
        "(float[N] x) => (float[M] y) <int64[2] p = {3, -2}> { y = Pad (x, p) }",
        {"x": ramp(1)},
        [0, 0],
    ),
    "pads-cropped-to-nothing": (
        "(float[N] x) => (float[M] y) <int64[2] p = {-4, 3}, float v = {9}> { y = Pad (x, p, v) }",
        {"x": ramp(2)},
        [9],
    ),
    "pads-by-the-edge-of-nothing": (
        '(float[M, N] x) => (float[A, B] y) <int64[4] p = {1, -1, -1, 1}> { y = Pad <mode = "edge"> (x, p) }',
        {"x": ramp(1, 0)},
        [[]],
    ),
    "squeeze-all": ("(float[1, 2, 1] x) => (float[2] y) { y = Squeeze (x) }", {"x": ramp(1, 2, 1)}, [1, 2]),
    "gather-rows-of-nothing": (
        "(float[M, N] x) => (float[A, B] y) <int64[1, 1] i = {5}> { y = GatherND (x, i) }",
        {"x": ramp(2, 0)},
        [[]],
    ),
    "resize-nothing": (
        '(float[N] x) => (float[M] y) <int64[1] s = {0}> { y = Resize <keep_aspect_ratio_policy = "not_larger"> (x, , , s) }',
        {"x": ramp(0)},
        [],
    ),
    "resize-nothing-beside-something": (
        "(float[M, N] x) => (float[A, B] y) <int64[2] s = {4, 0}> { t = Transpose (x) y = Resize <keep_aspect_ratio_policy"
        ' = "not_smaller"> (t, , , s) }',
        {"x": ramp(0, 2)},
        [[], [], [], []],
    ),
}


@pytest.mark.parametrize("name", AGREEMENTS)
def test_where_the_text_says_the_same(name, device):
    text, feed, expected = AGREEMENTS[name]
    check((parsed(text), feed), device)
    assert dmlops.onnx.backend.run_model(parsed(text), feed, device)[0].tolist() == expected
    assert session_of(parsed(text), device).run(None, feed)[0].tolist() == expected


# Operands of one element, by their ranks: those that onnxruntime takes.
SHAPES_OF_OPERANDS = {
    ("Expand", "i = {3}"): (0, 1, 2), ("Resize", "i = {3}"): (0, 1, 2), ("Resize", "f = {3}"): (0, 1, 2),
    ("Unsqueeze", "i = {0}"): (0, 1), ("Squeeze", "i = {0}"): (1,), ("Reshape", "i = {-1}"): (1,), ("Tile", "i = {3}"): (1,),
    ("Split", "i = {1}"): (1,), ("Slice", "i = {0}"): (1,), ("Gather", "i = {0}"): (0, 1, 2),
}  # fmt: skip


@pytest.mark.parametrize("operator, operand", SHAPES_OF_OPERANDS)
def test_operands_of_one_element(operator, operand, device):
    places = {"Resize": "(t, , , i)" if operand[0] == "i" else "(t, , f)", "Slice": "(t, i, o)"}
    for rank in range(3):
        kind = {"i": "int64", "f": "float"}[operand[0]] + ("" if rank == 0 else f"[{', '.join('1' * rank)}]")
        nodes = f"t = Transpose (x) r = {operator} {places.get(operator, '(t, i)')} u = Transpose (r)"
        model = parsed(f"(float[N] x) => (float y) <{kind} {operand}, int64[1] o = {{1}}> {{ {nodes} y = Relu (u) }}")
        model.graph.output[0].type.tensor_type.ClearField("shape")
        check((model, {"x": ramp(1)}), device)
        _, results = outcome(dmlops.onnx.Session, model.SerializeToString(), {"x": ramp(1)}, device=device)
        assert isinstance(results, list) == (rank in SHAPES_OF_OPERANDS[operator, operand]), rank


@pytest.mark.parametrize("empty", ["z, s", "a, z"])
def test_empty_operands_of_slice_are_not_left_out(empty, device):
    model = parsed(f"(float[N] x, int64[0] z, int64[1] a, int64[1] s) => (float[M] y) {{ y = Slice (x, a, s, {empty}) }}", 12)
    feed = {"x": ramp(3), "z": np.zeros(0, np.int64), "a": np.array([0]), "s": np.array([1])}
    check((model, feed), device)
    with pytest.raises(ValueError, match="as many entries each, not 1, 1, "):
        dmlops.onnx.backend.run_model(model, feed, device)


def test_parts_are_uneven_only_where_their_number_is_said(device):
    for said, whole in (("<num_outputs = 2>", False), ("", False), ("", True)):
        model = parsed(f"(float[N] x) => (float[A] y, float[B] z) {{ y, z = Split {said} (x) }}")
        check((model, {"x": ramp(4 if whole else 3)}), device)
        _, results = outcome(dmlops.onnx.Session, model.SerializeToString(), {"x": ramp(4 if whole else 3)}, device=device)
        assert isinstance(results, list) == bool(said or whole)


@pytest.mark.parametrize("axis", [-2, 1])
def test_an_axis_that_the_only_value_lacks(axis, device):
    model = parsed(f"(float[N] x) => (float[M] y) {{ y = Concat <axis = {axis}> (x) }}")
    check((model, {"x": ramp(3)}), device)
    with pytest.raises(ValueError, match=f"axis {axis} is out of range for rank 1"):
        dmlops.onnx.backend.run_model(model, {"x": ramp(3)}, device)


def test_pads_that_crop_more_than_there_is():
    node = onnx.helper.make_node("Pad", ["x", "pads"], ["y"])
    with pytest.raises(ValueError, match="pads 1 and -4 crop more than the 2 elements of axis 0"):
        dmlops.onnx.backend.run_node(node, [ramp(2), np.array([1, -4])], "host")


def test_an_inferred_shape_that_is_wrong(device, tmp_path, monkeypatch):
    """Inference does not know the negative axes that old models have; onnxruntime warns, and computes what is there."""
    model = parsed("(float[1, 5, 1] x) => (float y) { s = Squeeze <axes = [-3]> (x) t = Transpose (s) y = Relu (t) }", 10)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    feed, session = {"x": ramp(1, 5, 1)}, session_of(model, device)
    assert session.moved and session.run(None, feed)[0].shape == (1, 5)
    assert not session.moved and session.run(None, feed)[0].shape == (1, 5)
    assert "no leading part moves data" in repr(session)
    onnx.save(model, tmp_path / "model.onnx")
    with monkeypatch.context() as here:
        here.chdir(tmp_path)
        session = dmlops.onnx.Session("model.onnx", device=device)
    assert session.moved and session.run(None, feed)[0].shape == (1, 5)  # in another folder


def not_utf8(model):
    attribute = model.graph.node[1].attribute.add(name="case_change_action", type=onnx.AttributeProto.STRING)
    attribute.s = b"\xff"


def element_type_999(model):
    model.graph.input[0].type.tensor_type.elem_type = 999


# What analysis or ONNX's own package does not understand, and values that are no tensors beside those that are moved.
ODD = {
    "domain-without-import": ("(float[2, 3] x) => (float[3, 2] y) { t = Transpose (x) y = com.microsoft.Gelu (t) }", None, {}),
    "unused-sequence": (
        "(float[2, 3] x, seq(float[2]) q) => (float[3, 2] y) { t = Transpose (x) y = Relu (t) }",
        None,
        {"q": [ramp(2)]},
    ),
    "unused-sequence-nothing-else": (
        "(float[2, 3] x, seq(float[2]) q) => (float[3, 2] y) { y = Transpose (x) }",
        None,
        {"q": [ramp(2)]},
    ),
    "unused-optional": ("(float[2, 3] x, optional(float[2]) q) => (float[3, 2] y) { y = Transpose (x) }", None, {}),
    "unused-strings": (
        "(float[2, 3] x, string[2] q) => (float[3, 2] y) { y = Transpose (x) }",
        None,
        {"q": np.array(["a", "b"])},
    ),
    "unused-of-another-shape": (
        "(float[2, 3] x, float[2] q) => (float[3, 2] y) { t = Transpose (x) y = Relu (t) }",
        None,
        {"q": ramp(3)},
    ),
    "strings": (
        "(string[2] q, float[2, 3] x) => (string[2] z, float[3, 2] y) {"
        " z = StringNormalizer (q) t = Transpose (x) y = Abs (t) }",
        not_utf8,
        {"q": np.array(["a", "b"])},
    ),
    "perm-out-of-range": ("(float[2, 3] x) => (float[3, 2] y) { t = Transpose <perm = [0, 5]> (x) y = Relu (t) }", None, {}),
    "unknown-type": ("(float[2, 3] x) => (float[3, 2] y) { t = Transpose (x) y = Relu (t) }", element_type_999, {}),
    "wrong-output-type": ("(float[2, 3] x) => (int64[3, 2] y) { y = Transpose (x) }", None, {}),
    "no-such-value": ("(float[2, 3] x) => (float[3, 2] y) { t = Transpose (x) y = Add (t, nowhere) }", None, {}),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_models(name, device):
    text, change, feed = ODD[name]
    model = parsed(text)
    if change:
        change(model)
    feed = {"x": ramp(2, 3), **feed}
    check((model, feed), device)
    _, ours = outcome(dmlops.onnx.Session, model.SerializeToString(), feed, device=device)
    _, theirs = outcome(onnxruntime.InferenceSession, model.SerializeToString(), feed)
    assert type(ours) is type(theirs) and (isinstance(ours, list) or str(ours) == str(theirs))


def test_split_says_that_a_model_is_not_valid():
    with pytest.raises(ValueError, match="the type of 't' cannot be inferred: the model is not valid"):
        dmlops.onnx.split(parsed(ODD["perm-out-of-range"][0]))
    model = parsed(ODD["unknown-type"][0])
    element_type_999(model)
    assert dmlops.onnx.split(model) == (None, model)


# Bytes that become floats before they move: the nodes on the device. Where a node of the rest reads what is computed, or where
# a value would be no plain number, nothing joins.
MAPPED = {
    "cast-scale-shift": (
        "<float c = {255}, float[3] m = {0.485, 0.456, 0.406}, float[3] d = {0.229, 0.224, 0.225}>"
        " { a = Cast <to = 1> (x) b = Div (a, c) e = Sub (b, m) f = Div (e, d) t = Transpose (f) y = Relu (t) }",
        ["Cast", "Div", "Sub", "Div", "Transpose"],
    ),
    "two-chains": (
        "<float c = {0.017}, float d = {3}> { a = Cast <to = 1> (x) b = Mul (a, c) e = Add (a, d) f = Concat <axis = 0> (b, e)"
        " y = Transpose (f) }",
        ["Cast", "Mul", "Add", "Concat", "Transpose"],
    ),
    "constants-of-nodes": (
        "{ c = Constant <value_float = 0.017> () a = Cast <to = 1> (x) b = Mul (a, c) y = Transpose (b) }",
        ["Cast", "Mul", "Transpose"],
    ),
    "halves": (
        "<float c = {255}> { a = Cast <to = 1> (x) b = Div (a, c) h = Cast <to = 10> (b) y = Transpose (h) }",
        ["Cast", "Div", "Cast", "Transpose"],
    ),
    "clip": (
        "<float l = {0}, float h = {200}> { a = Cast <to = 1> (x) b = Clip (a, l, h) y = Transpose (b) }",
        ["Cast", "Clip", "Transpose"],
    ),
    "dequantized": (
        "<float[3] s = {0.1, 0.25, 0.05}, uint8[3] z = {3, 0, 128}>"
        " { a = DequantizeLinear <axis = 2> (x, s, z) y = Transpose (a) }",
        ["DequantizeLinear", "Transpose"],
    ),
    "moved-first": ("<float c = {255}> { t = Transpose (x) a = Cast <to = 1> (t) y = Div (a, c) }", ["Transpose"]),
    "moved-before-and-behind": (
        "<float c = {3}, float p = {7}, int64[6] w = {0, 1, 1, 0, 1, 1}> { t = Transpose (x) a = Cast <to = 1> (t)"
        " b = Div (a, c) y = Pad (b, w, p) }",
        ["Transpose", "Cast", "Div", "Pad"],
    ),
    "joined-with-others": (
        "<float[1, 10, 3] o = {0}> { a = Cast <to = 1> (x) j = Concat <axis = 0> (o, a, o) y = Transpose (j) }".replace(
            "{0}>", "{" + ", ".join(["-0.5"] * 30) + "}>"
        ),
        ["Cast", "Concat", "Transpose"],
    ),
    "resized": (
        '<float[3] s = {1.3, 0.7, 2}> { a = Cast <to = 1> (x) b = Resize <nearest_mode = "floor"> (a, , s) y = Transpose (b) }',
        ["Cast", "Resize", "Transpose"],
    ),
    "by-its-own-shape": (
        "{ a = Cast <to = 1> (x) t = Transpose (a) n = Shape (x) r = Reshape (t, n) y = Transpose (r) }",
        ["Cast", "Transpose", "Shape", "Reshape", "Transpose"],
    ),
    "read-by-others": (
        "<float c = {2}> { a = Cast <to = 1> (x) b = Transpose <perm = [1, 0, 2]> (a) e = Relu (a) y = Add (b, e) }",
        [],
    ),
    "an-output": ("{ y = Cast <to = 1> (x) t = Transpose (y) z = Relu (t) }", []),
    "matrix-product": (  # into which onnxruntime takes the factor
        "<float c = {0.017}> { a = Cast <to = 1> (x) b = Mul (a, c) t = Transpose <perm = [0, 2, 1]> (b)"
        " f = Cast <to = 1> (x) y = MatMul (t, f) }",
        [],
    ),
    "not-a-number": ("<float c = {0}> { a = Cast <to = 1> (x) b = Div (a, c) y = Transpose (b) }", []),
    "minus-zero": ("<float c = {-1}> { a = Cast <to = 1> (x) b = Mul (a, c) y = Transpose (b) }", []),
    "subnormal": ("<float c = {1e-40}> { a = Cast <to = 1> (x) b = Mul (a, c) y = Transpose (b) }", []),
    "constant-first": ("<float c = {1}> { a = Cast <to = 1> (x) b = Sub (c, a) y = Transpose (b) }", []),
    "weights": (
        "<uint8[16, 1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}>"
        " { a = Cast <to = 1> (w) b = Transpose (a) t = Transpose (x) e = Cast <to = 1> (t)"
        " f = ReduceSum <keepdims = 0> (e) y = Mul (b, f) }",
        ["Transpose"],
    ),
    "quantized-again": (
        "<float s = {0.1}, uint8 z = {3}> { a = DequantizeLinear (x, s, z) t = Transpose (a) q = QuantizeLinear (t, s, z)"
        " y = Cast <to = 1> (q) }",
        [],
    ),
}


@pytest.mark.parametrize("name", MAPPED)
def test_arithmetic_of_bytes_before_they_move(name, device):
    text, moved = MAPPED[name]
    model = parsed(f"(uint8[A, B, 3] x) => (float[C, D, E] y) {text}")
    model.graph.output[0].type.CopyFrom(onnx.TypeProto())
    model.graph.output[0].type.tensor_type.elem_type = 10 if name == "halves" else 1
    feed = {"x": np.arange(300, dtype=np.uint8).reshape(10, 10, 3)}
    check((model, feed), device)
    session = session_of(model, device)
    assert session.moved == moved
    (result,) = session.run(None, feed)
    (of_device_array,) = session.run(None, {"x": dmlops.asarray(feed["x"], device=device)})
    assert of_device_array.tobytes() == result.tobytes() and result.size >= 16


def test_arithmetic_of_bytes_beside_an_index_that_is_given(device):
    model = parsed(
        "(uint8[A, 3] x, int64[1] i) => (float[B, C] y) <float c = {3}, int64[1] e = {9}>"
        " { a = Cast <to = 1> (x) b = Div (a, c) d = Slice (b, i, e) y = Transpose (d) }"
    )
    check((model, {"x": np.arange(30, dtype=np.uint8).reshape(10, 3), "i": np.array([2])}), device)
    assert session_of(model, device).moved == []


def test_constants_that_do_not_fit_the_bytes(device):
    model = parsed(
        "(uint8[A, B] x) => (float[C, D] y) <float[3] m = {1, 2, 3}> { a = Cast <to = 1> (x) b = Sub (a, m) y = Transpose (b) }"
    )
    session = session_of(model, device)
    assert session.moved == ["Cast", "Sub", "Transpose"] and session.run(None, {"x": np.ones((4, 3), "u1")})[0].shape == (3, 4)
    with pytest.raises(ValueError, match="broadcast") as caught:
        session.run(None, {"x": np.ones((4, 5), np.uint8)})
    assert "(Sub, opset 19)" in caught.value.__notes__[0]


class Chains:
    """A model of many chains of nodes, each of the input `x` of all bytes, and each transposed at its end."""

    def __init__(self, dtype, opset):
        self.dtype, self.opset = np.dtype(dtype), opset
        self.nodes, self.constants, self.outputs = [], [], []

    def constant(self, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def made(self, operator, *operands, **attributes):
        names = [one if isinstance(one, str) else self.constant(one) for one in operands]
        self.nodes.append(helper.make_node(operator, names, [f"n{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def clipped(self, x, low, high):
        if self.opset < 11:
            bounds = {"min": low, "max": high}
            return self.made("Clip", x, **{name: float(bound) for name, bound in bounds.items() if bound is not None})
        return self.made("Clip", x, *("" if bound is None else np.float32(bound) for bound in (low, high)))

    def end(self, x, kind=onnx.TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(self.made("Transpose", x), kind, [16, 16]))

    def compared(self, device):
        """A session whose results are those of onnxruntime."""
        x = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(self.dtype), [16, 16])
        graph = helper.make_graph(self.nodes, "chains", [x], self.outputs, self.constants)
        opsets = [helper.make_opsetid("", self.opset)]
        source = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
        feed = {"x": np.arange(256).astype(np.uint8).astype(self.dtype).reshape(16, 16)}
        session = dmlops.onnx.Session(source, device=device)
        expected = onnxruntime.InferenceSession(source).run(None, feed)
        for result, wanted in zip(session.run(None, feed), expected, strict=True):
            assert (result.dtype, result.shape, result.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
        return session


NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 255.0, 1 / 255, 123.675, 3e38, 1e-30, 1e-38, 1e-45, np.inf, -np.inf, np.nan)
BOUNDS = ((None, 20), (-5, None), (0, 200), (-0.0, 9), (None, None), (1e-45, np.inf), (200, 20), (3, np.nan))
TYPES = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13)  # FLOAT, UINT8, ... UINT64


@pytest.mark.parametrize("opset", [10, 12, 21])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
def test_every_byte_cast_and_computed_with(dtype, opset, device):
    """With constants of all kinds and shapes; what is no plain number for one of them is left to onnxruntime."""
    chains = Chains(dtype, opset)
    for to in TYPES:
        chains.end(chains.made("Cast", "x", to=to), to)
    for to, like in ((1, np.float32), (11, np.float64)):
        with np.errstate(over="ignore"):
            numbers = [np.full((1,) * (k % 4), number, like) for k, number in enumerate(NUMBERS) if k % 4 < 3]
        vectors = [np.linspace(1, 7, 16, dtype=like).reshape(shape) for shape in ((16,), (16, 1), (1, 16))]
        for operator in ("Add", "Sub", "Mul", "Div"):
            for constant in (*numbers, *vectors):
                now = chains.made(operator, chains.made("Cast", "x", to=to), constant)
                chains.end(chains.made("Cast", now, to=10), 10) if constant.ndim == 2 else chains.end(now, to)
    for low, high in BOUNDS[: 8 if opset >= 11 else 4]:  # onnxruntime refused others
        chains.end(chains.clipped(chains.made("Cast", "x", to=1), low, high))
    taken = chains.compared(device).moved
    assert all(taken.count(operator) >= 3 for operator in ("Add", "Sub", "Mul", "Div", "Clip")) and len(taken) > 100


@pytest.mark.parametrize("opset", [10, 13, 21])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_every_byte_dequantized(dtype, opset, device):
    vector = np.linspace(0.1, 3, 16, dtype=np.float32)
    scales = [(vector, {"axis": axis}) for axis in (0, 1, -1, -2)] if opset >= 13 else []
    wrong_in_onnxruntime = dtype == np.int8 and opset == 21  # see REFUSED
    scales += [] if wrong_in_onnxruntime else [(np.float32(scale), {}) for scale in (0.1, -0.1, 1e38)]
    taken = []
    for scale, attributes in scales:
        for zero in (0, 9)[dtype == np.int8 :]:
            zeros = [np.resize(np.arange(zero, 128, 9), scale.shape).astype(dtype)] if zero else []
            chains = Chains(dtype, opset)
            chains.end(chains.made("DequantizeLinear", "x", scale, *zeros, **attributes))
            taken += chains.compared(device).moved
    plain = len(scales) if wrong_in_onnxruntime else len(scales) - 2
    assert taken.count("DequantizeLinear") == plain * (1 if dtype == np.int8 else 2)


def test_constants_of_too_many_entries_stay_in_onnxruntime(device):
    """A table would have more than a function can be fused with."""
    for size, moved in ((32, ["Cast", "Sub", "Transpose"]), (33, [])):
        mean = numpy_helper.from_array(np.linspace(0, 1, size * size, dtype=np.float32).reshape(size, size), "m")
        model = parsed("(uint8[A, B] x) => (float[C, D] y) { a = Cast <to = 1> (x) b = Sub (a, m) y = Transpose (b) }")
        model.graph.initializer.append(mean)
        check((model, {"x": np.arange(size * size).astype(np.uint8).reshape(size, size)}), device)
        assert session_of(model, device).moved == moved


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("mode", ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"])
def test_resize_by_many_scales(mode, rounding):
    """Scales that are quotients put positions in the middle of two elements, and single precision beside it."""
    random = np.random.default_rng(29)
    attributes = f'coordinate_transformation_mode = "{mode}", nearest_mode = "{rounding}"'
    text = f"(float[N] x, float[1] s) => (float[M] y) {{ y = Resize <{attributes}> (x, , s) }}"
    source = parsed(text).SerializeToString()
    ours, theirs = dmlops.onnx.Session(source, device="host"), onnxruntime.InferenceSession(source)
    assert ours.moved == ["Resize"]
    for _ in range(200):
        scale = np.float32([random.integers(1, 40) / random.integers(1, 12)])
        feed = {"x": ramp(random.integers(1, 30)), "s": scale}
        assert np.array_equal(ours.run(None, feed), theirs.run(None, feed)), feed
