"""Errors of a build: one line for the user and an exit status for the caller."""

import argparse
import sys

USAGE = 64        # the command line is wrong
BAD_INPUT = 65    # the recipe, or the interpreter that the user named, cannot be used
UNAVAILABLE = 69  # something is missing on this host
INTERNAL = 70     # the builder itself failed
LONGEST = 4096    # characters of a line for the user


def plain(text):
    """TEXT in one line. Names in it may be a stranger's: what could steer a terminal is escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text)[:LONGEST])


def say(program, text):
    """Prints one line for the user."""
    print(f"{program}: {plain(text)}", file=sys.stderr, flush=True)


class BuildError(Exception):
    """Ends the build. The message says what was expected and, where it can, what to do."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def sentence(error):
    """What an OSError or another exception says, with the file that it is about."""
    parts = (getattr(error, "filename", None), getattr(error, "strerror", None) or error)
    return ": ".join(str(part) for part in parts if part)


class Parser(argparse.ArgumentParser):
    """A parser of command lines whose errors are one line of `program`."""

    def __init__(self, program, **more):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.program = program

    def error(self, message):
        say(self.program, f"{message} (see --help)")
        sys.exit(USAGE)


def status_of(program, work, bad_input=()):
    """Calls work(); an error becomes one line and this exit status. Exceptions of the classes `bad_input` are the input's fault."""
    try:
        work()
    except BuildError as error:
        say(program, error)
        return error.status
    except KeyboardInterrupt:
        say(program, "interrupted")
        return INTERNAL
    except (OSError, UnicodeDecodeError) as error:
        say(program, sentence(error))
        return BAD_INPUT if isinstance(error, bad_input) else INTERNAL
    return 0
