"""Resizing of photographs with the bits of Pillow, OpenCV and torchvision: the operators of the cells `resizing`."""

from dataclasses import dataclass

FULL_HD, HD, VGA, THUMBNAIL = (1080, 1920, 3), (720, 1280, 3), (480, 640, 3), (224, 224, 3)
# Whose bits, the photograph, the result's height and width, the filter.
CELLS = (
    ("pillow", FULL_HD, (256, 455), "bicubic"),
    ("pillow", VGA, (224, 224), "bilinear"),
    ("pillow", THUMBNAIL, (384, 384), "bicubic"),
    ("pillow", HD, (336, 336), "lanczos"),
    ("torchvision", FULL_HD, (256, 455), "bicubic"),
    ("torchvision", VGA, (224, 224), "bilinear"),
    ("torchvision", THUMBNAIL, (384, 384), "bicubic"),
    ("opencv", FULL_HD, (360, 640), "linear"),
    ("opencv", VGA, (224, 224), "linear"),
    ("opencv", HD, (360, 640), "area"),
    ("opencv", FULL_HD, (256, 455), "area"),
)


@dataclass(frozen=True)
class Resize:
    """Bytes with channels last; the library of that name is the only one that can have the same bits."""

    library: str
    size: tuple
    filter: str
    kind = "resize"

    def share_read(self, shape, itemsize):
        return 1.0

    def ours(self, dmlops, x, device):
        return getattr(dmlops, f"resize_{self.library}")(x, self.size, self.filter, axes=(0, 1), device=device)

    def numpy(self, x):
        """The definition, in plain Python: what results are compared with."""
        from dmlops import reference

        return getattr(reference, f"resize_{self.library}")(x, self.size, self.filter, axes=(0, 1))
