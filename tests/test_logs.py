"""The logger "dmlops": what is slow or seldom is said, once, to those who listen, and to nobody else."""

import re

import pytest

import support

WORK = """
import logging
import dmlops, numpy as np
x = np.zeros((100, 200), np.uint8)

def work():
    for _ in range(3):
        dmlops.transpose(x, device=0)

def churn():
    function = dmlops.fuse(lambda x: x.T)
    function.max_programs = 2
    for _ in range(3):
        for n in range(1, 5):
            function(x[:n], device="host")

class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))
"""


def test_nothing_is_written_unasked(vulkan):
    done = support.run_python(f"{WORK}\nwork()\nchurn()", env={"DMLOPS_LOG": None})
    assert done.stderr == done.stdout == ""


def test_a_variable_writes_to_standard_error(vulkan):
    said = support.run_python(f"{WORK}\nwork()\nchurn()", env={"DMLOPS_LOG": "info"}).stderr.splitlines()
    words = [re.sub(r"^[-\d]+ [\d:,]+ dmlops (\w+): (\S+) .*", r"\1 \2", line) for line in said]
    assert words == ["INFO opened", "INFO compiled", "WARNING <dmlops.fuse"], said
    assert re.search(r"compiled a kernel, \w+, in \d+ ms$", said[1]) and "max_programs (2)" in said[2]
    said = support.run_python(f"{WORK}\nwork()\nchurn()", env={"DMLOPS_LOG": "warning"}).stderr.splitlines()
    assert len(said) == 1 and "has dropped 3 programs" in said[0]


@pytest.mark.parametrize(
    ("chosen", "variable", "why"),
    [
        ("dmlops.transpose(x, device=0)", None, "which the call names"),
        ("dmlops.transpose(x, device='cpu')", None, "which the call names"),
        ("dmlops.transpose(x)", None, "the best one"),
        ("dmlops.asarray(x)", None, "the best one"),
        ("dmlops.transpose(x)", "0", "which DMLOPS_DEVICE names"),
        ("dmlops.set_default_device(0); dmlops.transpose(x)", None, "which set_default_device has set"),
        ("dmlops.asarray(x, device='auto')", None, 'which "auto" has chosen'),
        ("dmlops.asarray(x)", "auto", 'which "auto" has chosen'),
    ],
)
def test_it_is_said_why_a_device_is_opened(chosen, variable, why, vulkan):
    said = support.run_python(f"{WORK}\n{chosen}", env={"DMLOPS_LOG": "info", "DMLOPS_DEVICE": variable}).stderr
    assert f"), {why}, in " in said.splitlines()[0], said


def test_an_interrupt_of_a_handler_ends_the_call(vulkan):
    support.run_python(f"""{WORK}
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
class Interrupted(logging.Handler):
    def emit(self, record):
        signal.raise_signal(signal.SIGINT)
logging.getLogger("dmlops").addHandler(Interrupted())
logging.getLogger("dmlops").setLevel(logging.INFO)
try:
    work()
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("it is lost")
""")


def test_calls_do_not_import_logging():
    """Nobody listens, and an import takes its time."""
    code = """
import sys, dmlops, numpy as np
function = dmlops.fuse(lambda x: x.T)
function.max_programs = 2
x = np.zeros((9, 9), np.uint8)

def churn():
    for n in range(1, 9):
        function(x[:n], device="host")

churn()
assert "logging" not in sys.modules
import logging
kept = []
handler = logging.Handler()
handler.emit = kept.append
logging.getLogger("dmlops").addHandler(handler)
churn()
assert len(kept) == 1 and "has dropped" in kept[0].getMessage(), kept
"""
    support.run_python(code, env={"DMLOPS_LOG": None})


def test_programs_listen_as_to_any_logger(vulkan):
    code = """
kept = Kept()
logging.getLogger().addHandler(kept)
logging.getLogger("dmlops").setLevel(logging.INFO)
work()
assert [level for level, _ in kept.lines] == ["INFO", "INFO"], kept.lines
assert kept.lines[0][1].startswith("opened device 0, ") and kept.lines[1][1].startswith("compiled a kernel, ")
kept.lines.clear()
work()
assert kept.lines == []
churn()
assert len(kept.lines) == 1 and kept.lines[0][0] == "WARNING"
"""
    support.run_python(WORK + code, env={"DMLOPS_LOG": None})


def test_what_listens_may_call_and_fail(vulkan):
    code = """
import sys
raised = []
sys.unraisablehook = lambda info: raised.append(info.exc_value)

def fail(record):
    assert dmlops.transpose(x, device="host").shape == (200, 100)
    raise LookupError(record.getMessage())

logging.getLogger("dmlops").setLevel(logging.INFO)
logging.getLogger("dmlops").addFilter(fail)
work()
assert len(raised) == 2 and all(type(error) is LookupError for error in raised), raised
try:
    dmlops.transpose(x, device=99)
except ValueError:
    pass
"""
    support.run_python(WORK + code, env={"DMLOPS_LOG": None})


@pytest.mark.needs_variables
def test_what_is_passed_over_is_said_once():
    code = """
for _ in range(3):
    try:
        work()
    except dmlops.NoDeviceError:
        pass
"""
    said = support.run_python(WORK + code, env={**support.NO_VULKAN, "DMLOPS_LOG": "info"}).stderr
    assert said.count("WARNING: no Vulkan device: ") == 1 == len(said.splitlines()), said
