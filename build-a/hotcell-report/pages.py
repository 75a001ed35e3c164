"""Renders templates. Each value that a template puts on a page goes through words.shown, and is escaped."""

import base64
import hashlib
from pathlib import Path

import facts
import jinja2
import words

HERE = Path(__file__).resolve().parent
MOST = 512 << 20
CLASSES = {0: "good", 2: "held", 3: "limit"}  # CSS class of a job, by its exit status
STATUSES = {"invalid": "bad", **{name: CLASSES.get(status.exit_code, "bad") for name, status in facts.STATUSES.items()}}

environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined,
                                 finalize=words.shown, trim_blocks=True, lstrip_blocks=True, auto_reload=False)
environment.filters.update({name: getattr(words, name) for name in (
    "get", "text", "number", "count", "entries", "members", "size", "time", "plain", "bounded", "count_of")})
environment.filters["status_class"] = lambda status: STATUSES.get(status, "unknown")


def source(name):
    """A style or script of ours, with its hash. The page's policy lets the browser use only those with these hashes, and none that
    came with a job."""
    text = (HERE / name).read_text(encoding="utf-8")
    return {"text": text, "hash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}


environment.globals.update(style=source("style.css"), script=source("sort.js"))


def render(name, **context):
    page = environment.get_template(name).render(**context).encode()
    if len(page) > MOST:
        raise MemoryError
    return page
