"""The host's time of a queued call between device arrays, without a driver's: `python host_time.py`.

The driver is a mock that does nothing (tests/threads/mock_vulkan.c), in the place of the loader. CPU time of the calling
thread, Python included, in microseconds: the least and the median of 200 times 1,000 calls on 8 x 1,000 bytes.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MOCK = pathlib.Path(__file__).resolve().parent.parent / "tests" / "threads" / "mock_vulkan.c"
CALLS, TIMES = 1000, 200


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "libvulkan.so.1")
        flags = ["-O2", "-DAT_ONCE", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
        subprocess.run(["cc", *flags, "-o", library, MOCK], check=True)
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "DMLOPS_DEVICE": "0"}
        subprocess.run([sys.executable, __file__, "child"], check=True, env=environment)


def child():
    import dmlops
    import numpy as np

    assert dmlops.devices()[0].name == "mock"
    a = dmlops.asarray(np.zeros((8, 1000), np.uint8))
    mirrored, out = a[:, ::-1], dmlops.transpose(a)
    calls = {
        "a view, [:, ::-1]": lambda: a[:, ::-1],
        "its copy": lambda: mirrored.copy(),
        "transpose": lambda: dmlops.transpose(a, (1, 0)),
        "transpose, out": lambda: dmlops.transpose(a, (1, 0), out=out),
        "tile": lambda: dmlops.tile(a, (1, 2)),
    }
    for name, call in calls.items():
        took = sorted(microseconds(call) for _ in range(TIMES))
        print(f"{name:20} {took[0]:.2f} {statistics.median(took):.2f}")


def microseconds(call):
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    return (time.thread_time_ns() - start) / CALLS / 1000


if __name__ == "__main__":
    child() if sys.argv[1:] else main()
