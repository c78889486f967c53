"""Debian systems with Python and nothing else, made by debootstrap and kept in build/bare."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bare"
DIST = ROOT / "dist"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
USER, ROOT_USER = "user:user", "root:root"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Mounts are seen by this command alone, and end with it.
ENTER = """
set -e
root=$1 user=$2
shift 2
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm"
exec chroot --userspec="$user" "$root" env -i "$@"
"""


class Unavailable(Exception):
    """A system that cannot be had on this machine, or now."""


class System:
    """A chroot of a suite of Debian, with what pip is to install in it in the folder /wheels.

    Parameters
    ----------
    suite : str
        Debian's name of the release.
    wheels : str
        Requirements, which pip downloads from the index with all that they need, or none.
    packages : str
        Debian packages beside Python's.
    arch : str
        Debian's name of the architecture.
    """

    def __init__(self, suite, wheels, packages="", arch="amd64"):
        self.suite, self.wheels, self.packages, self.arch = suite, wheels.split(), packages.split(), arch
        self.folder = BUILD / "-".join([suite, *self.packages, *([] if arch == "amd64" else [arch])])

    def prepare(self, dist=DIST):
        """Make the system, unless it is there; copy the wheels and source distributions of a folder into it."""
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            raise Unavailable("needs root and debootstrap")
        done, recipe = self.folder / "complete", json.dumps([self.wheels, self.packages])
        if not done.exists() or done.read_text() != recipe:
            self.make()
            done.write_text(recipe)
        shutil.rmtree(self.folder / "dist", ignore_errors=True)
        (self.folder / "dist").mkdir()
        for file in (*dist.glob("*.whl"), *dist.glob("*.tar.gz")):
            shutil.copy(file, self.folder / "dist")

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        packages = ",".join(["python3-venv", *self.packages])
        options = [f"--arch={self.arch}", "--variant=minbase", f"--include={packages}"]
        command = ["unshare", "--mount", "debootstrap", *options, self.suite, self.folder, *debian_mirror()]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Unavailable(f"debootstrap {self.suite}: {' '.join(done.stdout.splitlines()[-3:])}")
        shutil.copy("/etc/resolv.conf", self.folder / "etc")
        if CERTIFICATES.exists():
            (self.folder / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
            shutil.copy(CERTIFICATES, self.folder / "etc/ssl/certs")
        self.run("useradd --create-home user", user=ROOT_USER)
        if not self.wheels:
            return
        self.run("python3 -m venv /opt/pip", user=ROOT_USER)
        download = f"/opt/pip/bin/pip download -q -d /wheels {' '.join(map(repr, self.wheels))}"
        try:
            self.run(download, user=ROOT_USER, **index_of_this_machine())
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"{self.suite}: {' '.join(error.stdout.splitlines()[-3:])}") from error

    def run(self, command, *, user=USER, home=None, check=True, **environment):
        """Run a line of shell; return what it prints."""
        home = home or ("/root" if user == ROOT_USER else "/home/user")
        variables = {"HOME": home, "PATH": PATH, "LC_ALL": "C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment}
        words = [f"{name}={value}" for name, value in variables.items()]
        enter = ["unshare", "--mount", "sh", "-c", ENTER, "enter", self.folder, user, *words]
        done = subprocess.run(
            [*enter, "sh", "-c", f"cd; {command}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if check and done.returncode:
            print(done.stdout)
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
        return done.stdout

    def install(self, *requirements, user=USER):
        """Into a new virtual environment, ~/env, from the folders dist and /wheels alone."""
        self.run("rm -rf ~/env && python3 -m venv ~/env", user=user)
        self.add(*requirements, user=user)

    def add(self, *requirements, user=USER):
        self.run(
            f"~/env/bin/pip install -q --no-index --find-links /dist --find-links /wheels {' '.join(map(repr, requirements))}",
            user=user,
        )

    def python(self, arguments, **options):
        return self.run(f"~/env/bin/python {arguments}", **options)


def debian_mirror():
    """Debian's mirror in the machine's apt configuration, or none: debootstrap has one of its own."""
    command = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Origin: Debian", "Label: Debian"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()[:1]


def index_of_this_machine():
    """How this machine's pip reaches an index, as environment variables, without what is in its own folders."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, text=True).stdout
    settings = dict(re.findall(r"^[:\w]+\.([\w-]+)='(.*)'$", listed, re.MULTILINE))
    chosen = {}
    for name in ("index-url", "extra-index-url"):
        urls = [word for word in settings.get(name, "").split() if word.startswith("http")]
        chosen |= {name: " ".join(urls)} if urls else {}
    chosen |= {name: settings[name] for name in ("trusted-host", "proxy", "default-timeout") if name in settings}
    variables = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in chosen.items()}
    variables |= {"PIP_CERT": str(CERTIFICATES)} if CERTIFICATES.exists() else {}
    return variables | {
        name: value for name, value in os.environ.items() if name.lower() in ("http_proxy", "https_proxy", "no_proxy")
    }
