"""loadercache - writes the file /etc/ld.so.cache, by which the dynamic loader finds libraries outside of the folders that it knows.

The format is that of glibc since 2.2: a head, entries, and the texts that they point to. The loader bisects the entries,
so their order is that of its own comparison, in which runs of digits count as numbers, from the highest to the lowest.
"""

import re
import struct

MAGIC = b"glibc-ld.so.cache1.1"
HEAD = struct.Struct("<20sIIB3xI12x")  # magic, number of entries, bytes of texts, byte order, no extensions
ENTRY = struct.Struct("<iIIIQ")        # kind, offsets of name and path in the file, two fields for kinds of processors
LITTLE_ENDIAN = 2
KINDS = {62: 0x0303, 183: 0x0a03}      # machine in ELF's numbers -> libraries for glibc, of that machine's 64-bit kind


def _rank(name):
    """What the loader compares: where one has a digit and the other has not, the digit is the higher one."""
    return [(1, int(part)) if part[0] in "0123456789" else (0, ord(part)) for part in re.findall(r"[0-9]+|[^0-9]", name)]


def pack(names, folder, machine):
    """The bytes of a cache of the libraries NAMES in FOLDER of a cell."""
    ordered = sorted(names, key=_rank, reverse=True)
    offset, entries, texts = HEAD.size + ENTRY.size * len(ordered), b"", b""
    for name in ordered:
        text = f"{name}\0{folder}/{name}\0".encode()
        entries += ENTRY.pack(KINDS[machine], offset + len(texts), offset + len(texts) + len(name) + 1, 0, 0)
        texts += text
    return HEAD.pack(MAGIC, len(ordered), len(texts), LITTLE_ENDIAN, 0) + entries + texts
