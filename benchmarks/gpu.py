"""Compares dmlops with PyTorch and CuPy on one GPU, on arrays that stay there: ``make bench-gpu``.

python benchmarks/gpu.py --device NVIDIA     two minutes; writes results/gpu.md

Contenders take turns: in a turn each queues a call many times, and waits for the last. Every result is fresh memory, and is
compared with NumPy's, on a smaller array of the cell's shape.
"""

import argparse
import datetime
import json
import os
import statistics
import time
from pathlib import Path

import environment

RESULT = Path(__file__).resolve().parent / "results" / "gpu.md"
GROUPS = ("counted", "family", "beside")
TURNS, TURN = 7, 0.004  # of each contender, and the seconds one takes


class Dmlops:
    name = "dmlops"

    def __init__(self, device):
        import dmlops

        self.module = self.dmlops = dmlops
        self.device = dmlops.asarray(0, device=device).device
        self.wait = dmlops.synchronize

    def prepare(self, cell, x):
        array = self.dmlops.asarray(x, device=self.device)
        return lambda: cell.operator.ours(self.dmlops, array, None)

    def numpy(self, result):
        return result.numpy()


class PyTorch:
    name = "PyTorch"

    def __init__(self):
        import torch
        from peers.pytorch import PyTorch as OnCpu

        class OnGpu(OnCpu):
            uploaded = {}  # the lengths of sequences, by shape

            def take(self, x):
                if isinstance(x, torch.Tensor):
                    return x
                if x.shape not in self.uploaded:
                    self.uploaded[x.shape] = torch.from_numpy(x).cuda()
                return self.uploaded[x.shape]

            def give(self, tensor):
                return tensor.contiguous()

        self.module = self.torch = torch
        self.wait = torch.cuda.synchronize
        self.peer = OnGpu(environment.THREADS)

    def prepare(self, cell, x):
        return self.peer.prepare(cell.operator, self.torch.from_numpy(x).cuda())

    def numpy(self, result):
        return result.cpu().numpy()


class CuPy:
    name = "CuPy"

    def __init__(self):
        import cupy

        self.module = self.cupy = cupy
        self.wait = cupy.cuda.Device().synchronize

    def prepare(self, cell, x):
        array = self.cupy.asarray(x)
        if cell.operator.kind == "transpose":
            return lambda: self.cupy.ascontiguousarray(array.transpose(cell.operator.axes))
        if cell.operator.kind == "reverse":
            index = self.cupy.asarray(cell.operator.index(x.shape))
            rows = self.cupy.arange(len(x))[:, None]
            return lambda: array[rows, index]
        return lambda: cell.operator.numpy(array)

    def numpy(self, result):
        return self.cupy.asnumpy(result)


def contenders(device):
    """Those whose library is there and sees a CUDA device. The first is dmlops."""
    found = [Dmlops(device)]
    for other in (PyTorch, CuPy):
        try:
            contender = other()
            contender.wait()
            found.append(contender)
        except Exception as error:
            print(f"{other.name} is left out: {error}", flush=True)
    return found


def is_right(contender, small):
    from contest import parts, same

    x = small.make_input()
    given = [contender.numpy(part) for part in parts(contender.prepare(small, x)())]
    wanted = parts(small.operator.numpy(x))
    return len(given) == len(wanted) and all(map(same, given, wanted))


def turn(call, wait, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - start) / count * 1e3


def measure(cell, small, rivals):
    """Ms of each contender that does the cell right, and the bytes that are read and written."""
    from contest import parts

    x, calls, times = cell.make_input(), {}, {}
    for rival in rivals:
        try:
            if is_right(rival, small):
                calls[rival.name] = rival.prepare(cell, x), rival.wait
        except Exception as error:
            print(f"{cell.name}: {rival.name} is left out: {str(error)[:100]}", flush=True)
    counts = {}
    for name, (call, wait) in calls.items():
        turn(call, wait, 3)  # builds kernels, fills pools
        counts[name] = max(1, int(TURN * 1e3 / turn(call, wait, 3)))
    for i in range(TURNS):
        names = list(calls)
        for name in names[i % len(names) :] + names[: i % len(names)]:
            times.setdefault(name, []).append(turn(*calls[name], counts[name]))
    result = calls[Dmlops.name][0]()
    written = sum(part.nbytes for part in parts(result))
    moved = round(cell.nbytes * cell.operator.share_read(cell.shape, cell.dtype.itemsize)) + written
    return {"name": cell.name, "moved": moved, "ms": {name: statistics.median(runs) for name, runs in times.items()}}


def page(report):
    from report import number
    from summary import geometric_mean

    names = report["contenders"]
    others = names[1:]
    ratios = {record["name"]: best_of(record) for record in report["cells"]}
    known = [ratio for ratio in ratios.values() if ratio]
    lines = [
        "# Arrays that stay on a GPU",
        "",
        "<!-- generated by `make bench-gpu`; changes made by hand are lost -->",
        "",
        f"{report['date']} · {report['device']}, {report['driver']}; {report['versions']}. {report['mib']} MiB; ms of a call, "
        f"of many that are queued, each with a result of its own; medians of {TURNS} turns. Bandwidth: bytes read and written.",
        "",
    ]
    if known:
        lines += [
            f"The best of {' and '.join(others)} takes **{number(geometric_mean(known))} times** as long (geometric mean of "
            f"{len(known)} cells; {sum(ratio < 1 for ratio in known)} are below 1).",
            "",
        ]
    lines += [f"| | {' | '.join(names)} | GB/s | best other / dmlops |", f"|---|{'---|' * (len(names) + 2)}"]
    for record in report["cells"]:
        ms = [number(record["ms"].get(name)) for name in names]
        ratio = number(ratios[record["name"]])
        bandwidth = record["moved"] / record["ms"]["dmlops"] / 1e6
        lines.append(f"| {record['name']} | {' | '.join(ms)} | {bandwidth:.0f} | {ratio} |")
    return "\n".join([*lines, ""])


def best_of(record):
    others = [ms for name, ms in record["ms"].items() if name != Dmlops.name]
    return min(others) / record["ms"][Dmlops.name] if others else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="part of a GPU's name; without it, the best device")
    parser.add_argument("--mib", type=int, default=64, help="MiB of a cell's array, where its shape allows it")
    parser.add_argument("--cells", nargs="*", default=[], metavar="TEXT", help="only cells whose names contain one of these")
    parser.add_argument("--output", type=Path, default=RESULT, help="the report")
    options = parser.parse_args()
    os.environ.pop("DMLOPS_DEVICE", None)

    import dmlops
    from cells import everything

    with environment.quiet():
        rivals = contenders(options.device)
    device = rivals[0].device
    report = {
        "date": datetime.date.today().isoformat(),
        "device": device.name,
        "driver": device.driver,
        "versions": ", ".join(f"{rival.name} {rival.module.__version__}" for rival in rivals),
        "mib": options.mib,
        "contenders": [rival.name for rival in rivals],
        "cells": [],
    }
    small = {cell.name: cell for cell in everything(mib=2)}
    for cell in everything(mib=options.mib):
        if cell.group in GROUPS and (not options.cells or any(text in cell.name for text in options.cells)):
            report["cells"].append(measure(cell, small[cell.name], rivals))
            print(json.dumps(report["cells"][-1]), flush=True)
            options.output.write_text(page(report))  # what is known at any time
            dmlops.empty_cache()
    print(options.output.read_text())


if __name__ == "__main__":
    main()
