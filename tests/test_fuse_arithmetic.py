"""Arithmetic in place of tables: a device computes the bits that NumPy has, or looks them up."""

import pathlib
import re

import dmlops
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmlops.fusion import arithmetic, maps
from dmlops.fusion.programs import Programs
from strategies import content
from test_kernels import FEWEST, overridden


def cut(x, side):
    """Patches, channels last; of pixels where there are too few for one."""
    n, height, width, channels = x.shape
    side = side if min(height, width) >= side else 1
    x = x[:, : height // side * side, : width // side * side]
    x = x.reshape(n, height // side, side, width // side, side, channels)
    return np.swapaxes(x, 2, 3).reshape(n, -1, side, side, channels)


LAYOUTS = {
    "channels first": lambda x: np.moveaxis(x, -1, 1),
    "channels last": lambda x: x,
    "mirrored, swapped": lambda x: np.moveaxis(x[:, :, ::-1, ::-1], -1, 1),
    "cropped": lambda x: np.moveaxis(x[:, 1:-1, 2:-1], -1, 1),
    "channels last, cropped": lambda x: x[:, :, 1:-2],
    "every other": lambda x: x[:, ::2, ::-2],
    "gray": lambda x: x[..., :1],
    "patches": lambda x: dmlops.space_to_depth(x, 2, layout="NHWC"),
    "Focus": lambda x: dmlops.space_to_depth(np.moveaxis(x, -1, 1), 2),
    "rows of constants": lambda x: np.swapaxes(x, 1, 3),
    "patches of 8, channels first": lambda x: np.moveaxis(cut(x, 8), -1, 3),
    "patches of 16, channels first": lambda x: np.moveaxis(cut(x, 16), -1, 3),
    "patches of 16": lambda x: cut(x, 16),
}
FUNCTIONS = (np.add, np.subtract, np.multiply, np.divide)
NUMBERS = st.sampled_from([0.0, -0.0, 1e-45, 1e-39, 3e38, np.inf, np.nan, 0.1, -3.0, 255.0, 1 / 3, 58.395, 65504.0])


@st.composite
def functions(draw):
    """Up to five operations, casts between them, in any layout; before or after that."""
    layout = draw(st.sampled_from(list(LAYOUTS.values())))
    before, by_row = draw(st.booleans()), draw(st.booleans())
    result = draw(st.sampled_from([np.float32, np.float16]))
    steps = draw(
        st.lists(st.tuples(st.sampled_from(FUNCTIONS), st.booleans(), st.lists(NUMBERS, min_size=6, max_size=6)), max_size=5)
    )

    def operate(x):
        x = x.astype(np.float32)
        for function, first, numbers in steps:
            constant = np.float32(numbers[0])
            if by_row and x.shape[-1] <= 6:
                constant = np.array(numbers[: x.shape[-1]], np.float32)
            x = function(constant, x) if first else function(x, constant)
        return x.astype(result)

    return lambda x: layout(operate(x)) if before else operate(layout(x))


@FEWEST
@given(
    function=functions(),
    shape=st.tuples(*map(st.integers, (1, 2, 4, 1), (2, 6, 40, 4)))
    | st.tuples(*map(st.integers, (1, 32, 48, 1), (2, 50, 90, 6))),
    signed=st.booleans(),
    start=st.integers(0, 3),
)
def test_random_functions(device, function, shape, signed, start):
    n, height, width, channels = shape
    shape = (n, 2 * height, 2 * width, channels)
    values = np.random.default_rng(start).integers(0, 256, start + np.prod(shape), np.uint8)
    x = values[start:].reshape(shape).view(np.int8 if signed else np.uint8)
    fused = dmlops.fuse(function)
    with np.errstate(all="ignore"):
        expected = fused.reference(x)
    out = np.zeros(expected.size + 8, expected.dtype)[start : start + expected.size].reshape(expected.shape)
    assert content(fused(x, device=device)) == content(np.ascontiguousarray(expected))
    assert content(fused(x, out=out, device=device)) == content(np.ascontiguousarray(expected))


def scaled(x):
    return (np.moveaxis(x, -1, 0) / np.float32(255) - np.float32(0.485)) / np.float32(0.229)


def test_explain_names_it(vulkan):
    x = np.zeros((24, 48, 3), np.uint8)
    assert "arithmetic" not in repr(dmlops.fuse(scaled).explain(x[:8, :12], device=vulkan)), "little is looked up"
    assert "arithmetic" in repr(dmlops.fuse(scaled).explain(x, device=vulkan))
    for other in (lambda x: scaled(x) * 2 - 1, lambda x: scaled(x).astype(np.float64), lambda x: np.sqrt(x.astype("f4"))):
        assert "arithmetic" not in repr(dmlops.fuse(other).explain(x, device=vulkan))


def test_constants_that_are_no_numbers_have_the_bits_of_the_table():
    """Of many elements as of few, for which the host always looks up."""
    function = dmlops.fuse(lambda x: x * np.float32(np.inf) + np.float32([np.nan, 1, -np.nan]))
    x = np.random.default_rng(0).integers(0, 256, (64, 80, 3), np.uint8)
    rows = [function(row, device="host") for row in x]
    assert function(x, device="host").tobytes() == np.stack(rows).tobytes()


@pytest.mark.parametrize("wrong", [(2, 2), (1, 3)], ids=["another operation", "another constant"])
def test_a_device_keeps_to_the_table_where_arithmetic_differs(device, monkeypatch, wrong):
    x = np.random.default_rng(0).integers(0, 256, (64, 80, 3), np.uint8)
    if wrong == (2, 2):
        monkeypatch.setitem(arithmetic.OPERATIONS, np.divide, wrong)
    else:
        real = arithmetic.continued
        monkeypatch.setattr(
            arithmetic, "continued", lambda *args: (made := real(*args)) and made._replace(constants=made.constants + 1)
        )
    fused = dmlops.fuse(scaled)
    for _ in range(3):
        assert content(fused(x, device=device)) == content(fused.reference(x).copy())


@pytest.mark.driverless
def test_codes_are_those_of_the_kernel():
    """With others every table would be looked up, and no result be wrong."""
    root = pathlib.Path(__file__).parent.parent
    text = (root / "shaders/abi.h").read_text() + (root / "csrc/plan/plan.h").read_text()
    known = {name: int(value, 0) for name, value in re.findall(r"#define DML_(\w+) (0x\w+|\d+)", text)}
    names = {np.add: ("ADD", "ADD"), np.subtract: ("SUBTRACT", "SUBTRACT_FROM"), np.multiply: ("MULTIPLY", "MULTIPLY")}
    names[np.divide] = ("DIVIDE", "DIVIDE_INTO")
    expected = {function: tuple(known[f"OPERATION_{name}"] for name in each) for function, each in names.items()}
    assert expected == arithmetic.OPERATIONS
    assert (arithmetic._SIGNED, arithmetic._COMPUTED) == (known["OPERATION_SIGNED"], known["OPERATION_COMPUTED"])
    assert arithmetic._MOST == known["MOST_OPERATIONS"]


@pytest.mark.parametrize("first", [lambda x: x.astype(np.float32) * 2 - 1, lambda x: x.astype(np.float32)], ids=["two", "no"])
def test_a_device_computes_what_it_has_proved(vulkan, monkeypatch, first):
    """A wrong constant shows where its key is that of arithmetic that was right, of two operations or a cast. No operation here
    is rounded."""
    x = np.random.default_rng(0).integers(0, 256, (24, 48, 3), np.uint8)
    monkeypatch.setattr(maps.Table, "arithmetic", lambda self, first: self.computed.to_bytes(0xA5A5, first))
    fused, again = dmlops.fuse(first), dmlops.fuse(lambda x: x.astype(np.float32) * 2 - 1)
    assert content(fused(x, device=vulkan)) == content(fused.reference(x))
    monkeypatch.setattr(maps, "_tables", Programs())
    real = arithmetic.continued
    monkeypatch.setattr(
        arithmetic, "continued", lambda *args: (made := real(*args)) and made._replace(constants=made.constants + 1)
    )
    assert content(again(x, device=vulkan)) == content(x.astype(np.float32) * 3 - 2)


def test_a_table_is_tried_once_whatever_the_shape():
    """Its key says what it has: entries, operations and constants."""

    def bytes_of(shape, add, dtype=np.uint8):
        fused = dmlops.fuse(lambda x: x.astype(np.float32) * np.float32([1, 2, 3]) + np.float32(add))
        (one,) = fused._compiled((np.zeros(shape, dtype),), {}).program.passes
        return one.constants_bytes

    assert bytes_of((4, 5, 3), 1) == bytes_of((7, 2, 3), 1)
    keys = {bytes_of((4, 5, 3), add, dtype)[-72:-64] for add in (1, 2) for dtype in (np.uint8, np.int8)}
    assert len(keys) == 4


def test_more_tables_than_verdicts_are_remembered(device):
    """Those of one set are tried again once it has had eight others."""
    x = np.random.default_rng(0).integers(0, 256, (24, 48), np.uint8)
    fused = dmlops.fuse(lambda x, by: x.astype(np.float32) * np.float32(by))
    for by in [*range(300), 0, 1]:
        assert content(fused(x, by, device=device)) == content(x.astype(np.float32) * np.float32(by))


# --- numbers that lie apart ------------------------------------------------------------------------------------------

APART = {
    "transposed": lambda x: x.transpose(1, 0, 2)[..., 0],
    "channels first": lambda x: np.moveaxis(x, -1, 0),
    "channels last": lambda x: x.transpose(1, 2, 0),
    "pixels, columns first": lambda x: x.transpose(1, 0, 2),
    "a part of each row": lambda x: x[:, 5:205],
    "a part, upside down": lambda x: x[::-1, 5:205].transpose(1, 2, 0),
    "with a border": lambda x: np.pad(x.transpose(1, 0, 2), ((1, 2), (0, 3), (0, 1)), constant_values=3),
    "twice": lambda x: (x.transpose(1, 0, 2), x.transpose(2, 1, 0)),
}
TO = {
    "bytes": lambda x: 255 - x,
    "floats": lambda x: x / np.float32(255),
    "halves, by channel": lambda x: (x % 97 * np.arange(1, 5, dtype=np.float16)).astype(np.float16),
    "doubles": lambda x: x / 7,
}


@pytest.mark.parametrize("to", TO.values(), ids=TO)
@pytest.mark.parametrize("layout", APART.values(), ids=APART)
def test_numbers_that_lie_apart_are_gathered_first(device, layout, to):
    rng = np.random.default_rng(0)
    bits = (8, 16) if to is TO["floats"] else (8,)
    for x in (rng.integers(0, 2**each, (230, 210, 4), f"u{each // 8}") for each in bits):
        fused = dmlops.fuse(lambda x: layout(to(x)))
        expected = fused.reference(x)
        for got in (fused(x, device=device), fused(dmlops.asarray(x, device=device))):
            for one, other in zip(*([each] if type(each) is not tuple else each for each in (got, expected)), strict=True):
                assert content(np.asarray(one)) == content(np.ascontiguousarray(other))


def passes_within(fused, x, device):
    return repr(fused.explain(x, device=device)).count("to what lies between the passes")


def test_explain_says_where_numbers_are_gathered_first(vulkan):
    x = np.zeros((230, 210, 3), np.uint8)
    if dmlops.devices()[vulkan].type != "cpu":
        pytest.skip("only where kernels run on a CPU")
    assert passes_within(dmlops.fuse(lambda x: 255 - x.transpose(1, 0, 2)), x, vulkan) == 1
    assert passes_within(dmlops.fuse(lambda x: 255 - x.transpose(1, 0, 2)), x[:40, :40], vulkan) == 0, "little"
    assert passes_within(dmlops.fuse(lambda x: 255 - x[:, ::-1]), x[..., 0].copy(), vulkan) == 0
    assert passes_within(dmlops.fuse(scaled), x, vulkan) == 0, "near"
    assert passes_within(dmlops.fuse(lambda x: x[:, ::-1] * np.float32(9)), x, vulkan) == 1, "a mirror"
    assert passes_within(dmlops.fuse(lambda x: x / np.float32(9)), x, vulkan) == 0


@pytest.mark.needs_import
@pytest.mark.parametrize("traits", [{"host_import": 0}, {"cpu": 0}, {"range": 40000}, {"binding": 8192}], ids=str)
def test_numbers_are_gathered_on_devices_that_offer_less(vulkan, traits):
    x = np.random.default_rng(0).integers(0, 256, (230, 210, 3), np.uint8)
    fused = dmlops.fuse(lambda x: 255 - x.transpose(1, 0, 2))
    with overridden(**traits):
        assert content(fused(x, device=vulkan)) == content(np.ascontiguousarray(fused.reference(x)))
        assert content(fused(dmlops.asarray(x, device=vulkan)).numpy()) == content(np.ascontiguousarray(fused.reference(x)))
