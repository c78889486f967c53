"""DirectML's operator descriptions, checked by the rules of a feature level and run on any system.

    >>> import numpy as np, dmlops.directml as dml
    >>> x, y = dml.TENSOR_DESC("UINT8", [1, 1, 2, 2]), dml.TENSOR_DESC("UINT8", [1, 1, 4, 2])
    >>> desc = dml.TILE_OPERATOR_DESC(x, y, RepeatsCount=4, Repeats=[1, 1, 2, 1])
    >>> dml.lowest_feature_level(desc)
    '2_1'
    >>> dml.execute(desc, {"InputTensor": np.arange(4, dtype=np.uint8)})["OutputTensor"].tolist()
    [[[[0, 1], [2, 3], [0, 1], [2, 3]]]]

Descriptions
    A frozen dataclass for each operator that moves data, fields named and ordered as in DirectML.h, and ``TENSOR_DESC``.
Feature levels
    ``validate`` tells every rule that a description breaks. ``lowest_feature_level`` returns the first level that takes it.
Running
    ``execute`` runs a description on arrays.
Models of DxDispatch, DirectML's test tool
    ``load`` reads one, ``run`` runs it, ``dump`` writes it. ``python -m dmlops run MODEL.json`` prints what DxDispatch prints.
"""

from __future__ import annotations

from dmlops.directml.descs import (
    ACTIVATION_IDENTITY_OPERATOR_DESC,
    CAST_OPERATOR_DESC,
    DEPTH_TO_SPACE1_OPERATOR_DESC,
    DEPTH_TO_SPACE_OPERATOR_DESC,
    DIAGONAL_MATRIX1_OPERATOR_DESC,
    DIAGONAL_MATRIX_OPERATOR_DESC,
    ELEMENT_WISE_CLIP1_OPERATOR_DESC,
    ELEMENT_WISE_CLIP_OPERATOR_DESC,
    ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC,
    ELEMENT_WISE_IDENTITY_OPERATOR_DESC,
    FILL_VALUE_CONSTANT_OPERATOR_DESC,
    FILL_VALUE_SEQUENCE_OPERATOR_DESC,
    GATHER_ELEMENTS_OPERATOR_DESC,
    GATHER_ND1_OPERATOR_DESC,
    GATHER_ND_OPERATOR_DESC,
    GATHER_OPERATOR_DESC,
    JOIN_OPERATOR_DESC,
    MAX_UNPOOLING_OPERATOR_DESC,
    ONE_HOT_OPERATOR_DESC,
    PADDING1_OPERATOR_DESC,
    PADDING_OPERATOR_DESC,
    RESAMPLE1_OPERATOR_DESC,
    RESAMPLE2_OPERATOR_DESC,
    RESAMPLE3_OPERATOR_DESC,
    RESAMPLE_OPERATOR_DESC,
    REVERSE_SUBSEQUENCES_OPERATOR_DESC,
    SCATTER_ELEMENTS_OPERATOR_DESC,
    SCATTER_ND_OPERATOR_DESC,
    SCATTER_OPERATOR_DESC,
    SLICE1_OPERATOR_DESC,
    SLICE_GRAD_OPERATOR_DESC,
    SLICE_OPERATOR_DESC,
    SPACE_TO_DEPTH1_OPERATOR_DESC,
    SPACE_TO_DEPTH_OPERATOR_DESC,
    SPLIT_OPERATOR_DESC,
    TILE_OPERATOR_DESC,
    UNFOLD_OPERATOR_DESC,
    UPSAMPLE_2D_OPERATOR_DESC,
)
from dmlops.directml.enums import (
    DML_AXIS_DIRECTION,
    DML_DEPTH_SPACE_ORDER,
    DML_INTERPOLATION_MODE,
    DML_PADDING_MODE,
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_FLAGS,
)
from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.execution import execute
from dmlops.directml.model import Binding, Dispatch, Model, Print, WriteFile, dump, load
from dmlops.directml.resources import ConstantValues, FileValues, ListedValues, MixedValues, Resource, SequenceValues
from dmlops.directml.runner import run
from dmlops.directml.tensor import OPERATOR_DESC, SCALE_BIAS, SIZE_2D, TENSOR_DESC
from dmlops.directml.validation import lowest_feature_level, validate

__all__ = [
    "ACTIVATION_IDENTITY_OPERATOR_DESC",
    "CAST_OPERATOR_DESC",
    "DEPTH_TO_SPACE1_OPERATOR_DESC",
    "DEPTH_TO_SPACE_OPERATOR_DESC",
    "DIAGONAL_MATRIX1_OPERATOR_DESC",
    "DIAGONAL_MATRIX_OPERATOR_DESC",
    "DML_AXIS_DIRECTION",
    "DML_DEPTH_SPACE_ORDER",
    "DML_INTERPOLATION_MODE",
    "DML_PADDING_MODE",
    "DML_TENSOR_DATA_TYPE",
    "DML_TENSOR_FLAGS",
    "ELEMENT_WISE_CLIP1_OPERATOR_DESC",
    "ELEMENT_WISE_CLIP_OPERATOR_DESC",
    "ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC",
    "ELEMENT_WISE_IDENTITY_OPERATOR_DESC",
    "FILL_VALUE_CONSTANT_OPERATOR_DESC",
    "FILL_VALUE_SEQUENCE_OPERATOR_DESC",
    "GATHER_ELEMENTS_OPERATOR_DESC",
    "GATHER_ND1_OPERATOR_DESC",
    "GATHER_ND_OPERATOR_DESC",
    "GATHER_OPERATOR_DESC",
    "JOIN_OPERATOR_DESC",
    "MAX_UNPOOLING_OPERATOR_DESC",
    "ONE_HOT_OPERATOR_DESC",
    "OPERATOR_DESC",
    "PADDING1_OPERATOR_DESC",
    "PADDING_OPERATOR_DESC",
    "RESAMPLE1_OPERATOR_DESC",
    "RESAMPLE2_OPERATOR_DESC",
    "RESAMPLE3_OPERATOR_DESC",
    "RESAMPLE_OPERATOR_DESC",
    "REVERSE_SUBSEQUENCES_OPERATOR_DESC",
    "SCALE_BIAS",
    "SCATTER_ELEMENTS_OPERATOR_DESC",
    "SCATTER_ND_OPERATOR_DESC",
    "SCATTER_OPERATOR_DESC",
    "SIZE_2D",
    "SLICE1_OPERATOR_DESC",
    "SLICE_GRAD_OPERATOR_DESC",
    "SLICE_OPERATOR_DESC",
    "SPACE_TO_DEPTH1_OPERATOR_DESC",
    "SPACE_TO_DEPTH_OPERATOR_DESC",
    "SPLIT_OPERATOR_DESC",
    "TENSOR_DESC",
    "TILE_OPERATOR_DESC",
    "UNFOLD_OPERATOR_DESC",
    "UPSAMPLE_2D_OPERATOR_DESC",
    "Binding",
    "ConstantValues",
    "DirectMLError",
    "Dispatch",
    "FileValues",
    "ListedValues",
    "MixedValues",
    "Model",
    "Print",
    "Problem",
    "Resource",
    "SequenceValues",
    "WriteFile",
    "dump",
    "execute",
    "load",
    "lowest_feature_level",
    "run",
    "validate",
]
