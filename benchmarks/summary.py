"""What follows from the records: the best peer, the mean, and whether what was promised is kept."""

import json
import math
from pathlib import Path

from contest import AUTO, COPY, DEVICE_COPY, MEMSET, NOT_PEERS, OURS, PLAIN, RESIDENT

GEOMETRIC_MEAN = 2.0  # at least
PATCHES_MEAN, PATCHES_LEAST = 1.2, 0.6  # of blocks and patches, at least
AUTO_MEAN, AUTO_BEHIND = 1.8, 0.1  # of all cells with "auto"; the share of them that a peer wins
TABLES = ("counted", "family", "batches", "patches")  # whose cells docs/performance.md shows a part of, and counts
ADDED = ("processors", "recipes")  # what the scripts of these names put into the JSON of a run, with --into
COPIES = 2.4  # no counted cell above this many x.copy()
PHOTOGRAPH_COPIES = 3.0
IMAGE_COPIES = 1.7  # no image above this many calls that copy the bytes of its result
JOIN_COPIES, PADDING_COPIES = 1.3, 1.5  # ours / x.copy()
UPSAMPLE_COPIES = 2.0  # ours / a call that copies the bytes of its result
TRANSPOSES = ("NHWC-to-NCHW/", "2-D-transpose/")  # no peer is faster
FLATNESS = 1.5  # cost per byte from 4 MiB to 1 GiB
VARIANT = {1: 3.0, 2: 3.0, 4: 2.0, 8: 2.0}  # cost per byte against the plain cell, by bytes an element
DEVICE_SHARE = {1: 0.8, 2: 0.8, 4: 0.9, 8: 0.9}  # of the bandwidth of the device's own copy, on devices that are no CPU
TRANSFER_SHARE = 0.9  # upload and download / a call between host arrays, likewise
PIPELINES_MEAN, PIPELINES_MEMSET = 3.0, 3.0  # best peer / ours, at least; ours / memset of a megabyte and more, at most
SMALL_CALL_US = 60.0
DASK_OVERHEAD = 1.1  # of a graph, over plain calls


def ms(record, name):
    return record["results"].get(name, {}).get("ms")


def best_peer(record, peers, hand=False, rounded=False):
    """(name, ms) of the fastest peer, or (None, None).

    Forms that users do not write take part only if `hand`, peers that round otherwise than NumPy only if `rounded`.
    """
    times = [
        (result["ms"], name)
        for name, result in record["results"].items()
        if name not in NOT_PEERS
        and result["ms"] is not None
        and (hand or peers[name].get("idiomatic", True))
        and (rounded or result.get("same_bits", True))
    ]
    return (None, None) if not times else min(times)[::-1]


def ratio(over, under):
    return over / under if over and under else None


def versus(record, peers, hand=False, ours=OURS):
    """Best peer / ours."""
    return ratio(best_peer(record, peers, hand)[1], ms(record, ours))


def of_best(record, over):
    """A time over that of the faster one of dmlops on the default device and on "auto"."""
    ours = [found for found in (ms(record, OURS), ms(record, AUTO)) if found]
    return ratio(over, min(ours, default=None))


def pipeline_checks(report):
    """The goals of preprocessing in one pass."""
    records, peers = group(report, "pipelines"), report["peers"]
    same = [of_best(record, best_peer(record, peers)[1]) for record in records]
    many = [record for record in records if record["shape"][0] > 1 or record["shape"][1] > 224]
    rounded = [of_best(record, best_peer(record, peers, rounded=True)[1]) for record in many]
    hand = [of_best(record, ms(record, "NumPy by hand")) for record in records if record not in many]
    large = [ratio(1.0, of_best(record, ms(record, MEMSET))) for record in records if record["written"] >= 1e6]
    title = "pipelines, best peer of the same bits / ours"
    return [
        _row(f"{title}, geometric mean", geometric_mean(same), PIPELINES_MEAN, at_least=True),
        _row(f"{title}, slowest", _least(same), 1.0, at_least=True),
        _row("pipelines, best peer of any bits / ours, slowest but for one 224 x 224", _least(rounded), 1.0, at_least=True),
        _row("pipelines, NumPy by hand / ours, slowest 224 x 224", _least(hand), 1.0, at_least=True),
        _row("pipelines, slowest of a megabyte and more, ours / memset", _most(large), PIPELINES_MEMSET),
    ]


def copies(record):
    return ratio(ms(record, OURS), ms(record, COPY))


def of_device_copy(record):
    """The bandwidth of a cell on the device, over that of the device's own copy: bytes read plus bytes written."""
    bandwidth = ratio(record.get("read", 0) + record.get("written", 0), ms(record, RESIDENT))
    return ratio(bandwidth, ratio(2 * record["nbytes"], ms(record, DEVICE_COPY)))


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def group(report, *names):
    return [record for record in report["cells"] if record["group"] in names]


def ratios(report, *groups, ours=OURS):
    """Best peer / ours of the cells of these groups that both can do."""
    found = (versus(record, report["peers"], ours=ours) for record in group(report, *groups))
    return [value for value in found if value]


def on_system_driver(report, *groups, ours=OURS):
    """The same with the times that dmlops has on the system's driver, where it was measured on the companion's."""
    found = report.get("system_driver", {}).get("cells", {})
    values = (ratio(best_peer(r, report["peers"])[1], found.get(r["name"], {}).get(ours)) for r in group(report, *groups))
    return [value for value in values if value]


def behind(values):
    """The share of ratios below 1."""
    return sum(value < 1 for value in values) / len(values) if values else None


def checks(report):
    """Rows of what is promised; `kept` is None where nothing was measured."""
    counted, peers = group(report, "counted"), report["peers"]
    rows = [
        _row("geometric mean, best peer / ours", _mean(report), GEOMETRIC_MEAN, at_least=True),
        _row("geometric mean, also against loops by hand", _mean(report, hand=True), None),
        _row("slowest counted cell, ours / x.copy()", _most(map(copies, counted)), COPIES),
        _row("slowest photographs, ours / x.copy()", _most(copies(r) for r in _photographs(report)), PHOTOGRAPH_COPIES),
        _row("slowest image, ours / copying its result", _most(map(cost, group(report, "images"))), IMAGE_COPIES),
        _row("slowest join or split, ours / x.copy()", _most(map(copies, _named(report, "join/", "split/"))), JOIN_COPIES),
        _row("slowest padding of images, ours / x.copy()", _most(map(copies, _named(report, "padding/"))), PADDING_COPIES),
        _row("slowest upsample, ours / copying its result", _most(map(cost, _named(report, "upsample/"))), UPSAMPLE_COPIES),
        _row(
            "slowest transpose, best peer / ours",
            _least(versus(r, peers) for r in _named(report, *TRANSPOSES)),
            1.0,
            at_least=True,
        ),
        _row("cost per byte from 4 MiB on, highest / lowest", _flatness(report), FLATNESS),
    ]
    patches, auto = ratios(report, "patches"), ratios(report, *TABLES, ours=AUTO)
    rows += pipeline_checks(report)
    rows += [
        _row("blocks and patches, geometric mean, best peer / ours", geometric_mean(patches), PATCHES_MEAN, at_least=True),
        _row("blocks and patches, slowest, best peer / ours", _least(patches), PATCHES_LEAST, at_least=True),
        _row('"auto", geometric mean, best peer / ours', geometric_mean(auto), AUTO_MEAN, at_least=True),
        _row('"auto", share of cells that a peer wins', behind(auto), AUTO_BEHIND),
    ]
    for itemsize, bound in VARIANT.items():
        worst = _most(_variants(report, itemsize))
        rows.append(_row(f"worst variant against its plain cell, {itemsize}-byte items", worst, bound))
    wanted = [r for r in counted if r["target"] and best_peer(r, peers)[1]]
    if wanted:
        reached = sum((versus(r, peers) or 0) >= r["target"] for r in wanted)
        rows.append(_row("counted cells that reach their target", reached, len(wanted), at_least=True))
    elsewhere = report.get("device_type") not in ("cpu", "host", None)
    for itemsize, bound in DEVICE_SHARE.items():
        shares = [of_device_copy(r) for r in counted if r["name"].endswith(f"/{itemsize}")]
        name = f"slowest on the device, share of its copy's bandwidth, {itemsize}-byte items"
        rows.append(_row(name, _least(shares), bound if elsewhere else None, at_least=True))
    transfers = (report["probes"].get("transfers") or {}).get("as it chooses", {})
    share = ratio(transfers.get("up_ms", 0) + transfers.get("down_ms", 0), transfers.get("call_ms"))
    name = "upload and download / a call between host arrays"
    rows.append(_row(name, share, TRANSFER_SHARE if elsewhere else None, at_least=True))
    small = report["probes"].get("small-call") or {}
    rows.append(_row("1 KiB call, us", small.get("call_us"), SMALL_CALL_US))
    dask = report["probes"].get("dask") or {}
    share = ratio(dask.get("graph_ms"), dask.get("calls_ms"))
    rows.append(_row("a Dask graph of 64 MiB blocks / plain calls", share, DASK_OVERHEAD))
    return rows


def _row(name, value, bound, at_least=False):
    kept = None
    if value is not None and bound is not None:
        kept = value >= bound if at_least else value <= bound
    return {"name": name, "value": value, "bound": bound, "at_least": at_least, "kept": kept}


def _most(values):
    return max((value for value in values if value), default=None)


def _least(values):
    return min((value for value in values if value), default=None)


def _named(report, *names):
    """The cells of the family whose names begin so."""
    return [record for record in group(report, "family") if record["name"].startswith(names)]


def _mean(report, hand=False):
    """None as well where a cell is missing that somebody else can do."""
    counted = [r for r in group(report, "counted") if best_peer(r, report["peers"], hand)[1]]
    if any(ms(r, OURS) is None for r in counted):
        return None
    return geometric_mean(versus(r, report["peers"], hand) for r in counted)


def _photographs(report):
    return [record for record in report["cells"] if record["name"].startswith("photographs")]


def cost(record):
    """Time against that of the plain cell: per byte of the input, or in some groups per byte of the result."""
    measured = ms(record, PLAIN)
    if record["group"] in ("images", "family"):
        return ratio(ms(record, OURS), measured)
    return measured and ratio(ratio(ms(record, OURS), record["nbytes"]), ratio(measured, record["plain"]["nbytes"]))


def _flatness(report):
    """The highest cost per byte of a size over the lowest."""
    costs = [cost(record) for record in group(report, "sizes") if cost(record)]
    return max([1.0, *costs]) / min([1.0, *costs]) if costs else None


def _variants(report, itemsize):
    variants = [*group(report, "beside"), *group(report, "blocks")]
    return [cost(record) for record in variants if record["name"].endswith(f"/{itemsize}")]


def save(report, path):
    """One line per field, cell and probe: a new run is a short diff."""

    def lines(values, opening, closing):
        return opening + "\n" + ",\n".join(values) + "\n" + closing

    def plain(value):
        return json.dumps(_rounded(value))

    fields = []
    for name, value in report.items():
        if name == "cells" or name in ADDED:
            text = lines(map(plain, value), "[", "]")
        elif name in ("peers", "probes"):
            text = lines((f"{plain(key)}: {plain(entry)}" for key, entry in value.items()), "{", "}")
        else:
            text = plain(value)
        fields.append(f"{plain(name)}: {text}")
    Path(path).write_text(lines(fields, "{", "}") + "\n")


def taken_into(arguments):
    """Take `--into JSON` out of a command's arguments: the file, or None."""
    if "--into" not in arguments:
        return None
    at = arguments.index("--into")
    _, file = arguments[at : at + 2]
    del arguments[at : at + 2]
    return file


def add(path, name, rows):
    """Put rows of one of ADDED into the JSON of a run."""
    save(load(path) | {name: rows}, path)


def _rounded(value):
    """Four significant digits: more than any timing has."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return [_rounded(entry) for entry in value] if isinstance(value, list) else value


def load(path):
    return json.loads(Path(path).read_text())
