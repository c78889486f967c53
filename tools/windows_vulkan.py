"""SwiftShader and the Vulkan loader for Windows, for tests on machines without a driver: out of a wheel on PyPI.

    python tools/windows_vulkan.py FOLDER [--install]

Writes them into FOLDER, and a manifest, whose path it prints. --install, on Windows and as administrator, also puts the loader
beside python.exe and the manifest's path into the registry: the loader takes none from the environment of an administrator.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

WHEEL = "cef-capi-py==131.3.5"  # it contains Chromium's libraries
LIBRARIES = ("vulkan-1.dll", "vk_swiftshader.dll")
MANIFEST = {"file_format_version": "1.0.0", "ICD": {"library_path": ".\\vk_swiftshader.dll", "api_version": "1.1.0"}}


def extract(folder):
    """Fill `folder`; return the path of the manifest in it."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "vk_swiftshader_icd.json"
    if manifest.exists():  # the last thing that is written
        return manifest
    with tempfile.TemporaryDirectory(dir=folder) as downloads:
        options = ["--no-deps", "--only-binary", ":all:", "--platform", "win_amd64", "-d", downloads]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", *options, WHEEL], check=True)
        (wheel,) = pathlib.Path(downloads).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                name = pathlib.PurePosixPath(member.filename).name
                if name in LIBRARIES:
                    (folder / name).write_bytes(archive.read(member))
    assert all((folder / name).exists() for name in LIBRARIES), f"{WHEEL} has not both of {LIBRARIES}"
    manifest.write_text(json.dumps(MANIFEST))
    return manifest


def install(manifest):
    import winreg

    shutil.copy(manifest.with_name("vulkan-1.dll"), pathlib.Path(sys.executable).parent)
    with winreg.CreateKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Khronos\Vulkan\Drivers") as key:
        winreg.SetValueEx(key, str(manifest), 0, winreg.REG_DWORD, 0)


if __name__ == "__main__":
    made = extract(sys.argv[1])
    if "--install" in sys.argv[2:]:
        install(made)
    print(made)
