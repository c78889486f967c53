"""device="auto": results as on any device, run where they are estimated to take less time; and set_default_device."""

import dmlops
import numpy as np
import pytest
from dmlops import _core, explain, explained
from hypothesis import given
from hypothesis import strategies as st

import faults
import strategies
import support
from strategies import FEWEST, content, parts

X = np.arange(6).reshape(2, 3)
MIRRORED = X[:, ::-1].tolist()


def mirror(x=X, **more):
    return dmlops.slice(x, [0, 0], [2, 3], [1, -1], **more)


@pytest.fixture
def default():
    """The default device may be set, and is as before afterwards."""
    yield dmlops.set_default_device
    dmlops.set_default_device(None)


@pytest.mark.parametrize("operator", strategies.FUNCTIONS)
@FEWEST
@given(data=st.data())
def test_results_are_those_of_numpy(operator, data):
    call = data.draw(strategies.CALLS[operator]())
    array = call.build()
    found, expected = call.run(dmlops, array, device="auto"), call.expected(dmlops.reference, array)
    assert [content(part) for part in parts(found)] == [content(part) for part in parts(expected)]


def test_device_arrays_stay_where_they_are(device):
    a = dmlops.asarray(X, device=device)
    result = mirror(a, device="auto")
    assert result.device == a.device and result.tolist() == MIRRORED
    out = dmlops.empty(X.shape, X.dtype, device=device)
    assert mirror(a, out=out, device="auto") is out and out.tolist() == MIRRORED


def test_arrays_are_put_on_the_best_device(vulkan):
    best = dmlops.devices()[0]
    assert dmlops.asarray(X, device="auto").device == best
    assert dmlops.empty((2,), device="AUTO").device == best
    dmlops.synchronize("auto")
    assert dmlops.memory_info("auto").pool_limit == dmlops.memory_info(best).pool_limit


NO_DRIVER_IS_LOADED = """
import dmlops, numpy as np
x = np.arange(60000, dtype=np.uint8).reshape(200, 300)
assert (dmlops.slice(x, [0, 0], [200, 300], [1, -1]{}) == x[:, ::-1]).all()
assert "libvulkan" not in open("/proc/self/maps").read()
"""


@pytest.mark.posix
def test_no_driver_is_loaded_for_what_stays_on_the_host():
    support.run_python(NO_DRIVER_IS_LOADED.format(", device='auto'"), env={"DMLOPS_DEVICE": None})
    support.run_python(NO_DRIVER_IS_LOADED.format(""), env={"DMLOPS_DEVICE": "Auto"})
    support.run_python("import dmlops\ndmlops.set_default_device('auto')" + NO_DRIVER_IS_LOADED.format(""))


WITHOUT_A_DRIVER = """
import dmlops, numpy as np
x = np.arange(1 << 24, dtype=np.uint8).reshape(4096, 4096)
assert (dmlops.transpose(x, device="auto") == x.T).all()
assert dmlops.asarray(1, device="auto").device.name == "host"
assert dmlops.default_device().name == "host", dmlops.default_device()
print(dmlops.default_device().chosen_by)
"""


@pytest.mark.needs_variables
def test_without_a_driver_all_work_is_the_hosts():
    said = support.run_python(WITHOUT_A_DRIVER, env={**support.NO_VULKAN, "DMLOPS_DEVICE": "auto"}).stdout
    assert said.startswith("DMLOPS_DEVICE=auto: ")


def test_a_call_runs_where_its_estimate_is_lower(vulkan):
    """As the kernels that were run tell, for calls on either side of the border."""
    calls = {
        "slice(uint8[2, 3], [0, 0], [2, 3], [1, -1])": lambda: mirror(np.zeros((2, 3), "u1"), device="auto"),
        "tile(uint8[4096, 4096], [2, 2])": lambda: dmlops.tile(np.zeros((4096, 4096), "u1"), [2, 2], device="auto"),
    }
    for text, call in calls.items():
        on_host, on_device = explain.estimates(text, "auto")
        before = sum(_core._counts(vulkan))
        call()
        ran = sum(_core._counts(vulkan)) > before
        assert ran == (on_device < on_host), (text, on_host, on_device)


# From 4 KiB on: below, a device takes whichever kernel there is already, and not the fastest.
@given(st.integers(3, 2000), st.sampled_from("1248"))
def test_estimates_grow_with_the_work(rows, size):
    call = "transpose(uint{}[{},640,3], (0,2,1))".format
    for side in (0, 1):
        less, more = (explain.estimates(call(8 * int(size), n), "auto")[side] for n in (rows, 2 * rows))
        assert 0 < less <= more


def test_explain_prints_both_estimates(vulkan):
    name = dmlops.devices()[0].name
    text = explain.explain("slice(uint8[20, 30], [0, 0], [20, 30], [1, -1])", "auto")
    assert text.startswith("auto: on host, which is estimated to take ") and name in text.splitlines()[0]
    command = ("-m", "dmlops", "explain", "transpose(float32[200,300])")
    for variable, arguments in ((None, (*command, "--device", "auto")), ("auto", command)):
        said = support.run_python(None, args=arguments, env={"DMLOPS_DEVICE": variable}).stdout
        assert said.startswith("auto: on ") and name in said, said


LACKING = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # of the host's estimate
import dmlops, numpy as np
from dmlops import _core
assert dmlops.devices()[0].type == "discrete"
x = np.random.default_rng(0).integers(0, 256, (100, 100, 3), np.uint8)
resize = dmlops.fuse(lambda x: dmlops.resize_pillow(x, (700, 700), "lanczos"))
expected = resize(x, device="host")
def ran(**how):
    before = sum(_core._counts(0))
    assert (resize(x, **how) == expected).all()
    return sum(_core._counts(0)) > before
assert ran(device="auto") and ran() and ran(device=0)
assert "auto: on llvmpipe" in repr(resize.explain(x))
_core._override("range", 2048)  # rows of an output lie further apart
try:
    ran(device=0)
except ValueError as error:
    assert 'device="host" can' in str(error), error
else:
    raise SystemExit("the device can")
assert not ran(device="auto") and not ran()
said = repr(resize.explain(x)).splitlines()[1]
assert said.startswith("auto: on host, which is estimated to take ") and "; never on " in said, said
"""


@pytest.mark.posix
def test_what_the_best_device_lacks_runs_on_the_host(library):
    support.run_python(LACKING, env=faults.environment(library, discrete=1))


# --- the default of fused functions -----------------------------------------------------------------------------------


@pytest.fixture
def named(monkeypatch):
    """The devices that programs are given."""
    found, run_compiled = [], _core._run_compiled
    monkeypatch.setattr(_core, "_run_compiled", lambda *a: found.append(a[3]) or run_compiled(*a))
    return found


def test_fused_functions_take_auto_unless_a_default_is_chosen(default, named, monkeypatch, vulkan):
    function, picture = dmlops.fuse(lambda x: x[:, ::-1]), np.zeros((60, 80, 3), np.uint8)
    prepare = dmlops.preprocessing({"image_processor_type": "CLIPImageProcessor"}, backend="torchvision")
    monkeypatch.delenv("DMLOPS_DEVICE", raising=False)
    for call in (lambda **how: function(X, **how), lambda **how: prepare(picture, **how)):
        named.clear()
        call(), call(device="host"), call(device=vulkan)
        monkeypatch.setenv("DMLOPS_DEVICE", "")
        call()
        monkeypatch.setenv("DMLOPS_DEVICE", "host")
        call()
        monkeypatch.delenv("DMLOPS_DEVICE")
        default(vulkan)
        call()
        default(None)
        assert named == ["auto", "host", vulkan, "auto", None, None]


def test_operators_that_are_fused_stay_on_the_default_device(named, vulkan):
    pytest.importorskip("einops")
    assert dmlops.roll(X, 1).tolist() == np.roll(X, 1).tolist()
    assert dmlops.rearrange(X, "a b -> b a").tolist() == X.T.tolist()
    assert named == [None, None]


def test_a_fused_function_leaves_device_arrays_where_they_are(device):
    result = dmlops.fuse(lambda x: x[:, ::-1])(dmlops.asarray(X, device=device))
    assert result.device == dmlops.asarray(X, device=device).device and result.tolist() == MIRRORED


FUSED_WITHOUT_A_DRIVER = """
import dmlops, numpy as np
x = np.arange(60000, dtype=np.uint8).reshape(200, 300)
function = dmlops.fuse(lambda x: x[:, ::-1])
assert (function(x) == x[:, ::-1]).all()
assert "libvulkan" not in open("/proc/self/maps").read()
print(function.explain(x))
try:
    dmlops.roll(x, 1)
except dmlops.NoDeviceError:
    print("operators need one")
"""


@pytest.mark.posix
def test_a_fused_function_needs_no_driver():
    said = support.run_python(FUSED_WITHOUT_A_DRIVER, env=support.NO_VULKAN).stdout
    assert "auto: on host; there is no usable Vulkan device" in said and said.endswith("operators need one\n")


def test_explanations_say_where_and_why(default, vulkan):
    function, best = dmlops.fuse(lambda x: x[:, ::-1]), dmlops.devices()[0].name

    def where(x=X, **how):
        return repr(function.explain(x, **how)).splitlines()[1]

    assert where().startswith("auto: on host, which is estimated to take ") and best in where()
    assert where(device="host") == "on host, which is named"
    assert where(device=vulkan) == f"on device {vulkan}, which is named"
    assert where(device=dmlops.devices()[vulkan]) == f"on {dmlops.devices()[vulkan].name}, which is named"
    assert where(dmlops.asarray(X, device="host")) == "on host, where its arrays are"
    default("host")
    assert where() == "on host, the default device: set_default_device('host')"
    default("auto")
    assert where().startswith("auto: on host, which is estimated to take ")
    default(None)
    assert explain.explain("roll(int64[2,3], 1)").splitlines()[1].startswith(f"on {best}, the default device: ")


def test_each_pass_runs_where_it_takes_least(vulkan, monkeypatch):
    """And an explanation says so of each, where they differ."""
    function = dmlops.fuse(lambda x: dmlops.resize_pillow(x, (20, 24))[:, ::-1])
    said = explained.said_of_auto
    monkeypatch.setattr(explained, "said_of_auto", lambda weighed, host, device: said(weighed, *sorted((host, device))[::-1])
                        if host < 5000 else said(weighed, host, device))  # fmt: skip
    lines = repr(function.explain(np.zeros((400, 500, 3), np.uint8))).splitlines()
    assert lines[1].startswith("pass 1: auto: on host, ")
    assert lines[2].startswith("pass 2: auto: on ") and "on host" not in lines[2]
    assert any("pieces: 1" in line for line in lines[3:])


# --- set_default_device -----------------------------------------------------------------------------------------


def test_the_default_can_be_set(vulkan, default):
    best = dmlops.devices()[0]
    for said, device in (("host", dmlops.devices()[-1]), (best, best), (vulkan, best), (best.name, best), ("auto", best)):
        default(said)
        assert dmlops.default_device() == device and dmlops.asarray(X).device == device
        assert dmlops.default_device().chosen_by.startswith(f"set_default_device({said!r})")
        assert mirror().tolist() == MIRRORED
    default(None)
    assert "set_default_device" not in dmlops.default_device().chosen_by


def test_indices_are_checked_wherever_the_default_is(vulkan, default):
    """The host finds those that are out of range while it moves, others before; a device is asked for only where it is used."""
    x, right, wrong = np.arange(5.0), np.array([4, -5]), np.array([0, -6])
    for name in (None, "host", "Auto", vulkan, dmlops.devices()[-1]):
        default(name)
        assert _core._may_be_host(None) == _core._may_be_host(name) == (name is not None and name != vulkan)
        assert dmlops.take(x, right).tolist() == [4, 0]
        assert dmlops.put_along_axis(x, right, [8, 9], 0).tolist() == [9, 1, 2, 3, 8]
        for call in (lambda: dmlops.take(x, wrong), lambda: dmlops.put_along_axis(x, wrong, 0, 0)):
            with pytest.raises(IndexError, match=r"indices\[1\] is -6"):
                call()


def test_an_argument_wins_over_the_default(vulkan, default):
    default("host")
    assert dmlops.asarray(X, device=vulkan).device.index == vulkan


def test_the_default_wins_over_the_environment():
    code = "import dmlops\ndmlops.set_default_device('host')\nprint(dmlops.asarray(1).device.name)"
    assert support.run_python(code, env={"DMLOPS_DEVICE": "gtx-9999"}).stdout == "host\n"


@pytest.mark.parametrize("wrong", ["gtx-9999", 99, -1, 1.5, [], b"host"])
def test_a_wrong_default_changes_nothing(vulkan, default, wrong):
    default("host")
    with pytest.raises((ValueError, TypeError)):
        default(wrong)
    assert dmlops.default_device().name == "host" and "'host'" in dmlops.default_device().chosen_by


@pytest.mark.needs_variables
def test_without_a_driver_only_the_host_can_be_the_default():
    code = """
import dmlops
for wrong in (0, "cpu", "llvmpipe"):
    try:
        dmlops.set_default_device(wrong)
    except dmlops.NoDeviceError:
        continue
    raise SystemExit(wrong)
dmlops.set_default_device("host")
dmlops.set_default_device("auto")
print(dmlops.default_device().name)
"""
    assert support.run_python(code, env=support.NO_VULKAN).stdout == "host\n"


@pytest.mark.needs_fork
def test_a_forked_child_keeps_the_default():
    code = """
import os, dmlops
dmlops.set_default_device("host")
if os.fork() == 0:
    print(dmlops.asarray(1).device.name, dmlops.default_device().chosen_by, flush=True)
    os._exit(0)
os.wait()
"""
    assert support.run_python(code).stdout == "host set_default_device('host')\n"
