"""Feature levels: for each operator and level, what is just allowed, and what is just refused."""

import pytest

import dmlops.directml as dml
from dmlops.directml import tables

import described

pytestmark = pytest.mark.driverless

# The tables once more, written down apart from the package: level, ranks, data types.
LEVELS = {
    "SLICE": "1_0 4-5 no8, 2_1 4-5 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "SLICE1": "2_1 4-5 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "SLICE_GRAD": "3_0 4-5 to32, 3_1 1-8 to32, 4_1 1-8 all",
    "DEPTH_TO_SPACE": "1_0 4-4 float, 2_1 4-4 to32, 5_0 4-4 all",
    "DEPTH_TO_SPACE1": "2_1 4-4 to32, 5_0 4-4 all",
    "SPACE_TO_DEPTH": "1_0 4-4 float, 2_1 4-4 to32, 5_0 4-4 all",
    "SPACE_TO_DEPTH1": "2_1 4-4 to32, 5_0 4-4 all",
    "REVERSE_SUBSEQUENCES": "2_1 4-4 to32, 3_0 4-5 to32, 4_0 1-8 to32, 5_0 1-8 all",
    "PADDING": "1_0 4-5 float, 2_1 4-5 to32, 3_1 1-8 to32, 5_0 1-8 all",
    "PADDING1": "5_0 1-8 all",
    "TILE": "1_0 4-4 float, 2_1 4-4 to32, 3_1 1-8 to32, 4_1 1-8 no_double",
    "JOIN": "1_0 4-4 no8, 2_1 4-4 to32, 3_0 4-5 to32, 4_1 1-8 all",
    "SPLIT": "1_0 4-4 no8, 2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "ELEMENT_WISE_IDENTITY": "1_0 4-5 float, 2_1 4-5 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "FILL_VALUE_CONSTANT": "2_1 4-4 to32, 4_0 1-8 to32, 4_1 1-8 all",
    "UPSAMPLE_2D": "1_0 4-5 float",
    "DIAGONAL_MATRIX": "2_0 4-4 float, 2_1 4-4 to32, 4_0 2-4 to32, 5_1 2-4 all",
    "DIAGONAL_MATRIX1": "5_1 2-4 all",
    "FILL_VALUE_SEQUENCE": "2_1 4-4 to32, 4_0 1-8 to32, 5_0 1-8 no_double",
    "RESAMPLE": "2_0 4-4 float, 5_1 1-4 float, 6_2 1-4 float_8",
    "RESAMPLE1": "2_1 4-4 float, 5_1 1-4 float, 6_2 1-4 float_8",
    "RESAMPLE2": "5_1 1-4 float, 6_2 1-4 float_8",
    "RESAMPLE3": "6_4 1-4 float_8",
    "UNFOLD": "6_4 3-8 all",
    "ACTIVATION_IDENTITY": "1_0 4-4 float, 2_0 4-5 float, 3_0 1-8 float",
    "CAST": "1_0 4-4 no32, 3_0 4-4 no_double, 3_1 1-8 no_double, 4_1 1-8 all",
    "ELEMENT_WISE_CLIP": "1_0 4-4 float, 2_1 4-4 to32, 3_0 1-8 to32, 5_0 1-8 no_double",
    "ELEMENT_WISE_CLIP1": "5_0 1-8 no_double",
    "GATHER": "1_0 4-4 float, 2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "GATHER_ELEMENTS": "2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "GATHER_ND": "2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "GATHER_ND1": "3_0 1-8 to32, 4_1 1-8 all",
    "SCATTER_ELEMENTS": "1_0 4-4 float, 2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "SCATTER": "1_0 4-4 float, 2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "SCATTER_ND": "2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "MAX_UNPOOLING": "3_0 4-4 float, 5_0 4-4 no_double",
    "ONE_HOT": "2_0 4-4 float, 2_1 4-4 to32, 3_0 1-8 to32, 4_1 1-8 all",
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": "1_0 4-4 uint8, 2_1 4-4 int, 3_0 1-8 int, 6_0 1-8 int",
}
SETS = {"float": {"FLOAT32", "FLOAT16"}}
SETS["float_8"] = SETS["float"] | {"INT8", "UINT8"}
SETS["no32"] = SETS["float_8"] | {"INT16", "UINT16"}
SETS["int"] = {"INT32", "INT16", "INT8", "UINT32", "UINT16", "UINT8"}
SETS["uint8"] = {"UINT8"}
SETS["no8"] = SETS["float"] | {"INT32", "INT16", "UINT32", "UINT16"}
SETS["to32"] = SETS["no8"] | {"INT8", "UINT8"}
SETS["no_double"] = SETS["to32"] | {"INT64", "UINT64"}
SETS["all"] = SETS["no_double"] | {"FLOAT64"}

TYPES = [kind.name for kind in dml.DML_TENSOR_DATA_TYPE if kind.dtype is not None]
CASES = [(operator, level) for operator, rows in tables.SUPPORT.items() for level in tables.LEVELS]


def accepted(desc, level):
    """Whether a level takes a description; if not, each message must have the field, the value, and what is allowed.

    What computes is refused, too, though DirectML takes it.
    """
    try:
        dml.validate(desc, level)
    except dml.DirectMLError as error:
        assert error.problems and all(p.field and p.value and p.allowed and (p.document or p.computes) for p in error.problems)
        assert f"at feature level {level}" in str(error)
        return all(problem.computes for problem in error.problems)
    return True


@pytest.mark.parametrize("operator, level", CASES)
def test_ranks_and_types(operator, level):
    """Every rank and every type, compared with the table; at the edges lie the descriptions just allowed and just refused."""
    support = tables.support_at(operator, level)
    first = tables.first_level(operator)
    for rank in range(1, 10):
        for data_type in TYPES:
            if (rank == 1 and "MATRIX" in operator) or (rank != 4 and operator.startswith(("DEPTH", "SPACE"))):
                continue  # refused for other reasons, too
            desc = described.smallest(operator, rank, data_type)
            allowed = support is not None and support.ranks[0] <= rank <= support.ranks[1] and data_type in support.types
            assert accepted(desc, level) == allowed, (rank, data_type)
    if support is None:
        with pytest.raises(dml.DirectMLError, match=f"allowed: feature level {first} or later"):
            dml.validate(described.smallest(operator, 4, "FLOAT32"), level)


@pytest.mark.parametrize("operator", described.OPERATORS)
def test_the_lowest_level_of_each_row(operator):
    """The first level of each row is the lowest of a description that the row before does not take."""
    rows = list(tables.SUPPORT[operator].items())
    for (level, support), (_, before) in zip(rows, [*rows[1:], (None, None)], strict=True):
        new_types = [kind for kind in support.types if before is None or kind not in before.types]
        new_ranks = [
            r
            for r in range(support.ranks[0], support.ranks[1] + 1)
            if not before or not before.ranks[0] <= r <= before.ranks[1]
        ]
        assert new_types or new_ranks or support.others
        for kind in new_types:
            assert dml.lowest_feature_level(described.smallest(operator, 4, kind)) == level
        for rank in new_ranks:
            first = "FLOAT32" if "FLOAT32" in support.types else support.types[-1]
            assert dml.lowest_feature_level(described.smallest(operator, rank, first)) == level


@pytest.mark.parametrize("mode", tables.PADDING_MODES)
def test_padding_modes(mode):
    for operator in ("PADDING", "PADDING1"):
        desc = described.smallest(operator, 4, "FLOAT32", mode=mode)
        levels = [level for level in tables.LEVELS if accepted(desc, level)]
        first = max(tables.PADDING_MODES[mode], tables.first_level(operator))
        assert levels == [level for level in tables.LEVELS if level >= first]
        assert dml.lowest_feature_level(desc) == first


@pytest.mark.parametrize("operator", [name for name in LEVELS if name.startswith(("GATHER", "SCATTER", "ONE_HOT", "MAX_UN"))])
def test_types_of_indices(operator):
    first = {"MAX_UNPOOLING": "5_0"}.get(operator, "3_0")
    allowed = {"UINT32": tables.first_level(operator), "UINT64": first, "INT32": first, "INT64": first, "UINT16": None}
    if operator == "MAX_UNPOOLING":
        allowed |= {"INT32": None, "INT64": None}
    for data_type, level in allowed.items():
        desc = described.smallest(operator, 4, "FLOAT32", lengths=data_type)
        assert dml.lowest_feature_level(desc) == level
        if level is None:
            with pytest.raises(dml.DirectMLError, match=f"IndicesTensor.DataType is {data_type}; allowed: .*UINT32"):
                dml.validate(desc, None)


def test_a_zero_point_may_be_left_out():
    x, y = dml.TENSOR_DESC("INT8", [1, 1, 1, 4]), dml.TENSOR_DESC("FLOAT32", [1, 1, 1, 4])
    desc = dml.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC(x, y, None, y)
    assert dml.lowest_feature_level(desc) == "6_2"
    halves = dml.TENSOR_DESC("FLOAT16", [1, 1, 1, 4])
    assert dml.lowest_feature_level(dml.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC(x, halves, x, halves)) == "6_0"
    with pytest.raises(dml.DirectMLError, match="OutputTensor.DataType is FLOAT16; allowed: FLOAT32, that of ScaleTensor"):
        dml.validate(dml.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC(x, y, x, halves))


def test_what_computes_is_taken_by_its_level():
    """Linear interpolation, and types of which there is no table."""
    linear = described.smallest("RESAMPLE1", 4, "FLOAT32", mode="LINEAR")
    clip = described.smallest("ELEMENT_WISE_CLIP", 4, "FLOAT32")
    x, y = dml.TENSOR_DESC("INT32", [1, 1, 1, 4]), dml.TENSOR_DESC("FLOAT32", [1, 1, 1, 4])
    cast, back = dml.CAST_OPERATOR_DESC(x, y), dml.CAST_OPERATOR_DESC(dml.TENSOR_DESC("FLOAT16", y.Sizes), x)
    for desc, level in ((linear, "2_1"), (clip, "1_0"), (cast, "3_0"), (back, "3_0")):
        assert dml.lowest_feature_level(desc) == level
        for which in ("6_4", None):
            with pytest.raises(dml.DirectMLError, match="computation|tables") as caught:
                dml.validate(desc, which)
            assert all(problem.computes for problem in caught.value.problems)


def test_lengths_of_sequences():
    for data_type, first in [("UINT32", "2_1"), ("UINT64", "5_0"), ("INT32", None), ("FLOAT32", None)]:
        desc = described.smallest("REVERSE_SUBSEQUENCES", 4, "FLOAT32", lengths=data_type)
        assert dml.lowest_feature_level(desc) == first
    with pytest.raises(dml.DirectMLError, match="SequenceLengthsTensor.DataType is INT64; allowed: UINT64, UINT32"):
        dml.validate(described.smallest("REVERSE_SUBSEQUENCES", 4, "FLOAT32", lengths="INT64"), None)


@pytest.mark.parametrize("operator", described.OPERATORS)
def test_without_a_level_any_rank_and_type_runs(operator):
    for rank in (4,) if operator.startswith(("DEPTH", "SPACE")) else (3, 9) if operator == "UNFOLD" else (2, 9):
        for data_type in TYPES if operator == "CAST" else described.RUN.get(operator, TYPES):
            dml.validate(described.smallest(operator, rank, data_type), None)


@pytest.mark.parametrize("level", ["6_4", "DML_FEATURE_LEVEL_6_4", 0x6400])
def test_forms_of_a_level(level):
    dml.validate(described.smallest("TILE", 4, "INT8"), level)


@pytest.mark.parametrize("level", ["6_5", "", "6.4", 0x6500, 6, True])
def test_unknown_levels(level):
    with pytest.raises(ValueError, match="feature_level is .*; allowed: 1_0, 2_0"):
        dml.validate(described.smallest("TILE", 4, "INT8"), level)


@pytest.mark.parametrize("operator", LEVELS)
def test_the_tables_are_those_of_the_pages(operator):
    rows = [row.split() for row in LEVELS[operator].split(", ")]
    expected = {level: (tuple(map(int, ranks.split("-"))), SETS[types]) for level, ranks, types in rows}
    assert {level: (row.ranks, set(row.types)) for level, row in tables.SUPPORT[operator].items()} == expected


def test_the_tables_are_complete_and_in_order():
    assert set(LEVELS) == set(tables.SUPPORT)
    assert set(tables.SUPPORT) == set(tables.PAGES) == set(described.descs.DESCS)
    for rows in tables.SUPPORT.values():
        numbers = [tables.LEVELS[level] for level in rows]
        assert numbers == sorted(numbers, reverse=True)
        for older, newer in zip(
            list(rows.values())[1:], rows.values(), strict=False
        ):  # a level takes all that the one before took
            assert set(older.types) <= set(newer.types)
            assert newer.ranks[0] <= older.ranks[0] and older.ranks[1] <= newer.ranks[1]
    assert list(tables.LEVELS.values()) == sorted(tables.LEVELS.values())
