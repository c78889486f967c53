"""Builds dmlops._core: shaders by glslc, then C. pyproject.toml has everything else.

A source distribution carries the compiled shaders and Vulkan's headers, in the folder vendored/: its build needs a C
compiler and Python's headers only. In it, DMLOPS_COMPILE_SHADERS=1 has glslc compile the shaders as in the repository.

From the environment: GLSLC (the shader compiler), VULKAN_SDK, CC as usual; DMLOPS_CFLAGS and DMLOPS_LDFLAGS are put
behind the flags chosen here (sanitizers, coverage, -Werror).
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import publishing  # noqa: E402

VENDORED = ROOT / "vendored"  # only in a source distribution
VENDORED_HEADERS = ("vulkan/*.h", "vk_video/*.h")
VARIANTS = ("SEGMENTED", "VECTORS", "ONLY_32_BIT")  # of each kernel, besides the plain one
TARGET = sysconfig.get_platform()  # what _PYTHON_HOST_PLATFORM says, where tools/wheels.py builds for another system


def missing(what, package, elsewhere):
    sys.exit(f"dmlops: {what} was not found. On Debian and Ubuntu: apt install {package}. {elsewhere}")


def sdk_folders(*names):
    sdk = os.environ.get("VULKAN_SDK")
    return [Path(sdk, name) for name in names] if sdk else []


def find_glslc():
    named = os.environ.get("GLSLC")
    for path in [named] if named else ["glslc", *(folder / "glslc" for folder in sdk_folders("bin", "Bin"))]:
        if found := shutil.which(path):
            return found
    missing(
        "glslc, the compiler of the shaders,",
        "glslc",
        "Elsewhere: Fedora glslc, Arch and Homebrew shaderc, or the Vulkan SDK, with VULKAN_SDK set to its folder; "
        "GLSLC may name it directly.",
    )


def header_folders(more=()):
    """Where <vulkan/vulkan.h> is, if in a folder that the compiler does not look into by itself."""
    if VENDORED.is_dir():
        return [str(VENDORED / "include")]
    sdk = sdk_folders("include", "Include")
    usual = [Path(folder) for folder in ("/usr/include", "/usr/local/include", "/opt/homebrew/include")]
    flags = shlex.split(os.environ.get("CFLAGS", "")) + shlex.split(os.environ.get("CPPFLAGS", ""))
    own = [flag[2:] for flag in flags if flag.startswith("-I") and len(flag) > 2]
    for variable in ("CPATH", "C_INCLUDE_PATH"):
        own += filter(None, os.environ.get(variable, "").split(os.pathsep))
    folders = [*sdk, *map(Path, own), *map(Path, more), *usual]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    if multiarch:
        folders.append(Path("/usr/include", multiarch))
    vulkan = next((folder for folder in folders if (folder / "vulkan/vulkan.h").is_file()), None)
    elsewhere = "Elsewhere: {}, or the Vulkan SDK, with VULKAN_SDK set to its folder."
    if not vulkan:
        missing("<vulkan/vulkan.h>", "libvulkan-dev", elsewhere.format("Fedora, Arch and Homebrew vulkan-headers"))
    return [str(vulkan)] if vulkan != Path("/usr/include") else []


def compile_shader(glslc, source, flags, name, header):
    """One shaders/*.comp as `static const uint32_t NAME_spv[]`."""
    command = [glslc, "--target-env=vulkan1.2", "-O", *flags, f"-I{source.parent}", "-mfmt=num", "-o", "-", str(source)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"dmlops: glslc could not compile {source.name}\n{result.stderr}")
    text = f"#include <stdint.h>\nstatic const uint32_t {name}_spv[] = {{\n{result.stdout}\n}};\n"
    header.write_text(text)


def kernels():
    """The source and the flags of each compiled shader, by name."""
    sources = sorted((ROOT / "shaders").rglob("*.comp"))
    found = {path.stem: (path, []) for path in sources}
    found |= {f"{path.stem}_{variant.lower()}": (path, [f"-D{variant}"]) for path in sources for variant in VARIANTS}
    return found


def list_shaders(folder):
    """shaders.spv.h: includes the header of each compiled shader; DML_SHADERS(X) has an X(NAME) for each shaders/NAME.comp."""
    includes = "".join(f'#include "{name}.spv.h"\n' for name in sorted(kernels()))
    names = " ".join(f"X({path.stem})" for path in sorted((ROOT / "shaders").rglob("*.comp")))
    (folder / "shaders.spv.h").write_text(f"{includes}#define DML_SHADERS(X) {names}\n")


def compile_shaders(glslc, names, folder):
    """Into headers in `folder`, several at a time."""
    list_shaders(folder)
    wanted = kernels()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: compile_shader(glslc, *wanted[name], name, folder / f"{name}.spv.h"), names))


def compile_together(compiler):
    """Lets a distutils compiler compile several of the files it is given at a time; by itself it takes one after another."""
    alone = compiler.compile

    def compile_all(sources, **how):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return sum(pool.map(lambda source: alone([source], **how), sources), [])

    compiler.compile = compile_all


def vendor(folder):
    """Fill the folder vendored/ of a source distribution."""
    (folder / "shaders").mkdir(parents=True)
    compile_shaders(find_glslc(), kernels(), folder / "shaders")
    found = [*map(Path, header_folders()), Path("/usr/include")]
    for pattern in VENDORED_HEADERS:
        headers = next(filter(None, (sorted(place.glob(pattern)) for place in found)), [])
        for header in headers:
            target = folder / "include" / Path(pattern).parent / header.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(header, target)
    shutil.copy(ROOT / "tools" / "licences" / "vulkan-headers.txt", folder / "include" / "vulkan" / "LICENSE.txt")


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        target = Path(base_dir, "vendored")
        if VENDORED.is_dir():
            shutil.copytree(VENDORED, target)
        else:
            vendor(target)


class BuildExtension(build_ext):
    def get_ext_filename(self, name):
        file = super().get_ext_filename(name)
        return f"{file.partition('.')[0]}.pyd" if TARGET.startswith("win") else file

    def build_extension(self, extension):
        generated = Path(self.build_temp).resolve() / "shaders"
        compiled = VENDORED.is_dir() and os.environ.get("DMLOPS_COMPILE_SHADERS") != "1"
        glslc = "" if compiled else find_glslc()
        folders = [*header_folders(self.compiler.include_dirs), numpy.get_include()]
        if self.compiler.compiler_type == "msvc":
            extension.include_dirs += folders
            extension.extra_compile_args = ["/std:c11", "/O2", "/W3"]
        else:
            # As system folders, so that our warnings are about our code.
            extension.extra_compile_args = ["-std=c11", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra"]
            extension.extra_compile_args += [word for folder in folders for word in ("-isystem", folder)]
            if not TARGET.startswith(("win", "macosx")):
                extension.extra_link_args = ["-pthread", "-lm", *(["-ldl"] if TARGET.startswith("linux") else [])]
            compile_together(self.compiler)
        extension.include_dirs.append(str(generated))
        extension.extra_compile_args.append(f'-DDMLOPS_PIP_INSTALL="{publishing.pip_install(publishing.address())}"')
        extension.extra_compile_args += shlex.split(os.environ.get("DMLOPS_CFLAGS", ""))
        extension.extra_link_args += shlex.split(os.environ.get("DMLOPS_LDFLAGS", ""))
        # Time stamps do not show a changed flag or compiler: build everything again after one.
        recipe = "\n".join([Path(__file__).read_text(), glslc, *extension.extra_compile_args, *extension.extra_link_args])
        stamp = Path(self.build_temp, "recipe")
        self.force = self.force or not stamp.exists() or stamp.read_text() != recipe
        stamp.unlink(missing_ok=True)
        self.prepare_shaders(glslc, generated)
        super().build_extension(extension)
        stamp.write_text(recipe)

    def prepare_shaders(self, glslc, folder):
        """Headers in the build's own folder; all of them again if any file is newer, as shaders include each other."""
        folder.mkdir(parents=True, exist_ok=True)
        if not glslc:
            shutil.copytree(VENDORED / "shaders", folder, dirs_exist_ok=True)
            return
        newest = max(path.stat().st_mtime for path in (ROOT / "shaders").rglob("*") if path.is_file())
        headers = {name: folder / f"{name}.spv.h" for name in kernels()}
        for header in set(folder.glob("*.spv.h")) - {*headers.values(), folder / "shaders.spv.h"}:
            header.unlink()
        old = [
            name for name, header in headers.items() if self.force or not header.exists() or header.stat().st_mtime <= newest
        ]
        compile_shaders(glslc, old, folder)


def paths(pattern):
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern) if path.is_file())


if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("dmlops: free-threaded builds of Python are not supported")

setup(
    long_description=publishing.description((ROOT / "README.md").read_text(), publishing.address()),
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "dmlops._core",
            paths("csrc/**/*.c"),
            include_dirs=["csrc", "shaders"],
            depends=[*paths("csrc/**/*.h"), *paths("shaders/**/*"), "setup.py"],
            py_limited_api=True,  # csrc/py/python.h says which
        )
    ],
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
