"""Prepares untrusted text and numbers for pages, and reads members of untrusted documents: a member of the wrong type counts as missing."""

import math
import re

from markupsafe import Markup
from strict import UNSEEN, Number

MAX_WORDS = 2000  # bytes of a text within a sentence or a cell: a longer text could hide the text behind it
# Combining marks: a few languages need up to four on one character; more would be painted over the lines above.
STACKED = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
NAMED = re.compile(f"(?![\n\t]){UNSEEN.pattern}|(?<=[{STACKED}]{{4}})[{STACKED}]")
UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


class Whole(str):
    """A text whose length the caller has limited already."""

    __slots__ = ()


def named(found):
    c = ord(found[0])
    return "\ufffd" if 0xd800 <= c <= 0xdfff else chr(0x2400 + c) if c < 0x20 else f"⟦U+{c:04X}⟧"


def shown(value):
    """Cut a value that a template puts on a page, and make invisible characters visible, before Jinja escapes it."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if not isinstance(value, Whole) and len(value) * 4 > MAX_WORDS and len(data := encode(value)) > MAX_WORDS:
        end = boundary(data, MAX_WORDS)
        value = data[:end].decode() + f"… ({count_of(len(data) - end, 'byte', 'bytes')} left out)"
    return NAMED.sub(named, value)


def encode(text):
    return text.encode("utf-8", "replace")


def boundary(data, at):
    """The first index from `at` on that is not within a UTF-8 character."""
    while at < len(data) and data[at] & 0xc0 == 0x80:
        at += 1
    return at


def bounded(text, most):
    """The beginning of a text, the length of the part that is left out, and its end."""
    data = encode(text)
    if len(data) <= most:
        return Whole(text), "", ""
    head, tail = boundary(data, most - most // 4), boundary(data, len(data) - most // 4)
    return Whole(data[:head].decode()), count_of(tail - head, "byte", "bytes"), Whole(data[tail:].decode())


# ---- numbers ----

def count_of(n, one, more):
    return f"{n or 'no'} {one if n == 1 else more}"


def size(number):
    if not math.isfinite(number) or number < 0:
        return "–"
    if number < 1024:
        return f"{number:.0f} B"
    unit = 0
    number /= 1024
    while number >= 1024 and unit + 1 < len(UNITS):
        number, unit = number / 1024, unit + 1
    return f"{number:.1f} {UNITS[unit]}" if number < 10 else f"{number:.0f} {UNITS[unit]}" if number < 1e5 else f"{number:.3g} {UNITS[unit]}"


def time(seconds):
    if not math.isfinite(seconds) or seconds < 0:
        return "–"
    for below, factor, form in ((0.001, 1e6, "{:.0f} µs"), (1, 1e3, "{:.0f} ms"), (10, 1, "{:.2f} s"), (120, 1, "{:.1f} s"), (7200, 1 / 60, "{:.0f} min"),
                                (1e9, 1 / 3600, "{:.1f} h"), (math.inf, 1 / 3600, "{:.3g} h")):
        if seconds < below:
            return form.format(seconds * factor) if seconds else "0 s"
    return "–"


def plain(number):
    if not math.isfinite(number):
        return "–"
    return f"{number:.1f}" if number < 10 and number != math.floor(number) else f"{number:.0f}" if number < 1e9 else f"{number:.3g}"


# ---- members ----

def get(node, name):
    return node.get(name) if isinstance(node, dict) else None


def text(node, name):
    value = get(node, name)
    return value if isinstance(value, str) else ""


def number(node, name):
    """A member that is a number; NaN without one."""
    value = get(node, name)
    return value if isinstance(value, Number) else math.nan


def count(node, name):
    """A member that is a count, a line or a column; 0 without one."""
    value = number(node, name)
    return int(value) if 0 <= value <= 9e15 else 0


def entries(node, name):
    value = get(node, name)
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []


def members(node, name):
    value = get(node, name)
    return list(value.items()) if isinstance(value, dict) else []
