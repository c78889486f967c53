"""Random chains of movements: dmlops.fuse against the same functions in NumPy, to the byte; each is proved, too."""

import dmlops
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import chains
import strategies
from strategies import content
from test_kernels import FEWER, FEWEST, overridden


# NumPy copies the fields of structures without the bytes between them; operators copy those, too. What NumPy joins has the
# machine's byte order.
DTYPES = strategies.common_dtypes.filter(lambda dtype: dtype.names is None and dtype.isnative)


def arrays_of(result):
    return list(result) if isinstance(result, tuple) else [result]


def check(chain, devices, resident=False):
    fused = dmlops.fuse(chain.function())
    inputs = [spec.build() for spec in chain.inputs]
    before = [content(array) for array in inputs]
    expected = arrays_of(fused.reference(*inputs))
    for device in devices:
        given = [dmlops.asarray(array, device=device) for array in inputs] if resident else inputs
        found = arrays_of(fused(*given, device=None if resident else device))
        assert len(found) == len(expected)
        for ours, right in zip(found, expected, strict=True):
            ours = ours.numpy() if resident else np.asarray(ours)
            assert ours.dtype == right.dtype and ours.shape == right.shape
            assert content(ours) == content(right)
            assert ours.flags.c_contiguous and ours.flags.writeable
        assert [content(array) for array in inputs] == before, "an input changed"
        proof = fused.prove(*given)
        assert proof.elements == sum(array.size for array in expected)


@pytest.mark.driverless
@FEWER
@given(chain=chains.chains(DTYPES))
def test_chains_are_proved(chain):
    fused = dmlops.fuse(chain.function())
    inputs = [spec.build() for spec in chain.inputs]
    assert fused.prove(*inputs).steps >= 0


@given(chain=chains.chains(DTYPES))
@FEWER
def test_chains(devices, chain):
    check(chain, devices)


BYTES = st.sampled_from([np.dtype(code) for code in ("u1", "u1", "i1", "?")])


# The map is behind an intermediate result: what is written first, and what after that, is compiled with the map.
BEHIND = chains.Chain(
    (strategies.ArraySpec(np.dtype("u1"), (2, 1, 5), (5, 5, 1), 0, 10, 0, False),),
    (
        chains.Step("pad", (((0, 1), (0, 1), (0, 2)), "edge")),
        chains.Step("join with itself", (0,)),
        chains.Step("tile", ((1, 3, 2),)),
        chains.Step("pad", (((0, 1), (1, 1), (0, 2)), "edge")),
        chains.Step("broadcast", (1,)),
        chains.Step("broadcast", (2,)),
        chains.Step("cast", ("f4",)),
        chains.Step("reshape", ((256, 10), "C")),
    ),
    False,
)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value|Casting complex)")
@given(chain=chains.chains(BYTES, mapped=True))
@example(chain=BEHIND)
@FEWER
def test_chains_with_maps(devices, chain):
    check(chain, devices)


@given(chain=chains.chains(DTYPES, most_steps=6))
@FEWER
def test_chains_of_device_arrays(devices, chain):
    check(chain, devices, resident=True)


LESS = [
    {"host_import": 0},
    {"host_import": 0, "staging": 2048},
    {"range": 1024},
    {"range": 4096, "binding": 512},
    {"segments_always": 1},
    {"cpu": 0},
    {"group_size": 1},
    {"kernel": 3},
]


@pytest.mark.needs_import
@pytest.mark.needs_segments
@pytest.mark.filterwarnings("ignore:(overflow|invalid value|Casting complex)")
@pytest.mark.parametrize("traits", LESS, ids=str)
@given(chain=chains.chains(BYTES, mapped=True))
@FEWEST
def test_chains_with_maps_on_devices_that_offer_less(vulkan, traits, chain):
    with overridden(**traits):
        check(chain, [vulkan])
