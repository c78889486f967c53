"""Plans with sums: what the host makes of them, whole, simplified, cut, and in pieces, and what they mean in NumPy."""

import ctypes
import itertools
import subprocess
from ctypes import byref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core as mirror
import support
from core import CONSTANTS, STRUCTURES
from strategies import FEWER

pytestmark = [pytest.mark.driverless, pytest.mark.posix]

NUMBERS = [np.uint8, np.uint16, np.int32, np.float32]
KINDS = ["CLIP", "SHIFT", "FLOORS", "FLOAT", "ROUND", "CUBIC", "TIMES", "OVER", "REDUCE"]
FLOATS = ("FLOAT", "ROUND")


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    return mirror.Core(support.built_once(tmp_path_factory, mirror.LIBRARY, mirror.build))


def to_byte(value):
    return np.clip(np.rint(value), 0, 255).astype(np.uint8)


def element(kind, sum_, inputs, weights, dtype):
    """What a sum makes of the inputs of one element."""
    one = np.float32
    if kind in FLOATS or kind == "CUBIC":
        total = one(0)
        pairs = list(zip(inputs, weights, strict=True))
        for p, w in reversed(pairs) if kind == "CUBIC" else pairs:
            w = one(w) * one(2.0**-sum_.shift) if kind == "CUBIC" else w
            total = one(total + one(w * one(p)))
        return total if kind == "FLOAT" else to_byte(total)
    products = [int(p) * int(w) for p, w in zip(inputs, weights, strict=True)]
    total, shift = sum(products), sum_.shift
    return {
        "CLIP": lambda: np.clip((total + (1 << shift >> 1)) >> shift, 0, 255),
        "SHIFT": lambda: np.int64(total >> shift).astype(dtype),
        "FLOORS": lambda: np.int64(sum(product >> shift for product in products) + 2 >> 2).astype(np.uint8),
        "TIMES": lambda: to_byte(one(total) * one(sum_.factor)),
        "OVER": lambda: to_byte(one(total) / one(sum_.factor)),
        "REDUCE": lambda: ((total + sum_.half) * sum_.multiplier % 2**32) >> 24,
    }[kind]()


class Case:
    """A plan with a sum, its source and its weights, along some axes of the result."""

    def __init__(self, draw, kind):
        self.kind, self.draw = kind, draw
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        number = NUMBERS[draw(st.integers(0, 2))] if kind != "FLOAT" or draw(st.booleans()) else np.float32
        if kind == "ROUND" and draw(st.booleans()):
            number = np.float32
        self.number = np.dtype(number)
        self.dtype = np.dtype({"FLOAT": "f4", "SHIFT": draw(st.sampled_from(["u2", "i4"]))}.get(kind, "u1"))
        self.extents = draw(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=3))
        if draw(st.integers(0, 9)) == 0:
            self.extents = [2, 300]
        self.axis = draw(st.integers(0, len(self.extents) - 1))
        self.inputs = draw(st.integers(1, 9))
        self.taps = draw(st.sampled_from([1, 2, 3, 7, 130] if len(self.extents) < 3 else [1, 2, 3]))
        self.make_memory()
        self.make_plan()

    def make_memory(self):
        shape = list(self.extents)
        shape[self.axis] = self.inputs
        order = self.draw(st.permutations(range(len(shape))))
        signs = tuple(slice(None, None, self.draw(st.sampled_from([1, -1]))) for _ in shape)
        padded = [size + self.draw(st.integers(0, 2)) for size in shape]
        memory = self.random(np.prod(padded)).reshape([padded[k] for k in order])
        view = memory.transpose(np.argsort(order))[signs]
        self.source = view[tuple(slice(0, size) for size in shape)]
        order = self.draw(st.permutations(range(len(shape))))
        self.result = np.zeros([self.extents[k] for k in order], self.dtype).transpose(np.argsort(order))[signs]
        outputs = self.extents[self.axis]
        self.rows = np.zeros((outputs, 1 + self.taps), np.int32)
        self.rows[:, 0] = self.rng.integers(-self.taps, self.inputs + 2, outputs)
        self.weights = self.rows[:, 1:]
        if self.kind in FLOATS:
            self.weights = self.weights.view(np.float32)
            self.weights[:] = self.rng.normal(0, 0.5, self.weights.shape)
        else:
            most = {1: 4096, 2: 64, 4: 64}[self.number.itemsize]
            self.weights[:] = self.rng.integers(0 if self.kind == "REDUCE" else -most, most, self.weights.shape)

    def random(self, count):
        if self.number.kind == "f":
            return self.rng.normal(0, 100, count).astype(np.float32)
        most = {1: 256, 2: 1 << 16, 4: 1 << 15}[self.number.itemsize]
        return self.rng.integers(self.least(most), most, count).astype(self.number)

    def least(self, most):
        return -most if self.number.itemsize == 4 and self.kind != "REDUCE" else 0

    def make_plan(self):
        self.plan = plan = mirror.Plan(item=self.dtype.itemsize, reversed=-1, rank=len(self.extents))
        plan.src_item = self.number.itemsize
        stride, number = self.source.strides[self.axis], NUMBERS.index(self.number)
        plan.taps = STRUCTURES["dml_taps"](self.taps, stride, 0, self.inputs, number)
        shift = self.rng.integers(0, 12)
        factor = self.rng.uniform(0.001, 2)
        half, multiplier = (int(n) for n in self.rng.integers(0, 2**20, 2))
        plan.sum = STRUCTURES["dml_sum"](CONSTANTS[f"DML_SUM_{self.kind}"], shift, half, multiplier, factor)
        plan.entries = mirror.Entries(item=4 * (1 + self.taps))
        plan.entries.data = self.rows.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
        for k, extent in enumerate(self.extents):
            summed = k == self.axis
            source = 0 if summed else self.source.strides[k]
            plan.axes[k] = mirror.Axis(extent, source, self.result.strides[k], plan.entries.item if summed else 0)

    def expected(self):
        result = np.zeros(self.extents, self.dtype)
        with np.errstate(over="ignore"):
            for at in itertools.product(*map(range, self.extents)):
                row = at[self.axis]
                index = np.clip(self.rows[row, 0] + np.arange(self.taps), 0, self.inputs - 1)
                place = tuple(index if k == self.axis else i for k, i in enumerate(at))
                inputs, weights = self.source[place], self.weights[row]
                result[at] = element(self.kind, self.plan.sum, inputs, weights, self.dtype)
        return result

    def run(self, core, plan):
        core.library.dml_host_run(byref(plan), self.source.ctypes.data, self.result.ctypes.data, None)


@FEWER
@given(data=st.data(), kind=st.sampled_from(KINDS))
def test_a_plan_with_a_sum_means_what_numpy_says(core, data, kind):
    case = Case(data.draw, kind)
    case.run(core, case.plan)
    expected = case.expected()
    assert np.array_equal(case.result, expected, equal_nan=kind == "FLOAT")


@FEWER
@given(data=st.data(), kind=st.sampled_from(KINDS), limit=st.sampled_from([64, 256, 1024]))
def test_pieces_have_what_the_whole_has_and_read_their_inputs(core, data, kind, limit):
    """Each piece spans no more than the limit, but for the taps of a single element."""
    case = Case(data.draw, kind)
    expected = case.expected()
    most = case.taps * abs(case.plan.taps.stride) + limit
    for piece in core.pieces(core.simplified(case.plan), limit):
        begin, end = core.span("src", piece)
        assert end - begin <= most
        inputs = piece.plan.taps
        assert 0 <= inputs.begin and inputs.begin + inputs.inputs <= case.inputs and inputs.inputs > 0
        case.run(core, piece.plan)
    assert np.array_equal(case.result, expected, equal_nan=kind == "FLOAT")


@pytest.fixture
def run_under_sanitizers(tmp_path, tmp_path_factory):
    """A function that gives what a program of tests/core prints."""
    library = support.built_once(tmp_path_factory, mirror.SANITIZED_LIBRARY, mirror.build_sanitized)

    def run(name, *arguments):
        mirror.compile_program(tmp_path / name, library, *mirror.SANITIZED)
        done = subprocess.run([tmp_path / name, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.slow
def test_kernels_for_resizing_under_sanitizers(run_under_sanitizers):
    """A program, which `make soak` runs on an emulated processor as well."""
    assert run_under_sanitizers("resize_kernels", "500").endswith("plain : 500 images, 0 wrong\n")


@pytest.mark.slow
def test_loops_of_formulas_under_sanitizers(run_under_sanitizers):
    """Those of vectors beside plain ones."""
    assert run_under_sanitizers("formula_loops").endswith(" 0 wrong\n")


@pytest.mark.slow
def test_computed_entries_under_sanitizers(run_under_sanitizers):
    """Each kernel beside the table; the source has no byte more than the plan reads."""
    assert run_under_sanitizers("computed_rows").endswith(" 0 wrong\n")
