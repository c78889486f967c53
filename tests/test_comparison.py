"""dmlops.compare, its tables and its picture."""

import datetime
import functools
import gc
import re
import sys
import warnings
from importlib.util import find_spec

import dmlops
import numpy as np
import pytest
from dmlops import commands, comparison, operators, printed_tables, reference
from dmlops.__main__ import main
from dmlops.fusion.proof import ProofError

import strategies
import support

X = np.arange(2 * 4 * 6 * 8, dtype=np.float32).reshape(2, 4, 6, 8)
HOLES = np.dtype({"names": ["a", "b"], "formats": ["u1", "<i4"], "offsets": [0, 4], "itemsize": 12})


def names():
    return [device.name for device in dmlops.devices() if device.usable]


def test_every_operator_on_every_device(vulkan):
    calls = {
        "slice": ([0, 0, 0, 1], [2, 4, 6, 7], [1, -1, 1, 3]),
        "depth_to_space": (2,),
        "space_to_depth": (2,),
        "reverse_subsequences": ([3, 1], 3),
    }
    more = {"reverse_subsequences": {"batch_axis": 0}, "space_to_depth": {"order": "CRD"}}
    for name, args in calls.items():
        for operator in (name, getattr(dmlops, name)):
            result = dmlops.compare(operator, X, *args, repeat=1, **more.get(name, {}))
            assert result and result.operator == name
            assert [row.device.name for row in result.rows] == names()
            assert result.numpy_milliseconds > 0 and all(row.milliseconds > 0 and row.equal for row in result.rows)


@pytest.mark.parametrize(
    "given, expected", [("host", 1), (["host"], 1), (["host", "host"], 2), (None, None), (dmlops.devices()[-1], 1)]
)
def test_devices(vulkan, given, expected):
    result = dmlops.compare("slice", X, [0] * 4, X.shape, devices=given, repeat=1)
    assert len(result.rows) == (expected or len(names()))


def test_a_vulkan_device_by_number(vulkan):
    (row,) = dmlops.compare("slice", X, [0] * 4, X.shape, devices=vulkan, repeat=1).rows
    assert row.device.index == vulkan


def test_device_arrays_are_downloaded(device):
    lengths = dmlops.asarray([-1, 99], device=device)
    a = dmlops.asarray(X, device=device)
    assert dmlops.compare("reverse_subsequences", a, lengths, 3, batch_axis=0, devices="host", repeat=1)
    assert dmlops.compare(
        "reverse_subsequences", input=a, axis=3, batch_axis=0, sequence_lengths=lengths, devices=device, repeat=1
    )


def test_iterators_serve_all_runs():
    assert dmlops.compare("slice", X, iter([0] * 4), iter(X.shape), devices="host", repeat=1)
    assert dmlops.compare("join", iter([X, X]), 0, devices="host", repeat=1)


def test_bytes_between_fields_are_compared(device):
    x = np.frombuffer(np.random.default_rng(0).bytes(12 * 96), HOLES).reshape(2, 4, 3, 4)
    assert dmlops.compare("depth_to_space", x, 2, devices=device, repeat=1)
    assert dmlops.compare("slice", x[..., ::-1], [0] * 4, x.shape, devices=device, repeat=1)


@pytest.mark.parametrize("dtype, value", [
    (HOLES, 5), (HOLES, None), (HOLES, np.frombuffer(bytes(range(12)), HOLES)[0]), ([("a", "u1"), ("b", "S3")], None),
    (np.dtype([("a", "u1"), ("b", "g"), ("c", "U2", 2)], align=True), 7), ("g", 0.1), ("g", None), ("G", 2 - 3j), (">g", 1),
    ("M8[s]", datetime.datetime(2020, 1, 2)), ("M8[s]", None), ("S3", 255), ("f4", 0.1),
], ids=str)  # fmt: skip
def test_bytes_that_mean_nothing_are_equal_where_a_value_is_stored(device, dtype, value):
    x = np.frombuffer(np.random.default_rng(0).bytes(60 * np.dtype(dtype).itemsize), dtype).reshape(6, 10)[:, ::-2]
    more = {} if value is None and np.dtype(dtype).kind != "M" else {"value": value}
    result = dmlops.compare("padding", x, [1, 2], [0, 3], devices=device, repeat=1, **more)
    assert result, result


@pytest.mark.parametrize(
    "x",
    [[[1, 2], [3, 4]], np.float64(3), np.zeros((0, 3)), np.array(["a", "bc"]), np.zeros(3, "V0"), np.array([np.nan, -0.0])],
    ids=repr,
)
def test_anything_array_like(x):
    shape = np.asarray(x).shape
    assert dmlops.compare("slice", x, [0] * len(shape), shape, devices="host", repeat=1)


@pytest.fixture
def wrong(monkeypatch):
    """The operator slice returns what the test says."""

    def returns(function):
        right = operators.slice
        monkeypatch.setattr(
            operators, "slice", functools.wraps(right)(lambda *args, **kwargs: function(right(*args, **kwargs)))
        )

    return returns


def spoiled(x):
    x[1, 2, 3, 4] = -5
    x[1, 3, 3, 4] = -6
    return x


def test_a_difference_is_named(wrong):
    wrong(spoiled)
    result = dmlops.compare("slice", X, [0] * 4, X.shape, devices="host", repeat=1)
    assert not result and not result.rows[0].equal
    difference = result.rows[0].difference
    assert (difference.index, difference.value, difference.expected) == ((1, 2, 3, 4), -5.0, float(X[1, 2, 3, 4]))
    assert repr(result).endswith(f"host: at (1, 2, 3, 4) -5.0, NumPy has {X[1, 2, 3, 4]}")
    assert "(1, 2, 3, 4)" in result._repr_html_()


@pytest.mark.parametrize(
    "function, words",
    [(lambda x: x[:1], r"\(1, 4, 6, 8\), NumPy has \(2, 4, 6, 8\)"), (lambda x: x.astype("f8"), "float64.*float32")],
)
def test_another_shape_or_dtype(wrong, function, words):
    wrong(function)
    result = dmlops.compare("slice", X, [0] * 4, X.shape, devices="host", repeat=1)
    assert not result and result.rows[0].difference.index is None
    with pytest.raises(AssertionError, match=words):
        assert result, repr(result)


@pytest.mark.parametrize("bits", [0x80000000, 0x7FC00001])
def test_every_bit_counts(wrong, bits):
    """-0.0 equals 0.0, and a NaN nothing; here it is the bits that count."""
    wrong(lambda x: np.full(1, bits, np.uint32).view(np.float32))
    base = np.array([0.0 if bits == 0x80000000 else np.nan], np.float32)
    assert not dmlops.compare("slice", base, [0], [1], devices="host", repeat=1)


def test_results_that_are_lists():
    """Of operators with several results."""
    one, other = np.arange(3), np.array([[1, 2]])
    assert comparison._difference([one, other], [one.copy(), other.copy()]) is None
    assert comparison._difference([one, other], [one, other + 1]).index == (1, 0, 0)
    assert "1 results" in str(comparison._difference([one], [one, other]))


def test_a_device_that_fails(wrong):
    def fail(result):
        raise dmlops.OutOfDeviceMemoryError("there is none")

    wrong(fail)
    result = dmlops.compare("slice", X, [0] * 4, X.shape, devices="host", picture=False, repeat=1)
    assert not result and isinstance(result.rows[0].error, dmlops.VulkanError)
    assert "there is none" in repr(result) and "nan" in repr(result)


@pytest.mark.parametrize("args, kwargs, error, words", [
    ((np.flip, X), {}, ValueError, "depth_to_space.*flip"), (("no such", X), {}, ValueError, "no such"),
    ((reference.slice, X), {}, ValueError, "slice"),
    (("slice", X, [0], [1]), {"out": X}, TypeError, "out"), (("slice", X, [0], [1]), {"device": 0}, TypeError, "device"),
    (("slice", X, [0], [1]), {"repeat": 0}, ValueError, "repeat"),
    (("slice", X, [0], [1]), {"repeat": 1.5}, TypeError, "repeat must be an int, not float"),
    (("slice", X, [0] * 4, X.shape), {"devices": "no such"}, ValueError, "no such"),
    (("slice", X, [0] * 4, X.shape), {"devices": []}, ValueError, "devices"),
    (("slice", X), {}, TypeError, "offsets"), (("depth_to_space", X, 3), {"devices": "host"}, ValueError, "divisible by 9"),
])  # fmt: skip
def test_wrong_calls(args, kwargs, error, words):
    with pytest.raises(error, match=words):
        dmlops.compare(*args, **kwargs)


# --- tables -----------------------------------------------------------------------------------------------------


def test_the_table_as_text():
    result = dmlops.compare("slice", X, [0] * 4, X.shape, devices="host", repeat=2)
    head, row = repr(result).splitlines()
    assert head.split() == ["slice", "ms", "NumPy's", "ms", "equal"]
    assert row.startswith("host ") and row.endswith("  yes") and len(head) == len(row) + 2


def test_tables():
    assert printed_tables.as_text(["name", "ms"], [["a", "1.5"], ["longer", "10"]]) == "name     ms\na       1.5\nlonger   10"
    assert printed_tables.as_text(["name", "ms"], []) == "name  ms"
    assert (
        printed_tables.as_html(["<b>"], [["a & b"]])
        == "<table><thead><tr><th>&lt;b&gt;</th></tr></thead><tbody><tr><td>a &amp; b</td></tr></tbody></table>"
    )


def test_devices_show_as_a_table():
    page = dmlops.devices()._repr_html_()
    assert page.count("<tr>") == 1 + len(dmlops.devices())
    assert ">host<" in page and isinstance(dmlops.devices(), list)


# --- pictures -----------------------------------------------------------------------------------------------------


def draw(x, *args, name="slice", **kwargs):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    return dmlops.compare(name, x, *(args or ([0] * x.ndim, x.shape)), devices="host", repeat=1, picture=True, **kwargs)


@pytest.mark.parametrize("x", [
    np.zeros((30, 50), np.uint8), np.zeros((30, 50, 3), np.uint8), np.zeros((30, 50, 4), np.uint8), np.zeros((30, 50, 1), bool),
    np.zeros((2, 3, 30, 50), np.float32), np.zeros((1, 1, 12, 30, 50), ">i4"),
    np.full((3, 30, 50), np.inf),
], ids=lambda x: f"{x.dtype} {x.shape}")  # fmt: skip
def test_pictures(x):
    result = draw(x)
    panels = 3 * 8 * 50 if x.shape != (1, 1, 12, 30, 50) else 3 * 2 * 200
    assert result and result.picture.width == panels + 2 * 24
    assert '<img alt="input, result, difference" src="data:image/png;base64,' in result._repr_html_()
    assert "<img" not in dmlops.compare("slice", x, [0] * x.ndim, x.shape, devices="host", repeat=1)._repr_html_()


def test_the_picture_shows_what_differs(wrong):
    def spoil(x):
        x[7, 9] += 1
        return x

    wrong(spoil)
    result = draw(np.full((240, 240), 100, np.uint8))
    difference = np.asarray(result.picture)[24:, -240:, 0]
    assert not result and difference[7, 9] == 255 and difference.sum() == 255


@pytest.mark.parametrize("shape", [(1, 100_000), (100_000, 1), (5000, 5000), (1, 100_000, 3), (10_000, 1, 2), (3, 7000, 2)])
def test_pictures_of_large_arrays_stay_small(shape):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    x = np.zeros(shape, np.uint8)
    result = dmlops.compare("tile", x, [1] * x.ndim, devices="host", repeat=1, picture=True)
    assert result and result.picture.width <= 3 * 4096 + 2 * 24 and result.picture.height <= 4096 + 24


def test_the_picture_of_a_large_array_shows_each_difference(wrong):
    pytest.importorskip("PIL", reason="Pillow is not installed")

    def spoil(x):
        x[9001, 7] += 1
        return x

    wrong(spoil)
    difference = np.asarray(draw(np.full((10_000, 240), 100, np.uint8)).picture)[24:, -240:, 0]
    assert difference[9001 // 3, 7] == 255 and difference.sum() == 255


def test_the_picture_of_a_device_that_failed(wrong):
    def fail(result):
        raise dmlops.VulkanError("it failed")

    wrong(fail)
    assert not draw(X[0, 0]) and draw(X[0, 0]).picture.width == 2 * 8 * 40 + 24


@pytest.mark.parametrize(
    "x",
    [np.zeros(5), np.zeros((0, 5)), np.zeros((4, 4), complex), np.zeros((4, 4), "U1")],
    ids=lambda x: f"{x.dtype} {x.shape}",
)
def test_what_is_no_image(x):
    with pytest.raises(ValueError, match="picture"):
        draw(x)


def test_pictures_without_pillow():
    done = support.run_python("""
import re
import sys
import warnings
sys.modules["PIL"] = None
import dmlops
try:
    dmlops.compare("slice", [[1]], [0, 0], [1, 1], devices="host", picture=True)
except ImportError as error:
    print(error)
""")
    assert "Pillow" in done.stdout and "matplotlib" in done.stdout


def test_the_strategies_know_every_operator():
    assert set(reference.__all__) == set(strategies.CALLS) - set(strategies.COMPOSED)


def test_nothing_is_imported_before_it_is_used():
    late = {f"dmlops.{name}" for name in ("comparison", "comparison_picture", "progress", "reference", "tables")} | {
        "inspect",
        "PIL",
    }
    support.run_python(
        "import sys, numpy; before = set(sys.modules); import dmlops; "
        f"found = {late!r} & (set(sys.modules) - before); assert not found, found"
    )


MODULE = """
import dmlops, numpy as np
def steps(x, k=1): return np.roll(x, k, 1).T.astype(np.float32)
def highest(x): return x.max()
def scaled(x): return x / np.float32(3)
def misspelt(x): return x.reshape(rows, 2)
def missing(x): return {}["rows"]
def checked(x):
    assert x.ndim == 9, "nine axes"
    return x.T
def endless(x): return endless(x)
def unread(x): return open("no such file")
def ends(x): raise SystemExit(4)
def interrupted(x): raise KeyboardInterrupt
async def later(x): return x.T
async def pieces(x): yield x.T
def each(x): yield x.T
class Group:
    def method(self, x): return x.T
    async def __call__(self, x): return [x.T, later(x)]
object = Group()
"""
BROKEN = {
    "divides_at_import": "rows = 1 / 0", "ends_at_import": "raise SystemExit(4)",
    "is_no_python": "def f(:", "needs_more": "import rows_9",
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    for name, text in {"compared_by_name": MODULE, **BROKEN}.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield "compared_by_name"
    for name in ("compared_by_name", *BROKEN):
        sys.modules.pop(name, None)


def test_the_command_compares_functions_by_name(module, vulkan, capsys):
    """A function of a module, fused or not, an operator, on every device or on those that are named."""
    name = dmlops.devices()[0].name
    for call, *options in (
        (f"{module}:steps(uint8[20,30][::-1], k=3)", "--repeat", "1"),
        ("slice(float32[20,30], [0,3], [20,5])", "--device", "0", "--device", "host"),
        ("dmlops.roll(bool[20,30].T, 3)",),
        ("join([uint8[2], uint8[3]], 0)",),
    ):
        assert main(["compare", call, *options]) == 0, call
        head, *rows = capsys.readouterr().out.splitlines()
        assert head.split()[1:] == ["ms", "NumPy's", "ms", "equal"]
        assert [row.split("  ")[0] for row in rows] == [name, "host"] and all(row.endswith("yes") for row in rows)
    assert main(["compare", f"{module}:scaled(float32[9])", "--device", "host"]) == 0
    assert capsys.readouterr().out.count("yes") == 1


def test_a_difference_is_the_commands_status(module, capsys, monkeypatch):
    monkeypatch.setattr(dmlops.reference, "transpose", lambda input, axes=None, **_: np.zeros_like(input.T))
    assert main(["compare", "transpose(uint8[3,4])", "--device", "host"]) == 1
    assert "NumPy has 0" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["compare", "prove"])
@pytest.mark.parametrize("call, words", [
    ("nonsense", "no call of MODULE:FUNCTION"), ("no_such_module:f(uint8[3])", "no_such_module"),
    ("{module}:highest(uint8[3])", "cannot be fused"), ("{module}:no_such(uint8[3])", "no_such"),
    ("roll(uint8[3", "is no call"), ("{module}:steps", "needs arguments, as in {module}:steps(uint8["),
    ("{module}:step(uint8[3])", "no 'step'; did you mean steps?"),
    ("{module}:absent(uint8[3])", ": it has steps, highest, scaled,"),
    ("{module}:Group(uint8[3])", "is a class"), ("{module}:Group.absent(uint8[3])", "Group has no 'absent'"),
    ("compared_by_nme:steps(uint8[3])", "no module 'compared_by_nme'; did you mean compared_by_name?"),
    ("xml.domm:steps(uint8[3])", "no module 'xml.domm'; did you mean xml.dom?"),
    ("a/b_9.py:steps(uint8[3])", "here a.b_9:steps"), ("/a/b_9.py:steps(uint8[3])", "here b_9:steps, in the folder /a"),
    ("../a/b_9.py:steps(uint8[3])", "here b_9:steps, in the folder ../a"), ("./b_9.py:steps(uint8[3])", "here b_9:steps"),
    ("a-b:steps(uint8[3])", "is no module's name"), ("{module}.steps(uint8[3])", "did you mean {module}:steps?"),
    ("roll(uint8[3], 1, device='gpu')", "takes no device: --device names one"),
    ("{module}:steps(uint8[3], out=1)", "takes no out"),
    ("rol(uint8[3], 1)", "did you mean roll?"), ("{module}:steps(uint9[3])", "an array is DTYPE[SHAPE]"),
])  # fmt: skip
def test_what_no_command_can_run(module, capsys, command, call, words):
    assert main([command, call.format(module=module)]) == 2
    assert words.format(module=module) in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "prove", "explain"])
@pytest.mark.parametrize("name, words", [
    ("later", "is an async function, which cannot be traced: fuse a plain function of the arrays"),
    ("object", "is an async function"), ("each", "not generator, which cannot be traced: make a list instead"),
    ("pieces", "not async_generator, which cannot be traced"),
])  # fmt: skip
def test_async_functions_and_generators(module, capsys, command, name, words):
    """One line, and no warning of Python's that nobody has awaited it."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert main([command, f"{module}:{name}(uint8[4,2])"]) == 2
        gc.collect()
    (said,) = capsys.readouterr().err.splitlines()
    assert words in said and not seen


def test_operators_by_name_take_literals(module, vulkan, capsys):
    """`compare` runs the operator, `prove` what it is in a fused function, which needs an array."""
    assert main(["compare", "dmlops:one_hot([1, 2], 10)", "--repeat", "1"]) == 0
    assert capsys.readouterr().out.count("yes") == len(dmlops.devices())
    assert main(["prove", "one_hot([1, 2], 10)"]) == 2
    assert "no array among its arguments: indices is a list" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "prove", "explain"])
@pytest.mark.parametrize("call, error, code", [
    ("{module}:misspelt(uint8[4,2])", "NameError: name 'rows' is not defined", "def misspelt(x): return x.reshape(rows, 2)"),
    ("{module}:missing(uint8[4,2])", "KeyError: 'rows'", 'def missing(x): return {{}}["rows"]'),
    ("{module}:checked(uint8[4,2])", "AssertionError: nine axes", 'assert x.ndim == 9, "nine axes"'),
    ("{module}:endless(uint8[4,2])", "maximum recursion depth exceeded", "def endless(x): return endless(x)"),
    ("{module}:unread(uint8[4,2])", "FileNotFoundError: ", 'def unread(x): return open("no such file")'),
    ("{module}:ends(uint8[4,2])", "SystemExit: 4", "def ends(x): raise SystemExit(4)"),
    ("{module}:highest(uint8[4,2])", "numpy.max cannot be fused", "def highest(x): return x.max()"),
    ("divides_at_import:f(uint8[4])", "ZeroDivisionError: division by zero", "rows = 1 / 0"),
    ("ends_at_import:f(uint8[4])", "SystemExit: 4", "raise SystemExit(4)"),
    ("needs_more:f(uint8[4])", "ModuleNotFoundError: No module named 'rows_9'", "import rows_9"),
    ("is_no_python:f(uint8[4])", "invalid syntax (is_no_python.py, line 1)", ""),
])  # fmt: skip
def test_an_error_of_the_users_code_is_one_line(module, capsys, command, call, error, code):
    """What failed, the file, the line and its text, once; status 2, and no traceback."""
    assert main([command, call.format(module=module)]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert re.match(rf"error: (RecursionError: )?{re.escape(error)}", said) and said.count(".py") == 1
    assert not code or re.search(rf"\.py:\d+: {re.escape(code.format())}\)$", said)


@pytest.mark.parametrize("command", ["compare", "prove", "explain"])
def test_an_interrupted_command_has_no_traceback(module, capsys, command):
    assert main([command, f"{module}:interrupted(uint8[4,2])"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.mark.parametrize("call, said", [
    ("numpy:linalg.norm(uint8[4,3])", "numpy.linalg.norm cannot be fused: "),
    ("numpy:flip(uint8[4,3], axis=7)", "AxisError: axis 7 is out of bounds"),
])  # fmt: skip
def test_a_command_has_no_line_of_the_users(call, said):
    """A function of NumPy's is called by dmlops itself."""
    done = support.run_python(None, args=("-m", "dmlops", "prove", call), check=False)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {said}")
    assert "runpy" not in done.stderr and "__main__" not in done.stderr


def test_the_command_proves_functions_by_name(module, capsys, monkeypatch):
    assert main(["prove", f"{module}:steps(uint8[20,30], 3)"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("steps is equal to NumPy for every array of these shapes and dtypes: 600 elements of 3 steps")
    assert main(["prove", "rearrange(uint8[4,6], 'a b -> b a')" if find_spec("einops") else "transpose(uint8[4,6])"]) == 0
    monkeypatch.setattr(commands.explain, "fused", lambda name: Wrong())
    assert main(["prove", f"{module}:steps(uint8[20,30], 3)"]) == 1
    assert "differs at (0,)" in capsys.readouterr().out


class Wrong:
    def prove(self, *args, **kwargs):
        raise ProofError("differs at (0,)")


@pytest.mark.driverless
@pytest.mark.parametrize("operator, words", [
    ("resize_pilow", "not 'resize_pilow'; did you mean resize_pillow?"),
    (np.flip, "a fused function, or one of dmlops or its name: depth_to_space,"),
    (np.zeros((99, 99)), r"characters\)$"),
])  # fmt: skip
def test_what_cannot_be_compared(operator, words):
    """What is named may be meant; an array is not printed whole."""
    with pytest.raises(ValueError, match=words) as caught:
        dmlops.compare(operator, np.zeros((3, 4), np.uint8))
    assert len(str(caught.value)) < 600
