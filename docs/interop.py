"""How arrays get to other libraries and back, as data: the site shows it, and tests/peers/test_coming_from.py runs it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    library: str
    module: str
    setup: str
    export: str  # `a` is a device array
    back: str  # `theirs` is what `export` gave
    note: str = ""
    tested: bool = True


ROWS = (
    Exchange(
        "NumPy",
        "numpy",
        "",
        "np.from_dlpack(a)",
        "dmlops.asarray(theirs)",
        "`a.numpy()` copies, and is writable.",
    ),
    Exchange(
        "PyTorch",
        "torch",
        "import torch",
        "torch.from_dlpack(a)",
        "dmlops.from_dlpack(theirs)",
        "On an NVIDIA GPU, too, which the suite plays by a stub.",
    ),
    Exchange("JAX", "jax", "import jax", "jax.dlpack.from_dlpack(a)", "dmlops.from_dlpack(theirs)"),
    Exchange("TensorFlow", "tensorflow", "import tensorflow as tf", "tf.constant(a.numpy())", "dmlops.asarray(theirs.numpy())"),
    Exchange(
        "onnxruntime",
        "onnxruntime",
        "import onnxruntime",
        "onnxruntime.OrtValue.ortvalue_from_numpy(np.from_dlpack(a))",
        "dmlops.asarray(theirs.numpy())",
        "`dmlops.onnx.Session` does this without a copy.",
    ),
    Exchange(
        "CuPy",
        "cupy",
        "import cupy",
        "cupy.asarray(a.numpy())",
        "dmlops.asarray(cupy.asnumpy(theirs))",
        "Through the host's memory. `cupy.from_dlpack(a)` shares that of an NVIDIA GPU. The suite does not run this row.",
        tested=False,
    ),
)
