"""Prints an exception as text, from the guest's own frame on, with source lines."""
import sys

HARNESS = "<hotcell>"


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
    for _ in range(100):
        error = error.__context__ if error.__cause__ is None else error.__cause__
        if error is None:
            return
        error.__traceback__ = without_ours(error.__traceback__)


def describe(error, last, program):
    """Returns the text. `last` is its last line if the module traceback fails, `program` the program's file name."""
    error.__traceback__ = guest_part(error.__traceback__, program)
    without_ours_behind(error)
    try:
        return full(error)
    except BaseException:  # no memory, or the guest has broken a module that we need
        return bare(error.__traceback__) + last


def full(error):
    import traceback
    lines = list(traceback.TracebackException(type(error), error, error.__traceback__, compact=True).format())
    if isinstance(error, (NameError, AttributeError)):
        lines[-1] = with_suggestion(error, lines[-1])
    elif isinstance(error, EOFError) and lacks_input():
        lines.append('The job has no standard input: --stdin FILE of "hotcell run" gives it some, or "stdin" in its spec.\n')
    return "".join(lines)


def lacks_input():
    """Whether descriptor 0 is the cell's /dev/null."""
    import os
    import stat
    try:
        return stat.S_ISCHR(os.fstat(0).st_mode)
    except OSError:  # the program has closed it
        return False


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
