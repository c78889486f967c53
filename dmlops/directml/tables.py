"""What DirectML's pages say, as data: the ranks and data types of each operator, by feature level.

The rows stand in the order of the pages' sections "Tensor support", so that both can be read side by side. The documentation's
tables are made from this module by ``docs/directml_tables.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The feature levels, with their values in the enumeration DML_FEATURE_LEVEL. 6_4 is the last: DirectML is in maintenance.
LEVELS = {
    "1_0": 0x1000,
    "2_0": 0x2000,
    "2_1": 0x2100,
    "3_0": 0x3000,
    "3_1": 0x3100,
    "4_0": 0x4000,
    "4_1": 0x4100,
    "5_0": 0x5000,
    "5_1": 0x5100,
    "5_2": 0x5200,
    "6_0": 0x6000,
    "6_1": 0x6100,
    "6_2": 0x6200,
    "6_3": 0x6300,
    "6_4": 0x6400,
}

# Data types, as the pages list them.
FLOATS = ("FLOAT32", "FLOAT16")
NO_8_BIT = ("FLOAT32", "FLOAT16", "INT32", "INT16", "UINT32", "UINT16")
UP_TO_32_BIT = ("FLOAT32", "FLOAT16", "INT32", "INT16", "INT8", "UINT32", "UINT16", "UINT8")
NO_FLOAT64 = ("FLOAT32", "FLOAT16", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8")
NO_32_BIT = ("FLOAT32", "FLOAT16", "INT16", "INT8", "UINT16", "UINT8")
FLOATS_AND_8_BIT = ("FLOAT32", "FLOAT16", "INT8", "UINT8")
INTEGERS = ("INT32", "INT16", "INT8", "UINT32", "UINT16", "UINT8")
INDICES = ("INT64", "INT32", "UINT64", "UINT32")
ALL_TYPES = ("FLOAT64", *NO_FLOAT64)


@dataclass(frozen=True)
class Support:
    """What an operator takes from a feature level on: ranks from `ranks[0]` to `ranks[1]`, and data types.

    `types` is for all tensors but those of `others`, which maps names of tensors to types of their own.
    """

    ranks: tuple[int, int]
    types: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


WIN32 = "https://learn.microsoft.com/windows/win32/api/directml/"
WINDOWS_AI = "https://learn.microsoft.com/windows/ai/directml/"

# Documents that are about all operators.
HEADER = "DirectML.h"
TENSOR_PAGE = WIN32 + "ns-directml-dml_buffer_tensor_desc"
FLAGS_PAGE = WIN32 + "ne-directml-dml_tensor_flags"
SIZE_PAGE = WINDOWS_AI + "dml-helper-functions"
CONSTANTS_PAGE = WINDOWS_AI + "directml-constants"
HISTORY_PAGE = WINDOWS_AI + "dml-feature-level-history"

PAGES = {
    "SLICE": WIN32 + "ns-directml-dml_slice_operator_desc",
    "SLICE1": WIN32 + "ns-directml-dml_slice1_operator_desc",
    "SLICE_GRAD": WIN32 + "ns-directml-dml_slice_grad_operator_desc",
    "DEPTH_TO_SPACE": WIN32 + "ns-directml-dml_depth_to_space_operator_desc",
    "DEPTH_TO_SPACE1": WIN32 + "ns-directml-dml_depth_to_space1_operator_desc",
    "SPACE_TO_DEPTH": WIN32 + "ns-directml-dml_space_to_depth_operator_desc",
    "SPACE_TO_DEPTH1": WIN32 + "ns-directml-dml_space_to_depth1_operator_desc",
    "REVERSE_SUBSEQUENCES": WIN32 + "ns-directml-dml_reverse_subsequences_desc",
    "PADDING": WIN32 + "ns-directml-dml_padding_operator_desc",
    "PADDING1": WINDOWS_AI + "api/ns-directml-dml_padding1_operator_desc",
    "TILE": WIN32 + "ns-directml-dml_tile_operator_desc",
    "JOIN": WIN32 + "ns-directml-dml_join_operator_desc",
    "SPLIT": WIN32 + "ns-directml-dml_split_operator_desc",
    "ELEMENT_WISE_IDENTITY": WIN32 + "ns-directml-dml_element_wise_identity_operator_desc",
    "FILL_VALUE_CONSTANT": WIN32 + "ns-directml-dml_fill_value_constant_operator_desc",
    "UPSAMPLE_2D": WIN32 + "ns-directml-dml_upsample_2d_operator_desc",
    "DIAGONAL_MATRIX": WIN32 + "ns-directml-dml_diagonal_matrix_operator_desc",
    "DIAGONAL_MATRIX1": WINDOWS_AI + "api/ns-directml-dml_diagonal_matrix1_operator_desc",
    "FILL_VALUE_SEQUENCE": WIN32 + "ns-directml-dml_fill_value_sequence_operator_desc",
    "RESAMPLE": WIN32 + "ns-directml-dml_resample_operator_desc",
    "RESAMPLE1": WIN32 + "ns-directml-dml_resample1_operator_desc",
    "RESAMPLE2": WINDOWS_AI + "api/ns-directml-dml_resample2_operator_desc",
    "RESAMPLE3": WINDOWS_AI + "api/ns-directml-dml_resample3_operator_desc",
    "UNFOLD": WINDOWS_AI + "api/ns-directml-dml_unfold_operator_desc",
    "ACTIVATION_IDENTITY": WIN32 + "ns-directml-dml_activation_identity_operator_desc",
    "CAST": WIN32 + "ns-directml-dml_cast_operator_desc",
    "ELEMENT_WISE_CLIP": WIN32 + "ns-directml-dml_element_wise_clip_operator_desc",
    "ELEMENT_WISE_CLIP1": WINDOWS_AI + "api/ns-directml-dml_element_wise_clip1_operator_desc",
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": WIN32 + "ns-directml-dml_element_wise_dequantize_linear_operator_desc",
    "GATHER": WIN32 + "ns-directml-dml_gather_operator_desc",
    "GATHER_ELEMENTS": WIN32 + "ns-directml-dml_gather_elements_operator_desc",
    "GATHER_ND": WIN32 + "ns-directml-dml_gather_nd_operator_desc",
    "GATHER_ND1": WIN32 + "ns-directml-dml_gather_nd1_operator_desc",
    "SCATTER_ELEMENTS": WIN32 + "ns-directml-dml_scatter_operator_desc",
    "SCATTER": WIN32 + "ns-directml-dml_scatter_operator_desc",
    "SCATTER_ND": WIN32 + "ns-directml-dml_scatter_nd_operator_desc",
    "MAX_UNPOOLING": WIN32 + "ns-directml-dml_max_unpooling_operator_desc",
    "ONE_HOT": WIN32 + "ns-directml-dml_one_hot_operator_desc",
}

# "DML_FEATURE_LEVEL_... and above" of each page, the newest first, as there.
SUPPORT: dict[str, dict[str, Support]] = {
    "SLICE": {
        "4_1": Support((1, 8), ALL_TYPES),
        "3_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 5), UP_TO_32_BIT),
        "1_0": Support((4, 5), NO_8_BIT),
    },
    "SLICE1": {
        "4_1": Support((1, 8), ALL_TYPES),
        "3_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 5), UP_TO_32_BIT),
    },
    "SLICE_GRAD": {
        "4_1": Support((1, 8), ALL_TYPES),
        "3_1": Support((1, 8), UP_TO_32_BIT),
        "3_0": Support((4, 5), UP_TO_32_BIT),
    },
    "DEPTH_TO_SPACE": {
        "5_0": Support((4, 4), ALL_TYPES),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "1_0": Support((4, 4), FLOATS),
    },
    "DEPTH_TO_SPACE1": {
        "5_0": Support((4, 4), ALL_TYPES),
        "2_1": Support((4, 4), UP_TO_32_BIT),
    },
    "SPACE_TO_DEPTH": {
        "5_0": Support((4, 4), ALL_TYPES),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "1_0": Support((4, 4), FLOATS),
    },
    "SPACE_TO_DEPTH1": {
        "5_0": Support((4, 4), ALL_TYPES),
        "2_1": Support((4, 4), UP_TO_32_BIT),
    },
    "REVERSE_SUBSEQUENCES": {
        "5_0": Support((1, 8), ALL_TYPES, {"SequenceLengthsTensor": ("UINT64", "UINT32")}),
        "4_0": Support((1, 8), UP_TO_32_BIT, {"SequenceLengthsTensor": ("UINT32",)}),
        "3_0": Support((4, 5), UP_TO_32_BIT, {"SequenceLengthsTensor": ("UINT32",)}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"SequenceLengthsTensor": ("UINT32",)}),
    },
    "PADDING": {
        "5_0": Support((1, 8), ALL_TYPES),
        "3_1": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 5), UP_TO_32_BIT),
        "1_0": Support((4, 5), FLOATS),
    },
    "PADDING1": {
        "5_0": Support((1, 8), ALL_TYPES),
    },
    "TILE": {
        "4_1": Support((1, 8), NO_FLOAT64),
        "3_1": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "1_0": Support((4, 4), FLOATS),
    },
    "JOIN": {
        "4_1": Support((1, 8), ALL_TYPES),
        "3_0": Support((4, 5), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "1_0": Support((4, 4), NO_8_BIT),
    },
    "SPLIT": {
        "4_1": Support((1, 8), ALL_TYPES),
        "3_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "1_0": Support((4, 4), NO_8_BIT),
    },
    "ELEMENT_WISE_IDENTITY": {
        "4_1": Support((1, 8), ALL_TYPES),
        "3_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 5), UP_TO_32_BIT),
        "1_0": Support((4, 5), FLOATS),
    },
    "FILL_VALUE_CONSTANT": {
        "4_1": Support((1, 8), ALL_TYPES),
        "4_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
    },
    "UPSAMPLE_2D": {
        "1_0": Support((4, 5), FLOATS),
    },
    "DIAGONAL_MATRIX": {
        "5_1": Support((2, 4), ALL_TYPES),
        "4_0": Support((2, 4), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "2_0": Support((4, 4), FLOATS),
    },
    "DIAGONAL_MATRIX1": {
        "5_1": Support((2, 4), ALL_TYPES),
    },
    "FILL_VALUE_SEQUENCE": {
        "5_0": Support((1, 8), NO_FLOAT64),
        "4_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
    },
    "RESAMPLE": {
        "6_2": Support((1, 4), FLOATS_AND_8_BIT),
        "5_1": Support((1, 4), FLOATS),
        "2_0": Support((4, 4), FLOATS),
    },
    "RESAMPLE1": {
        "6_2": Support((1, 4), FLOATS_AND_8_BIT),
        "5_1": Support((1, 4), FLOATS),
        "2_1": Support((4, 4), FLOATS),
    },
    "RESAMPLE2": {
        "6_2": Support((1, 4), FLOATS_AND_8_BIT),
        "5_1": Support((1, 4), FLOATS),
    },
    "RESAMPLE3": {
        "6_4": Support((1, 4), FLOATS_AND_8_BIT),
    },
    "UNFOLD": {  # the page leaves the data types blank
        "6_4": Support((3, 8), ALL_TYPES),
    },
    "ACTIVATION_IDENTITY": {
        "3_0": Support((1, 8), FLOATS),
        "2_0": Support((4, 5), FLOATS),
        "1_0": Support((4, 4), FLOATS),
    },
    "CAST": {
        "4_1": Support((1, 8), ALL_TYPES, {"OutputTensor": ALL_TYPES}),
        "3_1": Support((1, 8), NO_FLOAT64, {"OutputTensor": NO_FLOAT64}),
        "3_0": Support((4, 4), NO_FLOAT64, {"OutputTensor": NO_FLOAT64}),
        "1_0": Support((4, 4), NO_32_BIT, {"OutputTensor": NO_32_BIT}),
    },
    "ELEMENT_WISE_CLIP": {
        "5_0": Support((1, 8), NO_FLOAT64),
        "3_0": Support((1, 8), UP_TO_32_BIT),
        "2_1": Support((4, 4), UP_TO_32_BIT),
        "1_0": Support((4, 4), FLOATS),
    },
    "ELEMENT_WISE_CLIP1": {
        "5_0": Support((1, 8), NO_FLOAT64),
    },
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": {
        "6_0": Support((1, 8), INTEGERS, {"ScaleTensor": FLOATS, "OutputTensor": FLOATS}),
        "3_0": Support((1, 8), INTEGERS, {"ScaleTensor": ("FLOAT32",), "OutputTensor": ("FLOAT32",)}),
        "2_1": Support((4, 4), INTEGERS, {"ScaleTensor": ("FLOAT32",), "OutputTensor": ("FLOAT32",)}),
        "1_0": Support((4, 4), ("UINT8",), {"ScaleTensor": ("FLOAT32",), "OutputTensor": ("FLOAT32",)}),
    },
    "GATHER": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
        "1_0": Support((4, 4), FLOATS, {"IndicesTensor": ("UINT32",)}),
    },
    "GATHER_ELEMENTS": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
    },
    "GATHER_ND": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
    },
    "GATHER_ND1": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
    },
    "SCATTER_ELEMENTS": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
        "1_0": Support((4, 4), FLOATS, {"IndicesTensor": ("UINT32",)}),
    },
    "SCATTER": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
        "1_0": Support((4, 4), FLOATS, {"IndicesTensor": ("UINT32",)}),
    },
    "SCATTER_ND": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
    },
    "MAX_UNPOOLING": {
        "5_0": Support((4, 4), NO_FLOAT64, {"IndicesTensor": ("UINT64", "UINT32")}),
        "3_0": Support((4, 4), FLOATS, {"IndicesTensor": ("UINT32",)}),
    },
    "ONE_HOT": {
        "4_1": Support((1, 8), ALL_TYPES, {"IndicesTensor": INDICES}),
        "3_0": Support((1, 8), UP_TO_32_BIT, {"IndicesTensor": INDICES}),
        "2_1": Support((4, 4), UP_TO_32_BIT, {"IndicesTensor": ("UINT32",)}),
        "2_0": Support((4, 4), FLOATS, {"IndicesTensor": ("UINT32",)}),
    },
}

# The first feature level of each padding mode: the pages of PADDING and PADDING1, and the history for WRAP.
PADDING_MODES = {"CONSTANT": "1_0", "EDGE": "1_0", "REFLECTION": "1_0", "SYMMETRIC": "3_0", "WRAP": "6_4"}

# From which feature level DEQUANTIZE_LINEAR's ZeroPointTensor may be left out.
NO_ZERO_POINT = "6_2"

# Tensors whose DimensionCount is not that of the operator's first tensor.
OTHER_RANKS = {"UNFOLD": ("OutputTensor",)}

# Limits of every tensor.
MAX_ELEMENTS = 2**32 - 1  # TENSOR_PAGE
MIN_ALIGNMENT = 16  # bytes, of a binding's offset: DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT, CONSTANTS_PAGE


def support_at(operator: str, level: str) -> Support | None:
    """Return what `operator` takes at a feature level; None where the operator does not exist yet."""
    rows = (row for first, row in SUPPORT[operator].items() if LEVELS[first] <= LEVELS[level])
    return next(rows, None)


def own_types(operator: str) -> set[str]:
    """The tensors of an operator whose data type is not that of the others."""
    return {name for support in SUPPORT[operator].values() for name in support.others}


def first_level(operator: str) -> str:
    return list(SUPPORT[operator])[-1]
