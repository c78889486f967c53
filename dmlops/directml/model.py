"""Models of DxDispatch, DirectML's test tool: resources, operators and commands, read from JSON and written to it."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dmlops.directml.desc_json import read_desc, write_desc
from dmlops.directml.errors import DirectMLError
from dmlops.directml.fields import integer, shown, uint
from dmlops.directml.json_reader import Node, parse
from dmlops.directml.resources import (
    IMAGES,
    ConstantValues,
    FileValues,
    ListedValues,
    MixedValues,
    Resource,
    SequenceValues,
    as_json,
    read_resource,
)
from dmlops.directml.tensor import OPERATOR_DESC

__all__ = ["Binding", "Dispatch", "Model", "Print", "WriteFile", "dump", "load"]


@dataclass(frozen=True)
class Binding:
    """A resource, from an element on. `element_count` and `element_size` of None: all that follow, of the resource's type."""

    name: str
    element_offset: int = 0
    element_count: int | None = None
    element_size: int | None = None


Bound: TypeAlias = Mapping[str, Sequence[Binding]]


@dataclass(frozen=True)
class Dispatch:
    """Run an operator on resources."""

    dispatchable: str
    bindings: Bound


@dataclass(frozen=True)
class Print:
    """Print a resource; `verbose`: a line for each element."""

    resource: str
    verbose: bool = False


@dataclass(frozen=True)
class WriteFile:
    """Write a resource to a file, a ``.npy`` file with `dimensions` as its shape, or its bytes."""

    resource: str
    target_path: str
    dimensions: tuple[int, ...] = ()


Command: TypeAlias = Dispatch | Print | WriteFile


@dataclass(frozen=True)
class Model:
    """A model of DxDispatch.

    Attributes
    ----------
    resources : dict of Resource by name
    dispatchables : dict of OPERATOR_DESC by name
    commands : list of Dispatch, Print and WriteFile
    initial_bindings : dict by the names of dispatchables
        What is bound when a dispatchable is initialised: tensors that are OWNED_BY_DML.
    folder : pathlib.Path
        Where files are that resources name.
    """

    resources: Mapping[str, Resource]
    dispatchables: Mapping[str, OPERATOR_DESC]
    commands: Sequence[Command]
    initial_bindings: Mapping[str, Bound] = field(default_factory=dict)
    folder: pathlib.Path = field(default=pathlib.Path(), compare=False)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model of DxDispatch from a JSON file.

    Parameters
    ----------
    path : str or path-like
        The file. Comments in it, and a comma behind a last entry, are fine.

    Returns
    -------
    Model
        ``dmlops.directml.run(model)`` runs it.

    Raises
    ------
    DirectMLError
        The file is no model, or has an operator that is not data movement.
    OSError
        The file, or one that a resource names, cannot be read.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DirectMLError(f"{path.name} is no JSON: byte {error.start} is not UTF-8") from None
    return read_model(parse(text, path.name), path.parent)


def read_model(node: Node, folder: pathlib.Path) -> Model:
    for name in ("resources", "dispatchables", "commands"):
        node[name]
    resources = {name: read_resource(node["resources"][name], folder) for name in node["resources"].names()}
    dispatchables, initial = {}, {}
    for name in node["dispatchables"].names():
        entry = node["dispatchables"][name]
        _refuse_programs(entry)
        dispatchables[name] = read_desc(entry)
        if entry.has("bindings"):
            initial[name] = _read_bindings(entry["bindings"], dispatchables[name], resources)
    commands = [_read_command(entry, dispatchables, resources) for entry in node["commands"].entries()]
    return Model(resources, dispatchables, commands, initial, folder)


def _refuse_programs(node: Node) -> None:
    """DxDispatch also runs shaders and ONNX models."""
    for name in ("type", "Type"):
        kind = node[name].value if node.has(name) else None
        if isinstance(kind, str) and kind.lower() in ("hlsl", "onnx", "dmlserializedgraph"):
            raise DirectMLError(f"{node.place}: {kind} is a program that computes: it is not data movement")


def _read_command(node: Node, dispatchables: Mapping[str, OPERATOR_DESC], resources: Mapping[str, Resource]) -> Command:
    kind = node["type"].text().lower()
    if kind == "dispatch":
        node.names(("type", "dispatchable", "bindings", "threadGroupCount"))
        name = _known(node["dispatchable"], dispatchables)
        return Dispatch(name, _read_bindings(node["bindings"], dispatchables[name], resources))
    if kind == "print":
        node.names(("type", "resource", "verbose"))
        verbose = node["verbose"].boolean() if node.has("verbose") else False
        return Print(_known(node["resource"], resources), verbose)
    if kind == "writefile":
        node.names(("type", "resource", "targetPath", "dimensions"))
        sizes = [entry.convert(uint) for entry in node["dimensions"].entries()] if node.has("dimensions") else []
        target = node["targetPath"].file_name()
        if pathlib.PurePath(target).suffix.lower() in IMAGES:
            node["targetPath"].refuse("a .npy file, or one of bytes: writing an image computes")
        return WriteFile(_known(node["resource"], resources), target, tuple(sizes))
    return node["type"].refuse("dispatch, print, writeFile")


def _known(node: Node, names: Mapping[str, Any]) -> str:
    name = node.text()
    if name not in names:
        known = ", ".join(map(shown, list(names)[:10])) + (", ..." if len(names) > 10 else "")
        node.refuse(known or "none, as the model has none")
    return name


_element = integer(0, 2**64 - 1, "an unsigned 64-bit integer")


def _read_bindings(node: Node, desc: OPERATOR_DESC, resources: Mapping[str, Resource]) -> Bound:
    """The bindings by the names of fields, one for each tensor."""
    expected: dict[str, int] = {}
    for name, _, _ in desc.tensors():
        expected[name] = expected.get(name, 0) + 1
    bound = {}
    for name in node.names(expected):
        entry = node[name]
        entries = list(entry.entries()) if isinstance(entry.value, list) else [entry]
        if len(entries) != expected[name]:
            entry.refuse(f"{expected[name]} of resources, as many as {name} has tensors")
        bound[name] = [_read_binding(item, resources) for item in entries]
    return bound


def _read_binding(node: Node, resources: Mapping[str, Resource]) -> Binding:
    if isinstance(node.value, str):
        return Binding(_known(node, resources))
    node.names(("name", "elementCount", "elementOffset", "elementSizeInBytes", "elementStride", "format", "shape"))
    numbers = {
        name: node[name].convert(_element) if node.has(name) else None
        for name in ("elementOffset", "elementCount", "elementSizeInBytes")
    }
    return Binding(
        _known(node["name"], resources),
        numbers["elementOffset"] or 0,
        numbers["elementCount"] or None,
        numbers["elementSizeInBytes"] or None,
    )


def dump(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model as JSON, for DxDispatch or `load`.

    Parameters
    ----------
    model : Model
        The model. Names of files are written as they are.
    path : str or path-like
        The file to write.
    """
    dispatchables = {name: write_desc(desc) for name, desc in model.dispatchables.items()}
    for name, bindings in model.initial_bindings.items():
        dispatchables[name]["bindings"] = _write_bindings(bindings)
    written = {
        "resources": {name: _write_resource(resource) for name, resource in model.resources.items()},
        "dispatchables": dispatchables,
        "commands": [_write_command(command) for command in model.commands],
    }
    pathlib.Path(path).write_text(json.dumps(written, indent=4, allow_nan=False) + "\n")


def _write_resource(resource: Resource) -> dict[str, Any]:
    initial = resource.initial
    values: Any
    if isinstance(initial, ConstantValues):
        values = {"valueCount": initial.count, "value": as_json(initial.value)}
    elif isinstance(initial, SequenceValues):
        values = {"valueCount": initial.count, "valueStart": as_json(initial.start), "valueDelta": as_json(initial.delta)}
    elif isinstance(initial, ListedValues):
        values = list(map(as_json, initial.values))
    elif isinstance(initial, MixedValues):
        values = [{"type": kind.name, "value": as_json(value)} for kind, value in initial.values]
    else:
        assert isinstance(initial, FileValues)
        values = {"sourcePath": initial.path}
    written = {"initialValuesDataType": resource.data_type.name, "initialValues": values}
    if resource.size_in_bytes is not None:
        written["sizeInBytes"] = resource.size_in_bytes
    if resource.offset_in_bytes:
        written["initialValuesOffsetInBytes"] = resource.offset_in_bytes
    return written


def _write_command(command: Command) -> dict[str, Any]:
    if isinstance(command, Dispatch):
        return {
            "type": "dispatch",
            "dispatchable": command.dispatchable,
            "bindings": _write_bindings(command.bindings),
        }
    if isinstance(command, Print):
        return {"type": "print", "resource": command.resource, **({"verbose": True} if command.verbose else {})}
    dimensions = {"dimensions": list(command.dimensions)} if command.dimensions else {}
    return {"type": "writeFile", "resource": command.resource, "targetPath": command.target_path, **dimensions}


def _write_bindings(bindings: Bound) -> dict[str, Any]:
    return {
        name: _write_binding(entries[0]) if len(entries) == 1 else list(map(_write_binding, entries))
        for name, entries in bindings.items()
    }


def _write_binding(binding: Binding) -> str | dict[str, Any]:
    numbers = {
        "elementOffset": binding.element_offset,
        "elementCount": binding.element_count,
        "elementSizeInBytes": binding.element_size,
    }
    given = {name: number for name, number in numbers.items() if number}
    return {"name": binding.name, **given} if given else binding.name
