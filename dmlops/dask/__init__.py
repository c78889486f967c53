"""The operators for `dask.array`: lazy, blocks moved by dmlops, on any of Dask's schedulers.

    >>> import dask.array as da, dmlops.dask
    >>> images = da.zeros((64, 3, 1024, 1024), dtype="uint8", chunks=(8, 3, 512, 512))
    >>> patches = dmlops.dask.space_to_depth(images, 16)
    >>> patches
    dask.array<dmlops-space_to_depth, shape=(64, 768, 64, 64), dtype=uint8, chunksize=(8, 768, 32, 32), chunktype=numpy.ndarray>

The functions have the names and the arguments of the package's, without `out` and `progress`. Arguments are checked at once;
what depends on values in a Dask array is checked when its block is computed. Shape, dtype and chunks of a result are known
without computing.

A block of a result is one dmlops call. Where Dask's rearranging of blocks is all there is to do, there is no call: `join`, and
the blocks that `tile` repeats and that `padding` leaves as they are. `take` has a call for each chunk that a block takes from,
and two more where these are several.

Blocks are NumPy arrays. Device arrays cannot travel between processes, so they are refused. `device` is looked up where a block
is computed: on a cluster each worker uses a device of its own of that name, type or index.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

try:
    import dask.array as _dask_array  # noqa: F401
except ImportError as error:
    raise ImportError('dmlops.dask needs Dask: pip install "dask[array]"') from error

from dmlops.dask.assembly import join, padding, tile
from dmlops.dask.blocks import depth_to_space, reverse_subsequences, space_to_depth, transpose, upsample
from dmlops.dask.gathers import take
from dmlops.dask.resizing import resize_opencv, resize_pillow, resize_torchvision
from dmlops.dask.windows import roll, slice_grad, split
from dmlops.dask.windows import slice as slice

__all__ = [
    "depth_to_space",
    "join",
    "padding",
    "resize_opencv",
    "resize_pillow",
    "resize_torchvision",
    "reverse_subsequences",
    "roll",
    "slice",
    "slice_grad",
    "space_to_depth",
    "split",
    "take",
    "tile",
    "transpose",
    "upsample",
]

if not _TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> object:
        """Say what to do on Dask arrays where the package has a function and this module none."""
        from dmlops import operators

        text = f"module {__name__!r} has no attribute {name!r}"
        if name in [*operators.__all__, *operators.COMPOSED]:
            text += f": dask.array.map_blocks(dmlops.{name}, ...) calls it for each block; docs/dask.md says what has to fit"
        raise AttributeError(text)
