"""A web server that prepares pictures with dmlops or NumPy, under load from the same machine: throughput, latency and memory.

    .venv/bin/python benchmarks/serving.py                                   # the table of docs/in_a_server.md
    .venv/bin/python benchmarks/serving.py --minutes 60 --check auto         # part of `make soak`

Each contender gets a server process of its own: the standard library's ThreadingHTTPServer, which keeps connections open and
has a thread for each. Clients send pictures of 400 sizes in random order. The server crops the middle, mirrors it, puts the
channels first and scales to float32; it answers with a checksum of the result, which the client compares with NumPy's. Mesa's
disk cache is off, as in a container that is started for the first time.
"""

import argparse
import array
import http.client
import http.server
import itertools
import os
import random
import statistics
import subprocess
import sys
import threading
import time
import zlib

import numpy as np

import dmlops

CONTENDERS = ("numpy", "auto", "host", "0", "cold 0")  # NumPy, or a device; "cold": without a warm-up
SIZES = [(240 + n, 250 + 7 * n % 400) for n in range(400)]
SIDE = 224


def middle(photo):
    top, left = (photo.shape[0] - SIDE) // 2, (photo.shape[1] - SIDE) // 2
    crop = photo[top : top + SIDE, left : left + SIDE]
    return np.moveaxis(crop[:, ::-1], -1, 0).astype(np.float32) / np.float32(255)


def picture(number):
    return np.random.default_rng(number).integers(0, 256, (*SIZES[number], 3), np.uint8)


# --- the server ---------------------------------------------------------------------------------------------------


def memory(fields):
    """The sum of these fields of the process's status, in KiB."""
    with open("/proc/self/status") as file:
        return sum(int(line.split()[1]) for line in file if line.split(":")[0] in fields)


def prepare_by(contender):
    """The function, warmed up if it should be."""
    if contender == "numpy":
        return lambda photo: np.ascontiguousarray(middle(photo))
    device = {"host": "host", "auto": "auto"}.get(contender, 0)
    fused = dmlops.fuse(middle)
    for size in SIZES if not contender.startswith("cold") else ():
        fused.warm_up(np.zeros((*size, 3), np.uint8), device=device)
    return lambda photo: fused(photo, device=device)


def serve(contender):
    """Serve until standard input ends."""
    prepare = prepare_by(contender)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections stay open
        disable_nagle_algorithm = True

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            photo = np.frombuffer(body, np.uint8).reshape(SIZES[int(self.path[1:])] + (3,))
            self.answer(zlib.crc32(prepare(photo)))

        def do_GET(self):
            self.answer(memory(self.path[1:].split("+")))

        def answer(self, number):
            self.send_response(200)
            self.send_header("Content-Length", "12")
            self.end_headers()
            self.wfile.write(b"%12d" % number)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    server.shutdown()


# --- the load -----------------------------------------------------------------------------------------------------

RESIDENT = "VmRSS"
OWN = "RssAnon+RssShmem"  # without pages of libraries, which the system drops where memory is short


class Client:
    """A connection, whose requests are timed."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.latencies = array.array("f")  # milliseconds
        self.error = None

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body)
        return int(self.connection.getresponse().read())

    def work(self, photos, expected, seed, goes_on):
        draw = random.Random(seed)
        try:
            while goes_on():
                number = draw.randrange(len(SIZES))
                start = time.perf_counter()
                checksum = self.ask("POST", f"/{number}", photos[number])
                self.latencies.append((time.perf_counter() - start) * 1e3)
                if checksum != expected[number]:
                    raise AssertionError(f"another result for {SIZES[number]}")
        except Exception as error:
            self.error = error


def load(clients, photos, expected, round_, goes_on):
    """All clients at once: their latencies, and requests per second."""
    start = time.perf_counter()
    threads = [
        threading.Thread(target=one.work, args=(photos, expected, f"{round_}, {k}", goes_on)) for k, one in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in clients:
        if one.error:
            raise one.error
    latencies = sorted(itertools.chain.from_iterable(one.latencies for one in clients))
    for one in clients:
        del one.latencies[:]
    return latencies, len(latencies) / (time.perf_counter() - start)


def percentile(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def rounds(arguments):
    """For each round what tells a thread to go on: a number of requests, or minutes."""
    if not arguments.minutes:
        left = itertools.count(-arguments.requests)
        yield lambda: next(left) < 0
        return
    for _ in range(arguments.minutes):
        end = time.monotonic() + 60
        yield lambda end=end: time.monotonic() < end


def measure(contender, arguments, photos, expected):
    """One contender's rows: what happened in each round."""
    command = [sys.executable, __file__, "--serve", contender]
    environment = {**os.environ, "MESA_SHADER_CACHE_DISABLE": "true"}
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    start = time.perf_counter()
    port = int(server.stdout.readline())
    ready = time.perf_counter() - start
    clients = [Client(port) for _ in range(arguments.clients)]
    rows = []
    for number, goes_on in enumerate(rounds(arguments)):
        before = clients[0].ask("GET", f"/{RESIDENT}")
        latencies, throughput = load(clients, photos, expected, number, goes_on)
        rows.append((percentile(latencies, 0.5), percentile(latencies, 0.99), latencies[-1], throughput))
        rows[-1] += (before / 1024, *(clients[0].ask("GET", f"/{fields}") / 1024 for fields in (RESIDENT, OWN)))
        print(f"| {contender} | {ready:.1f} |", " | ".join(f"{value:.2f}" for value in rows[-1]), "|", flush=True)
    for one in clients:
        one.connection.close()
    server.stdin.close()
    assert server.wait(60) == 0
    return rows


def check(rows):
    """What an hour must show; fewer minutes are an hour in small."""
    tenth, last = rows[max(len(rows) // 6 - 1, 0)][6], rows[-1][6]
    assert abs(last - tenth) <= 0.05 * tenth, f"its own memory was {tenth:.0f} MiB in the tenth minute, and is {last:.0f}"
    p50, p99 = (statistics.median(row[k] for row in rows) for k in (0, 1))
    assert p99 < 3 * p50, f"p99 is {p99:.2f} ms, p50 {p50:.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contenders", nargs="*", default=CONTENDERS)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--minutes", type=int, default=0, help="in place of a number of requests")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="fail where memory grows or latencies spread")
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    photos = [picture(number).tobytes() for number in range(len(SIZES))]
    expected = [zlib.crc32(np.ascontiguousarray(middle(picture(number)))) for number in range(len(SIZES))]
    print("| contender | ready, s | p50, ms | p99, ms | worst, ms | requests/s | RSS before, MiB | RSS after, MiB | own, MiB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for contender in arguments.contenders:
        rows = measure(contender, arguments, photos, expected)
        if arguments.check:
            check(rows)


if __name__ == "__main__":
    main()
