"""The conformance suite on the odd device that the environment describes: `python -m faults.conformance TEST...`. Nothing that
is printed is held back: it may come from the validation layer."""

import sys

import pytest

import faults


def main(tests):
    layer = faults.Layer()
    layer.arm("vulkan", at=10**9)  # counts, and never fires
    failed = pytest.main(["-q", "-x", "-s", "-p", "no:cacheprovider", "-p", "no:randomly", *tests])
    if layer.seen == 0:
        print("the layer was never called")
    if layer.violations:
        print("what the device cannot do was asked of it:", layer.violations)
    return int(failed) or layer.seen == 0 or bool(layer.violations)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
