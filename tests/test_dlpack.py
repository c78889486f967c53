"""DLPack, by the current standard and the old one: to real consumers, from real producers, with capsules made by hand."""

import ctypes
import gc
import itertools
import sys
import types

import dmlops
import numpy as np
import pytest
from dmlops import _core
from hypothesis import given
from hypothesis import strategies as st

import strategies
import support
from strategies import FEWER

CPU, VULKAN = 1, 7
NUMBERS = [np.dtype(code) for code in "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()]
NAMES = [name for name in dir(strategies.ml_dtypes) if name == "bfloat16" or name.startswith("float8_e")]
SMALL = [np.dtype(getattr(strategies.ml_dtypes, name)) for name in NAMES]
NEW_CAPSULES = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # from there on NumPy takes them
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
get_name = ctypes.pythonapi.PyCapsule_GetName
get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@pytest.fixture(scope="module", autouse=True)
def without_cuda():
    """Arrays on a GPU that CUDA has, too, are offered as CUDA's: test_cuda.py."""
    dmlops.empty_cache()
    _core._override("cuda", 0)
    yield
    _core._override("cuda", -1)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


def inside(capsule):
    name = get_name(capsule)
    kind = {b"dltensor": Managed, b"dltensor_versioned": Versioned}[name]
    structure = ctypes.cast(get_pointer(capsule, name), ctypes.POINTER(kind)).contents
    structure.held = capsule
    return structure


class Producer:
    """What a library hands out, for consumers that ask an object."""

    def __init__(self, array, **more):
        self.array, self.more = array, more

    def __dlpack__(self, **asked):
        return self.array.__dlpack__(**{**asked, **self.more})

    def __dlpack_device__(self):
        return (CPU, 0)


# --- export -----------------------------------------------------------------------------------------------------


@given(data=st.data())
@FEWER
def test_numpy_reads_any_view(devices, data):
    shape = data.draw(strategies.shapes(max_rank=5))
    x = data.draw(strategies.specs(shape, data.draw(st.sampled_from(NUMBERS)))).build().copy()
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    key = data.draw(strategies.basic_keys(shape))
    whole = key if isinstance(key, tuple) else (key,)
    x = x[whole if Ellipsis in whole else (*whole, ...)]
    version = data.draw(st.sampled_from([None, (1, 0), (0, 8), (2, 0)] if NEW_CAPSULES else [None, (0, 8)]))
    more = {"dl_device": (CPU, 0)} | ({} if version is None else {"max_version": version})
    for a in arrays:
        y = np.from_dlpack(Old(a[key], more))
        assert y.dtype == x.dtype and y.shape == x.shape
        assert strategies.content(y) == strategies.content(x)


class Old(Producer):
    """Gives a capsule made as `more` says, whatever is asked for."""

    def __init__(self, array, more):
        super().__init__(array)
        self.more = more

    def __dlpack__(self, **asked):
        return self.array.__dlpack__(**self.more)


@pytest.mark.skipif(not NEW_CAPSULES, reason="NumPy's from_dlpack knows no device before 2.1")
def test_numpy_asks_for_the_cpu(device):
    a = dmlops.asarray(X, device=device)
    assert np.array_equal(np.from_dlpack(a[..., ::-1], device="cpu"), X[..., ::-1])
    assert np.array_equal(np.from_dlpack(a, device="cpu", copy=True), X)


@pytest.mark.needs_shared_memory
def test_memory_that_the_host_sees_is_shared(device):
    """lavapipe's is."""
    a = dmlops.asarray(X, device=device)
    y = np.from_dlpack(Producer(a, dl_device=(CPU, 0), copy=False))
    a[0] = 7
    a.wait()
    assert (y[0] == 7).all() and np.array_equal(y[1], X[1])
    gc.collect()  # what other tests left
    used = dmlops.memory_info(device).used
    del a
    assert dmlops.memory_info(device).used == used
    assert (y[0] == 7).all()
    del y
    assert dmlops.memory_info(device).used < used


@pytest.mark.needs_shared_memory
def test_copies_are_copies(device):
    a = dmlops.asarray(X, device=device)
    y = np.from_dlpack(Producer(a, dl_device=(CPU, 0), copy=True))
    a[...] = 0
    a.wait()
    assert np.array_equal(y, X)
    flags = inside(a.__dlpack__(max_version=(1, 0), dl_device=(CPU, 0), copy=True)).flags
    assert flags == 2  # copied, not read-only
    assert inside(a.__dlpack__(max_version=(1, 0), dl_device=(CPU, 0))).flags == 0


MIRRORED = {
    "one axis": np.s_[:, ::-1],
    "in steps": np.s_[..., ::-2],
    "every axis": np.s_[::-1, ::-1, ::-1],
    "one of two": np.s_[0, ::-1, 1:],
}


@pytest.mark.needs_shared_memory
@pytest.mark.parametrize("key", MIRRORED.values(), ids=MIRRORED)
def test_negative_strides_are_for_numpy_alone(device, key):
    """PyTorch ends the process when it meets one."""
    a = dmlops.asarray(X, device=device)
    for version in (None, (1, 0)):
        structure = inside(a[key].__dlpack__(dl_device=(CPU, 0), max_version=version))
        strides = structure.tensor.strides[: structure.tensor.ndim]
        assert all(stride > 0 for stride in strides), strides
        assert version is None or structure.flags == 2  # copied
        y = np.from_dlpack(Old(a[key], {"dl_device": (CPU, 0)}))
        assert np.array_equal(y, X[key])
        with pytest.raises(BufferError, match="copy must not be False: .*negative strides"):
            a[key].__dlpack__(dl_device=(CPU, 0), max_version=version, copy=False)
    assert np.array_equal(a.numpy(), X)


@pytest.mark.needs_shared_memory
@pytest.mark.skipif(not NEW_CAPSULES, reason="NumPy's from_dlpack knows no copy before 2.1")
@pytest.mark.parametrize("key", MIRRORED.values(), ids=MIRRORED)
def test_numpy_shares_views_with_negative_strides(device, key):
    a = dmlops.asarray(X, device=device)
    shared = [np.from_dlpack(a[key], device="cpu"), np.from_dlpack(a[key], device="cpu", copy=False)]
    shared += [np.from_dlpack(Producer(a[key], dl_device=(CPU, 0)))]
    copied = np.from_dlpack(a[key], device="cpu", copy=True)
    a[...] = X + 1
    a.wait()
    for y in shared:
        assert y.strides == X[key].strides and np.array_equal(y, X[key] + 1)
    assert np.array_equal(copied, X[key])


@pytest.mark.needs_shared_memory
@pytest.mark.parametrize(
    "key", [np.s_[1::-2], np.s_[:, 1:2], np.s_[:0], np.s_[::-1, :0, ::-1], np.s_[None, ..., None]], ids=str
)
def test_strides_that_reach_no_element_are_ordinary(device, key):
    """Those of axes of one element, and of arrays without any: consumers compare them with what they expect."""
    a = dmlops.asarray(np.zeros((2, 3, 4), np.int16), device=device)
    view = a[key]
    tensor = inside(view.__dlpack__(dl_device=(CPU, 0), copy=False)).tensor
    shape, strides = tensor.shape[: tensor.ndim], tensor.strides[: tensor.ndim]
    assert tuple(shape) == view.shape
    packed = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        assert stride >= 0
        if extent == 1 or 0 in shape:
            assert stride == packed
        packed *= max(extent, 1)


def test_memory_that_the_host_does_not_see(vulkan):
    dmlops.empty_cache()
    _core._override("mapped", 0)
    try:
        a = dmlops.asarray(X, device=vulkan)
        assert np.array_equal(np.from_dlpack(Producer(a[:, ::-1], dl_device=(CPU, 0))), X[:, ::-1])
        capsule = a.__dlpack__(max_version=(1, 0), dl_device=(CPU, 0))
        assert inside(capsule).flags == 2
        with pytest.raises(BufferError, match="copy"):
            a.__dlpack__(dl_device=(CPU, 0), copy=False)
    finally:
        _core._override("mapped", -1)


def test_the_data_is_waited_for(device):
    x = np.random.default_rng(0).integers(0, 256, (2000, 2000), np.uint8)
    b = dmlops.asarray(x, device=device)
    for _ in range(21):
        b = dmlops.slice(b, [0, 0], [2000, 2000], [1, -1])
    assert np.array_equal(np.from_dlpack(Producer(b, dl_device=(CPU, 0))), x[:, ::-1])


@pytest.mark.needs_shared_memory
def test_the_device(device):
    """lavapipe's memory is the CPU's."""
    a = dmlops.asarray(X, device=device)
    assert a.__dlpack_device__() == (CPU, 0)
    tensor = inside(a.__dlpack__(max_version=(1, 0))).tensor
    assert (tensor.device_type, tensor.device_id) == (CPU, 0)


def test_the_device_of_memory_that_the_host_does_not_see(vulkan):
    dmlops.empty_cache()
    _core._override("mapped", 0)
    try:
        a = dmlops.asarray(X, device=vulkan)
    finally:
        _core._override("mapped", -1)
    assert a.__dlpack_device__() == (VULKAN, a.device.index)
    tensor = inside(a.__dlpack__(max_version=(1, 0))).tensor
    assert (tensor.device_type, tensor.device_id) == (VULKAN, a.device.index)


@pytest.mark.needs_shared_memory
def test_from_dlpack_just_works(device):
    """It waits for the array's work, and copies nothing."""
    a = dmlops.asarray(X, device=device)
    for _ in range(21):
        a = dmlops.slice(a, [0, 0, 0], X.shape, [1, 1, -1])
    y = np.from_dlpack(a)
    assert np.array_equal(y, X[..., ::-1])
    a[0] = 7
    a.wait()
    assert (y[0] == 7).all() and np.shares_memory(y, np.from_dlpack(a))


@pytest.mark.parametrize(
    "version, name",
    [
        (None, b"dltensor"),
        ((0, 8), b"dltensor"),
        ((1, 0), b"dltensor_versioned"),
        ((1, 1), b"dltensor_versioned"),
        ((7, 3), b"dltensor_versioned"),
    ],
)
def test_versions(device, version, name):
    capsule = dmlops.asarray(X, device=device).__dlpack__(max_version=version)
    assert get_name(capsule) == name
    if b"versioned" in name:
        assert inside(capsule).major == 1
    structure = inside(capsule)
    tensor = structure.tensor
    assert tensor.shape[:3] == [2, 3, 4] and tensor.strides[:3] == [12, 4, 1]


def test_the_handle(vulkan):
    """As documented: four integers, the last of them the buffer's size; `byte_offset` leads to the first element."""
    a = dmlops.asarray(np.zeros((100, 1000), np.uint16), device=vulkan)
    asked = {"max_version": (1, 0), "dl_device": (VULKAN, a.device.index)}
    capsule = a[3:, ::-2].__dlpack__(**asked)
    tensor = inside(capsule).tensor
    assert (tensor.device_type, tensor.device_id) == (VULKAN, a.device.index)
    buffer, memory, handle, size = (ctypes.c_uint64 * 4).from_address(tensor.data)
    assert buffer and memory and handle and size >= a.nbytes
    assert tensor.byte_offset == 3 * 2000 + 999 * 2
    assert tensor.shape[:2] == [97, 500] and tensor.strides[:2] == [1000, -2]
    nothing = dmlops.empty((0, 3), device=vulkan)[::-1, ::-1].__dlpack__(**asked)
    assert inside(nothing).tensor.byte_offset == 0  # not before the memory
    again = inside(a[...].__dlpack__(**asked))
    assert again.tensor.data == tensor.data


def test_small_arrays_are_parts_of_one_buffer(vulkan):
    arrays = [dmlops.asarray(X[0, 0] + n, device=vulkan) for n in range(40)]
    inner = [inside(a[1:].__dlpack__(dl_device=(VULKAN, a.device.index))).tensor for a in arrays]
    buffers = [(ctypes.c_uint64 * 4).from_address(tensor.data)[:] for tensor in inner]
    assert len({buffer[0] for buffer in buffers}) < 4
    places = {(buffer[0], tensor.byte_offset) for buffer, tensor in zip(buffers, inner, strict=True)}
    assert len(places) == 40
    for (_, offset), buffer in zip(sorted(places), sorted(buffers), strict=True):
        assert offset % 256 == 4 and offset + 12 <= buffer[3]  # behind the first element


@pytest.mark.needs_shared_memory
def test_small_arrays_have_addresses_of_their_own(device):
    arrays = [dmlops.asarray(X[0, 0] + n, device=device) for n in range(40)]
    shared = [np.from_dlpack(a) for a in arrays]
    del arrays
    others = [dmlops.asarray(X[0, 0], device=device) for _ in range(40)]
    assert all(np.array_equal(y, X[0, 0] + n) and y.ctypes.data % 64 == 0 for n, y in enumerate(shared))
    assert len(others) == 40


@pytest.mark.parametrize(
    "asked", [{"stream": 1}, {"stream": -1}, {"dl_device": (2, 0)}, {"dl_device": (CPU, 1)}, {"dl_device": (VULKAN, 99)}]
)
def test_what_is_refused(device, asked):
    with pytest.raises(BufferError, match=next(iter(asked))):
        dmlops.asarray(X, device=device).__dlpack__(**asked)


LONGDOUBLE = ["g"] if np.dtype("g").itemsize > 8 else []  # where it is none of the others


@pytest.mark.parametrize("dtype", [">f4", ">i2", "M8[s]", "U3", "S2", "V4", *LONGDOUBLE, [("a", "i4")], "V0"])
def test_elements_that_dlpack_does_not_know(device, dtype):
    with pytest.raises(BufferError, match="dtype"):
        dmlops.empty(3, dtype, device=device).__dlpack__()


def test_wrong_arguments(device):
    a = dmlops.asarray(X, device=device)
    for wrong in ({"dl_device": "cpu"}, {"max_version": 1}, {"max_version": (1,)}, {"no such": 1}, {"dl_device": (1.5, 0)}):
        with pytest.raises(TypeError):
            a.__dlpack__(**wrong)
    with pytest.raises(TypeError):
        a.__dlpack__(None)
    for method in (dmlops.DeviceArray.__dlpack__, dmlops.DeviceArray.__dlpack_device__):
        with pytest.raises(TypeError):
            method(X)


def test_capsules_that_nobody_takes(device):
    a = dmlops.asarray(X, device=device)
    gc.collect()  # what other tests left
    used = dmlops.memory_info(device).used
    asked = itertools.product((None, (1, 0)), (None, (CPU, 0), a.__dlpack_device__()), (None, True))
    capsules = [a.__dlpack__(max_version=version, dl_device=place, copy=copy) for version, place, copy in asked]
    del capsules
    assert dmlops.memory_info(device).used == used


def test_a_consumer_may_keep_it_to_the_very_end(vulkan):
    done = support.run_python("""
import dmlops, numpy as np, sys
class Cpu:
    def __init__(self, a): self.a = a
    def __dlpack__(self, **asked): return self.a.__dlpack__(dl_device=(1, 0))
    def __dlpack_device__(self): return (1, 0)
class Late:
    def __del__(self): sys.stdout.write(f"{self.y.sum()}\\n"); sys.stdout.flush()
sys.late = Late()
sys.late.y = np.from_dlpack(Cpu(dmlops.asarray(np.ones(100_000))))
""")
    assert done.stdout in ("100000.0\n", "") and done.stderr == ""


# --- import -----------------------------------------------------------------------------------------------------


@given(data=st.data())
@FEWER
def test_tensors_of_numpy(devices, data):
    dtype = data.draw(st.sampled_from(NUMBERS))
    x = data.draw(strategies.specs(data.draw(strategies.shapes(max_rank=6)), dtype)).build()
    if any(stride % x.itemsize for stride in x.strides):
        x = x.copy()
    x.flags.writeable = True  # old NumPy refuses to lend others
    held = x.copy()
    for device in devices:
        a = dmlops.from_dlpack(x, device=device)
        assert a.dtype == x.dtype and a.shape == x.shape
        assert strategies.content(a.numpy()) == strategies.content(x)
        if x.size:
            x[...] = 0
            assert strategies.content(a.numpy()) == strategies.content(held)
            x[...] = held


def test_tensors_whose_elements_share_memory(device):
    """Strides of 0."""
    x = np.lib.stride_tricks.as_strided(np.arange(4, dtype=np.int32), (3, 2, 4), (0, 0, 4))
    made = Versioned(1, 0, None, None, 0, tensor_of(x, 0))
    assert dmlops.from_dlpack(Given(made), device=device).numpy().tolist() == x.tolist()


def test_read_only_tensors(device):
    x = X.copy()
    x.flags.writeable = False
    if not NEW_CAPSULES:
        pytest.skip("NumPy lends no read-only arrays before 2.1")
    assert np.array_equal(dmlops.from_dlpack(x, device=device).numpy(), X)


def test_device_arrays(vulkan):
    a = dmlops.asarray(X, device=vulkan)
    assert dmlops.from_dlpack(a) is a and dmlops.from_dlpack(a, copy=False) is a
    assert dmlops.from_dlpack(a, copy=True) is not a
    b = dmlops.from_dlpack(a, device="host")
    assert b.device.name == "host" and np.array_equal(b.numpy(), X)


class Given:
    """A producer with a capsule that is ready, from before DLPack 1 or after."""

    def __init__(self, structure, place=(CPU, 0), old=False):
        self.structure, self.place, self.old = structure, place, old

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, **asked):
        if self.old and asked:
            raise TypeError("unexpected keyword")
        name = b"dltensor" if isinstance(self.structure, Managed) else b"dltensor_versioned"
        return new_capsule(ctypes.addressof(self.structure), name, None)


def tensor_of(array, type_code, **more):
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    tensor = Tensor(array.ctypes.data, CPU, 0, array.ndim, type_code, 8 * array.itemsize, 1, shape, strides, 0)
    tensor.held = array, shape, strides
    for name, value in more.items():
        setattr(tensor, name, value)
    return tensor


def sizes(*values):
    return (ctypes.c_int64 * len(values))(*values)


@pytest.mark.parametrize("shape", [(-2, -2), (-1, 0), (4, -(2**62))])
def test_negative_sizes_are_refused(device, shape):
    """Their product is none."""
    tensor = tensor_of(np.zeros((2, 2), np.uint8), 1, shape=sizes(*shape), strides=None)
    with pytest.raises(BufferError, match="negative sizes"):
        dmlops.from_dlpack(Given(Managed(tensor, None, None), old=True), device=device)


@pytest.mark.parametrize("old", [False, True])
def test_capsules_made_by_hand(device, old):
    freed = []
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
    x = np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::-1]
    tensor = tensor_of(x, 0)
    pointer = ctypes.cast(deleter, ctypes.c_void_p)
    made = Managed(tensor, None, pointer) if old else Versioned(1, 9, None, pointer, 1, tensor)
    assert dmlops.from_dlpack(Given(made, old=old), device=device).numpy().tolist() == x.tolist()
    assert freed == [ctypes.addressof(made)]
    dense = np.arange(12, dtype=np.int16)
    tensor = tensor_of(dense, 0, byte_offset=6, ndim=1, strides=None, shape=(ctypes.c_int64 * 1)(5))
    made = Managed(tensor, None, None)
    assert dmlops.from_dlpack(Given(made, old=True), device=device).numpy().tolist() == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (0, 2**60)])
def test_no_data_is_needed_for_no_elements(device, shape):
    tensor = tensor_of(np.zeros(1, np.int32), 0, data=None, ndim=len(shape), shape=sizes(*shape), strides=None)
    assert dmlops.from_dlpack(Given(Managed(tensor, None, None), old=True), device=device).shape == shape


def test_fields_that_say_nothing(device):
    """Strides that no element is reached by, and the data of a tensor without elements."""
    x = np.arange(3, dtype=np.int32)
    many, none = 2**63 - 1, -(2**63)
    for shape, strides in [((3, 1), (1, many)), ((1, 3, 1), (none, 1, 0))]:
        tensor = tensor_of(x, 0, ndim=len(shape), shape=sizes(*shape), strides=sizes(*strides))
        a = dmlops.from_dlpack(Given(Managed(tensor, None, None), old=True), device=device)
        assert a.shape == shape and a.numpy().ravel().tolist() == [0, 1, 2]
    for offset in (0, 2**64 - 1):
        tensor = tensor_of(x, 0, ndim=2, data=None, shape=sizes(3, 0), strides=sizes(many, none), byte_offset=offset)
        assert dmlops.from_dlpack(Given(Managed(tensor, None, None), old=True), device=device).shape == (3, 0)
    tensor = tensor_of(x, 0, ndim=0, shape=None, strides=None, byte_offset=4)
    assert dmlops.from_dlpack(Given(Managed(tensor, None, None), old=True), device=device).numpy() == 1


@pytest.mark.skipif(not SMALL, reason="ml_dtypes is not installed")
@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_the_types_of_ml_dtypes_go_round(device, dtype):
    """NumPy itself lends none of them."""
    x = np.arange(12, dtype=np.uint8).view(dtype).reshape(2, -1)
    a = dmlops.asarray(x, device=device)
    capsule = a.__dlpack__(dl_device=(CPU, 0))

    class Once:
        def __dlpack_device__(self):
            return (CPU, 0)

        def __dlpack__(self, **asked):
            return capsule

    b = dmlops.from_dlpack(Once(), device=device)
    assert b.dtype == dtype and b.numpy().tobytes() == x.tobytes()
    with pytest.raises(TypeError, match="capsule"):
        dmlops.from_dlpack(Once(), device=device)


def test_bfloat16_without_ml_dtypes():
    support.run_python(
        """
import sys
sys.modules["ml_dtypes"] = None
sys.path.insert(0, %r)
import dmlops, numpy as np, test_dlpack as t
x = np.zeros(3, np.uint16)
try:
    dmlops.from_dlpack(t.Given(t.Versioned(1, 0, None, None, 0, t.tensor_of(x, 4))), device="host")
except BufferError as error:
    assert "bfloat16" in str(error) and "ml_dtypes" in str(error), error
else:
    raise AssertionError("no error")
"""
        % str(support.ROOT / "tests")
    )


def test_a_type_that_this_ml_dtypes_lacks():
    with pytest.MonkeyPatch.context() as patch, pytest.raises(BufferError, match="bfloat16"):
        patch.setitem(sys.modules, "ml_dtypes", types.ModuleType("ml_dtypes"))
        dmlops.from_dlpack(Given(Versioned(1, 0, None, None, 0, tensor_of(np.zeros(3, np.uint16), 4))), device="host")


def test_download_into_memory_that_was_lent():
    """NumPy sees the array's own memory: what is read is what was there before."""
    a = dmlops.asarray(X, device="host")
    lent = np.ctypeslib.as_array((ctypes.c_float * X.size).from_address(np.from_dlpack(a).ctypes.data)).reshape(X.shape)
    assert np.array_equal(a[..., ::-1].numpy(out=lent), X[..., ::-1])


@pytest.mark.parametrize("changes, words", [
    ({"code": 3}, "3"), ({"code": 99}, "99"), ({"bits": 4}, "4"), ({"bits": 24}, "24"), ({"lanes": 2}, "2 lanes"),
    ({"code": 2, "bits": 8}, "8"), ({"code": 17, "bits": 4}, "17"),
    ({"ndim": 65}, "65"), ({"ndim": -1}, "-1"), ({"ndim": 2**31 - 1}, "2147483647"), ({"device_type": 2}, "2"),
    ({"lanes": 0}, "0 lanes"), ({"bits": 0}, "0 bits"), ({"shape": None}, "shape; it is NULL"),
    ({"shape": None, "strides": None}, "shape; it is NULL"), ({"data": None}, "data; it is NULL"),
    ({"data": None, "byte_offset": 64}, "data; it is NULL"), ({"byte_offset": 2**64 - 1}, "address space"),
    ({"strides": sizes(2**61 - 1)}, "address space"), ({"strides": sizes(-(2**61))}, "address space"),
    ({"strides": sizes(-(2**62))}, "64 bits"), ({"strides": sizes(2**63 - 1)}, "64 bits"),
    ({"shape": sizes(2**61)}, "2\\*\\*63 bytes"),
    ({"shape": sizes(2**61), "strides": sizes(0)}, "2\\*\\*63 bytes"),
    ({"ndim": 2, "shape": sizes(2**40, 2**40), "strides": None}, "2\\*\\*63 bytes"),
])  # fmt: skip
def test_tensors_that_do_not_fit(device, changes, words):
    freed = []
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
    made = Versioned(1, 0, None, ctypes.cast(deleter, ctypes.c_void_p), 0, tensor_of(np.zeros(3, np.int32), 0, **changes))
    with pytest.raises(BufferError, match=words):
        dmlops.from_dlpack(Given(made), device=device)
    assert freed == []  # it is still the capsule's


def test_a_version_to_come(device):
    made = Versioned(2, 0, None, None, 0, tensor_of(np.zeros(3, np.int32), 0))
    with pytest.raises(BufferError, match="DLPack 2"):
        dmlops.from_dlpack(Given(made), device=device)


def test_producers_that_will_not_do(device):
    with pytest.raises(TypeError, match="__dlpack__"):
        dmlops.from_dlpack([1, 2], device=device)
    with pytest.raises(BufferError, match="2, 0"):
        dmlops.from_dlpack(Given(None, place=(2, 0)), device=device)
    with pytest.raises(BufferError, match="copy"):
        dmlops.from_dlpack(X, device=device, copy=False)

    class Wrong(Given):
        def __dlpack__(self, **asked):
            return 3

    with pytest.raises(TypeError, match="capsule"):
        dmlops.from_dlpack(Wrong(None), device=device)
