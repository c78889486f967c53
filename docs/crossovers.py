"""When is NumPy faster, the plain C of `host`, or a Vulkan device? Measured while the site is built."""

import time

import numpy as np

import dmlops


def calls():
    """(title of the array, what is done, ours as a function of the device, NumPy's), for arrays of three sizes."""
    rng = np.random.default_rng(0)
    photo = rng.integers(0, 256, (1, 448, 640, 3), dtype=np.uint8)
    batch = rng.integers(0, 256, (32, 224, 224, 3), dtype=np.uint8)
    large = rng.integers(0, 256, (448, 224, 224, 3), dtype=np.uint8)
    features = [rng.random((n, 16, 112, 112), dtype=np.float32) for n in (1, 6, 84)]  # as many bytes
    titles = ("one photograph, 0.9 MB", "32 pictures, 4.8 MB", "448 pictures, 64 MiB")
    for title, x, y in zip(titles, (photo, batch, large), features):
        for what, key in (("crop", np.s_[:, 8:-8, 8:-8]), ("mirror", np.s_[:, :, ::-1])):
            yield title, what, sliced(x, key), copied(x, key)
        yield title, "space_to_depth, block 16", patched(x), patched_by_hand(x)
        yield title, "depth_to_space, block 2, of as many float32", shuffled(y), shuffled_by_hand(y)


def sliced(x, key):
    window = dmlops.slice_from_key(x.shape, key)
    return lambda device: dmlops.slice(x, *window, device=device)


def copied(x, key):
    return lambda: x[key].copy()


def patched(x):
    return lambda device: dmlops.space_to_depth(x, 16, layout="NHWC", device=device)


def patched_by_hand(x):
    n, h, w, c = x.shape
    shape = (n, h // 16, 16, w // 16, 16, c)
    return lambda: x.reshape(shape).swapaxes(2, 3).reshape(n, h // 16, w // 16, 256 * c)


def shuffled(x):
    return lambda device: dmlops.depth_to_space(x, 2, device=device)


def shuffled_by_hand(x):
    n, c, h, w = x.shape
    return lambda: x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)


def median_ms(call, repeats=9):
    call()  # compiles a kernel, warms a cache
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * sorted(times)[repeats // 2]


def measured(device):
    """Rows of (title, what, NumPy's ms, host's ms, the device's ms)."""
    for title, what, ours, numpy in calls():
        assert np.array_equal(ours(device), numpy())
        yield (
            title,
            what,
            median_ms(numpy),
            median_ms(lambda ours=ours: ours("host")),
            median_ms(lambda ours=ours: ours(device)),
        )
