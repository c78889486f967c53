"""What a call of a fused function becomes, as text."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dmlops import _core, explained, structure
from dmlops._core import DeviceArray
from dmlops.device import Device
from dmlops.device_list import default_device
from dmlops.fusion.chosen import SELECTED
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.compiler import Pass, Program
from dmlops.fusion.graph import stand_in
from dmlops.fusion.resized import ResizePass
from dmlops.traffic import Traffic

__all__ = ["Explanation", "Place"]


class Place(NamedTuple):
    """Where a call runs, and why; or the device that is weighed against the host, for each pass."""

    device: Any
    weighed: bool
    why: str

    @staticmethod
    def of(arrays: Iterable[Any], device: Any, automatic: bool) -> Place:
        """Of a call with these arguments; `automatic`: whether one that names no device goes where it takes least time."""
        own = next((one.device for one in arrays if isinstance(one, DeviceArray)), None)
        if own is not None:
            return Place(own, False, f"on {own.name}, where its arrays are")
        if device is None and automatic:
            device = _core._automatic_default()
        weighed = explained.weighed(device)
        if weighed is not None:
            return Place(weighed, True, "")
        if device is None:
            default = default_device()
            return Place(default, False, f"on {default.name}, the default device: {default.chosen_by}")
        name = device.name if isinstance(device, Device) else f"device {device}" if isinstance(device, int) else device
        return Place(device, False, f"on {name}, which is named")


class Explanation:
    """What ``explain`` returns. It prints as text.

    Attributes
    ----------
    passes : int
        How often the data are read and written.
    pieces : tuple of int
        The plans of each pass.
    words : str
        Where it runs and why, and what each pass reads and writes: the text without the plans.
    """

    def __init__(self, name: str, compiled: Compiled, place: Place) -> None:
        passes = compiled.program.passes
        self.passes = len(passes)
        self.pieces = tuple(sum(map(len, one.pieces)) for one in passes)
        words, plans = _lines(name, compiled, place)
        self.words = "\n".join(words)
        self._text = "\n".join([*words, *plans])
        self._drawing = "".join(_drawn(compiled, number) for number in range(len(passes)))

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>{self._drawing}"


def _placed(program: Program, place: Place) -> tuple[list[Any], list[str]]:
    """The device of each pass, and what there is to say of them."""
    passes = program.passes
    if not place.weighed:
        on_host = isinstance(place.device, Device) and place.device.type == "host"
        said = [place.why, *([] if on_host or place.device == "host" else [_estimated(passes, place.device)])]
        return ["host" if on_host else place.device] * len(passes), said
    times = [(0.0, 0.0) if place.device.type == "host" else _weighed(one, place.device) for one in passes]
    found = [explained.said_of_auto(place.device, *one) for one in times]
    if len({on_host for on_host, _ in found}) > 1:
        said = [f"pass {number}: {one}" for number, (_, one) in enumerate(found, 1)]
    else:
        said = [explained.said_of_auto(place.device, *map(sum, zip(*times, strict=True)))[1]]
    return ["host" if on_host else place.device for on_host, _ in found], said


def _weighed(one: Any, device: Any) -> tuple[float, float]:
    """The estimates; maps of large items are for a device that is named, or has the arrays: it may have to try them first."""
    _, host, there = _explained(one, device)
    return host, math.inf if isinstance(one, Pass) and one.formulas else there


def _estimated(passes: Any, device: Any) -> str:
    found = [_explained(one, device) for one in passes]
    none = [not steps for steps, *_ in found]
    if any(lacks and isinstance(one, Pass) and one.formulas for lacks, one in zip(none, passes, strict=True)):
        wanted = 'name device="host" (--device host), or "auto", which takes it'
        raise ValueError(f"the host alone computes maps of items of 4 or 8 bytes like this one: {wanted}")
    host, there = map(sum, zip(*(times for _, *times in found), strict=True))
    return explained.said_of_estimates(host, there)


def _lines(name: str, compiled: Compiled, place: Place) -> tuple[list[str], list[str]]:
    """What matters to who calls the function; and the plans."""
    passes = compiled.program.passes
    devices, said = _placed(compiled.program, place)
    count = f"{len(passes)} passes" if len(passes) > 1 else "one pass"
    steps = len(compiled.trace.steps)
    words = [f"{name}: {steps} step{'s' * (steps != 1)} in {count}", *said]
    by_value = [one for one in structure.leaves((compiled.args, compiled.kwargs)) if isinstance(one, np.ndarray)]
    if by_value:
        arrays = ", ".join(_array(one.dtype, one.shape) for one in by_value)
        words.append(f"arguments that are constants, since their values are needed: {arrays}; other values are another program")
    for number, one in enumerate(passes, 1):
        words.append(f"pass {number} {_traffic(one)}{f': {one.why}' * bool(one.why)}")
    numbered = enumerate(zip(passes, devices, strict=True), 1)
    return words, [line for number, (one, device) in numbered for line in _of_pass(compiled, number, one, device)]


def _of_pass(compiled: Compiled, number: int, one: Any, device: Any) -> list[str]:
    given = len(compiled.inputs)
    results = ", ".join(_array(node.dtype, node.shape) for node in one.nodes)
    lines = [f"pass {number}: {'to ' if one.why else ''}{results}"]
    if one.why:
        lines.append(f"  why: {one.why}")
    for k, (dtype, shape, _) in enumerate(one.inputs):
        lines.append(f"  input {k}: {_array(dtype, shape)}{f', of pass {k - given + 1}' * (k >= given)}")
    bytes_ = f"constants and tables: {len(one.constants_bytes)} bytes"
    details = one.explained() if isinstance(one, ResizePass) else [bytes_]
    if device != "host":
        details += explained.text_of(_explained(one, device)[0]).splitlines()
    elif isinstance(one, Pass):
        details += _plans(one)
    return [*lines, *(f"  {line}" for line in details)]


def _traffic(one: Pass | ResizePass) -> Traffic:
    """The bytes that a pass reads and writes: one that resizes reads all that it sees of its source."""
    traffic = Traffic()
    if isinstance(one, ResizePass):
        dtype, shape, _ = _resized(one)
        traffic.read = math.prod(shape) * dtype.itemsize
        traffic.written = sum(math.prod(node.shape) * node.dtype.itemsize for node in one.nodes)
        return traffic
    for src, _, item, _, _, entries, axes in _core._compiled_steps(one.program, None):
        source = item if entries < 0 else one.inputs[src][0].itemsize
        traffic.add(0 if src < 0 else source, item, [axis[:3] for axis in axes])  # entries of tables read no other elements
    return traffic


def _drawn(compiled: Compiled, number: int) -> str:
    """A pass as boxes: what it reads, what it does, what it writes."""
    one, given = compiled.program.passes[number], len(compiled.inputs)
    if isinstance(one, ResizePass):
        read, does = [one.seen.source.number], "; ".join(one.explained())
    else:
        read = sorted({piece.source % SELECTED for each in one.pieces for piece in each if piece.source >= 0})
        does = _counted(one)
    inputs = [
        f"{f'input {k}' if k < given else f'result of pass {k - given + 1}'}<br>{_array(*one.inputs[k][:2])}" for k in read
    ]
    results = [f"result {k}<br>{_array(node.dtype, node.shape)}" for k, node in enumerate(one.nodes)]
    boxes = [inputs or ["constants"], [f"<b>pass {number + 1}</b><br>{does}"], results]
    return f'<div style="{_ROW}">{"<span>&#8594;</span>".join(map(_column, boxes))}</div>'


def _counted(one: Pass) -> str:
    tables = len({piece.table for each in one.pieces for piece in each if piece.table >= 0})
    named = "formula" if one.formulas else "table"
    count = sum(map(len, one.pieces))
    return f"{count} piece{'s' * (count != 1)}" + f", {tables} {named}{'s' * (tables != 1)}" * bool(tables)


_ROW = "display: flex; flex-wrap: wrap; gap: 0.5em; align-items: center; margin: 0.5em 0"
_BOX = "border: 1px solid; border-radius: 0.4em; padding: 0.2em 0.6em; margin: 0.2em 0; overflow-wrap: anywhere"


def _column(boxes: list[str]) -> str:
    return "<div>" + "".join(f'<div style="{_BOX}">{box}</div>' for box in boxes) + "</div>"


def _array(dtype: Any, shape: Any) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


def _explained(one: Pass | ResizePass, device: Any) -> Any:
    """The steps with their pieces and kernels, and the estimates; the inputs have no memory."""
    if isinstance(one, Pass):
        return one.run(one.inputs, None, device, "explain")
    return one.resized(_resized(one), None, device, "explain")


def _resized(one: ResizePass) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]:
    """The dtype, shape and strides of what a pass resizes."""
    dtype, shape, strides = one.inputs[one.seen.source.number]
    view = one.seen.of(stand_in(shape, strides))
    return dtype, view.shape, view.strides


def _mapped(one: Pass, entries: int) -> str:
    placed = one.formula_at(entries)
    if placed is None:
        return ", by a table," * (entries >= 0)
    return f", by {', '.join(call.name.replace('_', ' ') for call in placed.formula.code)},"


def _plans(one: Pass) -> list[str]:
    """The steps as the host runs them."""
    lines = []
    for src, dst, item, _, _, entries, axes in _core._compiled_steps(one.program, None):
        source = "the constants" if src < 0 else f"input {src}{_mapped(one, entries)}"
        extents = " x ".join(str(extent) for extent, *_ in axes) or "1"
        count = math.prod(extent for extent, *_ in axes)
        lines.append(f"from {source} to result {dst}: {extents} items of {item} bytes, {count * item} bytes in all")
    same = [(line, len(list(each))) for line, each in itertools.groupby(lines)]
    return [f"{count} times: {line}" if count > 1 else line for line, count in same]
