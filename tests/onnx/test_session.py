"""Models cut in two: split, Session, and the errors of both; what the documentation says."""

import doctest
import importlib
import pickle

import dmlops.onnx
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser
from support import ROOT, run_python
from test_docs import FLAGS

onnxruntime.set_default_logger_severity(3)
RANDOM = np.random.default_rng(29)
FOCUS = """
    <ir_version: 10, opset_import: ["": 21]>
    focus (float[N, 3, H, W] image) => (float[N, 12, A, B] y) <
        int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, int64[1] end = {9223372036854775807}
    > {
        top = Slice (image, zero, end, two, two)
        bottom = Slice (image, one, end, two, two)
        a = Slice (top, zero, end, three, two)
        b = Slice (bottom, zero, end, three, two)
        c = Slice (top, one, end, three, two)
        d = Slice (bottom, one, end, three, two)
        patches = Concat <axis = 1> (a, b, c, d)
        y = Sigmoid (patches)
    }"""
# A reshape by computed shapes on both sides of the cut, an output on either side, a subgraph that reads across the cut.
SHAPES = """
    <ir_version: 10, opset_import: ["": 17]>
    shapes (float[N, H, W, 3] photo, bool flag) => (float[N, 3, H, W] chw, float[N, K] flat, float[N, 3, W, H] chosen) <
        int64[1] zero = {0}, int64[1] rest = {-1}
    > {
        chw = Transpose <perm = [0, 3, 1, 2]> (photo)
        shape = Shape (photo)
        batch = Gather (shape, zero)
        size = Concat <axis = 0> (batch, rest)
        last = Reshape (chw, size)
        flat = Exp (last)
        turned = Transpose <perm = [0, 3, 2, 1]> (photo)
        chosen = If (flag) <
            then_branch = one () => (float[N, 3, W, H] p) { p = Identity (turned) },
            else_branch = two () => (float[N, 3, W, H] q) { q = Neg (turned) }
        >
    }"""
MOVES = """
    <ir_version: 10, opset_import: ["": 21]>
    moves (float[N, H, W, 4] photo) => (float[N, 16, A, B] y) <int64[1] last = {-1}, int64[1] end = {-1000}> {
        chw = Transpose <perm = [0, 3, 1, 2]> (photo)
        mirror = Slice (chw, last, end, last, last)
        y = SpaceToDepth <blocksize = 2> (mirror)
    }"""
NOTHING = """
    <ir_version: 10, opset_import: ["": 21]>
    nothing (float[2, 3] x) => (float[3, 2] y) { z = Abs (x) y = Transpose (z) }"""


def noise(*shape):
    return RANDOM.random(shape, dtype=np.float32)


def compare(text, *feeds, device=None):
    """The session's results are those of onnxruntime alone; return the session."""
    source = parser.parse_model(text).SerializeToString()
    session, alone = dmlops.onnx.Session(source, device=device), onnxruntime.InferenceSession(source)
    for ours, theirs in ((session.get_inputs(), alone.get_inputs()), (session.get_outputs(), alone.get_outputs())):
        assert [(a.name, a.type, a.shape) for a in ours] == [(a.name, a.type, a.shape) for a in theirs]
    for feed in feeds:
        results, expected = session.run(None, feed), alone.run(None, feed)
        for result, wanted in zip(results, expected, strict=True):
            assert (result.dtype, result.shape, result.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
    return session


def test_focus(device):
    session = compare(FOCUS, {"image": noise(1, 3, 16, 32)}, {"image": noise(4, 3, 7, 5)[:, :, :6, :4]}, device=device)
    assert session.moved == ["Slice"] * 6 + ["Concat"]


def test_shapes_on_both_sides_outputs_and_subgraphs(device):
    feeds = [{"photo": noise(2, h, 6, 3), "flag": np.array(flag)} for h in (4, 5) for flag in (True, False)]
    session = compare(SHAPES, *feeds, device=device)
    assert session.moved == ["Transpose", "Transpose"]
    chosen, chw = session.run(["chosen", "chw"], feeds[0])
    assert np.array_equal(chosen, feeds[0]["photo"].T.transpose(3, 0, 1, 2)) and np.array_equal(chw, chosen.swapaxes(2, 3))


def test_nothing_but_movement(device):
    photo = noise(3, 4, 6, 4)
    session = compare(MOVES, {"photo": photo}, device=device)
    assert session.rest is None and "0 in onnxruntime" in repr(session)
    resident = dmlops.asarray(photo, device=device)
    assert np.array_equal(session.run([], {"photo": resident})[0], session.run(None, {"photo": photo})[0])


def test_device_arrays_for_every_input(device):
    """Also for those that the rest reads, too, and that it reads alone."""
    text = """
        <ir_version: 10, opset_import: ["": 21]>
        both (float[N, N] x, float[1] w) => (float[N, N] y) { t = Transpose (x) s = Add (t, x) y = Mul (s, w) }"""
    feed = {"x": noise(3, 3), "w": noise(1)}
    session = compare(text, feed, device=device)
    resident = {name: dmlops.asarray(array, device=device) for name, array in feed.items()}
    assert session.moved == ["Transpose"] and np.array_equal(session.run(None, resident), session.run(None, feed))


def test_sizes_below_0_are_not_known(device):
    """Some exporters write -1."""
    for text, feed in (
        (FOCUS, {"image": noise(2, 3, 4, 4)}),
        (SHAPES, {"photo": noise(2, 4, 6, 3), "flag": np.array(True)}),
    ):
        model = parser.parse_model(text)
        for value in (*model.graph.input, *model.graph.output):
            for dim in list(value.type.tensor_type.shape.dim)[:1]:
                dim.dim_value = -1
        source = model.SerializeToString()
        ours, theirs = dmlops.onnx.Session(source, device=device), onnxruntime.InferenceSession(source)
        assert [value.shape for value in ours.get_inputs()] == [value.shape for value in theirs.get_inputs()]
        for result, expected in zip(ours.run(None, feed), theirs.run(None, feed), strict=True):
            assert np.array_equal(result, expected)


def test_no_leading_movement_says_so(device):
    session = compare(NOTHING, {"x": noise(2, 3)}, device=device)
    assert session.moved == [] and "no leading part moves data" in repr(session)
    moved, rest = dmlops.onnx.split(parser.parse_model(NOTHING))
    assert moved is None and rest.graph.node[0].op_type == "Abs"


@pytest.mark.parametrize("text", [FOCUS, SHAPES, MOVES])
def test_both_parts_are_valid_models(text):
    model = parser.parse_model(text)
    before = model.SerializeToString()
    for part in filter(None, dmlops.onnx.split(model)):
        onnx.checker.check_model(part, full_check=True)
    assert model.SerializeToString() == before


def test_inputs_that_nothing_reads(device):
    compare(
        FOCUS.replace("image)", "image, int32[5] unread)", 1),
        {"image": noise(1, 3, 4, 4), "unread": np.zeros(5, "i4")},
        device=device,
    )
    compare(
        MOVES.replace("photo)", "photo, bool unread)", 1), {"photo": noise(1, 4, 4, 4), "unread": np.array(True)}, device=device
    )


def test_initializers_among_the_inputs(device):
    """As IR versions below 4 require it."""
    model = parser.parse_model(FOCUS)
    model.ir_version, image = 3, noise(1, 3, 4, 4)
    model.opset_import[0].version = 11
    for tensor in model.graph.initializer:
        model.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    session = dmlops.onnx.Session(model.SerializeToString(), device=device)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"image": image})
    assert len(session.moved) == 7 and np.array_equal(session.run(None, {"image": image}), expected)


def test_tables_of_weights_stay_in_onnxruntime(device):
    model = """
        <ir_version: 10, opset_import: ["": 21]>
        words (int64[N, 5] ids) => (float[N, 5, 2] y) <float[4, 2] table = {0, 1, 2, 3, 4, 5, 6, 7}> {
            turned = Transpose (ids) back = Transpose (turned) y = Gather (table, back)
        }"""
    assert compare(model, {"ids": RANDOM.integers(0, 4, (3, 5))}, device=device).moved == []


@pytest.mark.parametrize("look_up", ["GatherElements (table, back)", "GatherND (table, back)", "ScatterND (table, back, row)"])
def test_single_rows_of_weights_stay_in_onnxruntime(look_up, device):
    model = f"""
        <ir_version: 10, opset_import: ["": 21]>
        words (int64[N, 1] ids) => (float y) <float[4, 2] table = {{0, 1, 2, 3, 4, 5, 6, 7}}, float[1, 2] row = {{8, 9}}> {{
            turned = Transpose (ids) back = Transpose (turned) y = {look_up}
        }}"""
    model = parser.parse_model(model)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    session = dmlops.onnx.Session(model.SerializeToString(), device=device)
    alone = onnxruntime.InferenceSession(model.SerializeToString())
    assert session.moved == []
    feed = {"ids": np.array([[3]])}
    assert np.array_equal(session.run(None, feed), alone.run(None, feed))


INDEXED = """
    <ir_version: 10, opset_import: ["": 21]>
    indexed (float[N, 4] x, int64[K] i, float[K, 4] rows) => (float[K, 4] y) <
        float[5, 4] canvas = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, int64[1] last = {-1}
    > {
        taken = Gather (x, i)
        first = ArgMax <axis = 1> (taken)
        best = GatherElements <axis = 1> (taken, first)
        marked = ScatterElements <axis = 1> (taken, first, best)
        tuples = Unsqueeze (i, last)
        drawn = ScatterND (canvas, tuples, rows)
        again = GatherND (drawn, tuples)
        both = Concat <axis = 0> (marked, again)
        half = Shape <end = 1> (i)
        zero = Sub (half, half)
        z = Slice (both, zero, half)
        y = Neg (z)
    }"""


def test_indices_may_be_inputs_or_computed(device):
    feed = {"x": noise(5, 4), "i": np.array([4, -2, 0]), "rows": noise(3, 4)}
    session = compare(INDEXED, feed, device=device)
    assert len(session.moved) == 11 and session.rest.get_inputs()[0].name == "z"
    resident = {name: dmlops.asarray(array, device=device) for name, array in feed.items()}
    assert np.array_equal(session.run(None, resident), session.run(None, feed))
    for wrong in (5, -6):
        with pytest.raises(IndexError):
            session.run(None, feed | {"i": np.array([0, wrong, 1])})


@pytest.mark.parametrize("operator", ["Gather", "GatherElements"])
def test_gathers_are_no_part_of_a_pass_that_makes_floats_of_bytes(operator, device):
    model = f"""
        <ir_version: 10, opset_import: ["": 21]>
        g (uint8[2, 3] x) => (float y) <int64[1, 2] i = {{1, 0}}> {{
            c = Cast <to = 1> (x) t = Transpose (c) u = {operator} (t, i) v = Transpose (u) y = Relu (v)
        }}"""
    model = parser.parse_model(model)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    session, feed = dmlops.onnx.Session(model.SerializeToString(), device=device), {"x": np.uint8([[1, 2, 3], [4, 5, 6]])}
    assert session.moved == ["Cast", "Transpose"]
    assert np.array_equal(session.run(None, feed), onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed))


def test_a_condition_is_constant(device):
    """One that depends on shapes only is. What depends on data is left to onnxruntime, and so are inputs."""
    values = "(float[N, M, M] x, bool[M, M] given) => (float[N, M, M] y) <float low = {-9}>"
    head = f'<ir_version: 10, opset_import: ["": 21]> g {values}'
    mask = "t = Transpose <perm = [0, 2, 1]> (x) s = Shape <start = 1> (x) o = ConstantOfShape (s) e = EyeLike <k = 1> (o)"
    feed = {"x": noise(2, 4, 4), "given": noise(4, 4) > 0}
    chosen = f"{head} {{ {mask} c = Cast <to = 9> (e) w = Where (c, low, t) y = Relu (w) }}"
    assert compare(chosen, feed, device=device).moved == ["Transpose", "Shape", "ConstantOfShape", "EyeLike", "Cast", "Where"]
    for condition in ("c = Greater (t, low) w = Where (c, t, low)", "w = Where (given, t, low)"):
        assert compare(f"{head} {{ {mask} {condition} y = Relu (w) }}", feed, device=device).moved == ["Transpose"]


def test_a_cast_to_the_type_that_the_data_has_is_a_view(device):
    text = '<ir_version: 10, opset_import: ["": 21]> g (float[2, 3] x) => (float[3, 2] y) { c = Cast <to = 1> (x) '
    assert compare(f"{text} y = Transpose (c) }}", {"x": noise(2, 3)}, device=device).moved == ["Cast", "Transpose"]
    assert compare(f"{text} z = Relu (c) y = Transpose (z) }}", {"x": noise(2, 3)}, device=device).moved == []


def test_types_that_numpy_lacks_stay_in_onnxruntime():
    moved, _ = dmlops.onnx.split(parser.parse_model(FOCUS.replace("float[", "bfloat16[")))
    assert moved is None


def test_external_data(tmp_path, device):
    model = parser.parse_model(FOCUS.replace("y = Sigmoid (patches)", "y = Add (patches, weight)"))
    weight = noise(12, 4, 4)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "weight"))
    path = tmp_path / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    image = noise(1, 3, 8, 8)
    expected = onnxruntime.InferenceSession(path).run(None, {"image": image})
    assert np.array_equal(dmlops.onnx.Session(path, device=device).run(None, {"image": image}), expected)


def test_views_and_the_operator_that_reads_them_are_one_dispatch(vulkan):
    prepared = dmlops.onnx.backend.prepare(parser.parse_model(MOVES), vulkan)
    photo = dmlops.asarray(noise(3, 4, 6, 4), device=vulkan)
    before = sum(dmlops._core._counts(vulkan))
    prepared.run([photo], download=False)
    assert sum(dmlops._core._counts(vulkan)) == before + 1
    node = onnx.helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest")
    (half,) = dmlops.onnx.backend.run_node(node, [photo, np.float32([1, 0.5, 0.5, 1])], vulkan)  # a view: nothing runs
    assert sum(dmlops._core._counts(vulkan)) == before + 1 and half.shape == (3, 2, 3, 4)


def test_arithmetic_of_bytes_and_what_moves_are_one_pass(device):
    text = """
        <ir_version: 10, opset_import: ["": 21]>
        net (uint8[N, H, W, 3] photo) => (float[N, 3, H, W] y) <float[3] mean = {1, 2, 3}, float whole = {255}> {
            a = Cast <to = 1> (photo) b = Sub (a, mean) c = Div (b, whole) d = Transpose <perm = [0, 3, 1, 2]> (c) y = Relu (d)
        }"""
    photo = RANDOM.integers(0, 256, (1, 40, 50, 3), np.uint8)
    program = compare(text, {"photo": photo}, device=device)._program
    for given in (photo, dmlops.asarray(photo, device=device)):
        assert program._fused.explain({"photo": given}, device=device).passes == 1
        assert type(program.run({"photo": given})["d"]) is type(given)


def test_bytes_whose_pieces_are_too_many_before_they_are_floats_are_written_in_between(device):
    how = 'mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"'
    text = f"""
        <ir_version: 8, opset_import: ["": 13]>
        g (int8[A, B, C, D, E] x) => (float[P, Q, R, S, T] y) <
            float[5] first = {{2, 1.5, 2.5, 2, 1}}, float[5] second = {{1.7, 1, 1.3, 1.3, 1.3}}
        > {{ a = Resize <{how}> (x, , first) b = Cast <to = 1> (a) y = Resize <{how}> (b, , second) }}"""
    few, many = (np.arange(np.prod(shape)).astype(np.int8).reshape(shape) for shape in ((1, 1, 1, 1, 2), (3, 5, 4, 5, 3)))
    assert compare(text, {"x": few}, device=device).moved == ["Resize", "Cast", "Resize"]
    assert compare(text, {"x": few}, {"x": many}, device=device).moved == ["Resize", "Cast", "Resize"]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="from_dlpack takes no device before NumPy 2.1")
def test_onnxruntime_reads_the_devices_memory(vulkan):
    array = dmlops.asarray(noise(4, 5), device=vulkan)
    shared = dmlops.onnx.session._on_host(array)
    array[...] = 7
    array.wait()
    assert (shared == 7).all()
    packed = dmlops.onnx.session._on_host(array.T)  # by the device
    assert packed.flags.c_contiguous and np.array_equal(packed, array.numpy().T)


def test_shapes_that_are_declared_are_computed_by_prepare():
    text = (
        SHAPES.replace("flat = Exp", "flat = Identity").split("turned =")[0].replace("bool flag", "float z")
        + "chosen = Identity (chw) }"
    )
    for declared, steps in ((text, 7), (text.replace("N, H, W, 3", "2, 4, 6, 3"), 4)):
        prepared = dmlops.onnx.backend.prepare(parser.parse_model(declared), "host")
        assert len(prepared._program._steps) == steps
        photo = noise(2, 4, 6, 3)
        _, flat, _ = prepared.run({"photo": photo, "z": np.float32(0)})
        assert np.array_equal(flat, photo.transpose(0, 3, 1, 2).reshape(2, -1))


def test_results_are_new_arrays():
    """Whether they come from an input, a constant or a device."""
    text = """
        <ir_version: 10, opset_import: ["": 21]>
        g (float[6] x, int64[2] s) => (float[A, B] y, int64[2] t, int64[2] u, int64[1] n, float[6] z) <int64[2] c = {3, 2}> {
            t = Identity (s) y = Reshape (x, t) u = Identity (c) n = Shape (x) z = Identity (x)
        }"""
    prepared = dmlops.onnx.backend.prepare(parser.parse_model(text), "host")
    x, s = noise(6), np.array([2, 3])
    for _ in range(2):
        results = prepared.run([x.copy(), s.copy()])
        expected = [x.reshape(2, 3), s, [3, 2], [6], x]
        for result, wanted in zip(results, expected, strict=True):
            assert np.array_equal(result, wanted)
            result[...] = 0


def test_shapes_computed_from_inputs(device):
    nodes = (
        "wide = Cast <to = 7> (s) first = Slice (wide, zero, one) all = Concat <axis = 0> (first, rest) y = Reshape (x, all)"
    )
    constants = "int64[1] zero = {0}, int64[1] one = {1}, int64[1] rest = {-1}"
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> g (float[6] x, int32[2] s) => (float[A, B] y) <{constants}> {{ {nodes} }}'
    )
    x = noise(6)
    (y,) = dmlops.onnx.backend.run_model(model, [x, np.array([2, 9], np.int32)], device)
    assert np.array_equal(y, x.reshape(2, 3))


def test_sparse_initializers_are_refused():
    model = parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g () => (float[3] y) { y = Identity (w) }')
    values = onnx.helper.make_tensor("w", 1, [1], [2.0])
    sparse = onnx.helper.make_sparse_tensor(values, onnx.helper.make_tensor("at", 7, [1], [1]), [3])
    model.graph.sparse_initializer.append(sparse)
    with pytest.raises(dmlops.onnx.UnsupportedNodeError, match="reads 'w', which is no dense tensor"):
        dmlops.onnx.backend.prepare(model)


def prepare(nodes, opset=21, inputs="float[2, 4, 6] x, int64[2] s"):
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["": {opset}, "com.example": 1]> g ({inputs}) => (float[A, B, C] y) {{ {nodes} }}'
    )
    return dmlops.onnx.backend.prepare(model, "host")


@pytest.mark.parametrize(
    "nodes, message",
    [
        ("t = Transpose (x) [late] y = Relu (t)", r"node 'late' \(Relu, opset 21\) is no movement of data"),
        ("y = Relu (x)", r"node of output 'y' \(Relu, opset 21\)"),
        ("t = Abs (x) [two] y = Neg (t)", r"\(Abs, opset 21\) is no .*, and 1 more cannot be run; dmlops.onnx.Session leaves"),
        ("y = com.example.Slice (x)", r"\(com.example.Slice, opset 1\) is no movement"),
        ("y = Cast <to = 11> (x)", r"\(Cast, opset 21\) converts data; only shapes"),
        ("y = Resize <mode = \"linear\"> (x, , , s)", r"\(Resize, opset 21\) has mode='linear'"),
        ("c = Greater (x, x) y = Where (c, x, x)", r"\(Greater, opset 21\) is no .*, and 1 more"),
    ],
)  # fmt: skip
def test_unsupported_nodes_are_named(nodes, message):
    with pytest.raises(dmlops.onnx.UnsupportedNodeError, match=message) as caught:
        prepare(nodes)
    assert caught.value.opset == (1 if "example" in nodes else 21) and caught.value.op_type in nodes


def test_opsets_that_the_package_does_not_know_are_refused():
    with pytest.raises(
        dmlops.onnx.UnsupportedNodeError, match=r"\(Transpose, opset 99\) is newer than what the package onnx \d"
    ):
        prepare("y = Transpose (x)", opset=99)


def test_newer_definitions_are_refused(monkeypatch):
    table = dmlops.onnx.graph.OPERATORS
    monkeypatch.setitem(table, "Transpose", table["Transpose"].__class__(table["Transpose"].run, 13))
    with pytest.raises(dmlops.onnx.UnsupportedNodeError, match="is newer than what is known here, opset 13"):
        prepare("y = Transpose (x)")
    prepare("y = Transpose (x)", opset=13)


@pytest.mark.parametrize(
    "inputs, error, message",
    [
        ([np.zeros((2, 4, 6), "f4")], ValueError, "the model has 2 inputs"),
        ({"x": 1, "s": 2, "t": 3}, ValueError, r"the model has the inputs \['x', 's'\], not \['t'\]"),
        ([np.zeros((2, 4, 6)), [2, 2]], TypeError, "input 'x' must be of dtype float32, not float64"),
        ([np.zeros((2, 4, 5), "f4"), [2, 2]], ValueError, r"input 'x' must have the shape \[2, 4, 6\], not \[2, 4, 5\]"),
        ({"x": np.zeros((2, 4, 6), "f4")}, ValueError, r"inputs \['s'\] are missing"),
        ([np.zeros((2, 4, 6), "f4"), [5, 7]], ValueError, "reshape"),
        ([[[1], [2, 3]], [2, 2]], ValueError, "inhomogeneous"),
    ],
)
def test_wrong_inputs(inputs, error, message):
    with pytest.raises(error, match=message):
        prepare("y = Reshape (x, s)").run(inputs)


def test_lists_for_inputs_of_several_types():
    for kind, given, wanted in (("uint8", [1, 255], [1, 255]), ("float", [1, True], [1.0, 1.0]), ("double", (0.5,), [0.5])):
        (result,) = prepare("y = Identity (x)", inputs=f"{kind}[N] x").run({"x": given})
        assert result.tolist() == wanted
    with pytest.raises(TypeError, match="input 'x' must be of dtype uint8, not float64"):
        prepare("y = Identity (x)", inputs="uint8[N] x").run([[1.5]])


def test_numbers_that_the_inputs_type_does_not_hold():
    for given in ([300], [-129]):
        with pytest.raises(OverflowError) as caught:
            prepare("y = Identity (x)", inputs="int8[N] x").run([given])
        assert caught.value.__notes__ == ["in input 'x'"]


def test_dimensions_that_may_have_any_size():
    prepared = prepare("y = Transpose (x)", inputs="float[N, ?, 6] x")
    with pytest.raises(ValueError, match=r"input 'x' must have the shape \[N, any, 6\], not \[2, 4, 5\]"):
        prepared.run([np.zeros((2, 4, 5), "f4")])


@pytest.mark.parametrize(
    "nodes, operands, message",
    [
        ("Slice (x, a, b)", "int64[K] a, int64[L] b", "entries each, not 2, 1, 2 and 2"),
        ("Resize (x, , f)", "int64[K] a, int64[L] b, float[M] f", "scales must have an entry for each of 3 axes, none below 0"),
        ("Resize (x, , f, a)", "int64[K] a, int64[L] b, float[M] f", "scales and sizes must not both be given"),
        ("Resize (x, , g)", "int64[K] a, int64[L] b, float[M] f, float[3] g", r"above 0 and finite, not \[1.0, 0.0, 2.0\]"),
        (
            "Resize (x, , , z)",
            "int64[K] a, int64[L] b, float[M] f, float[3] g, int64[2] z",
            "sizes must have an entry for each",
        ),
    ],
)
def test_operands_of_the_wrong_length(nodes, operands, message):
    given = [
        np.zeros((2, 4, 6), "f4"),
        np.array([0, 1]),
        np.array([1]),
        np.float32([1, 2]),
        np.float32([1, 0, 2]),
        np.array([1, 2]),
    ]
    prepared = prepare(f"[it] y = {nodes}", inputs=f"float[2, 4, 6] x, {operands}")
    with pytest.raises(ValueError, match=message) as caught:
        prepared.run(given[: 2 + operands.count(",")])
    assert "node 'it' (" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "operator, operands, attributes, message",
    [
        ("Slice", [[[0]], [[1]]], {}, r"starts must be a vector, not of the shape \[1, 1\]"),
        ("Slice", [[0, 0], [1, 1], [0, -2]], {}, r"axes \[0, -2\] name an axis twice"),
        ("Tile", [[[1, 2]]], {}, r"repeats must be a vector, not of the shape \[1, 2\]"),
        ("Split", [], {"num_outputs": 3}, "num_outputs is 3, but there are 1 outputs"),
        ("GatherElements", [[[0] * 4]], {}, r"indices of the shape \[1, 4\] do not fit \[2, 3\] beside axis 0"),
        ("GatherElements", [[0]], {}, r"indices of the shape \[1\] do not fit \[2, 3\] beside axis 0"),
        ("GatherElements", [[[0]]], {"axis": 2}, "axis 2 is out of range for rank 2"),
        ("ScatterElements", [[[0, 1]], [[0.5]]], {}, r"updates must have the shape of indices, \[1, 2\], not \[1, 1\]"),
        ("ScatterND", [[[0]], [0.5]], {}, r"updates must have the shape \[1, 3\], not \[1\]"),
        ("GatherND", [[[0, 0, 0]]], {}, "tuples of indices must have at most 2 entries"),
    ],
)
def test_operands_that_make_no_sense(operator, operands, attributes, message):
    names = [f"i{k}" for k in range(len(operands) + 1)]
    node = onnx.helper.make_node(operator, names, ["y"], **attributes)
    given = [noise(2, 3), *(np.array(operand) for operand in operands)]
    with pytest.raises(ValueError, match=message):
        dmlops.onnx.backend.run_node(node, given, "host")


@pytest.mark.parametrize("axis", [-3, 3])
def test_flatten_at_an_axis_that_there_is_not(axis):
    node = onnx.helper.make_node("Flatten", ["x"], ["y"], axis=axis)
    with pytest.raises(ValueError, match=f"axis {axis} is out of range for rank 2"):
        dmlops.onnx.backend.run_node(node, [noise(2, 3)], "host")


def test_a_shape_that_copies_too_many_sizes():
    node = onnx.helper.make_node("Reshape", ["x", "shape"], ["y"])
    with pytest.raises(ValueError, match=r"shape \[2, 3, 0\] copies a size of \(2, 3\) that is not there"):
        dmlops.onnx.backend.run_node(node, [noise(2, 3), np.array([2, 3, 0])], "host")


def test_uneven_splits_before_opset_18():
    node = onnx.helper.make_node("Split", ["x"], ["a", "b"])
    with pytest.raises(ValueError, match=r"axis 0 of size 5 cannot be split into \[2, 2\] for 2 outputs"):
        dmlops.onnx.backend.run_node(node, [noise(5)], "host", opset_version=13)


def test_errors_at_run_time_name_the_node():
    with pytest.raises(IndexError) as caught:
        prepare("[picks] y = Gather (x, s)").run([np.zeros((2, 4, 6), "f4"), np.array([0, 2])])
    assert "node 'picks' (Gather, opset 21)" in caught.value.__notes__[0]


@pytest.mark.parametrize("text, shape", [(FOCUS, (1, 3, 4, 4)), (MOVES, (2, 4, 6, 4)), (NOTHING, (2, 3))])
def test_session_refuses_names_that_are_not_the_model_s(text, shape):
    session = dmlops.onnx.Session(parser.parse_model(text).SerializeToString(), device="host")
    feed = {session.get_inputs()[0].name: noise(*shape)}
    with pytest.raises(ValueError, match=r"inputs \['.*'\] are missing from input_feed"):
        session.run(None, {})
    with pytest.raises(ValueError, match=r"input_feed has \['other'\]; the inputs are \['"):
        session.run(None, feed | {"other": noise(2)})
    with pytest.raises(ValueError, match=r"output_names has \['z'\]; the outputs are \['y'\]"):
        session.run(["y", "z"], feed)


@pytest.mark.parametrize("nodes", ["t = Transpose (x) y = Add (t, w)", "z = Add (x, x) t = Transpose (z) y = Add (t, w)"])
def test_initializers_may_be_replaced_where_onnxruntime_reads_them(nodes):
    text = '<ir_version: 10, opset_import: ["": 21]> g (float[N, 2] x, float[1] w) => (float[2, N] y) <float[1] w = {1}>'
    session = compare(f"{text} {{ {nodes} }}", {"x": noise(3, 2)}, {"x": noise(3, 2), "w": noise(1)}, device="host")
    assert len(session.get_inputs()) == 1


def test_initializers_of_the_leading_part_may_not_be_replaced():
    text = (
        '<ir_version: 10, opset_import: ["": 21]> '
        "g (float[6] x, int64[2] s) => (float[3, 2] y) <int64[2] s = {2, 3}> "
        "{ r = Reshape (x, s) t = Transpose (r) y = Abs (t) }"
    )
    session = compare(text, {"x": noise(6)}, device="host")
    with pytest.raises(ValueError, match=r"input_feed has \['s'\]; the inputs are \['x'\]"):
        session.run(None, {"x": noise(6), "s": np.array([3, 2])})


def test_lists_of_numbers():
    text = MOVES.replace("float[", "float16[")
    photo = RANDOM.integers(0, 9, (1, 4, 6, 4))
    prepared = dmlops.onnx.backend.prepare(parser.parse_model(text), "host")
    (expected,) = prepared.run([photo.astype("f2")])
    for numbers in (photo.tolist(), photo.astype(float).tolist()):
        assert np.array_equal(prepared.run([numbers]), [expected])
    with pytest.raises(TypeError, match="input 'photo' must be of dtype float16, not complex128"):
        prepared.run([(photo + 1j).tolist()])


def test_the_device_is_looked_up_by_prepare():
    model = parser.parse_model(MOVES)
    with pytest.raises(ValueError, match="no such device"):
        dmlops.onnx.backend.prepare(model, "no such device")
    with pytest.raises(ValueError, match="no such device"):
        dmlops.onnx.Session(model.SerializeToString(), device="no such device")


def test_run_node_takes_an_input_for_each_of_the_node_s():
    x = noise(2, 3)
    node = onnx.helper.make_node("Concat", ["x", "x"], ["y"], axis=0)
    assert np.array_equal(dmlops.onnx.backend.run_node(node, [x, x], "host"), [np.concatenate([x, x])])
    node = onnx.helper.make_node("Transpose", ["x"], ["y"])
    assert np.array_equal(dmlops.onnx.backend.run_node(node, x, "host"), [x.T])
    with pytest.raises(ValueError, match=r"the node has 1 inputs, \['x'\], not 2"):
        dmlops.onnx.backend.run_node(node, [x, x], "host")


def test_errors_pass_between_processes():
    with pytest.raises(dmlops.onnx.UnsupportedNodeError) as caught:
        prepare("t = Abs (x) [two] y = Neg (t)")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value) and (copy.name, copy.op_type) == (caught.value.name, "Abs")


def test_devices_by_onnx_names(vulkan):
    supports = dmlops.onnx.backend.supports_device
    assert supports("host") and supports(dmlops.devices()[0].type.upper()) and not supports("CUDA:1")


@pytest.mark.parametrize("module, action", [("onnx", ""), ("onnxruntime", "dmlops.onnx.Session(b'')")])
def test_without_its_packages_the_error_names_them(module, action):
    code = f"import sys; sys.modules[{module!r}] = None\nimport dmlops\nimport dmlops.onnx\n{action}"
    done = run_python(code, check=False)
    assert done.returncode == 1
    assert (
        f"needs the package {module}: pip install {'onnx ' if module == 'onnx' else ''}onnxruntime"
        in done.stderr.splitlines()[-1]
    )


def test_dmlops_alone_imports_none_of_it():
    run_python("import dmlops, sys; assert not {'onnx', 'dmlops.onnx', 'onnxruntime'} & set(sys.modules)")


@pytest.mark.parametrize("name", ["dmlops.onnx", "dmlops.onnx.backend", "dmlops.onnx.session", "dmlops.onnx.splitting"])
def test_docstrings(vulkan, name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed


def test_page(vulkan):
    result = doctest.testfile(str(ROOT / "docs" / "onnx.md"), module_relative=False, optionflags=FLAGS)
    assert result.attempted > 10 and not result.failed


# Where a session and onnxruntime differ, as docs/onnx.md lists it: the body, what is fed, the session's result or its error,
# and onnxruntime's, None where that is any.
X = np.arange(6, dtype=np.float32).reshape(3, 2)
LISTED = {
    "Where of -0.0": (
        "(float[N] x, float[N] z) => (float[N] y) <bool[2] c = {1, 0}> { y = Where (c, x, z) }",
        {"x": np.float32([-0.0, 1]), "z": np.float32([2, -0.0])}, np.float32([-0.0, -0.0]), np.float32([0.0, -0.0]),
    ),
    "Concat of an empty part": (
        "(float[N, M] x, float[K, L] z) => (float[P, Q] y) { y = Concat <axis = 0> (x, z) }",
        {"x": X, "z": np.zeros((0, 5), np.float32)}, ValueError, X,
    ),
    "Concat that begins with an empty part": (
        "(float[N, M] x, float[K, L] z) => (float[P, Q] y) { y = Concat <axis = 0> (z, x) }",
        {"x": X, "z": np.zeros((2, 0), np.float32)}, ValueError, None,
    ),
    "Pow by a negative int": (
        "(float[N, M] x) => (float[A, B] y) <int64 m = {-1}, int64[1] o = {2}> { s = Shape (x) p = Pow (s, m) q = Add (p, o) "
        "y = Tile (x, q) }", {"x": X}, ValueError, np.tile(X, (2, 2)),
    ),
    "ReverseSequence": (
        "(float[N, M] x) => (float[N, M] y) <int64[2] l = {3, 9}> { "
        "y = ReverseSequence <time_axis = 0, batch_axis = 1> (x, l) }", {"x": X}, ValueError, Exception,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTED)
def test_what_is_listed_as_different(device, name):
    body, feed, ours, theirs = LISTED[name]
    source = parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {body}').SerializeToString()
    for make, wanted in ((onnxruntime.InferenceSession, theirs), (lambda it: dmlops.onnx.Session(it, device=device), ours)):
        session = make(source)
        if isinstance(wanted, type):
            with pytest.raises(wanted):
                session.run(None, feed)
        elif wanted is not None:
            (result,) = session.run(None, feed)
            assert result.shape == wanted.shape and result.tobytes() == wanted.tobytes()


def test_lengths_within_the_axis_or_of_nothing(device):
    body = "(float[N, M] x, int64[L] l) => (float[N, M] y) { y = ReverseSequence <time_axis = 0, batch_axis = 1> (x, l) }"
    source = parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {body}').SerializeToString()
    session = dmlops.onnx.Session(source, device=device)
    assert session.moved == ["ReverseSequence"]
    (result,) = session.run(None, {"x": X, "l": np.array([3, 1])})
    assert np.array_equal(result, [[4, 1], [2, 3], [0, 5]])
    (empty,) = session.run(None, {"x": X[:, :0], "l": np.zeros(0, np.int64)})
    assert empty.shape == (3, 0)
    text = dmlops.onnx.backend.prepare(onnx.load_from_string(source), device=device)
    assert np.array_equal(text.run([X, np.array([9, 1])])[0], [[4, 1], [2, 3], [0, 5]])
