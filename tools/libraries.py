"""What a compiled library needs and offers, on Linux, Windows and macOS. tools/wheels.py inspects wheels with it."""

import dataclasses
import io
import tempfile

from elftools.elf.elffile import ELFFile
from macholib import mach_o
from macholib.MachO import MachO
from macholib.SymbolTable import SymbolTable
from pefile import DIRECTORY_ENTRY, PE


LINKERS = ("_mh_dylib_header", "__dso_handle")  # symbols that zig's linker adds on macOS


@dataclasses.dataclass(frozen=True)
class Library:
    """`machine` and `system` are what it is for, `needed` the libraries that it loads, `exported` its symbols.

    `extras` is what nobody needs, or what is of one machine only: debug information, folders in which to look for libraries.
    """

    machine: str
    system: str
    needed: frozenset
    exported: tuple
    extras: tuple


def inspect(data):
    """Read a library, whichever system it is for."""
    return (elf if data[:4] == b"\x7fELF" else pe if data[:2] == b"MZ" else mach)(data)


def elf(data):
    library = ELFFile(io.BytesIO(data))
    tags = list(library.get_section_by_name(".dynamic").iter_tags())
    symbols = [symbol for symbol in library.get_section_by_name(".dynsym").iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"]
    extras = [tag.entry.d_tag for tag in tags if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH", "DT_TEXTREL")]
    extras += [section.name for section in library.iter_sections() if section.name.startswith((".debug", ".symtab"))]
    return Library(
        machine={"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}[library["e_machine"]],
        system="linux",
        needed=frozenset(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        exported=tuple(symbol.name for symbol in symbols),
        extras=tuple(extras),
    )


def pe(data):
    library = PE(data=data)
    sections = [section.Name.rstrip(b"\0").decode() for section in library.sections]
    extras = [name for name in sections if name.startswith((".debug", "/"))]
    if library.OPTIONAL_HEADER.DATA_DIRECTORY[DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_DEBUG"]].Size:
        extras.append("IMAGE_DIRECTORY_ENTRY_DEBUG")
    return Library(
        machine={0x8664: "x86_64", 0xAA64: "aarch64"}[library.FILE_HEADER.Machine],
        system="windows",
        needed=frozenset(entry.dll.decode().lower() for entry in library.DIRECTORY_ENTRY_IMPORT),
        exported=tuple(symbol.name.decode() for symbol in library.DIRECTORY_ENTRY_EXPORT.symbols),
        extras=tuple(extras),
    )


def mach(data):
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(data)
        file.flush()
        library = MachO(file.name)
        (header,) = library.headers
        symbols = SymbolTable(library, header)
        commands = {load.cmd: command for load, command, _ in header.commands}
    names = [name.decode().removeprefix("_") for _, name in symbols.extdefsyms]
    version = commands[mach_o.LC_BUILD_VERSION].minos
    extras = [] if mach_o.LC_CODE_SIGNATURE in commands else ["no signature, without which ARM Macs load nothing"]
    extras += ["LC_RPATH"] if mach_o.LC_RPATH in commands else []
    return Library(
        machine={0x100000C: "aarch64"}[header.header.cputype],
        system=f"macos {version >> 16}.{version >> 8 & 255}",
        needed=frozenset(name for _, _, name in header.walkRelocatables()),
        exported=tuple(name for name in names if name not in LINKERS),
        extras=tuple(extras),
    )
