"""What is said of plans, kernels and estimates: the words that ``explain`` of a call and of a fused function share."""

from __future__ import annotations

import itertools
import math
from typing import Any, TypeAlias

from dmlops import _core
from dmlops.device import Device

__all__ = ["MOST_PIECES", "Plan", "microseconds", "said_of_auto", "said_of_estimates", "text_of", "weighed"]

# An explanation stops here, at as many steps, and as many pieces of one.
MOST_PIECES = 256
BETWEEN = "what lies between the passes"

# Bytes of an item; source offset; extent, source, destination and entry stride of each axis; the axis that is reversed, or -1.
Plan: TypeAlias = tuple[int, int, list[tuple[int, int, int, int]], int]


def text_of(found: list[tuple[int | None, int, Plan, list[dict[str, Any]]]]) -> str:
    """Steps as text."""
    if len(found) == 1:
        return _step(*found[0][2:])
    lines = [f"steps: {len(found)}" + " or more" * (len(found) == MOST_PIECES)]
    for number, (src, dst, plan, pieces) in enumerate(found, 1):
        source = "one item, repeated," if src is None else BETWEEN if src < 0 else f"input {src}"
        target = BETWEEN if dst < 0 else f"result {dst}"
        lines += [f"step {number}: from {source} to {target}", *(f"  {line}" for line in _step(plan, pieces).splitlines())]
    return "\n".join(lines)


def weighed(device: object) -> Device | None:
    """The device that is weighed against the host, if `device` means "auto"."""
    if device is None:
        default, automatic = _core._default_device()
        return default if automatic else None
    automatic = isinstance(device, str) and device.lower() == "auto"
    return next(one for one in _core._devices()[0] if one.usable) if automatic else None


def said_of_auto(weighed: Device, host: float, device: float) -> tuple[bool, str]:
    """Whether "auto" runs a call on the host, by estimates in nanoseconds, and what there is to say of that."""
    if weighed.type == "host":
        return True, "auto: on host; there is no usable Vulkan device"
    times = {"host": host, weighed.name: device}
    if math.isinf(device):
        return True, f"auto: on host, which is estimated to take {microseconds(host)}; never on {weighed.name}"
    first, second = sorted(times, key=lambda name: times[name])
    said = f"auto: on {first}, which is estimated to take {microseconds(times[first])}; {second} {microseconds(times[second])}"
    return first == "host", said


def said_of_estimates(host: float, device: float) -> str:
    return f"estimated to take {microseconds(device)}, on host {microseconds(host)}"


def microseconds(nanoseconds: float) -> str:
    value = nanoseconds / 1e3
    return f"{value:.0f} us" if value >= 100 else f"{value:.3g} us"


def _step(plan: Plan, pieces: list[dict[str, Any]]) -> str:
    item, src_offset, axes, reversed_ = plan
    lines = [f"plan: items of {item} bytes, source offset {src_offset}"]
    for k, (extent, src, dst, entry) in enumerate(axes):
        line = f"  axis {k}: {extent} at source stride {src}, destination stride {dst}"
        line += f", {'length' if reversed_ >= 0 else 'index'} stride {entry}" * (entry != 0)
        lines.append(line + ", reversed up to its length" * (k == reversed_))
    lines.append(f"pieces: {len(pieces)}" + " or more" * (len(pieces) == MOST_PIECES))
    for text, alike in itertools.groupby(map(_describe, pieces)):
        lines += [f"  {line}" for line in f"{len(list(alike))} x {text}".splitlines()]
    return "\n".join(lines)


def _describe(piece: dict[str, Any]) -> str:
    item, _, axes, _ = piece["plan"]
    extents = " x ".join(str(extent) for extent, *_ in axes)
    lines = [f"{piece['kernel']}, of {f'{extents} items' if axes else 'one item'} of {item} bytes", f"  why: {piece['reason']}"]
    if not piece["tile_bytes"]:  # a command, which has no kernel
        return "\n".join(lines)
    words = [f"{piece['tile_bytes']} bytes per invocation"]
    words += [f"words of {piece['word_bytes']} bytes"] * (piece["word_bytes"] > 0)
    words.append(f"scalars of {piece['scalar_bytes']} bytes" if piece["scalar_bytes"] else "no head or tail")
    words += [f"source aligned to {piece['alignment']}"] * (piece["alignment"] > 1)
    words += [f"{piece['rows_per_window']} rows per window"] * (piece["rows_per_window"] > 1)
    words += [f"{piece['rows_per_workgroup']} rows per workgroup"] * (piece["rows_per_workgroup"] > 1)
    words += [f"software prefetch of {piece['prefetch_lines']} cache lines behind a row"] * (piece["prefetch_lines"] > 0)
    words += [f"software prefetch, steps ahead: {piece['prefetch_ahead']}"] * (piece["prefetch_ahead"] > 0)
    words += [f"bound as segments of 2**{piece['segment_bits']} bytes"] * (piece["segment_bits"] > 0)
    schedule = f"{piece['chunks']} work chunks, {piece['groups']} workgroups of {piece['group_size']} invocations"
    return "\n".join([*lines, f"  how: {', '.join(words)}", f"  schedule: {schedule}"])
