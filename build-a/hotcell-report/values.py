"""Prepares the value that a program reports for a page: text, JSON, tables and pictures."""

import json
import math

from strict import UNSEEN, Number
from words import Whole, boundary, bounded, count_of, encode, get, number, text

MAX_TEXT = 64 << 10
MAX_ROWS, MAX_COLUMNS, MAX_CELL, MAX_FORMS = 200, 40, 300, 40


def cell(value):
    """A cell of a table: its class, its text, the length of the part left out, and the end of the text."""
    if isinstance(value, Number):
        return "num", f"{value:.15g}", "", ""
    if isinstance(value, bool):
        return "", str(value).lower(), "", ""
    if isinstance(value, str):
        return "", *bounded(value, MAX_CELL)
    return "", "" if value is None else "[…]" if isinstance(value, list) else "{…}", "", ""


def table(rows, columns, total):
    shown = rows[:MAX_ROWS]
    caption = f"{count_of(int(min(total, 9e15)), 'row', 'rows')}, {count_of(len(columns), 'column', 'columns')}"
    if total > len(shown):
        caption += f", of which the first {count_of(len(shown), 'row', 'rows')} are shown"
    columns = columns[:MAX_COLUMNS]
    heads = [("num" if rows and isinstance(get(rows[0], name), Number) else "", name) for name in columns]
    return {"kind": "table", "heads": heads, "rows": [[cell(get(row, name)) for name in columns] for row in shown], "caption": caption}


def resource(value):
    """The form of pandas' to_json(orient="table"), with the number of rows that there are; None if it is not."""
    fields, rows = get(get(value, "schema"), "fields"), get(value, "data")
    columns = [text(field, "name") for field in fields if text(field, "name")] if isinstance(fields, list) else []
    total = number(value, "rows")
    return table(rows, columns, len(rows) if math.isnan(total) or total < 0 else total) if isinstance(rows, list) and columns else None


def written(value):
    """The text as it was written, with invisible characters escaped."""
    if isinstance(value, Number):
        return value.written
    return UNSEEN.sub(lambda c: json.dumps(c[0])[1:-1], json.dumps(value, ensure_ascii=False))


def indented(value, end="\n"):
    """In pieces: a reader who needs only the beginning takes no more of them."""
    if not value or not isinstance(value, (dict, list)):
        yield written(value)
        return
    named, inner = isinstance(value, dict), end + "  "
    before = "{" if named else "["
    for item in value:
        yield f"{before}{inner}{written(item)}: " if named else before + inner
        yield from indented(value[item] if named else item, inner)
        before = ","
    yield end + ("}" if named else "]")


def beginning(pieces):
    """All of a text that comes in pieces, or as much as is shown."""
    data = bytearray()
    for piece in pieces:
        data += encode(piece)
        if len(data) > MAX_TEXT:
            return Whole(data[:boundary(data, MAX_TEXT)].decode()), "the rest is", ""
    return Whole(data.decode()), "", ""


def plain(value):
    return {"kind": "text", "parts": bounded(value, MAX_TEXT)}


def of_json(value):
    """Indented, or, if it is a list of rows, a table."""
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value) and value[0]:
        return table(value, list(value[0]), len(value))
    return {"kind": "text", "parts": beginning(indented(value))}


def of_form(mime, form, room):
    """None for what is not shown: another form of the same, or markup of the program's."""
    if mime == "application/vnd.dataresource+json" and (found := resource(form)):
        return found
    if mime == "application/json":
        return of_json(form)
    if mime == "image/svg+xml" and isinstance(form, str):
        return room.picture(mime, "the value", form.encode())
    return room.picture_of_base64(mime, "the value", form) if mime.startswith("image/") and isinstance(form, str) else None


def of_bundle(bundle, room):
    """What is shown of a value by MIME types, and the types that are not."""
    found = [plain(bundle["text/plain"])] if isinstance(bundle.get("text/plain"), str) else []
    shown = [(mime, of_form(mime, form, room)) for mime, form in list(bundle.items())[:MAX_FORMS] if mime != "text/plain"]
    return found + [view for _, view in shown if view], [mime for mime, view in shown if not view]
