"""A call like those before it makes nothing that lasts: no system call but the driver's waking and waiting, and our yielding of
the core; no Vulkan object but the buffers of imported arrays. Nothing here looks at how long a call takes."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import faults
import support

pytestmark = [pytest.mark.slow, pytest.mark.posix]

CALLS = 100
WAITING = {"futex", "sched_yield", "restart_syscall"}

CASES = """
import numpy as np
import dmlops

image = np.arange(224 * 224 * 3, dtype=np.uint32).astype(np.uint8).reshape(224, 224, 3)
little = image[:4, :16].copy()
on_device = dmlops.asarray(image)


def mirror(array):
    return dmlops.slice(array, [0, 0, 0], array.shape, [1, -1, 1])


CASES = {
    "elements": lambda: mirror(little),
    "rows": lambda: mirror(image),
    "copy": lambda: dmlops.slice(image, [16, 16, 0], [208, 208, 3]),
    "device": lambda: mirror(on_device).wait(),
}
"""

MAKERS = """
import sys
import faults
layer = faults.Layer()
made = {}
case = CASES[sys.argv[1]]
for _ in range(20):
    case()
for name in sys.argv[3:]:
    layer.arm("vulkan", at=10**9, only=name)
    for _ in range(int(sys.argv[2])):
        case()
    made[name] = layer.seen
print(made)
"""

# Of imports there is one for each operand on the host.
IMPORTS = ["vkCreateBuffer", "vkAllocateMemory"]
OTHERS = """vkAllocateDescriptorSets vkCreateDescriptorPool vkCreateCommandPool vkAllocateCommandBuffers vkCreateFence
    vkCreateComputePipelines vkMapMemory""".split()


@pytest.mark.parametrize("driver_version", [1, 26 << 22], ids=["whole windows", "segments"])
@pytest.mark.parametrize("case, imports", [("elements", 2), ("rows", 2), ("copy", 2), ("device", 0)])
def test_a_call_makes_no_vulkan_objects_but_imports(case, imports, driver_version, library):
    names = [*IMPORTS, *OTHERS]
    if "needs_import" in support.lacks():
        imports = 0
    environment = faults.environment(library, driver_version=driver_version)
    done = support.run_python(None, args=("-c", CASES + MAKERS, case, str(CALLS), *names), env=environment)
    assert eval(done.stdout) == dict.fromkeys(IMPORTS, imports * CALLS) | dict.fromkeys(OTHERS, 0)


REPEAT = """
import os, sys
case = CASES[sys.argv[1]]
for count, said in (200, b"BEGIN"), (int(sys.argv[2]), b"END"):
    for _ in range(count):
        case()
    os.write(2, said)
"""


def why_not_traced():
    """Why system calls cannot be counted; None if they can."""
    strace = shutil.which("strace")
    if not strace:
        return "there is no strace"
    if support.VALIDATION or "ASAN_OPTIONS" in os.environ:
        return "the validation layer and the sanitizers make system calls of their own"
    allowed = subprocess.run([strace, "-f", "-o", "/dev/null", "true"], capture_output=True, text=True)
    return None if allowed.returncode == 0 else f"strace is not permitted: {allowed.stderr.strip()}"


@pytest.mark.parametrize("case", ["elements", "rows", "copy", "device"])
def test_a_call_makes_no_system_calls_but_the_drivers_waiting(case, vulkan, tmp_path):
    reason = why_not_traced()
    if reason:
        pytest.skip(reason)
    log = tmp_path / "trace"
    args = ("-f", "-qq", "-o", str(log), sys.executable, "-c", CASES + REPEAT, case, str(CALLS))
    done = subprocess.run([shutil.which("strace"), *args], capture_output=True, text=True, timeout=550, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = log.read_text().splitlines()
    begin, end = (next(i for i, line in enumerate(lines) if f'write(2, "{said}"' in line) for said in ("BEGIN", "END"))
    # Once a second a thread of ours asks how much memory is left, however many calls there are.
    (idle,) = {line.split()[0] for line in lines if 'PR_SET_NAME, "dmlops-idle"' in line}
    names = [re.match(r"(\d+) +(\w+)\(", line) for line in lines[begin + 1 : end]]
    counts = collections.Counter(match[2] for match in names if match and match[1] != idle)
    others = {name: count for name, count in counts.items() if name not in WAITING}
    # malloc may grow or trim its heap now and then; what a call does each time is counted CALLS times.
    assert sum(others.values()) < CALLS // 5, others


QUEUED = """
import faults
import numpy as np
import dmlops
from dmlops import _core

layer = faults.Layer()
CALLS = 100
x = np.arange(8 * 1000, dtype=np.uint32).astype(np.uint8).reshape(8, 1000)
images = [dmlops.asarray(x) for _ in range(CALLS + 1)]


def mirror(n, m):
    "The image n, with its columns in reverse order, into the image m."
    dmlops.slice(images[n], [0, 0], x.shape, [1, -1], out=images[m])


def counted(calls):
    before = layer.calls
    calls()
    return layer.calls - before


mirror(0, 1)
dmlops.synchronize()
"""

RECORDED = """
def queue():
    for n in range(CALLS):
        mirror(*OPERANDS)
    dmlops.synchronize()


print(dict(counted(queue)))
assert np.array_equal(images[1].numpy(), x[:, ::-1])
"""

EACH = """vkBeginCommandBuffer vkUpdateDescriptorSets vkCmdBindPipeline vkCmdBindDescriptorSets vkCmdDispatch
    vkEndCommandBuffer""".split()
CARD = {"discrete": 1, "memory": 1}  # whose memory the host does not see


@pytest.mark.parametrize("odd", [CARD, {}], ids=["a card", "shared memory"])
@pytest.mark.parametrize(
    "operands, barriers",
    [("0, n + 1", 1), ("n, n + 1", CALLS), ("0, 1", CALLS), ("n // 2 * 2, n // 2 * 2 + 1 + n % 2", CALLS // 2)],
    ids=["independent", "a chain", "the same result", "pairs"],
)
def test_what_is_queued_has_barriers_where_operands_conflict(operands, barriers, odd, library):
    """One for each call whose operands earlier calls wrote or, if it writes to them, read since the last barrier, as the first
    call here does; and one towards the host, if it sees the result. 17 calls are submitted at once."""
    submissions = -(-CALLS // 17)
    environment = faults.environment(library, **odd)
    done = support.run_python(None, args=("-c", QUEUED + RECORDED.replace("*OPERANDS", operands)), env=environment)
    made = eval(done.stdout)
    barriers += 0 if odd else CALLS
    assert made["a barrier submitted"] == barriers
    # It depends on the device how often it is waited for, and how many submissions there are at most.
    recorded = {name: count for name, count in made.items() if re.match("vk(Begin|Cmd|End|Queue|Reset|Update)", name)}
    assert recorded == dict.fromkeys(EACH, CALLS) | {"vkQueueSubmit": submissions, "vkCmdPipelineBarrier": barriers}
    assert made.get("a counter bound", 0) == (0 if odd else CALLS)  # only where chunks are taken from it


def test_what_is_queued_asks_the_device_nothing(library):
    """While little is queued."""
    calls = """
made = counted(lambda: [mirror(0, n + 1) for n in range(15)])
assert made["vkEndCommandBuffer"] == 15
assert not {"vkGetSemaphoreCounterValue", "vkWaitSemaphores", "vkWaitForFences", "vkQueueSubmit"} & set(made), made
"""
    support.run_python(None, args=("-c", QUEUED + calls), env=faults.environment(library, **CARD))


def test_what_is_queued_is_submitted_in_the_end_though_nobody_waits(library):
    """Each time: the thread that does it sleeps in between."""
    calls = """
import time
_core._override("flushes", 1)
for n in range(3):
    before = layer.calls
    mirror(0, n + 2)
    while not (layer.calls - before)["vkQueueSubmit"]:
        time.sleep(0.001)
    made = layer.calls - before
    assert made["vkQueueSubmit"] == 1 and not made["vkWaitSemaphores"], made
    time.sleep(0.01)

# The device is lost while nobody calls, and the next call notices.
layer.arm("vulkan", 1, "VK_ERROR_DEVICE_LOST", only="vkQueueSubmit")
mirror(0, 1)
while not layer.fired:
    time.sleep(0.001)
time.sleep(0.01)
try:
    images[1].numpy()
    raise AssertionError("it is not lost")
except dmlops.DeviceLostError:
    layer.arm()
assert np.array_equal(dmlops.asarray(x).numpy(), x)
"""
    support.run_python(None, args=("-c", QUEUED + calls), env=faults.environment(library, **CARD))


DROPPED = """
def queue():
    for _ in range(CALLS):
        dmlops.slice(images[0], [0, 0], x.shape, [1, -1])
    dmlops.synchronize()


barriers = counted(queue)["a barrier submitted"]
assert barriers <= CALLS // 4, barriers
"""


def test_small_results_that_are_dropped_hardly_wait_for_each_other(library):
    """A card's memory is handed out in turn."""
    support.run_python(None, args=("-c", QUEUED + DROPPED), env=faults.environment(library, **CARD))


BUSY = """
large = dmlops.asarray(np.concatenate([x, x, x]))
out = dmlops.empty(large.shape, large.dtype)
submitted = []


def call(n):
    submitted.append(counted(lambda: mirror(n, n + 1))["vkQueueSubmit"])


_core._override("busy_bytes", 5 * x.size // 2)
layer.slow(faults.NEVER)
submitted.append(counted(lambda: dmlops.slice(large, [0, 0], large.shape, [1, -1], out=out))["vkQueueSubmit"])
for n in range(8):
    call(n)
assert submitted == [1, 0, 0, 1, 0, 0, 1, 0, 0], submitted
layer.slow(0)
call(8)
assert submitted[-1] == 1
assert counted(dmlops.synchronize)["vkQueueSubmit"] == 0, "something was left"
for n in range(10):
    assert np.array_equal(images[n].numpy(), x[:, :: 1 - n % 2 * 2]), n
"""


def test_a_busy_device_gets_several_calls_at_once(library):
    """What is not submitted meanwhile writes less than what keeps it busy; the first call after that submits it."""
    code = (QUEUED + BUSY).replace("1000", "10_000")  # too large to be batched otherwise
    support.run_python(None, args=("-c", code), env=faults.environment(library, **CARD))


def test_stages_of_queued_calls_on_the_device(vulkan, tmp_path):
    """benchmarks/gpu_stages.py: timestamps of whatever device, and results with other tunables."""
    script = str(support.ROOT / "benchmarks" / "gpu_stages.py")
    done = support.run_python(None, args=(script, "columns/8", "--mib", "1", "--output", tmp_path), env=support.by_loader())
    (record,) = json.loads((tmp_path / "gpu_stages.json").read_text())
    assert record["name"] == "columns/8" and f"| columns/8 | {record['all']:.2f} | {record['device']:.2f} |" in done.stdout
    assert record["device"] > 0 and record["gaps"] >= 0 and record["host"] > record["vkQueueSubmit"] > 0
    assert 0 < record["submissions"] <= 1 and len(record["ratios"]) == 4 and "WRONG" not in done.stdout
