"""A plugin of pytest that runs NumPy's own tests, and makes their calls a second time by dmlops.

``pytest -p numpy_adapter --pyargs numpy.lib.tests.test_arraypad`` rewrites that module: each call, each index in brackets and
each operator in it goes through `calls`. NumPy's result goes on to the test, whose own assertions hold as ever. The same call
is made in ``dmlops.fuse`` and of a device array, both on the host, and compared: dtype, shape and bytes, or the kind of the
exception. The file that NUMPY_ADAPTER_REPORT names gets what differs, what was refused, and how much was compared.
"""

import ast
import collections
import importlib.abc
import importlib.machinery
import importlib.util
import json
import operator
import os
import pathlib
import re
import sys
import types
import warnings

import dmlops
import numpy as np
from dmlops.fusion.numpy_functions import handlers
from dmlops.fusion.numpy_maps import FUNCTIONS
from dmlops.fusion.traced import RefusedError
from dmlops.numpy_names import QUESTIONS, VIEWS

FOLDERS = [pathlib.Path(np.__file__).parent / room / "tests" for room in ("lib", "_core", "ma")]
MOST_CALLS = 50  # compared in one test
MOST_ARRAYS = 64  # joined by one call
MOST_BYTES = 1 << 20  # of an argument or a result

# --- what is refused, and why: the kind of exception, its text, the reason ---------------------------------------------

REFUSED = [
    (RefusedError, "", "fuse: the error names what cannot be fused"),
    (TypeError, "would download a dmlops.DeviceArray", "device arrays: what computes is not run unasked"),
    (TypeError, "has order='C' only", "device arrays: their memory is in C order"),
    (TypeError, "computes: call it with what .numpy", "device arrays: astype computes"),
    (TypeError, "Python objects|plain bytes|variable-width|StringDType", "arrays of plain bytes only"),
    (ValueError, "without a copy", "device arrays: reshape and ravel are views"),
    (AttributeError, r"^a (dmlops\.DeviceArray|traced array) has no attribute", "a method that there is not"),
    (IndexError, "index what .numpy\\(\\) gives", "device arrays: masks, and indices that are none"),
    (TypeError, "must return an array", "fuse: a result that is no array"),
    (TypeError, "has no array among its arguments", "fuse: no array"),
    (TypeError, "its table would have .* entries", "fuse: constants that vary along too many positions"),
    (TypeError, "^NumPy fails for values that elements may have", "fuse: a function that fails for some value"),
    (TypeError, r"^out(\[0\])? must be a dmlops.DeviceArray", "device arrays: out is one, too"),
]

# --- what NumPy refuses, and dmlops does not -------------------------------------------------------------------------------

ACCEPTED = [
    ("device", "Unable to avoid creating a copy", "dmlops.asarray has made a copy in C order already"),
    ("device", "number of index arrays cannot be above", "a limit of NumPy's"),
]

METHODS = set(
    "reshape transpose ravel squeeze swapaxes diagonal flatten astype repeat take copy item tolist tobytes "
    "view clip round conj conjugate __getitem__ __len__ __array__".split()
)
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
BY_NAME = {function.__name__: function for function in OPERATORS.values()}


def taken_over():
    """NumPy's functions that fuse or device arrays have."""
    names = f"{VIEWS} {QUESTIONS} {' '.join(FUNCTIONS)} reshape ravel take take_along_axis array_equal".split()
    found = [getattr(np, name) for name in names if hasattr(np, name)] + list(handlers())
    ufuncs = [one for one in vars(np).values() if isinstance(one, np.ufunc)]
    return {*found, *ufuncs, *OPERATORS.values(), operator.getitem} - {np.ndarray.view, np.ndarray.astype}


INTERESTING = taken_over()


# --- the rewriting of a module --------------------------------------------------------------------------------------------


class Rewriting(ast.NodeTransformer):
    """Calls become ``_adapter.call(f, ...)``, indices ``_adapter.getitem(x, key)``, operators ``_adapter.apply(name, ...)``."""

    def made(self, name, node, args, keywords=()):
        function = ast.Attribute(ast.Name("_adapter", ast.Load()), name, ast.Load())
        return ast.copy_location(ast.Call(function, args, list(keywords)), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals", "eval", "exec", "vars", "dir"):
            return node
        return self.made("call", node, [node.func, *node.args], node.keywords)

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        key = Keys().visit(node.slice)
        return self.made("getitem", node, [node.value, key])

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if type(node.op) not in OPERATORS:
            return node
        return self.made("apply", node, [ast.Constant(OPERATORS[type(node.op)].__name__), node.left, node.right])

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if type(node.op) not in OPERATORS or isinstance(node.operand, ast.Constant):
            return node
        return self.made("apply", node, [ast.Constant(OPERATORS[type(node.op)].__name__), node.operand])

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in OPERATORS:
            return node
        return self.made("apply", node, [ast.Constant(OPERATORS[type(node.ops[0])].__name__), node.left, *node.comparators])

    def visit_FunctionDef(self, node):  # decorators and annotations stay as they are
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_ClassDef(self, node):
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_Match(self, node):
        return node


class Keys(ast.NodeTransformer):
    """Slices in a key become calls of ``slice``."""

    def visit_Slice(self, node):
        none = ast.Constant(None)
        bounds = [node.lower or none, node.upper or none, node.step or none]
        return ast.copy_location(ast.Call(ast.Name("_adapter_slice", ast.Load()), bounds, []), node)

    def visit_Tuple(self, node):
        node.elts = [self.visit(one) if isinstance(one, ast.Slice) else one for one in node.elts]
        return node

    def generic_visit(self, node):
        return node


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):  # no compiled file: it would be the rewritten module's
        path = self.get_filename(fullname)
        tree = ast.fix_missing_locations(Rewriting().visit(ast.parse(self.get_data(path), path)))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module._adapter, module._adapter_slice = types.SimpleNamespace(call=call, getitem=getitem, apply=apply), slice
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path) if "test_" in name else None
        if spec is None or pathlib.Path(spec.origin or "").parent not in FOLDERS:
            return None
        return importlib.util.spec_from_file_location(name, spec.origin, loader=Loader(name, spec.origin))


# --- the calls --------------------------------------------------------------------------------------------------------------


class Record:
    """What was found in a run."""

    def __init__(self):
        self.test, self.left, self.busy = "", 0, False
        self.compared = collections.Counter()
        self.refused = collections.Counter()
        self.different = {}

    def differs(self, kind, function, args, kwargs, what):
        key = (kind, function, re.sub(r"[\d(),\[\] .-]+", " ", what)[:40])
        call = described(function, args, kwargs)
        self.different.setdefault(key, {"test": self.test, "how": kind, "call": call, "what": what})


RECORD = Record()


def described(function, args, kwargs):
    def one(value):
        if isinstance(value, np.ndarray):
            text = np.array2string(value, separator=",", threshold=40, edgeitems=4).replace("\n", "")
            layout = "" if value.flags.c_contiguous else f", strides {value.strides}"
            kind = "" if type(value) is np.ndarray else f"{type(value).__name__} "
            return f"{kind}array({text}, {value.dtype!s}, shape {value.shape}{layout})"
        if isinstance(value, (list, tuple)):
            return f"{type(value).__name__}({', '.join(map(one, value))})"
        return repr(value)[:200]

    return f"{function}({', '.join([*map(one, args), *(f'{key}={one(value)}' for key, value in kwargs.items())])})"


def call(function, /, *args, **kwargs):
    if RECORD.busy or RECORD.left <= 0:
        return function(*args, **kwargs)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ndarray) and getattr(function, "__name__", "") in METHODS:
        name = function.__name__
        return both(f".{name}", lambda x, *rest, **named: getattr(x, name)(*rest, **named), (owner, *args), kwargs)
    try:
        known = function in INTERESTING
    except TypeError:
        known = False
    if not known:
        return function(*args, **kwargs)
    return both(getattr(function, "__name__", repr(function)), function, args, kwargs)


def getitem(x, key):
    if RECORD.busy or RECORD.left <= 0 or not isinstance(x, np.ndarray):
        return x[key]
    return both("getitem", operator.getitem, (x, key), {})


def apply(name, *args):
    function = BY_NAME[name]
    if RECORD.busy or RECORD.left <= 0 or not any(type(one) is np.ndarray for one in args):
        return function(*args)
    return both(name, function, args, {})


def both(name, function, args, kwargs):
    """NumPy's result, or its exception; dmlops' are compared with it."""
    RECORD.busy = True
    try:
        main = main_arrays(args)
        copies = None if main is None else [copied(one) for one in args], {key: copied(one) for key, one in kwargs.items()}
    finally:
        RECORD.busy = False
    if main is None:
        return function(*args, **kwargs)
    error = result = None
    try:
        result = function(*args, **kwargs)
    except Exception as raised:
        error = raised
    RECORD.busy = True
    RECORD.left -= 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(name, function, *copies, main, frozen(result), error)
    finally:
        RECORD.busy = False
    if error is not None:
        raise error
    return result


def main_arrays(args):
    """Where the arrays are that become traced or device arrays: the place of an argument; None if there is none."""
    for place, one in enumerate(args):
        if isinstance(one, (list, tuple)) and len(one) > MOST_ARRAYS:
            return None
        arrays = one if isinstance(one, (list, tuple)) and place == 0 else [one]
        if arrays and any(isinstance(each, np.ndarray) for each in arrays):
            found = [each for each in arrays if isinstance(each, np.ndarray)]
            small = sum(each.nbytes for each in found) <= MOST_BYTES and sum(each.size for each in found) <= MOST_BYTES
            return place if small and not any(each.dtype.hasobject for each in found) else None
    return None


def copied(value):
    """An array of its own memory in the same layout; lists and tuples of such."""
    if isinstance(value, np.ndarray) and value.nbytes <= MOST_BYTES:
        new = np.lib.stride_tricks.as_strided(value, value.shape, value.strides, subok=True)
        return value.copy(order="K") if type(value) is np.ndarray else new
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value


def frozen(value):
    return copied(value)


# --- the comparison --------------------------------------------------------------------------------------------------------


def compare(name, function, args, kwargs, main, expected, error):
    if too_large(expected) or isinstance(error, (FloatingPointError, RecursionError, MemoryError)):
        return  # NumPy's errors of values are warnings unless np.errstate asks for them
    given = args[main]
    several = isinstance(given, (list, tuple))
    arrays = [one for one in (given if several else [given]) if isinstance(one, np.ndarray)]

    def run(replaced):
        left = iter(replaced)
        new = type(given)(next(left) if isinstance(one, np.ndarray) else one for one in given) if several else next(left)
        return function(*(new if place == main else one for place, one in enumerate(args)), **kwargs)

    def fused():
        return dmlops.fuse(lambda *given: run(given))(*arrays, device="host")

    def on_device():
        return run([dmlops.asarray(one, device="host") for one in arrays])

    plain = all(type(one) is np.ndarray for one in arrays)  # dmlops.asarray makes plain arrays of subclasses
    for kind, way in [("fuse", fused)] + [("device", on_device)] * plain:
        what = difference(kind, way, lambda: run([np.ascontiguousarray(one) for one in arrays]), expected, error)
        if what:
            RECORD.differs(kind, name, args, kwargs, what)


def difference(kind, way, contiguous, expected, error):
    """What is different; None for what is equal, or refused."""
    try:
        result = way()
    except Exception as raised:
        reason = refusal(raised)
        if reason:
            RECORD.refused[f"{reason}: {re.sub(r'[0-9]+', 'N', str(raised).partition(' (/')[0])[:70]}"] += 1
            return None
        RECORD.compared[kind] += 1
        if error is not None and isinstance(raised, type(error)):
            return None
        wanted = f"a result of {shown(expected)}" if error is None else f"{type(error).__name__}: {error}"
        return f"{type(raised).__name__}: {raised}; NumPy: {wanted}"
    RECORD.compared[kind] += 1
    if any(how == kind and text in str(error) for how, text, _ in ACCEPTED):
        return None
    if error is not None:
        return f"no error, but {shown(result)}; NumPy: {type(error).__name__}: {error}"
    what = unequal(result, expected)
    if what and not unequal(result, contiguous()):  # what NumPy gives of a contiguous array is what is promised
        return None
    return what


def refusal(raised):
    for kind, text, reason in REFUSED:
        if isinstance(raised, kind) and re.search(text, str(raised)):
            return reason
    return None


def too_large(value):
    if isinstance(value, (list, tuple)):
        return len(value) > 1000 or any(map(too_large, value))
    return isinstance(value, np.ndarray) and (value.size * max(1, value.itemsize) > MOST_BYTES or value.dtype.hasobject)


def unequal(result, expected):
    if isinstance(expected, (list, tuple)):
        if type(result) is not type(expected) and not isinstance(result, (list, tuple)):
            return f"{shown(result)}; NumPy: {shown(expected)}"
        if len(result) != len(expected):
            return f"{len(result)} results; NumPy: {len(expected)}"
        return next(filter(None, map(unequal, result, expected)), None)
    if isinstance(result, dmlops.DeviceArray):
        result = result.numpy()
    if isinstance(expected, np.ndarray) and type(expected) is not np.ndarray:
        return f"an array; NumPy: {type(expected).__name__}"
    if not isinstance(expected, (np.ndarray, np.generic)):
        same = type(result) is type(expected) and (result == expected or repr(result) == repr(expected))
        same = same or (isinstance(result, np.ndarray) and content(result) == content(np.asarray(expected)))
        return None if same else f"{shown(result)}; NumPy: {shown(expected)}"
    other = np.asarray(expected)
    if not isinstance(result, (np.ndarray, np.generic)):
        return f"{shown(result)}; NumPy: {shown(other)}"
    result = np.asarray(np.asarray(result)[()] if isinstance(expected, np.generic) else result)
    if result.dtype != other.dtype or result.shape != other.shape or content(result) != content(other):
        return f"{shown(result)}; NumPy: {shown(other)}"
    return None


def content(array):
    """The bytes that mean something: neither the holes of structures nor those of long doubles."""
    if array.dtype.names is not None:
        return [content(array[name]) for name in array.dtype.names]
    if array.dtype.char in "gG":
        halves = np.ascontiguousarray(array).view("g").reshape(-1)
        return [content_of_long_double(one) for one in halves]
    return np.ascontiguousarray(array).tobytes()


def content_of_long_double(value):
    return value.tobytes()[:10] if np.finfo("g").nmant == 63 else value.tobytes()


def shown(value):
    if isinstance(value, (np.ndarray, np.generic, dmlops.DeviceArray)):
        array = np.asarray(value)
        return f"{array.dtype!s}{list(array.shape)} {np.array2string(array, threshold=20, edgeitems=3)}".replace("\n", "")
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of {', '.join(map(shown, value[:4]))}"
    return repr(value)[:200]


# --- pytest -----------------------------------------------------------------------------------------------------------------


def pytest_configure(config):
    sys.meta_path.insert(0, Finder())
    sys.setrecursionlimit(5000)


def pytest_runtest_setup(item):
    RECORD.test, RECORD.left = item.nodeid, MOST_CALLS


def pytest_runtest_teardown(item):
    RECORD.left = 0


def pytest_sessionfinish(session):
    with open(os.environ["NUMPY_ADAPTER_REPORT"], "w") as file:
        report = {"compared": RECORD.compared, "refused": RECORD.refused, "different": list(RECORD.different.values())}
        json.dump(report, file, indent=1)
