"""After `warm_up`, calls with such arguments compile no kernel and trace no function; the arguments are read alone."""

import dmlops
import numpy as np
import pytest

import support

# Kernels compiled and functions traced so far, by the lines of the log and by the functions themselves.
COUNTED = """
import logging
import dmlops, numpy as np
from dmlops import reference
compiled, traced = [], []

class Kept(logging.Handler):
    def emit(self, record):
        if record.getMessage().startswith("compiled a kernel"):
            compiled.append(record.getMessage())

logging.getLogger("dmlops").addHandler(Kept())
logging.getLogger("dmlops").setLevel(logging.INFO)
rng = np.random.default_rng(0)
SHAPES = [(60, 80, 3), (61, 97, 3), (480, 641, 3), (333, 500, 4), (9, 7, 1)]

def like(x):
    '''Another array, elsewhere.'''
    return rng.integers(0, 256, x.shape, x.dtype)

@dmlops.fuse
def prepare(photo, mirror=False):
    traced.append(photo.shape)
    x = np.moveaxis(photo[2:-2, 1:-1, ::-1] if mirror else photo[2:-2, 1:-1], -1, 0)
    return x.astype(np.float32) / 255, x

def known():
    return len(compiled), len(traced)
"""


def run(code):
    support.run_python(COUNTED + code, env={"DMLOPS_LOG": None})


def test_operators(vulkan):
    run("""
def calls(x):
    height, width, channels = x.shape
    yield dmlops.transpose, (x, (2, 0, 1)), {}
    yield dmlops.slice, (x, (1, 2, 0), (height - 2, width - 2, channels), (1, 1, 1)), {}
    yield dmlops.slice, (x, (0, 0, 0), x.shape, (-2, -1, 1)), {}
    yield dmlops.padding, (x, (1, 2, 0), (2, 3, 0)), {"mode": "reflection"}
    yield dmlops.split, (x, 1, [width // 2, width - width // 2]), {}
    yield dmlops.resize_pillow, (x, (20, 30)), {}

for shape in SHAPES:
    for function, args, kwargs in calls(np.zeros(shape, np.uint8)):
        dmlops.warm_up(function, *args, **kwargs, device=0)
before = known()
assert before[0] > 10
for shape in SHAPES:
    for _ in range(3):
        for function, args, kwargs in calls(like(np.zeros(shape, np.uint8))):
            results = function(*args, **kwargs, device=0)
            expected = getattr(reference, function.__name__)(*args, **kwargs)
            assert all(map(np.array_equal, results, expected)), function
assert known() == before, compiled[before[0] :]
""")


def test_fused_functions(vulkan):
    run("""
for shape in SHAPES:
    for mirror in (False, True):
        prepare.warm_up(np.zeros(shape, np.uint8), mirror, device=0)
before = known()
assert before[0] > 4 and before[1] == 2 * len(SHAPES), before
for shape in SHAPES:
    for mirror in (False, True) * 3:
        x = like(np.zeros(shape, np.uint8))
        for result, expected in zip(prepare(x, mirror, device=0), prepare.reference(x, mirror), strict=True):
            assert np.array_equal(result, expected)
assert len(compiled) == before[0], compiled[before[0] :]
assert len(traced) == before[1] + 6 * len(SHAPES)  # those of the reference

class Model:
    @dmlops.fuse
    def turned(self, x):
        traced.append(x.shape)
        return x.T

model = Model()
model.turned.warm_up(np.zeros((5, 6), np.uint8), device="host")
dmlops.warm_up(model.turned, np.zeros((5, 7), np.uint8), device="host")
before = known()
assert model.turned(np.ones((5, 6), np.uint8), device="host").shape == (6, 5)
assert model.turned(np.ones((5, 7), np.uint8), device="host").shape == (7, 5)
assert known() == before
""")


def test_preprocessors_and_device_arrays(vulkan):
    run("""
p = dmlops.preprocessing({"image_processor_type": "ViTImageProcessor", "size": {"height": 24, "width": 24}}, backend="pil")
p.warm_up([np.zeros((60, 80, 3), np.uint8), np.zeros((50, 40, 3), np.uint8)], device=0)
a = dmlops.asarray(np.zeros((200, 300), np.uint8), device=0)
dmlops.warm_up(dmlops.transpose, a)
before = known()
assert before[0] > 1
p([like(np.zeros((60, 80, 3), np.uint8)), like(np.zeros((50, 40, 3), np.uint8))], device=0)
x = like(np.zeros((200, 300), np.uint8))
assert np.array_equal(dmlops.transpose(dmlops.asarray(x, device=0)).numpy(), x.T)
assert known() == before, compiled[before[0] :]
""")


@pytest.mark.posix
def test_it_waits_for_device_arrays(library):
    """lavapipe compiles what it runs first: what is queued is not yet compiled."""
    import faults

    support.run_python(
        """
import dmlops, faults, numpy as np
layer = faults.Layer()
a = dmlops.asarray(np.zeros((200, 300), np.uint8))
dmlops.synchronize()
before = layer.calls["vkWaitSemaphores"] + layer.calls["vkWaitForFences"]
dmlops.transpose(a)
assert layer.calls["vkWaitSemaphores"] + layer.calls["vkWaitForFences"] == before
dmlops.warm_up(dmlops.transpose, a)
assert layer.calls["vkWaitSemaphores"] + layer.calls["vkWaitForFences"] > before
""",
        env=faults.environment(library),
    )


def test_arguments_are_read_alone(device):
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)
    x.flags.writeable = False
    assert dmlops.warm_up(dmlops.transpose, x, device=device) is None
    assert np.array_equal(x, np.arange(24).reshape(4, 6))
    out = np.zeros((6, 4), np.uint8)
    with pytest.raises(TypeError, match="takes no out"):
        dmlops.warm_up(dmlops.transpose, x, out=out, device=device)
    assert not out.any()


def test_errors_are_those_of_the_call():
    x = np.zeros((4, 6), np.uint8)
    with pytest.raises(ValueError, match="axes"):
        dmlops.warm_up(dmlops.transpose, x, (0, 5), device="host")
    with pytest.raises(TypeError, match="numpy.any cannot be fused"):
        dmlops.fuse(lambda x: x if x.any() else x.T).warm_up(x, device="host")
