"""A complete scenario with a fault at its n-th Vulkan call or allocation, for n = 1, 2, 3, ... until none fires.

    python -m faults.walk KIND RESULT BEFORE-OR-AFTER FIRST STEP

Each n has a process of its own, forked from one that has touched no Vulkan yet, so that one that hangs or crashes is
told from the others. Prints every broken promise, and at the end how many faults there were and where.
"""

import collections
import gc
import os
import signal
import sys
import traceback

import dmlops
import numpy as np
from dmlops import _core, reference

import faults
from strategies import content, parts

SECONDS = 300  # for one scenario; one takes a tenth of a second
os.environ["DMLOPS_CACHE"] = "4M"  # little, so that there are results beyond it
RNG = np.random.default_rng(6)
X = RNG.integers(0, 256, (32, 4096), np.uint8)
IMAGE = RNG.integers(0, 2**16, (1, 8, 64, 64), np.uint16)
MATRIX = RNG.integers(0, 2**16, (403, 1403), np.uint16)  # a transpose by blocks, with rests
LENGTHS = RNG.integers(0, 4097, (32, 1))
INDICES = RNG.integers(0, 4096, 500)
FAMILY = (dmlops.VulkanError, MemoryError)

EXPECTED = {
    "VK_ERROR_OUT_OF_HOST_MEMORY": (MemoryError,),
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": (dmlops.OutOfDeviceMemoryError,),
    "VK_ERROR_INITIALIZATION_FAILED": (dmlops.VulkanError,),
    "VK_ERROR_DEVICE_LOST": (dmlops.DeviceLostError,),
    "VK_TIMEOUT": (),  # of a wait: it waits on
}


CALLS = [
    ("slice", (X, [0, 0], [32, 4096], [1, -1]), {}),
    ("slice", (X, [0, 16], [32, 4000], [1, 1]), {}),
    ("slice", (IMAGE.transpose(0, 3, 1, 2), [0] * 4, [1, 64, 8, 64], [1, 3, 1, 1]), {}),
    ("reverse_subsequences", (X, LENGTHS, 1), {}),
    ("depth_to_space", (IMAGE, 2), {"order": "CRD"}),
    ("space_to_depth", (IMAGE, 2), {"layout": "NCHW"}),
]
# Of several steps in one submission, and of several results.
FAMILY_CALLS = [
    ("padding", (X, [1, 3], [2, 5]), {"value": 9}),
    ("padding", (IMAGE, [0, 0, 3, 0], [0, 0, 70, 0]), {"mode": "reflection"}),
    ("join", ([X, X[:, ::-1], X[:, :5]], 1), {}),
    ("split", (X, 1, [4000, 0, 96]), {}),
    ("transpose", (MATRIX,), {}),
    ("slice_grad", (X, [40, 8200], [3, 1], [32, 8191], [1, -2]), {}),
    ("take", (X, INDICES, 1), {}),
    ("scatter_nd", (X, INDICES[:4, None] % 32, X[4:8]), {}),
]
BICUBIC = _core._resampling(0, 3, (32, 4096), (20, 1000), (0.0, 0.0), (32.0, 4096.0), 1, True)  # as Pillow does
SMALLER = _core._resample(X, BICUBIC, [0, 1], None, None, "host", None)  # here, since weights are cached
FLOATS = RNG.normal(0, 100, (32, 300)).astype(np.float32)
MAP = dmlops.fuse(lambda x: (x - np.float32(3)) * np.float32(0.5))  # which a device tries first
MAPPED = MAP(FLOATS, device="host")
TRAITS = ["mapped", "host_import", "staging", "range"]


class Broken(Exception):
    """A promise that was not kept."""


class Run:
    """One scenario with at most one fault."""

    def __init__(self, layer, result):
        self.layer, self.result, self.errors = layer, result, []

    def attempt(self, call):
        """What the call returns; if it fails, as it may once, what it returns when it is made again."""
        try:
            return call()
        except FAMILY as error:
            if not self.layer.fired or self.errors:
                raise Broken(f"{error!r} without a fault") from error
            expected = EXPECTED[self.result]
            if not isinstance(error, expected) or (expected == (MemoryError,) and type(error) is not MemoryError):
                raise Broken(f"{type(error).__name__} after {self.result}: {error}") from error
            self.errors.append(type(error))  # not the error, whose traceback would keep arrays alive
        return call()

    def operate(self, name, args, kwargs):
        expected = parts(getattr(reference, name)(*args, **kwargs))
        sources = [a for a in (*args, *(args[0] if name == "join" else ())) if isinstance(a, np.ndarray)]
        before = [a.tobytes() for a in sources]
        result = self.attempt(lambda: getattr(dmlops, name)(*args, **kwargs))
        if content(parts(result)) != content(expected):
            raise Broken(f"{name}: wrong bytes")
        # Into every second element of larger arrays, whose others belong to somebody else.
        parents = [np.full((*part.shape[:-1], 2 * part.shape[-1]), 7, part.dtype) for part in expected]
        outs = [parent[..., ::2] for parent in parents]
        self.attempt(lambda: getattr(dmlops, name)(*args, **kwargs, out=outs if name == "split" else outs[0]))
        if content(outs) != content(expected) or not all((parent[..., 1::2] == 7).all() for parent in parents):
            raise Broken(f"{name}: wrong bytes in out")
        if before != [a.tobytes() for a in sources]:
            raise Broken(f"{name}: the input changed")

    def in_place(self):
        """Where input and out share memory, a failed call leaves both as they were: there is a detour."""
        same = X.copy()

        def call():
            try:
                return dmlops.slice(same, [0, 0], [32, 4096], [-1, 1], out=same)
            except FAMILY:
                if not np.array_equal(same, X):
                    raise Broken("a failed call changed its input") from None
                raise

        if not np.array_equal(self.attempt(call), X[::-1]):
            raise Broken("wrong bytes in place")

    def into_scattered(self):
        """Into elements with gaps of every kind between them."""
        out = np.lib.stride_tricks.as_strided(np.zeros(40, np.uint8), (3, 4), (13, 3))
        self.attempt(lambda: dmlops.slice(X, [1, 2], [3, 4], out=out))
        if not np.array_equal(out, X[1:4, 2:6]):
            raise Broken("wrong bytes in a scattered out")

    def beyond_the_limit(self):
        """Results that are too large to be pooled, each of which begins with the pages of the one before."""
        for n in range(3):
            x = np.full(5 * 2**20, n, np.uint8)
            if not np.array_equal(self.attempt(lambda x=x: dmlops.slice(x, [0], [x.size], device="host")), x):
                raise Broken("wrong bytes in a result beyond the limit")

    def resident(self):
        """A chain on the device: uploads, queued steps, lengths there, an assignment by way of a copy, downloads."""
        expected = reference.reverse_subsequences(X[::-1, ::-1], LENGTHS, 1)
        expected[:20] = expected[12:].copy()

        def chain():
            a = dmlops.asarray(X)
            b = dmlops.slice(a[::-1], [0, 0], [32, 4096], [1, -1])
            a = dmlops.reverse_subsequences(b, dmlops.asarray(LENGTHS), 1)
            a[:20] = a[12:]
            a.wait()
            a.__dlpack__(dl_device=(1, 0))
            large = dmlops.empty(2**21, np.uint8)  # which has memory of its own
            large[:3] = X[0, :3]
            if not np.array_equal(large[:3].numpy(), X[0, :3]):
                raise Broken("wrong bytes in a large array")
            if a[..., ::-1].numpy().tobytes() != expected[:, ::-1].tobytes():
                raise Broken("wrong bytes of a view")
            return a.numpy()

        if self.attempt(chain).tobytes() != expected.tobytes():
            raise Broken("wrong bytes of a chain")

    def resident_family(self):
        """The same for operators of several steps and of several results."""
        expected = np.pad(np.concatenate([X[:, 1000:], X[:, :1000]], 1), ((0, 0), (3, 2)), "reflect")

        def chain():
            left, right = dmlops.split(dmlops.asarray(X), 1, [1000, 3096])
            return dmlops.padding(dmlops.join([right, left], 1), [0, 3], [0, 2], mode="reflection").numpy()

        if self.attempt(chain).tobytes() != expected.tobytes():
            raise Broken("wrong bytes of a chain of the family")

    def resized(self):
        """Two passes with memory of their own between them: from the host to the host, and between device arrays."""

        def resize(x, device):
            return _core._resample(x, BICUBIC, [0, 1], None, None, device, None)

        if not np.array_equal(self.attempt(lambda: resize(X, None)), SMALLER):
            raise Broken("wrong bytes of a resized array")
        if not np.array_equal(self.attempt(lambda: resize(dmlops.asarray(X), None).numpy()), SMALLER):
            raise Broken("wrong bytes of a resized device array")

    def mapped(self):
        """A map of floats: what the device makes of some values comes before it."""
        if not np.array_equal(self.attempt(lambda: MAP(dmlops.asarray(FLOATS)).numpy()), MAPPED):
            raise Broken("wrong bytes of a map")
        if not np.array_equal(self.attempt(lambda: MAP(FLOATS, device=0)), MAPPED):
            raise Broken("wrong bytes of a map of a host array")

    def split_in_place(self):
        """A failed call of several results leaves the array that they share with the input as it was."""
        same = X.copy()

        def call():
            try:
                return dmlops.split(same, 0, [12, 20], out=[same[20:], same[:20]])
            except FAMILY:
                if not np.array_equal(same, X):
                    raise Broken("a failed call changed its input") from None
                raise

        self.attempt(call)
        if not np.array_equal(same, np.roll(X, 20, 0)):
            raise Broken("wrong bytes of a split in place")

    def steps(self):
        """All that is done, one after the other: what to set, and what to do then."""
        yield {}, lambda: self.attempt(dmlops.devices)
        for call in (*CALLS, *FAMILY_CALLS):
            yield {}, lambda call=call: self.operate(*call)
        for step in (self.in_place, self.split_in_place, self.into_scattered, self.beyond_the_limit):
            yield {}, step
        for traits in ({}, {"mapped": 0}):
            yield traits, self.resident
            yield traits, self.resident_family
        yield {}, self.resized
        yield {}, self.mapped
        for step in (lambda: self.operate(*CALLS[0]), self.resident, self.resized, self.mapped):  # by way of staging memory
            yield {"mapped": 0, "host_import": 0}, step
        for call in (CALLS[3], FAMILY_CALLS[2], FAMILY_CALLS[3]):  # in several submissions
            yield {"host_import": 0, "staging": 40_000}, lambda call=call: self.operate(*call)
        yield {"staging": 40_000, "range": 70_000}, self.resized
        for call in (CALLS[0], FAMILY_CALLS[0]):  # in several pieces
            yield {"staging": 40_000, "range": 70_000}, lambda call=call: self.operate(*call)

    def scenario(self):
        """Up to the fault, and somewhat further: what comes later would be as without one."""
        more = 3
        for traits, step in self.steps():
            for name in TRAITS:
                _core._override(name, traits.get(name, -1))
            step()
            more -= bool(self.layer.fired)
            if more == 0:
                break
        for name in TRAITS:
            _core._override(name, -1)
        dmlops.synchronize()
        dmlops.memory_info()
        dmlops.empty_cache()

    def check_leaks(self, references):
        gc.collect()
        abandoned = _core._abandoned()
        left = [sys.getrefcount(a) for a in (X, IMAGE, LENGTHS)]
        if abandoned == 0 and left != references:
            raise Broken(f"references to the inputs: {references} before, {left} after")
        _core._shutdown()
        abandoned = max(abandoned, _core._abandoned())  # with what could not be waited for even then
        contexts = self.layer.alive("malloc")
        if self.layer.alive("PyMem_Malloc"):
            raise Broken(f"alive: {self.layer.list_alive}")
        if abandoned == 0 and (self.layer.alive() != contexts or contexts > 1):
            raise Broken(f"nothing was abandoned, yet there are alive: {self.layer.list_alive}")
        # Two chunks that were staged, and the context of a lost device.
        if abandoned > 3 or self.layer.alive("vkCreateDevice") > 1:
            raise Broken(f"{abandoned} were abandoned; alive: {self.layer.list_alive}")
        if self.layer.violations:
            raise Broken(self.layer.violations)
        return abandoned


def in_child(layer, kind, result, after, at, pipe):
    signal.alarm(SECONDS)
    references = [sys.getrefcount(a) for a in (X, IMAGE, LENGTHS)]
    run = Run(layer, result)
    only = "vkWaitForFences" if result == "VK_TIMEOUT" else ""
    layer.watch_allocations()
    layer.arm(kind, at, result, after, only)
    try:
        run.scenario()
        fired = layer.fired
        abandoned = run.check_leaks(references)
        text = f"{fired}|{run.errors[0].__name__ if run.errors else 'none'}|{abandoned}|"
    except BaseException as error:
        text = f"{layer.fired}|||{error!r}\n{traceback.format_exc()}"
    os.write(pipe, text.encode()[:60_000])
    layer.arm()
    sys.exit()  # the ordinary way, which must not fail either


def walk(kind, result, after, first, step):
    """Yields (n, what failed, what was raised, how much was abandoned, what is wrong)."""
    layer = faults.Layer()
    for at in range(first, 10**6, step):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            in_child(layer, kind, result, after, at, write)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        status = os.waitpid(pid, 0)[1]
        fired, raised, abandoned, wrong = text.split("|", 3) if text else ("?", "", "", f"ended with status {status}")
        if status and not wrong:
            wrong = f"ended with status {status}"
        if fired or wrong:
            yield at, fired, raised, abandoned, wrong
        if not fired:
            return


def main(kind, result, when, first, step):
    where, broken = collections.Counter(), 0
    for at, fired, raised, abandoned, wrong in walk(kind, result, when == "after", int(first), int(step)):
        where[fired, raised, abandoned] += 1
        if wrong:
            broken += 1
            print(f"BROKEN: {result} {when} {fired}, number {at}: {wrong}", flush=True)
    for (fired, raised, abandoned), count in sorted(where.items()):
        print(f"{count:5} {fired}: raised {raised}, abandoned {abandoned}")
    print(f"{sum(where.values())} faults, {broken} promises broken")
    return broken > 0 or not where


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
