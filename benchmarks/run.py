"""Measures dmlops against everybody else and writes what came out. `make bench` runs this.

python benchmarks/run.py                        everything, and the generated parts of documents
python benchmarks/run.py --cells 'mirror*' ...  some cells (`--list` names them), documents untouched
python benchmarks/run.py --device nvidia --mib 256  another device, and larger arrays: files of their own, documents untouched
python benchmarks/run.py --quick                small arrays: does it work at all?
python benchmarks/run.py --render               text, pictures and documents anew from the saved JSON
"""

import argparse
import datetime
import fnmatch
import os
import re
import sys
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
    return f"{found.name}, {found.driver}{variant}", found.type


def measure(options, cells, probe_names, held_to_cpu, unfinished):
    """The report. The file `unfinished` has what is known at any time: a crash or a kill loses only the cell it hits."""
    import dmlops
    from tqdm import tqdm

    import contest
    import peers
    import probes
    import report as reporting
    import summary

    with environment.quiet():
        contenders = peers.load(environment.THREADS, options.device, cuda=not held_to_cpu)
        driver_name, device_type = driver(options.device)
    report = {
        "date": datetime.date.today().isoformat(),
        "quick": options.quick,
        "rounds": options.rounds,
        "machine": environment.describe(),
        "driver": driver_name,
        "device_type": device_type,
        "dmlops": dmlops.__version__,
        "peers": peers.describe(contenders),
        "cells": [],
        "probes": {},
    }
    bar = tqdm(total=len(cells) + len(probe_names), unit="cell", dynamic_ncols=True)
    with bar:
        bar.write(reporting.line(reporting.COLUMNS))
        for cell in cells:
            bar.set_description(cell.name)
            try:
                record = contest.run(cell, contenders, options.device, options.rounds)
                report["cells"].append(record)
                bar.write(reporting.line(reporting.row(record, report["peers"])))
            except MemoryError:
                bar.write(f"{cell.name}: memory does not suffice for its arrays")
            summary.save(report, unfinished)
            bar.update()
        for name in probe_names:
            bar.set_description(name)
            try:
                report["probes"][name] = probes.run(name, contenders, options.device, options.quick)
            except Exception as error:
                why = {"reason": peers.reason(error)}
                report["probes"][name] = {"dmlops": why} if name == "first-use" else why
            bar.update()
    unfinished.unlink(missing_ok=True)
    return report


def main():
    options = arguments()
    options.rounds = options.rounds or (3 if options.quick else 7)
    held_to_cpu = environment.prepare(options.device)

    from cells import everything
    from probes import NAMES

    cells = everything(options.quick, options.mib)
    names = chosen([*(cell.name for cell in cells), *NAMES], options.cells)
    if options.list:
        print("\n".join(names))
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
        cells = [cell for cell in cells if cell.name in names]
        report = measure(
            options, cells, [name for name in NAMES if name in names], held_to_cpu, file.with_stem(f"{file.stem}-unfinished")
        )
        summary.save(report, file)
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
