"""The page "Preprocessing, by model": the functions of recipes.py, each proved and measured while the site is built."""

import inspect
import os
import platform
import re
import statistics
import time

import numpy as np
import recipes
from coming_from_page import even

import dmlops
from dmlops.structure import leaves

SECONDS = 0.15  # of each measurement
HEAD = """# Preprocessing, by model

What models want of photographs, text and video, from arrays that have their final size. Each function is one pass over the data
with [`dmlops.fuse`](fuse.md), and takes NumPy arrays, or [device arrays](arrays.md) for results that stay on the device. Copy
one, and change it: what it becomes is traced from the code.

{machine}

Each was proved while this page was built. The tables give the milliseconds of a whole call there, NumPy arrays in and out: a
median. The last column says whether the bits are those that NumPy computes. Other libraries divide in another order, or
multiply by a reciprocal, so their last bits may differ; most models do not mind.

```python
{preamble}
```
"""


def write(folder):
    (folder / "preprocessing.md").write_text(
        "\n".join([HEAD.format(machine=machine(), preamble=preamble()), *map(section, recipes.RECIPES)])
    )


def machine():
    device = dmlops.default_device()
    found = ["NumPy " + np.__version__]
    for name, module in (("PyTorch", "torch"), ("OpenCV", "cv2")):
        try:
            found.append(f"{name} {__import__(module).__version__}")
        except ImportError:
            found.append(f"{name} is not installed there")
    cores = len(os.sched_getaffinity(0))
    return f"The machine: {processor()}, {cores} cores; {device.name}, {device.driver}; {', '.join(found)}."


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(": ")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def preamble():
    source = inspect.getsource(recipes)
    shared = re.search(r"^# --- what the recipes share.*?\n(.*?)^# ---$", source, re.MULTILINE | re.DOTALL)[1]
    return "import numpy as np, dmlops\n\n" + shared.rstrip()


def code(function):
    """The source without the decorators that are this site's own."""
    source = inspect.getsource(function)
    return source[source.index("@dmlops.fuse") if "@dmlops.fuse" in source else source.index("def ") :].rstrip()


def section(recipe):
    arguments = recipe.arguments(1)
    proof = recipe.function.prove(*arguments)
    parts = [f"## {recipe.title}", recipe.text, f"```python\n{code(recipe.function)}\n```", f"{str(proof).partition(' (')[0]}."]
    parts.append(even(times(recipe, arguments)))
    for library, function in recipe.others.items():
        parts.append(f"<details><summary>{library}</summary>\n\n```python\n{code(function)}\n```\n\n</details>")
    return "\n\n".join(parts) + "\n"


def times(recipe, arguments):
    """The table, whose first row is NumPy."""
    plain = recipe.function.__wrapped__
    calls = {"NumPy, as it stands": lambda: [np.ascontiguousarray(one) for one in leaves(plain(*arguments))]}
    for library, function in recipe.others.items():
        if importable(function, arguments):
            calls[library] = lambda function=function: function(*arguments)
    for title, device in (
        ("whichever is estimated to be faster", None),
        ("plain C", "host"),
        (dmlops.default_device().name, dmlops.default_device().index),
    ):
        named = "default" if device is None else f"`device={device!r}`"
        calls[f"**dmlops**, {named}: {title}"] = lambda device=device: recipe.function(*arguments, device=device)
    expected = leaves(plain(*arguments))
    rows = [f"| {what_it_is(arguments)} | ms | NumPy's bits |", "|---|--:|---|"]
    for (name, call), found in zip(calls.items(), medians(calls.values()), strict=True):
        rows.append(f"| {name} | {found:.3g} | {bits(leaves(call()), expected)} |")
    return rows


def importable(function, arguments):
    try:
        function(*arguments)
    except ImportError:
        return False
    return True


def what_it_is(arguments):
    arrays = [one for one in leaves(arguments) if isinstance(one, np.ndarray)]
    return ", ".join(f"{one.dtype} {' x '.join(map(str, one.shape))}" for one in arrays)


def bits(found, expected):
    if all(one.dtype == other.dtype and one.tobytes() == other.tobytes() for one, other in zip(found, expected, strict=True)):
        return "yes"
    return f"no, up to {max(float(np.abs(one - other).max()) for one, other in zip(found, expected, strict=True)):.1g} beside"


def medians(calls):
    """The milliseconds of each; they take turns."""
    calls = list(calls)
    taken = [[] for _ in calls]
    until = time.perf_counter() + SECONDS * len(calls)
    while len(taken[0]) < 4 or time.perf_counter() < until:
        for call, each in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            each.append(time.perf_counter() - start)
    return [1000 * statistics.median(each[1:]) for each in taken]
