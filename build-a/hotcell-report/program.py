"""Prepares a program's text for a page, with the findings at its lines."""

import itertools
import re

from words import Whole, boundary, count_of, encode

MAX_LINES, MAX_WIDTH = 20000, 4000  # bytes of a line
MARKED = 8  # bit of a character's kind: a finding is about it
KINDS = ("", "c", "s", "k", "n")
# Python's tokens, as far as it takes to tell words from text. The module tokenize gives up at the first mistake, and takes quadratic
# time for some texts; here nothing is looked at twice, as what is repeated is never given back.
TOKEN = re.compile(r"""
    (?P<c> \#[^\n]*+ ) |
    (?P<s> [rRbBuUfF]{0,2} (?: '{3} (?:[^'\\]++|\\.?|'(?!''))*+ (?:'{3})? | "{3} (?:[^"\\]++|\\.?|"(?!""))*+ (?:"{3})? |
                               ' (?:[^'\\\n]++|\\.?)*+ '? | " (?:[^"\\\n]++|\\.?)*+ "? ) ) |
    (?P<k> (?:False|None|True|and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|finally|for|from|global|if|
              import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield) (?!\w) ) |
    (?P<n> [0-9]\w*+ ) | \w++ | [^\w\#'"]++""", re.X | re.S)


def kinds_of(code):
    """The kind of token of each character, as an index into KINDS."""
    kinds = bytearray(len(code))
    for token in TOKEN.finditer(code):
        if token.lastgroup:
            kinds[token.start():token.end()] = bytes([KINDS.index(token.lastgroup)]) * (token.end() - token.start())
    return kinds


def one_line(number, line, kinds, notes):
    """One line for the template: pieces of text of the same class and mark, its findings, and the number of bytes left out."""
    data = encode(line)
    left_out = len(data) - boundary(data, MAX_WIDTH)
    kinds = kinds[:len(data[:-left_out].decode()) if left_out > 0 else None]
    for mark in notes:
        end = mark["end_column"] if mark["end_column"] > mark["column"] else len(line) + 1
        if mark["column"]:
            kinds[mark["column"] - 1:end - 1] = bytes(kind | MARKED for kind in kinds[mark["column"] - 1:end - 1])
    pieces, at = [], 0
    for kind, group in itertools.groupby(kinds):
        length = len(list(group))
        pieces.append((KINDS[kind & 7], kind & MARKED, Whole(line[at:at + length])))
        at += length
    css = "refused" if any(mark["css"] == "refused" for mark in notes) else notes[0]["css"] if notes else ""
    return {"number": number, "css": css, "pieces": pieces, "notes": notes, "cut": count_of(left_out, "byte", "bytes") if left_out > 0 else ""}


def lines_of(code, marks):
    """The lines for the template, the number of the first line that is left out (0: none), and the findings without a line."""
    marks = sorted(marks, key=lambda mark: (mark["line"], mark["column"]))
    kinds, found, at, done = kinds_of(code), [], 0, 0
    while at < len(code) and len(found) < MAX_LINES:
        end = code.find("\n", at) % (len(code) + 1)
        here = done
        while here < len(marks) and marks[here]["line"] <= len(found) + 1:
            here += 1
        found.append(one_line(len(found) + 1, code[at:end], kinds[at:end], marks[done:here]))
        at, done = end + 1, here
    return {"lines": found, "more": len(found) + 1 if at < len(code) else 0, "notes": marks[done:]}
