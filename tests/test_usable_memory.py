"""Limits follow what the process may use, in a container, too, and while it runs; what is pooled and idle goes back."""

import os

try:
    import resource
except ImportError:  # Windows
    resource = None

import pytest
from dmlops import _core

import support

pytestmark = pytest.mark.posix

MIB = 2**20
UNLIMITED = 9223372036854771712  # what version 1 has where no limit is set
ALWAYS = 3_600_000  # milliseconds: nothing is idle


@pytest.fixture
def system(tmp_path):
    """A folder in place of "/"."""
    (tmp_path / "proc/self").mkdir(parents=True)
    yield tmp_path
    _core._play_memory(None, 10_000)


def group(system, version, path, limit, usage=0, idle_files=0):
    folder = system / "sys/fs/cgroup" / ("memory" if version == 1 else "") / path.strip("/")
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if version == 1 else ("memory.max", "memory.current")
    for name, value in zip(names, (limit, usage), strict=True):
        (folder / name).write_text(f"{value}\n")
    key = "total_inactive_file" if version == 1 else "inactive_file"
    (folder / "memory.stat").write_text(f"anon 4096\nactive_file 8192\n{key} {idle_files}\npgfault 7\n")


def groups_of_process(system, *lines):
    (system / "proc/self/cgroup").write_text("".join(f"{line}\n" for line in lines))


def played(system):
    return _core._play_memory(str(system), ALWAYS)


# Its memory, or less where addresses are limited: this process may be in a group of its own.
ADDRESSES = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
MACHINE = min(MACHINE, ADDRESSES) if ADDRESSES >= 0 else MACHINE


def test_control_groups_of_version_2(system):
    groups_of_process(system, "0::/a/b")
    group(system, 2, "/a/b", "max", 7 * MIB)
    assert played(system)[0] == MACHINE
    group(system, 2, "/a", 64 * MIB, 50 * MIB, idle_files=20 * MIB)
    assert played(system) == (64 * MIB, 34 * MIB)
    group(system, 2, "/a/b", 48 * MIB, 47 * MIB)
    assert played(system) == (48 * MIB, MIB)
    group(system, 2, "/a/b", 48 * MIB, 60 * MIB)  # the limit was lowered below what is used
    assert played(system)[0] == 48 * MIB


def test_control_groups_of_version_1(system):
    groups_of_process(system, "9:name=systemd:/", "5:cpu,cpuacct:/x", "4:hugetlb,memory:/a", "0::/")
    group(system, 1, "/a", UNLIMITED, 7 * MIB)
    assert played(system)[0] == MACHINE
    group(system, 1, "/a", 64 * MIB, 50 * MIB, idle_files=20 * MIB)
    assert played(system) == (64 * MIB, 34 * MIB)
    groups_of_process(system, "5:cpu:/a", "4:memoryless:/a")
    assert played(system)[0] == MACHINE


@pytest.mark.parametrize("version, line", [(1, "4:memory:/docker/0123"), (2, "0::/docker/0123"), (2, "0::/"), (2, "0::/../..")])
def test_a_container_sees_its_own_group_as_the_root(system, version, line):
    groups_of_process(system, line)
    group(system, version, "/", 512 * MIB, 100 * MIB)
    assert played(system) == (512 * MIB, 412 * MIB)


def test_files_that_say_nothing(system):
    assert played(system)[0] == MACHINE
    groups_of_process(system, "nonsense", "0:/a", "0::", "4:memory", "0::/a")
    group(system, 2, "/a", "many")
    assert played(system)[0] == MACHINE


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizers reserve more addresses than the limit leaves")
def test_the_limit_of_addresses():
    code = f"""
import resource
from dmlops import _core
resource.setrlimit(resource.RLIMIT_AS, (4096 * {MIB},) * 2)
limit, left = _core._play_memory(None, 10000)
assert limit == 4096 * {MIB} and 0 < left < limit, (limit, left)
import dmlops
assert dmlops.memory_info().available <= left
"""
    support.run_python(code)


POOLS = f"""
import pathlib, sys, time
import dmlops, numpy as np
from dmlops import _core
MIB, folder, vulkan = {MIB}, sys.argv[1], int(sys.argv[2])
limit = pathlib.Path(folder, "sys/fs/cgroup/memory.max")
_core._play_memory(folder, {ALWAYS})
def pooled():
    for n in range(1, 41):
        dmlops.slice(np.ones(n * MIB, np.uint8), [0], [n * MIB], device="host")
        dmlops.asarray(np.ones(n * MIB, np.uint8), device=vulkan).wait()
    return [dmlops.memory_info(device) for device in (None, vulkan)]
for info in pooled():
    assert info.pool_limit == 512 * MIB // 10 >= info.pool_bytes > 0, info
    assert 0 < info.available <= 512 * MIB, info
limit.write_text(str(256 * MIB))
wanted = 256 * MIB // 10
while _core._memory_info(vulkan)[2] != wanted:  # the thread looks every second
    time.sleep(0.01)
while True:
    infos = pooled()
    if all(info.pool_limit == wanted for info in infos):
        break
assert all(info.pool_bytes <= wanted for info in infos), infos
"""


def test_pools_follow_the_limit_while_it_changes(system, vulkan):
    """A container of 512 MiB that becomes one of 256."""
    groups_of_process(system, "0::/")
    group(system, 2, "/", 512 * MIB)
    support.run_python(None, args=("-c", POOLS, str(system), str(vulkan)), env={"DMLOPS_CACHE": None})


def test_a_limit_that_was_asked_for_stays(system):
    groups_of_process(system, "0::/")
    group(system, 2, "/", 512 * MIB)
    code = f"""
import sys
import dmlops
from dmlops import _core
_core._play_memory(sys.argv[1], 10000)
assert dmlops.memory_info().pool_limit == 100 * {MIB}
_core._play_memory(None, 10000)
assert dmlops.memory_info().pool_limit == 100 * {MIB}
"""
    support.run_python(None, args=("-c", code, str(system)), env={"DMLOPS_CACHE": "100M"})


IDLE = f"""
import os, time
import dmlops, numpy as np
from dmlops import _core
MIB, device = {MIB}, DEVICE
def pool():
    if device == "host":
        dmlops.slice(np.ones(3 * MIB, np.uint8), [0], [3 * MIB], device=device)
    else:
        dmlops.asarray(np.ones(3 * MIB, np.uint8), device=device).wait()
def pooled():
    return dmlops.memory_info(device).pool_bytes
def wait_until_it_is_back():
    _core._play_memory(None, 50)
    while pooled():
        time.sleep(0.01)
pool()
assert pooled() == 3 * MIB
wait_until_it_is_back()
pool()  # the thread sleeps meanwhile, and is woken
wait_until_it_is_back()
_core._play_memory(None, {ALWAYS})
pool()
time.sleep(1.5)
assert pooled() == 3 * MIB
if device == "host" and os.fork() == 0:
    wait_until_it_is_back() if pool() is None else None
    os._exit(7)
if device == "host":
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
"""


def test_what_is_idle_goes_back(device):
    """Also in the child of a fork, where a new thread does it."""
    support.run_python(IDLE.replace("DEVICE", repr(device)), env={"DMLOPS_CACHE": None})
