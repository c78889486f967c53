"""Measures dmlops against everybody else and writes what came out. `make bench` runs this.

python benchmarks/run.py                        everything, and the README's section
python benchmarks/run.py --cells 'mirror*' ...  some cells (`--list` names them), README untouched
python benchmarks/run.py --device nvidia --mib 256  another device, and larger arrays: files of their own, README untouched
python benchmarks/run.py --quick                small arrays: does it work at all?
python benchmarks/run.py --render               text, pictures and README anew from the saved JSON
"""

import argparse
import datetime
import fnmatch
import os
import re
from pathlib import Path

import environment

HERE = Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cells", nargs="*", default=[], metavar="GLOB", help="only these cells and probes; commas separate too"
    )
    parser.add_argument("--quick", action="store_true", help="4 MiB instead of 64, fewer rounds")
    parser.add_argument("--mib", type=int, default=64, help="MiB of a cell's array")
    parser.add_argument("--rounds", type=int, help="calls of each contender (7, with --quick 3)")
    parser.add_argument("--device", help="part of a device's name; without it lavapipe, the driver on the CPU")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="folder of JSON and pictures")
    parser.add_argument(
        "--readme", type=Path, default=HERE.parent / "README.md", help="file whose section is generated"
    )
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--list", action="store_true", help="print the names of all cells and probes")
    return parser.parse_args()


def chosen(names, patterns):
    """The names that one of the patterns matches; `mirror` stands for `mirror/*`."""
    patterns = [part for pattern in patterns for part in pattern.replace(",", " ").split()]
    if not patterns:
        return list(names)
    patterns += [f"{pattern}/*" for pattern in patterns]
    return [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def import_ours():
    """The module, or the reason why there is none."""
    try:
        import dmlops

        return dmlops if hasattr(dmlops, "depth_to_space") else "only an unbuilt folder named dmlops was found"
    except Exception as error:
        from peers import reason

        return reason(error)


def driver(ours, peers, device):
    """The name of the Vulkan driver that is measured, as dmlops or else wgpu tells it, and the device's type as dmlops does."""
    if not isinstance(ours, str):
        wanted = (device or os.environ.get("DMLOPS_DEVICE") or "").lower()
        for found in ours.devices():
            if found.usable and (int(wanted) == found.index if wanted.isdigit() else wanted in found.name.lower()):
                return f"{found.name}, {found.driver}", found.type
    for peer in peers.present:
        if peer.name == "wgpu":
            return f"{peer.adapter.info['device']}, {peer.adapter.info['description']}", None
    return None, None


def measure(options, cells, probe_names, held_to_cpu):
    from tqdm import tqdm

    import contest
    import peers
    import probes
    import report as reporting

    ours = import_ours()
    with environment.quiet():
        contenders = peers.load(environment.THREADS, options.device, cuda=not held_to_cpu)
        driver_name, device_type = driver(ours, contenders, options.device)
    report = {
        "date": datetime.date.today().isoformat(),
        "quick": options.quick,
        "rounds": options.rounds,
        "machine": environment.describe(),
        "driver": driver_name,
        "device_type": device_type,
        "dmlops": None if isinstance(ours, str) else getattr(ours, "__version__", None),
        "peers": peers.describe(contenders),
        "cells": [],
        "probes": {},
    }
    bar = tqdm(total=len(cells) + len(probe_names), unit="cell", dynamic_ncols=True)
    with bar:
        bar.write(reporting.line(reporting.COLUMNS))
        for cell in cells:
            bar.set_description(cell.name)
            record = contest.run(cell, ours, contenders, options.device, options.rounds)
            report["cells"].append(record)
            bar.write(reporting.line(reporting.row(record, report["peers"])))
            bar.update()
        for name in probe_names:
            bar.set_description(name)
            try:
                report["probes"][name] = probes.run(name, ours, contenders, options.device, options.quick)
            except Exception as error:
                why = {"reason": peers.reason(error)}
                report["probes"][name] = {"dmlops": why} if name == "first-use" else why
            bar.update()
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
    usual = options.device is None and options.mib == 64
    whole = not options.cells and not options.quick
    complete = usual and whole
    suffix = "" if usual else re.sub(r"\W+", "-", f"-{options.device or 'cpu'}-{options.mib}MiB")
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
        report = measure(options, cells, [name for name in NAMES if name in names], held_to_cpu)
        report["checks"] = summary.checks(report)
        summary.save(report, file)
    pictures = plots.draw(report, options.output, suffix)
    print(reporting.text(report))
    if complete:
        paths = {what: _relative(options.output / name, options.readme.parent) for what, name in pictures.items()}
        if not reporting.update_readme(options.readme, report, paths):
            print(f"\n{options.readme.name} has no markers {reporting.BEGIN} and {reporting.END}; it was left alone.")


def _relative(path, folder):
    return Path(os.path.relpath(path, folder)).as_posix()


if __name__ == "__main__":
    main()
