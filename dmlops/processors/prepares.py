"""What a preprocessor's text, code, comparison and chunks may ask of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dmlops.processors.configuration import Configuration
from dmlops.processors.execution import Work
from dmlops.processors.rows import Row

__all__ = ["Prepares"]


class Prepares(Protocol):
    """A preprocessor, for modules that it imports."""

    _arguments: tuple[dict[str, Any], str | None, str, bool]
    _configuration: Configuration
    _row: Row
    _version: str

    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def ignored(self) -> list[str]: ...
    @property
    def _crops_by_content(self) -> bool: ...
    def __call__(self, photos: Any, *, out: Mapping[str, Any] | None = None, device: Any = None) -> dict[str, Any]: ...
    def _work(self, shapes: Sequence[tuple[int, ...]], groups: Sequence[int]) -> Work: ...
