"""A NumPy index as arguments of ``slice``."""

from __future__ import annotations

import operator
import warnings
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from dmlops.errors import shown

if TYPE_CHECKING:
    from dmlops._annotations import IntSequence, Slice

__all__ = ["index_of", "slice_from_key", "window"]


def slice_from_key(
    shape: IntSequence, key: Slice | tuple[Slice, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Convert a NumPy index of slices and ``...`` to arguments of `slice`.

    ``dmlops.slice(x, *dmlops.slice_from_key(x.shape, key))`` equals ``x[key]``.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array to index.
    key : builtin slice, Ellipsis, or a tuple of them
        What would stand in the brackets, as ``numpy.s_`` makes it. Slices are clamped to `shape` as NumPy clamps them.

    Returns
    -------
    offsets, sizes, strides : tuple of int
        One entry for each axis.

    Raises
    ------
    TypeError
        `key` has an entry of another kind: an int or None would change the number of axes, which `slice` keeps. A size in
        `shape` or a part of a slice is no int. `shape` is the array itself.
    IndexError
        `key` has more entries than there are axes, or more than one ``...``.
    ValueError
        A step is 0, or a size in `shape` is out of range.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.slice_from_key((5, 8), np.s_[..., 1:-1])
    ((0, 1), (5, 6), (1, 1))
    >>> x = np.arange(8)
    >>> dmlops.slice(x, *dmlops.slice_from_key(x.shape, np.s_[6:1:-2]))
    array([6, 4, 2])
    """
    sizes = _shape(shape)
    keys = _slice_for_each_axis(key if isinstance(key, tuple) else (key,), len(sizes))
    axes = [*map(_slice_axis, sizes, keys)]
    offsets, slice_sizes, strides = zip(*axes, strict=True) if axes else ((), (), ())
    return offsets, slice_sizes, strides


def window(shape: IntSequence, key: Slice | tuple[Slice, ...]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Do what `slice_from_key` does, under its old name.

    .. deprecated:: 0.2.0
        Use `slice_from_key`. Version 0.3 will not have this name.
    """
    warnings.warn("dmlops.window is deprecated: use dmlops.slice_from_key", DeprecationWarning, stacklevel=2)
    return slice_from_key(shape, key)


def _shape(shape: IntSequence) -> tuple[int, ...]:
    if hasattr(shape, "shape") and not _is_array_of_ints(shape):
        raise TypeError("shape must be a sequence of ints, not an array: pass array.shape")
    try:
        entries = tuple(shape)
    except TypeError:
        raise TypeError(f"shape must be a sequence of ints, not {type(shape).__name__}") from None
    sizes = tuple(size if type(size) is int else index_of(size, f"shape[{k}]") for k, size in enumerate(entries))
    if sizes and not 0 <= min(sizes) <= max(sizes) < 2**63:
        raise ValueError(f"shape must have sizes from 0 to 2**63 - 1, got {shown(sizes)}")
    return sizes


def _is_array_of_ints(array: object) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"


def _slice_for_each_axis(key: tuple[Slice, ...], rank: int) -> list[slice]:
    slices: list[Any] = [entry for entry in key if entry is not Ellipsis]
    for entry in slices:
        if type(entry) is not slice:
            raise TypeError(f"key must hold slices and ... only, not {type(entry).__name__}: slice keeps every axis")
    if len(key) - len(slices) > 1:
        raise IndexError("key must not hold more than one ...")
    missing = rank - len(slices)
    if missing < 0:
        raise IndexError(f"key must have at most {rank} slices, one for each axis, not {len(slices)}")
    position = key.index(Ellipsis) if len(key) > len(slices) else len(slices)
    slices[position:position] = [slice(None)] * missing
    return slices


def index_of(entry: Any, name: str) -> int:
    """The int that an object is; TypeError with its name for what is none."""
    if hasattr(entry, "__index__") and not isinstance(entry, bool):  # isinstance of SupportsIndex takes 50 times as long
        try:
            return operator.index(entry)
        except TypeError:  # every array has __index__, which works for a single int
            if not hasattr(entry, "__getitem__"):
                raise
    raise TypeError(f"{name} must be an int, not {type(entry).__name__}")


def _slice_axis(size: int, key: slice) -> tuple[int, int, int]:
    """The offset, size and stride that select what `key` selects of an axis."""
    if not {type(key.start), type(key.stop), type(key.step)} <= {int, NoneType}:
        for name in ("start", "stop", "step"):
            part = getattr(key, name)
            if part is not None:
                index_of(part, f"the {name} of a slice in key")  # raises where this is none
    if key.step == 0:
        raise ValueError("the step of a slice in key must not be 0")
    start, stop, step = key.indices(size)
    count = len(range(start, stop, step))
    if count == 0:
        return 0, 0, 1
    last = start + (count - 1) * step
    # NumPy accepts any step that leaves the axis at once; slice accepts steps of 64 bits.
    return (start, last - start + 1, min(step, 2**63 - 1)) if step > 0 else (last, start - last + 1, max(step, -(2**63)))
