"""hotcell-runner SPEC: runs a program in a cell with the spec, messages and exit codes of an older child runner.

    python -m hotcell.runner SPEC

SPEC is a JSON file: code, df_paths {name: path of JSON lines} (default {}), output_dir, persist_code (default true),
max_output_bytes (default 200000), max_figures (default 20, of each kind). What the program printed comes out on
standard output and standard error after it has ended; output_dir gets figures, the saved code, manifest.json and
_sandbox_result.json with exit_code, figure_paths, code_paths and truncated.

Exit status: 0 the program ended well; 1 it failed; 2 it was refused before it ran, and standard error says why;
3 a limit ended it; 64 wrong usage, 65 a wrong spec, 69, 70 and 78 as of hotcell(1).
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Tuple

from .errors import HotcellError
from .launcher import find_binary, run_command

USAGE = "usage: hotcell-runner SPEC"
RESULT = "_sandbox_result.json"
EX_USAGE, EX_DATA, EX_INTERNAL = 64, 65, 70


def main(argv: Optional[List[str]] = None) -> int:
    """Run one spec. Returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 1:
        print(USAGE, file=sys.stderr)
        return EX_USAGE
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # in any locale
    try:
        text, spec, unchanged = read_spec(arguments[0])
    except (OSError, ValueError) as error:
        print(f"hotcell-runner: {arguments[0]}: {_why(error)}", file=sys.stderr)
        return EX_DATA
    try:
        remove_old_result(spec.get("output_dir"))
    except OSError as error:
        print(f"hotcell-runner: {spec['output_dir']}/{RESULT}: {_why(error)}", file=sys.stderr)
        return EX_DATA
    try:
        ended = run_command([find_binary(), "run", "--warm=no", "--json", "--interface=runner", "--spec", "-"], text.encode("utf-8", "surrogatepass"))
    except HotcellError as error:
        print(f"hotcell-runner: {error}", file=sys.stderr)
        return EX_INTERNAL
    if not ended.stdout:
        print(f"hotcell-runner: {_of_file(ended.message, arguments[0], unchanged)}", file=sys.stderr)
        return ended.status if ended.status > 0 else EX_INTERNAL
    return show(json.loads(ended.stdout), spec, _unparsable(spec.get("code")))


def _of_file(message: str, path: str, unchanged: bool) -> str:
    """The message with the spec's path, and with the place there if the command had the spec as it is."""
    return re.sub(r"^standard input(:[0-9]+:[0-9]+)", lambda place: path + (place[1] if unchanged else ""), message)


def _stop(number: int, _frame: object) -> NoReturn:
    """A signal handler: the exception ends the command, and with it the cell."""
    raise SystemExit(128 + number)


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def read_spec(path: str) -> Tuple[str, Dict[str, Any], bool]:
    """The spec as text and parsed, and whether the text is the file's. The member that marks this form of a spec is added if it is
    missing."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    spec = json.loads(text)
    if not isinstance(spec, dict):
        raise ValueError("expected an object")
    more: Dict[str, Any] = {} if "df_paths" in spec else {"df_paths": {}}
    found = _unparsable(spec.get("code"))
    if found:  # its text is no job's, and is not saved: in its place the cell gets what fails in the same line
        more.update(code="\n" * (found[1] - 1) + "\ufffd\n", persist_code=False)
    return json.dumps({**spec, **more}) if more else text, spec, not more


def _unparsable(code: object) -> Optional[Tuple[str, int]]:
    """What no text of a program can hold, as Python says it, and its line: a NUL, or half a surrogate pair."""
    if not isinstance(code, str):
        return None
    if "\0" in code:
        return "source code string cannot contain null bytes", code.count("\n", 0, code.index("\0")) + 1
    try:
        code.encode()
    except UnicodeEncodeError as error:
        return str(error), code.count("\n", 0, error.start) + 1
    return None


def remove_old_result(output_dir: object) -> None:
    """Remove the result of an earlier run, which could be taken for this one's if this one fails before it has any."""
    if not isinstance(output_dir, str):
        return
    path = os.path.join(output_dir, RESULT)
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)


def show(manifest: Mapping[str, Any], spec: Mapping[str, Any], unparsable: Optional[Tuple[str, int]] = None) -> int:
    """Print the program's output and errors as the older runner did; `unparsable` is of the program that the cell did not get.
    Returns the exit status."""
    sys.stdout.write(manifest["stdout"]["text"])
    rejection = manifest["rejection"]
    if rejection and rejection["rule"] == "syntax" and unparsable:
        rejection = {**rejection, "message": unparsable[0]}
    if rejection:
        for line in refusal_lines(rejection, spec.get("df_paths") or {}):
            print(line, file=sys.stderr)
        return int(manifest["exit_code"])
    sys.stderr.write(manifest["stderr"]["text"])
    if manifest["status"] not in ("ok", "error"):
        print(f"hotcell-runner: {manifest['status']}: {manifest['reason']}", file=sys.stderr)
    return int(manifest["exit_code"])


def refusal_lines(rejection: Mapping[str, Any], df_paths: Mapping[str, str]) -> List[str]:
    """The older runner's messages for a refusal; all findings, where it printed only the first."""
    if rejection["rule"] == "syntax":
        where = f" (<sandbox>, line {rejection['line']})" if rejection["line"] else ""
        return [f"Syntax error: {rejection['message']}{where}"]
    if rejection["rule"] == "input":
        return [_with_host_path(rejection["message"], df_paths)]
    findings = rejection.get("findings") or [rejection]
    return list(dict.fromkeys(finding["message"] for finding in findings))


def _with_host_path(message: str, df_paths: Mapping[str, str]) -> str:
    for name, path in df_paths.items():
        prefix = f"Could not load DataFrame {name} from "
        if message.startswith(prefix):
            return prefix + path + message[message.index(": ", len(prefix)):]
    return message


if __name__ == "__main__":
    sys.exit(main())
