"""The structures and constants of shaders/abi.h, csrc/base/status.h and the core's headers, read from the headers for ctypes.

`check_source` is a C file by which the compiler tells what they really are.
"""

import ctypes
import re

import support

CSRC = support.ROOT / "csrc"
HEADERS = [f"{room}/{path.name}" for room in support.CORE if room != "device" for path in sorted(CSRC.glob(f"{room}/*.h"))]
NAMES = ["../shaders/abi.h", "base/status.h", *HEADERS]
TEXT = re.sub(r"/\*.*?\*/", "", "\n".join((CSRC / name).read_text() for name in NAMES), flags=re.DOTALL)
TEXT = re.sub(r"#ifdef __STDC_VERSION__\n(.*?)(?:#else\n.*?)?#endif\n", r"\1", TEXT, flags=re.DOTALL)  # what is GLSL's alone
SCALARS = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "long long": ctypes.c_longlong,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "u32": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "i64": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


def _constants():
    found = {}
    for name, value in re.findall(r"^#define (DML_\w+) +([^\n]+)$", TEXT, re.MULTILINE):
        found[name] = value.strip()
    for body in re.findall(r"enum\s*\w*\s*\{([^}]*)\}", TEXT):
        before = "-1"
        for member in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = (part.strip() for part in member.partition("="))
            found[name] = before = value or f"{before} + 1"
    return {name: _value(name, found) for name in found}


def _value(name, found):
    text = re.sub(r"DML_\w+", lambda match: str(_value(match[0], found)), found[name])
    return int(eval(text))  # of our own headers: sums and products


def _bodies():
    return dict(re.findall(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", TEXT, re.MULTILINE | re.DOTALL))


def _fields(body):
    """(type, name, dimensions) of each."""
    for kind, names in re.findall(r"(?:const )?(?:struct )?(long long|\w+) ([^;{}]+);", body):
        for name in names.split(", "):
            plain, dimensions = name.partition("[")[0], re.findall(r"\[(.*?)\]", name)
            yield kind, plain, [int(eval(text or "0", dict(CONSTANTS))) for text in dimensions]


def _ctype(kind, name, dimensions):
    if kind in SCALARS:
        result = SCALARS[kind]
    elif name.startswith("*") and kind not in _bodies():  # void, or a function
        result = ctypes.c_int  # what it points to is never looked at
    else:
        result = ctypes.c_int if re.search(rf"enum {kind} ", TEXT) else _structure(kind)
    if name.startswith("*"):
        result = ctypes.c_char_p if kind == "char" else ctypes.POINTER(result)
    for size in reversed(dimensions):
        result *= size
    return result


def _structure(structure):
    if structure not in STRUCTURES:
        fields = [
            (name.lstrip("*"), _ctype(kind, name, dimensions)) for kind, name, dimensions in _fields(_bodies()[structure])
        ]
        STRUCTURES[structure] = type(structure, (ctypes.Structure,), {"_fields_": fields})
    return STRUCTURES[structure]


CONSTANTS = _constants()
STRUCTURES = {}
for _name in _bodies():
    _structure(_name)


def members(structure):
    return [name for name, _ in structure._fields_]


def check_source():
    """C that defines `dml_truth`: what `expected` should be equal to."""
    includes = [f'#include "{name}"\n' for name in NAMES]
    values = [*CONSTANTS]
    for name, structure in STRUCTURES.items():
        values += [f"sizeof({name})", *(f"offsetof({name}, {member})" for member in members(structure))]
    listed = "".join(f"    (long long)({value}),\n" for value in values)
    return f"{''.join(includes)}#include <stddef.h>\nconst long long dml_truth[] = {{\n{listed}}};\n"


def expected():
    values = [*CONSTANTS.items()]
    for name, structure in STRUCTURES.items():
        values.append((f"sizeof({name})", ctypes.sizeof(structure)))
        values += [(f"offsetof({name}, {member})", getattr(structure, member).offset) for member in members(structure)]
    return values
