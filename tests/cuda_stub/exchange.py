"""Device arrays to CUDA's libraries and back, by DLPack. tests/test_cuda.py runs this in a process that has the stub for CUDA.

A consumer here is what a library is to DLPack: it takes the capsule's tensor, and calls its deleter when it is done.
"""

import concurrent.futures
import ctypes
import gc

import dmlops
import numpy as np
import pytest
from dmlops import _core

import cuda_stub
import test_dlpack as dlpack

cuda_stub.play_gpu()  # before the device has a context

CPU, CUDA, VULKAN = 1, 2, 7
ORDINAL = 1  # the stub's first device is another one
USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}  # capsules refer to these bytes
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture(scope="session")
def stub():
    return cuda_stub.Stub()


@pytest.fixture(autouse=True)
def balanced(stub):
    """Whatever a test does, CUDA gets back all that it was shown, and no thread keeps a context."""
    yield
    stub.fail()
    stub.finish()
    gc.collect()
    dmlops.empty_cache()
    assert stub.alive == 0 and stub.contexts in (0, 1) and stub.queued == 0
    assert dmlops.memory_info(0).used == 0 and _core._abandoned() == 0


class Consumer:
    """What a library makes of an array of another one: its tensor, until `free`."""

    def __init__(self, array, **asked):
        capsule = array.__dlpack__(**asked)
        name = dlpack.get_name(capsule)
        structure = dlpack.inside(capsule)
        tensor = structure.tensor
        self.device = tensor.device_type, tensor.device_id
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.shape, self.strides = tuple(tensor.shape[: tensor.ndim]), tuple(tensor.strides[: tensor.ndim])
        self.flags = getattr(structure, "flags", 0)
        self.item, self.code = tensor.bits // 8, tensor.code
        self.deleter, self.structure = structure.deleter, ctypes.addressof(structure)
        set_name(capsule, USED[name])

    def free(self):
        """Without the GIL, which ctypes releases."""
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.deleter)(self.structure)

    def numpy(self, dtype):
        """The elements, as they are now: the stub's memory is the host's."""
        size = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)) + 1 if 0 not in self.shape else 0
        memory = (ctypes.c_char * (size * self.item)).from_address(self.address)
        base = np.frombuffer(memory, dtype)
        return np.lib.stride_tricks.as_strided(base, self.shape, [s * self.item for s in self.strides])


# --- out ----------------------------------------------------------------------------------------------------------------


def test_the_device_is_known_by_its_uuid():
    a = dmlops.asarray(X)
    assert a.__dlpack_device__() == (CUDA, ORDINAL)
    for version in (None, (1, 0)):
        consumer = Consumer(a, max_version=version)
        assert consumer.device == (CUDA, ORDINAL)
        consumer.free()


def test_vulkan_and_the_cpu_can_be_asked_for():
    a = dmlops.asarray(X)
    for place in ((VULKAN, a.device.index), (CPU, 0)):
        consumer = Consumer(a, dl_device=place, max_version=(1, 0))
        assert consumer.device == place and consumer.flags == (2 if place == (CPU, 0) else 0)
        consumer.free()
    assert np.array_equal(np.from_dlpack(dlpack.Producer(a, dl_device=(CPU, 0))), X)


@pytest.mark.parametrize(
    "key", [np.s_[...], np.s_[1:, ::2], np.s_[:, :, 1], np.s_[:, 1:2, 3:], np.s_[:0], np.s_[1, 2, 3]], ids=str
)
def test_elements_are_where_the_tensor_says(key):
    for dtype in (np.float32, np.uint8, np.int64, np.complex128):
        x = X.astype(dtype)
        consumer = Consumer(dmlops.asarray(x)[key])
        assert np.array_equal(consumer.numpy(dtype), x[key]) and consumer.shape == x[key].shape
        consumer.free()


@pytest.mark.parametrize("size", [1, 300, 70_000, 3_000_000])
def test_what_is_queued_is_done(size):
    x = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    a = dmlops.asarray(x)
    for _ in range(5):
        a = dmlops.slice(a, [0], [size], [-1])
    consumer = Consumer(a, stream=77)
    assert np.array_equal(consumer.numpy(np.uint8), x[::-1])
    consumer.free()


def test_small_arrays_share_what_cuda_is_shown(stub):
    before = stub.calls("cuImportExternalMemory")
    arrays = [dmlops.asarray(X[0, 0] + n) for n in range(40)]
    consumers = [Consumer(a) for a in arrays] + [Consumer(a) for a in arrays]
    assert stub.calls("cuImportExternalMemory") - before < 4
    for n, consumer in enumerate(consumers):
        assert np.array_equal(consumer.numpy(np.float32), X[0, 0] + n % 40)
        consumer.free()


def test_memory_is_shown_once(stub):
    before = stub.calls("cuImportExternalMemory")
    for n in range(10):
        a = dmlops.asarray(np.full(100_000, n, np.uint8))
        consumer = Consumer(a)
        assert (consumer.numpy(np.uint8) == n).all()
        consumer.free()
        del a
    assert stub.calls("cuImportExternalMemory") - before == 1


def test_negative_strides_are_copied():
    a = dmlops.asarray(X)
    consumer = Consumer(a[:, ::-1], max_version=(1, 0))
    assert consumer.flags == 2 and consumer.device == (CUDA, ORDINAL)
    assert np.array_equal(consumer.numpy(np.float32), X[:, ::-1])
    consumer.free()
    with pytest.raises(BufferError, match="negative strides"):
        a[:, ::-1].__dlpack__(copy=False)


def test_copies_are_copies(stub):
    a = dmlops.asarray(X)
    consumer = Consumer(a, copy=True)
    stub.fill(consumer.address, 255, X.nbytes, 1)
    assert np.array_equal(a.numpy(), X)
    consumer.free()


@pytest.mark.parametrize("stream", [None, 1, 2, 77, np.int64(5), -1])
def test_streams(stub, stream):
    a = dmlops.tile(dmlops.asarray(X), [2, 1, 1])
    consumer = Consumer(a, stream=stream)
    a.wait()  # -1: the consumer's own affair
    assert np.array_equal(consumer.numpy(np.float32), np.tile(X, [2, 1, 1]))
    consumer.free()


@pytest.mark.parametrize(
    "asked, error, words",
    [
        ({"stream": 0}, BufferError, "stream must not be 0"),
        ({"stream": "1"}, TypeError, "str"),
        ({"stream": 1, "dl_device": (CPU, 0)}, BufferError, "stream must be None"),
        ({"stream": 1, "dl_device": (VULKAN, 0)}, BufferError, "stream must be None"),
        ({"dl_device": (CUDA, 0)}, BufferError, "dl_device"),
        ({"dl_device": (CUDA, -1)}, BufferError, "dl_device"),
    ],
    ids=str,
)
def test_what_is_refused(asked, error, words):
    with pytest.raises(error, match=words):
        dmlops.asarray(X).__dlpack__(**asked)


def test_capsules_that_nobody_takes():
    a = dmlops.asarray(X)
    for version in (None, (1, 0)):
        a.__dlpack__(max_version=version)


# --- back ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", ["operator", "download", "assign", "wait", "lend", "lengths"])
def test_what_streams_do_is_waited_for(stub, use):
    """The kernel runs on some stream, and only once it is waited for: what is next sees its bytes."""
    a = dmlops.asarray(np.full((4, 64), 5, np.int32))
    consumer = Consumer(a, stream=77)
    stub.fill(consumer.address, 1, a.nbytes, 78)
    ones = np.full((4, 64), 0x01010101, np.int32)
    if use == "operator":
        assert np.array_equal(dmlops.tile(a, [1, 2]).numpy(), np.tile(ones, [1, 2]))
    elif use == "download":
        assert np.array_equal(a.numpy(), ones)
    elif use == "assign":
        a[0] = 7
        ones[0] = 7
        assert np.array_equal(a.numpy(), ones)
    elif use == "wait":
        a.wait()
        assert np.array_equal(consumer.numpy(np.int32), ones)
    elif use == "lend":
        other = Consumer(a, stream=5)
        assert np.array_equal(other.numpy(np.int32), ones)
        other.free()
    else:
        stub.fill(consumer.address, 0, a.nbytes, 79)
        x = np.arange(4 * 64 * 9).reshape(4, 64, 9)
        assert np.array_equal(dmlops.reverse_subsequences(dmlops.asarray(x), a[..., None], 2).numpy(), x)
    assert stub.queued == 0
    consumer.free()


def test_it_is_waited_for_until_it_is_returned(stub):
    a = dmlops.asarray(np.zeros(1000, np.uint8))
    consumer = Consumer(a)
    for n in range(1, 4):
        stub.fill(consumer.address, n, a.nbytes, n)
        assert (a.numpy() == n).all()
    stub.fill(consumer.address, 9, a.nbytes, 3)
    consumer.free()
    assert (a.numpy() == 9).all()
    calls = stub.calls("cuCtxSynchronize")
    assert (a.numpy() == 9).all() and stub.calls("cuCtxSynchronize") == calls


@pytest.mark.parametrize("size, others, count", [(3_000_000, 3_000_000, 3), (100, 100, 300), (3000, 700, 60)])
def test_freed_memory_is_not_used_before_streams_are_done(stub, size, others, count):
    """It is the consumer's work that is late: a deleter is called when it is queued. Slabs are divided anew, too."""
    for _ in range(2):
        arrays = [dmlops.asarray(np.zeros(size, np.uint8)) for _ in range(count)]
        consumers = [Consumer(a) for a in arrays]
        places = [range(consumer.address, consumer.address + size) for consumer in consumers]
        for consumer in consumers:
            stub.fill(consumer.address, 255, size, 5)
            consumer.free()
        del arrays
        made = [dmlops.asarray(np.full(others, n % 200, np.uint8)) for n in range(2 * count)]
        stub.finish()
        assert all((b.numpy() == n % 200).all() for n, b in enumerate(made))
        consumers = [Consumer(b) for b in made]
        assert any(consumer.address in place for consumer in consumers for place in places)  # memory is used again
        for consumer in consumers:
            consumer.free()
        del made


def test_what_lies_between_passes_is_not_used_before_streams_are_done(stub):
    how = _core._resampling(0, 1, (1000, 1000), (500, 500), (0.0, 0.0), (1000.0, 1000.0), 3, True)
    x = np.random.default_rng(0).integers(0, 256, (1000, 1000, 3), np.uint8)
    a, out = dmlops.asarray(x), dmlops.empty((500, 500, 3), np.uint8)
    lent = [dmlops.empty(size, np.uint8) for size in (1_400_000, 1_500_000, 1_600_000, 1_700_000)]
    for array in lent:
        consumer = Consumer(array)
        stub.fill(consumer.address, 255, array.nbytes, 5)
        consumer.free()
    misses = dmlops.counters().pool_misses
    del lent, array
    _core._resample(a, how, [0, 1], None, out, None, None)
    assert stub.queued == 0 and dmlops.counters().pool_misses == misses
    assert np.array_equal(out.numpy(), _core._resample(x, how, [0, 1], None, None, "host", None))


def test_the_last_reference_waits_for_no_stream(stub):
    """It goes with the GIL held. Beyond the pool's limit the next allocation waits, without it."""
    size = 2**31 - 2**20  # whose pages nobody touches
    arrays = [dmlops.empty(size, np.uint8) for _ in range(dmlops.memory_info(0).pool_limit // size + 1)]
    Consumer(arrays[0]).free()
    calls, alive = stub.calls("cuCtxSynchronize"), stub.alive
    while arrays:
        del arrays[0]
    assert stub.calls("cuCtxSynchronize") == calls and stub.alive == alive > 0
    b = dmlops.empty(3_000_000, np.uint8)
    assert stub.calls("cuCtxSynchronize") > calls and stub.alive == 0
    del b


def test_pools_are_emptied_after_streams_are_done(stub):
    a = dmlops.asarray(np.zeros(100_000, np.uint8))
    consumer = Consumer(a)
    stub.fill(consumer.address, 255, a.nbytes, 5)
    del a
    consumer.free()
    dmlops.empty_cache()
    assert stub.queued == 0 and stub.alive == 0


# --- in -----------------------------------------------------------------------------------------------------------------


class Producer:
    """A tensor in CUDA's memory. Its data is the work of a stream, which the one it is asked for by waits for."""

    def __init__(self, stub, x, place=(CUDA, ORDINAL), old=False, **more):
        self.stub, self.x, self.place, self.old, self.more = stub, x, place, old, more
        self.freed, self.streams = [], []
        self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.freed.append)

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, *, stream=None, **asked):
        if self.old and asked:
            raise TypeError("unexpected keyword")
        self.streams.append(stream)
        kinds = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}
        on = {"device_type": self.place[0], "device_id": self.place[1]}
        tensor = dlpack.tensor_of(self.x, kinds[self.x.dtype.kind], **(on | self.more))
        pointer = ctypes.cast(self.deleter, ctypes.c_void_p)
        self.made = dlpack.Managed(tensor, None, pointer) if self.old else dlpack.Versioned(1, 0, None, pointer, 0, tensor)
        name = b"dltensor" if self.old else b"dltensor_versioned"
        return dlpack.new_capsule(ctypes.addressof(self.made), name, None)


VIEWS = {
    "whole": np.s_[...],
    "one element": np.s_[1, 2, 3, ...],
    "no elements": np.s_[:, :0],
    "strided": np.s_[:, 1:, ::2],
    "mirrored": np.s_[::-1, :, ::-1],
    "an end": np.s_[1:, 2:],
}


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("key", VIEWS.values(), ids=VIEWS)
def test_tensors_of_cuda_are_copied(stub, key, old):
    for dtype in (np.uint8, np.float32, np.complex128):
        x = X.astype(dtype)[key]
        producer = Producer(stub, x, old=old)
        a = dmlops.from_dlpack(producer)
        assert a.dtype == dtype and a.shape == x.shape and np.array_equal(a.numpy(), x)
        assert producer.streams == [1] and producer.freed == [ctypes.addressof(producer.made)]
        assert a.__dlpack_device__() == (CUDA, ORDINAL)


def test_axes_in_another_order_and_repeated(stub):
    for x in (
        X.transpose(2, 0, 1),
        np.lib.stride_tricks.as_strided(X, (3, 2, 4), (0, 48, 4)),
        np.broadcast_to(X[0, 0, 0], (5,)),
    ):
        assert np.array_equal(dmlops.from_dlpack(Producer(stub, x)).numpy(), x)


def test_a_tensor_begins_at_its_offset(stub):
    x = np.arange(12, dtype=np.int32)
    a = dmlops.from_dlpack(Producer(stub, x[:5], byte_offset=12))
    assert a.numpy().tolist() == [3, 4, 5, 6, 7]


def test_the_copy_comes_after_the_stream(stub):
    x = np.zeros(1000, np.uint8)
    stub.fill(x.ctypes.data, 5, x.nbytes, 1)
    assert (dmlops.from_dlpack(Producer(stub, x)).numpy() == 5).all()


def test_there_and_back(stub):
    x = np.arange(100_000, dtype=np.int32)
    for _ in range(3):
        a = dmlops.asarray(x)
        consumer = Consumer(a)
        b = dmlops.from_dlpack(Producer(stub, consumer.numpy(np.int32)[::2]))
        consumer.free()
        assert np.array_equal(b.numpy(), x[::2])


def test_the_copy_waits_for_whoever_had_the_memory(stub):
    """Of CUDA and of Vulkan."""
    for size in (100, 3_000_000):
        for _ in range(4):
            a = dmlops.tile(dmlops.asarray(np.zeros(size // 2, np.uint8)), [2])
            consumer = Consumer(a, stream=-1)
            stub.fill(consumer.address, 255, size, 5)
            del a
            consumer.free()
            b = dmlops.from_dlpack(Producer(stub, np.full(size, 3, np.uint8)))
            stub.finish()
            assert (b.numpy() == 3).all()


def test_tensors_that_will_not_do(stub):
    with pytest.raises(BufferError, match=r"\(2, 0\).*the device is \(2, 1\)"):
        dmlops.from_dlpack(Producer(stub, X, place=(CUDA, 0)))
    with pytest.raises(BufferError, match=r"\(2, 1\).*host"):
        dmlops.from_dlpack(Producer(stub, X), device="host")
    with pytest.raises(BufferError, match="copy"):
        dmlops.from_dlpack(Producer(stub, X), copy=False)
    with pytest.raises(BufferError, match=r"\(10, 0\)"):
        dmlops.from_dlpack(Producer(stub, X, place=(10, 0)))
    for lies in ({"device_id": 0}, {"device_id": -1}, {"device_type": 13}):
        producer = Producer(stub, X, **lies)
        with pytest.raises(BufferError, match="device type"):
            dmlops.from_dlpack(producer)
        assert producer.freed == []
    for lies in ({"data": None}, {"shape": None}, {"byte_offset": 2**64 - 1}, {"code": 3}):
        producer = Producer(stub, X, **lies)
        with pytest.raises(BufferError):
            dmlops.from_dlpack(producer)
        assert producer.freed == []


# --- faults, threads ----------------------------------------------------------------------------------------------------


def there_and_back(stub, n):
    x = np.full(5000, n, np.uint8)
    a = dmlops.asarray(x)
    consumer = Consumer(a, stream=3)
    try:
        stub.fill(consumer.address, n + 1, x.nbytes, 3)
        assert (dmlops.slice(a, [0], [5000], [1]).numpy() == n + 1).all()
        b = dmlops.from_dlpack(Producer(stub, consumer.numpy(np.uint8)))
        assert (b.numpy() == n + 1).all()
    finally:
        consumer.free()


@pytest.mark.parametrize("name", [name for name in cuda_stub.CALLS if not name.startswith(("cuInit", "cuDevice"))])
def test_each_call_fails(stub, name):
    """BufferError names it, and nothing is left behind: the next exchange works. Those that CUDA is opened by: test_cuda.py."""
    for at in range(1, 20):
        dmlops.empty_cache()
        before = stub.calls(name)
        stub.fail(name, at)
        try:
            there_and_back(stub, at)
        except BufferError as error:
            assert name.removesuffix("_v2") in str(error) and "CUDA_ERROR_OUT_OF_MEMORY" in str(error)
        failed = stub.calls(name) - before >= at
        stub.fail()
        stub.finish()
        there_and_back(stub, 100)
        if not failed:
            break
    assert at > 1


def test_an_error_that_cuda_has_no_name_for(stub):
    stub.fail("cuImportExternalMemory", 1, 999)
    with pytest.raises(BufferError, match="without a name"):
        dmlops.asarray(X).__dlpack__()


def test_memory_that_was_not_made_to_be_shared(stub):
    _core._override("cuda", 0)
    try:
        a = dmlops.asarray(X)
        assert a.__dlpack_device__() == (VULKAN, a.device.index)
        with pytest.raises(BufferError, match="not shared"):
            a.__dlpack__(dl_device=(CUDA, ORDINAL))
        with pytest.raises(BufferError, match="not shared"):
            dmlops.from_dlpack(Producer(stub, X))
    finally:
        _core._override("cuda", 1)


def test_threads(stub):
    def work(n):
        for k in range(20):
            x = np.full(4000 + 1000 * (k % 3), n, np.uint8)
            consumer = Consumer(dmlops.asarray(x), stream=10 + n)
            assert (consumer.numpy(np.uint8) == n).all()
            b = dmlops.from_dlpack(Producer(stub, consumer.numpy(np.uint8)))
            stub.fill(consumer.address, 100 + n, x.nbytes, 10 + n)
            consumer.free()
            assert (b.numpy() == n).all()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_one_memory_is_shown_by_many_threads(stub):
    a = dmlops.asarray(X)
    before = stub.calls("cuImportExternalMemory")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        consumers = list(pool.map(lambda _: Consumer(a), range(8)))
    assert stub.calls("cuImportExternalMemory") - before <= 1
    assert len({consumer.address for consumer in consumers}) == 1
    for consumer in consumers:
        consumer.free()
