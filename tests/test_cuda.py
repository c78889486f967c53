"""Exchange with CUDA, against a stub of its driver (tests/cuda_stub): no GPU has run it. peers/test_cuda_tensors.py would."""

import pytest

import cuda_stub
import faults
import support

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stub(tmp_path_factory, vulkan):
    """The folder of the stub, and the UUID that one of its devices has."""
    if "lvp" not in support.driver():
        pytest.skip("the stub maps the memory of lavapipe")
    folder = tmp_path_factory.mktemp("cuda")
    return cuda_stub.build(folder), cuda_stub.uuid_of_the_driver(folder)


def run(code, environment):
    return support.run_python(f"import cuda_stub\ncuda_stub.play_gpu()\n{code}", env=environment).stdout


def test_exchange(stub):
    """All of cuda_stub/exchange.py."""
    tests = str(support.ROOT / "tests" / "cuda_stub" / "exchange.py")
    arguments = ("-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:randomly", tests)
    support.run_python(None, args=arguments, env=cuda_stub.environment(*stub))


SEMAPHORE = """
import atexit, cuda_stub, faults
stub = cuda_stub.Stub()
atexit.register(lambda: print(stub.alive, stub.contexts, stub.semaphores, layer.violations))  # called after that of dmlops
layer = faults.Layer()
cuda_stub.play_gpu()
import dmlops, numpy as np, test_dlpack

def lend(array, stream):
    capsule = array.__dlpack__(stream=stream)
    return capsule, test_dlpack.inside(capsule).tensor.data

x = np.arange(5000, dtype=np.uint16)
a = dmlops.asarray(x)
b = dmlops.empty(5000, np.uint16)
dmlops.synchronize()
"""


def with_semaphores(stub, library, code):
    environment = {**cuda_stub.environment(*stub), **faults.environment(library, semaphores=1)}
    return support.run_python(SEMAPHORE + code, env=environment).stdout


def test_a_stream_waits_for_the_device(stub, library):
    """It alone does: the device is held until the stream's work is queued, which then comes after the device's."""
    code = """
layer.slow(faults.NEVER)
dmlops.slice(a, [0], [5000], [-1], out=b)
capsule, address = lend(b, 77)
assert stub.queued == 1
stub.fill(address, 1, 5000, 77)  # the first half
layer.slow(0)
stub.finish()
expected = x[::-1].copy()
expected[:2500] = 0x0101
assert np.array_equal(b.numpy(), expected)
calls = layer.calls["vkGetSemaphoreFdKHR"]
capsule, address = lend(dmlops.slice(b, [0], [5000], [1]), 78)
assert layer.calls["vkGetSemaphoreFdKHR"] == calls == 1
dmlops.synchronize()
del capsule, a, b
"""
    assert with_semaphores(stub, library, code).split() == ["0", "0", "0"]


def test_what_is_done_is_not_waited_for(stub, library):
    """Nor what CUDA may still be changing: that this process waits for, and for the rest with it."""
    code = """
capsule, address = lend(a, 77)
assert stub.queued == stub.semaphores == 0
stub.fill(address, 1, a.nbytes, 77)
dmlops.slice(a, [0], [5000], [1], out=b)
assert stub.queued == 0  # the call has waited for the stream
stub.fill(address, 2, a.nbytes, 77)
other, _ = lend(a, 78)
assert stub.queued == stub.semaphores == 0 and (b.numpy() == 0x0101).all() and (a.numpy() == 0x0202).all()
del capsule, other, a, b
"""
    assert with_semaphores(stub, library, code).split() == ["0", "0", "0"]


@pytest.mark.parametrize("name", ["vkGetSemaphoreFdKHR", "cuImportExternalSemaphore", "cuWaitExternalSemaphoresAsync"])
def test_a_semaphore_is_not_to_be_had(stub, library, name):
    code = f"""
layer.slow(faults.NEVER)
dmlops.slice(a, [0], [5000], [-1], out=b)
if {name!r}.startswith("vk"):
    layer.arm("vulkan", at=1, result="VK_ERROR_OUT_OF_HOST_MEMORY", only={name!r})
else:
    stub.fail({name!r}, 1)
try:
    lend(b, 77)
except (MemoryError, BufferError) as error:
    assert {name!r} in str(error), error
else:
    raise AssertionError
stub.fail()
capsule, address = lend(b, 77)
layer.slow(0)
stub.finish()
assert np.array_equal(b.numpy(), x[::-1])
del capsule, a, b
"""
    assert with_semaphores(stub, library, code).split() == ["0", "0", "0"]


# --- why there is none --------------------------------------------------------------------------------------------------

REASON = """
import dmlops, numpy as np
a = dmlops.asarray(np.zeros(3))
assert a.__dlpack_device__() == (7, a.device.index)
class Producer:
    def __dlpack_device__(self): return (2, 0)
    def __dlpack__(self, **asked): raise AssertionError("it was asked")
reasons = []
for ask in (lambda: a.__dlpack__(dl_device=(2, 0)), lambda: dmlops.from_dlpack(Producer())):
    try:
        ask()
    except BufferError as error:
        reasons.append(str(error).partition(": ")[2])
assert len(set(reasons)) == 1 and len(reasons) == 2, reasons
print(reasons[0])
"""


def test_no_cuda(stub, tmp_path):
    """A file that is no library: it comes before CUDA's own driver, where there is one."""
    (tmp_path / "libcuda.so.1").write_text("")
    said = run(REASON, cuda_stub.environment(tmp_path, stub[1]))
    assert "there is no CUDA" in said and "libcuda.so.1" in said


def test_another_device_than_those_of_cuda(stub):
    assert "2, has the device's UUID" in run(REASON, cuda_stub.environment(stub[0], "00" * 16))


def test_cuda_is_too_old(stub, tmp_path):
    said = run(REASON, cuda_stub.environment(cuda_stub.build(tmp_path, "-DOLD"), stub[1]))
    assert "too old" in said and "cuDeviceGetUuid_v2" in said


@pytest.mark.parametrize("name", ["cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetUuid_v2"])
def test_a_call_that_opens_cuda_fails(stub, name):
    said = run(f"cuda_stub.Stub().fail({name!r}, 1)\n{REASON}", cuda_stub.environment(*stub))
    assert f"CUDA's {name.removesuffix('_v2')}" in said and "CUDA_ERROR_OUT_OF_MEMORY" in said


def test_vulkan_fails_to_export_memory(stub, library):
    code = """
import faults
import dmlops, numpy as np
a = dmlops.asarray(np.zeros(3))
faults.Layer().arm("vulkan", at=1, result="VK_ERROR_OUT_OF_HOST_MEMORY", only="vkGetMemoryFdKHR")
try:
    a.__dlpack__()
except MemoryError as error:
    print(error)
a.__dlpack__()
print(cuda_stub.Stub().alive)
"""
    said = run(code, {**cuda_stub.environment(*stub), **faults.environment(library)})
    assert "vkGetMemoryFdKHR failed" in said and said.endswith("\n2\n")


def test_cuda_is_left_alone_where_the_device_is_not_nvidias(stub):
    """And where memory is seen by the host, as it was before."""
    code = f"""
import cuda_stub, dmlops
from dmlops import _core
_core._override("mapped", 0)
{REASON}
assert cuda_stub.Stub().calls("cuInit") == 0
"""
    assert "NVIDIA" in support.run_python(code, env=cuda_stub.environment(*stub)).stdout


@pytest.mark.parametrize(
    "uuid, odd, said",
    [
        (None, {}, "shared with CUDA's device 1."),
        ("00" * 16, {}, "not shared with CUDA: none of CUDA's devices, of which there are 2, has the device's UUID."),
        (None, {"exports": 0}, "not shared with CUDA: the driver exports no memory by VK_KHR_external_memory_fd."),
    ],
    ids=["shared", "another UUID", "no extension"],
)
def test_the_command_line_says_it(stub, library, uuid, odd, said):
    """Of a device that is NVIDIA's, without any override."""
    gpu = faults.environment(library, nvidia=1, discrete=1, memory=1, **odd)
    done = support.run_python(None, args=("-m", "dmlops"), env=cuda_stub.environment(stub[0], uuid or stub[1]) | gpu)
    assert f"\nArrays of device 0 are {said}\n" in done.stdout


def test_the_command_line_says_nothing_of_other_devices(stub):
    done = support.run_python(None, args=("-m", "dmlops"), env=cuda_stub.environment(*stub))
    assert "CUDA" not in done.stdout and "llvmpipe" in done.stdout


# --- processes ----------------------------------------------------------------------------------------------------------


def test_cuda_is_opened_only_when_it_is_asked_for(stub):
    said = run(
        """
import dmlops, numpy as np
a = dmlops.tile(dmlops.asarray(np.zeros(3)), [2])
a.numpy()
calls = cuda_stub.Stub().calls
print(calls("cuInit"), end=" ")
a.__dlpack_device__()
print(calls("cuInit"), calls("cuDevicePrimaryCtxRetain"))
""",
        cuda_stub.environment(*stub),
    )
    assert said.split() == ["0", "1", "0"]


def test_all_is_given_back_at_the_end(stub):
    code = """
import atexit, cuda_stub
stub = cuda_stub.Stub()
atexit.register(lambda: print(stub.alive, stub.contexts))  # it is called after that of dmlops
cuda_stub.play_gpu()
import dmlops, numpy as np
a = dmlops.asarray(np.zeros(3))
a.__dlpack__()
print(stub.alive, stub.contexts)
del a
"""
    assert support.run_python(code, env=cuda_stub.environment(*stub)).stdout.split() == ["2", "1", "0", "0"]


def test_a_consumer_may_keep_it_to_the_very_end(stub):
    said = run(
        """
import ctypes, sys
import dmlops, numpy as np, test_dlpack
a = dmlops.asarray(np.full(3, 7, np.uint8))
class Late:
    def __del__(self): sys.stdout.write(f"{bytes(self.memory)}\\n"); sys.stdout.flush()
sys.late = Late()
sys.late.capsule = a.__dlpack__()
sys.late.memory = (ctypes.c_char * 3).from_address(test_dlpack.inside(sys.late.capsule).tensor.data)
""",
        cuda_stub.environment(*stub),
    )
    assert said.strip() in (repr(b"\7\7\7"), "")


@pytest.mark.needs_fork
def test_the_child_of_a_fork_has_no_cuda(stub):
    """CUDA, once initialised, refuses children, and dmlops leaves what they inherit alone."""
    said = run(
        """
import os
import dmlops, numpy as np
stub = cuda_stub.Stub()
a = dmlops.asarray(np.full(3, 7, np.uint8))
capsule = a.__dlpack__()
child = os.fork()
if child == 0:
    status = 1
    try:
        del capsule
        del a
        b = dmlops.asarray(np.full(3, 8, np.uint8))
        try:
            b.__dlpack__(dl_device=(2, 1))
        except BufferError as error:
            assert "CUDA_ERROR_NOT_INITIALIZED" in str(error), error
            assert b.__dlpack_device__() == (7, b.device.index) and stub.alive == 2
            status = 0
    finally:
        os._exit(status)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
del capsule
print(a.numpy().tolist(), stub.contexts)
""",
        cuda_stub.environment(*stub),
    )
    assert said.splitlines() == ["0", "[7, 7, 7] 1"]
