"""DirectML's descriptions of operators as frozen dataclasses, fields named and ordered as in DirectML.h.

Enumerations may be given as members, names or numbers; sequences of ints as lists, tuples or arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dmlops.directml.fields import (
    DATA_TYPE,
    FLOAT,
    INT,
    INTERPOLATION_MODE,
    INTS,
    ORDER,
    PADDING_MODE,
    SCALAR_UNION,
    UINT,
    UINTS,
)
from dmlops.directml.tensor import OPERATOR_DESC, SCALE_BIAS, SIZE_2D, TENSOR_DESC


@dataclass(frozen=True)
class SLICE_OPERATOR_DESC(OPERATOR_DESC):
    """A window of a tensor, with positive strides: see :func:`dmlops.slice`."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    DimensionCount: UINT
    Offsets: UINTS
    Sizes: UINTS
    Strides: UINTS


@dataclass(frozen=True)
class SLICE1_OPERATOR_DESC(OPERATOR_DESC):
    """A window of a tensor, with strides of either sign: see :func:`dmlops.slice`."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    DimensionCount: UINT
    InputWindowOffsets: UINTS
    InputWindowSizes: UINTS
    InputWindowStrides: INTS


@dataclass(frozen=True)
class SLICE_GRAD_OPERATOR_DESC(OPERATOR_DESC):
    """Zeros with a tensor in a window: see ``dmlops.slice_grad``."""

    InputGradientTensor: TENSOR_DESC
    OutputGradientTensor: TENSOR_DESC
    DimensionCount: UINT
    InputWindowOffsets: UINTS
    InputWindowSizes: UINTS
    InputWindowStrides: INTS


@dataclass(frozen=True)
class DEPTH_TO_SPACE_OPERATOR_DESC(OPERATOR_DESC):
    """Channels become blocks of pixels: see :func:`dmlops.depth_to_space`."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    BlockSize: UINT


@dataclass(frozen=True)
class DEPTH_TO_SPACE1_OPERATOR_DESC(OPERATOR_DESC):
    """Channels become blocks of pixels, in either order: see :func:`dmlops.depth_to_space`."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    BlockSize: UINT
    Order: ORDER


@dataclass(frozen=True)
class SPACE_TO_DEPTH_OPERATOR_DESC(OPERATOR_DESC):
    """Blocks of pixels become channels: see :func:`dmlops.space_to_depth`."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    BlockSize: UINT


@dataclass(frozen=True)
class SPACE_TO_DEPTH1_OPERATOR_DESC(OPERATOR_DESC):
    """Blocks of pixels become channels, in either order: see :func:`dmlops.space_to_depth`."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    BlockSize: UINT
    Order: ORDER


@dataclass(frozen=True)
class REVERSE_SUBSEQUENCES_OPERATOR_DESC(OPERATOR_DESC):
    """The beginning of each sequence is reversed: see :func:`dmlops.reverse_subsequences`."""

    InputTensor: TENSOR_DESC
    SequenceLengthsTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    Axis: UINT


@dataclass(frozen=True)
class PADDING_OPERATOR_DESC(OPERATOR_DESC):
    """Elements are added around a tensor, their value a float: see ``dmlops.padding``."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    PaddingMode: PADDING_MODE
    PaddingValue: FLOAT
    DimensionCount: UINT
    StartPadding: UINTS
    EndPadding: UINTS


@dataclass(frozen=True)
class PADDING1_OPERATOR_DESC(OPERATOR_DESC):
    """Elements are added around a tensor: see ``dmlops.padding``."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    PaddingMode: PADDING_MODE
    PaddingValueDataType: DATA_TYPE
    PaddingValue: SCALAR_UNION
    DimensionCount: UINT
    StartPadding: UINTS
    EndPadding: UINTS


@dataclass(frozen=True)
class TILE_OPERATOR_DESC(OPERATOR_DESC):
    """A tensor is repeated along each axis: see ``dmlops.tile``."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    RepeatsCount: UINT
    Repeats: UINTS


@dataclass(frozen=True)
class JOIN_OPERATOR_DESC(OPERATOR_DESC):
    """Tensors are put one after the other: see ``dmlops.join``."""

    InputCount: UINT
    InputTensors: Sequence[TENSOR_DESC]
    OutputTensor: TENSOR_DESC
    Axis: UINT


@dataclass(frozen=True)
class SPLIT_OPERATOR_DESC(OPERATOR_DESC):
    """A tensor is cut into parts: see ``dmlops.split``."""

    InputTensor: TENSOR_DESC
    OutputCount: UINT
    OutputTensors: Sequence[TENSOR_DESC]
    Axis: UINT


@dataclass(frozen=True)
class ELEMENT_WISE_IDENTITY_OPERATOR_DESC(OPERATOR_DESC):
    """A copy. With strides that differ it is a transpose, a packing or a broadcast; `ScaleBias` would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    ScaleBias: SCALE_BIAS | None = None


@dataclass(frozen=True)
class FILL_VALUE_CONSTANT_OPERATOR_DESC(OPERATOR_DESC):
    """One value everywhere."""

    OutputTensor: TENSOR_DESC
    ValueDataType: DATA_TYPE
    Value: SCALAR_UNION


@dataclass(frozen=True)
class UPSAMPLE_2D_OPERATOR_DESC(OPERATOR_DESC):
    """Each pixel becomes a block of equal pixels: see ``dmlops.upsample``. LINEAR would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    ScaleSize: SIZE_2D
    InterpolationMode: INTERPOLATION_MODE


@dataclass(frozen=True)
class DIAGONAL_MATRIX_OPERATOR_DESC(OPERATOR_DESC):
    """One value on a diagonal, zeros elsewhere."""

    OutputTensor: TENSOR_DESC
    Offset: INT
    Value: FLOAT


@dataclass(frozen=True)
class DIAGONAL_MATRIX1_OPERATOR_DESC(OPERATOR_DESC):
    """One value on a band of diagonals, or outside of it; the input or zeros elsewhere."""

    InputTensor: TENSOR_DESC | None
    OutputTensor: TENSOR_DESC
    ValueDataType: DATA_TYPE
    Value: SCALAR_UNION
    DiagonalFillBegin: INT
    DiagonalFillEnd: INT


DESCS: dict[str, type[OPERATOR_DESC]] = {
    kind.__name__.removesuffix("_OPERATOR_DESC"): kind for kind in OPERATOR_DESC.__subclasses__()
}
