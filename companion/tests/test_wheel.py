"""What is in the wheel, what it needs, and that the driver in it runs wherever its tag says."""

import importlib.util
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

DEVICES = Path(__file__).with_name("devices.py")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def test_size(wheel):
    assert wheel.stat().st_size < 20e6


def test_installs_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    wanted = ["__init__.py", "build.json", "libvulkan_lvp.so", "lvp_icd.json", "py.typed"]
    assert names == {f"dmlops_lavapipe/{name}" for name in wanted}


def test_exports_the_three_entry_points_alone(driver):
    rows = [line.split() for line in readelf("--dyn-syms", driver).splitlines()]
    defined = [row for row in rows if len(row) > 7 and row[4] in ("GLOBAL", "WEAK") and row[6].isdigit()]
    exported = {row[7].removeprefix("vk_icd") for row in defined}
    assert exported == {"NegotiateLoaderICDInterfaceVersion", "GetInstanceProcAddr", "GetPhysicalDeviceProcAddr"}


def test_needs_libc_alone(driver):
    dynamic = readelf("-d", driver)
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", dynamic))
    assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
    assert "RUNPATH" not in dynamic and "RPATH" not in dynamic and "TEXTREL" not in dynamic


def test_tag_names_the_oldest_libc_that_runs_it(wheel, driver):
    tags = [tuple(map(int, tag)) for tag in re.findall(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)]
    needed = [tuple(map(int, version)) for version in re.findall(r"GLIBC_(\d+)\.(\d+)", readelf("--version-info", driver))]
    assert wheel.name.startswith("dmlops_lavapipe-") and "-py3-none-" in wheel.name
    assert max(needed) <= min(tags)
    if json.loads((driver.parent / "build.json").read_text())["suite"] == "bullseye":
        assert min(tags) <= (2, 28)


def test_has_a_build_id(driver):
    assert "Build ID" in readelf("-n", driver)  # Mesa's shader cache is named after it


def test_module(python):
    program = """if True:
        import json, dmlops_lavapipe as package
        manifest = json.loads(package.manifest_path().read_text())
        library = package.manifest_path().parent / manifest["ICD"]["library_path"]
        assert library.resolve() == package.driver_path() and package.driver_path().is_file()
        info = package.build_info()
        assert package.__version__.startswith(info["mesa"] + ".") and info["patches"]
        names = [path.name for path in package.licence_files() if path.stat().st_size > 100]
        assert len(names) == len(package.licence_files())
        for part in "mesa", "llvm", "libstdc++", "zlib", "zstd":
            assert any(part in name for name in names), (part, names)
    """
    python("-c", program)


def test_device_without_a_loader(python):
    devices = python(DEVICES).splitlines()
    assert len(devices) == 1 and devices[0].startswith("llvmpipe (LLVM ")


@pytest.mark.parametrize("library", ["tensorflow", "torch", "openvino", "numba"])
def test_beside_libraries_that_have_an_llvm_of_their_own(python, library):
    if not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed")
    assert "llvmpipe" in python(DEVICES, library)
