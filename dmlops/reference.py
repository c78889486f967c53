"""The operators in a few lines of NumPy each: what they mean, for reading and for comparing.

The signatures are those of the package; `out` is filled in and returned, `device` is not looked at. Arguments are taken
to be right: what the package refuses may pass here, or fail in NumPy's own words. Arrays that stay on a device are
downloaded, and the result goes back there.
"""

import builtins
import functools
import itertools
import math
import operator

import numpy as np

from dmlops import _core

__all__ = ["depth_to_space", "reverse_subsequences", "slice", "space_to_depth"]


def _downloaded(argument):
    """Arrays among the arguments are lengths; a negative one on a device acts as 0."""
    return np.maximum(argument.numpy(), 0) if isinstance(argument, _core.DeviceArray) else argument


def _on_devices_too(twin):
    @functools.wraps(twin)
    def either(input, *args, out=None, **kwargs):
        if not isinstance(input, _core.DeviceArray):
            return twin(input, *args, out=out, **kwargs)
        result = twin(input.numpy(), *map(_downloaded, args), **{name: _downloaded(arg) for name, arg in kwargs.items()})
        if out is None:
            return _core.asarray(result, None, input.device, None)
        out[...] = result
        return out

    return either


@_on_devices_too
def reverse_subsequences(input, sequence_lengths, axis, *, batch_axis=None, out=None, device=None):
    x = np.moveaxis(np.asarray(input), axis, -1)
    lengths = np.array(sequence_lengths, dtype=object)  # ints of any magnitude
    if batch_axis is not None:
        shape = [1] * x.ndim
        shape[batch_axis] = -1
        lengths = lengths.reshape(shape)
    lengths = np.broadcast_to(np.moveaxis(lengths, axis, -1), x.shape[:-1] + (1,))
    result = x.copy()
    for place in np.ndindex(x.shape[:-1]):
        length = min(int(lengths[place][0]), x.shape[-1])
        result[place][:length] = x[place][:length][::-1]
    return _give(np.moveaxis(result, -1, axis), out)


@_on_devices_too
def depth_to_space(input, block_size, *, order="DCR", layout="NCHW", out=None, device=None):
    x = np.asarray(input)
    blocks = _blocks(x, block_size)
    x = _channels_first(x, blocks, layout)
    before = x.ndim - len(blocks) - 1
    space_shape = x.shape[:before] + (x.shape[before] // math.prod(blocks),)
    space_shape += tuple(size * block for size, block in zip(x.shape[before + 1 :], blocks, strict=True))
    result = _empty(x, space_shape)
    for deep, space in _patches(space_shape[before], blocks, order) if result.size else ():
        result[space] = x[deep]
    return _give(_channels_back(result, blocks, layout), out)


@_on_devices_too
def space_to_depth(input, block_size, *, order="DCR", layout="NCHW", out=None, device=None):
    x = np.asarray(input)
    blocks = _blocks(x, block_size)
    x = _channels_first(x, blocks, layout)
    before = x.ndim - len(blocks) - 1
    deep_shape = x.shape[:before] + (x.shape[before] * math.prod(blocks),)
    deep_shape += tuple(size // block for size, block in zip(x.shape[before + 1 :], blocks, strict=True))
    result = _empty(x, deep_shape)
    for deep, space in _patches(x.shape[before], blocks, order) if result.size else ():
        result[deep] = x[space]
    return _give(_channels_back(result, blocks, layout), out)


@_on_devices_too
def slice(input, offsets, sizes, strides=None, *, output_sizes=None, out=None, device=None):
    x = np.asarray(input)
    offsets, sizes = _ints(offsets), _ints(sizes)
    # The `...` keeps a 0-d array an array.
    window = x[(..., *(builtins.slice(offset, offset + size) for offset, size in zip(offsets, sizes, strict=True)))]
    result = window if strides is None else window[(..., *(builtins.slice(None, None, stride) for stride in _ints(strides)))]
    if output_sizes is not None:
        result = result[(..., *(builtins.slice(size) for size in _ints(output_sizes)))]
    return _give(result, out)


def _patches(channels, blocks, order):
    """For each place in a block: where its elements are on the deep side, and where on the wide one.

    `channels` counts those on the wide side. Both keys are for channels first, behind any batch axes.
    """
    volume = math.prod(blocks)
    rest = (builtins.slice(None),) * len(blocks)
    for number, place in enumerate(itertools.product(*map(range, blocks))):
        if order == "DCR":
            deep = builtins.slice(number * channels, (number + 1) * channels)
        else:
            deep = builtins.slice(number, None, volume)
        space = tuple(builtins.slice(start, None, block) for start, block in zip(place, blocks, strict=True))
        yield (..., deep, *rest), (..., builtins.slice(None), *space)


def _blocks(x, block_size):
    """One block size for each spatial axis; a single one is for all axes behind batch and channels."""
    return _ints(block_size if np.iterable(block_size) else (block_size,) * (x.ndim - 2))


def _ints(entries):
    """As Python's: those of NumPy wrap round."""
    return tuple(map(operator.index, entries))


def _channels_first(x, blocks, layout):
    return np.moveaxis(x, -1, -1 - len(blocks)) if layout == "NHWC" else x


def _channels_back(x, blocks, layout):
    return np.moveaxis(x, -1 - len(blocks), -1) if layout == "NHWC" else x


def _empty(x, shape):
    return np.empty_like(x, order="C", shape=shape)


def _give(result, out):
    if out is None:
        return result.copy(order="C")
    np.asarray(out)[...] = result
    return out
