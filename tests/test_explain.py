"""``python -m dmlops explain``: what it says is what happens, and a text that is no call is refused."""

import os
import re
import subprocess
import sys
import tempfile
import traceback

import dmlops
import numpy as np
import pytest
from dmlops import _core, explain

import support

EXAMPLE = """\
plan: items of 4 bytes, source offset 0
  axis 0: 4096 at source stride 1024, destination stride 4096
  axis 1: 2 at source stride 8388608, destination stride 2048
  axis 2: 256 at source stride 4, destination stride 8
  axis 3: 2 at source stride 4194304, destination stride 4
pieces: 1
  1 x rows, of 4096 x 2 x 256 x 2 items of 4 bytes
    why: long rows: words of 32 bytes need the fewest loads and stores
    how: 64 bytes per invocation, words of 32 bytes, no head or tail, source aligned to 32
    schedule: 128 work chunks, 32 workgroups of 8 invocations
"""

LARGE_ITEMS = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 takes sizes of items modulo 2**32"
)
STAGED_FILLS = pytest.mark.needs_import  # where memory is staged, the host fills it, not a kernel
CALLS = [
    "depth_to_space(uint8[1, 64, 64, 64], 2)",
    "depth_to_space(uint8[1, 768, 14, 14], 16)",
    "space_to_depth(float32[2, 3, 64, 64], (4, 2), order='CRD')",
    "space_to_depth(float32[2, 64, 64, 3], 2, layout='NHWC')",
    "slice(float32[4, 300, 300], [0, 0, 0], [4, 300, 300], [1, 1, -1])",
    "slice(float32[400, 300], [3, 0], [300, 300])",
    "slice(uint8[2000, 28, 28], [0, 1, 1], [2000, 26, 26])",
    "slice(uint8[70000], [0], [70000], [3], output_sizes=[10])",
    "reverse_subsequences(int16[40, 1000, 4], int64[40], 1, batch_axis=0)",
    "reverse_subsequences(int16[40, 1000, 4], int64[40, 1, 4], -2)",
    pytest.param("padding(uint8[16, 512, 500], [0, 3, 3], [0, 3, 4], value=7)", marks=STAGED_FILLS),
    "padding(float32[300, 300], [3, 0], [0, 700], mode='reflection')",
    "tile(int16[300, 300], [2, 3])",
    "join([float32[4, 300, 300], float32[4, 20, 300]], 1)",
    "split(uint8[4000, 300], 1, [100, 0, 200])",
    "transpose(float32[200, 300])",
    "transpose(float32[700, 803])",
    "transpose(uint8[4, 300, 300, 3], (0, 3, 1, 2))",
    "upsample(float32[1, 3, 100, 100], 2)",
    pytest.param("slice_grad(float32[300, 200], [300, 400], [0, 1], [300, 399], [1, -2])", marks=STAGED_FILLS),
]


def run(call, device):
    """The call with arrays of zeros, which begin at a page."""

    def array(dtype, shape):
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        buffer = np.zeros(nbytes + 4096, np.uint8)
        start = -buffer.ctypes.data % 4096
        return buffer[start : start + nbytes].view(dtype).reshape(shape)

    class Kind:
        def __init__(self, dtype):
            self.dtype = dtype

        def __getitem__(self, shape):
            return array(self.dtype, shape)

    names = {name: Kind(name) for name in ("uint8", "int16", "float32", "int64")}
    operator, _, rest = call.partition("(")
    return eval(f"function({rest[:-1]}, device=device)", names | {"function": getattr(dmlops, operator), "device": device})


@pytest.mark.parametrize("call", CALLS)
def test_it_says_which_kernels_run(vulkan, call):
    pieces = [piece for *_, found in explain.steps(call, vulkan) for piece in found]
    before = _core._counts(vulkan)
    run(call, vulkan)
    ran = [after - count for after, count in zip(_core._counts(vulkan), before)]
    assert ran == [sum(piece["kernel"] == kernel for piece in pieces) for kernel in _core._kernels()] and sum(ran) > 0


@pytest.mark.parametrize("first, alignment", [(0, 8), (1, 2), (2, 4), (4, 8)])
def test_the_bytes_before_a_view_count(first, alignment):
    _, pieces = explain.plan_and_pieces(f"transpose(int16[401, 300][:, {first}:])", "cpu-class")
    assert {piece["alignment"] for piece in pieces} == {alignment}


def test_the_command_prints_it_without_a_device(tmp_path):
    call = "depth_to_space(float32[1,64,256,256], 2)"
    nowhere = {"VK_DRIVER_FILES": tmp_path / "none.json", "VK_ICD_FILENAMES": tmp_path / "none.json"}
    command = ("-m", "dmlops", "explain", call, "--device", "cpu-class")
    words, _, plans = support.run_python(None, env=nowhere, args=(*command, "--plans")).stdout.partition("plan: ")
    assert "plan: " + plans == EXAMPLE
    short = support.run_python(None, env=nowhere, args=command).stdout
    assert words.endswith("one pass: reads 16.8 MB and writes 16.8 MB\n") and short == f"{words}{explain.HINT}\n"


def test_words_for_who_calls(vulkan, capsys):
    """Where it runs and why, an estimate, passes, bytes: an element that is read again counts once, a fill is not read."""
    name = dmlops.devices()[0].name
    words = explain.words("tile(uint8[500,300], [2,3])").splitlines()
    assert words[0].startswith(f"on {name}, the default device: ")
    assert re.fullmatch(r"estimated to take \d+ us, on host [\d.]+ us", words[1])
    assert words[2:] == ["one pass: reads 150 KB and writes 900 KB", explain.HINT]
    words = explain.words("padding(uint8[500,300], [0,1], [0,9], value=7)", "gpu-class").splitlines()
    assert words[-2:] == ["one pass of 3 steps: reads 150 KB and writes 155 KB", explain.HINT]
    words = explain.words("slice(uint8[20,30], [0,0], [20,30], [1,-1])", "auto").splitlines()
    assert words[0].startswith("auto: on host, which is estimated to take ")
    assert words[1:] == ["one pass: reads 600 bytes and writes 600 bytes", explain.HINT]
    parts = explain.words(f"split(uint8[3000], 0, {[10] * 300})", "cpu-class").splitlines()
    assert parts[1] == "one pass of 256 or more steps: reads 2.56 KB and writes 2.56 KB or more"
    assert explain.main(["roll(uint8[300,300], 5)", "--device", name]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["roll: 1 step in one pass", f"on {name}, which is named"]
    assert said[2].startswith("estimated to take ") and said[3:] == ["pass 1 reads 90 KB and writes 90 KB", explain.HINT]


def test_words_of_fused_functions():
    """Tables read smaller items than they write; a resize reads what it sees of its source."""

    @dmlops.fuse
    def resized(x):
        x = dmlops.resize_pillow(x[:, :50], (20, 24))[2:]
        return np.pad(x / np.float32(255), ((1, 1), (0, 0), (0, 0)))

    words = resized.explain(np.zeros((40, 100, 3), np.uint8), device="host").words.splitlines()
    assert words[1] == "on host, which is named"
    assert words[2].startswith("pass 1 reads 6 KB and writes 1.3 KB: resizing (")
    assert words[3:] == ["pass 2 reads 1.3 KB and writes 5.76 KB"]
    with_table = dmlops.fuse(lambda x: dmlops.one_hot(x, 4)).explain(np.zeros(3, np.int64), device="host")
    assert with_table.words.splitlines()[2] == "pass 1 reads 24 bytes and writes 96 bytes"


COMPOSED_CALLS = {
    "roll": "roll(uint8[300,300][:, 3:], (5, 1), axis=(0, 1))",
    "one_hot": "one_hot(uint8[200], 5)",
    "crops": "crops(uint8[2,30,30,3], ((1, 2), (3, 4)), 20, (True, False))",
    "resize_nearest": "resize_nearest(uint8[30,30], (60, 45))",
    "sliding_windows": "sliding_windows(float32[30,300], 20, 1)",
    "rearrange": "dmlops.rearrange(uint8[4,6], 'a b -> b a')",
    "repeat": "repeat(uint8[4,6].T, 'a b -> b (a 2)')",
}
MODULE = """
import dmlops, numpy as np
def steps(x, k=1): return np.roll(x, k, 1).T.astype(np.float32)
fused = dmlops.fuse(steps)
class Group:
    inner = staticmethod(steps)
"""


@pytest.mark.parametrize("name", COMPOSED_CALLS)
def test_operators_of_several_movements(name):
    pytest.importorskip("einops") if name in ("rearrange", "repeat") else None
    for kind in explain.CLASSES:
        text = explain.explain(COMPOSED_CALLS[name], kind)
        assert text.startswith(f"{name}: ") and "in one pass" in text and "why: " in text


def test_every_operator_is_taken():
    resizing = {name for name in dmlops.operators.COMPOSED if name not in COMPOSED_CALLS}
    assert {*explain.COMPOSED} == {*COMPOSED_CALLS, *resizing}
    every = {*dmlops.operators.__all__, *dmlops.operators.COMPOSED, "rearrange", "repeat"}
    assert {*explain.OPERATORS, *explain.COMPOSED} == every


@pytest.mark.parametrize("call, extents", [
    ("take(uint8[40,3], [0,1,-1], 0)", (3,)), ("take(uint8[40,3], int32[5,7])", (35,)),
    ("take(uint8[2,40,3], int64[2,5], 1, batch_dims=1)", (2, 5)), ("take_along_axis(uint8[40,3], int64[2,3], 0)", (2, 3)),
    ("take_along_axis(uint8[40,3], [1,2], None)", (2,)), ("gather_nd(uint8[40,3], int32[5,1])", (5,)),
])  # fmt: skip
def test_gathers(call, extents):
    """Indices are literals or DTYPE[SHAPE]; each index reads other elements."""
    for kind in explain.CLASSES:
        ((src, dst, (item, _, axes, _), _),) = explain.steps(call, kind)
        assert (src, dst, tuple(extent for extent, *_ in axes)) == (0, 0, extents)
    count = item * np.prod(extents)
    assert f"reads {count} bytes and writes {count} bytes" in explain.words(call, "cpu-class")
    assert "index stride" in explain.explain(call, "cpu-class")


@pytest.mark.parametrize("call, words", [
    ("take(uint8[4,5], [3,7], 0)", "indices[1] is 7; an index must be in [-4, 4)"), ("take(uint8[4,5], [-21])", "in [-20, 20)"),
    ("dmlops:take(uint8[4,5], 4, 0)", "indices is 4"), ("take_along_axis(uint8[4,5], [[9]], 0)", "indices[0, 0] is 9"),
    ("gather_nd(uint8[4,5], [[3,4], [0,5]])", "indices[1, 1] is 5; an index must be in [-5, 5)"),
    ("crops(uint8[2,30,30,3], [[1,25],[26,3]], 5)", "must start in [0, 25]; starts has 26 for sample 1"),
])  # fmt: skip
def test_indices_that_the_call_refuses_are_refused(capsys, call, words):
    assert explain.main([call, "--device", "cpu-class"]) == explain.main([call, "--device", "host"]) == 2
    assert capsys.readouterr().err.count(words) == 2
    allowed = call.replace("[3,7]", "[3,-4]").replace("[-21]", "[-20]").replace("5], 4,", "5], 3,").replace("[[9]]", "[[-4]]")
    allowed = allowed.replace("[0,5]", "[0,-5]").replace("[26,3]", "[25,3]")
    assert explain.main([allowed, "--device", "cpu-class"]) == 0


def test_indices_of_fused_functions_are_looked_at():
    rows = dmlops.fuse(lambda x, at: x[at])
    x = np.zeros((4, 5), np.uint8)
    assert rows.explain(x, np.array([3, -4]), device="host").passes == 1
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        rows.explain(x, np.array([3, 4]), device="host")
    nothing = dmlops.fuse(lambda x, at: x[at][:, :0])
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        nothing.explain(x, np.array([3, 4]), device="host")


@pytest.mark.parametrize("call", ["one_hot(int64[8], 10)", "dmlops:one_hot([0,9,-1,30,2,2,2,2], 10, axis=0)"])
def test_one_hot_is_the_take_that_it_is(vulkan, capsys, call):
    """On every device, for any dtype of indices."""
    for device in ("cpu-class", "gpu-class", "host", "auto", str(vulkan)):
        assert explain.main([call, "--device", device]) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        assert head == "one_hot: rows of an identity matrix are taken, in one pass"
        assert "one pass: reads 640 bytes and writes 640 bytes" in lines
    assert "8 at source stride 0, destination stride 80, index stride 8" in explain.explain(call, "cpu-class")
    for wrong, words in (
        ("one_hot(int64[8])", "one_hot: missing a required argument: 'depth'"), ("one_hot(float32[8], 3)", "integer dtype"),
        ("one_hot(int64[8], -3)", "depth must be 0 or more, not -3"),
        ("one_hot(int64[8], 3, axis=2)", "axis 2 is out of bounds"),
        ("one_hot", "is no call: it needs arguments"),
    ):  # fmt: skip
        assert explain.main([wrong]) == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize("call, words", [
    ("put_along_axis(uint8[4,3], [[0,1,1]], 5, 0)", "a join and a take"),
    ("scatter_nd(uint8[4,3], [[0,1]], 5)", "a join and a take"),
    ("scatter_nd(uint8[4,3], int64[1,2], uint8[1])", "a join and a take"),
    ("take(uint8[4,3], [0.5], 0)", "integer dtype"),
    ("take(uint8[4,3], [int64[1]], 0)", "indices must be DTYPE[SHAPE] or a literal"),
    ("take(uint8[4,3], int64[900000000], 0)", "indices has 900000000 entries, more than"),
    ("take(uint8[4,3], [0], 2)", "axis 2 is out of bounds"),
    ("take_along_axis(uint8[4,3], int64[2,2], 0)", "indices must have size 3"),
])  # fmt: skip
def test_gathers_and_scatters_that_are_not_explained(capsys, call, words):
    assert explain.main([call, "--device", "cpu-class"]) == 2
    assert words in capsys.readouterr().err


def test_fused_functions_by_name(tmp_path, monkeypatch):
    (tmp_path / "steps_to_explain.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import steps_to_explain

    x = np.zeros((20, 30), np.uint8)
    for call, function, array in (
        ("steps_to_explain:fused(uint8[20,30], k=3)", steps_to_explain.fused, x),
        ("steps_to_explain:steps(uint8[20,30], 3)", steps_to_explain.fused, x),
        ("steps_to_explain:Group.inner(uint8[30,22].T[::-1, ::-1][2:], 3)", steps_to_explain.fused, None),
    ):
        found = explain.explain(call, "cpu-class")
        if array is x:
            assert found == repr(function.explain(x, 3, device="cpu-class"))
        assert found.startswith("steps: 3 steps in one pass")


@pytest.mark.parametrize("call, words", [
    ("roll(uint8[3)", "is no call"), ("roll(uint8[3], 1) + 2", "is no call"), ("no_such_module:f(uint8[3])", "no_such_module"),
    ("math:no_such_name(uint8[3])", "no_such_name"),
    ("dmlops:nope(uint8[3])", "nor of an operator: depth_to_space, gather_nd,"),
    ("dmlops.recipes:nope(uint8[3])", "dmlops.recipes has no 'nope': it has mmdetection, ultralytics,"),
    ("dmlops.operators:nope(uint8[3])", "it has depth_to_space,"), ("dmlops:rol(uint8[3], 1)", "did you mean roll?"),
    ("resize(uint8[3,3], 1)", "did you mean dmlops.resize_nearest,"), ("pad(uint8[3,3], 1)", "did you mean dmlops.padding?"),
    ("dmlops.recipes:ultralytics(uint8[3,3,3])", "rename that of ultralytics, or fuse a function that calls it without out"),
    ("roll(uint8[3], open)", "neither"), ("roll(3, 1)", "array"),
])  # fmt: skip
def test_calls_that_cannot_be_traced(capsys, call, words):
    assert explain.main([call, "--device", "cpu-class"]) == 2
    assert words in capsys.readouterr().err


def test_fused_functions_are_weighed(vulkan):
    """The estimates of all passes, and the plans of where it runs."""
    function = dmlops.fuse(lambda x: np.roll(x, 3, 1).T)
    small = repr(function.explain(np.zeros((20, 30), np.uint8), device="auto"))
    said = small.splitlines()[1]
    assert said.startswith("auto: on host, which is estimated to take ") and dmlops.devices()[0].name in said
    assert "from input 0 to result 0: " in small and "kernel" not in small
    assert "auto:" not in repr(function.explain(np.zeros((20, 30), np.uint8), device=vulkan))


def test_steps_are_told_one_by_one():
    text = explain.explain("padding(float32[16,512,512], [0, 3, 3], [0, 3, 3])", "gpu-class")
    assert text.startswith("steps: ") and "step 1: from " in text
    assert "from one item, repeated, to result 0\n" in text and "from input 0 to result 0\n" in text
    text = explain.explain("join([uint8[5, 3], uint8[5, 4]], axis=1)", "cpu-class")
    assert [line for line in text.splitlines() if "step" in line] == [
        "steps: 2",
        "step 1: from input 0 to result 0",
        "step 2: from input 1 to result 0",
    ]
    text = explain.explain("split(uint8[5, 3], 1, [1, 2])", "cpu-class")
    assert "step 2: from input 0 to result 1" in text
    assert explain.explain(f"split(uint8[3000], 0, {[10] * 300})", "cpu-class").startswith("steps: 256 or more")


def test_pieces_alike_are_told_once():
    text = explain.explain("slice(uint8[16384, 32768], [0, 0], [16384, 32768], [1, -1])", "cpu-class")
    assert text.count("why:") <= 2 and " x rows, of" in text and "software prefetch" in text
    assert "pieces: 256 or more" in explain.explain(
        "slice(uint8[1048576, 1048576], [0, 0], [1048576, 1048576], [1, -1])", "cpu-class"
    )
    assert explain.explain("slice(uint8[0], [0], [0])", "gpu-class") == "steps: 0"


@pytest.mark.parametrize(
    "call, message",
    [
        ("slice(", "is no call"),
        ("__import__('os').system('true')", "is no call of"),
        ("reshape(uint8[3])", "is no call of"),
        ("slice(uint8[3])", "needs offsets, sizes"),
        ("slice(uint8[3], [0], [3], what=1)", "takes input, offsets"),
        ("slice(3, [0], [3])", "input must be DTYPE"),
        ("slice_grad(3, [3], [0], [3])", "gradient must be DTYPE"),
        ("join([3], 0)", "inputs must be a list of DTYPE"),
        ("join(uint8[3], 0)", "inputs must be a list of DTYPE"),
        ("split(uint8[3], 0, [2, 2])", "output_axis_sizes"),
        ("padding(uint8[3], [0], [3], value=300)", "does not fit into input's dtype uint8"),
        ("slice(uint8[print(1)], [0], [3])", "neither DTYPE"),
        ("slice(uint8[-3], [0], [3])", "no shape"),
        ("slice(uint8[3], [0], [4])", "sizes"),
        ("space_to_depth(uint8[1, 1, 3, 4], 2)", "not divisible"),
        ("depth_to_space(uint8[1, 4, 3, 4], 2, 'XYZ')", "order"),
        ("slice(unknown[3], [0], [3])", "unknown"),
        ("slice(uint8[3], [0], [3], offsets=[0])", "slice is given offsets twice"),
        ("slice(uint8[3], [0], sizes=[3], sizes=[2])", "slice is given sizes twice"),
        (f"slice({'-' * 20000}1)", "nested too deeply"),
        (f"slice({'[' * 20000}{']' * 20000})", "nested"),
        ("reverse_subsequences(uint8[100000000000, 1], int64[100000000000, 1], 1)", "100000000000 entries, more than"),
        ("slice(uint8[99999999999999999999], [0], [3])", "2**62 bytes or more"),
        ("slice(uint8[0, 4611686018427387904], [0], [3])", "2**62 bytes or more"),
        pytest.param("slice(V9999999999[3], [0], [3])", "V9999999999", marks=LARGE_ITEMS),
        ('slice(uint8["a"], [0], [3])', "no shape"),
        ("slice(uint8[True], [0], [3])", "no shape"),
        ("slice(uint8[1.5], [0], [3])", "no shape"),
        ("slice(object[3], [0], [3])", "plain bytes"),
        ("slice('(2,3)f4'[3], [0], [3])", "of one element"),
        ("slice(uint8[3], int64[1], [3])", "offsets must be a literal"),
        ("slice(uint8[3], [int64[1]], [3])", "offsets must be a literal"),
        ("padding(uint8[3], [0], [3], value=uint8[3])", "value must be a literal"),
        ("reverse_subsequences(uint8[3], [int64[1]], 0)", "sequence_lengths must be"),
        ("tile(uint8[3, 4][9], [1])", "out of bounds"),
        ("tile(uint8[3, 4][[0, 1]], [1])", "[0, 1] is no index"),
        ("tile(uint8[3, 4][True], [1])", "True is no index"),
        ("tile(uint8[3, 4][..., ...], [1])", "single ellipsis"),
        ("tile(uint8[3, 4][::0], [1])", "step cannot be zero"),
        ("tile(uint8[3, 4].T.reshape(12), [1])", "copy"),
        ("tile(uint8[3, 4].reshape(7), [1])", "cannot be reshaped"),
        ("tile(uint8[3, 4].transpose(0, 5), [1])", "axis 5"),
        ("tile(uint8[3, 4].sum(), [1])", "is no view: an array has brackets, T and the methods transpose"),
        ("tile(uint8[3, 4].flat, [1])", "is no view"),
        ("tile(f(uint8[3]).T, [1])", "neither DTYPE"),
        ("tile(**{'input': 1})", "takes input, repeats"),
        ("\0", "null bytes"),
    ],
)
def test_what_is_no_call_is_refused(capsys, call, message):
    assert explain.main([call, "--device", "cpu-class"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("view", [
    "[..., ::-1]", "[1:, None, 2:9:3]", "[:, 3]", "[np.newaxis, -1]", ".T", ".transpose(2, 0, 1)", ".transpose((1, 2, 0))",
    ".swapaxes(0, -1)", "[:1].squeeze()", "[:1].squeeze(axis=0)", ".reshape(40, -1)", ".reshape((5, 8, 60))[::2].T[1:, ::-1]",
    "[2, 3, 4]", "[..., 0]",
])  # fmt: skip
def test_views_of_arrays(view):
    expected = np.asarray(eval(f"x{view}", {"x": np.zeros((40, 10, 6), "f4"), "np": np}))
    _, ((array, dtype), axes) = explain.parse(f"transpose(float32[40, 10, 6]{view})")
    assert axes is None and array.shape == expected.shape and array.strides == expected.strides and dtype == expected.dtype


def test_a_view_is_explained():
    text = explain.explain("slice(uint8[8,640,640,3][..., ::-1], [0, 0, 0, 0], [8, 640, 640, 3])", "cpu-class")
    assert "axis 1: 3 at source stride -1, destination stride 1" in text


def test_arrays_take_no_memory():
    """Those of lengths neither; and who shows the variables of a traceback reads none."""
    text = explain.explain("reverse_subsequences(uint8[100000000,3], int64[100000000,1], 1)", "cpu-class")
    assert "pieces: " in text
    with pytest.raises(ValueError) as caught:
        explain.explain("slice(uint8[1152921504606846976], [0], [-1])", "cpu-class")
    traceback.TracebackException.from_exception(caught.value, capture_locals=True)


def test_a_command_whose_pipe_closes_ends_without_a_traceback():
    """`python -m dmlops explain ... | true`"""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "dmlops", "explain", "slice(uint8[3], [0], [3])", "--device", "cpu-class"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=tempfile.gettempdir())
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_the_host_runs_no_kernels(capsys):
    """It has words, as of fused functions, and no plans."""
    assert explain.main(["slice(uint8[300], [0], [3])", "--device", "host"]) == 0
    where, estimate, traffic, hint = capsys.readouterr().out.splitlines()
    assert (where, traffic, hint) == ("on host, which is named", "one pass: reads 3 bytes and writes 3 bytes", explain.HINT)
    assert re.fullmatch(r"estimated to take [\d.]+ us", estimate)
    assert explain.main(["slice(uint8[3], [0], [3])", "--device", "host", "--plans"]) == 2
    assert "runs no kernels" in capsys.readouterr().err
    command = ("-m", "dmlops", "explain", "tile(uint8[3], [2])")
    done = support.run_python(None, args=command, env={"DMLOPS_DEVICE": "host"})
    assert done.stdout.startswith("on host, the default device: ")


@pytest.mark.parametrize("name", ["²", "", "no such device"])
def test_a_device_that_there_is_not(capsys, name):
    assert explain.main(["slice(uint8[3], [0], [3])", "--device", name]) == 2
    assert f"device={name!r}" in capsys.readouterr().err


def test_maps_that_the_host_alone_computes(vulkan):
    """A device that is named cannot: the call says so, and explain, which says what to name."""
    function, x = dmlops.fuse(lambda x: x * 2), np.ones((3, 4))
    with pytest.raises(ValueError, match=r'host alone computes maps of items of 4 or 8 bytes.*device="host" \(--device host\)'):
        function.explain(x, device=vulkan)
    assert "reads 96 bytes" in function.explain(x, device="host").words
    assert "auto: on host" in function.explain(x, device="auto").words
