"""elf - reads what the dynamic loader reads from 64-bit little-endian ELF files, and finds libraries as it does."""

import os
import re
import struct
import subprocess
from dataclasses import dataclass

from errors import UNAVAILABLE, BuildError

ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_STRSZ, DT_SONAME, DT_RPATH, DT_RUNPATH = 0, 1, 5, 10, 14, 15, 29
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
DYNAMIC = struct.Struct("<qQ")
MOST_ENTRIES = 4096    # of a dynamic section
LONGEST = 4096         # bytes of a name or path
MOST_BYTES = 64 << 20  # of one table; names of C++ can make a string table of some megabytes


@dataclass(frozen=True)
class Elf:
    """The loader's view of one file."""

    machine: int
    interp: str | None
    soname: str | None
    needed: tuple
    rpath: tuple      # empty where there is a RUNPATH, which makes the loader ignore it
    runpath: tuple


def read(path):
    """The loader's view of PATH, or None when it is not a 64-bit little-endian program or shared library."""
    with open(path, "rb") as source:
        head = source.read(HEADER.size)
        if len(head) < HEADER.size or head[:6] != b"\x7fELF\x02\x01":
            return None
        try:
            return _parse(_Bytes(source))
        except (struct.error, ValueError, OverflowError, OSError) as error:
            raise BuildError(UNAVAILABLE, f"read {path}: a damaged ELF file: {error}") from error


class _Bytes:
    """The bytes of an open file, of which only those that are asked for are read, and never many."""

    def __init__(self, source):
        self.source = source

    def at(self, offset, length):
        """LENGTH bytes from OFFSET, fewer at the file's end."""
        if length > MOST_BYTES:
            raise ValueError(f"a table of more than {MOST_BYTES} bytes")
        self.source.seek(offset)
        return self.source.read(length)

    def unpack(self, form, offset):
        """What a struct.Struct reads at OFFSET."""
        return form.unpack(self.at(offset, form.size))


def _parse(data):
    _, kind, machine, _, _, offset, _, _, _, size, count, _, _, _ = data.unpack(HEADER, 0)
    if kind not in (ET_EXEC, ET_DYN):
        return None
    if count and size != SEGMENT.size:
        raise ValueError("program headers of an unknown size")
    loads, dynamic, interp = [], None, None
    for index in range(count):
        segment, _, start, address, _, length, _, _ = data.unpack(SEGMENT, offset + index * size)
        if segment == PT_LOAD:
            loads.append((address, start, length))
        elif segment == PT_DYNAMIC:
            dynamic = (start, length)
        elif segment == PT_INTERP:
            interp = data.at(start, min(length, LONGEST)).rstrip(b"\0").decode()
    entries = [] if dynamic is None else _entries(data, *dynamic)
    strings = _strings(data, loads, dict(entries)) if entries else b""

    def texts(tag):
        return tuple(_text(strings, value) for found, value in entries if found == tag)

    runpath = _split(texts(DT_RUNPATH))
    return Elf(machine=machine, interp=interp, soname=next(iter(texts(DT_SONAME)), None), needed=texts(DT_NEEDED),
               rpath=() if runpath else _split(texts(DT_RPATH)), runpath=runpath)


def _entries(data, start, length):
    entries = []
    for offset in range(start, start + length - DYNAMIC.size + 1, DYNAMIC.size):
        tag, value = data.unpack(DYNAMIC, offset)
        if tag == DT_NULL:
            break
        if len(entries) == MOST_ENTRIES:
            raise ValueError(f"more than {MOST_ENTRIES} dynamic entries")
        entries.append((tag, value))
    return entries


def _strings(data, loads, table):
    if DT_STRTAB not in table or DT_STRSZ not in table:
        raise ValueError("no string table")
    for address, start, length in loads:
        if address <= table[DT_STRTAB] < address + length:
            begin = start + table[DT_STRTAB] - address
            return data.at(begin, table[DT_STRSZ])
    raise ValueError("the string table lies in no segment")


def _text(strings, offset):
    end = strings.index(b"\0", offset, offset + LONGEST)
    return os.fsdecode(strings[offset:end])


def _split(paths):
    return tuple(part for path in paths for part in path.split(":") if part)


class Resolver:
    """Finds the file for a DT_NEEDED name: RPATH or RUNPATH, the host's ld.so cache, then the default directories."""

    def __init__(self, machine, multiarch):
        self.machine = machine
        self.defaults = [f"{top}/{multiarch}" for top in ("/lib", "/usr/lib") if multiarch]
        self.defaults += ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        self.cache = None

    def find(self, name, search):
        """A path for NAME, looked for in the directories SEARCH first; None when this host has none."""
        candidates = [f"{folder}/{name}" for folder in search]
        candidates += self._cached(name) + [f"{folder}/{name}" for folder in self.defaults]
        return next((path for path in candidates if self._fits(path)), None)

    def _cached(self, name):
        if self.cache is None:
            self.cache = read_cache()
        return self.cache.get(name, [])

    def _fits(self, path):
        if not os.path.isfile(path):
            return False
        found = read(path)
        return found is not None and found.machine == self.machine


def read_cache():
    """The host's ld.so cache: name -> paths, without variants for particular processors (a tree is for all of them)."""
    program = next((path for path in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if os.path.exists(path)), None)
    if program is None:
        return {}
    listing = subprocess.run([program, "-p"], capture_output=True, text=True, check=False,
                             env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    cache = {}
    for line in listing.stdout.splitlines():
        match = re.fullmatch(r"\s+(\S+) \(([^)]*)\) => (/.*)", line)
        if match and "hwcaps" not in match[2]:
            cache.setdefault(match[1], []).append(match[3])
    return cache


def expand(paths, origin):
    """Directories of an RPATH or RUNPATH, with $ORIGIN replaced; those with other variables are left out."""
    expanded = [path.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for path in paths]
    return [os.path.normpath(path) for path in expanded if "$" not in path and path.startswith("/")]
