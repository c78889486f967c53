"""The worked examples of DirectML's pages, number for number; where a page errs, as the errata have it."""

import numpy as np
import pytest

import dmlops.directml as dml

SIXTEEN = np.arange(1, 17).reshape(1, 1, 4, 4)
TWELVE = np.arange(1, 13).reshape(1, 1, 3, 4)
EIGHT_BLOCKS = np.arange(8).reshape(1, 8, 1, 1) * 9 + np.arange(6).reshape(1, 1, 2, 3)
DCR = [
    [[0, 18, 1, 19, 2, 20], [36, 54, 37, 55, 38, 56], [3, 21, 4, 22, 5, 23], [39, 57, 40, 58, 41, 59]],
    [[9, 27, 10, 28, 11, 29], [45, 63, 46, 64, 47, 65], [12, 30, 13, 31, 14, 32], [48, 66, 49, 67, 50, 68]],
]
CRD = [
    [[0, 9, 1, 10, 2, 11], [18, 27, 19, 28, 20, 29], [3, 12, 4, 13, 5, 14], [21, 30, 22, 31, 23, 32]],
    [[36, 45, 37, 46, 38, 47], [54, 63, 55, 64, 56, 65], [39, 48, 40, 49, 41, 50], [57, 66, 58, 67, 59, 68]],
]
FOLDED = [[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8]]
PADDED = {
    "CONSTANT": [
        "9999999999",
        "9912349999",
        "9956789999",
        "9912349999",
        "9956789999",
        "9999999999",
        "9999999999",
        "9999999999",
    ],
    "EDGE": ["1112344444", "1112344444", "5556788888", "1112344444", "5556788888", "5556788888", "5556788888", "5556788888"],
    "REFLECTION": [
        "7656787656",
        "3212343212",
        "7656787656",
        "3212343212",
        "7656787656",
        "3212343212",
        "7656787656",
        "3212343212",
    ],
    "SYMMETRIC": [
        "2112344321",
        "2112344321",
        "6556788765",
        "2112344321",
        "6556788765",
        "6556788765",
        "2112344321",
        "6556788765",
    ],
}
FOUR_BY_FIVE = [[4, 7, 3, 7, 9], [1, 2, 8, 6, 9], [9, 4, 1, 8, 7], [4, 3, 4, 2, 4]]


def run(kind, inputs, expected, *, output="OutputTensor", data_type="FLOAT32", level="6_4", device=None, **named):
    """Build a description around inputs and an expected output, run it, and compare."""
    expected = np.array(expected, data_type.lower())
    tensors = {name: dml.TENSOR_DESC(array.dtype.name.upper(), array.shape) for name, array in inputs.items()}
    tensors[output] = dml.TENSOR_DESC(data_type, expected.shape)
    result = dml.execute(kind(**tensors, **named), inputs, feature_level=level, device=device)[output]
    assert result.dtype == expected.dtype and result.tolist() == expected.tolist()


def floats(values):
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    "offsets, sizes, strides, expected",
    [
        ([0, 0, 1, 2], [1, 1, 3, 2], [1, 1, 1, 1], [[7, 8], [11, 12], [15, 16]]),
        ([0, 0, 1, 0], [1, 1, 2, 2], [1, 1, 2, 3], [[5, 8], [13, 16]]),
    ],
)
def test_slice(device, offsets, sizes, strides, expected):
    inputs = {"InputTensor": floats(SIXTEEN)}
    fields = {"DimensionCount": 4, "Offsets": offsets, "Sizes": sizes, "Strides": strides}
    run(dml.SLICE_OPERATOR_DESC, inputs, [[expected]], level="1_0", device=device, **fields)


WINDOW = {"DimensionCount": 4, "InputWindowOffsets": [0, 0, 0, 1], "InputWindowSizes": [1, 1, 4, 3]}


@pytest.mark.parametrize("stride, expected", [(2, [[2, 4], [10, 12]]), (-2, [[14, 16], [6, 8]])])
def test_slice1(device, stride, expected):
    inputs = {"InputTensor": floats(SIXTEEN)}
    strides = [1, 1, stride, 2]
    run(dml.SLICE1_OPERATOR_DESC, inputs, [[expected]], InputWindowStrides=strides, level="2_1", device=device, **WINDOW)


def test_slice_grad(device):
    window = {"DimensionCount": 2, "InputWindowOffsets": [0, 0], "InputWindowSizes": [4, 4], "InputWindowStrides": [2, 2]}
    inputs = {"InputGradientTensor": floats([[1, 3], [9, 11]])}
    expected = [[1, 0, 3, 0], [0, 0, 0, 0], [9, 0, 11, 0], [0, 0, 0, 0]]
    run(dml.SLICE_GRAD_OPERATOR_DESC, inputs, expected, output="OutputGradientTensor", level="3_1", device=device, **window)


@pytest.mark.parametrize("order, space", [(0, DCR), ("DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH", CRD)])
def test_blocks(device, order, space):
    deep, space = EIGHT_BLOCKS.astype(np.uint32), np.array([space], np.uint32)
    options = {"data_type": "UINT32", "BlockSize": 2, "level": "2_1", "device": device}
    run(dml.DEPTH_TO_SPACE1_OPERATOR_DESC, {"InputTensor": deep}, space, Order=order, **options)
    run(dml.SPACE_TO_DEPTH1_OPERATOR_DESC, {"InputTensor": space}, deep, Order=order, **options)
    if order == 0:
        run(dml.DEPTH_TO_SPACE_OPERATOR_DESC, {"InputTensor": deep}, space, **options)
        run(dml.SPACE_TO_DEPTH_OPERATOR_DESC, {"InputTensor": space}, deep, **options)


@pytest.mark.parametrize(
    "axis, lengths, expected",
    [
        (3, [[2], [4], [3]], [[2, 1, 3, 4], [8, 7, 6, 5], [11, 10, 9, 12]]),
        (2, [[2, 3, 1, 0]], [[5, 10, 3, 4], [1, 6, 7, 8], [9, 2, 11, 12]]),
    ],
)
def test_reverse_subsequences(device, axis, lengths, expected):
    inputs = {"InputTensor": floats(TWELVE), "SequenceLengthsTensor": np.array([[lengths]], np.uint32)}
    run(dml.REVERSE_SUBSEQUENCES_OPERATOR_DESC, inputs, [[expected]], Axis=axis, level="2_1", device=device)


@pytest.mark.parametrize("mode", PADDED)
def test_padding(device, mode):
    inputs = {"InputTensor": floats([[FOLDED]])}
    expected = [[[list(map(int, row)) for row in PADDED[mode]]]]
    sides = {"DimensionCount": 4, "StartPadding": [0, 0, 1, 2], "EndPadding": [0, 0, 3, 4], "PaddingMode": mode}
    run(dml.PADDING_OPERATOR_DESC, inputs, expected, PaddingValue=9, level="3_0", device=device, **sides)
    typed = {"PaddingValueDataType": "FLOAT32", "PaddingValue": 9}
    run(dml.PADDING1_OPERATOR_DESC, inputs, expected, level="5_0", device=device, **typed, **sides)


def test_tile(device):
    inputs = {"InputTensor": floats([[[[1, 2, 3], [4, 5, 6]]]])}
    expected = [[[[1, 2, 3] * 3, [4, 5, 6] * 3] * 3]]
    run(dml.TILE_OPERATOR_DESC, inputs, expected, RepeatsCount=4, Repeats=[1, 1, 3, 3], level="1_0", device=device)


@pytest.mark.parametrize(
    "axis, inputs, expected",
    [
        (
            3,
            ([[[[1, 2, 3], [4, 5, 6]]]], [[[[7, 8, 9, 10], [11, 12, 13, 14]]]]),
            [[[[1, 2, 3, 7, 8, 9, 10], [4, 5, 6, 11, 12, 13, 14]]]],
        ),
        (1, None, [[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]]),
        (2, None, [[[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]]]),
        (3, None, [[[[1, 2, 5, 6, 9, 10], [3, 4, 7, 8, 11, 12]]]]),
    ],
)
def test_join(device, axis, inputs, expected):
    inputs = inputs or ([[[[1, 2], [3, 4]]]], [[[[5, 6], [7, 8]]]], [[[[9, 10], [11, 12]]]])
    arrays, expected = list(map(floats, inputs)), floats(expected)
    tensors = [dml.TENSOR_DESC("FLOAT32", array.shape) for array in arrays]
    desc = dml.JOIN_OPERATOR_DESC(len(arrays), tensors, dml.TENSOR_DESC("FLOAT32", expected.shape), axis)
    result = dml.execute(desc, {"InputTensors": arrays}, feature_level="1_0", device=device)["OutputTensor"]
    assert result.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "axis, parts",
    [
        (2, [[[[[1, 2], [3, 4]]]], [[[[5, 6]]]], [[[[7, 8], [9, 10], [11, 12]]]]]),
        (3, [[[[[1], [3], [5], [7], [9], [11]]]], [[[[2], [4], [6], [8], [10], [12]]]]]),
    ],
)
def test_split(device, axis, parts):
    x, parts = floats(np.arange(1, 13).reshape(1, 1, 6, 2)), list(map(floats, parts))
    tensors = [dml.TENSOR_DESC("FLOAT32", part.shape) for part in parts]
    desc = dml.SPLIT_OPERATOR_DESC(dml.TENSOR_DESC("FLOAT32", x.shape), len(parts), tensors, axis)
    results = dml.execute(desc, {"InputTensor": x}, feature_level="1_0", device=device)["OutputTensors"]
    assert [result.tolist() for result in results] == [part.tolist() for part in parts]


def test_strides_of_the_page_about_strides(device):
    """A padded tensor, a broadcast one, and the height-major and width-major forms of the same matrix."""
    letters = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6, "x": 9}
    for text, strides, expected in [
        ("ABCDEF", None, [[1, 2, 3], [4, 5, 6]]),
        ("ADBECF", [1, 2], [[1, 2, 3], [4, 5, 6]]),
        ("ABC", [0, 1], [[1, 2, 3], [1, 2, 3]]),
        ("ABCxxDEFxx", [5, 1], [[1, 2, 3], [4, 5, 6]]),
    ]:
        x, y = dml.TENSOR_DESC("UINT8", [2, 3], Strides=strides), dml.TENSOR_DESC("UINT8", [2, 3])
        buffer = np.array([letters[letter] for letter in text], np.uint8)
        desc = dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y)
        assert dml.execute(desc, {"InputTensor": buffer}, device=device)["OutputTensor"].tolist() == expected


def test_fill_value_constant(device):
    run(dml.FILL_VALUE_CONSTANT_OPERATOR_DESC, {}, [[[[13] * 4] * 2]], ValueDataType=1, Value=13.0, level="2_1", device=device)


def test_upsample_2d(device):
    """The page has no example: a pixel becomes a block."""
    inputs = {"InputTensor": floats([[[[1, 2], [3, 4]]]])}
    expected = [[[[1, 1, 1, 2, 2, 2]] * 2 + [[3, 3, 3, 4, 4, 4]] * 2]]
    scale = dml.SIZE_2D(Width=3, Height=2)
    fields = {"ScaleSize": scale, "InterpolationMode": "NEAREST_NEIGHBOR"}
    run(dml.UPSAMPLE_2D_OPERATOR_DESC, inputs, expected, level="1_0", device=device, **fields)


@pytest.mark.parametrize(
    "offset, expected",
    [
        (0, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (1, [[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        (-1, [[0, 0], [1, 0], [0, 1]]),
        (-3, [[0, 0], [0, 0], [0, 0]]),
    ],
)
def test_diagonal_matrix(device, offset, expected):
    run(dml.DIAGONAL_MATRIX_OPERATOR_DESC, {}, [[expected]], Offset=offset, Value=1, level="2_0", device=device)


@pytest.mark.parametrize(
    "source, value, begin, end, expected",
    [
        (None, 7, 0, 1, [[7, 0, 0, 0, 0], [0, 7, 0, 0, 0], [0, 0, 7, 0, 0], [0, 0, 0, 7, 0]]),  # the page prints ones
        (None, 7, 0, 3, [[7, 7, 7, 0, 0], [0, 7, 7, 7, 0], [0, 0, 7, 7, 7], [0, 0, 0, 7, 7]]),
        (FOUR_BY_FIVE, 0, -(2**31), 1, [[0, 7, 3, 7, 9], [0, 0, 8, 6, 9], [0, 0, 0, 8, 7], [0, 0, 0, 0, 4]]),
        (FOUR_BY_FIVE, 0, 1, 0, [[4, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 2, 0]]),
    ],
)
def test_diagonal_matrix1(device, source, value, begin, end, expected):
    inputs = {} if source is None else {"InputTensor": floats(source)}
    fields = {"ValueDataType": "FLOAT32", "Value": value, "DiagonalFillBegin": begin, "DiagonalFillEnd": end}
    fields |= {} if source else {"InputTensor": None}
    run(dml.DIAGONAL_MATRIX1_OPERATOR_DESC, inputs, expected, level="5_1", device=device, **fields)


@pytest.mark.parametrize(
    "start, delta, kind, expected", [(3, 2, "FLOAT32", [[[[3, 5, 7]]]]), (10, -2, "UINT8", [[[[10, 8], [6, 4]]]])]
)
def test_fill_value_sequence(device, start, delta, kind, expected):
    fields = {"ValueDataType": kind, "ValueStart": start, "ValueDelta": delta}
    run(dml.FILL_VALUE_SEQUENCE_OPERATOR_DESC, {}, expected, data_type=kind, level="2_1", device=device, **fields)


FIVE_BY_FIVE = floats(np.arange(25).reshape(1, 1, 5, 5))
CORNERS = np.array([0, 1, 2, 5, 6, 7, 10, 11, 12])
WINDOWS = CORNERS[:, None] + CORNERS
PADDED_WINDOWS = [
    [0, 0, 0, 0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17],
    [0, 0, 0, 1, 2, 3, 6, 7, 8, 11, 12, 13, 16, 17, 18],
    [0, 0, 0, 2, 3, 4, 7, 8, 9, 12, 13, 14, 17, 18, 19],
    [0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17, 20, 21, 22],
    [1, 2, 3, 6, 7, 8, 11, 12, 13, 16, 17, 18, 21, 22, 23],
    [2, 3, 4, 7, 8, 9, 12, 13, 14, 17, 18, 19, 22, 23, 24],
    [5, 6, 7, 10, 11, 12, 15, 16, 17, 20, 21, 22, 0, 0, 0],
    [6, 7, 8, 11, 12, 13, 16, 17, 18, 21, 22, 23, 0, 0, 0],
    [7, 8, 9, 12, 13, 14, 17, 18, 19, 22, 23, 24, 0, 0, 0],
]


@pytest.mark.parametrize("padding, expected", [([0, 0], WINDOWS), ([1, 0], PADDED_WINDOWS)])
def test_unfold(device, padding, expected):
    fields = {"DimensionCount": 2, "WindowSizes": [3, 3], "Strides": [1, 1], "Dilations": [1, 1]}
    fields |= {"StartPadding": padding, "EndPadding": padding}
    run(dml.UNFOLD_OPERATOR_DESC, {"InputTensor": FIVE_BY_FIVE}, [expected], level="6_4", device=device, **fields)


@pytest.mark.parametrize("scale, count", [(2, 8), (3, 12), (0.5, 2), (1.5, 6), (1 / 3, 1)])
def test_resample_to_the_nearest(device, scale, count):
    """RESAMPLE, RESAMPLE1 with offsets of 0.5 and -0.5, and RESAMPLE2 as the errata have it: the same positions."""
    inputs = {"InputTensor": floats(np.arange(4).reshape(1, 1, 1, 4))}
    expected = [[[[min(int((k + 0.5) / scale + 1e-9), 3) for k in range(count)]]]]
    scales, half = [1, 1, 1, scale], [0.5] * 4
    fields = {"InterpolationMode": 0, "device": device}
    run(dml.RESAMPLE_OPERATOR_DESC, inputs, expected, ScaleCount=4, Scales=scales, level="2_0", **fields)
    fields |= {"DimensionCount": 4, "Scales": scales, "OutputPixelOffsets": [-0.5] * 4}
    run(dml.RESAMPLE1_OPERATOR_DESC, inputs, expected, InputPixelOffsets=half, level="2_1", **fields)
    fields |= {"InputPixelOffsets": [0] * 4, "RoundingDirection": "DECREASING"}
    run(dml.RESAMPLE2_OPERATOR_DESC, inputs, expected, level="5_1", **fields)
    run(dml.RESAMPLE3_OPERATOR_DESC, inputs, expected, Antialiased=True, level="6_4", **fields)


def test_tables_of_all_bytes(device):
    """Each of the 256 values, by formulas written out."""
    x = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16)
    values = x.ravel().tolist()
    inputs, options = {"InputTensor": x}, {"device": device}
    run(dml.CAST_OPERATOR_DESC, inputs, x.astype(float), data_type="FLOAT16", level="1_0", **options)
    clipped = np.array([max(10, min(v // 2, 100)) for v in values]).reshape(x.shape)
    fields = {"ScaleBias": dml.SCALE_BIAS(0.5, 0), "Min": 10.9, "Max": 100.9}
    run(dml.ELEMENT_WISE_CLIP_OPERATOR_DESC, inputs, clipped, data_type="UINT8", level="2_1", **fields, **options)
    scaled = np.array([min(255, max(0, 2 * v - 100)) for v in values]).reshape(x.shape)
    fields = {"ScaleBias": dml.SCALE_BIAS(2, -100)}
    run(dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC, inputs, scaled, data_type="UINT8", level="2_1", **fields, **options)
    inputs |= {"ScaleTensor": np.full(x.shape, 0.25, np.float32), "ZeroPointTensor": np.full(x.shape, 128, np.uint8)}
    expected = np.array([(v - 128) / 4 for v in values]).reshape(x.shape)
    run(dml.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, inputs, expected, level="1_0", **options)


def indices(values, kind=np.uint32):
    return np.array(values, kind)


@pytest.mark.parametrize(
    "axis, count, source, places, expected",
    [
        (0, 1, [11, 12, 13, 14], [3, 1, 3, 0, 2], [14, 12, 14, 11, 13]),
        (0, 1, [[1, 2], [3, 4], [5, 6]], [[0, 1, 1, 2]], [[1, 2], [3, 4], [3, 4], [5, 6]]),
        (1, 1, [[1, 2], [3, 4], [5, 6]], [[1, 0]], [[2, 1], [4, 3], [6, 5]]),  # the page has 2 index dimensions
        (2, 2, [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], [[[0, 2]]], [[[1, 3]], [[4, 6]], [[7, 9]]]),
        (1, 2, [[[1, 2], [3, 4], [5, 6]]], [[[0, 1], [1, 2]]], [[[1, 2], [3, 4]], [[3, 4], [5, 6]]]),
        (1, 0, [[1, 2, 3], [4, 5, 6]], [[2]], [[3, 6]]),  # not the page's: one index, whose axis is left out
    ],
)
def test_gather(device, axis, count, source, places, expected):
    inputs = {"InputTensor": floats(source), "IndicesTensor": indices(places)}
    run(dml.GATHER_OPERATOR_DESC, inputs, expected, Axis=axis, IndexDimensions=count, level="3_0", device=device)


def test_gather_elements(device):
    inputs = {"InputTensor": floats([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), "IndicesTensor": indices([[1, 2, 0], [2, 0, 0]])}
    run(dml.GATHER_ELEMENTS_OPERATOR_DESC, inputs, [[4, 8, 3], [7, 2, 3]], Axis=0, level="3_0", device=device)


@pytest.mark.parametrize(
    "counts, source, places, expected",
    [
        ((2, 2, 0), [[0, 1], [2, 3]], [[1], [0]], [[2, 3], [0, 1]]),
        ((3, 2, 0), [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]], [[[[0, 1], [1, 0]]]], [[[[2, 3], [4, 5]]]]),
        (
            (3, 3, 1),
            np.arange(12).reshape(1, 3, 2, 2),
            [[[[0, 0], [1, 1]], [[1, 1], [0, 0]], [[0, 1], [1, 0]]]],
            [[[[0, 3], [7, 4], [9, 10]]]],
        ),
    ],
)
def test_gather_nd(device, counts, source, places, expected):
    inputs = {"InputTensor": floats(source), "IndicesTensor": indices(places)}
    fields = dict(zip(("InputDimensionCount", "IndicesDimensionCount", "BatchDimensionCount"), counts, strict=True))
    run(dml.GATHER_ND1_OPERATOR_DESC, inputs, expected, level="3_0", device=device, **fields)
    if fields.pop("BatchDimensionCount") == 0:
        run(dml.GATHER_ND_OPERATOR_DESC, inputs, expected, level="3_0", device=device, **fields)


@pytest.mark.parametrize(
    "source, places, updates, expected",
    [
        ([0, 1, 2, 3, 4], [3, 1, 3, 0], [5, 6, 7, 8], [8, 6, 2, 7, 4]),
        (np.zeros((3, 3)), [[1, 0, 2], [0, 2, 1]], [[10, 11, 12], [20, 21, 22]], [[20, 11, 0], [10, 0, 22], [0, 21, 12]]),
    ],
)
def test_scatter(device, source, places, updates, expected):
    inputs = {"InputTensor": floats(source), "IndicesTensor": indices(places), "UpdatesTensor": floats(updates)}
    run(dml.SCATTER_OPERATOR_DESC, inputs, expected, Axis=0, level="3_0", device=device)
    run(dml.SCATTER_ELEMENTS_OPERATOR_DESC, inputs, expected, Axis=0, level="3_0", device=device)


def test_scatter_nd(device):
    """The page's example, with a size of 1 in front of those of input and updates."""
    inputs = {
        "InputTensor": floats([[1, 2, 3, 4, 5, 6, 7, 8]]),
        "IndicesTensor": indices([[4], [3], [1], [7]]),
        "UpdatesTensor": floats([[9, 10, 11, 12]]),
    }
    fields = {"InputDimensionCount": 1, "IndicesDimensionCount": 2}
    expected = [[1, 11, 3, 10, 9, 6, 7, 12]]
    run(dml.SCATTER_ND_OPERATOR_DESC, inputs, expected, level="3_0", device=device, **fields)


def test_max_unpooling(device):
    """The page has no example: indices count the elements of the output."""
    inputs = {"InputTensor": floats([[[[5, 7], [8, 9]]]]), "IndicesTensor": indices([[[[0, 3], [9, 14]]]])}
    expected = np.zeros(16)
    expected[[0, 3, 9, 14]] = [5, 7, 8, 9]
    run(dml.MAX_UNPOOLING_OPERATOR_DESC, inputs, expected.reshape(1, 1, 4, 4), level="3_0", device=device)


@pytest.mark.parametrize(
    "axis, kind, places, values, expected",
    [
        (3, "u4", [[0], [3], [2]], [[0, 1]], [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]),
        (2, "u4", [[0, 2, 1, 0]], [[0, 1]], [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]),
        (3, "u4", [[0], [3], [2]], [[4], [2], [9]], [[2, 4, 4, 4], [4, 4, 4, 2], [4, 4, 2, 4]]),
        (3, "i4", [[-3], [100], [3]], [[0, 1]], [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]),
    ],
)
def test_one_hot(device, axis, kind, places, values, expected):
    inputs = {"IndicesTensor": indices([[places]], kind), "ValuesTensor": floats([[values]])}
    level = "3_0" if kind == "i4" else "2_0"
    run(dml.ONE_HOT_OPERATOR_DESC, inputs, [[expected]], Axis=axis, level=level, device=device)
