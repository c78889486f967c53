# "figures": gpu_stages.py and gpu.py; "tests": tests, each for so many seconds at most. With what `make bench-gpu-stages` packed.
cd "$(dirname "$0")/.." && mkdir -p build/gpu || exit
export PYTHONPATH="$PWD/build/gpu/site" CPATH="$PWD/build/gpu/include" LD_LIBRARY_PATH="$PWD/build/gpu/lib:$LD_LIBRARY_PATH"
export PYTHONUNBUFFERED=1 DMLOPS_TEST_DEVICES=vulkan HYPOTHESIS_PROFILE=odd
drivers=$(ls /usr/share/vulkan/icd.d/nvidia*.json /etc/vulkan/icd.d/nvidia*.json /usr/local/nvidia/share/vulkan/icd.d/*.json 2>&-)
export VK_DRIVER_FILES="${VK_DRIVER_FILES:-$(echo "$drivers" | head -n 1)}"
what=$1 && shift
[ "$what" = tests ] || { python3 benchmarks/gpu_stages.py "$@" && exec python3 benchmarks/gpu.py --output build/gpu/gpu.md; }
for test in ${*:-limits:30 threads:40 process:40 peers/test_cuda_tensors:30 faults:50 odd_devices:50 large:45}; do
    case $test in */*) file=tests/${test%:*}.py ;; *) file=tests/test_${test%:*}.py ;; esac
    log=build/gpu/$(basename "$file" .py).txt
    timeout -s KILL "${test#*:}" python3 -P -m pytest -v -p no:cacheprovider "$file" >"$log" 2>&1
    echo "$file: status $?; $(tail -n 2 "$log" | tr "\n" " ")"
done
