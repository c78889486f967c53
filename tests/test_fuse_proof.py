"""Proofs of fused functions are proofs: what a trace cannot see is refused, or `prove` finds it."""

import itertools
import random
import re
import threading
import time

import dmlops
import numpy as np
import pytest
from dmlops.fusion.proof import ProofError

from support import run_python

pytestmark = pytest.mark.driverless

BYTES = np.random.default_rng(0).integers(0, 256, (16, 16), np.uint8)
RNG = np.random.default_rng(0)
SYSTEM = random.SystemRandom()
OLD = random.Random(0)
SCALE = 3
MEAN = np.array([1.0, 2.0], np.float32)


def proved(function, *args, **kwargs):
    fused = dmlops.fuse(function)
    fused(*args, device="host", **kwargs)
    return fused.prove(*args, **kwargs)


def other_way(x, numpys):
    return x[::-1] if numpys else x


def swallowed(x):
    try:
        x = np.sort(x)
    except TypeError:
        pass
    return x


def swallowed_and_raised(x):
    try:
        x = np.sort(x)
    except TypeError:
        raise KeyError("x") from None
    return x


# --- what a trace does not see --------------------------------------------------------------------------------------

inner = dmlops.fuse(lambda x: other_way(x, isinstance(x, np.ndarray)))

UNSEEN = {
    "isinstance": lambda x: other_way(x, isinstance(x, np.ndarray)),
    "type": lambda x: other_way(x, type(x) is np.ndarray),
    "type, beside an operator": lambda x: dmlops.tile(other_way(x, type(x) is np.ndarray), [1, 1]),
    "hasattr": lambda x: other_way(x, hasattr(x, "__array_interface__")),
    "a scalar": lambda x: x + np.uint8(1) if np.isscalar(x[0, 0]) else x,
    "in a fused function": lambda x: inner(x),
    "another dtype": lambda x: x.astype(np.int32) if isinstance(x, np.ndarray) else x.astype(np.float32),
    "another shape": lambda x: x[:3] if isinstance(x, np.ndarray) else x,
    "another number of results": lambda x: [x, x] if isinstance(x, np.ndarray) else [x],
    "an error": lambda x: x[99] if isinstance(x, np.ndarray) else x,
    "some values": lambda x: np.where(x == 77, 78, x) if isinstance(x, np.ndarray) else x,
}


@pytest.mark.parametrize("name", UNSEEN)
def test_another_way_for_numpys_arrays_is_found(name):
    with pytest.raises(ProofError, match="the function itself"):
        proved(UNSEEN[name], BYTES)


def flattened_in_place(x):
    y = x.T
    try:
        y.shape = (y.size,)
    except Exception:
        return x + np.uint8(1)
    return y


STRIDED = {
    "flags": lambda x: other_way(x, isinstance(x, np.ndarray) and not x.flags.c_contiguous),
    "strides": lambda x: other_way(x, isinstance(x, np.ndarray) and x.strides[0] < x.strides[-1]),
    "a shape that is set": flattened_in_place,
}


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_another_way_for_other_strides_is_found(name):
    with pytest.raises(ProofError, match="the function itself"):
        proved(STRIDED[name], np.asfortranarray(BYTES[:, :9]))
    small = np.ones(16, np.float32)  # which a trace has as a copy that cannot be changed
    with pytest.raises(ProofError, match="the function itself"):
        proved(lambda x, m: x * np.float32(m.flags.writeable + bool(m[0])), BYTES, small)


def test_each_element_has_every_value():
    """A difference at one element and one value of a small array."""

    def function(x):
        return np.array([3 if x[0] == 201 else x[0]]) if isinstance(x, np.ndarray) else x.astype(np.int64)

    with pytest.raises(ProofError, match="result 0 of the function itself is"):
        proved(lambda x: function(x).astype(np.int64), BYTES[0, :1])


def test_negative_zeros_and_payloads_are_found():
    def function(x):
        return x + np.float32(0) if isinstance(x, np.ndarray) else x

    zero, negative = (re.escape(repr(np.float32(text))) for text in ("0.0", "-0.0"))  # the type is a part since NumPy 2
    with pytest.raises(ProofError, match=f"is {zero} at .*, the program gives {negative};"):
        proved(function, np.zeros(64, np.float32))
    with pytest.raises(ProofError, match="nan"):
        proved(lambda x: np.where(np.isnan(x), np.float64("nan"), x) if isinstance(x, np.ndarray) else x, np.zeros(64))


def test_arrays_of_any_strides_and_kind_run():
    whole = np.zeros((6, 8), [("a", "?"), ("b", "U3"), ("c", "g"), ("d", "f2", 2)])
    repeated = np.broadcast_to(whole["d"][0, 0], (4, 2))
    for x in (whole, whole["a"][::-2, ::3].T, whole["b"], repeated, whole[:0], np.zeros((2, 3), "V0")):
        assert proved(lambda x: x[..., ::-1], x).runs == 2


def test_functions_of_keywords_and_operators_run_without_a_device():
    run_python(
        """
import dmlops, numpy as np
f = dmlops.fuse(lambda a, b, *, n=1: dmlops.tile(np.concatenate([a, b]), [n]))
x = np.arange(3, dtype=np.uint8)
f.prove(b=x[:1], a=x, n=2)
try:
    dmlops.tile(x, [2])
except dmlops.NoDeviceError:
    pass
else:
    raise AssertionError("the host is the default still")
""",
        env={"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent", "DMLOPS_DEVICE": None},
    )


def test_the_host_is_the_default_of_one_thread_only():
    from dmlops import _core
    from dmlops.fusion import tracing

    seen, before = [], _core._may_be_host(None)
    with tracing.untraced():
        assert _core._may_be_host(None) and dmlops.default_device().name == "host"
        thread = threading.Thread(target=lambda: seen.append(_core._may_be_host(None)))
        thread.start()
        thread.join()
        with pytest.raises(KeyError), tracing.untraced():
            raise KeyError
        assert tracing.is_untraced()
    assert seen == [before] and _core._may_be_host(None) == before and not tracing.is_untraced()


# --- refusals that are caught, and random numbers -------------------------------------------------------------------


@pytest.mark.parametrize("function", [swallowed, swallowed_and_raised])
def test_a_refusal_that_is_caught_is_raised_again(function):
    with pytest.raises(TypeError, match=r"numpy.sort cannot be fused.*test_fuse_proof.py:\d+: x = np.sort\(x\)"):
        dmlops.fuse(function)(BYTES, device="host")


DRAWN = {
    "a global generator": (lambda x: other_way(x, RNG.random() < 0.5), "RNG"),
    "NumPy's": (lambda x: other_way(x, np.random.random() < 0.5), "numpy.random"),
    "Python's": (lambda x: other_way(x, random.random() < 0.5), "random"),
    "an object of Python's": (lambda x: np.roll(x, OLD.randrange(9)), "OLD"),
    "the system's": (lambda x: np.roll(x, SYSTEM.randrange(9)), "SYSTEM"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_numbers_that_are_drawn_while_tracing_are_refused(name):
    function, source = DRAWN[name]
    with pytest.raises(TypeError, match=rf"draws random numbers \({source}\).*draw them outside and pass them in"):
        dmlops.fuse(function)(BYTES, device="host")


def test_generators_of_closures_arguments_and_instances_are_seen():
    local = np.random.default_rng(0)

    class Model:
        rng = None

        def __init__(self):
            self.rng = np.random.default_rng(0)

        @dmlops.fuse
        def prepare(self, x):
            return np.roll(x, int(self.rng.integers(100)))

    class Called:
        rng = None

        def __init__(self):
            self.rng, self.scale = np.random.default_rng(0), np.uint8(2)

        def __call__(self, x):
            return np.roll(x, int(self.rng.integers(100)))

        def scaled(self, x):
            return x * self.scale

    called = Called()
    scaled = dmlops.fuse(called.scaled)
    assert scaled.prove(BYTES)
    called.scale = np.uint8(3)
    with pytest.raises(ProofError, match="when it was traced: scale"):
        scaled.prove(BYTES)
    for function, args in (
        (dmlops.fuse(called), ()),
        (dmlops.fuse(called.__call__), ()),
        (dmlops.fuse(lambda x: np.roll(x, int(local.integers(100)))), ()),
        (dmlops.fuse(lambda x, rng: np.roll(x, int(rng.integers(100)))), (np.random.default_rng(0),)),
        (dmlops.fuse(lambda x, rng=np.random.RandomState(0): np.roll(x, rng.randint(100))), ()),
        (Model().prepare, ()),
    ):
        with pytest.raises(TypeError, match="draws random numbers"):
            function(BYTES, *args, device="host")


def test_random_numbers_of_other_threads_are_no_reason_to_refuse():
    stop, drawn = threading.Event(), threading.Event()

    def draw_once(x):
        """While the function is traced the first time, another thread draws."""
        if not drawn.is_set():
            thread = threading.Thread(target=np.random.random)
            thread.start()
            thread.join()
            drawn.set()
        return x[::-1]

    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert (dmlops.fuse(draw_once)(BYTES, device="host") == BYTES[::-1]).all()
    finally:
        stop.set()
        thread.join()


def test_what_changes_from_call_to_call_is_found(monkeypatch):
    monkeypatch.setattr(time, "perf_counter_ns", itertools.count(0, 64).__next__)
    with pytest.raises(ProofError, match="another run of it gives"):
        proved(lambda x: x + np.uint8(time.perf_counter_ns() // 64 % 251), BYTES)


# --- what the function brings along ---------------------------------------------------------------------------------


def test_a_global_that_is_bound_anew_is_named(monkeypatch):
    function = dmlops.fuse(lambda x: x * np.uint8(SCALE))
    assert (function(BYTES, device="host") == BYTES * np.uint8(3)).all() and function.prove(BYTES)
    monkeypatch.setitem(globals(), "SCALE", 4)
    with pytest.raises(ProofError, match="it brings along what was something else when it was traced: SCALE"):
        function.prove(BYTES)


def test_what_changes_in_place_is_named():
    mean, scales, box, limit = np.float32([1, 2]), [2.0], {"scale": np.float32(2)}, 7

    def helper(x):
        return x - mean

    def change(what):
        nonlocal limit
        if what == "mean":
            mean[0] = 9
        elif what == "scales":
            scales[0] = 3.0
        elif what == "box":
            box["scale"] = np.float32(5)
        else:
            limit = 8

    for what, function in {
        "mean": lambda x: helper(x),
        "scales": lambda x: x * scales[0],
        "box": lambda x: x / box["scale"],
        "limit": lambda x: np.minimum(x, limit),
    }.items():
        fused, x = dmlops.fuse(function), BYTES[:, :2]
        fused.prove(x)
        change(what)
        with pytest.raises(ProofError, match=f"when it was traced: .*{what}"):
            fused.prove(x)


def test_what_makes_no_difference_for_the_values_that_were_tried_is_found_too():
    limit = np.uint16([60000])
    function = dmlops.fuse(lambda x: np.minimum(x, limit))
    x = np.zeros(1, np.uint16)
    assert function.prove(x)
    limit[0] += 1
    with pytest.raises(ProofError, match="limit"):
        function.prove(x)


def test_a_list_that_is_recorded_and_changed_later_is_another_list():
    def function(x):
        axes, shifts, widths = [1, 0], [1, 2], np.array([[1, 0], [0, 2]])
        y = np.pad(np.roll(np.transpose(x, axes), shifts, [0, 1]), widths, "edge")
        axes.reverse(), shifts.clear(), widths.fill(0)
        return dmlops.tile(y, axes_of_tile) if axes_of_tile else y

    axes_of_tile = [1, 2]
    assert proved(function, BYTES).steps == 4


def test_a_counter_is_no_difference():
    calls, count = [], 0

    def function(x):
        nonlocal count
        calls.append(len(calls))
        count += 1
        return x.T

    assert proved(function, BYTES) and calls


# --- proofs that failed falsely -------------------------------------------------------------------------------------


def test_maps_that_add_axes_in_turn_are_proved():
    first, second = np.array([[1], [2]], np.uint8), np.array([[[3]], [[4]], [[5]]], np.uint8)
    x = BYTES[0]
    assert (dmlops.fuse(lambda v: (v + first) * second)(x, device="host") == (x + first) * second).all()
    assert proved(lambda v: (v + first) * second, x).elements == 3 * 2 * 16
    assert proved(lambda v: ((v + first) * second + np.ones((2, 1, 1, 1), np.uint8))[..., ::-1], x)


@pytest.mark.parametrize("code", ["g", "G", ">g"])
def test_the_bytes_of_long_doubles_that_mean_nothing_are_not_compared(code):
    def function(x):
        np.sqrt(np.arange(1000.0).astype("g")).astype(code)  # leaves something in registers
        return x.astype(code) / np.array(3, code)

    fused, x = dmlops.fuse(function), BYTES
    for _ in range(20):
        assert fused.prove(x) and dmlops.compare(fused, x, devices="host", repeat=1)
    moved = (x.astype(code) / 3).astype(code)
    assert proved(lambda x: x.T, moved) and dmlops.compare(dmlops.fuse(lambda x: x.T), moved, devices="host", repeat=1)


def test_a_difference_of_long_doubles_is_found():
    from dmlops import bits

    one = np.array([1, 2, 3], "g")
    assert not bits.differ(one, one.copy()).any() and bits.differ(one, one + 1).all()
    assert bits.differ(np.array([0.0], "g"), np.array([-0.0], "g")).all()
    holed = np.zeros(3, np.dtype([("a", "u1"), ("b", "g"), ("c", "f4", 2)], align=True))
    other = holed.copy()
    other.view(np.uint8)[1] = 7  # between fields
    assert not bits.differ(holed, other).any() and bits.differ(holed, other, whole=True)[0]
    other["c"][2, 1] = 1
    assert bits.differ(holed, other).tolist() == [False, False, True]


OPEN = {"exp": np.exp, "cbrt": np.cbrt, "sin": np.sin, "cast": lambda x: x.astype(np.uint8)}


@pytest.mark.parametrize("function", OPEN.values(), ids=OPEN)
def test_bits_that_numpy_itself_leaves_open_are_no_difference(function):
    """They depend on strides and on the place in memory."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = np.concatenate([x, x[:257]])[: 251 * 261].reshape(251, 261)
    assert proved(lambda x: function(x.T), x) and proved(lambda x: function(x[:, ::2])[::-1], x)


def test_what_a_proof_says():
    proof = proved(lambda x: x[::-1] + np.uint8(1), BYTES)
    assert proof.runs == 256 and "and 256 runs of the function itself" in str(proof)
    few = proved(lambda x: x[::-1] + np.uint8(1), np.zeros((2000, 3000), np.uint8))
    assert few.runs == 3


def test_a_data_set_in_a_global_is_not_read_at_each_trace():
    """Looking into all of it would take minutes, and its bytes more memory than there is."""
    nested = [[[[0] * 999] * 999] * 999] * 999
    large = [np.broadcast_to(np.uint8(1), (1 << 20,))] * 900 + [np.broadcast_to(np.uint8(1), (1 << 40,))]
    assert proved(lambda x: x + np.uint8(len(nested) - len(large)), BYTES)
    calls, data = [], np.zeros(1 << 16)

    def function(x):
        calls.append(np.zeros(1 << 17))  # now it takes what was left for the data
        return x + np.uint8(data.ndim)

    assert proved(function, BYTES)
