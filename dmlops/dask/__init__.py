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
the blocks that `tile` repeats and that `padding` leaves as they are.

Blocks are NumPy arrays. Device arrays cannot travel between processes, so they are refused. `device` is looked up where a block
is computed: on a cluster each worker uses a device of its own of that name, type or index.
"""

try:
    import dask.array as _dask_array  # noqa: F401
except ImportError as error:
    raise ImportError('dmlops.dask needs Dask: pip install "dask[array]"') from error

from dmlops.dask.assembly import join, padding, tile
from dmlops.dask.blocks import depth_to_space, reverse_subsequences, space_to_depth, transpose, upsample
from dmlops.dask.windows import slice as slice
from dmlops.dask.windows import slice_grad, split

__all__ = [
    "depth_to_space",
    "join",
    "padding",
    "reverse_subsequences",
    "slice",
    "slice_grad",
    "space_to_depth",
    "split",
    "tile",
    "transpose",
    "upsample",
]
