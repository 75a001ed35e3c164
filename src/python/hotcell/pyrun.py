"""hotcell-pyrun [PATH|-]: run a file or standard input with RunPython and print the last value.

    python -m hotcell.pyrun [PATH|-]

Runs the code in a cell and prints the value of its last expression, unless that is None. A text without code prints nothing.
An exception of the code, and what the policy refuses, goes to standard error with its type and its line; the exit status is then 1.
Exit status 64: wrong usage. 130, 143: the signal SIGINT (ctrl-C) or SIGTERM has ended the run.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, List, NoReturn, Optional

from .adapters import RunPython
from .adapters.raised_as import CLASS_NOTE
from .errors import HotcellError

USAGE = "usage: hotcell-pyrun [PATH|-]"
EX_USAGE = 64


def main(argv: Optional[List[str]] = None) -> int:
    """Run one program. Returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--help"], ["-h"]):
        print(f"{USAGE}\n\n{(__doc__ or '').partition('    python')[2].partition(chr(10))[2].strip()}")
        return 0
    path = arguments[0] if arguments else "-"
    if len(arguments) > 1 or path.startswith("-") and path != "-":
        print(USAGE, file=sys.stderr)
        return EX_USAGE
    signal.signal(signal.SIGTERM, _stop)
    warnings.showwarning = _warn
    try:
        return run(path)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def run(path: str) -> int:
    """Run the code in a file, or on standard input if `path` is "-". Returns the exit status."""
    try:
        code = decoded(sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes())
    except (OSError, ValueError) as error:
        print(f"hotcell-pyrun: {'standard input' if path == '-' else path}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    try:
        value = asyncio.run(_until_stopped(code))
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    except Exception as error:
        print(message_of(error), file=sys.stderr)
        return 1
    if value is not None:
        print(value)
    return 0


def decoded(content: bytes) -> str:
    """The code as text. ValueError says in which line it is none."""
    try:
        code = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: not UTF-8 (byte 0x{content[error.start]:02x})") from None
    if "\0" in code:
        raise ValueError(f"line {code.count(chr(10), 0, code.index(chr(0))) + 1}: contains a NUL byte")
    return code


def message_of(error: Exception) -> str:
    """The traceback of the code, which ends with the exception's type and text; these alone if none of the code was run."""
    told = str(getattr(error, "cell_traceback", "")).strip("\n")
    if not told and isinstance(error, HotcellError):
        return f"hotcell-pyrun: {error}"
    last = "".join(traceback.format_exception_only(type(error), error)).strip("\n")
    if not told or isinstance(error, SyntaxError):
        return last
    if told.startswith("Traceback"):
        notes = [note for note in getattr(error, "__notes__", ()) if note not in told and not note.startswith(CLASS_NOTE)]  # the traceback has the class
        return "\n".join([told, *notes])
    return "\n".join([*(line for line in told.splitlines() if line.startswith(" ")), last])


async def _until_stopped(code: str) -> Any:
    """The value of the code. SIGTERM ends the wait, as ctrl-C does: an exception in the middle of the event loop's own work could end
    it without waking what waits for it."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await RunPython(g={})(code)


def _stop(number: int, _frame: object) -> NoReturn:
    """A signal handler, as long as nothing runs."""
    raise SystemExit(128 + number)


def _warn(message: Any, *_: object) -> None:
    """Shows a warning of this package as one line."""
    print(f"hotcell-pyrun: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
