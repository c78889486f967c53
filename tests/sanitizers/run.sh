#!/bin/sh
# Runs a command (the test suite) with the address and undefined-behaviour sanitizers' libraries loaded into the
# interpreter, which was built without them. The command's environment must hold an instrumented dmlops.
#
# Usage: tests/sanitizers/run.sh COMMAND...
set -eu
compiler=${CC:-cc}
libraries=
for name in libasan.so libubsan.so libstdc++.so.6; do # the last one: so that exceptions of the driver's are found
    path=$($compiler -print-file-name=$name)
    [ "$path" != $name ] || continue
    libraries="$libraries $(readlink -f "$path")"
done
case $libraries in
*asan*) ;;
*)
    echo "sanitizers: $compiler has no libasan" >&2
    exit 1
    ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
forks=$here/../../build/sanitized/forks.so
[ "$forks" -nt "$here/forks.c" ] || $compiler -std=gnu11 -O1 -shared -fPIC -pthread -o "$forks" "$here/forks.c"

core=$("$(dirname "$1")"/python -I -c '
import importlib.metadata
print(*(file.locate() for file in importlib.metadata.files("dmlops") if "_core" in file.name and file.suffix == ".so"))')
if ! grep -q __asan_report "$core" || ! grep -q __ubsan_handle "$core"; then
    echo "sanitizers: $core is not instrumented" >&2
    exit 1
fi

# Python's own allocator would hide small overruns; its objects that live until the end are no leaks of ours.
export PYTHONMALLOC=malloc
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
LD_PRELOAD="$libraries $forks" "$@"
