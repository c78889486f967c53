"""The argument `progress`: calls in portions give the same bytes, and report truly."""

import io
import sys
import types

import dmlops
import numpy as np
import pytest
from dmlops import _core, operators, progress, reference
from hypothesis import given
from hypothesis import strategies as st

import strategies
from strategies import FEWEST, content, parts

X = np.arange(4 * 4 * 6 * 8, dtype=np.float32).reshape(4, 4, 6, 8)


class Reports(list):
    """A function for `progress`, and what it was told."""

    def __call__(self, done, total):
        self.append((done, total))

    def check(self, total):
        assert self[0] == (0, total) and self[-1] == (total, total)
        done = [report[0] for report in self]
        assert done == sorted(set(done)) and all(report[1] == total for report in self)


@pytest.fixture(autouse=True)
def portions(monkeypatch):
    """Sets the bytes of a portion."""

    def set_bytes(count):
        monkeypatch.setattr(progress, "PORTION_BYTES", count)

    set_bytes(100)
    return set_bytes


@pytest.mark.parametrize("operator", strategies.FUNCTIONS)
@given(data=st.data())
@FEWEST
def test_portions_make_the_same_result(devices, operator, data):
    call = data.draw(strategies.CALLS[operator](8))
    array = call.build()
    expected = parts(call.expected(reference, array))
    total = sum(right.nbytes for right in expected)
    # Of a byte each only where that is not thousands, which prove no more than a hundred.
    progress.PORTION_BYTES = max(data.draw(st.sampled_from([1, 7, 100, 4096])), total // 100)
    for device in devices:
        on_device = [dmlops.asarray(each, device=device) for each in parts(array)]
        for given_array in (array, on_device if isinstance(array, list) else on_device[0]):
            seen = Reports()
            result = call.run(dmlops, given_array, device=device, progress=seen)
            assert [content(np.asarray(ours)) for ours in parts(result)] == content(expected), device
            if total:
                seen.check(total)
            else:
                assert seen == []


def test_how_many_portions_there_are(device, portions):
    for size, count in ((X[0].nbytes, 4), (X[0, 0].nbytes, 16), (1, None), (X.nbytes, 1), (10 * X.nbytes, 1)):
        portions(size)
        seen = Reports()
        dmlops.slice(X, [0] * 4, X.shape, [1, 1, 1, -1], device=device, progress=seen)
        assert len(seen) == 1 + (count or X.size)


def test_one_long_run_of_bytes_is_cut(device, portions):
    portions(1000)
    seen = Reports()
    x = np.random.default_rng(0).integers(0, 256, 123_457, np.uint8)
    assert np.array_equal(dmlops.slice(x, [0], [x.size], device=device, progress=seen), x)
    seen.check(x.size)
    assert len(seen) == 1 + 124


def test_the_reversed_axis_is_not_cut(device, portions):
    portions(10)
    seen = Reports()
    x = np.random.default_rng(0).integers(0, 256, (3, 100), np.uint8)
    result = dmlops.reverse_subsequences(x, [100, 3, 50], 1, batch_axis=0, device=device, progress=seen)
    assert np.array_equal(result, reference.reverse_subsequences(x, [100, 3, 50], 1, batch_axis=0))
    assert seen == [(0, 300), (100, 300), (200, 300), (300, 300)]


def test_out_and_overlap(device, portions):
    x = np.arange(4000, dtype=np.int16).reshape(40, 100)
    buffer, seen = x.copy(), Reports()
    assert dmlops.slice(buffer, [0, 0], [40, 100], [1, -1], out=buffer, device=device, progress=seen) is buffer
    assert np.array_equal(buffer, x[:, ::-1])
    seen.check(x.nbytes)
    a = dmlops.asarray(x, device=device)
    dmlops.slice(a, [0, 0], [40, 100], [1, -1], out=a, progress=seen)
    assert np.array_equal(a.numpy(), x[:, ::-1])


def test_lengths_on_the_device(device):
    a, seen = dmlops.asarray(X, device=device), Reports()
    lengths = dmlops.asarray([-1, 3, 99, 5], device=device)
    result = dmlops.reverse_subsequences(a, lengths, 3, batch_axis=1, progress=seen)
    assert np.array_equal(result.numpy(), reference.reverse_subsequences(X, [0, 3, 8, 5], 3, batch_axis=1))
    seen.check(X.nbytes)


@pytest.mark.needs_shared_memory
def test_work_between_device_arrays(device):
    """Queued, and waited for: the bytes that are reported are there."""
    a = dmlops.asarray(np.zeros((2000, 2000), np.uint8), device=device)
    seen, out = Reports(), dmlops.asarray(np.ones((2000, 2000), np.uint8), device=device)
    dmlops.slice(a, [0, 0], [2000, 2000], [1, -1], out=out, progress=seen)
    shared = np.from_dlpack(out)
    seen.check(4_000_000)
    assert not shared.any()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("enough")])
@pytest.mark.parametrize("last", [1, 3])
def test_a_function_that_raises_ends_the_call(device, error, last):
    calls = []

    def stop(done, total):
        calls.append(done)
        if len(calls) == last:
            raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        dmlops.slice(X, [0] * 4, X.shape, device=device, progress=stop)
    assert len(calls) == last
    assert np.array_equal(dmlops.slice(X, [0] * 4, X.shape, device=device), X)


def test_a_function_that_raises_between_steps(device):
    """Of a program of many small steps, several of which are one portion."""
    calls = []

    def stop(done, total):
        calls.append(done)
        if len(calls) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        dmlops.join([X[0, 0, :2]] * 20, 0, device=device, progress=stop)
    assert calls == [0, 64, 128]


def test_the_function_may_call_dmlops(device):
    def nested(done, total):
        assert np.array_equal(dmlops.slice(X, [0] * 4, X.shape, [-1] * 4, device=device), X[::-1, ::-1, ::-1, ::-1])
        dmlops.asarray(X, device=device).wait()
        dmlops.synchronize()

    assert np.array_equal(dmlops.slice(X, [0] * 4, X.shape, device=device, progress=nested), X)


def test_arguments_are_checked_before_anything_is_reported(device):
    seen = Reports()
    with pytest.raises(ValueError):
        dmlops.depth_to_space(X, 3, device=device, progress=seen)
    with pytest.raises(ValueError, match="no such"):
        dmlops.slice(X, [0] * 4, X.shape, device="no such", progress=seen)
    assert seen == []


@pytest.mark.parametrize("wrong", [1, "yes", 0.5, object()])
def test_what_progress_must_not_be(wrong):
    with pytest.raises(TypeError, match="progress must be a bool, or a function"):
        dmlops.slice(X, [0] * 4, X.shape, device="host", progress=wrong)


def test_false_and_none_report_nothing(device):
    for nothing in (False, None):
        assert np.array_equal(dmlops.slice(X, [0] * 4, X.shape, device=device, progress=nothing), X)


@pytest.mark.parametrize("portion, error", [(0, None), (-5, None), (2**70, OverflowError), ("1", TypeError)])
def test_portions_that_are_none(portions, portion, error):
    """The extension takes what dmlops.progress gives it, and whatever else tests do."""
    portions(portion)
    if error is None:
        assert np.array_equal(dmlops.slice(X, [0] * 4, X.shape, device="host", progress=Reports()), X)
    else:
        with pytest.raises(error):
            dmlops.slice(X, [0] * 4, X.shape, device="host", progress=Reports())


@pytest.mark.parametrize("wrong", [(0,), ("host", None, 5), ("host", print)])
def test_tuples_are_no_devices(wrong):
    with pytest.raises(TypeError, match="device"):
        _core._slice(X, [0] * 4, X.shape, None, None, None, wrong, None)


# --- the bar ----------------------------------------------------------------------------------------------------


def test_without_tqdm_there_are_percentages(monkeypatch, portions):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    portions(X[0].nbytes)
    dmlops.slice(X, [0] * 4, X.shape, [-1] * 4, device="host", progress=True)
    assert sys.stderr.getvalue() == "".join(f"\rslice: {percent} %" for percent in (0, 25, 50, 75, 100)) + "\n"


def test_with_tqdm_there_is_a_bar(monkeypatch, portions):
    class Fake:
        made = []

        def __init__(self, **options):
            self.n, self.options, self.closed = 0, options, False
            self.made.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Fake))
    portions(X[0].nbytes)
    dmlops.transpose(X, (3, 2, 1, 0), device="host", progress=True)
    (bar,) = Fake.made
    assert bar.n == X.nbytes and bar.closed
    assert bar.options["total"] == X.nbytes and bar.options["desc"] == "transpose" and bar.options["unit"] == "B"


def test_the_real_tqdm(capsys, portions):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    dmlops.slice(X, [0] * 4, X.shape, [-1] * 4, device="host", progress=True)
    assert "slice: 100%" in capsys.readouterr().err


class Full(io.StringIO):
    def write(self, text):
        raise OSError(28, "No space left on device")


class Closed(io.StringIO):
    def __init__(self):
        super().__init__()
        self.close()


@pytest.mark.parametrize("stream", [lambda: None, Full, Closed], ids=["none", "full", "closed"])
@pytest.mark.parametrize("tqdm", [True, False])
def test_a_standard_error_that_takes_nothing(monkeypatch, portions, stream, tqdm):
    """Under pythonw there is none. The call goes on."""
    if not tqdm:
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", stream())
    portions(X[0].nbytes)
    result = dmlops.slice(X, [0] * 4, X.shape, [-1] * 4, device="host", progress=True)
    assert np.array_equal(result, X[::-1, ::-1, ::-1, ::-1])


def test_every_operator_has_it():
    import inspect

    for name in strategies.FUNCTIONS:
        assert inspect.signature(getattr(operators, name)).parameters["progress"].default is None
