"""What is a picture: PNG files as a drawing library writes them, and nothing that merely begins like one."""

from __future__ import annotations

import struct
import zlib
from typing import Iterator, Optional, Tuple

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KINDS = (b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"tEXt", b"IDAT", b"IEND")
MOST_TEXT = 200  # bytes of a tEXt chunk: the library's name and address
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # channels of a pixel, by colour type
MOST_PIXELS = 1 << 28  # bytes of all pixels, before a picture counts as none


def is_picture(data: bytes) -> bool:
    """Whether `data` is one whole PNG file: nothing in front, behind or in between, and pixels for its width and height."""
    size, packed, last = None, [], b""
    try:
        for kind, body in _chunks(data):
            if kind not in KINDS or last == b"IEND" or (kind == b"IHDR") == bool(last) or kind == b"tEXt" and len(body) > MOST_TEXT:
                return False
            if kind == b"IHDR":
                size = _size_of_pixels(body)
            packed += [body] if kind == b"IDAT" else []
            last = kind
    except (ValueError, struct.error):
        return False
    return last == b"IEND" and size is not None and _unpacks_to(b"".join(packed), size)


def _chunks(data: bytes) -> Iterator[Tuple[bytes, bytes]]:
    """(kind, content) of each chunk. ValueError or struct.error: these are no chunks."""
    if not data.startswith(SIGNATURE):
        raise ValueError("no signature")
    at = len(SIGNATURE)
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if struct.unpack_from(">I", data, at + 8 + length)[0] != zlib.crc32(kind + body):
            raise ValueError("wrong checksum")
        yield kind, body
        at += length + 12


def _size_of_pixels(header: bytes) -> Optional[int]:
    """Number of bytes of all lines, each with its filter; None: the number is not known, or too large."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if colour not in CHANNELS or depth not in (1, 2, 4, 8, 16) or interlaced or not width or not height:
        return None
    size = height * (1 + (width * depth * CHANNELS[colour] + 7) // 8)
    return int(size) if size <= MOST_PIXELS else None


def _unpacks_to(packed: bytes, size: int) -> bool:
    unpacker = zlib.decompressobj()
    try:
        pixels = unpacker.decompress(packed, size + 1)
    except zlib.error:
        return False
    return len(pixels) == size and unpacker.eof and not unpacker.unused_data
