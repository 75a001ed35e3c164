"""IPython: %load_ext hotcell, then %%hotcell runs a cell of the notebook in a cell of hotcell.

    %%hotcell [-i NAMES] [-o NAMES] [-t TIMEOUT]    run the code in the session of this notebook
    %hotcell CODE                                   the same, in one line
    %hotcell_reset                                  end the session: the next run begins anew
    %hotcell_checkpoint NAME, %hotcell_rollback NAME

Variables stay in the session from run to run. -i copies variables of the notebook into the session, -o copies variables of
the session into the notebook: JSON values, data frames, arrays. The notebook's variable _hotcell is the last Run.
Policy, tree and limits come from the user's configuration file (hotcell/config.py).
"""

from __future__ import annotations

import argparse
import atexit
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional

from .config import read_config
from .errors import HotcellError, UsageError
from .session import Run, Session, SessionEnded
from .staging import is_array, is_frame

VARIABLE = "_hotcell"
MAX_SHOWN = 16 << 20  # bytes of one figure


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, 64)


def _options(line: str) -> argparse.Namespace:
    parser = _Parser(prog="%%hotcell", add_help=False)
    parser.add_argument("-i", "--in", dest="inside", action="append", default=[], metavar="NAMES")
    parser.add_argument("-o", "--out", action="append", default=[], metavar="NAMES")
    parser.add_argument("-t", "--timeout")
    try:
        options = parser.parse_args(shlex.split(line))
    except ValueError as error:
        raise UsageError(str(error), 64) from error
    for name in ("inside", "out"):
        setattr(options, name, [each for names in getattr(options, name) for each in names.split(",") if each])
    return options


class Magics:
    """The magics of one notebook, and its session."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._config = read_config()
        self._session: Optional[Session] = None
        self._directory: Optional["tempfile.TemporaryDirectory[str]"] = None
        atexit.register(self._close)

    def register(self) -> None:
        """Register the magics with the shell."""
        for function, kind in ((self.hotcell, "line_cell"), (self.hotcell_reset, "line"),
                               (self.hotcell_checkpoint, "line"), (self.hotcell_rollback, "line")):
            self._shell.register_magic_function(self._plain(function), kind, function.__name__)

    @staticmethod
    def _plain(function: Any) -> Any:
        """A magic that prints an exception of this package as one line, without a traceback."""
        def magic(line: str, cell: Optional[str] = None) -> Any:
            try:
                return function(line) if cell is None else function(line, cell)
            except HotcellError as error:
                print(f"hotcell: {error}", file=sys.stderr)
                return None
        magic.__doc__ = function.__doc__
        return magic

    def hotcell(self, line: str, cell: Optional[str] = None) -> None:
        """Run code in this notebook's session: %%hotcell [-i NAMES] [-o NAMES] [-t TIMEOUT], or %hotcell CODE."""
        options = _options("" if cell is None else line)
        code = line if cell is None else cell
        space = self._shell.user_ns
        missing = [name for name in options.inside if name not in space]
        if missing:
            raise UsageError(f"-i: there is no {', '.join(missing)} in the notebook", 64)
        inside = {name: space[name] for name in options.inside}
        inputs = {name: value for name, value in inside.items() if is_frame(value) or is_array(value)}
        run = self._run(code, vars={name: value for name, value in inside.items() if name not in inputs}, inputs=inputs,
                        timeout=options.timeout, returns=[f"{name}=exact" for name in options.out])
        space[VARIABLE] = run
        self._show(run)
        for name in options.out:
            why = run.returned.why(name)
            if why is None:
                space[name] = run.returned[name]
            else:
                print(f"hotcell: {name} did not come back: {why}", file=sys.stderr)

    def _run(self, code: str, **options: Any) -> Run:
        try:
            with self._config.naming_place(self._config.options()):
                return self._open().run(code, **options)
        except SessionEnded:
            self._close()
            raise

    def _open(self) -> Session:
        if self._session is None:
            self._directory = tempfile.TemporaryDirectory(prefix="hotcell-")
            self._session = Session(output_dir=Path(self._directory.name, "output"), **self._config.options())
        return self._session

    def _close(self) -> None:
        session, directory = self._session, self._directory
        self._session = self._directory = None
        if session is not None:
            session.close()
        if directory is not None:
            directory.cleanup()

    def _show(self, run: Run) -> None:
        """Show a run's output, value, displays and figures, and the reason if it did not end well."""
        sys.stdout.write(run.stdout.text)
        sys.stderr.write(run.stderr.text)
        if run.rejection is not None and run.rejection.rule != "syntax":
            for finding in run.rejection.findings or (run.rejection,):
                print(f"hotcell: {finding.message}", file=sys.stderr)
        elif run.status not in ("ok", "error", "rejected"):
            print(f"hotcell: {run.status}: {run.reason}", file=sys.stderr)
        if not run.kept and run.status != "rejected":
            print(f"hotcell: the state is {run.state}", file=sys.stderr)
        self._publish(run)

    def _publish(self, run: Run) -> None:
        bundles: List[Dict[str, Any]] = [_figure(figure) for figure in run.figures if figure.bytes <= MAX_SHOWN]
        bundles += [_safe(shown) for shown in run.displays]
        if run.bundle and run.ok:
            bundles.append(_safe(run.bundle))
        for bundle in bundles:
            if bundle:
                self._shell.display_pub.publish(data=bundle, metadata={})

    def hotcell_reset(self, line: str) -> None:
        """End this notebook's session: the next run begins anew, with the configuration as it is then."""
        _nothing(line, "%hotcell_reset")
        self._close()
        self._config = read_config()

    def hotcell_checkpoint(self, line: str) -> None:
        """Keep the state under a name: %hotcell_checkpoint NAME."""
        self._open().checkpoint(line.strip())

    def hotcell_rollback(self, line: str) -> None:
        """Go back to a checkpoint: %hotcell_rollback NAME."""
        self._open().rollback(line.strip())


def _nothing(line: str, name: str) -> None:
    if line.strip():
        raise UsageError(f"{name} takes no arguments", 64)


def _figure(figure: Any) -> Dict[str, Any]:
    """A figure as a bundle for the front end. Forms other than PNG could run code in the page, and are only named."""
    if figure.mime == "image/png":
        import base64
        return {"image/png": base64.b64encode(figure.read()).decode(), "text/plain": figure.path}
    return {"text/plain": figure.path}


def _safe(bundle: Dict[str, Any]) -> Dict[str, Any]:
    """A value as plain text only: HTML from the cell could run code in the page."""
    plain = bundle.get("text/plain")
    if plain is None:
        import json
        plain = json.dumps(bundle.get("application/json"), ensure_ascii=False)
    return {"text/plain": str(plain)}


def load_ipython_extension(shell: Any) -> None:
    """%load_ext hotcell"""
    Magics(shell).register()
