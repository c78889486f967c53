"""``python -m dmlops preprocessing FOLDER``: the steps, or why they are refused; with --compare, against the original."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dmlops.errors import printable
from dmlops.processors.preprocessor import preprocessing

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dmlops preprocessing", description="What a model's folder says of its pictures."
    )
    parser.add_argument("source", metavar="FOLDER", help="a model's folder, or one of its files")
    parser.add_argument("--backend", choices=["pil", "torchvision"], help="where transformers has both")
    parser.add_argument("--video", action="store_true", help="the processor of videos")
    parser.add_argument("--code", action="store_true", help="print NumPy code that does the same")
    parser.add_argument("--compare", nargs="+", metavar="PICTURE", help="compare with the original, which must be installed")
    options = parser.parse_args(arguments)
    try:
        made = preprocessing(options.source, options.backend, video=options.video)
        if not options.compare:
            print(made.code if options.code else made)
            return 0
        comparison = made.compare([_picture(name) for name in options.compare])
    except (ImportError, NotImplementedError, OSError, TypeError, ValueError) as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return 1
    print(comparison)
    return 0 if comparison.equal else 1


def _picture(name: str) -> Any:
    import PIL.Image  # as the original does

    return PIL.Image.open(name)
