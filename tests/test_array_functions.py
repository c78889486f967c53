"""NumPy's functions of device arrays run on the device; einops and the array API do, too."""

import importlib

import dmlops
import numpy as np
import pytest
from dmlops import _core
from dmlops.fusion import replay
from hypothesis import given
from hypothesis import strategies as st

import strategies
from strategies import FEWEST, content
from support import run_python

X = np.arange(24, dtype=np.int16).reshape(2, 3, 4)

# By name: calls of one array, whatever its shape, and of one of three axes. A name may stand twice, with a word behind it.
ANY = {
    "stack": lambda a: np.stack([a, a], -1),
    "vstack": lambda a: np.vstack((a, a)),
    "hstack": lambda a: np.hstack([a, a]),
    "dstack": lambda a: np.dstack([a, a]),
    "column_stack": lambda a: np.column_stack([a, a]),
    "concatenate flat": lambda a: np.concatenate([a, a], axis=None),
    "concatenate out": lambda a: np.concatenate([a, a], axis=None, out=like(a, (2 * a.size,))),
    "pad": lambda a: np.pad(a, 2),
    "tile": lambda a: np.tile(a, (2, 3)),
    "tile none": lambda a: np.tile(a, 0),
    "repeat": lambda a: np.repeat(a, 3),
    "roll": lambda a: np.roll(a, 5),
    "copy": np.copy,
    "broadcast_to": lambda a: np.broadcast_to(a, (3, *np.shape(a))),
    "zeros_like": np.zeros_like,
    "ones_like": lambda a: np.ones_like(a, shape=(2, 5)),
    "full_like": lambda a: np.full_like(a, 1, dtype=np.uint8),
    "full_like keywords": lambda a: np.full_like(a, fill_value=[0, 1], dtype="i4", shape=(3, 2)),
    "append": lambda a: np.append(a, a),
    "append axis": lambda a: np.append(a[None], values=a[None], axis=0),
    "block": lambda a: np.block([[a, a], [a, a]]),
    "block alone": np.block,
    "block deep": lambda a: np.block([[[[[[a[None], a[None]]]]]]]),
    "atleast_1d": np.atleast_1d,
    "atleast_2d": lambda a: np.atleast_2d(a, a)[1],
    "atleast_3d": np.atleast_3d,
}
THREE = {
    "concatenate": lambda a: np.concatenate([a, a[:, :0], a[:, ::-1]], 1),
    "concatenate rows": np.concatenate,
    "split": lambda a: np.split(a, [1, 2, 2], -1),
    "array_split": lambda a: np.array_split(a, 3, 2),
    "hsplit": lambda a: np.hsplit(a, 3),
    "vsplit": lambda a: np.vsplit(a, 2),
    "dsplit": lambda a: np.dsplit(a, 2),
    "unstack": lambda a: np.unstack(a, axis=1),
    "pad constant": lambda a: np.pad(a, ((0, 1), (2, 0), (1, 1)), constant_values=((1, 2), (3, 4), (5, 6))),
    "pad by arrays": lambda a: np.pad(a, np.array([[1, 2], [0, 0], [3, 0]]), constant_values=np.array([1, 2])),
    "pad edge": lambda a: np.pad(a, 3, "edge"),
    "pad reflect": lambda a: np.pad(a, ((0, 0), (5, 1), (0, 9)), mode="reflect"),
    "pad symmetric": lambda a: np.pad(a, (1, 7), "symmetric"),
    "pad wrap": lambda a: np.pad(a, ((2, 2),), "wrap"),
    "repeat axis": lambda a: np.repeat(a, [2], axis=-1),
    "roll axes": lambda a: np.roll(a, (1, -2), (0, 2)),
    "take": lambda a: np.take(a, [2, 0, -1, 0], 1),
    "take by an array": lambda a: np.take(a, np.array([[0, 1], [1, 0]], np.uint8), axis=-1),
    "take one": lambda a: np.take(a, -1, axis=0),
    "take flat": lambda a: np.take(a, [5, 7]),
    "roll several": lambda a: np.roll(a, (1, 4)),
    "broadcast_arrays": lambda a: np.broadcast_arrays(a[:, :1], a, a[0, 0]),
    "append one": lambda a: np.append(a, a[:, ::-1][:, :1], 1),
    "block ranks": lambda a: np.block([[a[0, 0], a[1, 0, :1]], [a[0, :2, 0], a[1, :, 1]]]),
    "block one row": lambda a: np.block([a, a[..., 1:], a[0, 0, 0]] if a.shape[:2] == (1, 1) else [a, a[..., 1:]]),
    "take none": lambda a: np.take(a, [], axis=1),
    "broadcast_to more": lambda a: np.broadcast_to(a[:, :1], (2, 2, 5, 4)),
}


def like(a, shape):
    return dmlops.empty(shape, a.dtype, device=a.device) if isinstance(a, dmlops.DeviceArray) else np.empty(shape, a.dtype)


def check(call, x, a):
    expected, result = call(x), call(a)
    several = isinstance(expected, (list, tuple))
    assert type(result) is (type(expected) if several else dmlops.DeviceArray)
    pairs = list(zip(result, expected, strict=True)) if several else [(result, expected)]
    for one, other in pairs:
        assert type(one) is dmlops.DeviceArray and one.device == a.device
        assert one.dtype == other.dtype and one.shape == other.shape and content(one.numpy()) == content(other)


def there(name):
    if not hasattr(np, name.split()[0]):
        pytest.skip(f"this NumPy has no {name}")


@pytest.mark.parametrize("name", ANY)
@FEWEST
@given(data=st.data())
def test_functions_of_any_view(devices, name, data):
    there(name)
    dtype = data.draw(st.sampled_from([np.dtype(code) for code in "? i1 u2 f4 f8 c16".split()]))
    x = data.draw(strategies.specs(data.draw(strategies.shapes(max_rank=4)), dtype)).build()
    for device in devices:
        check(ANY[name], x, dmlops.asarray(x, device=device))


@pytest.mark.parametrize("name", THREE)
def test_functions_of_three_axes(device, name):
    there(name)
    for x in (X, np.ones((2, 3, 4), "M8[s]"), np.asfortranarray(X)[::-1, :, ::-1]):
        a = dmlops.asarray(x.copy(), device=device)
        for view, of in ((a, x), (a[::-1], x[::-1]), (a.T.transpose(2, 1, 0), x)):
            check(THREE[name], of, view)


@pytest.mark.parametrize("name", [*ANY, *THREE])
def test_errors_are_of_numpys_types(device, name):
    """Wrong axes, indices and shapes."""
    a = dmlops.asarray(X, device=device)
    wrong = {
        "concatenate": lambda a: np.concatenate([a, a], 3), "concatenate rows": lambda a: np.concatenate([a, a[0]]),
        "stack": lambda a: np.stack([a, a], 4), "vstack": lambda a: np.vstack([a, a[:, :1]]),
        "split": lambda a: np.split(a, 3, -1), "unstack": lambda a: np.unstack(a, axis=3),
        "pad": lambda a: np.pad(a, -1), "pad constant": lambda a: np.pad(a, 1.5),
        "pad by arrays": lambda a: np.pad(a, np.array([(2, 3, 4), (3, 2)], object), "constant"),
        "pad scalars": lambda a: np.pad(a, np.array([[1, 1]] * 3, object)),
        "pad edge": lambda a: np.pad(a[:0], 1, "edge"), "pad wrap": lambda a: np.pad(a, 1, "nonsense"),
        "pad symmetric": lambda a: np.pad(a, 1, "symmetric", constant_values=1),
        "repeat": lambda a: np.repeat(a, -1), "repeat axis": lambda a: np.repeat(a, 2, 3),
        "roll axes": lambda a: np.roll(a, 1, 3), "roll several": lambda a: np.roll(a, ((1, 2), (3, 4))),
        "broadcast_arrays": lambda a: np.broadcast_arrays(a, a[:, :2]),
        "take": lambda a: np.take(a, 3, 1), "take one": lambda a: np.take(a, -3, 0),
        "append": lambda a: np.append(a, a, 3), "append one": lambda a: np.append(a, a[0], 0),
        "block": lambda a: np.block([[a, a], [a]]), "block alone": lambda a: np.block([[a], []]),
        "block deep": lambda a: np.block([[a], a]), "block ranks": lambda a: np.block([a, (a, a)]),
        "broadcast_to": lambda a: np.broadcast_to(a, (2, 3)), "concatenate flat": lambda a: np.concatenate([]),
    }  # fmt: skip
    if name not in wrong:
        return
    there(name)
    with pytest.raises(Exception) as expected:
        wrong[name](X)
    with pytest.raises(type(expected.value)):
        wrong[name](a)


def test_out_on_the_host_is_refused_as_an_array(device):
    a = dmlops.asarray(X, device=device)
    with pytest.raises(TypeError, match="must be a dmlops.DeviceArray, as .* is, or None, not ndarray"):
        np.stack([a, a], out=np.stack([X, X]))


def test_what_is_a_view_writes_through(device):
    a = dmlops.asarray(X, device=device)
    np.split(a, 3, 1)[1][...] = -1
    np.atleast_3d(a[0, 0])[...] = -2
    expected = X.copy()
    expected[:, 1:2] = -1
    expected[0, 0] = -2
    assert np.array_equal(a.numpy(), expected)
    for call in (np.copy, np.broadcast_to, np.tile):
        args = {np.broadcast_to: [(2, 3, 4)], np.tile: [1]}.get(call, [])
        call(a, *args)[...] = 0
    assert np.array_equal(a.numpy(), expected)


def test_empty_like(device):
    a = dmlops.asarray(X, device=device)
    for one in (np.empty_like(a), np.empty_like(a, "u1", shape=(5, 2)), np.empty_like(prototype=a, order="C", shape=7)):
        assert type(one) is dmlops.DeviceArray and one.device == a.device
    assert (one.shape, np.empty_like(a, "u1").dtype, np.empty_like(a).shape) == ((7,), np.dtype("u1"), X.shape)


def test_out_is_written(device):
    a = dmlops.asarray(X, device=device)
    out = dmlops.empty((4, 3, 4), X.dtype, device=device)
    assert np.concatenate([a, a], out=out) is out and np.array_equal(out.numpy(), np.concatenate([X, X]))


def test_pad_of_some_axes(device):
    """By a dict, which newer versions of NumPy take."""
    a = dmlops.asarray(X, device=device)
    for some, all_axes in (({-1: (1, 2)}, ((0, 0), (0, 0), (1, 2))), ({0: 1, 2: (3, 0)}, ((1, 1), (0, 0), (3, 0))), ({}, 0)):
        assert np.array_equal(np.pad(a, some, "edge").numpy(), np.pad(X, all_axes, "edge"))
    with pytest.raises(IndexError):
        np.pad(a, {3: 1})


def test_indices_of_a_long_axis(device):
    x = np.arange(1 << 20).astype(np.uint8)
    a = dmlops.asarray(x, device=device)
    assert np.take(a, [-1, 3]).numpy().tolist() == [255, 3]
    for index in (1 << 20, -(1 << 20) - 1):
        with pytest.raises(IndexError):
            np.take(a, [index])


def test_a_function_is_compiled_once(device, monkeypatch):
    compiled = []
    real = _core._compile
    monkeypatch.setattr(_core, "_compile", lambda *args: compiled.append(1) or real(*args))
    monkeypatch.setattr(replay, "remember", lambda *args: None)  # it compiles once more, to compare, at the second shape
    x = np.zeros((3, 17, 5 + (device == "host")), "u1")  # of a shape that no other test has
    for _ in range(3):
        np.roll(dmlops.asarray(x, device=device), 3, 1)
    assert len(compiled) == 1


def test_arrays_of_two_devices(device):
    if device == "host":
        pytest.skip("the second device is the host")
    with pytest.raises(ValueError, match="device"):
        np.concatenate([dmlops.asarray(X, device=device), dmlops.asarray(X, device="host")])


# --- einops ---------------------------------------------------------------------------------------------------------

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 8, 12, 3), np.uint8)
RECIPES = [  # of einops' tutorials and its README: rearrange
    ("b h w c -> b h w c", {}),
    ("b h w c -> b w h c", {}),
    ("b h w c -> (b h) w c", {}),
    ("b h w c -> h (b w) c", {}),
    ("b h w c -> (b h w c)", {}),
    ("(b1 b2) h w c -> b1 b2 h w c", {"b1": 2}),
    ("(b1 b2) h w c -> (b1 h) (b2 w) c", {"b1": 2}),
    ("(b1 b2) h w c -> h (b1 b2 w) c", {"b1": 2}),
    ("b h (w w2) c -> (h w2) (b w) c", {"w2": 2}),
    ("b h w c -> h (w b) c", {}),
    ("(b1 b2) h w c -> h (b2 b1 w) c", {"b1": 2}),
    ("b h w c -> b c h w", {}),
    ("b h w c -> b (c h w)", {}),
    ("b (h h1) (w w1) c -> b (h1 w1 c) h w", {"h1": 2, "w1": 2}),
    ("b (h1 h) (w1 w) c -> b h w (c h1 w1)", {"h1": 2, "w1": 2}),
    ("b (h p1) (w p2) c -> b (h w) (p1 p2 c)", {"p1": 4, "p2": 4}),
    ("b h w c -> w b h c", {}),
    ("b h w c -> (b w) (h c)", {}),
    ("b h w c -> b h w c 1", {}),
    ("b ... c -> b c ...", {}),
    ("b h w (c) -> h w (b c)", {}),
]
REPEATS = [
    ("b h w c -> b (h 2) (w 2) c", {}),
    ("b h w c -> b h (repeat w) c", {"repeat": 3}),
    ("b h w c -> b h (w repeat) c", {"repeat": 3}),
    ("b h w c -> b h repeat w c", {"repeat": 2}),
    ("b h w c -> (n b) c h w", {"n": 2}),
]


LAYERS = [  # of its pages on deep learning
    ("rearrange", (2, 12, 4, 5), "b (c h2 w2) h w -> b c (h h2) (w w2)", {"h2": 2, "w2": 2}),
    ("rearrange", (2, 3, 4, 6), "b c (h h2) (w w2) -> b (c h2 w2) h w", {"h2": 2, "w2": 2}),
    ("rearrange", (2, 12, 5), "b (g1 g2 c) t -> b (g2 g1 c) t", {"g1": 2, "g2": 3}),
    ("rearrange", (2, 7, 24), "b t (qkv h d) -> qkv b h t d", {"qkv": 3, "h": 2}),
    ("rearrange", (2, 3, 7, 4), "b h t d -> b t (h d)", {}),
    ("rearrange", (2, 4, 12), "b c (t phase) -> (b phase) c t", {"phase": 3}),
    ("rearrange", (6, 4, 5), "(b phase) c t -> b c (t phase)", {"phase": 3}),
    ("rearrange", (2, 10), "b (coord bin) -> coord b bin", {"coord": 2}),
    ("rearrange", (2, 1, 5, 1), "b 1 t 1 -> t b", {}),
    ("rearrange", (3, 4), "h w -> 1 h () w", {}),
    ("rearrange", (2, 3, 4, 5), "b ... d -> d (...) b", {}),
    ("rearrange", (3, 0, 2), "a b c -> c (b a)", {}),
    ("repeat", (1, 5, 4), "() n d -> b n d", {"b": 3}),
    ("repeat", (5,), "w -> h w c", {"h": 2, "c": 3}),
    ("repeat", (2, 3, 4), "a ... -> (a 2) ... 1", {}),
    ("repeat", (2, 3), "a b -> (k a) (b n)", {"k": 2, "n": 3}),
]


def dispatches(device, call):
    """What a call gives, and how many pieces of work it has queued on a Vulkan device."""
    if device == "host":
        return call(), None
    before = sum(_core._counts(device))
    result = call()
    dmlops.synchronize(device)
    return result, sum(_core._counts(device)) - before


@pytest.mark.parametrize("pattern, sizes", RECIPES + REPEATS)
def test_einops_patterns(device, pattern, sizes):
    einops = pytest.importorskip("einops")
    import einops.array_api

    name = "repeat" if (pattern, sizes) in REPEATS else "rearrange"
    expected = getattr(einops, name)(IMAGES, pattern, **sizes)
    a = dmlops.asarray(IMAGES, device=device)
    for module in (einops, einops.array_api, dmlops):
        result, count = dispatches(device, lambda module=module: getattr(module, name)(a, pattern, **sizes))
        assert type(result) is dmlops.DeviceArray and result.device == a.device
        assert count is None or count <= 1
        assert result.shape == expected.shape and content(result.numpy()) == content(np.ascontiguousarray(expected))
    mirrored = getattr(einops, name)(a[:, ::-1], pattern, **sizes)
    assert np.array_equal(mirrored.numpy(), getattr(einops, name)(IMAGES[:, ::-1], pattern, **sizes))
    function = getattr(dmlops, name)
    for given in (IMAGES, list(IMAGES), IMAGES.tolist()):
        result = function(given, pattern, device=device, **sizes)
        assert type(result) is np.ndarray and result.flags.c_contiguous and np.array_equal(result, expected)
    stacked, count = dispatches(device, lambda: function([a[k] for k in range(6)], pattern, **sizes))
    assert np.array_equal(stacked.numpy(), expected)
    assert np.array_equal(getattr(einops, name)([a[k] for k in range(6)], pattern, **sizes).numpy(), expected)


@pytest.mark.parametrize("name, shape, pattern, sizes", LAYERS)
def test_einops_patterns_of_layers(device, name, shape, pattern, sizes):
    einops = pytest.importorskip("einops")
    x = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    expected = np.ascontiguousarray(getattr(einops, name)(x, pattern, **sizes))
    a = dmlops.asarray(x, device=device)
    for module, given in ((einops, a), (dmlops, a), (dmlops, x)):
        result, count = dispatches(device, lambda module=module, given=given: getattr(module, name)(given, pattern, **sizes))
        assert given is x or count is None or count <= 1
        result = result if given is x else result.numpy()
        assert result.shape == expected.shape and content(result) == content(expected)


def test_einops_results_are_taken_apart(device):
    einops = pytest.importorskip("einops")
    x = np.arange(40, dtype=np.int16).reshape(4, 10)
    first, second = einops.rearrange(dmlops.asarray(x, device=device), "b (half n) -> half b n", half=2)
    assert np.array_equal(first.numpy(), x[:, :5]) and np.array_equal(second.numpy(), x[:, 5:])


def test_einops_pack_and_unpack(device):
    einops = pytest.importorskip("einops")
    import einops.array_api

    a = dmlops.asarray(IMAGES, device=device)
    expected, shapes = einops.pack([IMAGES, IMAGES[:, 0], IMAGES[:, 0, 0]], "b * c")
    for module in (einops, einops.array_api):
        packed, found = module.pack([a, a[:, 0], a[:, 0, 0]], "b * c")
        assert found == shapes and type(packed) is dmlops.DeviceArray and np.array_equal(packed.numpy(), expected)
        for one, other in zip(module.unpack(packed, found, "b * c"), einops.unpack(expected, shapes, "b * c"), strict=True):
            assert type(one) is dmlops.DeviceArray and np.array_equal(one.numpy(), other)


EINOPS_OWN_TESTS = [
    *("test_ops.test_ellipsis_ops_imperative", "test_ops.test_enumerating_directions", "test_ops.test_repeat_imperatives"),
    *("test_ops.test_concatenations_and_stacking", "test_ops.test_tiling_imperatives", "test_ops.test_reduction_imperatives"),
    *("test_ops.test_reduction_stress_imperatives", "test_packing.test_pack_unpack_against_numpy"),
    *("test_other.test_parse_shape_imperative", "test_other.test_underscore", "test_other.test_underscore_one"),
    *("test_other.test_underscore_several", "test_other.test_is_float_type", "test_examples.test_rearrange_examples"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", EINOPS_OWN_TESTS)
def test_einops_own_tests(device, name, monkeypatch):
    """Those that run on each backend. What computes in them is left to NumPy."""
    tests = pytest.importorskip("einops.tests", reason="einops is not installed, or without its tests")
    from einops import _backends

    backend = _backends.get_backend(dmlops.empty(0, device=device))
    monkeypatch.setattr(type(backend), "from_numpy", lambda self, x: dmlops.asarray(x, device=device))
    monkeypatch.setattr(
        type(backend), "reduce", lambda self, x, name, axes: self.from_numpy(getattr(x.numpy(), name)(axis=axes))
    )
    monkeypatch.setattr(dmlops.DeviceArray, "__add__", lambda a, b: backend.from_numpy(a.numpy() + np.asarray(b)))
    monkeypatch.setattr(tests, "collect_test_backends", lambda symbolic, layers: [backend] * (not (symbolic or layers)))
    monkeypatch.setenv("EINOPS_TEST_BACKENDS", "numpy")
    module, function = name.split(".")
    getattr(importlib.import_module(f"einops.tests.{module}"), function)()


def test_einops_arrays_of_numpy(device):
    einops = pytest.importorskip("einops")
    assert einops.asnumpy(dmlops.asarray(X, device=device)[:, ::-1]).tolist() == X[:, ::-1].tolist()


def test_einops_reduce_computes(device):
    einops = pytest.importorskip("einops")
    import einops.array_api

    a = dmlops.asarray(IMAGES, device=device)
    with pytest.raises(TypeError, match=r"computes.*\.numpy\(\)"):
        einops.reduce(a, "b h w c -> b c", "max")
    with pytest.raises(AttributeError, match=r"\.numpy\(\)"):
        einops.array_api.reduce(a, "b h w c -> b c", "max")


def test_einops_errors_and_arguments(device):
    einops = pytest.importorskip("einops")
    with pytest.raises(einops.EinopsError):
        dmlops.rearrange(IMAGES, "b h -> h", device=device)
    with pytest.raises(einops.EinopsError):
        einops.rearrange(dmlops.asarray(IMAGES, device=device), "(b x) h w c -> b", x=4)
    out = np.empty((3, 6, 8, 12), np.uint8)
    assert dmlops.rearrange(IMAGES, "b h w c -> c b h w", out=out, device=device) is out
    assert np.array_equal(out, IMAGES.transpose(3, 0, 1, 2))
    for name in ("rearrange", "repeat"):
        for x in (IMAGES, [IMAGES], dmlops.asarray(IMAGES, device=device)):
            with pytest.raises(
                TypeError, match=r"^pattern must be a str .*; did you mean \(x, pattern\)\? The array comes first"
            ):
                getattr(dmlops, name)("b h w c -> c b h w", x, device=device)
        with pytest.raises(TypeError, match=r"^pattern must be a str such as 'h w c -> c h w', not int$"):
            getattr(dmlops, name)(IMAGES, 3, device=device)
    told = []
    dmlops.repeat(IMAGES, "b h w c -> (x b) h w c", x=2, device=device, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (2 * IMAGES.nbytes,) * 2


@pytest.mark.driverless
@pytest.mark.parametrize(
    "order", ["dmlops, einops", "einops, dmlops", "dmlops; a = dmlops.empty(3, device='host'); import einops"]
)
def test_einops_knows_device_arrays_in_whatever_order(order):
    pytest.importorskip("einops")
    code = f"import sys; import {order}; a = dmlops.empty((2, 3), device='host'); before = len(sys.meta_path);"
    code += "assert einops.rearrange(a, 'x y -> y x').shape == (3, 2); assert 'dmlops' not in str(sys.meta_path)"
    run_python(code)


@pytest.mark.driverless
def test_einops_is_not_there():
    code = "import sys; sys.modules['einops'] = None; import dmlops\n"
    code += "try: dmlops.rearrange([[1, 2]], 'a b -> b a', device='host')\n"
    code += "except ModuleNotFoundError as error: assert 'pip install einops' in str(error) and error.name == 'einops'\n"
    code += "else: raise SystemExit('no error')"
    run_python(code)
