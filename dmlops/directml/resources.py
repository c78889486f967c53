"""The resources of a DxDispatch model: buffers, and how their first values are written down."""

from __future__ import annotations

import math
import os
import pathlib
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dmlops._annotations import Array
from dmlops.directml.enums import DML_TENSOR_DATA_TYPE
from dmlops.directml.errors import DirectMLError
from dmlops.directml.fields import Refused, enumeration, integer
from dmlops.directml.json_reader import Node
from dmlops.quiet import quiet

__all__ = ["ConstantValues", "FileValues", "ListedValues", "MixedValues", "Resource", "SequenceValues", "read_resource"]

Number: TypeAlias = int | float


@dataclass(frozen=True)
class ConstantValues:
    """One value, `count` times."""

    count: int
    value: Number


@dataclass(frozen=True)
class SequenceValues:
    """`count` values: `start`, `start` + `delta`, and so on, added up in the data type as DxDispatch does."""

    count: int
    start: Number
    delta: Number


@dataclass(frozen=True)
class ListedValues:
    """The values themselves."""

    values: tuple[Number, ...]


@dataclass(frozen=True)
class MixedValues:
    """ListedValues of different types, one after the other: (type, value)."""

    values: tuple[tuple[DML_TENSOR_DATA_TYPE, Number], ...]


@dataclass(frozen=True)
class FileValues:
    """A file: ``.npy``, or bytes of the resource's data type."""

    path: str


@dataclass(frozen=True)
class Resource:
    """A buffer.

    Attributes
    ----------
    data_type : DML_TENSOR_DATA_TYPE
        The type of the first values and of what is printed. UNKNOWN: that of a ``.npy`` file, or the values are `MixedValues`.
    initial : ConstantValues, SequenceValues, ListedValues, MixedValues or FileValues
        The first values.
    size_in_bytes : int or None
        The size of the buffer. None: as large as the values, rounded up to 4 bytes.
    offset_in_bytes : int
        Where in the buffer the first values begin.
    """

    data_type: DML_TENSOR_DATA_TYPE
    initial: ConstantValues | SequenceValues | ListedValues | MixedValues | FileValues
    size_in_bytes: int | None = None
    offset_in_bytes: int = 0

    def count_bytes(self, folder: pathlib.Path) -> int:
        """How many bytes the first values take; nothing is allocated for it."""
        initial = self.initial
        if isinstance(initial, MixedValues):
            return sum(_dtype(kind).itemsize for kind, _ in initial.values)
        if isinstance(initial, FileValues):
            path = resolve(initial.path, folder)
            if path.exists() and not path.is_file():
                raise DirectMLError(f"{initial.path} is no file; allowed: a .npy file, or one of bytes")
            return _open_npy(path).nbytes if path.suffix.lower() == ".npy" else path.stat().st_size
        count = len(initial.values) if isinstance(initial, ListedValues) else initial.count
        return count * _dtype(self.data_type).itemsize

    def total_bytes(self, folder: pathlib.Path) -> int:
        """The size of the buffer."""
        size = self.count_bytes(folder)
        if size == 0:
            raise DirectMLError("initialValues is empty; allowed: one value or more")
        end = size + self.offset_in_bytes
        if self.size_in_bytes is None:
            return -(-end // 4) * 4
        if self.size_in_bytes < end:
            raise DirectMLError(f"sizeInBytes is {self.size_in_bytes}; allowed: {end} or more, the end of the initial values")
        return self.size_in_bytes

    def type_in(self, folder: pathlib.Path) -> DML_TENSOR_DATA_TYPE:
        """The data type; that of a ``.npy`` file is in the file."""
        if not isinstance(self.initial, FileValues) or not self.initial.path.lower().endswith(".npy"):
            return self.data_type
        path = resolve(self.initial.path, folder)
        dtype = _open_npy(path).dtype
        kinds = [kind for kind in DML_TENSOR_DATA_TYPE if kind.dtype == dtype]
        if not kinds or self.data_type not in (kinds[0], DML_TENSOR_DATA_TYPE.UNKNOWN):
            allowed = "a type of DirectML" if self.data_type == DML_TENSOR_DATA_TYPE.UNKNOWN else self.data_type
            raise DirectMLError(f"{path} holds {dtype}; allowed: {allowed}")
        return kinds[0]

    def write(self, buffer: Array, folder: pathlib.Path) -> None:
        """Write the first values into a buffer of zeros, as large as `total_bytes`."""
        initial = self.initial
        place = buffer[self.offset_in_bytes : self.offset_in_bytes + self.count_bytes(folder)]
        if isinstance(initial, FileValues):
            path = resolve(initial.path, folder)
            if path.suffix.lower() == ".npy":
                array = _open_npy(path)
                place.view(array.dtype).reshape(array.shape)[...] = array
            else:
                place[...] = np.fromfile(path, np.uint8, len(place))
            return
        if isinstance(initial, MixedValues):
            place[...] = np.frombuffer(b"".join(cast_to(value, kind).tobytes() for kind, value in initial.values), np.uint8)
            return
        values = place.view(_dtype(self.data_type))
        if isinstance(initial, ListedValues):
            for index, value in enumerate(initial.values):
                values[index] = cast_to(value, self.data_type)
        elif isinstance(initial, ConstantValues):
            value = cast_to(initial.value, self.data_type)
            if any(value.tobytes()):  # else they are zeros already
                values[...] = value
        else:
            values[...] = cast_to(initial.delta, self.data_type)
            values[:1] = cast_to(initial.start, self.data_type)
            with np.errstate(all="ignore"):
                np.add.accumulate(values, dtype=values.dtype, out=values)


def _dtype(kind: DML_TENSOR_DATA_TYPE) -> np.dtype[np.generic]:
    assert kind.dtype is not None
    return kind.dtype


def cast_to(value: Number, kind: DML_TENSOR_DATA_TYPE) -> Any:
    """A number as DxDispatch reads it: what becomes FLOAT16 is rounded to FLOAT32 first."""
    with np.errstate(over="ignore"):
        return _dtype(kind).type(np.float32(value) if kind == DML_TENSOR_DATA_TYPE.FLOAT16 else value)


def resolve(path: str, folder: pathlib.Path) -> pathlib.Path:
    """Where a file is: beside the model, else in the current folder."""
    beside = folder / path
    return beside if beside.exists() else pathlib.Path(path)


def _open_npy(path: pathlib.Path) -> Array:
    """The array of a .npy file, mapped: a header that promises more than the file holds is an error, not an allocation."""
    try:
        with quiet():  # of Python, about the text of a header
            array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # NumPy reads the header as Python, and a zip file by its first bytes
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.filename):
            raise
        raise DirectMLError(f"{path} is no .npy file that dmlops reads: {str(error) or type(error).__name__}") from None
    if not isinstance(array, np.ndarray):
        raise DirectMLError(f"{path} is no .npy file that dmlops reads")
    return array


_count = integer(1, 2**32 - 1, "an integer from 1 to 4294967295")
_size = integer(0, 2**64 - 1, "an unsigned 64-bit integer")
IMAGES = (".png", ".jpg", ".jpeg")  # suffixes of files that DxDispatch reads and writes, too
_NAMES = ("initialValues", "initialValuesDataType", "sizeInBytes", "initialValuesOffsetInBytes", "type")


def number_of(kind: DML_TENSOR_DATA_TYPE) -> Any:
    """A converter for numbers of a data type: floats also as "nan", "inf" and "-inf"."""
    dtype = _dtype(kind)
    if dtype.kind != "f":
        limits = np.iinfo(dtype.name)
        return integer(int(limits.min), int(limits.max), f"an integer from {limits.min} to {limits.max}, as {kind}")

    def convert(value: Any) -> Number:
        if isinstance(value, str) and value.lower() in ("nan", "inf", "-inf"):
            return float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(value, 'a number, "nan", "inf" or "-inf"')
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf

    return convert


def as_json(value: Number) -> Number | str:
    """What `number_of` reads: infinities and NaN as text, which JSON has no numbers for."""
    return str(value) if value != value or value in (math.inf, -math.inf) else value


def read_resource(node: Node, folder: pathlib.Path) -> Resource:
    """A resource as DxDispatch's models have it."""
    node.names(_NAMES)
    if node.has("type") and node["type"].text() != "buffer":
        node["type"].refuse('"buffer"')
    kind = DML_TENSOR_DATA_TYPE.UNKNOWN
    if node.has("initialValuesDataType"):
        kind = node["initialValuesDataType"].convert(enumeration(DML_TENSOR_DATA_TYPE))
    if kind != DML_TENSOR_DATA_TYPE.UNKNOWN and kind.dtype is None:
        node["initialValuesDataType"].refuse("a data type of 8 to 64 bits")
    resource = Resource(
        kind,
        _read_initial(node["initialValues"], kind),
        node["sizeInBytes"].convert(_size) if node.has("sizeInBytes") else None,
        node["initialValuesOffsetInBytes"].convert(_size) if node.has("initialValuesOffsetInBytes") else 0,
    )
    try:
        resource.total_bytes(folder)
        resource.type_in(folder)
    except DirectMLError as error:
        raise DirectMLError(f"{node.place}: {error}") from None
    except OSError as error:
        raise DirectMLError(f"{node.place}: {error.filename}: {os.strerror(error.errno or 0)}") from None
    return resource


def _read_initial(
    node: Node, kind: DML_TENSOR_DATA_TYPE
) -> ConstantValues | SequenceValues | ListedValues | MixedValues | FileValues:
    unknown = kind == DML_TENSOR_DATA_TYPE.UNKNOWN
    if isinstance(node.value, list):
        if not node.value:
            node.refuse("one value or more")
        if unknown:
            return MixedValues(tuple(_read_mixed(entry) for entry in node.entries()))
        convert = number_of(kind)
        return ListedValues(tuple(entry.convert(convert) for entry in node.entries()))
    if node.value == "deferred":
        node.refuse("values: deferred resources belong to ONNX models, which are not data movement")
    forms = [name for name in ("value", "valueStart", "sourcePath") if node.has(name)]
    if len(forms) != 1:
        node.refuse("an array, or an object with one of value, valueStart and sourcePath")
    if forms == ["sourcePath"]:
        node.names(("sourcePath",))
        return _read_file(node["sourcePath"], unknown)
    if unknown:
        node.refuse("values beside an initialValuesDataType")
    convert = number_of(kind)
    if forms == ["value"]:
        node.names(("valueCount", "value"))
        return ConstantValues(node["valueCount"].convert(_count), node["value"].convert(convert))
    node.names(("valueCount", "valueStart", "valueDelta"))
    count = node["valueCount"].convert(_count)
    return SequenceValues(count, node["valueStart"].convert(convert), node["valueDelta"].convert(convert))


def _read_mixed(node: Node) -> tuple[DML_TENSOR_DATA_TYPE, Number]:
    node.names(("name", "type", "value"))
    kind = node["type"].convert(enumeration(DML_TENSOR_DATA_TYPE))
    if kind.dtype is None:
        node["type"].refuse("a data type of 8 to 64 bits")
    return kind, node["value"].convert(number_of(kind))


def _read_file(node: Node, unknown: bool) -> FileValues:
    path = node.file_name()
    suffix = pathlib.PurePath(path).suffix.lower()
    if suffix in IMAGES:
        node.refuse("a .npy file, or one of bytes: reading an image computes")
    if unknown and suffix != ".npy":
        node.refuse("a .npy file where there is no initialValuesDataType")
    return FileValues(path)
