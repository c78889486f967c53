"""A processor's configuration: the keys of its file over its class's defaults, and a record of which were looked at."""

from __future__ import annotations

import copy
import functools
import json
import pathlib
from collections.abc import Mapping
from typing import Any, NoReturn

from dmlops.errors import UnsupportedError

__all__ = ["Configuration", "census", "size_from"]

_SIZES = (
    {"height", "width"},
    {"shortest_edge"},
    {"shortest_edge", "longest_edge"},
    {"longest_edge"},
    {"max_height", "max_width"},
    {"min_pixels", "max_pixels"},
)


@functools.cache
def census() -> dict[str, Any]:
    """Each class of transformers with its defaults and keys, and the class of each kind of model."""
    found: dict[str, Any] = json.loads(pathlib.Path(__file__).with_name("classes.json").read_text())
    return found


class Configuration:
    """The values of one processor. A key that the file does not have has its class's default; null is null."""

    def __init__(self, name: str, backend: str, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self.name = name
        self.backend = backend
        self.given = dict(values)
        self.values = {**copy.deepcopy(dict(defaults)), **values}  # defaults are the class's own
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        return self.get(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value; a default where neither file nor class have the key. What is null is None."""
        self.read.add(key)
        return self.values.get(key, default)

    def put(self, key: str, value: Any) -> None:
        """Another name of a key, or another form of its value."""
        self.values[key] = value
        if key not in self.given:
            self.given[key] = value

    def size(self, key: str = "size", square: bool | None = None) -> dict[str, int]:
        """A size as transformers reads it: a number is a square or a shortest edge, a list is height and width."""
        if square is None:
            square = bool(self.get("default_to_square", True)) if key == "size" else True
        value = self[key]
        return {} if value is None else size_from(value, square, key)

    def needed(self, key: str) -> Any:
        value = self[key]
        if value is None:
            raise ValueError(f"{self.name}: {key} must be specified")
        return value

    def refuse(self, key: str | None, reason: str) -> NoReturn:
        raise UnsupportedError(self.name, key, reason)

    def refuse_if(self, key: str, reason: str) -> None:
        """Refuse a key that is true, or not null."""
        if self[key]:
            self.refuse(key, reason)

    @property
    def is_pillow(self) -> bool:
        return self.backend == "pil"


_LONGEST = 1 << 31  # of an edge


def size_from(value: Any, square: bool, key: str = "size") -> dict[str, int]:
    found = _size_from(value, square, key)
    for edge, length in found.items():
        if edge in ("height", "width"):
            if not hasattr(length, "__index__"):
                raise ValueError(f"{key} must have an int as {edge}, not {length!r}")
            found[edge] = int(length)
        if edge in ("height", "width", "shortest_edge") and length is not None and length >= _LONGEST:
            raise ValueError(f"{key} must have numbers below 2**31, not {edge} = {length!r}")
    return found


def _size_from(value: Any, square: bool, key: str) -> dict[str, int]:
    if isinstance(value, bool) or not isinstance(value, (int, list, tuple, dict)):
        raise ValueError(f"{key} must be a number, a list [height, width] or a dict, not {value!r}")
    if isinstance(value, int):
        return {"height": value, "width": value} if square else {"shortest_edge": value}
    if isinstance(value, (list, tuple)):
        return {"height": value[0], "width": value[1]}
    if set(value) not in _SIZES:
        keys = ", ".join(" and ".join(sorted(one)) for one in _SIZES)
        raise ValueError(f"{key} must have the keys {keys}, not {', '.join(map(repr, value))}")
    return dict(value)
