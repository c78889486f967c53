"""``python -m dmlops run MODEL.json``: models of DxDispatch, run with dmlops; they print what DxDispatch prints."""

from __future__ import annotations

import argparse
import contextlib
import math
import pathlib
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import dmlops
from dmlops._annotations import Array, DeviceLike
from dmlops.directml.binding import lay_over
from dmlops.directml.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAGS, level_name
from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.execution import execute
from dmlops.directml.fields import shown
from dmlops.directml.model import Binding, Bound, Dispatch, Model, Print, WriteFile, load
from dmlops.directml.tables import CONSTANTS_PAGE, FLAGS_PAGE, LEVELS, MIN_ALIGNMENT
from dmlops.directml.tensor import OPERATOR_DESC, TENSOR_DESC
from dmlops.directml.validation import validate
from dmlops.errors import printable

__all__ = ["main", "run"]


def main(arguments: list[str]) -> int:
    """The command line. Whatever is wrong with the model ends in one line on the standard error, and exit status 1."""
    parser = argparse.ArgumentParser(prog="python -m dmlops run", description="Run a model of DirectML's DxDispatch.")
    parser.add_argument("model", metavar="MODEL.json", help="resources, operators and commands")
    parser.add_argument("-a", "--adapter", metavar="DEVICE", help="number, type or part of the name of a device")
    levels = ", ".join(LEVELS)
    parser.add_argument(
        "-l",
        "--feature-level",
        metavar="LEVEL",
        default="6_4",
        help=f"whose rules are checked: {levels}, or none (default: 6_4)",
    )
    options = parser.parse_args(arguments)
    level = None if options.feature_level.lower() == "none" else options.feature_level
    try:
        run(load(options.model), device=options.adapter, feature_level=level, write=print)
        sys.stdout.flush()
    except DirectMLError as error:
        return _fail(options.model, error.line)
    except BrokenPipeError:
        raise  # of `| head`: python -m dmlops then ends without a word
    except OSError as error:
        name = f"{error.filename}: " if error.filename and str(error.filename) != options.model else ""
        return _fail(options.model, f"{name}{error.strerror or error}")
    except MemoryError as error:
        return _fail(options.model, f"too little memory{f': {error}' if str(error) else ''}")
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        return _fail(options.model, str(error))
    return 0


def _fail(model: str, message: str) -> int:
    line = " ".join(message.split())
    if len(line) > 4000:
        line = f"{line[:4000]}..."
    print(printable(f"dmlops run: {model}: {line}"), file=sys.stderr)
    return 1


def run(
    model: Model,
    *,
    device: DeviceLike | None = None,
    feature_level: str | int | None = "6_4",
    write: Callable[[str], Any] | None = None,
) -> dict[str, Array]:
    """Run a model of DxDispatch.

    Parameters
    ----------
    model : Model
        The model; ``dmlops.directml.load`` reads one.
    device : int, str or Device, optional
        The device to run on. Default: ``dmlops.default_device()``.
    feature_level : str, int or None, optional
        The feature level whose rules every operator must follow. None checks only what is needed to run.
    write : callable, optional
        What gets the lines that are printed: ``print``, for example. Default: they are dropped.

    Returns
    -------
    dict
        What the resources hold in the end, by their names: one-dimensional arrays of their data type.

    Raises
    ------
    DirectMLError
        An operator breaks a rule, a binding does not fit, or a command names what the model does not have.
    TypeError
        `model` is no Model.
    MemoryError
        The resources do not fit into memory.
    OSError
        A file cannot be read or written.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model is {type(model).__name__}; allowed: a Model, as dmlops.directml.load reads from a file")
    run = _Run(model, device, None if feature_level is None else level_name(feature_level), write or (lambda line: None))
    for command in model.commands:
        run.command(command)
    return {name: run.contents(name) for name in model.resources}


class _Run:
    """The state of a model that runs: its buffers."""

    def __init__(self, model: Model, device: DeviceLike | None, level: str | None, write: Callable[[str], Any]) -> None:
        self.model, self.level, self.write = model, level, write
        for name, desc in model.dispatchables.items():
            with _within(f"dispatchables.{name}"):
                validate(desc, level)
        self.types = {name: resource.type_in(model.folder) for name, resource in model.resources.items()}
        self.buffers = self._allocate()
        self.device = dmlops.default_device() if device is None else dmlops.empty(0, device=device).device
        self.write(f"Running on '{printable(self.device.name)}'")
        self.owned = {
            name: {field: [array.copy() for array in arrays] for field, arrays in self._bind(name, bindings, True).items()}
            for name, bindings in model.initial_bindings.items()
        }

    def _allocate(self) -> dict[str, Array]:
        folder = self.model.folder
        sizes = {name: resource.total_bytes(folder) for name, resource in self.model.resources.items()}
        available = dmlops.memory_info().available or sys.maxsize
        if sum(sizes.values()) > available:
            raise MemoryError(f"the model's resources take {sum(sizes.values())} bytes, and {available} are available")
        buffers = {}
        for name, resource in self.model.resources.items():
            buffers[name] = np.zeros(sizes[name], np.uint8)
            resource.write(buffers[name], folder)
        return buffers

    def command(self, command: Dispatch | Print | WriteFile) -> None:
        if isinstance(command, Dispatch):
            _must_have("dispatch", self.model.dispatchables, command.dispatchable)
            self._dispatch(command)
            return
        _must_have(type(command).__name__, self.buffers, command.resource)
        if isinstance(command, Print):
            self._print(command)
        else:
            self._write_file(command)

    def contents(self, name: str) -> Array:
        """The elements of a resource: as many as it has first values, unless its size is given. Bytes where it has no type."""
        resource = self.model.resources[name]
        used = resource.size_in_bytes or resource.count_bytes(self.model.folder) + resource.offset_in_bytes
        return self._elements(name, used)

    def _elements(self, name: str, used: int) -> Array:
        dtype = self.types[name].dtype or np.dtype(np.uint8)
        return self.buffers[name][: used // dtype.itemsize * dtype.itemsize].view(dtype)

    def _dispatch(self, command: Dispatch) -> None:
        desc = self.model.dispatchables[command.dispatchable]
        bound = self.owned.get(command.dispatchable, {}) | self._bind(command.dispatchable, command.bindings, False)
        arrays = {name: bound[name][0] if _is_single(desc, name) else bound[name] for name in bound}
        for name, place, _ in desc.tensors():
            if name not in arrays:
                problem = Problem(f"bindings.{place}", "missing", "a resource, as for every tensor")
                raise DirectMLError(f"dispatch of {command.dispatchable}", [problem])
        began = time.perf_counter()
        with _within(f"dispatch of {command.dispatchable}"):
            execute(desc, arrays, feature_level=self.level, device=self.device)
        milliseconds = (time.perf_counter() - began) * 1e3
        self.write(f"Dispatch '{printable(command.dispatchable)}': 1 iterations, {milliseconds:.4f} ms median (CPU)")

    def _bind(self, dispatchable: str, bindings: Bound, initial: bool) -> dict[str, list[Array]]:
        """The tensors of a dispatchable laid over the buffers that are bound to them."""
        tensors: dict[str, list[TENSOR_DESC]] = {}
        _must_have("bindings", self.model.dispatchables, dispatchable)
        for name, _, tensor in self.model.dispatchables[dispatchable].tensors():
            tensors.setdefault(name, []).append(tensor)
        _must_have(f"bindings of {dispatchable}", tensors, *bindings)
        views: dict[str, list[Array]] = {}
        problems: list[Problem] = []
        for name, entries in bindings.items():
            _must_have(f"bindings of {dispatchable}", self.buffers, *(binding.name for binding in entries))
            if len(entries) != len(tensors[name]):
                problems.append(
                    Problem(f"len({name})", str(len(entries)), f"{len(tensors[name])}, as many as there are tensors")
                )
                continue
            for index, (binding, tensor) in enumerate(zip(entries, tensors[name], strict=True)):
                place = f"{name}[{index}]" if len(entries) > 1 else name
                owned = tensor.Flags == DML_TENSOR_FLAGS.OWNED_BY_DML
                if self.level and owned != initial:
                    when = "the dispatchable's own bindings" if owned else "a dispatch"
                    flags = DML_TENSOR_FLAGS.of(tensor.Flags)
                    problems.append(Problem(f"{place}.Flags", str(flags), f"to be bound by {when}", FLAGS_PAGE))
                problem = self._fits(place, binding, tensor)
                if problem is not None:
                    problems.append(problem)
                else:
                    views.setdefault(name, []).append(self._view(binding, tensor))
        if problems:
            raise DirectMLError(f"bindings of {dispatchable}", problems)
        return views

    def _element_size(self, binding: Binding) -> int:
        dtype = self.types[binding.name].dtype
        return binding.element_size or (dtype.itemsize if dtype is not None else 1)

    def _fits(self, place: str, binding: Binding, tensor: TENSOR_DESC) -> Problem | None:
        """What is wrong with the part of a resource that is bound to a tensor."""
        total, size = len(self.buffers[binding.name]), self._element_size(binding)
        begin = binding.element_offset * size
        end = begin + (binding.element_count or 0) * size
        if max(begin, end) > total:
            return Problem(
                f"{place}: the end of its elements", f"byte {max(begin, end)}", f"up to {total}, of {binding.name!r}"
            )
        alignment = max(MIN_ALIGNMENT, tensor.GuaranteedBaseOffsetAlignment)
        if self.level and begin % alignment:
            allowed = f"a multiple of {alignment} bytes"
            return Problem(f"{place}.elementOffset", f"{begin} bytes", allowed, CONSTANTS_PAGE)
        needed = tensor.size_in_bytes if self.level else tensor.extent * tensor.dtype.itemsize
        if total - begin < needed:
            what = f"{total - begin} bytes of {binding.name!r}"
            return Problem(place, what, f"{needed} bytes or more")
        return None

    def _view(self, binding: Binding, tensor: TENSOR_DESC) -> Array:
        begin = binding.element_offset * self._element_size(binding)
        buffer = self.buffers[binding.name][begin:]
        itemsize = tensor.dtype.itemsize
        return lay_over(tensor, buffer[: len(buffer) // itemsize * itemsize].view(tensor.dtype))

    def _print(self, command: Print) -> None:
        kind = self.types[command.resource]
        if kind == DML_TENSOR_DATA_TYPE.UNKNOWN:
            raise DirectMLError(f"print of {command.resource}: values of several types have no form to be printed in")
        values = self._elements(command.resource, self.model.resources[command.resource].count_bytes(self.model.folder))
        text = in_lines(values) if command.verbose else f" {in_one_line(values)}"
        self.write(f"Resource '{printable(command.resource)}':{text}")

    def _write_file(self, command: WriteFile) -> None:
        values = self.contents(command.resource)
        path = pathlib.Path(command.target_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".npy":
            shape = command.dimensions or (len(values),)
            if math.prod(shape) != len(values):
                allowed = f"dimensions of {len(values)} elements"
                raise DirectMLError(f"writeFile of {command.resource}", [Problem("dimensions", str(list(shape)), allowed)])
            with path.open("wb") as file:
                np.save(file, values.reshape(shape), allow_pickle=False)
        else:
            path.write_bytes(values.tobytes())
        self.write(printable(f"Resource '{command.resource}' written to '{command.target_path}'"))


class _within(contextlib.AbstractContextManager[None]):
    """Say in an error what it is about."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, DirectMLError):
            raise DirectMLError(f"{self.what}: {error.subject}", error.problems) from None


def _must_have(what: str, known: Mapping[str, Any], *names: str) -> None:
    """A model that `load` has read names only what it has; one made in Python may not."""
    for name in names:
        if name not in known:
            raise DirectMLError(what, [Problem("a name", shown(name), ", ".join(known) or "none, as the model has none")])


def _is_single(desc: OPERATOR_DESC, name: str) -> bool:
    return isinstance(getattr(desc, name), TENSOR_DESC)


def in_one_line(values: Array) -> str:
    """Numbers as C++ streams print them, floats with six digits. A part at a time, since Python's numbers are large."""
    form = "%g" if values.dtype.kind == "f" else "%d"
    parts = (values[begin : begin + 4096].tolist() for begin in range(0, len(values), 4096))
    return ", ".join([", ".join([form % value for value in part]) for part in parts])


def in_lines(values: Array) -> str:
    """A line for each number, with its index and its bits."""
    form = "%g" if values.dtype.kind == "f" else "%d"
    width, digits = len(str(len(values))), 2 * values.dtype.itemsize
    bits = values.view(f"u{values.dtype.itemsize}")
    return "".join(f"\n[{i:{width}}] {form % value.item()} (0x{bits[i]:{digits}X})" for i, value in enumerate(values))
