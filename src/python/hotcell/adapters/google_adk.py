"""HotcellCodeExecutor: a code executor of Google's Agent Development Kit.

    agent = LlmAgent(name="analyst", model="gemini-2.5-flash", code_executor=HotcellCodeExecutor(timeout=30))

The interface is that of the kit's BaseCodeExecutor. Each call has a cell of its own, in which files of the input are in the working
directory; with stateful=True calls of one execution id share a session. To the kit any standard error is a failure: of code that
ends well there is none, and what it printed there follows its standard output.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
from typing import Any, Dict, List, Optional, Union

from ..session import Run, Session
from . import frameworks
from .code_session import failure

UTILS = "google.adk.code_executors.code_execution_utils"


class _File:
    """A file, where the kit is not installed."""

    def __init__(self, name: str, content: Union[str, bytes], mime_type: str = "text/plain") -> None:
        self.name, self.content, self.mime_type = name, content, mime_type


class _CodeExecutionResult:
    """What the code of one call gave, where the kit is not installed."""

    def __init__(self, stdout: str = "", stderr: str = "", output_files: Optional[List[Any]] = None) -> None:
        self.stdout, self.stderr, self.output_files = stdout, stderr, output_files or []


File = frameworks.named(UTILS, "File", _File)
CodeExecutionResult = frameworks.named(UTILS, "CodeExecutionResult", _CodeExecutionResult)
_Base = frameworks.base("google.adk.code_executors.base_code_executor", "BaseCodeExecutor")


class HotcellCodeExecutor(_Base):  # type: ignore[misc]
    """Executes code of an agent. Members of BaseCodeExecutor, such as stateful and error_retry_attempts, are taken as it takes them;
    `timeout` is the seconds of one call, and other arguments are those of hotcell.Session."""

    stateful: bool = False

    def __init__(self, *, timeout: Optional[float] = None, **options: Any) -> None:
        members = set(getattr(_Base, "model_fields", ())) | {"stateful"}
        own = {name: options.pop(name) for name in list(options) if name in members}
        if _Base is object:
            vars(self).update(own)
        else:
            super().__init__(**own)
        vars(self).update({"_timeout": timeout, "_options": options, "_sessions": {}})

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> Any:
        """Run the code: a CodeExecutionResult, with the files that it has written."""
        name = getattr(code_execution_input, "execution_id", None)
        if not self.stateful or name is None:
            with Session(**vars(self)["_options"]) as session:
                return self._execute(session, code_execution_input)
        sessions: Dict[str, Session] = vars(self)["_sessions"]
        if name not in sessions or sessions[name].ended:
            sessions[name] = Session(**vars(self)["_options"])
        return self._execute(sessions[name], code_execution_input)

    def _execute(self, session: Session, given: Any) -> Any:
        for file in given.input_files or ():
            session.files.write(file.name, _content_of(file.content))
        run: Run = session.run(given.code, timeout=vars(self)["_timeout"])
        made = [File(name=file.path, content=file.read(), mime_type=mimetypes.guess_type(file.path)[0] or "application/octet-stream")
                for file in (*run.figures, *run.files) if not file.escaped]
        if run.ok:
            return CodeExecutionResult(stdout=f"{run.stdout}{run.stderr}", stderr="", output_files=made)
        why = failure(run)
        said = str(run.stderr)
        return CodeExecutionResult(stdout=str(run.stdout), stderr=said if why in said else f"{said}{why}\n", output_files=made)

    def close(self) -> None:
        """End the sessions of a stateful executor."""
        for session in vars(self)["_sessions"].values():
            session.close()
        vars(self)["_sessions"].clear()


def _content_of(content: Union[str, bytes]) -> bytes:
    """The bytes of a file, which the kit gives as they are or in base64."""
    data = content.encode() if isinstance(content, str) else bytes(content)
    try:
        plain = base64.b64decode(data, validate=True)
    except binascii.Error:
        return data
    return plain if base64.b64encode(plain) == data else data
