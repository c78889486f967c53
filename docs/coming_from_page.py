"""The page "Coming from ...": a table for each library, from coming_from.py."""

from coming_from import ARRAYS, LIBRARIES

HEAD = """# Coming from NumPy, PyTorch, TensorFlow, ONNX, DirectML

Each row says what an expression of another library is called here, and what differs. The test suite runs every row of NumPy,
Pillow, OpenCV, einops, PyTorch, TensorFlow and ONNX against that library, and compares the results to the bit. DirectML runs on
Windows only: the suite compares its rows with NumPy.

The rows use these arrays:

"""


def write(folder):
    (folder / "coming_from.md").write_text(HEAD + arrays() + "\n".join(map(section, LIBRARIES)))


def arrays():
    lines = ["import numpy as np, dmlops", *(f"{name} = {code}" for name, code in ARRAYS.items())]
    return "```python\n" + "\n".join(lines) + "\n```\n\n"


def section(library):
    language = "cpp" if library.setup.startswith("//") else "python"
    rows = [f"| {library.name} | dmlops | what differs |", "|---|---|---|"]
    rows += [f"| `{row.theirs}` | `{row.ours}` | {row.differs} |" for row in library.rows]
    remark = f"{library.remark}\n\n" if library.remark else ""
    return f"## {library.name}\n\n```{language}\n{library.setup}\n```\n\n{remark}" + even(rows) + "\n"


def even(rows):
    """A table whose columns have one width."""
    return "\n".join(["::::{container} even", *rows, "::::"])
