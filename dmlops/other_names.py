"""Names that other libraries have for what dmlops does, for the error where they are looked for here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["advice", "advice_beside", "advice_of_recipes"]

# Each name, and what does it here.
_HERE = {
    "concatenate concat cat hstack vstack": "dmlops.join",
    "stack dstack column_stack": "numpy.stack of device arrays, or dmlops.rearrange of a list",
    "flip fliplr flipud": "dmlops.slice(x, numpy.s_[::-1]), or numpy.{0} of a device array",
    "rot90 moveaxis swapaxes broadcast_to squeeze expand_dims": "numpy.{0} of a device array",
    "unsqueeze": "numpy.expand_dims of a device array",
    "pad": "dmlops.padding",
    "crop strided_slice narrow": "dmlops.slice",
    "permute permute_dims": "dmlops.transpose",
    "chunk array_split hsplit vsplit unstack unbind": "dmlops.split",
    "pixel_shuffle": 'dmlops.depth_to_space with order="CRD"',
    "pixel_unshuffle": 'dmlops.space_to_depth with order="CRD"',
    "patchify": "dmlops.space_to_depth, or dmlops.rearrange",
    "sliding_window_view unfold im2col extract_image_patches": "dmlops.sliding_windows",
    "reverse_sequence": "dmlops.reverse_subsequences",
    "UpSampling2D repeat_interleave": "dmlops.upsample",
    "interpolate resize zoom": "dmlops.resize_nearest, or with the bits of a library dmlops.resize_pillow, resize_opencv and "
    "resize_torchvision",
    "thumbnail reduce": "dmlops.resize_pillow",
    "array tensor from_numpy to_device": "dmlops.asarray",
    "zeros ones full zeros_like full_like": "dmlops.array_api.{0}",
    "cpu gpu cuda list_devices": "dmlops.devices()",
    "jit compile": "dmlops.fuse",
    "wait": "dmlops.synchronize",
    "normalize normalise to_tensor standardize": "dmlops.fuse, which makes one pass of all arithmetic",
    "center_crop centre_crop random_crop RandomCrop": "dmlops.crops, or dmlops.slice",
    "letterbox yolo": "dmlops.recipes.ultralytics",
    "ultralytics mmdetection": "dmlops.recipes.{0}",
    "paddleocr easyocr insightface": "dmlops.recipes.{0}_detection, or {0}_recognition",
}
_BY_NAME = {name: here.format(name) for names, here in _HERE.items() for name in names.split()}


def advice(name: str, public: Iterable[str]) -> str:
    """The end of an error's text: what does it here, if anything does; `public` are the package's names."""
    here = _BY_NAME.get(name) or _BY_NAME.get(name.lower())
    if here is None:
        near = difflib.get_close_matches(name, [*public, "slice", "dask", "directml", "onnx"], 1, 0.75)
        here = f"dmlops.{near[0]}" if near else None
    return f"; did you mean {here}?" if here else ""


_OF_PROJECTS = {
    "letterbox yolo rtdetr": ["ultralytics"],
    "mmdet rtmdet yolox": ["mmdetection"],
    "easyocr paddleocr insightface": ["{0}_detection", "{0}_recognition"],
    "scrfd": ["insightface_detection"],
    "arcface": ["insightface_recognition"],
}
_PROJECTS = {name: [one.format(name) for one in made] for names, made in _OF_PROJECTS.items() for name in names.split()}


def advice_of_recipes(name: str, public: Iterable[str]) -> str:
    """The end of the text for a recipe that there is not: another name of the project, or one that is like it."""
    if name.startswith("__"):
        return ""
    lower = name.lower()
    near = difflib.get_close_matches(lower, public, 1, 0.75)
    meant = near or next((made for known, made in _PROJECTS.items() if lower.startswith(known)), [])
    return f"; did you mean {' or '.join(meant)}?" if meant else f": it has {', '.join(public)}"


# What device arrays have in place of attributes of NumPy's arrays and of other libraries' tensors.
_BESIDE = {
    "permute": ".transpose(...)",
    "to cuda": ".to_device(device)",
    "cpu get detach": ".numpy()",
    "contiguous clone": ".copy()",
    "block_until_ready": ".wait()",
    "flat": ".ravel()",
    "itemset put setfield": "a[index] = value",
    "resize": ".reshape(...), or numpy.pad",
    "flags": ".strides",
    "real imag view getfield byteswap newbyteorder": "what .numpy() gives, or dmlops.fuse",
    "flip fliplr flipud rot90 roll moveaxis expand_dims stack concatenate pad tile split": "numpy.{0} of a device array",
    "unsqueeze": "numpy.expand_dims of a device array",
}
_BESIDE_BY_NAME = {name: there.format(name) for names, there in _BESIDE.items() for name in names.split()}


def advice_beside(name: str) -> str:
    """The end of the text for an attribute that a device array lacks."""
    import numpy as np

    there = _BESIDE_BY_NAME.get(name)
    if there:
        return f"; did you mean {there}?"
    return ": what .numpy() gives has it" if hasattr(np.ndarray, name) else ""
