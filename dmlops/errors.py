"""The exceptions. dmlops._core imports this module, so it imports nothing of the package."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["DeviceLostError", "NoDeviceError", "OutOfDeviceMemoryError", "UnsupportedError", "VulkanError"]


class VulkanError(RuntimeError):
    """A Vulkan call failed; `result` is the name of its VkResult, or None."""

    __module__ = "dmlops"
    result: str | None = None


class OutOfDeviceMemoryError(VulkanError, MemoryError):
    """The device has too little free memory."""

    __module__ = "dmlops"


class DeviceLostError(VulkanError):
    """The device stopped working or was reset, or an array is inherited from the process that forked this one."""

    __module__ = "dmlops"


class NoDeviceError(VulkanError):
    """No usable Vulkan device; the text says what to install."""

    __module__ = "dmlops"


class UnsupportedError(NotImplementedError):
    """A configuration asks for what dmlops cannot do to the bit: which class, which of its keys, or None, and why."""

    __module__ = "dmlops"

    def __init__(self, class_name: str, key: str | None, reason: str) -> None:
        super().__init__(class_name, key, reason)
        self.class_name = class_name
        self.key = key
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.class_name}{f', {self.key}' if self.key else ''}: {self.reason}"


def shown(value: object, as_text: Callable[[Any], str] = repr) -> str:
    """A value for a message, cut short where it is long."""
    try:
        text = as_text(value)
    except ValueError:  # an int of more digits than Python prints
        text = "an int of thousands of digits"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def printable(text: str) -> str:
    """A line for a terminal: control characters and what no encoding has are written as escapes."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def in_one_line(error: BaseException) -> str:
    """An error as a command prints it: its type where other code has raised it, and the user's line, where there is one."""
    frames = [(_package(frame), frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    text = str(error)
    if frames and frames[-1][0] != "dmlops" and not isinstance(error, SyntaxError):
        text = f"{type(error).__name__}{f': {text}' if text else ''}"
    for package, file, line in reversed(frames):
        if package not in _NOT_OF_USERS and f"{file}:{line}" not in text:
            code = linecache.getline(file, line).strip()
            return f"{text} ({file}:{line}{f': {code}' if code else ''})"
        if package not in _NOT_OF_USERS:
            break
    return text


_NOT_OF_USERS = ("dmlops", "numpy", "einops", "contextlib", "importlib", "runpy")


def _package(frame: Any) -> str:
    """The package of a frame's module; what runs as `python -m dmlops` is dmlops, too."""
    name = frame.f_globals.get("__package__") or frame.f_globals.get("__name__", "")
    return str(name).partition(".")[0]
