"""PyTorch on the CPU; the same code runs on CUDA in pytorch_cuda.py."""

from pipelines import BORDER, GREY, MARGIN, MEAN, PATCH, STD

from .peer import Peer, ascending


class PyTorch(Peer):
    name = "PyTorch"
    distributions = ("torch",)

    def __init__(self, threads, device=None):
        import torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.torch = torch

    def take(self, x):
        """A tensor over the array's own memory."""
        return self.torch.from_numpy(x)

    def give(self, tensor):
        return tensor.contiguous().numpy()

    def _steps(self, operator, x):
        split, axes, result = operator.steps(x.shape)
        return lambda: self.give(self.take(x).reshape(split).permute(axes).reshape(result))

    def _pixel(self, function, operator, x):
        """pixel_shuffle and pixel_unshuffle are CRD and NCHW; everything else is reshaped and permuted."""
        if (operator.order, operator.layout) != ("CRD", "NCHW"):
            return self._steps(operator, x)
        return lambda: self.give(function(self.take(x), operator.block))

    def depth_to_space(self, operator, x):
        return self._pixel(self.torch.nn.functional.pixel_shuffle, operator, x)

    def space_to_depth(self, operator, x):
        return self._pixel(self.torch.nn.functional.pixel_unshuffle, operator, x)

    def reverse(self, operator, x):
        torch, lengths = self.torch, operator.lengths(x.shape)

        def call():
            tensor = self.take(x)
            length = self.take(lengths)[:, None]
            position = torch.arange(x.shape[1], device=tensor.device)
            index = torch.where(position < length, length - 1 - position, position)
            if x.ndim == 2:
                return self.give(tensor.gather(1, index))
            return self.give(tensor[torch.arange(len(x), device=tensor.device)[:, None], index])

        return call

    def transpose(self, operator, x):
        return lambda: self.give(self.take(x).permute(operator.axes))

    def padding(self, operator, x):
        pad, pairs = self.torch.nn.functional.pad, operator.pairs(x.ndim)
        first = next(axis for axis, pair in enumerate(pairs) if any(pair))
        widths = [width for pair in reversed(pairs[first:]) for width in pair]  # the last axis first
        value = operator.value if operator.mode == "constant" else None
        return lambda: self.give(pad(self.take(x), widths, operator.numpy_mode, value))

    def tile(self, operator, x):
        return lambda: self.give(self.take(x).tile(operator.repeats(x.ndim)))

    def upsample(self, operator, x):
        interpolate = self.torch.nn.functional.interpolate
        return lambda: self.give(interpolate(self.take(x), scale_factor=operator.scale, mode="nearest"))

    def join(self, operator, x):
        return lambda: self.give(self.torch.cat([self.take(part) for part in x], operator.axis))

    def split(self, operator, x):
        fresh = {"memory_format": self.torch.contiguous_format}
        return lambda: [self.give(part.clone(**fresh)) for part in self.take(x).split(operator.sizes(x), operator.axis)]

    def slice(self, operator, x):
        key, flipped = ascending(operator.full(x.ndim), x.shape)
        if flipped:
            return lambda: self.give(self.take(x)[key].flip(flipped))
        return lambda: self.give(self.take(x)[key])

    def gather(self, operator, x):
        indices = operator.indices(x.shape)
        return lambda: self.give(self.take(x).index_select(0, self.take(indices)))

    def take_along_axis(self, operator, x):
        indices = operator.indices(x.shape)
        return lambda: self.give(self.take(x).gather(1, self.take(indices)))

    def scatter_nd(self, operator, x):
        indices = operator.indices(x.shape)

        def call():
            tensor = self.take(x)
            return self.give(tensor.index_copy(0, self.take(indices), tensor[: len(indices)]))

        return call

    def one_hot(self, operator, x):
        one_hot = self.torch.nn.functional.one_hot
        return lambda: self.give(one_hot(self.take(x), operator.depth).float())

    def resize_nearest(self, operator, x):
        interpolate = self.torch.nn.functional.interpolate
        return lambda: self.give(interpolate(self.take(x), operator.sizes, mode="nearest"))

    def sliding_windows(self, operator, x):
        return lambda: self.give(self.take(x).unfold(1, operator.size, operator.step))

    def roll(self, operator, x):
        return lambda: self.give(self.take(x).roll(operator.shift, operator.axes))

    def pipeline(self, operator, x):
        function = pipeline_of(self.torch, operator)
        return lambda: self.give(function(self.take(x)))


def pipeline_of(torch, operator, normalise=None):
    """A pipeline of tensors; `normalise` takes bytes, channels first."""
    mean, std = (torch.from_numpy(one.copy()).reshape(3, 1, 1) for one in (MEAN, STD))
    name, dtype = operator.name, getattr(torch, operator.dtype)
    normalise = normalise or (lambda x: (x / 255 - mean) / std)

    def function(x):
        if name == "crop":
            x = x[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
        x = x.permute(0, 3, 1, 2)
        if name in ("mirror", "swap"):
            x = x.flip(3 if name == "mirror" else 1)
        if name == "letterbox":
            x = torch.nn.functional.pad(x, (0, 0, BORDER, BORDER), value=GREY)
        x = normalise(x)
        n, c, h, w = x.shape
        if name == "patches":
            x = x.reshape(n, c, h // PATCH, PATCH, w // PATCH, PATCH).permute(0, 2, 4, 1, 3, 5)
            x = x.reshape(n, h * w // PATCH**2, c * PATCH**2)
        if name == "focus":
            x = torch.cat([x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)], 1)
        return x.to(dtype).contiguous()

    return function
