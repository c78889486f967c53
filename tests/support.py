"""Things the tests need that are neither fixtures nor strategies."""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A folder for settings and logs, set by `make check`: the suite then runs under the validation layer. Each of pytest's
# workers has a folder of its own in it.
VALIDATION = os.environ.get("DMLOPS_TEST_VALIDATION") and pathlib.Path(
    os.environ["DMLOPS_TEST_VALIDATION"], os.environ.get("PYTEST_XDIST_WORKER", "main")
)
VALIDATION_SIGNS = ("Validation Error", "Validation Warning", "VUID-", "SYNC-HAZARD", "UNASSIGNED-")


def select_driver():
    """Tests run on lavapipe unless the environment names a driver: a machine may have several."""
    if "VK_DRIVER_FILES" in os.environ or "VK_ICD_FILENAMES" in os.environ:
        return
    found = [path for place in ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d") for path in glob.glob(f"{place}/lvp_icd*.json")]
    if found:
        os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = found[0]


def driver():
    """The manifest of the driver under test."""
    return os.environ["VK_DRIVER_FILES"].split(os.pathsep)[0]


def vulkan_device():
    import dmlops

    for device in dmlops.devices():
        if device.usable and device.name != "host":
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


def run_python(code, *, env=None, args=(), timeout=120, check=True, cwd=None):
    """Runs `code` in a fresh interpreter away from the checkout; returns the finished process.

    Values of None in `env` remove a variable. Under `make check` the child runs with the validation layer too, whose
    messages come on its standard output, where they fail the test.
    """
    environment = dict(os.environ)
    if VALIDATION and "VK_INSTANCE_LAYERS" in environment:
        environment.update(settings_for_layer(VALIDATION / "children", "stdout"))
    environment = changed(environment, env or {})
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
