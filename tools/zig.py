"""A C compiler for another system: clang, and glibc of any version, from the package ziglang.

    ZIG_TARGET=aarch64-linux-gnu.2.17 CC="python tools/zig.py" ...

Takes a C compiler's arguments. Zig keeps what it compiles of its own in build/zig.
"""

import os
import subprocess
import sys
from pathlib import Path


def main():
    cache = Path(__file__).resolve().parent.parent / "build" / "zig"
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache), **os.environ}
    target = os.environ.get("ZIG_TARGET")
    command = [sys.executable, "-m", "ziglang", "cc", *(["-target", target] if target else []), *sys.argv[1:]]
    return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
