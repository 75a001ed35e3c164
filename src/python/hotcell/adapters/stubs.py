"""Stubs of the caller's callables in the cell: they take what they are given, and raise what was raised here.

An exception is a value on its way, so that its type goes along.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ..tools import Tool, text_of
from .allow import AllowChecked

# What every tool of RunPython may do; the job's own time comes first.
BOUNDS: Dict[str, Any] = {"calls": 10000, "timeout": "1h", "argument_size": "1M", "result_size": "16M"}

# In the cell: what an answer stands for.
RESULT = """
    def result(answer):
        import builtins
        if "raised" in answer:
            kind, message = answer["raised"]
            kind = getattr(builtins, kind, None)
            raise (kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError)(message)
        return answer["value"]
"""
STUBS = f"""
def hotcell_stubs(tools, names, awaited):
{RESULT}
    def stub(name):
        tool = getattr(tools, name)
        async def later(*args, **kwargs):
            return result(await tool.call_async(args=args, kwargs=kwargs))
        def now(*args, **kwargs):
            return result(tool(args=args, kwargs=kwargs))
        call = later if name in awaited else now
        call.__name__ = call.__qualname__ = name
        call.__doc__ = tool.__doc__
        return call
    return {{name: stub(name) for name in names}}
"""
ANY_ARGUMENTS = {"type": "object", "properties": {"args": {"type": "array"}, "kwargs": {"type": "object"}},
                 "required": ["args", "kwargs"], "additionalProperties": False}


def stubs(tools: Mapping[str, Callable[..., Any]]) -> str:
    """The code that defines the stubs in the cell."""
    if not tools:
        return ""
    awaited = [name for name, fn in tools.items() if inspect.iscoroutinefunction(fn)]
    return f"{STUBS}\nglobals().update(hotcell_stubs(tools, {list(tools)}, {awaited}))\ndel hotcell_stubs, tools, ToolError\n"


def value_of(value: Any) -> Dict[str, Any]:
    """The answer for a value; TypeError if it is no JSON."""
    json.dumps(value, allow_nan=False)
    return {"value": value}


def raised(error: Exception) -> Dict[str, Any]:
    """The answer for an exception."""
    return {"raised": [type(error).__name__, text_of(error)]}


def tool(fn: Callable[..., Any], ok_dests: Optional[Sequence[str]]) -> Tool:
    """The tool that answers a stub's calls: it calls the callable after its policies."""
    checked = AllowChecked(fn, ok_dests)

    def call(args: List[Any], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        try:
            return value_of(checked(*args, **kwargs))
        except Exception as error:
            return raised(error)

    async def call_async(args: List[Any], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        try:
            return value_of(await checked(*args, **kwargs))
        except Exception as error:
            return raised(error)
    return Tool(call_async if inspect.iscoroutinefunction(fn) else call, description=inspect.getdoc(fn) or "",
                parameters=ANY_ARGUMENTS, **BOUNDS)
