"""The page "Coming from ...": a table for each library, from coming_from.py.

docs/coming_from.md is that page for readers of the repository: `python docs/coming_from_page.py` writes it. The site's has
columns of one width.
"""

import textwrap
from pathlib import Path

from coming_from import ARRAYS, LIBRARIES

HEAD = """# Coming from NumPy, Pillow, OpenCV, torchvision, PyTorch, TensorFlow, ONNX and others

Each row says what an expression of another library is called here, and what differs. Every row is run beside the library, and
the results are compared to the bit. DirectML runs on Windows only: its rows are compared with NumPy.

The rows use these arrays:

"""


def write(folder):
    (folder / "coming_from.md").write_text(page(even))


def page(table):
    """The text; `table` makes one of the rows of a table."""
    return HEAD + arrays() + "\n".join(section(library, table) for library in LIBRARIES)


def arrays():
    lines = ["import numpy as np, dmlops", *(f"{name} = {code}" for name, code in ARRAYS.items())]
    return "```python\n" + "\n".join(lines) + "\n```\n\n"


def section(library, table):
    language = "cpp" if library.setup.startswith("//") else "python"
    rows = [f"| {library.name} | dmlops | what differs |", "|---|---|---|"]
    rows += [f"| `{row.theirs}` | `{row.ours}` | {row.differs} |" for row in library.rows]
    remark = textwrap.fill(library.remark, 128, break_on_hyphens=False) + "\n\n" if library.remark else ""
    return f"## {library.name}\n\n```{language}\n{library.setup}\n```\n\n{remark}" + table(rows) + "\n"


def even(rows):
    """A table whose columns have one width."""
    return "\n".join(["::::{container} even", *rows, "::::"])


if __name__ == "__main__":
    (Path(__file__).parent / "coming_from.md").write_text(page("\n".join))
