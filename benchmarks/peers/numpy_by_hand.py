"""NumPy, by a loop of assignments into an array of one's own: what somebody writes who has measured.

Shown, but not counted as the best peer: it is not the form that users write or libraries offer.
"""

import numpy as np
from pipelines import MEAN, STD

from .peer import Peer, Unsupported


class NumPyByHand(Peer):
    name = "NumPy by hand"
    distributions = ("numpy",)
    idiomatic = False

    def _shuffle(self, operator, x, axes_of_block):
        split, axes, result = operator.steps(x.shape)
        source = x.reshape(split).transpose(axes)
        places = [axes.index(axis) for axis in axes_of_block]

        def call():
            y = np.empty(result, x.dtype)
            target = y.reshape(source.shape)
            for at in np.ndindex(operator.block, operator.block):
                key = [slice(None)] * source.ndim
                key[places[0]], key[places[1]] = at
                target[tuple(key)] = source[tuple(key)]
            return y

        return call

    def depth_to_space(self, operator, x):
        row, column, _ = operator.split_channels(x.shape)[1]
        return self._shuffle(operator, x, (row, column))

    def space_to_depth(self, operator, x):
        return self._shuffle(operator, x, (3, 5) if operator.layout == "NCHW" else (2, 4))

    def reverse(self, operator, x):
        lengths = operator.lengths(x.shape)

        def call():
            y = x.copy()
            for source, target, length in zip(x, y, lengths.tolist()):
                target[:length] = source[:length][::-1]
            return y

        return call

    def padding(self, operator, x):
        if operator.mode != "constant":
            raise Unsupported("the expression is the form that people write")
        shape = [before + size + after for size, (before, after) in zip(x.shape, operator.pairs(x.ndim))]
        inside = tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, operator.pairs(x.ndim)))

        def call():
            y = np.full(shape, operator.value, x.dtype) if operator.value else np.zeros(shape, x.dtype)
            y[inside] = x
            return y

        return call

    def upsample(self, operator, x):
        shape = (*x.shape[:2], *(size * operator.scale for size in x.shape[2:]))

        def call():
            y = np.empty(shape, x.dtype)
            for row, column in np.ndindex(operator.scale, operator.scale):
                y[..., row :: operator.scale, column :: operator.scale] = x
            return y

        return call

    def one_hot(self, operator, x):
        def call():
            y = np.zeros((len(x), operator.depth), np.float32)
            y[np.arange(len(x)), x] = 1
            return y

        return call

    def pipeline(self, operator, x):
        """Two passes, a multiplication and an addition, into the result."""
        scale = (1 / (255 * STD)).reshape(3, 1, 1)
        bias = (-MEAN / STD).reshape(3, 1, 1)

        def call():
            source = np.moveaxis(operator.moved(x), -1, 1)
            y = np.multiply(source, scale, order="C")
            y += bias
            return np.ascontiguousarray(operator.arranged(y), operator.dtype)

        return call

    def slice(self, operator, x):
        raise Unsupported("the expression is the fastest form already")

    transpose = tile = join = split = slice
    gather = take_along_axis = scatter_nd = resize_nearest = sliding_windows = roll = slice
