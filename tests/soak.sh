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

soak() { # NAME ARGUMENTS-OF-PYTEST...
    name=$1
    shift
    run "$name" .venv/bin/pytest -q -m soak "$@"
}

run "20,000 examples an operator" \
    env HYPOTHESIS_PROFILE=soak .venv/bin/pytest -q tests/test_conformance.py tests/test_window.py
soak "every fault at every place" tests/test_faults.py
soak "200 forks during calls" tests/test_process.py
soak "sixteen threads for a minute" tests/test_threads.py
soak "a million tiny calls" tests/test_limits.py
soak "arrays beyond 4 GiB" tests/test_large.py
soak "whatever else is marked soak" tests \
    --ignore=tests/test_faults.py --ignore=tests/test_process.py --ignore=tests/test_threads.py \
    --ignore=tests/test_limits.py --ignore=tests/test_large.py
run "ten minutes of fuzzing" .venv-fuzz/bin/python tests/fuzz/run.py 600

echo
cat "$summary"
! grep -q FAILED "$summary"
