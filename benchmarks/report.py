"""The records as text for the terminal, as the generated section of the README and as benchmarks/results/README.md."""

import re
from pathlib import Path
from statistics import median

from contest import AUTO, COPY, NOT_PEERS, OURS, RESIDENT
from summary import TABLES, best_peer, checks, copies, cost, geometric_mean, group, ms, of_device_copy, ratios, versus

BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"
LIBRARIES = "NumPy, PyTorch, onnxruntime, OpenVINO and TensorFlow"
SHOWN = 1  # tables of single operators in the README; the first that were measured
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
    yield f"1 KiB call: {number(result['call_us'])} us, empty dispatch: {number(result.get('empty_dispatch_us'))} us"


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


def section(report, log):
    """The generated part of the README. `log` is the path of the full report."""
    missed = sum(check["kept"] is False for check in checks(report))
    fused = means_table(report, "pipelines", "one pass", pipeline_of)
    tables = (
        means_table(report, "patches", "blocks of", title_of),
        table_of(report, "batches", "batches of", title_of),
        table_of(report, "counted family", "64 MiB, bytes an element", lambda record: (record["title"], item_of(record))),
    )
    lines = [BEGIN, "<!-- generated by `make bench`; changes made by hand are lost -->", ""]
    lines += [f"{headline(report)} *{environment_line(report)}.*", ""]
    lines += [line for table in [fused, *(table for table in tables if table)][: SHOWN + 1] if table for line in [*table, ""]]
    auto = ' · the same with `device="auto"`' if ratios(report, *TABLES, ours=AUTO) else ""
    passes = "In one pass: means over float32 and float16, to the best library of NumPy's bits. " if fused else ""
    of_blocks = "Of blocks: means over elements of 1, 2 and 4 bytes. " if tables[0] else ""
    times = f"ow many times as long the best of {LIBRARIES} takes** as dmlops on a CPU driver{auto}"
    lines += [
        f"{'**H' if tables[0] else 'Milliseconds on that driver · **h'}{times}. "
        f"{passes}{of_blocks}"
        f"Medians of {report['rounds']} turns; every result is compared with NumPy first. "
        f"[Every cell, every contender and every goal]({log}), "
        f"{'all of which are met' if not missed else f'{missed} of which are missed'}.",
        END,
    ]
    return "\n".join(lines)


def title_of(record):
    """What is measured, and of how much: the row and the column of a table."""
    return tuple(record["title"].rsplit(": ", 1))


def item_of(record):
    return record["name"].rpartition("/")[2]


def table_of(report, groups, corner, place):
    """A row for each operator, an entry for each cell."""
    records = {place(record): record for record in group(report, *groups.split())}
    return grid(corner, {where: readme_entry(record, report["peers"]) for where, record in records.items()})


def pipeline_of(record):
    """The row and the column of a pipeline, of both dtypes."""
    what, size = title_of(record)
    return what.rpartition(", ")[0], size


def means_table(report, name, corner, place):
    """The ratios of the cells that have one place, geometric means."""
    entries = {}
    for where in dict.fromkeys(map(place, group(report, name))):
        records = [record for record in group(report, name) if place(record) == where]
        means = [geometric_mean(versus(record, report["peers"], ours=ours) for record in records) for ours in (OURS, AUTO)]
        entries[where] = both(means)
    return grid(corner, entries)


def grid(corner, entries):
    """A table in Markdown of a text for each (row, column)."""
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*entries)) if entries else ((), ())
    lines = [f"| {corner} | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"] if entries else []
    return lines + [f"| {row} | {' | '.join(entries.get((row, column), '-') for column in columns)} |" for row in rows]


def both(means):
    """The ratio of the default device, in bold, and that of "auto" where it was measured."""
    return f"**{number(means[0])}**{'' if means[1] is None else f' · {number(means[1])}'}"


def readme_entry(record, peers):
    if ms(record, OURS) is None:
        return "-"
    return f"{number(ms(record, OURS))} · {both([versus(record, peers, ours=ours) for ours in (OURS, AUTO)])}"


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
    """Over all cells of pipelines, all of resizing, and all that TABLES names, of which the README shows a part."""
    said = {"pipelines": [], "resizing": [], "operators": []}
    for ours, where in ((AUTO, 'with `device="auto"`'), (OURS, "on a CPU driver")):
        for what, groups in (("pipelines", ("pipelines",)), ("resizing", ("resizing",)), ("operators", TABLES)):
            found = ratios(report, *groups, ours=ours)
            if found:
                slower = sum(value < 1 for value in found)
                times = f"**{number(geometric_mean(found))} times** as long as dmlops {where}"
                said[what].append(f"{times} (geometric mean; a peer is faster in {slower} of {len(found)} cells)")
    sentences = []
    if said["pipelines"]:
        sentences.append(f"To preprocess to NumPy's bits, the best library takes {', and '.join(said['pipelines'])}.")
    if said["resizing"]:
        sentences.append(f"To resize photographs to its bits, each library takes {', and '.join(said['resizing'])}.")
    if said["operators"]:
        sentences.append(f"The best of five libraries takes {', and '.join(said['operators'])}.")
    return " ".join(sentences) or "No library was compared."


def update_readme(path, report, log):
    """Put the section between its markers. Returns whether the file has them."""
    path = Path(path)
    if not path.is_file():
        return False
    before = path.read_text()
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(before):
        return False
    path.write_text(pattern.sub(lambda _: section(report, log), before, count=1))
    return True
