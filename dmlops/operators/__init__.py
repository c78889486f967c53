"""The operators: signatures and documentation. The C extension dmlops._core does the work."""

from dmlops.operators.blocks import depth_to_space, space_to_depth
from dmlops.operators.cropping import crops as crops
from dmlops.operators.documentation import whole
from dmlops.operators.encoding import one_hot as one_hot
from dmlops.operators.gathers import gather_nd, take, take_along_axis
from dmlops.operators.growth import padding, tile, upsample
from dmlops.operators.orders import reverse_subsequences, transpose
from dmlops.operators.parts import join, split
from dmlops.operators.resizing import resize_opencv as resize_opencv
from dmlops.operators.resizing import resize_pillow as resize_pillow
from dmlops.operators.resizing import resize_torchvision as resize_torchvision
from dmlops.operators.sampling import resize_nearest as resize_nearest
from dmlops.operators.sampling import roll as roll
from dmlops.operators.sampling import sliding_windows as sliding_windows
from dmlops.operators.scatters import put_along_axis, scatter_nd
from dmlops.operators.windows import slice, slice_grad

__all__ = [
    "depth_to_space",
    "gather_nd",
    "join",
    "padding",
    "put_along_axis",
    "reverse_subsequences",
    "scatter_nd",
    "slice",
    "slice_grad",
    "space_to_depth",
    "split",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
    "upsample",
]

# Functions that are one pass of several movements; the extension has none for them.
COMPOSED = [
    "crops",
    "one_hot",
    "resize_nearest",
    "resize_opencv",
    "resize_pillow",
    "resize_torchvision",
    "roll",
    "sliding_windows",
]

for _name in [*__all__, *COMPOSED]:
    _operator = globals()[_name]
    _operator.__module__ = __name__  # documentation and pickles have them by their public name
    _operator.__doc__ = whole(_operator.__doc__)
