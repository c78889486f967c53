"""PyTorch's own names for what the operators do."""

import dmlops
import numpy as np
import pytest
import torch

functional = torch.nn.functional

DTYPES = ["float32", "float16", "float64", "uint8", "int8", "int16", "int32", "int64", "complex64"]


def image(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(2, 144, 5, 7), (1, 144, 1, 33), (3, 144, 16, 1)])
def test_pixel_shuffle_is_crd(device, dtype, block, shape):
    x = image(shape, dtype)
    expected = functional.pixel_shuffle(torch.from_numpy(x), block).numpy()
    result = dmlops.depth_to_space(x, block, order="CRD", device=device)
    assert np.array_equal(result, expected)
    back = functional.pixel_unshuffle(torch.from_numpy(expected), block).numpy()
    assert np.array_equal(dmlops.space_to_depth(result, block, order="CRD", device=device), back)


def test_pixel_shuffle_of_a_batch_of_any_rank(device):
    x = image((2, 3, 8, 5, 7), "float32")
    expected = functional.pixel_shuffle(torch.from_numpy(x), 2).numpy()
    assert np.array_equal(dmlops.depth_to_space(x, (2, 2), order="CRD", device=device), expected)


def test_channels_last_memory(device):
    """A channels_last tensor is a transposed view to NumPy: no copy is made on the way in."""
    x = torch.from_numpy(image((2, 16, 6, 10), "float32")).contiguous(memory_format=torch.channels_last)
    expected = functional.pixel_shuffle(x, 4).numpy()
    assert np.array_equal(dmlops.depth_to_space(x.numpy(), 4, order="CRD", device=device), expected)


@pytest.mark.parametrize("dims", [[0], [1], [2], [0, 1, 2]])
def test_flip_is_slice_with_negative_strides(device, dims):
    x = image((5, 6, 77), "float32")
    strides = [-1 if axis in dims else 1 for axis in range(3)]
    result = dmlops.slice(x, [0, 0, 0], list(x.shape), strides, device=device)
    assert np.array_equal(result, torch.flip(torch.from_numpy(x), dims).numpy())


def test_unfold_of_patches(device):
    """A Vision Transformer's patches: unfold with its stride equal to its kernel is CRD."""
    x = image((2, 3, 32, 48), "float32")
    expected = functional.unfold(torch.from_numpy(x), 16, stride=16).reshape(2, 768, 2, 3).numpy()
    assert np.array_equal(dmlops.space_to_depth(x, 16, order="CRD", device=device), expected)


def test_packed_sequences_reversed(device):
    """What people ask of PyTorch: each sequence of a padded batch reversed, its padding left in place."""
    lengths = [7, 1, 0, 4]
    x = image((4, 7, 5), "float32")
    expected = torch.from_numpy(x.copy())
    for row, length in enumerate(lengths):
        expected[row, :length] = expected[row, :length].flip(0)
    assert np.array_equal(dmlops.reverse_subsequences(x, lengths, 1, batch_axis=0, device=device), expected.numpy())


TENSORS = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
    torch.complex64,
]
TENSORS += [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("dtype", TENSORS, ids=str)
def test_tensors_by_dlpack_and_back(device, dtype):
    tensor = torch.arange(24).reshape(2, 3, 4).to(dtype)
    a = dmlops.from_dlpack(tensor.transpose(0, 2), device=device)
    assert a.shape == (4, 3, 2)
    back = torch.from_dlpack(a.T.__dlpack__(dl_device=(1, 0)))
    assert back.dtype == dtype and back.shape == tensor.shape
    assert torch.equal(back.contiguous().view(torch.uint8), tensor.view(torch.uint8))


def test_torch_shares_memory_that_the_host_sees(device):
    a = dmlops.asarray(np.zeros((2, 3), np.float32), device=device)
    tensor = torch.from_dlpack(a[:, 1:].__dlpack__(dl_device=(1, 0)))
    tensor.fill_(5)
    assert a.numpy().tolist() == [[0, 5, 5], [0, 5, 5]]
    del a
    assert (tensor == 5).all()


def test_from_dlpack_just_works(device):
    """After waiting for the array's work, and without a copy."""
    x = np.random.default_rng(0).integers(0, 256, (1000, 1000), np.uint8)
    a = dmlops.asarray(x, device=device)
    for _ in range(21):
        a = dmlops.slice(a, [0, 0], [1000, 1000], [1, -1])
    tensor = torch.from_dlpack(a)
    assert tensor.data_ptr() == np.from_dlpack(a).ctypes.data
    assert np.array_equal(tensor.numpy(), x[:, ::-1])


def test_torch_holds_a_result_of_queued_work(device):
    x = np.random.default_rng(0).integers(0, 256, (1000, 1000), np.uint8)
    b = dmlops.asarray(x, device=device)
    for _ in range(21):
        b = dmlops.slice(b, [0, 0], [1000, 1000], [1, -1])
    tensor = torch.from_dlpack(b.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    del b
    assert np.array_equal(tensor.numpy(), x[:, ::-1])


class Mirrored(torch.utils.data.Dataset):
    """Each item is the result of a call in a worker process."""

    def __init__(self, device):
        self.device = device

    def __len__(self):
        return 12

    def __getitem__(self, k):
        x = np.full((64, 1024), k, np.uint8)
        x[:, 0] = 99
        return torch.from_numpy(dmlops.slice(x, [0, 0], [64, 1024], [1, -1], device=self.device))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader_with_workers(device, method):
    """Also when the parent has used its device before the workers are forked."""
    data = Mirrored(device)
    assert data[3][0, -1] == 99
    loader = torch.utils.data.DataLoader(data, batch_size=3, num_workers=2, multiprocessing_context=method)
    for _ in range(2):
        batches = list(loader)
        assert [int(batch[0, 0, 0]) for batch in batches] == [0, 3, 6, 9]
        assert all((batch[:, :, -1] == 99).all() for batch in batches)
    assert data[3][0, -1] == 99


def test_tensors_whose_elements_share_memory(device):
    tensor = torch.arange(3).expand(2, 3)
    assert dmlops.from_dlpack(tensor, device=device).numpy().tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize("call", [lambda t: dmlops.slice(t, [0], [3]), lambda t: dmlops.asarray(t)])
def test_a_tensor_that_numpy_has_no_dtype_for(call):
    with pytest.raises(TypeError, match="makes no array: .*; dmlops.from_dlpack takes it"):
        call(torch.zeros(3, dtype=torch.bfloat16))


@pytest.mark.parametrize("call", [lambda t: dmlops.slice(t, [0], [3]), lambda t: dmlops.asarray(t)])
def test_a_tensor_that_dlpack_does_not_take_either(call):
    with pytest.raises((TypeError, RuntimeError), match="makes no array: .*to_dense") as raised:
        call(torch.eye(3).to_sparse())
    assert "from_dlpack" not in str(raised.value)


def test_batches_of_device_arrays(device):
    """As docs/arrays.md has it for a DataLoader."""
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)

    class Items(torch.utils.data.Dataset):
        def __len__(self):
            return len(x)

        def __getitem__(self, k):
            return dmlops.asarray(x, device=device)[k]

    with pytest.raises(TypeError, match="DeviceArray"):
        torch.utils.data.default_collate([Items()[0]])
    loader = torch.utils.data.DataLoader(Items(), batch_size=2, collate_fn=lambda items: torch.from_dlpack(np.stack(items)))
    assert [batch.tolist() for batch in loader] == [x[:2].tolist(), x[2:].tolist()]
