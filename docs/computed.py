"""What the pages of docs/*.md leave to be computed: `<!-- computed: NAME -->` there becomes what COMPUTED[NAME] returns."""

import ast
import contextlib
import io
import math
import os
import subprocess
import sys
from pathlib import Path

from coming_from_page import even
from crossovers import measured
from interop import ROWS as EXCHANGES
from results import REPORT, best_peer, group, ms, number, versus

import dmlops

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "onnx"))
FRONT = ("Crop", "Mirror", "Patchify", "Reverse each row")  # the steps of the demo that the first page shows


def table(head, rows, align=None):
    lines = [head, align or ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def machine():
    known = REPORT["machine"]
    return f"{REPORT['date']}, {known['cpu']}, {known['cores']} cores, {REPORT['driver']}, dmlops {REPORT['dmlops']}"


def front_picture(folder):
    """Four cards of the demo's sheet, drawn anew."""
    target = folder / "pictures" / "front.webp"
    target.parent.mkdir(parents=True, exist_ok=True)
    demo_sheet(target, *FRONT)
    return "![Inputs beside results: a crop, a mirror image, patches, each row reversed up to a line](pictures/front.webp)"


def demo_picture(folder):
    """The demo's whole sheet, drawn anew."""
    target = folder / "pictures" / "demo.webp"
    target.parent.mkdir(parents=True, exist_ok=True)
    demo_sheet(target)
    return (
        "![Every result beside its input: crop, mirror, patches, pixel shuffle, reversed rows and lines](../pictures/demo.webp)"
    )


def readme_example(folder):
    """The README's first example, which the test suite runs."""
    text = (ROOT / "README.md").read_text()
    return (
        text[text.index("```python") : text.index("```\n", text.index("```python"))].rstrip().replace("```python", "```pycon")
        + "\n```"
    )


def demo_sheet(target, *only):
    """Run examples/demo.py, and write its picture to `target` as WebP; of some steps, if `only` names them."""
    from PIL import Image

    drawn = target.with_suffix(".png")
    command = [sys.executable, ROOT / "examples" / "demo.py", "--output", drawn, *(("--only", *only) if only else ())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    Image.open(drawn).convert("RGB").save(target, "WEBP", quality=80, method=6)
    drawn.unlink()


def times(records):
    """A table of cells: what is measured in a row, bytes of an element in a column."""
    cells = {}
    for record in records:
        name, _ = best_peer(record, REPORT["peers"])
        text = number(ms(record, "dmlops"))
        if name:
            text += f" · **{number(versus(record, REPORT['peers']), 'x')}** {name}"
        itemsize = record["nbytes"] // math.prod(record["shape"])
        cells.setdefault(record["title"], {})[itemsize] = text
    sizes = (1, 2, 4, 8)
    rows = [(title, *(row.get(size, "") for size in sizes)) for title, row in cells.items()]
    return table(("cell", "1 byte", "2 bytes", "4 bytes", "8 bytes"), rows)


def counted(folder):
    """The benchmark's table."""
    return (
        f"{machine()}. Milliseconds of dmlops for arrays of 64 MiB, and in bold how many times as long the fastest other "
        "library takes."
        f"\n\n{times(group(REPORT, 'counted'))}\n\n![The same as a picture](pictures/cells.svg)"
    )


def lost_cells(folder):
    lost = [record["name"] for record in group(REPORT, "counted") if (versus(record, REPORT["peers"]) or 1) < 1]
    return f"Such cells are: {', '.join(f'`{name}`' for name in lost)}." if lost else "There is no such cell."


def curves(folder):
    import plots

    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    plots.draw(REPORT, pictures)
    sizes = group(REPORT, "sizes")
    won = [record["title"] for record in sizes if ms(record, "NumPy") and ms(record, "NumPy") > ms(record, "dmlops")]
    picture = "![Milliseconds against the size of the array, and against the size of a block](pictures/curves.svg)"
    return f"{picture}\n\nNumPy is faster below {won[0]}; from there on dmlops is." if won else picture


def first_calls(folder):
    rows = []
    for name, result in REPORT["probes"].get("first-use", {}).items():
        if "import_ms" in result:
            rows.append((name, number(result["import_ms"], " ms"), number(result["first_call_ms"], " ms")))
    small = REPORT["probes"].get("small-call", {})
    after = f"\n\nA later call with 1 KiB takes {number(small['call_us'])} µs." if "call_us" in small else ""
    return f"{machine()}.\n\n" + table(("library", "import and start", "first call"), rows) + after


def crossovers(folder):
    device = dmlops.default_device()
    kind = "CPU driver" if device.type == "cpu" else device.type
    rows = []
    for title, what, *times in measured(device):
        fastest = ("NumPy", "`host`", kind)[times.index(min(times))]
        rows.append((title, what, *map(number, times), fastest))
    head = ("array", "call", "NumPy, ms", "`host`, ms", f"{kind}, ms", "fastest")
    said = f"Medians of nine calls with NumPy arrays on {device.name}, with {len(os.sched_getaffinity(0))} cores:"
    return f"{said}\n\n{table(head, rows, ('---', '---', '--:', '--:', '--:', '---'))}"


def neighbours(folder):
    """The libraries of the test, and whether they come first."""
    source = ast.parse((ROOT / "tests" / "peers" / "test_same_process.py").read_text())
    assignments = (node for node in source.body if isinstance(node, ast.Assign))
    (mapping,) = (node.value for node in assignments if node.targets[0].id == "NEIGHBOURS")
    rows = [(f"`{name.value}`", "imported before the first call, and after it") for name in mapping.keys]
    return table(("library", "tested"), rows)


def dlpack(folder):
    rows = [(row.library, f"`{row.export}`", f"`{row.back}`", row.note) for row in EXCHANGES]
    return even(table(("library", "a device array there", "an array of theirs here", "remark"), rows).splitlines())


def onnx_tests(folder):
    """ONNX's own tests of the operators of dmlops.onnx: how many run, and which are left out."""
    import onnx
    from node_tests import LEFT_OUT, left_out, models

    names = models()
    groups = left_out(names)
    out = sum(map(len, groups.values()))
    rows = [
        (reason, len(groups[pattern]), ", ".join(f"`{name.removeprefix('test_')}`" for name in groups[pattern]))
        for pattern, reason in LEFT_OUT.items()
    ]
    said = (
        f"Of the {len(names)} tests that the package onnx {onnx.__version__} has for these operators, {len(names) - out} run."
    )
    details = [f"- {reason}: {listed}" for reason, _, listed in rows]
    return "\n\n".join(
        [
            f"{said} Left out are {out}:",
            table(("why", "tests"), [row[:2] for row in rows], ("---", "--:")),
            "<details><summary>Their names</summary>",
            "\n".join(details),
            "</details>",
        ]
    )


def serving(folder):
    """The load test of a web server, repeated."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "serving.py"], check=True, capture_output=True, text=True, cwd=folder
    )
    head, align, *rows = done.stdout.splitlines()
    names = {"numpy": "NumPy", "auto": '`"auto"`', "host": "`host`", "0": "first device", "cold 0": "first device, cold"}
    rows = [row.replace(name, names[name], 1) for row in rows for name in [row.split("|")[1].strip()]]
    return "\n".join([head, align.replace("---", "--:").replace("--:", "---", 1), *rows])


def device_list(folder):
    return command()


def explain(folder):
    return command("explain", "--plans", "depth_to_space(float32[1,64,256,256], 2)")


def command(*arguments):
    """What `python -m dmlops` prints."""
    import dmlops.__main__

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        dmlops.__main__.main(list(arguments))
    shown = " ".join(["python -m dmlops", *(f'"{one}"' if "(" in one else one for one in arguments)])
    return f"```console\n$ {shown}\n{said.getvalue()}```"


COMPUTED = {
    function.__name__: function
    for function in (
        front_picture,
        demo_picture,
        readme_example,
        counted,
        lost_cells,
        curves,
        first_calls,
        crossovers,
        neighbours,
        dlpack,
        onnx_tests,
        device_list,
        explain,
        serving,
    )
}
