"""Random chains of movements, as Hypothesis strategies: functions that NumPy runs, and dmlops.fuse."""

from dataclasses import dataclass

import dmlops
import numpy as np
from hypothesis import strategies as st

import strategies

MOST = 4000  # elements of an array on the way


@dataclass(frozen=True)
class Step:
    """A call that is printable: its name, and what it does to a list of arrays."""

    name: str
    arguments: tuple

    def __call__(self, arrays):
        return STEPS[self.name](arrays, *self.arguments)


@dataclass(frozen=True)
class Chain:
    """A function of one array or of two."""

    inputs: tuple  # of strategies.ArraySpec
    steps: tuple
    several: bool  # whether it returns all arrays, else the first

    def function(self):
        def chain(*arrays):
            arrays = list(arrays)
            for step in self.steps:
                arrays = step(arrays)
            return tuple(arrays) if self.several else arrays[0]

        return chain


def one(function):
    """A step that changes the first array."""
    return lambda arrays, *arguments: [function(arrays[0], *arguments), *arrays[1:]]


STEPS = {
    "index": one(lambda x, key: x[(*key, ...)]),  # without `...`, a 0-d result would be a scalar of NumPy's
    "transpose": one(lambda x, axes: np.transpose(x, axes)),
    "moveaxis": one(lambda x, a, b: np.moveaxis(x, a, b)),
    "reshape": one(lambda x, shape, order: np.reshape(x, shape, order=order)),
    "ravel": one(lambda x: x.ravel()),
    "flip": one(lambda x, axis: np.flip(x, axis)),
    "rot90": one(lambda x, k, axes: np.rot90(x, k, axes)),
    "pad": one(lambda x, widths, mode: np.pad(x, widths, mode)),
    "pad constant": one(lambda x, widths, value: np.pad(x, widths, constant_values=np.array(value, "u1").view(x.dtype)[0])),
    "tile": one(lambda x, counts: np.tile(x, counts)),
    "repeat": one(lambda x, count, axis: np.repeat(x, count, axis)),
    "roll": one(lambda x, shift, axis: np.roll(x, shift, axis)),
    "take": one(lambda x, indices, axis: np.take(x, indices, axis)),
    "broadcast": one(lambda x, count: np.broadcast_to(x, (count, *x.shape))),
    "join with itself": one(lambda x, axis: np.concatenate([x, np.flip(x), x], axis)),
    "stack with zeros": one(lambda x, axis: np.stack([x, np.zeros_like(x)], axis)),
    "space_to_depth": one(lambda x, blocks, order, layout: dmlops.space_to_depth(x, blocks, order=order, layout=layout)),
    "depth_to_space": one(lambda x, blocks, order, layout: dmlops.depth_to_space(x, blocks, order=order, layout=layout)),
    "upsample": one(lambda x, factors: dmlops.upsample(x, factors)),
    "slice_grad": one(lambda x, shape, offsets, sizes, strides: dmlops.slice_grad(x, shape, offsets, sizes, strides)),
    "reverse_subsequences": one(lambda x, lengths, axis: dmlops.reverse_subsequences(x, lengths, axis)),
    "cast": one(lambda x, code: x.astype(code)),
    "scale": one(lambda x, axis, numbers: x * along(axis, x, numbers)),
    "choose": one(lambda x, axis, numbers: np.where(x > along(axis, x, numbers), x, x + x)),
    "square": one(lambda x: x * x),
    "split": lambda arrays, at, axis: [*np.split(arrays[0], [at], axis), *arrays[1:]],
    "swap": lambda arrays: arrays[::-1],
}


def along(axis, x, numbers):
    """A constant of x's dtype that varies along an axis, or of one element."""
    array = np.resize(np.array(numbers), 1 if axis is None else x.shape[axis]).astype(x.dtype)
    return array.reshape(-1, *[1] * (-1 - axis)) if axis is not None else array[0]


@st.composite
def keys(draw, shape):
    key = []
    for size in shape:
        kind = draw(st.sampled_from(["all", "range", "range", "range", "int"]))
        if kind == "int" and size:
            key.append(draw(st.integers(-size, size - 1)))
        elif kind == "range":
            bounds = st.none() | st.integers(-size - 1, size + 1)
            key.append(slice(draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, 3, -1, -2, 5]))))
        else:
            key.append(slice(None))
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


def factors(number):
    """Two numbers of which it is the product."""
    return st.sampled_from([(k, number // k) for k in range(1, number + 1) if number % k == 0])


@st.composite
def shapes_of(draw, size):
    """A shape of as many elements."""
    shape = [size]
    for _ in range(draw(st.integers(0, 3))):
        k = draw(st.integers(0, len(shape) - 1))
        shape[k : k + 1] = draw(factors(shape[k])) if shape[k] else (0, 3)
    return tuple(shape)


def axis_of(x):
    return st.integers(-x.ndim, x.ndim - 1)


def widths(x):
    return st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 3)) for _ in range(x.ndim)])


def blocks_of(divisors):
    return st.tuples(*[st.sampled_from([k for k in (1, 2, 3) if size % k == 0]) for size in divisors])


@st.composite
def windows(draw, x):
    offsets, sizes, shape, steps = [], [], [], []
    for size in x.shape:
        step = draw(st.sampled_from([1, 1, 2, -1, -2]))
        whole = max(0, (size - 1) * abs(step) + 1) + draw(st.integers(0, abs(step) - 1)) * (size > 0)
        offset = draw(st.integers(0, 2))
        offsets.append(offset)
        sizes.append(whole)
        steps.append(step)
        shape.append(offset + whole + draw(st.integers(0, 2)))
    return tuple(shape), tuple(offsets), tuple(sizes), tuple(steps)


def maps(x):
    numbers = st.lists(st.integers(0, 5), min_size=1, max_size=4)
    axis = st.none() | st.integers(-x.ndim, -1) if x.ndim else st.none()
    return {
        "cast": st.tuples(st.sampled_from(["f4", "f4", "f2", "f8", "i2", "u1", "c8"])),
        "scale": st.tuples(axis, numbers),
        "square": st.just(()),
    } | ({} if x.dtype.kind == "c" else {"choose": st.tuples(axis, numbers)})


def candidates(arrays, mapped):
    """Strategies of steps that fit the arrays."""
    x = arrays[0]
    found = maps(x) if mapped else {}
    found |= {
        "index": keys(x.shape).map(lambda key: (key,)),
        "transpose": st.permutations(range(x.ndim)).map(lambda axes: (tuple(axes),)),
        "reshape": st.tuples(shapes_of(x.size), st.sampled_from("CCCF")),
        "ravel": st.just(()),
        "broadcast": st.tuples(st.integers(1, 3)),
        "swap": st.just(()),
    }
    if x.ndim:
        found |= {
            "moveaxis": st.tuples(axis_of(x), axis_of(x)),
            "flip": st.tuples(axis_of(x) | st.none()),
            "tile": st.tuples(st.tuples(*[st.sampled_from([1, 1, 2, 3])] * x.ndim)),
            "repeat": st.tuples(st.integers(1, 3), axis_of(x) | st.none()),
            "roll": st.tuples(st.integers(-9, 9), axis_of(x) | st.none()),
            "pad constant": st.tuples(widths(x), st.binary(min_size=x.itemsize, max_size=x.itemsize).map(list)),
            "join with itself": st.tuples(axis_of(x)),
            "split": st.tuples(st.integers(0, x.shape[0]), st.just(0)),
            "slice_grad": windows(x),
            "stack with zeros": st.tuples(axis_of(x)),
        }
        # Not every bytes are a str, and NumPy leaves some bytes of a long double as they are.
        if not x.itemsize or x.dtype.kind == "U" or x.dtype.char in "gG":
            del found["pad constant"]
        axis = next((k for k, size in enumerate(x.shape) if size), None)
        if axis is not None:
            size = x.shape[axis]
            found["take"] = st.tuples(st.lists(st.integers(-size, size - 1), min_size=1, max_size=5), st.just(axis))
        if x.size:
            found["pad"] = st.tuples(widths(x), st.sampled_from(["edge", "reflect", "symmetric", "wrap"]))
            found["reverse_subsequences"] = st.tuples(
                st.lists(st.integers(0, x.shape[0] + 1), min_size=1, max_size=1).map(
                    lambda one: np.reshape(one, [1] * x.ndim).tolist()
                ),
                st.just(0),
            )
    if x.ndim >= 2:
        found["rot90"] = st.tuples(st.integers(-1, 3), st.permutations(range(x.ndim)).map(lambda axes: tuple(axes[:2])))
    if x.ndim >= 3:
        order = st.sampled_from(["DCR", "CRD"])
        found |= {
            "space_to_depth": st.tuples(blocks_of(x.shape[-2:]), order, st.just("NCHW"))
            | st.tuples(blocks_of(x.shape[-3:-1]), order, st.just("NHWC")),
            "upsample": st.tuples(st.tuples(st.integers(1, 3), st.integers(1, 2))),
            "depth_to_space": st.tuples(deep_blocks(x.shape[-3]), order, st.just("NCHW"))
            | st.tuples(deep_blocks(x.shape[-1]), order, st.just("NHWC")),
        }
    return found


def deep_blocks(channels):
    return st.sampled_from([(a, b) for a in (1, 2, 3) for b in (1, 2, 3) if channels % (a * b) == 0])


@st.composite
def chains(draw, dtypes=strategies.common_dtypes, most_steps=12, mapped=False):
    dtype = draw(dtypes)
    count = draw(st.sampled_from([1, 1, 2]))
    shape = st.lists(st.integers(1, 7), min_size=0, max_size=4)
    inputs = [draw(strategies.specs(tuple(draw(shape)), dtype)) for _ in range(count)]
    arrays = [np.zeros(spec.shape, dtype) for spec in inputs]
    steps = []
    for _ in range(draw(st.integers(1, most_steps))):
        found = candidates(arrays, mapped)
        name = draw(st.sampled_from(sorted(found)))
        step = Step(name, draw(found[name]))
        after = in_numpy(step, arrays)
        if any(array.size > MOST or array.ndim > 12 for array in after):
            continue
        steps.append(step)
        arrays = after
    return Chain(tuple(inputs), tuple(steps), draw(st.booleans()))


def in_numpy(step, arrays):
    """By NumPy, and by the twins of dmlops' operators."""
    return list(dmlops.fuse(lambda *given: tuple(step(list(given)))).reference(*arrays))
