"""What a GPU's time goes into, for a GPU that is at hand for minutes: two calls, of at most five each.

make bench-gpu-stages                  packs into build/gpu what a machine lacks that has NumPy and a C compiler
sh benchmarks/gpu_stages.sh figures    there: for each cell of gpu.py the time on the device, between command buffers and on the
                                       host, and with other tunables: JSON, and a table for docs/tuning.md; then gpu.py
sh benchmarks/gpu_stages.sh tests      there: the tests that no GPU has run, a file a process; what hangs costs seconds

A layer (gpu_stages.c) writes timestamps, which is a part of the host's time. What is known at any time is in --output.
"""

import argparse
import ctypes
import json
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS, TURNS = 40, 5  # calls of a turn: fewer than wait for room in the queue
STAGES = ("all", "device", "gaps", "host", "vkQueueSubmit", "submissions")
TUNABLES = {
    "": {},  # as they are
    "max_item 16": {"max_item": 16},
    "invocation_bytes 0": {"invocation_bytes": 0},
    "words_tile 4": {"words_tile": 4, "words_dense": 5},
}
LENGTHS = "lengths on the device"


def stages(layer, call, wait):
    """Microseconds of a call, one of many that are queued at once; and submissions."""
    found = (ctypes.c_uint64 * 4 * 4096)()  # begin and end on the device, and around vkQueueSubmit
    wait()
    if layer.stages_take(found) < 0:
        raise SystemExit("the device's queue has no timestamps")
    began = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    queued = time.perf_counter_ns()
    wait()
    done = time.perf_counter_ns()
    ours = [tuple(stage) for stage in found[: layer.stages_take(found)]]
    device, gaps, last = 0, 0, ours[0][0]
    for begin, end, _, _ in ours:  # what overlaps counts once
        gaps += max(0, begin - last)
        device += max(0, end - max(begin, last))
        last = max(last, end)
    submitted = {called: returned - called for _, _, called, returned in ours}
    us = [ns / 1e3 for ns in (done - began, device, gaps, queued - began, sum(submitted.values()))]
    return [one / CALLS for one in (*us, len(submitted))]


def measure(layer, dmlops, cell, device):
    from contest import parts, same
    from gpu import turn

    x, wait, times = cell.make_input(), dmlops.synchronize, {}
    array = dmlops.asarray(x, device=device)
    calls = dict.fromkeys(TUNABLES, lambda: cell.operator.ours(dmlops, array, None))
    if cell.operator.kind == "reverse":
        lengths = dmlops.asarray(cell.operator.lengths(x.shape), device=device)
        calls[LENGTHS] = lambda: dmlops.reverse_subsequences(array, lengths, axis=1, batch_axis=0)
    expected = [part.numpy() for part in parts(calls[""]())]
    for round in range(-1, TURNS):
        for name, call in calls.items():
            for trait, value in TUNABLES.get(name, {}).items():
                dmlops._core._override(trait, value)
            if round >= 0:
                times.setdefault(name, []).append(turn(call, wait, CALLS))
            elif not all(map(same, [part.numpy() for part in parts(call())], expected)):  # kernels are built here
                print(f"{cell.name} with {name}: WRONG", flush=True)
            for trait in TUNABLES.get(name, {}):
                dmlops._core._override(trait, -1)
    medians = {name: statistics.median(ms) for name, ms in times.items()}
    taken = map(statistics.median, zip(*(stages(layer, calls[""], wait) for _ in range(TURNS)), strict=True))
    ratios = {name: medians[name] / medians[""] for name in calls}
    return {"name": cell.name, **dict(zip(STAGES, taken, strict=True)), "ratios": ratios}


def page(device, mib, records, left):
    names = [*filter(None, TUNABLES), LENGTHS]
    lines = [
        f"{device.name}, {device.driver}; {mib} MiB; us a call, medians of {TURNS} turns of {CALLS}, and submissions of one. "
        + f"With other tunables, the ratio of times where it is 3 % off. Cells left out: {left}.",
        "",
        f"| | {' | '.join([*STAGES, *names])} |",
        f"|---|{'---|' * (len(STAGES) + len(names))}",
    ]
    for record in records:
        ratios = [record["ratios"].get(name, 1) for name in names]
        shown = [f"{record[stage]:.2f}" for stage in STAGES] + [f"{r:.2f}" if abs(r - 1) >= 0.03 else "" for r in ratios]
        lines.append(f"| {record['name']} | {' | '.join(shown)} |")
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", metavar="TEXT", help="only cells whose names contain one of these")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--device", help="part of a GPU's name; without it, the best device")
    parser.add_argument("--mib", type=int, default=64, help="MiB of a cell's array, where its shape allows it")
    parser.add_argument("--seconds", type=float, default=270, help="nothing begins after that")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    sys.path.insert(1, str(ROOT / "tests"))
    import faults

    layer = ctypes.CDLL(str(faults.build(options.output, [Path(__file__).with_suffix(".c")], "stages")))
    os.environ |= {"VK_LAYER_PATH": str(options.output), "VK_INSTANCE_LAYERS": "VK_LAYER_DMLOPS_stages"}
    import dmlops
    from cells import everything
    from gpu import GROUPS

    end, records = time.monotonic() + options.seconds, []
    device = dmlops.asarray(0, device=options.device).device
    cells = [cell for cell in everything(mib=options.mib) if cell.group in GROUPS]
    cells = [cell for cell in cells if not options.only or any(text in cell.name for text in options.only)]
    for cell in cells:
        if time.monotonic() > end:
            break
        try:
            records.append(measure(layer, dmlops, cell, device))
            (options.output / "gpu_stages.json").write_text(json.dumps(records, indent=1))
            (options.output / "gpu_stages.md").write_text(page(device, options.mib, records, len(cells) - len(records)))
        except Exception as error:
            print(f"{cell.name} is left out: {error}", flush=True)
        dmlops.empty_cache()
    print((options.output / "gpu_stages.md").read_text())


if __name__ == "__main__":
    main()
