"""hotcell kernel: runs the cells of a Jupyter notebook in one session, see hotcell-kernel(1).

    python -m hotcell.kernel BINARY run FILE [OPTION]...
    python -m hotcell.kernel BINARY install|install-user NAME [OPTION]...

`hotcell kernel` starts it. FILE is Jupyter's connection file, OPTION an option of `hotcell session` as "--name=value".
Jupyter's protocol is ipykernel's; a front end's requests become runs of an AsyncSession, or of a session of the daemon at
$HOTCELL_SOCKET. Nothing that comes from the front end is parsed as Python in this process, and nothing is imported from the
directory of the notebook.
"""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel
from jupyter_client.kernelspec import KernelSpecManager

from . import __version__, notebook
from .daemon import AsyncDaemon
from .errors import HotcellError, UsageError
from .session import AsyncSession, Run, SessionEnded, _InLoop

EX_USAGE, EX_DATAERR, EX_CANTCREAT = 64, 65, 73
CONNECTION = "key", "shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"  # of a connection file
HELPER_TIME = "2s"  # of a run that completes or explains a name
POLL = 0.02  # seconds between two looks for the answer to an input request
FLUSH, FLUSH_TRACEBACK = 0.05, 0.5  # seconds for which output is collected, and what may be the traceback at a run's end
MAX_HISTORY = 1000  # cells that history requests find
MAX_EXPRESSIONS = 32  # user_expressions of one request
MAX_WARNINGS = 20  # warnings of one run that are shown
PATHS = ("output", "sign")  # options whose value is a path; of others a part is, or may be
TO_DAEMON = ("tree", "policy", "seed", "job_id", "tenant", "interface")  # options that a daemon takes as they are
DAEMON_LIMITS = ("timeout", "grace", "cpu", "memory", "pids", "cpus")  # limits that are called like their options


# ---- the session ----

class _GivenSession(_InLoop):
    """A session with options of the command line."""

    def __init__(self, loop: asyncio.AbstractEventLoop, given: Sequence[str], **arguments: Any) -> None:
        self._given = list(given)
        super().__init__(loop, **arguments)

    def _policy(self, *_: Any) -> List[str]:
        return ["--interface=cli", *self._given]


class _AsyncGivenSession(AsyncSession):
    _kind = _GivenSession


async def open_session(binary: str, options: Sequence[str]) -> Any:
    """Begin a session: at the daemon, if HOTCELL_SOCKET names one. Raises as AsyncSession and AsyncDaemon do."""
    if os.environ.get("HOTCELL_SOCKET"):
        return await AsyncDaemon().session(**daemon_spec(options))
    given, output = [], None
    for option in options:
        name, value = option_of(option)
        if name == "output":
            output = value
        else:
            given.append(option)
    return await _AsyncGivenSession(given=given, output_dir=output, binary=binary).open()


def option_of(option: str) -> Tuple[str, str]:
    """Name and value of "--name=value"."""
    name, _, value = option[2:].partition("=")
    return name, value


def daemon_spec(options: Sequence[str]) -> Dict[str, Any]:
    """Arguments of Daemon.session from options. UsageError for one that is not sent to a daemon."""
    spec: Dict[str, Any] = {"interface": "cli"}
    limits: Dict[str, str] = {}
    for option in options:
        name, value = option_of(option)
        member = name.replace("-", "_")
        if name in DAEMON_LIMITS:
            limits[name] = value
        elif name in ("label", "env", "var"):
            key, _, text = value.partition("=")
            spec.setdefault({"label": "labels", "env": "env", "var": "vars"}[name], {})[key] = json.loads(text) if name == "var" else text
        elif name == "output":
            spec["output_dir"] = value
        elif member in TO_DAEMON:
            spec[member] = int(value) if name == "seed" else value
        else:
            raise UsageError(f"--{name}: not sent to the daemon at HOTCELL_SOCKET: set it in the policy, or unset HOTCELL_SOCKET", EX_USAGE)
    return {**spec, **({"limits": limits} if limits else {})}


# ---- what a run prints ----

class Output:
    """Sends what a run prints to the front end, collected for a moment: many small pieces become few messages, a prompt that
    the front end shows is not printed too, nor is a traceback that the reply has."""

    def __init__(self, send: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._send, self._loop = send, loop
        self._pending: List[List[str]] = []  # [stream, text]
        self._timer: Optional[asyncio.TimerHandle] = None
        self._prompt = ""  # a prompt that comes as output yet

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take an event of a run."""
        name = event["event"]
        if name in ("stdout", "stderr"):
            self.add(name, notebook.text_of(event))

    def add(self, stream: str, text: str) -> None:
        """Print a text."""
        if stream == "stdout" and self._prompt:
            text, self._prompt = text[len(self._prompt):] if text.startswith(self._prompt) else text, ""
        if not text:
            return
        if self._pending and self._pending[-1][0] == stream:
            self._pending[-1][1] += text
        else:
            self._pending.append([stream, text])
        if self._timer is None:
            held = stream == "stderr" and notebook.TRACEBACK in self._pending[-1][1]
            self._timer = self._loop.call_later(FLUSH_TRACEBACK if held else FLUSH, self.flush)

    def ask(self, prompt: str) -> None:
        """The front end shows a prompt, which is, or will be, in the output."""
        if self._pending and self._pending[-1][0] == "stdout" and self._pending[-1][1].endswith(prompt):
            self._pending[-1][1] = self._pending[-1][1][:-len(prompt) or None]
        else:
            self._prompt = prompt
        self.flush()

    def discard(self) -> None:
        """Forget what waits."""
        self._pending = []

    def drop_end(self, text: str, more: str = "") -> None:
        """Take back `text` at the end of standard error, if it waits there; `more` may follow it."""
        for piece in self._pending[-2:] if text else ():
            if piece[0] == "stderr":
                head, found, tail = piece[1].rpartition(text)
                if found and tail.strip() in ("", more.strip()):
                    piece[1] = head

    def flush(self) -> None:
        """Send what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending, self._pending = self._pending, []
        for name, text in pending:
            if text:
                self._send("stream", {"name": name, "text": text})


# ---- the kernel ----

class HotcellKernel(Kernel):  # type: ignore[misc]  # pylint: disable=too-many-instance-attributes
    """The kernel. `binary` and `options` are for its session."""

    implementation = "hotcell"
    implementation_version = __version__
    language_info = {"name": "python", "version": platform.python_version(), "mimetype": "text/x-python", "file_extension": ".py",
                     "pygments_lexer": "ipython3", "codemirror_mode": {"name": "ipython", "version": 3}, "nbconvert_exporter": "python"}
    banner = f"hotcell {__version__}: Python {platform.python_version()} in a cell"
    binary = ""
    options: Sequence[str] = ()

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._cells: Any = None  # the session; None: it has not begun, or has ended
        self._loop: Any = None
        self._parent_fd: Optional[int] = None  # a descriptor of the parent process
        self._running = self._interrupted = self._closing = False
        self._commands = True  # the policy is not known to execute no commands
        self._count_of: Dict[int, int] = {}  # number of a run -> execution count
        self._history: List[Tuple[int, str, str]] = []  # execution count, code, value as text

    def start(self) -> None:
        """Begin to serve requests, in the main thread."""
        super().start()
        self._loop = self.io_loop.asyncio_loop
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)
        with contextlib.suppress(AttributeError, OSError):
            if os.environ.get("JPY_PARENT_PID"):  # set by who wants the kernel to end with it
                self._parent_fd = os.pidfd_open(os.getppid())
                self._loop.add_reader(self._parent_fd, self._end)

    def pre_handler_hook(self) -> None:
        """Keep the handler of SIGINT."""

    def post_handler_hook(self) -> None:
        """Keep the handler of SIGINT."""

    def _on_signal(self, number: int, _frame: object) -> None:
        self._loop.call_soon_threadsafe(self._interrupt if number == signal.SIGINT else self._end)

    def _interrupt(self) -> None:
        """Interrupt the run that goes on."""
        if self._running:
            self._interrupted = True
            if self._cells is not None:
                self._spawn(self._cells.interrupt())

    def _spawn(self, work: Any) -> None:
        async def quiet() -> None:
            with contextlib.suppress(HotcellError, OSError):
                await work
        self._loop.create_task(quiet())

    def _end(self) -> None:
        """The kernel is to end."""
        async def end() -> None:
            with contextlib.suppress(HotcellError, OSError):
                await self._close()
            self.io_loop.stop()
        if self._parent_fd is not None:
            self._loop.remove_reader(self._parent_fd)
        if not self._closing:
            self._loop.create_task(end())

    # ---- the session ----

    async def _opened(self) -> Any:
        if self._cells is None:
            session = await open_session(self.binary, self.options)
            self._cells, self._count_of, self._commands = session, {}, True
            if self._closing:
                await self._close()
        return self._cells

    async def _close(self) -> None:
        self._closing = self._interrupted = True
        session, self._cells = self._cells, None
        if session is not None:
            if self._running and isinstance(session, AsyncSession):
                session._stop(True)  # its run does not end by itself, maybe
            await session.close()

    async def do_shutdown(self, restart: bool) -> Dict[str, Any]:
        """End the session; the process ends afterwards."""
        if self._loop is not None:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._close(), self._loop))
        return {"status": "ok", "restart": restart}

    # ---- execution ----

    async def do_execute(self, code: str, silent: bool, store_history: bool = True, user_expressions: Optional[Dict[str, str]] = None,
                         allow_stdin: bool = False, **_: Any) -> Dict[str, Any]:
        """Run a cell of the notebook. Returns the content of the reply."""
        parent, count = self.get_parent("shell"), self.execution_count
        output = Output(lambda kind, content: self._publish(kind, content, parent, silent), asyncio.get_running_loop())
        self._running, self._interrupted = True, False
        try:
            reply = await self._execute(code, output, parent if allow_stdin else None)
            if reply["status"] == "ok":
                reply["user_expressions"] = await self._expressions(user_expressions or {})
        except SessionEnded as error:
            self._cells = None
            output.add("stderr", "hotcell: the variables are gone: the next cell begins with none\n")
            reply = failed("SessionEnded", str(error))
        except HotcellError as error:
            reply = failed(type(error).__name__, str(error))
        except Exception as error:  # pylint: disable=broad-exception-caught  # without a reply the front end would wait for ever
            self.log.exception("hotcell kernel")
            reply = failed("HotcellError", f"the kernel failed: {error!r}")
        finally:
            self._running = False
        output.flush()
        for kind, content in reply.pop("shown", ()):
            self._publish(kind, {**content, **({"execution_count": count} if kind == "execute_result" else {})}, parent, silent)
        if reply["status"] == "error":
            self._publish("error", {name: reply[name] for name in ("ename", "evalue", "traceback")}, parent, silent)
        if store_history and not silent:
            self._history = [*self._history[-MAX_HISTORY + 1:], (count, code, reply.pop("text", ""))]
        elif not silent:
            self.execution_count -= 1  # the base class has counted it
        reply.pop("text", None)
        return {**reply, "execution_count": count, "payload": []}

    def _publish(self, kind: str, content: Dict[str, Any], parent: Any, silent: bool) -> None:
        if not silent:
            self.session.send(self.iopub_socket, kind, content, parent=parent, ident=self._topic(kind))

    async def _execute(self, code: str, output: Output, asker: Any) -> Dict[str, Any]:
        """Run a program. `asker`: the request whose client answers input(); None: it does not."""
        if not code.strip():
            return {"status": "ok"}
        session = await self._opened()
        if self._interrupted:
            return failed("KeyboardInterrupt", "interrupted before the cell ran")
        program = await self._command_run(session, code, output)
        if program is not None:
            return self._command_reply(program, output)

        async def answer(prompt: str) -> Optional[str]:
            output.ask(prompt)
            return await self._ask(prompt, asker)
        more = {} if asker is None else {"on_input": answer}
        return self._reply(await session.run(code, on_event=output.hear, **more), output, code)

    async def _command_run(self, session: Any, code: str, output: Output) -> Optional[Run]:
        """The run of a cell of which every line begins with "!", as a command. None: it is no such cell, or the policy executes
        no commands, and the cell is a program's text."""
        script = notebook.shell_script(code) if self._commands else None
        if script is None:
            return None
        run: Run = await session.run(["sh", "-c", script], on_event=output.hear)
        if run.rejection is not None and run.rejection.rule in ("commands", "commands.allow", "policy"):
            self._commands = False
            output.discard()
            return None
        return run

    def _command_reply(self, run: Run, output: Output) -> Dict[str, Any]:
        """As in IPython, a command may fail without an error of the cell; one that a limit ends may not."""
        if run.command_status:
            output.add("stderr", f"hotcell: exit status {run.command_status}\n")
            return {"status": "ok"}
        return self._reply(run, output)

    def _reply(self, run: Run, output: Output, code: str = "") -> Dict[str, Any]:
        """The content of the reply, with the messages about results as `shown`, and the value as `text`."""
        self._count_of[run.run] = self.execution_count
        for warning in run.warnings[:MAX_WARNINGS]:
            output.add("stderr", f"hotcell: {warning}\n")
        if not run.kept and run.rejection is None:
            output.add("stderr", f"hotcell: {run.reason or run.status}; {self._state(run)}\n")
        shown: List[Tuple[str, Dict[str, Any]]] = [("display_data", {"data": data, "metadata": {}, "transient": {}})
                                                   for data in notebook.displays_of(run, output.add)]
        if run.ok:
            value = notebook.bundle_of(run.bundle)
            if value and not code.rstrip().endswith(";"):  # as in IPython, a semicolon at the end keeps a value to itself
                shown.append(("execute_result", {"data": value, "metadata": {}}))
            return {"status": "ok", "shown": shown, "text": value.get("text/plain", "")}
        error = notebook.error_of(run, self._place)
        output.drop_end(error.printed, error.hint)
        return {**failed(error.name, error.value, error.traceback), "shown": shown}

    def _place(self, number: int) -> Optional[int]:
        """The execution count of a run."""
        return self._count_of.get(number)

    def _state(self, run: Run) -> str:
        """Which state the next cell finds, in the words of a notebook."""
        if not run.state.startswith("rolled back to"):
            return f"the state is {run.state}"
        words = run.state.split()
        last = int(words[-1]) if words[-1].isdigit() else 0
        counts = [count for number, count in self._count_of.items() if number <= last]
        return f"the variables are those that cell [{max(counts)}] left" if counts else "the variables are those of the start: none"

    async def _ask(self, prompt: str, asker: Any) -> Optional[str]:
        """Have the client of the request `asker` answer input(). None: the run is interrupted, or the input ends."""
        while self.stdin_socket.poll(0):  # an answer to an earlier request
            self.stdin_socket.recv_multipart()
        self.session.send(self.stdin_socket, "input_request", {"prompt": prompt, "password": False}, asker, ident=self._parent_ident["shell"])
        while not self.stdin_socket.poll(0):
            if self._interrupted:
                return None
            await asyncio.sleep(POLL)
        _, reply = self.session.recv(self.stdin_socket)
        value = (reply or {}).get("content", {}).get("value")
        return value if isinstance(value, str) and value != "\x04" else None

    async def _expressions(self, expressions: Mapping[str, str]) -> Dict[str, Any]:
        """The values of user_expressions, each a run of its own."""
        answers: Dict[str, Any] = {}
        for name, expression in list(expressions.items())[:MAX_EXPRESSIONS]:
            run: Run = await (await self._opened()).run(f"(\n{expression}\n)")
            if run.ok:
                answers[name] = {"status": "ok", "data": notebook.bundle_of(run.bundle) or {"text/plain": "None"}, "metadata": {}}
            else:
                error = notebook.error_of(run, self._place)
                answers[name] = {"status": "error", "ename": error.name, "evalue": error.value, "traceback": error.traceback}
        return answers

    # ---- help for who writes ----

    async def _value(self, expression: str) -> Any:
        """The value of an expression in the session, which is a run of little time; None if there is none."""
        if self._cells is None:
            return None
        with contextlib.suppress(Exception):  # what the program's process sends as a value may be anything
            run: Run = await self._cells.run(expression, timeout=HELPER_TIME)
            return run.value if run.ok else None
        return None

    async def do_complete(self, code: str, cursor_pos: int) -> Dict[str, Any]:
        """Names that the cell knows; names that the cells of the notebook have, if its policy refuses to list them."""
        owner, prefix = notebook.name_before(code[:cursor_pos])
        names: Any = None
        if owner is not None:
            names = await self._value(f"dir({owner})")
            if not isinstance(names, list) and not owner:
                names = notebook.names_in([text for _, text, _ in self._history])
        return {"status": "ok", "matches": notebook.matching(names, prefix, whole=owner == ""), "cursor_end": cursor_pos,
                "cursor_start": cursor_pos - len(prefix), "metadata": {}}

    async def do_inspect(self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Sequence[str] = (), **_: Any) -> Dict[str, Any]:
        """What the cell says of the name at the cursor."""
        name = notebook.name_at(code, cursor_pos)
        facts: Any = None
        for expression in notebook.inspections(name) if name else ():
            facts = facts or await self._value(expression)
        text = notebook.described(name or "", facts)
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_is_complete(self, code: str) -> Dict[str, Any]:
        """Whether a console should run the text, or wait for more lines."""
        return notebook.completeness(code)

    def do_history(self, hist_access_type: str, output: bool, raw: bool, session: Any = None, start: Any = None,
                   stop: Any = None, n: Any = None, pattern: Any = None, unique: bool = False, **_: Any) -> Dict[str, Any]:
        """The cells that this kernel ran; the kernel keeps none of earlier ones."""
        rows = self._history
        if hist_access_type == "range":
            rows = [row for row in rows if (start or 0) <= row[0] and (stop is None or row[0] < stop)]
        elif hist_access_type == "search":
            rows = [row for row in rows if fnmatch.fnmatchcase(row[1], pattern or "*")]
            if unique:
                rows = list({row[1]: row for row in rows}.values())
        rows = rows[-n:] if isinstance(n, int) and n > 0 and hist_access_type != "range" else rows
        return {"status": "ok", "history": [(0, count, (code, text or None) if output else code) for count, code, text in rows]}


def failed(name: str, value: str, traceback: Sequence[str] = ()) -> Dict[str, Any]:
    """The content of a reply that tells of an error."""
    return {"status": "error", "ename": name, "evalue": value, "traceback": list(traceback) or [f"{name}: {value}"]}


class KernelApp(IPKernelApp):  # type: ignore[misc]
    """The process of a kernel. It reads none of IPython's configuration, and adds no directory to sys.path: files beside a
    notebook are as untrusted as the notebook."""

    name = "hotcell-kernel"

    def load_config_file(self, *_: Any, **__: Any) -> None:
        """Read no configuration."""

    def init_profile_dir(self) -> None:
        """Make no profile."""
        self.profile_dir = None

    def init_config_files(self) -> None:
        """Copy no configuration."""

    def init_path(self) -> None:
        """Do not add the current directory."""

    def init_pdb(self) -> None:
        """Nothing is debugged in this process."""

    def init_poller(self) -> None:
        """The kernel itself notices the end of its parent."""


def trouble(connection: str) -> str:
    """Why the file is no front end's connection file; "" if it is one. Of another, a kernel would make one of its own, and wait."""
    try:
        told = json.loads(Path(connection).read_text(encoding="utf-8"))
    except OSError as error:
        return error.strerror or str(error)
    except ValueError as error:
        return f"expected JSON: {error}"
    missing = [name for name in CONNECTION if not isinstance(told, dict) or name not in told]
    return f"expected a front end's connection file, with {', '.join(missing)}" if missing else ""


def serve(binary: str, connection: str, options: Sequence[str]) -> int:
    """Be the kernel of a connection file until it is shut down. Returns the exit status."""
    why = trouble(connection)
    if why:
        print(f"hotcell: {connection}: {why}", file=sys.stderr)
        return EX_DATAERR
    HotcellKernel.binary, HotcellKernel.options = binary, options
    app = KernelApp.instance(kernel_class=HotcellKernel, connection_file=connection)
    app.initialize([])
    app.start()
    return 0


# ---- the kernelspec ----

def absolute(option: str) -> str:
    """An option that holds from any directory."""
    name, value = option_of(option)
    if name in PATHS or (name in ("policy", "tree") and "/" in value):
        value = os.path.abspath(value)
    elif name == "input":
        key, _, path = value.partition("=")
        value = f"{key}={os.path.abspath(path)}"
    elif name == "dir" and not value.startswith("/"):
        host, colon, rest = value.partition(":")
        value = f"{os.path.abspath(host)}{colon}{rest}"
    return f"--{name}={value}" if "=" in option else option


def install(binary: str, name: str, user: bool, options: Sequence[str]) -> int:
    """Write a kernelspec. Returns the exit status."""
    policy = dict(map(option_of, options)).get("policy")
    on_path = shutil.which("hotcell")
    command = "hotcell" if on_path and os.path.samefile(on_path, binary) else binary
    spec = {"argv": [command, "kernel", "-f", "{connection_file}", *map(absolute, options)], "language": "python",
            "display_name": f"Python in a cell ({name if name != 'hotcell' else 'hotcell'}{', ' + policy if policy else ''})",
            "interrupt_mode": "signal", "metadata": {}}
    with tempfile.TemporaryDirectory(prefix="hotcell-") as directory:
        Path(directory, "kernel.json").write_text(json.dumps(spec, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.chmod(directory, 0o755)
        try:
            place = KernelSpecManager().install_kernel_spec(directory, name, user=user)
        except ValueError as error:
            print(f"hotcell: --name: {error}", file=sys.stderr)
            return EX_USAGE
        except OSError as error:
            print(f"hotcell: the kernelspec could not be written: {error.filename or name}: {error.strerror or error}"
                  f"{'' if user else '; --user installs it for this user only'}", file=sys.stderr)
            return EX_CANTCREAT
    print(Path(place, "kernel.json"))
    return 0


def main(argv: Union[None, Sequence[str]] = None) -> int:
    """Returns the exit status."""
    binary, mode, name, *options = sys.argv[1:] if argv is None else argv
    if mode == "run":
        return serve(binary, name, options)
    return install(binary, name, mode == "install-user", options)
