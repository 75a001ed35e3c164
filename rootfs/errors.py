"""Errors of a build: one line for the user and an exit status for the caller."""

import sys

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
