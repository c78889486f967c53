"""Compiles csrc for systems that dmlops is not tested on, each warning an error: `make check-static` runs it.

    python tools/cross.py SHADERS        (the folder with the compiled shaders' headers, rows.spv.h and others)

tools/wheels.py builds whole wheels for these systems, with the headers that are made here.

The compiler is zig's, a package on PyPI, which brings the headers of each system. Those of Python and NumPy are this
interpreter's, with the configuration of the other system. csrc/base, core and vk are linked, too, which shows that they
use no function that the system lacks; csrc/py would need its Python. Nothing is run.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "cross"
# The target's name for zig: what a linked library is called.
TARGETS = {"aarch64-macos": "core.dylib", "x86_64-windows-gnu": "core.dll"}

PYCONFIG = """
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define ALIGNOF_SIZE_T __SIZEOF_SIZE_T__
#define HAVE_STDINT_H 1
#define HAVE_STDDEF_H 1
#define WITH_THREAD 1
#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
#else
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_SSIZE_T 1
#define _POSIX_THREADS 1
#endif
"""


def numpy_configuration(text):
    """NumPy's _numpyconfig.h with the sizes that the compiler knows, and without headers that only Linux has."""
    sizes = {"LONG": "LONG", "LONGDOUBLE": "LONG_DOUBLE", "WCHAR_T": "WCHAR_T"}
    for name, compilers in sizes.items():
        text, changed = re.subn(rf"(#define NPY_SIZEOF_{name}) \d+", rf"\1 __SIZEOF_{compilers}__", text)
        assert changed == 1, f"NPY_SIZEOF_{name} is not in _numpyconfig.h"
    text = re.sub(r"(#define NPY_SIZEOF_COMPLEX_LONGDOUBLE) \d+", r"\1 (2 * __SIZEOF_LONG_DOUBLE__)", text)
    return re.sub(r"#define NPY_HAVE_ENDIAN_H.*", "", text)


def headers(folder):
    """Python's and NumPy's, for any system; a folder for each, in `folder`."""
    python, array = folder / "python", folder / "numpy"
    for source, copy in ((sysconfig.get_path("include"), python), (numpy.get_include(), array)):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy)
    (python / "pyconfig.h").write_text(PYCONFIG)
    configuration = array / "numpy" / "_numpyconfig.h"
    configuration.write_text(numpy_configuration(configuration.read_text()))
    return [python, array]


def vulkan():
    """A folder with Vulkan's headers and nothing else: beside them are this system's own."""
    places = [os.environ.get("VULKAN_SDK", "") + "/include", "/usr/include", "/usr/local/include"]
    found = next((pathlib.Path(place) for place in places if pathlib.Path(place, "vulkan", "vulkan.h").is_file()), None)
    if not found:
        sys.exit("cross: <vulkan/vulkan.h> was not found; `make system` installs it")
    copy = BUILD / "vulkan"
    shutil.rmtree(copy, ignore_errors=True)
    for name in ("vulkan", "vk_video"):
        if (found / name).is_dir():
            shutil.copytree(found / name, copy / name)
    return copy


def run(arguments):
    cache = {"ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig"), "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "zig")}
    command = [sys.executable, "-m", "ziglang", "cc", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, env=os.environ | cache)
    return done.stderr if done.returncode else ""


def compile_for(target, folders):
    """Compiles all, and links what needs no Python; what the compiler says of failures.

    Many sources in one command are faster, but the compiler takes them to link them only.
    """
    flags = ["-target", target, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
    flags += ["-Icsrc", "-Ishaders", *(word for folder in folders for word in ("-isystem", folder))]
    objects = BUILD / target
    objects.mkdir(parents=True, exist_ok=True)
    sources = sorted(path.relative_to(ROOT) for path in (ROOT / "csrc").rglob("*.c"))
    linked = [source for source in sources if source.parent.name != "py"]
    said = [run([*flags, "-shared", "-o", objects / TARGETS[target], *linked])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = [source for source in sources if source.parent.name == "py"]
        said += pool.map(lambda source: run([*flags, "-c", "-o", objects / f"{source.stem}.o", source]), compiled)
    return "".join(said)


def main(shaders):
    folders = [pathlib.Path(shaders).resolve(), *headers(BUILD), vulkan()]
    failed = False
    for target in TARGETS:
        said = compile_for(target, folders)
        print(f"{target}: {'failed' if said else 'csrc compiles, and what needs no Python links'}\n{said}".rstrip())
        failed |= bool(said)
    sys.exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
