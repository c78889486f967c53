"""How `DeviceArray.__dlpack__` knows that NumPy is the consumer, which alone takes negative strides."""

import contextlib
import types

import numpy


def _max_version() -> object:
    """What NumPy passes as `max_version`: one tuple for the life of the process, an object that no other library has.

    None before NumPy 2.1, which passes nothing.
    """
    asked: dict[str, object] = {}
    with contextlib.suppress(Exception):  # what update returns is no capsule
        numpy.from_dlpack(types.SimpleNamespace(__dlpack__=asked.update))
    return asked.get("max_version")


MAX_VERSION = _max_version()
