"""Reading JSON with clear errors: each value knows its place in the file.

The text may have what DxDispatch takes beyond JSON: comments, and a comma behind a last entry.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.fields import Refused, shown

__all__ = ["Node", "parse"]

T = TypeVar("T")

# Strings and comments that are not closed reach to the end of the text, so that each character is looked at once.
_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*[\]}])', re.DOTALL)


def parse(text: str, what: str) -> Node:
    """Parse the text of a file; `what` names it in messages."""
    plain = _COMMENTS.sub(_blank, text)
    plain = _LAST_COMMAS.sub(_blank, plain)
    try:
        value = json.loads(plain, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        near = " ".join(plain[error.pos : error.pos + 40].split())
        place = f"line {error.lineno}, column {error.colno}"
        raise DirectMLError(f"{what} is no JSON: {error.msg} at {place}{f', before {near!r}' if near else ''}") from None
    except RecursionError:
        raise DirectMLError(f"{what} is nested too deeply") from None
    except ValueError as error:  # of the two hooks, and of ints with too many digits
        raise DirectMLError(f"{what} is no JSON: {error}") from None
    return Node(value, "")


def _blank(match: re.Match[str]) -> str:
    """Keep strings; spaces in place of the rest, so that lines and columns stay what they are."""
    return match[0] if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise ValueError(f"the name {shown(name)} stands twice in one object")
        entries[name] = value
    return entries


def _constant(name: str) -> NoReturn:
    raise ValueError(f'{name} is not a number in JSON; write "{name.lower().replace("infinity", "inf")}" as a string')


class Node:
    """A value of a JSON file and its place: ``resources.input.initialValues``."""

    def __init__(self, value: Any, place: str) -> None:
        self.value, self.place = value, place

    def refuse(self, allowed: str) -> NoReturn:
        raise DirectMLError("model", [Problem(self.place or "the file", shown(self.value), allowed)])

    def names(self, allowed: Mapping[str, Any] | tuple[str, ...] | None = None) -> list[str]:
        """The names of an object, which must be among those allowed; names that begin with $ are the schema's."""
        if not isinstance(self.value, dict):
            self.refuse("an object, {...}")
        names = [name for name in self.value if not name.startswith("$")]
        for name in names:
            if allowed is not None and name not in allowed:
                where = f" in {self.place}" if self.place else ""
                raise DirectMLError("model", [Problem(f"a name{where}", shown(name), ", ".join(allowed))])
        return names

    def has(self, name: str) -> bool:
        return isinstance(self.value, dict) and name in self.value

    def __getitem__(self, name: str) -> Node:
        """An entry of an object, which must be there."""
        if not self.has(name):
            self.names()
            raise DirectMLError("model", [Problem(self.below(name), "missing", "present")])
        return Node(self.value[name], self.below(name))

    def below(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def entries(self) -> Iterator[Node]:
        if not isinstance(self.value, list):
            self.refuse("an array, [...]")
        for index, value in enumerate(self.value):
            yield Node(value, f"{self.place}[{index}]")

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse("a string")
        return self.value

    def file_name(self) -> str:
        name = self.text()
        try:
            encoded = os.fsencode(name)
        except ValueError:
            encoded = b""
        if not encoded or b"\0" in encoded:
            self.refuse("the name of a file")
        return name

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def convert(self, converter: Callable[[Any], T]) -> T:
        """Apply a converter of ``fields``."""
        try:
            return converter(self.value)
        except Refused as refused:
            problem = Problem(self.place + refused.entry, shown(refused.value), refused.allowed)
            raise DirectMLError("model", [problem]) from None
