"""Measures dmlops against everybody else and writes what came out. `make bench` runs this.

python benchmarks/run.py                        everything, and the generated parts of documents
python benchmarks/run.py --cells 'mirror*' ...  some cells (`--list` names them), documents untouched
python benchmarks/run.py --device nvidia --mib 256  another device, and larger arrays: files of their own, documents untouched
python benchmarks/run.py --resume --minutes 20  what an earlier run left out, for that long: a whole run takes hours (below)
python benchmarks/run.py --quick                small arrays: does it work at all?
python benchmarks/run.py --render               text, pictures and documents anew from the saved JSON

Without --device, dmlops and all others on Vulkan have lavapipe: that of dmlops-lavapipe, as `pip install "dmlops[cpu]"` brings
it, or where that is not installed the system's. Behind a whole run on the former, dmlops is measured on the latter, too.
A whole run takes one to two hours on two cores. What it has measured stands in benchmark-unfinished.json at any time; --resume
goes on from there, whatever ended it, on the same machine, driver and version.
"""

import argparse
import datetime
import fnmatch
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import environment

HERE = Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cells", nargs="*", default=[], metavar="GLOB", help="only these cells and probes; commas separate too"
    )
    parser.add_argument("--quick", action="store_true", help="4 MiB instead of 64 where shapes allow it, fewer rounds")
    parser.add_argument("--mib", type=int, default=64, help="MiB of a cell's array, where its shape allows it")
    parser.add_argument("--rounds", type=int, help="calls of each contender (7, with --quick 3)")
    parser.add_argument("--resume", action="store_true", help="measure what benchmark-unfinished.json lacks")
    parser.add_argument("--minutes", type=float, help="begin no cell after so long; --resume goes on")
    parser.add_argument("--system-driver", action="store_true", help=argparse.SUPPRESS)  # dmlops alone, a line of JSON a cell
    parser.add_argument("--device", help="part of a device's name; without it lavapipe, unless VK_DRIVER_FILES is set")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="folder of JSON and pictures")
    parser.add_argument("--root", type=Path, default=HERE.parent, help="folder of the documents that have generated parts")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--list", action="store_true", help="print the names of all cells and probes")
    options = parser.parse_args()
    if options.device and options.device.isdigit():
        parser.error("--device takes part of a name, which all contenders understand, not a number")
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return options


def chosen(names, patterns):
    """The names that one of the patterns matches; `mirror` stands for `mirror/*`. Each has to match one."""
    patterns = [part for pattern in patterns for part in pattern.replace(",", " ").split()]
    if not patterns:
        return list(names)
    matches = {p: {name for name in names for form in (p, f"{p}/*") if fnmatch.fnmatchcase(name, form)} for p in patterns}
    for pattern, found in matches.items():
        if not found:
            sys.exit(f"no cell or probe is named {pattern}: --list names them all")
    return [name for name in names if any(name in found for found in matches.values())]


def driver(device):
    """The name of the Vulkan driver that is measured, and the device's type."""
    import dmlops
    from dmlops import explain

    found = dmlops.asarray(0, device=device).device
    pieces = explain.plan_and_pieces("slice(uint8[300, 300], [3, 5], [297, 295])", found)[1] if found.type != "host" else []
    variant = ", segments for every kernel" if any(piece["segment_bits"] for piece in pieces) else ""
    package = environment.driver_package()
    return f"{found.name}, {found.driver}{f', {package}' * bool(package)}{variant}", found.type


def begun(options, contenders, driver_name, device_type, unfinished):
    """A report without cells, or with --resume the one that an earlier run has left."""
    import dmlops

    import peers
    import summary

    report = {
        "date": datetime.date.today().isoformat(),
        "quick": options.quick,
        "rounds": options.rounds,
        "machine": environment.describe(),
        "driver": driver_name,
        "device_type": device_type,
        "dmlops": dmlops.__version__,
        "seconds": 0.0,
        "peers": peers.describe(contenders),
        "cells": [],
        "probes": {},
    }
    if not options.resume or not unfinished.exists():
        return report
    before = summary.load(unfinished)
    for key in ("quick", "rounds", "machine", "driver", "dmlops"):
        if before[key] != report[key]:
            sys.exit(f"{unfinished} has another {key}: {before[key]}, not {report[key]}. Delete it to begin anew")
    return before | {"date": report["date"], "peers": report["peers"]}


def measure(options, cells, probe_names, held_to_cpu, unfinished):
    """The report, and whether it is whole. The file `unfinished` has what is known: a crash loses a cell at most."""
    from tqdm import tqdm

    import contest
    import peers
    import probes
    import report as reporting
    import summary

    with environment.quiet():
        contenders = peers.load(environment.THREADS, options.device, cuda=not held_to_cpu)
        driver_name, device_type = driver(options.device)
    print(f"Measured on {driver_name}.")
    report = begun(options, contenders, driver_name, device_type, unfinished)
    known = {*(record["name"] for record in report["cells"]), *report["probes"], *report.get("without_memory", [])}
    work = [*(cell for cell in cells if cell.name not in known), *(name for name in probe_names if name not in known)]
    began = last = time.monotonic()
    bar = tqdm(work, unit="cell", dynamic_ncols=True)
    bar.write(reporting.line(reporting.COLUMNS))
    for one in bar:
        if options.minutes and last - began > 60 * options.minutes:
            return report, False
        name = one if isinstance(one, str) else one.name
        bar.set_description(name)
        if isinstance(one, str):
            try:
                report["probes"][name] = probes.run(name, contenders, options.device, options.quick)
            except Exception as error:
                why = {"reason": peers.reason(error)}
                report["probes"][name] = {"dmlops": why} if name == "first-use" else why
        else:
            try:
                record = contest.run(one, contenders, options.device, options.rounds)
                report["cells"].append(record)
                bar.write(reporting.line(reporting.row(record, report["peers"])))
            except MemoryError:
                report.setdefault("without_memory", []).append(name)
                bar.write(f"{name}: memory does not suffice for its arrays")
        now = time.monotonic()
        report["seconds"], last = report["seconds"] + now - last, now
        summary.save(report, unfinished)
    return report, True


def on_system_driver(options, cells):
    """Print a line of JSON for the driver and for each cell: what dmlops alone takes, in ms."""
    import contest
    import peers

    print(json.dumps({"driver": driver(None)[0]}), flush=True)
    for cell in cells:
        found = contest.run(cell, peers.Peers(), None, options.rounds, names=(contest.OURS, contest.AUTO))["results"]
        print(json.dumps({"name": cell.name, "ms": {name: one["ms"] for name, one in found.items()}}), flush=True)


def beside(options, report, unfinished):
    """The same cells on the system's driver, by dmlops alone, in a process that has no other."""
    import summary

    found = report.setdefault("system_driver", {"driver": "", "cells": {}})
    left = [record["name"] for record in report["cells"] if record["name"] not in found["cells"]]
    command = [sys.executable, __file__, "--system-driver", "--rounds", str(options.rounds), "--mib", str(options.mib)]
    command += ["--quick"] * options.quick + ["--cells", *left]
    held = {name: value for name, value in os.environ.items() if name not in environment.DRIVER_VARIABLES}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=held) as child:
        for line in child.stdout if left else ():
            one = json.loads(line)
            found["driver"] = one.get("driver", found["driver"])
            found["cells"] |= {one["name"]: one["ms"]} if "name" in one else {}
            summary.save(report, unfinished)


def main():
    options = arguments()
    options.rounds = options.rounds or (3 if options.quick else 7)
    held_to_cpu = environment.prepare(options.device, companion=not options.system_driver)

    from cells import everything
    from probes import NAMES

    cells = everything(options.quick, options.mib)
    names = chosen([*(cell.name for cell in cells), *NAMES], options.cells)
    if options.list:
        print("\n".join(names))
        return
    if options.system_driver:
        on_system_driver(options, [cell for cell in cells if cell.name in names])
        return
    lavapipe = options.device is None and (held_to_cpu or options.render)
    usual = lavapipe and options.mib == 64
    whole = not options.cells and not options.quick
    complete = usual and whole
    suffix = "" if usual else re.sub(r"\W+", "-", f"-{'cpu' if lavapipe else options.device or 'chosen'}-{options.mib}MiB")
    suffix += "" if whole else "-partial"
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / f"benchmark{suffix}.json"

    import plots
    import report as reporting
    import summary

    if options.render:
        report = summary.load(file)
    else:
        cells, unfinished = [cell for cell in cells if cell.name in names], file.with_stem(f"{file.stem}-unfinished")
        report, ended = measure(options, cells, [name for name in NAMES if name in names], held_to_cpu, unfinished)
        if not ended:
            print(f"{len(report['cells'])} of {len(cells)} cells are measured; --resume goes on")
            return
        if held_to_cpu and environment.driver_package().startswith(environment.COMPANION) and environment.system_driver():
            beside(options, report, unfinished)
        before = summary.load(file) if file.exists() else {}
        if all(before.get(key) == report[key] for key in ("machine", "dmlops")):
            report |= {key: value for key, value in before.items() if key in summary.ADDED}
        summary.save(report, file)
        report = summary.load(file)  # rounded, as --render has it
        unfinished.unlink(missing_ok=True)
    pictures = plots.draw(report, options.output, suffix)
    print(reporting.text(report))
    if complete:
        log = options.output / "README.md"
        log.write_text(reporting.page(report, pictures))
        for path, section in reporting.sections(report, log, options.root).items():
            if not reporting.update(path, section):
                print(f"\n{path.name} has no markers {reporting.BEGIN} and {reporting.END}; it was left alone.")


if __name__ == "__main__":
    main()
