"""source - reads folders that another user may change meanwhile: each file and folder is opened once, from the descriptor of the folder that
holds it, and without following links. A path that is looked up twice could lead elsewhere the second time."""

import itertools
import os
import stat

from errors import BAD_INPUT, BuildError

# Nothing that is opened may hang or become the terminal, as FIFOs and terminals would.
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_ENTRIES = 100000  # of a folder
MOST_LINKS = 40        # on the way to a path, as in the kernel


class Place:
    """An open file or folder. It owns its descriptor, and closes it when the `with` block ends."""

    def __init__(self, fd, path):
        self.fd, self.path = fd, path
        kind = os.fstat(fd).st_mode
        self.is_folder = stat.S_ISDIR(kind)
        if not self.is_folder and not stat.S_ISREG(kind):
            os.close(fd)
            raise _wrong_kind(path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def entries(self):
        """The names in a folder, sorted."""
        with os.scandir(self.fd) as found:
            names = [entry.name for entry in itertools.islice(found, MOST_ENTRIES + 1)]
        if len(names) > MOST_ENTRIES:
            raise BuildError(BAD_INPUT, f"{self.path}: expected at most {MOST_ENTRIES} entries in a folder")
        return sorted(names)

    def open(self, name):
        """The file or folder NAME in this folder."""
        path = os.path.join(self.path, name)
        try:
            return Place(os.open(name, FLAGS, dir_fd=self.fd), path)
        except OSError as error:
            raise _cannot_open(path, self.fd, name, error) from error

    def below(self, parts):
        """The file or folder that the names PARTS lead to, from this folder."""
        if len(parts) == 1:
            return self.open(parts[0])
        with self.open(parts[0]) as folder:
            return folder.below(parts[1:])

    def chunks(self, size):
        """A file's bytes, in pieces of at most SIZE."""
        if self.is_folder:
            raise BuildError(BAD_INPUT, f"{self.path}: expected a file")
        while chunk := os.read(self.fd, size):
            yield chunk

    def text(self, most):
        """A file of UTF-8 text, of at most MOST bytes."""
        data = b""
        for chunk in self.chunks(1 << 20):
            data += chunk
            if len(data) > most:
                raise BuildError(BAD_INPUT, f"{self.path}: expected at most {most >> 20} MiB")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise BuildError(BAD_INPUT, f"{self.path}: byte {error.start}: expected UTF-8 text") from error


def _wrong_kind(path):
    return BuildError(BAD_INPUT, f"{path}: expected a file or a folder, and no link or special file")


def _cannot_open(path, folder, name, error):
    """What to say when NAME in FOLDER was not opened. Its kind is looked up for the message only."""
    try:
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        kind = stat.S_IFREG
    if not stat.S_ISDIR(kind) and not stat.S_ISREG(kind):
        return _wrong_kind(path)
    return BuildError(BAD_INPUT, f"{path}: {error.strerror}")


def open_path(path):
    """The file or folder at PATH, which the caller of the builder named. Its `path` is without links.

    Links on the way are followed if the caller or root owns them: another user's link may have come after the caller looked.
    """
    try:
        fd = _find(os.path.join(os.getcwd(), path))
    except OSError as error:
        raise BuildError(BAD_INPUT, f"{path}: {error.strerror}") from error
    try:
        real = os.readlink(f"/proc/self/fd/{fd}")
        if not stat.S_ISDIR(os.fstat(fd).st_mode) and not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _wrong_kind(path)
        return Place(os.open(f"/proc/self/fd/{fd}", FLAGS & ~os.O_NOFOLLOW), real)
    except OSError as error:
        raise BuildError(BAD_INPUT, f"{path}: {error.strerror}") from error
    finally:
        os.close(fd)


def _find(path):
    """A descriptor that names what is at the absolute PATH, not open for reading."""
    folder, left, links = os.open("/", LOOK), path.split("/")[::-1], 0
    while left:
        name = left.pop()
        try:
            found = os.open(name or ".", LOOK, dir_fd=folder)
        except OSError:
            os.close(folder)
            raise
        if not stat.S_ISLNK(os.fstat(found).st_mode):
            os.close(folder)
            folder = found
            continue
        links += 1
        target = _target(found, name, path if links <= MOST_LINKS else None)
        left += target.split("/")[::-1]
        if target.startswith("/"):
            os.close(folder)
            folder = os.open("/", LOOK)
    return folder


def _target(link, name, path):
    """Where an open link leads, which is closed. PATH: what was asked for; None: it has too many links."""
    try:
        if path is None:
            raise BuildError(BAD_INPUT, f"{name}: expected at most {MOST_LINKS} links on the way")
        if os.fstat(link).st_uid not in (0, os.geteuid()):
            raise BuildError(BAD_INPUT, f"{path}: '{name}' is another user's link: give the path that it leads to")
        return os.readlink("", dir_fd=link)
    finally:
        os.close(link)
