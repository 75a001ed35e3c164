"""What RunPython runs in the cell before a program: it binds the caller's values, and stand-ins for what stays with the caller.

This file's text goes into the cell, where it has a namespace of its own. It imports nothing of this package; `hotcell` is the object
that a policy's own code has. A stand-in holds no more than a reference: what it is asked for, it asks the caller, who decides. So
nothing here guards anything, and a program that changes it deceives itself alone.
"""
# mypy: allow-untyped-defs

import builtins
import types

ROOM = 1 << 24  # bytes of the arguments of one call; the tool has its own limit
MOST_TOLD = 4000  # characters that doc() tells of a thing
LOOKED_FOR = ("to_plotly_json",)  # what the harness asks the class of each value for
METHODS = "methods of paths"  # in the place of a name in a plan
CONSENT = object()  # the answer to a call of which the caller wants the cell to make it
references = {}  # stand-in of a function or class -> its reference
functions = {}   # number of a function that was lent -> its stand-in
classes = {}     # key of a caller's class -> its stand-in
methods = {}     # name of a method of pathlib.Path that the program has the caller's of -> reference of the caller's class
asked = hotcell = names = None  # set by begin()


def begin(tools, helpers, space, watched=False):
    """Returns the function that binds the names of a plan in `space`, the program's namespace: each by the JSON that
    standins.Desk.node_of makes. `watched`: the caller is asked about each call of the program, too."""
    global asked, hotcell, names
    asked, hotcell, names = tools.hotcell_call, helpers, space
    if watched:
        watch()
    return setup


# ---- messages ----

def other(value):
    """What is sent in place of a value that is not carried."""
    kind = type(value)
    if issubclass(kind, Standin):
        return (object.__getattribute__(value, "_hotcell_reference"),)
    if isinstance(value, Module):
        return (object.__getattribute__(value, "_hotcell_reference"),)
    if isinstance(value, (type, types.FunctionType)) and value in references:
        return (references[value],)
    if isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
        return ({"builtin": value.__name__},)
    for base in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset):
        if issubclass(kind, base):
            return (None, base(value))
    if any(each.__module__ in ("pathlib", "pathlib._local") and each.__name__ == "PosixPath" for each in kind.__mro__):
        import pathlib
        return (None, pathlib.PosixPath(str(value)))
    raise TypeError(f"a {kind.__name__} of the cell's cannot be sent to the caller")


def message(what, to, name, args, kwargs):
    """What is sent to ask the caller. TypeError: an argument is nothing that can be sent."""
    sent = [hotcell.to_letter(each, ROOM, other) for each in (list(args), dict(kwargs))]
    return {"what": what, "to": to, "name": name, "args": sent[0], "kwargs": sent[1]}


def result(answer):
    """The value of an answer, or the exception that was raised at the caller's."""
    if "raised" in answer:
        kind, text, args = answer["raised"]
        kind = getattr(builtins, kind, None)
        kind = kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError
        raise kind(*(hotcell.of_letter(args, made) if args is not None and kind is not RuntimeError else [text]))
    return hotcell.of_letter(answer["value"], made)


def ask(what, to, name=None, args=(), kwargs=()):
    """Ask the caller for `what`, one of standins.SERVES, of what the reference `to` stands for."""
    return result(asked(**message(what, to, name, args, kwargs)))


async def ask_later(what, to, name=None, args=(), kwargs=()):
    """As ask(), for a coroutine of the caller's."""
    return result(await asked.call_async(**message(what, to, name, args, kwargs)))


def watch():
    """Ask the caller about each call that the program makes: on_call() of RunPython."""
    def watcher(caller, callee, fn, code, offset):
        if fn is setup:
            return False
        known = isinstance(fn, (type, types.FunctionType)) and fn in references
        where = [code.co_filename, code.co_name, code.co_qualname, code.co_firstlineno]
        return result(asked(what="called", to=references[fn] if known else {}, name=None, args=[caller, callee, where, offset], kwargs={}))
    hotcell.watch_calls(watcher)


# ---- stand-ins ----

class Meta(type):
    """The type of the stand-ins of classes."""

    def __call__(cls, *args, **kwargs):
        if cls not in references:
            raise TypeError("a class of the caller's cannot be inherited from in a cell")
        return ask("call", references[cls], None, args, kwargs)

    def __getattr__(cls, name):
        if name.startswith("_") or name in LOOKED_FOR or cls not in references:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return ask("get", references[cls], name)

    def __setattr__(cls, name, value):
        if cls in references:
            ask("set", references[cls], name, [value])
        else:  # the program's own, which inherits
            type.__setattr__(cls, name, value)

    def __repr__(cls):
        return f"<class {cls.__name__!r} of the caller's>"


class Standin(metaclass=Meta):
    """Stands in for an object of the caller's."""

    __slots__ = ("_hotcell_reference",)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return ask("get", self._hotcell_reference, name)

    def __setattr__(self, name, value):
        ask("set", self._hotcell_reference, name, [value])

    def __call__(self, *args, **kwargs):
        return ask("call", self._hotcell_reference, None, args, kwargs)

    def __getitem__(self, key):
        return ask("item", self._hotcell_reference, None, [key])

    def __len__(self):
        try:
            return ask("len", self._hotcell_reference)
        except PermissionError as error:  # list() and others ask for the length where there need not be one
            raise TypeError(str(error)) from None

    def __contains__(self, value):
        return ask("contains", self._hotcell_reference, None, [value])

    def __bool__(self):
        return True

    def __iter__(self):
        iterator = ask("iter", self._hotcell_reference)
        while found := ask("next", object.__getattribute__(iterator, "_hotcell_reference")):
            yield from found

    async def __aiter__(self):
        reference = object.__getattribute__(self, "_hotcell_reference")
        while found := await ask_later("next", reference):
            for each in found:
                yield each

    def __repr__(self):
        return f"<{type(self).__name__} of the caller's>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/vnd.hotcell.standin+json": self._hotcell_reference}


class Module(types.ModuleType):
    """Stands in for a module of the caller's; `real` is the cell's own module of this name, if there is one, of which the
    caller has only these `names`."""

    def __init__(self, name, to, real=None, names=()):
        super().__init__(name)
        vars(self).update(_hotcell_reference=to, _hotcell_real=real, _hotcell_names=names)

    def __getattr__(self, name):
        own = vars(self)
        if own["_hotcell_real"] is not None and name not in own["_hotcell_names"]:
            return getattr(own["_hotcell_real"], name)
        if name.startswith("_"):
            raise AttributeError(f"module {own['__name__']!r} has no attribute {name!r}")
        return ask("get", own["_hotcell_reference"], name)

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType):  # importing a submodule does that
            vars(self)[name] = value
        else:
            ask("set", vars(self)["_hotcell_reference"], name, [value])


def function(content):
    """The stand-in of a function, as standins.Desk describes it."""
    to = content["to"]
    if to.get("id") in functions:
        return functions[to["id"]]

    async def call_later(*args, **kwargs):
        return await ask_later("call", to, None, args, kwargs)

    def call_now(*args, **kwargs):
        found = ask("call", to, None, args, kwargs)
        return getattr(module(content["own"][0]), content["own"][1])(*args, **kwargs) if found is CONSENT else found
    call = call_later if content.get("later") else teller(call_now) if content.get("tells") else call_now
    call.__name__ = call.__qualname__ = content["name"]
    call.__doc__ = content.get("doc")
    if content.get("source"):
        with_source(call, content["source"])
    elif content.get("signature"):
        with_signature(call, content["signature"])
    references[call] = to
    if "id" in to:
        functions[to["id"]] = call
    return call


def with_source(call, source):
    """Let inspect.getsource find the text of the caller's function, which is not run."""
    import linecache
    file = f"<caller's {call.__name__}>"
    todo = [compile(source, file, "exec")]
    while todo:
        code = todo.pop()
        inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
        for each in inner:
            if each.co_name == call.__name__:
                call.__wrapped__ = types.FunctionType(each, {}, None, None, tuple(types.CellType() for _ in each.co_freevars))
                linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
                return
        todo += inner


class Text:
    """Looks like what a text of the caller's stands for, such as a default value."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def with_signature(call, content):
    """Let inspect.signature and help() find the signature of the caller's function."""
    from inspect import Parameter, Signature
    rows = [Parameter(name, Parameter.POSITIONAL_ONLY.__class__(kind), default=Parameter.empty if default is None else Text(default),
                      annotation=Parameter.empty if annotation is None else Text(annotation)) for name, kind, default, annotation in content["parameters"]]
    call.__signature__ = Signature(rows, return_annotation=Signature.empty if content["returns"] is None else Text(content["returns"]))


def teller(ask_caller):
    """doc() of the skills: of a name the caller tells, of anything else the cell."""
    def doc(thing):
        if isinstance(thing, Module):
            thing = thing.__name__.rpartition(".")[2]
        return ask_caller(thing) if isinstance(thing, str) else told(thing)
    return doc


def told(thing):
    """The signature and documentation of a function, or what help() shows of another thing, up to MOST_TOLD characters."""
    import inspect
    import pydoc
    kind = thing if isinstance(thing, type) else type(thing)
    if inspect.isroutine(thing):
        try:
            signature = str(inspect.signature(thing))
        except (TypeError, ValueError):
            signature = "(...)"
        text = f"{thing.__name__}{signature}\n{inspect.getdoc(thing) or ''}".strip()
    elif issubclass(kind, Standin):
        text = f"class {kind.__name__} of the caller's\n{inspect.getdoc(kind) or ''}".strip()
    else:
        text = pydoc.plain(pydoc.render_doc(thing, "%s")).partition("\n\n")[2].strip()
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]}\n... and {len(text) - MOST_TOLD} characters more"


def class_of(content):
    """The stand-in of a class, the same one for each description with its key."""
    key = content["key"]
    if key not in classes:
        members = {"__module__": "__main__", "__slots__": (), "__doc__": content.get("doc")}
        base = getattr(builtins, content.get("error") or "", None)
        if base is not None and base.__name__ == content["name"]:
            classes[key] = base
        elif base is not None:  # to be raised and caught
            classes[key] = type(content["name"], (base,), {**members, "__slots__": ()})
        else:
            bases = tuple(class_of(each) for each in content.get("bases", ())) or (Standin,)
            classes[key] = Meta(content["name"], bases, members)
    if "to" in content:
        references[classes[key]] = content["to"]
    return classes[key]


def container(content):
    """A container of the module collections, of the caller's items."""
    import collections
    kind, items = getattr(collections, content["name"]), hotcell.of_letter(content["items"], made)
    if kind is collections.deque:
        return kind(items, content["longest"])
    return kind(getattr(builtins, content["factory"]) if "factory" in content else None, items) if kind is collections.defaultdict else kind(items)


def instance(content):
    """The stand-in of an object; of an exception one of the cell's own."""
    kind = class_of(content["class"])
    if issubclass(kind, BaseException):
        args = (content["text"],) if content["args"] is None else tuple(hotcell.of_letter(content["args"], made))
        try:
            return kind(*args)
        except TypeError:  # it takes others
            error = kind.__new__(kind)
            error.args = args
            return error
    standin = object.__new__(kind)
    object.__setattr__(standin, "_hotcell_reference", content["to"])
    return standin


def module(path):
    """The cell's own module of this name. ImportError, AttributeError: it has none."""
    found = __import__(path)
    for part in path.split(".")[1:]:
        found = getattr(found, part)
    return found


def of_cell(content):
    """What the cell has itself: a class or function of a library, or a module."""
    try:
        found = module(content["module"])
        for part in content.get("path", "").split(".") if content.get("path") else ():
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return made(content["else"]) if "else" in content else None
    names_of_caller = content.get("names")
    return Module(content["module"], content["to"], found, names_of_caller) if names_of_caller else found


class Method:
    """A method of pathlib.Path that the caller has allowed: the program gets the caller's, and libraries of the cell have their own."""

    def __init__(self, name, own):
        self.name, self.own = name, own

    def __get__(self, instance, owner=None):
        own = self.own.__get__(instance, owner)
        if self.name not in methods or not hotcell.called_by_program():
            return own
        of_class = isinstance(self.own, (classmethod, staticmethod))
        given = () if instance is None or of_class else (instance,)

        def call(*args, **kwargs):
            what, name = ("call" if of_class else "of"), self.name
            found = ask(what, methods[name], name, (*given, *args), kwargs)
            return own(*args, **kwargs) if found is CONSENT else found
        call.__name__, call.__qualname__, call.__doc__ = self.name, f"Path.{self.name}", self.own.__doc__
        return call


def put_methods(content):
    """Have the program call the caller's methods of paths, those of `names` and no others."""
    import pathlib
    methods.clear()
    for name in content["names"]:
        own = next((vars(kind)[name] for kind in pathlib.Path.__mro__ if name in vars(kind)), None)
        if isinstance(own, (types.FunctionType, classmethod, staticmethod)):
            setattr(pathlib.Path, name, Method(name, own))
        if isinstance(own, (types.FunctionType, classmethod, staticmethod, Method)):
            methods[name] = content["to"]


makers = {"function": function, "object": instance, "container": container, "class": class_of, "cell": of_cell,
          "module": lambda content: Module(content["name"], content["to"]),
          "builtin": lambda content: getattr(builtins, content["name"]), "own": lambda content: CONSENT, "methods": put_methods,
          "same": lambda content: names[content["name"]]}


def made(content):
    """What a description of the caller's stands for."""
    return makers[content["kind"]](content)


def setup(plan):
    """Bind the names of a plan. What the cell does not have at all is not bound."""
    for name, node in plan.items():
        value = hotcell.of_letter(node, made)
        if name == METHODS:
            continue
        if name.startswith("import "):
            put_module(name[len("import "):], value)
        elif value is not None or node is None:
            names[name] = value


def put_module(name, value):
    """Let import statements find a module."""
    import sys
    sys.modules[name] = value
    above, _, last = name.rpartition(".")
    if above:
        setattr(sys.modules[above], last, value)
