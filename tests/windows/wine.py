"""Windows without Windows: wine, Python for Windows and NumPy, kept in build/windows.

Python comes out of panda3d's wheel for Windows, which contains CPython's DLL, its extension modules and the C runtime. The
standard library is that of the Python that runs this, or of a Debian system whose Python has the version in question.
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
sys.path.insert(0, str(ROOT / "tests" / "wheels"))

import systems

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
SUITES = {"3.11": "bookworm", "3.13": "trixie"}  # Debian's, by the version of its Python
PANDA3D = "panda3d==1.10.16"
# NumPy 2.2 and later abort on wine 8, so that there is no 3.14. 2.1, the first for 3.13, aborts where it takes complex numbers
# apart.
FIRST = ["numpy==1.26.4", "ml_dtypes<0.6"]  # the last with NumPy 1
NUMPY = {"3.11": FIRST, "3.12": FIRST, "3.13": ["numpy==2.1.3"]}
# The version that runs the whole of the portable suite: this one, unless its NumPy aborts.
WHOLE = OWN if NUMPY.get(OWN) == FIRST else "3.11"
REQUIREMENTS = str(ROOT / "tests" / "requirements.txt")
# The first wine has itself. The second, which `platform` does without, calls a function that wine lacks.
LEFT_OUT = ("api-ms-", "_wmi.")
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
    """Run a program of this system; what it prints is in the error if it fails.

    Not in the checkout, relative to which zig would name its own files, and compile its C library once more.
    """
    options = {"cwd": BUILD, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(list(map(str, command)), env=os.environ | variables, **options)
    if done.returncode:
        raise Unavailable(f"{' '.join(map(str, command[:5]))} ...: {' '.join(done.stdout.splitlines()[-3:])}")


def end(process):
    """And what it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Machine:
    """The folder that wine keeps its registry and drive C in. As a context: running."""

    def __init__(self):
        self.prefix = BUILD / "prefix"
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
        self.ending.callback(self.run, "wineserver", "--kill", check=False)
        booted = self.prefix / "complete"
        if not booted.exists():
            self.run("wineboot", "--init")
            self.run("wine", "winecfg", "-v", "win10")
            booted.touch()

    def background(self, command):
        """Run a program until the machine is left; return the line that it prints when it is ready."""
        process = self.spawn(command, subprocess.PIPE, subprocess.DEVNULL)
        self.ending.callback(end, process)
        line = process.stdout.readline().decode().strip()
        if not line:
            raise Unavailable(f"{command[0]} does not start")
        return line

    def run(self, *command, check=True, limit=600, cwd=BUILD, **variables):
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


class Python:
    """A folder with Python of a version, and what the tests need, on a running machine."""

    def __init__(self, machine, version=WHOLE):
        self.machine, self.version, self.digits = machine, version, version.replace(".", "")
        self.folder = BUILD / f"python{self.digits}"
        self.wheels = BUILD / f"wheels{self.digits}"
        self.program = self.folder / "python.exe"
        self.prepare()

    def prepare(self):
        """Make what is not there yet."""
        if self.version not in NUMPY:
            raise Unavailable(f"NumPy for Python {self.version} does not run under wine")
        # colorama is what others ask for on Windows only; pip, here, asks this system.
        wanted, done = ["pip", "colorama", *NUMPY[self.version]], self.folder / "complete"
        recipe = "\n".join([PANDA3D, *wanted, pathlib.Path(REQUIREMENTS).read_text()])
        complete = done.exists() and done.read_text() == recipe
        if not complete:
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.wheels, ignore_errors=True)
            # Apart: pip, here, takes this Python's version for what others ask for, and that may be a later NumPy.
            self.download(self.wheels, "--no-deps", *wanted)
            self.download(self.wheels, "-r", REQUIREMENTS)
            self.make()
        self.machine.background(["wine", str(self.program), "-c", DESKTOP])
        if not complete:
            self.install(*wanted, "-r", windows_path(REQUIREMENTS))
            done.write_text(recipe)

    def download(self, folder, *requirements):
        """Wheels for Windows."""
        options = ["--only-binary", ":all:", "--platform", "win_amd64", "--python-version", self.version, "-d", folder]
        run(sys.executable, "-m", "pip", "download", "-q", *options, *requirements)

    def standard_library(self):
        if self.version == OWN:
            return sysconfig.get_path("stdlib")
        debian = systems.System(SUITES[self.version], "", packages="python3")
        try:
            debian.prepare()
        except systems.Unavailable as error:
            raise Unavailable(f"Python {self.version}'s standard library: {error}") from error
        return debian.folder / "usr" / "lib" / f"python{self.version}"

    def make(self):
        """Python, of panda3d's libraries, two that the compiler makes, and the standard library."""
        libraries = self.folder / "DLLs"
        libraries.mkdir(parents=True)
        self.download(self.folder / "panda3d", "--no-deps", PANDA3D)
        (wheel,) = (self.folder / "panda3d").glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                folder, _, file = name.rpartition("/")
                if folder == "deploy_libs" and not file.startswith(LEFT_OUT):
                    place = self.folder if file.lower().startswith(("python", "vcruntime")) else libraries
                    (place / file).write_bytes(archive.read(name))
        shutil.rmtree(self.folder / "panda3d")
        # Debian's pip heeds the last.
        skip = ("site-packages", "lib-dynload", "test", "__pycache__", "config-*", "EXTERNALLY-MANAGED")
        options = {"ignore": shutil.ignore_patterns(*skip), "ignore_dangling_symlinks": True}
        shutil.copytree(self.standard_library(), self.folder / "Lib", **options)
        (self.folder / "Lib" / "site-packages").mkdir()
        self.link()

    def link(self):
        """python.exe, and python3.dll, which forwards to the DLL of this version."""
        library = self.folder / f"python{self.digits}.dll"
        exported = [symbol.name.decode() for symbol in pefile.PE(library).DIRECTORY_ENTRY_EXPORT.symbols if symbol.name]
        definition, imports = self.folder / "python.def", self.folder / "python.lib"
        definition.write_text(f"LIBRARY {library.name}\nEXPORTS\nPy_Main\n")
        run(sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", imports)
        main, empty = self.folder / "main.c", self.folder / "empty.c"
        main.write_text(MAIN)
        empty.write_text("int dmlops_empty;\n")
        forwards = self.folder / "python3.def"
        lines = [f"{name}=python{self.digits}.{name}" for name in exported]
        forwards.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]))
        compiler = [sys.executable, ROOT / "tools" / "zig.py"]
        target = {"ZIG_TARGET": "x86_64-windows-gnu"}
        run(*compiler, "-s", "-municode", "-o", self.program, main, imports, **target)
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
        return self.machine.run("wine", self.program, *arguments, **options)
