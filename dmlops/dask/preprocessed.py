"""Preprocessors of Dask arrays: a call for each chunk of pictures, or of videos.

That is right where each picture's results are its own. Plans say so: that of two pictures must be that of one, twice.
"""

from __future__ import annotations

from typing import Any, NoReturn

import dask
import dask.array as da
import numpy as np

from dmlops.dask.arguments import dask_array
from dmlops.dask.chunks import rechunk
from dmlops.processors import inputs
from dmlops.processors.plans import Mask, Pixels, Plan
from dmlops.processors.prepares import Prepares

__all__ = ["by_chunks"]


def by_chunks(preprocessor: Prepares, photos: Any, device: Any) -> dict[str, da.Array]:
    """The results by name, each as a Dask array whose chunks follow those of the first axis."""
    x, wanted = dask_array(photos), 5 if preprocessor._row.form == "videos" else 4
    if x.ndim != wanted or x.dtype != np.uint8:
        raise ValueError(
            f"{preprocessor!r} takes Dask arrays of uint8 with {wanted} axes, not of {x.dtype} with {x.ndim}; for others, "
            "dask.array.map_blocks calls it for each block"
        )
    if preprocessor._row.form == "nested" or preprocessor._row.content:
        _refuse(preprocessor, "a result's shape follows from all pictures of a call, or from their pixels")
    x = rechunk(repr(preprocessor), x, (x.chunks[0], *((size,) for size in x.shape[1:])))
    one = _plan_of_each(preprocessor, x.shape[1:])
    parts = zip(x.to_delayed().ravel(), x.chunks[0], strict=True)
    calls = [(dask.delayed(_call)(preprocessor, block, device), count) for block, count in parts if count]
    return {name: _result(name, result, calls) for name, result in one.items()}


def _call(preprocessor: Prepares, block: Any, device: Any) -> dict[str, Any]:
    return preprocessor(block, device=device)


def _result(name: str, like: Any, calls: list[tuple[Any, int]]) -> da.Array:
    rows, *rest = like.shape
    parts = [da.from_delayed(call[name], (rows * count, *rest), like.dtype) for call, count in calls]
    return da.concatenate(parts or [da.empty((0, *rest), dtype=like.dtype, chunks=(0, *rest))])  # "auto" divides by nothing


def _refuse(preprocessor: Prepares, why: str) -> NoReturn:
    raise ValueError(f"{preprocessor!r} has no result for each chunk: {why}; give it NumPy arrays")


def _plan_of_each(preprocessor: Prepares, shape: tuple[int, ...]) -> Plan:
    """The plan of one picture, or of one video."""
    alone = np.broadcast_to(np.uint8(0), (1, *shape))
    pictures, _ = inputs.pictures(preprocessor._configuration, alone, preprocessor._row.form)
    shapes, frames = [picture.shape for picture in pictures], len(pictures)
    one, two = (preprocessor._work(shapes * count, [frames] * count).plan for count in (1, 2))
    for name, result in one.items():
        if not _is_repeated(result, two[name], frames):
            _refuse(preprocessor, f"{name!r} of two pictures is not that of each")
    return one


def _is_repeated(one: Any, two: Any, pictures: int) -> bool:
    if not hasattr(one, "shape") or not one.shape or two.shape != (2 * one.shape[0], *one.shape[1:]):
        return False
    if isinstance(one, Mask):
        return bool(two.windows == one.windows * 2)
    if not isinstance(one, Pixels):
        return np.array_equal(two, np.concatenate([one, one]))
    items = int(np.prod(one.shape))
    second = [block._replace(picture=block.picture + pictures, first=block.first + items) for block in one.blocks]
    return set(two.blocks) == {*one.blocks, *second} and np.array_equal(one.table, two.table)
