"""What is measured, as data: operators with their arguments, and the cells that apply them to arrays.

An operator knows how it is called in dmlops (`ours`) and what it means (`numpy`, the expression every
result is compared with). How the others express it stands in the folder `peers`.
"""

import functools
import math
from dataclasses import dataclass, field

import gathers as indexing
import numpy as np
import pipelines as preprocessing
import resizes

MIB = 2**20
CACHE_LINE = 64  # bytes
DTYPES = {1: np.dtype("uint8"), 2: np.dtype("float16"), 4: np.dtype("float32"), 8: np.dtype("float64")}


class Operator:
    def share_read(self, shape, itemsize):
        """Of the bytes of an array, those in cache lines that any implementation has to read."""
        return 1.0


@dataclass(frozen=True)
class Shuffle(Operator):
    """What depth_to_space and space_to_depth share: arrays (n, c, h, w) or (n, h, w, c), square blocks."""

    block: int = 2
    order: str = "DCR"
    layout: str = "NCHW"

    @property
    def arguments(self):
        return {"order": self.order, "layout": self.layout}

    def split_channels(self, shape):
        """`shape` with the channels as three axes, and which axes of it are block row, block column and channel."""
        n, c, h, w = shape if self.layout == "NCHW" else (shape[0], shape[3], shape[1], shape[2])
        b, c = self.block, c // self.block**2
        parts = (b, b, c) if self.order == "DCR" else (c, b, b)
        places = (0, 1, 2) if self.order == "DCR" else (1, 2, 0)
        first = 1 if self.layout == "NCHW" else 3
        full = (n, *parts, h, w) if self.layout == "NCHW" else (n, h, w, *parts)
        return full, tuple(first + place for place in places)


@dataclass(frozen=True)
class DepthToSpace(Shuffle):
    kind = "depth_to_space"

    def ours(self, dmlops, x, device):
        return dmlops.depth_to_space(x, self.block, **self.arguments, device=device)

    def numpy(self, x):
        split, axes, result = self.steps(x.shape)
        return x.reshape(split).transpose(axes).reshape(result)

    def steps(self, shape):
        """The shape to split into, the axes to transpose by, the shape to join to."""
        split, (row, column, channel) = self.split_channels(shape)
        n, b, c = split[0], self.block, split[channel]
        if self.layout == "NCHW":
            return split, (0, channel, 4, row, 5, column), (n, c, split[4] * b, split[5] * b)
        return split, (0, 1, row, 2, column, channel), (n, split[1] * b, split[2] * b, c)


@dataclass(frozen=True)
class SpaceToDepth(Shuffle):
    kind = "space_to_depth"

    def ours(self, dmlops, x, device):
        return dmlops.space_to_depth(x, self.block, **self.arguments, device=device)

    def numpy(self, x):
        split, axes, result = self.steps(x.shape)
        return x.reshape(split).transpose(axes).reshape(result)

    def steps(self, shape):
        b = self.block
        if self.layout == "NCHW":
            n, c, h, w = shape
            split, block, channel = (n, c, h // b, b, w // b, b), (3, 5), 1
        else:
            n, h, w, c = shape
            split, block, channel = (n, h // b, b, w // b, b, c), (2, 4), 5
        depth = (*block, channel) if self.order == "DCR" else (channel, *block)
        if self.layout == "NCHW":
            return split, (0, *depth, 2, 4), (n, c * b * b, h // b, w // b)
        return split, (0, 1, 3, *depth), (n, h // b, w // b, c * b * b)


@dataclass(frozen=True)
class Reverse(Operator):
    """The first lengths[i] elements along axis 1 of x[i], reversed."""

    kind = "reverse"

    @staticmethod
    @functools.cache  # they are arguments, and not to be measured
    def lengths(shape):
        lengths = np.random.default_rng(1).integers(1, shape[1] + 1, shape[0])
        lengths.setflags(write=False)
        return lengths

    def index(self, shape):
        """Where each position along axis 1 comes from."""
        position, length = np.arange(shape[1]), self.lengths(shape)[:, None]
        return np.where(position < length, length - 1 - position, position)

    def ours(self, dmlops, x, device):
        return dmlops.reverse_subsequences(x, self.lengths(x.shape), axis=1, batch_axis=0, device=device)

    def numpy(self, x):
        return x[np.arange(x.shape[0])[:, None], self.index(x.shape)]


@dataclass(frozen=True)
class Slice(Operator):
    """x[key], as an array of its own."""

    key: tuple
    kind = "slice"

    def ours(self, dmlops, x, device):
        return dmlops.slice(x, *dmlops.slice_from_key(x.shape, self.key), device=device)

    def numpy(self, x):
        return x[self.key].copy()

    def share_read(self, shape, itemsize):
        places = [range(extent)[part] for part, extent in zip(self.full(len(shape)), shape)]
        share = math.prod(len(chosen) / extent for chosen, extent in zip(places, shape))
        return min(1.0, share * min(abs(places[-1].step), max(1, CACHE_LINE // itemsize)))

    def full(self, rank):
        """The key with `...` written out: one slice an axis."""
        at = self.key.index(...) if ... in self.key else len(self.key)
        missing = rank - sum(part is not ... for part in self.key)
        return self.key[:at] + (np.s_[:],) * missing + self.key[at + 1 :]


@dataclass(frozen=True)
class Transpose(Operator):
    """The axes of x in another order, as an array of its own."""

    axes: tuple
    kind = "transpose"

    def ours(self, dmlops, x, device):
        return dmlops.transpose(x, self.axes, device=device)

    def numpy(self, x):
        return np.ascontiguousarray(x.transpose(self.axes))


@dataclass(frozen=True)
class SwappedShuffle(Transpose):
    """space_to_depth of (n, c, h, w) with its last two axes swapped. x has the axes (n, c, h / b, b, w / b, b)."""

    axes: tuple = (0, 5, 3, 1, 4, 2)

    def ours(self, dmlops, x, device):
        n, c, h, block, w, _ = x.shape
        view = x.reshape(n, c, h * block, w * block).swapaxes(2, 3)
        return dmlops.space_to_depth(view, block, device=device).reshape(n, block, block, c, w, h)


@dataclass(frozen=True)
class Padding(Operator):
    """So many elements more before and after some axes, by default each of the last two."""

    width: int = 3
    mode: str = "constant"
    value: int = 0
    axes: tuple = (-2, -1)
    kind = "padding"

    def ours(self, dmlops, x, device):
        before, after = zip(*self.pairs(x.ndim))
        return dmlops.padding(x, before, after, mode=self.mode, value=self.value, device=device)

    def numpy(self, x):
        value = {"constant_values": self.value} if self.mode == "constant" else {}
        return np.pad(x, self.pairs(x.ndim), self.numpy_mode, **value)

    @property
    def numpy_mode(self):
        """The mode's name in NumPy, ONNX, PyTorch, OpenVINO and, in capitals, TensorFlow."""
        return "reflect" if self.mode == "reflection" else self.mode

    def pairs(self, rank):
        widths = [self.width if axis - rank in self.axes else 0 for axis in range(rank)]
        return tuple((width, width) for width in widths)


@dataclass(frozen=True)
class Tile(Operator):
    """The whole array again, in both directions of the last two axes."""

    times: int = 2
    kind = "tile"

    def ours(self, dmlops, x, device):
        return dmlops.tile(x, self.repeats(x.ndim), device=device)

    def numpy(self, x):
        return np.tile(x, self.repeats(x.ndim))

    def repeats(self, rank):
        return (1,) * (rank - 2) + (self.times,) * 2


@dataclass(frozen=True)
class Upsample(Operator):
    """Each element of (n, c, h, w) again, in both directions of the last two axes."""

    scale: int = 2
    kind = "upsample"

    def ours(self, dmlops, x, device):
        return dmlops.upsample(x, self.scale, device=device)

    def numpy(self, x):
        return x.repeat(self.scale, 2).repeat(self.scale, 3)


@dataclass(frozen=True)
class Join(Operator):
    """The arrays x[0], x[1], ... along their channels: each is contiguous."""

    axis = 1
    kind = "join"

    def ours(self, dmlops, x, device):
        return dmlops.join(list(x), self.axis, device=device)

    def numpy(self, x):
        return np.concatenate(list(x), self.axis)


@dataclass(frozen=True)
class Split(Operator):
    """Two arrays, each with half of the channels."""

    axis = 1
    kind = "split"

    def ours(self, dmlops, x, device):
        return dmlops.split(x, self.axis, self.sizes(x), device=device)

    def numpy(self, x):
        return [part.copy() for part in np.split(x, 2, self.axis)]

    def sizes(self, x):
        return [x.shape[self.axis] // 2] * 2


@dataclass(frozen=True)
class Cell:
    name: str  # "mirror/4": what, then bytes an element; `--cells` matches it
    title: str
    operator: object
    shape: tuple
    dtype: np.dtype
    group: str  # "pipelines", "resizing", "counted", ... (report.GROUPS)
    target: float | None = None  # best peer / ours to be reached on lavapipe with 2 cores
    plain: "Cell | None" = None  # the cell that this one is compared with, measured in turn with it
    vulkan: bool = field(default=True, compare=False)  # whether the other Vulkan programs take part

    @property
    def nbytes(self):
        return math.prod(self.shape) * self.dtype.itemsize

    def make_input(self):
        rng = np.random.default_rng(0)
        if self.dtype.kind in "iu":
            return rng.integers(0, 256, self.shape, dtype=self.dtype)
        if self.dtype.itemsize == 8:
            return rng.random(self.shape)
        x = np.empty(self.shape, self.dtype)
        for part in np.array_split(x.reshape(-1), 16):  # in parts: 1 GiB then needs no second array of its size
            part[...] = rng.random(part.shape, dtype=np.float32)
        return x


# Title, operator, axes as (before, n, after) with n filling the array up, the ratios to reach for 1, 2, 4, 8 bytes.
COUNTED = (
    ("depth_to_space", DepthToSpace(), ((), (16, 512, 512)), (3.5, 3.5, 3.0, 2.2)),
    ("space_to_depth", SpaceToDepth(), ((), (16, 512, 512)), (3.0, 3.0, 2.0, 2.0)),
    ("reversal, last axis", Reverse(), ((), (1024,)), (6.0, 6.0, 4.0, 3.0)),
    ("mirror", Slice(np.s_[..., ::-1]), ((), (16, 512, 512)), (2.0, 2.0, 2.0, 2.0)),
    ("::2", Slice(np.s_[..., ::2]), ((), (16, 512, 512)), (2.0, 1.8, 1.2, 1.4)),
    ("::2, ::-3", Slice(np.s_[..., ::2, ::-3]), ((), (16, 512, 512)), (2.0, 1.1, 0.7, 0.7)),
    ("reversal, axis 1", Reverse(), ((64, 256), ()), (0.85, 0.85, 0.85, 0.85)),
    ("crop", Slice(np.s_[:, :, 1:-1, 1:-1]), ((), (16, 512, 512)), (0.45, 0.65, 1.0, 1.0)),
)
# The other operators: title, operator, axes, how many times as large the result is; the result fills the array's size.
IMAGE_AXES = ((), (16, 512, 512))
FAMILY = (
    ("join", Join(), ((2,), (16, 512, 512)), 1),
    ("split", Split(), IMAGE_AXES, 1),
    ("padding", Padding(), IMAGE_AXES, 1),
    ("padding by reflection", Padding(mode="reflection"), IMAGE_AXES, 1),
    ("tile", Tile(), ((), (16, 256, 256)), 4),
    ("upsample", Upsample(), ((), (16, 256, 256)), 4),
    ("NHWC to NCHW", Transpose((0, 3, 1, 2)), ((), (480, 640, 3)), 1),
)
NHWC = {"layout": "NHWC"}
CRD = {"order": "CRD"}
BESIDE = (
    ("depth_to_space NHWC", DepthToSpace(**NHWC), ((), (512, 512, 16)), "depth_to_space"),
    ("space_to_depth NHWC", SpaceToDepth(**NHWC), ((), (512, 512, 16)), "space_to_depth"),
    ("depth_to_space CRD", DepthToSpace(**CRD), ((), (16, 512, 512)), "depth_to_space"),
    ("space_to_depth CRD", SpaceToDepth(**CRD), ((), (16, 512, 512)), "space_to_depth"),
    ("space_to_depth block 3", SpaceToDepth(3), ((), (16, 510, 510)), "space_to_depth"),
    ("space_to_depth block 4", SpaceToDepth(4), ((), (16, 512, 512)), "space_to_depth"),
    ("space_to_depth block 8", SpaceToDepth(8), ((), (16, 512, 512)), "space_to_depth"),
    ("space_to_depth block 16", SpaceToDepth(16), ((), (16, 512, 512)), None),  # of blocks of more than 8 nothing is promised
    ("depth_to_space odd width", DepthToSpace(), ((), (16, 512, 509)), "depth_to_space"),
    ("mirror odd width", Slice(np.s_[..., ::-1]), ((), (16, 512, 509)), "mirror"),
    ("mirror of short rows", Slice(np.s_[:, ::-1]), ((), (33,)), None),
    ("columns", Slice(np.s_[:, 1:101]), ((), (512,)), None),
    ("crop of small images", Slice(np.s_[:, 1:-1, 1:-1]), ((), (28, 28)), None),
)
# Photographs of the sizes that models take and cameras give: title, operator, shape, bytes of an element.
CROP, MIRROR = Slice(np.s_[..., 16:-16, 16:-16, :]), Slice(np.s_[..., ::-1, :])
IMAGES = (
    ("crop: 224 x 224", CROP, (224, 224, 3), 1),
    ("crop: 8 of 224 x 224", CROP, (8, 224, 224, 3), 1),
    ("crop: 640 x 640", CROP, (640, 640, 3), 1),
    ("crop: 1080 x 1920", CROP, (1080, 1920, 3), 1),
    ("mirror: 224 x 224", MIRROR, (224, 224, 3), 1),
    ("mirror: 640 x 640", MIRROR, (640, 640, 3), 1),
    ("mirror: 1080 x 1920", MIRROR, (1080, 1920, 3), 1),
    ("::2: 1080 x 1920", Slice(np.s_[::2, ::2, :]), (1080, 1920, 3), 1),
    ("space_to_depth, float32: 224 x 224", SpaceToDepth(), (1, 3, 224, 224), 4),
    ("space_to_depth, float32: 640 x 640", SpaceToDepth(), (1, 3, 640, 640), 4),
    ("depth_to_space, float32: 640 x 640", DepthToSpace(), (1, 12, 320, 320), 4),
    ("NCHW to NHWC, float32: 224 x 224", Transpose((1, 2, 0)), (3, 224, 224), 4),
    ("NCHW to NHWC, float32: 640 x 640", Transpose((1, 2, 0)), (3, 640, 640), 4),
    ("NHWC to NCHW: 640 x 640", Transpose((2, 0, 1)), (640, 640, 3), 1),
)
# What models take, in batches: title, operator, shape of one, bytes of an element.
BATCHES = (
    ("crop 224 of 256", CROP, (256, 256, 3), 1),
    ("mirror 224", MIRROR, (224, 224, 3), 1),
    ("NHWC to NCHW 224", Transpose((0, 3, 1, 2)), (224, 224, 3), 1),
    ("ViT patches 16 of 224", SpaceToDepth(16, layout="NHWC"), (224, 224, 3), 1),
    ("ViT patches and back", DepthToSpace(16, layout="NHWC"), (14, 14, 768), 1),
    ("YOLO's Focus 640", Transpose((0, 5, 3, 1, 2, 4)), (3, 320, 2, 320, 2), 1),
    ("letterbox 480 x 640", Padding(80, value=114, axes=(-3,)), (480, 640, 3), 1),
    ("BiLSTM reversal, float32", Reverse(), (128, 256), 4),
    ("video NTHWC to NCTHW", Transpose((0, 4, 1, 2, 3)), (16, 224, 224, 3), 1),
)
BATCH_SIZES = (1, 8, 32)
# Blocks and patches of photographs with three channels: title, operator by block.
PATCHES = (
    ("space_to_depth DCR", SpaceToDepth),
    ("space_to_depth CRD", functools.partial(SpaceToDepth, order="CRD")),
    ("depth_to_space CRD", functools.partial(DepthToSpace, order="CRD")),
    ("space_to_depth NHWC", functools.partial(SpaceToDepth, layout="NHWC")),
    ("depth_to_space NHWC", functools.partial(DepthToSpace, layout="NHWC")),
    ("space_to_depth, swapped view", lambda block: SwappedShuffle()),
)
# Photographs of what size a block divides: how many, height and width.
PATCH_SIZES = {2: (8, 640), 3: (16, 240), 4: (32, 224), 8: (32, 224), 14: (32, 224), 16: (32, 224), 32: (32, 224)}
PHOTOGRAPHS = (
    ("photographs cropped", Slice(np.s_[:, 1:-1, 1:-1, :])),
    ("photographs mirrored", Slice(np.s_[:, :, ::-1, :])),
)
BLOCKS = (2, 3, 4, 8)
SIZES = tuple(2**power for power in range(10, 31, 2))  # 1 KiB to 1 GiB
FLAT_FROM = 4 * MIB  # from here on the cost per byte is to be the same


def fill(axes, nbytes, itemsize):
    """The shape of about `nbytes`: the free axis between the fixed ones takes what is left."""
    before, after = axes
    return (*before, max(1, nbytes // (itemsize * math.prod(before + after))), *after)


def label(title):
    title = title.replace(": ", "-").replace(", ", "-").replace(" ", "-").replace("'", "")
    return title.replace("::", "every").replace("every-3", "back3")


def counted(nbytes):
    for title, operator, axes, targets in COUNTED:
        for (itemsize, dtype), target in zip(DTYPES.items(), targets):
            shape = fill(axes, nbytes, itemsize)
            yield Cell(f"{label(title)}/{itemsize}", title, operator, shape, dtype, "counted", target)


def family(nbytes):
    """Each is compared with a call that copies as many bytes as it writes."""
    for itemsize, dtype in DTYPES.items():
        side = math.isqrt(nbytes // itemsize)
        matrix = ("2-D transpose", Transpose((1, 0)), (side, side))
        images = [(title, operator, fill(axes, nbytes // times, itemsize)) for title, operator, axes, times in FAMILY]
        for title, operator, shape in (*images, matrix):
            yield against_whole_copy(f"{label(title)}/{itemsize}", title, operator, shape, dtype, "family")


def against_whole_copy(name, title, operator, shape, dtype, group):
    """A cell whose plain cell copies an array that has the size of its result."""
    result = (math.prod(shape),) if operator.kind == "split" else operator.numpy(np.empty(shape, dtype)).shape
    whole = Cell(f"whole/{name}", "whole copy", Slice(np.s_[...,]), result, dtype, group)
    return Cell(name, title, operator, shape, dtype, group, plain=whole)


def beside(nbytes):
    plain = {cell.name: cell for cell in counted(nbytes)}
    for title, operator, axes, against in BESIDE:
        for itemsize, dtype in DTYPES.items():
            shape, against_it = fill(axes, nbytes, itemsize), plain.get(f"{against}/{itemsize}")
            yield Cell(f"{label(title)}/{itemsize}", title, operator, shape, dtype, "beside", plain=against_it)
    for itemsize in (1, 4):
        against_it = plain[f"depth_to_space/{itemsize}"]
        shape = fill(((1, 16), (2048,)), 4 * nbytes, itemsize)
        title = "depth_to_space of one large image"
        yield Cell(f"one-large-image/{itemsize}", title, DepthToSpace(), shape, DTYPES[itemsize], "beside", plain=against_it)
    for title, operator in PHOTOGRAPHS:
        shape = fill(((), (480, 640, 3)), nbytes, 1)
        yield Cell(f"{label(title)}/3", title, operator, shape, DTYPES[1], "beside")


def images():
    """Each is compared with a call that copies as many bytes as it writes."""
    for title, operator, shape, itemsize in IMAGES:
        yield against_whole_copy(f"images/{label(title)}", title, operator, shape, DTYPES[itemsize], "images")


def batches():
    for title, operator, shape, itemsize in BATCHES:
        for count in BATCH_SIZES:
            name = f"batches/{label(title)}/{count}"
            yield Cell(name, f"{title}: {count}", operator, (count, *shape), DTYPES[itemsize], "batches")


def pipelines():
    for name, title in preprocessing.TITLES.items():
        for dtype in ("float32", "float16"):
            for n, height, width in preprocessing.SIZES:
                size = f"{n} x {height} x {width}"
                cell, shape = f"pipelines/{name}/{dtype}/{size.replace(' ', '')}", (n, height, width, 3)
                yield Cell(
                    cell, f"{title}, {dtype}: {size}", preprocessing.Pipeline(name, dtype), shape, DTYPES[1], "pipelines"
                )


def resizing():
    for library, shape, after, chosen in resizes.CELLS:
        title = f"as {library}, {chosen}: {shape[0]} x {shape[1]} to {after[0]} x {after[1]}"
        cell = f"resizing/{library}/{chosen}/{shape[0]}x{shape[1]}/1"
        yield Cell(cell, title, resizes.Resize(library, after, chosen), shape, DTYPES[1], "resizing")


def patches():
    for title, make in PATCHES:
        for block, (count, side) in PATCH_SIZES.items():
            operator, n = make(block), side // block
            whole = (side, side, 3) if "NHWC" in title else (3, side, side)
            shape = {"space_to_depth": whole, "transpose": (3, n, block, n, block)}.get(operator.kind)
            shape = shape or ((n, n, 3 * block**2) if "NHWC" in title else (3 * block**2, n, n))
            for itemsize in (1, 2, 4):
                name = f"patches/{label(title)}/{block}/{itemsize}"
                yield Cell(name, f"{title}: {block}", operator, (count, *shape), DTYPES[itemsize], "patches")


def gathers(nbytes):
    for title, operator, axes, itemsizes in indexing.CELLS:
        for itemsize in itemsizes:
            labels = operator.kind == "one_hot"
            shape = (nbytes // (4 * operator.depth),) if labels else fill(axes, nbytes, itemsize)
            dtype = np.dtype("int64") if labels else DTYPES[itemsize]
            yield Cell(f"gathers/{label(title)}/{itemsize}", title, operator, shape, dtype, "gathers")


def sizes(largest):
    plain = size(min(64 * MIB, largest))
    for nbytes in SIZES:
        if nbytes <= largest:
            yield size(nbytes, plain if nbytes >= FLAT_FROM and nbytes != plain.nbytes else None)


def size(nbytes, plain=None):
    side = math.isqrt(min(nbytes, 16 * MIB) // 64)
    return Cell(
        f"sizes/{in_words(nbytes).replace(' ', '')}",
        in_words(nbytes),
        DepthToSpace(),
        fill(((), (16, side, side)), nbytes, 4),
        DTYPES[4],
        "sizes",
        plain=plain,
        vulkan=nbytes <= 64 * MIB,
    )


def blocks(nbytes):
    for itemsize, dtype in DTYPES.items():
        plain = None
        for block in BLOCKS:
            axes = ((), (4 * block * block, 1024 // block, 1024 // block))
            shape, operator = fill(axes, nbytes, itemsize), DepthToSpace(block)
            cell = Cell(f"blocks/{block}/{itemsize}", f"block {block}", operator, shape, dtype, "blocks", plain=plain)
            plain = plain or cell
            yield cell


def in_words(nbytes):
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >= 2**power:
            return f"{nbytes >> power} {unit}"
    return f"{nbytes} B"


def everything(quick=False, mib=64):
    """All cells in the order in which they are measured."""
    nbytes = 4 * MIB if quick else mib * MIB
    return [
        *pipelines(),
        *resizing(),
        *counted(nbytes),
        *family(nbytes),
        *batches(),
        *patches(),
        *gathers(nbytes),
        *beside(nbytes),
        *images(),
        *sizes(16 * MIB if quick else SIZES[-1]),
        *blocks(nbytes),
    ]
