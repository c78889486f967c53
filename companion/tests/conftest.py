"""The wheel in dist/, and a folder that it is installed in."""

import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel():
    wheels = list((ROOT / "dist").glob(f"dmlops_lavapipe-*_{platform.machine()}.whl"))
    if not wheels:
        pytest.skip("no wheel in dist/: python companion/build.py")
    assert len(wheels) == 1, wheels
    return wheels[0]


@pytest.fixture(scope="session")
def site(wheel, tmp_path_factory):
    """What pip would unpack into site-packages."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def driver(site):
    return site / "dmlops_lavapipe" / "libvulkan_lvp.so"


@pytest.fixture(scope="session")
def python(site):
    """Runs Python, with the package installed; returns what it prints."""

    def run(*arguments):
        options = {"env": {**os.environ, "PYTHONPATH": str(site)}, "stdout": subprocess.PIPE, "text": True}
        return subprocess.run([sys.executable, *arguments], check=True, **options).stdout

    return run
