"""A companion's driver, used without the loader: when that is done, what is said where it fails, two instances at once.

The companion is a package made here. Its driver is a mock, as is the loader, except where lavapipe is asked for. Whether there
is a GPU is what an environment variable says.
"""

import json
import os
import pathlib
import shutil

import dmlops
import pytest

import support

pytestmark = [pytest.mark.slow, pytest.mark.driverless, pytest.mark.posix]

# For the question whether the kernel shows a GPU: Python's start-up puts DMLOPS_TEST_NODE, if set, in the place of all files.
GPU = """
import fnmatch, glob, os
glob.glob = lambda pattern: fnmatch.filter([os.environ.get("DMLOPS_TEST_NODE", "")], pattern)
"""
TESTS = support.ROOT / "tests"
NODE = "/dev/dri/renderD128"
CPU = "-DTYPE=VK_PHYSICAL_DEVICE_TYPE_CPU"
LAVAPIPE = "-DDRIVER=VK_DRIVER_ID_MESA_LLVMPIPE"
DOZEN = ['-DNAME="Direct3D (gpu)"', "-DDRIVER=VK_DRIVER_ID_MESA_DOZEN", "-DLUID=7"]
# The name of a library: the macros it is compiled with.
LIBRARIES = {
    "companion": ['-DNAME="companion"', CPU],
    "lavapipe": ['-DNAME="companion"', CPU, LAVAPIPE],
    "adapter": ['-DNAME="companion"', "-DLUID=7"],
    "other_adapter": ['-DNAME="companion"', "-DLUID=8"],
    "dozen": DOZEN,
    "no_entry": ["-DNO_ENTRY"],
    "refuses": ["-DNEGOTIATION=VK_ERROR_INCOMPATIBLE_DRIVER"],
    "old": ["-DVERSION=VK_API_VERSION_1_1"],
    "fails": ["-DCREATION=VK_ERROR_OUT_OF_HOST_MEMORY"],
    "lacks": ['-DLACKS="vkGetPhysicalDeviceFeatures2"'],
    "lacks_creation": ['-DLACKS="vkCreateInstance"'],
    "empty": ["-DDEVICES=0"],
    "enumerates_badly": ["-DDEVICES=VK_ERROR_DEVICE_LOST"],
}
LOADERS = {
    "gpu": ['-DNAME="gpu"'],
    "lavapipe": ['-DNAME="system"', CPU, LAVAPIPE],
    "adapter": ['-DNAME="gpu"', "-DLUID=7"],
    "dozen": DOZEN,
    "empty": ["-DDEVICES=0"],
    "no_loader": ["-DNO_LOADER"],
    "old": ["-DVERSION=VK_API_VERSION_1_1"],
    "bad_driver": ["-DCREATION=VK_ERROR_OUT_OF_HOST_MEMORY"],
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A function that gives the environment of a machine, of a companion's library, a loader, a file that means a GPU."""
    folder = tmp_path_factory.mktemp("machine")
    (folder / "gpu").mkdir()
    (folder / "gpu" / "sitecustomize.py").write_text(GPU)

    def build(path, macros):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-missing-field-initializers", f"-I{TESTS}"]
            shared = ["-shared", "-fPIC", "-fvisibility=hidden", "-o", path]
            support.compile_c([*flags, *macros, *shared, TESTS / "direct.c", "-pthread"])
        return path

    def environment(companion, loader="gpu", node=None, **more):
        library = build(folder / f"lib{companion}.so", LIBRARIES[companion]) if companion in LIBRARIES else companion
        made = {**support.NO_CHOICE, "DMLOPS_TEST_NODE": node, "DMLOPS_DEVICE": None, "PYTHONPATH": str(folder / "gpu")}
        if library:
            made |= support.companion(tmp_path_factory.mktemp("packages"), library)
            made["PYTHONPATH"] += os.pathsep + str(folder / "gpu")
        if loader != "system":
            path = build(folder / loader / "libvulkan.so.1", LOADERS[loader])
            made["LD_LIBRARY_PATH"] = path.parent
        return made | more

    return environment


WAYS = """
import dmlops, json
from dmlops import _core
names = [device.name for device in dmlops.devices()]
ways, of_devices = _core._ways()
print(json.dumps([names, [[direct, library.rpartition("/")[2], reason] for direct, library, reason in ways], of_devices]))
"""


def found(environment):
    """The devices' names without the host, the way of each, all ways ("loader" or "driver"), and the reasons against them."""
    names, ways, of_devices = json.loads(support.run_python(WAYS, env=environment).stdout)
    assert names.pop() == "host" and len(of_devices) == len(names)
    kinds = ["driver" if direct else "loader" for direct, _, _ in ways]
    for direct, library, reason in ways:
        assert library or (not direct and "not installed" in reason)
    return names, [kinds[way] for way in of_devices], kinds, [reason for _, _, reason in ways]


@pytest.mark.parametrize(
    "companion, loader, node, names, by, tried",
    [
        (None, "gpu", None, ["gpu"], ["loader"], ["loader"]),
        ("companion", "gpu", None, ["companion"], ["driver"], ["driver"]),
        ("companion", "gpu", NODE, ["gpu", "companion"], ["loader", "driver"], ["loader", "driver"]),
        ("companion", "lavapipe", NODE, ["system", "companion"], ["loader", "driver"], ["loader", "driver"]),
        ("lavapipe", "lavapipe", NODE, ["companion"], ["driver"], ["loader", "driver"]),
        ("companion", "empty", NODE, ["companion"], ["driver"], ["loader", "driver"]),
        ("companion", "no_loader", NODE, ["companion"], ["driver"], ["loader", "driver"]),
        ("companion", "old", NODE, ["companion"], ["driver"], ["loader", "driver"]),
        ("empty", "gpu", None, ["gpu"], ["loader"], ["driver", "loader"]),
        ("empty", "gpu", NODE, ["gpu"], ["loader"], ["loader", "driver"]),
    ],
)
def test_who_is_asked_for_devices(companion, loader, node, names, by, tried, machine):
    assert found(machine(companion, loader, node))[:3] == (names, by, tried)


@pytest.mark.parametrize(
    "companion, loader, names",
    [
        ("dozen", "adapter", ["gpu"]),
        ("adapter", "dozen", ["companion"]),
        ("dozen", "gpu", ["gpu", "Direct3D (gpu)"]),
        ("other_adapter", "dozen", ["companion", "Direct3D (gpu)"]),
        ("companion", "dozen", ["Direct3D (gpu)", "companion"]),
    ],
)
def test_a_gpu_by_direct3d_too_is_one_device(companion, loader, names, machine):
    """By its own driver, if it has one. Where Direct3D's is another GPU, it comes behind those of its type."""
    assert found(machine(companion, loader, NODE))[0] == names


@pytest.mark.parametrize("folder", ["Ünïcödé with spaces", "\u65e5\u672c", "/".join(["Ünïcödé with spaces", *["a" * 100] * 4])])
def test_a_driver_in_any_folder(folder, machine, tmp_path):
    """Windows' paths of such names and lengths are others: tests/windows."""
    packages = machine("companion")["PYTHONPATH"].split(os.pathsep)[0]
    library = support.library_of(pathlib.Path(packages, "dmlops_lavapipe", "lvp_icd.json"))
    (tmp_path / folder).mkdir(parents=True)
    copy = shutil.copy(library, tmp_path / folder)
    assert found(machine(copy))[:3] == (["companion"], ["driver"], ["driver"])


@pytest.mark.parametrize("node", [NODE, "/dev/dri/renderD129", "/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd", "/dev/dxg"])
def test_what_is_a_gpu(node, machine):
    assert found(machine("companion", node=node))[2] == ["loader", "driver"]


@pytest.mark.parametrize("node", ["/dev/dri/card0", "/dev/null"])
def test_what_is_none(node, machine):
    assert found(machine("companion", node=node))[2] == ["driver"]


@pytest.mark.parametrize("variable", support.NO_CHOICE)
@pytest.mark.parametrize("node", [None, NODE])
def test_who_tells_the_loader_what_to_load_gets_the_loader_alone(variable, node, machine):
    assert found(machine("companion", node=node, **{variable: "/nonexistent"}))[:3] == (["gpu"], ["loader"], ["loader"])
    assert found(machine("companion", "empty", node=node, **{variable: "x"}))[:3] == ([], [], ["loader"])


@pytest.mark.parametrize("variable", support.NO_CHOICE)
def test_an_empty_variable_tells_the_loader_nothing(variable, machine):
    assert found(machine("companion", **{variable: ""}))[2] == ["driver"]


@pytest.mark.parametrize(
    "companion, reason",
    [
        ("/nonexistent/libvulkan_lvp.so", "/nonexistent/libvulkan_lvp.so"),
        ("no_entry", "it is no Vulkan driver: it exports no vk_icdGetInstanceProcAddr"),
        ("refuses", "it needs another loader: VK_ERROR_INCOMPATIBLE_DRIVER"),
        ("old", "it offers only Vulkan older than 1.2"),
        ("fails", "vkCreateInstance failed: VK_ERROR_OUT_OF_HOST_MEMORY"),
        ("lacks", "it lacks the function vkGetPhysicalDeviceFeatures2"),
        ("lacks_creation", "vkCreateInstance failed: VK_ERROR_INCOMPATIBLE_DRIVER"),
        ("empty", "it has no device"),
        ("enumerates_badly", "vkEnumeratePhysicalDevices failed: VK_ERROR_DEVICE_LOST"),
    ],
)
def test_a_bad_driver_is_passed_over(companion, reason, machine):
    """For the loader; where that finds nothing either, both reasons are given, and what to install."""
    names, by, tried, reasons = found(machine(companion))
    assert (names, by, tried) == (["gpu"], ["loader"], ["driver", "loader"])
    assert reason in reasons[0] and reasons[1] == ""
    done = support.run_python("import dmlops; dmlops.asarray(1)", env=machine(companion, "no_loader"), check=False)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("dmlops.NoDeviceError: ") and f"{support.PIP_INSTALL} dmlops[cpu]" in said
    assert reason in said and "the Vulkan loader is not installed" in said


@pytest.mark.parametrize(
    "loader, reason",
    [
        ("empty", "no Vulkan driver was found"),
        ("no_loader", "the Vulkan loader is not installed"),
        ("old", "the Vulkan loader is older than 1.2"),
        ("bad_driver", "no Vulkan driver could be loaded (VK_ERROR_OUT_OF_HOST_MEMORY; VK_LOADER_DEBUG=error tells more)"),
    ],
)
def test_why_the_loader_gives_nothing(loader, reason, machine):
    assert found(machine("companion", loader, NODE))[3] == [reason, ""]
    assert found(machine(None, loader))[0] == []


@pytest.mark.parametrize("manifest", ["", "{}", '{"ICD": {"library_path": 3}}', None])
def test_a_companion_without_a_driver_counts_as_none(manifest, machine, tmp_path):
    """As the sources of one in the checkout, which have not been built."""
    environment = machine(None) | support.companion(tmp_path, "x")
    file = tmp_path / "dmlops_lavapipe" / "lvp_icd.json"
    if manifest is None:
        file.unlink()
    else:
        file.write_text(manifest)
    assert found(environment)[:3] == (["gpu"], ["loader"], ["loader"])


@pytest.mark.parametrize("what", ["a module", "a folder without a module", "something else", "an error", "no str"])
def test_what_has_the_companions_name_and_is_none(what, machine, tmp_path):
    before = {
        "something else": "import sys; sys.modules['dmlops_lavapipe'] = 3",
        "an error": "import dmlops.driver_search; dmlops.driver_search.importlib.util.find_spec = lambda name: 1 / 0",
        "no str": "import importlib.util; importlib.util.find_spec = lambda name: 'x'",
    }
    if what == "a module":
        (tmp_path / "dmlops_lavapipe.py").write_text("")
    else:
        (tmp_path / "dmlops_lavapipe").mkdir()
    code = f"{before.get(what, '')}\n{WAYS}"
    names, _, _ = json.loads(support.run_python(code, env=machine(None, PYTHONPATH=tmp_path)).stdout)
    assert names == ["gpu", "host"]


def test_an_interrupt_while_the_companion_is_looked_for(machine):
    support.run_python(
        """
import importlib.util, dmlops
find_spec = importlib.util.find_spec
def interrupt(name):
    raise KeyboardInterrupt
importlib.util.find_spec = interrupt
for call in (dmlops.devices, dmlops.default_device, lambda: dmlops.asarray(1), lambda: dmlops.asarray(1, device=0),
             lambda: dmlops.asarray(1, device="cpu"), dmlops._core._devices):
    try:
        call()
    except KeyboardInterrupt:
        continue
    raise SystemExit(f"{call} went on")
importlib.util.find_spec = find_spec
assert [device.name for device in dmlops.devices()] == ["companion", "host"]
importlib.util.find_spec = interrupt  # never again
dmlops.asarray(1)
""",
        env=machine("companion"),
    )


def test_a_companion_that_is_installed_later(machine, tmp_path):
    """Nobody has to start Python anew."""
    environment = machine("companion", "empty")
    packages, environment["PYTHONPATH"] = environment["PYTHONPATH"], tmp_path
    support.run_python(
        f"""
import dmlops, sys
assert [device.name for device in dmlops.devices()] == ["host"]
sys.path.insert(0, {str(packages).split(os.pathsep)[0]!r})
assert [device.name for device in dmlops.devices()] == ["companion", "host"]
""",
        env=environment,
    )


UNCHANGED = """
import os
before = dict(os.environ), open("/proc/self/environ", "rb").read()
import dmlops, sys
dmlops.asarray(1)
assert before == (dict(os.environ), open("/proc/self/environ", "rb").read())
assert "dmlops_lavapipe" not in sys.modules
"""


@pytest.mark.parametrize("node", [None, NODE])
def test_the_environment_stays_as_it_was_and_nothing_is_imported(node, machine):
    support.run_python(UNCHANGED, env=machine("companion", node=node))


# --- lavapipe --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lavapipe():
    library = support.library_of(support.driver())
    if "lvp" not in library:
        pytest.skip("the driver under test is not lavapipe")
    return library


USE = """
import dmlops, numpy as np
x = np.arange(20000, dtype=np.float32).reshape(20, 1000)
def use(device=None):
    assert np.array_equal(dmlops.slice(x, [0, 0], [20, 1000], [1, -1], device=device), x[:, ::-1])
"""


def test_lavapipe_alone(lavapipe, machine):
    code = USE + "use()\nmaps = open('/proc/self/maps').read()\nprint('libvulkan.so' in maps, 'libvulkan_lvp' in maps)"
    assert support.run_python(code, env=machine(lavapipe, "system")).stdout == "False True\n"


def test_lavapipe_by_the_loader_too_is_one_device(lavapipe, machine):
    """The companion's, where both are there."""
    environment = machine(lavapipe, "system", NODE)
    names, by, tried, reasons = found(environment)
    assert tried == ["loader", "driver"] and reasons == ["", ""]
    (way,) = [way for way, name in zip(by, names, strict=True) if "llvmpipe" in name]
    assert way == "driver"
    support.run_python(USE + "use('llvmpipe')", env=environment)


# A GPU of the mock, which can do no more than copy, and lavapipe: devices of two instances.
TWO = (
    USE
    + """
import os, threading
*devices, host = dmlops.devices()
assert [device.type for device in devices] == ["discrete", "cpu"], devices
dmlops._core._override("kernel", 0)  # the copy command, where it can: the mock, which is the discrete one, runs no kernels
def use_both():
    copied = dmlops.slice(x.ravel(), [1000], [5000], device=0)
    assert np.array_equal(copied, x.ravel()[1000:6000])
    use(1)
    here, there = dmlops.asarray(x, device=0), dmlops.asarray(x, device=1)
    dmlops.synchronize()
    assert np.array_equal(here.numpy(), there.numpy())
def fork(work):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
"""
)

TWO_INSTANCES = {
    "use, and exit": "use_both()",
    "exit without use": "",
    "one is used": "use(1)",
    "a child after use": "use_both(); fork(use_both); use_both()",
    "a child before use": "fork(use_both); use_both()",
    "a child of a child": "use_both(); fork(lambda: (use_both(), fork(use_both), use_both())); use_both()",
    "a child that does nothing, by exit": "use_both()\nif os.fork() == 0: raise SystemExit\nos.wait()",
    "a child that uses one, by exit": """
use_both()
if os.fork() == 0:
    use(1)
    raise SystemExit
assert os.wait()[1] == 0
""",
    "arrays of both outlive the end": """
import builtins
builtins.a, builtins.b = dmlops.asarray(x, device=0), dmlops.asarray(x, device=1)
""",
    "inherited arrays": """
arrays = [dmlops.asarray(x, device=0), dmlops.asarray(x, device=1)]
def look():
    for array in arrays:
        try:
            array.numpy()
        except dmlops.DeviceLostError:
            continue
        raise SystemExit(1)
    use_both()
fork(look)
assert all(np.array_equal(array.numpy(), x) for array in arrays)
""",
    "threads, and forks": """
def work():
    for _ in range(6):
        use_both()
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
for _ in range(4):
    fork(use_both)
[thread.join() for thread in threads]
""",
    "empty_cache": "use_both(); dmlops.empty_cache(); [dmlops.memory_info(device) for device in devices]; use_both()",
}


@pytest.mark.parametrize("what", TWO_INSTANCES)
def test_two_instances(what, lavapipe, machine):
    code = "import warnings; warnings.simplefilter('ignore')\n" + TWO + TWO_INSTANCES[what]
    done = support.run_python(code, env=machine(lavapipe, "gpu", NODE))
    assert done.stdout == "" and done.stderr == ""


def test_the_device_is_named_alike_in_children(machine):
    """The companion that the parent found is the child's too."""
    support.run_python(
        """
import dmlops, os
devices = dmlops.devices()
if os.fork() == 0:
    os._exit(dmlops.devices() != devices)
assert os.wait()[1] == 0
""",
        env=machine("companion", node=NODE),
    )


# --- python -m dmlops ------------------------------------------------------------------------------------------------


def doctor(environment, status=0):
    done = support.run_python(None, args=("-m", "dmlops"), env=environment, check=False)
    assert done.returncode == status and done.stderr == "", done.stdout + done.stderr
    return done.stdout.splitlines()


def manifest(path, library):
    path.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": str(library), "api_version": "1.3.0"}}))
    return str(path)


def test_info_names_the_driver_behind_the_loader(lavapipe):
    (line,) = [line for line in doctor(support.by_loader()) if ", by the loader " in line]
    assert line.startswith("  0  ") and "libvulkan_lvp" in line and f"({support.driver()})" in line
    assert os.path.exists(line.split()[1]) and os.path.exists(line.split()[-1])


def test_info_names_the_companions_driver(machine):
    environment = machine("companion")
    folder = environment["PYTHONPATH"].split(os.pathsep)[0]
    lines = doctor(environment)
    end = f", without the loader: the driver of dmlops-lavapipe, in {folder}/dmlops_lavapipe"
    (line,) = [line for line in lines if line.endswith(end)]
    assert line.startswith("  0  /") and "libcompanion.so" in line
    assert "  the Vulkan loader and its drivers: there is no GPU, and the CPU has a driver already" in lines


def test_info_with_both(machine, tmp_path):
    """The system has a driver of lavapipe's too, which is the CPU again, and one that the loader leaves out."""
    environment = machine("lavapipe", "lavapipe", NODE, HOME=tmp_path, XDG_DATA_DIRS=tmp_path, XDG_CONFIG_DIRS=tmp_path)
    drivers = tmp_path / "vulkan" / "icd.d"
    drivers.mkdir(parents=True)
    package = environment["PYTHONPATH"].split(os.pathsep)[0]
    library = json.loads(pathlib.Path(package, "dmlops_lavapipe", "lvp_icd.json").read_text())["ICD"]["library_path"]
    (drivers / "c.json").write_text("{}")
    manifest(drivers / "a.json", library)
    text = "\n".join(doctor(environment))
    assert f"  0  {library}, without the loader" in text
    assert f"{library} ({drivers}/a.json): it has companion, which another driver has, too" in text
    assert f"({drivers}/c.json): it is no manifest of a driver" in text


@pytest.mark.parametrize("companion", ["no_entry", "empty"])
def test_info_says_why_the_companion_was_passed_over(companion, machine):
    reason = {"no_entry": "it is no Vulkan driver", "empty": "it has no device"}[companion]
    (line,) = [line for line in doctor(machine(companion)) if f"lib{companion}.so, the driver of dmlops-lavapipe" in line]
    assert reason in line


def test_info_says_what_the_environment_leaves_out(machine):
    text = "\n".join(doctor(machine("companion", VK_DRIVER_FILES="/nonexistent")))
    assert "/nonexistent, which VK_DRIVER_FILES names: there is no such file" in text
    assert "VK_DRIVER_FILES is set, so the loader alone is asked" in text


def test_info_without_a_loader(machine):
    text = "\n".join(doctor(machine(None, "no_loader")))
    assert "  the loader: the Vulkan loader is not installed" in text
    assert f"{support.PIP_INSTALL} dmlops[cpu]" in text and "mesa-vulkan-drivers" in text


def test_info_of_a_gpu_without_a_driver(machine):
    code = """
import dmlops, sys
from dmlops import __main__, driver_search
dmlops.devices()
driver_search.GPU_NODES = ("/dev/nul*",)
sys.exit(__main__.main([]))
"""
    said = support.run_python(code, env=machine("companion", node="/dev/null")).stdout
    assert "There is a GPU (/dev/null) without a Vulkan driver: install its vendor's, and the Vulkan loader." in said


ABORTS = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n"
HANGS = "#include <unistd.h>\n__attribute__((constructor)) static void start(void) { sleep(1000); }\n"


@pytest.fixture(scope="module")
def bad_drivers(tmp_path_factory):
    """Manifests of drivers that end the process, and that never come back, when they are opened."""
    folder = tmp_path_factory.mktemp("bad")
    for name, code in (("aborts", ABORTS), ("hangs", HANGS)):
        (folder / f"{name}.c").write_text(code)
        support.compile_c(["-shared", "-fPIC", "-o", folder / f"{name}.so", folder / f"{name}.c"])
        manifest(folder / f"{name}.json", folder / f"{name}.so")
    return folder


def test_info_survives_a_driver_that_ends_the_process(bad_drivers, lavapipe):
    files = os.pathsep.join([str(bad_drivers / "aborts.json"), support.driver()])
    lines = doctor({"VK_DRIVER_FILES": files, "VK_ICD_FILENAMES": files, "DMLOPS_DEVICE": None}, status=1)
    assert any("ends the process with status -6. The drivers, each opened alone:" in line for line in lines)
    assert any(line.endswith("aborts.json): opening it ends the process with status -6") for line in lines)
    assert any(f"({support.driver()}): it has llvmpipe" in line for line in lines)


def test_a_driver_that_never_comes_back(bad_drivers, lavapipe, monkeypatch):
    from dmlops import doctor

    none, lvp, missing = doctor._probed([("none.json", ""), ("lvp.json", lavapipe), ("x.json", "/nonexistent.so")])
    assert "llvmpipe" in lvp.devices[0][0] and not lvp.reason and "/nonexistent.so" in missing.reason
    assert none.reason == "it is no manifest of a driver"
    monkeypatch.setattr(doctor, "SECONDS", 2)
    (hangs,) = doctor._probed([("hangs.json", str(bad_drivers / "hangs.so"))])
    assert hangs.reason == "opening it takes longer than 2 seconds"


@pytest.mark.parametrize("what", ["a library", "a FIFO"])
def test_info_names_a_driver_that_never_comes_back(what, bad_drivers, tmp_path):
    file, reason = bad_drivers / "hangs.json", "opening it takes longer than 2 seconds"
    if what == "a FIFO":
        file, reason = tmp_path / "fifo.json", "it is no file: a FIFO makes the loader wait for ever"
        os.mkfifo(file)
    code = "import sys; from dmlops import __main__, doctor; doctor.SECONDS = 2; sys.exit(__main__.main([]))"
    environment = {"VK_DRIVER_FILES": file, "VK_ICD_FILENAMES": file, "DMLOPS_DEVICE": None}
    done = support.run_python(code, env=environment, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and done.stderr == "", done.stderr
    assert "To list the devices takes longer than 2 seconds. The drivers, each opened alone:" in lines
    assert any(line.endswith(f"{file.name}): {reason}") for line in lines), lines


def test_this_process_is_as_it_should_be(vulkan):
    """With DMLOPS_TEST_DIRECT all tests run without the loader, and else with it."""
    ways, of_devices = dmlops._core._ways()
    assert ways[of_devices[vulkan]][0] == bool(os.environ.get("DMLOPS_TEST_DIRECT"))
