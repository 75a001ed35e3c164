"""Puts pictures that a program made into a page, so that a browser can take them for nothing but pictures."""

import base64
import binascii
import re

from words import Whole

MOST, MOST_IN_A_PAGE, PIXELS = 8 << 20, 48 << 20, 64 << 20
# Segments of a JPEG file, each with a marker and a length; of a frame's header (SOF) C4, C8 and CC are something else.
FRAMES = set(range(0xc0, 0xd0)) - {0xc4, 0xc8, 0xcc}


def number_at(data, at, size):
    return int.from_bytes(data[at:at + size], "big") if at + size <= len(data) else 0


def measure_png(data):
    return (number_at(data, 16, 4), number_at(data, 20, 4)) if data.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR") else None


def measure_gif(data):
    return (data[6] | data[7] << 8, data[8] | data[9] << 8) if re.match(rb"GIF8[79]a.{4}", data, re.S) else None


def measure_jpeg(data):
    at = 2
    while data.startswith(b"\xff\xd8\xff") and at + 9 < len(data) and data[at] == 0xff:
        if data[at + 1] in FRAMES:
            return number_at(data, at + 7, 2), number_at(data, at + 5, 2)
        at += 1 if data[at + 1] == 0xff else 2 + number_at(data, at + 2, 2)
    return None


def measure_svg(data):
    """A browser runs no script of a picture and loads nothing for it. Its size is in units of its own, and the page scales it."""
    return (0, 0) if b"<svg" in data[:4096] else None


KINDS = {"image/png": measure_png, "image/jpeg": measure_jpeg, "image/gif": measure_gif, "image/svg+xml": measure_svg}


def refusal(mime, data):
    """The reason why a picture is not shown, or "", and its width and height in pixels, 0 if unknown."""
    if mime not in KINDS:
        return "a browser does not show this type as a picture", 0, 0
    if len(data) > MOST:
        return "it has more than 8 MiB", 0, 0
    found = KINDS[mime](data)
    if found is None:
        return "it does not begin as its type does", 0, 0
    if found[0] * found[1] > PIXELS:
        return "it has more than 64 million pixels", *found
    if mime == "image/svg+xml" and b"<!ENTITY" in data:  # which could make it large
        return "it declares entities", *found
    return "", *found


class Room:
    """The bytes left for pictures in a page."""

    def __init__(self):
        self.left = MOST_IN_A_PAGE

    def picture(self, mime, called, data):
        why, width, height = refusal(mime, data)
        if not why and len(data) > self.left:
            why = "the page has 48 MiB of pictures already"
        if why:
            return {"why": why}
        self.left -= len(data)
        return {"why": "", "mime": mime, "called": called, "width": width, "height": height, "data": Whole(base64.b64encode(data).decode())}

    def picture_of_base64(self, mime, called, text):
        if len(text) > MOST // 3 * 4:
            return {"why": "it has more than 8 MiB"}
        try:
            return self.picture(mime, called, base64.b64decode(re.sub("[ \r\n]", "", text), validate=True))
        except (ValueError, binascii.Error):
            return {"why": "it is not base64"}
