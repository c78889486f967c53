#!/bin/sh
# Runs a command (the test suite) under the Vulkan validation layer, synchronisation validation included, and fails on
# any message. First proves that the layer hears: a program with a known hazard must be reported, by the same settings.
#
# Usage: tests/validation/run.sh COMMAND...
set -eu
here=$(dirname "$0")
folder=$PWD/build/validation
rm -rf "$folder"
mkdir -p "$folder"

${CC:-cc} -std=c11 -Wall -Wextra -o "$folder/probe" "$here/probe.c" -lvulkan
"${PYTHON:-python3}" -c '
import os, subprocess, sys
sys.path.insert(0, sys.argv[1])
import support
support.select_driver()
os.environ.update(support.settings_for_layer(sys.argv[2], "stdout"))
heard = subprocess.run([sys.argv[2] + "/probe"], stdout=subprocess.PIPE, text=True, check=True).stdout
for sign in ("SYNC-HAZARD-WRITE", "VUID-"):
    if sign not in heard:
        sys.exit(f"the validation layer did not report {sign}: is it installed?\n{heard}")
print("validation: the layer reports a missing barrier and a bad argument, as it should")
' "$here/.." "$folder"

DMLOPS_TEST_VALIDATION=$folder "$@"

set -- "$folder"/*/messages.txt
if [ ! -f "$1" ]; then
    echo "validation: no log was written: the suite ran without the layer" >&2
    exit 1
elif cat "$@" | grep -q .; then
    cat "$@" | head -n 60
    echo "validation: $(cat "$@" | wc -l) lines of messages, in $folder" >&2
    exit 1
fi
echo "validation: not one message"
