"""A process that restricts what the CPU's Vulkan driver needs gets an error that names the restriction, and no crash."""

import errno
import os
import platform
import random
import sys

import pytest

import support

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizers reserve more addresses than any limit leaves"),
    pytest.mark.skipif(bool(support.VALIDATION), reason="the validation layer takes memory without a look at what is left"),
    pytest.mark.skipif(platform.system() != "Linux", reason="the limits are Linux'"),
]

# Ways to restrict a process: limit(...) lowers one limit, lift() sets them as they were, room(...) is what /proc says is used.
RESTRICT = """
import ctypes, os, resource, struct, sys
import numpy as np
import numpy.random
import dmlops
libc = ctypes.CDLL(None, use_errno=True)
before = {}
def limit(name, value):
    number = getattr(resource, "RLIMIT_" + name)
    soft, hard = before.setdefault(number, resource.getrlimit(number))
    resource.setrlimit(number, (int(value) if hard < 0 else min(int(value), hard), hard))
def lift():
    for number, values in before.items():
        resource.setrlimit(number, values)
status = open("/proc/self/status")  # where no more files may be opened, too
def used(field):
    status.seek(0)
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))
def first_free():
    '''The lowest number that a file opened now would get.'''
    number = 0
    while True:
        try:
            os.fstat(number)
        except OSError:
            return number
        number += 1
def no_written_code():
    if libc.prctl(65, 1, 0, 0, 0) != 0:  # PR_SET_MDWE, Linux 6.3
        print("skip: this kernel knows no PR_SET_MDWE")
        raise SystemExit
def refuse(number, error):
    '''Makes a system call fail from now on.'''
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0, ctypes.get_errno()
def another_user():
    '''Limits on threads do not hold for root.'''
    if os.getuid() == 0:
        os.setresuid(64321, 64321, 64321)
x = np.arange(300 * 1000, dtype=np.uint32).reshape(300, 1000)
def use(device=None):
    assert np.array_equal(dmlops.slice(x, [0, 0], [300, 1000], [1, -1], device=device), x[:, ::-1])
    a = dmlops.asarray(x, device=device)
    assert np.array_equal(a.T[3:].numpy(), x.T[3:]) and np.array_equal(dmlops.transpose(a).numpy(), x.T)
    assert np.array_equal(dmlops.asarray(x[:2], device=device).numpy(), x[:2])
"""

MEMFD, FTRUNCATE = {"x86_64": (319, 77), "aarch64": (279, 46)}.get(platform.machine(), (None, None))
MIB = 2**20
# What restricts the process: what the reason says.
RESTRICTIONS = {
    "no_written_code()": "may not execute memory that it has written (MemoryDenyWriteExecute",
    f"refuse({MEMFD}, {errno.EPERM})": f"(memfd_create), which this process cannot make: {os.strerror(errno.EPERM)}",
    f"refuse({MEMFD}, {errno.ENOSYS})": f"(memfd_create), which this process cannot make: {os.strerror(errno.ENOSYS)}",
    f"refuse({FTRUNCATE}, {errno.EPERM})": f"(memfd_create), which this process cannot make: {os.strerror(errno.EPERM)}",
    "limit('FSIZE', 65536)": "RLIMIT_FSIZE is 64 KiB",
    "limit('FSIZE', 0)": "RLIMIT_FSIZE is 0 KiB",
    "limit('AS', used('VmSize') + 450 * 2**20)": "MiB more address space than RLIMIT_AS, ",
    "limit('DATA', used('VmData') + 120 * 2**20)": "MiB more memory than RLIMIT_DATA, ",
    "limit('NOFILE', first_free() + 1)": "which this process cannot make: " + os.strerror(errno.EMFILE),
    "another_user(); limit('NPROC', 1)": "(RLIMIT_NPROC, or pids.max",
}
LIFTED = ("limit(", "another_user")

REFUSED = """
RESTRICTION
*devices, host = dmlops.devices()
for device in devices:
    assert device.type != "cpu" or (not device.usable and REASON in device.reason), device
for call in (use, lambda: dmlops.asarray(x), lambda: dmlops.asarray(x, device="cpu")):
    try:
        call()
    except (dmlops.NoDeviceError, ValueError) as error:
        assert REASON in str(error) and 'device="host"' in str(error), error
    else:
        raise SystemExit("it ran")
use("host")
if LIFTED:
    lift()
    use()
"""


def restricted(code, **more):
    return support.run_python(RESTRICT + code, env={**support.by_loader(), "DMLOPS_DEVICE": None}, **more)


@pytest.mark.parametrize("restriction", RESTRICTIONS)
def test_what_is_missing_is_named(restriction):
    """By the list of devices, and by every call; a limit that is lifted is no longer in the way."""
    if "None" in restriction:
        pytest.skip("the numbers of system calls are those of another machine")
    code = REFUSED.replace("RESTRICTION", restriction).replace("REASON", repr(RESTRICTIONS[restriction]))
    done = restricted(code.replace("LIFTED", str(restriction.startswith(LIFTED))))
    if done.stdout.startswith("skip: "):
        pytest.skip(done.stdout[6:])


def test_too_little_memory_to_open_a_driver():
    """The driver is there: to install one helps nobody."""
    for room in (30, 150):
        code = f"limit('AS', used('VmSize') + {room} * 2**20)\ndmlops.asarray(1)"
        said = restricted(code, check=False).stderr.splitlines()[-1]
        assert said.startswith("dmlops.NoDeviceError: ") and "RLIMIT_AS, " in said and 'device="host"' in said, said
        assert "install" not in said, said


@pytest.mark.parametrize("stack, usable", [(160, False), (400, True)])
def test_small_stacks(stack, usable):
    """Of threads: their size is that of the limit when the process began."""
    text = f"its threads need stacks of 256 KiB, and RLIMIT_STACK was {stack} KiB when this process began"
    code = f"use() if {usable} else None\nassert ({text!r} in dmlops.devices()[0].reason) != {usable}, dmlops.devices()[0]"
    start = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_STACK, ({stack} * 1024, -1))\nos.execv("
    support.run_python(f"{start}{sys.executable!r}, [{sys.executable!r}, '-c', {RESTRICT + code!r}])", env=support.by_loader())


def test_the_command_line_names_the_restriction():
    code = "limit('FSIZE', 65536)\nfrom dmlops import __main__\nsys.exit(__main__.main([]))"
    lines = restricted(code).stdout.splitlines()
    assert any("llvmpipe" in line and "  no: " in line and line.endswith("RLIMIT_FSIZE is 64 KiB") for line in lines), lines
    assert any(line.startswith("Default device: none; ") and "RLIMIT_FSIZE" in line for line in lines), lines


# A device that is used already; what the process may do no more from then on, and what then fails.
LATER = """
use()
a = dmlops.asarray(x)
def fails(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise SystemExit("it ran")
def compile():  # kernels that are new each time
    global steps
    steps += 1
    dmlops.slice(a, [0, 0], [300, 1000], [1, steps]).numpy()
steps = 2
"""
LATER_RESTRICTIONS = {
    "memory for arrays": """
limit('AS', used('VmSize') + 200 * 2**20)
arrays = []
fails(lambda: arrays.extend(dmlops.asarray(x) for _ in range(1000)), dmlops.OutOfDeviceMemoryError, "RLIMIT_AS, ")
assert arrays and all(np.array_equal(array.numpy(), x) for array in arrays[:3])
arrays.clear()
dmlops.empty_cache()
use()
""",
    "one large array": """
limit('AS', used('VmSize') + 200 * 2**20)
fails(lambda: dmlops.empty((2**30,), np.uint8), dmlops.OutOfDeviceMemoryError, "RLIMIT_AS, ")
use()
""",
    "memory for the driver": """
limit('DATA', used('VmData') + 20 * 2**20)
fails(compile, MemoryError, "RLIMIT_DATA, ")
fails(use, MemoryError, "RLIMIT_DATA, ")
lift()
use()
compile()
""",
    "code": """
no_written_code()
fails(compile, dmlops.VulkanError, "may not execute memory that it has written")
use()
""",
    "the size of files": """
limit('FSIZE', 65536)
columns = [a[:, k : k + 31] for k in range(0, 930, 31)]  # a dispatch each, and a descriptor set
fails(lambda: dmlops.join(columns, 0), dmlops.VulkanError, "RLIMIT_FSIZE")
arrays = [dmlops.asarray(x) for _ in range(100)]
assert all(np.array_equal(array.numpy(), x) for array in arrays)
lift()
assert np.array_equal(dmlops.join(columns, 0).numpy(), np.concatenate([x[:, k : k + 31] for k in range(0, 930, 31)]))
""",
}


@pytest.mark.parametrize("what", LATER_RESTRICTIONS)
def test_restrictions_after_the_first_use(what):
    done = restricted(LATER + LATER_RESTRICTIONS[what])
    if done.stdout.startswith("skip: "):
        pytest.skip(done.stdout[6:])


# All that a run may end in: the right results, or these.
RANDOM = """
errors = (dmlops.VulkanError, MemoryError, ValueError)
def work(seed):
    random = np.random.default_rng(seed)
    arrays = []
    for _ in range(8):
        part = x[: random.integers(1, 300), : random.integers(1, 1000)]
        step, kind = int(random.integers(-9, 10)) or 1, random.integers(6)
        if kind == 0:
            got = dmlops.slice(part, [0, 0], list(part.shape), [1, step])
            assert np.array_equal(got, part[:, ::step])
        elif kind == 1:
            got = dmlops.padding(part, [3, 1], [0, 2], mode="edge")
            assert np.array_equal(got, np.pad(part, ((3, 0), (1, 2)), mode="edge"))
        elif kind == 2:
            assert np.array_equal(dmlops.transpose(dmlops.asarray(part))[::2].numpy(), part.T[::2])
        elif kind == 3:
            large = np.tile(part, (1, int(random.integers(1, 20))))
            assert np.array_equal(dmlops.slice(large, [0, 0], list(large.shape), [-1, 1]), large[::-1])
        elif kind == 4:
            arrays += [dmlops.asarray(part) for _ in range(random.integers(1, 40))]
            assert np.array_equal(arrays[-1][:, ::step].numpy(), part[:, ::step])
        else:
            arrays.append(dmlops.empty((int(random.integers(1, 100)) << 20,), np.uint8))
    dmlops.synchronize()
def attempt(seed):
    try:
        work(seed)
    except errors as error:
        assert not isinstance(error, ValueError) or "not usable" in str(error), repr(error)
        return f"{type(error).__name__}: {error}"
    return "right"
"""


def random_limits(draw):
    """Statements that lower some limits to somewhat more than is used, or much more."""

    def amount(low, high):
        return int(2 ** draw.uniform(low, high))

    choices = {
        "AS": lambda: f"used('VmSize') + {amount(20, 31)}",
        "DATA": lambda: f"used('VmData') + {amount(20, 30)}",
        "FSIZE": lambda: str(amount(0, 30)),
        "NOFILE": lambda: f"first_free() + {draw.randrange(-1, 8)}",
        "MEMLOCK": lambda: str(amount(0, 24)),
        "STACK": lambda: str(amount(19, 33)),
        "NPROC": lambda: str(draw.randrange(0, 40)),
        "CORE": lambda: "0",
    }
    names = draw.sample(list(choices), draw.choice((1, 1, 2, 3)))
    lines = [f"limit({name!r}, {choices[name]()})" for name in names]
    return "\n".join(["another_user()"] * ("NPROC" in names) + lines)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("runs", [10, pytest.param(50, marks=pytest.mark.check), pytest.param(400, marks=pytest.mark.soak)])
def test_random_limits(runs):
    """Before the first use, after it, or both; with the driver alone, and with all that the loader finds."""
    draw = random.Random(runs)
    for _ in range(runs):
        before, after = random_limits(draw), random_limits(draw)
        first, second = draw.choice(((before, ""), ("", after), (before, after)))
        code = f"{first}\nprint(attempt({draw.randrange(99)}))\n{second}\nprint(attempt({draw.randrange(99)}))"
        environment = {"DMLOPS_DEVICE": None, "MESA_SHADER_CACHE_DISABLE": draw.choice((None, "true"))}
        environment |= draw.choice((support.by_loader(), support.by_loader(), support.NO_CHOICE))
        done = support.run_python(RESTRICT + RANDOM + code, env=environment, check=False)
        assert done.returncode == 0, (done.returncode, code, environment, done.stdout, done.stderr)
