"""What other libraries' expressions are called here, as data. The site shows it, and tests/peers/test_coming_from.py runs it.

Both columns are Python. `theirs` is run with the library's usual names, `ours` with `np` and `dmlops`; both see the arrays
below. The results must be equal. DirectML and PyDirectML exist on Windows only: of their rows, `theirs` is not run, and
`numpy` says what it means instead.
"""

from dataclasses import dataclass

import numpy as np

ARRAYS = {
    "x": "np.arange(2 * 8 * 4 * 6, dtype=np.float32).reshape(2, 8, 4, 6)  # a batch, NCHW",
    "nhwc": "np.arange(2 * 4 * 6 * 8, dtype=np.float32).reshape(2, 4, 6, 8)",
    "lines": "np.arange(1, 22).reshape(3, 7)  # a batch of padded sequences",
    "lengths": "np.array([3, 7, 0])",
    "photo": "(np.arange(40 * 60 * 3) % 251).astype(np.uint8).reshape(40, 60, 3)",
    "planes": "np.ascontiguousarray(photo.transpose(2, 0, 1))",
}


@dataclass(frozen=True)
class Row:
    theirs: str
    ours: str
    differs: str = ""
    numpy: str = ""  # what `theirs` means, where it cannot be run


@dataclass(frozen=True)
class Library:
    name: str
    module: str | None  # what must be importable for the rows to be run
    setup: str  # their usual names, and their arrays
    rows: tuple[Row, ...]
    remark: str = ""


def arrays():
    """The arrays that the rows use, by name."""
    made = {}
    for name, code in ARRAYS.items():
        made[name] = eval(code, {"np": np}, made)
    return made


NUMPY = Library(
    "NumPy",
    "numpy",
    "import numpy as np",
    (
        Row(
            "x[:, 2:6].copy()",
            "dmlops.slice(x, (0, 2, 0, 0), (2, 4, 4, 6))",
            "NumPy's `2:6` has a stop. Here it is offset 2 and size 4: `sizes` are sizes.",
        ),
        Row(
            "x[..., 1:-1, ::-2].copy()",
            "dmlops.slice(x, np.s_[..., 1:-1, ::-2])",
            "NumPy's key, with its rules for what is out of range.",
        ),
        Row("np.flip(x, -1).copy()", "dmlops.slice(x, (0, 0, 0, 0), x.shape, (1, 1, 1, -1))", "The result is never a view."),
        Row(
            "x.reshape(2, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 8, 12)",
            "dmlops.depth_to_space(x, 2)",
            "One call, one pass.",
        ),
        Row(
            "x.reshape(2, 8, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 32, 2, 3)",
            "dmlops.space_to_depth(x, 2)",
        ),
        Row(
            "np.stack([np.r_[line[:n][::-1], line[n:]] for line, n in zip(lines, lengths)])",
            "dmlops.reverse_subsequences(lines, lengths, axis=1, batch_axis=0)",
            "A length above the axis is clamped to it, as NumPy's `[:n]` does; a negative one is a `ValueError`.",
        ),
        Row(
            'np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), mode="reflect")',
            'dmlops.padding(x, ((0, 0), (0, 0), (1, 2), (3, 0)), mode="reflect")',
            "NumPy's pairs and modes, or DirectML's: all starts, then all ends, and `reflection`.",
        ),
        Row("np.tile(x, (1, 1, 2, 3))", "dmlops.tile(x, (1, 1, 2, 3))", "One number for each axis; none is prepended."),
        Row("np.concatenate([x, x], axis=1)", "dmlops.join([x, x], 1)", "All arrays have the same dtype: nothing is promoted."),
        Row("np.split(x, [3, 5], axis=1)", "dmlops.split(x, 1, (3, 2, 3))", "Sizes, not positions."),
        Row(
            "x.transpose(0, 2, 3, 1).copy()", "dmlops.transpose(x, (0, 2, 3, 1))", "A copy. `DeviceArray.transpose` is a view."
        ),
        Row("x.repeat(2, axis=2).repeat(2, axis=3)", "dmlops.upsample(x, 2)"),
        Row(
            "np.take(x, [3, 0, -1], axis=1)",
            "dmlops.take(x, [3, 0, -1], 1)",
            "`batch_dims` gives each item indices of its own.",
        ),
        Row("np.take_along_axis(x, np.argsort(-x, axis=3), axis=3)", "dmlops.take_along_axis(x, np.argsort(-x, axis=3), 3)"),
        Row("x[[0, 1], [5, -1]]", "dmlops.gather_nd(x, [[0, 5], [1, -1]])", "The last axis of the indices has the tuples."),
        Row("np.roll(x, 2, axis=3)", "dmlops.roll(x, 2, 3)"),
        Row(
            "np.stack([x[0, :, 1:4, :5], x[1, :, :3, 5:0:-1]])",
            "dmlops.crops(x, [[1, 0], [0, 1]], (3, 5), [False, True], axes=(2, 3))",
            "Each sample has a place of its own.",
        ),
        Row(
            "np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2].copy()",
            "dmlops.sliding_windows(x, (3, 3), (2, 3), strides=2)",
        ),
        Row("np.eye(3, dtype=np.float32)[[2, 0]]", "dmlops.one_hot([2, 0], 3, dtype=np.float32)"),
    ),
)

PYTORCH = Library(
    "PyTorch",
    "torch",
    "import torch\nimport torch.nn.functional as F\nt = torch.from_numpy(x)\nb = torch.from_numpy(x.astype(np.uint8))  # bytes",
    (
        Row(
            "F.pixel_shuffle(t, 2)",
            'dmlops.depth_to_space(x, 2, order="CRD")',
            "PyTorch numbers channels as CRD; the default here is DCR.",
        ),
        Row(
            "F.pixel_unshuffle(t, 2)",
            'dmlops.space_to_depth(x, 2, order="CRD")',
            "PyTorch numbers channels as CRD; the default here is DCR.",
        ),
        Row(
            "torch.flip(t, (2, 3))",
            "dmlops.slice(x, (0, 0, 0, 0), x.shape, (1, 1, -1, -1))",
            "Negative strides also select: -2 is every second element, from the end.",
        ),
        Row(
            "t[:, :, 1:3, ::2]",
            "dmlops.slice(x, np.s_[:, :, 1:3, ::2])",
            "A copy; PyTorch's is a view.",
        ),
        Row(
            'F.pad(t, (3, 0, 1, 2), mode="reflect")',
            'dmlops.padding(x, (0, 0, 1, 3), (0, 0, 2, 0), mode="reflection")',
            "PyTorch's list begins with the last axis, and has start and end side by side.",
        ),
        Row('F.pad(t, (1, 1, 0, 0), mode="circular")', 'dmlops.padding(x, (0, 0, 0, 1), (0, 0, 0, 1), mode="circular")'),
        Row("t.repeat(1, 1, 2, 3)", "dmlops.tile(x, (1, 1, 2, 3))"),
        Row("torch.cat([t, t], 1)", "dmlops.join([x, x], 1)", "PyTorch promotes dtypes; `join` raises a `TypeError`."),
        Row("torch.split(t, [3, 2, 3], 1)", "dmlops.split(x, 1, (3, 2, 3))", "Copies; PyTorch's are views."),
        Row("t.permute(0, 2, 3, 1).contiguous()", "dmlops.transpose(x, (0, 2, 3, 1))"),
        Row('F.interpolate(t, scale_factor=2, mode="nearest")', "dmlops.upsample(x, 2)", "Whole factors only."),
        Row(
            'F.interpolate(t, (3, 5), mode="nearest-exact")',
            'dmlops.resize_nearest(x, (3, 5), axes=(2, 3), rounding="round_prefer_ceil")',
            "Positions are exact here, and in single precision in PyTorch.",
        ),
        Row(
            'F.interpolate(b, (20, 33), mode="bicubic", antialias=True)',
            'dmlops.resize_torchvision(x.astype(np.uint8), (20, 33), "bicubic")',
            "The same bits, of tensors of bytes.",
        ),
        Row(
            "torch.index_select(t, 1, torch.tensor([3, 0]))", "dmlops.take(x, [3, 0], 1)", "Indices below 0 count from the end."
        ),
        Row(
            "torch.gather(t, 3, t.argsort(3, descending=True))",
            "dmlops.take_along_axis(x, np.argsort(-x, axis=3), 3)",
            "Where indices have fewer entries on other axes, PyTorch reads the first of `t`; here sizes are equal or 1.",
        ),
        Row(
            "torch.scatter(t, 1, torch.full((2, 1, 4, 6), 3), 7)",
            "dmlops.put_along_axis(x, np.full((2, 1, 4, 6), 3), 7, 1)",
            "Of equal indices the last one wins here; PyTorch promises none.",
        ),
        Row("F.one_hot(torch.tensor([2, 0]), 3)", "dmlops.one_hot([2, 0], 3)", "PyTorch refuses indices out of range."),
        Row("torch.roll(t, 2, 3)", "dmlops.roll(x, 2, 3)"),
        Row("t.unfold(3, 3, 2)", "dmlops.sliding_windows(x, 3, 3, strides=2)", "A copy; PyTorch's is a view."),
    ),
    "`a = dmlops.from_dlpack(t)` and `torch.from_dlpack(a)` exchange tensors, also [on an NVIDIA GPU]"
    "(arrays.md#cuda-on-the-same-gpu). Exchange large tensors, and few: each exchange switches the GPU between "
    "Vulkan and CUDA.",
)

EINOPS = Library(
    "einops",
    "einops",
    "from einops import rearrange, repeat",
    (
        Row(
            'rearrange(x, "b c h w -> b h w c")',
            'dmlops.rearrange(x, "b c h w -> b h w c")',
            "A copy; einops makes a view where it can. Its own functions take device arrays, too.",
        ),
        Row(
            'rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2)',
            'dmlops.rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2)',
            "One pass, also of views and of lists of arrays.",
        ),
        Row('repeat(x, "b c h w -> b c (h 2) (w n)", n=3)', 'dmlops.repeat(x, "b c h w -> b c (h 2) (w n)", n=3)'),
        Row('repeat(x, "b c h w -> b c (h 2) (w 2)")', "dmlops.upsample(x, 2)"),
    ),
)

TENSORFLOW = Library(
    "TensorFlow",
    "tensorflow",
    "import tensorflow as tf",
    (
        Row(
            "tf.nn.depth_to_space(nhwc, 2)",
            'dmlops.depth_to_space(nhwc, 2, layout="NHWC")',
            "TensorFlow's default layout is NHWC. Both are DCR.",
        ),
        Row(
            "tf.nn.space_to_depth(nhwc, 2)",
            'dmlops.space_to_depth(nhwc, 2, layout="NHWC")',
            "TensorFlow's default layout is NHWC. Both are DCR.",
        ),
        Row(
            "tf.reverse_sequence(lines, lengths, seq_axis=1, batch_axis=0)",
            "dmlops.reverse_subsequences(lines, lengths, axis=1, batch_axis=0)",
            "TensorFlow refuses lengths above the axis; here they are clamped. `batch_axis` has no default here.",
        ),
        Row(
            "tf.slice(x, [0, 2, 0, 0], [2, 4, 4, 6])",
            "dmlops.slice(x, (0, 2, 0, 0), (2, 4, 4, 6))",
            "Sizes in both. TensorFlow's -1, 'to the end', is an error here.",
        ),
        Row(
            "tf.strided_slice(x, [0, 0, 3, 0], [2, 8, -5, 6], [1, 1, -1, 2])",
            "dmlops.slice(x, (0, 0, 0, 0), (2, 8, 4, 6), (1, 1, -1, 2))",
            "With a negative stride, TensorFlow's `begin` is the window's last position.",
        ),
        Row(
            'tf.pad(x, [[0, 0], [0, 0], [1, 2], [3, 0]], "REFLECT")',
            'dmlops.padding(x, (0, 0, 1, 3), (0, 0, 2, 0), mode="reflection")',
            "All starts, then all ends.",
        ),
        Row("tf.tile(x, [1, 1, 2, 3])", "dmlops.tile(x, (1, 1, 2, 3))"),
        Row("tf.concat([x, x], 1)", "dmlops.join([x, x], 1)"),
        Row("tf.split(x, [3, 2, 3], 1)", "dmlops.split(x, 1, (3, 2, 3))"),
        Row("tf.transpose(x, [0, 2, 3, 1])", "dmlops.transpose(x, (0, 2, 3, 1))"),
        Row("tf.keras.layers.UpSampling2D(2)(nhwc)", 'dmlops.upsample(nhwc, (2, 2), layout="NHWC")'),
        Row("tf.gather(x, [[3, 0], [1, 1]], axis=1, batch_dims=1)", "dmlops.take(x, [[3, 0], [1, 1]], 1, batch_dims=1)"),
        Row("tf.gather_nd(x, [[0, 5], [1, 2]])", "dmlops.gather_nd(x, [[0, 5], [1, 2]])"),
        Row("tf.tensor_scatter_nd_update(x, [[1]], x[:1])", "dmlops.scatter_nd(x, [[1]], x[:1])"),
        Row("tf.one_hot([2, 0], 3)", "dmlops.one_hot([2, 0], 3, dtype=np.float32)"),
        Row("tf.roll(x, 2, 3)", "dmlops.roll(x, 2, 3)"),
    ),
)

ONNX = Library(
    "ONNX",
    "onnxruntime",
    "# each call is a model of one node, opset 18, run by onnxruntime",
    (
        Row("DepthToSpace(x, blocksize=2)", "dmlops.depth_to_space(x, 2)", "DCR in both."),
        Row('DepthToSpace(x, blocksize=2, mode="CRD")', 'dmlops.depth_to_space(x, 2, order="CRD")'),
        Row("SpaceToDepth(x, blocksize=2)", "dmlops.space_to_depth(x, 2)", 'ONNX has no mode CRD here; `order="CRD"` does it.'),
        Row(
            "ReverseSequence(lines, lengths, time_axis=1, batch_axis=0)",
            "dmlops.reverse_subsequences(lines, lengths, axis=1, batch_axis=0)",
            "ONNX allows axes 0 and 1 only, and onnxruntime refuses over-long lengths; here they are clamped.",
        ),
        Row(
            "Slice(x, [3, 5], [-9, 0], [2, 3], [-1, -2])",
            "dmlops.slice(x, (0, 0, 0, 1), (2, 8, 4, 5), (1, 1, -1, -2))",
            "ONNX counts negative positions from the end and clamps them; here a window is inside the array.",
        ),
        Row(
            'Pad(x, [0, 0, 1, 3, 0, 0, 2, 0], mode="reflect")',
            'dmlops.padding(x, (0, 0, 1, 3), (0, 0, 2, 0), mode="reflection")',
        ),
        Row("Tile(x, [1, 1, 2, 3])", "dmlops.tile(x, (1, 1, 2, 3))"),
        Row("Concat(x, x, axis=1)", "dmlops.join([x, x], 1)"),
        Row("Split(x, [3, 2, 3], axis=1)", "dmlops.split(x, 1, (3, 2, 3))"),
        Row("Transpose(x, perm=[0, 2, 3, 1])", "dmlops.transpose(x, (0, 2, 3, 1))"),
        Row(
            'Resize(x, scales=[1, 1, 2, 2], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")',
            "dmlops.upsample(x, 2)",
            "Whole factors only; `resize_nearest` has the other forms of mode nearest.",
        ),
        Row("Gather(x, [3, 0, -1], axis=1)", "dmlops.take(x, [3, 0, -1], 1)"),
        Row(
            "GatherElements(x, np.argsort(-x, axis=3), axis=3)",
            "dmlops.take_along_axis(x, np.argsort(-x, axis=3), 3)",
            "Where indices have fewer entries on other axes, ONNX reads the first of `x`; here sizes are equal or 1.",
        ),
        Row("GatherND(x, [[0, 5], [1, 2]])", "dmlops.gather_nd(x, [[0, 5], [1, 2]])"),
        Row("ScatterND(x, [[1]], x[:1])", "dmlops.scatter_nd(x, [[1]], x[:1])", "Of equal indices the last one wins here."),
    ),
)

DIRECTML = Library(
    "DirectML (DirectMLX in C++)",
    None,
    "// C++ on Windows: not run here",
    (
        Row(
            "dml::DepthToSpace(x, 2, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW)",
            "dmlops.depth_to_space(x, 2)",
            "Any rank and dtype here; DirectML has rank 4.",
            "x.reshape(2, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 8, 12)",
        ),
        Row(
            "dml::SpaceToDepth(x, 2, DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH)",
            'dmlops.space_to_depth(x, 2, order="CRD")',
            "",
            "x.reshape(2, 8, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 32, 2, 3)",
        ),
        Row(
            "dml::ReverseSubsequences(lines, lengths, 1)",
            "dmlops.reverse_subsequences(lines, lengths[:, None], 1)",
            "The lengths have size 1 on the axis in both. A zero stride of DirectML is broadcasting here.",
            "np.stack([np.r_[line[:n][::-1], line[n:]] for line, n in zip(lines, lengths)])",
        ),
        Row(
            "dml::Slice(x, {0,0,0,1}, {2,8,4,5}, {1,1,-1,-2})",
            "dmlops.slice(x, (0, 0, 0, 1), (2, 8, 4, 5), (1, 1, -1, -2))",
            "The sign of a stride means the same: a negative one starts at the window's end. An axis may be empty here.",
            "x[:, :, ::-1, 5:0:-2]",
        ),
        Row(
            "dml::Padding(x, DML_PADDING_MODE_EDGE, 0, {0,0,1,3}, {0,0,2,0})",
            'dmlops.padding(x, (0, 0, 1, 3), (0, 0, 2, 0), mode="edge")',
            "",
            'np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), mode="edge")',
        ),
        Row(
            "dml::Tile(x, {1,1,2,3})", "dmlops.tile(x, (1, 1, 2, 3))", "0 repeats are allowed here.", "np.tile(x, (1, 1, 2, 3))"
        ),
        Row("dml::Join({x, x}, 1)", "dmlops.join([x, x], 1)", "", "np.concatenate([x, x], 1)"),
        Row("dml::Split(x, 1, {3,2,3})", "dmlops.split(x, 1, (3, 2, 3))", "", "np.split(x, [3, 5], 1)"),
        Row(
            "dml::Upsample2D(x, DML_SIZE_2D{2, 2}, DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR)",
            "dmlops.upsample(x, 2)",
            "Mode linear computes, and is not offered.",
            "x.repeat(2, axis=2).repeat(2, axis=3)",
        ),
    ),
)

PYDIRECTML = Library(
    "PyDirectML",
    None,
    "# Python on Windows, discontinued: not run here",
    (
        Row(
            "dml.slice(x, [0,0,0,1], [2,8,4,5], [1,1,-1,-2])",
            "dmlops.slice(x, (0, 0, 0, 1), (2, 8, 4, 5), (1, 1, -1, -2))",
            "Expressions of PyDirectML run when their model is compiled and dispatched; a call here runs at once.",
            "x[:, :, ::-1, 5:0:-2]",
        ),
        Row(
            "dml.padding(x, dml.PaddingMode.CONSTANT, 9, [0,0,1,3], [0,0,2,0])",
            "dmlops.padding(x, (0, 0, 1, 3), (0, 0, 2, 0), value=9)",
            "",
            "np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), constant_values=9)",
        ),
        Row("dml.join([x, x], 1)", "dmlops.join([x, x], 1)", "", "np.concatenate([x, x], 1)"),
        Row(
            "dml.up_sample_2d(x, dml.Size2D(2, 2), dml.InterpolationMode.NEAREST_NEIGHBOR)",
            "dmlops.upsample(x, 2)",
            "",
            "x.repeat(2, axis=2).repeat(2, axis=3)",
        ),
    ),
)

PILLOW = Library(
    "Pillow",
    "PIL",
    "from PIL import Image\nimage = Image.fromarray(photo)",
    (
        Row(
            "image.resize((33, 20))", "dmlops.resize_pillow(photo, (20, 33))", "(height, width), as an array's shape has them."
        ),
        Row("image.resize((33, 20), Image.LANCZOS)", 'dmlops.resize_pillow(photo, (20, 33), "lanczos")'),
        Row(
            "image.resize((33, 20), Image.BILINEAR, box=(1.5, 2, 50, 30), reducing_gap=2.0)",
            'dmlops.resize_pillow(photo, (20, 33), "bilinear", box=(1.5, 2, 50, 30), reducing_gap=2.0)',
        ),
        Row(
            'image.convert("RGBA").resize((33, 20))',
            "dmlops.resize_pillow(np.dstack([photo, np.full((40, 60), 255, np.uint8)]), (20, 33), alpha=True)",
            "An image of Pillow's is taken, too, and says by its mode that there is alpha.",
        ),
        Row("image.crop((10, 5, 40, 35))", "dmlops.slice(photo, (5, 10, 0), (30, 30, 3))"),
        Row("image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)", "dmlops.slice(photo, np.s_[:, ::-1])"),
    ),
    "More: [Resizing](resizing.md).",
)

OPENCV = Library(
    "OpenCV",
    "cv2",
    "import cv2",
    (
        Row(
            "cv2.resize(photo, (33, 20))",
            "dmlops.resize_opencv(photo, (20, 33))",
            "(height, width), as an array's shape has them.",
        ),
        Row(
            "cv2.resize(photo, (33, 20), interpolation=cv2.INTER_AREA)",
            'dmlops.resize_opencv(photo, (20, 33), "area")',
            "Or OpenCV's constant, as `cv2.INTER_AREA`.",
        ),
        Row(
            "cv2.resize(photo, None, fx=0.3, fy=0.5, interpolation=cv2.INTER_LANCZOS4)",
            'dmlops.resize_opencv(photo, fx=0.3, fy=0.5, interpolation="lanczos4")',
        ),
        Row("cv2.cvtColor(photo, cv2.COLOR_BGR2RGB)", "dmlops.slice(photo, np.s_[..., ::-1])"),
        Row("cv2.flip(photo, 1)", "dmlops.slice(photo, np.s_[:, ::-1])"),
        Row(
            "cv2.copyMakeBorder(photo, 2, 3, 4, 5, cv2.BORDER_REFLECT_101)",
            'dmlops.padding(photo, (2, 4, 0), (3, 5, 0), mode="reflection")',
        ),
    ),
    "More: [Resizing](resizing.md).",
)

TORCHVISION = Library(
    "torchvision",
    "torchvision",
    "import torch\nfrom torchvision.transforms.v2 import functional as TF\nt = torch.from_numpy(planes)",
    (
        Row("TF.resize(t, [20, 33])", "dmlops.resize_torchvision(planes, (20, 33))", "Bilinear with antialiasing in both."),
        Row(
            "TF.resize(t, [20, 33], TF.InterpolationMode.BICUBIC, antialias=False)",
            'dmlops.resize_torchvision(planes, (20, 33), "bicubic", antialias=False)',
        ),
        Row("TF.resize(t, [20])", "dmlops.resize_torchvision(planes, 20)", "The shorter side."),
        Row("TF.center_crop(t, [30, 36])", "dmlops.slice(planes, np.s_[:, 5:35, 12:48])"),
        Row("TF.horizontal_flip(t)", "dmlops.slice(planes, np.s_[..., ::-1])"),
        Row(
            'TF.pad(t, [4, 2, 5, 3], padding_mode="reflect")',
            'dmlops.padding(planes, (0, 2, 4), (0, 3, 5), mode="reflection")',
            "torchvision's list is left, top, right, bottom.",
        ),
        Row(
            "TF.to_dtype(t, torch.float32, scale=True)",
            "dmlops.fuse(lambda x: x * np.float32(1 / 255))(planes)",
            "`to_dtype` multiplies by the reciprocal of 255; a division has other last bits.",
        ),
        Row(
            "TF.normalize(TF.to_dtype(t, torch.float32, scale=True), [0.5] * 3, [0.25] * 3)",
            "dmlops.fuse(lambda x: (x * np.float32(1 / 255) - np.float32(0.5)) / np.float32(0.25))(planes)",
            "A whole `Compose` is read by `dmlops.preprocessing(transform)`.",
        ),
    ),
    "More: [Resizing](resizing.md), and [transforms of torchvision](preprocessing_from_a_configuration.md) as they are.",
)

ALBUMENTATIONS = Library(
    "albumentations",
    "albumentations",
    "import albumentations as A\n\ndef run(transform, image):\n    return transform(image=image)[\"image\"]",
    (
        Row(
            "run(A.Resize(20, 33), photo)",
            "dmlops.resize_opencv(photo, (20, 33))",
            "It resizes by OpenCV: `interpolation=cv2.INTER_AREA` is `\"area\"`.",
        ),
        Row("run(A.CenterCrop(30, 36), photo)", "dmlops.slice(photo, np.s_[5:35, 12:48])"),
        Row(
            "run(A.Crop(10, 5, 40, 35), photo)",
            "dmlops.slice(photo, np.s_[5:35, 10:40])",
            "albumentations has x before y.",
        ),
        Row("run(A.HorizontalFlip(p=1), photo)", "dmlops.slice(photo, np.s_[:, ::-1])"),
        Row("run(A.VerticalFlip(p=1), photo)", "dmlops.slice(photo, np.s_[::-1])"),
        Row("run(A.Transpose(p=1), photo)", "dmlops.transpose(photo, (1, 0, 2))"),
        Row(
            "run(A.PadIfNeeded(48, 66, border_mode=0, fill=114), photo)",
            "dmlops.padding(photo, (4, 3, 0), (4, 3, 0), value=114)",
            "`padding` is given the rows and columns at each side.",
        ),
    ),
    "Random choices are drawn outside: [a crop and a mirror for each sample](training.md) are arguments of `dmlops.crops`.",
)

LIBRARIES = (NUMPY, PILLOW, OPENCV, TORCHVISION, ALBUMENTATIONS, EINOPS, PYTORCH, TENSORFLOW, ONNX, DIRECTML, PYDIRECTML)
