"""The row of a configuration, and what a configuration must have."""

from __future__ import annotations

from typing import Any

from dmlops.errors import UnsupportedError
from dmlops.processors import sources
from dmlops.processors.configuration import Configuration, census
from dmlops.processors.families.transforms import transforms
from dmlops.processors.rows import REFUSED, ROWS, Row

__all__ = ["rule_for"]


def rule_for(values: dict[str, Any], backend: str | None, video: bool) -> tuple[Configuration, Row]:
    if backend not in (None, "pil", "torchvision"):
        raise ValueError(f"backend must be 'pil' or 'torchvision', not {backend!r}")
    if "transforms" in values:
        return _transforms(values, backend)
    name = sources.class_of(values, video)
    known = census()["classes"][name]
    if name not in ROWS:
        raise UnsupportedError(name, None, REFUSED[name])
    chosen = _backend(name, known["backends"], backend)
    given = {key: value for key, value in values.items() if not key.endswith("processor_type") and key not in _NAMES}
    c = Configuration(name, chosen, given, known["values"])
    row = ROWS[name]
    if row.adapt:
        row.adapt(c)
    _validate(c)
    return c, row


_NAMES = ("feature_extractor_type", "processor_class", "model_type", "auto_map")


def _backend(name: str, backends: list[str], backend: str | None) -> str:
    if backend is None and len(backends) > 1:
        raise TypeError(
            f"{name}: say backend='torchvision' or backend='pil'. The file does not tell which one the model was trained with, "
            "and their results differ in the last bits of most values, and by a level or two of some pixels. transformers "
            "takes torchvision where it is installed"
        )
    if backend is not None and backend not in backends:
        raise UnsupportedError(name, None, f"transformers has it with the backend {backends[0]!r} only, not with {backend!r}")
    return backend or backends[0]


def _transforms(values: dict[str, Any], backend: str | None) -> tuple[Configuration, Row]:
    """timm, open_clip and torchvision's v1 work on Pillow's images; v2 on these, or on tensors."""
    library = values["library"]
    if backend == "torchvision" and not library.endswith("v2"):
        raise UnsupportedError(
            library, None, "it resizes tensors as floats: say backend='pil', and give pictures as Pillow has them"
        )
    if backend is None and library.endswith("v2"):
        raise TypeError(f"{library}: say backend='pil' for Pillow's images, or backend='torchvision' for tensors of bytes")
    return Configuration(library, backend or "pil", values, {}), Row(transforms)


# Classes that resize without a size.
_SIZELESS = ("GLPN", "Siglip2", "Gemma4", "EmbeddingGemma2", "MuseGlimmer", "MiniCPM", "Glm5Next", "NeoMME", "Emu3")


def _validate(c: Configuration) -> None:
    """image_utils.validate_preprocess_arguments: what a true key needs."""
    read = set(c.read)  # not what is looked at here
    needs = {
        "do_rescale": ["rescale_factor"],
        "do_normalize": ["image_mean", "image_std"],
        "do_center_crop": ["crop_size"],
        "do_resize": [] if c.name.startswith(_SIZELESS) else ["size", "resample"],
    }
    for key, others in needs.items():
        missing = [other for other in others if c[key] and c[other] is None]
        if missing:
            raise ValueError(f"{c.name}: {key} needs {' and '.join(missing)}")
    c.read = read
