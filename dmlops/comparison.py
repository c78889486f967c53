"""An operator, or a fused function, on every device and in NumPy: whether results are equal to the bit, and their times."""

from __future__ import annotations

import dataclasses
import inspect
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import dmlops.reference as reference  # not from dmlops, which would wait for late imports
from dmlops import operators, printed_tables
from dmlops._core import DeviceArray
from dmlops.arrays import empty
from dmlops.bits import differ
from dmlops.device import Device
from dmlops.device_list import devices as all_devices
from dmlops.errors import VulkanError, shown
from dmlops.names_of_users import like
from dmlops.scalars import item_of
from dmlops.slice_keys import index_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from dmlops._annotations import DeviceLike

__all__ = ["Comparison", "Difference", "Row", "compare"]

_NUMPY_SECONDS = 1.0  # dmlops.reference is written to be read, and may be slow: it is not repeated for longer


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first element that differs from NumPy's, or what else differs.

    Attributes
    ----------
    index : tuple of int, or None
        Where the element is; None where shapes or dtypes differ.
    value, expected : object
        What the device gave, and NumPy.
    """

    index: tuple[int, ...] | None
    value: object
    expected: object

    def __str__(self) -> str:
        place = "" if self.index is None else f"at {self.index} "
        return f"{place}{self.value!r}, NumPy has {self.expected!r}"


@dataclasses.dataclass(frozen=True)
class Row:
    """What one device did.

    Attributes
    ----------
    device : Device
        The device.
    milliseconds : float
        The median of the runs; NaN where the device failed.
    difference : Difference or None
        How the result differs from NumPy's; None where it is equal.
    error : VulkanError or None
        Why the device failed, if it did.
    """

    device: Device
    milliseconds: float
    difference: Difference | None
    error: VulkanError | None = None

    @property
    def equal(self) -> bool:
        return self.difference is None and self.error is None


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison:
    """What ``dmlops.compare`` returns: true if all results are equal to the bit. It prints as a table.

    Attributes
    ----------
    operator : str
        The operator's name.
    rows : tuple of Row
        One entry for each device.
    numpy_milliseconds : float
        The median of the runs of ``dmlops.reference``.
    picture : PIL.Image.Image or None
        With ``picture=True``: input, result, and where they differ. The result is that of the first device that differs from
        NumPy, or of the first device.
    """

    operator: str
    rows: tuple[Row, ...]
    numpy_milliseconds: float
    picture: Image | None = None

    def __bool__(self) -> bool:
        return all(row.equal for row in self.rows)

    def __repr__(self) -> str:
        return "\n".join([printed_tables.as_text(*self._table()), *self._remarks()])

    def _repr_html_(self) -> str:
        import html

        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self._remarks())
        return printed_tables.as_html(*self._table()) + remarks + self._picture_html()

    def _table(self) -> tuple[list[str], list[list[str]]]:
        times = f"{self.numpy_milliseconds:.3f}"
        rows = [[row.device.name, f"{row.milliseconds:.3f}", times, "yes" if row.equal else "no"] for row in self.rows]
        return [self.operator, "ms", "NumPy's ms", "equal"], rows

    def _remarks(self) -> list[str]:
        return [f"{row.device.name}: {row.error or row.difference}" for row in self.rows if not row.equal]

    def _picture_html(self) -> str:
        if self.picture is None:
            return ""
        import base64
        import io

        file = io.BytesIO()
        self.picture.save(file, "PNG")
        return f'<img alt="input, result, difference" src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'


def compare(
    operator: Callable[..., Any] | str,
    *args: Any,
    devices: DeviceLike | Iterable[DeviceLike] | None = None,
    repeat: int = 5,
    picture: bool = False,
    **kwargs: Any,
) -> Comparison:
    """Run an operator on each device and in NumPy, and compare results and times.

    Parameters
    ----------
    operator : function or str
        An operator of dmlops, or its name; or a function that ``dmlops.fuse`` has been given.
    args : object
        The operator's arguments. Device arrays among them are downloaded first.
    devices : int, str or Device, or an iterable of them, optional
        The devices to run on; ``dmlops.devices`` lists what is accepted. Default: every usable device; the host alone for a
        fused function that maps items of 4 or 8 bytes.
    repeat : int, optional
        The number of runs on each device after a first one that does not count, and at most as many in NumPy.
    picture : bool, optional
        Whether to draw input, result and difference side by side. They must be images: of rank 2 or 3, or a batch of them, of
        which the first is drawn. Needs Pillow, which matplotlib brings.
    kwargs : object
        The operator's keyword arguments, but not `out` and `device`.

    Returns
    -------
    Comparison
        True if all results are equal to NumPy's to the bit. It prints as a table, in notebooks too.

    Raises
    ------
    TypeError
        `out` or `device` is given, or the operator refuses its arguments.
    ValueError
        `operator` is none of dmlops; `repeat` is below 1; `devices` names no device, or none; with `picture`, the arrays are
        no images; or the operator refuses its arguments.
    ImportError
        `picture` is set, and Pillow is not installed.

    Notes
    -----
    NumPy's times are those of ``dmlops.reference``. A device that fails with a ``VulkanError`` is reported as not equal.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> comparison = dmlops.compare(dmlops.space_to_depth, np.arange(256).reshape(1, 1, 16, 16), 4, devices="host")
    >>> bool(comparison)
    True
    >>> comparison  # doctest: +SKIP
    space_to_depth     ms  NumPy's ms  equal
    host            0.006       0.052  yes
    """
    name, function, twin = _functions(operator)
    for refused in {"out", "device"} & set(kwargs):
        raise TypeError(f"compare takes no {refused}: it makes its own arrays, on the devices that `devices` names")
    if index_of(repeat, "repeat") < 1:
        raise ValueError(f"repeat must be 1 or more, not {shown(repeat)}")
    if picture:
        from dmlops import comparison_picture
    call = inspect.signature(function).bind(*args, **kwargs)
    fused = hasattr(operator, "reference")
    _download(call, fused)
    chosen = _devices(devices)
    if devices is None and fused and operator._is_of_the_host(call.args, call.kwargs):  # type: ignore[union-attr]
        chosen = [device for device in chosen if device.type == "host"]
    runs = [_run(function, call, device, repeat) for device in chosen]
    expected, numpy_milliseconds = _timed(twin, call, repeat) if fused else _in_numpy(twin, call, repeat)
    rows = []
    for device, (result, milliseconds, error) in zip(chosen, runs, strict=True):
        rows.append(Row(device, milliseconds, None if error else _difference(result, expected, not fused), error))
    image = None
    if picture:
        drawn = next((k for k, row in enumerate(rows) if row.difference), 0)
        image = comparison_picture.draw(_panels(next(iter(call.arguments.values())), runs[drawn][0], expected))
    return Comparison(name, tuple(rows), numpy_milliseconds, image)


def _functions(operator: Callable[..., Any] | str) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """The name of an operator or of a fused function, what runs it, and what runs it in NumPy."""
    twin = getattr(operator, "reference", None)
    if not isinstance(operator, str) and twin is not None:
        return operator.__name__, operator, twin
    name = operator if isinstance(operator, str) else getattr(operator, "__name__", "")
    all_names = [*reference.__all__, *operators.COMPOSED]
    known = name in all_names and (isinstance(operator, str) or operator is getattr(operators, name))
    if not known:
        wanted = f"operator must be a fused function, or one of dmlops or its name: {', '.join(all_names)}"
        raise ValueError(f"{wanted}; not {shown(operator)}{like(name, all_names)}")
    return name, getattr(operators, name), getattr(reference, name)


def _download(call: inspect.BoundArguments, fused: bool) -> None:
    """Make NumPy arrays of the input and of other device arrays, and lists of iterators: the call is run several times."""
    if fused:
        call.arguments |= {k: one.numpy() if isinstance(one, DeviceArray) else one for k, one in call.arguments.items()}
        return
    input, *others = call.arguments
    value = call.arguments[input]
    call.arguments[input] = [np.asarray(entry) for entry in value] if input == "inputs" else np.asarray(value)
    for other in others:
        argument = call.arguments[other]
        if isinstance(argument, DeviceArray):  # lengths, of which a negative one acts as 0
            call.arguments[other] = np.maximum(argument.numpy(), 0)
        elif isinstance(argument, Iterator):
            call.arguments[other] = list(argument)


def _devices(devices: DeviceLike | Iterable[DeviceLike] | None) -> list[Device]:
    if devices is None:
        return [device for device in all_devices() if device.usable]
    several: list[Any] = [devices] if isinstance(devices, str) or not isinstance(devices, Iterable) else list(devices)
    chosen = [empty(0, device=device).device for device in several]
    if not chosen:
        raise ValueError("devices must name one device or more")
    return chosen


def _run(
    function: Callable[..., Any], call: inspect.BoundArguments, device: Device, repeat: int
) -> tuple[Any, float, VulkanError | None]:
    place: Any = "host" if device.index is None else device.index
    try:
        result = function(*call.args, **call.kwargs, device=place)
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            function(*call.args, **call.kwargs, device=place)
            times.append(time.perf_counter() - start)
    except VulkanError as error:
        return None, float("nan"), error
    return result, 1000 * statistics.median(times), None


def _in_numpy(twin: Callable[..., Any], call: inspect.BoundArguments, repeat: int) -> tuple[Any, float]:
    given, first = dict(call.arguments), next(iter(call.arguments))
    input = given[first]
    dtype = (input[0] if isinstance(input, list) else input).dtype
    if dtype.names or dtype.char in "gG":  # NumPy leaves out bytes that mean nothing, so it gets whole elements
        whole = np.dtype(f"V{dtype.itemsize}")
        call.arguments[first] = _viewed(input, whole)
        if twin is reference.padding:
            call.arguments["value"] = np.array(item_of(given.get("value", 0), dtype), whole)
    result, milliseconds = _timed(twin, call, repeat)
    call.arguments.update(given)
    return _viewed(result, dtype), milliseconds


def _timed(twin: Callable[..., Any], call: inspect.BoundArguments, repeat: int) -> tuple[Any, float]:
    times: list[float] = []
    while len(times) < repeat and sum(times) < _NUMPY_SECONDS:
        start = time.perf_counter()
        result = twin(*call.args, **call.kwargs)
        times.append(time.perf_counter() - start)
    return result, 1000 * statistics.median(times)


def _viewed(arrays: Any, dtype: Any) -> Any:
    """Arrays with another dtype of the same size."""
    if isinstance(arrays, (list, tuple)):
        return [_viewed(array, dtype) for array in arrays]
    return arrays if arrays.dtype == dtype or arrays.dtype.itemsize == 0 else arrays.view(dtype)


def _difference(result: Any, expected: Any, whole: bool = True) -> Difference | None:
    """The first element that differs; `whole`: in any bit, also where it means nothing."""
    if isinstance(expected, dict):
        return _difference(list(result.values()), list(expected.values()), whole)
    if isinstance(expected, (list, tuple)):  # several results: the index begins with the number of the result
        if len(result) != len(expected):
            return Difference(None, f"{len(result)} results", f"{len(expected)} results")
        for number, (one, other) in enumerate(zip(result, expected, strict=True)):
            found = _difference(one, other, whole)
            if found:
                return dataclasses.replace(found, index=(number, *(found.index or ())))
        return None
    if not isinstance(expected, np.ndarray):  # a fused function may return what is no array, too
        return None
    for attribute in ("dtype", "shape"):
        if getattr(result, attribute) != getattr(expected, attribute):
            return Difference(None, getattr(result, attribute), getattr(expected, attribute))
    different = differ(result, expected, whole)
    if not different.any():
        return None
    index = tuple(int(k) for k in np.unravel_index(int(different.argmax()), different.shape))
    return Difference(index, result[index].item(), expected[index].item())


def _panels(*arrays: Any) -> dict[str, Any]:
    """What is drawn of input, result and NumPy's result: of several arrays each, the first."""
    input, result, expected = (value[0] if isinstance(value, (list, tuple)) else value for value in arrays)
    if result is None or result.shape != expected.shape:
        return {"input": input, "NumPy's result": expected}
    return {"input": input, "result": result, "difference": differ(result, expected)}
