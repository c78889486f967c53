"""What `dmlops.recipes` is compared with: what each project computes, restated with cv2 and NumPy.

Each function names the file and version that it describes, and returns the results in the order of the recipe's.
"""

import math

import cv2
import numpy as np

f = np.float32


def batch(arrays):
    """One array, or a list where shapes differ, as the recipes have it."""
    return np.stack(arrays) if len({one.shape for one in arrays}) == 1 else arrays


def planes(picture, reverses=False):
    """(C, H, W), float32."""
    picture = picture if picture.ndim == 3 else picture[..., None]
    return np.ascontiguousarray(np.moveaxis(picture[..., ::-1] if reverses else picture, -1, 0)).astype(f)


def framed(picture, above, below, left, right, value):
    """With bytes around it, in each channel the same."""
    if picture.ndim == 2 or picture.shape[2] == 3:
        return cv2.copyMakeBorder(picture, above, below, left, right, cv2.BORDER_CONSTANT, value=(value,) * 3)
    pads = [(above, below), (left, right)] + [(0, 0)] * (picture.ndim - 2)
    return np.pad(picture, pads, constant_values=value)


def resized(picture, height, width):
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR)


def ultralytics(
    photos, imgsz=640, rect=True, stride=32, half=False, scale_fill=False, scaleup=True, center=True, padding_value=114
):
    """Ultralytics 8.4.190: engine/predictor.py, data/augment.py."""
    sides = (imgsz, imgsz) if isinstance(imgsz, int) else imgsz
    sides = tuple(stride * math.ceil(side / stride) for side in sides)
    least = rect and not scale_fill and len({one.shape for one in photos}) == 1
    made, ratio_pad = [], []
    for photo in photos:
        scale = min(side / length for side, length in zip(sides, photo.shape, strict=False))
        scale = scale if scaleup else min(1.0, scale)
        inner = [max(1, round(scale * length)) for length in photo.shape[:2]]
        ratios = (scale, scale)
        if scale_fill and not least:
            inner, ratios = list(sides), tuple(side / length for side, length in zip(sides, photo.shape, strict=False))
        around = [side - length for side, length in zip(sides, inner, strict=True)]
        around = [rest % stride for rest in around] if least else around
        before = [round(rest / 2 - 0.1) if center else 0 for rest in around]
        behind = [round((rest / 2 if center else rest) + 0.1) for rest in around]
        small = photo if list(photo.shape[:2]) == inner else resized(photo, *inner)
        x = planes(
            framed(small, before[0], behind[0], before[1], behind[1], padding_value), photo.ndim == 3 and photo.shape[2] == 3
        )
        made.append((x / f(255)).astype(np.float16 if half else f))
        ratio_pad.append((ratios, (before[1], before[0])))
    return np.stack(made), ratio_pad, [one.shape[:2] for one in photos], [sides] * len(photos)


def mmdetection(
    photos,
    scale=(1333, 800),
    keep_ratio=True,
    pad_size=None,
    pad_to_square=False,
    pad_val=0,
    mean=(123.675, 116.28, 103.53),
    std=(58.395, 57.12, 57.375),
    bgr_to_rgb=True,
    pad_size_divisor=32,
    pad_value=0,
):
    """mmcv 2.2.0: image/geometric.py; mmengine 0.10.7: model/base_model/data_preprocessor.py."""
    scale = (scale, scale) if isinstance(scale, int) else scale
    made, sizes, factors, outer = [], [], [], []
    for photo in photos:
        h, w = photo.shape[:2]
        factor = min(max(scale) / max(h, w), min(scale) / min(h, w))
        size = (int(h * factor + 0.5), int(w * factor + 0.5)) if keep_ratio else scale[::-1]
        x = resized(photo, *size)
        factors.append((size[1] / w, size[0] / h))
        wanted = (max(size), max(size)) if pad_to_square else pad_size[::-1] if pad_size else size
        below, right = (max(0, outer - inner) for outer, inner in zip(wanted, size, strict=True))
        values = (pad_val,) * 3 if isinstance(pad_val, int) else pad_val
        x = cv2.copyMakeBorder(x, 0, below, 0, right, cv2.BORDER_CONSTANT, value=values) if below or right else x
        sizes.append(x.shape[:2])
        outer.append(tuple(math.ceil(side / pad_size_divisor) * pad_size_divisor for side in x.shape[:2]))
        x = planes(x, bgr_to_rgb)
        if mean is not None:
            x = (x - np.asarray(mean, f)[:, None, None]) / np.asarray(std, f)[:, None, None]
        made.append(x)
    whole = max(one[0] for one in outer), max(one[1] for one in outer)
    inputs = np.full((len(made), 3, *whole), pad_value, f)
    for into, x in zip(inputs, made, strict=True):
        into[:, : x.shape[1], : x.shape[2]] = x
    return inputs, [one.shape[:2] for one in photos], sizes, factors, outer, whole


def paddleocr_detection(
    photos,
    limit_side_len=64,
    limit_type="min",
    max_side_limit=4000,
    scale=1 / 255,
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
):
    """PaddleX 3.7.2: inference/models/text_detection/processors.py."""
    made, shapes = [], []
    for photo in photos:
        h, w = photo.shape[:2]
        x = framed(photo, 0, max(32 - h, 0), 0, max(32 - w, 0), 0) if h + w < 64 else photo
        sides = np.array(x.shape[:2])
        needed = {"min": sides.min() < limit_side_len, "max": sides.max() > limit_side_len, "resize_long": True}[limit_type]
        by = sides.min() if limit_type == "min" else sides.max()
        size = [int(int(side) * (limit_side_len / int(by) if needed else 1.0)) for side in sides]
        if max(size) > max_side_limit:
            size = [int(side * (max_side_limit / max(size))) for side in size]
        size = [max(32, 32 * round(side / 32)) for side in size]
        shapes.append([h, w, size[0] / int(sides[0]), size[1] / int(sides[1])])
        x = planes(x if size == list(sides) else resized(x, *size))
        for k in range(3):  # in two steps, each rounded
            x[k] *= f(scale / std[k])
            x[k] += f(-mean[k] / std[k])
        made.append(x)
    return batch(made), np.array(shapes)


def paddleocr_recognition(photos, rec_image_shape=(3, 48, 320)):
    """PaddleX 3.7.2: inference/models/text_recognition/processors.py."""
    _, height, least = rec_image_shape
    ratios = [one.shape[1] / one.shape[0] for one in photos]
    frames = [int(height * max(least / height, ratio)) for ratio in ratios]
    widths = [
        3200 if frame > 3200 else min(frame, math.ceil(height * ratio)) for frame, ratio in zip(frames, ratios, strict=True)
    ]
    x = np.zeros((len(photos), 3, height, min(3200, max(frames))), f)
    for into, photo, width in zip(x, photos, widths, strict=True):
        into[..., :width] = (planes(resized(photo, height, width)) / f(255) - f(0.5)) / f(0.5)
    return x, sorted(ratios), max(least / height, *ratios), widths


def easyocr_detection(photos, canvas_size=2560, mag_ratio=1.0, mean=(0.485, 0.456, 0.406), variance=(0.229, 0.224, 0.225)):
    """EasyOCR 1.7.2: imgproc.py."""
    made, ratios, heatmaps = [], [], []
    for photo in photos:
        long = max(photo.shape[:2])
        ratio = min(mag_ratio * long, canvas_size) / long
        size = [int(length * ratio) for length in photo.shape[:2]]
        outer = [math.ceil(length / 32) * 32 for length in size]
        x = np.zeros((*outer, 3), f)
        x[: size[0], : size[1]] = resized(photo, *size)
        x -= np.array([255.0 * one for one in mean], f)
        x /= np.array([255.0 * one for one in variance], f)
        made.append(np.moveaxis(x, -1, 0))
        ratios.append(ratio)
        heatmaps.append((outer[1] // 2, outer[0] // 2))
    return batch(made), ratios, heatmaps


def easyocr_recognition(photos, img_h=64):
    """EasyOCR 1.7.2: utils.py, recognition.py. What it names LANCZOS is Pillow's 1, which cv2.resize takes for INTER_LINEAR."""
    from PIL import Image

    boxes, longest = [], 1
    for photo in photos:
        ratio = photo.shape[1] / photo.shape[0]
        upright = ratio < 1
        ratio = 1.0 / ratio if upright else ratio
        long = int(img_h * ratio)
        boxes.append(resized(photo, *((long, img_h) if upright else (img_h, long))))
        longest = max(longest, ratio)
    widest, made = math.ceil(longest) * img_h, []
    for box in boxes:
        width = min(widest, math.ceil(img_h * (box.shape[1] / box.shape[0])))
        line = np.asarray(Image.fromarray(box).resize((width, img_h), Image.Resampling.BICUBIC)).astype(f)
        line = (line / f(255) - f(0.5)) / f(0.5)
        made.append(np.concatenate([line, np.repeat(line[:, -1:], widest - width, 1)], 1)[None])
    return np.stack(made), widest


def insightface_detection(photos, input_size=(640, 640), input_mean=127.5, input_std=128.0):
    """InsightFace 2.1: model_zoo/scrfd.py."""
    width, height = input_size
    blobs, scales = [], []
    for photo in photos:
        ratio = photo.shape[0] / photo.shape[1]
        size = (height, int(height / ratio)) if ratio > height / width else (int(width * ratio), width)
        canvas = np.zeros((height, width, 3), np.uint8)
        canvas[: size[0], : size[1]] = resized(photo, *size)
        blobs.append(cv2.dnn.blobFromImage(canvas, 1.0 / input_std, input_size, (input_mean,) * 3, swapRB=True))
        scales.append(size[0] / photo.shape[0])
    return np.concatenate(blobs), scales


def insightface_recognition(photos, input_size=(112, 112), input_mean=127.5, input_std=127.5):
    """InsightFace 2.1: model_zoo/arcface_onnx.py."""
    return (cv2.dnn.blobFromImages(list(photos), 1.0 / input_std, input_size, (input_mean,) * 3, swapRB=True),)
