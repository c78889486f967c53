"""The FPU as torch.set_flush_denormal(True) leaves it."""

import contextlib
import ctypes
import platform
import sys

import pytest

WORDS = {"x86_64": (28, 0x8040), "aarch64": (0, 1 << 24)}  # in glibc's fenv_t: where the FPU's control word is, and its bits

CAN_FLUSH = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in WORDS, reason="this machine's fenv_t is not known"
)


@contextlib.contextmanager
def flushing():
    """This thread takes denormals for 0."""
    libm = ctypes.CDLL("libm.so.6")
    before, changed = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    at, bits = WORDS[platform.machine()]
    libm.fegetenv(before), libm.fegetenv(changed)
    word = int.from_bytes(changed[at : at + 4], "little") | bits
    changed[at : at + 4] = word.to_bytes(4, "little")
    libm.fesetenv(changed)
    try:
        yield
    finally:
        libm.fesetenv(before)
