"""Which devices there are, how one is chosen, and what is said where there is none."""

import dataclasses
import importlib.util
import os
import pickle
import re

import dmlops
import dmlops.reference as reference
import numpy as np
import pytest
from dmlops import operators

import support

ATTRIBUTES = {
    "index": (int, type(None)),
    "name": str,
    "type": str,
    "driver": str,
    "api_version": str,
    "memory": int,
    "usable": bool,
    "reason": str,
    "chosen_by": str,
}
BEST_FIRST = ["discrete", "integrated", "virtual", "cpu", "other", "host"]
X = np.arange(6).reshape(2, 3)
MIRRORED = X[:, ::-1].tolist()


def mirror(**more):
    return dmlops.slice(X, [0, 0], [2, 3], [1, -1], **more)


def test_attributes(vulkan):
    devices = dmlops.devices()
    assert isinstance(devices, list)
    for position, device in enumerate(devices):
        assert [field.name for field in dataclasses.fields(device)] == list(ATTRIBUTES)
        for name, kind in ATTRIBUTES.items():
            assert isinstance(getattr(device, name), kind), (name, getattr(device, name))
        assert device.index == (None if device.type == "host" else position)
        assert device.usable == (not device.reason)
        assert device.name in repr(device)
    best = devices[vulkan]
    assert re.fullmatch(r"\d+\.\d+\.\d+", best.api_version) and best.memory > 2**28 and best.driver


def test_best_first_and_the_host_last(vulkan):
    *devices, host = dmlops.devices()
    usable = [device.type for device in devices if device.usable]
    assert usable == sorted(usable, key=BEST_FIRST.index)
    assert host.type == "host" and host.usable and "host" not in usable
    assert [device.usable for device in devices] == sorted((device.usable for device in devices), reverse=True)


def test_a_device_is_a_frozen_value(device):
    (one,) = [one for one in dmlops.devices() if one.index == (None if device == "host" else device)]
    twin = pickle.loads(pickle.dumps(one))
    assert twin == one and hash(twin) == hash(one) and mirror(device=twin).tolist() == MIRRORED
    assert one == dmlops.asarray(X, device=device).device
    assert one != dataclasses.replace(one, name="other") and one != dataclasses.astuple(one)
    with pytest.raises(AttributeError):
        one.name = "other"
    with pytest.raises((AttributeError, TypeError)):  # TypeError in Python 3.11
        one.more = 1
    assert not isinstance(one, tuple)


def test_a_device_of_another_machine_is_none_of_this_one(vulkan):
    other = dataclasses.replace(dmlops.devices()[vulkan], driver="another driver")
    with pytest.raises(ValueError, match="matches no device"):
        mirror(device=other)


def test_every_way_to_name_a_device(vulkan):
    device = dmlops.devices()[vulkan]
    ways = [device, device.index, np.int8(device.index), str(device.index), device.name, device.name[:5].upper()]
    for said in (*ways, device.type, device.type.upper()):
        assert mirror(device=said).tolist() == MIRRORED
        assert dmlops.asarray(X, device=said).device == device
    assert mirror(device="HOST").tolist() == MIRRORED
    assert mirror(device=None).tolist() == MIRRORED


def test_an_unknown_name_lists_the_known(vulkan):
    with pytest.raises(ValueError, match="gtx-9999") as caught:
        mirror(device="gtx-9999")
    assert dmlops.devices()[vulkan].name in str(caught.value) and "host" in str(caught.value)


def test_part_of_a_name_never_means_the_host():
    with pytest.raises(ValueError, match="hos"):
        mirror(device="hos")


def test_no_number_means_the_host(vulkan):
    for number in (len(dmlops.devices()) - 1, len(dmlops.devices()), -1):
        for said in (number, str(number)):
            choices = "0 = .*, 'auto', 'gpu', 'host'"
            with pytest.raises(ValueError, match=f"^device={said!r} matches no device; choose one of: {choices}$"):
                mirror(device=said)


def test_a_type_of_which_there_is_none(vulkan):
    absent = {"discrete", "integrated", "virtual", "other"} - {device.type for device in dmlops.devices() if device.usable}
    if not absent:
        pytest.skip("this machine has a device of each type")
    for said in absent:
        with pytest.raises(ValueError, match=f"^device='{said}' matches no device"):
            mirror(device=said)


# --- the default ------------------------------------------------------------------------------------------------

DEFAULT = """
import dmlops, numpy as np
default = dmlops.default_device()
assert default in dmlops.devices() and dmlops.asarray(1, device=default).device == default
assert dmlops.asarray(1).device == default
print(default.name, default.chosen_by, repr(default), sep=chr(10))
"""


def test_the_default_is_the_best_device(vulkan):
    name, chosen_by, shown = support.run_python(DEFAULT, env={"DMLOPS_DEVICE": None}).stdout.splitlines()
    assert name == dmlops.devices()[0].name and chosen_by == "best usable Vulkan device"
    assert chosen_by in shown and name in shown


def test_the_default_is_what_the_environment_names(vulkan):
    for variable, name in (("cpu", dmlops.devices()[vulkan].name), ("host", "host")):
        if variable != "host" and dmlops.devices()[vulkan].type != variable:
            continue
        said = support.run_python(DEFAULT, env={"DMLOPS_DEVICE": variable}).stdout.splitlines()
        assert said[:2] == [name, f"DMLOPS_DEVICE={variable}"]


# --- the environment --------------------------------------------------------------------------------------------


WHERE = """
import dmlops, numpy as np
x = np.arange(6).reshape(2, 3)
assert dmlops.slice(x, [0, 0], [2, 3], [1, -1]).tolist() == x[:, ::-1].tolist()
print("on Vulkan" if "libvulkan" in open("/proc/self/maps").read() else "on the host")
"""


@pytest.mark.posix
@pytest.mark.parametrize("chosen", ["host", "HOST"])
def test_the_environment_chooses_the_host(chosen):
    assert support.run_python(WHERE, env={**support.NO_VULKAN, "DMLOPS_DEVICE": chosen}).returncode == 0


@pytest.mark.posix
def test_the_environment_chooses_by_name_and_index(vulkan):
    device = dmlops.devices()[vulkan]
    for chosen in (None, "", str(device.index), device.name, device.name[:6].upper()):
        assert support.run_python(WHERE, env={"DMLOPS_DEVICE": chosen}).stdout == "on Vulkan\n", chosen


@pytest.mark.posix
def test_an_argument_wins_over_the_environment():
    code = WHERE.replace("[1, -1])", "[1, -1], device='host')")
    support.run_python(code, env={**support.NO_VULKAN, "DMLOPS_DEVICE": "gtx-9999"})


@pytest.mark.posix
def test_an_unknown_device_in_the_environment():
    done = support.run_python(WHERE, env={"DMLOPS_DEVICE": "gtx-9999"}, check=False)
    assert "ValueError" in done.stderr and "DMLOPS_DEVICE" in done.stderr and "gtx-9999" in done.stderr


NOTHING = """
import dmlops, numpy as np
devices = dmlops.devices()
assert [device.name for device in devices] == ["host"], devices
for x in (np.arange(4), np.arange(0)):
    try:
        dmlops.slice(x, [0], [x.size])
    except dmlops.NoDeviceError as error:
        assert isinstance(error, dmlops.VulkanError) and error.result is None, error.result
        text = str(error)
    else:
        raise SystemExit("ran without a device")
assert dmlops.slice(np.arange(4), [0], [4], [-1], device="host").tolist() == [3, 2, 1, 0]
assert dmlops.slice(np.arange(4), [0], [4], [-1], device=devices[0]).tolist() == [3, 2, 1, 0]
print(text)
"""


@pytest.mark.parametrize("name", [" ", ",", " , ", "(", ".", "\t"])
def test_a_name_needs_a_letter_or_digit(vulkan, name):
    """Spaces and commas are a part of most names."""
    with pytest.raises(ValueError, match=re.escape(f"device={name!r} matches no device; choose one of")):
        dmlops.asarray([1], device=name)
    code = "import dmlops\ntry: dmlops.default_device()\nexcept ValueError as error: print(error)"
    said = support.run_python(code, env={"DMLOPS_DEVICE": name}).stdout
    assert said.startswith(f"DMLOPS_DEVICE={name!r} matches no device")


@pytest.mark.needs_variables
def test_no_driver():
    text = support.run_python(NOTHING, env=support.NO_VULKAN).stdout
    assert "no Vulkan driver was found" in text and "mesa-vulkan-drivers" in text and 'device="host"' in text


@pytest.mark.parametrize("variable", ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"])
def test_what_the_environment_names_is_no_driver(variable, vulkan):
    """To install one does not help then: the variable is named."""
    text = support.run_python(NOTHING, env={**support.NO_CHOICE, variable: "/nope.json", "DMLOPS_DEVICE": None}).stdout
    assert text.startswith("no Vulkan driver was found; ") and 'device="host"' in text
    advice, install = f"{variable} is set, and only what it names is used: python -m dmlops says why not", support.PIP_INSTALL
    assert advice in text and text.index(advice) < text.index(f"without it: {install}" if install in text else "without it: ")


NO_FALL_BACK = """
import dmlops, numpy as np, sys
calls = {
    "slice": lambda **more: dmlops.slice(np.arange(4), [0], [4], **more),
    "asarray": lambda **more: dmlops.asarray(1, **more),
    "memory_info": dmlops.memory_info,
    "synchronize": dmlops.synchronize,
}
for name, call in calls.items():
    for device in (0, 1, -1, "0", "llvmpipe", "cpu", "gpu", "other"):
        try:
            call(device=device)
        except dmlops.NoDeviceError as error:
            assert str(error).startswith(f"device={device!r}: no Vulkan driver was found; "), error
            assert "mesa-vulkan-drivers" in str(error) and str(error).endswith('(device="host" runs without Vulkan)'), error
        else:
            raise SystemExit(f"{name} ran on the host, which was not asked for by {device!r}")
assert calls["slice"](device="host").tolist() == [0, 1, 2, 3]
"""


@pytest.mark.needs_variables
def test_without_a_driver_only_the_hosts_name_means_the_host():
    support.run_python(NO_FALL_BACK, env=support.NO_VULKAN)


@pytest.mark.posix
@pytest.mark.parametrize("variable", ["0", "llvmpipe", "gpu"])
def test_without_a_driver_the_environment_does_not_fall_back(variable):
    for code in (WHERE, DEFAULT):
        done = support.run_python(code, env={**support.NO_VULKAN, "DMLOPS_DEVICE": variable}, check=False)
        assert f"NoDeviceError: DMLOPS_DEVICE='{variable}': no Vulkan driver was found; " in done.stderr
        assert "mesa-vulkan-drivers" in done.stderr and "(DMLOPS_DEVICE=host runs without Vulkan)" in done.stderr


# --- python -m dmlops -------------------------------------------------------------------------------------------


def command_line(*arguments, **environment):
    return support.run_python(None, args=("-m", "dmlops", *arguments), env=environment).stdout


def test_info_marks_the_default(vulkan):
    best = dmlops.devices()[0]
    text = command_line(DMLOPS_DEVICE=None)
    assert "DMLOPS_DEVICE: not set" in text
    assert f"Default device, marked *: {best.name} (best usable Vulkan device)" in text
    (marked,) = [line for line in text.splitlines() if line.startswith("*")]
    assert marked.split()[1] == "0" and best.name in marked and best.driver in marked
    assert text == command_line("info", DMLOPS_DEVICE=None)


def test_info_reports_the_variable(vulkan):
    text = command_line(DMLOPS_DEVICE="host")
    assert "DMLOPS_DEVICE: host\n" in text and "host (DMLOPS_DEVICE=host)" in text
    (marked,) = [line for line in text.splitlines() if line.startswith("*")]
    assert marked.split()[1:3] == ["-", "host"]


def test_info_reports_a_variable_that_matches_nothing(vulkan):
    text = command_line(DMLOPS_DEVICE="gtx-9999")
    assert "DMLOPS_DEVICE: gtx-9999\n" in text
    assert "Default device: none; DMLOPS_DEVICE='gtx-9999' matches no device; choose one of: 0 = " in text
    assert dmlops.devices()[vulkan].driver in text and "*" not in text


@pytest.mark.needs_variables
def test_info_without_a_driver():
    for variable in (None, "0"):
        text = command_line(**{**support.NO_VULKAN, "DMLOPS_DEVICE": variable})
        assert "Vulkan: no Vulkan driver was found" in text and "mesa-vulkan-drivers" in text
        assert "Default device: none; " in text and "DMLOPS_DEVICE=host" in text
        assert "*" not in text


def test_selftest():
    text = command_line("selftest", **{**support.NO_VULKAN, "DMLOPS_DEVICE": None})
    passed = re.findall(r"^ok    host: (\w+),", text, re.MULTILINE)
    einops = ["rearrange", "repeat"] if importlib.util.find_spec("einops") else []
    assert sorted(passed) == sorted({*reference.__all__, *operators.COMPOSED, *einops, "fuse"}) and ", 0 calls" not in text
    assert re.search(r"^left out:.* dmlops\.dask, ", text, re.MULTILINE)
    assert ("rearrange" in text.partition("left out:")[2]) == (not einops)


def test_the_selftest_compares_fused_functions_with_their_twins(monkeypatch):
    """Also those that resize."""
    from dmlops.__main__ import _cases, _first_problem
    from dmlops.fusion import reference as by_numpy

    calls, host = _cases()["fuse"], dmlops.devices()[-1]
    assert _first_problem("fuse", calls, host) is None
    twin = by_numpy.resampled
    monkeypatch.setattr(by_numpy, "resampled", lambda *args: twin(*args) ^ 1)
    problem = _first_problem("fuse", calls, host)
    assert problem is not None and problem.endswith("differs from NumPy") and "uint8 (33, 47, 3)" in problem


@pytest.mark.parametrize("wrong", ["nonsense", "--nonsense", "info nonsense", "selftest --nonsense"])
def test_wrong_commands_are_refused(wrong):
    done = support.run_python(None, args=("-m", "dmlops", *wrong.split()), check=False)
    assert done.returncode == 2 and "nonsense" in done.stderr


def test_commands_have_help():
    assert command_line("--version") == f"dmlops {dmlops.__version__}\n"
    assert "selftest" in command_line("--help") and "NumPy" in command_line("selftest", "--help")


def test_the_demo_does_not_fall_back(tmp_path):
    for package in ("skimage", "sklearn", "PIL"):
        pytest.importorskip(package, reason=f"the demo needs {package}, which this environment has not")
    demo = str(support.ROOT / "examples" / "demo.py")
    done = support.run_python(None, args=(demo,), env=support.NO_VULKAN, check=False, cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr and not list(tmp_path.iterdir())
    assert "no Vulkan driver was found" in done.stderr and "DMLOPS_DEVICE=host make demo" in done.stderr


# --- no loader --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def no_loader(tmp_path_factory):
    """The environment of a machine without libvulkan: a dlopen that does not find it."""
    folder = tmp_path_factory.mktemp("no_loader")
    (folder / "no_loader.c").write_text("""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    static void *(*next)(const char *, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return name && strstr(name, "libvulkan") ? NULL : next(name, flags);
}
""")
    support.compile_c(["-shared", "-fPIC", "-o", folder / "no_loader.so", folder / "no_loader.c", "-ldl"])
    preload = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(folder / "no_loader.so")]))
    return {"LD_PRELOAD": preload, "DMLOPS_DEVICE": None, "VK_INSTANCE_LAYERS": None}


@pytest.mark.posix
def test_no_loader(no_loader):
    text = support.run_python(NOTHING, env=no_loader).stdout
    assert "libvulkan1" in text and 'device="host"' in text


@pytest.mark.posix
def test_the_host_works_without_a_loader(no_loader):
    assert support.run_python(WHERE, env={**no_loader, "DMLOPS_DEVICE": "host"}).stdout == "on the host\n"
