"""The operators as data. Every page of an operator on the site is made from its row, and docs/operators.md names each.

All code is in strings: the build runs it, shows it, and fails where a claim does not hold.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Example:
    """A call. `input` makes `x`; `call` makes the result; `numpy` is NumPy's expression for it.

    Of more lines than one, `numpy` assigns to `y`.
    """

    input: str
    call: str
    numpy: str
    text: str = ""


@dataclass(frozen=True)
class Operator:
    name: str
    summary: str  # what it does, in a sentence
    example: Example  # small: drawn as cells with numbers
    photograph: Example | None  # drawn as pictures; `photo` is a photograph, (rows, columns, 3) of uint8
    errors: tuple[str, ...]  # wrong calls; the page shows what each raises
    directml: tuple[str, ...]  # the structures that describe the same, without DML_ and _OPERATOR_DESC
    onnx: tuple[str, ...]
    cells: tuple[str, ...] = ()  # how the benchmark's JSON names the operator, up to the parenthesis
    more: tuple[Example, ...] = field(default=())


OPERATORS = (
    Operator(
        "reverse_subsequences",
        "Reverses the first *L* elements of each sequence along an axis and copies the rest. Each sequence has its own *L*.",
        Example(
            "np.arange(1, 16).reshape(3, 5)",
            "dmlops.reverse_subsequences(x, [3, 5, 2], axis=1, batch_axis=0)",
            "np.stack([np.r_[row[:n][::-1], row[n:]] for row, n in zip(x, [3, 5, 2])])",
        ),
        Example(
            "photo",
            "dmlops.reverse_subsequences(x, np.linspace(0, 640, 427).astype(int), axis=1, batch_axis=0)",
            "np.stack([np.r_[row[:n][::-1], row[n:]] for row, n in zip(x, np.linspace(0, 640, 427).astype(int))])",
            "Each row of the photograph has its own length, from 0 at the top to the whole row at the bottom.",
        ),
        (
            "dmlops.reverse_subsequences([[1, 2, 3]], [-1], axis=1, batch_axis=0)",
            "dmlops.reverse_subsequences([[1, 2, 3]], [1.0], axis=1, batch_axis=0)",
            "dmlops.reverse_subsequences([[1, 2, 3]], [1, 2], axis=1, batch_axis=0)",
            "dmlops.reverse_subsequences([[1, 2, 3]], [1], axis=2, batch_axis=0)",
        ),
        ("REVERSE_SUBSEQUENCES",),
        ("ReverseSequence",),
        ("Reverse",),
        (
            Example(
                "np.arange(1, 6)[None]",
                "dmlops.reverse_subsequences(x, [9], axis=1, batch_axis=0)",
                "x[:, ::-1]",
                "A length above the size of the axis is clamped to it. ONNX and TensorFlow refuse such a length.",
            ),
            Example(
                "np.arange(1, 13).reshape(2, 2, 3)",
                "dmlops.reverse_subsequences(x, [[[2], [3]]], axis=2)",
                "np.stack([x[:, 0, [1, 0, 2]], x[:, 1, ::-1]], axis=1)",
                "Without `batch_axis` the lengths may vary along several axes: they have size 1 on `axis`, and broadcast.",
            ),
        ),
    ),
    Operator(
        "depth_to_space",
        "Moves blocks of channels into the spatial axes. Each spatial axis grows by its block size.",
        Example(
            "np.arange(16).reshape(1, 4, 2, 2)",
            "dmlops.depth_to_space(x, 2)",
            "x.reshape(1, 2, 2, 1, 2, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 4)",
        ),
        Example(
            "np.stack([photo[i:426:2, j::2] for i in (0, 1) for j in (0, 1)]).transpose(1, 2, 0, 3).reshape(213, 320, 12)",
            'dmlops.depth_to_space(x, (2, 2), layout="NHWC")',
            "x.reshape(213, 320, 2, 2, 3).transpose(0, 2, 1, 3, 4).reshape(426, 640, 3)",
            "Four small pictures in the channels become one of twice the height and width.",
        ),
        (
            "dmlops.depth_to_space(np.zeros((1, 6, 2, 2)), 2)",
            "dmlops.depth_to_space(np.zeros((3, 4, 4)), 2)",
            'dmlops.depth_to_space(np.zeros((1, 4, 2, 2)), 2, order="RGB")',
            "dmlops.depth_to_space(np.zeros((1, 4, 2, 2)), 2.0)",
        ),
        ("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"),
        ("DepthToSpace",),
        ("DepthToSpace",),
        (
            Example(
                "np.arange(8).reshape(1, 8, 1, 1)",
                'dmlops.depth_to_space(x, 2, order="CRD")',
                "x.reshape(1, 2, 2, 2)",
                'With `order="CRD"` the channels of one block are neighbours, as in PyTorch\'s `pixel_shuffle`.',
            ),
            Example(
                "np.arange(12).reshape(6, 2)",
                "dmlops.depth_to_space(x, (3,))",
                "x.reshape(3, 2, 2).transpose(1, 2, 0).reshape(2, 6)",
                "A sequence has one block size for each spatial axis. Here there is one spatial axis, and no batch axis.",
            ),
        ),
    ),
    Operator(
        "space_to_depth",
        "Moves blocks of the spatial axes into channels. Each spatial axis shrinks by its block size.",
        Example(
            "np.arange(16).reshape(1, 1, 4, 4)",
            "dmlops.space_to_depth(x, 2)",
            "x.reshape(1, 1, 2, 2, 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 4, 2, 2)",
        ),
        Example(
            "photo[:384]",
            'dmlops.space_to_depth(x, (128, 128), layout="NHWC")',
            "x.reshape(3, 128, 5, 128, 3).swapaxes(1, 2).reshape(3, 5, 128 * 128 * 3)",
            "Patches of 128 by 128 pixels, each a vector of 49,152 numbers; the picture shows the vectors as patches.",
        ),
        (
            "dmlops.space_to_depth(np.zeros((1, 1, 3, 4)), 2)",
            "dmlops.space_to_depth(np.zeros((1, 1, 4, 4)), 0)",
            "dmlops.space_to_depth(np.zeros((480, 640, 3)), 2)",
        ),
        ("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1"),
        ("SpaceToDepth",),
        ("SpaceToDepth",),
        (
            Example(
                "np.arange(8).reshape(2, 4, 1)",
                'dmlops.space_to_depth(x, (2, 2), layout="NHWC")',
                "x.reshape(1, 2, 2, 2).transpose(0, 2, 1, 3).reshape(1, 2, 4)",
                'With `layout="NHWC"` the channels are last.',
            ),
        ),
    ),
    Operator(
        "slice",
        "Takes every `strides`-th element of a window. A negative stride starts at the window's last element.",
        Example(
            "np.arange(24).reshape(4, 6)",
            "dmlops.slice(x, offsets=(1, 0), sizes=(3, 6), strides=(1, -2))",
            "x[1:4, 5::-2]",
        ),
        Example(
            "photo",
            "dmlops.slice(x, *dmlops.slice_from_key(x.shape, np.s_[40:360, 560:80:-1]))",
            "x[40:360, 560:80:-1]",
            "A crop, mirrored: `slice_from_key` converts NumPy's key to offsets, sizes and strides.",
        ),
        (
            "dmlops.slice(np.arange(10), [2], [9])",
            "dmlops.slice(np.arange(10), [2], [8], [0])",
            "dmlops.slice(np.arange(10), 2, 8)",
            "dmlops.slice(np.arange(10), [2], [8], [3], output_sizes=[4])",
        ),
        ("SLICE", "SLICE1"),
        ("Slice",),
        ("Slice",),
        (
            Example(
                "np.arange(10)",
                "dmlops.slice(x, offsets=[2], sizes=[6])",
                "x[2:8]",
                "`sizes` are sizes, not stops: NumPy's `x[2:6]` is offset 2 and size 4.",
            ),
            Example(
                "np.arange(10)",
                "dmlops.slice(x, *dmlops.slice_from_key(x.shape, np.s_[2:6]))",
                "x[2:6]",
                "`slice_from_key` does that arithmetic.",
            ),
        ),
    ),
    Operator(
        "padding",
        "Puts elements before and after an axis: a constant, the edge, a reflection, or the array again.",
        Example(
            "np.arange(1, 7).reshape(2, 3)",
            'dmlops.padding(x, (1, 2), (0, 1), mode="reflection")',
            'np.pad(x, ((1, 0), (2, 1)), mode="reflect")',
        ),
        Example(
            "photo[:320]",
            'dmlops.padding(x, (60, 160, 0), (60, 160, 0), mode="symmetric")',
            'np.pad(x, ((60, 60), (160, 160), (0, 0)), mode="symmetric")',
            "A symmetric border, as filters want it.",
        ),
        (
            "dmlops.padding(np.zeros((2, 3)), (1, -1), (0, 0))",
            'dmlops.padding(np.zeros((2, 3)), (1, 1), (0, 0), mode="mirror")',
            "dmlops.padding(np.zeros((2, 3), np.uint8), (1, 1), (0, 0), value=300)",
        ),
        ("PADDING", "PADDING1"),
        ("Pad",),
        ("Padding", "Pad"),
        (
            Example(
                "np.arange(1, 4)",
                "dmlops.padding(x, [2], [3], value=9)",
                "np.pad(x, (2, 3), constant_values=9)",
                "The default mode is `constant`, and the default value 0.",
            ),
            Example(
                "np.arange(1, 4)",
                'dmlops.padding(x, [4], [5], mode="wrap")',
                'np.pad(x, (4, 5), mode="wrap")',
                "Padding longer than the axis goes round again.",
            ),
        ),
    ),
    Operator(
        "tile",
        "Repeats the whole array along each axis.",
        Example("np.arange(1, 7).reshape(2, 3)", "dmlops.tile(x, (2, 2))", "np.tile(x, (2, 2))"),
        Example("photo[::3, ::3]", "dmlops.tile(x, (2, 3, 1))", "np.tile(x, (2, 3, 1))", "A small photograph, six times."),
        ("dmlops.tile(np.zeros((2, 3)), (2,))", "dmlops.tile(np.zeros((2, 3)), (2, -1))"),
        ("TILE",),
        ("Tile", "Expand"),
        ("Tile",),
    ),
    Operator(
        "join",
        "Puts arrays one after another along an axis.",
        Example(
            "[np.arange(4).reshape(2, 2), np.arange(4, 10).reshape(2, 3)]",
            "dmlops.join(x, axis=1)",
            "np.concatenate(x, axis=1)",
        ),
        Example(
            "[photo[:, :200], photo[:, 440:]]",
            "dmlops.join(x, axis=1)",
            "np.concatenate(x, axis=1)",
            "Two strips of a photograph.",
        ),
        (
            "dmlops.join([], axis=0)",
            "dmlops.join([np.zeros(2), np.zeros(2, np.float32)], axis=0)",
            "dmlops.join([np.zeros((2, 3)), np.zeros((3, 3))], axis=1)",
        ),
        ("JOIN",),
        ("Concat",),
        ("Join", "Concatenate"),
    ),
    Operator(
        "split",
        "Cuts an array along an axis into a list of arrays.",
        Example("np.arange(10).reshape(2, 5)", "dmlops.split(x, 1, (2, 3))", "np.split(x, [2], axis=1)"),
        Example(
            "photo", "dmlops.split(x, 1, (200, 240, 200))", "np.split(x, [200, 440], axis=1)", "Three strips of a photograph."
        ),
        ("dmlops.split(np.zeros((2, 5)), 1, (2, 2))", "dmlops.split(np.zeros((2, 5)), 2, (2,))"),
        ("SPLIT",),
        ("Split",),
        ("Split",),
        (
            Example(
                "np.arange(10)",
                "dmlops.split(x, 0, (2, 8))",
                "np.split(x, [2])",
                "`output_axis_sizes` are sizes and add up to the axis; `np.split` takes the positions where to cut.",
            ),
        ),
    ),
    Operator(
        "transpose",
        "Permutes the axes, and returns a copy.",
        Example("np.arange(6).reshape(2, 3)", "dmlops.transpose(x)", "np.ascontiguousarray(x.T)"),
        Example(
            "photo",
            "dmlops.transpose(x, (1, 0, 2))",
            "np.ascontiguousarray(x.transpose(1, 0, 2))",
            "Rows and columns exchanged.",
        ),
        ("dmlops.transpose(np.zeros((2, 3)), (0, 0))", "dmlops.transpose(np.zeros((2, 3)), (0, 2))"),
        ("ELEMENT_WISE_IDENTITY",),
        ("Transpose",),
        ("Transpose",),
    ),
    Operator(
        "upsample",
        "Repeats each element along the spatial axes: an enlargement by whole factors, by nearest neighbour.",
        Example(
            "np.arange(4).reshape(1, 1, 2, 2)",
            "dmlops.upsample(x, 2)",
            "x.repeat(2, axis=2).repeat(2, axis=3)",
        ),
        Example(
            "photo[::8, ::8]",
            'dmlops.upsample(x, (4, 4), layout="NHWC")',
            "x.repeat(4, axis=0).repeat(4, axis=1)",
            "Each pixel becomes a square of four by four.",
        ),
        ("dmlops.upsample(np.zeros((1, 1, 2, 2)), 0)", "dmlops.upsample(np.zeros((1, 1, 2, 2)), 1.5)"),
        ("UPSAMPLE_2D",),
        ("Resize", "Upsample"),
        ("Upsample",),
    ),
    Operator(
        "slice_grad",
        "Writes a gradient into zeros, where `slice` with the same window would have read.",
        Example(
            "np.arange(1, 5).reshape(2, 2)",
            "dmlops.slice_grad(x, (3, 5), offsets=(0, 1), sizes=(3, 3), strides=(2, -2))",
            "y = np.zeros((3, 5), x.dtype)\ny[0:3:2, 3::-2] = x",
        ),
        None,
        (
            "dmlops.slice_grad(np.ones(3), (5,), offsets=[3], sizes=[3])",
            "dmlops.slice_grad(np.ones(3), (5,), offsets=[0], sizes=[5], strides=[0])",
        ),
        ("SLICE_GRAD",),
        (),
        ("SliceGrad",),
    ),
    Operator(
        "take",
        "Selects elements, or whole rows, by their indices along an axis.",
        Example("np.arange(12).reshape(3, 4)", "dmlops.take(x, [2, 0, -1], axis=0)", "np.take(x, [2, 0, -1], axis=0)"),
        Example(
            "photo",
            "dmlops.take(x, np.repeat([426, 250, 50], 142), axis=0)",
            "np.take(x, np.repeat([426, 250, 50], 142), axis=0)",
            "Three rows of a photograph, each 142 times.",
        ),
        (
            "dmlops.take(np.zeros((3, 4)), [0, 3], axis=0)",
            "dmlops.take(np.zeros((3, 4)), [0.5], axis=0)",
            "dmlops.take(np.zeros((3, 4)), [[0, 1]], axis=1, batch_dims=1)",
        ),
        ("GATHER",),
        ("Gather",),
        ("Take",),
        more=(
            Example(
                "np.arange(12).reshape(3, 4)",
                "dmlops.take(x, [[0, 1], [2, 3], [-1, -1]], axis=1, batch_dims=1)",
                "np.take_along_axis(x, np.array([[0, 1], [2, 3], [-1, -1]]), axis=1)",
                "With `batch_dims`, each row has indices of its own.",
            ),
        ),
    ),
    Operator(
        "take_along_axis",
        "Selects elements along an axis, each row by indices of its own: as `numpy.argsort` gives them.",
        Example(
            "np.array([[3, 1, 2], [6, 4, 5]])",
            "dmlops.take_along_axis(x, [[1, 2, 0], [1, 2, 0]], axis=1)",
            "np.take_along_axis(x, np.array([[1, 2, 0], [1, 2, 0]]), axis=1)",
        ),
        Example(
            "photo",
            "dmlops.take_along_axis(x, np.argsort(x, axis=1), axis=1)",
            "np.sort(x, axis=1)",
            "The pixels of each row, sorted by their brightness in each channel.",
        ),
        (
            "dmlops.take_along_axis(np.zeros((2, 3)), [[0], [3]], axis=1)",
            "dmlops.take_along_axis(np.zeros((2, 3)), [0, 1], axis=1)",
        ),
        ("GATHER_ELEMENTS",),
        ("GatherElements",),
        ("TakeAlongAxis",),
    ),
    Operator(
        "gather_nd",
        "Selects elements, or whole rows, by tuples of indices.",
        Example(
            "np.arange(12).reshape(3, 4)",
            "dmlops.gather_nd(x, [[0, 1], [2, -1]])",
            "x[[0, 2], [1, -1]]",
        ),
        None,
        (
            "dmlops.gather_nd(np.zeros((3, 4)), [[0, 4]])",
            "dmlops.gather_nd(np.zeros((3, 4)), [[0, 1, 2]])",
        ),
        ("GATHER_ND", "GATHER_ND1"),
        ("GatherND",),
    ),
    Operator(
        "put_along_axis",
        "Copies an array, with values at indices along an axis. Of equal indices the last one wins.",
        Example(
            "np.zeros((2, 4), int)",
            "dmlops.put_along_axis(x, [[1], [-1]], [[5], [6]], axis=1)",
            "y = x.copy()\nnp.put_along_axis(y, np.array([[1], [-1]]), np.array([[5], [6]]), axis=1)",
        ),
        None,
        (
            "dmlops.put_along_axis(np.zeros((2, 4)), [[4], [0]], 1, axis=1)",
            "dmlops.put_along_axis(np.zeros((2, 4)), [[0], [1]], np.ones((2, 3)), axis=1)",
        ),
        ("SCATTER_ELEMENTS", "SCATTER"),
        ("ScatterElements", "Scatter"),
    ),
    Operator(
        "scatter_nd",
        "Copies an array, with elements or whole rows at tuples of indices. Of equal tuples the last one wins.",
        Example(
            "np.zeros((3, 2), int)",
            "dmlops.scatter_nd(x, [[2], [0]], [[5, 6], [1, 2]])",
            "y = x.copy()\ny[[2, 0]] = [[5, 6], [1, 2]]",
        ),
        None,
        (
            "dmlops.scatter_nd(np.zeros((3, 2)), [[3]], [[1, 1]])",
            "dmlops.scatter_nd(np.zeros((3, 2)), [[0, 0, 0]], [1])",
        ),
        ("SCATTER_ND",),
        ("ScatterND",),
        ("ScatterNd",),
    ),
)
