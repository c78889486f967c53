"""These tests run in an environment of their own, `make check-onnx`; elsewhere they are not collected."""

import importlib.util

if not all(importlib.util.find_spec(name) and importlib.util.find_spec(name).origin for name in ("onnx", "onnxruntime")):
    collect_ignore_glob = ["test_*.py"]
