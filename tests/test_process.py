"""The life of a process: import, exit, fork, sub-interpreters, the command line."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile

import pytest

import faults
import strategies
import support

pytestmark = [pytest.mark.slow, pytest.mark.posix]

USE = """
import dmlops, numpy as np
x = np.arange(20000, dtype=np.float32).reshape(20, 1000)
def use():
    assert np.array_equal(dmlops.slice(x, [0, 0], [20, 1000], [1, -1]), x[:, ::-1])
"""


def test_import_touches_no_vulkan():
    support.run_python("""
import dmlops
maps = open("/proc/self/maps").read()
assert "libvulkan" not in maps and "dmlops" in maps
""")


def test_the_host_touches_no_vulkan():
    support.run_python("""
import dmlops
assert dmlops.slice([1, 2, 3], [0], [3], [-1], device="host").tolist() == [3, 2, 1]
assert "libvulkan" not in open("/proc/self/maps").read()
""")


def test_exit_after_use(vulkan):
    done = support.run_python(USE + "use()\nprint('bye')")
    assert done.stdout == "bye\n" and done.stderr == ""


def test_exit_while_another_thread_is_in_a_call(vulkan):
    for _ in range(5):
        done = support.run_python(
            USE
            + """
import threading, time
big = np.zeros((2000, 4000), np.uint8)
started = threading.Event()
def loop():
    while True:
        dmlops.slice(big, [0, 0], [2000, 4000], [1, -1])
        started.set()
threading.Thread(target=loop, daemon=True).start()
started.wait()
"""
        )
        assert done.stderr == ""


# What ends a process, and with which status: nothing is said on the way, and the driver's threads are no hindrance.
ENDS = {
    "normally": ("", 0),
    "by sys.exit": ("import sys; sys.exit(3)", 3),
    "by sys.exit in a thread": (
        """
import sys, threading
thread = threading.Thread(target=lambda: (use(), sys.exit(3)))
thread.start(); thread.join()
""",
        0,
    ),
    "by an exception in a thread": (
        """
import threading
threading.excepthook = lambda arguments: None
thread = threading.Thread(target=lambda: (use(), 1 / 0))
thread.start(); thread.join()
""",
        0,
    ),
    "by os._exit": ("import os; os._exit(4)", 4),
    "by os._exit in a thread": (
        """
import os, threading
threading.Thread(target=lambda: (use(), os._exit(5))).start()
import time; time.sleep(60)
""",
        5,
    ),
    "by a signal": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "with results that live in a module": ("import builtins; builtins.kept = dmlops.slice(x, [0, 0], [20, 1000])", 0),
    "with a thread that is not a daemon": (
        "import threading; threading.Thread(target=lambda: [use() for _ in range(50)]).start()",
        0,
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_exit_status_and_silence(how, vulkan):
    code, status = ENDS[how]
    done = support.run_python(USE + "use()\n" + code, check=False)
    assert done.returncode == status and done.stderr == "" and done.stdout == ""


def test_an_uncaught_exception_is_all_that_is_said(vulkan):
    done = support.run_python(USE + "use()\nraise LookupError('mine')", check=False)
    said = done.stderr
    assert done.returncode == 1 and said.startswith("Traceback") and said.endswith("\nLookupError: mine\n")
    assert said.count("Traceback") == 1


def test_exit_with_work_in_the_queue(library):
    """A daemon thread's call takes a while yet: its memory must not go from under the device."""
    done = support.run_python(
        USE
        + """
import threading, time
from dmlops import _core
use()
threading.Thread(target=use, daemon=True).start()
while sum(_core._counts(None)) < 2:  # until it is submitted
    time.sleep(0.001)
""",
        env=faults.environment(library, slow=500),
    )
    assert done.stderr == "" and done.stdout == ""


def test_exit_with_many_daemon_threads_in_calls(library):
    for _ in range(3):
        done = support.run_python(
            USE
            + """
import threading
def loop():
    while True:
        try:
            use()
            started.release()
        except dmlops.NoDeviceError:  # the interpreter is exiting
            return
started = threading.Semaphore(0)
for _ in range(6):
    threading.Thread(target=loop, daemon=True).start()
for _ in range(12):
    started.acquire()
"""
        )
        assert done.stderr == "" and done.stdout == ""


# layer.slow(faults.NEVER): a device that does not finish until layer.slow(0), however long that takes on a busy machine.
UNFINISHED = """
import faults
layer = faults.Layer()
"""

INTERRUPT = (
    UNFINISHED
    + USE
    + """
import os, signal, sys, threading, time
from dmlops import _core
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
big = np.arange(800_000, dtype=np.uint32).reshape(100, 8000)
use()
before = sum(_core._counts(None))
def interrupt():
    while sum(_core._counts(None)) == before:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
references = sys.getrefcount(big)
thread = threading.Thread(target=interrupt)
thread.start()
"""
)


def test_keyboard_interrupt_during_a_long_wait(library):
    """The handler runs during the wait. KeyboardInterrupt comes through when the device has let go of the arrays."""
    support.run_python(
        INTERRUPT
        + """
finished = []
def finish():
    finished.append(True)
    layer.slow(0)
def handler(*_):
    threading.Timer(0.5, finish).start()
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
layer.slow(faults.NEVER)
try:
    dmlops.slice(big, [0, 0], [100, 8000], [1, -1])
except KeyboardInterrupt as error:
    assert finished
else:
    raise SystemExit("no KeyboardInterrupt")
assert _core._abandoned() == 0 and sys.getrefcount(big) == references
use()
""",
        env=faults.environment(library),
    )


def test_keyboard_interrupt_ends_a_call_of_many_submissions(library):
    support.run_python(
        INTERRUPT
        + """
_core._override("host_import", 0)
_core._override("staging", 32_000)
try:
    dmlops.slice(big, [0, 0], [100, 8000], [1, -1])
except KeyboardInterrupt:
    pass
else:
    raise SystemExit("no KeyboardInterrupt")
assert sum(_core._counts(None)) < before + 50, "it went on to the end"
assert _core._abandoned() == 0 and sys.getrefcount(big) == references
use()
""",
        env=faults.environment(library, slow=100),
    )


def test_keyboard_interrupt_while_an_array_is_waited_for(library):
    """At once: what is queued needs nobody to wait for it."""
    support.run_python(
        UNFINISHED
        + USE
        + """
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
a = dmlops.asarray(x)
for wait in (lambda b: b.numpy(), lambda b: b.wait(), lambda b: dmlops.synchronize(), lambda b: dmlops.empty_cache()):
    b = dmlops.slice(a, [0, 0], [20, 1000], [1, -1])
    layer.slow(faults.NEVER)
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        wait(b)
    except KeyboardInterrupt:
        layer.slow(0)
    else:
        raise SystemExit("no KeyboardInterrupt")
    assert np.array_equal(b.numpy(), x[:, ::-1])
""",
        env=faults.environment(library),
    )


def test_a_signal_whose_handler_does_not_raise_changes_nothing(library):
    support.run_python(
        INTERRUPT
        + """
seen = []
signal.signal(signal.SIGINT, lambda *_: (seen.append(1), layer.slow(0), use()))  # which calls dmlops itself
layer.slow(faults.NEVER)
assert np.array_equal(dmlops.slice(big, [0, 0], [100, 8000], [1, -1]), big[:, ::-1]) and seen
""",
        env=faults.environment(library),
    )


@pytest.mark.many_bytes
def test_the_handler_of_a_signal_that_came_while_the_queue_was_full_may_fill_it_again(vulkan):
    support.run_python("""
import os, signal, threading
import dmlops, numpy as np
signal.alarm(500)  # a hang ends here, and shows
a = dmlops.asarray(np.random.default_rng(0).integers(0, 256, (4096, 4096), np.uint8))
b, ran = dmlops.empty(a.shape, a.dtype), []
def fill():
    for _ in range(80):
        dmlops.slice(a, [0, 0], a.shape, [1, -1], out=b)
def handler(*_):
    fill()
    ran.append(1)
    if len(ran) == 2:
        raise InterruptedError
signal.signal(signal.SIGUSR1, handler)
for n in (1, 2, 3):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    try:
        while len(ran) < n:
            fill()
        assert n != 2
    except InterruptedError:
        assert n == 2
assert np.array_equal(b.numpy(), a.numpy()[:, ::-1])
""")


def test_use_while_exiting(vulkan):
    """atexit functions registered before the first use run after dmlops' own: an error, not a crash."""
    done = support.run_python(
        """
import atexit
def last():
    try:
        use()
        print("fine")
    except dmlops.VulkanError as error:
        print("refused")
atexit.register(last)
"""
        + USE
        + "use()"
    )
    assert done.stdout in ("fine\n", "refused\n")


def test_arrays_while_exiting(vulkan):
    done = support.run_python("""
import atexit
def last():
    for use in (a.numpy, a.wait, a.copy, lambda: dmlops.slice(a, [0], [3]), lambda: dmlops.memory_info(a.device),
                lambda: a.device):
        try:
            use()
        except (dmlops.VulkanError, RuntimeError) as error:
            print(type(error).__name__, error)
    print(a.shape)
atexit.register(last)
import dmlops, numpy as np
a = dmlops.asarray([1, 2, 3])
""")
    counts = done.stdout.count("exiting"), done.stdout.count("there no more")
    assert counts == (4, 2) and done.stdout.endswith("(3,)\n") and not done.stderr, done.stdout + done.stderr


FORK = (
    USE
    + """
import os, sys, signal
def child_of(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)  # a hang ends here, and shows
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return pid
def join(pid):
    status = os.waitpid(pid, 0)[1]
    assert status == 0, status
"""
)


# Calls of the host that several cores share, where there are several.
HOST = FORK + """
import threading
import dmlops, numpy as np
x = np.random.default_rng(0).integers(0, 256, (2048, 2048), np.uint8)
def use():
    assert np.array_equal(dmlops.transpose(x, device="host"), x.T)
def threads():
    names = [open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task")]
    return sum(name.startswith("dmlops-host-") for name in names)
"""
OURS = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {0}
CORES = pytest.mark.skipif(len(OURS) < 2, reason="there is one core: no thread helps")
# Millions of lengths, so that a call takes longer than the time between two looks for signals.
LONG = HOST + """
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
rows = 1 << 21
lengths = np.full((rows, 1), 2)
ones, out = np.broadcast_to(np.uint8(1), (rows, 65)), np.zeros((rows, 65), np.uint8)
def call():
    dmlops.reverse_subsequences(ones, lengths, 1, out=out, device="host")
"""


@CORES
def test_the_host_starts_threads_at_first_need():
    support.run_python(HOST + """
before = threads()
cores = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(cores)})
use()
assert threads() == before, "helpers, which have no core"
os.sched_setaffinity(0, cores)
dmlops.slice(x, [0, 0], [64, 64], device="host")
assert threads() == before, "helpers for what is small"
while not (helpers := threads() - before):  # it gives itself its name when it first runs
    use()
assert 1 <= helpers <= len(cores) - 1, helpers
""")


@CORES
def test_threads_have_names(vulkan):
    """Also the one that gives back idle memory, and a device's, which submits what nobody waits for."""
    support.run_python(HOST + """
import time
use()
on_device = dmlops.asarray(x[:8, :8], device=0)
while True:  # a name is given by the thread itself
    dmlops.transpose(on_device)
    named = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
    if {"dmlops-host-1", "dmlops-idle", "dmlops-vulkan"} <= set(named):
        break
    time.sleep(0.01)
""")


def test_fork_after_the_host_was_used():
    support.run_python(HOST + """
use()
def middle():
    use()
    join(child_of(use))
    use()
children = [child_of(middle) for _ in range(3)]
for _ in range(20):
    use()
for pid in children:
    join(pid)
""")


def test_fork_while_other_threads_use_the_host():
    support.run_python(HOST + """
stop = threading.Event()
def work():
    while not stop.is_set():
        use()
others = [threading.Thread(target=work) for _ in range(3)]
for thread in others:
    thread.start()
for _ in range(30):
    join(child_of(use))
stop.set()
for thread in others:
    thread.join()
""")


def test_keyboard_interrupt_while_the_host_works():
    """Before the work is done."""
    support.run_python(LONG + """
def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    call()
except KeyboardInterrupt:
    assert not out.all(), "only at the end"
else:
    raise SystemExit("no KeyboardInterrupt")
call()
assert out.all()
""")


def test_keyboard_interrupt_while_the_host_works_on_device_arrays():
    """The arrays are whole afterwards: both can be used, and the call made again."""
    support.run_python(LONG + """
a = dmlops.asarray(np.ones((rows, 65), np.uint8), device="host")
b = dmlops.asarray(out, device="host")
def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    dmlops.reverse_subsequences(a, lengths, 1, out=b)
except KeyboardInterrupt:
    assert not b.numpy().all(), "only at the end"
else:
    raise SystemExit("no KeyboardInterrupt")
dmlops.reverse_subsequences(a, lengths, 1, out=b)
assert a.numpy().all() and b.numpy().all()
""")


def test_fork_in_the_handler_of_a_signal_while_the_host_works():
    support.run_python(LONG + """
pids = []
def handler(*_):
    assert not out.all(), "only at the end"
    pids.append(os.fork())
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
call()
assert out.all() and len(pids) == 1
use()
if pids[0] == 0:
    os._exit(0)
join(pids[0])
""")


@pytest.mark.needs_fork
def test_fork_after_use(vulkan):
    """The child makes a context of its own; the parent goes on with its."""
    support.run_python(
        FORK
        + """
use()
children = [child_of(lambda: [use() for _ in range(20)]) for _ in range(3)]
for _ in range(20):
    use()
for pid in children:
    join(pid)
use()
"""
    )


@pytest.mark.needs_fork
def test_fork_of_a_fork(vulkan):
    support.run_python(
        FORK
        + """
use()
def middle():
    use()
    join(child_of(use))
    use()
join(child_of(middle))
use()
"""
    )


def test_fork_before_use(vulkan):
    support.run_python(FORK + "pid = child_of(use)\nuse()\njoin(pid)")


# What a forked child does before it leaves by exit: the driver's exit handlers, which it has inherited, would wait for threads
# of its parent's.
BEFORE_EXIT = {
    "nothing": "pass",
    "use": "use()",
    "threads, on the stacks of the driver's": """
    threads = [threading.Thread(target=time.sleep, args=(0.2,)) for _ in range(20)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
""",
    "a child": "leave_by_exit(lambda: None)",
    "use, and a child that uses it": "use(); leave_by_exit(use); use()",
}


def used_before_a_fork(parent, work):
    return (parent + BEFORE_EXIT[work]).count("use") > 1


@pytest.mark.parametrize("parent, work", [
    pytest.param(parent, work, marks=[pytest.mark.needs_fork] * used_before_a_fork(parent, work))
    for parent in ("dmlops.devices()", "use()") for work in BEFORE_EXIT
])  # fmt: skip
def test_a_forked_child_that_leaves_by_exit(parent, work, vulkan):
    """With its own status, what it has printed, and the exit handlers registered since its parent used the device."""
    done = support.run_python(
        USE
        + f"""
import ctypes, os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of each fork beside threads
libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
def print_at_exit(text):
    libc.__cxa_atexit(ctypes.cast(libc.puts, ctypes.c_void_p), ctypes.c_void_p(libc.strdup(text)), None)
def leave_by_exit(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)  # a hang ends here, and shows
        work()
        print_at_exit(b"handler of the child's")
        libc.printf(b"from C\\n")
        print("from Python")
        sys.exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
def work():
    {BEFORE_EXIT[work]}
{parent}
print_at_exit(b"handler of the parent's")
leave_by_exit(work)
use()
"""
    )
    children = 1 + BEFORE_EXIT[work].count("leave_by_exit")
    assert done.stderr == ""
    for line in ("from Python", "from C", "handler of the child's"):
        assert done.stdout.count(line + "\n") == children, done.stdout
    # A grandchild of two that have used it leaves before this one, which is older than the second's driver.
    assert done.stdout.count("handler of the parent's\n") == 1 + (1 if "use," in work else children)


@pytest.mark.needs_fork
def test_a_forked_child_that_ends_by_an_exception(vulkan):
    done = support.run_python(
        USE
        + """
import os, signal
use()
pid = os.fork()
if pid == 0:
    signal.alarm(300)
    use()
    raise LookupError("mine")
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
use()
"""
    )
    assert done.stderr.endswith("\nLookupError: mine\n") and done.stderr.count("Traceback") == 1


@pytest.mark.needs_fork
@pytest.mark.parametrize("children", [25, pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])])
def test_fork_while_other_threads_are_in_calls(children, vulkan):
    support.run_python(
        FORK
        + f"""
import threading
stop = threading.Event()
def loop():
    while not stop.is_set():
        use()
threads = [threading.Thread(target=loop) for _ in range(2)]
[thread.start() for thread in threads]
try:
    for _ in range({children}):
        join(child_of(use))
finally:
    stop.set()
[thread.join() for thread in threads]
use()
""",
        timeout=1700,
    )


def test_no_other_thread_is_in_the_driver_when_a_child_is_born(library):
    """Its locks would be taken for ever in the child."""
    support.run_python(
        """
import faults
layer = faults.Layer()
"""
        + FORK
        + """
import itertools, threading
stop = threading.Event()
rounds = []
def loop():
    a = dmlops.asarray(x)
    while not stop.is_set():
        use()
        a = dmlops.slice(a, [0, 0], [20, 1000], [1, -1])
        rounds.append(dmlops.memory_info(a.device))
threads = [threading.Thread(target=loop) for _ in range(3)]
[thread.start() for thread in threads]
try:
    for children in itertools.count(1):
        join(child_of(lambda: None))
        if children >= 50 and len(rounds) > 50:
            break
finally:
    stop.set()
[thread.join() for thread in threads]
assert layer.violations == "" and len(rounds) > 50, layer.violations
""",
        env=faults.environment(library, dwell=50),
    )


@pytest.mark.needs_fork
@pytest.mark.needs_shared_memory
def test_a_fork_does_not_wait_for_a_copy_that_the_host_makes(vulkan):
    """The copy is under way before the fork, and not complete after it: then the fork has not waited for its end."""
    support.run_python(FORK + """
import threading
source, out = dmlops.asarray(np.ones(1 << 28, np.uint8)), np.zeros(1 << 28, np.uint8)
def meanwhile():
    out[:] = 0
    thread = threading.Thread(target=lambda: source.numpy(out=out))
    thread.start()
    while thread.is_alive() and out[0] == 0:
        pass
    child = child_of(use)
    under_way = out[-1] == 0
    join(child)
    thread.join()
    assert out.all()
    return under_way
assert any(meanwhile() for _ in range(50))
use()
""", env={"DMLOPS_TEST_FORKS_AT_ONCE": 1})  # of tests/sanitizers/forks.c


@pytest.mark.needs_fork
@pytest.mark.parametrize("end", ["return", "raise KeyboardInterrupt"])
@pytest.mark.parametrize(
    "call",
    [
        "dmlops.slice(big, [0, 0], [100, 8000], [1, -1])",
        "stage(); dmlops.slice(big, [0, 0], [100, 8000])",
        "queued.wait()",
    ],
)
def test_fork_in_the_handler_of_a_signal_that_came_during_a_call(library, end, call):
    """The call goes on in the parent; in the child it ends, as what it waits for is the parent's."""
    support.run_python(
        UNFINISHED
        + FORK
        + f"""
import threading
big = np.arange(800_000, dtype=np.uint32).reshape(100, 8000)
use()
queued = dmlops.slice(dmlops.asarray(x), [0, 0], [20, 1000], [1, -1])
def stage():  # in four chunks, two of them under way at a time
    dmlops._core._override("host_import", 0)
    dmlops._core._override("staging", 1_000_000)
def handler(*_):
    global pid
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)
        {end}
    layer.slow(0)
signal.signal(signal.SIGUSR1, handler)
layer.slow(faults.NEVER)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1)).start()
try:
    {call}
except (dmlops.DeviceLostError, KeyboardInterrupt):
    assert pid == 0
    layer.slow(0)
    use()
    os._exit(0)
assert pid > 0
join(pid)
assert np.array_equal(queued.numpy(), x[:, ::-1])
use()
""",
        env=faults.environment(library),
    )


def test_fork_in_the_handler_of_a_signal_while_the_cache_is_emptied(library):
    """The child leaves alone what is the parent's."""
    support.run_python(
        UNFINISHED
        + FORK
        + """
import threading
dmlops._core._override("host_import", 0)
use()
dmlops._core._override("host_import", -1)
queued = dmlops.slice(dmlops.asarray(x), [0, 0], [20, 1000], [1, -1])
pid = -1
def handler(*_):
    global pid, alive
    alive = layer.alive()
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)
    else:
        layer.slow(0)
signal.signal(signal.SIGUSR1, handler)
layer.slow(faults.NEVER)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1)).start()
try:
    dmlops.empty_cache()
except dmlops.DeviceLostError:
    assert pid == 0
if pid == 0:
    os._exit(layer.alive() != alive)
assert pid > 0
join(pid)
assert layer.alive() < alive  # staging buffers among them
use()
""",
        env=faults.environment(library),
    )


@pytest.mark.needs_fork
def test_fork_in_the_handler_of_a_signal_while_there_is_no_room_in_the_queue(vulkan):
    """One thread at a time waits for room in the queue; that one forks while others wait for its lock."""
    support.run_python(
        FORK
        + """
import threading
large = dmlops.asarray(np.zeros((2048, 2048), np.float32))
def fill():
    y = large
    for _ in range(100):
        y = dmlops.slice(y, [0, 0], [2048, 2048], [1, -1])
use()
pids = []
def handler(*_):
    pids.append(child_of(use))
signal.signal(signal.SIGUSR1, handler)
for _ in range(2):
    others = [threading.Thread(target=fill) for _ in range(2)]
    [other.start() for other in others]
    timers = [threading.Timer(0.1 + 0.15 * k, os.kill, (os.getpid(), signal.SIGUSR1)) for k in range(3)]
    [timer.start() for timer in timers]
    fill()
    [thread.join() for thread in others + timers]
[join(pid) for pid in pids]
assert pids
use()
"""
    )


@pytest.mark.needs_fork
def test_fork_while_another_thread_makes_the_context(vulkan):
    support.run_python(
        FORK
        + """
import threading
thread = threading.Thread(target=use)
thread.start()
for _ in range(5):
    join(child_of(use))
thread.join()
use()
"""
    )


@pytest.mark.needs_fork
def test_fork_after_the_device_was_lost(library):
    support.run_python(
        FORK
        + """
import faults
layer = faults.Layer()
use()
layer.arm("vulkan", 1, "VK_ERROR_DEVICE_LOST", only="vkWaitForFences")
try:
    use()
except dmlops.DeviceLostError:
    pass
join(child_of(use))
use()
join(child_of(use))
""",
        env=faults.environment(library),
    )


POOL = (
    USE
    + """
import concurrent.futures, multiprocessing, sys
def work(n):
    use()
    return n
if __name__ == "__main__":
    method, used_before = sys.argv[1], sys.argv[2] == "used"
    context = multiprocessing.get_context(method)
    if used_before:
        use()
    with context.Pool(2) as pool:
        assert pool.map(work, range(10)) == list(range(10))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(work, range(10))) == list(range(10))
    process = context.Process(target=work, args=(1,))
    process.start(); process.join()
    assert process.exitcode == 0
    use()
"""
)


@pytest.mark.parametrize("used, method", [
    pytest.param("used", "fork", marks=pytest.mark.needs_fork), ("unused", "fork"),
    ("used", "forkserver"), ("used", "spawn"),  # whose children begin anew, whatever their parent has used
])  # fmt: skip
def test_process_pools(used, method, tmp_path, vulkan):
    (tmp_path / "pools.py").write_text(POOL)
    # From Python 3.12 on os.fork warns of any threads there are, the driver's among them.
    done = support.run_python(None, args=("-Wignore::DeprecationWarning", str(tmp_path / "pools.py"), method, used))
    assert done.stderr == ""


def test_subinterpreters_are_refused():
    support.run_python("""
import textwrap
import dmlops
code = textwrap.dedent('''
    try:
        import dmlops._core
    except ImportError as error:
        refused = "interpreter" in str(error)
    else:
        refused = False
    assert refused
''')
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
try:
    other = interpreters.create("legacy")
except (TypeError, ValueError):
    other = interpreters.create(isolated=False) if "isolated" in (interpreters.create.__doc__ or "") else interpreters.create()
failure = (interpreters.exec if hasattr(interpreters, "exec") else interpreters.run_string)(other, code)
assert failure is None, failure
""")


def test_calls_import_nothing():
    """The child of a fork would wait for ever for a module that another thread is importing."""
    support.run_python("""
import sys, dmlops, numpy as np
x, before = np.zeros((4, 6)), set(sys.modules)
for device in ("host", *(device for device in dmlops.devices() if device.usable)):
    dmlops.slice(x, [0, 0], [4, 6], device=device)
    dmlops.reverse_subsequences(x.tolist(), [1, 2, 3, 4], 1, batch_axis=0, device=device)
    dmlops.padding(x, [1, 1], [1, 1], value=2.5, device=device)
    a = dmlops.from_dlpack(dmlops.transpose(x, device=device), device=device)
    a[0] = 1
    dmlops.take(x, [1], device=device), dmlops.take_along_axis(x, [1], None, device=device)
    dmlops.put_along_axis(x, [[1]], 2, 0, device=device), dmlops.scatter_nd(x, [[1]], x[:1], device=device)
    dmlops.one_hot([1, 2], 4, device=device)
    dmlops.resize_opencv(np.zeros((4, 6), np.uint8), (3, 2), device=device)
    dmlops.slice_from_key(x.shape, np.s_[1:]), a.reshape(24), np.flip(a), a.tolist(), dmlops.memory_info(device)
dmlops.synchronize()
assert set(sys.modules) == before, set(sys.modules) - before
""")


def test_import_again_after_removal_from_sys_modules():
    support.run_python("""
import sys, dmlops, numpy as np
for name in [name for name in sys.modules if name.partition(".")[0] == "dmlops"]:
    del sys.modules[name]
import dmlops
assert dmlops.slice([1, 2], [0], [2], [-1], device="host").tolist() == [2, 1]
""")


@pytest.mark.posix
def test_fork_after_an_import_again():
    """What a fork holds is registered once."""
    support.run_python("""
import os, signal, sys, dmlops
for name in [name for name in sys.modules if name.partition(".")[0] == "dmlops"]:
    del sys.modules[name]
import dmlops
signal.alarm(60)
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(dmlops.slice([1, 2], [0], [2], [-1], device="host").tolist() != [2, 1])
assert os.waitpid(child, 0)[1] == 0
""")


def test_import_again_after_use(vulkan):
    """Context and devices belong to the process; the new module's errors and types are its own."""
    done = support.run_python(
        USE
        + """
import sys
use()
old = dmlops
for _ in range(3):
    for name in [name for name in sys.modules if name.partition(".")[0] == "dmlops"]:
        del sys.modules[name]
    import dmlops
    assert dmlops is not old and dmlops.VulkanError is not old.VulkanError
    use()
    assert np.array_equal(old.slice(x, [0, 0], [20, 1000], [1, -1]), x[:, ::-1])
del old
"""
    )
    assert done.stderr == ""


def test_command_line(vulkan):
    import dmlops

    done = support.run_python(None, args=("-m", "dmlops"))
    assert dmlops.__version__ in done.stdout and "numpy" in done.stdout.lower()
    for device in dmlops.devices():
        assert device.name in done.stdout


def test_command_line_without_vulkan():
    done = support.run_python(None, args=("-m", "dmlops"), env=support.NO_VULKAN)
    assert "host" in done.stdout and "mesa-vulkan-drivers" in done.stdout


def test_selftest(vulkan):
    import dmlops

    done = support.run_python(None, args=("-m", "dmlops", "selftest"))
    for operator in [*strategies.OPERATORS, *strategies.GATHERS, *strategies.SCATTERS]:
        lines = [line for line in done.stdout.splitlines() if operator in line]
        assert len(lines) >= sum(device.usable for device in dmlops.devices()), done.stdout


def test_an_unknown_command():
    done = support.run_python(None, args=("-m", "dmlops", "frobnicate"), check=False)
    assert done.returncode != 0 and "frobnicate" in done.stderr


COMMANDS = ["", "explain 'slice(uint8[3], [0], [3])' --device cpu-class", "explain no", "run /no/such.json", "--help"]


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
@pytest.mark.parametrize("command", COMMANDS)
def test_streams_that_are_closed_or_full(command, streams):
    """No traceback; an error stays off the standard output; the status tells of output that is lost."""
    line = f"{shlex.quote(sys.executable)} -m dmlops {command} {streams}"
    environment = support.changed(os.environ, {"PYTHONUNBUFFERED": None})  # with it argparse hides errors of --help
    done = subprocess.run(
        ["sh", "-c", line], env=environment, capture_output=True, text=True, cwd=tempfile.gettempdir(), timeout=600
    )
    expected = {"explain no": 2, "run /no/such.json": 1}.get(command, 0)
    if streams == ">/dev/full" and not expected:
        assert (done.returncode, done.stderr) == (1, "error: [Errno 28] No space left on device\n")
    elif streams != "2>/dev/full" or not expected:
        assert done.returncode == expected, done
    assert "Traceback" not in done.stderr and (not expected or done.stdout == "")


@pytest.mark.parametrize("flag", ["-O", "-OO", "-I", "-Werror"])
def test_interpreter_flags(flag):
    """Works without docstrings and assertions, without the environment, and warns of nothing."""
    code = "import dmlops; print(dmlops.slice([1, 2], [0], [2], [-1], device='host').tolist())"
    assert support.run_python(None, args=(flag, "-c", code)).stdout == "[2, 1]\n"
