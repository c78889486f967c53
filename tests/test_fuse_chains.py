"""Random chains of movements: dmlops.fuse against the same functions in NumPy, to the byte; each is proved, too."""

import random

import dmlops
import numpy as np
import pytest
from dmlops.fusion import layout, replay
from hypothesis import example, given
from hypothesis import strategies as st

import chains
import random_chains
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


@pytest.mark.parametrize("operator", strategies.OPERATORS)
@strategies.FEWER
@given(data=st.data())
def test_a_recorded_operator_gives_what_the_extension_gives(operator, data):
    """Some are recorded as their twins: the extension's rules are independent of these, and so is each proof's own run."""
    call = data.draw(strategies.CALLS[operator](max_rank=8))
    array = call.build()
    expected = call.run(dmlops, array, device="host")
    found = dmlops.fuse(lambda given: call.run(dmlops, given))(array, device="host")
    for one, other in zip(strategies.parts(found), strategies.parts(expected), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert content(one) == content(other)


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


# --- as people break them -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first(pytestconfig):
    """The number of the first chain: other ones in each run, and the same ones with the same seed."""
    seed = pytestconfig.getoption("--hypothesis-seed")
    return random.Random(seed).randrange(1 << 40) if seed else 0


def check_numbers(numbers, device="host", fails=random_chains.fails):
    wrong = {number: found for number in numbers if (found := fails(number, device))}
    assert not wrong, "\n".join(f"chain {number}: {found}" for number, found in wrong.items())


@pytest.mark.slow
@pytest.mark.driverless
@pytest.mark.parametrize("part", range(8))
def test_thousands_of_chains(first, part):
    check_numbers(range(first + 250 * part, first + 250 * (part + 1)))


@pytest.mark.slow
def test_some_chains_on_a_device(vulkan, first):
    check_numbers(range(first, first + 100), vulkan)


@pytest.mark.slow
@pytest.mark.driverless
def test_chains_of_any_size_called_at_several(first, monkeypatch):
    """The steps of many sizes are not compiled, but computed as those of others were; each result is NumPy's."""
    computed, replayed = [], replay.replayed
    monkeypatch.setattr(replay, "replayed", lambda sight: computed.append(replayed(sight)) or computed[-1])
    check_numbers(range(first, first + 300), fails=random_chains.fails_at_sizes)
    assert sum(found is not None for found in computed) > 300


@pytest.mark.soak
@pytest.mark.driverless
@pytest.mark.parametrize("part", range(20))
def test_many_chains_of_any_size(first, part):
    check_numbers(range(first + 2000 * part, first + 2000 * (part + 1)), fails=random_chains.fails_at_sizes)


@pytest.mark.soak
@pytest.mark.driverless
@pytest.mark.parametrize("part", range(20))
def test_half_a_million_chains(first, part):
    check_numbers(range(first + 25_000 * part, first + 25_000 * (part + 1)))


@pytest.mark.soak
def test_thousands_of_chains_on_a_device(vulkan, first):
    check_numbers(range(first, first + 5000), vulkan)


def test_a_chain_that_differs_would_be_found(monkeypatch):
    real = layout.join
    monkeypatch.setattr(layout, "join", lambda parts, axis: real([*parts][::-1], axis))
    assert any(map(random_chains.fails, range(40)))


# --- devices that offer less ----------------------------------------------------------------------------------------

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
