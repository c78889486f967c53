"""DLPack's element types as NumPy's dtypes, and how `DeviceArray.__dlpack__` knows NumPy. dmlops._core imports this module."""

from __future__ import annotations

import contextlib
import importlib
import types
from typing import Any

import numpy

# DLPack's codes of devices: kDLCPU and kDLCUDA.
CPU, CUDA = 1, 2

# DLPack's type code and bits: of NumPy's own elements by kind and bytes, and of those of the package ml_dtypes by name.
OF_NUMPY = {
    **{f"i{bits // 8}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"u{bits // 8}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"f{bits // 8}": (2, bits) for bits in (16, 32, 64)},
    **{f"c{bits // 8}": (5, bits) for bits in (64, 128)},
    "b1": (6, 8),
}
OF_ML_DTYPES = {
    "bfloat16": (4, 16),
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
}


def type_of(dtype: numpy.dtype[Any]) -> tuple[int, int]:
    """Return the type code and the bits of a dtype's elements; BufferError if DLPack has no such elements."""
    user_defined = dtype.isbuiltin == 2
    found = OF_ML_DTYPES.get(dtype.name) if user_defined else OF_NUMPY.get(f"{dtype.kind}{dtype.itemsize}")
    if not found or not dtype.isnative:
        raise BufferError(f"DLPack has no elements of dtype {dtype}")
    return found


def dtype_of(code: int, bits: int, lanes: int) -> numpy.dtype[Any]:
    """Return the dtype of a type's elements; BufferError if there is none. May import ml_dtypes."""
    name = {of: name for name, of in (OF_NUMPY | OF_ML_DTYPES).items()}.get((code, bits))
    if name is None or lanes != 1:
        raise BufferError(f"NumPy has no dtype for DLPack's type code {code} of {bits} bits and {lanes} lanes")
    if name in OF_NUMPY:
        return numpy.dtype(name)
    try:
        dtype: numpy.dtype[Any] = numpy.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except ImportError:
        raise BufferError(f"elements of type {name} need the package ml_dtypes") from None
    except AttributeError:
        raise BufferError(f"this ml_dtypes has no {name}") from None
    return dtype


# --- NumPy as the consumer, which alone takes negative strides --------------------------------------------------------


def _max_version() -> object:
    """What NumPy passes as `max_version`: one tuple for the life of the process, an object that no other library has.

    None before NumPy 2.1, which passes nothing.
    """
    asked: dict[str, object] = {}
    with contextlib.suppress(Exception):  # what update returns is no capsule
        numpy.from_dlpack(types.SimpleNamespace(__dlpack__=asked.update))
    return asked.get("max_version")


MAX_VERSION = _max_version()
