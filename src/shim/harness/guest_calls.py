"""Calls of the program, of which sys.monitoring tells from Python 3.12 on.

A function of the policy's own code is asked about each of them, and a native function outside of the standard library is announced as the
audit event "hotcell.call", unless the policy declares it. Calls that libraries make are not looked at: each of their places is told of
once, and then no more.
"""
import sys
import types

TOOL = 3  # number of the tool, as sys.monitoring has it
NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
          types.MethodWrapperType)
HEAP_TYPE = 1 << 9  # flag of a class that a module or a class statement has made
OF_PYTHON = {*sys.stdlib_module_names, "builtins"}

monitoring = None  # the interpreter's module, which programs do not get
watcher = None     # called with (caller, callee, function, code, offset); returns whether this place is of no more interest
declared = None    # names of native functions that are not announced; None: none is


def begin():
    global monitoring
    if monitoring is not None:
        return
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        raise RuntimeError(f"calls can be watched from Python 3.12 on, and the tree has Python {sys.version_info[0]}.{sys.version_info[1]}")
    monitoring.use_tool_id(TOOL, "hotcell")
    monitoring.register_callback(TOOL, monitoring.events.CALL, on_call)
    monitoring.set_events(TOOL, monitoring.events.CALL)
    del sys.monitoring
    sys.modules.pop("sys.monitoring", None)


def watch(function):
    global watcher
    begin()
    watcher = function


def declare(names):
    global declared
    begin()
    declared = names


def on_call(code, offset, callee, first):
    if code.co_filename.startswith(("/usr/", "<frozen", "<hotcell", "<harness")):
        return monitoring.DISABLE
    if declared is not None and is_native(callee):
        module, name = name_of(callee)
        if module.partition(".")[0] not in OF_PYTHON and not is_declared(f"{module}.{name}"):
            sys.audit("hotcell.call", caller_of(code), f"{module}.{name}")
    if watcher is not None and code.co_filename != "<string>" and watcher(caller_of(code), ".".join(name_of(callee)), callee, code, offset):
        return monitoring.DISABLE
    return None


def caller_of(code):
    return "__main__" if code.co_name == "<module>" else f"__main__.{code.co_qualname}"


def name_of(callee):
    """Its module and its name there. Nothing of the program's runs: an object of its own is known by its class."""
    kind = type(callee)
    if kind is types.MethodType:
        return name_of(callee.__func__)
    if kind is types.FunctionType:
        return str(callee.__module__), callee.__qualname__
    if kind is types.BuiltinFunctionType:
        return str(callee.__module__ or type.__getattribute__(type(callee.__self__), "__module__")), callee.__qualname__
    if kind is types.MethodWrapperType:
        return str(type.__getattribute__(type(callee.__self__), "__module__")), callee.__qualname__
    if kind in NATIVE:
        return str(type.__getattribute__(callee.__objclass__, "__module__")), callee.__qualname__
    if isinstance(callee, type):
        return str(type.__getattribute__(callee, "__module__")), type.__getattribute__(callee, "__qualname__")
    try:
        return str(object.__getattribute__(callee, "__module__")), str(object.__getattribute__(callee, "__qualname__"))
    except AttributeError:
        return str(type.__getattribute__(kind, "__module__")), type.__getattribute__(kind, "__qualname__")


def is_native(callee):
    kind = type(callee)
    if kind is types.FunctionType:
        return False
    if kind is types.MethodType:
        return is_native(callee.__func__)
    if kind in NATIVE:
        return True
    if isinstance(callee, type):
        module = sys.modules.get(type.__getattribute__(callee, "__module__"))
        return not callee.__flags__ & HEAP_TYPE or str(getattr(module, "__file__", "")).endswith(".so")
    call = next((vars(each)["__call__"] for each in type.__getattribute__(kind, "__mro__") if "__call__" in vars(each)), None)
    return type(call) is types.WrapperDescriptorType


def is_declared(name):
    return any(name == each or name.startswith(each[:-1] if each.endswith("*") else f"{each}.") for each in declared)
