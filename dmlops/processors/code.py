"""A preprocessor as code: NumPy and dmlops' functions, for pictures of one size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dmlops.processors.plans import Axis, Block, Pixels, Plan, Resize, Size, Step, Turn, Window, size_after

if TYPE_CHECKING:
    from dmlops.processors.preprocessor import Preprocessor

__all__ = ["code"]

_MOVE = '''
def move(photo, table, result, first, axes, channel):
    """Through the table to the result: each axis has an extent, and steps in rows, columns, channels and the result's items."""
    index = [np.zeros(1, np.intp) + start for start in (0, 0, channel, first)]
    for extent, *steps in axes:
        index = [one[..., None] + np.arange(extent) * step for one, step in zip(index, steps)]
    result.reshape(-1)[index[3]] = table[index[2], photo[index[0], index[1], index[2]]]
'''


def code(preprocessor: Preprocessor, plan: Plan, size: Size) -> str:
    lines = [f'"""{preprocessor.name}, backend {preprocessor.backend!r}, for pictures of {size[0]} x {size[1]}."""', ""]
    lines += ["import dmlops", "import numpy as np", ""]
    writer = _Writer(preprocessor, size)
    body = [line for name, result in plan.items() for line in writer.result(name, result)]
    lines += writer.tables
    if writer.moves:
        lines += _MOVE.splitlines()
    lines += ["", "", "def prepare(photo):", "    results = {}", *(f"    {line}" for line in body), "    return results", ""]
    return "\n".join(lines)


class _Writer:
    def __init__(self, preprocessor: Preprocessor, size: Size) -> None:
        self.size = size
        self.library = "torchvision" if preprocessor.backend == "torchvision" else "pillow"
        self.version = preprocessor._version
        self.tables: list[str] = []
        self.names: dict[bytes, str] = {}
        self.known: dict[tuple[Step, ...], str] = {(): "photo"}
        self.moves = False

    def result(self, name: str, result: Any) -> Iterator[str]:
        if isinstance(result, Pixels):
            yield from self.pixels(f"results[{name!r}]", result)
        elif isinstance(result, list) and result and isinstance(result[0], Pixels):
            yield f"results[{name!r}] = [None] * {len(result)}"
            for number, one in enumerate(result):
                yield from self.pixels(f"results[{name!r}][{number}]", one)
        elif isinstance(result, np.ndarray):
            yield f"results[{name!r}] = np.array({result.tolist()}, np.{result.dtype.name})"
        else:
            yield f"results[{name!r}] = {result!r}"

    def pixels(self, target: str, result: Pixels) -> Iterator[str]:
        table = self.table(result)
        if len(result.blocks) == 1 and (order := _channels_first(result, result.blocks[0])):
            yield from self.steps(result.blocks[0].steps)
            photo = self.known[result.blocks[0].steps]
            turned = "" if order > 0 else "[::-1]"
            moved = f"np.moveaxis({photo}, -1, 0){turned}"
            index = f"np.arange({len(result.table)}){turned}[:, None, None]"
            value = moved if result.dtype == np.uint8 else f"{table}[{index}, {moved}]"
            yield f"{target} = np.ascontiguousarray({value}).reshape({result.shape})"
            return
        self.moves = True
        yield f"{target} = np.{'zeros' if result.beyond is None else 'empty'}({result.shape}, np.{result.dtype.name})"
        if result.beyond is not None:
            yield f"{target}[...] = np.array({result.beyond.tolist()}, np.{result.dtype.name})"
        for block in result.blocks:
            yield from self.steps(block.steps)
            axes = [(axis.extent, axis.rows, axis.columns, axis.channels, axis.items) for axis in block.axes]
            yield f"move({self.known[block.steps]}, {table}, {target}, {block.first}, {axes}, {block.channel})"

    def table(self, result: Pixels) -> str:
        """Floats are written so that they read as themselves."""
        key = result.table.tobytes()
        if key not in self.names:
            name = self.names[key] = f"TABLE_{len(self.names)}"
            rows = ",\n    ".join(str([float(x) if result.dtype != np.uint8 else int(x) for x in row]) for row in result.table)
            self.tables += ["", f"{name} = np.array([\n    {rows},\n], np.{result.dtype.name})"]
        return self.names[key]

    def steps(self, steps: tuple[Step, ...]) -> Iterator[str]:
        if steps in self.known:
            return
        yield from self.steps(steps[:-1])
        before, name = self.known[steps[:-1]], f"x{len(self.known)}"
        self.known[steps] = name
        yield from (
            f"{name} = {text}" if number == 0 else text
            for number, text in enumerate(self.step(steps[-1], before, name, size_after(self.size, steps[:-1])))
        )

    def step(self, step: Step, before: str, name: str, size: Size) -> list[str]:
        if isinstance(step, Turn):
            return [f"np.rot90({before}, 3)"]
        if isinstance(step, Resize):
            return [self.resize(step, before)]
        return _window(step, before, name, size)

    def resize(self, step: Resize, before: str) -> str:
        size = f"({step.height}, {step.width})"
        if step.filter == "11-bit bilinear":
            return f"dmlops.processors.resizing.bilinear({before}, {step.height}, {step.width})"
        if self.library == "pillow":
            gap = "" if step.gap is None else f", reducing_gap={step.gap}"
            more = f"axes=(0, 1){gap}, version={self.version!r}, device='auto'"
            return f"dmlops.resize_pillow({before}, {size}, {step.filter!r}, {more})"
        more = "" if step.antialias else ", antialias=False"
        return f"dmlops.resize_torchvision({before}, {size}, {step.filter!r}, axes=(0, 1){more}, device='auto')"


def _window(step: Window, before: str, name: str, size: Size) -> list[str]:
    if step.fill == "symmetric":
        pads = f"((0, {step.height} - {before}.shape[0]), (0, {step.width} - {before}.shape[1]), (0, 0))"
        return [f"np.pad({before}, {pads}, mode='symmetric')"]
    top, left = max(step.top, 0), max(step.left, 0)
    bottom, right = max(min(step.top + step.height, size[0]), top), max(min(step.left + step.width, size[1]), left)
    inner = f"{before}[{top}:{bottom}, {left}:{right}]"
    if (bottom - top, right - left) == (step.height, step.width):
        return [inner]
    place = f"{top - step.top}:{bottom - step.top}, {left - step.left}:{right - step.left}"
    return [f"np.full(({step.height}, {step.width}, {before}.shape[2]), {step.fill!r}, np.uint8)", f"{name}[{place}] = {inner}"]


def _channels_first(result: Pixels, block: Block) -> int:
    """1, or -1 for reversed channels, where the result is the picture with its channels first; else 0."""
    height, width = result.shape[-2:]
    for order in (1, -1):
        axes = (Axis(len(result.table), 0, 0, order, height * width), Axis(height, 1, 0, 0, width), Axis(width, 0, 1, 0, 1))
        if block.axes == axes and block.first == 0 and block.channel == (0 if order > 0 else len(result.table) - 1):
            return order
    return 0
