"""Runs in a cell as a command: one operation on a file, for sandbox.Sandbox.

The arguments are the operation, the absolute path and numbers; bytes to write come on standard input. The answer is one line of
JSON: what was found, or the number and the words of the error. The client checks it, as a program could have written it.
"""

import base64
import errno
import json
import os
import shutil
import stat
import sys


def _open(path, flags):
    """A descriptor of a plain file. A FIFO or a device is refused, not waited for."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a plain file")
    return descriptor


def read(path, offset, most):
    """The size of the file, and up to `most` of its bytes from `offset` on."""
    with open(_open(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(int(offset))
        return {"size": size, "data": base64.b64encode(file.read(int(most))).decode()}


def write(path, offset):
    """Puts standard input into the file from `offset` on; at 0 the file and its parents are made, and older content goes."""
    if offset == "0":
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(_open(path, os.O_WRONLY | (os.O_CREAT | os.O_TRUNC if offset == "0" else 0)), "wb") as file:
        file.seek(int(offset))
        file.write(sys.stdin.buffer.read())
    return {}


def _kind(mode):
    kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "directory"), (stat.S_ISLNK, "link"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "other")


def entries(path):
    """Names in a directory, with their kinds, sizes and modes."""
    found = []
    for name in sorted(os.listdir(path)):
        try:
            status = os.lstat(os.path.join(path, name))
        except FileNotFoundError:  # gone meanwhile
            continue
        found.append([name, _kind(status.st_mode), status.st_size if stat.S_ISREG(status.st_mode) else 0, stat.S_IMODE(status.st_mode)])
    return {"entries": found}


def remove(path, recursive):
    """Removes a file, or a directory; with `recursive` 1 with all that is in it."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
    elif recursive == "1":
        shutil.rmtree(path)
    else:
        os.rmdir(path)
    return {}


def make(path):
    """Makes a directory, with its parents."""
    os.makedirs(path, exist_ok=True)
    return {}


if __name__ == "__main__":
    try:
        answer = {"read": read, "write": write, "entries": entries, "remove": remove, "make": make}[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        answer = {"errno": error.errno or errno.EIO, "strerror": error.strerror or str(error)}
    print(json.dumps(answer))
