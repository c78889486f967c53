"""The golden file of kernel choice, tests/golden/choices.txt: a plan and a class of devices on each line, and what is chosen
for them.

    python tests/core/golden.py    writes it anew, from the plans that are in it; then look at the difference

A line is `CLASS ITEM AXIS... OPTION... -> CHOICE`: an axis is EXTENT:SRC_STRIDE:DST_STRIDE[:LENGTH_STRIDE], the outermost
first; options are reversed=AXIS, gathered=EXTENT:SRC_STRIDE, src=ADDRESS, dst=ADDRESS, forced=KERNEL, and traits or tunables of
the device.
"""

import pathlib
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import support
from core import BLOCKS, CONSTANTS, COPY, ELEMENTS, ROWS, WORDS

PATH = support.ROOT / "tests" / "golden" / "choices.txt"
FORCED = {"copy": COPY, "rows": ROWS, "words": WORDS, "elements": ELEMENTS, "blocks": BLOCKS}


class Line:
    """One plan to choose for."""

    def __init__(self, text):
        self.plan, _, self.choice = (part.strip() for part in text.partition("->"))
        self.device, item, *rest = self.plan.split()
        self.item = int(item)
        options = dict(token.split("=") for token in rest if "=" in token)
        self.axes = [tuple(map(int, f"{token}:0".split(":")[:4])) for token in rest if "=" not in token]
        self.reversed = int(options.pop("reversed", -1))
        self.gathered = [int(number) for number in options.pop("gathered", "").split(":") if number]
        self.src, self.dst = (int(options.pop(side, 0)) for side in ("src", "dst"))
        self.forced = FORCED[options.pop("forced")] if "forced" in options else CONSTANTS["DML_KERNEL_COUNT"]
        self.changes = {name: int(value) for name, value in options.items()}


def lines(text):
    """Each line of the file: text, or a Line."""
    return [line if line.startswith("#") or not line.strip() else Line(line) for line in text.splitlines()]


def describe(dispatch):
    """What was chosen, for people to compare."""

    def constant(name):
        return dispatch.constants[CONSTANTS[f"DML_{name}"]]

    table = dispatch.table
    order = "x".join(str(table.axes[k].extent) for k in reversed(range(table.rank))) or "1"
    work = f"order {order}, {table.chunks} chunks, {dispatch.groups} groups"
    if dispatch.kernel == COPY:
        return "copy"
    if dispatch.kernel == ELEMENTS:
        return f"elements of {constant('SCALAR')} B, {work}"
    if dispatch.kernel == WORDS:
        return f"words, tile {constant('WORDS_TILE')}, stride {constant('WORDS_STRIDE')}, {work}"
    if dispatch.kernel == BLOCKS:
        more = [f"{constant('BLOCKS_ROWS')} rows", f"tile {table.blocks_words}", f"align {constant('BLOCKS_ALIGN')}"]
        more += ["phased"] * constant("BLOCKS_PHASED") + [f"{table.blocks_edges} edges"] * (table.blocks_edges > 0)
        return f"blocks of {constant('SCALAR')} B, {', '.join(more)}, {work}"
    schedule = constant("ROWS_SCHEDULE")
    more = [f"tile {constant('ROWS_TILE')}", f"align {constant('ROWS_ALIGN')}", f"scalar {constant('SCALAR')}"]
    more += [f"{constant('ROWS_PER_WINDOW')} rows per window"] * (constant("ROWS_PER_WINDOW") > 1)
    more += [f"prefetch {table.rows_prefetch_lines} lines"] * (schedule == 0)
    more += [f"{schedule} rows per workgroup"] * (schedule > 1)
    more += [f"rests {dispatch.rest_count}"] * (dispatch.rest_count > 0)
    return f"rows of {constant('ROWS_WORD')} B, {', '.join(more)}, {work}"


def rendered(text, choose):
    """The file anew; `choose` makes a dispatch of a Line."""
    result = [f"{line.plan} -> {describe(choose(line))}" if isinstance(line, Line) else line for line in lines(text)]
    return "\n".join(result) + "\n"


def main():
    import tempfile

    import core
    from test_core import choose_line

    folder = pathlib.Path(tempfile.mkdtemp())
    core.build(folder)
    library = core.Core(folder / core.LIBRARY)
    PATH.write_text(rendered(PATH.read_text(), lambda line: choose_line(library, line)))


if __name__ == "__main__":
    main()
