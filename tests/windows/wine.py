"""Windows without Windows: wine, Python for Windows and NumPy, kept in build/windows.

Python comes out of panda3d's wheel for Windows, which contains CPython's DLL, its extension modules and the C runtime. The
standard library is that of the Python that runs this, so the version is its version, too.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import zipfile

import pefile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "windows"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
DIGITS = VERSION.replace(".", "")
PANDA3D = "panda3d==1.10.16"
# 2.2 and later abort on wine 8, and 2.0 flattens no array of more than 32 dimensions, which the tests have where there are any.
NUMPY = "numpy==1.26.4" if sys.version_info < (3, 13) else "numpy<2.2"
# Besides colorama, which others ask for on Windows only; pip, here, asks this system.
REQUIREMENTS = ["pip", "colorama", NUMPY, "-r", str(ROOT / "tests" / "requirements.txt")]
MAIN = """
#include <wchar.h>
__declspec(dllimport) int Py_Main(int, wchar_t **);
int wmain(int count, wchar_t **arguments) { return Py_Main(count, arguments); }
"""

# The first program that uses the desktop starts wine's explorer, which inherits its pipes and lives as long as anybody uses the
# desktop. If that is a child, its parent waits for ever for the pipe's end. So one program uses the desktop all the time.
DESKTOP = "import ctypes, time; ctypes.windll.user32.GetDesktopWindow(); print('ready', flush=True); time.sleep(10**6)"


class Unavailable(Exception):
    """Wine, or what runs in it, cannot be had on this machine, or now."""


def windows_path(path):
    """Wine shows the file system as drive Z."""
    return "Z:" + str(path).replace("/", "\\")


def run(*command, **variables):
    """Run a program of this system; what it prints is in the error if it fails."""
    done = subprocess.run(
        list(map(str, command)), env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise Unavailable(f"{' '.join(map(str, command[:5]))} ...: {' '.join(done.stdout.splitlines()[-3:])}")


def end(process):
    """And what it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def download(folder, *requirements):
    """Wheels for Windows."""
    options = ["--only-binary", ":all:", "--platform", "win_amd64", "--python-version", VERSION, "-d", folder]
    run(sys.executable, "-m", "pip", "download", "-q", *options, *requirements)


class Machine:
    """A folder with Python, and the folder that wine keeps its registry and drive C in. As a context: running."""

    def __init__(self):
        self.folder = BUILD / f"python{DIGITS}"
        self.prefix = BUILD / "prefix"
        self.wheels = BUILD / f"wheels{DIGITS}"
        self.python = self.folder / "python.exe"
        self.ending = contextlib.ExitStack()
        dropped = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_INSTANCE_LAYERS", "DISPLAY", "PYTHONPATH")
        self.environment = {name: value for name, value in os.environ.items() if name not in dropped}
        self.environment |= {"WINEPREFIX": str(self.prefix), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8"}
        self.environment["WINEDLLOVERRIDES"] = "mscoree=d;mshtml=d"  # no browser or .NET is downloaded

    def __enter__(self):
        if not all(map(shutil.which, ("wine", "wineboot", "wineserver", "Xvfb"))):
            raise Unavailable("wine or Xvfb is not installed")
        with self.ending:
            self.start()
            self.prepare()
            self.ending = self.ending.pop_all()
        return self

    def __exit__(self, *error):
        self.ending.close()

    def start(self):
        """The display, which wine's Vulkan wants before all else, and the server, which does not end between two programs."""
        self.prefix.mkdir(parents=True, exist_ok=True)
        number = self.background(["Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
        self.environment["DISPLAY"] = f":{number}"
        server = self.spawn(["wineserver", "--foreground", "--persistent"], subprocess.DEVNULL)
        self.ending.callback(end, server)
        self.ending.callback(self.wine, "wineserver", "--kill", check=False)

    def background(self, command):
        """Run a program until the machine is left; return the line that it prints when it is ready."""
        process = self.spawn(command, subprocess.PIPE, subprocess.DEVNULL)
        self.ending.callback(end, process)
        line = process.stdout.readline().decode().strip()
        if not line:
            raise Unavailable(f"{command[0]} does not start")
        return line

    def prepare(self):
        """Make what is not there yet."""
        booted, done = self.prefix / "complete", self.folder / "complete"
        if not booted.exists():
            self.wine("wineboot", "--init")
            self.wine("wine", "winecfg", "-v", "win10")
            booted.touch()
        recipe = "\n".join([PANDA3D, *REQUIREMENTS])
        complete = done.exists() and done.read_text() == recipe
        if not complete:
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.wheels, ignore_errors=True)
            download(self.wheels, *REQUIREMENTS)
            self.make()
        self.background(["wine", str(self.python), "-c", DESKTOP])
        if not complete:
            self.install(*REQUIREMENTS[:-1], windows_path(REQUIREMENTS[-1]))
            done.write_text(recipe)

    def make(self):
        """Python, of panda3d's libraries, two that the compiler makes, and the standard library."""
        libraries = self.folder / "DLLs"
        libraries.mkdir(parents=True)
        download(self.folder / "panda3d", "--no-deps", PANDA3D)
        (wheel,) = (self.folder / "panda3d").glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                folder, _, file = name.rpartition("/")
                if folder == "deploy_libs" and not file.startswith("api-ms-"):  # wine has those itself
                    place = self.folder if file.lower().startswith(("python", "vcruntime")) else libraries
                    (place / file).write_bytes(archive.read(name))
        shutil.rmtree(self.folder / "panda3d")
        skip = shutil.ignore_patterns("site-packages", "lib-dynload", "test", "__pycache__", "config-*")
        shutil.copytree(sysconfig.get_path("stdlib"), self.folder / "Lib", ignore=skip)
        (self.folder / "Lib" / "site-packages").mkdir()
        self.link()

    def link(self):
        """python.exe, and python3.dll, which forwards to the DLL of this version."""
        library = self.folder / f"python{DIGITS}.dll"
        exported = [symbol.name.decode() for symbol in pefile.PE(library).DIRECTORY_ENTRY_EXPORT.symbols if symbol.name]
        definition, imports = self.folder / "python.def", self.folder / "python.lib"
        definition.write_text(f"LIBRARY {library.name}\nEXPORTS\nPy_Main\n")
        run(sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", imports)
        main, empty = self.folder / "main.c", self.folder / "empty.c"
        main.write_text(MAIN)
        empty.write_text("int dmlops_empty;\n")
        forwards = self.folder / "python3.def"
        lines = [f"{name}=python{DIGITS}.{name}" for name in exported]
        forwards.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]))
        compiler = [sys.executable, ROOT / "tools" / "zig.py"]
        target = {"ZIG_TARGET": "x86_64-windows-gnu"}
        run(*compiler, "-O2", "-s", "-municode", "-o", self.python, main, imports, **target)
        run(*compiler, "-s", "-shared", "-o", self.folder / "python3.dll", empty, forwards, **target)

    def install(self, *requirements):
        """As users do: by pip, on Windows."""
        packages = self.folder / "Lib" / "site-packages"
        if not (packages / "pip").is_dir():
            (pip,) = self.wheels.glob("pip-*.whl")
            with zipfile.ZipFile(pip) as archive:
                archive.extractall(packages)
        finding = [word for folder in (self.wheels, ROOT / "dist") for word in ("--find-links", windows_path(folder))]
        return self.run("-m", "pip", "install", "-q", "--no-index", "--no-warn-script-location", *finding, *requirements)

    def run(self, *arguments, **options):
        """Python."""
        return self.wine("wine", self.python, *arguments, **options)

    def wine(self, *command, check=True, limit=600, cwd=BUILD, **variables):
        """What a program prints; an error if it fails, or is not at its end after `limit` seconds.

        Nothing waits for the pipe's end: wine's services, which a program may start and which outlive it, keep it open. A file
        instead of it would be no file to Python.
        """
        process, printed = self.spawn(map(str, command), subprocess.PIPE, cwd=cwd, **variables), []
        reader = threading.Thread(target=lambda: printed.extend(iter(lambda: process.stdout.read(2**16), b"")), daemon=True)
        reader.start()
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = f"none after {limit} s"
        finally:
            end(process)
        reader.join(2)
        text = b"".join(printed).decode(errors="replace").replace("\r\n", "\n")
        assert not check or status == 0, f"exit status {status}\n{text}"
        return text

    def spawn(self, command, stdout, stderr=subprocess.STDOUT, cwd=BUILD, **variables):
        """In a process group of its own, so that all it starts can be ended."""
        options = {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": stderr, "bufsize": 0}
        environment = self.environment | variables
        return subprocess.Popen(list(command), env=environment, cwd=cwd, start_new_session=True, **options)
