"""Descriptions to test with: one of each operator for any rank and data type, and random ones with strides."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import dmlops
import dmlops.directml as dml
from dmlops.directml import descs, tables

OPERATORS = list(tables.SUPPORT)
BYTES = ("INT8", "UINT8")
# The types of operators that compute of others.
RUN = dict.fromkeys(("ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1", "ELEMENT_WISE_DEQUANTIZE_LINEAR"), BYTES)
RUN["CAST"] = (*BYTES, "INT16", "UINT16", "FLOAT16")


def tensor(data_type, sizes, **fields):
    return dml.TENSOR_DESC(data_type, sizes, **fields)


def smallest(operator, rank, data_type, lengths="UINT32", mode="CONSTANT"):
    """A description of an operator that breaks no rule but, maybe, those of ranks, data types and padding modes."""
    x = tensor(data_type, [1] * (rank - 1) + [4])
    ones, zeros = [1] * rank, [0] * rank
    value = 1.0 if data_type.startswith("FLOAT") else 1
    kind = descs.DESCS[operator]
    if operator in ("SLICE", "SLICE1", "SLICE_GRAD"):
        return kind(x, x, rank, zeros, [1] * (rank - 1) + [4], ones)
    if operator.startswith(("DEPTH", "SPACE")):
        return kind(x, x, 1, *([0] if operator.endswith("1") else []))
    if operator == "REVERSE_SUBSEQUENCES":
        return kind(x, tensor(lengths, [1] * rank), x, rank - 1)
    if operator.startswith("PADDING"):
        typed = [data_type] if operator == "PADDING1" else []
        return kind(x, x, mode, *typed, value, rank, zeros, zeros)
    if operator == "TILE":
        return kind(x, x, rank, ones)
    if operator == "JOIN":
        return kind(1, [x], x, 0)
    if operator == "SPLIT":
        return kind(x, 1, [x], 0)
    if operator == "UPSAMPLE_2D":
        return kind(x, x, dml.SIZE_2D(1, 1), "NEAREST_NEIGHBOR")
    if operator == "FILL_VALUE_CONSTANT":
        return kind(x, data_type, value)
    if operator == "DIAGONAL_MATRIX":
        return kind(x, 0, 1.0)
    if operator == "DIAGONAL_MATRIX1":
        return kind(x, x, data_type, value, 0, 1)
    if operator == "FILL_VALUE_SEQUENCE":
        return kind(x, data_type, value, value)
    if operator.startswith("RESAMPLE"):
        offsets = [] if operator == "RESAMPLE" else [[0.5] * rank, [-0.5] * rank]
        rounding = ["DECREASING"] if operator >= "RESAMPLE2" else []
        return kind(x, x, mode if mode == "LINEAR" else 0, *rounding, rank, ones, *offsets, *([False] * (operator[-1] == "3")))
    if operator == "UNFOLD":
        y, count = tensor(data_type, [1, 1, 4 if rank > 2 else 1]), max(rank - 2, 0)
        return kind(x, y, count, *([[1] * count] * 3), *([[0] * count] * 2))
    if operator == "GATHER":
        return kind(x, tensor(lengths, x.Sizes), x, rank - 1, 1)
    if operator in ("GATHER_ELEMENTS", "SCATTER_ELEMENTS", "SCATTER"):
        return kind(x, tensor(lengths, x.Sizes), *([x] * (1 + operator.startswith("SCATTER"))), rank - 1)
    if operator.startswith(("GATHER_ND", "SCATTER_ND")):  # of the last axis
        indices = tensor(lengths, [*x.Sizes[1:], 1]) if rank > 1 else tensor(lengths, [1])
        count = 2 if rank > 1 else 1
        y = x if rank > 1 else tensor(data_type, [1])
        tensors = [x, indices, y, x] if operator == "SCATTER_ND" else [x, indices, y]
        return kind(*tensors, 1, count, *([0] * operator.endswith("1")))
    if operator == "MAX_UNPOOLING":
        return kind(x, tensor(lengths, x.Sizes), x)
    if operator == "ONE_HOT":
        return kind(tensor(lengths, ones), tensor(data_type, [1] * (rank - 1) + [2]), x, rank - 1)
    if operator == "ELEMENT_WISE_CLIP":
        return kind(x, x, None, 0.0, 1.0)
    if operator == "ELEMENT_WISE_CLIP1":
        return kind(x, x, None, data_type, value, value)
    if operator == "ELEMENT_WISE_DEQUANTIZE_LINEAR":
        y = tensor("FLOAT32", x.Sizes)
        return kind(x, y, x, y)
    return kind(x, x)


@st.composite
def laid_out(draw, sizes, output):
    """Strides for a shape, any order of the axes, with gaps; those of an input may also be 0."""
    order = draw(st.permutations(range(len(sizes))))
    strides, span = [0] * len(sizes), 1
    for axis in order:
        if not output and draw(st.integers(0, 4)) == 0:
            continue
        strides[axis] = span + draw(st.sampled_from([0, 0, 0, 1, 3]))
        span = strides[axis] * (sizes[axis] - 1) + span if output else strides[axis] * sizes[axis]
    return strides


@st.composite
def described(draw, data_type, sizes, output=False):
    strides = draw(st.none() | laid_out(sizes, output))
    return tensor(data_type, sizes, Strides=strides)


def axes(entries, rank):
    return st.lists(entries, min_size=rank, max_size=rank)


SHORT = st.integers(1, 4)


@st.composite
def random_desc(draw):
    """A description that is fine at feature level 6_4."""
    operator = draw(st.sampled_from(OPERATORS))
    support = next(iter(tables.SUPPORT[operator].values()))
    rank = draw(st.integers(support.ranks[0], min(support.ranks[1], 5)))
    data_type = draw(st.sampled_from(RUN.get(operator, support.types)))
    sizes = draw(axes(SHORT, rank))
    kind = descs.DESCS[operator]

    def described_as(sizes, output=False):
        return draw(described(data_type, sizes, output))

    def scalar():
        return draw(st.integers(0, 100)) if "INT" in data_type else draw(st.sampled_from([0.5, -0.0, math.nan, math.inf]))

    if operator == "SLICE":
        strides = draw(axes(st.integers(1, 3), rank))
        offsets = draw(axes(st.integers(0, 2), rank))
        whole = [o + (n - 1) * s + 1 + draw(st.integers(0, 2)) for o, n, s in zip(offsets, sizes, strides, strict=True)]
        return kind(described_as(whole), described_as(sizes, True), rank, offsets, sizes, strides)
    if operator in ("SLICE1", "SLICE_GRAD"):
        strides = draw(axes(st.sampled_from([1, 2, 3, -1, -2, -3]), rank))
        offsets = draw(axes(st.integers(0, 2), rank))
        windows = [(n - 1) * abs(s) + 1 + draw(st.integers(0, 4)) for n, s in zip(sizes, strides, strict=True)]
        whole = [offset + window + draw(st.integers(0, 2)) for offset, window in zip(offsets, windows, strict=True)]
        shapes = (whole, sizes) if operator == "SLICE1" else (sizes, whole)
        return kind(described_as(shapes[0]), described_as(shapes[1], True), rank, offsets, windows, strides)
    if operator.startswith(("DEPTH", "SPACE")):
        block, (n, c, h, w) = draw(SHORT), sizes
        shapes = [(n, c * block**2, h, w), (n, c, h * block, w * block)]
        if operator.startswith("SPACE"):
            shapes.reverse()
        order = [draw(st.sampled_from(list(dml.DML_DEPTH_SPACE_ORDER)))] if operator.endswith("1") else []
        return kind(described_as(shapes[0]), described_as(shapes[1], True), block, *order)
    if operator == "REVERSE_SUBSEQUENCES":
        axis = draw(st.integers(0, rank - 1))
        shape = [1 if i == axis else size for i, size in enumerate(sizes)]
        lengths = draw(described(draw(st.sampled_from(["UINT32", "UINT64"])), shape))
        return kind(described_as(sizes), lengths, described_as(sizes, True), axis)
    if operator.startswith("PADDING"):
        start, end = draw(axes(st.integers(0, 4), rank)), draw(axes(st.integers(0, 4), rank))
        grown = [sum(sums) for sums in zip(start, sizes, end, strict=True)]
        mode = draw(st.sampled_from(list(dml.DML_PADDING_MODE)))
        value = [data_type, scalar()] if operator == "PADDING1" else [draw(st.sampled_from([0.0, 10.6, 3.0]))]
        return kind(described_as(sizes), described_as(grown, True), mode, *value, rank, start, end)
    if operator == "TILE":
        repeats = draw(axes(st.integers(1, 3), rank))
        return kind(described_as(sizes), described_as(np.multiply(sizes, repeats), True), rank, repeats)
    if operator in ("JOIN", "SPLIT"):
        axis, lengths = draw(st.integers(0, rank - 1)), draw(st.lists(SHORT, min_size=1, max_size=4))
        shapes = [[length if i == axis else size for i, size in enumerate(sizes)] for length in lengths]
        whole = [sum(lengths) if i == axis else size for i, size in enumerate(sizes)]
        if operator == "JOIN":
            return kind(len(lengths), [described_as(shape) for shape in shapes], described_as(whole, True), axis)
        return kind(described_as(whole), len(lengths), [described_as(shape, True) for shape in shapes], axis)
    if operator == "UPSAMPLE_2D":
        height, width = draw(SHORT), draw(SHORT)
        grown = [*sizes[:-2], sizes[-2] * height, sizes[-1] * width]
        return kind(described_as(sizes), described_as(grown, True), dml.SIZE_2D(width, height), 0)
    if operator == "FILL_VALUE_CONSTANT":
        return kind(described_as(sizes, True), data_type, scalar())
    if operator == "DIAGONAL_MATRIX":
        return kind(described_as(sizes, True), draw(st.integers(-5, 5)), draw(st.sampled_from([1.0, 10.6])))
    if operator == "DIAGONAL_MATRIX1":
        source = described_as(sizes) if draw(st.booleans()) else None
        ends = st.integers(-5, 5) | st.sampled_from([-(2**31), 2**31 - 1])
        return kind(source, described_as(sizes, True), data_type, scalar(), draw(ends), draw(ends))
    if operator == "FILL_VALUE_SEQUENCE":
        delta = draw(st.sampled_from([0.25, -3.0])) if "FLOAT" in data_type else draw(st.integers(0, 100))
        return kind(described_as(sizes, True), data_type, scalar(), delta)
    if operator.startswith("RESAMPLE"):
        return kind(described_as(sizes), described_as(draw(axes(SHORT, rank)), True), *draw(resampling(operator, rank)))
    if operator == "UNFOLD":
        return kind(*draw(unfolding(sizes, described_as)))
    if support.others.get("IndicesTensor"):
        integers = draw(st.sampled_from(support.others["IndicesTensor"]))
        return draw(indexing(operator, sizes, described_as, lambda sizes: draw(described(integers, sizes))))
    if operator == "CAST":
        floats = [name for name in support.types if "FLOAT" in name]
        to = draw(st.sampled_from(floats if data_type == "FLOAT16" else support.types))
        return kind(described_as(sizes), draw(described(to, sizes, True)))
    scale_bias = st.none() | st.builds(
        dml.SCALE_BIAS, st.sampled_from([0.5, -1.7, 3.0, 1e30]), st.sampled_from([0.0, -9.5, 1e9])
    )
    if operator == "ELEMENT_WISE_IDENTITY" and data_type in BYTES:
        return kind(described_as(sizes), described_as(sizes, True), draw(scale_bias))
    if operator.startswith("ELEMENT_WISE_CLIP"):
        typed = [data_type, *(draw(st.integers(0, 100)) for _ in range(2))]
        limits = typed if operator[-1] == "1" else draw(st.sampled_from([(-math.inf, 9.9), (-3.9, 1e30), (20.5, 10.5)]))
        return kind(described_as(sizes), described_as(sizes, True), draw(scale_bias), *limits)
    if operator == "ELEMENT_WISE_DEQUANTIZE_LINEAR":
        floats = draw(st.sampled_from(["FLOAT32", "FLOAT16"]))
        zero = described_as(sizes) if draw(st.booleans()) else None
        return kind(described_as(sizes), draw(described(floats, sizes)), zero, draw(described(floats, sizes, True)))
    return kind(described_as(sizes), described_as(sizes, True))


@st.composite
def indexing(draw, operator, sizes, described_as, indexed_as):
    """A description of an operator with indices."""
    kind, rank = descs.DESCS[operator], len(sizes)
    axis = draw(st.integers(0, rank - 1))
    if operator == "ONE_HOT":
        values = [1] * (rank - 1) + [draw(st.integers(2, 4))]
        indices = [1 if k == axis else size for k, size in enumerate(sizes)]
        return kind(indexed_as(indices), described_as(draw(st.permutations(values))), described_as(sizes, True), axis)
    if operator == "MAX_UNPOOLING":
        return kind(described_as(sizes), indexed_as(sizes), described_as(draw(axes(SHORT, rank)), True))
    if operator.startswith(("GATHER_ELEMENTS", "SCATTER")) and operator != "SCATTER_ND":
        indices = [draw(SHORT) if k == axis else size for k, size in enumerate(sizes)]
        updates = [described_as(indices)] if operator.startswith("SCATTER") else []
        result = sizes if operator.startswith("SCATTER") else indices
        return kind(described_as(sizes), indexed_as(indices), *updates, described_as(result, True), axis)
    if operator == "GATHER":
        count = draw(st.integers(0, rank))  # of the indices' axes; as many of the input's in front have size 1
        cropped = min(max(count - 1, 0), axis)
        sizes = [1] * cropped + sizes[cropped:]
        count = min(count, cropped + 1)
        indices = draw(axes(SHORT, count))
        result = [*sizes[:axis], *indices, *sizes[axis + 1 :]][max(count - 1, 0) :]
        result = [1] * (rank - len(result)) + result
        return kind(described_as(sizes), indexed_as([1] * (rank - count) + indices), described_as(result, True), axis, count)
    batch = draw(st.integers(0, rank - 1)) if operator == "GATHER_ND1" else 0
    entries = draw(st.integers(1, rank - batch))
    free = draw(st.integers(0, max(0, min(entries - 1, rank - batch - 1))))  # axes of tuples, so that the result fits
    indices = [*sizes[:batch], *draw(axes(SHORT, free)), entries]
    result = [*indices[:-1], *sizes[batch + entries :]]
    padded = [1] * (rank - len(result)) + result
    tensors = [described_as(sizes), indexed_as([1] * (rank - len(indices)) + indices)]
    tensors += [described_as(padded), described_as(sizes, True)] if operator == "SCATTER_ND" else [described_as(padded, True)]
    return kind(*tensors, rank, len(indices), *([batch] if operator == "GATHER_ND1" else []))


@st.composite
def resampling(draw, operator, rank):
    """The fields of a RESAMPLE behind the tensors: quotients, and floats that are none."""
    numbers = st.sampled_from([1, 2, 3, 0.5, 1 / 3, 4 / 3, 0.6, math.pi])
    offsets = st.sampled_from([0, 0.5, -0.5, 1 / 3, -2.25])
    direction = [draw(st.sampled_from(["INCREASING", "DECREASING"]))] if operator >= "RESAMPLE2" else []
    arrays = [draw(axes(numbers, rank)), *(draw(axes(offsets, rank)) for _ in range(2 * (operator != "RESAMPLE")))]
    return ["NEAREST_NEIGHBOR", *direction, rank, *arrays, *([draw(st.booleans())] if operator[-1] == "3" else [])]


@st.composite
def unfolding(draw, sizes, described_as):
    """The fields of an UNFOLD."""
    count = len(sizes) - 2
    start, end = (draw(axes(st.integers(0, 2), count)) for _ in range(2))
    whole = [sum(sums) for sums in zip(start, sizes[2:], end, strict=True)]
    windows = [draw(st.integers(1, min(size, 3))) for size in whole]
    dilations = [draw(st.integers(1, (size - 1) // (n - 1))) if n > 1 else 2 for size, n in zip(whole, windows, strict=True)]
    strides = draw(axes(st.integers(1, 3), count))
    blocks = [1 + (size - d * (n - 1) - 1) // s for size, n, d, s in zip(whole, windows, dilations, strides, strict=True)]
    result = [sizes[0], sizes[1] * math.prod(windows), math.prod(blocks)]
    return described_as(sizes), described_as(result, True), count, windows, strides, dilations, start, end


def places(tensor):
    """For each element of a tensor: its index in the buffer."""
    sizes = tuple(tensor.Sizes)
    strides = tensor.Strides or [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    total = np.zeros(sizes, np.int64)
    for axis, stride in enumerate(strides):
        total += np.arange(sizes[axis]).reshape([-1 if i == axis else 1 for i in range(len(sizes))]) * stride
    return total


def twin(desc, inputs):
    """What an operator makes of its inputs, by the twins of dmlops.reference, or as its page says in words."""
    ops, operator = dmlops.reference, desc.operator
    x = inputs.get("InputTensor")
    if operator == "SLICE":
        sizes = [(n - 1) * s + 1 for n, s in zip(desc.Sizes, desc.Strides, strict=True)]
        return ops.slice(x, desc.Offsets, sizes, desc.Strides)
    if operator in ("SLICE1", "SLICE_GRAD"):
        window = desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides
        if operator == "SLICE1":
            return ops.slice(x, *window, output_sizes=desc.OutputTensor.Sizes)
        return ops.slice_grad(inputs["InputGradientTensor"], desc.OutputGradientTensor.Sizes, *window)
    if operator.startswith(("DEPTH", "SPACE")):
        order = "CRD" if getattr(desc, "Order", 0) else "DCR"
        return getattr(ops, operator.lower().rstrip("1"))(x, desc.BlockSize, order=order)
    if operator == "REVERSE_SUBSEQUENCES":
        return ops.reverse_subsequences(x, inputs["SequenceLengthsTensor"], desc.Axis)
    if operator.startswith("PADDING"):
        value = desc.PaddingValue if operator == "PADDING1" else np.float32(desc.PaddingValue)
        value = np.array(value).astype(x.dtype)[()]
        return ops.padding(x, desc.StartPadding, desc.EndPadding, mode=desc.PaddingMode.name.lower(), value=value)
    if operator == "TILE":
        return ops.tile(x, desc.Repeats)
    if operator == "JOIN":
        return ops.join(inputs["InputTensors"], desc.Axis)
    if operator == "SPLIT":
        return ops.split(x, desc.Axis, [part.Sizes[desc.Axis] for part in desc.OutputTensors])
    if operator == "UPSAMPLE_2D":
        return ops.upsample(x, (desc.ScaleSize.Height, desc.ScaleSize.Width))
    if operator == "ACTIVATION_IDENTITY":
        return x
    if operator == "ELEMENT_WISE_IDENTITY":
        return scaled(x, desc.ScaleBias)
    if operator.startswith("ELEMENT_WISE_CLIP"):
        low, high = (max(min(int(v) if math.isfinite(v) else v, 255), -128) for v in (desc.Min, desc.Max))
        low, high = (int(np.clip(v, np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)) for v in (low, high))
        return np.array([max(low, min(v, high)) for v in scaled(x, desc.ScaleBias).ravel().tolist()], x.dtype).reshape(x.shape)
    if operator == "CAST":
        return x.astype(desc.OutputTensor.dtype)
    if operator == "ELEMENT_WISE_DEQUANTIZE_LINEAR":
        scale, zero = inputs["ScaleTensor"], inputs.get("ZeroPointTensor", np.zeros_like(x))
        with np.errstate(all="ignore"):
            return ((x.astype(int) - zero.astype(int)).astype(np.float32) * scale.astype(np.float32)).astype(scale.dtype)
    if operator.startswith("RESAMPLE"):
        return resampled(desc, x)
    if operator == "UNFOLD":
        return unfolded(desc, x)
    if "IndicesTensor" in inputs:
        return indexed(desc, x, inputs)
    shape, dtype = tuple(desc.OutputTensor.Sizes), np.dtype(desc.OutputTensor.DataType.name.lower())
    if operator == "FILL_VALUE_CONSTANT":
        return np.full(shape, desc.Value, dtype)
    if operator == "FILL_VALUE_SEQUENCE":
        values = [desc.ValueStart + k * desc.ValueDelta for k in range(math.prod(shape))]
        bits = 8 * dtype.itemsize
        wrapped = values if dtype.kind == "f" else np.array([v % 2**bits for v in values], f"u{dtype.itemsize}").view(dtype)
        return np.array(wrapped, dtype).reshape(shape)
    return diagonal(desc, shape, dtype, x)


def diagonal(desc, shape, dtype, x):
    """The pseudocode of the pages of DIAGONAL_MATRIX and DIAGONAL_MATRIX1."""
    result = np.zeros(shape, dtype) if x is None else x.copy()
    value = np.array(np.float32(desc.Value) if desc.operator == "DIAGONAL_MATRIX" else desc.Value).astype(dtype)
    for index in np.ndindex(shape):
        top = index[-1] - index[-2]
        if desc.operator == "DIAGONAL_MATRIX":
            fill = top == desc.Offset
        else:
            begin, end = desc.DiagonalFillBegin, desc.DiagonalFillEnd
            fill = (end >= begin) ^ (top >= begin) ^ (top < end)
        if fill:
            result[index] = value
    return result


def scaled(x, scale_bias):
    """x * Scale + Bias in single precision, cut to an integer that the type holds."""
    if scale_bias is None:
        return x
    limits = np.iinfo(x.dtype)
    result = x.copy()
    for index in np.ndindex(x.shape):
        value = float(np.float32(np.float32(x[index]) * np.float32(scale_bias.Scale)) + np.float32(scale_bias.Bias))
        result[index] = max(limits.min, min(limits.max, math.trunc(value)))
    return result


def simple(value):
    """A FLOAT as the quotient that it stands for."""
    single = np.float32(value)
    quotient = Fraction(float(single)).limit_denominator(1000)
    return quotient if np.float32(float(quotient)) == single else Fraction(float(single))


def resampled(desc, x):
    """The formula of the pages of RESAMPLE1 and RESAMPLE2, solved for the input's position."""
    for axis in range(x.ndim):
        before = simple(getattr(desc, "InputPixelOffsets", [0.5] * x.ndim)[axis])
        after = simple(getattr(desc, "OutputPixelOffsets", [-0.5] * x.ndim)[axis])
        index = []
        for k in range(desc.OutputTensor.Sizes[axis]):
            position = (k - after) / simple(desc.Scales[axis]) - before
            if not hasattr(desc, "RoundingDirection"):
                rounded = math.floor(position + Fraction(1, 2))
            else:
                rounded = math.ceil(position) if desc.RoundingDirection.name == "INCREASING" else math.floor(position)
            index.append(min(max(rounded, 0), x.shape[axis] - 1))
        x = np.take(x, index, axis)
    return x


def unfolded(desc, x):
    """Each window is a column, as the page of UNFOLD says in words."""
    x = np.pad(x, [(0, 0), (0, 0), *zip(desc.StartPadding, desc.EndPadding, strict=True)])
    spans = [d * (n - 1) + 1 for d, n in zip(desc.Dilations, desc.WindowSizes, strict=True)]
    starts = [range(0, size - span + 1, s) for size, span, s in zip(x.shape[2:], spans, desc.Strides, strict=True)]
    columns = []
    for corner in itertools.product(*starts):
        key = tuple(slice(c, c + span, d) for c, span, d in zip(corner, spans, desc.Dilations, strict=True))
        columns.append(x[(slice(None), slice(None), *key)].reshape(len(x), -1))
    return np.stack(columns, axis=-1)


def largest_index(desc):
    """The size of what indices name; of tuples, for each of their entries."""
    sizes = desc.InputTensor.Sizes if hasattr(desc, "InputTensor") else None
    if desc.operator == "ONE_HOT":
        return desc.OutputTensor.Sizes[desc.Axis]
    if desc.operator == "MAX_UNPOOLING":
        return math.prod(desc.OutputTensor.Sizes)
    if hasattr(desc, "Axis"):
        return sizes[desc.Axis]
    first = len(sizes) - desc.InputDimensionCount + getattr(desc, "BatchDimensionCount", 0)
    return np.array(sizes[first : first + desc.IndicesTensor.Sizes[-1]])


def indexed(desc, x, inputs):
    """The pseudocode of the pages of the operators with indices, element by element."""
    i = inputs["IndicesTensor"].astype(np.int64)
    sizes = tuple(desc.OutputTensor.Sizes)
    if desc.operator == "ONE_HOT":
        off, on = inputs["ValuesTensor"].ravel()[:2]
        depth, result = sizes[desc.Axis], np.full(sizes, off)
        for place in np.ndindex(i.shape):
            if -depth <= i[place] < depth:
                result[(*place[: desc.Axis], i[place], *place[desc.Axis + 1 :])] = on
        return result
    if desc.operator == "MAX_UNPOOLING":
        result = np.zeros(math.prod(sizes), x.dtype)
        for place in np.ndindex(i.shape):
            result[i[place]] = x[place]
        return result.reshape(sizes)
    if desc.operator == "GATHER":
        i = i.reshape(i.shape[i.ndim - desc.IndexDimensions :])
        return x.take(i % x.shape[desc.Axis], desc.Axis).reshape(sizes)
    if hasattr(desc, "Axis"):
        result = x.copy() if "UpdatesTensor" in inputs else np.empty(sizes, x.dtype)
        for place in np.ndindex(i.shape):
            other = (*place[: desc.Axis], i[place], *place[desc.Axis + 1 :])
            if "UpdatesTensor" in inputs:
                result[other] = inputs["UpdatesTensor"][place]
            else:
                result[place] = x[other]
        return result
    whole, batch = x.reshape(x.shape[x.ndim - desc.InputDimensionCount :]), getattr(desc, "BatchDimensionCount", 0)
    i = i.reshape(i.shape[i.ndim - desc.IndicesDimensionCount :])
    result = whole.copy()
    rows = np.empty((*i.shape[:-1], *whole.shape[batch + i.shape[-1] :]), x.dtype)
    updates = inputs["UpdatesTensor"].reshape(rows.shape) if "UpdatesTensor" in inputs else None
    for place in np.ndindex(i.shape[:-1]):
        other = (*place[:batch], *i[place])
        rows[place] = whole[other]
        if updates is not None:
            result[other] = updates[place]
    return (rows if updates is None else result).reshape(sizes)
