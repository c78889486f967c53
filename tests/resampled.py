"""What a resampling of the extension means, in NumPy: its passes and parts, written anew from the words of ``plan/plan.h``."""

import numpy as np

from core.headers import CONSTANTS
from dmlops import _core

KINDS = {CONSTANTS[f"DML_SUM_{name}"]: name for name in "CLIP SHIFT FLOORS FLOAT ROUND CUBIC TIMES OVER REDUCE".split()}
NUMBERS = {
    CONSTANTS["DML_UINT8"]: np.uint8,
    CONSTANTS["DML_UINT16"]: np.uint16,
    CONSTANTS["DML_INT32"]: np.int32,
    CONSTANTS["DML_FLOAT32"]: np.float32,
}


def byte(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def made(kind, shift, half, multiplier, factor, inputs, weights, number):
    """Outputs from the inputs of each tap, and its weights, which are broadcast to them."""
    float32 = kind in ("FLOAT", "ROUND", "CUBIC")
    dtype = np.float32 if float32 else np.int64
    total = np.zeros(inputs[0].shape, dtype)
    taps = list(zip(inputs, weights, strict=True))
    for given, weight in reversed(taps) if kind == "CUBIC" else taps:
        product = given.astype(dtype) * weight.astype(dtype)
        total = total + (product >> shift if kind == "FLOORS" else product)
    if not float32 and kind != "REDUCE":
        assert np.abs(total).max(initial=0) < 2**31
    if kind == "CLIP":
        return byte((total + (1 << shift >> 1)) >> shift)
    if kind == "FLOORS":
        return byte((total + 2) >> 2)
    if kind in ("SHIFT", "FLOAT"):
        between = total >> shift if kind == "SHIFT" else total
        assert (between.astype(number) == between).all()
        return between.astype(number)
    if kind == "REDUCE":
        return ((total + half) % 2**32 * multiplier % 2**32 >> 24).astype(np.uint8)
    factors = {"ROUND": 1, "CUBIC": 2.0**-shift, "TIMES": factor, "OVER": 1}
    scaled = total.astype(np.float32) * np.float32(factors[kind])
    return byte(scaled / np.float32(factor) if kind == "OVER" else scaled)


def summed(x, described, sum_):
    """One pass along an axis of (..., rows, columns, items)."""
    axis, size, taps, _, is_float, inside, _, _, number, rows = described
    rows = np.frombuffer(rows, np.int32).reshape(-1, 1 + taps)
    index = rows[:, :1] + np.arange(taps)
    assert (np.diff(rows[:, 0]) >= 0).all()
    assert not inside or (index.min() >= 0 and index.max() < size)
    assert x.shape[axis - 3] == size
    weights = rows[:, 1:].view(np.float32) if is_float else rows[:, 1:]
    inputs = [x.take(np.clip(index[:, tap], 0, size - 1), axis - 3) for tap in range(taps)]
    shape = (-1, 1, 1) if axis == 0 else (-1, 1)
    each = [weights[:, tap].reshape(shape) for tap in range(taps)]
    kind, shift, half, multiplier, factor = sum_
    return made(KINDS[kind], shift, half, multiplier, factor, inputs, each, NUMBERS[number])


def resampled(x, resampling):
    """Images of (..., height, width, items), resized."""
    if resampling is None:
        return x
    passes, parts = _core._resampling_described(resampling)
    if len(passes) == 2:
        x = summed(x, passes[0], (passes[0][6], passes[0][7], 0, 0, 0.0))
    result, times = None, None
    for begin, end, *sum_ in parts:
        whole = summed(x, passes[-1], sum_)
        if result is None:
            result, times = np.empty_like(whole), np.zeros(whole.shape, int)
        key = (..., *(slice(*pair) for pair in zip(begin, end, strict=True)))
        result[key] = whole[key]
        times[key] += 1
    assert (times == 1).all(), "the parts have each byte once"
    return result
