#!/bin/sh
# Prints the path of the manifest of SwiftShader, a Vulkan driver for CPUs that Debian's chromium-common contains, and installs
# that package where it is missing. Fails where SwiftShader cannot be had, and says why.
set -eu

manifest=/usr/lib/chromium/vk_swiftshader_icd.json
say() { printf 'swiftshader: %s\n' "$*" >&2; }

if [ ! -e "$manifest" ]; then
    [ -z "${DMLOPS_SKIP_APT:-}" ] || { say "skipped: $manifest is missing, and DMLOPS_SKIP_APT is set"; exit 1; }
    command -v apt-get >/dev/null 2>&1 || { say "skipped: $manifest is missing, and there is no apt-get"; exit 1; }
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    say "installing chromium-common"
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 install \
        --no-install-recommends chromium-common >/dev/null 2>&1 || {
        say "skipped: apt-get could not install chromium-common"
        exit 1
    }
    [ -e "$manifest" ] || { say "skipped: chromium-common has no $manifest"; exit 1; }
fi
printf '%s\n' "$manifest"
