"""Devices that offer less, or something else, than the one at hand: the operators conform on each of them, or the device
is refused, by the name of what it lacks. A layer in front of the driver plays them (tests/faults/odd.c)."""

import os
import pathlib

import dmlops
import pytest

import faults
import support

pytestmark = [pytest.mark.slow, pytest.mark.posix]

MIB = 2**20
NVIDIA, SWIFTSHADER = 4, 10  # VkDriverIds
MESA_25_1 = 25 << 22 | 1 << 12
USUAL = {"discrete": 1, "compute_family": 1, "memory": 1, "atom": 64, "alignment": 64, "subgroup": 32, "group_count": 65535}
ONLY_32_BIT = {"lacks_shaderInt64": 1, "lacks_storageBuffer16BitAccess": 1, "lacks_storageBuffer8BitAccess": 1}
DEVICES = {
    "a graphics card": {**USUAL, "binding": 2**30},
    "the least that Vulkan guarantees": {
        **USUAL,
        "imports": 0,
        "alignment": 256,
        "atom": 256,
        "binding": 2**27,
        "storage_buffers": 4,
        "allocation": 2**30,
        "invocations": 128,
        "subgroup": 1,
        "push": 128,
        "lacks_transfer": 1,
    },
    "no import": {"imports": 0},
    "a narrow window into a card's memory": {**USUAL, "imports": 0, "memory": 3, "window": 300_000},
    "every second import refused": {"imports": 2},
    "every third import refused": {"imports": 3, "binding": 65536},
    "imports as memory that is not coherent": {"memory": 2, "atom": 64},
    "imports by pages of 64 KiB": {"import_alignment": 65536},
    "tiny bindings": {"binding": 8192 + 4096},
    "few bindings of 256 KiB": {"binding": 1 << 18, "storage_buffers": 33},
    "few tiny bindings": {"binding": 8192 + 4096, "storage_buffers": 33},
    "tiny bindings and few resources": {"binding": 8192 + 4096, "resources": 34},
    "tiny bindings without arrays": {"binding": 8192 + 4096, "lacks_shaderStorageBufferArrayNonUniformIndexing": 1},
    "Mesa 25.1": {"driver_version": MESA_25_1},
    "Mesa 25.1 and allocations of less than a binding": {"driver_version": MESA_25_1, "allocation": 100 * MIB},
    "Mesa 25.1 and tiny bindings": {"driver_version": MESA_25_1, "binding": 8192 + 4096},
    "tiny allocations": {"allocation": 8 * MIB, "imports": 0, "memory": 1},
    "tiny allocations, imported": {"allocation": MIB},
    "few work groups": {"group_count": 3, "discrete": 1},
    "alignment of 256": {"alignment": 256},
    **{f"subgroups of {size}": {"subgroup": size} for size in (1, 4, 16, 32, 64, 128)},
    "a GPU of narrow groups": {"discrete": 1, "invocations": 32},
    "no integers of 8 and 16 bits": {"lacks_shaderInt8": 1, "lacks_shaderInt16": 1},
    "no transfer flag": {"lacks_transfer": 1},
    "integers of 32 bits only": ONLY_32_BIT,
    "integers of 32 bits only, a graphics card": {**USUAL, **ONLY_32_BIT, "binding": 2**30},
}
# Each is odd in two ways that do not meet: both are gone as on a device with one of them.
TOGETHER = {
    "imports that are not coherent, tiny bindings, few resources": {
        **DEVICES["imports as memory that is not coherent"],
        **DEVICES["tiny bindings and few resources"],
    },
    "a narrow window into a card's memory, few work groups": {
        **DEVICES["a narrow window into a card's memory"],
        "group_count": 3,
    },
    "integers of 32 bits only, a graphics card of tiny allocations": {
        **DEVICES["integers of 32 bits only, a graphics card"],
        "allocation": 8 * MIB,
    },
    "every second import refused, alignment of 256": {"imports": 2, "alignment": 256},
}
SHORT = [
    "a graphics card",
    "the least that Vulkan guarantees",
    "every second import refused",
    "tiny bindings",
    "integers of 32 bits only",
]
# Each goes ways through csrc/vk that none of SHORT goes; the others combine such ways, or have them by another size.
OTHER_WAYS = [
    "Mesa 25.1",
    "imports by pages of 64 KiB",
    "imports that are not coherent, tiny bindings, few resources",
    "a narrow window into a card's memory, few work groups",
    "integers of 32 bits only, a graphics card of tiny allocations",
]


# The devices whose rows begin at other offsets than those of the device at hand, or are moved by other code.
OTHER_ROWS = ["the least that Vulkan guarantees", "integers of 32 bits only", "Mesa 25.1"]


def but_rows(name):
    return () if name in OTHER_ROWS else ("-k", "not every_length")


def conform(library, *tests, timeout=1700, **odd):
    environment = faults.environment(library, **odd)
    environment |= {"DMLOPS_TEST_DEVICES": "vulkan", "HYPOTHESIS_PROFILE": "odd", "DMLOPS_TEST_VALIDATION": None}
    names = [str(support.ROOT / "tests" / name) if name.endswith(".py") else name for name in tests]
    support.run_python(None, args=("-m", "faults.conformance", *names), env=environment, timeout=timeout)


@pytest.mark.many_pipelines
@pytest.mark.parametrize("name", SHORT)
def test_conformance(name, library):
    conform(library, "test_conformance.py", *but_rows(name), **DEVICES[name])


@pytest.mark.many_pipelines
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("every second import refused, alignment of 256", marks=pytest.mark.check),
        pytest.param("a graphics card", marks=pytest.mark.soak),
        pytest.param("integers of 32 bits only", marks=pytest.mark.soak),
    ],
)
def test_what_transposes_leave(name, library):
    """That takes arrays larger than those above."""
    conform(library, "test_kernels.py", "-k", "transposes_of_any_size", **(DEVICES | TOGETHER)[name])


@pytest.mark.check
@pytest.mark.parametrize("name", OTHER_WAYS)
def test_conformance_and_out(name, library):
    conform(library, "test_conformance.py", "test_out.py", "test_examples.py", *but_rows(name), **(DEVICES | TOGETHER)[name])


@pytest.mark.many_pipelines
@pytest.mark.parametrize(
    "name",
    [
        "integers of 32 bits only, a graphics card",
        "every third import refused",
        pytest.param("the least that Vulkan guarantees", marks=pytest.mark.check),
        pytest.param("few bindings of 256 KiB", marks=pytest.mark.check),  # of fewer bytes one output may need more
        *(pytest.param(name, marks=pytest.mark.check) for name in ("integers of 32 bits only", "Mesa 25.1", "no import")),
        *(pytest.param(f"subgroups of {size}", marks=pytest.mark.check) for size in (1, 4, 32)),
    ],
)
def test_resizing(name, library):
    but = "not auto and not in_pieces and not one_dispatch"  # which know the device at hand
    conform(library, "test_resizing_on_devices.py", "-k", but, **DEVICES[name])


@pytest.mark.soak
@pytest.mark.parametrize("name", DEVICES)
def test_all_of_conformance_and_out(name, library):
    conform(library, "test_conformance.py", "test_out.py", "test_examples.py", **DEVICES[name])


@pytest.mark.many_pipelines
@pytest.mark.parametrize("feature", ONLY_32_BIT)
def test_a_feature_that_most_kernels_use_is_missing(feature, library):
    conform(library, "test_examples.py", **{feature: 1})


@pytest.mark.check
def test_kernels_of_32_bits_at_every_offset(library):
    conform(library, "test_kernels.py", "-m", "not many_pipelines", "-k", "every_offset or every_length", **ONLY_32_BIT)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_kernels_of_32_bits(library):
    """Each kernel, forced. What needs segments has none: its ranges are cut. `make check-swiftshader` runs the quick ones."""
    conform(library, "test_kernels.py", "-k", "not binding and not autotuner", timeout=3600, **ONLY_32_BIT)


POOLED = """
import dmlops
before = dmlops.memory_info(0)
for _ in range(6):
    array = dmlops.empty(10 << 20, "u1")
    assert dmlops.memory_info(0).used - before.used == 10 << 20
    del array
    assert dmlops.memory_info(0).pool_bytes - before.pool_bytes == 10 << 20, dmlops.memory_info(0)
"""


@pytest.mark.parametrize("odd", [{}, {"discrete": 1, "memory": 1}], ids=["seen by the host", "not seen by the host"])
def test_pooled_memory_is_reused(library, odd):
    support.run_python(POOLED, env=faults.environment(library, **odd))


@pytest.mark.parametrize(
    "odd, part, most", [({}, 10, 256 * MIB), ({"discrete": 1, "memory": 1}, 4, 2**63)], ids=["the host's", "its own"]
)
def test_the_limit_of_the_pool_follows_the_memory(odd, part, most, library):
    done = support.run_python(
        "import dmlops; print(dmlops.memory_info(0).pool_limit, dmlops.devices()[0].memory)",
        env=faults.environment(library, **odd),
    )
    limit, memory = map(int, done.stdout.split())
    assert limit == min(memory // part, most)


SEGMENT_BITS = """
from dmlops import explain
print(explain.plan_and_pieces("slice(uint8[300, 300], [3, 5], [297, 295])", 0)[1][0]["segment_bits"])
"""


@pytest.mark.parametrize(
    "odd, gathers",
    [
        pytest.param({"driver_version": MESA_25_1}, True, marks=pytest.mark.needs_segments),
        pytest.param({"driver_version": 26 << 22}, True, marks=pytest.mark.needs_segments),
        ({"driver_version": MESA_25_1, "lacks_shaderStorageBufferArrayNonUniformIndexing": 1}, False),
        ({"driver_version": MESA_25_1, "resources": 34}, False),
        ({"driver_version": MESA_25_1 - 1}, False),
        ({"driver_version": 1}, False),
    ],
)
def test_where_llvmpipe_gathers_all_ranges_are_segments(odd, gathers, library):
    """From Mesa 25.1 on, where the CPU has AVX-512 and the driver may use it."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    for environment, overridden in ({"GALLIUM_OVERRIDE_CPU_CAPS": None}, False), ({"GALLIUM_OVERRIDE_CPU_CAPS": "avx"}, True):
        done = support.run_python(SEGMENT_BITS, env=faults.environment(library, **odd) | environment)
        assert int(done.stdout) == (27 if gathers and not overridden and " avx512f " in cpu else 0)


# --- refused ----------------------------------------------------------------------------------------------------

REFUSED = """
import dmlops
(device, host) = sorted(dmlops.devices(), key=lambda device: device.name == "host")
assert not device.usable and host.usable and host.index is None and device.index == 0
try:
    dmlops.slice([1, 2], [0], [2])
except dmlops.NoDeviceError as error:
    assert device.name in str(error) and device.reason in str(error) and error.result is None, error
else:
    raise SystemExit("ran on a device that lacks something")
try:
    dmlops.slice([1, 2], [0], [2], device=device)
except ValueError as error:
    assert device.reason in str(error), error
else:
    raise SystemExit("ran on a device that lacks something")
assert dmlops.slice([1, 2], [0], [2], [-1], device="host").tolist() == [2, 1]
print(device.reason)
"""


@pytest.mark.parametrize(
    "lacks, said",
    [
        ("compute", "compute queue"),
        ("vulkan12", "older than 1.2"),
    ],
)
def test_what_a_device_must_have_is_named_where_it_is_missing(lacks, said, library):
    done = support.run_python(REFUSED, env=faults.environment(library, **{f"lacks_{lacks}": 1}))
    assert said in done.stdout


FORKED = """
import dmlops, os, signal
x = [1, 2, 3]
call = lambda **more: dmlops.slice(x, [0], [3], [-1], **more).tolist()
def child(check):
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)  # a hang ends here, and shows
        check()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
def usable():
    assert call() == [3, 2, 1]
def refused():
    (device, host) = dmlops.devices()
    assert not device.usable and "forked" in device.reason and call(device="host") == [3, 2, 1]
    try:
        call()
    except dmlops.NoDeviceError as error:
        assert device.reason in str(error), error
    else:
        raise SystemExit("used")
dmlops.devices()
child(usable)
call()
child(refused)
child(lambda: child(refused))
assert call() == [3, 2, 1]
"""


@pytest.mark.parametrize("driver", [SWIFTSHADER, NVIDIA], ids=["SwiftShader", "NVIDIA"])
def test_drivers_that_are_refused_in_a_child_forked_after_their_use(driver, library):
    """Work would never begin there, or no device be created. A child that is forked before may use them."""
    support.run_python(FORKED, env=faults.environment(library, driver_id=driver))


# --- several ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_drivers(tmp_path_factory, library):
    """A function of what is odd, for the environment of a machine with the driver installed twice."""
    folder = tmp_path_factory.mktemp("drivers")
    manifests = [folder / "one.json", folder / "two.json"]
    for manifest in manifests:
        support.copy_manifest(manifest)
    both = os.pathsep.join(map(str, manifests))
    return lambda **odd: faults.environment(library, **odd) | {"VK_DRIVER_FILES": both, "VK_ICD_FILENAMES": both}


TYPES = "import dmlops; print(*(device.type for device in dmlops.devices()))"


@pytest.mark.parametrize(
    "second, said", [(0, "cpu other"), (1, "integrated cpu"), (2, "discrete cpu"), (3, "virtual cpu"), (4, "cpu cpu")]
)
def test_the_better_device_comes_first(second, said, two_drivers):
    """`second` is a VkPhysicalDeviceType."""
    assert support.run_python(TYPES, env=two_drivers(distinct=1, second_type=second)).stdout == f"{said} host\n"


def test_of_one_device_offered_twice_the_better_stays(two_drivers):
    assert support.run_python(TYPES, env=two_drivers(second_type=2)).stdout == "discrete host\n"
    assert support.run_python(TYPES, env=two_drivers()).stdout == "cpu host\n"


def test_several_devices(two_drivers):
    """Two of the same name are two devices, each with a context of its own; a name that fits both means the better."""
    support.run_python(
        """
import dmlops, numpy as np
from concurrent.futures import ThreadPoolExecutor
from dmlops import _core
devices = dmlops.devices()
assert [device.type for device in devices] == ["cpu", "cpu", "host"], devices
assert devices[0].name == devices[1].name
x = np.arange(60_000, dtype=np.uint16).reshape(60, 1000)
def mirror(device):
    return np.array_equal(dmlops.slice(x, [0, 0], [60, 1000], [1, -1], device=device), x[:, ::-1])
for device in (*devices, 0, 1, devices[0].name.split()[0], None):
    assert mirror(device)
assert sum(_core._counts(0)) == 4 and sum(_core._counts(1)) == 2, (_core._counts(0), _core._counts(1))
with ThreadPoolExecutor(8) as pool:
    assert all(pool.map(mirror, [0, 1] * 40))
""",
        env=two_drivers(distinct=1),
    )


def test_arrays_are_copied_from_device_to_device(two_drivers):
    support.run_python(
        """
import dmlops, numpy as np
for shape in ((60, 1000), (3, 5), (0, 4)):
    x = np.arange(np.prod(shape), dtype=np.uint16).reshape(shape)
    a = dmlops.asarray(x, device=0)
    for device in (1, "host", 0):
        b = dmlops.asarray(a[:, ::-1], device=device)
        assert b.device.name == ("host" if device == "host" else a.device.name)
        assert b.device.index == (None if device == "host" else device), b.device
        a = dmlops.asarray(dmlops.slice(b, [0, 0], shape, [1, -1]), device=0)
        assert np.array_equal(b.numpy(), x[:, ::-1]) and np.array_equal(a.numpy(), x)
    b = dmlops.asarray(x, device=1)
    for call in (lambda: dmlops.slice(a, [0, 0], shape, out=b), lambda: b.__setitem__(..., a),
                 lambda: dmlops.asarray(a, device=1, copy=False)):
        try:
            call()
        except ValueError as error:
            assert "device" in str(error)
        else:
            raise AssertionError("no error")
""",
        env=two_drivers(distinct=1),
    )


# Prints the index of the device that each name means, or the words of the error.
NAMED = """
import dmlops, sys
for name in sys.argv[1:]:
    try:
        device = dmlops.asarray(1, device=name).device
        print(device.index, device.type)
    except ValueError as error:
        print(error)
"""


def meant(environment, *names):
    return support.run_python(None, args=("-c", NAMED, *names), env=environment).stdout.splitlines()


def test_a_type_means_the_best_device_of_it(two_drivers):
    for vulkan_type, word in [(0, "other"), (1, "integrated"), (2, "discrete"), (3, "virtual")]:
        gpu = word != "other"
        said = meant(two_drivers(distinct=1, second_type=vulkan_type), word, word.upper(), "gpu", "cpu")
        assert said[:2] == [f"{0 if gpu else 1} {word}"] * 2
        assert said[2] == f"0 {word}" if gpu else "device='gpu' matches no device" in said[2]
        assert said[3] == f"{1 if gpu else 0} cpu"
    assert meant(two_drivers(distinct=1), "cpu") == ["0 cpu"]


def test_of_several_models_a_name_must_mean_one(two_drivers, vulkan):
    name = dmlops.devices()[vulkan].name
    environment = two_drivers(distinct=1, second_name=1)
    part, *others = meant(environment, name[:5], name, "second", f"SECOND {name}")
    assert part == (
        f"device={name[:5]!r} matches several devices: 0 = {name!r} (cpu), 1 = {'Second ' + name!r} (cpu), "
        "choose one by its number or whole name"
    )
    assert others == ["0 cpu", "1 cpu", "1 cpu"]


def test_an_ambiguous_device_in_the_environment(two_drivers, vulkan):
    part = dmlops.devices()[vulkan].name[4:8]
    done = support.run_python(
        "import dmlops; dmlops.default_device()",
        env=two_drivers(distinct=1, second_name=1) | {"DMLOPS_DEVICE": part},
        check=False,
    )
    assert f"ValueError: DMLOPS_DEVICE={part!r} matches several devices" in done.stderr


LOST = """
import dmlops, faults, numpy as np
layer = faults.Layer()
arrays = [dmlops.asarray(np.ones(100), device=device) for device in (0, 1)]
dmlops.synchronize()
dmlops.slice(arrays[{lost}], (0,), (100,), (-1,))
layer.arm("vulkan", 1, "VK_ERROR_DEVICE_LOST", only="vkQueueSubmit")
try:
    dmlops.synchronize()
except dmlops.DeviceLostError:
    print("lost", layer.fired)
"""


@pytest.mark.parametrize("lost", [0, 1])
def test_synchronize_tells_of_whichever_device_is_lost(lost, two_drivers):
    code = LOST.format(lost=lost)
    assert support.run_python(code, env=two_drivers(distinct=1)).stdout == "lost vkQueueSubmit\n"


FORKED_AMONG_TWO = """
import dmlops, faults, os, signal, sys, threading
import numpy as np
layer = faults.Layer()
queued = [dmlops.slice(dmlops.asarray(np.ones(100), device=device), (0,), (100,), (-1,)) for device in (0, 1)]
pid = -1
def handler(*_):
    global pid
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)  # a hang ends here, and shows
    else:
        layer.slow(0)
signal.signal(signal.SIGUSR1, handler)
layer.slow(faults.NEVER)  # until the handler has forked
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1)).start()
try:
    getattr(dmlops, sys.argv[1])()
except dmlops.DeviceLostError:
    assert pid == 0
if pid == 0:
    os._exit(0)
assert pid > 0 and os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.parametrize("call", ["synchronize", "empty_cache"])
def test_fork_in_the_handler_of_a_signal_while_two_devices_are_waited_for(call, two_drivers):
    """Neither is the child's, which waits for none."""
    support.run_python("", args=("-c", FORKED_AMONG_TWO, call), env=two_drivers(distinct=1))


def test_a_driver_that_forks_while_it_is_loaded(tmp_path, vulkan):
    """As one that runs a program does, to have the system make its devices."""
    source, shared = tmp_path / "forks.c", tmp_path / "forks.so"
    source.write_text("""
#include <sys/wait.h>
#include <unistd.h>
__attribute__((constructor)) static void run_a_program(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}
""")
    support.compile_c(["-shared", "-fPIC", source, "-o", shared])
    (tmp_path / "forks.json").write_text(
        '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.2.0"}}' % shared
    )
    files = os.pathsep.join([str(tmp_path / "forks.json"), support.driver()])
    code = "import dmlops, numpy as np; print(len(dmlops.devices())); dmlops.slice(np.ones(9), [0], [9], [-1])"
    assert support.run_python(code, env={"VK_DRIVER_FILES": files, "VK_ICD_FILENAMES": files}).stdout == "2\n"
