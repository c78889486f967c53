"""dmlops.counters: exact whatever threads call, zero in a forked child, by name and device."""

import re
import threading

import dmlops
import numpy as np
import pytest
from dmlops import Counters, _core

import support

X = np.arange(6 * 20, dtype=np.uint8).reshape(6, 20)


class Counting:
    """What has been counted since it was made."""

    def __init__(self):
        self.before = dmlops.counters()

    def calls(self):
        """(calls, bytes) by name and device: those that have changed."""
        old = {one[:2]: one[2:] for one in self.before.calls}
        new = {one[:2]: one[2:] for one in dmlops.counters().calls}
        both = {key: (calls - old.get(key, (0, 0))[0], size - old.get(key, (0, 0))[1]) for key, (calls, size) in new.items()}
        return {key: counts for key, counts in both.items() if counts != (0, 0)}

    def __getattr__(self, name):
        return getattr(dmlops.counters(), name) - getattr(self.before, name)


def test_a_record_is_frozen_and_typed():
    found = dmlops.counters()
    assert isinstance(found, Counters) and isinstance(found, tuple)
    with pytest.raises(AttributeError):
        found.queue_waits = 1
    for name, value in found._asdict().items():
        assert type(value) is (tuple if name == "calls" else float if name.endswith("_seconds") else int), name
    assert all(Counters.__dict__[name].__doc__ for name in Counters._fields)


# What each public function counts as, where that is not one call of its own name.
CALLS = {
    "transpose": lambda **how: dmlops.transpose(X, **how),
    "slice": lambda **how: dmlops.slice(X, [0, 0], [2, 3], **how),
    "take": lambda **how: dmlops.take(X, [1, 0], 0, **how),
    "take_along_axis": lambda **how: dmlops.take_along_axis(X, X % 6, 0, **how),
    "gather_nd": lambda **how: dmlops.gather_nd(X, [[1], [0]], **how),
    "put_along_axis": lambda **how: dmlops.put_along_axis(X, X[:1] % 6, 7, 0, **how),
    "scatter_nd": lambda **how: dmlops.scatter_nd(X, [[1], [0]], X[:2], **how),
    "split": lambda **how: dmlops.split(X, 0, [2, 4], **how),
    "join": lambda **how: dmlops.join([X, X], 0, **how),
    "roll": lambda **how: dmlops.roll(X, 3, 1, **how),
    "crops": lambda **how: dmlops.crops(X[None], [[0, 1]], (2, 3), axes=(1, 2), **how),
    "sliding_windows": lambda **how: dmlops.sliding_windows(X, (2, 2), **how),
    "resize_nearest": lambda **how: dmlops.resize_nearest(X, (3, 7), **how),
    "resize_torchvision": lambda **how: dmlops.resize_torchvision(np.zeros((3, 9, 9), np.uint8), (4, 5), "nearest", **how),
    "resize_pillow": lambda **how: dmlops.resize_pillow(np.zeros((9, 9, 3), np.uint8), (4, 5), **how),
}


@pytest.mark.parametrize("progress", [None, False, lambda done, total: None], ids=["plain", "without", "with"])
@pytest.mark.parametrize("name", CALLS)
def test_operators_count_by_their_public_name(name, progress, device):
    CALLS[name](device=device)
    counting = Counting()
    made = CALLS[name](device=device, progress=progress)
    where = "host" if device == "host" else dmlops.default_device().index
    nbytes = sum(one.nbytes for one in made) if isinstance(made, list) else made.nbytes
    assert counting.calls() == {(name, where): (1, nbytes)}


def test_a_call_that_raises_does_not_count(device):
    counting = Counting()
    with pytest.raises(ValueError):
        dmlops.transpose(X, (0, 0), device=device)
    with pytest.raises(ValueError):
        dmlops.transpose(X, device=device, out=np.empty((1, 1), np.uint8))
    assert counting.calls() == {}


def test_explanations_and_proofs_do_not_count(device):
    function = dmlops.fuse(lambda x: np.maximum(x.astype(np.float32), 3).T)
    function(X, device="host")
    counting = Counting()
    function.explain(X, device=device)
    function.prove(X)
    assert counting.calls() == {} and counting.programs_made == counting.programs_found == 0


def test_transfers_and_device_arrays(device):
    where = "host" if device == "host" else dmlops.default_device().index
    counting = Counting()
    a = dmlops.asarray(X, device=device)
    assert counting.calls() == {("upload", where): (1, 120)}
    counting = Counting()
    assert a[[1, 0]].shape == (2, 20)
    assert counting.calls() == {("take", where): (1, 40)}
    counting = Counting()
    b = a.copy()
    b[0] = X[1]
    b.numpy()
    assert counting.calls() == {("copy", where): (1, 120), ("upload", where): (1, 20), ("download", where): (1, 120)}
    counting = Counting()
    np.concatenate([a, b])
    assert counting.calls() == {("concatenate", where): (1, 240)}


def test_fused_functions_by_name():
    def prepare(x):
        return x.T, x[::-1]

    function = dmlops.fuse(prepare)
    counting = Counting()
    for x in (X, X, X[:3], X):
        function(x, device="host")
    assert counting.calls() == {("prepare", "host"): (4, 2 * (3 * 120 + 60))}
    assert (counting.programs_made, counting.programs_found, counting.programs_dropped) == (2, 2, 0)


def test_a_function_of_several_passes_counts_once():
    def patches(x):
        small = dmlops.resize_pillow(x, (4, 5))
        return small.astype(np.float32), small.T

    function = dmlops.fuse(patches)
    photo = np.zeros((9, 9, 3), np.uint8)
    small, big = function(photo, device="host")
    assert function.explain(photo, device="host").passes > 1
    counting = Counting()
    function(photo, device="host", progress=lambda done, total: None)
    function(photo, device="host")
    ((key, (calls, size)),) = counting.calls().items()
    assert (*key, calls, size) == ("patches", "host", 2, 2 * (small.nbytes + big.nbytes)) and counting.programs_found == 2


def test_programs_that_are_dropped():
    function = dmlops.fuse(lambda x: x.T)
    function.max_programs = 2
    counting = Counting()
    for _ in range(3):
        for rows in range(1, 5):
            function(X[:rows], device="host")
    assert (counting.programs_made, counting.programs_found, counting.programs_dropped) == (12, 0, 10)


def test_what_auto_chose_is_seen(vulkan):
    counting = Counting()
    dmlops.transpose(X, device="auto")
    assert counting.calls() == {("transpose", "host"): (1, 120)}


@pytest.mark.parametrize("number", [1000, 1 << 15, _core._FOUND | 1023, 1 << 70])
def test_numbers_that_are_none_of_a_row(number):
    with pytest.raises((ValueError, OverflowError)):
        _core._transpose(X, None, None, "host", number)


def test_names_are_bounded_and_cut():
    code = """
import dmlops, numpy as np
from dmlops import _core
x = np.zeros((2, 3), np.uint8)
for number in range(1500):
    def function(x):
        return x.T
    function.__name__ = f"f{number}"
    dmlops.fuse(function)(x, device="host")
function.__name__ = "g" * 300
calls = {one.name: one.calls for one in dmlops.counters().calls}
assert len(calls) < 1024 and calls["f0"] == 1 and calls["others"] == 1500 - (len(calls) - 1)
assert _core._row("x" * 300) == _core._row("others") == _core._row("never seen")
"""
    support.run_python(code)
    support.run_python(
        "from dmlops import _core; row = _core._row('ä' * 300)\n"
        "assert _core._row('ä' * 200) == row != _core._row('ä') and _core._row('\\ud800') == _core._row('?')"
    )


def test_threads_lose_nothing(device):
    function = dmlops.fuse(lambda x: x.T)
    function.__name__ = "unused"
    function(X, device=device)
    threads, each = 8, 1000 if device == "host" else 200
    counting = Counting()

    def work():
        for _ in range(each):
            dmlops.transpose(X, device=device)
            function(X, device=device)

    running = [threading.Thread(target=work) for _ in range(threads)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    where = "host" if device == "host" else dmlops.default_device().index
    both = threads * each, threads * each * X.nbytes
    assert counting.calls() == {("transpose", where): both, ("<lambda>", where): both}
    assert counting.programs_found == threads * each and counting.programs_made == 0
    if device != "host":
        assert counting.queue_waits == 2 * threads * each


def test_kernels_that_are_compiled(vulkan):
    code = """
import dmlops, numpy as np
x = np.zeros((100, 200), np.uint8)
for _ in range(3):
    dmlops.transpose(x, device=0)
first = dmlops.counters()
assert first.kernels_compiled == 1 and 0 < first.compile_seconds < 600
dmlops.transpose(x.astype("f8"), device=0)
assert dmlops.counters().kernels_compiled == 2 and dmlops.counters().compile_seconds > first.compile_seconds
"""
    support.run_python(code, env={"MESA_SHADER_CACHE_DISABLE": "true"})


@pytest.mark.needs_import
def test_imports_and_staging(vulkan):
    x = np.zeros((256, 1024), np.float32)
    counting = Counting()
    dmlops.slice(x, [0, 0], [256, 1024], [-1, 1], device=vulkan)
    assert counting.imports == 2 and 2 * x.nbytes <= counting.imported_bytes <= 2 * x.nbytes + 64
    assert counting.staged_chunks == counting.staged_bytes == 0
    _core._override("host_import", 0)
    try:
        counting = Counting()
        dmlops.slice(x, [0, 0], [256, 1024], [-1, 1], device=vulkan)
        assert counting.imports == 0
        assert counting.staged_chunks >= 1 and counting.staged_bytes == 2 * x.nbytes and counting.queue_waits >= 1
    finally:
        _core._override("host_import", -1)


def test_pools_and_peaks(device):
    dmlops.empty_cache()
    dmlops.synchronize()
    peak = "host_peak_bytes" if device == "host" else "device_peak_bytes"
    used = dmlops.memory_info(device).used
    size = 3 << 20
    counting = Counting()
    arrays = [dmlops.empty((size,), np.uint8, device=device) for _ in range(3)]
    assert counting.pool_hits + counting.pool_misses == 3 and counting.pool_misses >= 1
    most = getattr(dmlops.counters(), peak)
    assert most >= used + 3 * size
    hits = counting.pool_hits
    del arrays
    for _ in range(4):
        dmlops.empty((size,), np.uint8, device=device)
    assert counting.pool_hits == hits + 4 and getattr(dmlops.counters(), peak) == most


def test_results_of_the_host_use_its_pool():
    x = np.zeros(1 << 20, np.uint8)
    dmlops.slice(x, [0], [1 << 20], device="host")
    counting = Counting()
    for _ in range(5):
        dmlops.slice(x, [0], [1 << 20], device="host")
    dmlops.slice(x, [0], [10], device="host")
    assert (counting.pool_hits, counting.pool_misses) == (5, 0)


@pytest.mark.posix
@pytest.mark.parametrize("where", ["host", pytest.param("0", marks=pytest.mark.needs_fork)])
def test_a_forked_child_counts_from_zero(where, vulkan):
    code = f"""
import os, sys
import dmlops, numpy as np
x = np.zeros((400, 500), np.uint8)
device = "host" if "{where}" == "host" else 0
function = dmlops.fuse(lambda x: x.T)
function(x, device=device)
kept = dmlops.asarray(x, device=device)
function(x, device=device)
before = dmlops.counters()
assert before.calls and before.programs_made == before.programs_found == 1
pid = os.fork()
if pid == 0:
    child = dmlops.counters()
    ok = child.calls == () and not any(child[1:])
    for _ in range(3):
        function(x, device=device)
    child = dmlops.counters()
    ok = ok and child.calls == (("<lambda>", device, 3, 3 * x.nbytes),) and child.programs_found == 3
    ok = ok and child.programs_made == child.device_peak_bytes == 0
    os._exit(0 if ok else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert dmlops.counters() == before
"""
    support.run_python(code)


# Stand for the packages of that name in the blocks of docs/observing.md: they read what an exporter would.
STUBS = """
import logging, sys, types
import dmlops, numpy as np

read, events = [], []

class Family:
    def __init__(self, name, text, value=None, labels=()):
        self.name, self.rows = name, [] if value is None else [((), value)]
    def add_metric(self, labels, value):
        self.rows.append((tuple(labels), value))

class Counter:
    def __init__(self, *arguments):
        pass
    def labels(self, level):
        return types.SimpleNamespace(inc=lambda: events.append(level))

class Meter:
    def create(self, name, callbacks):
        rows = lambda: [(tuple(one.labels.values()), one.value) for back in callbacks for one in back(None)]
        read.append(lambda: [types.SimpleNamespace(name=name, rows=rows())])
    create_observable_counter = create_observable_gauge = create

def module(name, **attributes):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(attributes)
    return made

registry = types.SimpleNamespace(register=lambda collector: read.append(lambda: list(collector.collect())))
module("prometheus_client", REGISTRY=registry, Counter=Counter)
module("prometheus_client.core", CounterMetricFamily=Family, GaugeMetricFamily=Family)
span = types.SimpleNamespace(add_event=lambda name, fields: events.append(fields["level"]))
trace = module("opentelemetry.trace", get_current_span=lambda: span)
module("opentelemetry", trace=trace)
observation = lambda value, labels={}: types.SimpleNamespace(value=value, labels=labels)
module("opentelemetry.metrics", Observation=observation, get_meter=lambda name: Meter())
"""


@pytest.mark.parametrize("number", [0, 1], ids=["prometheus", "opentelemetry"])
def test_the_page_on_monitoring(number, vulkan):
    page = (support.ROOT / "docs" / "observing.md").read_text()
    blocks = [one for one in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if not one.startswith(">>>")]
    check = """
for device in ("host", 0):
    dmlops.transpose(np.zeros((3, 4), np.uint8), device=device)
found = {one.name.replace(".", "_"): dict(one.rows) for every in read for one in every()}
assert set(found) == {f"dmlops_{name}" for name in ("calls", "bytes", *dmlops.Counters._fields)}, found
assert found["dmlops_bytes"] == {("transpose", "host"): 12, ("transpose", "0"): 12}, found
assert found["dmlops_queue_waits"] == {(): 1}, found
assert events == ["INFO", "INFO"], events
"""
    support.run_python(STUBS + blocks[number] + check)
