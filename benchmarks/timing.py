"""Measuring contenders against each other: in one process, in rotation, medians.

Each contender in turn calls for a moment, the round begun by a different one each time, so that whatever the
machine does besides, and whatever a neighbour leaves in caches or in spinning threads, meets all alike. What one left free in
the heap is given back first: each is timed with the page faults that it has in a process of its own, without that memory.
"""

import ctypes
import gc
import statistics
import time
from dataclasses import dataclass

ROUNDS = 7
FEWEST_ROUNDS = 3
SECONDS_EACH = 10.0  # a contender that has taken as long gets no more than those
PAUSE = 0.01  # lets a predecessor's spinning threads fall asleep
MOMENT = 0.02  # seconds that a turn's calls take, if a single one does not take longer
MOST_AT_A_TIME = 50


@dataclass
class Timing:
    ms: float
    runs: list  # ms each


@dataclass
class Contender:
    name: str
    call: object  # () -> a fresh numpy.ndarray
    same_bits: bool = True  # as NumPy's


def measure(contenders, rounds=ROUNDS):
    """A dict from name to Timing, and one from name to the error of those that failed on the way."""
    failed = {}
    runs = {contender.name: [] for contender in contenders}
    seconds = dict.fromkeys(runs, 0.0)
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            start = turn % max(len(contenders), 1)
            for contender in contenders[start:] + contenders[:start]:
                name = contender.name
                if name in failed or (turn >= FEWEST_ROUNDS and seconds[name] >= SECONDS_EACH):
                    continue
                _trim_heap()
                time.sleep(PAUSE)
                begin = time.perf_counter()
                try:
                    runs[name].append(_one_turn(contender.call))
                except Exception as error:
                    failed[name] = error
                seconds[name] += time.perf_counter() - begin
    finally:
        if enabled:
            gc.enable()
    return {name: Timing(statistics.median(ms), ms) for name, ms in runs.items() if name not in failed}, failed


def _trim_heap():
    """Gives free memory back to the system, where the C library is glibc."""
    trim = getattr(ctypes.pythonapi, "malloc_trim", None)
    if trim is not None:
        trim(0)


def _one_turn(call):
    """Ms of one call, the median of as many as fit into a moment. One before them is left out: it wakes cores and threads."""
    once(call)
    times = []
    while len(times) < MOST_AT_A_TIME and sum(times) < MOMENT * 1e3:
        times.append(once(call))
    return statistics.median(times)


def once(call):
    """Ms of one call. Its result is freed after the clock has stopped."""
    start = time.perf_counter()
    result = call()
    stop = time.perf_counter()
    del result
    return (stop - start) * 1e3


def medians(runs):
    """The median of each entry over dicts that have the same keys."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}
