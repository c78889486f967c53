"""The records as text for the terminal, as generated sections of documents and as benchmarks/results/README.md."""

import os
import re
import textwrap
from pathlib import Path
from statistics import median

from contest import AUTO, COPY, NOT_PEERS, OURS, RESIDENT
from summary import (
    TABLES,
    best_peer,
    checks,
    copies,
    cost,
    geometric_mean,
    group,
    ms,
    of_device_copy,
    on_system_driver,
    ratios,
    versus,
)

BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"
LIBRARIES = "NumPy, PyTorch, onnxruntime, OpenVINO and TensorFlow"
SHOWN = 1  # tables of single operators in docs/performance.md; the first that were measured
GROUPS = {
    "pipelines": "Preprocessing in one pass; ~ marks peers whose bits differ from NumPy's, which are no best peers",
    "resizing": "Resizing with the bits of Pillow, torchvision and OpenCV",
    "counted": "Counted cells",
    "family": "Join, split, padding, tile, upsample and transpose",
    "batches": "Batches of what models take",
    "patches": "Blocks and patches of photographs, by block and bytes of an element",
    "gathers": "Gathers, scatters and what is made of them: of tables of 64 MiB, with indices of 64 bits",
    "beside": "Further cells",
    "images": "Images of 0.15 to 6 MB",
    "sizes": "depth_to_space of float32, from 1 KiB to 1 GiB",
    "blocks": "depth_to_space by blocks of 2, 3, 4 and 8",
}
COLUMNS = {  # of the tables of cells: what each holds
    "cell": "what is measured, and the bytes of an element",
    "ours ms": "dmlops on the operators' default device, from NumPy array to NumPy array: the median of several calls, in ms",
    "auto ms": 'the same with `device="auto"`',
    "resident": "the same with an array that is on the device and stays there",
    "of copy": "the bandwidth of that, over the bandwidth of the device's own copy",
    "copy ms": "`x.copy()` in NumPy",
    "best peer": "the fastest other library, called as its users call it",
    "ms": "its time",
    "ratio": "its time over ours: above 1 dmlops is faster",
    "target": "the least ratio aimed at",
    "": "whether the ratio reaches it",
    "ours/copy": "our time over that of `x.copy()`",
    "by hand": "the ratio where code that users would not write, such as loops by hand, counts too",
    "of plain": "our time for each byte, over that of the plain cell, or of a call that copies as much as the result",
}


def number(value, unit="", digits=2):
    """Short, aligned by eye: three figures or so; a dash where there is nothing."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value}{unit}"
    if value >= 100:
        digits = 0
    elif value >= 10:
        digits = min(digits, 1)
    elif value < 0.1:
        digits += 2
    return f"{value:.{digits}f}{unit}"


def row(record, peers):
    """One line of the table, as COLUMNS has it."""
    name, best = best_peer(record, peers)
    reached, target = versus(record, peers), record["target"]
    return (
        record["name"],
        number(ms(record, OURS)),
        number(ms(record, AUTO)),
        number(ms(record, RESIDENT)),
        number(of_device_copy(record)),
        number(ms(record, COPY)),
        name or "-",
        number(best),
        number(reached, "x"),
        number(target, "x"),
        "" if not (reached and target) else "yes" if reached >= target else "NO",
        number(copies(record), "x"),
        number(versus(record, peers, hand=True), "x"),
        number(cost(record), "x"),
    )


def line(cells, widths=(42, 8, 8, 8, 8, 8, 13, 8, 7, 7, 3, 9, 7, 8)):
    return "  ".join(
        cell.ljust(width) if index in (0, 6) else cell.rjust(width) for index, (cell, width) in enumerate(zip(cells, widths))
    ).rstrip()


def table(records, peers):
    rows = [tuple(COLUMNS), *(row(record, peers) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(line(cells, widths) for cells in rows)


def everyone(records, peers):
    """Ms of each contender, a column each; a dash where it is absent or rejects the cell."""
    names = [*NOT_PEERS, *peers]
    rows = [("cell", *names)]
    rows += [(r["name"], *(number(ms(r, name)) + "~" * differs(r, name) for name in names)) for r in records]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))) for cells in rows
    )


def differs(record, name):
    return not record["results"].get(name, {}).get("same_bits", True)


def text(report):
    """Everything, for the terminal."""
    parts = [environment_line(report)]
    for name, title in GROUPS.items():
        records = group(report, name)
        if records:
            parts += [f"{title}\n\n{table(records, report['peers'])}", everyone(records, report["peers"])]
    parts += [probe_lines(report), "\n".join(check_line(check) for check in checks(report)), absences(report)]
    return "\n\n".join(part for part in parts if part)


def environment_line(report):
    machine, driver = report["machine"], report["driver"] or "no Vulkan driver found"
    driver += f"; {SYSTEM}: {report['system_driver']['driver']}" if report.get("system_driver", {}).get("driver") else ""
    return (
        f"{report['date']} · {machine['cpu']}, {machine['cores']} cores · {machine['os']} · "
        f"Python {machine['python']} · {driver}{' · QUICK RUN, the figures mean little' if report['quick'] else ''}"
    )


def check_line(check):
    if check["value"] is None:
        return f"{check['name']}: not measured"
    sign = "at least" if check["at_least"] else "at most"
    bound = "" if check["bound"] is None else f" ({sign} {number(check['bound'])}: {'kept' if check['kept'] else 'NOT KEPT'})"
    return f"{check['name']}: {number(check['value'])}{bound}"


def probe_lines(report):
    """What the probes gave; of one that failed, why."""
    lines = []
    for name, result in report["probes"].get("first-use", {}).items():
        lines.append(f"first use, {name}: {dash(result) if 'reason' in result else first_use(result)}")
    for name, (title, describe) in PROBES.items():
        result = report["probes"].get(name)
        if result and "reason" in result:
            lines.append(f"{title}: {dash(result)}")
        elif result:
            lines += describe(result)
    return "\n".join(lines)


def dash(result):
    return f"- ({result['reason']})"


def first_use(result):
    return f"import and start {number(result['import_ms'])} ms, first call {number(result['first_call_ms'])} ms"


def small_call(result):
    yield f"1 KiB call: {number(result['call_us'])} us"


def cache(result):
    both = (f"{number(result[name]['ms'])} ms {name} (copy {number(result[name]['copy_ms'])})" for name in ("with", "without"))
    yield f"cache of result blocks, depth_to_space/4: {', '.join(both)}"


def resident(result):
    yield (
        f"arrays that stay on the device: {number(result['queue_us'])} us to queue an operator, of 64; five in a row "
        f"{number(result['chain_ms'])} ms, one by one {number(result['single_ms'])} ms; crop, mirror and depth_to_space in one "
        f"pass {number(result['view_ms'])} ms, depth_to_space of a contiguous array {number(result['dense_ms'])} ms"
    )


def transfers(result):
    yield "64 MiB to the device, from it, and depth_to_space between host arrays, ms:"
    for way, times in result.items():
        yield f"  {way}: {number(times['up_ms'])}, {number(times['down_ms'])}, {number(times['call_ms'])}"


def threads(result):
    yield "1 KiB calls in a second, four threads against one; median, lowest and highest of processes of their own:"
    for name, processes in result.items():
        ratios = [rates["four"] / rates["one"] for rates in processes]
        yield f"  {name}: {number(median(ratios))} ({number(min(ratios))} to {number(max(ratios))})"


def dask(result):
    yield (
        f"depth_to_space of 64 MiB blocks of a Dask array on two threads: {number(result['graph_ms'])} ms a block; plain calls "
        f"{number(result['calls_ms'])} ms, NumPy's expression in a graph {number(result['numpy_ms'])} ms"
    )


# For each probe: its title where it failed, and the lines of what it gave.
PROBES = {
    "small-call": ("1 KiB call", small_call),
    "cache": ("cache of result blocks", cache),
    "resident": ("arrays that stay on the device", resident),
    "transfers": ("64 MiB to the device and back", transfers),
    "threads": ("four threads against one", threads),
    "dask": ("64 MiB blocks of a Dask array", dask),
}


def absences(report):
    """Why there are dashes: peers that are absent, and the reasons given for cells."""
    absent = {name: peer["reason"] for name, peer in report["peers"].items() if "reason" in peer}
    reasons = {}
    for record in report["cells"]:
        for name, result in record["results"].items():
            if "reason" in result and name not in absent:
                reasons.setdefault((name, result["reason"]), []).append(record["name"])
    lines = [f"{name} -: {why}" for name, why in absent.items()]
    lines += [f"{name} -: {why} ({len(names)} cells)" for (name, why), names in reasons.items()]
    return "\n".join(lines)


# The generated documents


def sections(report, log, root):
    """The generated part of each document below `root` that has one, by its path. `log` is the path of the full report."""

    def text(path, *lines):
        link = Path(os.path.relpath(log, path.parent)).as_posix()
        everything = f"[Every cell, every contender and every goal]({link})"
        shown = [wrapped(line) for line in (*lines, f"{everything}.")]
        return "\n".join([BEGIN, "<!-- generated by `make bench`; changes made by hand are lost -->", "", *shown, END])

    return {
        path: text(path, *lines(report))
        for path, lines in (
            (root / "README.md", first_page),
            (root / "docs" / "performance.md", operators),
            (root / "docs" / "tuning.md", goals),
        )
    }


def wrapped(line):
    return line if line.startswith("|") else textwrap.fill(line, 128, break_long_words=False, break_on_hyphens=False)


def first_page(report):
    """Fused functions as they run by default: the headline, and a table."""
    table = means_table(report, "pipelines", "uint8 NHWC to NCHW", pipeline_of, (AUTO,))
    return [
        f"{headline(report)} *{environment_line(report)}.*",
        "",
        *(table and [*table, "", f"{OF_FUSED}{COUNTING}"]),
    ]


OF_FUSED = (
    "Photographs of three channels are moved, normalised by mean and deviation, and put channels first. Each entry is how many "
    "times as long the fastest library takes, the geometric mean over results of float32 and float16. "
)
COUNTING = "Bold: dmlops is faster. Every result is compared with NumPy's before it is timed."


def operators(report):
    """Operators on the CPU driver, their default, and where the host or the driver is taken by cost."""
    tables = (
        means_table(report, "patches", "blocks of", title_of),
        table_of(report, "batches", "batches of", title_of),
        table_of(report, "counted family", "64 MiB, bytes an element", lambda record: (record["title"], item_of(record))),
    )
    shown = [line for table in [table for table in tables if table][:SHOWN] for line in [*table, ""]]
    fused = means_table(report, "pipelines", "fused functions", pipeline_of)
    auto = ' · the same with `device="auto"`' if ratios(report, *TABLES, ours=AUTO) else ""
    named = f"{LIBRARIES} takes, for fused functions the best of NumPy, PyTorch, torch.compile and OpenCV's `LUT`,**"
    taken = f"ow many times as long the best of {named} as dmlops on a CPU driver{auto}"
    over = "Geometric means over elements of 1, 2 and 4 bytes, and of fused functions over float32 and float16. "
    return [
        *means(report),
        "",
        *shown,
        *(fused and [*fused, ""]),
        f"{'**H' if tables[0] else 'Milliseconds on that driver · **h'}{taken}. {over}"
        f"Medians of {report['rounds']} rounds. {COUNTING} *{environment_line(report)}.*",
    ]


def goals(report):
    """Which of the goals that summary.py has are missed."""
    found = checks(report)
    missed = [check_line(check) for check in found if check["kept"] is False]
    counted = sum(check["kept"] is not None for check in found)
    said = f"Of {counted} goals {len(missed)} are missed. *{environment_line(report)}.*"
    return [said, "", *(f"- {line}" for line in missed), ""]


def title_of(record):
    """What is measured, and of how much: the row and the column of a table."""
    return tuple(record["title"].rsplit(": ", 1))


def item_of(record):
    return record["name"].rpartition("/")[2]


def table_of(report, groups, corner, place):
    """A row for each operator, an entry for each cell."""
    records = {place(record): record for record in group(report, *groups.split())}
    return grid(corner, {where: entry(record, report["peers"]) for where, record in records.items()})


def pipeline_of(record):
    """The row and the column of a pipeline, of both dtypes."""
    what, size = title_of(record)
    return what.rpartition(", ")[0], size


def means_table(report, name, corner, place, ours=(OURS, AUTO)):
    """The ratios of the cells that have one place, geometric means."""
    entries = {}
    for where in dict.fromkeys(map(place, group(report, name))):
        records = [record for record in group(report, name) if place(record) == where]
        entries[where] = won(geometric_mean(versus(record, report["peers"], ours=one) for record in records) for one in ours)
    return grid(corner, entries)


def grid(corner, entries):
    """A table in Markdown of a text for each (row, column)."""
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*entries)) if entries else ((), ())
    lines = [f"| {corner} | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"] if entries else []
    return lines + [f"| {row} | {' | '.join(entries.get((row, column), '-') for column in columns)} |" for row in rows]


def won(ratios):
    """Ratios side by side, those that dmlops wins in bold; what was not measured is left out behind the first."""
    first, *others = ratios
    shown = [first, *(value for value in others if value is not None)]
    return " · ".join(f"**{number(value)}**" if value and value >= 1 else number(value) for value in shown)


def entry(record, peers):
    if ms(record, OURS) is None:
        return "-"
    return f"{number(ms(record, OURS))} · {won(versus(record, peers, ours=ours) for ours in (OURS, AUTO))}"


def page(report, pictures):
    """The full report, benchmarks/results/README.md."""
    lines = ["# The benchmark's last run", "", "<!-- generated by `make bench`; changes made by hand are lost -->", ""]
    lines += [line for title, path in pictures.items() for line in (f"![{title}]({path})", "")]
    lines += [
        "The columns of the first table of each group; `-` is what was not measured:",
        "",
        "| column | what it holds |",
        "|---|---|",
    ]
    lines += [f"| {name or '(yes, NO)'} | {what} |" for name, what in COLUMNS.items()]
    lines += ["", "The second table of each group has the milliseconds of each contender.", ""]
    return "\n".join([*lines, "```text", text(report), "```", ""])


def headline(report):
    """Whole calls of fused functions and of resizing, as they run by default."""
    sentences = []
    for name, what, whose in (
        ("pipelines", "preprocess photographs", "the fastest library with NumPy's bits"),
        ("resizing", "resize photographs, bytes of three channels", "the library whose bits are wanted"),
    ):
        found = ratios(report, name, ours=AUTO)
        if found:
            sentences.append(
                f"To {what}, {whose} takes **{times(found)} as long** as dmlops by default, and "
                f"is faster in {lost(found)}{contenders(report, name)}."
            )
    rounded = [ratio_of_any_bits(record, report["peers"]) for record in group(report, "pipelines")]
    rounded = [value for value in rounded if value]
    if rounded and sentences:
        others = named(name for name in measured(report, "pipelines") if differing(report, "pipelines", name))
        sentences.append(f"With {others} counted too, whose bits differ: {times(rounded)}, faster in {lost(rounded)}.")
    return " ".join([*sentences, *whole_preprocessing(report)]) or "No library was compared."


def whole_preprocessing(report):
    """What takes the place of other projects' code, where benchmarks/processors.py and recipes.py have measured it."""
    replaced = {"processors": "Image processors of transformers take", "recipes": "What `dmlops.recipes` replaces takes"}
    for name, what in replaced.items():
        found = {}
        for one in report.get(name, ()):
            found.setdefault(one["by"], []).append(one["other_ms"] / one["ms"])
        if found:
            said = [f"**{times(ratios)} as long** on {by}, faster in {lost(ratios)}" for by, ratios in found.items()]
            yield f"{what} {'; '.join(said)} (CPU time of one thread)."


def means(report):
    """A table over all cells that TABLES names, of which the page shows a part; and of fused functions and resizes."""
    entries = {}
    for what, groups in (("operators", TABLES), ("fused functions", ("pipelines",)), ("resizes", ("resizing",))):
        for ours, where in ((AUTO, '`device="auto"`'), (OURS, "a CPU driver")):
            found = ratios(report, *groups, ours=ours)
            if found:
                entries[what, where] = f"{won([geometric_mean(found)])}; faster in {lost(found)}"
            if found := on_system_driver(report, *groups, ours=ours):
                entries[what, f"{where}, {SYSTEM}"] = f"{won([geometric_mean(found)])}; faster in {lost(found)}"
    return grid("the fastest library takes, times as long", entries)


SYSTEM = "on the system's lavapipe"


def times(found):
    return f"{number(geometric_mean(found))} times"


def lost(found):
    return f"{sum(value < 1 for value in found)} of {len(found)} cases"


def measured(report, name):
    """The peers that users call so and that were measured in a group."""
    records, peers = group(report, name), report["peers"]
    return [
        peer
        for peer in peers
        if peers[peer].get("idiomatic", True) and any(ms(record, peer) is not None for record in records)
    ]


def differing(report, name, peer):
    return any(differs(record, peer) for record in group(report, name))


def contenders(report, name):
    """Who is compared."""
    same = [peer for peer in measured(report, name) if not differing(report, name, peer)]
    return f" ({named(same)} {'are' if len(same) > 1 else 'is'} compared)" if same else ""


NAMES = {"OpenCV resize": "OpenCV", "OpenCV LUT": "OpenCV's `LUT`", "OpenCV blob": "OpenCV's `blobFromImages`"}


def named(names):
    *most, last = (NAMES.get(name, name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def ratio_of_any_bits(record, peers):
    best = best_peer(record, peers, rounded=True)[1]
    return best / ms(record, AUTO) if best and ms(record, AUTO) else None


def update(path, section):
    """Put the section between its markers. Returns whether the file has them."""
    before = path.read_text() if path.is_file() else ""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(before):
        return False
    path.write_text(pattern.sub(lambda _: section, before, count=1))
    return True
