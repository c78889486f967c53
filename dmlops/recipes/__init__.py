"""Preprocessing of projects that have no configuration: functions, to the bit as what their code makes by OpenCV and NumPy.

Each is named after its project, and has the project's arguments, defaults and names of results. ``detection`` has those of
Ultralytics and mmdetection, ``text`` those of PaddleOCR and EasyOCR, ``faces`` those of InsightFace. A function makes a plan of
sizes alone, as a class of ``dmlops.processors`` does, and runs it.
"""

from typing import TYPE_CHECKING, Any

from dmlops.operators.documentation import whole
from dmlops.recipes.detection import mmdetection, ultralytics
from dmlops.recipes.faces import insightface_detection, insightface_recognition
from dmlops.recipes.text import easyocr_detection, easyocr_recognition, paddleocr_detection, paddleocr_recognition

__all__ = [
    "easyocr_detection",
    "easyocr_recognition",
    "insightface_detection",
    "insightface_recognition",
    "mmdetection",
    "paddleocr_detection",
    "paddleocr_recognition",
    "ultralytics",
]

for _name in __all__:
    _recipe = globals()[_name]
    _recipe.__doc__ = whole(_recipe.__doc__)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        from dmlops.other_names import advice_of_recipes

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice_of_recipes(name, __all__)}")
