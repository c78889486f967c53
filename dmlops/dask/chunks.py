"""Chunks that align with what an operator does."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import dask.array as da
from dask import config
from dask.utils import format_bytes, parse_bytes

__all__ = ["Chunks", "aligned", "between", "chunked", "is_large", "rechunk", "reshaped"]

Chunks: TypeAlias = tuple[int, ...]  # of one axis


def rechunk(name: str, x: da.Array, chunks: Sequence[Chunks]) -> da.Array:
    """`x` with other chunks. Where they are large, a warning points at the caller of the public function that calls this."""
    if tuple(chunks) == x.chunks:
        return x
    largest = math.prod(map(max, chunks)) * x.dtype.itemsize
    if is_large(largest):
        limit = config.get("array.chunk-size")
        message = f"{name} rechunks its input, and the largest chunk is then {format_bytes(largest)}, more than {limit}"
        advice = "choose smaller chunks on the other axes, or raise array.chunk-size in Dask's configuration"
        warnings.warn(f"{message}: {advice}", da.PerformanceWarning, stacklevel=3)
    return x.rechunk(tuple(chunks))


def chunked(x: da.Array, chunks: Sequence[Chunks]) -> da.Array:
    """Lengths or indices in these chunks. Dask leaves those of an empty array as they are."""
    return x.rechunk(tuple(chunks)) if x.size else da.empty(x.shape, dtype=x.dtype, chunks=tuple(chunks))


def reshaped(x: da.Array, shape: tuple[int, ...]) -> da.Array:
    """The elements in C order in another shape. Dask itself fails at chunks without elements, and at arrays of such."""
    if not x.size:
        return da.empty(shape, dtype=x.dtype, chunks=shape)
    return x.rechunk(tuple(tuple(filter(None, sizes)) for sizes in x.chunks)).reshape(shape)


def is_large(nbytes: int) -> bool:
    """Whether Dask's configuration asks for smaller chunks."""
    return bool(nbytes > parse_bytes(config.get("array.chunk-size")))


def aligned(x: da.Array, multiples: Mapping[int, int]) -> list[Chunks]:
    """The chunks of `x`, on each axis in `multiples` with the borders moved to the nearest multiple of that number."""
    return [_aligned(sizes, multiples.get(axis, 1)) for axis, sizes in enumerate(x.chunks)]


def _aligned(chunks: Chunks, multiple: int) -> Chunks:
    """Fewer than `multiple` elements move from one chunk to the next."""
    if multiple == 0 or not any(size % multiple for size in chunks):
        return chunks
    return between({0} | {(end + multiple // 2) // multiple * multiple for end in itertools.accumulate(chunks)})


def between(borders: Iterable[int]) -> Chunks:
    """The chunks between borders, which begin with 0."""
    return tuple(end - begin for begin, end in itertools.pairwise(sorted(set(borders))))
