"""Gathers, scatters and what is made of them: the operators of the cells `gathers`, with the shapes they have."""

import functools
from dataclasses import dataclass

import numpy as np

ROWS = (64, 256, 1024, 4096)  # bytes of a table's rows
ALONG = 1024  # elements of the axis that take_along_axis gathers


@functools.lru_cache(1)
def _indices(operator, shape):
    indices = operator.draw(np.random.default_rng(1), shape)
    indices.setflags(write=False)
    return indices


@functools.lru_cache(1)
def _indices_on_device(dmlops, operator, shape, device):
    return dmlops.asarray(_indices(operator, shape), device=device)


class Indexed:
    """An operator whose indices are arguments: nobody's time includes making them."""

    def share_read(self, shape, itemsize):
        return 1.0

    def indices(self, shape):
        return _indices(self, shape)

    def indices_beside(self, dmlops, x):
        """They are where the array is."""
        if isinstance(x, dmlops.DeviceArray):
            return _indices_on_device(dmlops, self, x.shape, x.device)
        return self.indices(x.shape)


@dataclass(frozen=True)
class Take(Indexed):
    """As many rows of a table, or elements of a vector, as it has."""

    ascending: bool = False
    kind = "gather"

    def draw(self, rng, shape):
        indices = rng.integers(0, shape[0], shape[0])
        return np.sort(indices) if self.ascending else indices

    def ours(self, dmlops, x, device):
        return dmlops.take(x, self.indices_beside(dmlops, x), 0, device=device)

    def numpy(self, x):
        return np.take(x, self.indices(x.shape), 0, mode="clip")


@dataclass(frozen=True)
class TakeAlongAxis(Indexed):
    kind = "take_along_axis"

    def draw(self, rng, shape):
        return rng.integers(0, shape[1], shape)

    def ours(self, dmlops, x, device):
        return dmlops.take_along_axis(x, self.indices_beside(dmlops, x), 1, device=device)

    def numpy(self, x):
        return np.take_along_axis(x, self.indices(x.shape), 1)


@dataclass(frozen=True)
class ScatterNd(Indexed):
    """The first half of a table's rows, written to others."""

    kind = "scatter_nd"

    def draw(self, rng, shape):
        return rng.permutation(shape[0])[: shape[0] // 2]

    def ours(self, dmlops, x, device):
        return dmlops.scatter_nd(x, self.indices(x.shape)[:, None], x[: x.shape[0] // 2], device=device)

    def numpy(self, x):
        result = x.copy()
        result[self.indices(x.shape)] = x[: x.shape[0] // 2]
        return result


class Plain:
    def share_read(self, shape, itemsize):
        return 1.0


@dataclass(frozen=True)
class OneHot(Plain):
    """Labels as rows of float32."""

    depth: int = 1000
    kind = "one_hot"

    def ours(self, dmlops, x, device):
        return dmlops.one_hot(x, self.depth, dtype="float32", device=device)

    def numpy(self, x):
        return np.eye(self.depth, dtype=np.float32)[x]


@dataclass(frozen=True)
class ResizeNearest(Plain):
    """Photographs (n, c, h, w) at another size."""

    sizes: tuple = (384, 512)
    kind = "resize_nearest"

    def ours(self, dmlops, x, device):
        how = {"coordinates": "asymmetric", "rounding": "floor"}
        return dmlops.resize_nearest(x, self.sizes, axes=(2, 3), **how, device=device)

    def numpy(self, x):
        rows, columns = (np.arange(size) * old // size for size, old in zip(self.sizes, x.shape[2:]))
        return np.ascontiguousarray(x[:, :, rows[:, None], columns])


@dataclass(frozen=True)
class SlidingWindows(Plain):
    """Frames of speech, (n, samples): 25 ms, one each 10 ms, at 16 kHz."""

    size: int = 400
    step: int = 160
    kind = "sliding_windows"

    def ours(self, dmlops, x, device):
        return dmlops.sliding_windows(x, self.size, axes=1, strides=self.step, device=device)

    def numpy(self, x):
        return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(x, self.size, 1)[:, :: self.step])


@dataclass(frozen=True)
class Roll(Plain):
    """Feature maps (n, h, w, c), shifted as a Swin transformer does."""

    shift: tuple = (-3, -3)
    axes = (1, 2)
    kind = "roll"

    def ours(self, dmlops, x, device):
        return dmlops.roll(x, self.shift, self.axes, device=device)

    def numpy(self, x):
        return np.roll(x, self.shift, self.axes)


# Title, operator, axes as (before, n, after) with n filling the array up, bytes of an element.
CELLS = (
    *(
        (f"rows of {row} bytes, {order}", Take(order == "sorted"), ((), (row // 4,)), (4,))
        for row in ROWS
        for order in ("random", "sorted")
    ),
    ("take_along_axis", TakeAlongAxis(), ((), (ALONG,)), (1, 2, 4, 8)),
    ("single elements", Take(), ((), ()), (4, 8)),
    ("scatter of rows of 256 bytes", ScatterNd(), ((), (64,)), (4,)),
    ("scatter of rows of 4096 bytes", ScatterNd(), ((), (1024,)), (4,)),
    ("one_hot of 1000", OneHot(), ((), ()), (8,)),
    ("resize_nearest", ResizeNearest(), ((), (3, 480, 640)), (1, 4)),
    ("sliding_windows", SlidingWindows(), ((), (16000,)), (4,)),
    ("roll", Roll(), ((), (56, 56, 96)), (4,)),
)
