"""The page of the API: every public name, from the docstrings."""

import inspect
from operator import attrgetter

from operator_pages import signature
from operator_table import OPERATORS

import dmlops

SECTIONS = (
    ("Keys", ("slice_from_key",)),
    ("Resizing", ("resize_opencv", "resize_pillow", "resize_torchvision")),
    ("Preprocessing from a configuration", ("preprocessing",)),
    (
        "Functions in one pass",
        ("fuse", "warm_up", "crops", "one_hot", "resize_nearest", "roll", "sliding_windows", "rearrange", "repeat"),
    ),
    ("Arrays on a device", ("asarray", "empty", "from_dlpack", "synchronize", "DeviceArray")),
    ("Devices", ("devices", "default_device", "set_default_device", "Device")),
    ("Memory", ("memory_info", "empty_cache", "MemoryInfo")),
    ("Monitoring", ("counters", "Counters", "CallCount")),
    ("Comparison", ("compare",)),
    ("Errors", ("VulkanError", "OutOfDeviceMemoryError", "DeviceLostError", "NoDeviceError", "UnsupportedError")),
)
ELSEWHERE = {"array_api", "recipes", "reference", "slice", "window"}  # described in words


def write(folder):
    (folder / "api.md").write_text(page())


def page():
    named = {name for _, names in SECTIONS for name in names} | {operator.name for operator in OPERATORS} | ELSEWHERE
    missing = sorted(set(dmlops.__all__) - named)
    assert not missing, f"no section has {missing}"
    parts = ["# API reference", "Everything public of the package `dmlops`, from its docstrings.", "## Operators", operators()]
    for title, names in SECTIONS:
        parts += [f"## {title}", *map(documented, names)]
    parts += ["## dmlops.recipes", RECIPES, *(documented(f"recipes.{name}") for name in dmlops.recipes.__all__)]
    parts += ["## dmlops.reference", REFERENCE, "## Other modules", OTHERS]
    return "\n\n".join(parts) + "\n"


RECIPES = "[Preprocessing of projects](preprocessing_of_projects.md), to the bit, in their own terms."
REFERENCE = (
    "Each operator in a few lines of NumPy, with the same signature: what the operator means, for reading and for comparing. "
    "`out` is filled in and returned; `device` and `progress` are ignored. The test suite compares every operator with its "
    "twin here."
)
OTHERS = (
    "- `dmlops.array_api`: [the array API standard](arrays.md), what `__array_namespace__` of a device array returns\n"
    "- `dmlops.onnx`: [ONNX models](onnx.md)\n"
    "- `dmlops.directml`: [DirectML's descriptions](directml.md)\n"
    "- `dmlops.dask`: [Arrays larger than memory](dask.md)\n"
    "- `python -m dmlops`: lists the devices; `selftest` compares every operator with NumPy on each; `explain CALL` prints "
    "where a call runs and why, `compare CALL` its times, `prove CALL` that it is right; "
    "`run MODEL.json` runs a model of DxDispatch"
)


def operators():
    return "\n".join(f"- [{operator.name}](operators/{operator.name}.md): {operator.summary}" for operator in OPERATORS)


def documented(name):
    thing = attrgetter(name)(dmlops)
    if inspect.isclass(thing):
        kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
        options = "   :members:\n" if kind == "autoclass" else "   :show-inheritance:\n"
        return f"```{{eval-rst}}\n.. {kind}:: dmlops.{name}\n{options}```"
    return f"```{{eval-rst}}\n.. autofunction:: dmlops.{name}{signature(name)}\n```"
