"""Transforms of torchvision, read as objects: nothing is imported that is not imported."""

from __future__ import annotations

from typing import Any

from dmlops.errors import UnsupportedError
from dmlops.processors.parts import FILTERS

__all__ = ["transforms_of"]


def transforms_of(source: Any) -> dict[str, Any]:
    """The steps of a Compose, or of a preset of torchvision's weights."""
    kind = type(source)
    if not kind.__module__.startswith(("torchvision.", "timm.", "open_clip.")):
        raise TypeError(
            "a configuration is a folder, a file, a dict or a transform of torchvision, "
            f"not {kind.__module__}.{kind.__qualname__}"
        )
    transforms = source.transforms if kind.__name__ == "Compose" else [source]
    steps = [step for one in transforms for step in _steps(one)]
    is_v1 = any(not _is_v2(one) for one in transforms)
    return {
        "transforms": steps,
        "library": "torchvision 0.28, v1" if is_v1 else "torchvision 0.28, v2",
        "keys": [],
        "ignored": [],
    }


def _steps(one: Any) -> list[dict[str, Any]]:
    kind = type(one)
    make = _STEPS.get(kind.__name__)
    if make is None:
        raise UnsupportedError(f"{kind.__module__}.{kind.__qualname__}", None, "no resize of bytes, movement or table")
    return make(one, _is_v2(one))  # type: ignore[no-any-return]


def _is_v2(one: Any) -> bool:
    return type(one).__module__.startswith("torchvision.transforms.v2")


def _name(mode: Any) -> str:
    """Of an InterpolationMode, or of Pillow's number."""
    return FILTERS[mode][0] if isinstance(mode, int) else str(getattr(mode, "value", mode))


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
            "center_crop": size * 2 if len(size) == 1 else size,
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
    "ConvertImageDtype": _to_dtype,
    "ToDtype": _to_dtype,
    "ToPureTensor": lambda one, v2: [],
    "Normalize": _normalize,
    "ImageClassification": _preset,
    "SemanticSegmentation": _preset,
    "ObjectDetection": lambda one, v2: [{"scale": "divide"}],
    "Identity": lambda one, v2: [],
}
