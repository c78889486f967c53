"""InsightFace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlops.processors.parts import frames, stacked
from dmlops.processors.plans import Array, Plan, Size
from dmlops.recipes.pictures import divisors, pair, pictures, sizes_of
from dmlops.recipes.running import kept, on_value, prepared, resized_linear
from dmlops.resizing.arguments import number_of, version_of
from dmlops.resizing.plans import OLDEST_OPENCV

__all__ = ["insightface_detection", "insightface_recognition"]

f = np.float32


def insightface_detection(
    photos: Any,
    input_size: Sequence[int] = (640, 640),
    *,
    input_mean: float = 127.5,
    input_std: float = 128.0,
    version: str = "5.0",
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare pictures as InsightFace's detectors, SCRFD and RetinaFace, do: in the top left of a black canvas, normalised.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Pictures of any sizes: uint8, ``(height, width, 3)``, in OpenCV's order, BGR. An array of four dimensions has several.
    input_size : sequence of int, optional
        (width, height), as ``det_size`` is there.
    input_mean, input_std : float, optional
        As the detectors have them.
    version : str, optional
        The version of OpenCV, 3.4 or later. Before 4.11, ``cv2.dnn.blobFromImage`` multiplies in float64.
    out : dict of arrays, optional
        Where ``"blob"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"blob"``, float32 ``(N, 3, height, width)``, and ``"det_scale"``, a list of how many times as high each picture has
        become: boxes are divided by it.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import insightface_detection
    >>> found = insightface_detection(np.zeros((1080, 1920, 3), np.uint8))
    >>> found["blob"].shape, found["det_scale"]
    ((1, 3, 640, 640), [0.3333333333333333])
    """
    given, wanted = pictures(photos), pair(input_size, "input_size", "(width, height)")
    return prepared(_fitted(sizes_of(given), wanted, *_normalised(input_mean, input_std, version)), given, out, device)


@kept
def _fitted(sizes: tuple[Size, ...], input_size: tuple[int, int], mean: float, std: float, version: tuple[int, int]) -> Plan:
    """SCRFD._detect_candidates."""
    parts, scales = frames(sizes), []
    width, height = input_size
    for number, part in enumerate(parts):
        ratio = float(part.size[0]) / part.size[1]
        size = (height, int(height / ratio)) if ratio > float(height) / width else (int(width * ratio), width)
        parts[number] = resized_linear(part, size).within((height, width))
        scales.append(float(size[0]) / part.size[0])
    table = _table(mean, std, version)
    return {"blob": on_value(parts, table, (2, 1, 0), table[0, 0]), "det_scale": scales}


def insightface_recognition(
    photos: Any,
    input_size: Sequence[int] = (112, 112),
    *,
    input_mean: float = 127.5,
    input_std: float = 127.5,
    version: str = "5.0",
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare aligned faces as InsightFace's ArcFace does: resized where they have another size, normalised.

    The alignment itself, ``face_align.norm_crop``, warps the picture by landmarks, and is not part of this.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Faces: uint8, ``(height, width, 3)``, in OpenCV's order, BGR. An array of four dimensions has several.
    input_size : sequence of int, optional
        (width, height).
    input_mean, input_std : float, optional
        As the model has them; 0 and 1 for models that normalise themselves.
    version : str, optional
        The version of OpenCV, 3.4 or later. Before 4.11, ``cv2.dnn.blobFromImages`` multiplies in float64.
    out : dict of arrays, optional
        Where ``"blob"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"blob"``, float32 ``(N, 3, height, width)``.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import insightface_recognition
    >>> insightface_recognition(np.zeros((8, 112, 112, 3), np.uint8))["blob"].shape
    (8, 3, 112, 112)
    """
    given, (width, height) = pictures(photos), pair(input_size, "input_size", "(width, height)")
    options = _normalised(input_mean, input_std, version)
    return prepared(_stretched(sizes_of(given), (height, width), *options), given, out, device)


@kept
def _stretched(sizes: tuple[Size, ...], size: Size, mean: float, std: float, version: tuple[int, int]) -> Plan:
    parts = [resized_linear(part, size) for part in frames(sizes)]
    return {"blob": stacked(parts, _table(mean, std, version), None, (2, 1, 0))}


def _normalised(mean: Any, std: Any, version: Any) -> tuple[float, float, tuple[int, int]]:
    """The arguments, checked."""
    number = number_of(std, "input_std")
    divisors(number, "input_std", 1)
    return number_of(mean, "input_mean"), number, version_of(version, OLDEST_OPENCV, "OpenCV")


def _table(mean: float, std: float, version: tuple[int, int]) -> Array:
    """cv2.dnn.blobFromImages: less the mean, times the factor."""
    less = np.arange(256, dtype=f) - f(mean)
    if version < (4, 11):
        values = (less.astype(np.float64) * (1.0 / std)).astype(f)
    else:
        values = less * f(1.0 / std)
    return np.tile(values, (3, 1))
