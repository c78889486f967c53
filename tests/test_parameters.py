"""Fused functions whose floats and small arrays are other ones in each call: what decides about tables alone is not traced."""

import numbers

import dmlops
import numpy as np
import pytest
from dmlops.fusion import parameters

from strategies import content
from support import counted

X = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
MEANS = np.random.default_rng(1).random((6, 3), np.float32)


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and content(one) == content(other)


def norm(image, mean, std):
    x = np.moveaxis(image[1:-1, ::-1], -1, 0) / np.float32(255)
    return (x - mean.reshape(3, 1, 1)) / std[:, None, None]


TABLES = {
    "mean and std": (norm, [(mean, mean[::-1] + 1) for mean in MEANS]),
    "computed": (lambda x, m: x * (1 / np.sqrt(m * m + 1)), [(mean,) for mean in MEANS]),
    "of one axis": (lambda x, m: x.astype(np.float32) - m.mean(), [(mean,) for mean in MEANS]),
    "a float": (lambda x, k: x * k, [(float(k),) for k in MEANS[:, 0]]),
    "a float of floats": (lambda x, k: x.astype(np.float32) * k - 1 / k, [(float(k),) for k in MEANS[:, 0]]),
    "of NumPy": (lambda x, k: np.clip(x / k, 0, 9), [(k,) for k in MEANS[:, 0]]),
    "in a dict": (lambda x, of: (x - of["mean"]) / of["by"], [({"mean": mean, "by": float(mean[0])},) for mean in MEANS]),
    "where": (lambda x, m: np.where(x > 10, x, m), [(mean.astype(np.float64),) for mean in MEANS]),
    "map behind a movement": (lambda x, m: np.roll(x - m, 2, 0)[..., ::-1] * m[::-1], [(mean,) for mean in MEANS]),
    "of chosen ones": (lambda x, m, i: x[i] - m, [(mean, np.arange(40) % 5) for mean in MEANS]),
}


@pytest.mark.parametrize("name", TABLES)
def test_other_values_are_not_traced(device, name):
    function, calls = TABLES[name]
    fused, traced = counted(function)
    for args in calls:
        assert same(fused(X, *args, device=device), function(X, *args))
    assert len(traced) <= 6, "traces with two values, with parameters, and what is refused"
    before = len(traced)
    assert fused.prove(X, *calls[-1]) and len(traced) > before
    assert fused.explain(X, *calls[-2], device="host").passes == 1
    for args in calls:  # they are kept
        assert same(fused(X, *args, device=device), function(X, *args))


def by_value(x, k):
    return x * k if k > 0.5 else x - k


def by_number(x, k):
    return x * np.float32(k)


def by_type(x, k):
    return x * k if isinstance(k, float) else x


def by_count(x, m):
    return x.astype(np.float32) - np.unique(m)[0]


def with_a_fill(x, m):
    return np.concatenate([x, np.full_like(x, m[0])])


def empty(x, m):
    return x[:0] - m


def returned(x, m):
    return {"image": x - m, "first": float(m[0])}


def returned_as_it_is(x, m):
    return [x - m, m]


@pytest.mark.parametrize("function, of", [
    (by_value, float), (by_number, float), (by_type, float), (by_count, None), (with_a_fill, None), (returned, None),
    (returned_as_it_is, None), (empty, None),
])  # fmt: skip
def test_each_value_is_traced_where_it_decides_about_more(device, function, of):
    fused, traced = counted(function)
    for mean in np.concatenate([MEANS, MEANS + 1, np.zeros((1, 3), np.float32), 10 * MEANS]):
        argument = mean if of is None else of(mean[0])
        found, expected = fused(X, argument, device=device), function(X, argument)
        if isinstance(expected, np.ndarray):
            assert same(found, expected)
        elif isinstance(expected, dict):
            assert same(found["image"], expected["image"]) and found["first"] == expected["first"]
        else:
            assert all(map(same, found, expected))


def typed(x, k):
    if isinstance(k, (float, np.floating)) and k > 10:
        k = 10.0
    return x * k


def typed_exactly(x, k):
    return x * (min(k, 10.0) if type(k) is float else k)


def typed_abstractly(x, k):
    return x * (min(k, 10.0) if isinstance(k, numbers.Real) else k)


def typed_by_numpy(x, k):
    return x * (min(k, 10.0) if np.isscalar(k) else k)


def typed_by_a_helper(x, k):
    return typed_exactly(x, k)


def matched(x, k):
    match k:
        case float():
            return x * min(k, 10.0)
    return x * k


def known_by_attribute(x, k):
    return x * (k if hasattr(k, "shape") or not hasattr(k, "is_integer") else min(k, 10.0))


def known_by_value(x, k):
    return x * {20.0: 1.0}.get(k, k)


def known_by_text(x, k):
    return x * {"20.0": 1.0}.get(str(k), k)


def tried(x, k):
    try:
        is_large = k > 10
    except Exception:
        is_large = False
    return x * 10.0 if is_large else x * k


@pytest.mark.driverless
@pytest.mark.parametrize("function", [
    typed, typed_exactly, typed_abstractly, typed_by_numpy, typed_by_a_helper, matched, known_by_attribute, known_by_value,
    known_by_text, tried,
])  # fmt: skip
def test_a_function_that_asks_what_a_parameter_is_is_traced_with_each(function):
    """Two values that go one way do not show what a third one does."""
    fused = dmlops.fuse(function)
    for k in (1.0, 2.0, 20.0, 3.0):
        assert same(fused(X, k, device="host"), function(X, k))
        assert fused.prove(X, k)


@pytest.mark.driverless
def test_another_shape_is_another_template():
    fused, traced = counted(norm)
    for size in (5, 6):
        for mean in MEANS:
            image = np.resize(X, (size, 7, 3))
            assert same(fused(image, mean, mean + 1, device="host"), norm(image, mean, mean + 1))
    fused, traced = counted(lambda x, k: x * k)
    for k in (0.5, np.float32(0.5), 2, 0.25, np.float32(0.25), 3, 0.75, np.float32(0.75), 4, -0.0, np.float32("nan")):
        assert same(fused(X, k, device="host"), X * k)


@pytest.mark.driverless
def test_errors_are_those_of_the_function():
    fused, _ = counted(lambda x, k: x * (1 / k))
    for k in (0.5, 0.25, 0.125):
        fused(X, k, device="host")
    with pytest.raises(ZeroDivisionError):
        fused(X, 0.0, device="host")


@pytest.mark.driverless
def test_arrays_that_change_later():
    fused, traced = counted(norm)
    mean, std = MEANS[0].copy(), MEANS[1] + 1
    for k in range(6):
        mean += np.float32(k)
        assert same(fused(X, mean, std, device="host"), norm(X, mean, std))
    assert len(traced) <= 6


@pytest.mark.driverless
def test_a_wrong_template_is_found_out(monkeypatch):
    fused, _ = counted(norm)
    for mean in MEANS[:3]:
        fused(X, mean, mean, device="host")
    real = parameters.Template.program
    monkeypatch.setattr(parameters.Template, "program", lambda self, values: real(self, [value + 1 for value in values]))
    mean = MEANS[4]  # one array, as above
    fused(X, mean, mean, device="host")
    with pytest.raises(AssertionError, match="another program"):
        fused.prove(X, mean, mean)
