"""The operators in a few lines of NumPy each: what they mean, for reading and for comparing.

Beside the operators of `__all__` there are the functions of ``dmlops.operators.COMPOSED``.

The signatures are those of the package. `out` is filled in and returned; `device` and `progress` are ignored. Arguments are
taken to be right: what the package refuses may be accepted here, or fail with an error of NumPy's. Device arrays are
downloaded, and the result is put on the same device.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dmlops.operators import crop_places
from dmlops.other_forms import mode_of, widths_of, window_of
from dmlops.resizing import arguments, opencv_rule, pillow_rule, torchvision_rule
from dmlops.structure import is_recorded
from dmlops.twins import twin_of

if TYPE_CHECKING:
    from dmlops import operators  # which stand above their twins

__all__ = [
    "depth_to_space",
    "gather_nd",
    "join",
    "padding",
    "put_along_axis",
    "reverse_subsequences",
    "scatter_nd",
    "slice",
    "slice_grad",
    "space_to_depth",
    "split",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
    "upsample",
]

_Array = np.ndarray[Any, np.dtype[Any]]


@twin_of(lambda: operators.reverse_subsequences)
def reverse_subsequences(
    input: Any,
    sequence_lengths: Any,
    axis: Any,
    *,
    batch_axis: Any = None,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x = np.moveaxis(np.asarray(input), axis, -1)
    lengths = np.array(sequence_lengths, dtype=object)  # ints of any magnitude
    if batch_axis is not None:
        shape = [1] * x.ndim
        shape[batch_axis] = -1
        lengths = lengths.reshape(shape)
    lengths = np.broadcast_to(np.moveaxis(lengths, axis, -1), x.shape[:-1] + (1,))
    result = x.copy()
    for position in np.ndindex(x.shape[:-1]):
        length = max(0, min(int(lengths[position][0]), x.shape[-1]))  # a negative one in a device array acts as 0
        result[position][:length] = x[position][:length][::-1]
    return _result(np.moveaxis(result, -1, axis), out)


@twin_of(lambda: operators.depth_to_space)
def depth_to_space(
    input: Any,
    block_size: Any,
    *,
    order: str = "DCR",
    layout: str = "NCHW",
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x = np.asarray(input)
    blocks = _blocks(x, block_size)
    x = _channels_first(x, blocks, layout)
    before = x.ndim - len(blocks) - 1
    space_shape = x.shape[:before] + (x.shape[before] // math.prod(blocks),)
    space_shape += tuple(size * block for size, block in zip(x.shape[before + 1 :], blocks, strict=True))
    result = _empty(x, space_shape)
    for deep, space in _patches(space_shape[before], blocks, order) if result.size else ():
        result[space] = x[deep]
    return _result(_channels_back(result, blocks, layout), out)


@twin_of(lambda: operators.space_to_depth)
def space_to_depth(
    input: Any,
    block_size: Any,
    *,
    order: str = "DCR",
    layout: str = "NCHW",
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x = np.asarray(input)
    blocks = _blocks(x, block_size)
    x = _channels_first(x, blocks, layout)
    before = x.ndim - len(blocks) - 1
    deep_shape = x.shape[:before] + (x.shape[before] * math.prod(blocks),)
    deep_shape += tuple(size // block for size, block in zip(x.shape[before + 1 :], blocks, strict=True))
    result = _empty(x, deep_shape)
    for deep, space in _patches(x.shape[before], blocks, order) if result.size else ():
        result[deep] = x[space]
    return _result(_channels_back(result, blocks, layout), out)


@twin_of(lambda: operators.take)
def take(
    input: Any,
    indices: Any,
    axis: Any = None,
    *,
    batch_dims: Any = 0,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x, i = np.asarray(input), _indices(indices)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, _axis(x, axis))
    result = _empty(x, x.shape[:axis] + i.shape[batch_dims:] + x.shape[axis + 1 :])
    for position in np.ndindex(x.shape[:batch_dims]):
        result[position] = np.take(x[position], i[position], axis - batch_dims)
    return _result(result, out)


@twin_of(lambda: operators.take_along_axis)
def take_along_axis(
    input: Any, indices: Any, axis: Any = -1, *, out: Any = None, device: Any = None, progress: Any = None
) -> Any:
    x = np.asarray(input)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    return _result(np.take_along_axis(x, _indices(indices), axis), out)


@twin_of(lambda: operators.gather_nd)
def gather_nd(
    input: Any, indices: Any, *, batch_dims: Any = 0, out: Any = None, device: Any = None, progress: Any = None
) -> Any:
    x, i = np.asarray(input), _indices(indices)
    result = _empty(x, i.shape[:-1] + x.shape[batch_dims + i.shape[-1] :])
    for position in np.ndindex(x.shape[:batch_dims]):
        result[position] = x[position][tuple(np.moveaxis(i[position], -1, 0))]
    return _result(result, out)


@twin_of(lambda: operators.put_along_axis)
def put_along_axis(
    input: Any, indices: Any, values: Any, axis: Any, *, out: Any = None, device: Any = None, progress: Any = None
) -> Any:
    x, i = np.asarray(input), _indices(indices)
    result = x.copy()
    flat, axis = (result.reshape(-1), 0) if axis is None else (result, _axis(x, axis))
    shape = np.broadcast_shapes(i.shape, flat.shape[:axis] + (1,) + flat.shape[axis + 1 :])
    i, values = np.broadcast_to(i, shape), np.broadcast_to(np.asarray(values), shape)
    for position in np.ndindex(shape):  # in C order: the last of equal indices wins
        place = [0 if size == 1 else at for at, size in zip(position, flat.shape, strict=True)]
        place[axis] = i[position]
        flat[tuple(place)] = values[position]
    return _result(result, out)


@twin_of(lambda: operators.scatter_nd)
def scatter_nd(input: Any, indices: Any, updates: Any, *, out: Any = None, device: Any = None, progress: Any = None) -> Any:
    x, i = np.asarray(input), _indices(indices)
    result = x.copy()
    updates = np.broadcast_to(np.asarray(updates), i.shape[:-1] + x.shape[i.shape[-1] :])
    for position in np.ndindex(i.shape[:-1]):
        result[tuple(i[position])] = updates[position]
    return _result(result, out)


@twin_of(lambda: operators.slice)
def slice(
    input: Any,
    offsets: Any,
    sizes: Any = None,
    strides: Any = None,
    *,
    output_sizes: Any = None,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x = _array(input)
    if sizes is None:
        offsets, sizes, strides = window_of(x, offsets, strides)
    offsets, sizes = _ints(offsets), _ints(sizes)
    result = _cut(x, map(_window, offsets, sizes))
    if strides is not None:
        result = _cut(result, (builtins.slice(None, None, stride) for stride in _ints(strides)))
    if output_sizes is not None:
        result = _cut(result, (builtins.slice(size) for size in _ints(output_sizes)))
    return _result(result, out)


@twin_of(lambda: operators.padding)
def padding(
    input: Any,
    start_padding: Any,
    end_padding: Any = None,
    *,
    mode: str = "constant",
    value: Any = 0,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    result, mode = np.asarray(input), mode_of(mode)
    if end_padding is None:
        start_padding, end_padding = widths_of(result, start_padding)
    for axis, (before, after) in enumerate(zip(_ints(start_padding), _ints(end_padding), strict=True)):
        size = result.shape[axis]
        positions = np.arange(-before, size + after)
        if mode != "constant":
            result = np.take(result, _PADDING_MODES[mode](positions, size), axis)
        else:
            grown = np.zeros(result.shape[:axis] + positions.shape + result.shape[axis + 1 :], result.dtype)
            np.copyto(grown, value, casting="unsafe")
            np.moveaxis(grown, axis, 0)[before : before + size] = np.moveaxis(result, axis, 0)
            result = grown
    return _result(result, out)


# Where the element at each position beside an axis of `size` elements comes from.
_PADDING_MODES: dict[str, Callable[[Any, int], Any]] = {
    "edge": lambda positions, size: np.clip(positions, 0, size - 1),
    "reflection": lambda positions, size: _fold(positions, max(1, 2 * size - 2), 0),
    "symmetric": lambda positions, size: _fold(positions, 2 * size, 1),
    "wrap": lambda positions, size: positions % size,
}


def _fold(positions: Any, period: int, repeated: int) -> Any:
    """Positions in alternating direction within each period."""
    return np.minimum(positions % period, period - repeated - positions % period)


@twin_of(lambda: operators.tile)
def tile(input: Any, repeats: Any, *, out: Any = None, device: Any = None, progress: Any = None) -> Any:
    return _result(np.tile(_array(input), _ints(repeats)), out)


@twin_of(lambda: operators.join)
def join(inputs: Any, axis: Any, *, out: Any = None, device: Any = None, progress: Any = None) -> Any:
    arrays = [_array(array) for array in inputs]
    return _result(np.concatenate(arrays, axis, dtype=arrays[0].dtype), out)  # else in the machine's byte order


@twin_of(lambda: operators.split)
def split(input: Any, axis: Any, output_axis_sizes: Any, *, out: Any = None, device: Any = None, progress: Any = None) -> Any:
    ends = itertools.accumulate(_ints(output_axis_sizes))
    x = _array(input)
    before = (builtins.slice(None),) * _axis(x, axis)
    parts = [x[(*before, builtins.slice(begin, end))] for begin, end in itertools.pairwise([0, *ends])]
    return [_result(part, to) for part, to in zip(parts, [None] * len(parts) if out is None else out, strict=True)]


@twin_of(lambda: operators.transpose)
def transpose(input: Any, axes: Any = None, *, out: Any = None, device: Any = None, progress: Any = None) -> Any:
    return _result(np.transpose(_array(input), None if axes is None else _ints(axes)), out)


@twin_of(lambda: operators.upsample)
def upsample(
    input: Any, scale_size: Any, *, layout: str = "NCHW", out: Any = None, device: Any = None, progress: Any = None
) -> Any:
    x = _array(input)
    factors = _blocks(x, scale_size)
    first = x.ndim - len(factors) - (layout == "NHWC")
    for axis, factor in enumerate(factors, first):
        x = np.repeat(x, factor, axis)
    return _result(x, out)


@twin_of(lambda: operators.slice_grad)
def slice_grad(
    gradient: Any,
    output_shape: Any,
    offsets: Any,
    sizes: Any,
    strides: Any = None,
    *,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x = np.asarray(gradient)
    result = np.zeros(_ints(output_shape), x.dtype)
    window = _cut(result, map(_window, _ints(offsets), _ints(sizes)))
    if strides is not None:
        window = _cut(window, (builtins.slice(None, None, stride) for stride in _ints(strides)))
    _cut(window, map(builtins.slice, x.shape))[...] = x
    return _result(result, out)


@twin_of(lambda: operators.sliding_windows)
def sliding_windows(
    input: Any,
    sizes: Any,
    axes: Any = None,
    *,
    strides: Any = None,
    dilations: Any = None,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    x = np.asarray(input)
    along = _axes(x, axes)
    sizes, strides, dilations = (_each(1 if entries is None else entries, along) for entries in (sizes, strides, dilations))
    spans = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, sizes, strict=True)]
    key = [builtins.slice(None)] * x.ndim + [builtins.slice(None, None, dilation) for dilation in dilations]
    for axis, stride in zip(along, strides, strict=True):
        key[axis] = builtins.slice(None, None, stride)
    return _result(np.lib.stride_tricks.sliding_window_view(x, tuple(spans), tuple(along))[tuple(key)], out)


@twin_of(lambda: operators.resize_nearest)
def resize_nearest(
    input: Any,
    sizes: Any = None,
    *,
    scales: Any = None,
    axes: Any = None,
    coordinates: Any = "half_pixel",
    rounding: str = "round_prefer_floor",
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    result = np.asarray(input)
    along = _axes(result, axes)
    factors = [None] * len(along) if scales is None else [_rational(scale) for scale in _each(scales, along)]
    counts = [None] * len(along) if sizes is None else _ints(sizes)
    named = isinstance(coordinates, str)
    offsets = [()] * len(along) if named else zip(*(_each(one, along) for one in coordinates), strict=True)
    for axis, factor, count, pair in zip(along, factors, counts, offsets, strict=True):
        size = result.shape[axis]
        count = math.floor(size * factor) if count is None else count
        factor = Fraction(count, size) if factor is None and count else factor
        index = [_rounded(_position(k, size, count, factor, coordinates, pair), rounding) for k in range(count)]
        result = np.take(result, np.clip(np.array(index, int), 0, size - 1), axis)
    return _result(result, out)


def _position(k: int, size: int, count: int, scale: Any, coordinates: Any, offsets: Any) -> Any:
    """Where element k of a resized axis lies among those of the input."""
    half = Fraction(1, 2)
    if not isinstance(coordinates, str):
        before, after = map(_rational, offsets)
        return (k - after) / scale - before
    if scale == 1 or coordinates == "asymmetric":
        return k / scale
    if coordinates == "align_corners":
        return Fraction(k * (size - 1), count - 1) if count > 1 else Fraction(0)
    if coordinates == "tf_half_pixel_for_nn":
        return (k + half) / scale
    if coordinates == "pytorch_half_pixel" and count == 1:
        return Fraction(0)
    centre = Fraction(size, 2) * (1 - count / (scale * size)) if coordinates == "half_pixel_symmetric" else 0
    return centre + (k + half) / scale - half


def _rounded(position: Any, rounding: str) -> int:
    below: int = math.floor(position)
    up = {
        "floor": False,
        "ceil": position > below,
        "round_prefer_floor": position - below > Fraction(1, 2),
        "round_prefer_ceil": position - below >= Fraction(1, 2),
    }
    return below + int(up[rounding])


def _rational(number: Any) -> Fraction:
    """A float stands for the quotient of small integers that rounds to it, if there is one."""
    exact = Fraction(number) if isinstance(number, Fraction) else Fraction(number.item() if hasattr(number, "item") else number)
    simple = exact.limit_denominator(1000)
    kind = np.float32 if isinstance(number, np.float32) else float
    return simple if not isinstance(number, Fraction) and kind(float(simple)) == number else exact


@twin_of(lambda: operators.resize_pillow)
def resize_pillow(
    input: Any,
    size: Any,
    resample: Any = "bicubic",
    *,
    box: Any = None,
    reducing_gap: Any = None,
    alpha: Any = None,
    axes: Any = None,
    version: str = "13.0",
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    mode = arguments.mode_of_picture(input)
    name = "nearest" if mode in ("1", "P") else arguments.name_of(resample, arguments.PILLOW, "resample")
    channels, number = mode in ("RGBA", "LA") if alpha is None else alpha, arguments.version_of(version, (0, 0), "Pillow")
    corners = None if box is None else tuple(box)

    def change(x: _Array) -> Any:
        return pillow_rule.resized(x, _pair(size), name, corners, reducing_gap, channels, number)

    return _result(_on_images(np.asarray(input), axes, 1, change), out)


@twin_of(lambda: operators.resize_opencv)
def resize_opencv(
    input: Any,
    size: Any = None,
    interpolation: Any = "linear",
    *,
    fx: Any = None,
    fy: Any = None,
    ipp: Any = None,
    axes: Any = None,
    version: str = "5.0",
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    name = arguments.name_of(interpolation, arguments.OPENCV, "interpolation")
    number = arguments.version_of(version, (0, 0), "OpenCV")

    def change(x: _Array) -> Any:
        if size is not None:
            return opencv_rule.resized(x, _pair(size), name, None, number)
        new = opencv_rule.size_of(x.shape[-3], float(fy)), opencv_rule.size_of(x.shape[-2], float(fx))
        return opencv_rule.resized(x, new, name, (float(fy), float(fx)), number)

    return _result(_on_images(np.asarray(input), axes, 1, change, several=True), out)


@twin_of(lambda: operators.resize_torchvision)
def resize_torchvision(
    input: Any,
    size: Any,
    interpolation: Any = "bilinear",
    *,
    antialias: bool = True,
    axes: Any = None,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    name = arguments.name_of(interpolation, arguments.TORCHVISION, "interpolation")

    def change(x: _Array) -> Any:
        new = arguments.shortest_edge(size, *x.shape[-3:-1])
        return torchvision_rule.resized(x, new, name, antialias)

    return _result(_on_images(np.asarray(input), axes, 0, change), out)


def _pair(size: Any) -> tuple[int, int]:
    height, width = _ints(size)
    return height, width


def _on_images(x: _Array, axes: Any, behind: int, change: Callable[[_Array], Any], several: bool = False) -> _Array:
    """Call a function with the axes (..., height, width, channels): `several` of those behind the width, or the last one."""
    rows, columns = arguments.image_axes(axes, x.shape, behind)
    others = [axis for axis in range(x.ndim) if axis not in (rows, columns)]
    channels = [axis for axis in others if axis > columns and (several or axis == x.ndim - 1)]
    order = [axis for axis in others if axis not in channels] + [rows, columns, *channels]
    shape = x.transpose(order).shape
    count = x.ndim - len(channels)
    done = change(x.transpose(order).reshape(*shape[:count], math.prod(shape[count:])))
    result: _Array = done.reshape(*done.shape[:-1], *shape[count:]).transpose(np.argsort(order))
    return result


@twin_of(lambda: operators.roll)
def roll(input: Any, shift: Any, axis: Any = None, *, out: Any = None, device: Any = None, progress: Any = None) -> Any:
    return _result(np.roll(np.asarray(input), shift, axis), out)


@twin_of(lambda: operators.crops)
def crops(
    input: Any,
    starts: Any,
    sizes: Any,
    flip: Any = None,
    *,
    axes: Any = None,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    array = np.asarray(input)
    given = crop_places.arguments(starts, sizes, flip, axes)
    starts, sizes, flip, axes = crop_places.fitting(array, *given)  # raises what the operator raises
    first = [crop_places.starting(starts[:, k], axis, sizes[k], array.shape[axis]) for k, axis in enumerate(axes)]
    flips = np.zeros((len(array), len(sizes)), bool)
    if flip is not None:
        flips[:, -flip.shape[1] :] = flip
    shape = [dict(zip(axes, sizes, strict=True)).get(axis, size) for axis, size in enumerate(array.shape)]
    result = np.ndarray(shape, array.dtype)
    for number, (sample, mirrored) in enumerate(zip(array, flips, strict=True)):
        for axis, begin, size, mirror in zip(axes, (column[number] for column in first), sizes, mirrored, strict=True):
            indices = np.arange(begin, begin + size)
            sample = np.take(sample, indices[::-1] if mirror else indices, axis - 1)
        result[number] = sample
    return _result(result, out)


@twin_of(lambda: operators.one_hot)
def one_hot(
    indices: Any,
    depth: Any,
    *,
    axis: Any = -1,
    on: Any = 1,
    off: Any = 0,
    dtype: Any = None,
    out: Any = None,
    device: Any = None,
    progress: Any = None,
) -> Any:
    here = np.array(indices, dtype=object)  # ints of any magnitude
    pair = np.array([off, on], dtype)
    result = np.full((*here.shape, depth), pair[0])
    for position in np.ndindex(here.shape):
        if -depth <= here[position] < depth:
            result[(*position, here[position])] = pair[1]
    return _result(np.moveaxis(result, -1, axis), out)


def _array(input: Any) -> Any:
    """What is given, as an array; one of a fused function, which records what is done to it, stays itself."""
    return input if is_recorded(input) else np.asarray(input)


def _axes(x: _Array, axes: Any) -> list[int]:
    return [_axis(x, axis) for axis in (range(x.ndim) if axes is None else _ints(np.atleast_1d(axes)))]


def _axis(x: Any, axis: Any) -> int:
    """Counted from the first one; a remainder alone would take one that is not there for another."""
    number, rank = operator.index(axis), int(x.ndim)
    if not -rank <= number < rank:
        raise np.exceptions.AxisError(number, rank)
    return number % rank


def _each(entries: Any, along: list[int]) -> list[Any]:
    """An entry for each axis; one that is no sequence is for all."""
    return list(entries) if np.iterable(entries) else [entries] * len(along)


def _window(offset: int, size: int) -> builtins.slice:
    return builtins.slice(offset, offset + size)


def _cut(x: Any, slices: Iterable[Any]) -> Any:
    return x[(..., *slices)]  # the `...` makes the result an array where `x` is 0-d


def _patches(channels: int, blocks: tuple[int, ...], order: str) -> Iterator[tuple[Any, Any]]:
    """For each position in a block: the index of its elements in the deep array, and in the spatial one.

    `channels` is the number of the spatial array's channels. Both indices are for channels first, after any batch axes.
    """
    volume = math.prod(blocks)
    rest = (builtins.slice(None),) * len(blocks)
    for number, position in enumerate(itertools.product(*map(range, blocks))):
        if order == "DCR":
            deep = builtins.slice(number * channels, (number + 1) * channels)
        else:
            deep = builtins.slice(number, None, volume)
        space = tuple(builtins.slice(start, None, block) for start, block in zip(position, blocks, strict=True))
        yield (..., deep, *rest), (..., builtins.slice(None), *space)


def _blocks(x: _Array, block_size: Any) -> tuple[int, ...]:
    """One block size for each spatial axis; an int is for all axes but one of batch and one of channels."""
    return _ints(block_size if np.iterable(block_size) else (block_size,) * (x.ndim - 2))


def _indices(indices: Any) -> _Array:
    array = np.asarray(indices)
    return array.astype(np.int64) if array.size else array.astype(np.intp)  # of which an empty list makes floats


def _ints(entries: Iterable[Any]) -> tuple[int, ...]:
    """Python's ints, since NumPy's overflow."""
    return tuple(map(operator.index, entries))


def _channels_first(x: _Array, blocks: tuple[int, ...], layout: str) -> _Array:
    return np.moveaxis(x, -1, -1 - len(blocks)) if layout == "NHWC" else x


def _channels_back(x: _Array, blocks: tuple[int, ...], layout: str) -> _Array:
    return np.moveaxis(x, -1 - len(blocks), -1) if layout == "NHWC" else x


def _empty(x: _Array, shape: tuple[int, ...]) -> _Array:
    return np.empty_like(x, order="C", shape=shape)


def _result(result: Any, out: Any) -> Any:
    """Never a view; what a fused function records is not changed later."""
    if out is None:
        return result.copy(order="C") if isinstance(result, np.ndarray) else result
    np.asarray(out)[...] = result
    return out
