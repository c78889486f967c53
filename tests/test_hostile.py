"""Arguments that lie, raise, change while they are looked at, or call the library again; drivers that are none."""

import json
import os
import sys
import threading

import dmlops
import numpy as np
import pytest

import faults
import support

pytestmark = pytest.mark.slow

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
X = np.arange(24, dtype=np.int32).reshape(4, 6)


class Arrays:
    """`__array__` as somebody means it."""

    def __init__(self, function):
        self.function = function

    def __array__(self, dtype=None, copy=None):
        return self.function()


class Index:
    """An int that does something first."""

    def __init__(self, value, function):
        self.value, self.function = value, function

    def __index__(self):
        self.function()
        return self.value


class Number(int):
    """An int that does something when it is compared."""

    def __new__(cls, value, function):
        self = super().__new__(cls, value)
        self.function = function
        return self

    def __eq__(self, other):
        self.function()
        return int(self) == other

    __hash__ = int.__hash__


class Mine(Exception):
    pass


def raises():
    raise Mine


@pytest.mark.parametrize("wrong", [None, 5, "text", [1, 2], b"bytes"])
def test_array_that_returns_none(wrong, device):
    with pytest.raises((TypeError, ValueError)):
        dmlops.slice(Arrays(lambda: wrong), [0, 0], [4, 6], device=device)
    with pytest.raises((TypeError, ValueError)):
        dmlops.reverse_subsequences(X, Arrays(lambda: wrong), 1, device=device)


def test_what_raises_raises_its_own(device):
    out = np.full_like(X, 7)
    for call in (
        lambda: dmlops.slice(Arrays(raises), [0, 0], [4, 6], out=out, device=device),
        lambda: dmlops.slice(X, [0, Index(0, raises)], [4, 6], out=out, device=device),
        lambda: dmlops.slice(X, (raises() for _ in range(2)), [4, 6], out=out, device=device),
        lambda: dmlops.reverse_subsequences(X, Arrays(raises), 1, out=out, device=device),
        lambda: dmlops.reverse_subsequences(X, [[Index(1, raises)]] * 4, 1, out=out, device=device),
        lambda: dmlops.reverse_subsequences(X, np.ones((4, 1), int), Index(1, raises), out=out, device=device),
        lambda: dmlops.space_to_depth(X, (2, Index(2, raises)), out=out, device=device),
        lambda: dmlops.slice(X, [0, 0], [4, 6], out=out, device=Index(0, raises)),
        lambda: dmlops.padding(X, [0, Index(0, raises)], [0, 0], out=out, device=device),
        lambda: dmlops.padding(X, [0, 0], [0, 0], value=Number(3, raises), out=out, device=device),
        lambda: dmlops.tile(X, (raises() for _ in range(2)), out=out, device=device),
        lambda: dmlops.join([X, Arrays(raises)], 0, out=out, device=device),
        lambda: dmlops.join((raises() for _ in range(2)), 0, out=out, device=device),
        lambda: dmlops.join([X], Index(0, raises), out=out, device=device),
        lambda: dmlops.split(X, 0, [Index(4, raises)], out=[out], device=device),
        lambda: dmlops.transpose(X, [0, Index(1, raises)], out=out, device=device),
        lambda: dmlops.upsample(X, [Index(1, raises)], out=out, device=device),
        lambda: dmlops.slice_grad(Arrays(raises), [4, 6], [0, 0], [4, 6], out=out, device=device),
        lambda: dmlops.slice_grad(X, [4, Index(6, raises)], [0, 0], [4, 6], out=out, device=device),
    ):
        with pytest.raises(Mine):
            call()
    assert (out == 7).all()


def test_what_calls_the_library_again(device):
    def again():
        assert dmlops.slice(X, [0, 0], [4, 6], [-1, 1], device=device).tolist() == X[::-1].tolist()
        return X

    result = dmlops.slice(Arrays(again), [Index(0, again), 0], [4, Index(6, again)], [1, -1], device=device)
    assert result.tolist() == X[:, ::-1].tolist()
    lengths = [[Index(6, again)]] * 4
    assert dmlops.reverse_subsequences(X, lengths, Index(1, again), device=device).tolist() == X[:, ::-1].tolist()


def test_an_index_that_shrinks_the_input(device):
    """The rules are checked against what the array is when no more Python runs: an error, and no read beyond it."""
    x = np.arange(100_000, dtype=np.int32).reshape(100, 1000).copy()
    with pytest.raises(ValueError, match="offsets|sizes"):
        dmlops.slice(x, [0, Index(0, lambda: x.resize((4, 6), refcheck=False))], [100, 1000], device=device)
    assert x.shape == (4, 6)
    x = np.arange(100_000, dtype=np.int32).reshape(100, 1000).copy()
    result = dmlops.slice(x, [0, Index(0, lambda: x.resize((100, 900), refcheck=False))], [100, 900], device=device)
    assert np.array_equal(result, np.arange(90_000).reshape(100, 900))


def test_an_index_that_changes_the_shape_or_the_strides(device):
    x = np.arange(24, dtype=np.int32).reshape(4, 6).copy()

    def change():
        x.shape = (6, 4)

    result = dmlops.slice(x, [0, 0], [Index(6, change), 4], [-1, 1], device=device)
    assert result.tolist() == np.arange(24).reshape(6, 4)[::-1].tolist()
    with pytest.raises(ValueError):
        dmlops.slice(x, [0, 0], [6, Index(4, lambda: x.resize((3,), refcheck=False))], device=device)


def test_an_index_that_changes_out(device):
    out = np.zeros((4, 6), np.int32)
    with pytest.raises(ValueError, match="out"):
        dmlops.slice(X, [0, 0], [4, Index(6, lambda: out.resize((1, 1), refcheck=False))], out=out, device=device)
    out = np.zeros((4, 6), np.int32)

    def freeze():
        out.flags.writeable = False

    with pytest.raises(ValueError, match="read-only"):
        dmlops.slice(X, [0, 0], [4, Index(6, freeze)], out=out, device=device)
    assert not out.any()


def test_an_index_that_changes_the_lengths(device):
    lengths = np.full((4, 1), 6)

    def shorten():
        lengths[:] = 0

    result = dmlops.reverse_subsequences(X, lengths, Index(1, shorten), device=device)
    assert result.tolist() == X.tolist()
    with pytest.raises(ValueError, match="sequence_lengths"):
        dmlops.reverse_subsequences(X, lengths, Index(1, lambda: lengths.resize((1, 1, 9), refcheck=False)), device=device)


def test_a_list_that_grows_while_it_is_read(device):
    sizes = [4]
    sizes.append(Index(6, lambda: sizes.extend([1] * 1000)))
    assert dmlops.slice(X, [0, 0], sizes, device=device).tolist() == X.tolist()


def test_an_array_that_shrinks_another_one_of_the_list(device):
    x = np.arange(100_000, dtype=np.int32).reshape(100, 1000).copy()
    result = dmlops.join([x, Arrays(lambda: x.resize((4, 6), refcheck=False) or X)], 0, device=device)
    assert result.tolist() == np.concatenate([X, X]).tolist()
    x = np.arange(100_000, dtype=np.int32).reshape(100, 1000).copy()
    with pytest.raises(ValueError, match="inputs"):
        dmlops.join([x, Arrays(lambda: x.resize((3, 5), refcheck=False) or X)], 0, device=device)
    x = np.arange(100_000, dtype=np.int32).reshape(100, 1000).copy()
    with pytest.raises(ValueError, match="output_axis_sizes"):
        dmlops.split(x, 0, [50, Index(50, lambda: x.resize((4, 6), refcheck=False))], device=device)


def test_a_list_of_arrays_that_changes_while_it_is_read(device):
    """The arrays are those that were in it at first."""
    inputs = [X]
    inputs += [Arrays(lambda: inputs.clear() or X), X]
    assert dmlops.join(inputs, 0, device=device).tolist() == np.concatenate([X, X, X]).tolist()
    inputs = [X]
    inputs += [Arrays(lambda: inputs.extend([X] * 1000) or X)]
    assert dmlops.join(inputs, 0, device=device).tolist() == np.concatenate([X, X]).tolist()
    dtype = np.dtype([("a", "i4"), ("b", "i4")])
    x, y = np.zeros(8, "V8"), np.zeros(8, "V8")
    with pytest.raises(TypeError, match="inputs"):
        dmlops.join([x, Arrays(lambda: setattr(x, "dtype", dtype) or y)], 0, device=device)


def test_a_list_of_results_that_changes_while_it_is_used(device):
    outs = [np.zeros((4, 2), np.int32), np.zeros((4, 4), np.int32)]
    kept = list(outs)

    def clear():
        outs.clear()
        outs.extend([None] * 1000)

    try:
        result = dmlops.split(X, 1, [2, Index(4, clear)], out=outs, device=device)
    except (TypeError, ValueError) as error:
        assert "out" in str(error) and not kept[0].any() and not kept[1].any()
    else:
        assert all(part is out for part, out in zip(result, kept, strict=True))
        assert [part.tolist() for part in kept] == [X[:, :2].tolist(), X[:, 2:].tolist()]
    outs = [np.zeros((4, 2), np.int32), np.zeros((4, 4), np.int32)]
    with pytest.raises(ValueError, match="out"):
        dmlops.split(X, 1, [2, Index(4, lambda: outs[1].resize((1, 1), refcheck=False))], out=outs, device=device)
    assert not outs[0].any()


def test_a_value_that_changes_the_input(device):
    x = np.arange(4_000_000, dtype=np.int32).reshape(1000, 4000).copy()
    result = dmlops.padding(x, [1, 0], [0, 2], value=Number(3, lambda: x.resize((4, 6), refcheck=False)), device=device)
    assert result.tolist() == np.pad(x, ((1, 0), (0, 2)), constant_values=3).tolist() and x.shape == (4, 6)
    x = np.arange(24, dtype=np.int32).reshape(4, 6).copy()
    with pytest.raises(TypeError, match="input has changed its dtype from int32 to .V4"):
        dmlops.padding(x, [1, 0], [0, 2], value=Number(3, lambda: setattr(x, "dtype", "V4")), device=device)


def test_an_endless_sequence(device):
    def counted():
        for _ in range(100_000):
            yield 0

    with pytest.raises(ValueError, match="100000"):
        dmlops.slice(X, counted(), [4, 6], device=device)


@pytest.mark.posix
def test_another_thread_cannot_resize_what_a_call_uses(library):
    """A call holds its arrays, and NumPy does not resize what somebody holds."""
    support.run_python(
        """
import dmlops, faults, numpy as np, threading
from dmlops import _core
layer = faults.Layer()
x, out = np.arange(100_000, dtype=np.int32), np.empty(100_000, np.int32)
def call():
    dmlops.slice(x, [0], [100_000], [-1], out=out)
call()
before = sum(_core._counts(None))
layer.slow(faults.NEVER)  # the call goes on until it was tried
thread = threading.Thread(target=call)
thread.start()
while sum(_core._counts(None)) == before:
    pass
for name in ("x", "out"):
    try:
        globals()[name].resize(10)
    except ValueError:
        continue
    raise SystemExit("resized in the middle of a call")
layer.slow(0)
thread.join()
assert np.array_equal(out, x[::-1])
for name in ("x", "out"):
    globals()[name].resize(10)  # nobody holds it any more
""",
        env=faults.environment(library),
    )


def test_finalizers_that_set_context_variables():
    """A collection while a result is allocated: Python 3.11 would go on with the variables that the finalizer has replaced."""
    support.run_python("""
import gc, dmlops, numpy as np
a = dmlops.asarray(np.zeros(1 << 17, np.uint8), device="host")
lists = []
class Sets:
    def __init__(self):
        self.itself = self
    def __del__(self):
        with np.errstate(all="ignore"):
            lists.extend([] for _ in range(100))  # where the variables were
for threshold in range(1, 20):
    gc.disable()
    gc.collect()
    Sets()
    gc.set_threshold(threshold)
    gc.enable()
    assert a.numpy().size == 1 << 17
    assert gc.isenabled()
gc.disable()
a.numpy()
assert not gc.isenabled() and len(lists) >= 1800
""")


def test_memory_maps(tmp_path, device):
    data = np.random.default_rng(1).integers(0, 256, (300, 1001), np.uint8)
    data.tofile(tmp_path / "data")
    read = np.memmap(tmp_path / "data", np.uint8, "r", shape=data.shape)
    result = dmlops.slice(read, [0, 1], [300, 1000], [-1, 1], device=device)
    assert type(result) is np.ndarray and np.array_equal(result, data[::-1, 1:])
    with pytest.raises(ValueError, match="read-only"):
        dmlops.slice(data, [0, 0], [300, 1001], out=read, device=device)
    write = np.memmap(tmp_path / "data", np.uint8, "r+", shape=data.shape)
    dmlops.slice(data, [0, 0], [300, 1001], [1, -1], out=write, device=device)
    write.flush()
    assert np.array_equal(np.fromfile(tmp_path / "data", np.uint8).reshape(data.shape), data[:, ::-1])
    private = np.memmap(tmp_path / "data", np.uint8, "c", shape=data.shape)
    dmlops.slice(data, [0, 0], [300, 1001], out=private, device=device)
    assert np.array_equal(private, data) and np.array_equal(read, data[:, ::-1])


def test_memory_of_other_owners(device):
    source = bytes(range(200)) * 400
    x = np.frombuffer(source, np.uint8).reshape(200, 400)
    assert np.array_equal(dmlops.slice(x, [0, 0], [200, 400], [1, -1], device=device), x[:, ::-1])
    target = bytearray(80_000)
    out = np.frombuffer(target, np.uint8).reshape(200, 400)
    dmlops.slice(x, [0, 0], [200, 400], [-1, 1], out=out, device=device)
    assert bytes(target) == x[::-1].tobytes()


def test_the_same_out_from_several_threads_at_once(device):
    """Whose bytes win is open; that the process lives is not."""
    out = np.zeros((200, 3000), np.uint8)
    ones = np.ones_like(out)

    def work():
        for _ in range(20):
            dmlops.slice(ones, [0, 0], [200, 3000], [1, -1], out=out, device=device)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert (out == 1).all()


# --- drivers that are none --------------------------------------------------------------------------------------

MANIFEST = {"file_format_version": "1.0.0", "ICD": {"library_path": "", "api_version": "1.2.0"}}
NO_DRIVER = """
import dmlops
assert [device.name for device in dmlops.devices()] == ["host"]
for _ in range(3):
    try:
        dmlops.slice([1, 2], [0], [2])
    except dmlops.NoDeviceError as error:
        assert "mesa-vulkan-drivers" in str(error), error
    else:
        raise SystemExit("ran without a driver")
assert dmlops.slice([1, 2], [0], [2], [-1], device="host").tolist() == [2, 1]
"""


@pytest.mark.posix
@pytest.mark.parametrize("what", ["no text", "no JSON", "no driver in it", "no such library", "no driver", "a folder"])
def test_a_corrupt_driver(what, tmp_path):
    icd = tmp_path / "icd.json"
    if what == "a folder":
        icd.mkdir()
    elif what == "no text":
        icd.write_bytes(bytes(range(256)))
    elif what == "no JSON":
        icd.write_text(json.dumps(MANIFEST)[:-5])
    elif what == "no driver in it":
        icd.write_text("{}")
    else:
        (tmp_path / "empty.c").write_text("int nothing;\n")
        library = tmp_path / "empty.so"
        if what == "no driver":
            support.compile_c(["-shared", "-fPIC", "-o", library, tmp_path / "empty.c"])
        icd.write_text(json.dumps({**MANIFEST, "ICD": {**MANIFEST["ICD"], "library_path": str(library)}}))
    support.run_python(NO_DRIVER, env={**support.NO_VULKAN, "VK_DRIVER_FILES": icd, "VK_ICD_FILENAMES": icd})


def test_a_driver_that_is_installed_later(tmp_path):
    """Nobody has to start Python anew."""
    icd, driver = tmp_path / "icd.json", tmp_path / "driver.json"
    support.copy_manifest(driver)
    support.run_python(
        f"""
import os, dmlops
assert len(dmlops.devices()) == 1
os.symlink({str(driver)!r}, {str(icd)!r})
assert dmlops.slice([1, 2], [0], [2], [-1]).tolist() == [2, 1]
assert len(dmlops.devices()) > 1
""",
        env={"VK_DRIVER_FILES": icd, "VK_ICD_FILENAMES": icd, "DMLOPS_DEVICE": None},
    )


def test_lengths_that_another_thread_changes():
    """What was no length when it was looked at is named as it was then, and nothing beyond the lengths is read."""
    n, stop = 1 << 16, threading.Event()
    x, lengths = np.zeros((n, 1), np.uint8), np.zeros(n, np.int64)

    def change():
        while not stop.is_set():
            lengths[:] = -1
            lengths[:] = 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(4_000 if SANITIZED else 20_000):  # the sanitizers see every read that is beyond the lengths
            try:
                dmlops.reverse_subsequences(x, lengths, 1, batch_axis=0, device="host")
            except ValueError as error:
                assert "] is -1;" in str(error)
    finally:
        stop.set()
        thread.join()


# One thread gives an array other shapes and dtypes while another one's calls have it. Each call sees one of them from its
# beginning to its end.
CHANGING = """
import dmlops, numpy as np, sys, threading, time
what = sys.argv[1]
sys.setswitchinterval(1e-5)
behind = np.full(1_000_000, 77.0)
x = behind[:4000].reshape(4, 1000)
x[:] = 1
y, out = np.zeros((1, 100), "V8"), np.zeros((4, 1000))
dtypes = [np.dtype([(f"a{i}", "i4"), ("b", "i4")]).descr for i in range(7)]
if what == "out_before_input":
    out = x.view()
def reshape():
    out.shape = (4000, 1) if what == "out" else (1, 4000)
    for _ in range(300):
        pass
    out.shape = (4, 1000)
    for _ in range(300):
        pass
def retype():
    for descr in dtypes:
        y.dtype = np.dtype(descr)
change, call = {
    "out": (reshape, lambda: dmlops.slice(x, (0, 0), (4, 1000), out=out)),
    "out_before_input": (reshape, lambda: dmlops.slice(x, (0, 0), (4, 1000), out=out)),
    "input": (retype, lambda: repr(dmlops.slice(y, (0, 0), (1, 100)).dtype)),
    "upload": (retype, lambda: repr(dmlops.asarray(y).dtype)),
    "message": (retype, lambda: dmlops.slice(x, (0, 0), (1, 100), out=y)),
}[what]
stop = False
def work():
    while not stop:
        change()
thread = threading.Thread(target=work)
thread.start()
end = time.monotonic() + 2
while time.monotonic() < end:
    try:
        call()
    except ValueError:
        pass
    if (out == 77).any() or (behind[4000:] != 77).any():
        print("beyond the array")
        break
stop = True
thread.join()
"""


@pytest.mark.parametrize("what", ["out", "out_before_input", "input", "upload", "message"])
def test_arrays_that_another_thread_changes(what, vulkan):
    assert support.run_python("", args=("-c", CHANGING, what)).stdout == ""


def test_a_capsule_is_taken_once(device):
    """By whoever comes first: the other finds it used, and the producer hears of one."""
    for _ in range(10):
        x = np.ones(1 << 20)
        references = sys.getrefcount(x)
        capsule, barrier, found = x.__dlpack__(), threading.Barrier(2), []

        class Producer:
            def __dlpack_device__(self):
                return 1, 0

            def __dlpack__(self, **options):
                barrier.wait()  # noqa: B023
                return capsule  # noqa: B023

        def take():
            try:
                found.append(dmlops.from_dlpack(Producer(), device=device).shape)  # noqa: B023
            except TypeError as error:
                found.append(str(error))  # noqa: B023

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, found)) == ["(1048576,)", "__dlpack__ must give a fresh DLPack capsule"]
        del capsule
        assert sys.getrefcount(x) == references
