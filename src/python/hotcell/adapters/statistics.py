"""ScriptExecutor: statistics scripts over one data frame, with a dict of results and the plots that they saved.

Each step has a cell of its own under the policy "statistics" and a directory of its own,
SANDBOX_FOLDER/SESSION/STEP/plots. The frame goes in as a copy under the names df and data.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import math
import numbers
import os
import re
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ..errors import HotcellError, InputError
from ..jobs import check, run
from ..launcher import PathLike
from ..results import Check, Result
from ..staging import is_array, is_column, is_frame, path_of

ALLOWED_IMPORTS = ("pandas", "numpy", "scipy", "statsmodels", "matplotlib", "seaborn", "sklearn", "math", "statistics",
                   "datetime", "json")
PLOT_EXTENSIONS = (".png", ".jpg", ".jpeg", ".svg", ".pdf")
NO_TRACEBACK = "(Traceback unavailable due to compatibility issue)"
GUEST = "guest: "  # begins those warnings of a manifest that the program's own process has given
LOCK_NAME = ".hotcell-session"  # as hotcell(1) has it: "hotcell run --session" and "hotcell clean --keep" wait too


@dataclass
class ScriptConfig:
    """Where steps go and what scripts may do. Any object with attributes of these names does as well.

    OUTPUT_DIR       only for the default of SANDBOX_FOLDER
    SANDBOX_FOLDER   default OUTPUT_DIR/sandbox
    SCRIPT_TIMEOUT   seconds
    ALLOWED_IMPORTS  top-level packages
    """

    OUTPUT_DIR: PathLike = "output"
    SANDBOX_FOLDER: Optional[PathLike] = None
    SCRIPT_TIMEOUT: float = 60
    ALLOWED_IMPORTS: Sequence[str] = field(default=ALLOWED_IMPORTS)


class ScriptExecutor:
    """Runs scripts over a data frame, one cell for each step.

    config  a ScriptConfig, or any object with some of its attributes; None: the defaults. InputError: it is something else
    policy, tree, binary  as in hotcell.run

    Steps of one session wait for each other, also those of other processes; sessions do not.
    """

    def __init__(self, config: Optional[object] = None, *, policy: Any = "statistics", tree: Optional[PathLike] = None,
                 binary: Optional[PathLike] = None) -> None:
        self.config = config if config is not None else ScriptConfig()
        if isinstance(config, (Mapping, str, bytes, numbers.Number)):
            raise InputError(f"config: expected an object with attributes such as SCRIPT_TIMEOUT, got {type(config).__name__}")
        folder = _setting(self.config, "SANDBOX_FOLDER")
        self.sandbox_dir = Path(path_of(folder, "SANDBOX_FOLDER") if folder is not None
                                else Path(path_of(_setting(self.config, "OUTPUT_DIR"), "OUTPUT_DIR")) / "sandbox")
        self.timeout = _setting(self.config, "SCRIPT_TIMEOUT")
        self.allowed_imports = _names(_setting(self.config, "ALLOWED_IMPORTS"), "ALLOWED_IMPORTS")
        self._policy = self._effective(policy)
        self._tree, self._binary = tree, binary
        self._locks: Dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def _effective(self, policy: Any) -> Any:
        if policy != "statistics" or sorted(self.allowed_imports) == sorted(ALLOWED_IMPORTS):
            return policy
        return {"name": "statistics", "extends": "statistics", "imports": {"allow": self.allowed_imports}}

    # ---- a step ----

    def execute_script(self, script: str, data: Any, session_id: str, step_id: str) -> Dict[str, Any]:
        """Run `script` over the DataFrame `data`.

        Returns success, output, error ('' if it went well), results (the script's dict of that name, as itself), plots (full
        paths), execution_time (seconds) and warnings, which name what of results is left out or came back as something else. Raises
        ValueError for an id that is no file name; all else that goes wrong is in error.
        """
        start = time.monotonic()
        _checked_id(session_id), _checked_id(step_id)
        try:
            _check_script(script, data)
            with self._session(session_id) as session_dir:
                step_dir = session_dir / step_id
                (step_dir / "plots").mkdir(parents=True, exist_ok=True)
                result = run(script, inputs={"df": data}, policy=self._policy, tree=self._tree, output_dir=step_dir,
                             timeout=self.timeout, binary=self._binary, returns=["results"], interface="scripts")
                return self._outcome_of(result, time.monotonic() - start)
        except (HotcellError, OSError) as error:
            return _outcome(error=f"Execution error: {_in_own_words(error)}", execution_time=time.monotonic() - start)

    def _outcome_of(self, result: Result, elapsed: float) -> Dict[str, Any]:
        warnings = _messages((result.manifest.get("check") or {}).get("warnings"))
        if result.ok and str(result.stderr):
            warnings.append(str(result.stderr))
        if result.stdout.truncated:
            warnings.append(f"output was cut: the script has printed {result.stdout.bytes} bytes, more than the policy's limits.stdout")
        results, why = _results_of(result)
        warnings += [*_of_guest(result, result.returned.why("results") is not None), *why]
        return _outcome(output=str(result.stdout), error=self._error(result), results=results,
                        plots=_plots(result), execution_time=elapsed, warnings=warnings)

    def _error(self, result: Result) -> str:
        if result.ok:
            return ""
        if result.status == "timeout":
            return f"Script execution timed out after {self.timeout} seconds"
        if result.rejection is not None and result.rejection.rule not in ("syntax", "input"):
            return f"Script validation failed: {result.rejection.message}"
        if result.error is not None:
            return f"Execution error: {result.error.message or result.error.type}\n{result.error.traceback or NO_TRACEBACK}"
        if result.rejection is not None:
            return f"Execution error: {result.rejection.message}\n{str(result.stderr) or NO_TRACEBACK}"
        if result.status == "error" and str(result.stderr).strip():  # as sys.exit("text") ends a script
            return f"Execution error: {str(result.stderr).strip()}\n{NO_TRACEBACK}"
        return f"Execution error: {result.reason}\n{NO_TRACEBACK}"

    # ---- before a step ----

    def validate_script(self, script: str) -> Dict[str, Any]:
        """{"safe", "reason" (None if safe), "warnings"}; nothing of the script runs."""
        checked = self._check(script)
        return {"safe": checked.safe, "reason": checked.reason, "warnings": [w.message for w in checked.warnings]}

    validate = validate_script

    def validate_data_access(self, script: str, available_columns: Sequence[str]) -> Dict[str, Any]:
        """{"valid", "accessed_columns", "warnings"}: the columns that the script uses of df, by df['c'] or df.c."""
        available = [str(column) for column in _listed(available_columns, "available_columns")]
        used = _used_columns(self._check(script))
        missing = [column for column in used if column not in available]
        warnings = [f"Columns not found in dataset: {missing}"] if missing else []
        return {"valid": not missing, "accessed_columns": used, "warnings": warnings}

    def _check(self, script: str) -> Check:
        return check(script, policy=self._policy, tree=self._tree, inputs=["df"], binary=self._binary)

    # ---- after a step ----

    def extract_results_summary(self, results: Mapping[str, Any]) -> Dict[str, Any]:
        """The dict `results` of a step in short: statistics, tests, plots_count, key_findings, interpretation.

        key_findings has a line for each number in `results`: "mean: 2.0", or "group.mean: 2.0" in a dict named group; NaN is
        left out.
        """
        if not isinstance(results, Mapping):
            raise InputError(f"results: expected a dict, got {type(results).__name__}")
        statistics, tests, plots, text = (results.get(name) for name in ("summary_statistics", "test_results", "plots", "interpretation"))
        return {"statistics": {} if statistics is None else statistics, "tests": {} if tests is None else tests,
                "plots_count": len(plots) if hasattr(plots, "__len__") else 0, "key_findings": list(_findings(results)),
                "interpretation": "" if text is None else text}

    def get_plot_data(self, path: PathLike) -> Optional[str]:
        """A plot's file as base64; None if it cannot be read."""
        try:
            return base64.b64encode(Path(path).read_bytes()).decode("ascii")
        except (OSError, TypeError, ValueError):
            return None

    def cleanup_session(self, session_id: str, keep_recent: int = 5) -> None:
        """Remove the steps of a session but the newest `keep_recent`, by the time they were last changed."""
        if not isinstance(keep_recent, int) or keep_recent < 0:
            raise InputError(f"keep_recent: expected a whole number from 0 on, got {keep_recent!r:.80}")
        with self._session(session_id, create=False) as session_dir:
            steps = [entry for entry in os.scandir(session_dir) if entry.is_dir(follow_symlinks=False)] \
                if session_dir.is_dir() else []
            steps.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns, reverse=True)
            for entry in steps[keep_recent:]:
                shutil.rmtree(entry.path)

    # ---- sessions ----

    @contextlib.contextmanager
    def _session(self, session_id: str, create: bool = True) -> Iterator[Path]:
        """The session's directory, locked against other threads and other processes."""
        directory = self.sandbox_dir / _checked_id(session_id)
        with self._guard:
            lock = self._locks.setdefault(session_id, threading.Lock())
        with lock, contextlib.ExitStack() as held:
            if create:
                directory.mkdir(parents=True, exist_ok=True)
            if directory.is_dir():
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                file = held.enter_context(open(os.open(directory / LOCK_NAME, flags, 0o600), "rb+"))
                fcntl.flock(file, fcntl.LOCK_EX)
            yield directory


def _setting(config: object, name: str) -> Any:
    """A setting, or its default if the object has none of the name, or None."""
    given = getattr(config, name, None)
    return given if given is not None else getattr(ScriptConfig(), name)


def _listed(value: Any, what: str) -> List[Any]:
    """A list, or another sequence or index. InputError for a text, whose letters nobody means, and for anything else."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{what}: expected a list of names, got {type(value).__name__}")
    return list(value)


def _names(value: Any, what: str) -> List[str]:
    names = _listed(value, what)
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise InputError(f"{what}: expected names, got {wrong!r:.80}")
    return names


def _check_script(script: object, data: object) -> None:
    """InputError for an argument of another type, with the argument's name."""
    if not isinstance(script, str):
        raise InputError(f"script: expected str, got {type(script).__name__}")
    if not (is_frame(data) or is_column(data) or is_array(data) or isinstance(data, (str, os.PathLike))):
        raise InputError(f"data: expected a pandas DataFrame, got {type(data).__name__}")


def _checked_id(text: str) -> str:
    """Check an id, which becomes the name of a directory: ValueError if it could lead elsewhere."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r:.80}: expected a str, got {type(text).__name__}")
    plain = 0 < len(text) <= 64 and text.isascii() and not text.startswith(".")
    if not plain or not text.replace(".", "").replace("_", "").replace("-", "").isalnum():
        raise ValueError(f"{text!r}: expected 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'")
    return text


def _outcome(output: str = "", error: str = "", results: Optional[Dict[str, Any]] = None,
             plots: Sequence[str] = (), execution_time: float = 0.0, warnings: Sequence[str] = ()) -> Dict[str, Any]:
    return {"success": error == "", "output": output, "error": error, "results": results if results is not None else {},
            "plots": list(plots), "execution_time": execution_time, "warnings": list(warnings)}


def _results_of(result: Result) -> Tuple[Dict[str, Any], List[str]]:
    """The script's dict, {} if there is none, and warnings about what is not as it was."""
    why = result.returned.why("results")
    try:
        results = result.returned["results"] if why is None else None
    except (KeyError, ValueError, OSError, ImportError) as error:  # the program itself chose what is in the file
        results, why = None, str(error)
    if why is not None and isinstance(result.results, dict):
        return result.results, [f"results came back as JSON alone, in which types are lost: {why}"]
    if why is not None:
        return {}, [f"results was left out: {why}"] if result.guest else []
    if isinstance(results, dict):
        return results, []
    return {}, [f"results was left out: it is no dict, but {(result.guest['returned']['results'].get('type') or 'None')}"]


def _of_guest(result: Result, with_json: bool) -> List[str]:
    """Warnings of the script's own process; those about the JSON in the manifest only if the caller gets this."""
    guest = [text[len(GUEST):] for text in result.warnings if text.startswith(GUEST)]
    return [text for text in guest if with_json or not text.startswith(("The results were left out: ", "The JSON of "))]


def _in_own_words(error: Exception) -> str:
    """A message with the names that the executor's user knows: data for the input df, and SCRIPT_TIMEOUT for the limit."""
    message = re.sub(r"^inputs?:? '?df'?: ", "data: ", str(error))
    return re.sub(r"^(spec: )?limits\.timeout: ", "SCRIPT_TIMEOUT: ", message)


def _messages(findings: Any) -> List[str]:
    return [entry.get("message", "") if isinstance(entry, dict) else str(entry) for entry in findings or ()]


def _plots(result: Result) -> List[str]:
    return [str(entry.location) for entry in (*result.figures, *result.files)
            if entry.path.startswith("plots/") and entry.path.lower().endswith(PLOT_EXTENSIONS)]


def _used_columns(checked: Check) -> List[str]:
    """The columns of df and data, each once, in order."""
    found: Dict[str, None] = {}
    for frame in ("df", "data"):
        for column in checked.columns.get(frame, ()):
            found.setdefault(column)
    return list(found)


def _findings(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _findings(value, f"{prefix}{key}.")
        elif isinstance(value, numbers.Real) and not math.isnan(value):
            yield f"{prefix}{key}: {value}"
