"""What every test shares: which driver, which devices, how long a test may take, how many examples Hypothesis tries.

Environment:
    VK_DRIVER_FILES       the Vulkan driver to test; lavapipe if not set
    DMLOPS_TEST_DIRECT    if set: the driver is used without the loader, as that of a companion package
    DMLOPS_TEST_DEVICES   which of "vulkan" (the best device) and "host" to test; both if not set
    HYPOTHESIS_PROFILE    "test" (150 examples an operator), "check" (20), "odd" (10), "deep" (3,000), "soak" (20,000); if not
                          set, "odd" for `pytest -m quick`, else "test"
    DMLOPS_TEST_SHARE     "K/N": the K-th of N shares of the tests, counted on from N; all if not set
"""

import importlib.util
import os
import zlib

import support

support.select_driver()  # before anything creates a Vulkan instance

import pytest  # noqa: E402
from hypothesis import HealthCheck, is_hypothesis_test, settings  # noqa: E402

for name, examples in (("test", 150), ("check", 20), ("odd", 10), ("deep", 3_000), ("soak", 20_000)):
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,  # the first use of a kernel builds it
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )

# What these folders need, not every environment has: `make test` installs Dask, parts of `make check` the others.
NEEDED = {
    "docs": ("selenium",),
    "peers": ("torch", "onnx", "onnxruntime"),
    "dask": ("distributed", "zarr"),
    "processors": ("transformers", "timm", "open_clip", "torchvision"),
}
collect_ignore = [folder for folder, names in NEEDED.items() if not all(map(importlib.util.find_spec, names))]


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: takes minutes or gigabytes; `make soak` runs it, others leave it out")
    config.addinivalue_line("markers", "check: takes minutes; a part of `make check`")
    config.addinivalue_line("markers", "slow: takes seconds, or starts processes, or uses large arrays")
    config.addinivalue_line("markers", "quick: all tests without the marks above; what to run after every change")
    config.addinivalue_line("markers", "driverless: runs no Vulkan driver, or mocks alone; for `make test`")
    needs = ("import", "segments", "fork", "shared_memory", "copy_command", "variables")
    for marker in (*(f"needs_{what}" for what in needs), "many_pipelines", "many_bytes", "posix"):
        config.addinivalue_line("markers", f"{marker}: skipped where support.lacks() has a reason")
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "odd" if config.option.markexpr == "quick" else "test"))
    if not config.option.markexpr:
        config.option.markexpr = "not soak and not check"
    support.begin_validation()


def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[item for item in items if not is_in_share(item.nodeid)])
    items[:] = [item for item in items if is_in_share(item.nodeid)]
    lacking = support.lacks()
    limit = 14_400 if settings.default.max_examples > 1000 else 1200
    for item in items:
        for marker, reason in lacking.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(limit * 3 if item.get_closest_marker("check") else limit))
        if not any(map(item.get_closest_marker, ("slow", "check", "soak"))):
            item.add_marker(pytest.mark.quick)
    if "PYTEST_XDIST_WORKER" in os.environ:  # a long test at the end would leave the other workers with nothing to do
        items.sort(key=lambda item: (not item.get_closest_marker("slow"), not is_hypothesis_test(getattr(item, "obj", None))))


def is_in_share(name):
    """Whether a test is among those that DMLOPS_TEST_SHARE asks for."""
    share, shares = map(int, os.environ.get("DMLOPS_TEST_SHARE", "0/1").split("/"))
    return (share + zlib.crc32(name.encode())) % shares == 0


@pytest.fixture(params=support.DEVICES, scope="session")
def device(request):
    """What to pass as `device=`: the best Vulkan device there is, then the host."""
    return "host" if request.param == "host" else support.vulkan_device()


@pytest.fixture(scope="session")
def devices():
    """All of them, for tests by Hypothesis: to draw an array takes longer than to move it on one more device."""
    return ["host" if name == "host" else support.vulkan_device() for name in support.DEVICES]


@pytest.fixture(scope="session")
def vulkan():
    """The best Vulkan device, for tests that mean nothing on the host."""
    if "vulkan" not in support.DEVICES:
        pytest.skip("DMLOPS_TEST_DEVICES leaves Vulkan out")
    return support.vulkan_device()


@pytest.fixture(scope="session")
def library(tmp_path_factory, vulkan):
    """The Vulkan layer of tests/faults, which plays drivers that fail or offer less."""
    import faults

    return support.built_once(tmp_path_factory, faults.FILE, faults.build)


@pytest.fixture(scope="session", autouse=True)
def validated():
    """Under `make check`: the validation layer must really have been in this process."""
    yield
    support.end_validation()
