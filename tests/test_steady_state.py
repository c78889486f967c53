"""A call like those before it makes nothing that lasts: no system call but the driver's waking and waiting, and our yielding of
the core; no Vulkan object but the buffers of imported arrays. Nothing here looks at how long a call takes."""

import collections
import os
import re
import shutil
import subprocess
import sys

import pytest

import faults
import support

pytestmark = pytest.mark.slow

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
    names = [re.match(r"\d+ +(\w+)\(", line) for line in lines[begin + 1 : end]]
    counts = collections.Counter(match[1] for match in names if match)
    others = {name: count for name, count in counts.items() if name not in WAITING}
    # malloc may grow or trim its heap now and then; what a call does each time is counted CALLS times.
    assert sum(others.values()) < CALLS // 5, others
