"""The memory of large results is pooled when they are freed, up to a limit, and reused for the next ones."""

import gc
import os
import sys
import threading
import tracemalloc

import dmlops
import numpy as np
import pytest

try:
    from numpy._core.multiarray import get_handler_name
except ImportError:  # NumPy 1
    from numpy.core.multiarray import get_handler_name

import support

pytestmark = pytest.mark.slow

KIB, MIB = 2**10, 2**20
PAGE = 4096
LIMIT = 24 * MIB
BEGINNING = 20 * MIB if sys.platform == "linux" else 0  # of what is larger: huge pages, and an eighth is left for smaller ones


def result(size, value=1, device="host"):
    """A new result of `size` bytes."""
    return dmlops.slice(np.full(size, value, np.uint8), [0], [size], device=device)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture(autouse=True)
def empty():
    gc.collect()
    dmlops.empty_cache()


def run_python(code, cache=f"{LIMIT}", whole=None, **more):
    """In a process of its own, for the limit is read once. `whole`: the largest result that is pooled whole beyond it."""
    code = f"""
import dmlops, numpy as np
if {whole}:
    dmlops.memory._limits = lambda text, machine: (LIMIT, {whole})
KIB, MIB, PAGE, LIMIT, BEGINNING = 2**10, 2**20, {PAGE}, {LIMIT}, {BEGINNING}
def result(size, value=1, device="host"):
    return dmlops.slice(np.full(size, value, np.uint8), [0], [size], device=device)
def address(array):
    return array.__array_interface__["data"][0]
{code}"""
    return support.run_python(code, env={"DMLOPS_CACHE": cache}, **more)


# --- reuse ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [64 * KIB, 100_001, MIB, 2 * MIB, 3 * MIB + 17, 17 * MIB])
def test_the_next_result_of_a_size_reuses_the_memory_of_the_last(device, size):
    x = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    first = dmlops.slice(x, [0], [size], [-1], device=device)
    place = address(first)
    assert place % PAGE == 0
    assert np.array_equal(first, x[::-1])
    del first
    for step in (1, -1, 1):
        next_one = dmlops.slice(x, [0], [size], [step], device=device)
        assert address(next_one) == place
        assert np.array_equal(next_one, x[::step])
        del next_one


def test_live_results_share_nothing(device):
    results = [result(MIB, value, device) for value in range(8)]
    del results[1::2]
    results += [result(MIB, value, device) for value in range(100, 104)]
    assert [int(r[0]) for r in results] == [0, 2, 4, 6, 100, 101, 102, 103]
    assert all((r == r[0]).all() for r in results)
    assert len({address(r) // MIB for r in results}) == 8


@pytest.mark.parametrize("shape, dtype", [((256, 1024), "f4"), ((3, 50_000), "S3"), ((70_000,), [("a", "i1"), ("b", "f8")])])
def test_such_a_result_is_an_array_like_any_other(device, shape, dtype):
    x = np.zeros(shape, dtype)
    for _ in range(2):
        y = dmlops.slice(x, [0] * x.ndim, list(shape), device=device)
        assert type(y) is np.ndarray and y.dtype == x.dtype and y.base is None
        assert y.flags.c_contiguous and y.flags.owndata and y.flags.writeable and y.flags.aligned
        assert get_handler_name(y) == "dmlops"
        del y


def test_small_results_and_other_arrays_are_left_to_numpy():
    before = dmlops.memory_info()
    small = result(64 * KIB - 1)
    large = result(64 * KIB)
    copy = large.copy()
    assert get_handler_name(small) == get_handler_name(copy) == "default_allocator"
    assert get_handler_name(large) == "dmlops"
    assert dmlops.memory_info().used == before.used + 64 * KIB
    assert get_handler_name() == "default_allocator"


def test_so_is_everything_after_a_call_that_failed():
    with pytest.raises(ValueError):
        dmlops.slice(np.zeros(MIB, np.uint8), [0], [MIB + 1], device="host")
    with pytest.raises((ValueError, MemoryError)):  # more bytes than can be counted
        x = np.broadcast_to(np.zeros((), "S2147483647"), (2**15, 2**15))
        dmlops.slice(x, [0, 0], list(x.shape), device="host")
    assert get_handler_name() == get_handler_name(np.zeros(MIB)) == "default_allocator"


def test_a_result_copied_to_an_overlapping_out_comes_from_the_cache(device):
    x = np.arange(MIB, dtype=np.uint32)
    expected = x[::-1].copy()
    assert dmlops.slice(x, [0], [MIB], [-1], out=x, device=device) is x
    assert np.array_equal(x, expected)
    assert dmlops.memory_info().pool_bytes == 4 * MIB


def test_a_view_keeps_its_memory():
    whole = result(MIB, 7)
    place = address(whole)
    view = whole[5:10]
    del whole
    other = result(MIB, 9)
    assert address(other) != place and view.tolist() == [7] * 5
    del view
    assert address(result(MIB)) == place


def test_tracemalloc_counts_live_results_only():
    tracemalloc.start()
    try:
        base = tracemalloc.get_traced_memory()[0]
        y = result(MIB)
        assert MIB <= tracemalloc.get_traced_memory()[0] - base < MIB + 100 * KIB
        del y
        assert tracemalloc.get_traced_memory()[0] - base < 100 * KIB
    finally:
        tracemalloc.stop()


# --- resize -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 1000, 64 * KIB, MIB - 1, MIB, MIB + 1, 5 * MIB])
def test_resize(size):
    y = dmlops.slice(np.arange(MIB, dtype=np.uint8), [0], [MIB], device="host")
    expected = np.resize(y, size) if size <= MIB else np.concatenate([y, np.zeros(size - MIB, np.uint8)])
    before = dmlops.memory_info().used
    y.resize(size, refcheck=False)
    assert np.array_equal(y, expected)
    assert get_handler_name(y) == "dmlops" and address(y) % PAGE == 0
    assert abs(dmlops.memory_info().used - before - (size - MIB)) <= max(PAGE, size // 8)
    y.resize(MIB, refcheck=False)
    assert np.array_equal(y[:size], expected[:MIB]) and not y[size:].any()
    del y
    assert dmlops.memory_info().used == before - MIB


def test_resize_beyond_the_limit():
    run_python("""
y = result(MIB, 3)
y.resize(2 * LIMIT, refcheck=False)
assert dmlops.memory_info().used == 2 * LIMIT
assert (y[:MIB] == 3).all() and not y[MIB:].any()
del y
assert dmlops.memory_info()[:3] == (0, MIB + BEGINNING, LIMIT)
""")


# --- the limit --------------------------------------------------------------------------------------------------


def test_no_more_than_the_limit_is_pooled_and_the_least_recently_used_goes_first():
    run_python("""
ys = [result(MIB) for _ in range(16)] + [result(4 * MIB) for _ in range(8)]
assert dmlops.memory_info()[:3] == (48 * MIB, 0, LIMIT)
places = [address(y) for y in ys]
for n in range(24):
    ys[n] = None
    info = dmlops.memory_info()
    assert info.pool_bytes <= LIMIT and info.used == sum(y.nbytes for y in ys if y is not None)
assert dmlops.memory_info()[:3] == (0, LIMIT, LIMIT)
# The last six of 4 MiB are what is left; the one freed last is used first.
assert [address(y) for y in [result(4 * MIB) for _ in range(6)]] == places[:17:-1]
""")


@pytest.mark.parametrize("size", [24 * MIB, 24 * MIB - 5, 23 * MIB])
def test_a_result_as_large_as_the_limit(size):
    run_python(f"""
x = result(MIB)
y = result({size})
del x, y
assert dmlops.memory_info()[:3] == (0, LIMIT, LIMIT)
z = result(LIMIT + 1)
assert dmlops.memory_info()[:3] == (LIMIT + PAGE, LIMIT, LIMIT)
del z
assert dmlops.memory_info()[:3] == (0, LIMIT, LIMIT)
""")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory cannot be given back without its addresses")
@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizers' own memory has page faults for every new address")
def test_the_next_result_beyond_the_limit_begins_with_the_pages_of_the_last():
    """Fewer page faults tell: on the host, whose one thread takes each fault once, and the fewest of several times, since a
    process has others besides."""
    run_python("""
import resource
x = np.ones(4 * LIMIT // 3, np.uint8)
def faults(value):
    x[:] = value
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    y = dmlops.slice(x, [0], [x.size], device="host")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert (y == value).all() and dmlops.memory_info()[:2] == (y.size, 0)
    return after - before
def faults_afresh(value):
    dmlops.empty_cache()
    return faults(value)
faults(0)
assert dmlops.memory_info()[:2] == (0, BEGINNING)
again = min(faults(n) for n in range(10))
afresh = min(faults_afresh(n) for n in range(10))
assert again < afresh * 3 / 4, (again, afresh)
""")


def test_results_beyond_the_limit_of_many_sizes():
    run_python("""
import random, sys
random.seed(1)
kept = None
for n in range(60):
    size = LIMIT + random.randrange(1, 3 * LIMIT)
    y = result(size, n % 251)
    assert (y == n % 251).all() and address(y) % (2 * MIB) == 0
    assert dmlops.memory_info()[:2] == ((size + PAGE - 1) // PAGE * PAGE, 0)
    if kept and size <= kept[1]:
        assert address(y) == kept[0]
    elif sys.platform == "linux":
        kept = address(y), size
    del y
    assert dmlops.memory_info()[:2] == (0, BEGINNING)
dmlops.empty_cache()
assert dmlops.memory_info()[:2] == (0, 0)
""")


def test_smaller_results_take_the_place_of_a_beginning():
    run_python("""
y, small = result(4 * LIMIT, 1), result(2 * MIB)
del y, small
assert dmlops.memory_info()[:2] == (0, BEGINNING + 2 * MIB)
y, large = result(3 * MIB, 2), result(2 * LIMIT, 3)
assert dmlops.memory_info()[:2] == (2 * LIMIT + 3 * MIB, 2 * MIB)
assert (y == 2).all() and (large == 3).all()
del large, y
y = [result(3 * MIB, n) for n in range(6)]
del y
assert dmlops.memory_info()[:2] == (0, 20 * MIB)
assert (result(2 * LIMIT, 4) == 4).all()
""")


@pytest.mark.parametrize("limit", [MIB + 1, 3 * MIB - 5, 15 * MIB + 17, 31 * MIB])
def test_sizes_next_to_a_limit_that_is_no_round_number(limit):
    """Each size is written from end to end; sizes that are rounded up alike must not meet where they are not."""
    run_python(
        f"""
import random
random.seed({limit})
for _ in range(60):
    size = random.choice([{limit} - random.randrange(300_000), random.randrange(64 * KIB, {limit})])
    ys = [result(size, 5), result(size - random.randrange(5000), 6)]
    assert (ys[0] == 5).all() and (ys[1] == 6).all()
    assert dmlops.memory_info().pool_bytes <= {limit}
""",
        cache=limit,
    )


def test_rounding_wastes_at_most_an_eighth():
    for size in np.random.default_rng(0).integers(64 * KIB, 8 * MIB, 50).tolist():
        before = dmlops.memory_info().used
        y = result(size)
        assert size <= dmlops.memory_info().used - before <= max(size * 9 // 8, size + PAGE)
        del y


def test_a_limit_of_0_pools_nothing():
    run_python(
        """
y = result(MIB)
del y
assert dmlops.memory_info()[:3] == (0, 0, 0)
""",
        cache="0",
    )


def test_emptying():
    y, z = result(MIB, 3), result(2 * MIB)
    used = dmlops.memory_info().used
    del z
    assert dmlops.memory_info().pool_bytes == 2 * MIB
    assert dmlops.empty_cache() is None
    assert dmlops.memory_info()[:2] == (used - 2 * MIB, 0)
    assert (y == 3).all()
    y[:] = 4


@pytest.mark.posix
def test_emptying_gives_the_memory_back():
    run_python("""
import os
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
ys = [result(2 * MIB) for _ in range(10)]
full = resident()
del ys
assert full - resident() < 4 * MIB
dmlops.empty_cache()
assert full - resident() > 16 * MIB
""")


@pytest.mark.posix
def test_pooled_memory_is_released_before_memory_runs_out():
    run_python("""
import resource
x = np.ones(20 * MIB, np.uint8)
ys = [dmlops.slice(x, [0], [3 * MIB], device="host") for _ in range(8)]
del ys
assert dmlops.memory_info().pool_bytes == LIMIT
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 8 * MIB,) * 2)
y = dmlops.slice(x, [0], [20 * MIB], device="host")
assert dmlops.memory_info()[:2] == (20 * MIB, 0) and y.all()
try:
    z = dmlops.slice(x, [0], [19 * MIB], device="host")
except MemoryError:
    pass
else:
    raise AssertionError("no MemoryError")
assert dmlops.memory_info()[:2] == (20 * MIB, 0)
""")


# --- what is asked for again and again ---------------------------------------------------------------------------

WHOLE = 4 * LIMIT
LARGE = 3 * LIMIT
needs_offers = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a result beyond the limit is never pooled")


@needs_offers
def test_a_result_beyond_the_limit_is_pooled_whole_once_three_in_a_row_had_its_memory():
    run_python(
        """
smaller = [result(4 * MIB) for _ in range(8)]
for n in range(3):
    assert dmlops.memory_info()[1:3] == (BEGINNING if n else 0, LIMIT)
    y = result(LARGE, n)
    assert dmlops.memory_info()[1:3] == (0, LIMIT)
    place = address(y)
    del y
assert dmlops.memory_info()[1:3] == (LARGE, LIMIT + LARGE)
del smaller  # 32 MiB, of which the limit lets 24 stay: it holds beside
assert dmlops.memory_info()[:3] == (0, LIMIT + LARGE, LIMIT + LARGE)
y = result(LARGE, 9)
assert address(y) == place and (y == 9).all() and dmlops.memory_info()[:3] == (LARGE, LIMIT, LIMIT)
del y
dmlops.empty_cache()
assert dmlops.memory_info()[:3] == (0, 0, LIMIT)
result(LARGE)
assert dmlops.memory_info()[:3] == (0, BEGINNING, LIMIT)
""".replace("LARGE", str(LARGE)),
        whole=WHOLE,
    )


@needs_offers
def test_also_where_a_result_replaces_the_last():
    run_python(
        f"""
y = None
for n in range(7):
    y = result({LARGE}, n)
assert (y == 6).all() and dmlops.memory_info()[:3] == ({LARGE}, {LARGE}, LIMIT + {LARGE})
""",
        whole=WHOLE,
    )


@needs_offers
def test_also_where_smaller_ones_fill_the_pool():
    """A result beyond the limit keeps its addresses meanwhile, and its uses count; one more is asked for."""
    run_python(
        f"""
smaller = [result(3 * MIB) for _ in range(8)]
del smaller
for _ in range(4):
    assert dmlops.memory_info()[:3] == (0, LIMIT, LIMIT)
    result({LARGE})
assert dmlops.memory_info()[:3] == (0, LIMIT + {LARGE}, LIMIT + {LARGE})
""",
        whole=WHOLE,
    )


@needs_offers
def test_limits_found_again_leave_it_whole():
    """The memory that the process may use is looked at again where nobody has set a limit."""
    run_python(
        f"""
for _ in range(3):
    result({LARGE})
for _ in range(2):
    assert dmlops.memory_info()[:3] == (0, {LARGE}, LIMIT + {LARGE})
dmlops.memory._limits = lambda text, machine: (LIMIT, {LARGE} - 1)
assert dmlops.memory_info()[:3] == (0, 0, LIMIT)
""",
        cache=None,
        whole=WHOLE,
    )


@needs_offers
@pytest.mark.parametrize(
    "sizes",
    [
        [LARGE],
        [LARGE, LARGE],
        [*[MIB] * 20, LARGE, *[MIB] * 20],
        [*[LARGE, 4 * MIB] * 2, LARGE + 1],  # one that does not fit begins anew
        [LARGE, *[3 * MIB] * 30, LARGE, LARGE],  # the small ones, all alive at once, took the room of its beginning
        [WHOLE + PAGE] * 5,  # more than may be pooled
    ],
)
def test_what_does_not_raise_the_limit(sizes):
    run_python(
        f"""
small = []
for size in {sizes}:
    y = result(size)
    if size < LIMIT:
        small.append(y)
    else:
        small.clear()
    del y
    assert dmlops.memory_info().pool_limit == LIMIT >= dmlops.memory_info().pool_bytes
""",
        whole=WHOLE,
    )


def test_a_limit_that_was_asked_for_is_never_raised():
    run_python(f"""
for _ in range(9):
    result({LARGE})
    assert dmlops.memory_info()[:3] == (0, BEGINNING, LIMIT)
""")


@needs_offers
def test_a_smaller_result_in_its_place_gives_the_rest_back():
    run_python(
        f"""
import os
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
x = np.ones({LARGE}, np.uint8)
def part(size):
    return dmlops.slice(x, [0], [size], device="host")
for _ in range(3):
    part({LARGE})
whole = resident()
y = part({LARGE} - 40 * MIB)
assert y.all() and dmlops.memory_info()[:3] == ({LARGE} - 40 * MIB, 0, LIMIT) and whole - resident() > 36 * MIB
del y
assert dmlops.memory_info()[:3] == (0, {LARGE} - 40 * MIB, LIMIT + {LARGE} - 40 * MIB)
y = part({LARGE})
assert y.all() and dmlops.memory_info()[:3] == ({LARGE}, 0, LIMIT)
""",
        whole=WHOLE,
    )


@needs_offers
def test_what_nobody_asks_for_is_given_back():
    """The system could have it at once; after ten seconds the next call gives it back, whichever it is."""
    run_python(
        f"""
import os, re, signal, time
def lazily():
    return int(re.search(r"LazyFree: *([0-9]+)", open("/proc/self/smaps_rollup").read())[1]) * KIB
for _ in range(3):
    result({LARGE})
child = os.fork()
signal.alarm(300)  # a hang ends here, and shows
assert lazily() > {LARGE} - 4 * MIB
time.sleep(1)
assert dmlops.memory_info().pool_bytes == {LARGE}
time.sleep(10)
result(MIB) if child == 0 else dmlops.memory_info()
assert lazily() == 0
assert dmlops.memory_info().pool_limit == LIMIT >= dmlops.memory_info().pool_bytes
assert child == 0 or os.waitpid(child, 0)[1] == 0
""",
        whole=WHOLE,
    )


# --- settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, limit", [("0", 0), ("5 MiB", 5 * MIB)])
def test_limit_from_the_environment(text, limit):
    run_python(f"assert dmlops.memory_info()[:3] == (0, 0, {limit})", cache=text)


@pytest.mark.parametrize(
    "text, limit",
    [
        ("0", 0),
        ("1000000", 10**6),
        ("64K", 2**16),
        ("3kb", 3 * KIB),
        ("5m", 5 * MIB),
        ("5 MiB", 5 * MIB),
        ("2GiB", 2**31),
        ("0G", 0),
    ],
)
def test_sizes_as_text(text, limit):
    assert dmlops.memory._limits(text, 2**33) == (limit, 0)


@pytest.mark.posix
@pytest.mark.parametrize("unset", [None, ""])
def test_default_limit(unset):
    run_python(
        """
import os
memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
assert dmlops.memory_info().pool_limit == min(256 * MIB, memory // 10)
""",
        cache=unset,
    )


@pytest.mark.parametrize(
    "text, machine, limits",
    [
        ("", 0, (256 * MIB, 0)),
        ("", 8 * MIB, (8 * MIB // 10, 2 * MIB)),
        ("", 2**33, (256 * MIB, 2**31)),
        ("1G", 2**33, (2**30, 0)),
    ],
)
def test_a_quarter_of_memory_is_the_most_that_is_pooled_beyond_the_limit(text, machine, limits):
    assert dmlops.memory._limits(text, machine) == limits


NO_SIZES = "much", "-1", "+1", " 1", "1.5G", "1T", "1iB", "1B", "5MM", "99999999999999999999", "17179869184G", "0x10"


def test_a_limit_that_is_no_size():
    """Fails the call that is first to need it, and each after it; what comes before does not care."""
    run_python(
        f"""
import os
dmlops.devices()
dmlops.slice([1, 2], [0], [2], out=np.zeros(2, int), device="host")
for text in {NO_SIZES}:
    os.environ["DMLOPS_CACHE"] = text
    for call in (dmlops.memory_info, dmlops.empty_cache, lambda: result(10), lambda: result(MIB)):
        try:
            call()
        except ValueError as error:
            assert "DMLOPS_CACHE" in str(error), error
        else:
            raise AssertionError(f"no ValueError for {{text!r}}")
os.environ["DMLOPS_CACHE"] = "1M"
result(10)
assert dmlops.memory_info().pool_limit == MIB
""",
        cache="much",
    )


# --- what memory_info takes -------------------------------------------------------------------------------------


def test_memory_info_of_devices():
    y = result(MIB)
    host = dmlops.memory_info()
    assert isinstance(host, dmlops.MemoryInfo) and host.used >= y.nbytes
    for device in dmlops.devices():
        if device.usable:
            info = dmlops.memory_info(device)
            assert info[:3] == dmlops.memory_info(device=device.index)[:3]
            assert 0 < info.available <= device.memory
            assert (info[:3] == host[:3]) == (device.type == "host")
    assert dmlops.memory_info("host")[:3] == host[:3]


@pytest.mark.parametrize(
    "wrong, error", [("no such device", ValueError), (99, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_memory_info_of_what_is_no_device(wrong, error):
    with pytest.raises(error, match="device"):
        dmlops.memory_info(wrong)


# --- other handlers ---------------------------------------------------------------------------------------------

HANDLER = r"""
#include <stdlib.h>
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#include <numpy/arrayobject.h>
static void *take(void *c, size_t n) { return malloc(n); }
static void *clear(void *c, size_t n, size_t m) { return calloc(n, m); }
static void *again(void *c, void *p, size_t n) { return realloc(p, n); }
static void give(void *c, void *p, size_t n) { free(p); }
static PyDataMem_Handler handler = {"somebody", 1, {NULL, take, clear, again, give}};
PyObject *set_handler(void)
{
    if (_import_array() < 0) return NULL;
    PyObject *ours = PyCapsule_New(&handler, "mem_handler", NULL);
    return ours ? PyDataMem_SetHandler(ours) : NULL;
}
"""


@pytest.mark.posix
def test_a_handler_that_the_program_has_set_stays_in_force(tmp_path):
    import sysconfig

    (tmp_path / "handler.c").write_text(HANDLER)
    folders = [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    support.compile_c(["-shared", "-fPIC", *folders, "-o", tmp_path / "handler.so", tmp_path / "handler.c"])
    run_python(f"""
import ctypes
try:
    from numpy._core.multiarray import get_handler_name
except ImportError:
    from numpy.core.multiarray import get_handler_name
library = ctypes.PyDLL({str(tmp_path / "handler.so")!r})
library.set_handler.restype = ctypes.py_object
before = result(MIB)
library.set_handler()
y = result(MIB, 4)
assert get_handler_name() == get_handler_name(y) == "somebody" and (y == 4).all()
assert get_handler_name(before) == "dmlops"
del before, y
assert dmlops.memory_info()[:3] == (0, MIB, LIMIT)
""")


def test_calls_into_memory_of_the_callers_have_stages_from_the_first_on():
    """A table and a transpose: the host turns a part of the array in memory of its own first."""
    run_python("""
x = np.arange(1 << 22, dtype=np.uint8).reshape(2048, 2048)
out = np.empty((2048, 2048), np.float32)
f = dmlops.fuse(lambda x: x.T.astype(np.float32) * np.float32(2))
f(x, out=out, device="host")
assert (out == x.T.astype(np.float32) * 2).all()
assert dmlops.memory_info().pool_bytes > 0, "no stage"
""")


# --- threads, forks, exit ---------------------------------------------------------------------------------------


def test_threads(device):
    """Results are made in eight threads, and freed there, in another one, or by resizing."""
    start, handed, wrong = threading.Barrier(8), [], []

    def work(seed):
        rng = np.random.default_rng(seed)
        mine = []
        try:
            start.wait()
            for _ in range(60):
                size = int(rng.choice([64 * KIB, 100_000, 300_000, MIB]))
                mine.append(result(size, seed, device))
                if len(mine) > 3:
                    freed = mine.pop(int(rng.integers(4)))
                    assert (freed == seed).all()
                    handed.append(freed)
                if len(handed) > 8:
                    handed.pop()
                if rng.integers(10) == 0:
                    mine[0].resize(int(rng.integers(1, MIB)), refcheck=False)
                    mine[0][:] = seed
                if rng.integers(20) == 0:
                    dmlops.empty_cache()
                info = dmlops.memory_info()
                assert info.pool_bytes <= info.pool_limit
            assert all((y == seed).all() for y in mine)
        except BaseException as error:
            wrong.append(error)

    gc.collect()
    before = dmlops.memory_info().used
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong, wrong
    handed.clear()
    assert dmlops.memory_info().used == before


@pytest.mark.needs_fork
def test_a_forked_child_has_copies(vulkan):
    run_python("""
import os, signal, traceback
dmlops._core._play_memory(None, 3_600_000)  # what is idle stays
y, other = result(MIB, 5, 0), result(MIB, 5, 0)
del other
pid = os.fork()
if pid == 0:
    signal.alarm(300)
    try:
        place = address(y)
        assert (y == 5).all()
        y[:] = 6
        del y
        z = result(MIB, 7, 0)
        assert address(z) == place and (z == 7).all() and dmlops.memory_info()[:3] == (MIB, MIB, LIMIT)
        dmlops.empty_cache()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
assert (y == 5).all() and dmlops.memory_info()[:3] == (MIB, MIB, LIMIT)
""")


@pytest.mark.posix
def test_fork_while_other_threads_use_the_cache():
    run_python("""
import os, signal, threading
stop = threading.Event()
def loop():
    while not stop.is_set():
        dmlops.empty_cache()
        result(70_000)
threads = [threading.Thread(target=loop) for _ in range(4)]
[thread.start() for thread in threads]
for _ in range(50):
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)
        result(70_000)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
stop.set()
[thread.join() for thread in threads]
""")


def test_results_live_longer_than_the_module():
    """Some are freed when the module is gone from sys.modules, some when the interpreter ends, some never."""
    done = run_python("""
import builtins, gc, sys
first, builtins.second = result(MIB), result(MIB)
class Late:
    def __init__(self): self.y = result(MIB, 9)
    def __del__(self):
        self.y.resize(2 * MIB, refcheck=False)
        print(int(self.y[5]), int(self.y[-1]))
builtins.late, keep = Late(), Late()
keep.cycle = keep
for name in [name for name in sys.modules if name.partition(".")[0] == "dmlops"]:
    del sys.modules[name]
del dmlops
gc.collect()
del first
import dmlops
assert dmlops.memory_info()[:3] == (4 * MIB - MIB, MIB, LIMIT)
third = dmlops.slice(np.ones(MIB, np.uint8), [0], [MIB], device="host")
assert dmlops.memory_info()[:3] == (4 * MIB, 0, LIMIT)
""")
    assert done.stdout == "9 0\n9 0\n" and done.stderr == ""
