"""What other libraries' users bring along: keys, widths of numpy.pad, names of modes and of functions; and what errors say."""

import os
import re

import dmlops
import numpy as np
import pytest
from dmlops import reference

from strategies import content
from support import run_python

X = np.arange(24, dtype=np.int16).reshape(2, 3, 4)


def of_all_kinds(x, device):
    return x, x.tolist(), dmlops.asarray(x, device=device)


def elements(array):
    return array.numpy() if isinstance(array, dmlops.DeviceArray) else array


# --- keys and widths ------------------------------------------------------------------------------------------------

KEYS = [np.s_[1:], np.s_[..., ::-2], np.s_[:, 1:-1, ::-1], np.s_[...], np.s_[:, 5:, :], np.s_[::-1, ..., 0:1]]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_slice_by_a_key(device, key):
    for x in of_all_kinds(X, device):
        assert np.array_equal(elements(dmlops.slice(x, key, device=device)), X[key])
        assert np.array_equal(elements(reference.slice(x, key)), X[key])
    out = np.empty_like(X[key])
    assert dmlops.slice(X, key, out=out, device=device) is out and content(out) == content(X[key].copy())


def test_wrong_keys(device):
    for key, error in ((np.s_[1, :], TypeError), (np.s_[:, :, :, :], IndexError), (np.s_[..., ...], IndexError)):
        with pytest.raises(error, match="key"):
            dmlops.slice(X, key, device=device)
    with pytest.raises(TypeError, match="strides must be None where a key"):
        dmlops.slice(X, np.s_[1:], strides=[1, 1, 1], device=device)
    for offsets in ([0, 0, 0], (0, 0, 0), 3, None):
        with pytest.raises(TypeError, match="offsets|sizes"):
            dmlops.slice(X, offsets, device=device)
    with pytest.raises(TypeError, match="offsets"):
        dmlops.slice(X, np.s_[1:], [1, 1, 1], device=device)


WIDTHS = [1, (1, 2), ((1, 2),), ((1, 0), (0, 2), (3, 1)), [[0, 0]] * 3, np.array([[1, 2], [0, 0], [0, 3]]), ((1,), (0,), (2,))]


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_widths_of_numpy_pad(device, widths):
    for x in of_all_kinds(X, device):
        assert np.array_equal(elements(dmlops.padding(x, widths, value=7, device=device)), np.pad(X, widths, constant_values=7))
        assert np.array_equal(elements(reference.padding(x, widths, mode="edge")), np.pad(X, widths, "edge"))


def test_wrong_widths(device):
    for widths in (1.5, [1, 2, 3], [[1, 2], [3]], None, "12", [[1.0, 2.0]] * 3):
        with pytest.raises((TypeError, ValueError), match="padding"):
            dmlops.padding(X, widths, device=device)
    with pytest.raises(ValueError, match="start_padding"):
        dmlops.padding(X, -1, device=device)


@pytest.mark.parametrize("theirs, numpys", [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_names_of_modes(device, theirs, numpys):
    widths = ((0, 0), (5, 1), (1, 2))
    expected = np.pad(X, widths, numpys)
    for x in of_all_kinds(X, device):
        assert np.array_equal(elements(dmlops.padding(x, [0, 5, 1], [0, 1, 2], mode=theirs, device=device)), expected)
        assert np.array_equal(elements(dmlops.padding(x, widths, mode=theirs, device=device)), expected)
    assert np.array_equal(reference.padding(X, widths, mode=theirs), expected)
    fused = dmlops.fuse(lambda x: dmlops.slice(dmlops.padding(x, widths, mode=theirs), np.s_[..., ::-1]))
    assert np.array_equal(fused(X, device=device), expected[..., ::-1]) and fused.prove(X)


def test_dask_has_the_names_too():
    da = pytest.importorskip("dask.array")
    x = da.from_array(X, chunks=2)
    for theirs, numpys in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
        padded = dmlops.dask.padding(x, [0, 2, 1], [0, 1, 2], mode=theirs, device="host")
        assert np.array_equal(padded.compute(), np.pad(X, ((0, 0), (2, 1), (1, 2)), numpys))
    assert np.array_equal(dmlops.dask.padding(x, ((1, 2),), device="host").compute(), np.pad(X, ((1, 2),)))
    for key in KEYS:
        assert np.array_equal(dmlops.dask.slice(x, key, device="host").compute(), X[key])


def test_join_of_one_array(device):
    for x in (X, dmlops.asarray(X, device=device)):
        assert np.array_equal(elements(dmlops.join(x, 1, device=device)), np.concatenate(X, 1))
    with pytest.raises(np.exceptions.AxisError):
        dmlops.join(X[0, 0], 0, device=device)


def test_explain_takes_them():
    from dmlops import explain

    assert "rows" in explain.explain("padding(float32[64,64], ((0, 0), (1, 1)), mode='reflect')", "cpu-class")


# --- names ----------------------------------------------------------------------------------------------------------

NAMES = {
    "concatenate": "dmlops.join", "cat": "dmlops.join", "flip": "numpy.flip of a device array", "pad": "dmlops.padding",
    "pixel_shuffle": 'dmlops.depth_to_space with order="CRD"', "permute": "dmlops.transpose", "zeros": "dmlops.array_api.zeros",
    "depth_to_spce": "dmlops.depth_to_space", "as_array": "dmlops.asarray", "rot90": "numpy.rot90 of a device array",
    "interpolate": "dmlops.resize_nearest", "im2col": "dmlops.sliding_windows", "stack": "numpy.stack",
    "chunk": "dmlops.split", "jit": "dmlops.fuse",
}  # fmt: skip


@pytest.mark.driverless
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_not_taken(name):
    with pytest.raises(AttributeError, match=f"no attribute {name!r}; did you mean ") as caught:
        getattr(dmlops, name)
    assert NAMES[name] in str(caught.value)


@pytest.mark.driverless
def test_a_name_that_is_nobodys():
    for name in ("xyzzy", "_private", "__wrapped__"):
        with pytest.raises(AttributeError) as caught:
            getattr(dmlops, name)
        assert str(caught.value) == f"module 'dmlops' has no attribute {name!r}"


@pytest.mark.driverless
def test_what_advice_names_is_there():
    from dmlops import other_names

    for name, here in other_names._BY_NAME.items():
        for module, rest in re.findall(r"(dmlops|numpy)\.([a-z_.0-9]+)", here):
            found = {"dmlops": dmlops, "numpy": np}[module]
            for part in rest.split("."):
                found = getattr(found, part)
        assert not hasattr(dmlops, name), name


@pytest.mark.driverless
def test_subpackages_are_loaded_when_they_are_used():
    pytest.importorskip("dask.array")
    code = "import sys, dmlops\n"
    code += "late = {'dmlops.' + name for name in ('dask', 'directml', 'onnx', 'array_api', 'rearranging', 'fusion')}\n"
    code += "late |= {'einops'}\n"
    code += "assert not late & set(sys.modules), late & set(sys.modules)\n"
    code += "assert dmlops.directml.validate and dmlops.dask.slice and 'dmlops.dask' in sys.modules"
    run_python(code)


# --- what is said ---------------------------------------------------------------------------------------------------


def test_dask_and_zarr_arrays_are_not_loaded(device):
    da = pytest.importorskip("dask.array")
    zarr = pytest.importorskip("zarr")
    for lazy, load in ((da.from_array(X), r"\.compute\(\)"), (zarr.array(X), r"\[\.\.\.\]")):
        with pytest.raises(TypeError, match=rf"^input must be an array in memory.*dmlops\.dask.*input{load} loads all"):
            dmlops.tile(lazy, [1, 1, 2], device=device)
        with pytest.raises(TypeError, match=rf"^inputs\[1\] must be an array in memory.*dmlops\.dask"):
            dmlops.join([X, lazy], 0, device=device)
        assert dmlops.asarray(lazy, device=device).shape == X.shape  # as asked


def test_ragged_lists(device):
    for call in (
        lambda: dmlops.tile([[1, 2], [3]], [1, 1], device=device), lambda: dmlops.asarray([[1, 2], [3]], device=device),
        lambda: dmlops.rearrange([[1, 2], [3]], "a b -> b a", device=device),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="pad them to one shape first"):
            call()


@pytest.mark.driverless
@pytest.mark.needs_variables
def test_no_device():
    """The command that looks for drivers is named where there is none."""
    env = {"VK_DRIVER_FILES": os.devnull, "VK_ICD_FILENAMES": None, "DMLOPS_DEVICE": None}
    code = "import dmlops, sys\nfor device in (None, 0, 'gpu'):\n try: dmlops.empty(3, device=device)\n"
    code += " except dmlops.NoDeviceError as error: assert 'python -m dmlops' in str(error), error\n else: sys.exit('no error')"
    run_python(code, env=env)


def test_no_gpu():
    if any(one.type in ("discrete", "integrated", "virtual") for one in dmlops.devices()):
        pytest.skip("there is a GPU")
    for name in ("gpu", "discrete"):
        with pytest.raises((ValueError, dmlops.NoDeviceError), match="python -m dmlops"):
            dmlops.empty(3, device=name)
