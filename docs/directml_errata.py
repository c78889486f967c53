"""Mistakes in DirectML's pages, as data: what a page says, what is right, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass

from dmlops.directml.tables import CONSTANTS_PAGE, HISTORY_PAGE, PAGES, SIZE_PAGE, TENSOR_PAGE, WIN32

__all__ = ["ERRATA", "Erratum"]


@dataclass(frozen=True)
class Erratum:
    """One mistake. `page` is the address, `place` where on the page, `says` and `right` what it says and should say."""

    page: str
    place: str
    says: str
    right: str
    why: str


ERRATA = (
    Erratum(
        PAGES["SLICE1"],
        "InputWindowStrides",
        "The type is UINT.",
        "INT.",
        "The same page lets strides be negative, and the struct in DirectML.h has INT.",
    ),
    Erratum(
        PAGES["SLICE1"],
        "MaxCopiedElements",
        "1 + (InputWindowSize[i] - 1) / InputWindowStrides[i]",
        "1 + (InputWindowSizes[i] - 1) / abs(InputWindowStrides[i])",
        "With the stride of -2 in the page's second example the formula gives 0 or less, while two elements are copied.",
    ),
    Erratum(
        PAGES["SLICE1"],
        "Example 2, axis 2",
        "InputWindowOffsets[2] + InputWindowSizes[0] - 1 = 0 + 4 - 1 = 3",
        "InputWindowOffsets[2] + InputWindowSizes[2] - 1 = 0 + 4 - 1 = 3",
        "InputWindowSizes[0] is 1; the numbers that follow are those of axis 2.",
    ),
    Erratum(
        PAGES["SLICE_GRAD"],
        "InputWindowStrides",
        "Unlike SLICE1, this operator requires strides other than 0. The type is UINT.",
        "SLICE1 requires that too. The type is INT.",
        'The page of SLICE1 says "Strides may not be 0"; here too negative strides flip the window.',
    ),
    Erratum(
        PAGES["SPACE_TO_DEPTH"],
        "OutputTensor",
        "{ Batch, Channels / (BlockSize * BlockSize), Height * BlockSize, Width * BlockSize }",
        "{ Batch, Channels * BlockSize * BlockSize, Height / BlockSize, Width / BlockSize }",
        "The sizes are those of DEPTH_TO_SPACE; the page's own example goes from {1, 2, 4, 6} to {1, 8, 2, 3}.",
    ),
    Erratum(
        PAGES["SPACE_TO_DEPTH1"],
        "OutputTensor",
        "{ Batch, Channels / (BlockSize * BlockSize), Height * BlockSize, Width * BlockSize }",
        "{ Batch, Channels * BlockSize * BlockSize, Height / BlockSize, Width / BlockSize }",
        "As on the page of SPACE_TO_DEPTH.",
    ),
    Erratum(
        PAGES["REVERSE_SUBSEQUENCES"],
        "Examples",
        "The second tensor is called SequenceTensor.",
        "SequenceLengthsTensor.",
        "So is the field, on the same page and in DirectML.h.",
    ),
    Erratum(
        PAGES["TILE"],
        "Examples",
        "The second tensor, of sizes {1, 1, 6, 9}, is called InputTensor.",
        "OutputTensor.",
        "The sizes are those of the first tensor times Repeats.",
    ),
    Erratum(
        PAGES["UPSAMPLE_2D"],
        "OutputTensor",
        "A tensor containing the input data.",
        "A tensor to write the output data to.",
        "The sentence is that of InputTensor.",
    ),
    Erratum(
        PAGES["DIAGONAL_MATRIX1"],
        "Example 1",
        "Value is 7, and the output has ones on the diagonal.",
        "With Value 7 the output has sevens; for ones, Value is 1.",
        "The page's pseudocode writes Value, as its second example does.",
    ),
    Erratum(
        PAGES["DIAGONAL_MATRIX1"],
        "OutputTensor",
        "The dimensions are { Batch1, Batch2, OutputHeight, OutputWidth }.",
        "The last two of 2 to 4 dimensions are height and width; those before are a batch.",
        "The table of the page has 2 to 4 dimensions, and its examples have 2.",
    ),
    Erratum(
        PAGES["PADDING1"],
        "PaddingMode",
        "SYMMETRIC was introduced in feature level 3_0. WRAP is not listed.",
        "All modes but WRAP are there from 5_0, with the operator. WRAP is there from 6_4.",
        "The operator was introduced in 5_0; the feature level history has WRAP for both operators.",
    ),
    Erratum(
        PAGES["PADDING"],
        "PaddingMode",
        "WRAP is not listed.",
        "WRAP is there from 6_4.",
        "The feature level history and DirectML.h have it.",
    ),
    Erratum(
        WIN32 + "ne-directml-dml_padding_mode",
        "Constants",
        "CONSTANT, EDGE and REFLECTION are described.",
        "SYMMETRIC (3) and WRAP (4) too.",
        "The syntax on the same page lists all five.",
    ),
    Erratum(
        PAGES["PADDING"],
        "Tensor support",
        "4 to 5 dimensions before 3_1.",
        "As the page says; the feature level history says that the maximum grew from 4 to 8.",
        "Where page and history disagree, dmlops takes the page.",
    ),
    Erratum(
        PAGES["JOIN"],
        "Tensor support",
        "4 to 5 dimensions at 3_0, and 1 to 8 at 4_1.",
        "As the page says; the feature level history has 8 dimensions at 3_1.",
        "Where page and history disagree, dmlops takes the page.",
    ),
    Erratum(
        PAGES["ACTIVATION_IDENTITY"],
        "InputTensor",
        "The output tensor to write the results to.",
        "The input tensor to read from.",
        "The sentence is that of OutputTensor.",
    ),
    Erratum(
        PAGES["CAST"],
        "InputTensor",
        "The tensor to write the results to. Its Sizes should match InputTensor.",
        "The tensor to read from.",
        "The sentences are those of OutputTensor.",
    ),
    Erratum(
        PAGES["FILL_VALUE_SEQUENCE"],
        "Pseudocode",
        "Value + elementIndex * Delta. Translations and older versions add up: Value += Delta.",
        "As the English page says. dmlops computes floats in double precision and rounds once.",
        "Of floats, sums of many deltas differ from a multiple. No page says in which precision either is computed.",
    ),
    Erratum(
        PAGES["FILL_VALUE_SEQUENCE"],
        "Example 2",
        "ValueDelta is -2, of type UINT8.",
        "254, which wraps round to the same results.",
        "A DML_SCALAR_UNION of type UINT8 holds 0 to 255. dmlops takes negative deltas, too.",
    ),
    Erratum(
        PAGES["RESAMPLE2"],
        "Remarks",
        "It is equivalent to RESAMPLE1 with DECREASING and OutputPixelOffsets adjusted by an additional -0.5.",
        "InputPixelOffsets adjusted by an additional -0.5.",
        "Rounding to the nearest is floor(x + 0.5), where x is in pixels of the input. By the page's formula an offset of the "
        "output moves x by 0.5 / Scale: with Scale 3, the fourth element would be element 0, not 1.",
    ),
    Erratum(
        PAGES["RESAMPLE3"],
        "Antialiased",
        "The filter is stretched by max(1, 1 / scale), if 1 / Scales is above 2.",
        "Nothing more is known; it is about LINEAR only.",
        "For 1 / Scales from 1 to 2 the first half says that the filter is stretched, and the second that it is not.",
    ),
    Erratum(
        PAGES["UNFOLD"],
        "Tensor constraints",
        "InputTensor and OutputTensor must have the same DimensionCount.",
        "OutputTensor has 3 dimensions.",
        "The page's text and its two examples say so, which go from 4 dimensions to 3. FOLD's page has the same sentence.",
    ),
    Erratum(
        PAGES["UNFOLD"],
        "Tensor support",
        "The data types are left blank.",
        "dmlops takes all types.",
        "The page's examples have FLOAT32; nothing says which others there are. FOLD's page leaves them blank, too.",
    ),
    Erratum(
        PAGES["UNFOLD"],
        "Example 2",
        "1-channel, padded fold.",
        "1-channel, padded unfold.",
        "The example goes from {1, 1, 5, 5} to {1, 9, 15}.",
    ),
    Erratum(
        PAGES["ELEMENT_WISE_CLIP1"],
        "f(x)",
        "min(Max, max(Min, x)); the page of the same name in the Win32 documentation: max(Min, min(x, Max)).",
        "max(Min, min(x, Max)), as the page of ELEMENT_WISE_CLIP says, too.",
        "They differ where Min is above Max. dmlops takes what the two newer pages say.",
    ),
    Erratum(
        PAGES["GATHER"],
        "IndexDimensions",
        "The range is [0, IndicesTensor.DimensionCount).",
        "[0, IndicesTensor.DimensionCount].",
        "In the page's first example both are 1.",
    ),
    Erratum(
        PAGES["GATHER"],
        "Example 3",
        "IndexDimensions is 2.",
        "1.",
        "The indices are {1, 2} and the output is {3, 2}: with 2 index dimensions it would be {3, 1, 2}.",
    ),
    Erratum(
        PAGES["GATHER"],
        "Examples 4 and 5",
        "They are called 2D, with Axis 1 and Axis 0.",
        "The inputs have 3 dimensions, and Axis is 2 and 1.",
        "So say the examples' own fields and sizes.",
    ),
    Erratum(
        PAGES["GATHER_ELEMENTS"],
        "Example",
        "OutputTensor has the data type UINT32.",
        "FLOAT32.",
        "That is InputTensor's, and the page says that both must be the same.",
    ),
    Erratum(
        PAGES["GATHER_ND"],
        "OutputTensor",
        "InputTensor.Sizes[(InputTensor.DimensionCount - indexTupleSize) .. InputTensor.DimensionCount]",
        "InputTensor.Sizes[(InputTensor.DimensionCount - InputDimensionCount + indexTupleSize) .. InputTensor.DimensionCount]",
        "The page's own example has an input of {3, 4, 5, 6, 7}, tuples of 3, and an output that ends with {6, 7}.",
    ),
    Erratum(
        PAGES["GATHER_ND1"],
        "OutputTensor",
        "InputTensor.Sizes[(InputTensor.DimensionCount - indexTupleSize) .. InputTensor.DimensionCount]",
        "As for GATHER_ND, with BatchDimensionCount added to indexTupleSize.",
        "In the page's second example, batch and tuple name all dimensions, and the output has none of the input's.",
    ),
    Erratum(
        PAGES["SCATTER_ND"],
        "UpdatesTensor",
        "InputTensor.Sizes[(InputTensor.DimensionCount - indexTupleSize) .. InputTensor.DimensionCount]",
        "As for GATHER_ND.",
        "The page's own example has an input of {3, 4, 5, 6, 7}, tuples of 3, and updates that end with {6, 7}.",
    ),
    Erratum(
        PAGES["SCATTER_ND"],
        "InputDimensionCount, IndicesDimensionCount",
        "The ranges are [1, DimensionCount).",
        "[1, DimensionCount], as for GATHER_ND.",
        "The page's example of an input of {8} has an InputDimensionCount of 1.",
    ),
    Erratum(
        PAGES["SCATTER_ND"],
        "Example",
        "IndicesTensor is FLOAT32 and of 2 dimensions, the other tensors of 1.",
        "IndicesTensor is UINT32; the others have sizes of {1, 8} and {1, 4}.",
        "The page's table has integers only, and says that all have the same DimensionCount.",
    ),
    Erratum(
        PAGES["SCATTER"],
        "Availability",
        "The operator was introduced in 1_0.",
        "As the page says; the feature level history has it at 2_0.",
        "Where page and history disagree, dmlops takes the page.",
    ),
    Erratum(
        PAGES["SCATTER"],
        "Example 2",
        "InputTensor has the sizes {2, 3}.",
        "{3, 3}.",
        "It shows three rows, and the output has {3, 3}.",
    ),
    Erratum(
        PAGES["SCATTER"],
        "Description",
        "If two output element indices overlap (which is invalid), there is no guarantee of which last write wins.",
        "dmlops takes the last one in C order, on each device and each time.",
        "The page's first example has the index 3 twice, and shows the last one.",
    ),
    Erratum(
        PAGES["MAX_UNPOOLING"],
        "Availability",
        "The operator was introduced in 3_0.",
        "As the page says; the feature level history has it at 2_0.",
        "Where page and history disagree, dmlops takes the page.",
    ),
    Erratum(
        HISTORY_PAGE,
        "DML_FEATURE_LEVEL_5_1, 6_2",
        "Only RESAMPLE2 has more data types at 6_2.",
        "RESAMPLE and RESAMPLE1 take 1 to 4 dimensions from 5_1 on, and INT8 and UINT8 from 6_2 on, as RESAMPLE2.",
        "The pages of the two operators have tables for 5_1 and 6_2 that say so.",
    ),
    Erratum(
        HISTORY_PAGE,
        "DML_FEATURE_LEVEL_2_1",
        "SLICE, JOIN, SPLIT and DIAGONAL_MATRIX are not among the operators with more integer types.",
        "They are: the first three take INT8 and UINT8 from 2_1, DIAGONAL_MATRIX all integers of up to 32 bits.",
        "The pages of the four operators have tables for 2_1 that say so.",
    ),
    Erratum(
        HISTORY_PAGE,
        "DML_FEATURE_LEVEL_3_1",
        "The maximum number of dimensions of SLICE_GRAD has increased from 4 to 8.",
        "From 5 to 8.",
        "The page of SLICE_GRAD has 4 to 5 dimensions at 3_0.",
    ),
    Erratum(
        TENSOR_PAGE,
        "Strides",
        "Strides of 0 broadcast; nothing is said of outputs.",
        "An output's elements must not share a place.",
        "Else the result depends on which element is written last. dmlops refuses such outputs at every feature level.",
    ),
    Erratum(
        SIZE_PAGE,
        "DMLCalcBufferTensorSize",
        "The index of the last element is added up in 32 bits.",
        "In 64 bits.",
        "Strides may be any 32-bit number, so that the sum can wrap round and a buffer look large enough that is not.",
    ),
    Erratum(
        CONSTANTS_PAGE,
        "DML_TENSOR_DIMENSION_COUNT_MAX1",
        "DirectML tensors support a maximum of 8 dimensions from 3_0.",
        "Each operator has limits of its own, as the pages' tables say.",
        "DEPTH_TO_SPACE takes 4 dimensions at every level, UPSAMPLE_2D at most 5, DIAGONAL_MATRIX at most 4.",
    ),
)
