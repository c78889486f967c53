"""What Python does otherwise on Windows and macOS, as far as it can be asked elsewhere."""

import errno
import json
import ntpath
import posixpath
import subprocess
import sys

import pytest
from dmlops import __main__, doctor, driver_search

import support

pytestmark = pytest.mark.driverless

DISPLAY, SOFTWARE = (rf"SYSTEM\CurrentControlSet\Control\Class\{name}" for name in driver_search.ADAPTERS)
OTHERS = r"SOFTWARE\Khronos\Vulkan\Drivers"
LOCKED = "what may not be read"


class Registry:
    """Python's module winreg, on a registry of keys {(hive, path): {name: (value, type)}}."""

    HKEY_LOCAL_MACHINE, HKEY_CURRENT_USER = "machine", "user"
    REG_SZ, REG_DWORD, REG_MULTI_SZ = 1, 4, 7

    class Key(tuple):
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    def __init__(self, keys):
        self.keys = keys

    def OpenKey(self, hive, path):
        if self.keys.get((hive, path), {}) is LOCKED:
            raise PermissionError(path)
        if not any(one == hive and f"{name}\\".startswith(f"{path}\\") for one, name in self.keys):
            raise FileNotFoundError(path)
        return self.Key((hive, path))

    def EnumKey(self, key, number):
        hive, path = key
        below = [name.removeprefix(f"{path}\\") for one, name in self.keys if one == hive and name.startswith(f"{path}\\")]
        return self._entry(sorted({name.partition("\\")[0] for name in below}), number)

    def EnumValue(self, key, number):
        return self._entry([(name, *value) for name, value in self.keys.get(key, {}).items()], number)

    def QueryValueEx(self, key, name):
        try:
            return self.keys.get(key, {})[name]
        except KeyError:
            raise FileNotFoundError(name) from None

    @staticmethod
    def _entry(entries, number):
        if number >= len(entries):
            raise OSError(259, "No more data is available")
        return entries[number]


def test_manifests_in_the_registry():
    gpu, software = r"C:\Windows\System32\DriverStore\nv.json", [r"C:\intel\a.json", r"C:\intel\b.json"]
    keys = {
        ("machine", rf"{DISPLAY}\0000"): {"VulkanDriverName": (gpu, Registry.REG_SZ), "DriverDesc": ("GPU", Registry.REG_SZ)},
        ("machine", rf"{DISPLAY}\0001"): {"VulkanDriverName": (software, Registry.REG_MULTI_SZ)},
        ("machine", rf"{DISPLAY}\0002"): {"VulkanDriverName": (5, Registry.REG_DWORD)},
        ("machine", rf"{DISPLAY}\0003"): {"VulkanDriverName": (None, Registry.REG_MULTI_SZ)},
        ("machine", rf"{DISPLAY}\0004"): {},
        ("machine", rf"{DISPLAY}\Properties"): LOCKED,
        ("machine", rf"{SOFTWARE}\0000"): {"VulkanDriverName": (r"C:\soft.json", Registry.REG_SZ)},
        ("machine", OTHERS): {r"C:\on.json": (0, Registry.REG_DWORD), r"C:\off.json": (1, Registry.REG_DWORD)},
        ("user", OTHERS): {r"C:\mine.json": (0, Registry.REG_DWORD)},
    }
    found = driver_search.registered(Registry(keys))
    assert found == [gpu, *software, r"C:\soft.json", r"C:\on.json", r"C:\mine.json"]


@pytest.mark.parametrize("keys", [{}, {("machine", DISPLAY): LOCKED, ("user", OTHERS): LOCKED}])
def test_a_registry_that_names_none(keys):
    assert driver_search.registered(Registry(keys)) == []


@pytest.mark.parametrize(
    "path, manifest, named, library",
    [
        (ntpath, r"C:\drivers\x.json", r".\x.dll", r"C:\drivers\.\x.dll"),
        (ntpath, r"C:\drivers\x.json", "./x.dll", r"C:\drivers\./x.dll"),
        (ntpath, r"C:\drivers\x.json", r"D:\other\x.dll", r"D:\other\x.dll"),
        (ntpath, r"C:\drivers\x.json", r"\\server\share\x.dll", r"\\server\share\x.dll"),
        (ntpath, r"C:\drivers\x.json", "x.dll", "x.dll"),
        (posixpath, "/drivers/x.json", "./libx.so", "/drivers/./libx.so"),
        (posixpath, "/drivers/x.json", r"a\b.so", r"a\b.so"),
        (posixpath, "/drivers/x.json", "libx.so", "libx.so"),
    ],
)
def test_what_a_manifest_names(path, manifest, named, library):
    assert driver_search.resolve(manifest, named, path) == library


@pytest.mark.posix
def test_homebrews_manifests(tmp_path, monkeypatch):
    folder = tmp_path / "vulkan" / "icd.d"
    folder.mkdir(parents=True)
    (folder / "MoltenVK_icd.json").write_text(json.dumps({"ICD": {"library_path": "../../../lib/libMoltenVK.dylib"}}))
    for variable in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(driver_search, "HOMEBREW", (str(tmp_path),))
    found = (str(folder / "MoltenVK_icd.json"), str(folder / "../../../lib/libMoltenVK.dylib"))
    assert found not in driver_search.manifests()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert found in driver_search.manifests()


@pytest.mark.posix
def test_nobody_is_an_administrator_of_windows_here():
    assert not driver_search.elevated()


@pytest.mark.parametrize("name, gone", [("EPIPE", True), ("EINVAL", True), ("ENOSPC", False)])
def test_a_reader_that_has_gone(name, gone):
    """As by `| head`."""
    error = OSError(getattr(errno, name), name)
    assert __main__._reader_has_gone(error, "nt") == gone
    assert __main__._reader_has_gone(error, "posix") == (name == "EPIPE")


# --- processes that end badly -----------------------------------------------------------------------------------------


@pytest.fixture
def ending(monkeypatch):
    """A function that gives what is said of a listing of devices which prints this and ends so."""

    def say(code, output=b"came back\n"):
        monkeypatch.setattr(subprocess, "run", lambda command, **more: subprocess.CompletedProcess(command, code, output, b""))
        return doctor._ending_of_listing({})

    return say


@pytest.mark.parametrize("code", [0, 1])
def test_a_listing_that_came_back(code, ending):
    """With an error of Python's, too: it is raised here again."""
    assert ending(code) == ""


@pytest.mark.parametrize(
    "code, output, status",
    [
        (0xC0000005, b"", "0xC0000005"),  # Windows: an access violation
        (0xC0000409, b"came back\n", "0xC0000409"),  # at the exit
        (3, b"", "3"),  # Windows: abort
        (-11, b"came back\n", "-11"),
        (0, b"", "0"),  # a driver that calls exit
    ],
)
def test_a_listing_that_did_not_come_back(code, output, status, ending):
    assert ending(code, output) == f"ends the process with status {status}"


@pytest.mark.posix
@pytest.mark.slow
def test_info_names_a_layer_that_ends_the_process(tmp_path):
    """The loader adds implicit layers to each instance, unless a variable says otherwise."""
    folder = tmp_path / "vulkan" / "implicit_layer.d"
    folder.mkdir(parents=True)
    (tmp_path / "abort.c").write_text("#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n")
    support.compile_c(["-shared", "-fPIC", "-o", tmp_path / "libabort.so", tmp_path / "abort.c"])
    layer = {"name": "VK_LAYER_TEST_abort", "type": "GLOBAL", "library_path": str(tmp_path / "libabort.so")}
    layer |= {"api_version": "1.3.0", "implementation_version": "1", "description": ""}
    layer |= {"disable_environment": {"NO_ABORT": "1"}}
    (folder / "abort.json").write_text(json.dumps({"file_format_version": "1.0.0", "layer": layer}))
    environment = {**support.by_loader(), "XDG_DATA_HOME": tmp_path, "DMLOPS_DEVICE": None}
    done = support.run_python(None, args=("-m", "dmlops"), env=environment, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and done.stderr == "", done.stdout + done.stderr
    assert "To list the devices ends the process with status -6. The drivers, each opened alone:" in lines
    assert lines[-1].startswith("With VK_LOADER_LAYERS_DISABLE=~implicit~ it works: a layer is at fault")


@pytest.mark.slow
def test_info_says_what_an_administrator_has_to_know():
    code = """
import sys
from dmlops import __main__, driver_search
driver_search.elevated = lambda: True
sys.exit(__main__.main([]))
"""
    said = support.run_python(code, env={"VK_DRIVER_FILES": "/nonexistent", "DMLOPS_DEVICE": "host"}).stdout
    assert "what VK_DRIVER_FILES names: the loader ignores it where a process runs as administrator" in said
