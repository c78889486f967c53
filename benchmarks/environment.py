"""What must be settled before anything is imported that reads it: threads, the Vulkan driver, noise.

Every contender gets the same number of threads, and all Vulkan contenders the same driver.
"""

import contextlib
import glob
import importlib
import importlib.metadata
import os
import platform
import sys

THREADS = os.cpu_count() or 1
DRIVER_FOLDERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d")
DRIVER_VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")  # the second for loaders before 1.3.207
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LP_NUM_THREADS")


COMPANION = "dmlops-lavapipe"  # the wheel that `pip install "dmlops[cpu]"` brings


def prepare(device=None, companion=True):
    """Set the process' environment. Returns whether the run is held to lavapipe, the driver on the CPU: without `device` and
    without drivers that the environment names it is, where there is one. That of the companion, where it is installed, or else
    the system's."""
    os.environ.pop("DMLOPS_DEVICE", None)  # for `device` to say
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, str(THREADS))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow
    os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
    os.environ.setdefault("TI_SKIP_VERSION_CHECK", "1")
    held_to_cpu = _choose_driver(device, companion)
    _open_driver()
    return held_to_cpu


def _choose_driver(device, companion):
    if device is not None or any(os.environ.get(variable) for variable in DRIVER_VARIABLES):
        return False
    file = (companion and companion_driver()) or system_driver()
    if not file:
        return False
    for variable in DRIVER_VARIABLES:
        os.environ[variable] = file
    return True


def companion_driver():
    """The manifest of lavapipe in dmlops-lavapipe, which most users have; empty where that is not installed."""
    with contextlib.suppress(ImportError):
        return str(importlib.import_module("dmlops_lavapipe").manifest_path())
    return ""


def system_driver():
    """The manifest of the system's lavapipe."""
    return next(iter(_driver_files("lvp_icd*.json")), "")


def driver_package():
    """Whose driver is measured, in words."""
    named = next((os.environ[variable] for variable in DRIVER_VARIABLES if os.environ.get(variable)), "")
    if named and named == companion_driver():
        return f"{COMPANION} {importlib.metadata.version(COMPANION)}"
    return "the system's driver" if named and named in _driver_files("*.json") else ""


def _driver_files(pattern):
    return [file for folder in DRIVER_FOLDERS for file in sorted(glob.glob(f"{folder}/{pattern}"))]


def _open_driver():
    """Have dmlops open lavapipe, bound apart from the LLVM of other libraries, before these are imported."""
    import dmlops

    dmlops.devices()


@contextlib.contextmanager
def quiet():
    """Send what native libraries print while they load to nowhere."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in enumerate(kept, start=1):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)


def describe():
    """The machine, without anything that tells whose it is."""
    return {
        "cpu": _cpu(),
        "cores": THREADS,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "os": _system(),
        "python": platform.python_version(),
    }


def _cpu():
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _system():
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return platform.system()
