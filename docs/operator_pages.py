"""A page for each operator, computed from its row of operator_table.py. A claim that does not hold ends the build."""

import inspect
import re
from operator import attrgetter

import drawing
import numpy as np
from coming_from_page import even
from computed import machine, times
from operator_table import OPERATORS
from results import REPORT, group

import dmlops
from dmlops.directml.tables import SUPPORT


def write(folder):
    pages = folder / "operators"
    pages.mkdir(exist_ok=True)
    for operator in OPERATORS:
        (pages / f"{operator.name}.md").write_text(page(operator, pages))
    with open(pages / "index.md", "a") as all_of_them:  # behind docs/operators.md
        all_of_them.write(index())


def names():
    """What the code of an example may use."""
    from sklearn.datasets import load_sample_images

    temple, flower = load_sample_images().images
    return {"np": np, "dmlops": dmlops, "photo": temple}


def page(operator, pages):
    parts = [f"# {operator.name}", operator.summary, *example(operator, operator.example, pages, 0)]
    if operator.photograph:
        parts += photograph(operator, pages)
    if operator.more:
        parts.append("## Further examples")
    for position, more in enumerate(operator.more, 1):
        parts += example(operator, more, pages, position)
    parts += ["## Reference", "```{eval-rst}", f".. autofunction:: dmlops.{operator.name}{signature(operator.name)}", "```"]
    parts += ["## Errors", "Nothing runs when an argument is wrong.", errors(operator)]
    parts += ["## The same elsewhere", elsewhere(operator), *levels(operator)]
    parts += ["## How fast", *speed(operator)]
    return joined(parts)


def joined(parts):
    """Blank lines between parts, none inside a fence."""
    text, inside = "", False
    for part in parts:
        text += part + ("\n" if inside or part.startswith("```{") else "\n\n")
        inside = part.startswith("```{") and "\n" not in part
    return text


def computed(example):
    """The namespace after the example has run. Its result must equal NumPy's."""
    space = names()
    for name, code in (("x", example.input), ("expected", example.numpy), ("y", example.call)):
        if "\n" in code:
            exec(code, space)
        space[name] = space["y"] if "\n" in code else eval(code, space)
    listed = isinstance(space["y"], list)
    got, wanted = (space["y"], list(space["expected"])) if listed else ([space["y"]], [space["expected"]])
    assert len(got) == len(wanted), example.call
    for one, other in zip(got, wanted):
        assert np.array_equal(one, other) and one.dtype == other.dtype, f"{example.call} differs from {example.numpy}"
    return space


def arrays(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def example(operator, one, pages, position):
    space = computed(one)
    name = f"{operator.name}-{position}.svg"
    (pages / name).write_text(drawing.before_after(arrays(space["x"]), arrays(space["y"])))
    said = np.array2string(space["y"]) if isinstance(space["y"], np.ndarray) else repr(space["y"])
    shell = f">>> x = {one.input}\n>>> y = {one.call}\n>>> print(y)\n{said}\n"
    heading = [] if position else ["## In numbers"]
    text = [one.text] if one.text else []
    same = f"The same in NumPy:\n\n```python\n{one.numpy}\n```"
    return [*heading, *text, f"![before and after: {one.call}]({name})", f"```pycon\n{shell}```", same]


def photograph(operator, pages):
    one = operator.photograph
    space = computed(one)
    name = f"{operator.name}-photograph.webp"
    pictures = [*map(picture, arrays(space["x"])), *map(picture, arrays(space["y"]))]
    (pages / name).write_bytes(drawing.side_by_side(pictures))
    alternative = f"{operator.name} of a photograph"
    return ["## In a picture", one.text, f"![{alternative}]({name})", f"```python\n{one.call}\n```"]


def picture(array):
    """What is shown of an array: three channels as they are, more as tiles of three."""
    rows, columns, channels = array.shape
    if channels == 3:
        return array
    if channels == 12:  # four small pictures
        quarters = array.reshape(rows, columns, 4, 3).transpose(2, 0, 1, 3)
        return np.vstack([framed(quarters[:2]), framed(quarters[2:])])
    side = int((channels // 3) ** 0.5)  # patches
    return np.vstack([framed(row.reshape(columns, side, side, 3)) for row in array])


def framed(tiles):
    return np.hstack([np.pad(tile, [(4, 4), (4, 4), (0, 0)], constant_values=255) for tile in tiles])


def signature(name):
    """Without annotations: the parameters' types stand in words below it."""
    parameters = inspect.signature(attrgetter(name)(dmlops)).parameters.values()
    return str(inspect.Signature([parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]))


def errors(operator):
    rows = ["| call | raises |", "|---|---|"]
    for call in operator.errors:
        try:
            eval(call, names())
        except Exception as error:
            message = re.sub(r"([|*_<>\[\]`])", r"\\\1", str(error))
            rows.append(f"| `{call}` | **{type(error).__name__}**: {message} |")
        else:
            raise AssertionError(f"{call} raises nothing")
    return even(rows)


def elsewhere(operator):
    structures = ", ".join(f"`DML_{name}_OPERATOR_DESC`" for name in operator.directml)
    onnx = ", ".join(f"[{name}](https://onnx.ai/onnx/operators/onnx__{name}.html)" for name in operator.onnx) or "none"
    return f"- DirectML: {structures}\n- ONNX: {onnx}\n- Other libraries: [Coming from ...](../coming_from.md)"


def levels(operator):
    """Ranks and data types of DirectML's structures, which dmlops does not limit."""
    rows = ["| structure | from feature level | ranks | data types |", "|---|---|---|---|"]
    for name in operator.directml:
        for level, support in sorted(SUPPORT[name].items()):
            ranks = "-".join(map(str, sorted(set(support.ranks))))
            types = ", ".join(sorted(support.types, key=by_size)).lower()
            rows.append(f"| `{name}` | {level} | {ranks} | {types} |")
    remark = "What DirectML takes, by feature level; `dmlops.directml` checks by it. dmlops itself takes every rank and dtype."
    return [remark, "\n".join(rows)]


def by_size(name):
    """FLOAT16, FLOAT32, INT8, INT16, ..."""
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :])


def speed(operator):
    measured = [
        [record for record in group(REPORT, name) if record["operator"].partition("(")[0] in operator.cells]
        for name in ("counted", "gathers", "beside", "images")
    ]
    if not any(measured):
        return ["Not in the last run of the benchmark."]
    meaning = "Milliseconds of dmlops for 64 MiB, and in bold how many times as long the fastest other library takes."
    return [f"{machine()}. {meaning} Below 1x that library is faster.", times([one for part in measured for one in part])]


def index():
    rows = ["| operator | what it does | DirectML | ONNX |", "|---|---|---|---|"]
    for operator in OPERATORS:
        structures = ", ".join(f"`{name}`" for name in operator.directml)
        onnx = ", ".join(operator.onnx) or "-"
        rows.append(f"| [{operator.name}]({operator.name}.md) | {operator.summary} | {structures} | {onnx} |")
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(operator.name for operator in OPERATORS) + "\n```"
    return joined(["", "## A page for each", "\n".join(rows), toctree])
