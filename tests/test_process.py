"""The life of a process: import, exit, fork, sub-interpreters, the command line."""

import pytest

import support

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
        support.run_python(USE + """
import threading, time
big = np.zeros((2000, 4000), np.uint8)
started = threading.Event()
def loop():
    while True:
        dmlops.slice(big, [0, 0], [2000, 4000], [1, -1])
        started.set()
threading.Thread(target=loop, daemon=True).start()
started.wait()
""")


def test_use_while_exiting(vulkan):
    """atexit functions registered before the first use run after dmlops' own: an error, not a crash."""
    done = support.run_python("""
import atexit
def last():
    try:
        use()
        print("fine")
    except dmlops.VulkanError as error:
        print("refused")
atexit.register(last)
""" + USE + "use()")
    assert done.stdout in ("fine\n", "refused\n")


FORK = USE + """
import os, sys, signal
def child_of(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # a hang ends here, and shows
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


def test_fork_after_use(vulkan):
    """The child makes a context of its own; the parent goes on with its."""
    support.run_python(FORK + """
use()
children = [child_of(lambda: [use() for _ in range(20)]) for _ in range(3)]
for _ in range(20):
    use()
for pid in children:
    join(pid)
use()
""")


def test_fork_of_a_fork(vulkan):
    support.run_python(FORK + """
use()
def middle():
    use()
    join(child_of(use))
    use()
join(child_of(middle))
use()
""")


def test_fork_before_use(vulkan):
    support.run_python(FORK + "pid = child_of(use)\nuse()\njoin(pid)")


def test_a_forked_child_that_exits_the_ordinary_way(vulkan):
    support.run_python(USE + """
import os, sys
use()
pid = os.fork()
if pid == 0:
    sys.exit(0)  # runs atexit functions, which must leave the parent's device alone
assert os.waitpid(pid, 0)[1] == 0
use()
""")


def test_fork_while_other_threads_are_in_calls(vulkan):
    support.run_python(FORK + """
import threading
stop = threading.Event()
def loop():
    while not stop.is_set():
        use()
threads = [threading.Thread(target=loop) for _ in range(2)]
[thread.start() for thread in threads]
for _ in range(25):
    join(child_of(use))
stop.set()
[thread.join() for thread in threads]
use()
""", timeout=240)


def test_multiprocessing_with_fork(vulkan):
    support.run_python(USE + """
import multiprocessing
def work(n):
    use()
    return n
use()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(10)) == list(range(10))
use()
""")


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


def test_import_again_after_removal_from_sys_modules():
    support.run_python("""
import sys, dmlops, numpy as np
for name in [name for name in sys.modules if name.partition(".")[0] == "dmlops"]:
    del sys.modules[name]
import dmlops
assert dmlops.slice([1, 2], [0], [2], [-1], device="host").tolist() == [2, 1]
""")


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
    for operator in ("reverse_subsequences", "depth_to_space", "space_to_depth", "slice"):
        lines = [line for line in done.stdout.splitlines() if operator in line]
        assert len(lines) >= sum(device.usable for device in dmlops.devices()), done.stdout


def test_an_unknown_command():
    done = support.run_python(None, args=("-m", "dmlops", "frobnicate"), check=False)
    assert done.returncode != 0 and "frobnicate" in done.stderr


@pytest.mark.parametrize("flag", ["-O", "-OO", "-I", "-Werror"])
def test_interpreter_flags(flag):
    """Works without docstrings and assertions, without the environment, and warns of nothing."""
    code = "import dmlops; print(dmlops.slice([1, 2], [0], [2], [-1], device='host').tolist())"
    assert support.run_python(None, args=(flag, "-c", code)).stdout == "[2, 1]\n"
