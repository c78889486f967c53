"""Write the tables of docs/directml.md from dmlops.directml's data, and the errata beside this file.

The test suite checks that the page has them.

python docs/directml_tables.py
"""

from pathlib import Path

from directml_errata import ERRATA
from dmlops.directml import tables
from dmlops.directml.operator_names import COMPUTE

PAGE = Path(__file__).resolve().parent / "directml.md"
# What a set of data types is called in the table.
SETS = {
    tables.FLOATS: "floats",
    tables.NO_8_BIT: "16 and 32 bits",
    tables.UP_TO_32_BIT: "8 to 32 bits",
    tables.NO_FLOAT64: "all but FLOAT64",
    tables.ALL_TYPES: "all",
    tables.NO_32_BIT: "8 and 16 bits, FLOAT32",
    tables.FLOATS_AND_8_BIT: "floats and 8 bits",
    tables.INTEGERS: "integers of 8 to 32 bits",
    ("UINT8",): "UINT8",
}
# What runs an operator; `slice` of a whole array is a copy.
FUNCTIONS = {
    "SLICE": "slice",
    "SLICE1": "slice",
    "SLICE_GRAD": "slice_grad",
    "DEPTH_TO_SPACE": "depth_to_space",
    "DEPTH_TO_SPACE1": "depth_to_space",
    "SPACE_TO_DEPTH": "space_to_depth",
    "SPACE_TO_DEPTH1": "space_to_depth",
    "REVERSE_SUBSEQUENCES": "reverse_subsequences",
    "PADDING": "padding",
    "PADDING1": "padding",
    "TILE": "tile",
    "JOIN": "join",
    "SPLIT": "split",
    "ELEMENT_WISE_IDENTITY": "slice",
    "FILL_VALUE_CONSTANT": "slice",
    "UPSAMPLE_2D": "upsample",
    "DIAGONAL_MATRIX": "slice",
    "DIAGONAL_MATRIX1": "slice",
    "FILL_VALUE_SEQUENCE": "slice",
    "RESAMPLE": "resize_nearest",
    "RESAMPLE1": "resize_nearest",
    "RESAMPLE2": "resize_nearest",
    "RESAMPLE3": "resize_nearest",
    "UNFOLD": "sliding_windows",
    "ACTIVATION_IDENTITY": "slice",
    "CAST": "fuse",
    "ELEMENT_WISE_CLIP": "fuse",
    "ELEMENT_WISE_CLIP1": "fuse",
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": "fuse",
    "GATHER": "take",
    "GATHER_ELEMENTS": "take_along_axis",
    "GATHER_ND": "gather_nd",
    "GATHER_ND1": "gather_nd",
    "SCATTER_ELEMENTS": "put_along_axis",
    "SCATTER": "put_along_axis",
    "SCATTER_ND": "scatter_nd",
    "MAX_UNPOOLING": "put_along_axis",
    "ONE_HOT": "one_hot",
}
INTERPOLATION = "LINEAR: interpolation"
OTHER_TYPES = "types other than INT8 and UINT8: too many values for a table"
# What of an operator that dmlops has is refused, and why.
REFUSED = {
    "UPSAMPLE_2D": INTERPOLATION,
    "RESAMPLE": INTERPOLATION,
    "RESAMPLE1": INTERPOLATION,
    "RESAMPLE2": INTERPOLATION,
    "RESAMPLE3": INTERPOLATION,
    "ELEMENT_WISE_IDENTITY": f"ScaleBias of {OTHER_TYPES}",
    "CAST": "from 32 and 64 bits to another type: too many values for a table; from FLOAT16 to integers: NaNs have none",
    "ELEMENT_WISE_CLIP": OTHER_TYPES,
    "ELEMENT_WISE_CLIP1": OTHER_TYPES,
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": f"{OTHER_TYPES}; more than 1,024 different scales and zero points: a table for each",
}


def table(head, rows):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def operators():
    """All operators of DirectML.h: what runs those that dmlops has, and why the others are left out."""
    rows = [[f"`{name}`", "yes", f"`dmlops.{FUNCTIONS[name]}`", REFUSED.get(name, "")] for name in tables.SUPPORT]
    rows += [[", ".join(f"`{name}`" for name in sorted(names)), "no", "", why] for why, names in COMPUTE.items()]
    return table(["operator", "in dmlops", "runs as", "left out, and why"], rows)


def levels():
    """Ranks and data types of each operator by feature level, what the names of data types mean, and the padding modes."""
    rows = [
        [f"[`{name}`]({tables.PAGES[name]})", "<br>".join(row(level, support) for level, support in levels.items())]
        for name, levels in tables.SUPPORT.items()
    ]
    meanings = [[name, ", ".join(types)] for types, name in SETS.items()]
    modes = [[f"`{mode}`", first] for mode, first in tables.PADDING_MODES.items()]
    return "\n\n".join(
        [
            table(["operator", "from feature level: ranks, data types"], rows),
            table(["data types", "which"], meanings),
            table(["padding mode", "from feature level"], modes),
        ]
    )


def row(level, support):
    ranks = "-".join(map(str, sorted(set(support.ranks))))
    others = "".join(f", `{name}` {SETS.get(types, ' or '.join(types))}" for name, types in support.others.items())
    return f"{level}: {ranks}, {SETS[support.types]}{others}"


def errata():
    """The mistakes in DirectML's pages."""
    rows = [
        [f"[{title(entry.page)}]({entry.page})", entry.place, cell(entry.says), cell(entry.right), cell(entry.why)]
        for entry in ERRATA
    ]
    return table(["page", "place", "what it says", "what is right", "why"], rows)


def title(page):
    """The name of a structure or enumeration, or the page's own."""
    operators = {address: f"DML_{operator}_OPERATOR_DESC" for operator, address in tables.PAGES.items()}
    if page in operators:
        return operators[page]
    name = page.rpartition("/")[2]
    return name[len("ns-directml-") :].upper() if name.startswith(("ns-", "ne-")) else name


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("[", "\\[").replace("]", "\\]")


PARTS = {"operators": operators, "levels": levels, "errata": errata}


def with_tables(text):
    """The text of the page with each part between its two comments made anew."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name}: docs/directml_tables.py -->\n", f"<!-- {name}: end -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}{part()}\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
