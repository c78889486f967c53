"""What a peer looks like."""

import importlib.metadata


class Unsupported(Exception):
    """The peer cannot do this cell; the message says why."""


class Peer:
    name = ""
    distributions = ()  # names on the package index, the first one installed tells the version
    where = "cpu"  # or "vulkan" or "cuda"
    idiomatic = True  # whether its time counts as the best peer's

    def __init__(self, threads, device=None):
        """Import the library and start it with so many threads; an exception here makes the peer a dash."""

    @property
    def version(self):
        for distribution in self.distributions:
            try:
                return importlib.metadata.version(distribution)
            except importlib.metadata.PackageNotFoundError:
                continue
        return None

    def prepare(self, operator, x):
        """A function () -> numpy.ndarray, or of `split` a list of them. Each kind of operator has the method of its name."""
        return getattr(self, operator.kind)(operator, x)

    def depth_to_space(self, operator, x):
        raise Unsupported(f"{self.name} has no such operator here")

    space_to_depth = reverse = slice = transpose = depth_to_space
    padding = tile = upsample = join = split = pipeline = depth_to_space
    gather = take_along_axis = scatter_nd = one_hot = resize = resize_nearest = sliding_windows = roll = depth_to_space


def ascending(key, shape):
    """`key`, one slice an axis, for libraries without negative steps: the same elements by ascending slices,
    and the axes to flip afterwards."""
    slices, flipped = [], []
    for axis, (part, size) in enumerate(zip(key, shape)):
        positions = range(*part.indices(size))
        if positions.step < 0:
            positions = positions[::-1]
            flipped.append(axis)
        slices.append(slice(positions.start, positions.stop, positions.step))
    return tuple(slices), tuple(flipped)
