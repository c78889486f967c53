"""Every Vulkan call and every allocation fails in its turn: the right exception, nothing leaked, no byte lost, and the next
call works. tests/faults/walk.py has the scenario and what is looked for; here are the slices of it that are walked.

`make test` tries every STEP-th place, `make check` six times as many, and `make soak` all.
"""

import re

import pytest

import faults
import support

pytestmark = [pytest.mark.slow, pytest.mark.posix]

STEP = 240
WALKS = [
    ("vulkan", "VK_ERROR_OUT_OF_HOST_MEMORY", "instead"),
    ("vulkan", "VK_ERROR_OUT_OF_DEVICE_MEMORY", "instead"),
    ("vulkan", "VK_ERROR_INITIALIZATION_FAILED", "instead"),
    ("vulkan", "VK_ERROR_DEVICE_LOST", "instead"),
    ("vulkan", "VK_ERROR_OUT_OF_HOST_MEMORY", "after"),
    ("vulkan", "VK_ERROR_DEVICE_LOST", "after"),
    ("vulkan", "VK_TIMEOUT", "instead"),
]
PLACES = {"instead": 300, "after": 150, "VK_TIMEOUT": 15}  # that the scenario has at least


def walk(library, kind, result, when, first, step, timeout=1700):
    done = support.run_python(
        None,
        args=("-m", "faults.walk", kind, result, when, str(first), str(step)),
        env=faults.environment(library),
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return int(re.search(r"(\d+) faults, 0 promises broken", done.stdout)[1])


@pytest.mark.many_pipelines
@pytest.mark.parametrize("kind, result, when", WALKS)
def test_some_faults(kind, result, when, library):
    count = walk(library, kind, result, when, 3, STEP)
    assert count >= PLACES.get(result, PLACES[when]) // STEP


@pytest.mark.many_pipelines
def test_some_allocations(library):
    assert walk(library, "memory", "VK_ERROR_OUT_OF_HOST_MEMORY", "instead", 4, 24) > 10


THIRDS = [pytest.param(k, marks=pytest.mark.check if k == 1 else pytest.mark.soak, id=f"thirds_{k}") for k in (1, 2, 3)]


@pytest.mark.many_pipelines
@pytest.mark.parametrize("first", THIRDS)
def test_every_allocation(first, library):
    """In three parts, which can be walked side by side; `make soak` walks two more, and the first under the sanitizers."""
    assert walk(library, "memory", "VK_ERROR_OUT_OF_HOST_MEMORY", "instead", first, 3) > 50


@pytest.mark.check
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind, result, when", WALKS)
def test_more_faults(kind, result, when, library):
    assert walk(library, kind, result, when, 1, STEP // 6, 1200) >= PLACES.get(result, PLACES[when]) // (STEP // 6)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind, result, when", WALKS)
def test_every_fault(kind, result, when, library):
    assert walk(library, kind, result, when, 1, 1, 3600) >= PLACES.get(result, PLACES[when])


def preprocessed_header(folder):
    header = folder / "vulkan_core.h"
    support.compile_c(["-E", "-P", "-x", "c", "-include", "vulkan/vulkan_core.h", "/dev/null", "-o", header])
    return header


def test_the_walk_knows_every_call_that_can_fail(tmp_path):
    """What csrc/vk calls and what returns a VkResult is in the layer, but for what comes before there is an instance."""
    names = set()
    for path in (support.ROOT / "csrc" / "vk").glob("*.c"):
        names |= set(re.findall(r"\bvk[A-Z]\w+(?=\()", path.read_text()))
    fallible = set(re.findall(r"VkResult\s+(vk\w+)\(", re.sub(r"\s+", " ", preprocessed_header(tmp_path).read_text())))
    layer = "".join(path.read_text() for path in faults.HERE.glob("*.c"))
    known = set(re.findall(r"fault_fires\(\"vulkan\", \"(\w+)\"", layer))
    known |= set(re.findall(r"(?:DOES|WAITS|MAKES)\((vk\w+),", layer))
    assert "vkQueueSubmit" in fallible & names & known
    assert names & fallible - known <= {"vkEnumerateInstanceExtensionProperties"}


INTERPRETER = """
import _testcapi, dmlops, sys, numpy as np
x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
image = np.arange(64, dtype=np.uint8).reshape(1, 4, 4, 4)
lengths = np.ones((2, 3, 1), int)
a = dmlops.asarray(x)
calls = [
    lambda: dmlops.slice(x, [0, 0, 0], [2, 3, 4], [1, 1, -1]), lambda: dmlops.slice(a, [0, 0, 0], [2, 3, 4], [1, 1, -1], out=a),
    lambda: dmlops.depth_to_space(image, 2), lambda: dmlops.reverse_subsequences(x[:, :, 0], [[2], [3]], 1),
    lambda: dmlops.reverse_subsequences(a, dmlops.asarray(lengths), 2),
    lambda: dmlops.padding(x, [0, 1, 1], [2, 0, 1], value=2.5),
    lambda: dmlops.padding(a, [0, 1, 1], [2, 0, 1], mode="symmetric"),
    lambda: dmlops.join([x, x[:1], x[:, :, ::-1]], 0), lambda: dmlops.join([a, a], 1), lambda: dmlops.split(x, 2, [1, 3]),
    lambda: dmlops.split(a, 0, [1, 1], out=[a[1:], a[:1]]), lambda: dmlops.tile(x, [1, 2, 2]), lambda: dmlops.transpose(a),
    lambda: dmlops.upsample(image, 2), lambda: dmlops.slice_grad(x, [2, 3, 9], [0, 0, 1], [2, 3, 8], [1, 1, -2]),
    lambda: dmlops.asarray([1, 2, 3]), lambda: dmlops.empty((2, 3)), lambda: a[0, ::-1], lambda: a.__setitem__(0, 1.0),
    lambda: a.numpy(), lambda: a.copy(), lambda: list(a), lambda: a.device, lambda: dmlops.from_dlpack(x),
    lambda: dmlops.devices(), lambda: dmlops.memory_info(),
]
if sys.version_info < (3, 13):
    calls += [lambda: a.T, lambda: a.reshape(6, 4), lambda: a.__dlpack__(dl_device=(1, 0))]
failed = 0
for call in calls:
    call()
    for at in range(1000):
        _testcapi.set_nomemory(at, at + 1)
        try:
            call()
            break
        except MemoryError:
            failed += 1
        finally:
            _testcapi.remove_mem_hooks()
    call()
assert np.array_equal(dmlops.depth_to_space(image, 2), dmlops.reference.depth_to_space(image, 2))
print(failed)
"""


def test_every_allocation_of_the_interpreters(device):
    """Python's own allocator fails in its turn: MemoryError each time, and nothing else. (In what is written in Python,
    `window`, `reference` and with 3.13 some methods, it can bring down the interpreter. `repr` prints by NumPy, whose own
    functions return errors without an exception then.)"""
    pytest.importorskip("_testcapi", reason="this Python comes without _testcapi, which makes its allocator fail")
    done = support.run_python(INTERPRETER, env={"DMLOPS_DEVICE": device})
    assert int(done.stdout) > 100


BATCHED = """
import dmlops, faults, numpy as np
layer = faults.Layer()
a = dmlops.asarray(np.arange(6).reshape(2, 3))
dmlops.synchronize()
layer.arm("vulkan", 1, -1, only="vkQueueSubmit")
b = dmlops.slice(a, [0, 0], [2, 3], [-1, 1])
c = dmlops.slice(b, [0, 0], [2, 3], [1, -1])
assert not layer.fired, "small operators are submitted when they are waited for"
for wait in (c.numpy, dmlops.synchronize):
    layer.arm("vulkan", 1, -1, only="vkQueueSubmit")
    try:
        wait()
        raise SystemExit("no error")
    except MemoryError:
        assert layer.fired
assert c.numpy().tolist() == [[5, 4, 3], [2, 1, 0]]
layer.arm("vulkan", 1, -1, only="vkQueueSubmit")
done = 0
try:
    for _ in range(100):
        c = dmlops.slice(c, [0, 0], [2, 3], [-1, 1])
        done += 1
except MemoryError:
    print("batched:", done)
assert c.numpy().tolist() == ([[5, 4, 3], [2, 1, 0]] if done % 2 == 0 else [[2, 1, 0], [5, 4, 3]])
"""


def test_batched_work_outlives_a_failed_submission(library):
    done = support.run_python(None, args=("-c", BATCHED), env=faults.environment(library))
    assert re.search(r"batched: \d+", done.stdout), done.stdout


REFUSED = """
import dmlops, faults, numpy as np
layer = faults.Layer()
x = np.arange(2**20, dtype=np.uint16)
dmlops.asarray(x[:3]).wait()
layer.arm("vulkan", 1, "VK_ERROR_OUT_OF_HOST_MEMORY", only="vkGetMemoryHostPointerPropertiesEXT")
a = dmlops.asarray(x)
assert layer.fired
assert np.array_equal(a[::-1].numpy(), x[::-1])
"""


@pytest.mark.needs_import
def test_a_large_array_where_the_driver_takes_no_memory_of_ours(library):
    support.run_python(None, args=("-c", REFUSED), env=faults.environment(library))


GATHERED = """
import dmlops, faults, numpy as np
layer = faults.Layer()
x = np.random.default_rng(0).integers(0, 256, (1500, 1400), np.uint8)
fused = dmlops.fuse(lambda x: 255 - x.T)
assert "lies between the passes" in repr(fused.explain(x, device=0))
out, a = np.empty(x.T.shape, np.uint8), dmlops.asarray(x, device=0)
b = fused(a)
for only, result, call in (
    ("vkGetMemoryHostPointerPropertiesEXT", "VK_ERROR_OUT_OF_HOST_MEMORY", lambda: fused(x, out=out, device=0)),
    ("vkAllocateMemory", "VK_ERROR_OUT_OF_DEVICE_MEMORY", lambda: fused(a, out=b).numpy()),
):
    dmlops.synchronize()
    dmlops.empty_cache()
    layer.arm("vulkan", 1, result, only=only)
    assert np.array_equal(call(), 255 - x.T) and layer.fired, only
"""


@pytest.mark.needs_import
def test_numbers_are_looked_up_where_they_lie_if_there_is_no_memory_to_gather_them(library):
    support.run_python(None, args=("-c", GATHERED), env=faults.environment(library))


LOST = """
import dmlops, faults, gc, numpy as np
layer = faults.Layer()
x = np.arange(12, dtype=np.uint16).reshape(3, 4)
a = dmlops.asarray(x)
view = a[1:, ::-1]
dmlops.synchronize()
layer.arm("vulkan", 1, "VK_ERROR_DEVICE_LOST", only="vkQueueSubmit")
try:
    dmlops.slice(x, [0, 0], [3, 4], [-1, -1])
    raise SystemExit("no error")
except dmlops.DeviceLostError as error:
    assert error.result == "VK_ERROR_DEVICE_LOST"
dmlops.synchronize()
dmlops.empty_cache()
new = dmlops.asarray(x)  # on the device that there is now
new[...] = 7
for use in (a.numpy, a.wait, a.copy, view.numpy, lambda: dmlops.slice(view, [0, 0], [2, 4]), lambda: a.__setitem__(0, 1),
            lambda: new.__setitem__(0, a[0]), lambda: np.asarray(a), lambda: a.__dlpack__(),
            lambda: dmlops.asarray(a, device="host"), lambda: dmlops.slice(new, [0, 0], [3, 4], out=a),
            lambda: dmlops.reverse_subsequences(new, a[:, :1], 1)):
    try:
        use()
        raise SystemExit("no error")
    except dmlops.DeviceLostError as error:
        assert "gone" in str(error), error
assert a.shape == (3, 4) and view.dtype == np.uint16 and a.device == new.device and "uint16" in repr(a)
assert (new.numpy() == 7).all() and np.array_equal(dmlops.slice(x, [0, 0], [3, 4], [-1, 1]), x[::-1])
del a, view, new, use
gc.collect()
"""


def test_arrays_of_a_lost_device(library):
    support.run_python(None, args=("-c", LOST), env=faults.environment(library))


TRIED = """
import time
import dmlops, faults, numpy as np
layer = faults.Layer()
by = np.outer([1e-40, 1e-30, 1e-20, 1e-10, 1, 1e10, 1e20, 1e30], np.arange(1, 9)).astype(np.float32).reshape(-1)
x, large = dmlops.asarray(np.ones((2000, 64), np.float32)), dmlops.asarray(np.ones((4000, 4000), np.float32))
for _ in range(2):
    kept = dmlops.transpose(large)
    dmlops.synchronize()
kept = [dmlops.transpose(large) for _ in range(8)]  # which the device does first
layer.arm("vulkan", 1, "VK_ERROR_DEVICE_LOST", only="vkWaitForFences")
try:
    dmlops.fuse(lambda x: x * by)(x)
    raise SystemExit("no error")
except dmlops.DeviceLostError:
    assert layer.fired
time.sleep(2)
"""


@pytest.mark.needs_import
def test_memory_that_a_lost_device_still_writes_to_is_not_freed(library):
    """When it tries a formula."""
    support.run_python(None, args=("-c", TRIED), env=faults.environment(library))


RECORDING = """
import dmlops, faults, numpy as np
layer = faults.Layer()
x = np.arange(12, dtype=np.uint16).reshape(3, 4)
def mirrored(array):
    return np.asarray(dmlops.slice(array, [0, 0], [3, 4], [1, -1]))
def fails(call):
    layer.arm("vulkan", 1, "VK_ERROR_OUT_OF_DEVICE_MEMORY", only="vkAllocateDescriptorSets")
    try:
        call()
        raise SystemExit("no error")
    except dmlops.OutOfDeviceMemoryError as error:
        assert "vkAllocateDescriptorSets" in str(error), error
fails(lambda: mirrored(x))
assert np.array_equal(mirrored(x), x[:, ::-1])
on_device = dmlops.asarray(x)
batched = dmlops.slice(on_device, [0, 0], [3, 4], [1, -1])  # its submission has a descriptor set, the next has none yet
fails(lambda: mirrored(on_device))
assert np.array_equal(mirrored(on_device), x[:, ::-1]) and np.array_equal(batched, x[:, ::-1])
"""


def test_a_call_that_fails_while_it_is_recorded(library):
    support.run_python(None, args=("-c", RECORDING), env=faults.environment(library))


NAMES = """
import re, sys
import dmlops, faults
layer = faults.Layer()
for name, code in re.findall(r"(VK_ERROR_[A-Z_]+) = (-\\d+)", open(sys.argv[1]).read()):
    layer.arm("vulkan", 1, int(code), only="vkQueueSubmit")
    try:
        dmlops.slice([1, 2, 3], [0], [3], [-1])
    except (dmlops.VulkanError, MemoryError) as error:
        print(name, code, type(error).__name__, getattr(error, "result", None))
        assert "vkQueueSubmit" in str(error) and (name in str(error) or "VK_ERROR_UNKNOWN" in str(error))
    assert dmlops.slice([1, 2, 3], [0], [3], [-1]).tolist() == [3, 2, 1]
"""


def test_each_result_has_its_name_and_its_exception(library, tmp_path):
    header = preprocessed_header(tmp_path)
    done = support.run_python(None, args=("-c", NAMES, str(header)), env=faults.environment(library))
    said = {line.split()[0]: tuple(line.split()[2:]) for line in done.stdout.splitlines()}
    assert said["VK_ERROR_OUT_OF_HOST_MEMORY"] == ("MemoryError", "None")
    assert said["VK_ERROR_OUT_OF_DEVICE_MEMORY"] == ("OutOfDeviceMemoryError", "VK_ERROR_OUT_OF_DEVICE_MEMORY")
    assert said["VK_ERROR_DEVICE_LOST"] == ("DeviceLostError", "VK_ERROR_DEVICE_LOST")
    others = {name: result for name, (error, result) in said.items() if error == "VulkanError"}
    assert len(others) > 20
    named = {name for name, result in others.items() if result == name}
    assert {"VK_ERROR_INITIALIZATION_FAILED", "VK_ERROR_MEMORY_MAP_FAILED", "VK_ERROR_TOO_MANY_OBJECTS"} <= named
    assert {others[name] for name in set(others) - named} == {"VK_ERROR_UNKNOWN"}
