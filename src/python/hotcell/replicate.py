"""python3 -m hotcell.replicate [OPTION ...] FILE: runs a saved program again, as hotcell replay does, and compares the results.

It takes the options of hotcell replay, and has its exit statuses; 70: there is no hotcell command.
"""

from __future__ import annotations

import os
import sys
from typing import List, Optional

from .errors import HotcellError
from .launcher import find_binary

USAGE = "usage: python3 -m hotcell.replicate [OPTION ...] FILE"
EX_USAGE, EX_INTERNAL = 64, 70


def main(argv: Optional[List[str]] = None) -> int:
    """Become the command hotcell replay. Returns the exit status only if that is not possible."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments:
        print(USAGE, file=sys.stderr)
        return EX_USAGE
    try:
        binary = find_binary()
        os.execv(binary, [binary, "replay", *arguments])
    except (HotcellError, OSError) as error:
        print(f"hotcell.replicate: {error}", file=sys.stderr)
    return EX_INTERNAL


if __name__ == "__main__":
    sys.exit(main())
