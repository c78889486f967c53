"""Draw the README's picture anew: python docs/pictures.py"""

from pathlib import Path

from computed import demo_sheet

demo_sheet(Path(__file__).parent / "demo.webp")
