"""hotcell-pyrun [PATH|-]: run a file or standard input with RunPython and print the last value.

    python -m hotcell.pyrun [PATH|-]

An exception of the code, and what the policy refuses, goes to standard error with its type and its line; the exit status is then 1.
Exit status 64: wrong usage.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from pathlib import Path
from typing import List, Optional

from .adapters import RunPython
from .adapters.raised_as import CLASS_NOTE

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
    try:
        code = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"hotcell-pyrun: {path}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    try:
        value = asyncio.run(RunPython(g={})(code))
    except Exception as error:
        print(message_of(error), file=sys.stderr)
        return 1
    if value is not None:
        print(value)
    return 0


def message_of(error: Exception) -> str:
    """The traceback of the code, which ends with the exception's type and text; these alone if none of the code was run."""
    told = str(getattr(error, "cell_traceback", "")).strip("\n")
    last = "".join(traceback.format_exception_only(type(error), error)).strip("\n")
    if not told or isinstance(error, SyntaxError):
        return last
    if told.startswith("Traceback"):
        notes = [note for note in getattr(error, "__notes__", ()) if note not in told and not note.startswith(CLASS_NOTE)]  # the traceback has the class
        return "\n".join([told, *notes])
    return "\n".join([*(line for line in told.splitlines() if line.startswith(" ")), last])


if __name__ == "__main__":
    sys.exit(main())
