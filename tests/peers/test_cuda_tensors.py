"""Tensors of PyTorch's on a GPU that Vulkan has, too: what tests/test_cuda.py plays by a stub, where there is such a GPU."""

import dmlops
import numpy as np
import pytest
import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")

X = np.arange(2 * 3 * 400 * 500, dtype=np.float32).reshape(2, 3, 400, 500)


@pytest.fixture(scope="module")
def gpu():
    """The Vulkan device that is CUDA's first."""
    for device in dmlops.devices():
        if device.usable and dmlops._core._dlpack_cuda(device) == 0:
            return device
    pytest.skip("no Vulkan device has the UUID of CUDA's device 0")


@pytest.mark.parametrize("key", [np.s_[...], np.s_[1, :, 5:, ::3], np.s_[0, 0, 0, :7]], ids=str)
def test_arrays_are_shared(gpu, key):
    a = dmlops.asarray(X, device=gpu)
    t = torch.from_dlpack(a[key])
    assert t.is_cuda and np.array_equal(t.cpu().numpy(), X[key])
    t += 1
    assert np.array_equal(a.numpy()[key], X[key] + 1)


def test_queued_work_is_waited_for(gpu):
    a = dmlops.asarray(X, device=gpu)
    for _ in range(11):
        a = dmlops.slice(a, np.s_[..., ::-1])
    assert np.array_equal(torch.from_dlpack(a).cpu().numpy(), X[..., ::-1])


def test_other_streams_are_waited_for(gpu):
    """Also by who gets the memory once it was freed."""
    for n in range(20):
        a = dmlops.asarray(X, device=gpu)
        with torch.cuda.stream(torch.cuda.Stream()):
            t = torch.from_dlpack(a)
            for _ in range(50):
                t.mul_(1.01)
            t.fill_(n)
        if n % 2:
            assert (a.numpy() == n).all()
        del a, t
        assert np.array_equal(dmlops.tile(dmlops.asarray(X, device=gpu), [1, 1, 1, 2]).numpy(), np.tile(X, [1, 1, 1, 2]))


@pytest.mark.parametrize(
    "view", [lambda t: t, lambda t: t.permute(0, 2, 3, 1), lambda t: t[:, 1:, ::2], lambda t: t[0, 0, 0, 0]]
)
def test_tensors_are_copied(gpu, view):
    t = torch.from_numpy(X).cuda().mul_(2)
    a = dmlops.from_dlpack(view(t), device=gpu)
    t.zero_()
    assert a.device == gpu and np.array_equal(a.numpy(), view(torch.from_numpy(X)).numpy() * 2)
