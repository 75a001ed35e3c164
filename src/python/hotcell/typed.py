"""Types of Python in JSON: the schema of an annotation, what makes a value of that type of JSON, and the way back.

The schemas have the keywords that hotcell(1) knows, and may so be wider than the type: a value is made, and checked by its
own type, before the callable gets it.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import types
import typing
import uuid
from collections import abc
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .errors import InputError
from .staging import is_array, is_frame, module

Schema = Dict[str, Any]
Builder = Callable[[Any], Any]
Described = Tuple[Schema, Optional[Builder]]  # without a builder JSON's own value will do

DEPTH = 16  # levels of a type that is made of others
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object", type(None): "null"}
KEYWORDS = frozenset(("type", "properties", "required", "additionalProperties", "items", "enum", "const", "minimum", "maximum", "minLength",
                      "maxLength", "minItems", "maxItems", "default", "title", "description"))


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)  # "Z": Python before 3.11


TEXTS: Dict[Any, Tuple[str, Builder]] = {
    datetime.datetime: ("a time, as 2026-01-31T12:00:00+00:00", _moment),
    datetime.date: ("a day, as 2026-01-31", datetime.date.fromisoformat),
    datetime.time: ("a time of day, as 12:00:00", datetime.time.fromisoformat),
    uuid.UUID: ("a UUID", uuid.UUID),
    pathlib.Path: ("a path", pathlib.Path),
}


def described(kind: Any, depth: int = 0) -> Described:
    """The schema and the builder of an annotation. InputError: no schema can describe it."""
    origin = typing.get_origin(kind)
    if depth > DEPTH:
        raise InputError(f"the type {_name(kind)} contains itself, or is nested too deeply")
    for describe in (_simple, _literal, _union, _container, _mapping, _record):
        found = describe(kind, origin, typing.get_args(kind), depth + 1)
        if found is not None:
            return found
    raise InputError(f"the type {_name(kind)} cannot be described: give the schema with Tool(fn, parameters=...)")


def _name(kind: Any) -> str:
    return getattr(kind, "__qualname__", str(kind))


def _simple(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if kind in (Any, object, typing.Optional) or isinstance(kind, typing.TypeVar):
        return {}, None
    if hasattr(kind, "__supertype__"):  # typing.NewType
        return described(kind.__supertype__, depth)
    if kind is None:
        return {"type": "null"}, None
    if not isinstance(kind, type):
        return None
    if kind in PLAIN:
        return {"type": PLAIN[kind]}, None
    if kind in TEXTS:
        text, builder = TEXTS[kind]
        return {"type": "string", "description": text}, builder
    if kind is decimal.Decimal:
        return {"type": ["string", "number"], "description": "a decimal number, as text so that it stays exact"}, _decimal
    return None


def _decimal(value: Any) -> decimal.Decimal:
    try:
        return decimal.Decimal(str(value))
    except decimal.InvalidOperation as error:
        raise ValueError(f"{value!r} is no decimal number") from error


def _literal(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if origin is typing.Literal:
        return _choice(kind, list(arguments)), None
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _choice(kind, [member.value for member in kind]), kind
    return None


def _choice(kind: Any, values: List[Any]) -> Schema:
    try:
        json.dumps(values, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"the type {_name(kind)} has values that are no JSON") from error
    return {"enum": values}


def _union(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if origin is not typing.Union and origin is not getattr(types, "UnionType", typing.Union):
        return None
    parts = [described(one, depth) for one in arguments]
    built = [builder for _, builder in parts if builder is not None]
    others = [one for one, (_, builder) in zip(arguments, parts) if builder is None and one is not type(None)]
    if len(built) > 1 or built and others:
        raise InputError(f"the type {kind} cannot be described: its members cannot be told apart in JSON")
    schema = _either([schema for schema, _ in parts])
    if not built:
        return schema, None
    builder = built[0]
    return schema, lambda value: None if value is None else builder(value)


def _either(schemas: Sequence[Schema]) -> Schema:
    """A schema of values that fit one of several: their types in one list, if these are all that they say."""
    types_of: List[str] = []
    for schema in schemas:
        if not set(schema) <= {"type", "description"} or "type" not in schema:
            return {}
        types_of += schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    notes = [schema["description"] for schema in schemas if "description" in schema]
    return {"type": list(dict.fromkeys(types_of)), **({"description": notes[0]} if notes else {})}


def _container(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    of = origin or kind
    if of is tuple and arguments and Ellipsis not in arguments:
        return _fixed(arguments, depth)
    if of not in (list, tuple, set, frozenset, abc.Sequence, abc.Iterable, abc.Collection, abc.Set):
        return None
    items, builder = described(arguments[0], depth) if arguments else ({}, None)
    make = {tuple: tuple, set: set, frozenset: frozenset, abc.Set: set}.get(of)
    schema = {"type": "array", **({"items": items} if items else {})}
    if builder is None:
        return schema, make
    one = builder
    return schema, lambda values: (make or list)(one(value) for value in values)


def _fixed(arguments: Tuple[Any, ...], depth: int) -> Described:
    """A tuple whose items have types of their own."""
    builders = [described(one, depth)[1] for one in arguments]
    schema = {"type": "array", "minItems": len(arguments), "maxItems": len(arguments)}
    return schema, lambda values: tuple(value if builder is None else builder(value) for value, builder in zip(values, builders))


def _mapping(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if (origin or kind) not in (dict, abc.Mapping, abc.MutableMapping):
        return None
    if arguments and arguments[0] not in (str, Any):
        raise InputError(f"the type {kind} cannot be described: the keys of JSON are strings")
    values, builder = described(arguments[1], depth) if arguments else ({}, None)
    schema = {"type": "object", **({"additionalProperties": values} if values else {})}
    if builder is None:
        return schema, None
    one = builder
    return schema, lambda members: {name: one(value) for name, value in members.items()}


# ---- classes with members ----

def _record(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if not isinstance(kind, type):
        return None
    model = _model(kind)
    if model is not None:
        return model
    if dataclasses.is_dataclass(kind):
        optional = {f.name for f in dataclasses.fields(kind)
                    if f.default is not dataclasses.MISSING or f.default_factory is not dataclasses.MISSING}
        members = {f.name: typing.get_type_hints(kind)[f.name] for f in dataclasses.fields(kind) if f.init}
        schema, build = _members(members, optional, depth)
        return schema, lambda value: kind(**build(value))
    if issubclass(kind, dict) and hasattr(kind, "__required_keys__"):  # a TypedDict
        hints = typing.get_type_hints(kind)
        return _members(hints, set(hints) - kind.__required_keys__, depth)
    return None


def _members(members: Mapping[str, Any], optional: "set[str]", depth: int) -> Tuple[Schema, Builder]:
    parts = {name: described(kind, depth) for name, kind in members.items()}

    def build(value: Any) -> Dict[str, Any]:
        builders = {name: builder for name, (_, builder) in parts.items() if builder is not None}
        return {name: builders[name](each) if name in builders else each for name, each in value.items()}
    schema = {"type": "object", "properties": {name: schema for name, (schema, _) in parts.items()},
              "required": [name for name in members if name not in optional], "additionalProperties": False}
    return schema, build


def _model(kind: type) -> Optional[Described]:
    """A model of Pydantic, of version 2 or 1."""
    for describe, build in (("model_json_schema", "model_validate"), ("schema", "parse_obj")):
        if callable(getattr(kind, describe, None)) and callable(getattr(kind, build, None)):
            schema = getattr(kind, describe)()
            return _reduced(schema, schema.get("$defs") or schema.get("definitions") or {}, 0), getattr(kind, build)
    return None


def _reduced(schema: Any, defs: Mapping[str, Any], depth: int) -> Schema:
    """A schema without keywords that hotcell does not know, and with what it refers to in the place of references."""
    if not isinstance(schema, dict) or depth > DEPTH:
        return {}
    if "$ref" in schema:
        return {**_reduced(defs.get(schema["$ref"].rpartition("/")[2]), defs, depth + 1),
                **{name: schema[name] for name in ("title", "description", "default") if name in schema}}
    found = {name: value for name, value in schema.items() if name in KEYWORDS}
    if isinstance(found.get("properties"), dict):
        found["properties"] = {name: _reduced(value, defs, depth + 1) for name, value in found["properties"].items()}
    for name in ("items", "additionalProperties"):
        if isinstance(found.get(name), dict):
            found[name] = _reduced(found[name], defs, depth + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        parts = [_reduced(part, defs, depth + 1) for part in schema.get(name, ())]
        if parts:
            found = {**(parts[0] if len(parts) == 1 else {} if name == "allOf" else _either(parts)), **found}
    return found


# ---- results ----

def plain_of(value: Any) -> Any:
    """What a value that is no JSON is in a tool's result: the members of a dataclass or model, the value of an Enum, the
    number of a numpy scalar. TypeError, with advice, for others, whose type would be lost."""
    numpy = module("numpy")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    advice = ("to_dict('records')" if is_frame(value) else "tolist()" if is_array(value)
              else "isoformat()" if isinstance(value, (datetime.date, datetime.time)) else "")
    how = f"its {advice}" if advice else "str() of it" if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath)) else "a JSON value"
    raise TypeError(f"Object of type {type(value).__name__} is not JSON: return {how}")
