"""AsyncCodeExecutor: code that draws one chart; its output comes back redacted, the chart as base64.

Each execute() has a cell of its own under the policy "charts". In it working_dir has its own path, with a copy of what is in it;
what the code changes there, and files that it leaves in /output, are put into working_dir afterwards. The launcher lists and hashes
the chart and signs the list with a key that lives for that one run and never enters a cell; a chart that does not match is not
returned.
"""

from __future__ import annotations

import base64
import json
import keyword
import logging
import os
import re
import shutil
import tempfile
import unicodedata
import uuid
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple, Union

from ..errors import HotcellError, InputError, TamperedError
from ..jobs import apolicy, arun, averify, signing_key
from ..launcher import PathLike
from ..results import Figure, Result
from ..staging import is_array, is_frame, path_of
from ..value_encoder import Inline
from ..value_tags import TooLarge
from ..values import write_file
from . import workdir
from .png import is_picture

logger = logging.getLogger("hotcell.adapters.charts")

DEFAULT_EXEC_TIMEOUT = 120  # seconds

NO_OUTPUT = "Run completed with no output."
TAMPERED = "Security: HMAC verification failed"
ESCAPED = "Security: chart path escape attempt"

# For the code's writer, if the cell cannot have a copy of working_dir: by the mode in which it has it instead.
LEFT_IN_OUTPUT = "files that the code leaves in /output are moved to working_dir.\n"
LESS = {"ro": f"SandboxWarning: working_dir can be read alone in this run ({{}}); {LEFT_IN_OUTPUT}",
        None: f"SandboxWarning: working_dir is not in the cell of this run ({{}}); the code begins in /output, and {LEFT_IN_OUTPUT}"}

PREPARED = ("os, json, math, re, matplotlib, plt (matplotlib.pyplot), fm and font_manager (matplotlib.font_manager), "
            "np and numpy, pd and pandas, sns and seaborn")
FONT = ("DejaVu Sans (/usr/share/matplotlib/mpl-data/fonts/ttf/DejaVuSans.ttf), then Droid Sans Fallback for Chinese, Japanese and "
        "Korean text (/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf)")

# The policy's own code in the cell, for variables that no job can have: binds them, and takes away what carried them.
CARRIER = "hotcell_variables"
BIND = f"""
def hotcell_bind(space, json):
    carried = json.loads(space.pop({CARRIER!r}))
    space.update(carried["values"], **{{name: hotcell.of_letter(node, None) for name, node in carried["frames"].items()}},
                 **{{name: space.pop(given) for name, given in carried["files"].items()}})
hotcell_bind(globals(), __import__("json"))
del hotcell_bind
"""
MOST_BYTES = 16 << 20  # bytes of all frames and arrays of a run that travel in the carrier; larger ones are files, which the code can see
MOST_LEVELS = 200      # nested lists and dicts of a variable
LEVELS_PLAIN = 40      # of one that a job has by itself
MOST_PLAIN = 200       # variables that a job has by themselves
MOST_SHOWN = 1000      # characters of a variable in a text for a model

# What the policy's redact.rules do to the code's output, for the launcher's own messages.
SECRETS = [(re.compile(pattern, flags), text) for pattern, flags, text in (
    (r"(api[_-]?key|apikey|token|secret|password|passwd|pwd|credential)[\s=:]+\S+", re.I, r"\1=<REDACTED>"),
    (r"(aws[_-]?access[_-]?key[_-]?id|aws[_-]?secret[_-]?access[_-]?key)[\s=:]+\S+", re.I, r"\1=<REDACTED>"),
    (r"(postgres|mysql|mongodb|redis)://\S+", re.I, r"\1://<REDACTED>@<REDACTED>"),
    (r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+", re.A, "<JWT_REDACTED>"),
    (r"-----BEGIN ((?:(?:RSA|DSA|EC|OPENSSH) )?PRIVATE KEY)-----[\s\S]*?-----END \1-----", 0, "<PRIVATE_KEY_REDACTED>"),
)]
MAX_CHARS = 2000
CUT = "\n... [OUTPUT TRUNCATED FOR SECURITY]"

Output = Dict[str, Union[str, bool, None]]


class AsyncCodeExecutor:
    """Runs code that draws a chart, one cell for each call.

    working_dir   made if it is missing. The code begins there, reads the files that are there, and changes them. If it holds too much
                  for a copy, the code can read it, and what is left in /output is moved there; so it is, without what is in it,
                  if no cell can have it, as its path is one of the cell's own. "stderr" says so
    exec_timeout  seconds
    policy, tree, binary  as in hotcell.run
    """

    def __init__(self, working_dir: PathLike, exec_timeout: float = DEFAULT_EXEC_TIMEOUT, *, policy: Any = "charts",
                 tree: Optional[PathLike] = None, binary: Optional[PathLike] = None) -> None:
        self.working_dir = Path(path_of(working_dir, "working_dir")).absolute()
        self.working_dir.mkdir(parents=True, exist_ok=True)
        self.exec_timeout = exec_timeout
        self.session_id = str(uuid.uuid4())
        self._variables: Dict[str, Any] = {}
        self._as_text: Set[str] = set()  # variables of which it was logged that the code gets their text
        self._options = {"policy": policy, "tree": tree, "binary": binary}

    def set_variable(self, name: str, value: Any) -> None:
        """Give the code a variable, from the next run on.

        Data frames and numpy arrays keep their types; other values are sent as JSON, in which NaN and infinities are
        numbers. What cannot be carried so is sent as str(value), and logged as a warning when it is first used;
        get_environment_info() has each variable as the code sees it. ValueError: the name belongs to the interpreter, as
        __name__ does.
        """
        if not isinstance(name, str) or name.startswith("__") and name.endswith("__"):
            raise ValueError(f"{name!r} is no name of a variable: expected a text that does not begin and end with '__'")
        name = unicodedata.normalize("NFKC", name)  # as Python itself reads names
        self._variables[name] = value
        self._as_text.discard(name)

    def get_variable(self, name: str) -> Any:
        """The value that the variable was set to; None if it was not set."""
        return self._variables.get(unicodedata.normalize("NFKC", name))

    def get_environment_info(self) -> str:
        """A text for a model about the environment of its code."""
        lines = [
            "Execution environment:",
            f"- working_dir: {self.working_dir}",
            f"- font: {FONT}",
            f"- preconfigured libraries: {PREPARED}",
            f"- a run may take {self.exec_timeout} seconds; the first open matplotlib figure is returned as the chart",
        ]
        if self._variables:
            lines.append("- variables:")
            lines += [f"    {name} = {_shown(value)}" for name, value in self._given(None).seen.items()]
        return "\n".join(lines)

    def _given(self, directory: Optional[Path]) -> "_Given":
        """The variables as the code gets them. What comes as text is logged once."""
        given = _Given(self._variables, directory)
        for name, why in given.as_text.items():
            if name not in self._as_text:
                logger.warning("the variable %s is its text in the code of session %s: %s", name, self.session_id, why)
        self._as_text.update(given.as_text)
        return given

    async def execute(self, code: str) -> Output:
        """Run `code`: returns {"stdout", "stderr", "error": bool, "chart_base64": str or None}. Failures of the code, the
        launcher or the host raise no exception: "stderr" has the reason."""
        try:
            if not isinstance(code, str):
                raise InputError(f"code: expected str, got {type(code).__name__}")
            self.working_dir.stat()
            directory = Path(tempfile.mkdtemp(prefix="hotcell-"))
        except (HotcellError, OSError) as error:
            return self._failed(error)
        try:
            with signing_key() as key:
                return await self._execute(code, directory, key)
        except (HotcellError, OSError) as error:
            return self._failed(error)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    async def _execute(self, code: str, directory: Path, key: str) -> Output:
        given = self._given(directory)
        options = {**self._options}
        if given.bound:
            options["policy"] = await _with_code(BIND, options["policy"], options["binary"])
        result, less = await self._run(code, inputs=given.inputs, vars=given.vars, output_dir=directory / "output", sign=key,
                                 timeout=self.exec_timeout, **options)
        manifest = directory / "output" / "manifest.json"
        try:
            _check_places(result)
            await averify(manifest, sign=key, binary=self._options["binary"])
            if json.loads(manifest.read_text(encoding="utf-8")) != result.manifest:
                raise TamperedError("the manifest in the output directory is another one")
            chart = _chart(result)
        except TamperedError as error:
            logger.warning("chart refused in session %s: %s", self.session_id, error)
            return _output(str(result.stdout), TAMPERED, True)
        except ValueError as error:
            logger.warning("path escape attempt in session %s: %s", self.session_id, error)
            return _output(str(result.stdout), ESCAPED, True)
        self._keep_files(result, directory / "output")
        output = self._output_of(result, chart)
        return {**output, "stderr": f"{less}{output['stderr']}"}

    async def _run(self, code: str, **options: Any) -> Tuple[Result, str]:
        """The run in a cell that has working_dir as far as a cell can have it, and what the code's writer should know of that."""
        reasons: List[str] = []
        for mode in workdir.WAYS:
            try:
                result = await arun(code, interface="charts", **options, **workdir.options_for(self.working_dir, mode))
                return result, LESS[mode].format(reasons[0]) if reasons else ""
            except InputError as error:
                if not workdir.refuses_directory(str(error)):
                    raise
                reasons.append(re.sub(r", --[a-z-]+\)", ")", str(error)))  # of options of the command, which the caller has not
                logger.warning("working_dir is not in the cell of session %s, mode %s: %s", self.session_id, mode, error)
        raise InputError(reasons[0])

    def _output_of(self, result: Result, chart: Optional[str]) -> Output:
        stdout, stderr = str(result.stdout), str(result.stderr)
        if result.status == "timeout":
            stderr = f"ExecutionTimeout: code execution exceeded {self.exec_timeout}s limit\n"
            return _output(stdout, stderr, True, chart)
        if result.status == "rejected" and not stderr:
            stderr = f"{result.reason}\n"
        elif result.status == "error" and not stderr:
            stderr = _why_silent(result)
        elif result.status not in ("ok", "error", "rejected"):
            stderr += f"SandboxError: [{result.status}] {result.reason}\n"
        return _output(stdout or NO_OUTPUT, stderr, not result.ok, chart)

    def _keep_files(self, result: Result, output: Path) -> None:
        """Do to working_dir what the code did to its copy, and move files there that it left in /output."""
        workdir.apply_changes(result, output, self.working_dir)
        for file in result.files:
            if not file.escaped:
                workdir.keep_file(file.location, self.working_dir, file.path)

    def _failed(self, error: Exception) -> Output:
        logger.error("launch failed in session %s: %s", self.session_id, error)
        message = re.sub(r"^(spec: )?limits\.timeout: ", "exec_timeout: ", str(error))
        return _output("", _redacted(f"SandboxError: [{type(error).__name__}] {message}"), True)


def _why_silent(result: Result) -> str:
    """Why code failed that has left nothing on standard error: its traceback, if it took standard error away; the exception that
    sys.exit(3) raises; or its exit status."""
    if result.error is not None:
        return result.error.traceback
    status = result.guest.get("exit")
    return f"SystemExit: {status}\n" if status else f"{result.reason}\n"


def _redacted(text: str) -> str:
    for pattern, instead in SECRETS:
        text = pattern.sub(instead, text)
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + CUT


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


class _Given:
    """The variables of a run: `vars` and `inputs` as arun takes them, and whether BIND has to bind some of them. `seen` has them as
    the code sees them, and `as_text` why some are text. `directory` is for files of large frames; None: there is no run."""

    def __init__(self, variables: Mapping[str, Any], directory: Optional[Path]) -> None:
        self.vars: Dict[str, Any] = {}
        self.inputs: Dict[str, Any] = {}
        self.seen: Dict[str, Any] = {}
        self.as_text: Dict[str, str] = {}
        self._directory = directory
        self._room = MOST_BYTES
        self._carried: Dict[str, Dict[str, Any]] = {"values": {}, "frames": {}, "files": {}}
        for name, value in variables.items():
            self.seen[name] = value
            if not (is_frame(value) or is_array(value)) or not self._put_frame(name, value):
                self._put(name, value)
        self.bound = any(self._carried.values())
        if self.bound:
            self.vars[CARRIER] = json.dumps(self._carried)

    def _put(self, name: str, value: Any) -> None:
        """Give the code a variable as JSON, or as its text."""
        try:
            form = None if name in self.as_text else json.loads(json.dumps(value))
            if not _is_flat(form, MOST_LEVELS):
                raise ValueError(f"more than {MOST_LEVELS} levels of lists and dicts")
        except (TypeError, ValueError, RecursionError) as error:
            self.as_text[name] = str(error)
        if name in self.as_text:
            form = _text(value)
        self.seen[name] = form
        (self.vars if len(self.vars) < MOST_PLAIN and _is_plain(name, form) else self._carried["values"])[name] = form

    def _put_frame(self, name: str, value: Any) -> bool:
        """Give the code a frame or an array as itself. False: it cannot be carried, and `as_text` says why."""
        encoder = Inline(self._room)
        try:
            node = encoder.encode(value, 0)
            size = len(json.dumps(node))
            if size > self._room:
                raise TooLarge(f"it has more than {self._room} bytes")
            self._carried["frames"][name] = node
            self._room -= size
            return True
        except TooLarge:
            return self._put_file(name, value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            self.as_text[name] = str(error)
            return False

    def _put_file(self, name: str, value: Any) -> bool:
        given = f"hotcell_frame_{len(self.inputs)}"
        self._carried["files"][name] = given
        if self._directory is None:
            return True
        try:
            with open(self._directory / f"{given}.npz", "wb") as file:
                write_file(file, value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            del self._carried["files"][name]
            self.as_text[name] = str(error)
            return False
        self.inputs[given] = self._directory / f"{given}.npz"
        return True


def _is_plain(name: str, value: Any) -> bool:
    """Whether a job can have this variable, which is JSON, by itself."""
    fits = name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and len(name) <= 64
    if not fits or name.startswith(("_", "hotcell_")) or not _is_flat(value, LEVELS_PLAIN):
        return False
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return "\\u0000" not in text and "\\ud" not in text


def _is_flat(value: Any, levels: int) -> bool:
    """Whether a value of JSON has at most so many levels."""
    level = [value]
    for _ in range(levels):
        level = [item for each in level if isinstance(each, (list, dict)) for item in (each.values() if isinstance(each, dict) else each)]
    return not level


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # a class of the caller's, or lists in each other that have no end
        return f"<{type(value).__name__} object without a text>"


def _shown(value: Any) -> str:
    """A variable in a text for a model: a bounded repr, whose further lines are indented."""
    try:
        text = repr(value)
    except Exception:  # of what a frame holds
        text = f"<{type(value).__name__} object>"
    text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text)} characters)"
    return text.replace("\n", "\n        ")


async def _with_code(code: str, policy: Any, binary: Optional[PathLike]) -> Dict[str, Any]:
    """The policy as a dict, with `code` behind the code that it runs in the cell before the program."""
    whole = await apolicy(policy, binary=binary)
    prelude = whole.get("prelude") or {}
    return {**whole, "prelude": {**prelude, "code": f"{prelude.get('code') or ''}\n{code}"}}


def _output(stdout: str, stderr: str, error: bool, chart: Optional[str] = None) -> Output:
    return {"stdout": stdout, "stderr": stderr, "error": error, "chart_base64": chart}


def _check_places(result: Result) -> None:
    """ValueError if the path of a figure leads out of the directory."""
    for figure in result.figures:
        if _real(figure.location.parent) != _real(Path(str(figure.directory))) / os.path.dirname(figure.path):
            raise ValueError(figure.path)


def _chart(result: Result) -> Optional[str]:
    """The first PNG that was captured and that the launcher lists, as base64; None without one, or if it is no picture."""
    listed = {figure.path: figure for figure in result.figures if figure.mime == "image/png"}
    reported = [entry.get("path") for entry in result.guest.get("figures") or ()]
    first = next((path for path in (*reported, *listed) if path in listed), None)
    return _encode(listed[first]) if first is not None else None


def _encode(figure: Figure) -> Optional[str]:
    try:
        data = figure.read()
    except OSError as error:
        raise TamperedError(f"{figure.path}: {error}") from error
    if not is_picture(data):
        logger.warning("%s is no picture, and not returned as the chart", figure.path)
        return None
    return base64.b64encode(data).decode("ascii")
