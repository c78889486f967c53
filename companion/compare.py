"""Time dmlops on two or more Vulkan drivers, in turn: ``python companion/compare.py [--cells GLOB ...] MANIFEST MANIFEST ...``

Each driver has a process of its own, which stays. The drivers take turns at each cell of the benchmark, so that whatever
else the machine does meets all alike. Prints the medians of the turns in milliseconds, and the first driver's time over
each other's: above 1, the other is faster. ``--cpu`` takes the CPU time of all threads, which depends less on what else
runs, but says nothing about waiting: it is for large arrays.
"""

import argparse
import fnmatch
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
DEFAULT = ["*/1", "*/4", "photographs*", "sizes/*KiB", "sizes/1MiB", "sizes/4MiB"]
MIB = 64


class Worker:
    """Times cells on one driver, in a process of its own."""

    def __init__(self, manifest, *options):
        environment = {**os.environ, "VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest}
        command = [sys.executable, __file__, "--work", *options]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.driver = self.process.stdout.readline().strip()

    def time(self, cell):
        print(cell, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def cpu_turn(call, seconds=0.05):
    """CPU milliseconds of a call, over as many as take a moment."""
    call()
    begin, calls = time.process_time(), 0
    while time.process_time() - begin < seconds:
        call()
        calls += 1
    return (time.process_time() - begin) / calls * 1e3


def work(cpu):
    """Read names of cells, time one turn of each; the input is kept until another cell is asked for."""
    import cells
    import dmlops
    import timing

    known = {cell.name: cell for cell in cells.everything(mib=MIB)}
    device = next(device for device in dmlops.devices() if device.type == "cpu")
    print(device.name, device.driver, flush=True)
    last = None
    for name in map(str.strip, sys.stdin):
        cell = known[name]
        if name != last:
            last, data = name, cell.make_input()
        turn = cpu_turn if cpu else timing._one_turn
        print(turn(lambda: cell.operator.ours(dmlops, data, device)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", action="append", metavar="GLOB", help=f"of the benchmark (default: {' '.join(DEFAULT)})")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of time")
    parser.add_argument("manifests", nargs="+", metavar="MANIFEST")
    options = parser.parse_args()
    import cells

    names = [cell.name for cell in cells.everything(mib=MIB)]
    names = [name for name in names if any(fnmatch.fnmatchcase(name, glob) for glob in options.cells or DEFAULT)]
    workers = [Worker(manifest, *["--cpu"] * options.cpu) for manifest in options.manifests]
    for number, worker in enumerate(workers):
        print(f"{number}: {worker.driver}, {options.manifests[number]}")
    logarithms = [[] for _ in workers]
    for name in names:
        times = [[] for _ in workers]
        for turn in range(options.turns):
            for number in [*range(turn % len(workers), len(workers)), *range(turn % len(workers))]:
                times[number].append(workers[number].time(name))
        medians = [statistics.median(part) for part in times]
        for part, median in zip(logarithms, medians):
            part.append(math.log(medians[0] / median))
        ratios = " ".join(f"{medians[0] / median:5.2f}" for median in medians[1:])
        print(f"{name:32}", " ".join(f"{median:8.3f}" for median in medians), " ", ratios, flush=True)
    print("geometric means of the ratios:", *(f"{math.exp(statistics.fmean(part)):.3f}" for part in logarithms[1:]))


if __name__ == "__main__":
    work("--cpu" in sys.argv) if sys.argv[1:2] == ["--work"] else main()
