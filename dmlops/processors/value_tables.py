"""Tables of 256 values a channel: what rescaling and normalising make of a byte, in each library's order of operations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "as_sequence",
    "bfloat16",
    "identity",
    "normalized",
    "pillow_table",
    "torchvision_normalized",
    "torchvision_table",
]

Array: TypeAlias = np.ndarray[Any, Any]
f = np.float32
_BYTES = np.arange(256)


def as_sequence(value: Any, channels: int) -> list[float]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * channels


def identity(channels: int) -> Array:
    return np.tile(_BYTES.astype(np.uint8), (channels, 1))


def pillow_table(channels: int, factor: float | None, mean: Any, std: Any) -> Array:
    """transformers with Pillow: image_transforms.rescale, then normalize. None: that step is not there."""
    values = identity(channels) if factor is None else np.tile((_BYTES * np.float64(factor)).astype(f), (channels, 1))
    return values if mean is None else normalized(values, mean, std)


def torchvision_table(channels: int, factor: float | None, mean: Any, std: Any) -> Array:
    """transformers with torchvision: rescale_and_normalize, which folds the factor into mean and deviation."""
    values = identity(channels)
    if mean is None:
        return values if factor is None else values.astype(f) * f(factor)
    if factor is None:
        return torchvision_normalized(values, mean, std)
    if not factor:
        raise ValueError("rescale_factor must not be 0: torchvision's backend divides by it")
    scale = f(1.0 / factor)
    means, stds = (np.array(as_sequence(one, channels), f) * scale for one in (mean, std))
    return normalized(values, list(means), list(stds))


def bfloat16(values: Array | np.floating[Any]) -> Array:
    """float32, rounded to the nearest bfloat16, ties to even."""
    bits = np.asarray(values, f).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(f)


def normalized(values: Array, mean: Any, std: Any) -> Array:
    means, stds = (np.array(as_sequence(one, len(values)), f)[:, None] for one in (mean, std))
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = (values.astype(f) - means) / stds
    return result


def torchvision_normalized(values: Array, mean: Any, std: Any) -> Array:
    """torchvision.transforms.functional.normalize, which refuses what transformers' own divides by."""
    if not all(as_sequence(std, len(values))):
        raise ValueError("a deviation, std or image_std, must not be 0: torchvision does not divide by it")
    return normalized(values, mean, std)
