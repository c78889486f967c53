"""The records as text for the terminal, as the generated section of the README and as benchmarks/results/README.md."""

import re
from pathlib import Path
from statistics import median

from contest import COPY, NOT_PEERS, OURS, RESIDENT
from summary import COUNTED_CELLS, best_peer, checks, copies, cost, geometric_mean, group, ms, of_device_copy, versus

BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"
GROUPS = {
    "counted": "Counted cells",
    "family": "Join, split, padding, tile, upsample and transpose",
    "beside": "Further cells",
    "images": "Images of 0.15 to 6 MB",
    "sizes": "depth_to_space of float32, from 1 KiB to 1 GiB",
    "blocks": "depth_to_space by blocks of 2, 3, 4 and 8",
}
COLUMNS = (
    "cell",
    "ours ms",
    "resident",
    "of copy",
    "copy ms",
    "best peer",
    "ms",
    "ratio",
    "target",
    "",
    "ours/copy",
    "by hand",
    "of plain",
)


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


def line(cells, widths=(27, 8, 8, 8, 8, 13, 8, 7, 7, 3, 9, 7, 8)):
    return "  ".join(
        cell.ljust(width) if index in (0, 5) else cell.rjust(width) for index, (cell, width) in enumerate(zip(cells, widths))
    ).rstrip()


def table(records, peers):
    rows = [COLUMNS, *(row(record, peers) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(line(cells, widths) for cells in rows)


def everyone(records, peers):
    """Ms of each contender, a column each; a dash where it is absent or rejects the cell."""
    names = [*NOT_PEERS, *peers]
    rows = [("cell", *names)]
    rows += [(r["name"], *(number(ms(r, name)) for name in names)) for r in records]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))) for cells in rows
    )


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
    peers = report["peers"]
    records = [*group(report, "counted"), *group(report, "family")]
    titles = list(dict.fromkeys(record["title"] for record in records))
    by_title = {(record["title"], record["name"].rsplit("/")[-1]): record for record in records}
    lines = [
        BEGIN,
        "<!-- generated by `make bench`; changes made by hand are lost -->",
        "",
        f"{headline(report)} {behind(report)}",
        "",
        f"*{environment_line(report)}.*",
        "",
        "| 64 MiB | 1 byte | 2 bytes | 4 bytes | 8 bytes |",
        "|---|---|---|---|---|",
    ]
    for title in titles:
        entries = [readme_entry(by_title.get((title, itemsize)), peers) for itemsize in "1248"]
        lines.append(f"| {title} | {' | '.join(entries)} |")
    lines += images_table(report)
    missed = sum(check["kept"] is False for check in checks(report))
    lines += [
        "",
        "Milliseconds (of images microseconds) of dmlops, and in bold how many times as long the best peer takes. "
        f"Medians of {report['rounds']} turns; every result is compared with NumPy first. Small calls lose to NumPy and "
        f"PyTorch: a call costs some 0.1 ms on a CPU device. [Every cell, every contender and every goal]({log}), "
        f"{'all of which are met' if not missed else f'{missed} of which are missed'}.",
        END,
    ]
    return "\n".join(lines)


def images_table(report):
    """Images of everyday sizes, in microseconds: a row for each size, a column for each operator."""
    records = {tuple(record["title"].split(": ")): record for record in group(report, "images")}
    if not records:
        return []
    operators, sizes = (list(dict.fromkeys(names)) for names in zip(*records))
    lines = ["", f"| images, us | {' | '.join(operators)} |", "|---" * (1 + len(operators)) + "|"]
    for size in sizes:
        entries = [readme_entry(records.get((operator, size)), report["peers"], us=True) for operator in operators]
        lines.append(f"| {size} | {' | '.join(entries)} |")
    return lines


def page(report, pictures):
    """The full report, benchmarks/results/README.md."""
    lines = ["# The benchmark's last run", "", "<!-- generated by `make bench`; changes made by hand are lost -->", ""]
    lines += [line for title, path in pictures.items() for line in (f"![{title}]({path})", "")]
    return "\n".join([*lines, "```text", text(report), "```", ""])


def headline(report):
    counted, peers = group(report, "counted"), report["peers"]
    ratios = [versus(record, peers) for record in counted if versus(record, peers)]
    mean = geometric_mean(ratios)
    if mean is None:
        return "dmlops itself was not measured."
    over = "" if len(ratios) == COUNTED_CELLS else f" that were measured of {COUNTED_CELLS}"
    return (
        f"The best peer takes **{number(mean)} times** as long as dmlops (geometric mean over the {len(ratios)} cells{over})."
    )


def behind(report):
    """Which counted cells a peer wins."""
    slower: dict[str, list[str]] = {}
    for r in group(report, "counted"):
        if (versus(r, report["peers"]) or 1) < 1:
            slower.setdefault(r["title"], []).append(r["name"].rpartition("/")[2])
    cells = ", ".join(f"`{title}` ({', '.join(sizes)} bytes)" for title, sizes in slower.items())
    return f"A peer is faster in {cells}." if slower else "No peer is faster in any of them."


def readme_entry(record, peers, us=False):
    if record is None or ms(record, OURS) is None:
        return "-"
    name, _ = best_peer(record, peers)
    return f"{number(ms(record, OURS) * (1000 if us else 1))} · **{number(versus(record, peers), 'x')}** {name or ''}".rstrip()


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
