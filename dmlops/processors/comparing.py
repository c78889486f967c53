"""A preprocessor and its original on the same pictures."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

from dmlops.processors.prepares import Prepares

__all__ = ["Comparison", "as_arrays", "compare", "difference", "original"]


class Comparison(NamedTuple):
    """Of each result, what differs: an empty text where every bit is equal."""

    name: str
    differences: dict[str, str]

    @property
    def equal(self) -> bool:
        return not any(self.differences.values())

    def __str__(self) -> str:
        lines = [f"{self.name}: {'equal to the bit' if self.equal else 'differs'}"]
        return "\n".join([*lines, *(f"  {name}: {text or 'equal'}" for name, text in self.differences.items())])


def compare(preprocessor: Prepares, photos: Any) -> Comparison:
    expected, found = original(preprocessor, photos), preprocessor(photos)
    names = [*expected, *(name for name in found if name not in expected)]
    texts = {name: _either(found.get(name), expected.get(name)) for name in names}
    return Comparison(f"{preprocessor.name}, backend {preprocessor.backend!r}", texts)


def _either(found: Any, expected: Any) -> str:
    if found is None or expected is None:
        return "only the original has it" if found is None else "the original does not have it"
    return difference(as_arrays(found), as_arrays(expected))


def original(preprocessor: Prepares, photos: Any) -> dict[str, Any]:
    """What transformers gives."""
    c = preprocessor._configuration
    if "transforms" in c.given:
        raise TypeError(f"{c.name}: call the transform itself, and compare its tensors with the pixel_values")
    transformers: Any = importlib.import_module("transformers")
    name = c.name + ("Pil" if c.is_pillow and hasattr(transformers, f"{c.name}Pil") else "")
    processor = getattr(transformers, name)(**preprocessor._arguments[0])
    more = {"do_sample_frames": False} if preprocessor._row.form == "videos" else {}
    try:
        found = processor(photos, return_tensors="np" if c.is_pillow else "pt", **more)
    except Exception:  # shapes differ, which no tensor can have
        found = processor(photos, **more)
    if not hasattr(found, "keys"):
        return {"pixel_values": as_arrays(found)}
    return {key: as_arrays(found[key]) for key in found if key not in ("task_inputs", "video_metadata")}


def as_arrays(value: Any) -> Any:
    """Arrays of NumPy, of lists that are even too."""
    if isinstance(value, (list, tuple)):
        values = [as_arrays(one) for one in value]
        same = values and all(getattr(one, "shape", None) == getattr(values[0], "shape", ()) for one in values)
        return np.stack(values) if same else values
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # no loss
        return value.numpy()
    return np.asarray(value)


def difference(found: Any, expected: Any) -> str:
    if isinstance(found, list) or isinstance(expected, list):
        if not (isinstance(found, list) and isinstance(expected, list)) or len(found) != len(expected):
            return "lists of different lengths"
        texts = [difference(*pair) for pair in zip(found, expected, strict=True)]
        return next((f"[{place}]: {text}" for place, text in enumerate(texts) if text), "")
    if found.shape != expected.shape:
        return f"the shape is {found.shape}, not {expected.shape}"
    if found.dtype != expected.dtype:
        return f"the dtype is {found.dtype}, not {expected.dtype}"
    if found.tobytes() == expected.tobytes():
        return ""
    bits = f"u{found.itemsize}"
    unequal = np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(expected).view(bits)
    first = tuple(int(k) for k in np.argwhere(unequal)[0])
    most = np.abs(found.astype(float) - expected.astype(float)).max()
    where = f"first at {first}: {found[first]!r}, not {expected[first]!r}"
    return f"{unequal.sum()} of {found.size} differ, by up to {most:.3g}; {where}"
