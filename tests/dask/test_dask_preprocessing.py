"""Preprocessors of Dask arrays: a call for each chunk, where each picture's results are its own; else an error."""

import dask.array as da
import dmlops
import numpy as np
import pytest

import processor_cases as cases

CLIP = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 30}, "crop_size": {"height": 28, "width": 26}}
OTHERS = [
    ("Qwen2VLImageProcessor", {}),
    ("DetrImageProcessor", {"size": {"shortest_edge": 40, "longest_edge": 70}}),
    ("LlavaNextImageProcessor", {"size": {"shortest_edge": 28}, "crop_size": {"height": 28, "width": 28}}),
]
PHOTOS = np.stack([cases.photo(40, 50, k) for k in range(5)])


def equal(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        assert isinstance(found[name], da.Array)
        made = found[name].compute(scheduler="threads")
        assert (found[name].shape, found[name].dtype) == (expected[name].shape, expected[name].dtype)
        assert made.dtype == expected[name].dtype and np.array_equal(made, expected[name]), name


@pytest.mark.parametrize("chunks", [5, 2, (1, 0, 4)], ids=str)
@pytest.mark.parametrize("backend", ["pil", "torchvision"])
def test_each_chunk_is_a_call(backend, chunks):
    made = dmlops.preprocessing(CLIP, backend=backend)
    found = made(da.from_array(PHOTOS, chunks=(chunks, 20, -1, -1)))
    assert len(found["pixel_values"].chunks[0]) == len([size for size in da.core.normalize_chunks(chunks, (5,))[0] if size])
    equal(found, made(PHOTOS))


@pytest.mark.parametrize("name, keys", OTHERS, ids=[name for name, _ in OTHERS])
def test_results_of_several_rows_and_names(name, keys):
    made = dmlops.preprocessing(cases.source(name, keys), backend="torchvision")
    equal(made(da.from_array(PHOTOS, chunks=(2, -1, -1, -1))), made(PHOTOS))


def test_channels_first_grey_and_videos():
    made = dmlops.preprocessing(CLIP, backend="torchvision")
    first, grey = np.ascontiguousarray(np.moveaxis(PHOTOS, -1, 1)), PHOTOS[..., :1].copy()
    equal(made(da.from_array(first, chunks=(2, -1, -1, -1))), made(first))
    equal(made(da.from_array(grey, chunks=(2, -1, -1, -1))), made(grey))
    videos = np.stack([PHOTOS[k : k + 3] for k in range(3)])
    made = dmlops.preprocessing(cases.source("VideoMAEVideoProcessor", {}), video=True)
    equal(made(da.from_array(videos, chunks=(1, -1, -1, -1, -1))), made(videos))


@pytest.mark.parametrize("name, keys", [("CLIPImageProcessor", {}), *OTHERS], ids=lambda one: str(one)[:20])
def test_no_pictures_make_no_rows(name, keys):
    made = dmlops.preprocessing(cases.source(name, keys), backend="torchvision")
    for none in (da.from_array(PHOTOS[:0], chunks=(0, 40, 50, 3)), da.from_array(PHOTOS, chunks=(2, 20, -1, -1))[:0]):
        found, like = made(none), made(PHOTOS[:1])
        for key, one in like.items():
            assert (found[key].shape, found[key].dtype) == ((0, *one.shape[1:]), one.dtype)
            assert found[key].compute().shape == (0, *one.shape[1:])


def test_dask_arrays_in_lists_are_refused_since_they_are_not_in_memory():
    made = dmlops.preprocessing(CLIP, backend="pil")
    one = da.from_array(PHOTOS[0]).map_blocks(lambda block: pytest.fail("computed"), dtype=np.uint8, meta=PHOTOS[0][:0])
    for photos in ([PHOTOS[0], one], [[PHOTOS[0]], [PHOTOS[1], one]], [PHOTOS[0], one[None]]):
        with pytest.raises(TypeError, match="picture [12] is a Dask array, which is not in memory: its compute"):
            made(photos)


def test_from_zarr_to_zarr_in_other_processes(tmp_path):
    """The preprocessor is pickled as its configuration; chunks are read, prepared and written one by one."""
    pytest.importorskip("zarr")
    made = dmlops.preprocessing(CLIP, backend="pil")
    da.from_array(PHOTOS[:4], chunks=(2, 40, 50, 3)).to_zarr(str(tmp_path / "photos"))
    photos = da.from_zarr(str(tmp_path / "photos"))
    made(photos)["pixel_values"].to_zarr(str(tmp_path / "pixels"), compute=False).compute(scheduler="processes", num_workers=2)
    assert np.array_equal(da.from_zarr(str(tmp_path / "pixels")).compute(), made(PHOTOS[:4])["pixel_values"])


def test_what_has_no_result_for_each_chunk_is_refused():
    x = da.from_array(PHOTOS, chunks=(2, -1, -1, -1))
    with pytest.raises(ValueError, match="no result for each chunk: a result's shape follows from all pictures"):
        dmlops.preprocessing(cases.source("Idefics3ImageProcessor", {}), backend="pil")(x)
    made = dmlops.preprocessing(CLIP, backend="pil")
    with pytest.raises(ValueError, match="takes Dask arrays of uint8 with 4 axes, not of float64 with 4"):
        made(x / 2)
    with pytest.raises(ValueError, match="not of uint8 with 3"):
        made(x[0])
    with pytest.raises(TypeError, match="takes no out for Dask arrays"):
        made(x, out={})
