"""What needs a process of its own, or is not about bytes: first use, the cost of a small call, the cache.

`python probes.py first-use MODULE`, `python probes.py cache` and `python probes.py threads` are the children; they print one
line of JSON.
"""

import json
import os
import statistics
import subprocess
import sys
import threading
import time

import environment
from timing import medians

SMALL_CALLS = 1000
STREAM = 64  # operators queued one after the other
CHILD_SECONDS = 600
NAMES = ("first-use", "small-call", "cache", "resident", "transfers", "threads", "dask")


def run(name, peers, device, quick=False):
    """The result of one probe, plain data."""
    if name == "first-use":
        return first_use(peers, device, processes=1 if quick else 3)
    if name == "small-call":
        return small_call(device, calls=100 if quick else SMALL_CALLS)
    if name == "resident":
        return resident(device, repeats=3 if quick else 9)
    if name == "transfers":
        return transfers(device, repeats=3 if quick else 9)
    if name == "threads":
        return threads(device, processes=1 if quick else 7)
    if name == "dask":
        return dask_graph(device, repeats=3 if quick else 9)
    return cache_effect(device, processes=1 if quick else 3)


def first_use(peers, device, processes):
    """Ms of the import and of the first call on 1 MiB in fresh processes: {name: {"import_ms", "first_call_ms"}}."""
    from peers import CLASSES, peer_class

    modules = {peer_class(module).name: module for module in CLASSES if module != "numpy_by_hand"}
    present = {peer.name for peer in peers.present}
    modules = {"dmlops": "dmlops"} | {name: module for name, module in modules.items() if name in present}
    results = {}
    for name, module in modules.items():
        children = [_child("first-use", module, device or "") for _ in range(processes)]
        failed = [child["reason"] for child in children if "reason" in child]
        results[name] = {"reason": failed[0]} if failed else medians(children)
    return results


def small_call(device, calls):
    """Microseconds of a call on 1 KiB."""
    import dmlops
    import numpy as np

    x = np.zeros((1, 16, 4, 4), np.float32)
    calls_us = [_microseconds(lambda: dmlops.depth_to_space(x, 2, device=device)) for _ in range(calls)]
    return {"call_us": statistics.median(calls_us)}


def cache_effect(device, processes):
    """Ms of 64 MiB depth_to_space with the cache of result blocks and without, in alternating processes."""
    runs = {"with": [], "without": []}
    for _ in range(processes):
        runs["with"].append(_child("cache", device or ""))
        runs["without"].append(_child("cache", device or "", DMLOPS_CACHE="0"))
    failed = [child["reason"] for children in runs.values() for child in children if "reason" in child]
    return {"reason": failed[0]} if failed else {key: medians(children) for key, children in runs.items()}


def resident(device, repeats):
    """Arrays that stay on the device: `queue_us` of each of 64 small operators until the last of them returns; on 64 MiB the ms
    of five operators in a row (`chain_ms`) and of the five one by one (`single_ms`), then of depth_to_space of a cropped and
    mirrored view (`view_ms`) and of a contiguous array of the same shape (`dense_ms`)."""
    import dmlops
    import numpy as np

    def ms(call):
        dmlops.synchronize()
        start = time.perf_counter_ns()
        result = call()
        dmlops.synchronize()
        stop = time.perf_counter_ns()
        del result
        return (stop - start) / 1e6

    small, queue_us = dmlops.asarray(np.zeros((1, 16, 4, 4), np.float32), device=device), []
    for _ in range(SMALL_CALLS // STREAM):
        queue_us.append(_microseconds(lambda: [dmlops.depth_to_space(small, 2) for _ in range(STREAM)]) / STREAM)
        dmlops.synchronize()
    lengths = np.arange(2048).reshape(1, 1, 2048, 1)
    steps = [
        lambda a: dmlops.depth_to_space(a, 2),
        lambda a: dmlops.slice(a, [0] * 4, a.shape, [1, 1, 1, -1]),
        lambda a: dmlops.space_to_depth(a, 2),
        lambda a: dmlops.reverse_subsequences(a, lengths, 3),
        lambda a: dmlops.slice(a, [0] * 4, a.shape, [1, 1, -1, 1]),
    ]
    inputs = [dmlops.asarray(np.ones((1, 4, 2048, 2048), np.float32), device=device)]
    for step in steps[:-1]:
        inputs.append(step(inputs[-1]))

    def chain():
        a = inputs[0]
        for step in steps:
            a = step(a)
        return a

    view = dmlops.asarray(np.ones((1, 16, 1026, 1026), np.float32), device=device)[..., 1:-1, -2:0:-1]
    dense = view.copy()
    rounds = [
        {
            "chain_ms": ms(chain),
            "single_ms": sum(ms(lambda: step(a)) for step, a in zip(steps, inputs, strict=True)),  # noqa: B023
            "view_ms": ms(lambda: dmlops.depth_to_space(view, 2)),
            "dense_ms": ms(lambda: dmlops.depth_to_space(dense, 2)),
        }
        for _ in range(repeats + 2)
    ]
    return {"queue_us": statistics.median(queue_us)} | medians(rounds[2:])


def transfers(device, repeats):
    """Ms of an upload, a download and a call between host arrays, of 64 MiB: as dmlops chooses to move them, and through
    staging memory only: {way: {"up_ms", "down_ms", "call_ms"}}."""
    import dmlops
    import numpy as np
    from dmlops import _core

    x = np.ones((4, 16, 512, 512), np.float32)

    def rounds():
        array = dmlops.asarray(x, device=device)
        calls = {
            "up_ms": lambda: dmlops.asarray(x, device=device).wait(),
            "down_ms": array.numpy,
            "call_ms": lambda: dmlops.depth_to_space(x, 2, device=device),
        }
        return [{name: _microseconds(call) / 1e3 for name, call in calls.items()} for _ in range(repeats + 8)][8:]

    results = {"as it chooses": medians(rounds())}
    _core._override("host_import", 0)
    _core._override("mapped", 0)
    try:
        results["through staging memory"] = medians(rounds())
    finally:
        _core._override("host_import", -1)
        _core._override("mapped", -1)
    return results


def threads(device, processes):
    """Calls on 1 KiB in a second, from one thread and from four, of each process, since the system places threads with more
    luck in some than in others: {what: [{"one", "four"}]}."""
    children = [_child("threads", device or "") for _ in range(processes)]
    failed = [child for child in children if "reason" in child]
    return failed[0] if failed else {name: [child[name] for child in children] for name in children[0]}


def dask_graph(device, repeats):
    """Ms for each of 32 blocks of 64 MiB that depth_to_space takes: of a Dask graph on two threads (`graph_ms`), of plain calls
    one after the other (`calls_ms`), and of a graph of the NumPy expression (`numpy_ms`). No result is kept."""
    import dask.array as da
    import dmlops.dask
    import numpy as np

    shape = (4, 16, 512, 512)
    blocks = [np.ones(shape, np.float32) for _ in range(8)] * 4  # many, as a graph takes some 2 ms whatever its size
    x = da.concatenate([da.from_array(block, chunks=shape, name=False) for block in blocks]).persist(scheduler="synchronous")

    def first(block):
        return block[:1, :1, :1, :1].copy()

    def expression(block):
        n, c, h, w = block.shape
        return block.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)

    def graph(result):
        firsts = result.map_blocks(first, chunks=((1,) * len(blocks), (1,), (1,), (1,)), dtype=x.dtype)
        return lambda: firsts.compute(scheduler="threads", num_workers=2)

    numpys = x.map_blocks(expression, chunks=(x.chunks[0], (4,), (1024,), (1024,)), dtype=x.dtype)
    ways = {
        "graph_ms": graph(dmlops.dask.depth_to_space(x, 2, device=device)),
        "calls_ms": lambda: [first(dmlops.depth_to_space(block, 2, device=device)) for block in blocks],
        "numpy_ms": graph(numpys),
    }
    rounds = [{name: _microseconds(way) / 1e3 / len(blocks) for name, way in ways.items()} for _ in range(repeats + 2)]
    return medians(rounds[2:])


def _microseconds(call):
    start = time.perf_counter_ns()
    result = call()
    stop = time.perf_counter_ns()
    del result
    return (stop - start) / 1e3


def _child(*arguments, **variables):
    command = [sys.executable, os.path.abspath(__file__), *arguments]
    try:
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=CHILD_SECONDS)
    except subprocess.TimeoutExpired:
        return {"reason": f"the process took more than {CHILD_SECONDS} s"}
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"reason": f"the process ended with {done.returncode}"}


def _child_first_use(module, device):
    import numpy as np

    import cells
    import peers

    operator, x = cells.DepthToSpace(), np.zeros((1, 16, 128, 128), np.float32)
    start = time.perf_counter()
    if module == "dmlops":
        import dmlops

        prepare = lambda: lambda: operator.ours(dmlops, x, device or None)  # noqa: E731
    else:
        peer = peers.peer_class(module)(environment.THREADS, device or None)
        prepare = lambda: peer.prepare(operator, x)  # noqa: E731
    imported = time.perf_counter()
    prepare()()
    done = time.perf_counter()
    return {"import_ms": (imported - start) * 1e3, "first_call_ms": (done - imported) * 1e3}


def _child_threads(device):
    import numpy as np

    import dmlops

    host = np.zeros((1, 16, 4, 4), np.float32)
    small = dmlops.asarray(host, device=device or None)
    kinds = {
        "NumPy's copy": host.copy,
        "NumPy arrays": lambda: dmlops.depth_to_space(host, 2, device=device or None),
        "device arrays, with download": lambda: np.asarray(dmlops.depth_to_space(small, 2)),
        "device arrays, queued": lambda: dmlops.depth_to_space(small, 2),
    }

    def rate(call, count):
        def work():
            for _ in range(4 * SMALL_CALLS // count):
                call()

        workers = [threading.Thread(target=work) for _ in range(count)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        dmlops.synchronize()
        return 4 * SMALL_CALLS / (time.perf_counter() - start)

    return {
        name: medians([{"one": rate(call, 1), "four": rate(call, 4)} for _ in range(8)][1:]) for name, call in kinds.items()
    }


def _child_cache(device):
    import dmlops

    import cells
    from timing import once

    cell = next(cell for cell in cells.everything() if cell.name == "depth_to_space/4")
    x = cell.make_input()
    ours = [once(lambda: cell.operator.ours(dmlops, x, device or None)) for _ in range(11)]
    copy = [once(x.copy) for _ in range(9)]
    return {"ms": statistics.median(ours[2:]), "copy_ms": statistics.median(copy[2:])}


if __name__ == "__main__":
    probe = {"first-use": _child_first_use, "cache": _child_cache, "threads": _child_threads}[sys.argv[1]]
    try:
        with environment.quiet():
            outcome = probe(*sys.argv[2:])
    except Exception as error:
        from peers import reason

        outcome = {"reason": reason(error)}
    print(json.dumps(outcome))
