"""The functions of dmlops.array_api give what array-api-strict gives, with the same arguments."""

import inspect
import math

import dmlops
import numpy as np
import pytest
from dmlops import _core

strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed", exc_type=ImportError)

X = np.arange(24, dtype=np.int16).reshape(2, 3, 4)

CALLS = {
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, x[:1, :, :], xp.reshape(x, (2, 1, 3, 4))),
    "broadcast_shapes": lambda xp, x: xp.broadcast_shapes((3, 1), (1, 4), (2, 1, 1)),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x[:, :1, :], (5, 2, 3, 4)),
    "concat": lambda xp, x: xp.concat([x, x[:, :1, :], x[:, :0, :]], axis=1),
    "concat flat": lambda xp, x: xp.concat((x, x[0, :, :]), axis=None),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=-2),
    "flip": lambda xp, x: xp.flip(x),
    "flip axes": lambda xp, x: xp.flip(x, axis=(0, -1)),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "mT": lambda xp, x: x.mT,
    "moveaxis": lambda xp, x: xp.moveaxis(x, (0, 1), (-1, 0)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "repeat": lambda xp, x: xp.repeat(x, 2),
    "repeat axis": lambda xp, x: xp.repeat(x, 3, axis=-1),
    "reshape": lambda xp, x: xp.reshape(x, (4, -1)),
    "reshape what is no view": lambda xp, x: xp.reshape(xp.permute_dims(x, (2, 0, 1)), (24,)),
    "reshape by a copy": lambda xp, x: xp.reshape(x, (24,), copy=True),
    "roll": lambda xp, x: xp.roll(x, 5),
    "roll axes": lambda xp, x: xp.roll(x, (1, -1), axis=(0, 2)),
    "squeeze": lambda xp, x: xp.squeeze(x[:1, :, :], axis=0),
    "stack": lambda xp, x: xp.stack([x, xp.flip(x)], axis=-1),
    "tile": lambda xp, x: xp.tile(x, (2, 1, 1, 3)),
    "unstack": lambda xp, x: xp.unstack(x, axis=1),
    "arange": lambda xp, x: xp.arange(3),
    "arange steps": lambda xp, x: xp.arange(1, 7, 2, dtype=xp.float32),
    "arange floats": lambda xp, x: xp.arange(0.0, 1.0, 0.25),
    "asarray": lambda xp, x: xp.asarray([[1, 2], [3, 4]], dtype=xp.uint8),
    "asarray copy": lambda xp, x: xp.asarray(x, copy=True),
    "astype": lambda xp, x: xp.astype(x, x.dtype),
    "eye": lambda xp, x: xp.eye(3, 4, k=1),
    "full": lambda xp, x: xp.full((2, 3), 7),
    "full bool": lambda xp, x: xp.full((2,), True),
    "full float": lambda xp, x: xp.full((), 1.5),
    "full dtype": lambda xp, x: xp.full(3, 2, dtype=xp.complex64),
    "full_like": lambda xp, x: xp.full_like(x, 3),
    "full_like dtype": lambda xp, x: xp.full_like(x, 3, dtype=xp.float32),
    "linspace": lambda xp, x: xp.linspace(0, 1, 5, endpoint=False, dtype=xp.float32),
    "meshgrid": lambda xp, x: xp.meshgrid(x[0, 0, :], x[0, :, 0], x[:, 0, 0]),
    "meshgrid ij": lambda xp, x: xp.meshgrid(x[0, 0, :], x[0, :, 0], indexing="ij"),
    "ones": lambda xp, x: xp.ones((2, 3)),
    "ones_like": lambda xp, x: xp.ones_like(x),
    "zeros": lambda xp, x: xp.zeros(4, dtype=xp.bool),
    "zeros_like": lambda xp, x: xp.zeros_like(x, dtype=xp.int8),
    "to_device": lambda xp, x: x.to_device(x.device),
    "T": lambda xp, x: x[0, :, :].T,
}
NO_VALUES = {
    "empty": lambda xp, x: xp.empty((2, 3)),
    "empty dtype": lambda xp, x: xp.empty(5, dtype=xp.int32),
    "empty_like": lambda xp, x: xp.empty_like(x),
    "empty_like dtype": lambda xp, x: xp.empty_like(x, dtype=xp.float32),
}
ERRORS = {
    "concat": lambda xp, x: xp.concat([x, x[:, :, :1]]),
    "concat axis": lambda xp, x: xp.concat([x, x], axis=3),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, 3)),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=5),
    "reshape": lambda xp, x: xp.reshape(x, (5, 5)),
    "squeeze": lambda xp, x: xp.squeeze(x, axis=0),
    "unstack": lambda xp, x: xp.unstack(x, axis=3),
    "meshgrid": lambda xp, x: xp.meshgrid(x[0, 0, :], indexing="yx"),
    "api_version": lambda xp, x: x.__array_namespace__(api_version="1.0"),
    "isdtype": lambda xp, x: xp.isdtype(x.dtype, "whole"),
    "result_type": lambda xp, x: xp.result_type(xp.int64, xp.uint64),
    "result_type kinds": lambda xp, x: xp.result_type(xp.bool, xp.int8),
    "result_type scalar": lambda xp, x: xp.result_type(xp.int8, 1.5),
    "to_device": lambda xp, x: x.to_device(x.device, stream=1),
}


def text_of(dtype):
    return str(getattr(dtype, "_np_dtype", dtype))


def told(result, values=True):
    """What is compared of a result."""
    if isinstance(result, (list, tuple)) and not all(isinstance(one, int) for one in result):
        return [told(one, values) for one in result]
    if not hasattr(result, "dtype"):
        return result
    elements = np.asarray(result) if isinstance(result, strict._array_object.Array) else result.numpy()
    return result.shape, text_of(result.dtype), *([elements.tolist()] if values else [])


needs_int64 = pytest.mark.skipif(np.array(0).dtype != np.int64, reason="NumPy 1 on Windows makes int32 of Python's int")
BY_NAME = {name: pytest.param(name, marks=needs_int64) for name in ("arange", "full")}


@pytest.mark.parametrize("name", [BY_NAME.get(name, name) for name in (*CALLS, *NO_VALUES)])
def test_results(device, name):
    call = CALLS.get(name) or NO_VALUES[name]
    a = dmlops.asarray(X, device=device)
    xp = a.__array_namespace__(api_version="2025.12")
    assert xp is dmlops.array_api and xp.__array_api_version__ == "2025.12" == strict.__array_api_version__
    result, expected = call(xp, a), call(strict, strict.asarray(X))
    assert told(result, name in CALLS) == told(expected, name in CALLS)
    assert type(result) is tuple or not isinstance(expected, tuple)


@pytest.mark.parametrize("name", ERRORS)
def test_errors(device, name):
    with pytest.raises(Exception) as expected:
        ERRORS[name](strict, strict.asarray(X))
    with pytest.raises(type(expected.value)):
        ERRORS[name](dmlops.array_api, dmlops.asarray(X, device=device))


def test_views_are_views(device):
    xp = dmlops.array_api
    calls = "expand_dims flip matrix_transpose mT moveaxis permute_dims reshape squeeze unstack".split()
    for name in calls:
        a = dmlops.asarray(X, device=device)
        result = CALLS[name](xp, a)
        (result[0] if isinstance(result, tuple) else result)[...] = -1
        assert (a.numpy() == -1).any(), name
    a = dmlops.asarray(X, device=device)
    assert xp.asarray(a) is a and a.to_device(a.device) is a and xp.broadcast_arrays(a)[0] is a
    assert xp.astype(a, a.dtype, copy=False) is a
    for call in (CALLS["reshape by a copy"], CALLS["reshape what is no view"], CALLS["astype"]):
        call(xp, a)[...] = -1
        assert np.array_equal(a.numpy(), X)
    with pytest.raises(ValueError, match="copy"):
        xp.reshape(a.T, (24,), copy=False)


def test_creation_on_a_device(device):
    xp = dmlops.array_api
    made = [xp.zeros(2, device=device), xp.ones(2, device=device), xp.full(2, 3, device=device), xp.arange(2, device=device)]
    made += [xp.empty(2, device=device), xp.eye(2, device=device), xp.linspace(0, 1, 2, device=device)]
    made += [xp.from_dlpack(np.arange(2), device=device), xp.asarray([1, 2], device=device)]
    made += [xp.zeros_like(made[0]), xp.ones_like(made[0]), xp.empty_like(made[0]), xp.full_like(made[0], 2)]
    assert {one.device for one in made} == {dmlops.asarray(0, device=device).device}
    assert xp.zeros_like(made[0], device="host").device.name == "host"


DTYPES = [name for name in dmlops.array_api.__array_namespace_info__().dtypes()]


def test_dtypes():
    xp, info, other = dmlops.array_api, dmlops.array_api.__array_namespace_info__(), strict.__array_namespace_info__()
    assert {name: text_of(one) for name, one in info.dtypes().items()} == {
        name: text_of(one) for name, one in other.dtypes().items()
    }
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]
    for kind in [*kinds, ("bool", "integral"), ()]:
        assert set(info.dtypes(kind=kind)) == set(other.dtypes(kind=kind))
        for name in DTYPES:
            assert xp.isdtype(getattr(xp, name), kind) == strict.isdtype(getattr(strict, name), kind)
    for name in DTYPES:
        one, his = getattr(xp, name), getattr(strict, name)
        for with_name in DTYPES:
            other_one, other_his = getattr(xp, with_name), getattr(strict, with_name)
            assert xp.can_cast(one, other_one) == strict.can_cast(his, other_his)
            assert xp.isdtype(one, other_one) == (name == with_name)
            assert promoted(xp, one, other_one) == promoted(strict, his, other_his)
        for scalar in (True, 1, 1.0, 1j):
            assert promoted(xp, one, scalar) == promoted(strict, his, scalar)
        limits = [kind for kind in ("finfo", "iinfo") if ("int" in name) == (kind == "iinfo") and name != "bool"]
        for kind in limits:
            ours, theirs = getattr(xp, kind)(one), getattr(strict, kind)(his)
            fields = ["bits", "max", "min"] + ["eps", "smallest_normal"] * (kind == "finfo")
            assert [getattr(ours, field) for field in fields] == [getattr(theirs, field) for field in fields]
            assert text_of(ours.dtype) == text_of(theirs.dtype)


def promoted(xp, *dtypes):
    try:
        return text_of(xp.result_type(*dtypes))
    except TypeError:
        return TypeError


def test_inspection(device):
    xp = dmlops.array_api
    info = xp.__array_namespace_info__()
    assert info.devices() == tuple(dmlops.devices()) and info.default_device() == dmlops.default_device()
    assert info.capabilities() == {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}
    defaults = strict.__array_namespace_info__().default_dtypes() | {"integral": np.array(0).dtype}  # int32: NumPy 1 on Windows
    assert {key: text_of(one) for key, one in info.default_dtypes().items()} == {
        key: text_of(one) for key, one in defaults.items()
    }
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="whole")
    a = dmlops.asarray(X, device=device)
    assert xp.result_type(a, xp.int32) == xp.int32 and xp.can_cast(a, xp.int64) and xp.iinfo(a).bits == 16
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None) and math.isnan(xp.nan)


def test_arguments_are_the_standards():
    """Names and kinds, but for those that dmlops' own functions have more of."""
    for name in dmlops.array_api.__all__:
        ours, theirs = getattr(dmlops.array_api, name), getattr(strict, name)
        if inspect.isfunction(ours):
            wanted = {
                key: one.kind for key, one in inspect.signature(theirs).parameters.items() if key not in ("type", "sparse")
            }
            got = {key: one.kind for key, one in inspect.signature(ours).parameters.items()}
            names = [key for key, kind in wanted.items() if kind is inspect.Parameter.KEYWORD_ONLY]
            assert set(names) <= set(got) and ours.__doc__, name
            positional = [key for key, kind in wanted.items() if kind is not inspect.Parameter.KEYWORD_ONLY]
            assert len(positional) == sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in got.values()) - (
                "type" in got
            ), name


def test_what_computes_is_missing(device):
    a = dmlops.asarray(X, device=device)
    for name in ("sum", "add", "where", "astypes", "_private"):
        with pytest.raises(AttributeError, match=name):
            getattr(dmlops.array_api, name)
        assert not hasattr(dmlops.array_api, name)
    for call in (
        lambda: dmlops.array_api.astype(a, np.float64),
        lambda: np.concatenate([a, dmlops.array_api.zeros(3, device=device)]),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_a_reshape_is_one_dispatch(device):
    a = dmlops.asarray(np.zeros((4, 8, 3), np.float32), device=device)
    if device == "host":
        return
    before = sum(_core._counts(device))
    dmlops.array_api.reshape(a.transpose(2, 1, 0), (3, 32)).wait()
    assert sum(_core._counts(device)) == before + 1
