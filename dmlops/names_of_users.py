"""What MODULE:FUNCTION names, for the commands; an error says what is there."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from dmlops.errors import shown

__all__ = ["found", "like"]

_MOST = 8  # names that an error lists


def found(module: str, path: str) -> Any:
    """An attribute of a module, which is imported; `path` may have dots."""
    there: Any = _module(module, path)
    for part in path.split("."):
        if not hasattr(there, part):
            raise ValueError(f"{getattr(there, '__name__', module)} has no {shown(part)}{_what_is_there(there, part)}")
        there = getattr(there, part)
    return there


def like(name: str, names: Iterable[str]) -> str:
    """The end of an error's text: a name that may be meant."""
    near = difflib.get_close_matches(name, [*names], 1, 0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _module(name: str, path: str) -> ModuleType:
    if not name or name.endswith(".py") or not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"{shown(name)} is no module's name: write MODULE:FUNCTION{_of_file(name, path)}")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not f"{name}.".startswith(f"{missing}."):  # one that the module imports
            raise
        package = missing.rpartition(".")[0]
        folders = getattr(importlib.import_module(package), "__path__", []) if package else None
        inside = f"{package}." * bool(package)
        near = like(missing, (f"{inside}{one.name}" for one in pkgutil.iter_modules(folders)))
        advice = near or "; modules are found in the current folder and in PYTHONPATH"
    raise ValueError(f"there is no module {shown(missing)}{advice}")


def _of_file(name: str, path: str) -> str:
    """How a module is named whose file was given."""
    file = Path(name.replace("\\", "/"))
    if file.suffix != ".py":
        return ""
    elsewhere = file.is_absolute() or ".." in file.parts  # no module's name leads there from the current folder
    parts = [file.stem] if elsewhere else [*file.parent.parts, file.stem]
    where = f", in the folder {file.parent}" if elsewhere else ""
    return f", here {'.'.join(parts)}:{path}{where}"


def _what_is_there(there: Any, name: str) -> str:
    """What is public there: functions, then classes, whose methods may be named; no kinds of errors."""
    found = {key: value for key, value in getattr(there, "__dict__", {}).items() if callable(value) and key[:1] != "_"}
    public = getattr(there, "__all__", None)
    here = getattr(there, "__name__", None)
    own = [key for key, value in found.items() if (key in public if public else getattr(value, "__module__", "") == here)]
    own = [key for key in own if not (isinstance(found[key], type) and issubclass(found[key], BaseException))]
    own.sort(key=lambda key: isinstance(found[key], type))
    listed = ", ".join(own[:_MOST]) + ", ..." * (len(own) > _MOST)
    return like(name, found) or (f": it has {listed}" if listed else "")
