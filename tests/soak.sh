#!/bin/sh
# All that takes hours, one after the other; a line each at the end. Fails if any has failed.
set -u
cd "$(dirname "$0")/.."
mkdir -p build
summary=build/soak.txt
: >"$summary"

run() { # NAME COMMAND...
    name=$1
    shift
    begin=$(date +%s)
    verdict=FAILED
    "$@" && verdict=passed
    printf '%s  %5d s  %s\n' "$verdict" $(($(date +%s) - begin)) "$name" >>"$summary"
}

run "20,000 examples an operator" \
    env HYPOTHESIS_PROFILE=soak .venv/bin/pytest -q tests/test_conformance.py tests/test_sampling.py \
    tests/test_slice_from_key.py
run "3,000 examples of each kernel, into any memory, in portions, in chains" env HYPOTHESIS_PROFILE=deep .venv/bin/pytest -q \
    $(printf 'tests/test_%s.py ' kernels out progress device_array fuse_chains)
run "20,000 random models" \
    env HYPOTHESIS_PROFILE=soak .venv-onnx/bin/pytest -q tests/onnx/test_differential.py -k random_models
for file in $(grep -l 'mark\.soak' tests/test_*.py); do
    run "$file" .venv/bin/pytest -q -rs -m soak "$file"
done
run "8 GiB through a Dask cluster" .venv/bin/pytest -q -rs -m soak tests/dask
run "the wheel for aarch64, under qemu" .venv/bin/pytest -q -rs -m soak tests/wheels/aarch64.py
# What `make check` leaves to another day, or leaves out as the same to C, to Vulkan or on another driver.
run "the tests that take minutes" make check-deeper SHARES=1
run "all under the sanitizers" make check-sanitizers SHARES=1 SAME_TO_C=no_such_test SAME_ON_ODD_DEVICES=no_such_test
run "every third allocation under the sanitizers" env HYPOTHESIS_PROFILE=odd \
    tests/sanitizers/run.sh .venv-sanitized/bin/pytest -q -rs tests/test_faults.py -m check -k thirds_1
run "all under the validation layer" make check-validation SHARES=1 SAME_TO_VULKAN=no_such_test SAME_ON_ODD_DEVICES=no_such_test
run "all of preprocessing beside the originals" make check-processors PROCESSORS=all
run "all on SwiftShader" make check-swiftshader SHARES=1 ON_SWIFTSHADER="-n 2 --dist worksteal tests --ignore=tests/dask"
for part in direct leaks oldest-numpy; do
    run "all of check-$part" make check-$part SHARES=1
done
run "the companion, and the wheels on bare systems with it" make check-companion
run "the wheel for Windows, under wine" make check-windows
# RSS, errors and latencies; a machine with other load fails it by its latencies.
for device in auto 0; do
    run "a web server under load for ${SOAK_MINUTES:-60} minutes, device $device" \
        .venv/bin/python benchmarks/serving.py --minutes "${SOAK_MINUTES:-60}" --check "$device"
done
run "ten minutes of fuzzing" .venv-fuzz/bin/python tests/fuzz/run.py 600

echo
cat "$summary"
! grep -q FAILED "$summary"
