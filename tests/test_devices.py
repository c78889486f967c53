"""Which devices there are, how one is chosen, and what is said where there is none."""

import os
import re

import dmlops
import numpy as np
import pytest

import support

ATTRIBUTES = {
    "index": int,
    "name": str,
    "type": str,
    "driver": str,
    "api_version": str,
    "memory": int,
    "usable": bool,
    "reason": (str, type(None)),
}
BEST_FIRST = ["discrete", "integrated", "virtual", "cpu", "other", "host"]
X = np.arange(6).reshape(2, 3)
MIRRORED = X[:, ::-1].tolist()


def mirror(**more):
    return dmlops.slice(X, [0, 0], [2, 3], [1, -1], **more)


def test_attributes(vulkan):
    devices = dmlops.devices()
    assert type(devices) is list
    for place, device in enumerate(devices):
        for name, kind in ATTRIBUTES.items():
            assert isinstance(getattr(device, name), kind), (name, getattr(device, name))
        assert device.index == place
        assert device.usable == (not device.reason)
        assert device.name in repr(device)
    best = devices[vulkan]
    assert re.fullmatch(r"\d+\.\d+\.\d+", best.api_version) and best.memory > 2**28 and best.driver


def test_best_first_and_the_host_last(vulkan):
    devices = dmlops.devices()
    usable = [device.type for device in devices if device.usable]
    assert usable == sorted(usable, key=BEST_FIRST.index)
    assert usable.count("host") == 1
    assert [device.usable for device in devices] == sorted((device.usable for device in devices), reverse=True)


def test_every_way_to_name_a_device(vulkan):
    device = dmlops.devices()[vulkan]
    for said in (device, device.index, np.int8(device.index), str(device.index), device.name, device.name[:5].upper()):
        assert mirror(device=said).tolist() == MIRRORED
    assert mirror(device="HOST").tolist() == MIRRORED
    assert mirror(device=None).tolist() == MIRRORED


def test_an_unknown_name_lists_the_known(vulkan):
    with pytest.raises(ValueError, match="gtx-9999") as caught:
        mirror(device="gtx-9999")
    assert dmlops.devices()[vulkan].name in str(caught.value) and "host" in str(caught.value)


def test_part_of_a_name_never_means_the_host():
    with pytest.raises(ValueError, match="hos"):
        mirror(device="hos")


WHERE = """
import dmlops, numpy as np
x = np.arange(6).reshape(2, 3)
assert dmlops.slice(x, [0, 0], [2, 3], [1, -1]).tolist() == x[:, ::-1].tolist()
print("on Vulkan" if "libvulkan.so" in open("/proc/self/maps").read() else "on the host")
"""


@pytest.mark.parametrize("chosen", ["host", "HOST"])
def test_the_environment_chooses_the_host(chosen):
    assert support.run_python(WHERE, env={**support.NO_VULKAN, "DMLOPS_DEVICE": chosen}).returncode == 0


def test_the_environment_chooses_by_name_and_index(vulkan):
    device = dmlops.devices()[vulkan]
    for chosen in (None, "", str(device.index), device.name, device.name[:6].upper()):
        assert support.run_python(WHERE, env={"DMLOPS_DEVICE": chosen}).stdout == "on Vulkan\n", chosen


def test_an_argument_wins_over_the_environment():
    code = WHERE.replace("[1, -1])", "[1, -1], device='host')")
    support.run_python(code, env={**support.NO_VULKAN, "DMLOPS_DEVICE": "gtx-9999"})


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


def test_no_driver():
    text = support.run_python(NOTHING, env=support.NO_VULKAN).stdout
    assert "mesa-vulkan-drivers" in text and 'device="host"' in text


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


def test_no_loader(no_loader):
    text = support.run_python(NOTHING, env=no_loader).stdout
    assert "libvulkan1" in text and 'device="host"' in text


def test_the_host_works_without_a_loader(no_loader):
    assert support.run_python(WHERE, env={**no_loader, "DMLOPS_DEVICE": "host"}).stdout == "on the host\n"
