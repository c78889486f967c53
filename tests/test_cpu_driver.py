"""Mesa's CPU driver is opened where the Vulkan loader would find it, and prefers its own libraries' symbols to the process'.

The driver here is a library of that name, no driver at all. It says whose symbol it is bound to: its own, or that of a
library which the process has loaded before with all its symbols visible, as TensorFlow is.
"""

import json
import os

import pytest

import support

pytestmark = [pytest.mark.slow, pytest.mark.driverless, pytest.mark.posix]

SYMBOL = 'const char *dmlops_test_symbol(void) { return "%s"; }\n'
SAY = """
#include <string.h>
#include <unistd.h>
const char *dmlops_test_symbol(void);
__attribute__((constructor)) static void say(void)
{
    if (write(1, dmlops_test_symbol(), strlen(dmlops_test_symbol())) < 0)
        _exit(1);
}
"""
# The sanitizers' libraries replace malloc: then there is no deep binding.
OWN = "process" if os.environ.get("LD_PRELOAD") else "driver"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    for name, code in {
        "libneighbour.so": SYMBOL % "process",
        "libvulkan_lvp_test.so": SYMBOL % "driver" + SAY,
        "libvulkan_other.so": SYMBOL % "driver" + SAY,
        "liballocator.so": "#include <stddef.h>\nvoid *__libc_malloc(size_t);\n"
        "void *malloc(size_t n) { return __libc_malloc(n); }\n",
    }.items():
        source = folder / f"{name}.c"
        source.write_text(code)
        support.compile_c(["-O0", "-shared", "-fPIC", "-o", folder / name, source])
    return folder


def manifest(path, library):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": str(library), "api_version": "1.3.0"}}))
    return path


def said(libraries, root, **environment):
    """What the driver says when dmlops looks for devices. The manifests are everywhere in `root`, and by default nowhere."""
    nothing = {"VK_DRIVER_FILES": None, "VK_ICD_FILENAMES": None, "VK_ADD_DRIVER_FILES": None}
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "HOME"):
        nothing[name] = root / "empty"
    code = f"""
import ctypes
ctypes.CDLL({str(libraries / "libneighbour.so")!r}, ctypes.RTLD_GLOBAL)
import dmlops
dmlops.devices()
"""
    return support.run_python(code, env=nothing | environment).stdout


@pytest.mark.parametrize("variable", ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"])
def test_a_list_of_manifests_and_folders(variable, libraries, tmp_path):
    library = libraries / "libvulkan_lvp_test.so"
    file = manifest(tmp_path / "drivers" / "test.json", library)
    assert said(libraries, tmp_path, **{variable: f"/nonexistent.json::{file}"}) == OWN
    assert said(libraries, tmp_path, **{variable: f"{tmp_path / 'empty'}:{file.parent}"}) == OWN


@pytest.mark.parametrize(
    "variable, value, folder",
    [
        ("XDG_CONFIG_HOME", "{0}/here", "here"),
        ("XDG_CONFIG_DIRS", "{0}/there:{0}/here", "here"),
        ("XDG_DATA_HOME", "{0}/here", "here"),
        ("XDG_DATA_DIRS", "{0}/there:{0}/here", "here"),
        ("HOME", "{0}/here", "here/.config"),
        ("HOME", "{0}/here", "here/.local/share"),
    ],
)
def test_folders_of_manifests(variable, value, folder, libraries, tmp_path):
    file = manifest(tmp_path / folder / "vulkan" / "icd.d" / "test.json", libraries / "libvulkan_lvp_test.so")
    environment = {variable: value.format(tmp_path)}
    if variable == "HOME":
        environment |= {"XDG_CONFIG_HOME": None, "XDG_DATA_HOME": ""}
    assert said(libraries, tmp_path, **environment) == OWN
    file.rename(file.with_suffix(".txt"))
    assert said(libraries, tmp_path, **environment) == ""


def test_named_files_replace_all_folders(libraries, tmp_path):
    manifest(tmp_path / "vulkan" / "icd.d" / "test.json", libraries / "libvulkan_lvp_test.so")
    assert said(libraries, tmp_path, XDG_DATA_DIRS=tmp_path, VK_DRIVER_FILES="/nonexistent") == ""
    assert said(libraries, tmp_path, XDG_DATA_DIRS=tmp_path, VK_ICD_FILENAMES="") == ""


def test_a_list_of_many_drivers(libraries, tmp_path):
    """The last of them is found as the first one is, however long the paths are together."""
    absent = [manifest(tmp_path / f"{k}.json", f"/nonexistent/{'x' * 180}{k}/libvulkan_lvp.so") for k in range(40)]
    files = [*absent, manifest(tmp_path / "test.json", libraries / "libvulkan_lvp_test.so")]
    assert said(libraries, tmp_path, VK_DRIVER_FILES=":".join(map(str, files))) == OWN


def test_how_a_manifest_names_the_library(libraries, tmp_path):
    library = libraries / "libvulkan_lvp_test.so"
    (tmp_path / "drivers").symlink_to(libraries)
    file = manifest(tmp_path / "manifests" / "test.json", "../drivers/libvulkan_lvp_test.so")
    assert said(libraries, tmp_path, VK_DRIVER_FILES=file) == OWN
    manifest(file, library.name)
    assert said(libraries, tmp_path, VK_DRIVER_FILES=file, LD_LIBRARY_PATH=libraries) == OWN
    file.write_text('{"ICD":\n{"library_path"\t: "%s"}}' % str(library).replace("/", r"\/"))  # which JSON allows
    assert said(libraries, tmp_path, VK_DRIVER_FILES=file) == OWN


MALFORMED = [
    "",
    '{"ICD": {}}',
    '"library_path"',
    '"library_path" "x"',
    '"library_path": 5',
    '"library_path": "',
    '"library_path": "\\',
]


@pytest.mark.parametrize("text", [*MALFORMED, r'"library_path": "\u006c"'])
def test_a_manifest_without_a_library(text, libraries, tmp_path):
    file = tmp_path / "test.json"
    file.write_text(text)
    assert said(libraries, tmp_path, VK_DRIVER_FILES=file) == ""


def test_no_other_driver_is_touched(libraries, tmp_path):
    """The loader opens it, as ever, and closes it again: once or more often."""
    file = manifest(tmp_path / "test.json", libraries / "libvulkan_other.so")
    heard = said(libraries, tmp_path, VK_DRIVER_FILES=file)
    assert heard and not heard.replace("process", "")


@pytest.mark.skipif(OWN == "process", reason="LD_PRELOAD is the sanitizers'")
def test_another_malloc_is_the_drivers_as_well(libraries, tmp_path):
    """Or memory from one would go back to the other."""
    file = manifest(tmp_path / "test.json", libraries / "libvulkan_lvp_test.so")
    assert said(libraries, tmp_path, VK_DRIVER_FILES=file, LD_PRELOAD=libraries / "liballocator.so") == "process"
