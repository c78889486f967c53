"""Transforms of torchvision, read as objects: nothing is imported that is not imported."""

from __future__ import annotations

from typing import Any

from dmlops.errors import UnsupportedError

__all__ = ["transforms_of"]

_INTERPOLATIONS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


def transforms_of(source: Any) -> dict[str, Any]:
    """The steps of a Compose, or of a preset of torchvision's weights."""
    kind = type(source)
    if not kind.__module__.startswith(("torchvision.", "timm.", "open_clip.")):
        raise TypeError(
            "a configuration is a folder, a file, a dict or a transform of torchvision, "
            f"not {kind.__module__}.{kind.__qualname__}"
        )
    steps: list[dict[str, Any]] = []
    for one in source.transforms if kind.__name__ == "Compose" else [source]:
        steps += _steps(one)
    modules = {type(one).__module__ for one in (source.transforms if kind.__name__ == "Compose" else [source])}
    first = any(not name.startswith("torchvision.transforms.v2") for name in modules)
    return {
        "transforms": steps,
        "library": "torchvision 0.28, v1" if first else "torchvision 0.28, v2",
        "keys": [],
        "ignored": [],
    }


def _steps(one: Any) -> list[dict[str, Any]]:
    kind = type(one)
    make = _STEPS.get(kind.__name__)
    if make is None:
        raise UnsupportedError(f"{kind.__module__}.{kind.__qualname__}", None, "no resize of bytes, movement or table")
    return make(one, kind.__module__.startswith("torchvision.transforms.v2"))  # type: ignore[no-any-return]


def _name(mode: Any) -> str:
    """Of an InterpolationMode, or of Pillow's number."""
    return _INTERPOLATIONS[mode] if isinstance(mode, int) else str(getattr(mode, "value", mode))


def _resize(one: Any, v2: bool) -> list[dict[str, Any]]:
    if getattr(one, "max_size", None) is not None:
        raise UnsupportedError("Resize", "max_size", "a bound of the longer side")
    size = one.size
    if isinstance(size, (list, tuple)):
        size = size[0] if len(size) == 1 else list(size)
    return [{"resize": size, "filter": _name(one.interpolation), "antialias": bool(one.antialias)}]


def _crop(one: Any, v2: bool) -> list[dict[str, Any]]:
    size = list(one.size) if isinstance(one.size, (list, tuple)) else [one.size]
    return [
        {
            "center_crop": size * (3 - len(size)) if len(size) == 1 else size,
            **({"fill": one.fill} if hasattr(one, "fill") else {}),
        }
    ]


def _to_dtype(one: Any, v2: bool) -> list[dict[str, Any]]:
    if str(one.dtype) != "torch.float32":
        raise UnsupportedError(type(one).__name__, "dtype", f"{one.dtype}: only float32")
    scale = getattr(one, "scale", True)
    return [{"scale": ("multiply" if v2 else "divide") if scale else "none"}]


def _normalize(one: Any, v2: bool) -> list[dict[str, Any]]:
    return [{key: [float(x) for x in getattr(one, key)] for key in ("mean", "std")}]


def _preset(one: Any, v2: bool) -> list[dict[str, Any]]:
    """ImageClassification and SemanticSegmentation."""
    size = list(one.resize_size)
    steps = [
        {"resize": size[0] if len(size) == 1 else size, "filter": _name(one.interpolation), "antialias": bool(one.antialias)}
    ]
    if hasattr(one, "crop_size"):
        crop = list(one.crop_size)
        steps.append({"center_crop": crop * 2 if len(crop) == 1 else crop})
    return [*steps, {"scale": "divide"}, *_normalize(one, v2)]


_STEPS: dict[str, Any] = {
    "Resize": _resize,
    "ResizeKeepRatio": lambda one, v2: [
        {"keep_ratio": list(one.size), "longest": one.longest, "filter": _name(one.interpolation)}
    ],
    "CenterCrop": _crop,
    "CenterCropOrPad": _crop,
    "ToTensor": lambda one, v2: [{"scale": "divide"}],
    "MaybeToTensor": lambda one, v2: [{"scale": "divide"}],
    "PILToTensor": lambda one, v2: [],
    "ToImage": lambda one, v2: [],
    "MaybeConvertMode": lambda one, v2: [],
    "ConvertImageDtype": lambda one, v2: _to_dtype(one, v2),
    "ToDtype": _to_dtype,
    "ToPureTensor": lambda one, v2: [],
    "Normalize": _normalize,
    "ImageClassification": _preset,
    "SemanticSegmentation": _preset,
    "ObjectDetection": lambda one, v2: [{"scale": "divide"}],
    "Identity": lambda one, v2: [],
}
