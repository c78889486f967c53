"""Runs in a bare system: uses each of the modules that are named, in their order, and compares dmlops with NumPy.

On lavapipe, or, with DMLOPS_DEVICE=host, where there is no driver, on the host.
"""

import os
import sys
import time

import numpy as np


def use_dmlops():
    import dmlops

    device = dmlops.default_device()
    wanted = ("host", "host") if os.environ.get("DMLOPS_DEVICE") == "host" else ("cpu", "llvmpipe")
    assert device.type == wanted[0] and wanted[1] in device.name, device
    image = np.arange(2 * 12 * 64 * 96).reshape(2, 12, 64, 96)
    began = time.perf_counter()
    result = dmlops.depth_to_space(image.astype(np.uint8), 2)
    print(f"first call: {(time.perf_counter() - began) * 1e3:.0f} ms on {device.name}", flush=True)
    assert np.array_equal(result, dmlops.reference.depth_to_space(image.astype(np.uint8), 2))
    lengths = np.arange(2 * 12 * 64).reshape(2, 12, 64, 1) % 97
    for dtype in (np.uint8, np.float16, np.float32, np.float64, np.complex128):
        x = image.astype(dtype)
        same = {
            "depth_to_space": (dmlops.depth_to_space(x, 2), dmlops.reference.depth_to_space(x, 2)),
            "space_to_depth": (dmlops.space_to_depth(x, 4), dmlops.reference.space_to_depth(x, 4)),
            "slice": (dmlops.slice(x, [0, 1, 2, 5], [2, 10, 50, 80], [1, 2, -3, 5]), x[:, 1:11:2, 2:52][:, :, ::-3, 5:85:5]),
            "reverse_subsequences": (
                dmlops.reverse_subsequences(x, lengths, axis=3),
                dmlops.reference.reverse_subsequences(x, lengths, axis=3),
            ),
        }
        for name, (got, wanted) in same.items():
            assert got.dtype == wanted.dtype and got.shape == wanted.shape and np.array_equal(got, wanted), (name, dtype)


def use_tensorflow():
    import tensorflow

    compiled = tensorflow.function(lambda a: tensorflow.reduce_sum(tensorflow.tanh(a @ a) * 2), jit_compile=True)
    assert np.isclose(float(compiled(tensorflow.ones((8, 8)))), 128)


def use_numba():
    import numba

    assert numba.njit(lambda a: a * 2 + 1)(3) == 7


for module in sys.argv[1:]:
    globals()[f"use_{module}"]()
print("equal to NumPy:", *sys.argv[1:], f"(NumPy {np.__version__}, Python {sys.version.split()[0]})")
