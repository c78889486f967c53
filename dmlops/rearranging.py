"""``rearrange`` and ``repeat``: einops' patterns in one pass, of any arrays."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, overload

from dmlops.late_imports import imported, late
from dmlops.structure import operand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Input, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["rearrange", "repeat"]


@overload
def rearrange(
    x: DeviceArray | Sequence[DeviceArray],
    pattern: str,
    /,
    *,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> DeviceArray: ...
@overload
def rearrange(
    x: NDArray[T] | Sequence[NDArray[T]],
    pattern: str,
    /,
    *,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> NDArray[T]: ...
@overload
def rearrange(
    x: Input,
    pattern: str,
    /,
    *,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> Array: ...
def rearrange(
    x: Input | DeviceArray | Sequence[DeviceArray],
    pattern: str,
    /,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> AnyArray:
    """Transpose, split, merge and stack axes in one pass, by a pattern of einops.

    Parameters
    ----------
    x : array_like or DeviceArray, or a list of arrays
        Any dtype whose elements are plain bytes. A list is an array of one axis more, the first.
    pattern : str
        The axes before and after, as ``einops.rearrange`` has them.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result. Default: a new array.
    device : int, str or Device, optional
        The device to run on. Default: that of `x` if it is a device array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        As for every operator.
    **sizes : int
        The sizes of axes of the pattern that `x` does not determine.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `x`. Never a view: ``einops.rearrange`` of a device
        array makes one where it can.

    Raises
    ------
    ModuleNotFoundError
        einops is not installed.
    einops.EinopsError
        The pattern is wrong, or does not fit `x`.

    See Also
    --------
    repeat : repeats elements along new axes.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> photos = np.zeros((8, 480, 640, 3), np.uint8)
    >>> dmlops.rearrange(photos, "b (h p) (w q) c -> b (h w) (p q c)", p=16, q=16).shape
    (8, 1200, 768)
    """
    result: AnyArray = _functions()["rearrange"](
        _array(x, pattern), pattern, out=out, device=device, progress=progress, **sizes
    )
    return result


@overload
def repeat(
    x: DeviceArray | Sequence[DeviceArray],
    pattern: str,
    /,
    *,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> DeviceArray: ...
@overload
def repeat(
    x: NDArray[T] | Sequence[NDArray[T]],
    pattern: str,
    /,
    *,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> NDArray[T]: ...
@overload
def repeat(
    x: Input,
    pattern: str,
    /,
    *,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> Array: ...
def repeat(
    x: Input | DeviceArray | Sequence[DeviceArray],
    pattern: str,
    /,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
    **sizes: int,
) -> AnyArray:
    """Repeat elements along new axes, and rearrange them, in one pass, by a pattern of einops.

    Parameters
    ----------
    x : array_like or DeviceArray, or a list of arrays
        Any dtype whose elements are plain bytes. A list is an array of one axis more, the first.
    pattern : str
        The axes before and after, as ``einops.repeat`` has them.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result. Default: a new array.
    device : int, str or Device, optional
        The device to run on. Default: that of `x` if it is a device array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        As for every operator.
    **sizes : int
        The sizes of the new axes, and of others that `x` does not determine.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `x`.

    Raises
    ------
    ModuleNotFoundError
        einops is not installed.
    einops.EinopsError
        The pattern is wrong, or does not fit `x`.

    See Also
    --------
    rearrange : repeats nothing.
    upsample : repeats each element along the spatial axes.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.repeat(np.array([[1, 2]]), "h w -> (h 2) (w n)", n=3)
    array([[1, 1, 1, 2, 2, 2],
           [1, 1, 1, 2, 2, 2]])
    """
    result: AnyArray = _functions()["repeat"](_array(x, pattern), pattern, out=out, device=device, progress=progress, **sizes)
    return result


def _array(x: Any, pattern: Any) -> Any:
    """The argument `x` as an array or a list of arrays. TypeError if the pattern is no str, as where the two are swapped."""
    if not isinstance(pattern, str):
        swapped = "; did you mean (x, pattern)? The array comes first" if isinstance(x, str) else ""
        raise TypeError(f"pattern must be a str such as 'h w c -> c h w', not {type(pattern).__name__}{swapped}")
    return operand("x", x)


@functools.cache
def _functions() -> dict[str, Any]:
    try:
        einops = imported("einops")
    except ModuleNotFoundError as error:
        if error.name != "einops":
            raise
        raise ModuleNotFoundError("dmlops.rearrange and dmlops.repeat need einops: pip install einops", name="einops") from None
    with late():
        from dmlops.fusion.fused import Fused

    def rearrange(x: Any, pattern: Any, /, **sizes: Any) -> Any:
        return einops.rearrange(x, pattern, **sizes)

    def repeat(x: Any, pattern: Any, /, **sizes: Any) -> Any:
        return einops.repeat(x, pattern, **sizes)

    return {"rearrange": Fused(rearrange, automatic=False), "repeat": Fused(repeat, automatic=False)}
