"""Forks wait for other threads to sleep: a child inherits the locks of AddressSanitizer's allocator as they are, up to GCC 13.

The interpreter imports this at its start, since `run.sh` puts the folder on PYTHONPATH. A thread that has the allocator's lock
runs, or waits for a page; the driver's threads do so for moments after a call, and others until they need the GIL.
"""

import contextlib
import os
import pathlib
import time

MOST_SECONDS = 5


def running():
    """How many threads of this process run; this one does."""
    count = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that ends meanwhile
            count += (task / "stat").read_text().rpartition(")")[2].split()[0] != "S"
    return count


def wait_for_the_others():
    end = time.monotonic() + MOST_SECONDS
    while running() > 1 and time.monotonic() < end:
        time.sleep(0.001)


os.register_at_fork(before=wait_for_the_others)
