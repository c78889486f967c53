"""What a preprocessor prints: its steps, its table, its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlops.processors.configuration import census
from dmlops.processors.plans import Pixels, Plan, Resize, Step, Turn
from dmlops.processors.prepares import Prepares

__all__ = ["description"]


def description(preprocessor: Prepares, plan: Plan) -> str:
    c = preprocessor._configuration
    library = c.name if "transforms" in c.given else f"transformers {census()['transformers']}"
    lines = [
        f"{preprocessor.name}: equals {library}, backend {preprocessor.backend!r}, to the bit",
        f"  {_sample(preprocessor)} becomes",
    ]
    for name, result in plan.items():
        lines += [f"    {line}" for line in _result(name, result)]
    if preprocessor._row.form == "videos":
        lines.append("  frames are used as they are given, as with do_sample_frames=False")
    if preprocessor.ignored:
        lines.append(f"  without effect: {', '.join(preprocessor.ignored)}")
    return "\n".join(lines)


def _sample(preprocessor: Prepares) -> str:
    return "a video of 8 frames of 480 x 640" if preprocessor._row.form == "videos" else "a picture of 480 x 640"


def _result(name: str, result: Any) -> list[str]:
    if isinstance(result, list) and result and isinstance(result[0], Pixels):
        return [line for number, one in enumerate(result) for line in _result(f"{name}[{number}]", one)]
    if not hasattr(result, "shape"):
        return [f"{name}: {result}"]
    lines = [f"{name}: {result.dtype} {result.shape}"]
    if not isinstance(result, Pixels):
        return lines
    ways: dict[str, int] = {}
    for block in result.blocks:
        text = ", ".join(map(_step_text, block.steps)) or "as it is"
        ways[text] = ways.get(text, 0) + 1
    lines += [f"  {text}{f' ({count} times)' if count > 1 else ''}" for text, count in list(ways.items())[:6]]
    if len(ways) > 6:
        lines.append(f"  and {len(ways) - 6} more like it")
    return [*lines, f"  {_table(result)}"]


def _step_text(step: Step) -> str:
    if isinstance(step, Resize):
        return f"resized to {step.height} x {step.width}, {step.filter}{'' if step.antialias else ' without antialiasing'}"
    if isinstance(step, Turn):
        return "turned by 90 degrees"
    beyond = "" if step.fill == 0 else f", {step.fill} beyond"
    return f"{step.height} x {step.width} from ({step.top}, {step.left}){beyond}"


def _table(result: Pixels) -> str:
    if result.dtype == np.uint8:
        return "bytes stay as they are"
    ends = ", ".join(f"{row[0]:.8g} to {row[-1]:.8g}" for row in result.table)
    return f"0 to 255 become {ends}"
