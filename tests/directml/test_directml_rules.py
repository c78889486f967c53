"""Each rule beyond ranks and types: the description that breaks it, and what the error says."""

import dataclasses
import math

import numpy as np
import pytest

import dmlops.directml as dml

pytestmark = pytest.mark.driverless

T = dml.TENSOR_DESC


def t(*sizes, data_type="FLOAT32", **fields):
    return T(data_type, sizes, **fields)


def slice1(**changes):
    fields = {"InputWindowOffsets": [0, 1], "InputWindowSizes": [4, 3], "InputWindowStrides": [-2, 2]} | changes
    return dml.SLICE1_OPERATOR_DESC(
        changes.pop("x", t(4, 4)),
        changes.pop("y", t(2, 2)),
        fields.pop("count", 2),
        **{name: value for name, value in fields.items() if name not in ("x", "y")},
    )


def slice0(offsets=(0, 1), sizes=(2, 2), strides=(2, 1), y=t(2, 2)):
    return dml.SLICE_OPERATOR_DESC(t(4, 4), y, 2, offsets, sizes, strides)


def pad(operator=dml.PADDING_OPERATOR_DESC, data_type="FLOAT32", y=(3, 4), value=(0.0,), count=2):
    return operator(t(2, 2, data_type=data_type), t(*y, data_type=data_type), "CONSTANT", *value, count, [1, 0], [0, 2])


def same(**fields):
    return dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t(2, 3), t(2, 3, **fields))


def fill(data_type, value, value_type=None):
    return dml.FILL_VALUE_CONSTANT_OPERATOR_DESC(t(2, data_type=data_type), value_type or data_type, value)


def resample(scales=(1, 2), offsets=(0, 0), count=2):
    return dml.RESAMPLE1_OPERATOR_DESC(t(2, 2), t(2, 4), "NEAREST_NEIGHBOR", count, scales, offsets, [0, 0])


def unfold(count=1, y=None, **changes):
    fields = {"WindowSizes": [3], "Strides": [1], "Dilations": [1], "StartPadding": [0], "EndPadding": [1]} | changes
    return dml.UNFOLD_OPERATOR_DESC(t(1, 2, 4), t(1, 6, 3) if y is None else y, count, **fields)


def sequence(data_type, start, delta):
    return dml.FILL_VALUE_SEQUENCE_OPERATOR_DESC(t(2, data_type=data_type), data_type, start, delta)


def gather(places=t(1, 4, data_type="UINT32"), y=t(3, 4), axis=1, count=1):
    return dml.GATHER_OPERATOR_DESC(t(3, 5), places, y, axis, count)


def gather_nd(places=t(3, 2, data_type="INT32"), y=t(1, 3), batch=0):
    return dml.GATHER_ND1_OPERATOR_DESC(t(3, 4), places, y, 2, 2, batch)


BIG = 2**16
RULES = [
    (slice0(offsets=[0]), "len(Offsets) is 1; allowed: 2, the DimensionCount of the tensors"),
    (
        dml.DEPTH_TO_SPACE_OPERATOR_DESC(t(4, 2, 2), t(1, 4, 4), 2),
        "InputTensor.DimensionCount is 3; allowed: 4 at feature level",
    ),
    (fill("UNKNOWN", 1), "OutputTensor.DataType is UNKNOWN; allowed: FLOAT64, FLOAT32"),
    (slice1(count=3), "DimensionCount is 3; allowed: 2, the DimensionCount of the tensors"),
    (slice1(InputWindowSizes=[4]), "len(InputWindowSizes) is 1; allowed: 2"),
    (
        slice1(InputWindowOffsets=[1, 1]),
        "InputWindowOffsets[0] + InputWindowSizes[0] is 5; allowed: at most InputTensor.Sizes[0], 4",
    ),
    (slice1(InputWindowStrides=[0, 2]), "InputWindowStrides[0] is 0; allowed: positive or negative"),
    (slice1(InputWindowSizes=[0, 3]), "InputWindowSizes[0] is 0; allowed: 1 or more"),
    (slice1(y=t(3, 2)), "OutputTensor.Sizes[0] is 3; allowed: 1 to 2, which a window of 4 holds in steps of 2"),
    (slice1(y=t(2, 2, data_type="INT32")), "OutputTensor.DataType is INT32; allowed: FLOAT32, that of InputTensor"),
    (slice1(y=t(1, 2, 2)), "OutputTensor.DimensionCount is 3; allowed: 2, that of InputTensor"),
    (slice0(offsets=[2, 1]), "Offsets[0] + (Sizes[0] - 1) * Strides[0] is 4; allowed: at most 3: InputTensor.Sizes[0] is 4"),
    (slice0(strides=[0, 1]), "Strides[0] is 0; allowed: 1 or more"),
    (slice0(y=t(2, 1)), "OutputTensor.Sizes is [2, 1]; allowed: [2, 2]: the Sizes of the slice"),
    (dml.SLICE_GRAD_OPERATOR_DESC(t(3), t(4), 1, [0], [4], [2]), "InputGradientTensor.Sizes[0] is 3; allowed: 1 to 2"),
    (dml.SLICE_GRAD_OPERATOR_DESC(t(2), t(4), 1, [2], [3], [2]), "is 5; allowed: at most OutputGradientTensor.Sizes[0], 4"),
    (dml.DEPTH_TO_SPACE_OPERATOR_DESC(t(1, 6, 2, 2), t(1, 1, 4, 4), 2), "InputTensor.Sizes[1] is 6; allowed: a multiple of"),
    (
        dml.DEPTH_TO_SPACE_OPERATOR_DESC(t(1, 4, 2, 2), t(1, 1, 4, 2), 2),
        "OutputTensor.Sizes is [1, 1, 4, 2]; allowed: [1, 1, 4, 4]",
    ),
    (dml.DEPTH_TO_SPACE1_OPERATOR_DESC(t(1, 4, 2, 2), t(1, 1, 4, 4), 0, 0), "BlockSize is 0; allowed: 1 or more"),
    (
        dml.SPACE_TO_DEPTH_OPERATOR_DESC(t(1, 1, 4, 3), t(1, 4, 2, 1), 2),
        "InputTensor.Sizes[3] is 3; allowed: a multiple of BlockSize",
    ),
    (dml.SPACE_TO_DEPTH1_OPERATOR_DESC(t(1, 1, 4, 4), t(1, 1, 2, 2), 2, 1), "is [1, 1, 2, 2]; allowed: [1, 4, 2, 2]"),
    (
        dml.REVERSE_SUBSEQUENCES_OPERATOR_DESC(t(2, 3), t(2, 3, data_type="UINT32"), t(2, 3), 1),
        "SequenceLengthsTensor.Sizes is [2, 3]; allowed: [2, 1]: those of InputTensor, but 1 on Axis",
    ),
    (
        dml.REVERSE_SUBSEQUENCES_OPERATOR_DESC(t(2), t(1, data_type="UINT32"), t(2), 1),
        "Axis is 1; allowed: less than the Dimension",
    ),
    (
        dml.REVERSE_SUBSEQUENCES_OPERATOR_DESC(t(2), t(1, data_type="UINT32"), t(3), 0),
        "OutputTensor.Sizes is [3]; allowed: [2]",
    ),
    (pad(y=(3, 3)), "OutputTensor.Sizes is [3, 3]; allowed: [3, 4]: InputTensor.Sizes + StartPadding + EndPadding"),
    (pad(count=1), "DimensionCount is 1; allowed: 2"),
    (pad(data_type="UINT8", value=(-1.5,)), "PaddingValue is -1.5; allowed: a number that UINT8 holds, 0 to 255"),
    (pad(data_type="INT32", value=(math.nan,)), "PaddingValue is nan; allowed: a number that INT32 holds"),
    (
        pad(dml.PADDING1_OPERATOR_DESC, value=("FLOAT16", 1)),
        "PaddingValueDataType is FLOAT16; allowed: FLOAT32, the DataType of",
    ),
    (
        pad(dml.PADDING1_OPERATOR_DESC, "INT8", value=("INT8", 128)),
        "PaddingValue is 128; allowed: an integer that INT8 holds, -128",
    ),
    (dml.TILE_OPERATOR_DESC(t(2), t(4), 2, [2]), "RepeatsCount is 2; allowed: 1"),
    (dml.TILE_OPERATOR_DESC(t(2), t(4), 1, [3]), "OutputTensor.Sizes is [4]; allowed: [6]: InputTensor.Sizes * Repeats"),
    (dml.TILE_OPERATOR_DESC(t(2), t(0), 1, [0]), "Repeats[0] is 0; allowed: 1 or more"),
    (dml.JOIN_OPERATOR_DESC(2, [t(2)], t(2), 0), "InputCount is 2; allowed: 1, of InputTensors"),
    (dml.JOIN_OPERATOR_DESC(0, [], t(2), 0), "len(InputTensors) is 0; allowed: 1 or more"),
    (
        dml.JOIN_OPERATOR_DESC(2, [t(2), t(3)], t(4), 0),
        "OutputTensor.Sizes[0] is 4; allowed: 5, what the sizes of InputTensors",
    ),
    (dml.JOIN_OPERATOR_DESC(2, [t(2, 2), t(2, 3)], t(4, 2), 0), "InputTensors[1].Sizes is [2, 3]; allowed: [2, 2]"),
    (dml.JOIN_OPERATOR_DESC(1, [t(2)], t(2), 1), "Axis is 1; allowed: less than the DimensionCount of OutputTensor, 1"),
    (dml.SPLIT_OPERATOR_DESC(t(4), 1, [t(2), t(2)], 0), "OutputCount is 1; allowed: 2, of OutputTensors"),
    (dml.SPLIT_OPERATOR_DESC(t(4), 2, [t(2), t(1)], 0), "InputTensor.Sizes[0] is 4; allowed: 3"),
    (dml.SPLIT_OPERATOR_DESC(t(4), 0, [], 0), "len(OutputTensors) is 0; allowed: 1 or more"),
    *[
        (resample(**changes), message)
        for changes, message in [
            ({"scales": [1, 0]}, "Scales[1] is 0.0; allowed: a finite number above 0"),
            ({"scales": [1, -1.5]}, "Scales[1] is -1.5; allowed: a finite number above 0"),
            ({"scales": [1]}, "len(Scales) is 1; allowed: 2, the DimensionCount of the tensors"),
            ({"offsets": [0, math.inf]}, "InputPixelOffsets[1] is inf; allowed: a finite number"),
            ({"count": 3}, "DimensionCount is 3; allowed: 2"),
        ]
    ],
    *[
        (desc, message)
        for desc, message in [
            (gather(axis=2), "Axis is 2; allowed: less than the DimensionCount of InputTensor, 2"),
            (gather(count=3), "IndexDimensions is 3; allowed: 0 to the DimensionCount of IndicesTensor, 2"),
            (
                gather(places=t(2, 4, data_type="UINT32")),
                "IndicesTensor.Sizes is [2, 4]; allowed: 1 on all axes but the last 1",
            ),
            (gather(y=t(3, 3)), "OutputTensor.Sizes is [3, 3]; allowed: [3, 4]: InputTensor.Sizes with those of the indices"),
            (gather(places=t(1, 4)), "IndicesTensor.DataType is FLOAT32; allowed: INT64, INT32, UINT64, UINT32"),
            (
                dml.SCATTER_OPERATOR_DESC(t(3, 2), t(1, 3, data_type="INT32"), t(1, 2), t(3, 2), 0),
                "IndicesTensor.Sizes is [1, 3]; allowed: [1, 2]: those of InputTensor, but on Axis",
            ),
            (
                dml.SCATTER_OPERATOR_DESC(t(3, 2), t(1, 2, data_type="INT32"), t(1, 2, data_type="INT32"), t(3, 2), 0),
                "UpdatesTensor.DataType is INT32; allowed: FLOAT32, that of InputTensor",
            ),
            (gather_nd(batch=2), "BatchDimensionCount is 2; allowed: 0 to 1, below the counts of input and indices"),
            (gather_nd(places=t(3, 3, data_type="INT32")), "IndicesTensor.Sizes[1] is 3; allowed: 1 to 2"),
            (gather_nd(batch=1, places=t(4, 1, data_type="INT32")), "IndicesTensor.Sizes is [4, 1]; allowed: [3] on the axes"),
            (gather_nd(y=t(3, 1)), "OutputTensor.Sizes is [3, 1]; allowed: [1, 3]"),
            (
                dml.ONE_HOT_OPERATOR_DESC(t(3, 1, data_type="INT32"), t(1, 1), t(3, 4), 1),
                "ValuesTensor.Sizes is [1, 1]; allowed: 2 elements or more",
            ),
            (
                dml.ONE_HOT_OPERATOR_DESC(t(3, 2, data_type="INT32"), t(1, 2), t(3, 4), 1),
                "IndicesTensor.Sizes is [3, 2]; allowed: [3, 1]: those of OutputTensor, but 1 on Axis",
            ),
        ]
    ],
    *[
        (unfold(**changes), message)
        for changes, message in [
            ({"count": 2}, "DimensionCount is 2; allowed: 1, the spatial axes of InputTensor, which has 3"),
            ({"y": t(1, 6, 2)}, "OutputTensor.Sizes is [1, 6, 2]; allowed: [1, 6, 3]"),
            ({"y": t(1, 6, 3, data_type="INT8")}, "OutputTensor.DataType is INT8; allowed: FLOAT32, that of InputTensor"),
            ({"WindowSizes": [9]}, "Dilations[0] * (WindowSizes[0] - 1) + 1 is 9; allowed: at most 5, the size of the padded"),
            ({"Strides": [0]}, "Strides[0] is 0; allowed: 1 or more"),
            ({"EndPadding": []}, "len(EndPadding) is 0; allowed: 1, the DimensionCount"),
        ]
    ],
    (sequence("INT8", 128, 0), "ValueStart is 128; allowed: an integer that INT8 holds"),
    (sequence("UINT8", 0, -129), "ValueDelta is -129; allowed: an integer that INT8 holds"),
    (dml.CAST_OPERATOR_DESC(t(2), t(3, data_type="INT8")), "OutputTensor.Sizes is [3]; allowed: [2]: those of InputTensor"),
    (
        dml.ELEMENT_WISE_CLIP_OPERATOR_DESC(t(2, data_type="INT8"), t(2, data_type="INT8"), None, math.nan, 1),
        "Min is nan; allowed: a number",
    ),
    (
        dml.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC(t(2, data_type="INT8"), t(2), t(2, data_type="UINT8"), t(2)),
        "ZeroPointTensor.DataType is UINT8; allowed: INT8, that of InputTensor",
    ),
    (same(data_type="INT32"), "OutputTensor.DataType is INT32; allowed: FLOAT32"),
    (fill("INT8", 1, "INT16"), "ValueDataType is INT16; allowed: INT8, the DataType of OutputTensor"),
    (fill("INT8", 1.0), "Value is 1.0; allowed: an integer that INT8 holds"),
    (fill("UINT64", 2**64), "Value is 18446744073709551616; allowed: an integer that UINT64 holds"),
    (fill("FLOAT16", 1e6), "Value is 1000000.0; allowed: a number that FLOAT16 holds"),
    (fill("FLOAT64", 10**400), "allowed: a number that FLOAT64 holds"),
    (fill("FLOAT64", bytes(7)), "allowed: at least 8 bytes for FLOAT64"),
    (
        dml.UPSAMPLE_2D_OPERATOR_DESC(t(1, 1, 2, 2), t(1, 1, 4, 4), dml.SIZE_2D(2, 3), 0),
        "OutputTensor.Sizes is [1, 1, 4, 4]; allowed: [1, 1, 6, 4]",
    ),
    (
        dml.UPSAMPLE_2D_OPERATOR_DESC(t(1, 1, 2, 2), t(1, 1, 2, 0), dml.SIZE_2D(0, 1), 0),
        "ScaleSize.Width is 0; allowed: 1 or more",
    ),
    (
        dml.DIAGONAL_MATRIX_OPERATOR_DESC(t(2, 2, data_type="INT8"), 0, 128.0),
        "Value is 128.0; allowed: a number that INT8 holds",
    ),
    (dml.DIAGONAL_MATRIX1_OPERATOR_DESC(t(2, 3), t(2, 2), 1, 1, 0, 1), "OutputTensor.Sizes is [2, 2]; allowed: [2, 3]"),
    (same(Strides=[1]), "len(OutputTensor.Strides) is 1; allowed: 2, as Sizes"),
    (same(Strides=[0, 1]), "OutputTensor.Strides is [0, 1]; allowed: strides that give each element its own place"),
    (same(Strides=[2, 2]), "OutputTensor.Strides is [2, 2]; allowed: strides that give each element its own place"),
    (same(TotalTensorSizeInBytes=20), "OutputTensor.TotalTensorSizeInBytes is 20; allowed: 24 or more, in multiples of 4"),
    (same(TotalTensorSizeInBytes=26), "OutputTensor.TotalTensorSizeInBytes is 26; allowed: 24 or more, in multiples of 4"),
    (same(Flags="OWNED_BY_DML"), "OutputTensor.Flags is OWNED_BY_DML; allowed: NONE for an output"),
    (same(GuaranteedBaseOffsetAlignment=2), "GuaranteedBaseOffsetAlignment is 2; allowed: 0, or a power of two from 4"),
    (same(GuaranteedBaseOffsetAlignment=24), "GuaranteedBaseOffsetAlignment is 24; allowed: 0, or a power of two from 4"),
    (
        dml.FILL_VALUE_CONSTANT_OPERATOR_DESC(t(BIG, BIG), 1, 0),
        "OutputTensor.Sizes is [65536, 65536]; allowed: at most 4294967295 elem",
    ),
    (
        dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t(2, Strides=[2**32 - 1]), t(2)),
        "InputTensor.Strides is [4294967295]; allowed: a span of at most 4294967295",
    ),
    (dml.FILL_VALUE_CONSTANT_OPERATOR_DESC(t(0), 1, 0), "OutputTensor.Sizes[0] is 0; allowed: 1 or more"),
    (
        dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t(2, data_type=0), t(2, data_type=0)),
        "InputTensor.DataType is UNKNOWN; allowed: FLOAT64",
    ),
    (
        dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t(2, data_type="INT4"), t(2, data_type=13)),
        "InputTensor.DataType is INT4; allowed",
    ),
]


@pytest.mark.parametrize("desc, message", RULES, ids=range(len(RULES)))
def test_each_rule(desc, message):
    with pytest.raises(dml.DirectMLError) as caught:
        dml.validate(desc)
    assert message in str(caught.value), str(caught.value)
    assert f"DML_{type(desc).__name__} at feature level 6_4" in str(caught.value)
    assert "\n" not in caught.value.line and message in caught.value.line


FINE = [
    slice1(),
    slice1(y=t(1, 1)),
    slice0(),
    pad(data_type="UINT8", value=(255.9,)),
    fill("FLOAT16", math.inf),
    fill("FLOAT32", 2**100),
    fill("FLOAT16", bytes(8)),
    same(Strides=[3, 5]),  # interleaved, yet each element has its own place: 0, 5, 10 and 3, 8, 13
    same(Strides=[2**31, 1]),
    same(TotalTensorSizeInBytes=28, GuaranteedBaseOffsetAlignment=64),
    dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t(2**16, 2**15, Strides=[0, 0], Flags=1), t(2**16, 2**15)),
    dml.DIAGONAL_MATRIX1_OPERATOR_DESC(None, t(2, 3), "FLOAT32", 1, 5, -5),
]


@pytest.mark.parametrize("desc", FINE, ids=range(len(FINE)))
def test_what_no_rule_forbids(desc):
    dml.validate(desc)


def test_several_problems_at_once():
    x, y = t(2, 0, 3, 3, data_type="INT8"), t(2, 4, 3, 3, data_type="INT16", TotalTensorSizeInBytes=2)
    desc = dml.JOIN_OPERATOR_DESC(3, [x, x], y, 1)
    with pytest.raises(dml.DirectMLError) as caught:
        dml.validate(desc, "1_0")
    fields = [problem.field for problem in caught.value.problems]
    assert fields == [
        "InputTensors[0].DataType",
        "InputTensors[0].Sizes[1]",
        "InputTensors[1].DataType",
        "InputTensors[1].Sizes[1]",
        "OutputTensor.TotalTensorSizeInBytes",
        "OutputTensor.DataType",
        "InputCount",
        "OutputTensor.Sizes[1]",
    ]
    assert str(caught.value).startswith(
        "DML_JOIN_OPERATOR_DESC at feature level 1_0: 8 problems\n  InputTensors[0].DataType is INT8"
    )


def test_what_computes_is_refused_though_directml_takes_it():
    scaled = dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t(1, 1, 2, 3), t(1, 1, 2, 3), dml.SCALE_BIAS(2, 10))
    linear = dml.UPSAMPLE_2D_OPERATOR_DESC(t(1, 1, 2, 2), t(1, 1, 4, 4), dml.SIZE_2D(2, 2), "LINEAR")
    for desc, message in [
        (scaled, "ScaleBias is {Scale: 2, Bias: 10}; allowed: None, as x * Scale + Bias is computation"),
        (linear, "InterpolationMode is LINEAR; allowed: NEAREST_NEIGHBOR, as interpolation is computation"),
    ]:
        for level in ("6_4", None):
            with pytest.raises(dml.DirectMLError) as caught:
                dml.validate(desc, level)
            assert message in str(caught.value) and caught.value.problems[0].computes
        assert dml.lowest_feature_level(desc) == "1_0"


def test_the_document_is_named():
    with pytest.raises(dml.DirectMLError) as caught:
        dml.validate(dml.TILE_OPERATOR_DESC(t(2), t(4), 1, [3]))
    assert (
        caught.value.problems[0].document
        == "https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_tile_operator_desc"
    )


def test_no_description_at_all():
    for wrong in (None, t(2), dml.SIZE_2D(1, 1), dml.OPERATOR_DESC()):
        with pytest.raises(TypeError, match="desc is .*; allowed: a description of an operator"):
            dml.validate(wrong)


CONSTRUCTED = [
    (lambda: dml.SCALE_BIAS(None, 1), "SCALE_BIAS: Scale is None; allowed: a number"),
    (lambda: dml.SCALE_BIAS([], 1), "SCALE_BIAS: Scale is []; allowed: a number"),
    (lambda: T("FLOAT33", [1]), "TENSOR_DESC: DataType is 'FLOAT33'; allowed: UNKNOWN (0), FLOAT32 (1)"),
    (lambda: T(99, [1]), "DataType is 99"),
    (lambda: T(True, [1]), "DataType is True"),
    (lambda: T(dml.DML_PADDING_MODE.EDGE, [1]), "DataType is EDGE"),
    (lambda: T(1, [1, -1]), "Sizes[1] is -1; allowed: an unsigned 32-bit integer"),
    (lambda: T(1, [1, 2**32]), "Sizes[1] is 4294967296"),
    (lambda: T(1, [10**6000]), "Sizes[0] is an int of thousands of digits"),
    (lambda: T(1, [1.0]), "Sizes[0] is 1.0"),
    (lambda: T(1, [True]), "Sizes[0] is True"),
    (lambda: T(1, "12"), "Sizes is '12'; allowed: a sequence of unsigned 32-bit integers"),
    (lambda: T(1, 3), "Sizes is 3"),
    (lambda: T(1, None), "Sizes is None"),
    (lambda: T(1, [1], Strides=5), "Strides is 5"),
    (
        lambda: T(1, [1], TotalTensorSizeInBytes=-4),
        "TotalTensorSizeInBytes is -4; allowed: an unsigned 64-bit integer, or None",
    ),
    (lambda: T(1, [1], Flags="OWNED"), "Flags is 'OWNED'; allowed: NONE (0), OWNED_BY_DML (1)"),
    (lambda: dml.SIZE_2D(1, -1), "SIZE_2D: Height is -1"),
    (lambda: dml.SCALE_BIAS("1", 1), "SCALE_BIAS: Scale is '1'; allowed: a number"),
    (lambda: dml.TILE_OPERATOR_DESC([2], t(2), 1, [1]), "InputTensor is [2]; allowed: a TENSOR_DESC"),
    (lambda: dml.JOIN_OPERATOR_DESC(1, t(2), t(2), 0), "InputTensors is TENSOR_DESC"),
    (lambda: dml.JOIN_OPERATOR_DESC(1, [t(2), None], t(2), 0), "InputTensors[1] is None; allowed: a TENSOR_DESC"),
    (lambda: slice1(InputWindowStrides=[2**31, 1]), "InputWindowStrides[0] is 2147483648; allowed: a signed 32-bit integer"),
    (lambda: fill("INT8", "1"), "Value is '1'; allowed: a number"),
    (lambda: fill("INT8", b""), "Value is b''; allowed: 1 to 8 bytes"),
    (lambda: dml.DIAGONAL_MATRIX1_OPERATOR_DESC(1, t(2, 2), 1, 1, 0, 1), "InputTensor is 1; allowed: a TENSOR_DESC, or None"),
]


@pytest.mark.parametrize("construct, message", CONSTRUCTED, ids=range(len(CONSTRUCTED)))
def test_what_a_struct_does_not_hold(construct, message):
    with pytest.raises(dml.DirectMLError) as caught:
        construct()
    assert message in str(caught.value), str(caught.value)


def test_a_struct_tells_all_that_is_wrong():
    with pytest.raises(dml.DirectMLError) as caught:
        T("FLOAT33", [-1], Flags=7)
    assert [problem.field for problem in caught.value.problems] == ["DataType", "Sizes[0]", "Flags"]


@pytest.mark.parametrize(
    "order", ["DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH", "COLUMN_ROW_DEPTH", 1, np.int64(1), dml.DML_DEPTH_SPACE_ORDER(1)]
)
def test_enumerations_take_names_suffixes_and_numbers(order):
    desc = dml.DEPTH_TO_SPACE1_OPERATOR_DESC(t(1, 4, 1, 1), t(1, 1, 2, 2), 2, order)
    assert desc.Order is dml.DML_DEPTH_SPACE_ORDER.COLUMN_ROW_DEPTH
    assert desc.Order.full_name == "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH"
    assert dml.DML_TENSOR_FLAGS("DML_TENSOR_FLAG_OWNED_BY_DML") == 1


def test_descriptions_are_values():
    desc = slice1()
    assert desc == slice1() and hash(desc) == hash(slice1()) and desc != slice0()
    assert desc.InputTensor.Sizes == (4, 4) and desc.InputTensor.DataType is dml.DML_TENSOR_DATA_TYPE.FLOAT32
    assert dataclasses.replace(desc, InputWindowStrides=np.array([2, 2])).InputWindowStrides == (2, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        desc.DimensionCount = 3


@pytest.mark.parametrize(
    "tensor, extent, size",
    [
        (t(2, 3, data_type="FLOAT16"), 6, 12),
        (t(3, data_type="FLOAT16"), 3, 8),
        (t(2, 3, Strides=[10, 2]), 15, 60),
        (t(4, 0), 0, 0),
    ],
)
def test_sizes_of_buffers(tensor, extent, size):
    assert (tensor.extent, tensor.size_in_bytes) == (extent, size)


def test_sizes_of_what_numpy_lacks():
    with pytest.raises(ValueError, match="NumPy has no UINT4"):
        _ = t(2, data_type="UINT4").size_in_bytes
    assert t(2, TotalTensorSizeInBytes=64).size_in_bytes == 64
    assert dml.SCALE_BIAS(10**400, -(10**400)) == dml.SCALE_BIAS(math.inf, -math.inf)


def test_fields_are_those_of_the_header():
    assert [field.name for field in dataclasses.fields(dml.PADDING1_OPERATOR_DESC)] == [
        "InputTensor",
        "OutputTensor",
        "PaddingMode",
        "PaddingValueDataType",
        "PaddingValue",
        "DimensionCount",
        "StartPadding",
        "EndPadding",
    ]
