"""Methods of DeviceArray for other libraries: NumPy's conversion and functions, and DLPack."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from dmlops import _core, dlpack, operators
from dmlops._core import DeviceArray
from dmlops.array_methods import add_methods, stand_in
from dmlops.late_imports import late
from dmlops.numpy_names import QUESTIONS, VIEWS

__all__: list[str] = []  # the methods below are the type's; see the end of this file


def __array__(self: DeviceArray, dtype: Any = None, copy: bool | None = None) -> Any:
    """The elements as a NumPy array, for ``numpy.asarray``. NumPy before 2 passes no `copy`."""
    wanted = None if dtype is None else np.dtype(dtype)
    if copy is not None and not copy:
        raise ValueError("a dmlops.DeviceArray becomes a NumPy array by copying only; copy=False was asked for")
    return np.asarray(self.numpy(), wanted)


# --- DLPack -----------------------------------------------------------------------------------------------------------


_CPU = (dlpack.CPU, 0)


def __dlpack__(
    self: DeviceArray, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Any:
    """The array as a DLPack capsule, once all that is queued on it is done, or a stream of CUDA's waits for that.

    An array whose memory the host sees is the CPU's: ``torch.from_dlpack(a)``, ``jax.dlpack.from_dlpack(a)`` and
    ``numpy.from_dlpack(a)`` share that memory. Elsewhere ``dl_device=(1, 0)`` copies the array to the CPU. What later calls
    write to shared memory appears on the other side only after ``wait()``. ``copy=True`` always copies; ``copy=False``
    raises BufferError where only a copy will do.

    An array on an NVIDIA GPU that CUDA has, too, is kDLCUDA: ``torch.from_dlpack(a)`` and ``cupy.from_dlpack(a)`` share its
    memory. Later calls wait for all that CUDA's streams do with it until then. With ``stream=-1`` nothing is waited for. What
    any other `stream` does from now on, None being the legacy default stream, comes after the array's work: it waits for that
    itself where the driver lets it, and else this call does.

    Views with negative strides are shared with NumPy only. PyTorch aborts the process when it meets one, so every other
    library gets a copy. To share such an array, export it without the mirror and mirror it on the other side.

    Any other array that the host does not see is kDLVulkan, for consumers that use Vulkan themselves, and so is every array of
    a Vulkan device with ``dl_device=(7, index)``: ``data`` points to four integers of 64 bits, the VkBuffer, its
    VkDeviceMemory, the VkDevice and the buffer's size in bytes. Small arrays share a buffer, in which ``byte_offset`` leads to
    the array.
    """
    own, cuda, seen_by_host = _core._dlpack_places(self)
    versioned = max_version is not None and _pair(max_version, "max_version")[0] >= 1
    asked = _place(own, cuda, seen_by_host) if dl_device is None else _pair(dl_device, "dl_device")
    if asked[0] == dlpack.CUDA and isinstance(cuda, str):
        raise BufferError(f"dl_device must not be {asked}: {cuda}")
    if asked not in (own, _CPU, (dlpack.CUDA, cuda)):
        raise BufferError(f"dl_device must be {own}, the array's device, or (1, 0), the CPU; not {asked}")
    if stream is not None and asked[0] != dlpack.CUDA:
        raise BufferError("stream must be None: the device has no streams")
    if stream is not None and operator.index(stream) == 0:
        raise BufferError("stream must not be 0, which does not say which default stream is meant: that is 1 or 2")
    element_type = dlpack.type_of(self.dtype)
    cpu = asked == _CPU
    need = _need_for_copy(self, asked, seen_by_host, max_version)
    if need and copy is not None and not copy:
        raise BufferError(f"copy must not be False: {need}")
    copied = bool(need or copy)
    lent = _core._asarray(self, None, "host" if cpu else None, True) if copied else self
    return _core._dlpack(lent, element_type, asked, versioned, copied, 1 if stream is None else operator.index(stream))


def _pair(value: Any, name: str) -> tuple[int, int]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"{name} must be a tuple of two ints or None, not {type(value).__name__}")
    return operator.index(value[0]), operator.index(value[1])


def _place(own: tuple[int, int], cuda: int | str, seen_by_host: bool) -> tuple[int, int]:
    """Return where an array is offered unless the consumer asks for another device."""
    if seen_by_host:
        return _CPU
    return own if isinstance(cuda, str) else (dlpack.CUDA, cuda)


def _need_for_copy(array: DeviceArray, asked: tuple[int, int], seen_by_host: bool, max_version: Any) -> str:
    """Why the array's own memory cannot be shared; empty if it can."""
    if asked == _CPU and not seen_by_host:
        return "the host does not see the device's memory"
    shape, strides = array.shape, array.strides
    negative = array.nbytes > 0 and any(strides[k] < 0 and shape[k] > 1 for k in range(array.ndim))
    from_numpy = max_version is not None and max_version is dlpack.MAX_VERSION
    if asked[0] in (dlpack.CPU, dlpack.CUDA) and negative and not from_numpy:
        return "the view has negative strides, which not every library can take; export the array and mirror it there"
    return ""


def __dlpack_device__(self: DeviceArray) -> tuple[int, int]:
    return _place(*_core._dlpack_places(self))


# --- the array API standard ---------------------------------------------------------------------------------------------


def __array_namespace__(self: DeviceArray, *, api_version: str | None = None) -> Any:
    """``dmlops.array_api``: the standard's functions that move elements."""
    with late():
        from dmlops import array_api

    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(f"api_version must be one of {', '.join(_VERSIONS)}, not {api_version!r}")
    return array_api


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def to_device(self: DeviceArray, device: Any, /, *, stream: Any = None) -> DeviceArray:
    """The array on another device, or itself where it is there already."""
    if stream is not None:
        raise ValueError("stream must be None: these devices have no streams")
    return _core._asarray(self, None, device, None)


# --- NumPy's functions ------------------------------------------------------------------------------------------------


def __array_function__(self: DeviceArray, func: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
    """Views, movements, questions about shape and dtype, and comparisons for tests; others would download unasked."""
    if not all(issubclass(one, (DeviceArray, np.ndarray)) for one in kinds):
        return NotImplemented
    return _ways().get(func, _moved)(self, func, args, kwargs)


def _refuse(name: str) -> NoReturn:
    raise TypeError(f"{name} would download a dmlops.DeviceArray: call it with what .numpy() gives")


def _moved(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    """What is neither a view nor a question runs on the device, if it only moves elements."""
    with late():
        from dmlops.fusion import on_devices
        from dmlops.fusion.traced import RefusedError

    name = f"{func.__module__}.{func.__name__}"
    try:
        return on_devices.call(func, args, kwargs)
    except on_devices.MixedArraysError as error:
        raise TypeError(
            f"{name} would download a dmlops.DeviceArray: call it with what .numpy() gives, "
            f"or put the {error} on the device by dmlops.asarray, too"
        ) from None
    except RefusedError as error:
        what = error.what if error.what.startswith(name) else f"{name} ({error.what})"
    _refuse(what)


def __array_ufunc__(self: DeviceArray, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Refuses: no operator and no other ufunc of NumPy runs on a device."""
    if any(hasattr(one, "__array_ufunc__") and not isinstance(one, (DeviceArray, np.ndarray, np.generic)) for one in inputs):
        return NotImplemented
    place = "numpy." if getattr(np, ufunc.__name__, None) is ufunc else ""
    return _refuse(f"{place}{ufunc.__name__}{'' if method == '__call__' else '.' + method}")


def _exchanged(exchange: Callable[[DeviceArray], Any], args: Any, kwargs: Any) -> Any:
    """The arguments with something else for each device array."""

    def other(argument: Any) -> Any:
        if isinstance(argument, DeviceArray):
            return exchange(argument)
        return [other(entry) for entry in argument] if isinstance(argument, (list, tuple)) else argument

    return [other(argument) for argument in args], {name: other(argument) for name, argument in kwargs.items()}


def _called(func: Any, first: Any, args: Any, kwargs: Any) -> Any:
    """Call with another first argument: a device array elsewhere, as for axes, means its elements."""
    if args:
        return func(first, *args[1:], **kwargs)
    name = next(iter(inspect.signature(func).parameters))
    return func(**{**kwargs, name: first})


def _as_view(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    """The view that NumPy makes, or a list or tuple of them."""
    made: Any = None

    def call(like: Any) -> Any:
        nonlocal made
        made = _called(func, like, args, kwargs)
        return like if isinstance(made, (list, tuple, np.generic)) else made  # of a 0-d array it may be an element

    view = _core._view(self, call)
    if not isinstance(made, (list, tuple)):
        return view
    return type(made)(_core._view(self, functools.partial(_second, one)) for one in made)


def _second(view: Any, like: Any) -> Any:
    """A view of another stand-in of the same array, which has the same address."""
    return view


def _at_least(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    views = [_core._view(one, func) if isinstance(one, DeviceArray) else func(one) for one in args]
    return views[0] if len(views) == 1 else tuple(views) if _AT_LEAST_TUPLE else views


# numpy.atleast_1d and its kin return a tuple since NumPy 2.
_AT_LEAST_TUPLE = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def _empty_like(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> DeviceArray:
    def empty_like(
        prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *, device: Any = None
    ) -> DeviceArray:
        shape = prototype.shape if shape is None else shape
        return _core._empty(shape, prototype.dtype if dtype is None else dtype, self.device if device is None else device)

    return empty_like(*args, **kwargs)


def _by_shape(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    return _called(func, stand_in(self), args, kwargs)


def _by_dtype(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = _exchanged(stand_in, args, kwargs)
    return func(*args, **kwargs)


def _downloaded(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = _exchanged(DeviceArray.numpy, args, kwargs)
    return func(*args, **kwargs)


def _reshape(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> DeviceArray:
    def reshape(a: DeviceArray, shape: Any = None, order: Any = "C", *, newshape: Any = None, copy: Any = None) -> Any:
        return a.reshape(newshape if shape is None else shape, order=order, copy=copy)

    result: DeviceArray = reshape(*args, **kwargs)
    return result


def _ravel(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> DeviceArray:
    def ravel(a: DeviceArray, order: Any = "C") -> DeviceArray:
        return a.ravel(order)

    return ravel(*args, **kwargs)


def _take(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
        if mode != "raise":
            _refuse(f"numpy.take with mode={mode!r}")
        return operators.take(a, indices, axis, out=out)

    return take(*args, **kwargs)


def _take_along_axis(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
        if isinstance(indices, (np.ndarray, DeviceArray)) and indices.dtype.kind not in "iu":
            raise IndexError(f"indices must be an array of integers, not of {indices.dtype}")
        return operators.take_along_axis(arr, indices, axis)

    return take_along_axis(*args, **kwargs)


@functools.cache
def _ways() -> dict[Any, Any]:
    """What to do for each of NumPy's functions that takes device arrays; some do not exist in every version."""
    ways = {
        _as_view: VIEWS,
        _at_least: "atleast_1d atleast_2d atleast_3d",
        _reshape: "reshape",
        _ravel: "ravel",
        _empty_like: "empty_like",
        _take: "take",
        _take_along_axis: "take_along_axis",
        _by_shape: QUESTIONS,
        _by_dtype: "result_type can_cast",
        _downloaded: "array_equal array_equiv allclose",
    }
    return {getattr(np, name): way for way, names in ways.items() for name in names.split() if hasattr(np, name)}


add_methods(__array_namespace__, to_device, __array__, __array_function__, __array_ufunc__, __dlpack__, __dlpack_device__)
for _name, _operator in vars(np.lib.mixins.NDArrayOperatorsMixin).items():  # each calls a ufunc
    if isinstance(_operator, types.FunctionType):
        setattr(DeviceArray, _name, _operator)
