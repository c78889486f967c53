"""Draw docs/demo.webp, the picture of the README, anew: python docs/demo_picture.py"""

from pathlib import Path

from computed import FRONT, demo_sheet

demo_sheet(Path(__file__).parent / "demo.webp", *FRONT)
