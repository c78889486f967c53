"""Chains of movements and maps as people write them, drawn fast: uneven reshapes, wide paddings, arrays of 200,000 elements.

`python tests/random_chains.py COUNT [FIRST]` runs so many of them, each a number from FIRST on, and prints which differ.
`python tests/random_chains.py sizes COUNT [FIRST]` runs chains of arrays of any size, each at ten sizes in turn.
"""

import math
import random
import sys
import traceback
import warnings

import dmlops
import numpy as np
from dmlops.fusion.reference import run

MOST = 200_000  # elements of an array on the way
PRIMES = [2, 2, 2, 2, 3, 3, 5, 7, 11, 13, 17]
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]
# What may be refused, as docs/fuse.md says.
LIMITS = (
    "more than one pass is needed in front of a map",
    "the constants of this function vary along so many positions",
    "from float64 to float16 cannot be fused",
    "repeats no period, cannot be fused",  # with NumPy 1 only
)


def drawn_shape(draw, factors, most_axes=4):
    """The product of these factors, in any order, as the sizes of some axes."""
    sizes = [1] * draw.randrange(1, most_axes + 1)
    for factor in draw.sample(factors, len(factors)):
        sizes[draw.randrange(len(sizes))] *= factor
    return tuple(sizes)


def factored(number):
    found, prime = [], 2
    while prime * prime <= number:
        if number % prime:
            prime += 1
        else:
            number //= prime
            found.append(prime)
    return found + [number] * (number > 1)


# --- steps: each draws its arguments for an array, and has a function that takes them --------------------------------------


def reshape(draw, x):
    shape = drawn_shape(draw, factored(x.size)) if x.size else (0, 2)
    return shape, draw.choice("CCCF")


def reshaped(x, shape, order):
    return dmlops.array_api.reshape(x, shape) if isinstance(x, dmlops.DeviceArray) else np.reshape(x, shape, order=order)


def pad(draw, x):
    if draw.random() < 0.3:  # wider than the axis, and uneven
        axis = draw.randrange(x.ndim)
        widths = [(0, 0)] * x.ndim
        widths[axis] = tuple(draw.randrange(3 * x.shape[axis] + 2) for _ in range(2))
    else:
        widths = [(draw.randrange(4), draw.randrange(4)) for _ in x.shape]
    return tuple(widths), draw.choice(MODES)


def crop(draw, x):
    key = []
    for size in x.shape:
        kind = draw.randrange(5)
        if kind < 2:
            key.append(slice(None))
        elif kind == 2:
            key.append(slice(draw.randrange(size // 2 + 1), -draw.randrange(1, size // 2 + 2) or None))
        elif kind == 3:
            key.append(slice(draw.choice([None, 1, -2]), None, draw.choice([2, 3, 5, 7, size // 2 + 1])))
        else:
            key.append(slice(None, draw.choice([None, 0, 1]), draw.choice([-1, -1, -2, -3])))
    return (tuple(key),)


def an_axis(draw, x):
    return draw.randrange(-x.ndim, x.ndim)


def window(draw, x):
    axis = an_axis(draw, x)
    return axis, draw.randrange(1, min(x.shape[axis], MOST // x.size + 1) + 1), draw.randrange(1, 4)


def resized(x, axis, size):
    return dmlops.resize_nearest(x, (size,), axes=(axis % x.ndim,))


def slid(x, axis, size, stride):
    return dmlops.sliding_windows(x, (size,), strides=stride, axes=(axis % x.ndim,))


def scaled(x, axis, numbers):
    array = np.resize(np.array(numbers), x.shape[axis]).astype(x.dtype)
    return x * array.reshape(-1, *[1] * (-1 - axis))


STEPS = {
    "reshape": (reshaped, reshape),
    "T": (lambda x: x.T, lambda draw, x: ()),
    "transpose": (np.transpose, lambda draw, x: (tuple(draw.sample(range(x.ndim), x.ndim)),)),
    "ravel": (lambda x: reshaped(x, (-1,), "C"), lambda draw, x: ()),
    "swapaxes": (np.swapaxes, lambda draw, x: (an_axis(draw, x), an_axis(draw, x))),
    "flip": (np.flip, lambda draw, x: (draw.choice([None, an_axis(draw, x)]),)),
    "crop": (lambda x, key: x[key], crop),
    "pad": (np.pad, pad),
    "repeat": (np.repeat, lambda draw, x: (draw.randrange(1, 4), draw.choice([None, an_axis(draw, x), an_axis(draw, x)]))),
    "tile": (np.tile, lambda draw, x: (tuple(draw.choice([1, 1, 2, 3]) for _ in x.shape),)),
    "roll": (np.roll, lambda draw, x: (draw.randrange(-50, 50), draw.choice([None, None, an_axis(draw, x)]))),
    "join": (lambda x, axis: np.concatenate([x, np.flip(x), x], axis), lambda draw, x: (an_axis(draw, x),)),
    "stack": (lambda x, axis: np.stack([x, np.zeros_like(x)], axis), lambda draw, x: (an_axis(draw, x),)),
    "take": (np.take, lambda draw, x: ([draw.randrange(max(x.shape)) % x.shape[0] for _ in range(draw.randrange(1, 9))], 0)),
    "slide": (slid, window),
    "resize": (resized, lambda draw, x: (axis := an_axis(draw, x), draw.randrange(1, 2 * x.shape[axis] + 2))),
}
MAPS = {
    "cast": (lambda x, code: x.astype(code), lambda draw, x: (draw.choice(["f4", "f4", "f2", "f8"]),)),
    "scale": (scaled, lambda draw, x: (draw.randrange(-x.ndim, 0), [draw.randrange(6) for _ in range(3)])),
    "choose": (lambda x, limit: np.where(x > limit, x, 0), lambda draw, x: (draw.randrange(200),)),
    "square": (lambda x: x * x + x, lambda draw, x: ()),
}


class Chain:
    """The chain of a number: the same one each time."""

    def __init__(self, number):
        draw = random.Random(number)
        self.mapped = draw.random() < 0.4
        self.resident = not self.mapped and draw.random() < 0.3
        budget = draw.choice([60, 60, 600, 600, 3000, 3000, 20_000, MOST])
        factors = []
        while math.prod(factors) * max(PRIMES) <= budget and len(factors) < 12:
            factors.append(draw.choice(PRIMES))
        mapped = ["u1", "i1", "u1", "u2", "f4", "f4", "i4"]
        self.dtype = np.dtype(draw.choice(mapped if self.mapped else ["u1", "u2", "i4", "f8", "c16", "S3"]))
        most = min(MOST, 20 * budget)
        self.shape, self.reversed = drawn_shape(draw, factors), draw.random() < 0.2
        self.steps = []
        x = self.array()
        for _ in range(draw.randrange(1, 9)):
            steps = MAPS if self.mapped and draw.random() < 0.3 else STEPS
            name = draw.choice(sorted(steps))
            arguments = steps[name][1](draw, x)
            if self.resident and name == "reshape":
                arguments = (arguments[0], "C")
            after = run(steps[name][0], (x, *arguments), {})
            if 0 < after.size <= most and 0 < after.ndim < 8:
                self.steps.append((name, arguments))
                x = np.asarray(after)
        self.right = x

    def array(self):
        count = math.prod(self.shape)
        values = np.random.default_rng(count).integers(0, 256, count * self.dtype.itemsize, np.uint8)
        if self.dtype.kind in "fc":
            values &= 0x3F
        x = values.view(self.dtype).reshape(self.shape)
        return x[..., ::-1].T if self.reversed else x

    def __call__(self, x):
        for name, arguments in self.steps:
            x = (STEPS.get(name) or MAPS[name])[0](x, *arguments)
        return x


# --- chains of arrays of any size ----------------------------------------------------------------------------------------


def at(axis, entry):
    return (*(slice(None),) * axis, entry)


def halves(x, axis, count):
    size = x.shape[axis] // count * count
    return x[at(axis, slice(size))].reshape(*x.shape[:axis], size // count, count, *x.shape[axis + 1 :])


def padded_to_square(x, axis, count):
    most = max(x.shape)
    sides = [((most - size) // 2, most - size - (most - size) // 2) for size in x.shape]
    return np.pad(x, sides, constant_values=count) if most**x.ndim <= MOST else x


def pad_one(x, axis, count, **kwargs):
    widths = [(0, 0)] * x.ndim
    widths[axis] = count, x.shape[0] // 3
    return np.pad(x, widths, **kwargs)


# Of an array, an axis and a small number.
OF_ANY_SIZE = {
    "crop": lambda x, axis, count: x[at(axis, slice(count, -count or None))],
    "step": lambda x, axis, count: x[at(axis, slice(None, None, count + 1))],
    "backwards": lambda x, axis, count: x[at(axis, slice(None, count, -1 - count % 2))],
    "middle": lambda x, axis, count: x[at(axis, slice(x.shape[axis] // 4, x.shape[axis] // 4 + 5))],
    "one": lambda x, axis, count: x[at(axis, x.shape[axis] // 2)] if x.ndim > 1 else x,
    "mirror if wide": lambda x, axis, count: x[..., ::-1] if x.shape[0] < x.shape[-1] else x,
    "moveaxis": lambda x, axis, count: np.moveaxis(x, axis, -1),
    "T": lambda x, axis, count: x.T,
    "pad": lambda x, axis, count: pad_one(x, axis, count, constant_values=count),
    "edge": lambda x, axis, count: pad_one(x, axis, count, mode="edge"),
    "reflect": lambda x, axis, count: pad_one(x, axis, count, mode="reflect"),
    "square": padded_to_square,
    "join": lambda x, axis, count: np.concatenate([x, np.flip(x, axis), x[at(axis, slice(count))]], axis),
    "roll": lambda x, axis, count: np.roll(x, count * x.shape[axis] // 5 - 2, axis),
    "flat": lambda x, axis, count: x.reshape(-1, x.shape[-1]),
    "rows": lambda x, axis, count: x.reshape(x.shape[0], -1),
    "blocks": lambda x, axis, count: halves(x, axis, count + 1),
    "repeat": lambda x, axis, count: np.repeat(x, count + 1, axis),
    "tile": lambda x, axis, count: np.tile(x, [1 + (k == axis) * count for k in range(x.ndim)]),
    "stack": lambda x, axis, count: np.stack([x, np.full_like(x, count)], axis),
    "new": lambda x, axis, count: x[None],
    "take": lambda x, axis, count: np.take(x, [0, x.shape[axis] // 2, x.shape[axis] - 1], axis),
    "thirds": lambda x, axis, count: np.take(x, range(x.shape[axis])[count % 2 :: 3], axis) if min(x.shape) > 1 else x,
    "slide": lambda x, axis, count: slid(x, axis, min(x.shape[axis], count + 1), 1 + x.shape[0] % 2),
    "half as many more": lambda x, axis, count: resized(x, axis, x.shape[axis] // 2 * 3 + count),
    "float": lambda x, axis, count: x.astype(np.float32) / (count + 1),
    "scale": lambda x, axis, count: x * np.resize(np.float32([1, 2, 3]), x.shape[-1]),
    "add": lambda x, axis, count: x + x.dtype.type(count),
}
MOVES = sorted(OF_ANY_SIZE.keys() - {"float", "scale", "add"})


class ChainOfAnySize:
    """The chain of a number, and ten arrays for it; the first shape comes twice."""

    def __init__(self, number):
        draw = random.Random(number)
        self.steps = [(draw.choice(MOVES), draw.random(), draw.randrange(4)) for _ in range(draw.randrange(1, 7))]
        for name in draw.choice([(), (), ("float",), ("add", "scale"), ("float", "scale")]):
            self.steps.insert(draw.randrange(len(self.steps) + 1), (name, draw.random(), draw.randrange(4)))
        rank, dtype = draw.randrange(1, 4), draw.choice(["u1", "u1", "i1", "u2", "i4", "f4"])
        sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 20, 31]
        shapes = [[draw.choice(sizes) for _ in range(rank)] for _ in range(10)]
        if draw.random() < 0.5:  # all wide, or all high: these have more in common
            shapes = [sorted(shape) for shape in shapes]
        self.arrays = [self.array(draw, shape, dtype) for shape in (shapes[0], *shapes)]
        self.several = draw.random() < 0.2

    def array(self, draw, shape, dtype):
        x = np.random.default_rng(math.prod(shape)).integers(0, 120, shape).astype(dtype)
        layouts = {1: np.asfortranarray, 2: lambda x: x[::-1], 3: lambda x: np.repeat(x, 2, 0)[::2]}
        return layouts.get(draw.randrange(8), np.copy)(x)

    def __call__(self, x):
        results = [x]
        for name, where, count in self.steps:
            x = results[-1]
            if x.ndim and x.size < MOST // 8:
                results.append(OF_ANY_SIZE[name](x, int(where * x.ndim), count))
        return tuple(results[-2:]) if self.several else results[-1]


def differences_of_sizes(number, device="host"):
    """What is wrong with a chain of any size, called at its sizes in turn: None if nothing is."""
    chain = ChainOfAnySize(number)
    fused = dmlops.fuse(lambda x: chain(x))
    for x in chain.arrays:
        try:
            right = run(chain, (x,), {})
        except (ValueError, IndexError):  # as an empty axis that is reflected
            continue
        try:
            made = fused(x, device=device)
        except TypeError as error:
            if any(limit in str(error) for limit in LIMITS):
                continue
            raise
        for one, other in zip(made, right, strict=True) if chain.several else [(made, right)]:
            if one.dtype != other.dtype or one.shape != other.shape or one.tobytes() != other.tobytes():
                return f"{x.shape}: {one.dtype} {one.shape} differs from {other.dtype} {other.shape}"
        if x.size < 200 and x is chain.arrays[-1]:
            fused.prove(x)
    return None


def difference(chain, device="host"):
    """What is wrong with a chain, fused, or step by step on device arrays: None if nothing is."""
    x, right = chain.array(), chain.right
    if chain.mapped and chain.dtype.itemsize > 2:
        device = "host"
    # What nothing writes shows: results of this size, or memory that is used again for them, are not zeros.
    out = dmlops.tile(np.array([0xA5], np.uint8), [right.nbytes], device="host").view(right.dtype).reshape(right.shape)
    try:
        if chain.resident:
            del out
            out = np.asarray(chain(dmlops.asarray(x, device=device)).numpy())
        else:
            dmlops.fuse(lambda x: chain(x))(x, out=out, device=device)
    except TypeError as error:
        if any(limit in str(error) for limit in LIMITS):
            return None
        raise
    if out.dtype != right.dtype or out.shape != right.shape:
        return f"{out.dtype} {out.shape} in place of {right.dtype} {right.shape}"
    differ = np.frombuffer(out.tobytes(), np.uint8) != np.frombuffer(right.tobytes(), np.uint8)
    return f"{differ.sum()} of {differ.size} bytes differ" if differ.any() else None


def fails(number, device="host"):
    """What is wrong with the chain of a number; None if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return difference(Chain(number), device)
        except Exception:
            return traceback.format_exc()


def fails_at_sizes(number, device="host"):
    """What is wrong with a chain of any size; None if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return differences_of_sizes(number, device)
        except Exception:
            return traceback.format_exc()


def main(count, first=0, fails=fails):
    wrong = 0
    for number in range(first, first + count):
        found = fails(number)
        if found:
            wrong += 1
            print(f"chain {number}: {found}", flush=True)
    print(f"{count} chains from {first} on, {wrong} of them wrong")
    return wrong > 0


if __name__ == "__main__":
    named = sys.argv[1] == "sizes"
    sys.exit(main(*map(int, sys.argv[1 + named :]), fails=fails_at_sizes if named else fails))
