"""``warm_up``: a call in advance, so that later ones compile nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dmlops import structure
from dmlops._core import DeviceArray
from dmlops.refused_arrays import is_lazy

__all__ = ["warm_up"]


def warm_up(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
    """Compile what calls with arguments like these need, and wait until that is done.

    It makes one call and drops the result. Arrays are read, and not written. So those of a server may be new ones of the sizes
    that will come, such as ``numpy.zeros(shape, dtype)``.

    Parameters
    ----------
    function : function
        An operator, a fused function, or what ``preprocessing`` has returned.
    args, kwargs : object
        The arguments of a call, `device` included; `out` is not taken.

    Raises
    ------
    TypeError
        `out` is given, or Dask arrays, which are computed later. What the call raises is raised, too.

    Notes
    -----
    Later calls compile no kernels and trace no functions, if their shapes, dtypes, strides, devices and constants are the same.
    NumPy arrays must be new ones, or begin at a multiple of 16 bytes as these do. Fewer sizes compile than there are: many
    share a kernel. A process that is forked later has the programs of fused functions, and opens devices and compiles kernels
    anew, as far as the driver has no cache on disk.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> prepare = dmlops.fuse(lambda photo: np.moveaxis(photo, -1, 0).astype(np.float32) / 255)
    >>> for height, width in (480, 640), (720, 1280):
    ...     dmlops.warm_up(prepare, np.zeros((height, width, 3), np.uint8))
    >>> dmlops.warm_up(dmlops.transpose, np.zeros((480, 640, 3), np.uint8), (2, 0, 1), device="host")
    """
    if kwargs.get("out") is not None:
        raise TypeError("warm_up takes no out, which the call would write")
    if any(map(is_lazy, structure.leaves((args, kwargs)))):
        raise TypeError("warm_up takes no Dask arrays, which are computed later: pass a NumPy array of a chunk's shape")
    for one in structure.leaves(function(*args, **kwargs)):
        if isinstance(one, DeviceArray):
            one.wait()  # lavapipe compiles a kernel when it first runs
