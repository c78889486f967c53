"""Where a configuration comes from: a folder, a file, a dict, or a transform of torchvision; and what kind it is."""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from dmlops.errors import UnsupportedError
from dmlops.processors.configuration import census

__all__ = ["class_of", "read"]

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
OPENAI = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])

# The files of a folder, for pictures and for videos; `nested`: under which key of processor_config.json.
_FILES = {False: ["preprocessor_config.json"], True: ["video_preprocessor_config.json", "preprocessor_config.json"]}
_NESTED = {False: "image_processor", True: "video_processor"}


def read(source: Any, video: bool) -> dict[str, Any]:
    """The keys of a configuration; {"transforms": [...]} for what is a list of transforms."""
    if isinstance(source, (str, os.PathLike)):
        source = _from_path(pathlib.Path(source), video)
    elif not isinstance(source, Mapping):
        from dmlops.processors.torchvision_objects import transforms_of

        return transforms_of(source)
    return _known(dict(source), video)


def _from_path(path: pathlib.Path, video: bool) -> dict[str, Any]:
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}{_instead(path.as_posix())}")
    if not path.is_dir():
        return _json(path)
    found: dict[str, Any] = {}
    nested = path / "processor_config.json"
    if nested.is_file():
        found = _json(nested).get(_NESTED[video]) or {}
    for name in _FILES[video] if not found else []:
        if (path / name).is_file():
            found = _json(path / name)
            break
    config = _json(path / "config.json") if (path / "config.json").is_file() else {}
    if not found and "pretrained_cfg" in config:
        found = config
    if not found and (path / "open_clip_config.json").is_file():
        found = _json(path / "open_clip_config.json")
    if not found:
        names = ["processor_config.json", *_FILES[video], "config.json of timm", "open_clip_config.json"]
        raise FileNotFoundError(f"{path} has no preprocessing configuration: none of {', '.join(names)}")
    if "model_type" in config:
        found = {"model_type": config["model_type"], **found}
    return found


def _instead(name: str) -> str:
    """What may be meant by a path that does not exist: a class, or a model of a hub."""
    if name.removesuffix("Fast").removesuffix("Pil") in census()["classes"]:
        return f": a class is named in a dict, {{'image_processor_type': {name!r}}}"
    if name.count("/") == 1 and name[0] not in "./":
        return f", and nothing is downloaded: huggingface_hub.snapshot_download({name!r}) returns the folder of a model"
    return ""


def _json(path: pathlib.Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # also of bytes that are no UTF-8
        raise ValueError(f"{path} has no JSON object: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} has no JSON object, but {type(found).__name__}")
    return found


def _known(values: dict[str, Any], video: bool) -> dict[str, Any]:
    """What is inside; timm's and open_clip's as transforms."""
    if isinstance(values.get(_NESTED[video]), Mapping):
        values = dict(values[_NESTED[video]])
    if "pretrained_cfg" in values:
        return timm(dict(values["pretrained_cfg"]))
    if "preprocess_cfg" in values:
        return open_clip(dict(values["preprocess_cfg"]))
    if any(key.endswith("_type") or key == "transforms" for key in values):
        return values
    if "input_size" in values:
        return timm(values)
    if {"mean", "std"} <= set(values):
        return open_clip(values)
    return values


def class_of(values: Mapping[str, Any], video: bool) -> str:
    """The class's name, without the suffixes of older and other backends."""
    known = census()
    key = "video_processor_type" if video else "image_processor_type"
    name = values.get(key) or values.get("feature_extractor_type") or (values.get("image_processor_type") if video else None)
    if name is None:
        model = values.get("model_type")
        name = known["videos" if video else "images"].get(model)
        if name is None:
            what = f"model_type {model!r} has no processor" if model else f"{key} is missing"
            raise ValueError(f"{what}: say {key}, such as {'Qwen2VLVideoProcessor' if video else 'ViTImageProcessor'!r}")
    name = str(name).replace("FeatureExtractor", "ImageProcessor")
    for suffix in ("Fast", "Pil"):
        name = name.removesuffix(suffix)
    name = name.replace("Ernie4_5_VL_Moe", "Ernie4_5_VLMoe")  # the older name
    if video:
        name = name.replace("ImageProcessor", "VideoProcessor")
    if name not in known["classes"]:
        from dmlops.names_of_users import like  # difflib, for an error alone

        meant = like(name, known["classes"])
        raise UnsupportedError(name, None, f"transformers {known['transformers']} has no such class{meant}")
    return name


# --- timm and open_clip: lists of transforms ---


def timm(values: dict[str, Any]) -> dict[str, Any]:
    """timm.data.resolve_data_config and transforms_imagenet_eval of timm 1.0."""
    size = list(values.get("input_size") or (3, 224, 224))[1:]
    name, mode = values.get("interpolation") or "bicubic", values.get("crop_mode") or "center"
    mean, std = (list(values.get(key) or default) for key, default in zip(("mean", "std"), IMAGENET, strict=True))
    share = values.get("crop_pct") or 0.875
    scaled = [math.floor(length / share) for length in size]
    steps: list[dict[str, Any]] = []
    if values.get("crop_border_pixels"):
        raise UnsupportedError("timm", "crop_border_pixels", "a border is cut off first")
    if mode == "squash":
        steps += [{"resize": scaled, "filter": name}, {"center_crop": size}]
    elif mode == "border":
        fill = [round(255 * value) for value in mean]
        steps += [{"keep_ratio": scaled, "longest": 1.0, "filter": name}, {"center_crop": size, "fill": fill}]
    elif scaled[0] == scaled[1]:
        steps += [{"resize": scaled[0], "filter": name}, {"center_crop": size}]
    else:
        steps += [{"keep_ratio": scaled, "longest": 0.0, "filter": name}, {"center_crop": size}]
    steps += [{"scale": "divide"}, {"mean": mean, "std": std}]
    used = {"input_size", "interpolation", "crop_pct", "crop_mode", "mean", "std", "crop_border_pixels"}
    return _listed(steps, "timm 1.0", values, used)


def open_clip(values: dict[str, Any]) -> dict[str, Any]:
    """open_clip.image_transform_v2 of open_clip 3."""
    values = {key: value for key, value in values.items() if value is not None}
    size, mode = values.get("size", 224), values.get("resize_mode", "shortest")
    pair = [size, size] if isinstance(size, int) else list(size)
    name = "bilinear" if values.get("interpolation") == "bilinear" else "bicubic"
    mean, std = (values.get(key, default) for key, default in zip(("mean", "std"), OPENAI, strict=True))
    mean, std = (list(one) if isinstance(one, (list, tuple)) else [one] * 3 for one in (mean, std))
    if mode == "longest":
        steps = [
            {"keep_ratio": pair, "longest": 1.0, "filter": name},
            {"center_crop": pair, "fill": values.get("fill_color", 0)},
        ]
    elif mode == "squash":
        steps = [{"resize": pair, "filter": name}]
    elif mode == "shortest":
        if pair[0] == pair[1]:
            steps = [{"resize": pair[0], "filter": name}, {"center_crop": pair}]
        else:
            steps = [{"keep_ratio": pair, "longest": 0.0, "filter": "bicubic"}, {"center_crop": pair}]
    else:
        raise ValueError(f"resize_mode must be 'shortest', 'longest' or 'squash', not {mode!r}")
    steps += [{"scale": "divide"}, {"mean": mean, "std": std}]
    used = {"size", "mean", "std", "interpolation", "resize_mode", "fill_color", "mode"}
    return _listed(steps, "open_clip 3", values, used)


def _listed(steps: list[dict[str, Any]], library: str, values: Mapping[str, Any], used: set[str]) -> dict[str, Any]:
    return {"transforms": steps, "library": library, "keys": sorted(set(values) & used), "ignored": sorted(set(values) - used)}
