"""One cell: everybody who can do it, checked against NumPy first, then measured against each other."""

import functools
import gc
import itertools

import dmlops
import numpy as np

from environment import quiet
from peers import Unsupported, reason
from timing import ROUNDS, Contender, measure

OURS = "dmlops"
AUTO = "dmlops auto"  # where the estimates say: on the device, or on the host
RESIDENT = "dmlops resident"  # the same on an array that is on the device already, and stays there
DEVICE_COPY = "device copy"  # of that array, by the device
ON_DEVICE = (RESIDENT, DEVICE_COPY)
COPY = "x.copy()"
PLAIN = "plain cell"  # dmlops on the cell that this one is compared with
MEMSET = "memset"  # of an array as large as the result of a pipeline
NOT_PEERS = (OURS, AUTO, *ON_DEVICE, PLAIN, COPY, MEMSET)


def run(cell, peers, device=None, rounds=ROUNDS, names=None):
    """The record of `cell`, plain data; with `names`, of these contenders alone."""
    x = cell.make_input()
    device = dmlops.default_device().index if device is None else device  # also of fused functions, which take "auto"
    results, contenders = {}, []
    upload = functools.cache(lambda: dmlops.asarray(x, device=device))
    calls = {
        COPY: lambda: x.copy,
        OURS: lambda: lambda: cell.operator.ours(dmlops, x, device),
        AUTO: lambda: lambda: cell.operator.ours(dmlops, x, "auto"),
        RESIDENT: lambda: _on_device(upload(), lambda array: cell.operator.ours(dmlops, array, None)),
        DEVICE_COPY: lambda: _on_device(upload(), lambda array: array.copy()),
    }
    if cell.plain:
        plain = cell.plain.make_input()
        calls[PLAIN] = lambda: lambda: cell.plain.operator.ours(dmlops, plain, device)
    calls.update({peer.name: lambda peer=peer: _prepare(peer, cell, x) for peer in peers.present})

    expected = cell.operator.numpy(x)
    different = {}
    for name in names or calls:
        try:
            with quiet():
                right = {COPY: lambda: x, DEVICE_COPY: lambda: x, PLAIN: lambda: cell.plain.operator.numpy(plain)}
                found = _checked(name, calls[name](), x, right.get(name, lambda: expected)(), cell.operator.kind == "pipeline")
                contenders.append(found)
                different |= {} if found.same_bits else {name: {"same_bits": False}}
        except Exception as error:
            results[name] = {"ms": None, "reason": reason(error)}
    written = sum(part.nbytes for part in parts(expected))
    if cell.operator.kind == "pipeline" and (not names or MEMSET in names):
        contenders.append(Contender(MEMSET, functools.partial(np.zeros(written, np.uint8).fill, 1)))
    del expected

    timings, failed = measure(contenders, rounds)
    results.update(
        {
            name: {"ms": timing.ms, "low": min(timing.runs), "high": max(timing.runs)} | different.get(name, {})
            for name, timing in timings.items()
        }
    )
    results.update({name: {"ms": None, "reason": reason(error)} for name, error in failed.items()})
    results.update({name: {"ms": None, "reason": why} for name, why in peers.absent.items()})
    contenders.clear()
    gc.collect()  # sessions and their arenas
    return {
        "name": cell.name,
        "title": cell.title,
        "group": cell.group,
        "operator": repr(cell.operator).replace("Ellipsis", "..."),
        "dtype": cell.dtype.name,
        "shape": list(cell.shape),
        "nbytes": cell.nbytes,
        "read": round(cell.nbytes * cell.operator.share_read(cell.shape, cell.dtype.itemsize)),
        "written": written,
        "target": cell.target,
        "plain": cell.plain and {"name": cell.plain.name, "nbytes": cell.plain.nbytes},
        "results": {name: results[name] for name in (*NOT_PEERS, *peers.names) if name in results},
    }


def _prepare(peer, cell, x):
    if peer.where == "vulkan" and not cell.vulkan:
        raise Unsupported("measured up to 64 MiB only")
    return peer.prepare(cell.operator, x)


def _on_device(array, work):
    def call():
        result = work(array)
        for part in parts(result):
            part.wait()
        return result

    return call


def parts(result):
    """The arrays of a result: most operators have one, `split` has several."""
    return result if isinstance(result, list) else [result]


def _checked(name, call, x, expected, rounded=False):
    """A contender whose results are right, bit for bit, or `rounded` in other places; and arrays of their own."""
    first = parts(call())
    if name in ON_DEVICE:
        first = [part.numpy() for part in first]
    for part in first:
        if not isinstance(part, np.ndarray):
            raise Unsupported(f"gives {type(part).__name__}, not an array")
    expected = parts(expected)
    same_bits = len(first) == len(expected) and all(map(same, first, expected))
    if not same_bits and (name in NOT_PEERS or not rounded or not all(map(close, first, expected))):
        raise Unsupported("the result differs from NumPy's")
    second = [] if name in ON_DEVICE else parts(call())
    shared = any(np.may_share_memory(a, b) for a, b in itertools.product(second, [*first, x]))
    if shared or not all(part.flags.c_contiguous for part in first):
        raise Unsupported("the result is not an array of its own")
    return Contender(name, call, same_bits)


def close(a, b):
    """Whether two arrays are equal but for roundings."""
    return a.shape == b.shape and a.dtype == b.dtype and bool(np.allclose(a, b, rtol=1e-2, atol=1e-2))


def same(a, b):
    """Whether two arrays are equal to the bit."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    bits = np.dtype(f"u{a.itemsize}")
    pieces = zip(np.array_split(a, 16), np.array_split(b, 16))  # one at a time: less memory
    return all(np.array_equal(p.view(bits), q.view(bits)) for p, q in pieces)
