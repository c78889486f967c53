"""The rules of each operator beyond ranks and data types: sizes that must agree, windows, modes, values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dmlops.directml import descs, elementwise, indexing, sampling
from dmlops.directml.checks import Checks
from dmlops.directml.enums import DML_PADDING_MODE, DML_TENSOR_DATA_TYPE
from dmlops.directml.tables import LEVELS, PADDING_MODES
from dmlops.directml.tensor import TENSOR_DESC


def slice_(check: Checks, desc: descs.SLICE_OPERATOR_DESC) -> None:
    if not check.counts("DimensionCount", desc.DimensionCount, "Offsets", "Sizes", "Strides"):
        return
    check.sizes("OutputTensor", desc.OutputTensor, desc.Sizes, "the Sizes of the slice")
    for axis, stride in enumerate(desc.Strides):
        offset, size, limit = desc.Offsets[axis], desc.Sizes[axis], desc.InputTensor.Sizes[axis]
        check.that(stride != 0, f"Strides[{axis}]", stride, "1 or more")
        check.positive(size, f"Sizes[{axis}]")
        last = offset + max(size - 1, 0) * stride
        check.that(
            last < limit or (not check.level and size == 0),
            f"Offsets[{axis}] + (Sizes[{axis}] - 1) * Strides[{axis}]",
            last,
            f"at most {limit - 1}: InputTensor.Sizes[{axis}] is {limit}",
        )


def slice1(check: Checks, desc: descs.SLICE1_OPERATOR_DESC) -> None:
    _window(check, desc, desc.InputTensor, "InputTensor", desc.OutputTensor, "OutputTensor")


def slice_grad(check: Checks, desc: descs.SLICE_GRAD_OPERATOR_DESC) -> None:
    _window(check, desc, desc.OutputGradientTensor, "OutputGradientTensor", desc.InputGradientTensor, "InputGradientTensor")


def _window(
    check: Checks,
    desc: descs.SLICE1_OPERATOR_DESC | descs.SLICE_GRAD_OPERATOR_DESC,
    whole: TENSOR_DESC,
    whole_name: str,
    part: TENSOR_DESC,
    part_name: str,
) -> None:
    if not check.counts("DimensionCount", desc.DimensionCount, "InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"):
        return
    for axis, stride in enumerate(desc.InputWindowStrides):
        offset, size, limit = desc.InputWindowOffsets[axis], desc.InputWindowSizes[axis], whole.Sizes[axis]
        check.positive(size, f"InputWindowSizes[{axis}]")
        check.that(
            offset + size <= limit,
            f"InputWindowOffsets[{axis}] + InputWindowSizes[{axis}]",
            offset + size,
            f"at most {whole_name}.Sizes[{axis}], {limit}",
        )
        if check.that(stride != 0, f"InputWindowStrides[{axis}]", stride, "positive or negative") and size:
            most = 1 + (size - 1) // abs(stride)
            check.that(
                1 <= part.Sizes[axis] <= most,
                f"{part_name}.Sizes[{axis}]",
                part.Sizes[axis],
                f"1 to {most}, which a window of {size} holds in steps of {abs(stride)}",
            )
        elif stride:
            check.that(part.Sizes[axis] == 0, f"{part_name}.Sizes[{axis}]", part.Sizes[axis], "0, as the window is empty")


def depth_to_space(check: Checks, desc: descs.DEPTH_TO_SPACE_OPERATOR_DESC | descs.DEPTH_TO_SPACE1_OPERATOR_DESC) -> None:
    _blocks(check, desc.BlockSize, desc.InputTensor, "InputTensor", desc.OutputTensor, "OutputTensor")


def space_to_depth(check: Checks, desc: descs.SPACE_TO_DEPTH_OPERATOR_DESC | descs.SPACE_TO_DEPTH1_OPERATOR_DESC) -> None:
    _blocks(check, desc.BlockSize, desc.OutputTensor, "OutputTensor", desc.InputTensor, "InputTensor")


def _blocks(check: Checks, block: int, deep: TENSOR_DESC, deep_name: str, flat: TENSOR_DESC, flat_name: str) -> None:
    """`deep` has many channels, `flat` many pixels. Whichever is the input divides; the output's sizes follow."""
    if not check.that(block > 0, "BlockSize", block, "1 or more"):
        return
    if not check.that(deep.rank == 4, f"{deep_name}.DimensionCount", deep.rank, "4: batch, channels, height and width"):
        return
    batch, channels, height, width = deep.Sizes
    if deep_name == "InputTensor":
        if check.that(
            channels % block**2 == 0, "InputTensor.Sizes[1]", channels, f"a multiple of BlockSize * BlockSize, {block**2}"
        ):
            sizes = (batch, channels // block**2, height * block, width * block)
            check.sizes("OutputTensor", flat, sizes, "channels / BlockSize**2, height and width * BlockSize")
        return
    batch, channels, height, width = flat.Sizes
    divisible = [
        check.that(size % block == 0, f"{flat_name}.Sizes[{axis}]", size, f"a multiple of BlockSize, {block}")
        for axis, size in ((2, height), (3, width))
    ]
    if all(divisible):
        sizes = (batch, channels * block**2, height // block, width // block)
        check.sizes("OutputTensor", deep, sizes, "channels * BlockSize**2, height and width / BlockSize")


def reverse_subsequences(check: Checks, desc: descs.REVERSE_SUBSEQUENCES_OPERATOR_DESC) -> None:
    check.sizes("OutputTensor", desc.OutputTensor, desc.InputTensor.Sizes, "those of InputTensor")
    lengths = desc.SequenceLengthsTensor
    check.type_to_run("SequenceLengthsTensor", lengths, ("UINT64", "UINT32"))
    if check.axis(desc.Axis, desc.InputTensor):
        sizes = [1 if axis == desc.Axis else size for axis, size in enumerate(desc.InputTensor.Sizes)]
        check.sizes("SequenceLengthsTensor", lengths, sizes, "those of InputTensor, but 1 on Axis")


def padding(check: Checks, desc: descs.PADDING_OPERATOR_DESC | descs.PADDING1_OPERATOR_DESC) -> None:
    mode = DML_PADDING_MODE.of(desc.PaddingMode)
    if check.level:
        allowed = [name for name, first in PADDING_MODES.items() if LEVELS[first] <= LEVELS[check.level]]
        check.that(mode.name in allowed, "PaddingMode", mode, ", ".join(allowed))
    if isinstance(desc, descs.PADDING1_OPERATOR_DESC):
        value_type = DML_TENSOR_DATA_TYPE.of(desc.PaddingValueDataType)
        check.same_type("PaddingValueDataType", value_type, desc.OutputTensor)
        if mode == DML_PADDING_MODE.CONSTANT:
            check.scalar("PaddingValue", desc.PaddingValue, value_type)
    elif mode == DML_PADDING_MODE.CONSTANT:
        check.float_value("PaddingValue", desc.PaddingValue, desc.OutputTensor)
    if check.counts("DimensionCount", desc.DimensionCount, "StartPadding", "EndPadding"):
        sizes = [sum(sums) for sums in zip(desc.StartPadding, desc.InputTensor.Sizes, desc.EndPadding, strict=True)]
        check.sizes("OutputTensor", desc.OutputTensor, sizes, "InputTensor.Sizes + StartPadding + EndPadding")


def tile(check: Checks, desc: descs.TILE_OPERATOR_DESC) -> None:
    if not check.counts("RepeatsCount", desc.RepeatsCount, "Repeats"):
        return
    for axis, repeats in enumerate(desc.Repeats):
        check.positive(repeats, f"Repeats[{axis}]")
    sizes = [size * repeats for size, repeats in zip(desc.InputTensor.Sizes, desc.Repeats, strict=True)]
    check.sizes("OutputTensor", desc.OutputTensor, sizes, "InputTensor.Sizes * Repeats")


def join(check: Checks, desc: descs.JOIN_OPERATOR_DESC) -> None:
    check.that(
        desc.InputCount == len(desc.InputTensors), "InputCount", desc.InputCount, f"{len(desc.InputTensors)}, of InputTensors"
    )
    _parts(check, desc.Axis, desc.InputTensors, "InputTensors", desc.OutputTensor, "OutputTensor")


def split(check: Checks, desc: descs.SPLIT_OPERATOR_DESC) -> None:
    check.that(
        desc.OutputCount == len(desc.OutputTensors),
        "OutputCount",
        desc.OutputCount,
        f"{len(desc.OutputTensors)}, of OutputTensors",
    )
    _parts(check, desc.Axis, desc.OutputTensors, "OutputTensors", desc.InputTensor, "InputTensor")


def _parts(
    check: Checks, axis: int, parts: Sequence[TENSOR_DESC], parts_name: str, whole: TENSOR_DESC, whole_name: str
) -> None:
    """Along `axis` the sizes of the parts add up to that of the whole; on all other axes they are the same."""
    if not check.that(len(parts) > 0, f"len({parts_name})", 0, "1 or more") or not check.axis(axis, whole, whole_name):
        return
    for index, part in enumerate(parts):
        sizes = list(whole.Sizes)
        sizes[axis] = part.Sizes[axis]
        check.sizes(f"{parts_name}[{index}]", part, sizes, f"those of {whole_name}, but on Axis")
    total = sum(part.Sizes[axis] for part in parts)
    check.that(
        total == whole.Sizes[axis],
        f"{whole_name}.Sizes[{axis}]",
        whole.Sizes[axis],
        f"{total}, what the sizes of {parts_name} on Axis add up to",
    )


def sequence(check: Checks, desc: descs.FILL_VALUE_SEQUENCE_OPERATOR_DESC) -> None:
    kind = DML_TENSOR_DATA_TYPE.of(desc.ValueDataType)
    check.same_type("ValueDataType", kind, desc.OutputTensor)
    check.scalar("ValueStart", desc.ValueStart, kind)
    if kind.name.startswith("UINT") and isinstance(desc.ValueDelta, int) and desc.ValueDelta < 0:
        kind = DML_TENSOR_DATA_TYPE.of(kind.name.removeprefix("U"))  # as in the page's second example
    check.scalar("ValueDelta", desc.ValueDelta, kind)


def fill(check: Checks, desc: descs.FILL_VALUE_CONSTANT_OPERATOR_DESC) -> None:
    kind = DML_TENSOR_DATA_TYPE.of(desc.ValueDataType)
    check.same_type("ValueDataType", kind, desc.OutputTensor)
    check.scalar("Value", desc.Value, kind)


def upsample(check: Checks, desc: descs.UPSAMPLE_2D_OPERATOR_DESC) -> None:
    check.nearest(desc.InterpolationMode)
    rank = desc.InputTensor.rank
    if not check.that(rank >= 2, "InputTensor.DimensionCount", rank, "2 or more: height and width are the last axes"):
        return
    height, width = desc.ScaleSize.Height, desc.ScaleSize.Width
    check.that(height > 0, "ScaleSize.Height", height, "1 or more")
    check.that(width > 0, "ScaleSize.Width", width, "1 or more")
    *batch, rows, columns = desc.InputTensor.Sizes
    sizes = [*batch, rows * height, columns * width]
    check.sizes("OutputTensor", desc.OutputTensor, sizes, "InputTensor.Sizes, height and width times ScaleSize")


def diagonal(check: Checks, desc: descs.DIAGONAL_MATRIX_OPERATOR_DESC) -> None:
    check.that(desc.OutputTensor.rank >= 2, "OutputTensor.DimensionCount", desc.OutputTensor.rank, "2 or more")
    check.float_value("Value", desc.Value, desc.OutputTensor)


def diagonal1(check: Checks, desc: descs.DIAGONAL_MATRIX1_OPERATOR_DESC) -> None:
    check.that(desc.OutputTensor.rank >= 2, "OutputTensor.DimensionCount", desc.OutputTensor.rank, "2 or more")
    if desc.InputTensor is not None:
        check.sizes("OutputTensor", desc.OutputTensor, desc.InputTensor.Sizes, "those of InputTensor")
    kind = DML_TENSOR_DATA_TYPE.of(desc.ValueDataType)
    check.same_type("ValueDataType", kind, desc.OutputTensor)
    check.scalar("Value", desc.Value, kind)


RULES: dict[str, Callable[[Checks, Any], None]] = {
    "SLICE": slice_,
    "SLICE1": slice1,
    "SLICE_GRAD": slice_grad,
    "DEPTH_TO_SPACE": depth_to_space,
    "DEPTH_TO_SPACE1": depth_to_space,
    "SPACE_TO_DEPTH": space_to_depth,
    "SPACE_TO_DEPTH1": space_to_depth,
    "REVERSE_SUBSEQUENCES": reverse_subsequences,
    "PADDING": padding,
    "PADDING1": padding,
    "TILE": tile,
    "JOIN": join,
    "SPLIT": split,
    "FILL_VALUE_CONSTANT": fill,
    "UPSAMPLE_2D": upsample,
    "DIAGONAL_MATRIX": diagonal,
    "DIAGONAL_MATRIX1": diagonal1,
    "FILL_VALUE_SEQUENCE": sequence,
    **sampling.RULES,
    **elementwise.RULES,
    **indexing.RULES,
}
