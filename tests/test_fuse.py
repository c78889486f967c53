"""dmlops.fuse: functions in one pass, equal to NumPy to the bit, on any device; what they refuse, and how."""

import pickle
import re
import threading
import traceback
import warnings
import weakref

import dmlops
import numpy as np
import pytest
from dmlops.fusion import tracing
from dmlops.fusion.compiler import compile_nodes
from dmlops.fusion.graph import Input
from dmlops.fusion.recording import Recording

from strategies import content
from support import run_python

MEAN = np.array([123.675, 116.28, 103.53], np.float32).reshape(3, 1, 1)
STD = np.array([58.395, 57.12, 57.375], np.float32).reshape(3, 1, 1)


@dmlops.fuse
def prepare(photos, crop=2, half=False):
    """A pipeline."""
    x = photos[:, crop:-crop, crop:-crop, ::-1]
    x = np.moveaxis(x, -1, 1)
    x = (x / np.float32(255) - MEAN) / STD
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 2)), constant_values=0.5)
    x = dmlops.space_to_depth(x, 2)
    return x.astype(np.float16) if half else x


def photos(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one.dtype == other.dtype and one.shape == other.shape and content(one) == content(other)


# --- results --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [False, True])
def test_a_pipeline(device, half):
    x = photos(2, 30, 40, 3)
    result = prepare(x, half=half, device=device)
    assert same(result, prepare.reference(x, half=half)) and result.dtype == (np.float16 if half else np.float32)
    proof = prepare.prove(x, half=half)
    assert proof.elements == result.size and proof.passes == 1 and proof.entries >= 3 * 256
    assert prepare.__doc__ == "A pipeline." and prepare.__name__ == "prepare"


def test_other_shapes_dtypes_strides_and_constants_are_other_programs(device):
    for x in (
        photos(1, 10, 10, 3),
        photos(1, 14, 12, 3),
        photos(3, 10, 10, 1)[::-1, ::-1].transpose(3, 1, 2, 0),
        photos(1, 10, 10, 3).view(np.int8),
    ):
        for crop in (1, 2):
            assert same(prepare(x, crop, device=device), prepare.reference(x, crop))


def test_several_inputs_and_results(device):
    @dmlops.fuse
    def function(a, b, *, axis=0):
        both = np.concatenate([a, b], axis)
        return {"both": both, "parts": [both[:2], (both.T, a)], "constant": np.arange(3)}

    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3)
    result = function(a, b, device=device)
    assert same(result, function.reference(a, b))
    out = {
        "constant": np.zeros(3, int),
        "parts": [np.zeros((2, 3)), (np.zeros((3, 3)), np.zeros((2, 3)))],
        "both": np.zeros((3, 3)),
    }
    given = function(a, b, out=out, device=device)
    assert given["both"] is out["both"] and given["parts"][1][0] is out["parts"][1][0]
    assert same(given, {key: out[key] for key in given}) and same(given, result)


def test_lists_of_arrays_are_inputs(device):
    function = dmlops.fuse(lambda arrays, named: dmlops.join([*arrays, named["last"]], 0))
    arrays, named = [np.arange(2), np.arange(3)], {"last": np.arange(4)}
    assert same(function(arrays, named, device=device), np.concatenate([*arrays, named["last"]]))


def test_blocks_of_arrays_and_constants(device):
    function = dmlops.fuse(lambda x: (np.block([[x, np.ones((5, 2), "u1")], [x[:1], np.uint8([[7, 8]])]]), np.append(x, [3])))
    x = photos(5, 7)
    assert same(function(x, device=device), function.reference(x))
    function.prove(x)
    for wrong in (lambda x: np.block((x, x)), lambda x: np.block([x, (x, x)])):
        with pytest.raises(TypeError, match="tuple"):
            dmlops.fuse(wrong)(x, device=device)


def test_maps_of_the_same_elements(device):
    function = dmlops.fuse(
        lambda x: (np.where(x > 10, x, 0), x * x, np.clip(x[::-1], 3, 200), np.interp(x, [0, 255], [0.0, 1.0]))
    )
    x = photos(5, 7)
    assert same(function(x, device=device), function.reference(x))
    function.prove(x)


def shared(v):
    """Expressions in which others occur twice: 2**100 calls, if each were counted as often as it occurs."""
    for _ in range(100):
        v = v * v + v
    return v


def long(v):
    for k in range(1000):
        v = v + np.uint8(k % 7)
    return v


def long_and_varying(v):
    for k in range(1000):
        v = v * np.array([[1], [k % 5]], np.uint8)
    return v


def long_and_moved(v):
    for k in range(1000):
        v = (v + np.uint8(k % 7))[::-1]
    return v


@pytest.mark.parametrize("function", [shared, long, long_and_varying, long_and_moved])
def test_each_step_is_looked_at_once(function):
    fused, u = dmlops.fuse(function), np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        assert same(fused(u, device="host"), np.ascontiguousarray(function(u)))
        fused.prove(u)


def test_values_of_long_expressions_are_not_kept(monkeypatch):
    """Of two bytes, each would be a table."""
    from dmlops.fusion import expressions

    alive, most = [], []
    real = expressions.called

    def called(*args):
        made = real(*args)
        if np.size(made) == 65536:
            alive.append(1)
            weakref.finalize(made, alive.pop)
            most.append(len(alive))
        return made

    monkeypatch.setattr(expressions, "called", called)
    x = np.arange(9, dtype=np.uint16)
    assert same(dmlops.fuse(lambda v: long(v.astype(np.uint8)))(x, device="host"), long(x.astype(np.uint8)))
    assert len(most) == 1001 and max(most) <= 3


def test_constants_are_what_numpy_makes_arrays_of(device):
    function = dmlops.fuse(lambda x: (x - (0.5, 1, 2), np.clip(x, range(3), [9, 8, 7]), np.isin(x, (3, 5))))
    x = photos(4, 3)
    assert same(function(x, device=device), function.reference(x))
    function.prove(x)


def test_maps_of_constants(device):
    function = dmlops.fuse(
        lambda x: np.stack([np.zeros_like(x).astype(np.float32) + 1, (np.stack([x, np.ones_like(x)])[1] * 2).astype("f4")])
    )
    x = photos(3, 4)
    assert same(function(x, device=device), function.reference(x))
    function.prove(x)


def test_tables_of_other_functions(device):
    gamma = (np.arange(256) / 255.0) ** 2.2

    def function(x):
        whole, part = np.modf(x / np.float64(7))[::-1]
        return (
            np.take_along_axis(gamma, x.ravel(), 0),
            np.round(x / np.float32(3), 1),
            whole,
            part,
            np.isin(x, [3, 5]),
            x.astype(np.complex64),
            -x,
            ~x,
        )

    x = photos(6, 5)
    assert same(dmlops.fuse(function)(x, device=device), dmlops.fuse(function).reference(x))
    dmlops.fuse(function).prove(x)


def test_every_item_of_a_table(device):
    """Entries of 1 to 32 bytes, at every alignment of the result."""
    x = photos(3, 37)
    for code in ("u1", "i2", "f2", "f4", "f8", "c8", "c16", "g", "U3"):
        function = dmlops.fuse(lambda x, code: x.T.astype(code))
        expected = x.T.astype(code)
        for start in range(3):
            out = np.zeros(expected.size + 8, code)[start : start + expected.size].reshape(expected.shape)
            function(x, code, out=out, device=device)
            assert content(out) == content(expected) or code == "g"
            assert (out == expected).all()


def test_methods_of_arrays(device):
    def function(x):
        y = x.astype(np.complex64)
        turned = x.T, getattr(x, "mT", x.T), x.ravel("F"), x.flatten(), x.swapaxes(0, 1)  # NumPy has had mT since 2.0
        parts = *turned, x[None].squeeze(0), x.repeat(2, 1), x.take([1, 0], 0)
        return [*parts, y.real, y.imag, y.conj(), x.clip(3, 9), x.copy(), x.view(np.int8), x.transpose(1, 0), x.reshape(2, -1)]

    x = photos(4, 5)
    fused = dmlops.fuse(function)
    assert same(fused(x, device=device), [np.ascontiguousarray(one) for one in fused.reference(x)])
    assert fused.prove(x).passes == 1 and repr(fused) == "<dmlops.fuse of function>"


def test_warnings_of_values_that_need_not_occur_are_silent(device):
    function = dmlops.fuse(lambda x: np.log(x.astype(np.float32)) / x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(photos(9), device=device)
    with np.errstate(all="ignore"):
        assert same(result, function.reference(photos(9)))


def test_advanced_indices_of_one_axis(device):
    function = dmlops.fuse(
        lambda x: (
            *(x[..., [2, 0, 1]], x[[True, False, True]], x[:, np.array([-1, 0]), None], np.take(x, [[0, 2], [1, 1]], 2)),
            *(x[..., (2, 0)], x[(1, 0),], x[range(2)], x[:, memoryview(np.array([1, 3]))], x[:, [[0, 1], [3, -1]]], x[[]]),
        )
    )
    x = photos(3, 4, 3)
    assert same(function(x, device=device), function.reference(x))
    function.prove(x)


def test_single_elements(device):
    function = dmlops.fuse(lambda x: (x[1, 2], x[-1, np.array(0)], np.stack([one + np.uint8(1) for one in x[0]])))
    x = photos(3, 4)
    expected = x[1, 2], x[2, 0], x[0] + 1
    padded = dmlops.fuse(lambda x: np.pad(x, 0) + np.uint8(1))
    assert padded(x[0, 0, ...], device=device) == x[0, 0] + np.uint8(1) and padded.prove(x[0, 0, ...])
    assert same([np.asarray(one) for one in function(x, device=device)], [np.asarray(one) for one in expected])
    function.prove(x)


def test_defaults_are_constants_and_slices_are_hashed(device):
    @dmlops.fuse
    def function(x, rows=slice(1, 3), mean=MEAN):
        return np.moveaxis(x[rows], -1, 0) - mean

    x = photos(4, 5, 3)
    assert same(function(dmlops.asarray(x, device=device)).numpy(), function.reference(x))
    assert same(function(x, slice(2), device=device), function.reference(x, slice(2)))
    assert len(function._programs) == 2


def test_fused_functions_nest(device):
    inner = dmlops.fuse(lambda x: x[::-1])
    outer = dmlops.fuse(lambda x: inner(x).T)
    x = photos(4, 5)
    assert same(outer(x, device=device), np.ascontiguousarray(x[::-1].T)) and outer.explain(x, device="host").passes == 1


def test_methods(device):
    class Model:
        @dmlops.fuse
        def prepare(self, x):
            return x[::-1]

    model, x = Model(), np.arange(3)
    assert model.prepare(x, device=device).tolist() == model.prepare.reference(x).tolist() == [2, 1, 0]
    assert model.prepare.prove(x).passes == model.prepare.explain(x, device="host").passes == 1
    with pytest.raises(AttributeError, match="nothing"):
        model.prepare.nothing


# --- arrays ---------------------------------------------------------------------------------------------------------


def test_device_arrays(device):
    x = photos(2, 30, 40, 3)
    on_device = dmlops.asarray(x, device=device)
    result = prepare(on_device)
    assert type(result) is dmlops.DeviceArray and same(result.numpy(), prepare.reference(x))
    view = on_device[:, ::-1, 3:33]
    assert same(prepare(view).numpy(), prepare.reference(x[:, ::-1, 3:33]))
    out = dmlops.empty(result.shape, np.float32, device=device)
    assert prepare(on_device, out=out) is out and same(out.numpy(), result.numpy())


def test_out_may_overlap_and_have_gaps(device):
    function = dmlops.fuse(lambda x: np.flip(x.reshape(4, 6).T).reshape(-1))
    x = np.arange(24, dtype=np.float32)
    expected = function.reference(x)
    assert same(function(x, out=x, device=device), expected)
    x, gaps = np.arange(24, dtype=np.float32), np.zeros((24, 3), np.float32)
    function(x, out=gaps[:, 1], device=device)
    assert (gaps[:, 1] == expected).all() and not gaps[:, [0, 2]].any()


def test_progress(device):
    seen = []
    x = photos(2, 30, 40, 3)
    result = prepare(x, device=device, progress=lambda done, total: seen.append((done, total)))
    assert seen[0][0] == 0 and seen[-1] == (result.nbytes, result.nbytes) and same(result, prepare.reference(x))


@pytest.mark.parametrize("shape", [(0, 8, 8, 3), (1, 8, 8, 0), (0, 1 << 40, 1, 1)])
def test_empty_arrays(device, shape):
    function = dmlops.fuse(lambda x: np.moveaxis(x, -1, 1).astype(np.float32) * np.float32(2))
    x = photos(*shape)
    assert same(function(x, device=device), np.ascontiguousarray(function.reference(x)))
    function.prove(x)


def test_as_many_axes_as_numpy_has(device):
    rank = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    x = photos(*(1,) * (rank - 2), 2, 3)
    function = dmlops.fuse(lambda x: (x + 1)[..., ::-1].T)
    assert same(function(x, device=device), np.ascontiguousarray((x + 1)[..., ::-1].T))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_padding_of_an_empty_batch(device, mode):
    function = dmlops.fuse(lambda x: np.pad(x, ((0, 0), (1, 2)), mode))
    assert same(function(photos(0, 5), device=device), np.zeros((0, 8), np.uint8))


def test_an_inner_function_takes_no_result_array():
    inner = dmlops.fuse(lambda x: x[::-1])
    with pytest.raises(TypeError, match="give them to the outer function"):
        dmlops.fuse(lambda x: inner(x, out=np.empty((2, 3), np.uint8)))(photos(2, 3))


def test_threads_and_a_new_program_each(device):
    function = dmlops.fuse(lambda x, shift: np.roll(x, shift, 0).astype(np.float32))
    x, failed = photos(50, 3), []

    def work(first):
        for shift in range(first, first + 30):
            if not same(function(x, shift, device=device), function.reference(x, shift)):
                failed.append(shift)

    threads = [threading.Thread(target=work, args=(10 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(function._programs) <= 64


@pytest.mark.slow
@pytest.mark.needs_fork
def test_a_child_runs_what_its_parent_has_compiled(vulkan):
    code = """
import os, dmlops, numpy as np
f = dmlops.fuse(lambda x: x.T.astype(np.float32))
x = np.arange(12, dtype=np.uint8).reshape(3, 4)
assert (f(x) == x.T).all()
child = os.fork()
if not child:
    os._exit(0 if (f(x) == x.T).all() else 1)
assert os.waitpid(child, 0)[1] == 0 and (f(x) == x.T).all()
"""
    run_python(code)


def test_pickle():
    assert pickle.loads(pickle.dumps(prepare)) is prepare
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    function = pickle.loads(cloudpickle.dumps(dmlops.fuse(lambda x: x[::-1])))
    assert function(np.arange(3), device="host").tolist() == [2, 1, 0]


# --- more passes ----------------------------------------------------------------------------------------------------


def crossing(x):
    """Movements that cut each other's radix into many pieces."""
    for rows, columns in ((1007, 1003), (1009, 1001)):
        x = x.reshape(-1)[: rows * columns].reshape(rows, columns)[::-1, ::-1].T
    return x


def test_too_many_pieces_become_a_second_pass(device):
    function = dmlops.fuse(crossing)
    x = np.random.default_rng(0).integers(0, 1 << 30, 1 << 20, np.int32)
    explained = function.explain(x, device="host")
    assert explained.passes == 2 and "more than 256 pieces" in repr(explained) and "test_fuse.py:" in repr(explained)
    assert same(function(x, device=device), np.ascontiguousarray(crossing(x)))
    assert same(function(dmlops.asarray(x, device=device)).numpy(), np.ascontiguousarray(crossing(x)))
    assert function.prove(x).passes == 2


@pytest.mark.parametrize(
    ("shape", "other"), [((10, 30, 64), (6, 50, 64)), ((36, 100, 49), (1764, 100)), ((2, 105, 99), (-1, 77))], ids=str
)
def test_uneven_reshapes_are_whole(device, shape, other):
    x = np.random.default_rng(0).integers(0, 1 << 30, shape, np.int32)
    for function in (lambda x: x.T.reshape(other), lambda x: np.roll(x.T, 5).reshape(other).T.reshape(-1)):
        fused = dmlops.fuse(function)
        out = np.full(function(x).shape, 0xA5, np.int32)
        assert same(fused(x, out=out, device=device), np.ascontiguousarray(function(x)))
        fused.prove(x)
    resident = dmlops.array_api.reshape(dmlops.asarray(x, device=device).T, other)
    assert same(resident.numpy(), np.ascontiguousarray(x.T.reshape(other)))


def test_several_intermediate_results_before_one_step(device):
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(500), (4, 1)), axis=1)[:, :400]

    def function(x, y):
        return np.concatenate([x[orders[0]], y[orders[1]], np.flip(x)[orders[2]], y[orders[3]]])

    x, y = photos(500, 3, seed=1), photos(500, 3, seed=2)
    fused = dmlops.fuse(function)
    assert fused.explain(x, y, device="host").passes == 5
    assert same(fused(x, y, device=device), function(x, y))
    fused.prove(x, y)


def test_an_input_with_gaps_is_copied_first(device):
    x = np.random.default_rng(0).integers(0, 1 << 16, (1007, 1010), np.uint16)[:, ::-1][:, :1003]
    function = dmlops.fuse(lambda x: x.reshape(1003, 1007))
    assert function.explain(x, device="host").passes == 2
    assert same(function(x, device=device), function.reference(x).copy())


def test_maps_go_behind_the_second_pass(device):
    function = dmlops.fuse(lambda x: crossing(x.astype(np.float32) / 255) - np.float32(1))
    x = photos(1 << 20)
    assert function.explain(x, device="host").passes == 2
    assert same(function(x, device=device), function.reference(x).copy())
    function.prove(x)


def kaleidoscope(x, rounds=2):
    """Each mirror doubles the pieces."""
    for _ in range(rounds):
        rows, columns = x.shape
        tiled = np.tile(x, (3, 2))[: rows + 6, : columns + 4]
        x = np.concatenate([np.pad(x, ((3, 3), (2, 2)), "reflect"), tiled])
        x = np.pad(np.roll(x, (5, 3), (0, 1)), 7, "symmetric")
    return x


PASSES = {
    "bytes": kaleidoscope,
    "a map at the end": lambda x: kaleidoscope(x).astype(np.float32),
    "a map at the beginning": lambda x: kaleidoscope(x.astype(np.float32), 3),
    "constants beside a map": lambda x: kaleidoscope(np.concatenate([x / 2, np.full((7, 1), 9.0)], 1)),
    "maps behind and before, and constants": lambda x: kaleidoscope(np.concatenate([x / 2, np.full((7, 1), 9.0)], 1)) * 2,
    "constants around a map, in every piece": lambda x: kaleidoscope(np.pad(x.astype(np.float32), 1)),
    "a map of both": lambda x: kaleidoscope(kaleidoscope(np.pad(x, 1)).astype(np.float32)),
}


@pytest.mark.parametrize("function", PASSES.values(), ids=PASSES)
def test_as_many_passes_as_it_takes(device, function):
    function, x = dmlops.fuse(function), photos(7, 10)
    assert function.explain(x, device="host").passes >= 3
    assert same(function(x, device=device), function.reference(x).copy())
    function.prove(x)


# --- tracing takes time in steps, not in sizes ----------------------------------------------------------------------

HUGE = 1 << 40

OF_HUGE_ARRAYS = {
    "roll": lambda x: np.roll(x, 5),
    "crop": lambda x: x[1:-1][::-1],
    "steps": lambda x: x[7::1_000_003],
    "rows": lambda x: x[: 1 << 38].reshape(-1, 1 << 10)[1:-1, 3:-5].T,
    "windows": lambda x: dmlops.sliding_windows(x, 1 << 20, 0, strides=1 << 19),
    "windows of a padded row": lambda x: dmlops.sliding_windows(np.pad(x, 200, "reflect"), 400, 0, strides=160),
    "sliding_window_view": lambda x: np.lib.stride_tricks.sliding_window_view(x, 400)[::160],
    "pad": lambda x: np.pad(x, (HUGE + 3, 5), "symmetric"),
    "resized": lambda x: dmlops.resize_nearest(x, [HUGE // 4 * 3]),
    "resized by coprime sizes": lambda x: dmlops.resize_nearest(x[:100], [HUGE + 1]),
    "resized by a factor": lambda x: dmlops.resize_nearest(x, scales=1.5),
    "repeat": lambda x: np.repeat(x, 3)[5:-5],
}


@pytest.mark.parametrize("function", OF_HUGE_ARRAYS.values(), ids=OF_HUGE_ARRAYS)
def test_tracing_takes_no_time_in_sizes(function):
    trace, node = Recording(), Input(0, (HUGE,), np.dtype("u1"))  # an array of so many bytes that there is none
    result = tracing.run(trace, function, (trace.array(node),), {})
    (one,) = compile_nodes([(node.dtype, node.shape, node.strides)], [result._node]).passes
    assert len(one.pieces[0]) <= 256


WINDOWS = {
    "one axis": lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 0),
    "two axes": lambda x: np.lib.stride_tricks.sliding_window_view(x, (3, 5), (1, 0))[::2],
    "all axes, turned": lambda x: np.lib.stride_tricks.sliding_window_view(x[::-1, ::2], (3, 2)).T,
    "the same axis twice": lambda x: np.lib.stride_tricks.sliding_window_view(x, (3, 2), (0, 0)),
    "of joined parts": lambda x: dmlops.sliding_windows(np.pad(x, 4, "wrap"), 5, 0, strides=3, dilations=2),
    "of interleaved parts": lambda x: dmlops.sliding_windows(np.stack([x, x + 1], 1).reshape(-1), 9, 0, strides=7),
    "larger than a part": lambda x: dmlops.sliding_windows(np.concatenate([x[:2], x, x[1:3]]), 15, 0, strides=2),
    "mapped": lambda x: dmlops.sliding_windows(x.astype(np.float32) * np.arange(10, dtype=np.float32), (4, 3)),
}


@pytest.mark.parametrize("function", WINDOWS.values(), ids=WINDOWS)
def test_windows(device, function):
    x, fused = photos(12, 10), dmlops.fuse(function)
    assert same(fused(x, device=device), np.ascontiguousarray(fused.reference(x)))
    fused.prove(x)


def test_wrong_windows_are_refused_as_numpy_refuses_them():
    for arguments in ((13, 0), ((3,),), (3, 2), (-1, 0)):
        with pytest.raises(ValueError) as expected:
            np.lib.stride_tricks.sliding_window_view(photos(12, 10), *arguments)
        with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
            dmlops.fuse(lambda x: np.lib.stride_tricks.sliding_window_view(x, *arguments))(photos(12, 10), device="host")


# --- explanations and proofs ----------------------------------------------------------------------------------------


def test_explain(vulkan):
    x = photos(1, 30, 40, 3)
    for device in (vulkan, "host", "cpu-class"):
        text = repr(prepare.explain(x, device=device))
        assert "prepare: 7 steps in one pass" in text and "float32[1,12,14,19]" in text
    assert "tables" in repr(prepare.explain(x, device="gpu-class"))
    host = prepare.explain(x, device="host")
    assert "from input 0, by a table, to result 0: " in repr(host) and host._repr_html_().startswith("<pre>")
    assert f"<b>pass 1</b><br>{host.pieces[0]} pieces" in host._repr_html_() and "pass 2" not in host._repr_html_()


def test_a_wrong_plan_is_found():
    from dmlops.fusion import layout, proof

    def shift(piece):
        return piece._replace(dims=(layout.Run(0, (piece.dims[0].digits[0]._replace(src=-1),)),), src=3)

    x = np.arange(4, dtype=np.uint8)
    for function, change, words in (
        (lambda x: x[:4], shift, "byte 3 of input 0 at"),
        (lambda x: np.stack([x, x + np.uint8(1)]), lambda piece: piece._replace(table=-1), "other values"),
        (lambda x: np.pad(x, 1, constant_values=3), None, "NumPy has a constant"),
    ):
        fused = dmlops.fuse(function)
        compiled = fused._compiled((x,), {})
        one = compiled.program.passes[0]
        pieces = (
            [change(piece) for piece in one.pieces[0]]
            if change
            else [piece._replace(source=0, src=0) for piece in one.pieces[0]]
        )
        wrong = remade(compiled, pieces)
        with pytest.raises(proof.ProofError, match=words):
            proof.prove("function", wrong)


def remade(compiled, pieces):
    """The same with other pieces of its only result."""
    from dmlops.fusion.compiler import Program, _Compiler

    one = compiled.program.passes[0]
    compiler = _Compiler(one.inputs)
    compiler.compile(compiled.results)
    return compiled._replace(program=Program((compiler.make_pass(compiled.results, [pieces], ""),)))


def test_compare():
    x = photos(1, 20, 20, 3)
    comparison = dmlops.compare(prepare, x, devices="host", repeat=2)
    assert comparison and comparison.operator == "prepare" and comparison.numpy_milliseconds > 0
    assert dmlops.compare(prepare, dmlops.asarray(x, device="host"), crop=3, devices="host", repeat=1)
    assert dmlops.compare(dmlops.fuse(lambda x: {"a": x[::-1], "b": x}), x, devices="host", repeat=1)


# --- errors ---------------------------------------------------------------------------------------------------------


REFUSED = {
    "bool": (lambda x: x if x else x, "knows its shape and dtype, not its values"),
    "float": (lambda x: float(x), "not its values"),
    "list": (lambda x: x.tolist(), "not its values"),
    "asarray": (lambda x: np.asarray(x), "leave out numpy.asarray"),
    "sum": (lambda x: x.sum(), "numpy.sum cannot be fused: end the fused function before it"),
    "reduce": (lambda x: np.add.reduce(x), "numpy.add.reduce"),
    "matmul": (lambda x: x @ x, "numpy.matmul cannot be fused"),
    "sort": (lambda x: np.sort(x), "numpy.sort"),
    "two arrays": (lambda x: x[0] * x[1], "numpy.multiply of several traced arrays cannot be fused"),
    "in place": (lambda x: x.__iadd__(1), "write x = x"),
    "assignment": (lambda x: x.__setitem__(0, 1), "join or pad"),
    "mask": (lambda x: x[x > 3], "an index of traced values"),
    "out": (lambda x: dmlops.tile(x, [1, 1], device="host"), "give them to the fused function"),
    "no array": (lambda x: 3, "must return an array"),
    "objects": (lambda x: np.concatenate([x, [[object()] * 3]]), "objects"),
    "large table": (lambda x: np.broadcast_to(x, (1 << 11, 4, 3)) * np.ones((1 << 11, 4, 3)), "table would have"),
    "square root": (lambda x: x.std(), "numpy.std"),
    "pad": (lambda x: np.pad(x, 1, "linear_ramp"), "linear_ramp"),
    "gather": (lambda x: dmlops.take(x, [0], 0), "reads at indices cannot be fused"),
    "scatter": (lambda x: dmlops.scatter_nd(x, [[0, 0]], [1]), "not its values"),
    "one-hot": (lambda x: np.eye(3)[x], r"for numpy.eye\(K\)\[x\] dmlops.one_hot\(x, K\)"),
    "where": (lambda x: np.where(x > 3), "numpy.where of a condition alone"),
    "elements": (lambda x: np.isin([5], x), "a traced array as argument 2 of numpy.isin"),
    "sorted": (lambda x: x[0].searchsorted([5]), "a traced array as argument 1 of numpy.searchsorted"),
    "bins": (lambda x: np.digitize(x, bins=x[0]), "a traced array as bins of numpy.digitize"),
    "clip in place": (lambda x: np.clip(x, 3, 9, x), "a traced array as argument 4 of numpy.clip"),
    "nan_to_num": (lambda x: np.nan_to_num(x, copy=False), "copy=False"),
    "bool index": (lambda x: x[np.array(True)], "a bool as an index"),
    "masks": (lambda x: x[np.ones((4, 3), bool)], "a mask of several axes"),
    "masked": (lambda x: x + np.ma.masked_array([1, 2, 3], [0, 1, 0]), "a constant of type MaskedArray"),
    "joined": (lambda x: np.concatenate([x, np.ma.zeros((1, 3))]), "a constant of type MaskedArray"),
    "device array": (lambda x: x + dmlops.asarray(np.arange(3), device="host"), "make it an argument"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_the_line(name):
    function, words = REFUSED[name]
    with pytest.raises(TypeError, match=words) as caught:
        dmlops.fuse(function)(photos(4, 3), device="host")
    assert name == "no array" or name == "objects" or "test_fuse.py:" in str(caught.value)


@pytest.mark.parametrize("code", ["u2", "i2", "f2", ">u2", ">f2"])
def test_items_of_two_bytes(device, code):
    x = np.random.default_rng(0).integers(0, 1 << 16, (3, 5, 7), np.uint16).view(code)
    function = dmlops.fuse(
        lambda x: np.pad(x.T.astype(np.float32) / MEAN.reshape(3), ((0, 1), (0, 0), (0, 0)), constant_values=2)
    )
    with np.errstate(all="ignore"):
        assert same(function(x, device=device), function.reference(x))
    assert function.prove(x).entries >= 3 << 16
    odd = np.zeros(x.nbytes + 1, np.uint8)[1:].view(code).reshape(x.shape)  # at odd addresses
    odd[...] = x
    with np.errstate(all="ignore"):
        assert same(function(odd, device=device), function.reference(x))


def test_items_of_several_bytes_have_exact_operations_only():
    with pytest.raises(TypeError, match=r"numpy.exp of items of 4 bytes cannot be fused: .*test_fuse.py:"):
        dmlops.fuse(lambda x: np.exp(x))(np.zeros(3, np.float32), device="host")


def test_numpys_own_errors():
    x = photos(4, 3)
    for function, error in (
        (lambda x: x.reshape(5), ValueError),
        (lambda x: x[9], IndexError),
        (lambda x: x[np.array(1.0)], IndexError),
        (lambda x: x[np.zeros(0)], IndexError),
        (lambda x: np.moveaxis(x, 0, 5), np.exceptions.AxisError),
        (lambda x: np.concatenate([x, x[:, :2]]), ValueError),
        (lambda x: x + np.zeros(7), ValueError),
        (lambda x: dmlops.slice(x, [0, 0], [9, 9]), ValueError),
        (lambda x: dmlops.space_to_depth(x, (3, 3)), ValueError),
    ):
        with pytest.raises(error):
            function(x)
        with pytest.raises(error):
            dmlops.fuse(function)(x, device="host")


def test_a_traceback_may_show_what_numpy_was_given():
    """Where views are made, frames hold an array of the argument's shape that has no memory."""
    with pytest.raises(np.exceptions.AxisError) as caught:
        dmlops.fuse(lambda x: np.flip(x, 9))(np.broadcast_to(np.uint8(0), (1 << 14, 1 << 10, 1 << 10, 3)), device="host")
    assert "like = " in "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())


def test_the_reference_runs_functions_of_movements_by_numpy(monkeypatch):
    function = dmlops.fuse(lambda x: [dmlops.resize_nearest(x, (5, 4)), dmlops.roll(x, 2), dmlops.sliding_windows(x, 2, 1)])
    x = photos(3, 4)
    result = function(x, device="host")
    monkeypatch.setattr("dmlops.fusion.fused._compile", None)  # NumPy compiles nothing
    assert same(result, [np.ascontiguousarray(one) for one in function.reference(x)])


def test_arguments():
    with pytest.raises(ValueError, match="called out"):
        dmlops.fuse(lambda x, out: x)
    with pytest.raises(TypeError, match="no array among its arguments"):
        dmlops.fuse(lambda x: x)(3)
    with pytest.raises(TypeError, match=r"NumPy fails for values that elements may have: .*test_fuse.py:"):
        dmlops.fuse(lambda x: x.astype("U1"))(np.array([b"a"]), device="host")
    with pytest.raises(ValueError, match="the result's dtype int64"):
        dmlops.fuse(lambda x: x)(np.arange(3, dtype=np.int64), out=np.zeros(3, np.int32), device="host")
    with pytest.raises(ValueError, match="the result's shape"):
        dmlops.fuse(lambda x: x)(np.arange(3), out=np.zeros(4, int), device="host")
    for wrong in ({"a": np.zeros(3, int)}, [np.zeros(3, int)] * 2):
        with pytest.raises(TypeError, match="a dict with the results' keys 'a', 'b'"):
            dmlops.fuse(lambda x: {"a": x, "b": x})(np.arange(3), out=wrong, device="host")
    with pytest.raises(TypeError, match="DeviceArray"):
        dmlops.fuse(lambda x, y: x)(np.arange(3), dmlops.asarray(np.arange(3), device="host"))


def test_einops():
    einops = pytest.importorskip("einops", reason="einops is not installed")
    function = dmlops.fuse(lambda x: einops.rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=4, q=2))
    x = photos(2, 8, 6, 3)
    assert same(function(x, device="host"), np.ascontiguousarray(function.reference(x)))
