"""hotcell report DIR|MANIFEST|JOURNAL - makes pages for people who review programs' results. `hotcell report` executes this program.

The files that it reads may come from an attacker: it opens nothing outside of the named directory, follows no links, and does not take a
file that a program left there for a page of its own. It runs only `hotcell report --judge` (strict.py).
"""

import contextlib
import errno
import getopt
import json
import os
import signal
import stat
import sys
from pathlib import Path

from strict import UNSEEN, Document, Failure

USAGE, DATA, UNAVAILABLE, INTERNAL = 64, 65, 69, 70
MARK = b"<!DOCTYPE html>\n<!-- hotcell report -->\n"  # the beginning of every page; a program can write such a file, too
NAME, RESULTS, JOURNAL = "report.html", "results.jsonl", "journal.jsonl"
MAX_MANIFEST, MAX_CODE, MAX_LINE = 256 << 20, 16 << 20, 256 << 20
SHORT_OF = (errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # errors of the host, and not of the files that are read
HELP = """\
usage: hotcell report [OPTION]... DIR|MANIFEST|JOURNAL
Make a page for people who review what a program did: its code with what was refused at its lines, its
output, tables and figures, what it used, what held it, and its files. DIR is the output directory of a
job, or of a batch: then the page says how all of its jobs ended. The page is one file, DIR/report.html,
that loads nothing and runs no script of any program's.

  -o, --output FILE  where the page goes; - is standard output
      --code FILE    the program, if it was not kept with the job
      --each         of a batch: a page for each of its jobs, too
      --force        replace a file that is no report
"""


@contextlib.contextmanager
def doing(what, status=DATA):
    """Turn an OSError of the block into a Failure whose message begins with `what`."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{what}: {os.strerror(error.errno)}", INTERNAL if error.errno in SHORT_OF else status) from error


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def put_out(data):
    with doing("standard output could not be written", INTERNAL):
        write_all(1, data)


def say(text):
    """Print a message to standard error as one line, without characters that control a terminal."""
    front = "" if text.startswith("hotcell report: ") else "hotcell: "
    with contextlib.suppress(OSError):
        os.write(2, (front + UNSEEN.sub("?", text)[:751] + "\n").encode())


# ---- reading ----

def open_below(folder, path, flags=os.O_NONBLOCK | os.O_NOCTTY):
    """Open a file below a folder, one directory after the other, without following links or leaving the folder."""
    *parents, last = path.split(b"/")
    with doing(path[:256].decode(errors="replace")):
        if b".." in (*parents, last) or path.startswith(b"/") or b"\0" in path:
            raise OSError(errno.EXDEV, "")
        fd = os.dup(folder)
        for name, how in (*((name, os.O_PATH | os.O_DIRECTORY) for name in parents), (last, flags)):
            parent = fd
            try:
                fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | how, dir_fd=parent)
            finally:
                os.close(parent)
        return fd


def regular(fd, what):
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Failure(f"{what}: expected a file")
    return open(fd, "rb")


def read_all(fd, most, what):
    """Read at most `most` bytes from a regular file; closes the descriptor."""
    with regular(fd, what) as file, doing(f"{what}: read"):
        data = file.read(min(os.fstat(fd).st_size, most) + 1)
    if len(data) > most:
        raise Failure(f"{what}: more than {most} bytes: {os.strerror(errno.EFBIG)}")
    return data


class Report:
    """One run of the command. `folder` is the descriptor of the directory that is read, `place` its path."""

    def __init__(self, options, place, folder):
        self.options, self.place, self.folder = options, place, folder

    def read(self, path, most):
        return read_all(open_below(self.folder, path), most, path[:256].decode(errors="replace"))

    def open(self, name):
        try:
            return open_below(self.folder, os.fsencode(name))
        except Failure as failure:
            raise Failure(f"{self.place}: {failure}", failure.status) from failure

    def those_of(self, *names):
        return [name for name in names if os.access(name, os.F_OK, dir_fd=self.folder, follow_symlinks=False)]

    # ---- writing ----

    def may_replace(self, folder, name, path, manifest):
        """Fail if a file is there that is no page of ours. A file that the manifest lists is the program's, even if it begins
        as our pages do."""
        import job  # pylint: disable=import-outside-toplevel
        if "force" in self.options:
            with contextlib.suppress(FileNotFoundError):
                kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
                if kind not in (stat.S_IFREG, stat.S_IFLNK):
                    raise Failure(f"{path}: there already, and no file that --force could replace")
            return
        if manifest and os.path.samestat(os.fstat(folder), os.fstat(self.folder)) and job.lists(manifest, name):
            raise Failure(f"{path}: a file of the program (--force replaces it)")
        try:
            if not is_page(os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY, dir_fd=folder)):
                raise OSError
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Failure(f"{path}: there already, and no report (--force replaces it)") from error

    def put(self, page, manifest=None, output=None):
        """Write the page to its file, which it replaces in one step."""
        place, name = os.path.split(output.rstrip("/") if output else f"{self.place}/{NAME}")
        path = f"{place or '.'}/{name}"
        with doing(f"output directory {place}"):
            if output and not os.path.isdir(place or "."):
                os.mkdir(place)
            folder = os.open(place or ".", os.O_RDONLY | os.O_DIRECTORY) if output else os.dup(self.folder)
            writable = os.access(".", os.W_OK | os.X_OK, dir_fd=folder)
        try:
            self.may_replace(folder, name, path, manifest)
            with doing(f"write {path}", INTERNAL if writable else DATA):
                put_file(folder, name, page)
        finally:
            os.close(folder)

    # ---- pages ----

    def job(self, name, output=None):
        import job  # pylint: disable=import-outside-toplevel
        document = Document(name, read_all(self.open(name), MAX_MANIFEST, f"{self.place}: {name}"))
        code, given = self.options.get("code"), None
        if code is not None:
            with doing(code):
                given = read_all(os.open(code, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), MAX_CODE, code)
        page = job.page(document, self.read, self.options, given, code)
        put_out(page) if output == "-" else self.put(page, document.value, output)

    def batch(self, name, output=None):
        import batch  # pylint: disable=import-outside-toplevel
        found = batch.Batch()
        for one in self.those_of(RESULTS, JOURNAL) if name in (None, RESULTS, JOURNAL) else [name]:
            with regular(self.open(one), one) as file, doing(f"read {one}", INTERNAL):
                for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
                    if len(line) > MAX_LINE:
                        raise Failure(f"{one}:{number}: a line of more than 256 MiB")
                    if line.endswith(b"\n") and line.strip(b" \t\r\n"):
                        found.add(one, number, line[:-1])
                    found.torn = found.torn or not line.endswith(b"\n")
        title = os.path.basename(self.place.rstrip("/"))
        page = found.page("batch" if title in ("", ".") else title, self.has_page, self.options["version"])
        put_out(page) if output == "-" else self.put(page, output=output)

    def has_page(self, job_id, owns):
        """Whether a job of the batch has a page to link to; with --output the link would lead nowhere."""
        place = f"jobs/{job_id}"
        if "each" in self.options:
            return self.make_page(place) and "output" not in self.options
        try:
            return not owns and "output" not in self.options and is_page(open_below(self.folder, f"{place}/{NAME}".encode()))
        except Failure:
            return False

    def make_page(self, place):
        """Make the page of one job of a batch; an error is printed, and does not end the command."""
        folder = -1
        try:
            folder = open_below(self.folder, place.encode(), os.O_DIRECTORY)
            Report(self.options, f"{self.place}/{place}", folder).job("manifest.json")
            return True
        except (Failure, MemoryError) as failure:
            say(str(failure) or f"{self.place}/{place}: {os.strerror(errno.ENOMEM)}")
            return False
        finally:
            if folder >= 0:
                os.close(folder)


# ---- files ----

def is_page(fd):
    """Whether the file is a page of ours; closes the descriptor."""
    try:
        return stat.S_ISREG(os.fstat(fd).st_mode) and os.pread(fd, len(MARK), 0) == MARK
    finally:
        os.close(fd)


def put_file(folder, name, data):
    """Write a file and give it its name in one step. If the process is killed before, no file is left, where the file system has
    files without a name."""
    temporary, named = f".hotcell-{os.getpid()}", False
    try:
        fd = os.open(".", os.O_WRONLY | os.O_TMPFILE, 0o600, dir_fd=folder)
    except OSError:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        named = True
    try:
        write_all(fd, data)
        if not named:
            os.link(f"/proc/self/fd/{fd}", temporary, dst_dir_fd=folder, follow_symlinks=True)
            named = True
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        named = False
    finally:
        os.close(fd)
        if named:
            os.unlink(temporary, dir_fd=folder)


# ---- the command ----

def usage(text):
    return Failure(f"hotcell report: {text} (see 'hotcell report --help')", USAGE)


def parse(arguments):
    try:
        pairs, subjects = getopt.gnu_getopt(arguments, "o:h", ["output=", "code=", "each", "force", "help"])
    except getopt.GetoptError as error:
        needs = "requires argument" in error.msg
        named = f"--{error.opt}" if len(error.opt) > 1 else f"-{error.opt}"
        raise usage(f"{named} needs a value" if needs else f"unknown option {named}") from error
    options = {{"o": "output", "h": "help"}.get(name.lstrip("-"), name.lstrip("-")): value for name, value in pairs}
    if options.get("output") == "":
        raise usage("--output: expected a value, got an empty string")
    if len(subjects) != 1 and "help" not in options:
        raise usage("expected one DIR, MANIFEST or JOURNAL")
    return options, subjects


def report(arguments):
    options, subjects = parse(arguments)
    if "help" in options:
        put_out(HELP.encode())
        return
    place, name = subjects[0], None
    with doing(place):
        if not stat.S_ISDIR(os.stat(place).st_mode):
            place, name = os.path.dirname(place) or ".", os.path.basename(place)
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    # Written by the build: the version, and for each limit its kind and its help text.
    options.update(json.loads((Path(__file__).resolve().parent / "build.json").read_text(encoding="utf-8")))
    found = Report(options, place, folder)
    is_batch = name.endswith(".jsonl") if name else not found.those_of("manifest.json") and found.those_of(RESULTS, JOURNAL)
    if is_batch and "code" in options:
        raise Failure("--code does not go with a batch", USAGE)
    if not is_batch and "each" in options:
        raise Failure("--each goes with a batch only", USAGE)
    output = options.get("output")
    found.batch(name, output) if is_batch else found.job(name or "manifest.json", output)
    if output != "-":
        put_out(os.fsencode(f"{output or f'{place}/{NAME}'}\n"))


def main():
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    Document.judge = sys.argv[1]
    try:
        report(sys.argv[2:])
    except Failure as failure:
        say(str(failure))
        return failure.status
    except ModuleNotFoundError as error:
        say(f"hotcell report needs the Python module {error.name}: install the Debian package python3-jinja2")
        return UNAVAILABLE
    except MemoryError:
        say("make the page: " + os.strerror(errno.ENOMEM))
        return INTERNAL
    except Exception as error:  # pylint: disable=broad-exception-caught
        say(f"make the page: {type(error).__name__}: {error}")
        return INTERNAL
    return 0


if __name__ == "__main__":
    sys.exit(main())
