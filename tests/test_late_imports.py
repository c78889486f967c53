"""What is imported in the middle of a call, and what others import meanwhile."""

import importlib.util
import sys
import threading
import warnings

import numpy as np
import pytest

import dmlops
import support
from dmlops.processors.kept import Kept
from dmlops.quiet import quiet

# Calls that import something the first time, and what is made before.
FIRST_CALLS = {
    "fuse": ("", "dmlops.fuse(np.transpose)(x, device='host')"),
    "roll": ("", "dmlops.roll(x, 1, device='host')"),
    "crops": ("", "dmlops.crops(x[None], [[0, 0]], 2, axes=(1, 2), device='host')"),
    "sliding_windows": ("", "dmlops.sliding_windows(x, 2, device='host')"),
    "resize_nearest": ("", "dmlops.resize_nearest(x, (2, 2), device='host')"),
    "prove": ("f = dmlops.fuse(np.transpose)", "f.prove(x)"),
    "explain": ("f = dmlops.fuse(np.transpose)", "str(f.explain(x, device='host'))"),
    "progress": ("", "dmlops.transpose(x, device='host', progress=lambda *_: None)"),
    "counters": ("", "dmlops.counters()"),
    "floats": ("f = dmlops.fuse(lambda x: x * 2 + 1)", "f(x.astype(np.float32), device='host')"),
    "indices": ("f = dmlops.fuse(lambda x: dmlops.take(np.arange(256), x, 0))", "f(x, device='host')"),
    "classes": ("f = dmlops.fuse(lambda x: dmlops.one_hot(x, 256))", "f(x, device='host')"),
    "rearrange": ("import einops", "dmlops.rearrange(x, 'a b -> b a')"),
}
# The same of device arrays. A child has its own.
ON_DEVICES = {
    "a logged opening": ("import logging", "dmlops.asarray(x)"),
    "concatenate": ("", "np.concatenate([dmlops.asarray(x)] * 2)"),
    "reshape": ("", "a = dmlops.asarray(x).T; dmlops.array_api.reshape(a, (4, 4))"),
    "array_api": ("", "dmlops.asarray(x).__array_namespace__()"),
}


def fork_while_it_imports(before, call):
    support.run_python(f"""
import os, signal, sys, threading, time
import dmlops, numpy as np
x = np.ones((4, 4), np.uint8)
{before}

def call():
    {call}

asked = threading.Event()

class Slow:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is thread and not asked.is_set():
            asked.set()
            time.sleep(0.5)

sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=call)
thread.start()
assert asked.wait(60), "it imports nothing"
child = os.fork()
if not child:
    signal.alarm(300)
    call()
    os._exit(0)
thread.join()
assert os.waitpid(child, 0)[1] == 0
""")


@pytest.mark.posix
@pytest.mark.parametrize("name", FIRST_CALLS)
def test_a_fork_while_a_call_imports(name):
    if name == "rearrange" and importlib.util.find_spec("einops") is None:
        pytest.skip("einops is not installed")
    if name == "floats" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy itself imports numpy.random before version 2")
    fork_while_it_imports(*FIRST_CALLS[name])


@pytest.mark.needs_fork
@pytest.mark.parametrize("name", ON_DEVICES)
def test_a_fork_while_a_call_of_a_device_imports(name, vulkan):
    fork_while_it_imports(*ON_DEVICES[name])


@pytest.mark.posix
def test_a_fork_waits_before_it_has_the_lock_of_logging(tmp_path):
    """Which the import needs that it waits for: functions that are registered last come first."""
    body = "import begun, time, logging; begun.set(); time.sleep(0.5); logging.getLogger('a')"
    (tmp_path / "with_a_logger.py").write_text(body)
    support.run_python(f"""
import os, signal, sys, threading
import dmlops, logging
from dmlops import late_imports
late_imports._PATIENCE = 300
signal.alarm(200)
sys.path.insert(0, {str(tmp_path)!r})
sys.modules["begun"] = begun = threading.Event()
thread = threading.Thread(target=late_imports.imported, args=("with_a_logger",))
thread.start()
assert begun.wait(100)
child = os.fork()
if not child:
    signal.alarm(200)
    late_imports.imported("with_a_logger"), logging.getLogger("b")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
""")


@pytest.mark.posix
def test_a_fork_does_not_wait_for_ever():
    """What is imported may wait for a lock that the fork has."""
    support.run_python("""
import os, signal, threading
from dmlops import late_imports
late_imports._PATIENCE = 0.2
inside, leave = threading.Event(), threading.Event()
def hold():
    with late_imports.late():
        inside.set(), leave.wait(300)
thread = threading.Thread(target=hold)
thread.start()
assert inside.wait(300)
for _ in range(2):
    child = os.fork()
    if not child:
        signal.alarm(300)
        late_imports._PATIENCE = -1
        late_imports.imported("fractions")
        os._exit(os.fork() and os.waitpid(-1, 0)[1] != 0)
    assert os.waitpid(child, 0)[1] == 0
late_imports.imported("fractions")
leave.set()
thread.join()
with late_imports.late():
    child = os.fork()
    if not child:
        signal.alarm(300)
        late_imports.imported("decimal")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
other = threading.Thread(target=late_imports.imported, args=("decimal",))
late_imports._PATIENCE = 300
other.start()
other.join()
""")


@pytest.mark.posix
def test_an_interrupt_while_a_fork_waits_is_raised():
    done = support.run_python("""
import os, signal, threading, time
from dmlops import late_imports
signal.signal(signal.SIGINT, signal.default_int_handler)
inside, leave = threading.Event(), threading.Event()
def hold():
    with late_imports.late():
        inside.set()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        leave.wait(300)
thread = threading.Thread(target=hold)
thread.start()
assert inside.wait(300)
late_imports._PATIENCE = 300
try:
    if os.fork() == 0:
        os._exit(0)
    time.sleep(300)
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("it is lost")
leave.set()
thread.join()
late_imports.imported("decimal")
""")
    assert done.stderr == ""


def test_imports_that_meet():
    """A module's body does not wait for the lock of late imports, whose holder may wait for that module."""
    for module in ("dmlops.fusion.fused", "dmlops.comparison", "dmlops.fusion.on_devices"):
        support.run_python(f"""
import importlib, threading
import dmlops
from dmlops import late_imports
late_imports._PATIENCE = 300
with late_imports.late():  # as a thread that is about to read dmlops.fuse
    thread = threading.Thread(target=importlib.import_module, args=({module!r},))
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it waits"
""")


@pytest.mark.parametrize("name", ["logging", "random", "numpy.random"])
def test_what_the_program_imports_meanwhile(name):
    """A module is in sys.modules before it has all that it will have."""
    support.run_python(f"""
import sys, types, dmlops, numpy as np
function = dmlops.fuse(lambda x: x.T)
function.max_programs = 2
sys.modules[{name!r}] = types.ModuleType({name!r})
for n in range(1, 9):
    assert function(np.ones((n, 3), np.uint8), device="host").shape == (3, n)
""")


def test_einops_is_imported_beside_others(tmp_path):
    """A finder that left the list of finders would hide the next one from a thread that goes through it."""
    pytest.importorskip("einops")
    (tmp_path / "found_meanwhile.py").write_text("")
    support.run_python(f"""
import sys
import dmlops
sys.path.insert(0, {str(tmp_path)!r})
finders = sys.meta_path
class Between:
    def find_spec(self, name, path=None, target=None):
        if name == "found_meanwhile":
            import einops
finders.insert(len(finders) - 1, Between())
import found_meanwhile
""")


# --- warnings -----------------------------------------------------------------------------------------------------------


def test_threads_that_are_quiet_leave_as_they_like():
    before, inside, leave = list(warnings.filters), threading.Event(), threading.Event()

    def work():
        with quiet():
            inside.set()
            leave.wait(60)
            warnings.warn("nobody's", UserWarning, stacklevel=1)

    thread = threading.Thread(target=work)
    with pytest.warns(UserWarning, match="the user's") as seen:
        with quiet():
            warnings.warn("nobody's, either", UserWarning, stacklevel=1)
            thread.start()
            assert inside.wait(60)
        warnings.warn("the user's", UserWarning, stacklevel=1)
        leave.set()
        thread.join()
    assert len(seen) == 1 and warnings.filters == before


def test_it_is_quiet_also_where_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet():
            warnings.warn("nobody's", UserWarning, stacklevel=1)
            assert np.isnan(np.zeros(1) / 0)
            with warnings.catch_warnings():  # the user's function's
                warnings.simplefilter("always")
        with pytest.raises(UserWarning):
            warnings.warn("the user's", UserWarning, stacklevel=1)


@pytest.mark.posix
def test_a_child_that_is_forked_meanwhile_is_not_quiet():
    support.run_python("""
import os, threading, warnings
from dmlops.quiet import quiet
inside, leave = threading.Event(), threading.Event()
def work():
    with quiet():
        inside.set(), leave.wait(60)
thread = threading.Thread(target=work)
thread.start()
assert inside.wait(60)
child = os.fork()
if not child:
    with warnings.catch_warnings(record=True) as seen:
        warnings.warn("the child's", UserWarning)
    os._exit(len(seen) != 1)
leave.set()
thread.join()
assert os.waitpid(child, 0)[1] == 0
""")


# --- what other threads change ------------------------------------------------------------------------------------------


MEMO, MEMBERS = {}, set()


def test_a_memo_that_changes_while_it_is_looked_at():
    stop, failed = threading.Event(), []

    def change():
        k = 0
        while not stop.is_set():
            k += 1
            MEMO[k] = k
            MEMBERS.add(k)
            if k % 900 == 0:
                MEMO.clear()
                MEMBERS.clear()

    def named(x):
        return x.T if MEMO is not MEMBERS else x

    thread = threading.Thread(target=change)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(200):
            try:
                dmlops.fuse(lambda x: named(x))(np.ones((3, 4), np.uint8), device="host")
            except RuntimeError as error:
                failed.append(error)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert failed == []


def test_what_is_kept_changes_while_something_is_evicted():
    class Ordered(dict):
        def items(self):
            raise AssertionError("makes tuples, and with them runs the collector, which runs what puts")

    kept = Kept(4, 1 << 20)
    kept._entries = Ordered()
    for k in range(20):
        kept.put(k, k, 1)
    assert 0 < len(kept) <= 4 and kept.get(19) == 19
