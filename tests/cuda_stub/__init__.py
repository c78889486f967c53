"""A stub of CUDA's driver for tests (stub.c): built here, found by children of the tests, and steered by ctypes."""

import ctypes
import os
import pathlib
import subprocess

import support

HERE = pathlib.Path(__file__).resolve().parent
CALLS = (
    "cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetUuid_v2", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2",
    "cuImportExternalMemory", "cuExternalMemoryGetMappedBuffer", "cuCtxSynchronize", "cuMemcpyDtoDAsync_v2",
    "cuStreamSynchronize",
)  # fmt: skip


def build(folder, *flags):
    """Compiles the stub into `folder`, as CUDA's driver is named."""
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags, "-shared", "-fPIC"]
    support.compile_c([*flags, "-o", pathlib.Path(folder, "libcuda.so.1"), HERE / "stub.c", "-pthread"])
    return folder


def uuid_of_the_driver(folder):
    """The UUID of the device under test, as hexadecimal digits."""
    program = pathlib.Path(folder, "uuid")
    support.compile_c(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "uuid.c", "-lvulkan"])
    environment = support.changed(os.environ, support.by_loader())
    return subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout


def environment(folder, uuid):
    """What a child needs to find the stub, on a machine that may have CUDA itself."""
    folders = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **support.by_loader(),
        "LD_LIBRARY_PATH": os.pathsep.join(folders),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        "DMLOPS_TEST_CUDA_UUID": uuid,
        "DMLOPS_TEST_DEVICES": "vulkan",
        "DMLOPS_TEST_VALIDATION": None,
        "DMLOPS_DEVICE": None,
    }


def play_gpu():
    """From now on the device looks like a GPU that CUDA may have, whose memory the host does not see."""
    from dmlops import _core

    for name, value in (("cuda", 1), ("cpu", 0), ("mapped", 0)):
        _core._override(name, value)


class Stub:
    """The stub in this process."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.library.stub_calls.restype = ctypes.c_long

    def fill(self, address, value, size, stream):
        """A kernel on `stream`, which does nothing until somebody waits for it."""
        self.library.stub_fill(ctypes.c_uint64(address), value, ctypes.c_size_t(size), ctypes.c_void_p(stream))

    def finish(self):
        self.library.stub_finish()

    def fail(self, name="", at=0, result=2):
        self.library.stub_fail(name.encode(), ctypes.c_long(at), result)

    def calls(self, name):
        return self.library.stub_calls(name.encode())

    @property
    def queued(self):
        return self.library.stub_queued()

    @property
    def semaphores(self):
        """Those that are imported."""
        return self.library.stub_semaphores()

    @property
    def contexts(self):
        """How many are retained, and a thousand for each that is pushed."""
        return self.library.stub_contexts()

    @property
    def alive(self):
        """Memory that is imported, and mapped."""
        return self.library.stub_alive()
