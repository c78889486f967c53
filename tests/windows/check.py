"""The wheel for Windows, under wine: installed by pip, its self-test, the portable part of the suite, drivers in odd folders.

`make check-windows` runs it. Its name keeps it out of the suite. Two drivers: lavapipe, by wine's own Vulkan, and SwiftShader
for Windows, by Khronos' loader.
"""

import contextlib
import glob
import shutil
import sys

import pytest
import wine

sys.path.insert(0, str(wine.ROOT / "tools"))

import windows_vulkan

pytestmark = pytest.mark.timeout(1500)

UMLAUTS, LONG = "Ünïcödé with spaces", "/".join(["a" * 100] * 4)
# Without a driver; wine's own loader, which is this system's; Khronos', which lies beside python.exe.
NONE, WINES, KHRONOS = ({"WINEDLLOVERRIDES": f"vulkan-1={order}"} for order in ("d", "b", "n;winevulkan=d"))
# How a driver is opened without the loader, and what devices it has.
PROBE = "import sys; from dmlops import _core; print(_core._probe_driver(sys.argv[1])[1:])"
CALL = """
import dmlops, numpy as np
x = np.arange(60, dtype=np.uint16).reshape(3, 4, 5)
assert np.array_equal(dmlops.slice(x, [0, 0, 0], [3, 4, 5], [1, -1, 2]), x[:, ::-1, ::2])
print(dmlops.devices()[0].name)
"""
SUITE = "import sys, pytest; sys.exit(pytest.main(['-q', '-rs', '-p', 'no:cacheprovider', *sys.argv[1:]]))"
# Without the tests of sources, of kernels, and those most of which are `posix` or slow.
PORTABLE = [
    f"test_{name}.py"
    for name in (
        "array_api array_functions auto comparison conformance devices dlpack errors examples explain fuse fuse_arithmetic "
        "indexing manners other_forms other_systems out progress reference slice_from_key threads"
    ).split()
]


@contextlib.contextmanager
def needed():
    """What is not to be had is the reason why a test is skipped."""
    try:
        yield
    except wine.Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def windows():
    with needed(), wine.Machine() as running:
        yield running


def installed(windows, version):
    """Python with dmlops and what the tests need."""
    with needed():
        python = wine.Python(windows, version)
    python.install("--force-reinstall", "--no-deps", "dmlops")
    return python


@pytest.fixture(scope="module")
def machine(windows):
    return installed(windows, wine.WHOLE)


@pytest.fixture(scope="module")
def lavapipe():
    """The variables of a program that runs on it."""
    manifests = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
    if not manifests:
        pytest.skip("lavapipe is not installed")
    # What begins with WINE is for the program, in which wine sets no VK_* of this system's.
    return {**WINES, "VK_DRIVER_FILES": manifests[0], "WINEVK_DRIVER_FILES": wine.windows_path(manifests[0])}


@pytest.fixture(scope="module")
def swiftshader():
    """The folder with its library, its manifest and Khronos' loader."""
    return windows_vulkan.extract(wine.BUILD / "vulkan").parent


@pytest.fixture
def by_the_loader(machine, swiftshader):
    """The variables of a program that finds it in the registry: in wine every program is an administrator's."""
    machine.run(wine.windows_path(wine.ROOT / "tools" / "windows_vulkan.py"), wine.windows_path(swiftshader), "--install")
    yield KHRONOS
    (machine.folder / "vulkan-1.dll").unlink()


def run_selftest(machine, device, **variables):
    """Which ends with status 0; every operator passes on the host, and on this device."""
    printed = machine.run("-m", "dmlops", "selftest", **variables)
    passed = [line.rpartition(":") for line in printed.splitlines() if line.startswith("ok ")]
    operators = [[text.split(",")[0] for name, _, text in passed if part in name] for part in ("host", device)]
    assert operators[0] == operators[1] and " slice" in operators[0] and "FAIL" not in printed, printed


def run_suite(machine, *names, **variables):
    """Quick tests of these; the reasons of those that cannot run there are printed."""
    variables |= {"HYPOTHESIS_PROFILE": "odd", "cwd": wine.ROOT / "tests", "limit": 1200}
    printed = machine.run("-c", SUITE, "-m", "quick", *names, **variables)
    print("", *[line for line in printed.splitlines() if line.startswith("SKIPPED") or " passed" in line], sep="\n    ")


def test_info_without_a_driver(machine):
    """It says what a user there would do next."""
    said = machine.run("-m", "dmlops", **NONE)
    assert "Vulkan: the Vulkan loader is not installed; install the current driver of the GPU's maker" in said, said
    assert "apt" not in said and 'device="host"' in said


def test_selftest_on_the_host(machine):
    run_selftest(machine, "host", **NONE)


def test_selftest_on_lavapipe(machine, lavapipe):
    run_selftest(machine, "llvmpipe", **lavapipe)


def test_swiftshader_by_the_loader(machine, by_the_loader):
    """Whose manifest names a library beside it. The self-test takes ten minutes on it."""
    said = machine.run("-m", "dmlops", **by_the_loader)
    (line,) = [line for line in said.splitlines() if ", by the loader " in line]
    assert line.startswith("  0  ") and "vk_swiftshader.dll" in line and "vk_swiftshader_icd.json" in line, said
    assert "SwiftShader" in machine.run("-c", CALL, **by_the_loader)


def test_a_closed_pipe(machine):
    """As of `| head`, by Windows' own pipes."""
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "dmlops"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
child.stdout.close()
print(child.stderr.read(), child.wait())
"""
    assert machine.run("-c", code).split() == ["b''", "1"]


@pytest.mark.parametrize("folder", [UMLAUTS, "\u65e5\u672c", LONG, f"{UMLAUTS}/{LONG}"])
def test_a_driver_in_any_folder(folder, machine, swiftshader):
    place = wine.BUILD / "drivers" / folder
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(swiftshader / "vk_swiftshader.dll", place)
    path = wine.windows_path(place / "vk_swiftshader.dll")
    assert "SwiftShader" in machine.run("-X", "utf8", "-c", PROBE, path)


@pytest.mark.parametrize("name", [r".\vk_swiftshader.dll", "vk_swiftshader.dll"])
def test_the_current_folder(name, machine, swiftshader):
    """A path may begin there; a name is looked for neither there nor in PATH."""
    said = machine.run("-c", PROBE, name, cwd=swiftshader, WINEPATH=wine.windows_path(swiftshader))
    assert ("SwiftShader" in said) == name.startswith("."), said


def test_the_suite_on_the_host(machine, lavapipe):
    """With a driver, since some errors are of its devices. Tests that cannot run there say why."""
    run_suite(machine, "directml", *PORTABLE, DMLOPS_TEST_DEVICES="host", **lavapipe)


@pytest.mark.parametrize("version", [version for version in wine.SUITES if version != wine.WHOLE])
def test_another_python(version, windows, lavapipe):
    """The wheel is for all: it is installed, its self-test passes, and tests of results, errors, threads and this system."""
    python = installed(windows, version)
    run_selftest(python, "llvmpipe", **lavapipe)
    names = [f"test_{name}.py" for name in ("conformance", "errors", "other_systems", "threads")]
    run_suite(python, *names, DMLOPS_TEST_DEVICES="host", **lavapipe)


def test_the_suite_on_lavapipe(machine, lavapipe):
    run_suite(machine, "test_conformance.py", "test_threads.py", DMLOPS_TEST_DEVICES="vulkan", **lavapipe)
