"""Descriptions of operators as JSON, in the form of DxDispatch."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from dmlops.directml import descs
from dmlops.directml.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAGS, Named
from dmlops.directml.errors import DirectMLError
from dmlops.directml.fields import integer
from dmlops.directml.json_reader import Node
from dmlops.directml.operator_names import PREFIX, refusal
from dmlops.directml.resources import as_json, number_of
from dmlops.directml.tensor import OPERATOR_DESC, SCALE_BIAS, SIZE_2D, TENSOR_DESC

__all__ = ["read_desc", "write_desc"]

# Fields that DxDispatch knows beside those of TENSOR_DESC.
_TENSOR_NAMES = (*(field.name for field in dataclasses.fields(TENSOR_DESC)), "Type", "DimensionCount")
_DISPATCHABLE_NAMES = ("type", "Type", "desc", "Desc", "dmlCompileType", "executionFlags", "bindings")


def read_desc(node: Node) -> OPERATOR_DESC:
    """The description of a dispatchable: its type beside the fields, or beside a ``desc`` that has them."""
    node.names()
    type_node = node["Type"] if node.has("Type") else node["type"]
    operator = _operator(type_node)
    kind = descs.DESCS[operator]
    inner = next((node[name] for name in ("Desc", "desc") if node.has(name)), node)
    names = [field.name for field in dataclasses.fields(kind)]
    if inner is node:
        node.names((*names, *_DISPATCHABLE_NAMES))
    else:
        node.names(_DISPATCHABLE_NAMES)
        inner.names(tuple(names))
    values = {}
    type_name = next((field.name for field in dataclasses.fields(kind) if str(field.type) == "DATA_TYPE"), "")
    for field in dataclasses.fields(kind):
        optional = "None" in str(field.type)
        if inner.has(field.name) and not (optional and inner[field.name].value is None):
            values[field.name] = _read_field(inner, field.name, str(field.type), type_name)
        elif optional:
            values[field.name] = None
        else:
            inner[field.name]  # raises
    try:
        return kind(**values)
    except DirectMLError as error:
        raise error.within(inner.place) from None


def _operator(node: Node) -> str:
    """The name of an operator that dmlops runs."""
    operator = node.text().removeprefix(PREFIX)
    why = refusal(operator)
    if why is not None:
        raise DirectMLError(f"{node.place.rpartition('.')[0] or 'model'}: {why}")
    return operator


def _read_field(node: Node, name: str, kind: str, type_name: str) -> Any:
    field = node[name]
    if kind.startswith("TENSOR_DESC"):
        return _read_tensor(field)
    if kind == "Sequence[TENSOR_DESC]":
        return [_read_tensor(entry) for entry in field.entries()]
    if kind == "SIZE_2D":
        return _read_struct(field, SIZE_2D)
    if kind.startswith("SCALE_BIAS"):
        return _read_struct(field, SCALE_BIAS)
    if kind == "SCALAR_UNION":
        return _read_scalar(field, node[type_name])
    if kind == "FLOAT":
        return field.convert(number_of(DML_TENSOR_DATA_TYPE.FLOAT32))
    if kind == "FLOATS":
        return [entry.convert(number_of(DML_TENSOR_DATA_TYPE.FLOAT32)) for entry in field.entries()]
    return field.value


def _read_struct(node: Node, kind: type[SIZE_2D] | type[SCALE_BIAS]) -> SIZE_2D | SCALE_BIAS:
    names = tuple(field.name for field in dataclasses.fields(kind))
    node.names(names)
    if kind is SCALE_BIAS:
        return SCALE_BIAS(*(node[name].convert(number_of(DML_TENSOR_DATA_TYPE.FLOAT32)) for name in names))
    try:
        return kind(*(node[name].value for name in names))
    except DirectMLError as error:
        raise error.within(node.place) from None


def _read_tensor(node: Node) -> TENSOR_DESC:
    inner = node["Desc"] if node.has("Desc") else node
    inner.names(_TENSOR_NAMES)
    kind = node["Type"].value if node.has("Type") else "BUFFER"
    if kind not in ("BUFFER", "DML_TENSOR_TYPE_BUFFER", 1):
        node["Type"].refuse("BUFFER")
    values = {name: inner[name].value for name in inner.names() if name not in ("Type", "DimensionCount")}
    for name in ("DataType", "Sizes"):
        values[name] = inner[name].value
    if isinstance(values.get("Flags"), list):
        flags = [DML_TENSOR_FLAGS.of(_flag(entry)) for entry in inner["Flags"].entries()]
        values["Flags"] = max(flags, default=DML_TENSOR_FLAGS.NONE)
    if values.get("Strides") == []:
        values["Strides"] = None  # DxDispatch takes no strides for packed ones
    if values.get("TotalTensorSizeInBytes") == 0:
        values["TotalTensorSizeInBytes"] = None  # as DxDispatch
    try:
        tensor = TENSOR_DESC(**values)
    except DirectMLError as error:
        raise error.within(node.place) from None
    if inner.has("DimensionCount"):
        rank = tensor.rank
        inner["DimensionCount"].convert(integer(rank, rank, f"{rank}, as many as in Sizes"))
    return tensor


def _flag(node: Node) -> str:
    if node.value not in [name for flag in DML_TENSOR_FLAGS for name in (flag.name, flag.full_name)]:
        node.refuse(", ".join(DML_TENSOR_FLAGS.__members__))
    return node.text()


def _read_scalar(node: Node, type_node: Node) -> int | float | bytes:
    """A number, or an object with the member of DML_SCALAR_UNION that the data type names."""
    try:
        kind = DML_TENSOR_DATA_TYPE(type_node.value)
    except (ValueError, TypeError):
        kind = DML_TENSOR_DATA_TYPE.UNKNOWN
    if kind.dtype is None:
        return 0  # the data type itself is refused
    if not isinstance(node.value, dict):
        value: int | float = node.convert(number_of(kind))
        return value
    member = _member(kind)
    node.names((member,))
    if kind == DML_TENSOR_DATA_TYPE.FLOAT16:
        bits = node[member].convert(number_of(DML_TENSOR_DATA_TYPE.UINT16))
        return np.uint16(bits).tobytes()
    value = node[member].convert(number_of(kind))
    return value


def _member(kind: DML_TENSOR_DATA_TYPE) -> str:
    name = "UINT16" if kind == DML_TENSOR_DATA_TYPE.FLOAT16 else kind.name
    return name.replace("UINT", "UInt").replace("FLOAT", "Float").replace("INT", "Int")


def write_desc(desc: OPERATOR_DESC) -> dict[str, Any]:
    """The JSON of a dispatchable."""
    fields = {field.name: _plain(getattr(desc, field.name)) for field in dataclasses.fields(desc)}
    for name, value in list(fields.items()):
        if isinstance(value, bytes):
            kind = desc.scalar_type
            number = np.frombuffer(value, np.uint16 if kind == DML_TENSOR_DATA_TYPE.FLOAT16 else kind.dtype, 1)[0]
            fields[name] = {_member(kind): _plain(number.item())}
    return {
        "type": PREFIX + desc.operator,
        "desc": {name: value for name, value in fields.items() if value is not None},
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Named):
        return value.full_name
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, TENSOR_DESC):
        default = TENSOR_DESC(value.DataType, value.Sizes)
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name in ("DataType", "Sizes") or getattr(value, field.name) != getattr(default, field.name)
        }
    if isinstance(value, SIZE_2D | SCALE_BIAS):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return as_json(value) if isinstance(value, float) else value
