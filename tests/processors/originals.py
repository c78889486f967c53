"""The originals: transformers' processors, run as they are.

``python tests/processors/originals.py record`` writes what `make test` compares with, ``census`` what classes.json is.
"""

import importlib
import json
import logging
import pathlib
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import processor_cases as cases  # noqa: E402
import support  # noqa: E402


def prepare():
    import torch

    support.define_torchvisions_operators()
    torch.set_num_threads(1)
    transformers = importlib.import_module("transformers")
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    return transformers


transformers = prepare()


def processor(name, backend, keys):
    other = name + "Pil"
    return getattr(transformers, other if backend == "pil" and hasattr(transformers, other) else name)(**keys)


def run(name, backend, keys, photos):
    """The results by name, in NumPy; where shapes differ, which no tensor can have, as lists."""
    from dmlops.processors.comparing import as_arrays

    keys = {**cases.NEEDED.get(name, {}), **keys}
    made = processor(name, backend, keys)
    more = {"do_sample_frames": False} if cases.is_video(name) else {}
    try:
        found = made(photos, return_tensors="np" if backend == "pil" else "pt", **more)
    except Exception:
        found = made(photos, **more)
    if not hasattr(found, "keys"):
        return {"pixel_values": as_arrays(found)}
    return {key: as_arrays(found[key]) for key in found if key not in ("task_inputs", "video_metadata")}


def record():
    found = {}
    for name, backend in cases.rows():
        for size in cases.RECORDED:
            photos = cases.photos(name, cases.SIZES[size])
            if photos is not None:
                found[f"{name} {backend} {size}"] = cases.digest(run(name, backend, {}, photos))
    cases.DIGESTS.write_text(json.dumps(found, indent=0) + "\n")


# --- the census ---

COMMON = set(cases.census()["keys"])
HIDDEN = {"data_format", "max_size"}


def classes(of=None):
    """Each class with the default values of its keys, as classes.json has them."""
    found = {}
    for name in sorted(of or cases.census()["classes"]):
        names = [one for one in (name, name + "Pil") if hasattr(transformers, one)]
        backends = sorted({made_backend(one) for one in names})
        made = getattr(transformers, name)()
        keys = set(getattr(type(made).valid_kwargs, "__annotations__", {})) | set(vars(made))
        values = {key: plain(getattr(made, key, None)) for key in keys if not key.startswith("_")}
        values = {key: one for key, one in sorted(values.items()) if one is not None and key not in HIDDEN}
        more = {key for key in keys - COMMON if not key.startswith("_")} - {"return_metadata", "video_metadata"}
        found[name] = {"backends": backends, "values": values, "keys": sorted(more)}
    return found


def made_backend(name):
    if name.endswith("Pil") or name in ("Emu3ImageProcessor", "VideoLlavaImageProcessor", "VivitImageProcessor"):
        return "pil"
    return "torchvision"


def plain(value):
    if hasattr(value, "value"):
        return value.value
    if type(value).__name__ == "SizeDict":
        return dict(value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def names():
    """All processors that transformers has."""
    base = importlib.import_module("transformers.image_processing_base").ImageProcessingMixin
    others = {"BaseImageProcessor", "BaseVideoProcessor", "TimmWrapperImageProcessor", "Ernie4_5_VL_MoeImageProcessor"}
    ends = [name for name in dir(transformers) if name.endswith(("ImageProcessor", "VideoProcessor"))]
    return {name for name in ends if issubclass(getattr(transformers, name), base)} - others


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    else:
        print(json.dumps(classes(), indent=1))
