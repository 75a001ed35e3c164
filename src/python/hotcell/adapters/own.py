"""The user's own directory of state: what is in it is believed, as nobody else can have written it."""

from __future__ import annotations

import errno
import os
import pwd
import stat
import tempfile
from typing import Iterator, Tuple

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OTHERS_WRITE = 0o022


def open_own() -> int:
    """Open the directory, made when needed: $XDG_STATE_HOME/hotcell, ~/.local/state/hotcell, or one of the user's runtime
    directory or in /tmp where there is no home. The descriptor is the caller's. OSError: none of them can be had."""
    for base, name in _places():
        try:
            return _open(base, name)
        except OSError:
            continue
    raise PermissionError(errno.EACCES, "there is no directory that is this user's alone, for what has to outlive a killed process: "
                          "set XDG_STATE_HOME to one")


def _places() -> Iterator[Tuple[str, str]]:
    """(a directory that has to be there, the path below it) of each place, the best one first."""
    if os.environ.get("XDG_STATE_HOME", "").startswith("/"):
        yield "/", os.path.join(os.environ["XDG_STATE_HOME"], "hotcell").lstrip("/")
    for home in dict.fromkeys((os.environ.get("HOME", ""), _home_of_user())):
        if home.startswith("/") and _is_own(home):
            yield home, ".local/state/hotcell"
    for runtime in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.geteuid()}"):
        if runtime.startswith("/") and _is_own(runtime):
            yield runtime, "hotcell"
    yield tempfile.gettempdir(), f"hotcell-{os.geteuid()}"


def _home_of_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""


def _is_own(path: str) -> bool:
    """Whether this user owns the directory: with sudo, HOME may be another user's."""
    try:
        return os.stat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _open(base: str, name: str) -> int:
    path = os.path.join(base, name)
    os.makedirs(path, 0o700, exist_ok=True)
    fd = os.open(path, DIRECTORY)
    state = os.fstat(fd)
    if state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) & OTHERS_WRITE:
        os.close(fd)
        raise PermissionError(errno.EPERM, "other users can write to it", path)
    if stat.S_IMODE(state.st_mode) != 0o700:
        os.fchmod(fd, 0o700)
    return fd
