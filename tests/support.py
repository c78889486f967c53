"""Things the tests need that are neither fixtures nor strategies."""

import contextlib
import glob
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = ["plan", "ops", "resampling", "device", "host", "kernels"]  # the rooms of csrc that know neither Python nor Vulkan
publishing = types.SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "publishing.py")))
PIP_INSTALL = publishing.pip_install(publishing.address())  # in front of a package's name, in messages

DEVICES = os.environ.get("DMLOPS_TEST_DEVICES", "vulkan,host").split(",")

# A folder for settings and logs, set by `make check`: the suite then runs under the validation layer. Each of pytest's
# workers has a folder of its own in it.
VALIDATION = os.environ.get("DMLOPS_TEST_VALIDATION") and pathlib.Path(
    os.environ["DMLOPS_TEST_VALIDATION"], os.environ.get("PYTEST_XDIST_WORKER", "main")
)
VALIDATION_SIGNS = ("Validation Error", "Validation Warning", "VUID-", "SYNC-HAZARD", "UNASSIGNED-")


def define_torchvisions_operators():
    """torchvision of PyPI is built for CUDA: beside a CPU torch it lacks its operators, of which a schema is needed."""
    import torch

    with contextlib.suppress(RuntimeError):  # it has them
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        define_torchvisions_operators.kept = library


# Nothing that tells the loader what to load.
NO_CHOICE = {"VK_DRIVER_FILES": None, "VK_ICD_FILENAMES": None, "VK_ADD_DRIVER_FILES": None, "VK_INSTANCE_LAYERS": None}


def select_driver():
    """Tests run on lavapipe unless the environment names a driver: a machine may have several.

    With DMLOPS_TEST_DIRECT they run on it without the loader: it is then a companion's, of a package made here.
    """
    named = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")
    if "VK_DRIVER_FILES" not in os.environ and "VK_ICD_FILENAMES" not in os.environ:
        places = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d")
        found = [path for place in places for path in glob.glob(f"{place}/lvp_icd*.json")]
        named = os.environ.get("DMLOPS_TEST_DRIVER") or next(iter(found), None)
        if named:
            os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = named
    os.environ["DMLOPS_TEST_DRIVER"] = named or ""
    if os.environ.get("DMLOPS_TEST_DIRECT"):
        folder = tempfile.mkdtemp(prefix="dmlops-companion-")
        environment = changed(os.environ, companion(folder, library_of(driver())))
        os.environ.clear()
        os.environ.update(environment)
        sys.path.insert(0, folder)


def driver():
    """The manifest of the driver under test."""
    return os.environ["DMLOPS_TEST_DRIVER"].split(os.pathsep)[0]


def by_loader():
    """The environment in which the loader loads the driver under test: for what only the loader can do, such as layers."""
    return {"VK_DRIVER_FILES": driver(), "VK_ICD_FILENAMES": driver()}


def library_of(manifest):
    """The library that a manifest names: its path, or a file's name for the system to find."""
    library = json.loads(pathlib.Path(manifest).read_text())["ICD"]["library_path"]
    return str(pathlib.Path(manifest).parent / library) if "/" in library else library


def copy_manifest(path):
    """The manifest of the driver under test in another place; the library stays where it is."""
    manifest = json.loads(pathlib.Path(driver()).read_text())
    manifest["ICD"]["library_path"] = library_of(driver())
    pathlib.Path(path).write_text(json.dumps(manifest))


def companion(folder, library):
    """Makes a package as dmlops-lavapipe is one, with a driver of one's choice; the environment in which Python finds it.

    It comes first: neither an installed companion nor the sources of one, in the checkout, are found then.
    """
    package = pathlib.Path(folder, "dmlops_lavapipe")
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text('raise ImportError("dmlops must not import it")\n')
    manifest = {"file_format_version": "1.0.1", "ICD": {"library_path": str(library), "api_version": "1.3.0"}}
    (package / "lvp_icd.json").write_text(json.dumps(manifest))
    others = filter(None, [os.environ.get("PYTHONPATH")])
    return {"PYTHONPATH": os.pathsep.join([str(folder), *others]), **NO_CHOICE}


def lacks():
    """What this system and the driver under test lack of what some tests need: {marker: reason}."""
    return {**lacks_of_system(), **lacks_of_driver()}


def lacks_of_system():
    if os.name != "nt":
        return {}
    from dmlops import driver_search

    elevated = {"needs_variables": "the loader takes no drivers from an administrator's variables"}
    return {
        "posix": "Windows has no cc, no /proc, no fork, and neither signals nor file names as POSIX has them",
        "needs_fork": "Windows has no fork",
        **(elevated if driver_search.elevated() else {}),
    }


def lacks_of_driver():
    driver = os.environ.get("VK_DRIVER_FILES", "").lower()
    if "nvidia" in driver:
        return {
            "needs_fork": "NVIDIA's driver creates no device in a child that was forked after its first use",
            "needs_shared_memory": "the host does not see a graphics card's memory",
            "needs_copy_command": "on a GPU kernels copy",
        }
    if "swiftshader" not in driver:
        return {}
    return {
        "needs_import": "SwiftShader has no 64-bit integers, and such devices import no host memory",
        "needs_segments": "SwiftShader has no 64-bit integers, and such devices bind no segments",
        "many_pipelines": "SwiftShader takes a second to build a pipeline, and this test builds hundreds",
        "many_bytes": "SwiftShader moves some 30 MB a second, and this test gigabytes",
        "driverless": "no Vulkan driver runs in it, or mocks alone: the same as with lavapipe",
        "needs_fork": "SwiftShader has no threads in a child that was forked after its first use, and is refused there",
    }


def vulkan_device():
    import dmlops

    ways, of_devices = dmlops._core._ways()
    for device in dmlops.devices()[:-1]:
        by_loader = not ways[of_devices[device.index]][0]
        if device.usable and not (by_loader and os.environ.get("DMLOPS_TEST_DIRECT")):
            return device.index
    raise AssertionError(f"no usable Vulkan device among {dmlops.devices()}; `make` installs lavapipe")


def settings_for_layer(folder, log):
    """Writes the validation layer's settings; older layers know `enables`, newer ones `validate_sync`."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG",
        "khronos_validation.report_flags = error,warn,perf",
        "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
        "khronos_validation.validate_sync = true",
        f"khronos_validation.log_filename = {log}",
    ]
    (folder / "vk_layer_settings.txt").write_text("\n".join(lines) + "\n")
    return {
        "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
        "VK_LAYER_SETTINGS_PATH": str(folder),
        "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
    }


def begin_validation():
    if VALIDATION:
        os.environ.update(settings_for_layer(VALIDATION, VALIDATION / "messages.txt"))


def end_validation():
    if VALIDATION:
        mapped = pathlib.Path("/proc/self/maps").read_text()
        assert "libVkLayer_khronos_validation" in mapped, "the validation layer was never loaded"


def changed(environment, changes):
    """`environment` with the variables of `changes` in it; those that are None are removed."""
    environment = {name: value for name, value in environment.items() if name not in changes}
    return environment | {name: str(value) for name, value in changes.items() if value is not None}


def run_python(code, *, env=None, args=(), timeout=1150, check=True, cwd=None):
    """Runs `code` in a fresh interpreter away from the checkout; returns the finished process.

    Values of None in `env` remove a variable. Under `make check` the child runs with the validation layer too, whose
    messages come on its standard output, where they fail the test. A pytest runs all tests that it is given. The limit of
    time ends what hangs, and nothing that is slow on a busy machine: it is little less than the test's own.
    """
    environment = dict(os.environ)
    if VALIDATION and "VK_INSTANCE_LAYERS" in environment:
        environment.update(settings_for_layer(VALIDATION / "children", "stdout"))
    environment = changed(environment, {"DMLOPS_TEST_SHARE": None} | (env or {}))
    command = [sys.executable, *(args or ("-c", code))]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=timeout, cwd=cwd or tempfile.gettempdir()
    )
    said = done.stdout + done.stderr
    assert not any(sign in said for sign in VALIDATION_SIGNS), said
    if check:
        assert done.returncode == 0, f"exit status {done.returncode}\n{said}"
    return done


NO_VULKAN = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent", "DMLOPS_DEVICE": None}


def compile_c(arguments):
    """Runs the C compiler, which `make` has installed."""
    compiler = os.environ.get("CC", "cc").split()
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run([*compiler, *map(str, arguments)], check=True, env=environment)


def built_once(tmp_path_factory, name, build):
    """The path `name` in a folder that pytest's workers share, into which the first that asks has built: `build(folder)`."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built" / pathlib.Path(name).stem
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder / "lock"):
        if not (folder / "done").exists():
            build(folder)
            (folder / "done").touch()
    return folder / name


@contextlib.contextmanager
def alone(path):
    """No other process is in such a block of the same path at the same time."""
    with open(path, "w") as file:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def counted(function):
    """A fused function, and a list that grows with each trace."""
    import dmlops

    traced = []

    def run(*args):
        traced.append(0)
        return function(*args)

    return dmlops.fuse(run), traced
