"""Calls from many threads at once; the GIL is free while a device works; neighbours' bytes are left alone."""

import contextlib
import os
import platform
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dmlops
import numpy as np
import pytest
from dmlops import reference

import faults
import support
from strategies import content

pytestmark = pytest.mark.slow


def calls(seed):
    """A few calls with their results."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(5):
        rows, width = (int(n) for n in rng.integers(1, 200, 2))
        x = rng.integers(0, 256, (rows, width, int(rng.integers(1, 9))), np.uint8)
        lengths = rng.integers(0, width + 1, (rows, 1, 1))
        made.append(("reverse_subsequences", (x, lengths, 1), {}))
        made.append(("slice", (x, [0, 0, 0], list(x.shape), [1, -2, 1]), {}))
        made.append(("depth_to_space", (np.repeat(x, 4, axis=2)[None], 2), {"layout": "NHWC"}))
        made.append(("padding", (x, [1, 2, 0], [0, 3, 0]), {"mode": ["constant", "reflection", "edge"][rows % 3]}))
        made.append(("join", ([x, x[:, ::-1], x[:, :1]], 1), {}))
        made.append(("split", (x, 1, [width // 2, width - width // 2]), {}))
        made.append(("transpose", (x, (2, 0, 1)), {}))
        made.append(("tile", (x[:, :9], (1, 2, 2)), {}))
        made.append(("upsample", (x[:9], (1, 2)), {"layout": "NHWC"}))
        made.append(
            ("slice_grad", (x, [rows, 2 * width, x.shape[2]], [0, 0, 0], [rows, 2 * width - 1, x.shape[2]], [1, -2, 1]), {})
        )
    indices = rng.integers(-width, width, (rows, 7, 1))
    made.append(("take", (x, indices[0, :, 0], 1), {}))
    made.append(("take_along_axis", (x, indices, 1), {}))
    made.append(("put_along_axis", (x, indices[:, :1], 7, 1), {}))
    made.append(("roll", (x, (rows // 2, -3), (0, 1)), {}))
    return made


@pytest.mark.many_pipelines
def test_many_threads_at_once(device):
    start = threading.Barrier(8)

    def work(seed):
        start.wait()
        for name, args, more in calls(seed):
            result = getattr(dmlops, name)(*args, **more, device=device)
            assert content(result) == content(getattr(reference, name)(*args, **more)), name
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


def test_threads_may_share_an_input_and_the_parent_of_their_outputs(device):
    x = np.arange(64 * 1000, dtype=np.uint16).reshape(64, 1000)
    together = np.zeros((64, 1000), np.uint16)

    def work(column):
        for _ in range(20):
            dmlops.slice(x, [0, column], [64, 993], [-1, 8], out=together[:, column::8], device=device)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert np.array_equal(together, x[::-1])


def test_first_use_by_many_threads(vulkan):
    """Context and kernels are made once, by whoever comes first."""
    support.run_python("""
import threading, dmlops, numpy as np
x = np.arange(4000, dtype=np.uint16).reshape(4, 1000)
start, wrong = threading.Barrier(8), []
def work():
    try:
        start.wait()
        assert np.array_equal(dmlops.slice(x, [0, 0], [4, 1000], [1, -1]), x[:, ::-1])
    except BaseException as error:
        wrong.append(error)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not wrong, wrong
""")


@contextlib.contextmanager
def another_thread():
    """Gives a function that says how far another thread has come. No thread is ever made to give up the GIL: it runs only while
    the first one lets it."""
    count, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=tick)
    try:
        thread.start()
        yield lambda: count[0]
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()


@pytest.mark.many_bytes
def test_the_gil_is_free_during_a_call(device):
    x = np.zeros((4096, 4096), np.float32)
    with another_thread() as count:
        progress = 0
        for _ in range(20):
            before = count()
            dmlops.slice(x, [0, 0], [4096, 4096], [1, -1], device=device)
            progress = count() - before
            if progress:
                break
    assert progress > 0


# Of device arrays of the host, whose calls have no queue to wait for.
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda x: dmlops.transpose(x), id="one step"),
        pytest.param(lambda x: dmlops.split(x, 0, [1] * 4096), id="many steps"),
        pytest.param(lambda x: dmlops.join([x, x], 1), id="one array twice"),
        pytest.param(lambda x: dmlops.transpose(x, out=dmlops.empty(x.shape, x.dtype, device="host")), id="out"),
        pytest.param(lambda x: dmlops.padding(x, [8, 8], [8, 8], mode="reflection"), id="padding"),
        pytest.param(lambda x: np.copyto(np.empty(x.shape, x.dtype), x.numpy()), id="numpy"),
        pytest.param(lambda x: dmlops.reverse_subsequences(x, np.full((4096, 1), 4000), 1), id="lengths"),
    ],
)
def test_the_gil_is_free_while_the_host_works(call):
    x = dmlops.asarray(np.zeros((4096, 4096), np.uint8), device="host")
    with another_thread() as count:
        progress = 0
        for _ in range(20):
            before = count()
            call(x)
            progress = count() - before
            if progress:
                break
    assert progress > 0


def test_a_call_that_only_queues_keeps_the_gil(vulkan):
    x = dmlops.asarray(np.arange(64, dtype=np.float32), device=vulkan)
    y = dmlops.slice(dmlops.slice(x, [0], [64], [-1]), [0], [64], [-1])
    dmlops.synchronize()
    with another_thread() as count:
        before = count()
        for _ in range(8):
            y = dmlops.slice(y, [0], [64], [-1])
        assert count() == before
    assert np.array_equal(y, x)


def test_the_gil_is_free_while_a_kernel_is_compiled(vulkan):
    x = dmlops.asarray(np.arange(8 * 65536, dtype=np.uint8).reshape(8, -1), device=vulkan)
    results = [dmlops.slice(x, [0, 0], [8, 1000]) for _ in range(21)]  # memory for those below
    results.clear()
    with another_thread() as count:
        progress = 0
        for step in range(2, 23):
            before = count()
            results.append(dmlops.slice(x, [0, 0], [8, 1000 * step], [1, step]))
            progress = count() - before
            if progress:
                break
    assert progress > 0


@pytest.mark.many_bytes
def test_the_gil_is_free_while_there_is_no_room_in_the_queue(vulkan):
    def mirrored(x):
        return dmlops.slice(x, [0, 0], [2048, 2048], [1, -1])

    x = dmlops.asarray(np.arange(2048 * 2048, dtype=np.float32).reshape(2048, 2048), device=vulkan)
    y = mirrored(mirrored(mirrored(x)))  # from here on there are a pipeline, and memory to be had without waiting
    dmlops.synchronize()
    with another_thread() as count:
        before = count()
        for _ in range(199):
            y = mirrored(y)
        progress = count() - before
    assert progress > 0
    assert np.array_equal(y, x)


def test_bytes_between_the_elements_of_out_belong_to_another_thread(device):
    """They are never written, not even with the value they had a moment ago."""
    parent = np.zeros((64, 4099), np.uint8)
    mine, theirs = parent[:, ::2], parent[:, 1::2]
    x = np.random.default_rng(0).integers(0, 256, mine.shape, np.uint8)
    lost, stop = [], threading.Event()

    def neighbour():
        value = 0
        while not stop.is_set():
            value = (value + 1) % 256
            theirs[...] = value
            if not (theirs == value).all():
                lost.append(value)

    thread = threading.Thread(target=neighbour)
    thread.start()
    try:
        for _ in range(150):
            dmlops.slice(x, [0, 0], list(x.shape), [1, -1], out=mine, device=device)
            assert np.array_equal(mine, x[:, ::-1])
    finally:
        stop.set()
        thread.join()
    assert not lost


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_sixteen_threads_for_a_minute(device):
    """Every operator, small and large, new arrays and shared ones, into fresh results and into parts of one array."""
    shared = np.random.default_rng(1).integers(0, 256, (64, 40_000), np.uint8)
    together = np.zeros((16, 64, 40_000), np.uint8)
    end, wrong, done = time.monotonic() + 60, [], [0] * 16

    def work(seed):
        rng = np.random.default_rng(seed)
        try:
            while time.monotonic() < end and not wrong:
                for name, args, more in calls(int(rng.integers(2**31))):
                    result = getattr(dmlops, name)(*args, **more, device=device)
                    assert content(result) == content(getattr(reference, name)(*args, **more)), name
                step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
                expected = shared[:, ::step]
                mine = together[seed][:, : expected.shape[1]]
                dmlops.slice(shared, [0, 0], [64, 40_000], [1, step], out=mine, device=device)
                assert np.array_equal(mine, expected), step
                done[seed] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong, wrong
    assert all(done), done


HERE = support.ROOT / "tests" / "threads"
CSRC = support.ROOT / "csrc"


@pytest.mark.posix
def test_calls_of_greenlets_may_overlap(tmp_path):
    """The function of `progress` may switch to another greenlet, which calls too, and has the stack meanwhile."""
    folders = [CSRC, sysconfig.get_path("include"), np.get_include()]
    flags = ["-std=c11", "-O1", *(f"-I{folder}" for folder in folders), "-o", tmp_path / "gil"]
    support.compile_c([*flags, HERE / "gil.c", CSRC / "py" / "gil.c"])
    done = subprocess.run([tmp_path / "gil"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


# --- the thread sanitizer ---------------------------------------------------------------------------------------

BROKEN_LOCK = """
#include <pthread.h>
static inline int no_lock(pthread_mutex_t *mutex) { (void)mutex; return 0; }
#define pthread_mutex_lock no_lock
#define pthread_mutex_unlock no_lock
"""


FLAGS = ["-std=gnu11", "-g", "-O1", "-fsanitize=thread", "-Wall", "-Wextra", "-Wno-missing-field-initializers"]


def compile_part(source, folder, built, *options):
    """Compiles one file into `folder`; the shaders' headers are in `built`."""
    target = folder / f"{source.parent.name}-{source.stem}.o"
    includes = [f"-I{CSRC}", f"-I{support.ROOT / 'shaders'}", f"-I{built}"]
    support.compile_c([*FLAGS, *options, *includes, "-c", "-o", target, source])
    return target


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with csrc compiled, but for csrc/py, and with a mock of Vulkan."""
    folder = tmp_path_factory.mktemp("race")
    names = [path.stem for path in (support.ROOT / "shaders").glob("*.comp")]
    variants = [f"{name}{suffix}" for name in names for suffix in ("", "_segmented", "_vectors", "_only_32_bit")]
    arrays = "".join(f"static const uint32_t {name}_spv[] = {{0}};\n" for name in variants)
    listed = f"#define DML_SHADERS(X) {' '.join(f'X({name})' for name in names)}\n"
    (folder / "shaders.spv.h").write_text(f"#include <stdint.h>\n{arrays}{listed}")
    (folder / "broken_lock.h").write_text(BROKEN_LOCK)
    rooms = "base", *support.CORE, "vk"
    for source in [*(path for room in rooms for path in CSRC.glob(f"{room}/*.c")), HERE / "race.c"]:
        compile_part(source, folder, folder)
    mock = ["-shared", "-fPIC", "-fvisibility=hidden", "-o", folder / "libvulkan.so.1", HERE / "mock_vulkan.c"]
    support.compile_c([*FLAGS, *mock, "-pthread"])
    return folder


def race(built, folder, broken=None):
    """Runs many threads in it; the file `broken` takes no locks."""
    objects = {path.name: path for path in built.glob("*.o")}
    if broken:
        (source,) = CSRC.glob(f"*/{broken}")
        part = compile_part(source, folder, built, "-include", built / "broken_lock.h")
        objects[part.name] = part
    support.compile_c([*FLAGS, "-o", folder / "race", *objects.values(), "-pthread", "-ldl", "-lm"])
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment |= {"LD_LIBRARY_PATH": str(built), "TSAN_OPTIONS": f"halt_on_error=1:report_mutex_bugs={0 if broken else 1}"}
    # The sanitizer wants its addresses free, which a kernel that shuffles them widely does not leave them.
    command = ["setarch", platform.machine(), "-R", str(folder / "race")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1700)


@pytest.mark.posix
@pytest.mark.check
def test_no_data_races(built, tmp_path):
    done = race(built, tmp_path)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stdout + done.stderr


@pytest.mark.posix
@pytest.mark.check
@pytest.mark.parametrize(
    "broken", ["submission.c", "queue.c", "quiesce.c", "kernels.c", "instance.c", "allocation_pool.c", "cache.c"]
)
def test_a_missing_lock_would_be_found(broken, built, tmp_path):
    done = race(built, tmp_path, broken)
    assert done.returncode != 0 and "WARNING: ThreadSanitizer: data race" in done.stderr, done.stdout + done.stderr


@pytest.mark.posix
def test_a_thread_does_not_wait_for_another_ones_compilation(library):
    """But for that of the kernel that it needs, which is compiled once."""
    support.run_python(
        """
import threading, time
import dmlops, faults, numpy as np
from dmlops import _core
layer = faults.Layer()
_core._override("kernel", 1)  # rows
x = np.random.default_rng(0).integers(0, 256, (8, 4096), np.uint8)
def call(step):
    assert np.array_equal(dmlops.slice(x, [0, 0], [8, 4096], [1, step], device=0), x[:, ::step])
def alive():
    return layer.alive("vkCreateComputePipelines")
def held(step):
    '''Threads that need this kernel; the first of them compiles it until it is told otherwise.'''
    before = layer.calls["vkCreateComputePipelines"]
    layer.hold_compilation()
    threads = [threading.Thread(target=call, args=(step,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    while layer.calls["vkCreateComputePipelines"] == before:
        time.sleep(0.001)
    return threads
call(2)
assert alive() == 1
threads = held(3)
for step in (2, 4, 5, 2):  # known ones and new ones
    call(step)
assert all(thread.is_alive() for thread in threads) and alive() == 3
layer.hold_compilation(False)
for thread in threads:
    thread.join()
assert alive() == 4 == layer.calls["vkCreateComputePipelines"]

_core._override("pipelines", 3)  # while one is compiled others fill the room
threads = held(6)
for step in (7, 8, 9, 7):
    call(step)
layer.hold_compilation(False)
for thread in threads:
    thread.join()
call(6)
assert alive() == 3 and layer.calls["vkCreateComputePipelines"] == 8

layer.arm("vulkan", 1, "VK_ERROR_OUT_OF_HOST_MEMORY", only="vkCreateComputePipelines")
try:
    call(10)
except MemoryError:
    call(10)  # nobody waits for what has failed
else:
    raise AssertionError
assert not layer.violations, layer.violations
""",
        env=faults.environment(library),
    )
