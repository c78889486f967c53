"""Every test again and again: what grows each time is a leak. Counted are Vulkan handles and what dmlops allocates in C
(by the layer of tests/faults), bytes of arrays on devices, Python's memory blocks, and references to what lives for ever.

    python tests/leaks.py PYTEST'S-ARGUMENTS...

A count may grow a few times, as kernels, idle submissions and blocks are pooled. Tests by Hypothesis, whose own memory grows,
are not asked for what Python counts.
"""

import gc
import os
import pathlib
import subprocess
import sys
import tempfile

import dmlops
import numpy as np
import pytest

import faults
import support

WARM = 2  # times that do not count
MOST = 100  # times in a row that a count may not grow


def main(arguments):
    support.select_driver()
    with tempfile.TemporaryDirectory() as folder:
        environment = support.changed(os.environ, faults.environment(faults.build(folder)))
        command = pathlib.Path(sys.executable).with_name("pytest")
        return subprocess.call([command, "-p", "leaks", "-p", "no:cacheprovider", *arguments], env=environment)


NAMES = ("handles and allocations", "bytes on the device", "references", "blocks")
LASTING = [dmlops, dmlops.DeviceArray, dmlops.slice, *map(np.dtype, "?bBhHiIqQefFD")]  # np.zeros leaks a "d"


def count(layer, python):
    """How much there is of each of NAMES."""
    dmlops.synchronize()
    dmlops.empty_cache()
    gc.collect()
    # New plans make new pipelines; what Python allocates for us is in its blocks.
    ours = layer.alive() - 2 * layer.alive("vkCreateComputePipelines") - layer.alive("PyMem_Malloc")
    used = dmlops.memory_info(dmlops.devices()[0]).used
    return (ours, used, sum(map(sys.getrefcount, LASTING)), sys.getallocatedblocks()) if python else (ours, used, 0, 0)


class Plugin:
    def __init__(self):
        self.layer = faults.Layer()
        self.layer.watch_allocations()
        self.tests = 0

    def pytest_collection_finish(self):
        gc.freeze()  # what pytest has made by now lives to the end; gc.collect() after each test would look at all of it

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        python = not getattr(pyfuncitem.obj, "is_hypothesis_test", False)
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        suspects, before = range(len(NAMES)), ()
        for k in range(WARM + MOST):
            pyfuncitem.obj(**arguments)
            now = count(self.layer, python)
            if k >= WARM:
                suspects = [i for i in suspects if now[i] > before[i]]
            if not suspects:
                break
            before = now
        else:
            names = " and ".join(NAMES[i] for i in suspects)
            pytest.fail(f"more {names}, {MOST} times in a row; alive: {self.layer.list_alive}", pytrace=False)
        self.tests += 1
        return True

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(f"{self.tests} tests run again and again left nothing behind")


def pytest_configure(config):
    config.pluginmanager.register(Plugin())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
