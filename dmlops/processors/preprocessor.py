"""``dmlops.preprocessing``: a configuration becomes an object that prepares pictures as the original does, to the bit."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dmlops import _core
from dmlops.errors import UnsupportedError
from dmlops.late_imports import late
from dmlops.processors import execution, inputs, sources
from dmlops.processors.arguments import outputs, whole
from dmlops.processors.kept import Kept
from dmlops.processors.plans import Plan, Sizes
from dmlops.processors.rules import rule_for
from dmlops.refused_arrays import is_lazy
from dmlops.resizing.arguments import version_of

if TYPE_CHECKING:
    from typing import Never

    from dmlops.processors.comparing import Comparison

__all__ = ["Preprocessor", "preprocessing"]

_MOST_PLANS, _MOST_BYTES = 256, 32 << 20  # of one preprocessor, each for one list of sizes
PICTURE, FRAMES = (480, 640), 8  # what is described where nothing is given


class _MixedChannelsError(UnsupportedError, ValueError):
    """Results of other shapes for each picture, of which few originals make one array."""

    def __init__(self, class_name: str, channels: list[int]) -> None:
        numbers = ", ".join(map(str, channels))
        super().__init__(
            class_name, None, f"the pictures have different numbers of channels: {numbers}; give each number a call of its own"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return UnsupportedError, self.args


class Preprocessor:
    """Prepares pictures as a configuration says. ``dmlops.preprocessing`` makes it; it is pickled as its configuration."""

    def __init__(
        self, values: Mapping[str, Any], backend: str | None = None, version: str = "13.0", video: bool = False
    ) -> None:
        self._arguments = copy.deepcopy(dict(values)), backend, version, video
        version_of(version, (0, 0), "Pillow")  # raises for what is none
        self._version = version
        self._configuration, self._row = rule_for(copy.deepcopy(dict(values)), backend, video)
        self._works = Kept(_MOST_PLANS, _MOST_BYTES)
        with contextlib.suppress(ValueError):  # of other sizes it may work
            self._sample(*PICTURE)  # what is refused is refused here, not at the first call

    def __reduce__(self) -> tuple[Any, ...]:
        return Preprocessor, copy.deepcopy(self._arguments)

    @property
    def name(self) -> str:
        """The class's name."""
        return self._configuration.name

    @property
    def backend(self) -> str:
        """``"pil"`` or ``"torchvision"``."""
        return self._configuration.backend

    @property
    def configuration(self) -> dict[str, Any]:
        """All keys: those of the file over the class's defaults."""
        return copy.deepcopy(self._configuration.values)

    @property
    def ignored(self) -> list[str]:
        """The keys of the file that have no effect."""
        unread = set(self._configuration.given) - self._configuration.read - {"transforms", "library", "keys", "ignored"}
        return sorted(unread | set(self._configuration.given.get("ignored", ())))

    def __call__(
        self, photos: Any = None, *, out: Mapping[str, Any] | None = None, device: Any = None, **others: Never
    ) -> dict[str, Any]:
        """Prepare pictures, or videos.

        Parameters
        ----------
        photos : array, image of Pillow, tensor of torch, or lists of these
            Pictures of any sizes: uint8, ``(height, width, channels)``, or with the channels first as the original infers it.
            An array of four dimensions has several. Videos are arrays of four dimensions, or lists of frames; frames are used
            as they are given, none are left out. Dask arrays of pictures, or of videos, become Dask arrays, chunk by chunk.
        out : dict of arrays, optional
            Where results are written, by their names.
        device : int, str or Device, optional
            Where resizes, movements and tables run. By default ``"auto"``: the host or the best Vulkan device, whichever is
            estimated to take less time, so that no driver is needed. ``set_default_device`` and ``DMLOPS_DEVICE`` come first.

        Returns
        -------
        dict
            The original's results by its names, in NumPy: a list of arrays where these differ in shape.
        """
        if others:
            raise TypeError(_of_transformers(*others))
        device = _core._automatic_default() if device is None else device
        if is_lazy(photos):
            return self._by_chunks(photos, out, device)
        pictures, groups = inputs.pictures(self._configuration, photos, self._row.form)
        if self._row.content:
            pictures = [self._row.content(self._configuration, one) for one in pictures]
        work = self._work([one.shape for one in pictures], groups)
        given = outputs(out, work.plan, list(work.plan), "; the results are ")
        return work.run(pictures, given, device)

    def warm_up(self, photos: Any, *, device: Any = None) -> None:
        """Compile what calls with pictures of these sizes need, as ``dmlops.warm_up`` does."""
        with late():
            from dmlops.warming import warm_up

        warm_up(self, photos, device=device)

    def sizes(self, height: int, width: int, frames: int = FRAMES) -> dict[str, Any]:
        """The results' shapes for one picture, or for a video of so many frames, without pixels."""
        if not self._configuration["do_pad"] and self._crops_by_content:
            self._configuration.refuse("do_crop_margin", "its sizes follow from the pixels")
        plan = self._sample(height, width, frames)
        return {name: _shape(result) for name, result in plan.items()}

    @property
    def code(self) -> str:
        """NumPy code with dmlops' functions that does the same to a picture of 480 x 640, as `code_for` has it for others.

        Of a processor of videos: to eight frames of that size.
        """
        return self.code_for(*PICTURE)

    def code_for(self, height: int, width: int, frames: int = FRAMES) -> str:
        """NumPy code with dmlops' functions: ``prepare(photo)`` gives what the preprocessor gives for pictures of that size.

        Of processors of videos it is ``prepare(video)``, for videos of so many frames. Where a picture's margins are cut off
        by its pixels, the size is that of what is left.
        """
        with late():
            from dmlops.processors.code import code

        count = frames if self._row.form == "videos" else None
        return code(self, self._sample(height, width, frames), (height, width), count)

    def compare(self, photos: Any) -> Comparison:
        """Compare with the original, where that is installed: equal bits, or how many differ, and by how much."""
        with late():
            from dmlops.processors.comparing import compare

        return compare(self, photos)

    def __repr__(self) -> str:
        return f"<dmlops.preprocessing: {self.name}, backend {self.backend!r}>"

    def __str__(self) -> str:
        with late():
            from dmlops.processors.describing import description

        return description(self, self._sample(*PICTURE))

    @property
    def _crops_by_content(self) -> bool:
        return bool(self._row.content and self._configuration["do_crop_margin"])

    def _by_chunks(self, photos: Any, out: Mapping[str, Any] | None, device: Any) -> dict[str, Any]:
        with late():
            from dmlops.dask.preprocessed import by_chunks

        if out is not None:
            raise TypeError(f"{self!r} takes no out for Dask arrays, whose results are made later")
        return by_chunks(self, photos, device)

    def _sample(self, height: int, width: int, frames: int = FRAMES) -> Plan:
        """The plan of one picture, or of one video."""
        size = whole(height, "height"), whole(width, "width")
        count = whole(frames, "frames") if self._row.form == "videos" else 1
        return self._work([(*size, 3)] * count, [count]).plan

    def _work(self, shapes: Sequence[tuple[int, ...]], groups: Sequence[int]) -> execution.Work:
        key = tuple(shapes), tuple(groups)
        work: execution.Work | None = self._works.get(key)
        if work is None:
            channels = {shape[2] for shape in shapes}
            if len(channels) > 1:
                raise _MixedChannelsError(self.name, sorted(channels))
            sizes = Sizes(((shape[0], shape[1]) for shape in shapes), groups)
            if min(min(size) for size in sizes) < 1:
                raise ValueError("a picture has no pixels")
            plan = self._planned(sizes, channels.pop())
            work = execution.Work(plan, sizes, self.backend, self._version)
            self._works.put(key, work, work.nbytes)
        return work

    def _planned(self, sizes: Sizes, channels: int) -> Plan:
        try:
            return self._row.rule(self._configuration, sizes, channels)
        except (KeyError, TypeError) as error:
            what = f"a value of the configuration has another form than this class takes ({error!r})"
            raise UnsupportedError(self._configuration.name, None, what) from error


def _shape(result: Any) -> Any:
    if isinstance(result, list):
        return [_shape(one) for one in result]
    return tuple(result.shape) if hasattr(result, "shape") else ()


def _of_transformers(name: str, *_: str) -> str:
    """What is said of an argument that transformers' processors have."""
    said = {
        "images": "pictures are the first argument, without a name",
        "videos": "videos are the first argument, without a name, of dmlops.preprocessing(..., video=True)",
        "return_tensors": "results are NumPy arrays, of which torch.from_numpy makes tensors without a copy",
    }.get(name, "keys belong to the configuration, a dict that dmlops.preprocessing takes")
    return f"a call of a preprocessor takes no {name}: {said}"


def preprocessing(source: Any, backend: str | None = None, *, version: str = "13.0", video: bool = False) -> Preprocessor:
    """Prepare pictures as a model's configuration says, to the bit as its framework does, without it.

    Parameters
    ----------
    source : path, dict or transform of torchvision
        A model's folder, its ``preprocessor_config.json`` or like file, or what is in it: of transformers, of timm
        (``pretrained_cfg``) or of open_clip (``preprocess_cfg``); or a ``Compose`` or preset of torchvision.
    backend : str, optional
        ``"torchvision"`` or ``"pil"``. It must be said where transformers has both, since the file does not tell, and their
        results differ.
    version : str, optional
        Of Pillow, as for `resize_pillow`.
    video : bool, optional
        Take the folder's processor of videos.

    Returns
    -------
    Preprocessor
        A function of pictures, which gives a dict of arrays. By default it runs on the host or on the best Vulkan device,
        whichever is estimated to take less time (``"auto"``); `device`, ``set_default_device`` and ``DMLOPS_DEVICE`` decide
        otherwise. It prints its steps, and has ``sizes(height, width)``, ``code``,
        ``compare(photos)`` and ``ignored``, the keys without effect.

    Raises
    ------
    UnsupportedError
        The class, or a key's value, cannot be reproduced to the bit. The error has both, and the reason.
    TypeError
        `backend` is needed, or the source is none.
    ValueError
        The configuration contradicts itself, or names no class.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> clip = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 224}}
    >>> prepare = dmlops.preprocessing(clip, backend="torchvision")
    >>> prepare(np.zeros((480, 640, 3), np.uint8))["pixel_values"].shape
    (1, 3, 224, 224)
    >>> prepare.sizes(1080, 1920)
    {'pixel_values': (1, 3, 224, 224)}
    """
    return Preprocessor(sources.read(source, video), backend, version, video)
