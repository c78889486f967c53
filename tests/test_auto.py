"""device="auto": results as on any device, run where they are estimated to take less time; and set_default_device."""

import dmlops
import numpy as np
import pytest
from dmlops import _core, explain
from hypothesis import given
from hypothesis import strategies as st

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
