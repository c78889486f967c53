"""Names of NumPy's functions by what they do to an array, for device arrays and for traced ones. Some need a newer NumPy."""

__all__ = ["QUESTIONS", "VIEWS"]

VIEWS = (
    "transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze expand_dims flip fliplr flipud rot90 diagonal "
    "atleast_1d atleast_2d atleast_3d split array_split hsplit vsplit dsplit unstack"
)
QUESTIONS = "shape ndim size iscomplexobj isrealobj"
