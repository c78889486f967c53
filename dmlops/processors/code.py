"""A preprocessor as code: NumPy and dmlops' functions, for pictures or videos of one size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dmlops.processors.plans import (
    Axis,
    Block,
    Mask,
    Pixels,
    Plan,
    Resize,
    Size,
    Step,
    Turn,
    Window,
    channels_first,
    size_after,
)
from dmlops.processors.prepares import Prepares

__all__ = ["code"]

_MOVE = '''
def move(photo, table, result, first, axes, channel):
    """Through the table to the result: each axis has an extent, and steps in rows, columns, channels and the result's items."""
    index = [np.zeros(1, np.intp) + start for start in (0, 0, channel, first)]
    for extent, *steps in axes:
        index = [one[..., None] + np.arange(extent) * step for one, step in zip(index, steps)]
    result.reshape(-1)[index[3]] = table[index[2], photo[index[0], index[1], index[2]]]
'''


def code(preprocessor: Prepares, plan: Plan, size: Size, frames: int | None = None) -> str:
    """`frames`: of a video, which `prepare` then takes."""
    writer = _Writer(preprocessor, size, frames)
    body = [*writer.content(), "results = {}"]
    body += [line for name, result in plan.items() for line in writer.result(f"results[{name!r}]", result)]
    subject = "pictures" if frames is None else f"videos of {frames} frames"
    lines = [f'"""{preprocessor.name}, backend {preprocessor.backend!r}, for {subject} of {size[0]} x {size[1]}."""', ""]
    lines += ["import dmlops", *sorted(writer.imports), "import numpy as np", "", *writer.tables]
    if writer.moves:
        lines += _MOVE.splitlines()
    argument = "photo" if frames is None else "video"
    lines += ["", "", f"def prepare({argument}):", *(f"    {line}" for line in body), "    return results", ""]
    return "\n".join(lines)


class _Writer:
    def __init__(self, preprocessor: Prepares, size: Size, frames: int | None) -> None:
        self.preprocessor = preprocessor
        self.size = size
        self.frames = frames
        self.imports: set[str] = set()
        self.tables: list[str] = []
        self.names: dict[bytes, str] = {}
        self.known: dict[tuple[Step, ...], str] = {(): "photo"}
        self.moves = False

    def content(self) -> Iterator[str]:
        """What is cut off by the pixels: the code is for what is left."""
        if self.preprocessor._crops_by_content:
            self.imports.add("import dmlops.processors.margins")
            yield f"photo = dmlops.processors.margins.trimmed(photo, {self.preprocessor.backend!r})"
            yield "height, width = photo.shape[:2]"
            yield f"if (height, width) != {self.size}:"
            text = "within its margins the picture has {height} x {width}: code_for({height}, {width}) is for it"
            yield f"    raise ValueError(f{text!r})"

    def result(self, target: str, result: Any) -> Iterator[str]:
        if isinstance(result, Pixels):
            yield from self.pixels(target, result)
        elif isinstance(result, Mask):
            yield f"{target} = np.zeros({result.shape}, {result.dtype.name!r})"
            for index, (top, left, height, width, _) in zip(np.ndindex(result.shape[:-2]), result.windows, strict=True):
                where = "".join(f"{number}, " for number in index)
                yield f"{target}[{where}{top} : {top + height}, {left} : {left + width}] = 1"
        elif isinstance(result, np.ndarray):
            yield f"{target} = np.array({result.tolist()}, {result.dtype.name!r}).reshape({result.shape})"
        elif isinstance(result, list):
            yield f"{target} = [None] * {len(result)}"
            for number, one in enumerate(result):
                yield from self.result(f"{target}[{number}]", one)
        else:
            yield f"{target} = {result!r}"

    def pixels(self, target: str, result: Pixels) -> Iterator[str]:
        pictures = {block.picture for block in result.blocks}
        if self.frames is not None and len(pictures) == 1:
            yield f"photo = video[{pictures.pop()}]"
            self.known = {(): "photo"}
        elif self.frames is not None:
            yield from self.of_frames(target, result)
            return
        table = self.table(result)
        if len(result.blocks) == 1 and result.is_full and (order := _channels_first(result, result.blocks[0])):
            yield from self.steps(result.blocks[0].steps)
            photo = self.known[result.blocks[0].steps]
            turned = "" if order > 0 else "[::-1]"
            moved = f"np.moveaxis({photo}, -1, 0){turned}"
            index = f"np.arange({len(result.table)}){turned}[:, None, None]"
            value = moved if result.dtype == np.uint8 else f"{table}[{index}, {moved}]"
            yield f"{target} = np.ascontiguousarray({value}).reshape({result.shape})"
            return
        yield from self.ground(target, result)
        for block in result.blocks:
            yield from self.steps(block.steps)
            yield f"move({self.known[block.steps]}, {table}, {target}, {block.first}, {_axes(block.axes)}, {block.channel})"

    def ground(self, target: str, result: Pixels) -> Iterator[str]:
        self.moves = True
        yield f"{target} = np.{'zeros' if result.beyond is None else 'empty'}({result.shape}, {result.dtype.name!r})"
        if result.beyond is not None:
            yield f"{target}[...] = np.array({result.beyond.tolist()}, {result.dtype.name!r})"

    def of_frames(self, target: str, result: Pixels) -> Iterator[str]:
        """All frames have the same steps; where their parts go is listed, a frame that is repeated goes to several places."""
        table = self.table(result)
        groups: dict[Any, dict[int, list[int]]] = {}
        for block in result.blocks:
            group = groups.setdefault((block.steps, block.axes, block.channel), {})
            group.setdefault(block.picture, []).append(block.first)
        places = [[group.get(number, []) for group in groups.values()] for number in range(self.frames or 0)]
        yield from self.ground(target, result)
        yield f"for photo, places in zip(video, {places}):"
        self.known = {(): "photo"}
        for number, (steps, axes, channel) in enumerate(groups):
            yield from (f"    {line}" for line in self.steps(steps))
            yield f"    for first in places[{number}]:"
            yield f"        move({self.known[steps]}, {table}, {target}, first, {_axes(axes)}, {channel})"

    def table(self, result: Pixels) -> str:
        """Floats are written so that they read as themselves."""
        key = result.table.tobytes()
        if key not in self.names:
            name = self.names[key] = f"TABLE_{len(self.names)}"
            rows = ",\n    ".join(str([float(x) if result.dtype != np.uint8 else int(x) for x in row]) for row in result.table)
            self.tables += ["", f"{name} = np.array([\n    {rows},\n], {result.dtype.name!r})"]
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
            self.imports.add("import dmlops.processors.resizing")
            return f"dmlops.processors.resizing.bilinear({before}, {step.height}, {step.width})"
        if self.preprocessor.backend != "torchvision":
            gap = "" if step.gap is None else f", reducing_gap={step.gap}"
            more = f"axes=(0, 1){gap}, version={self.preprocessor._version!r}, device='auto'"
            return f"dmlops.resize_pillow({before}, {size}, {step.filter!r}, {more})"
        more = "" if step.antialias else ", antialias=False"
        return f"dmlops.resize_torchvision({before}, {size}, {step.filter!r}, axes=(0, 1){more}, device='auto')"


def _window(step: Window, before: str, name: str, size: Size) -> list[str]:
    if step.fill == "symmetric":
        pads = f"((0, {step.height} - {before}.shape[0]), (0, {step.width} - {before}.shape[1]), (0, 0))"
        return [f"np.pad({before}, {pads}, mode='symmetric')"]
    top, left, bottom, right = step.inside(size)
    inner = f"{before}[{top}:{bottom}, {left}:{right}]"
    if (bottom - top, right - left) == (step.height, step.width):
        return [inner]
    place = f"{top - step.top}:{bottom - step.top}, {left - step.left}:{right - step.left}"
    return [f"np.full(({step.height}, {step.width}, {before}.shape[2]), {step.fill!r}, np.uint8)", f"{name}[{place}] = {inner}"]


def _axes(axes: Iterable[Axis]) -> list[tuple[int, ...]]:
    return [tuple(axis) for axis in axes]


def _channels_first(result: Pixels, block: Block) -> int:
    """1, or -1 for reversed channels, where the result is the picture with its channels first; else 0."""
    height, width = result.shape[-2:]
    for order in (1, -1):
        channels = range(len(result.table))[::order]
        if (block.axes, block.first, block.channel) == (channels_first(height, width, channels), 0, channels[0]):
            return order
    return 0
