"""Resizing as Pillow, OpenCV and torchvision do it, to the bit: their arguments, and their rules in plain Python.

``arguments`` reads what is asked for, ``steps`` says what ``dmlops.resize_pillow`` and its like run. The rules are the twins of
``dmlops.reference``: they share nothing with the weights that the extension computes.
"""
