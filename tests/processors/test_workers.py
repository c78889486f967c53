"""Preprocessors in the worker processes of torch's DataLoader, and by threads beside torch."""

import multiprocessing

import dmlops
import numpy as np
import pytest
import torch

import processor_cases as cases

CLIP = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 60}, "crop_size": {"height": 48, "width": 48}}


class Photos(torch.utils.data.Dataset):
    """Of several sizes; each sample is prepared by the worker."""

    def __init__(self, prepare):
        self.prepare = prepare

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.from_numpy(self.prepare(cases.photo(60 + index % 3, 80, index))["pixel_values"][0])


class Collate:
    """Samples are bytes of any sizes; a batch is prepared at once."""

    def __init__(self, prepare):
        self.prepare = prepare

    def __call__(self, photos):
        return torch.from_numpy(self.prepare(list(photos))["pixel_values"])


def bytes_of(index):
    return cases.photo(60 + index % 3, 80, index)


class Bytes(Photos):
    def __getitem__(self, index):
        return bytes_of(index)


@pytest.mark.posix
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("backend", ["pil", "torchvision"])
def test_workers_get_what_the_parent_does(backend, method):
    prepare = dmlops.preprocessing(CLIP, backend=backend)
    expected = prepare([bytes_of(index) for index in range(12)])["pixel_values"]  # the parent has used it before it forks
    how = {"batch_size": 4, "num_workers": 2, "multiprocessing_context": method}
    for loader in (
        torch.utils.data.DataLoader(Photos(prepare), **how),
        torch.utils.data.DataLoader(Bytes(prepare), collate_fn=Collate(prepare), **how),
    ):
        found = np.concatenate([batch.numpy() for batch in loader])
        assert np.array_equal(found, expected)


@pytest.mark.posix
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes(method):
    prepare = dmlops.preprocessing(cases.source("Qwen2VLImageProcessor", {}), backend="pil")
    photos = [bytes_of(index) for index in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found, photo in zip(pool.map(prepare, photos), photos, strict=True):
            expected = prepare(photo)
            assert found.keys() == expected.keys()
            assert all(np.array_equal(found[name], expected[name]) for name in expected)
