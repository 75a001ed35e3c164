"""Reads JSON by the rules of all of hotcell: UTF-8, no member twice, bounded in depth and values; errors have line and column.

Python's own parser is used, which accepts more. A document that it refuses, or that might break a rule, is also read by
`hotcell report --judge`, which has hotcell's own scanner and its messages.
"""

import json
import re
import subprocess

DEPTH, VALUES = 64, 2_000_000
NUL, HALVES = re.compile(r"(?<!\\)(?:\\\\)*\\u0000"), re.compile("[\ud800-\udfff]")
# Characters that are invisible, or change the order of others (src/base/plain.c has the same).
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
                    "\u3164\ufe00-\ufe0f\ufeff\ufff9-\ufffb\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]")
KINDS = {str: "a string", list: "a list", dict: "an object", type(None): "null"}


class Failure(Exception):
    """An error that ends the command, or one of its pages: a sentence and an exit status."""

    def __init__(self, text, status=65):
        super().__init__(text)
        self.status = status


class Number(float):
    """A number with its text in the document."""

    __slots__ = ("written",)

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.written = text
        return number


class Document:
    """A JSON text `data`, which begins at line `line` of the file `name`; `value` is its parsed value."""

    judge = ""  # path of hotcell

    def __init__(self, name, data, line=1):
        self.name, self.data, self.line = name, data, line
        try:
            self.value = load(data.decode())
        except (ValueError, RecursionError):
            self.ask()
            self.value = load(data.decode(), bounded=False)

    def ask(self, path="", what=""):
        """Have hotcell report the text's error. If it has none, and `what` is given, report `what` about the value at `path`, such
        as "result.line"."""
        command = [self.judge, "report", "--judge", self.name, str(self.line), path, what]
        done = subprocess.run(command, input=self.data, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise Failure(done.stdout.decode(errors="replace") or f"{self.name}: it could not be read", done.returncode if done.stdout else 70)

    def kind(self):
        return f"{self.value}".lower() if isinstance(self.value, bool) else KINDS.get(type(self.value), "a number")


def load(text, bounded=True):
    if bounded and (text.count(",") + text.count("[") + text.count("{") >= VALUES or NUL.search(text)):
        raise ValueError("too much, perhaps")
    value = json.loads(text, parse_float=Number, parse_int=Number, parse_constant=refuse, object_pairs_hook=join)
    if bounded and (is_deep(value) or ("\\u" in text and HALVES.search(json.dumps(value, ensure_ascii=False)))):
        raise ValueError("too deep, or half of a surrogate pair")
    return value


def refuse(word):
    raise ValueError(word)


def join(pairs):
    found = dict(pairs)
    return found if len(found) == len(pairs) else refuse("a name is given twice")


def is_deep(value):
    level = [value]
    for _ in range(DEPTH):
        level = [item for one in level if isinstance(one, (dict, list)) for item in (one.values() if isinstance(one, dict) else one)]
    return any(isinstance(one, (dict, list)) for one in level)
