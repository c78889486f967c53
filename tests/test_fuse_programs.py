"""The programs that a fused function keeps: how many, without a lock, in other processes; and no array points nowhere."""

import gc
import pickle
import sys
import threading
import traceback
import weakref

import dmlops
import numpy as np
import pytest

from support import run_python

X = np.arange(256, dtype=np.uint8)


def counted(function):
    """The fused function, and a list that has an entry for each time that it is traced."""
    traced = []
    return dmlops.fuse(lambda *args: traced.append(0) or function(*args)), traced


# --- how many ---------------------------------------------------------------------------------------------------------


def test_what_was_used_last_is_kept():
    function, traced = counted(lambda x, shift: np.roll(x, shift))
    assert function.max_programs == 64
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
    assert len(function._programs) == 1 and len(traced) == 5  # once without values


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
import os, sys, threading, dmlops, numpy as np
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
