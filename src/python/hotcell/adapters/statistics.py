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
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ..errors import HotcellError
from ..jobs import check, run
from ..launcher import PathLike
from ..results import Check, Result
from ..staging import is_array

ALLOWED_IMPORTS = ("pandas", "numpy", "scipy", "statsmodels", "matplotlib", "seaborn", "sklearn", "math", "statistics",
                   "datetime", "json")
PLOT_EXTENSIONS = (".png", ".jpg", ".jpeg", ".svg", ".pdf")
NO_TRACEBACK = "(Traceback unavailable due to compatibility issue)"
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

    config  a ScriptConfig, or any object with its attributes; None: the defaults
    policy, tree, binary  as in hotcell.run

    Steps of one session wait for each other, also those of other processes; sessions do not.
    """

    def __init__(self, config: Optional[object] = None, *, policy: Any = "statistics", tree: Optional[PathLike] = None,
                 binary: Optional[PathLike] = None) -> None:
        self.config = config if config is not None else ScriptConfig()
        folder = _setting(self.config, "SANDBOX_FOLDER")
        self.sandbox_dir = Path(folder if folder is not None else Path(_setting(self.config, "OUTPUT_DIR")) / "sandbox")
        self.timeout = _setting(self.config, "SCRIPT_TIMEOUT")
        self.allowed_imports = list(_setting(self.config, "ALLOWED_IMPORTS"))
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

        Returns success, output, error ('' if it went well), results (the script's dict of that name as JSON has it, but with
        NaN and infinities), plots (full paths), execution_time (seconds) and warnings. Raises ValueError for an id that is no file name; all else
        that goes wrong is in error.
        """
        start = time.monotonic()
        with self._session(session_id) as session_dir:
            step_dir = session_dir / _checked_id(step_id)
            (step_dir / "plots").mkdir(parents=True, exist_ok=True)
            try:
                result = run(script, inputs={"df": data}, policy=self._policy, tree=self._tree, output_dir=step_dir,
                             timeout=self.timeout, binary=self._binary, returns=["results"], interface="scripts")
            except (HotcellError, OSError) as error:
                return _outcome(error=f"Execution error: {error}", execution_time=time.monotonic() - start)
        return self._outcome_of(result, time.monotonic() - start)

    def _outcome_of(self, result: Result, elapsed: float) -> Dict[str, Any]:
        warnings = _messages((result.manifest.get("check") or {}).get("warnings"))
        if result.ok and str(result.stderr):
            warnings.append(str(result.stderr))
        return _outcome(output=str(result.stdout), error=self._error(result), results=_results_of(result),
                        plots=_plots(result), execution_time=elapsed, warnings=warnings)

    def _error(self, result: Result) -> str:
        if result.ok:
            return ""
        if result.status == "timeout":
            return f"Script execution timed out after {self.timeout} seconds"
        if result.rejection is not None and result.rejection.rule not in ("syntax", "input"):
            return f"Script validation failed: {result.rejection.message}"
        if result.error is not None:
            return f"Execution error: {result.error.message}\n{result.error.traceback or NO_TRACEBACK}"
        if result.rejection is not None:
            return f"Execution error: {result.rejection.message}\n{str(result.stderr) or NO_TRACEBACK}"
        return f"Execution error: {result.reason}\n{NO_TRACEBACK}"

    # ---- before a step ----

    def validate_script(self, script: str) -> Dict[str, Any]:
        """{"safe", "reason" (None if safe), "warnings"}; nothing of the script runs."""
        checked = self._check(script)
        return {"safe": checked.safe, "reason": checked.reason, "warnings": [w.message for w in checked.warnings]}

    validate = validate_script

    def validate_data_access(self, script: str, available_columns: Sequence[str]) -> Dict[str, Any]:
        """{"valid", "accessed_columns", "warnings"}: the columns that the script uses of df, by df['c'] or df.c."""
        available = [str(column) for column in available_columns]
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
        return {"statistics": results.get("summary_statistics") or {}, "tests": results.get("test_results") or {},
                "plots_count": len(results.get("plots") or ()), "key_findings": list(_findings(results)),
                "interpretation": results.get("interpretation") or ""}

    def get_plot_data(self, path: PathLike) -> Optional[str]:
        """A plot's file as base64; None if it cannot be read."""
        try:
            return base64.b64encode(Path(path).read_bytes()).decode("ascii")
        except OSError:
            return None

    def cleanup_session(self, session_id: str, keep_recent: int = 5) -> None:
        """Remove the steps of a session but the newest `keep_recent`, by the time they were last changed."""
        with self._session(session_id, create=False) as session_dir:
            steps = [entry for entry in os.scandir(session_dir) if entry.is_dir(follow_symlinks=False)] \
                if session_dir.is_dir() else []
            steps.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns, reverse=True)
            for entry in steps[max(keep_recent, 0):]:
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
    return getattr(config, name, getattr(ScriptConfig(), name))


def _checked_id(text: str) -> str:
    """Check an id, which becomes the name of a directory: ValueError if it could lead elsewhere."""
    plain = isinstance(text, str) and 0 < len(text) <= 64 and text.isascii() and not text.startswith(".")
    if not plain or not text.replace(".", "").replace("_", "").replace("-", "").isalnum():
        raise ValueError(f"{text!r}: expected 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'")
    return text


def _outcome(output: str = "", error: str = "", results: Optional[Dict[str, Any]] = None,
             plots: Sequence[str] = (), execution_time: float = 0.0, warnings: Sequence[str] = ()) -> Dict[str, Any]:
    return {"success": error == "", "output": output, "error": error, "results": results if results is not None else {},
            "plots": list(plots), "execution_time": execution_time, "warnings": list(warnings)}


def _results_of(result: Result) -> Dict[str, Any]:
    """The script's dict as JSON has it, but with NaN and infinities; {} if it is none, or cannot be brought back."""
    try:
        exact = result.returned["results"]
    except (KeyError, ValueError, OSError):  # the program itself chose what is in the file
        exact = None
    results = result.results if result.results is not None else exact
    return _with_floats(results, exact) if isinstance(results, dict) else {}


def _with_floats(value: Any, exact: Any) -> Any:
    """`value` with the floats of `exact` that JSON does not know in the place of None."""
    if value is None and isinstance(exact, numbers.Real):
        return float(exact)
    if isinstance(value, dict) and isinstance(exact, Mapping):
        named = {str(key): item for key, item in exact.items()}
        return {key: _with_floats(item, named.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        items = exact.tolist() if is_array(exact) else exact
        if isinstance(items, (list, tuple)) and len(items) == len(value):
            return [_with_floats(*pair) for pair in zip(value, items)]
    return value


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
