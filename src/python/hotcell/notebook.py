"""The texts of a notebook's kernel: what a front end shows of a run, and what it asks while somebody writes (kernel.py).

Nothing here parses Python. A parser on the host would be one more thing that a hostile text could crash, and the cell's own
parser says what is wrong with a program anyway: completeness() and the names at a cursor come from a scan of characters.
"""

from __future__ import annotations

import base64
import builtins
import json
import keyword
import re
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import values
from .errors import HotcellError
from .results import Figure, Result

MAX_FORM = 16 << 20  # bytes of one form of a value, or of a figure, for the front end
MAX_FORMS = 32  # forms of one value
MAX_SCANNED = 200_000  # characters of a text that completeness() looks at
MAX_MATCHES = 500
MAX_DESCRIBED = 16000  # characters
TRACEBACK = "Traceback (most recent call last)"
MIME = re.compile(r"[a-z]+/[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}")
NAME_BEFORE = re.compile(r"((?:[^\W\d]\w*\.)*)([^\W\d]\w*)?\Z")
NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
PLACE = re.compile(r'"<cell (\d+)>"')
PUBLIC_BUILTINS = [name for name in dir(builtins) if not name.startswith("_")]
ENAMES = {"timeout": "TimeoutError", "cpu": "TimeoutError", "memory": "MemoryError"}

Warn = Callable[[str, str], None]  # called with "stderr" and a text


# ---- what a run shows ----

def text_of(event: Mapping[str, Any]) -> str:
    """What an event of a run says was printed."""
    if "text" in event:
        return str(event["text"])
    return base64.b64decode(event.get("data") or "").decode("utf-8", "replace")


def bundle_of(raw: Any) -> Dict[str, Any]:
    """A program's value or display, by MIME type, for the front end: well-formed, no form too large, and with a text. As a front
    end shows JSON before text, JSON goes only where the program has asked for it."""
    forms = {mime: data for mime, data in list(raw.items())[:MAX_FORMS] if _is_form(mime, data)} if isinstance(raw, dict) else {}
    plain = str(forms.get("text/plain", ""))
    if "text/plain" in forms and not plain.startswith("<IPython."):
        forms.pop("application/json", None)
    if forms:
        forms.setdefault("text/plain", f"<{', '.join(forms)}>")
    return forms


def _is_form(mime: Any, data: Any) -> bool:
    if not isinstance(mime, str) or mime == values.MIME or not MIME.fullmatch(mime):
        return False
    if isinstance(data, str):
        return len(data) <= MAX_FORM
    return mime.endswith("json") and len(json.dumps(data)) <= MAX_FORM


def displays_of(run: Result, warn: Warn) -> Iterator[Dict[str, Any]]:
    """What a run has displayed, in order, then its figures, unless they are among the displays or in the value already."""
    displays = [shown for shown in map(bundle_of, run.displays) if shown]
    yield from displays
    forms = [form for shown in (*displays, bundle_of(run.bundle)) for form in shown.items() if form[0] != "text/plain"]
    for figure in run.figures:
        if figure.bytes > MAX_FORM:
            warn("stderr", f"hotcell: the figure {figure.path} is not shown: it has {figure.bytes} bytes\n")
            continue
        try:
            shown = figure_bundle(figure)
            if not any(form in forms for form in shown.items()):
                yield shown
        except (OSError, ValueError, RecursionError, HotcellError) as error:
            warn("stderr", f"hotcell: the figure {figure.path} is not shown: {error}\n")


def figure_bundle(figure: Figure) -> Dict[str, Any]:
    """A figure by its MIME type. OSError, TamperedError, ValueError, RecursionError: it cannot be read."""
    content = figure.read()
    mime, data = figure.mime, ""  # type: str, Any
    if mime in ("image/png", "application/pdf"):
        data = base64.b64encode(content).decode()
    elif mime.endswith("json"):  # of plotly
        mime, data = "application/vnd.plotly.v1+json", json.loads(content)
    else:
        data = content.decode("utf-8", "replace")
    return {mime: data, "text/plain": f"<figure {figure.path}>"}


class Shown(NamedTuple):
    """The error of a run: `printed` is the text of it that is at the end of standard error too, `hint` what may follow there."""

    name: str
    value: str
    traceback: List[str]
    printed: str = ""
    hint: str = ""


def error_of(run: Result, count_of: Callable[[int], Optional[int]]) -> Shown:
    """The error of a run that did not end well. `count_of` gives the execution count of a run's number."""
    if run.error is not None:
        error = run.error
        hint = f"hint: {error.hint}" if error.hint else ""
        text = in_words_of_notebook(error.traceback, count_of) + (f"{hint}\n" if hint and hint not in error.traceback else "")
        return Shown(error.type, error.message, text.splitlines(), error.traceback, hint)
    if run.rejection is not None:
        name = "SyntaxError" if run.rejection.rule == "syntax" else "PolicyError"
        text = in_words_of_notebook(run.stderr.text, count_of) or f"{name}: {run.rejection.message}"
        return Shown(name, run.rejection.message, text.splitlines(), run.stderr.text)
    exit_status = run.guest.get("exit")
    if run.status == "error" and isinstance(exit_status, int) and run.guest.get("complete"):
        return Shown("SystemExit", str(exit_status), [f"SystemExit: {exit_status}"])
    name, reason = ENAMES.get(run.status, "HotcellError"), run.reason or run.status
    return Shown(name, reason, [f"{name}: {reason}"])


def in_words_of_notebook(traceback: str, count_of: Callable[[int], Optional[int]]) -> str:
    """A traceback with the execution counts of the notebook's cells in the place of the numbers of runs."""
    def place(found: "re.Match[str]") -> str:
        count = count_of(int(found[1])) if len(found[1]) < 10 else None
        return found[0] if count is None else f'"Cell In[{count}]"'
    return PLACE.sub(place, traceback)


def shell_script(code: str) -> Optional[str]:
    """The script of a cell in which every line begins with "!". None: it is no such cell."""
    lines = [line for line in code.splitlines() if line.strip()]
    if not lines or not all(line.startswith("!") for line in lines):
        return None
    return "\n".join(line[1:] for line in lines)


# ---- what is asked while somebody writes ----

def name_before(text: str) -> Tuple[Optional[str], str]:
    """The owner of the name that a text ends with, and the beginning of that name: ("a.b", "c") for "a.b.c", ("", "c") for "c".
    The owner is None if it is more than names, such as a call."""
    found = NAME_BEFORE.search(text[-500:])
    owner, prefix = (found[1], found[2] or "") if found else ("", "")
    before = text[:len(text) - len(owner) - len(prefix)]
    if before.endswith(".") or before[-1:].isdigit() or (not owner and not prefix and before[-1:] in (")", "]", "'", '"')):
        return None, prefix
    return owner[:-1], prefix


def name_at(code: str, cursor: int) -> Optional[str]:
    """The name, with its owners, at the cursor, or before the bracket in front of it."""
    line = code.rfind("\n", 0, cursor) + 1
    if code[max(cursor - 1, line):cursor] == "(":
        cursor -= 1
    end = code.find("\n", line)
    for found in NAME.finditer(code[:min(line + 1000, end if end >= 0 else len(code))], line):
        if found.start() <= cursor <= found.end():
            rest = re.match(r"\w*", code[cursor:found.end()])
            return code[found.start():cursor + (rest.end() if rest else 0)].rstrip(".")
    return None


def names_in(texts: Iterable[str]) -> List[str]:
    """The names in texts of programs."""
    return sorted({name for text in texts for name in re.findall(r"[^\W\d]\w*", text[-100000:])})


def matching(names: Any, prefix: str, whole: bool) -> List[str]:
    """Those of the names that a program's process has sent that begin with `prefix`; with `whole` also Python's own."""
    own = [*keyword.kwlist, *PUBLIC_BUILTINS] if whole and prefix else []
    given = names if isinstance(names, list) else []
    found = {name for name in [*given, *own] if isinstance(name, str) and len(name) < 200 and name.isidentifier() and name.startswith(prefix)}
    return sorted(name for name in found if prefix.startswith("_") or not name.startswith("_"))[:MAX_MATCHES]


def inspections(name: str) -> Sequence[str]:
    """Expressions that say what a name is; a policy may refuse the first ones."""
    text = f"type({name}).__name__, repr({name})[:2000], str(getattr({name}, '__doc__', None) or '')[:8000]"
    return (f"({text}, str(__import__('inspect').signature({name})) if callable({name}) else '')",
            f"({text}, '')", f"(type({name}).__name__, repr({name})[:2000], '', '')")


def described(name: str, facts: Any) -> str:
    """The answer of such an expression as text; "" if there is none."""
    if not isinstance(facts, (list, tuple)) or len(facts) != 4 or not all(isinstance(fact, str) for fact in facts):
        return ""
    kind, text, doc, signature = facts
    rows = [f"Signature: {name}{signature}"] if signature else []
    rows += [f"Type: {kind}", f"Value: {text}"] + ([f"Documentation:\n{doc}"] if doc else [])
    return "\n".join(rows)[:MAX_DESCRIBED]


def completeness(code: str) -> Dict[str, str]:
    """The content of the reply to an is_complete_request: "complete", "incomplete" with the indentation of the next line, or
    "invalid" for a bracket that nothing has opened. What else is wrong, the cell's parser says when the text runs."""
    if len(code) > MAX_SCANNED:
        return {"status": "unknown"}
    depth, quoted = 0, False
    bare = []  # the text without strings and comments
    for token in TOKEN.finditer(code):
        text, kind = token[0], token.lastgroup
        quoted = kind in ("triple", "mark") and token["closed"] is None
        bare.append("" if kind == "comment" else text if kind in ("bracket", "other") else "_")
        depth += (text in "([{") - (text in ")]}") if kind == "bracket" else 0
        if depth < 0:
            return {"status": "invalid"}
    lines = "".join(bare).split("\n")
    written = [line for line in lines if line.strip()]
    last = written[-1].rstrip() if written else ""
    indent = re.match(r"[ \t]*", last)[0]  # type: ignore[index]
    if quoted or depth or lines[-1].endswith("\\"):
        return {"status": "incomplete", "indent": "" if quoted else indent}
    if last.endswith(":"):
        return {"status": "incomplete", "indent": indent + "    "}
    if (indent and lines[-1].strip()) or last.startswith("@"):  # a block goes on until an empty line
        return {"status": "incomplete", "indent": indent}
    return {"status": "complete"}


# Each alternative takes all that it begins with, also a string without an end: the scan looks at no character twice.
TOKEN = re.compile(r"""(?P<comment>\#[^\n]*)
  | (?P<triple>(?P<mark>\'\'\'|\"\"\")(?:\\.|(?!(?P=mark)).)*(?P<closed>(?P=mark))?)
  | (?P<string>'(?:[^\\\n']|\\.)*'?|"(?:[^\\\n"]|\\.)*"?)
  | (?P<bracket>[()\[\]{}])
  | (?P<other>[^()\[\]{}\#'"]+)""", re.X | re.S)
