"""Small random models of the operators that are moved, for Hypothesis: valid ones as a rule, odd and wrong ones now and then.

A function for each operator draws a call: operands behind the first, attributes, how many outputs. `Builder` decides where
operands come from, and what the model declares.
"""

import dmlops.onnx
import numpy as np
from hypothesis import strategies as st
from onnx import AttributeProto, TensorProto, helper, numpy_helper

OPSETS = (7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
EXTREMES = (2**31 - 1, 2**31, 2**63 - 1, -(2**31), -(2**63), -(2**63) + 1, 10**6, -(10**6))
DTYPES = (*["f4"] * 12, "u1", "i4", "i8", "f8", "i1", "bool", "f2", "u2", "u8")
# Followed by one of these, a value is read by onnxruntime.
COMPUTES = {
    "f4": ("Relu", "Abs", "Neg"),
    "f8": ("Abs", "Neg"),
    "i4": ("Abs", "Neg"),
    "i8": ("Abs", "Neg"),
    "i1": ("Abs", "Neg"),
}


def seldom(draw, chance=12):
    return draw(st.integers(0, chance - 1)) == 1


def ints(values, dtype=np.int64):
    return np.array(values, dtype).reshape(-1)


def axis_of(draw, rank, wrong=20):
    """An axis, counted from either end; one that there is not, now and then."""
    if not rank or seldom(draw, wrong):
        return draw(st.integers(-rank - 1, rank))
    return draw(st.integers(-rank, rank - 1))


def axes_of(draw, rank, opset):
    """Some axes, in any order; one of them twice, or none at all, now and then."""
    low = -rank if opset >= 11 or seldom(draw) else 0
    axes = draw(st.permutations(range(rank)))[: draw(st.integers(1, rank))] if rank else []
    axes = [axis - rank if low and draw(st.booleans()) else axis for axis in axes]
    if axes and seldom(draw, 40):
        axes.append(axes[0])
    return [] if seldom(draw, 40) else axes


def transpose(draw, x, opset):
    perm = draw(st.permutations(range(x.ndim)))
    if seldom(draw, 20) and perm:
        perm[0] = draw(st.integers(-1, x.ndim))
    return [], {} if seldom(draw, 4) else {"perm": perm}, 1


def slice_(draw, x, opset):
    axes = axes_of(draw, x.ndim, opset)
    bound = st.one_of(st.integers(-7, 7), st.integers(-7, 7), st.sampled_from(EXTREMES))
    starts, ends = ([draw(bound) for _ in axes] for _ in range(2))
    if opset < 10:
        given = {"starts": starts, "ends": ends}
        return [], given if seldom(draw, 4) else given | {"axes": axes}, 1
    step = st.one_of(
        st.integers(-3, 3).filter(bool), st.just(-1), st.sampled_from((0, *EXTREMES)) if seldom(draw) else st.just(1)
    )
    steps = [draw(step) for _ in axes]
    if seldom(draw, 5) and all(-(2**31) <= value < 2**31 for value in (*starts, *ends, *steps)):
        operands = [ints(values, np.int32) for values in (starts, ends, axes, steps)]
    else:
        operands = [ints(values) for values in (starts, ends, axes, steps)]
    for k in (3, 2):
        if seldom(draw, 5):
            operands[k] = ints([]) if seldom(draw) else None
    return operands, {}, 1


def amounts(draw, size, mode):
    low = draw(st.sampled_from((0, 0, -1, -size - 2)))
    high = max(size - 1, 0) if mode == "reflect" and not seldom(draw) else 3
    return draw(st.integers(min(low, high), high))


def pad(draw, x, opset):
    modes = ("constant", "constant", "edge", "reflect", "wrap" if opset >= 19 else "edge")
    mode = draw(st.sampled_from(modes))
    axes = axes_of(draw, x.ndim, opset) if opset >= 18 and draw(st.booleans()) else None
    sizes = [x.shape[axis] for axis in (range(x.ndim) if axes is None else axes)]
    pads = [amounts(draw, size, mode) for _ in range(2) for size in sizes]
    if seldom(draw, 30) and pads:
        pads = pads[1:]
    attributes = {} if mode == "constant" and draw(st.booleans()) else {"mode": mode}
    if opset < 11:
        return [], attributes | {"pads": pads} | ({"value": 2.5} if draw(st.booleans()) else {}), 1
    value = np.array(draw(st.integers(0, 1))).astype(x.dtype) if draw(st.booleans()) else None
    if value is not None and seldom(draw, 4):
        value = value.reshape(1)
    operands = [ints(pads), value]
    if opset >= 18:
        operands.append(None if axes is None else ints(axes, draw(st.sampled_from((np.int64, np.int32)))))
    return operands, attributes, 1


def concat(draw, x, opset):
    axis = axis_of(draw, x.ndim)
    others = [x] * draw(st.integers(0, 2))
    if others and x.ndim and not seldom(draw):
        at = axis % x.ndim
        shape = [draw(st.integers(0, 3)) if k == at else size for k, size in enumerate(x.shape)]
        others[0] = np.ones(shape, x.dtype)
    return others, {"axis": axis}, 1


def split(draw, x, opset):
    axis, count = axis_of(draw, x.ndim), draw(st.integers(1, 4))
    attributes = {} if axis == 0 and draw(st.booleans()) else {"axis": axis}
    size = x.shape[axis] if -x.ndim <= axis < x.ndim else 3
    if draw(st.booleans()):
        if opset >= 18 and not seldom(draw):
            attributes["num_outputs"] = count
        return [], attributes, count
    cuts = sorted(draw(st.integers(0, size)) for _ in range(count - 1))
    parts = [int(part) for part in np.diff([0, *cuts, size])]
    if seldom(draw):
        parts[0] += draw(st.sampled_from((-1, 1)))
    return ([], attributes | {"split": parts}, count) if opset < 13 else ([ints(parts)], attributes, count)


def reshape(draw, x, opset):
    kind = draw(st.integers(0, 5))
    sizes = [int(size) for size in draw(st.permutations(x.shape))]
    if kind == 1 and len(sizes) > 1:
        sizes = [sizes[0] * sizes[1], *sizes[2:]]
    elif kind == 2:
        sizes.insert(draw(st.integers(0, len(sizes))), 1)
    elif kind == 3 and sizes:
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    elif kind == 4 and sizes:
        sizes = [0 if draw(st.booleans()) else size for size in x.shape]
    elif kind == 5:
        sizes = [draw(st.sampled_from((-1, 0, 1, 2, 3, 4))) for _ in range(draw(st.integers(0, 4)))]
    return [ints(sizes)], {"allowzero": draw(st.integers(0, 1))} if opset >= 14 and draw(st.booleans()) else {}, 1


def flatten(draw, x, opset):
    low = -x.ndim if opset >= 11 or seldom(draw) else 0
    return [], {"axis": draw(st.integers(low, x.ndim))} if draw(st.booleans()) else {}, 1


def squeeze(draw, x, opset):
    ones = [axis for axis, size in enumerate(x.shape) if size == 1]
    axes = [axis - x.ndim if draw(st.booleans()) else axis for axis in ones if draw(st.booleans())]
    if seldom(draw) and x.ndim:
        axes.append(axis_of(draw, x.ndim))
    if seldom(draw, 20) and axes:
        axes.append(axes[0])
    if seldom(draw, 3):
        return [], {}, 1
    return ([], {"axes": axes}, 1) if opset < 13 else ([ints(axes)], {}, 1)


def unsqueeze(draw, x, opset):
    count = draw(st.integers(0, 2))
    rank = x.ndim + count
    axes = draw(st.permutations(range(-rank if opset >= 11 else 0, rank)))[:count] if count else []
    if seldom(draw, 20) and axes:
        axes.append(axes[0])
    return ([], {"axes": axes}, 1) if opset < 13 else ([ints(axes)], {}, 1)


def expand(draw, x, opset):
    shape = [draw(st.sampled_from((0, 1, 2, 3))) if size == 1 else draw(st.sampled_from((1, size))) for size in x.shape]
    shape = [draw(st.integers(1, 2))] * draw(st.integers(0, 1)) + shape[draw(st.integers(0, 1)) :]
    if seldom(draw) and shape:
        shape[0] = draw(st.sampled_from((-1, 5)))
    return [ints(shape)], {}, 1


def tile(draw, x, opset):
    repeats = [draw(st.integers(0 if seldom(draw, 5) else 1, 3)) for _ in x.shape]
    if seldom(draw, 20) and repeats:
        repeats[0] = -1
    return [ints(repeats)], {}, 1


def block(draw, fitting):
    return {"blocksize": draw(st.integers(1, 4)) if seldom(draw, 20) or not fitting else draw(st.sampled_from(fitting))}


def depth_to_space(draw, x, opset):
    attributes = block(draw, [size for size in (1, 2, 3) if x.ndim == 4 and x.shape[1] % size**2 == 0])
    if opset >= 11 and draw(st.booleans()):
        attributes["mode"] = draw(st.sampled_from(("DCR", "CRD")))
    return [], attributes, 1


def space_to_depth(draw, x, opset):
    return [], block(draw, [size for size in (1, 2, 3) if x.ndim == 4 and x.shape[2] % size == x.shape[3] % size == 0]), 1


def reverse_sequence(draw, x, opset):
    batch = draw(st.sampled_from((0, 1)))
    size, longest = (x.shape[batch], x.shape[1 - batch]) if x.ndim > 1 else (1, 1)
    lengths = [draw(st.integers(0 if seldom(draw) else 1, max(longest + seldom(draw, 20), 1))) for _ in range(size)]
    return [ints(lengths)], {} if batch else {"batch_axis": 0, "time_axis": 1}, 1


def gather(draw, x, opset):
    axis = axis_of(draw, x.ndim)
    size = x.shape[axis] if -x.ndim <= axis < x.ndim else 1
    low, high = (-size if opset >= 11 else 0, max(size - 1, 0)) if not seldom(draw, 20) else (-size - 1, size)
    shape = draw(st.sampled_from(((), (1,), (3,), (2, 2), (0,))))
    values = [draw(st.integers(low, high)) for _ in range(int(np.prod(shape)))]
    attributes = {} if axis == 0 and draw(st.booleans()) else {"axis": axis}
    return [np.array(values, draw(st.sampled_from((np.int64, np.int32)))).reshape(shape)], attributes, 1


def shape_beside(draw, x, axis):
    """A shape of indices of single elements: at most the sizes of `x` beside the axis as a rule."""
    shape = [draw(st.integers(0 if seldom(draw) else 1, max(size + seldom(draw, 40), 1))) for size in x.shape]
    if -x.ndim <= axis < x.ndim:
        shape[axis] = draw(st.integers(0 if seldom(draw) else 1, 3))
    return shape if not seldom(draw, 40) else shape[1:]


def indices_of(draw, shape, size):
    low, high = (-size, max(size - 1, 0)) if not seldom(draw, 20) else (-size - 1, size)
    values = [draw(st.integers(low, high)) for _ in range(int(np.prod(shape)))]
    return np.array(values, draw(st.sampled_from((np.int64, np.int32)))).reshape(shape)


def gather_elements(draw, x, opset):
    axis = axis_of(draw, x.ndim)
    size = x.shape[axis] if -x.ndim <= axis < x.ndim else 1
    return [indices_of(draw, shape_beside(draw, x, axis), size)], {"axis": axis}, 1


def scatter_elements(draw, x, opset):
    """Along the axis there is one index: which of equal ones is the last, is open."""
    axis = axis_of(draw, x.ndim)
    shape = shape_beside(draw, x, axis)
    if -len(shape) <= axis < len(shape):
        shape[axis] = 1
    size = x.shape[axis] if -x.ndim <= axis < x.ndim else 1
    updates = np.full(shape if not seldom(draw, 40) else [*shape, 1], 3).astype(x.dtype)
    return [indices_of(draw, shape, size), updates], {"axis": axis}, 1


def tuples_of(draw, x, batch=0):
    count = draw(st.integers(1, max(x.ndim - batch, 1) + seldom(draw, 40)))
    shape = [*x.shape[:batch], *draw(st.sampled_from(((), (1,), (2,), (2, 2), (0,))))]
    size = min(x.shape[batch : batch + count], default=1)
    return indices_of(draw, [*shape, count], size).astype(np.int64)


def gather_nd(draw, x, opset):
    batch = draw(st.integers(0, max(x.ndim - 1, 0))) if opset >= 12 and draw(st.booleans()) else 0
    return [tuples_of(draw, x, batch)], {"batch_dims": batch} if batch or draw(st.booleans()) else {}, 1


def scatter_nd(draw, x, opset):
    """Equal values are written, since which of equal tuples is the last, is open."""
    tuples = tuples_of(draw, x)
    shape = [*tuples.shape[:-1], *x.shape[tuples.shape[-1] :]]
    updates = np.full(shape if not seldom(draw, 40) else [*shape, 1], 3).astype(x.dtype)
    return [tuples, updates], {"reduction": "none"} if opset >= 16 and draw(st.booleans()) else {}, 1


def where(draw, x, opset):
    """A condition and what is taken where it is false, both broadcast against `x`, or `x` against them."""
    shapes = [[draw(st.sampled_from((1, size, size))) for size in x.shape][draw(st.integers(0, x.ndim)) :] for _ in range(2)]
    if seldom(draw, 4):
        shapes[draw(st.integers(0, 1))] = [draw(st.integers(0 if seldom(draw) else 1, 2)), *x.shape]
    if seldom(draw, 40):
        shapes[0] = [7]
    condition = [draw(st.booleans()) for _ in range(int(np.prod(shapes[0])))]
    return [np.array(condition, bool).reshape(shapes[0]), np.full(shapes[1], 3).astype(x.dtype)], {}, 1


SCALES = st.one_of(
    st.sampled_from((0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 3.0, 4.0, 0.25, 0.75, 0.1, 0.3, 0.7, 1.1, 1.3, 2.5, 2.3, 1 / 3, 2 / 3)),
    st.integers(1, 40).map(lambda number: number / 7),
    st.floats(0.125, 5, width=32),
)
ENDS = st.sampled_from(("start", "end"))
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


def resize(draw, x, opset):
    if opset == 10:
        return [np.float32([draw(SCALES) for _ in x.shape])], {}, 1
    modes = (*COORDINATES, "tf_half_pixel_for_nn" if opset < 13 else "half_pixel_symmetric" if opset >= 19 else "half_pixel")
    attributes = {"coordinate_transformation_mode": draw(st.sampled_from(modes))} if not seldom(draw, 5) else {}
    if not seldom(draw, 5):
        attributes["nearest_mode"] = draw(st.sampled_from(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")))
    if draw(st.booleans()):
        attributes["mode"] = "nearest"
    if seldom(draw):  # which is read where elements are interpolated, or left out, only
        others = {"cubic_coeff_a": -0.5, "exclude_outside": 0, "extrapolation_value": 3.0}
        attributes |= {key: others[key] for key in draw(st.sets(st.sampled_from(sorted(others))))}
        attributes |= {"antialias": 0} if opset >= 18 else {}
    sizes = list(x.shape)
    if opset >= 18 and draw(st.booleans()) and x.ndim:
        axes = draw(st.permutations(range(x.ndim)))[: draw(st.integers(1, x.ndim))]
        attributes["axes"] = [axis - x.ndim if seldom(draw, 5) else axis for axis in axes]
        sizes = [x.shape[axis] for axis in axes]
    roi = draw(st.sampled_from((None, np.zeros(0, np.float32)))) if opset >= 13 else np.zeros(0, np.float32)
    if seldom(draw):
        roi = np.float32([0] * len(sizes) + [1] * len(sizes))
    if draw(st.booleans()):
        return [roi, np.float32([draw(SCALES) for _ in sizes])], attributes, 1
    if opset >= 18 and draw(st.booleans()):
        attributes["keep_aspect_ratio_policy"] = draw(st.sampled_from(("stretch", "not_larger", "not_smaller")))
    new = [draw(st.integers(0 if size == 0 or seldom(draw, 20) else 1, max(3 * size, 1))) for size in sizes]
    return [roi, None if opset >= 13 else np.zeros(0, np.float32), ints(new)], attributes, 1


def upsample(draw, x, opset):
    scales = [max(draw(SCALES), 1.0) for _ in x.shape]
    mode = {"mode": "nearest"} if draw(st.booleans()) else {}
    return ([np.float32(scales)], mode, 1) if opset == 9 else ([], mode | {"scales": scales}, 1)


def identity(draw, x, opset):
    return [], {}, 1


def cast(draw, x, opset):
    return [], {"to": helper.np_dtype_to_tensor_dtype(x.dtype)}, 1


# Arithmetic of bytes and constants, which a session takes where NumPy's bits are onnxruntime's.
ARITHMETIC = ("Add", "Sub", "Mul", "Div")
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 255.0, 1 / 255, 0.485, 0.229, 123.675, 0.017, -3.0, 1e30, 1e-30, float("inf"))


def constant_beside(draw, x):
    """A constant that is broadcast against `x`: a scalar as a rule, or one for each index of an axis."""
    dtype = x.dtype
    if x.ndim == 0 or draw(st.booleans()):
        return np.array(draw(st.sampled_from(NUMBERS)), dtype).reshape(draw(st.sampled_from(((), (1,)))))
    shape = [1] * x.ndim
    axis = draw(st.integers(0, x.ndim - 1))
    shape[axis] = x.shape[axis]
    return np.array([draw(st.sampled_from(NUMBERS)) for _ in range(shape[axis])], dtype).reshape(shape[axis:])


def clipped(draw, x):
    bounds = [draw(st.sampled_from((None, np.array(value, x.dtype)))) for value in (0.25, 200)]
    return [np.zeros((), x.dtype) if seldom(draw, 5) else bounds[0], bounds[1]]


def dequantized(draw, x, opset):
    """Scale and zero point, and the attribute."""
    if x.ndim < 2 or opset < 13 or draw(st.booleans()):
        scale, attributes = np.float32(draw(st.sampled_from((0.1, 0.0039, 2, -1)))), {}
    else:
        axis = draw(st.integers(0, x.ndim - 1))
        scale, attributes = np.linspace(0.1, 2, x.shape[axis], dtype=np.float32), {"axis": axis}
    zero = np.full(np.shape(scale), draw(st.integers(0, 127)), x.dtype) if draw(st.booleans()) else None
    return [np.asarray(scale), zero], attributes


# An operator, the opsets in which it is drawn, the least rank that it takes as a rule, and the function that draws a call.
CALLS = (
    ("Transpose", 7, 99, 0, transpose),
    ("Slice", 7, 99, 1, slice_),
    ("Slice", 10, 99, 1, slice_),
    ("Pad", 7, 99, 1, pad),
    ("Pad", 11, 99, 1, pad),
    ("Concat", 7, 99, 1, concat),
    ("Split", 7, 99, 1, split),
    ("Reshape", 7, 99, 0, reshape),
    ("Flatten", 7, 99, 0, flatten),
    ("Squeeze", 7, 99, 0, squeeze),
    ("Unsqueeze", 7, 99, 0, unsqueeze),
    ("Expand", 8, 99, 0, expand),
    ("Tile", 7, 99, 1, tile),
    ("DepthToSpace", 7, 99, 4, depth_to_space),
    ("SpaceToDepth", 7, 99, 4, space_to_depth),
    ("ReverseSequence", 10, 99, 2, reverse_sequence),
    ("Gather", 7, 99, 1, gather),
    ("GatherElements", 11, 99, 1, gather_elements),
    ("GatherND", 11, 99, 1, gather_nd),
    ("Scatter", 9, 10, 1, scatter_elements),
    ("ScatterElements", 11, 99, 1, scatter_elements),
    ("ScatterND", 11, 99, 1, scatter_nd),
    ("Where", 9, 99, 0, where),
    ("Resize", 10, 99, 1, resize),
    ("Resize", 11, 99, 1, resize),
    ("Upsample", 7, 9, 1, upsample),
    ("Identity", 7, 99, 0, identity),
    ("Cast", 9, 99, 0, cast),
)


class Builder:
    """A model and a feed for it, node by node."""

    def __init__(self, draw):
        self.draw, self.opset = draw, draw(st.sampled_from(OPSETS))
        self.nodes, self.inputs, self.constants, self.feed, self.values, self.kinds = [], [], [], {}, {}, {}

    def name(self):
        return f"v{len(self.values)}"

    def declared(self, shape, stale):
        """What the model says of a shape: sizes, names, nothing, or something else."""
        draw = self.draw
        kind = draw(st.integers(0, 9))
        if kind == 0 and stale:
            return [draw(st.integers(0, 4)) for _ in shape]
        return [size if kind < 5 else None if kind == 9 else draw(st.sampled_from((size, None, "N", "M"))) for size in shape]

    def add_input(self, value, stale=False):
        name = self.name()
        self.values[name], self.feed[name] = value, value
        shape = self.declared(value.shape, stale)
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape))
        return name

    def operand(self, value):
        """An operand, from a place drawn: constants as a rule."""
        if value is None:
            return ""
        kind, draw = self.draw(st.integers(0, 9)), self.draw
        if kind < 2:
            return self.add_input(value)
        name = self.name()
        self.values[name] = value
        tensor = numpy_helper.from_array(value, name)
        if kind == 2:
            self.nodes.append(helper.make_node("Constant", [], [name], **self.constant_of(value, tensor)))
        elif kind == 3 and value.dtype == np.int64 and value.ndim == 1 and value.size > 1:
            pieces = [self.operand(value[:1]), self.operand(value[1:])]
            self.nodes.append(helper.make_node("Concat", pieces, [name], axis=0))
        elif kind == 4 and value.dtype == np.int64 and (abs(value.astype(float)) < 2**31).all():
            self.nodes.append(helper.make_node("Cast", [self.operand(value.astype(np.int32))], [name], to=TensorProto.INT64))
        else:
            self.constants.append(tensor)
            if kind == 5 and seldom(draw, 3):
                self.inputs.append(helper.make_tensor_value_info(name, tensor.data_type, value.shape))
        return name

    def constant_of(self, value, tensor):
        """The attribute of a Constant: a tensor, or one of those that newer opsets have beside it."""
        kinds = {("i8", 0): "value_int", ("i8", 1): "value_ints", ("f4", 0): "value_float", ("f4", 1): "value_floats"}
        kind = kinds.get((value.dtype.str[1:], value.ndim))
        if self.opset < 12 or kind is None or value.size == 0 or self.draw(st.booleans()):
            return {"value": tensor}
        return {kind: value.tolist()}

    def from_shape(self, x):
        """An operand that is the shape of `x`, or a part of it, computed in the model; and its value."""
        name, old, part = self.name(), self.values[x], {}
        if self.opset >= 15 and seldom(self.draw, 3):
            part = {key: self.draw(st.integers(-old.ndim - 1, old.ndim + 1)) for key in self.draw(st.sets(ENDS))}
        self.values[name] = ints(old.shape[slice(*(part.get(key) for key in ("start", "end")))])
        self.nodes.append(helper.make_node("Shape", [x], [name], **part))
        return name

    def step(self, x):
        """A node that reads the value `x`; its outputs, or None if it cannot be run."""
        old = self.values[x]
        rank = 5 if seldom(self.draw, 30) else old.ndim
        calls = [entry for entry in CALLS if entry[1] <= self.opset <= entry[2] and entry[3] <= rank]
        calls = [entry for entry in calls if rank == 4 or "Space" not in entry[0]]
        if old.ndim < 2 or any(node.op_type == "Squeeze" for node in self.nodes):  # fewer axes, by onnxruntime's reading
            # onnxruntime ends the process where ReverseSequence gets a vector.
            calls = [entry for entry in calls if entry[0] != "ReverseSequence"]
        operator, _, _, _, call = self.draw(st.sampled_from(calls))
        operands, attributes, count = call(self.draw, old, self.opset)
        names = [x]
        for operand in operands:
            if operator == "Concat" and operand is old:
                names.append(x)
            elif operator in ("Reshape", "Expand") and seldom(self.draw, 6):
                names.append(self.from_shape(x))
            elif operand is not None and operand.size == 1 and seldom(self.draw, 30):  # a scalar, or a vector instead of one
                names.append(self.operand(operand.reshape(() if operand.ndim else (1,))))
            else:
                names.append(self.operand(operand))
        if self.draw(st.booleans()):
            while names[-1] == "":
                names.pop()
        if operator == "Where":
            names[:2] = names[1::-1]
        outputs = []
        for k in range(count):
            outputs.append(f"{self.name()}_{k}")
        node = helper.make_node(operator, names, outputs)
        for key, value in attributes.items():
            kind = AttributeProto.INTS if value == [] else None  # which the value alone does not say
            node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
        self.nodes.append(node)
        given = [self.values[name] for name in names if name]
        try:
            results = dmlops.onnx.backend.run_node(node, given, "host", opset_version=self.opset)
        except Exception:
            results = None
        for k, output in enumerate(outputs):
            self.values[output] = results[k] if results else np.zeros(old.shape, old.dtype)
            self.kinds[output] = old.dtype
        return outputs if results else None

    def arithmetic(self, x):
        """Nodes that make floats of the bytes `x`, and compute with them; their outputs."""
        draw, old = self.draw, self.values[x]
        operands, attributes, operator = [], {}, "Cast"
        if self.opset >= 10 and old.dtype != bool and seldom(draw, 4):
            operator = "DequantizeLinear"
            operands, attributes = dequantized(draw, old, self.opset)
            now = self.computed(operator, x, operands, attributes, old.astype(np.float32))
        else:
            to = np.dtype(draw(st.sampled_from(("f4", "f4", "f4", "f8", "f2", "i4"))))
            now = self.computed(operator, x, [], {"to": helper.np_dtype_to_tensor_dtype(to)}, old.astype(to))
        found = [now]
        for _ in range(draw(st.integers(0, 3)) if self.values[now].dtype in (np.float32, np.float64) else 0):
            old = self.values[now]
            if self.opset >= 12 and seldom(draw, 4):
                now = self.computed("Clip", now, clipped(draw, old), {}, old)
            else:
                now = self.computed(draw(st.sampled_from(ARITHMETIC)), now, [constant_beside(draw, old)], {}, old)
            found.append(now)
        return found

    def computed(self, operator, x, operands, attributes, like):
        """A node whose result has the shape and the dtype of `like`."""
        names, output = [x, *map(self.operand, operands)], f"{self.name()}_m"
        self.nodes.append(helper.make_node(operator, names, [output], **attributes))
        self.values[output], self.kinds[output] = like, like.dtype
        return output

    def declare(self, name, odd):
        value, kind = self.values[name], helper.np_dtype_to_tensor_dtype(self.kinds[name])
        shape = None if seldom(self.draw, 6) else self.declared(value.shape, odd)
        return helper.make_tensor_value_info(name, kind, shape)

    def model(self):
        draw = self.draw
        rank = draw(st.sampled_from((0, 1, 1, 2, 2, 3, 4, 4, 4, 5)))
        low = 0 if seldom(draw, 6) else 1
        shape = [draw(st.integers(low, 2 if seldom(draw, 4) else 5)) for _ in range(rank)]
        dtype = np.dtype(draw(st.sampled_from(DTYPES)))
        bytes_first = seldom(draw, 4)
        if bytes_first:
            dtype = np.dtype(draw(st.sampled_from(("u1", "u1", "i1", "bool"))))
        x = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype)
        now = [self.add_input(x, stale=seldom(draw, 5))]
        data = [*now]
        if bytes_first:
            moved = self.step(now[0]) if seldom(draw, 3) else []
            if moved is None:  # a node that fails: nothing is computed of it
                self.nodes.clear()
            data += moved or []
            data += self.arithmetic(data[-1])
            now, dtype = data[-1:], self.kinds[data[-1]]
        for _ in range(draw(st.integers(1, 4))):
            now = self.step(now[draw(st.integers(0, len(now) - 1))])
            data.extend(now or [])
            if now is None:
                data.append(self.nodes[-1].output[0])
                break
        last = data[-1]
        outputs = [last]
        if dtype.str[1:] in COMPUTES and draw(st.booleans()):
            outputs = [self.name()]
            self.values[outputs[0]], self.kinds[outputs[0]] = self.values[last], dtype
            self.nodes.append(helper.make_node(draw(st.sampled_from(COMPUTES[dtype.str[1:]])), [last], outputs))
        if len(data) > 2 and seldom(draw, 3):
            outputs.append(data[1])
        if seldom(draw, 10):
            self.add_input(x)
        made = [name for node in self.nodes for name in node.output if name in self.kinds and name not in outputs]
        known = [self.declare(name, True) for name in made if draw(st.booleans())]
        results = [self.declare(name, seldom(draw, 3)) for name in dict.fromkeys(outputs)]
        graph = helper.make_graph(self.nodes, "random", self.inputs, results, self.constants, value_info=known)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8), self.feed


@st.composite
def models(draw):
    return Builder(draw).model()
