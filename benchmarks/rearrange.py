"""dmlops.rearrange against einops on arrays of NumPy and of PyTorch, if it is installed: prints the table of docs/recipes.md.

Arguments: devices, `host` by default. Each contender makes a new contiguous array; einops' views are copied.
"""

import importlib.util
import sys

import dmlops
import einops
import numpy as np
from timing import Contender, measure

ROWS = [
    ("n h w c -> n c h w", "u1", (4, 299, 299, 3), {}),
    ("n h w c -> n c h w", "f4", (2, 209, 209, 3), {}),
    ("n h w c -> n c h w", "u1", (64, 592, 592, 3), {}),
    ("n h w c -> n c h w", "f4", (8, 836, 836, 3), {}),
    ("n c h w -> n h w c", "f4", (8, 3, 836, 836), {}),
    ("n (h p) (w q) c -> n (h w) (p q c)", "u1", (7, 224, 224, 3), {"p": 16, "q": 16}),
    ("n (h p) (w q) c -> n (h w) (p q c)", "u1", (448, 224, 224, 3), {"p": 16, "q": 16}),
    ("n c (h p) (w q) -> n (h w) (p q c)", "f4", (112, 3, 224, 224), {"p": 16, "q": 16}),
    ("b t (h d) -> b h t d", "f2", (8, 2048, 2048), {"h": 32}),
    ("b h t d -> b h d t", "f4", (8, 32, 1024, 64), {}),
    ("n (c p q) h w -> n c (h p) (w q)", "f4", (16, 64, 128, 128), {"p": 2, "q": 2}),
    ("n t c -> t n c", "f8", (64, 1024, 128), {}),
]


def contenders_for(x, pattern, sizes, devices):
    def on_numpy():
        return np.ascontiguousarray(einops.rearrange(x, pattern, **sizes))

    found = [Contender("einops on NumPy", on_numpy)]
    if importlib.util.find_spec("torch"):
        import torch

        tensor = torch.from_numpy(x)
        found.append(Contender("on PyTorch", lambda: einops.rearrange(tensor, pattern, **sizes).contiguous().numpy()))

    def on_device(device):
        return lambda: dmlops.rearrange(x, pattern, device=device, **sizes)

    return found + [Contender(f"dmlops on {device}", on_device(device)) for device in devices]


def main(devices):
    for number, (pattern, dtype, shape, sizes) in enumerate(ROWS):
        x = np.random.default_rng(0).integers(0, 256, np.prod(shape) * np.dtype(dtype).itemsize, np.uint8)
        x = x.view(dtype).reshape(shape)
        contenders = contenders_for(x, pattern, sizes, devices)
        if number == 0:
            print("| pattern | dtype, MiB |", *(f"{one.name}, ms |" for one in contenders))
            print("|---|---|" + "---|" * len(contenders))
        results = [one.call().tobytes() for one in contenders]
        assert all(one == results[0] for one in results)
        times = measure(contenders)[0]
        print(f"| `{pattern}` | {x.dtype}, {x.nbytes / 2**20:.2g} |", *(f"{times[one.name].ms:.3g} |" for one in contenders))


if __name__ == "__main__":
    main(sys.argv[1:] or ["host"])
