"""hotcell: run untrusted Python programs in cells that the Linux kernel isolates.

    import hotcell
    result = hotcell.run("df.groupby('city').sales.mean()", inputs={"df": frame}, timeout=10)
    result.ok, result.value, result.text, result.figures

This is a client of the hotcell command, see hotcell(1), and of hotcelld, see hotcelld(8) and Daemon; it needs no other
Python package. Drop-in replacements of older executors are in hotcell.adapters.
"""

from .admin import Admin, AsyncAdmin
from .commands import AsyncCommand, Command
from .contexts import AsyncContext, Context
from .daemon import AsyncDaemon, AsyncJob, Daemon, Job
from .daemon_commands import AsyncDaemonCommand, DaemonCommand
from .daemon_sessions import AsyncDaemonSession, DaemonSession
from .errors import (AuthProblem, CommandError, DaemonLost, DaemonUnavailable, HotcellError, InputError, InputProblem, JobError,
                     LaunchFailed, LaunchProblem, NeedsSession, NotFound, NotInstalled, PolicyError, PolicyProblem,
                     Problem, QuotaProblem, TamperedError, UsageError)
from .jobs import acard, acheck, arun, averify, card, check, run, verify
from .launcher import find_binary
from .results import (Check, Denial, Error, Figure, File, Finding, Rejection, Repr, Result, Returned, Stream, Usage)
from .session import AsyncSession, Run, Session, SessionEnded
from .session_files import AsyncSessionFiles, SessionFile, SessionFiles
from .tools import Tool

__version__ = "0.1.0"

__all__ = [
    "Admin", "AsyncAdmin", "AsyncCommand", "AsyncContext", "AsyncDaemon", "AsyncDaemonCommand", "AsyncDaemonSession", "AsyncJob",
    "AsyncSession", "AsyncSessionFiles", "AuthProblem", "Check", "Command", "CommandError", "Context", "Daemon", "DaemonCommand",
    "DaemonLost", "DaemonSession", "DaemonUnavailable", "Denial", "Error", "Figure", "File", "Finding", "HotcellError",
    "InputError", "InputProblem", "Job", "JobError", "LaunchFailed", "LaunchProblem", "NeedsSession", "NotFound",
    "NotInstalled", "PolicyError", "PolicyProblem", "Problem", "QuotaProblem", "Rejection", "Repr", "Result", "Returned", "Run",
    "Session", "SessionEnded", "SessionFile", "SessionFiles", "Stream", "TamperedError", "Tool", "Usage", "UsageError",
    "acard", "acheck", "arun", "averify", "card", "check", "find_binary", "run", "verify",
]


def load_ipython_extension(shell: object) -> None:
    """%load_ext hotcell: see hotcell.magic."""
    from .magic import load_ipython_extension as load
    load(shell)
