"""A Vulkan layer for tests (layer.h): built here, put into a child's environment, and steered by it.

The child process loads the same library by ctypes, and so the layer that the Vulkan loader loaded.
"""

import collections
import ctypes
import json
import os
import pathlib

import support

HERE = pathlib.Path(__file__).resolve().parent
NAME = "VK_LAYER_DMLOPS_faults"
FILE = "libdmlops_faults.so"

RESULTS = {
    "VK_TIMEOUT": 2,
    "VK_ERROR_OUT_OF_HOST_MEMORY": -1,
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": -2,
    "VK_ERROR_INITIALIZATION_FAILED": -3,
    "VK_ERROR_DEVICE_LOST": -4,
}


def build(folder, sources=None, name="faults"):
    """Compiles the layer into `folder`, with its manifest; or another, of other sources."""
    library = pathlib.Path(folder) / f"libdmlops_{name}.so"
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
    flags += [f"-I{HERE}", "-shared", "-fPIC", "-fvisibility=hidden"]
    support.compile_c([*flags, "-o", library, *(sources or sorted(HERE.glob("*.c"))), "-pthread", "-ldl"])
    manifest = {
        "file_format_version": "1.2.0",
        "layer": {
            "name": f"VK_LAYER_DMLOPS_{name}",
            "type": "GLOBAL",
            "library_path": str(library),
            "api_version": "1.3.0",
            "implementation_version": "1",
            "description": f"{name}, of dmlops",
        },
    }
    library.with_suffix(".json").write_text(json.dumps(manifest))
    return library


def environment(library, **odd):
    """What a child needs to run with the layer in front, and whatever other layers there are behind it."""
    folders = [str(library.parent), "/usr/share/vulkan/explicit_layer.d", "/usr/local/share/vulkan/explicit_layer.d"]
    layers = [NAME, *filter(None, [os.environ.get("VK_INSTANCE_LAYERS")])]
    return {
        **support.by_loader(),
        "VK_LAYER_PATH": os.pathsep.join(folders),
        "VK_INSTANCE_LAYERS": os.pathsep.join(layers),
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONSAFEPATH": "1",
        "DMLOPS_TEST_LAYER": str(library),
        "DMLOPS_TEST_ODD": ",".join(f"{name}={int(value)}" for name, value in odd.items()),
        "DMLOPS_DEVICE": None,
        "NODEVICE_SELECT": "1",  # Mesa's own layer, which crashes when calls of its own fail
        "GALLIVM_PERF": "nopt",  # lavapipe compiles in half the time; kernels as LLVM optimises them are other tests'
    }


NEVER = 3_600_000  # for Layer.slow, in milliseconds: until it says otherwise


class Layer:
    """The layer in this process."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["DMLOPS_TEST_LAYER"])
        for name in ("fired", "violations", "list_alive", "list_calls"):
            getattr(self.library, f"faults_{name}").restype = ctypes.c_char_p
        self.library.faults_seen.restype = self.library.faults_alive.restype = ctypes.c_long
        from dmlops import _core  # after the layer, whose handler of forks then looks last

        _core._override("flushes", 0)  # or a thread would make some of the calls that are counted

    def arm(self, kind="", at=0, result=0, after=False, only=""):
        """Makes the `at`-th of its kind fail: a "vulkan" call, or an allocation from "memory"; or nothing."""
        code = RESULTS[result] if isinstance(result, str) else result
        self.library.faults_arm(kind.encode(), only.encode(), ctypes.c_long(at), code, after)

    def slow(self, milliseconds):
        """Says anew how long a submission takes at least, also one that is waited for."""
        self.library.faults_slow(ctypes.c_long(milliseconds))

    def hold_compilation(self, hold=True):
        """Lets the next compilation of a kernel go on until this is called with False."""
        self.library.faults_hold_compilation(ctypes.c_bool(hold))

    def watch_allocations(self):
        assert self.library.faults_watch_allocations(b"dmlops/_core") > 0, "no imported function was found"

    @property
    def fired(self):
        """What failed; "" if nothing has."""
        return self.library.faults_fired().decode()

    @property
    def seen(self):
        return self.library.faults_seen()

    @property
    def violations(self):
        return self.library.faults_violations().decode()

    def alive(self, what=""):
        return self.library.faults_alive(what.encode())

    @property
    def calls(self):
        """How often each Vulkan function was called, or "a barrier submitted" was."""
        pairs = (entry.rsplit(" ", 1) for entry in self.library.faults_list_calls().decode().split(", ") if entry)
        return collections.Counter({name: int(count) for name, count in pairs})

    @property
    def list_alive(self):
        return self.library.faults_list_alive().decode()
