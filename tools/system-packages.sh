#!/bin/sh
# Installs the system packages that dmlops is built and tested with, on Debian and Ubuntu.
# Does nothing when all are there, so that running it again costs a fraction of a second.
#
#   DMLOPS_SKIP_APT=1   leave the system alone (another system, or packages from elsewhere)
#   DMLOPS_APT_EXTRA    further packages: a browser for `make check-docs`, debootstrap for `make check-wheels`
#
# Debian 12's own Mesa runs compute shaders 5 to 10 times slower than the one of
# bookworm-backports, which is therefore taken from the mirror the machine already uses.
set -eu

say() { printf 'dmlops set-up: %s\n' "$*"; }
installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

[ -z "${DMLOPS_SKIP_APT:-}" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    say "no apt-get here. Install by your system's means: a C compiler, Python 3.11+ with headers and venv,"
    say "the Vulkan headers and loader, glslc (shaderc), a Vulkan driver; then set DMLOPS_SKIP_APT=1."
    exit 1
fi

packages="libvulkan-dev glslc spirv-tools vulkan-validationlayers mesa-vulkan-drivers"
command -v "${CC:-cc}" >/dev/null 2>&1 || packages="$packages gcc libc6-dev"
# What the interpreter in use lacks; one that did not come from Debian brings its own headers.
python="${PYTHON:-python3}"
command -v "$python" >/dev/null 2>&1 || packages="$packages python3"
has_headers() {
    "$python" -c '
import os, sysconfig
raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}
has_venv() { "$python" -c 'import venv, ensurepip' 2>/dev/null; }
has_headers || packages="$packages python3-dev"
has_venv || packages="$packages python3-venv"

missing=
packages="$packages ${DMLOPS_APT_EXTRA:-}"
for package in $packages; do
    installed "$package" || missing="$missing $package"
done

suite=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-}")
old_mesa() { dpkg-query -W -f='${Version}' mesa-vulkan-drivers 2>/dev/null | grep -q '^22\.'; }
[ -n "$missing" ] || { [ "$suite" = bookworm ] && old_mesa; } || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        say "missing:$missing; needs root, and there is no sudo. Run as root: apt-get install$missing"
        exit 1
    }
    sudo=sudo
fi
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 "$@" >/dev/null; }

say "installing$missing"
apt update || say "apt-get update failed; going on with the lists that are here"

# The backports of the mirror that serves bookworm itself, in a file of our own, removed by nobody else.
if [ "$suite" = bookworm ] && ! apt-cache policy mesa-vulkan-drivers | grep -q bookworm-backports; then
    mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
        awk '$2 == "bookworm" { print $1; exit }')
    if [ -n "$mirror" ]; then
        printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm-backports main\n' "$mirror" |
            $sudo tee /etc/apt/sources.list.d/dmlops-backports.list >/dev/null
        apt update || {
            $sudo rm -f /etc/apt/sources.list.d/dmlops-backports.list
            apt update || true
        }
    fi
fi

stock=
for package in $missing; do
    [ "$package" = mesa-vulkan-drivers ] || stock="$stock $package"
done
# shellcheck disable=SC2086  # a list of words
[ -z "$stock" ] || apt install --no-install-recommends $stock || {
    say "apt-get could not install:$stock"
    exit 1
}
if ! installed mesa-vulkan-drivers || { [ "$suite" = bookworm ] && old_mesa; }; then
    # Of the backports only what it cannot do without: more of them would keep out packages of the release itself, such as wine.
    driver=mesa-vulkan-drivers
    [ "$suite" != bookworm ] || driver=$driver/bookworm-backports
    apt install --no-install-recommends "$driver" || apt install --no-install-recommends mesa-vulkan-drivers || {
        say "apt-get could not install mesa-vulkan-drivers"
        exit 1
    }
    ! old_mesa || say "WARNING: only Mesa 22 could be had; lavapipe runs compute shaders 5 to 10 times slower with it"
fi
