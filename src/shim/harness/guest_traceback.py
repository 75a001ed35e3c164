"""Prints an exception as text, from the guest's own frame on, with source lines; says where in the program it was raised."""
import sys

HARNESS = "<hotcell>"
LAYERS = "/usr/lib/layers/"
LIBRARIES = ("/dist-packages/", "/site-packages/", LAYERS, f"/python{sys.version_info[0]}.{sys.version_info[1]}/")
OF_PROGRAMS = ("/output/", "/tmp/", "/input/", "/dev/", "/proc/")  # files there are the program's own
FOLDED = 2  # as many frames of libraries in a row are shown as one line
CHAINED = 100  # exceptions that one was raised from, as far as they are looked at


def guest_part(trace, program):
    """The traceback from the first frame of the guest's program on; without one, all frames but the harness's."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename != program:
        first = first.tb_next
    return without_ours(first if first is not None else trace)


def without_ours(trace):
    """The traceback without frames of the harness, which would tell the reader nothing."""
    while trace is not None and trace.tb_frame.f_code.co_filename == HARNESS:
        trace = trace.tb_next
    last = trace
    while last is not None:
        each = last.tb_next
        while each is not None and each.tb_frame.f_code.co_filename == HARNESS:
            each = each.tb_next
        last.tb_next = each
        last = each
    return trace


def without_ours_behind(error):
    """Remove the harness's frames from the exceptions that `error` was raised from, or while they were handled."""
    for _ in range(CHAINED):
        error = error.__context__ if error.__cause__ is None else error.__cause__
        if error is None:
            return
        error.__traceback__ = without_ours(error.__traceback__)


def describe(error, last, program, fold):
    """Returns the whole text, the text to show, in which `fold` folds frames of libraries, and the place in the program:
    (line, column, end column), 0 for what is not known. `last` is the text's last line if the module traceback fails,
    `program` the program's file name."""
    error.__traceback__ = guest_part(error.__traceback__, program)
    without_ours_behind(error)
    try:
        place = place_of(error.__traceback__, program)
    except BaseException:
        place = (0, 0, 0)
    try:
        return (*texts(error, fold), *place)
    except BaseException:  # no memory, or the guest has broken a module that we need
        text = bare(error.__traceback__) + last
        return (text, text, *place)


def texts(error, fold):
    import traceback
    exception = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    whole = formatted(exception, error)
    if not fold:
        return whole, whole
    fold_libraries(exception, traceback.StackSummary)
    return whole, formatted(exception, error)


def formatted(exception, error):
    lines = list(exception.format())
    if isinstance(error, (NameError, AttributeError)):
        lines[-1] = with_suggestion(error, lines[-1])
    return "".join(lines)


# ---- the place ----

def place_of(trace, program):
    """Where the innermost frame of the program stands: line, column and end column, in characters from 1."""
    inner = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == program:
            inner = trace
        trace = trace.tb_next
    if inner is None:
        return (0, 0, 0)
    line, lines = inner.tb_lineno, part("hooks", "sources").get(program, "").splitlines()
    if not 1 <= line <= len(lines):
        return (0, 0, 0)
    for at, (first, last, start, end) in enumerate(inner.tb_frame.f_code.co_positions()):
        if at == inner.tb_lasti // 2 and first == line and start is not None:
            return (line, character(lines[line - 1], start), character(lines[line - 1], end) if last == line else 0)
    return (line, 0, 0)


def character(line, byte):
    """The character, from 1, that begins at this byte of a line, from 0."""
    return len(line.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "replace")) + 1


# ---- frames of libraries ----

def fold_libraries(exception, summary):
    """Replace the stacks of an exception and of those behind it by stacks that print frames of libraries in one line."""
    class Folded(summary):
        def format(self, **style):  # Python 3.13 says whether there are colours
            return list(folded_lines(self, summary, style))
    seen, todo = set(), [exception]
    while todo and len(seen) < CHAINED:
        each = todo.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.stack = Folded(each.stack)
            todo += [each.__cause__, each.__context__, *(each.exceptions or ())]


def folded_lines(stack, summary, style):
    run = []
    for frame in [*stack, None]:
        if run and (frame is None or (library(frame.filename) is None) != (library(run[0].filename) is None)):
            names = list(dict.fromkeys(filter(None, (library(each.filename) for each in run))))
            if names and len(run) >= FOLDED:
                more = ", ..." if len(names) > 3 else ""
                yield f"  ... {len(run)} frames of {', '.join(names[:3])}{more} ...\n"
            else:
                yield from summary.from_list(run).format(**style)
            run = []
        run.append(frame)


def library(name):
    """The name of the library that a file belongs to; None for a file of the program."""
    if name.startswith("<frozen "):
        return name[8:-1].partition(".")[0]
    if name.endswith((".pyx", ".pxi", ".pxd")) and not name.startswith("/"):
        return name.partition("/")[0]
    if name == "<__array_function__ internals>":
        return "numpy"
    if not name.startswith("/") or name.startswith(OF_PROGRAMS):
        return None
    for folder in LIBRARIES:
        before, found, rest = name.partition(folder)
        if found and folder == LAYERS:
            rest = rest.partition("/")[2]  # the layer's name comes first
        if found:
            return rest.partition("/")[0].removesuffix(".py")
    return name.rpartition("/")[2]


# ---- without the module traceback ----

def bare(trace):
    lines = ["Traceback (most recent call last):\n"]
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {trace.tb_lineno}, in {code.co_name}\n')
        trace = trace.tb_next
    if len(lines) > 21:
        lines[11:-10] = [f"  [{len(lines) - 21} frames]\n"]
    return "".join(lines)


def with_suggestion(error, line):
    """The interpreter's "Did you mean", which only its own display of an exception offers."""
    from io import StringIO
    shown, stderr = StringIO(), sys.stderr
    sys.stderr = shown
    try:
        sys.__excepthook__(type(error), error, None)
    finally:
        sys.stderr = stderr
    last = shown.getvalue().rstrip("\n").rpartition("\n")[2]
    return last + "\n" if last.startswith(line.rstrip("\n") + ". Did you mean: ") else line
