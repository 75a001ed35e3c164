"""python -m hotcell.pyrun [PATH|-]: run a file or standard input with RunPython and print the last value.

Errors go to standard error; the exit status is then 1.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import List, Optional

from .adapters import RunPython


def main(argv: Optional[List[str]] = None) -> int:
    """Run one program. Returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    path = arguments[0] if arguments else "-"
    try:
        code = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        value = asyncio.run(RunPython(g={})(code))
    except Exception as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    if value is not None:
        print(value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
