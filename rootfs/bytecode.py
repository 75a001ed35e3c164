"""bytecode - compiles a tree's sources ahead, the same bytes each time.

A program of its own, run in the tree's root: `python -I -S bytecode.py PROCESSES`, with the relative paths of the
sources on standard input, one per NUL. Which objects marshal writes as references depends on what else the process
holds, so each batch is compiled by a child that starts from the same small, fresh state, and the batches depend on
nothing but the list.
"""

import os
import py_compile
import sys
import warnings

BATCH = 64


def compile_batch(paths):
    """Compiles each of PATHS; returns how many failed."""
    failures = 0
    for path in paths:
        try:
            # The file name in the code is the cell's, or of a layer, whose place its name decides, one that Python replaces when it loads the
            # code. The cell loads it without comparing it with the source.
            py_compile.compile(path, dfile="/" + path, doraise=True,
                               invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        except (py_compile.PyCompileError, OSError, RecursionError, MemoryError) as error:
            failures += 1
            text = str(error).strip().splitlines()
            print(f"{path}: {text[-1] if text else 'does not compile'}", file=sys.stderr)
    return failures


def main():
    """Forks a child per batch, as many at a time as asked for; exits 1 when any source failed."""
    warnings.simplefilter("ignore")
    limit = int(sys.argv[1])
    paths = [path for path in sys.stdin.read().split("\0") if path]
    running, failed = 0, False
    for start in range(0, len(paths), BATCH):
        if running == limit:
            failed |= os.wait()[1] != 0
            running -= 1
        if os.fork() == 0:
            os._exit(1 if compile_batch(paths[start:start + BATCH]) else 0)
        running += 1
    while running:
        failed |= os.wait()[1] != 0
        running -= 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
