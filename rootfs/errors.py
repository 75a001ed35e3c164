"""Errors of a build: one line for the user and an exit status for the caller."""

BAD_INPUT = 65    # the recipe, or the interpreter that the user named, cannot be used
UNAVAILABLE = 69  # something is missing on this host
INTERNAL = 70     # the builder itself failed


class BuildError(Exception):
    """Ends the build. The message says what was expected and, where it can, what to do."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
