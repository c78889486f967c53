"""Measuring contenders against each other: in one process, in rotation, medians.

Each contender in turn calls for a moment, the round begun by a different one each time, so that whatever the
machine does besides, and whatever a neighbour leaves in caches or in spinning threads, meets all alike.
"""

import gc
import statistics
import time
from dataclasses import dataclass

ROUNDS = 7
FEWEST_ROUNDS = 3
SECONDS_EACH = 10.0  # a contender slower than this over all rounds gets fewer of them
PAUSE = 0.01  # lets a predecessor's spinning threads fall asleep
MOMENT = 0.02  # seconds; a call that takes longer is a turn of its own
MOST_AT_A_TIME = 50


@dataclass
class Timing:
    ms: float
    runs: list  # ms each


@dataclass
class Contender:
    name: str
    call: object  # () -> a fresh numpy.ndarray
    estimate: float  # seconds a call took when it was checked


def measure(contenders, rounds=ROUNDS):
    """A dict from name to Timing, and one from name to the error of those that failed on the way."""
    failed = {}
    runs = {contender.name: [] for contender in contenders}
    turns = {contender.name: _turns(contender.estimate, rounds) for contender in contenders}
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for turn in range(max(turns.values(), default=0)):
            start = turn % len(contenders)
            for contender in contenders[start:] + contenders[:start]:
                if turn < turns[contender.name]:
                    time.sleep(PAUSE)
                    try:
                        runs[contender.name].append(_one_turn(contender))
                    except Exception as error:
                        failed[contender.name] = error
                        turns[contender.name] = 0
    finally:
        if enabled:
            gc.enable()
    return {name: Timing(statistics.median(ms), ms) for name, ms in runs.items() if name not in failed}, failed


def _turns(estimate, rounds):
    affordable = int(SECONDS_EACH / max(2 * estimate, 1e-9))  # with the call that is left out
    return min(rounds, max(FEWEST_ROUNDS, affordable))


def _one_turn(contender):
    """Ms of one call, the median of as many as fit into a moment. The one before them is left out: it wakes cores and threads."""
    count = min(MOST_AT_A_TIME, int(MOMENT / max(contender.estimate, 1e-6)) + 1)
    once(contender.call)
    return statistics.median(once(contender.call) for _ in range(count))


def once(call):
    """Ms of one call. Its result is freed after the clock has stopped."""
    start = time.perf_counter()
    result = call()
    stop = time.perf_counter()
    del result
    return (stop - start) * 1e3
