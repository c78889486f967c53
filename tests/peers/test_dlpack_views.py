"""Every kind of view, lent to each library by DLPack, in processes of their own: one that it cannot take may end it."""

import sys

import dmlops
import numpy as np
import pytest

import support

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

VIEWS = {
    "whole": lambda a: a,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "cropped": lambda a: a[1:, 1:],
    "with gaps": lambda a: a[:, ::2],
    "column": lambda a: a[..., 1],
    "new axes": lambda a: a[None, :, None],
    "0-d": lambda a: a[1, 2, 3, ...],
    "mirrored": lambda a: a[:, ::-1],
    "mirrored with gaps": lambda a: a[..., ::-2],
    "mirrored everywhere": lambda a: a[::-1, ::-1, ::-1].transpose(2, 0, 1),
    "mirrored axis of one element": lambda a: a[1:, ::-1][:, 2:],
    "empty": lambda a: a[:, 3:],
    "empty and mirrored": lambda a: a[::-1, :0],
}
MIRRORED = [name for name in VIEWS if name.startswith("mirrored") and name != "mirrored axis of one element"]
COMPACT = ["whole", "transposed", "new axes", "0-d", *MIRRORED, "mirrored axis of one element", "empty", "empty and mirrored"]


class OnCpu:
    """An array as libraries ask for one whose memory is the CPU's."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **asked):
        return self.array.__dlpack__(**{**asked, "dl_device": (1, 0)})


def consumers(library):
    """The ways in which a library takes an array: name, function, what mirrored views are: shared, copied or refused."""
    if library == "numpy":
        return [
            ("object", np.from_dlpack, "shared"),
            ("from_dlpack", lambda a: np.from_dlpack(OnCpu(a)), "shared"),
            ("copy=False", lambda a: np.from_dlpack(OnCpu(a), copy=False), "shared"),
            ("copy=True", lambda a: np.from_dlpack(OnCpu(a), copy=True), "copied"),
        ]
    if library == "torch":
        import torch

        return [
            ("capsule", lambda a: torch.from_dlpack(a.__dlpack__(dl_device=(1, 0))), "copied"),
            ("new capsule", lambda a: torch.from_dlpack(a.__dlpack__(dl_device=(1, 0), max_version=(1, 0))), "copied"),
            ("object", torch.from_dlpack, "copied"),
            ("object on the CPU", lambda a: torch.from_dlpack(OnCpu(a)), "copied"),
            ("copy=False", lambda a: torch.from_dlpack(OnCpu(a), copy=False), "refused"),
            ("copy=False on the CPU", lambda a: torch.from_dlpack(OnCpu(a), device="cpu", copy=False), "refused"),
        ]
    import jax

    return [
        ("object", jax.dlpack.from_dlpack, "copied"),
        ("object on the CPU", lambda a: jax.dlpack.from_dlpack(OnCpu(a)), "copied"),
    ]


def check(a, view, consume, mirrored, name, library):
    """What is wrong with how a view arrives; None if nothing is."""
    refused = mirrored == "refused" and name in MIRRORED
    try:
        found = np.asarray(consume(VIEWS[name](a)))
    except BufferError as error:
        return None if refused and "negative strides" in str(error) else repr(error)
    except Exception as error:  # of elements with gaps between them, which JAX does not know
        return None if library == "jax" and name not in COMPACT else repr(error)
    if refused:
        return "not refused"
    if found.shape != view.shape or not np.array_equal(found, view):
        return f"{found} instead of {view}"
    if library == "numpy" and found.size and (name in MIRRORED or mirrored == "copied"):
        before = found.copy()
        a[...] = a.numpy() + 1
        a.wait()
        shared = not np.array_equal(found, before)
        if shared != (mirrored == "shared"):
            return "shared" if shared else "copied"
    return None


def main(library, device):
    for way, consume, mirrored in consumers(library):
        for name, view in VIEWS.items():
            print(f"{way}, {name}:", end=" ", flush=True)
            a = dmlops.asarray(X, device=device if device == "host" else int(device))
            print(check(a, view(X), consume, mirrored, name, library) or "right", flush=True)
    print("done")


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_views_arrive(library, device):
    if library == "numpy" and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("NumPy's from_dlpack knows no copy before 2.1")
    pytest.importorskip(library, reason=f"{library} is not installed")
    done = support.run_python(
        "", args=[__file__, library, str(device)], env={"PYTHONPATH": str(support.ROOT / "tests")}, check=False
    )
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if not line.endswith(": right")]
    assert done.returncode == 0 and wrong == ["done"] and len(lines) > len(VIEWS), (
        f"exit status {done.returncode}\n{wrong}\n{done.stderr}"
    )


def test_jax_copies_nothing(device):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    a = dmlops.asarray(np.arange(20_000, dtype=np.float32), device=device)
    assert jax.dlpack.from_dlpack(a).unsafe_buffer_pointer() == np.from_dlpack(a).ctypes.data


if __name__ == "__main__":
    main(*sys.argv[1:])
