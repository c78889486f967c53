"""Descriptions to test with: one of each operator for any rank and data type, and random ones with strides."""

import math

import numpy as np
from hypothesis import strategies as st

import dmlops
import dmlops.directml as dml
from dmlops.directml import descs, tables

OPERATORS = list(tables.SUPPORT)


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
    data_type = draw(st.sampled_from(support.types))
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
    return kind(described_as(sizes), described_as(sizes, True))


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
    if operator == "ELEMENT_WISE_IDENTITY":
        return x
    shape, dtype = tuple(desc.OutputTensor.Sizes), np.dtype(desc.OutputTensor.DataType.name.lower())
    if operator == "FILL_VALUE_CONSTANT":
        return np.full(shape, desc.Value, dtype)
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
