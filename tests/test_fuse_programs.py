"""The programs that a fused function keeps: how many, without a lock, in other processes; and no array points nowhere."""

import gc
import linecache
import pickle
import random
import sys
import threading
import traceback
import weakref

import dmlops
import numpy as np
import pytest

from dmlops.fusion import compiler, interned, maps, replay
from dmlops.fusion.numbers import Recorder
from dmlops.fusion.programs import Programs
from support import counted, run_python

X = np.arange(256, dtype=np.uint8)


# --- how many ---------------------------------------------------------------------------------------------------------


def test_what_was_used_last_is_kept():
    function, traced = counted(lambda x, shift: np.roll(x, shift))
    assert function.max_programs == 512
    function.max_programs = 3
    for shift in (1, 2, 3, 1, 4, 1, 5, 1):  # 1 is used again and again
        function(X, shift, device="host")
    assert len(traced) == 5 and len(function._programs) == 3
    for shift in (5, 1, 4):
        function(X, shift, device="host")
    assert len(traced) == 5
    function(X, 2, device="host")
    assert len(traced) == 6


def test_programs_are_bounded_by_bytes():
    """16-bit tables of 16 channels: 4 MiB each."""
    x = np.zeros((2, 16), np.uint16)
    scale = np.linspace(1, 2, 16, dtype=np.float32)
    function, traced = counted(lambda x, shift: x * scale + np.float32(shift))
    function.max_bytes = 10 << 20
    for shift in range(5):
        function(x, shift, device="host")
    assert len(function._programs) == 2 and 8 << 20 <= function._programs.nbytes <= 10 << 20
    function.max_bytes = 1
    function(x, 5, device="host")
    assert len(function._programs) == 1  # the newest stays, however large it is
    function(x, 5, device="host")
    assert len(traced) == 6


def test_by_default_they_keep_few_bytes():
    x = np.zeros((2, 16), np.uint16)
    scale = np.linspace(1, 2, 16, dtype=np.float32)
    function = dmlops.fuse(lambda x, shift: x * scale + np.float32(shift))
    for shift in range(20):
        function(x, shift, device="host")
    assert function._programs.nbytes <= function.max_bytes == 64 << 20


def test_arrays_by_value_are_bounded_too():
    function, traced = counted(lambda x, mean: x - mean)
    function.max_programs = 1
    image = np.zeros((40, 50, 3), np.uint8)
    for shift in range(4):
        for _ in range(2):
            function(image, np.float32([1, 2, shift]), device="host")
    assert len(function._programs) == 1 and len(traced) == 4  # without values, with two, with a parameter


def test_programs_are_evicted_in_the_order_of_their_use():
    draw, programs, order, sizes = random.Random(0), Programs(), [], {}
    for number in range(3000):
        key = draw.randrange(40)
        if key in order and draw.random() < 0.5:
            assert programs.get(key) == key
            order.remove(key)
        else:
            sizes[key] = draw.randrange(100)
            programs.put(key, key, None, sizes[key], 12, 500)
            order = [one for one in order if one != key]
            while order and (len(order) > 11 or sum(map(sizes.get, order)) + sizes[key] > 500):
                order.pop(0)
        order.append(key)
        assert sorted(programs._entries) == sorted(order) and programs.nbytes == sum(map(sizes.get, order)), number
    assert len(programs._heap) < 100


# --- sizes that were never seen -------------------------------------------------------------------------------------------


def letterbox_and_scale(x):
    h, w = x.shape[:2]
    size = max(h, w)
    x = np.pad(x, ((size - h, 0), (0, size - w), (0, 0)), constant_values=114)
    return np.moveaxis(x, -1, 0).astype(np.float32) * np.float32([[[3]], [[5]], [[7]]])


SIZES = [(h, w) for h in range(20, 40, 3) for w in range(20, 40, 3) if h != w]


def test_new_sizes_take_the_steps_of_others(monkeypatch):
    compiled, evaluated, plain = [], [], compiler._Compiler.__init__
    evaluate = maps.evaluate
    monkeypatch.setattr(compiler._Compiler, "__init__", lambda self, inputs: compiled.append(0) or plain(self, inputs))
    monkeypatch.setattr(maps, "evaluate", lambda *args: evaluated.append(0) or evaluate(*args))
    function, traced = counted(letterbox_and_scale)
    for number, size in enumerate(SIZES):
        x = np.random.default_rng(number).integers(0, 256, (*size, 3), np.uint8)
        assert np.array_equal(function(x, device="host"), letterbox_and_scale(x))
    assert len(traced) == len(SIZES) > 40  # the function runs for each
    assert len(compiled) <= 12 and len(evaluated) <= 8
    proof, explained = function.prove(x), function.explain(x, device="host")
    assert proof.elements == 3 * max(size) ** 2 and explained.pieces == (2,) and "from the constants" in str(explained)


def is_compiled_alike(function, *arguments):
    """Whether the program of a call is what the compiler alone makes of it."""
    compiled, *_ = function._find(arguments, {})
    inputs = [(one.dtype, one.shape, one.strides) for one in compiled.inputs]
    return compiler.is_same(compiled.program, compiler.compile_plainly(inputs, compiled.results))


def at_short_edge(x):
    h, w = x.shape[:2]
    x = dmlops.resize_pillow(x, (16 * h // min(h, w), 16 * w // min(h, w)))
    top, left = (x.shape[0] - 12) // 2, (x.shape[1] - 12) // 2
    return np.moveaxis(x[top : top + 12, left : left + 12], -1, 0).astype(np.float32)


def resized(x, size=(16, 12)):
    return dmlops.resize_pillow(x, size)


STARTS, CHOSEN, FLIP = np.array([[3, 4]]), np.array([7, 0, 19, 3]), np.array([True])
# Each is called with arrays of many sizes, and these.
REPLAYED = {
    "resize": (resized,),
    "resize of a mirrored window": (lambda x: resized(x[2:, ::-1])[1:-1],),
    "resize, crop, floats": (lambda x: np.moveaxis(resized(x)[2:-2, 2:-2, ::-1], -1, 0).astype(np.float32),),
    "resize of the short edge": (at_short_edge,),
    "resize twice": (lambda x: resized(resized(x, (30, 20))[4:, 3:], (7, 9))[::-1],),
    "resize, beside the photo": (lambda x: (resized(x)[1:], x[:, ::-1]),),
    "two sizes": (lambda x: np.concatenate([resized(x), resized(x[1:])[::-1]]),),
    "every third": (lambda x: np.moveaxis(np.take(x, range(1, len(x), 3), 0), -1, 0).astype(np.float32),),
    "every other, backwards": (lambda x: x[::-2, ::2],),
    "three rows": (lambda x: x[[0, 7, 9, 13, 2]],),
    "nearest": (lambda x: dmlops.resize_nearest(x, (len(x) // 2 * 3,), axes=(0,)),),
    "windows": (lambda x: np.lib.stride_tricks.sliding_window_view(x, 7, 0)[::4],),
    "windows of what was padded": (
        lambda x: dmlops.sliding_windows(np.pad(x, ((1, 2), (0, 0), (0, 0))), (5,), strides=(2,), axes=(0,)),
    ),
    "crops": (lambda x, starts: dmlops.crops(x[None], starts, (12, 10)), STARTS),
    "crops of columns, mirrored, to floats": (
        lambda x, starts, flip: dmlops.crops(x[None], starts[:, :1], (9,), flip, axes=(2,))[..., ::-1].astype(np.float32),
        STARTS,
        FLIP,
    ),
    "crops of patches": (lambda x, starts: dmlops.crops(x[None], starts, (12, 8)).reshape(1, 3, 4, 2, 4, 3), STARTS),
    "indices": (lambda x, chosen: np.moveaxis(x[chosen], -1, 0).astype(np.float32), CHOSEN),
    "indices of columns": (lambda x, chosen: x[::-1, chosen], CHOSEN),
    "nothing of the first": (lambda unused, x: resized(x)[1:], np.zeros((60, 70, 3), np.uint8)),
}
REPLAYED_SIZES = [(h, w) for h in range(22, 42, 2) for w in range(22, 40, 3) if h != w]


@pytest.mark.parametrize("name", REPLAYED)
def test_what_is_computed_for_new_sizes_is_what_is_compiled(name, monkeypatch):
    monkeypatch.setattr(replay, "_structures", Programs())
    compiled, plain = [], compiler._Compiler.__init__
    monkeypatch.setattr(compiler._Compiler, "__init__", lambda self, inputs: compiled.append(0) or plain(self, inputs))
    steps, *others = REPLAYED[name]
    function = dmlops.fuse(steps)
    for number, size in enumerate(REPLAYED_SIZES):
        x = np.random.default_rng(number).integers(0, 256, (*size, 3), np.uint8)
        found, right = (
            one if isinstance(one, tuple) else (one,)
            for one in (function(x, *others, device="host"), function.reference(x, *others))
        )
        assert all(one.dtype == other.dtype and np.array_equal(one, other) for one, other in zip(found, right, strict=True))
    assert len(compiled) <= 2 + 2 * replay.MOST_WAYS < len(REPLAYED_SIZES) // 2
    for size in REPLAYED_SIZES[-8:]:
        assert is_compiled_alike(function, np.zeros((*size, 3), np.uint8), *others)
    assert function.prove(x, *others) and str(function.explain(x, *others, device="host"))


def test_inputs_that_nothing_reads_are_counted(monkeypatch):
    """What is resized is an array behind all inputs."""
    monkeypatch.setattr(replay, "_structures", Programs())
    one, two = dmlops.fuse(lambda x: resized(x)[::-1]), dmlops.fuse(lambda x, unused: resized(x)[::-1])
    unused = np.zeros((50, 50, 3), np.uint8)
    for number, size in enumerate(REPLAYED_SIZES[:6]):
        x = np.random.default_rng(number).integers(0, 256, (*size, 3), np.uint8)
        found = one(x, device="host") if number < 3 else two(x, unused, device="host")
        assert np.array_equal(found, dmlops.resize_pillow(x, (16, 12))[::-1])


@pytest.mark.slow
def test_many_sizes_leave_what_few_leave():
    function = dmlops.fuse(lambda x: np.concatenate([x[1:], x[::-1]]).astype(np.float32))

    def entries():
        caches = (function._programs, function._by_value, replay._structures, interned._expressions, maps._tables)
        return [len(one) for one in caches] + [len(one._heap) for one in caches] + [replay.recorded_ways()]

    for number in range(10_000):
        x = np.ones((2 + number % 100, 2 + number // 100), np.uint8)
        assert function(x, device="host").sum() == (2 * len(x) - 1) * x.shape[1]
        if number == 599:
            few = entries()
    assert len(function._programs) == 512 and sum(entries()) <= sum(few) + 8, (entries(), few)


def test_steps_that_were_recorded_wrongly_are_not_kept(monkeypatch):
    """Each way is compared with the plain compiler's steps before it is taken."""
    monkeypatch.setattr(replay, "_structures", Programs())
    source = Recorder.source
    wrong = lambda self, count, steps: source(self, count, [*steps[:2], steps[2] + 1, *steps[3:]])  # noqa: E731
    monkeypatch.setattr(Recorder, "source", wrong)
    function = dmlops.fuse(lambda x: x[1:, ::-1])
    for size in SIZES:
        x = np.arange(size[0] * size[1]).reshape(size)
        assert np.array_equal(function(x, device="host"), x[1:, ::-1])
    assert replay.recorded_ways() == 0


def test_steps_that_are_not_whole_are_compiled_anew(monkeypatch):
    """The extension refuses them."""
    monkeypatch.setattr(replay, "_structures", Programs())
    function = dmlops.fuse(lambda x: x[1:, ::-1])
    for size in SIZES[:3]:
        function(np.zeros(size), device="host")
    ways = replay._structures.get(next(iter(replay._structures._entries)))
    (way,) = ways.recorded
    ways.recorded = [way._replace(run=lambda *numbers: way.run(*numbers[:1], numbers[1] - 1, *numbers[2:]))]
    x = np.arange(30 * 50).reshape(30, 50)
    assert np.array_equal(function(x, device="host"), x[1:, ::-1])


def test_ways_of_a_structure_are_bounded(monkeypatch):
    monkeypatch.setattr(replay, "_structures", Programs())
    function = dmlops.fuse(lambda x: np.pad(x, ((0, 0), (7, 9)), mode="wrap"))
    for width in range(1, 40):
        x = np.arange(3 * width, dtype=np.int16).reshape(3, width)
        for _ in range(2):
            assert np.array_equal(function(x, device="host"), np.pad(x, ((0, 0), (7, 9)), mode="wrap"))
            function._programs = Programs()
    assert all(len(replay._structures.get(key).recorded) <= replay.MOST_WAYS for key in replay._structures._entries)


def test_lines_are_read_when_they_are_printed(monkeypatch):
    read, getline = [], linecache.getline
    monkeypatch.setattr(linecache, "getline", lambda *args: read.append(args) or getline(*args))
    function = dmlops.fuse(letterbox_and_scale)
    function(np.zeros((30, 20, 3), np.uint8), device="host")
    assert not read
    with pytest.raises(TypeError, match=r"x\.sum\(\)"):
        dmlops.fuse(lambda x: x.sum())(X)
    assert read


# --- no lock ----------------------------------------------------------------------------------------------------------


def test_a_finalizer_of_what_is_evicted_may_call_the_function():
    function, x, ran = dmlops.fuse(lambda x, other: x[::-1]), np.arange(3), []
    function.max_programs = 2

    class Other:
        def __del__(self):
            ran.append(function(x, len(ran) + 1000, device="host"))

    for _ in range(10):
        function(x, Other(), device="host")
    gc.collect()
    assert len(ran) >= 8 and len(function._programs) <= 2


@pytest.mark.posix
def test_a_signal_handler_may_call_the_function():
    """Signals come all the time, while programs are found, kept and evicted."""
    code = """
import signal, dmlops, numpy as np
f = dmlops.fuse(lambda x, k: np.roll(x, k))
f.max_programs = 3
x, calls = np.arange(9), []
def handler(*_):
    calls.append(f(x, len(calls) % 7, device="host")[0])
    signal.setitimer(signal.ITIMER_REAL, 0.0005)  # again: a handler that takes longer is not interrupted by the next one
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0005)
k = 0
while len(calls) < 300:
    k += 1
    assert (f(x, k % 5, device="host") == np.roll(x, k % 5)).all()
signal.setitimer(signal.ITIMER_REAL, 0)
"""
    run_python(code)


def test_threads_that_evict_one_anothers_programs():
    function, failed = dmlops.fuse(lambda x, shift: np.roll(x, shift)), []
    function.max_programs = 2

    def work(seed):
        for k in range(60):
            shift = (seed + k) % 5
            if not (function(X, shift, device="host") == np.roll(X, shift)).all():
                failed.append(shift)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failed and len(function._programs) <= 2


@pytest.mark.slow
@pytest.mark.posix
def test_children_that_are_forked_while_threads_trace():
    code = """
import os, signal, sys, threading, dmlops, numpy as np
sys.setswitchinterval(1e-5)
f = dmlops.fuse(lambda x, k: np.roll(x, k).astype(np.float32) + np.float32(1))
f.max_programs = 4
x, stop = np.arange(9, dtype=np.uint8), threading.Event()
class Slow:
    def __del__(self):
        sum(range(2000))
def work(k):
    while not stop.is_set():
        f(x, k, device="host"); k = (k + 1) % 9
        f(x, Slow() and k + 20, device="host")
threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for one in threads:
    one.start()
for _ in range(40):
    child = os.fork()
    if not child:
        signal.alarm(300)
        os._exit(0 if all((f(x, k, device="host") == np.roll(x, k) + 1).all() for k in range(40)) else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for one in threads:
    one.join()
"""
    run_python(code)


def test_constants_live_as_long_as_their_programs():
    function = dmlops.fuse(lambda x, other: x[::-1])
    function.max_programs = 2

    class Other:
        pass

    others = [weakref.ref(other) for other in [Other() for _ in range(5)] if function(X, other, device="host") is not None]
    gc.collect()
    assert sum(one() is not None for one in others) == 2


# --- other processes --------------------------------------------------------------------------------------------------

MAIN = """
import pickle, sys, dmlops, numpy as np
SCALE = np.float32(2)
@dmlops.fuse
def prepare(x, shift=1):
    "A pipeline."
    return np.roll(x, shift) * SCALE
prepare.max_programs = 7
class Model:
    @dmlops.fuse
    def prepare(self, x):
        return x[::-1]
if __name__ == "__main__":
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(prepare, protocol)) is prepare
        assert pickle.loads(pickle.dumps(Model.prepare, protocol)) is Model.prepare
    import copy
    assert copy.copy(prepare) is copy.deepcopy(prepare) is prepare
"""


def test_plain_pickle_goes_by_name(tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    run_python(f"import runpy; runpy.run_path({str(tmp_path / 'main.py')!r})")
    run_python(MAIN)


def test_a_function_of_main_goes_by_value_where_a_pickler_can(tmp_path):
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    dump = f"import cloudpickle; open({str(tmp_path / 'f')!r}, 'wb').write(cloudpickle.dumps([prepare, prepare.prove]))"
    run_python(MAIN + dump)
    prepare, _ = pickle.loads((tmp_path / "f").read_bytes())  # this process' __main__ is another
    assert (prepare(X, 3, device="host") == np.roll(X, 3) * np.float32(2)).all()
    assert prepare.__name__ == "prepare" and prepare.__qualname__ == "prepare" and prepare.__doc__ == "A pipeline."
    assert prepare.max_programs == 7 and prepare.prove(X).passes == 1


def test_cloudpickle_goes_by_name_where_there_is_a_module():
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    data = cloudpickle.dumps(of_a_module)
    assert pickle.loads(data) is of_a_module and len(data) < 300
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        assert len(cloudpickle.dumps(of_a_module)) > 400
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@dmlops.fuse
def of_a_module(x):
    return x[::-1]


@pytest.mark.slow
def test_joblib_runs_a_function_of_main():
    pytest.importorskip("joblib", reason="joblib is not installed")
    run_python(
        MAIN
        + """
    from joblib import Parallel, delayed
    x = np.arange(9, dtype=np.uint8)
    results = Parallel(n_jobs=2)(delayed(prepare)(x, k, device="host") for k in range(4))
    assert all((one == np.roll(x, k) * np.float32(2)).all() for k, one in enumerate(results))
"""
    )


# --- arrays without memory --------------------------------------------------------------------------------------------


def arrays_of_gc():
    """Arrays that Python can reach by what the garbage collector knows."""
    for holder in gc.get_objects():
        yield from (one for one in gc.get_referents(holder) if type(one) is np.ndarray)


def test_programs_keep_no_array_that_points_nowhere(device):
    function = dmlops.fuse(lambda x: (np.moveaxis(x, -1, 0).astype(np.float32) * np.float32([[[3]]]), x.T))
    x = np.zeros((20, 30, 3), np.uint8)
    function(x, device=device)
    function.explain(x, device="cpu-class")
    function.prove(x)
    with pytest.raises(TypeError):
        dmlops.fuse(lambda x: np.sort(x))(x)
    here = [one for one in arrays_of_gc() if one.itemsize and one.size]
    assert here
    for one in here:
        assert one.__array_interface__["data"][0] > 1 << 16


def test_a_traceback_of_dask_arrays_may_show_its_locals():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    function = dmlops.fuse(lambda x, other: np.sort(x))
    with pytest.raises(TypeError) as caught:
        function(da.zeros((1 << 20, 1 << 10, 1 << 10), np.float64, chunks=(1 << 19, -1, -1)), {1, 2})
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "like" in shown
    frame = caught.tb
    while frame:
        for value in frame.tb_frame.f_locals.values():
            if isinstance(value, np.ndarray) and value.itemsize:
                str(value), value.sum()
        frame = frame.tb_next


def test_a_dask_array_gives_what_is_no_array_too():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    function = dmlops.fuse(lambda x, label: {"label": label, "x": x[:, ::-1]})
    x = np.arange(40, dtype=np.uint8).reshape(10, 4)
    result = function(da.from_array(x, chunks=(3, -1)), {1, 2})
    assert result["label"] == {1, 2} and (result["x"].compute() == x[:, ::-1]).all()


def test_a_dask_array_beside_a_small_constant():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    function = dmlops.fuse(lambda x, mean: x - mean)
    x, mean = np.arange(40, dtype=np.uint8).reshape(10, 4), np.float32([1, 2, 3, 4])
    result = function(da.from_array(x, chunks=(3, -1)), mean)
    assert (result.compute() == x - mean).all() and result.dtype == np.float32
