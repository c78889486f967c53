"""DirectML's descriptions of operators as frozen dataclasses, fields named and ordered as in DirectML.h.

Enumerations may be given as members, names or numbers; sequences of ints as lists, tuples or arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dmlops.directml.fields import (
    AXIS_DIRECTION,
    BOOL,
    DATA_TYPE,
    FLOAT,
    FLOATS,
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
    """A copy. With strides that differ it is a transpose, a packing or a broadcast.

    A `ScaleBias` is a table for 8-bit integers; else it would compute.
    """

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


@dataclass(frozen=True)
class FILL_VALUE_SEQUENCE_OPERATOR_DESC(OPERATOR_DESC):
    """Numbers at equal distances, in C order."""

    OutputTensor: TENSOR_DESC
    ValueDataType: DATA_TYPE
    ValueStart: SCALAR_UNION
    ValueDelta: SCALAR_UNION


@dataclass(frozen=True)
class RESAMPLE_OPERATOR_DESC(OPERATOR_DESC):
    """A tensor resized by the nearest elements: see ``dmlops.resize_nearest``. LINEAR would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InterpolationMode: INTERPOLATION_MODE
    ScaleCount: UINT
    Scales: FLOATS


@dataclass(frozen=True)
class RESAMPLE1_OPERATOR_DESC(OPERATOR_DESC):
    """A tensor resized by the nearest elements, with pixel offsets: see ``dmlops.resize_nearest``. LINEAR would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InterpolationMode: INTERPOLATION_MODE
    DimensionCount: UINT
    Scales: FLOATS
    InputPixelOffsets: FLOATS
    OutputPixelOffsets: FLOATS


@dataclass(frozen=True)
class RESAMPLE2_OPERATOR_DESC(OPERATOR_DESC):
    """A tensor resized by the elements before or behind: see ``dmlops.resize_nearest``. LINEAR would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InterpolationMode: INTERPOLATION_MODE
    RoundingDirection: AXIS_DIRECTION
    DimensionCount: UINT
    Scales: FLOATS
    InputPixelOffsets: FLOATS
    OutputPixelOffsets: FLOATS


@dataclass(frozen=True)
class RESAMPLE3_OPERATOR_DESC(OPERATOR_DESC):
    """As RESAMPLE2; `Antialiased` changes LINEAR only, which would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InterpolationMode: INTERPOLATION_MODE
    RoundingDirection: AXIS_DIRECTION
    DimensionCount: UINT
    Scales: FLOATS
    InputPixelOffsets: FLOATS
    OutputPixelOffsets: FLOATS
    Antialiased: BOOL


@dataclass(frozen=True)
class UNFOLD_OPERATOR_DESC(OPERATOR_DESC):
    """Sliding windows of the spatial axes, each a column: see ``dmlops.sliding_windows``."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    DimensionCount: UINT
    WindowSizes: UINTS
    Strides: UINTS
    Dilations: UINTS
    StartPadding: UINTS
    EndPadding: UINTS


@dataclass(frozen=True)
class ACTIVATION_IDENTITY_OPERATOR_DESC(OPERATOR_DESC):
    """A copy."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC


@dataclass(frozen=True)
class CAST_OPERATOR_DESC(OPERATOR_DESC):
    """Elements of another type: by a table from types of few values, else it would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC


@dataclass(frozen=True)
class ELEMENT_WISE_CLIP_OPERATOR_DESC(OPERATOR_DESC):
    """Elements between two limits: by a table of 8-bit integers, else it would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    ScaleBias: SCALE_BIAS | None
    Min: FLOAT
    Max: FLOAT


@dataclass(frozen=True)
class ELEMENT_WISE_CLIP1_OPERATOR_DESC(OPERATOR_DESC):
    """Elements between two limits of their own type: by a table of 8-bit integers, else it would compute."""

    InputTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    ScaleBias: SCALE_BIAS | None
    MinMaxDataType: DATA_TYPE
    Min: SCALAR_UNION
    Max: SCALAR_UNION


@dataclass(frozen=True)
class ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC(OPERATOR_DESC):
    """``(input - zero_point) * scale``: by tables of 8-bit integers, else it would compute."""

    InputTensor: TENSOR_DESC
    ScaleTensor: TENSOR_DESC
    ZeroPointTensor: TENSOR_DESC | None
    OutputTensor: TENSOR_DESC


@dataclass(frozen=True)
class GATHER_OPERATOR_DESC(OPERATOR_DESC):
    """Elements or rows at indices along an axis: see ``dmlops.take``."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    Axis: UINT
    IndexDimensions: UINT


@dataclass(frozen=True)
class GATHER_ELEMENTS_OPERATOR_DESC(OPERATOR_DESC):
    """Elements at indices along an axis, others for each position: see ``dmlops.take_along_axis``."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    Axis: UINT


@dataclass(frozen=True)
class GATHER_ND_OPERATOR_DESC(OPERATOR_DESC):
    """Elements or rows at tuples of indices: see ``dmlops.gather_nd``."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InputDimensionCount: UINT
    IndicesDimensionCount: UINT


@dataclass(frozen=True)
class GATHER_ND1_OPERATOR_DESC(OPERATOR_DESC):
    """Elements or rows at tuples of indices, others for each batch: see ``dmlops.gather_nd``."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InputDimensionCount: UINT
    IndicesDimensionCount: UINT
    BatchDimensionCount: UINT


@dataclass(frozen=True)
class SCATTER_ELEMENTS_OPERATOR_DESC(OPERATOR_DESC):
    """A copy with others at indices along an axis: see ``dmlops.put_along_axis``. Of equal indices the last one wins."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    UpdatesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    Axis: UINT


@dataclass(frozen=True)
class SCATTER_OPERATOR_DESC(OPERATOR_DESC):
    """The older name of SCATTER_ELEMENTS."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    UpdatesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    Axis: UINT


@dataclass(frozen=True)
class SCATTER_ND_OPERATOR_DESC(OPERATOR_DESC):
    """A copy with others at tuples of indices: see ``dmlops.scatter_nd``. Of equal tuples the last one wins."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    UpdatesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    InputDimensionCount: UINT
    IndicesDimensionCount: UINT


@dataclass(frozen=True)
class MAX_UNPOOLING_OPERATOR_DESC(OPERATOR_DESC):
    """Zeros with elements at flat indices of the output."""

    InputTensor: TENSOR_DESC
    IndicesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC


@dataclass(frozen=True)
class ONE_HOT_OPERATOR_DESC(OPERATOR_DESC):
    """One value at an index of an axis, another elsewhere: see ``dmlops.one_hot``."""

    IndicesTensor: TENSOR_DESC
    ValuesTensor: TENSOR_DESC
    OutputTensor: TENSOR_DESC
    Axis: UINT


DESCS: dict[str, type[OPERATOR_DESC]] = {
    kind.__name__.removesuffix("_OPERATOR_DESC"): kind for kind in OPERATOR_DESC.__subclasses__()
}
