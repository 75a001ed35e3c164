"""The program's names for the tools of the host: `tools.NAME(...)`, `await tools.NAME.call_async(...)`, ToolError.

Nothing here is checked: the launcher decides which tools may be called, how often and with which arguments. One thread at
a time reads answers for all waiting threads; a thread that stops reading wakes another one to read.
"""
import _thread

LIMIT = 1 << 20  # bytes of a call's arguments; a tool may allow more

described = {}  # name -> the tool's description in the handover
waiting = {}  # id -> Call that waits for its answer
reading = _thread.allocate_lock()  # held by the thread that reads answers
last_id = 0
owner = 0  # pid of the process that may use the channel
send = receive = channel = None


class ToolError(Exception):
    """A call of a tool that failed, or that was refused."""


ToolError.__module__ = "builtins"


class Call:
    """One call that waits for its answer. The lock `turn` is released when the call has its answer, or when its thread
    may read for the others."""

    def __init__(self, tool, loop=None):
        self.tool = tool
        self.answer = None
        self.turn = _thread.allocate_lock()
        self.turn.acquire()
        self.loop = loop
        self.future = loop.create_future() if loop else None

    def wake(self):
        try:
            self.turn.release()
        except RuntimeError:  # the lock is released already
            pass

    def settle(self):
        if not self.future.done():
            self.future.set_result(None)

    def deliver(self, answer):
        self.answer = answer
        if self.loop is None:
            self.wake()
            return
        try:
            self.loop.call_soon_threadsafe(self.settle)
        except RuntimeError:  # the loop is closed
            pass

    def result(self):
        if "error" in self.answer:
            raise ToolError(self.answer["error"])
        return typed(self.answer["value"])


class Tool:
    """A tool of the host. Call it, or await its call_async."""

    def __init__(self, name, description, properties):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = description
        self._names = properties

    def __repr__(self):
        return f"<tool {self.__name__}({', '.join(self._names)})>"

    def __call__(self, *args, **kwargs):
        call = Call(self)
        begin(call, bind_arguments(self, args, kwargs))
        return wait_for(call)

    async def call_async(self, *args, **kwargs):
        import asyncio
        call = Call(self, asyncio.get_running_loop())
        begin(call, bind_arguments(self, args, kwargs))
        return await wait_in_loop(call)


class Tools:
    """The tools that this job has."""

    def __init__(self, tools):
        self.__dict__.update(tools)

    def __repr__(self):
        return f"<tools: {', '.join(self.__dict__)}>"

    def __dir__(self):
        return list(self.__dict__)

    def __getattr__(self, name):
        raise AttributeError(f"there is no tool '{name}'; there are: {', '.join(self.__dict__)}")


def bind(tools, sender, receiver, descriptor):
    """Returns the names that the program gets: {"tools": ..., "ToolError": ...}."""
    global send, receive, channel, owner
    import posix
    send, receive, channel, owner = sender, receiver, descriptor, posix.getpid()
    described.update((tool["name"], tool) for tool in tools)
    made = {name: Tool(name, tool.get("description"), list(properties(tool))) for name, tool in described.items()}
    return {"tools": Tools(made), "ToolError": ToolError}


def begin_run():
    """Begin a session's next run: calls that the last run still waits for fail."""
    global owner, reading
    import posix
    if posix.getpid() == owner:
        for call in list(waiting.values()):
            call.deliver({"error": "the run that made this call is over"})
    else:  # a copy of the process, which has only this thread: the thread that held the lock is gone
        owner = posix.getpid()
        reading = _thread.allocate_lock()
        open_in_loop.clear()
    waiting.clear()


def typed(value):
    """The result of a call; of a tool in Python with values that JSON has not, see _typed in tools.py of the package."""
    if type(value) is not dict or list(value) != ["$hotcell"]:
        return value
    try:
        return part("values", "untagged")(value["$hotcell"])
    except (ImportError, ValueError) as error:
        raise ToolError(f"the result cannot be read here: {error}") from None


def properties(tool):
    return tool.get("parameters", {}).get("properties", {})


def bind_arguments(tool, args, kwargs):
    """Bind arguments to names as Python does, in the order of the schema."""
    name, names = tool.__name__, tool._names
    if len(args) > len(names):
        raise TypeError(f"{name}() takes {len(names) or 'no'} positional arguments, {len(args)} were given")
    bound = dict(zip(names, args))
    for key, value in kwargs.items():
        if key in bound:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
        bound[key] = value
    return bound


def plain(value):
    """Convert values of numpy and pandas for json.dumps."""
    for method in ("tolist", "to_dict"):
        convert = getattr(value, method, None)
        if callable(convert):
            return convert()
    raise TypeError(f"a {type(value).__name__} is no JSON")


def blame(why, pieces, head):
    """The reason why a call cannot be sent, with the argument's name instead of a column in the call's JSON, which the
    program does not see. `head`: characters before the arguments."""
    _, _, column, what = why.split(":", 3)
    end = head
    for name, piece in pieces.items():
        end += len(piece) + 2
        if int(column) <= end:
            return f"{name!r}:{what}"
    return what.strip()


def begin(call, arguments):
    global last_id
    import json
    import posix
    name = call.tool.__name__
    if posix.getpid() != owner:
        raise ToolError("tools can be called from the program's first process only")
    pieces = {key: f"{json.dumps(key, ensure_ascii=False)}: "
                   f"{json.dumps(value, allow_nan=False, default=plain, ensure_ascii=False)}"
              for key, value in arguments.items()}
    text = f"{{{', '.join(pieces.values())}}}"
    size = len(text.encode("utf-8"))
    if size > max(LIMIT, described[name]["argument_bytes"]):
        raise ToolError(f"the arguments have {size} bytes, more than a call can have")
    last_id += 1
    call.id = last_id
    waiting[call.id] = call
    sent = False
    try:
        head = f'{{"id": {call.id}, "name": "{name}", "arguments": '
        sent = send(f"{head}{text}}}")
    finally:
        if sent is not True:
            del waiting[call.id]
    if sent is False:
        raise ToolError("tools can be called only while the program runs")
    if sent is not True:
        raise ToolError(f"the arguments cannot be sent: {blame(sent, pieces, len(head))}")


def take(text):
    """Deliver an answer to the call that waits for it. OSError: no call does."""
    import json
    answer = json.loads(text)
    call = waiting.pop(answer["id"], None)
    if call is None:
        raise OSError(f"tools: an answer to what was not asked: {answer['id']}")
    call.deliver(answer)


def hand_over():
    for call in list(waiting.values()):
        if call.loop is None:
            call.wake()


def wait_for(call):
    while call.answer is None:
        if reading.acquire(False):
            try:
                while call.answer is None:
                    take(receive(True))
            finally:
                reading.release()
                hand_over()
        else:
            call.turn.acquire()
    return call.result()


def read_in_loop():
    """Read the answers that have arrived, for all waiting calls; called by the event loop."""
    if reading.acquire(False):
        try:
            while (text := receive(False)) is not None:
                take(text)
        finally:
            reading.release()
            hand_over()


open_in_loop = {}  # event loop -> number of calls that wait in it


async def wait_in_loop(call):
    loop = call.loop
    if not open_in_loop.get(loop):
        loop.add_reader(channel, read_in_loop)
    open_in_loop[loop] = open_in_loop.get(loop, 0) + 1
    try:
        await call.future
    finally:
        open_in_loop[loop] -= 1
        if not open_in_loop[loop]:
            del open_in_loop[loop]
            loop.remove_reader(channel)
    return call.result()
