"""Types of Python in JSON: the schema of an annotation, what checks JSON and makes a value of that type of it, and the way back.

The schemas have the keywords that hotcell(1) knows, and may so be wider than the type, as for a Union of two lists: every
value is checked here once more, by its annotation, before the callable gets it.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import itertools
import json
import math
import pathlib
import types
import typing
import uuid
from collections import abc
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .errors import InputError
from .staging import module

Schema = Dict[str, Any]
Builder = Callable[[Any], Any]


class Described(NamedTuple):
    """What an annotation is in JSON."""

    schema: Schema      # JSON schema of the values that the annotation allows
    build: Builder      # checks a value of JSON, and makes the annotation's value of it; ValueError: it does not fit
    plain: bool = True  # the values that are made are JSON's own


DEPTH = 16            # levels of a type that is made of others
MAX_EXPONENT = 1000   # most digits of a Decimal on either side of the point: 1e999999999 as an int would fill the memory
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object", type(None): "null"}
KEYWORDS = frozenset(("type", "properties", "required", "additionalProperties", "items", "enum", "const", "minimum", "maximum", "minLength",
                      "maxLength", "minItems", "maxItems", "default", "title", "description"))
KEYWORDS_OF = {"array": ("items", "minItems", "maxItems"), "object": ("properties", "required", "additionalProperties"),
               "string": ("minLength", "maxLength"), "number": ("minimum", "maximum")}  # that bind only values of this kind
KINDS = frozenset(("null", "boolean", "number", "string", "array", "object"))


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
    """The schema and the builder of an annotation's values. InputError: no schema can describe it, or its values cannot be checked."""
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


# ---- values of JSON ----

def _kind_of(value: Any) -> str:
    """The kind of a value of JSON: one of KINDS, in which an integer is a number."""
    for kind, name in ((bool, "boolean"), ((int, float), "number"), (str, "string"), ((list, tuple), "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


def _need(value: Any, name: str) -> Any:
    """The value, if it is of this kind. ValueError otherwise."""
    if _kind_of(value) != name:
        raise ValueError(f"expected {name}, got {_kind_of(value)}")
    return value


def _any(value: Any) -> Any:
    return value


def _integer(value: Any) -> int:
    """An int, which JSON may also write as 2.0."""
    if isinstance(_need(value, "number"), float) and not value.is_integer():
        raise ValueError("expected a whole number")
    return int(value)


def _number(value: Any) -> Any:
    """A number that a float can hold; an int stays one."""
    try:
        finite = math.isfinite(_need(value, "number"))
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError("expected a number that a float can hold")
    return value


def _checked(name: str) -> Builder:
    """What checks values of a type of JSON by its name."""
    builders: Dict[str, Builder] = {"integer": _integer, "number": _number}
    return builders.get(name, lambda value: _need(value, name))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: 1 and 1.0 are, 1 and true are not."""
    kind = _kind_of(one)
    if kind != _kind_of(other):
        return False
    if kind == "array":
        return len(one) == len(other) and all(map(_same, one, other))
    if kind == "object":
        return bool(one.keys() == other.keys()) and all(_same(one[name], other[name]) for name in one)
    return bool(one == other)


def _within(place: object, builder: Builder, value: Any) -> Any:
    """The value that is made of a part of another, whose place a message names."""
    try:
        return builder(value)
    except Exception as error:
        raise ValueError(f"{place}: {error}") from error


# ---- single values ----

def _simple(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if kind in (Any, object, typing.Optional):
        return Described({}, _any)
    if isinstance(kind, typing.TypeVar):
        of = typing.cast(Any, typing.Union)[kind.__constraints__] if kind.__constraints__ else kind.__bound__
        return Described({}, _any) if of is None else described(of, depth)
    if origin is typing.Annotated:
        return described(arguments[0], depth)
    if hasattr(kind, "__supertype__"):  # typing.NewType
        return described(kind.__supertype__, depth)
    if kind is None:
        return Described({"type": "null"}, _checked("null"))
    if not isinstance(kind, type):
        return None
    if kind in PLAIN:
        return Described({"type": PLAIN[kind]}, _checked(PLAIN[kind]))
    if kind in TEXTS:
        text, make = TEXTS[kind]
        return Described({"type": "string", "description": text}, lambda value: make(_need(value, "string")), False)
    if kind is decimal.Decimal:
        return Described({"type": ["string", "number"], "description": "a decimal number, as text so that it stays exact"}, _decimal, False)
    return None


def _decimal(value: Any) -> decimal.Decimal:
    """A finite Decimal with a bounded exponent."""
    if _kind_of(value) not in ("string", "number"):
        raise ValueError(f"expected string or number, got {_kind_of(value)}")
    try:
        number = decimal.Decimal(str(value))
    except decimal.InvalidOperation as error:
        raise ValueError(f"{str(value)[:100]!r} is no decimal number") from error
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):  # NaN and infinity have a letter as exponent
        raise ValueError("the decimal number is not finite")
    if max(abs(exponent), abs(number.adjusted())) > MAX_EXPONENT:
        raise ValueError(f"the exponent of the decimal number is not within {MAX_EXPONENT}")
    return number


def _literal(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if origin is typing.Literal:
        return _choice(kind, list(arguments), list(arguments))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _choice(kind, [member.value for member in kind], list(kind))
    return None


def _choice(kind: Any, values: List[Any], members: List[Any]) -> Described:
    """One of several values, which are `members` of the type. Members that are JSON themselves are plain."""
    try:
        json.dumps(values, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"the type {_name(kind)} has values that are no JSON") from error

    def build(value: Any) -> Any:
        for own, member in zip(values, members):
            if _same(own, value):
                return member
        raise ValueError(f"expected one of {json.dumps(values)[:200]}")
    return Described({"enum": values}, build, not any(isinstance(member, enum.Enum) for member in members))


# ---- one of several types ----

def _union(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if origin is not typing.Union and origin is not getattr(types, "UnionType", typing.Union):
        return None
    optional = type(None) in arguments
    every = [described(one, depth) for one in arguments]
    parts = [part for part, one in zip(every, arguments) if one is not type(None)]
    null = frozenset(("null",) if optional else ())
    kinds = [_kinds(part.schema) - null for part in parts]
    for (one, its), (other, others) in itertools.combinations(zip(parts, kinds), 2):
        if its & others and not (one.plain and other.plain):
            raise InputError(f"the type {kind} cannot be described: its members cannot be told apart in JSON")

    def build(value: Any) -> Any:
        found = _kind_of(value)
        if optional and found == "null":
            return None
        fitting = [part for part, its in zip(parts, kinds) if found in its]
        if not fitting:
            raise ValueError(f"expected {' or '.join(sorted(null.union(*kinds)))}, got {found}")
        for part in fitting[:-1]:  # more than one only if they are plain
            try:
                return part.build(value)
            except ValueError:
                pass
        return fitting[-1].build(value)
    return Described(_either([part.schema for part in every]), build, all(part.plain for part in parts))


def _either(schemas: Sequence[Schema]) -> Schema:
    """The narrowest schema of all values that fit one of several. It is exact for values of different kinds, as those of a
    type or null, and for choices; of two parts of one kind it says the kind alone."""
    notes = [schema["description"] for schema in schemas if "description" in schema]
    note = {"description": notes[0]} if notes else {}
    choices = [_choices(schema) for schema in schemas]
    if None not in choices:
        values: List[Any] = []
        for value in itertools.chain.from_iterable(choice or () for choice in choices):
            if not any(_same(value, one) for one in values):
                values.append(value)
        return {"enum": values, **note}
    names: List[str] = []
    for schema in schemas:
        types_of = _types(schema)
        if types_of is None:
            return {}
        names += types_of
    names = list(dict.fromkeys(names))
    found: Schema = {"type": names[0] if len(names) == 1 else names, **note}
    for kind, keywords in KEYWORDS_OF.items():
        of_kind = [schema for schema in schemas if kind in _kinds(schema)]
        if len(of_kind) == 1 and _choices(of_kind[0]) is None:
            found.update((name, of_kind[0][name]) for name in keywords if name in of_kind[0])
    return found


def _choices(schema: Schema) -> Optional[List[Any]]:
    """The values of which a schema asks for one; None if they are not listed."""
    if "enum" in schema:
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    return [None] if _types(schema) == ["null"] else None


def _types(schema: Schema) -> Optional[List[str]]:
    """The types of the values that fit a schema; None: all."""
    if "type" in schema:
        return list(schema["type"]) if isinstance(schema["type"], list) else [schema["type"]]
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
    return None if values is None else list(dict.fromkeys(map(_kind_of, values)))


def _kinds(schema: Schema) -> FrozenSet[str]:
    """The kinds of the values that fit a schema."""
    types_of = _types(schema)
    return KINDS if types_of is None else frozenset("number" if name == "integer" else name for name in types_of)


# ---- values within values ----

def _container(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    of = origin or kind
    if of is tuple and arguments and Ellipsis not in arguments:
        return _fixed(arguments, depth)
    if of not in (list, tuple, set, frozenset, abc.Sequence, abc.Iterable, abc.Collection, abc.Set):
        return None
    item = described(arguments[0], depth) if arguments else Described({}, _any)
    makers: Dict[Any, Callable[[Any], Any]] = {tuple: tuple, set: set, frozenset: frozenset, abc.Set: set}
    make = makers.get(of, list)
    schema = {"type": "array", **({"items": item.schema} if item.schema else {})}

    def build(values: Any) -> Any:
        return make(_within(f"[{index}]", item.build, value) for index, value in enumerate(_need(values, "array")))
    return Described(schema, build, make is list and item.plain)


def _fixed(arguments: Tuple[Any, ...], depth: int) -> Described:
    """A tuple whose items have types of their own."""
    items = [described(one, depth) for one in arguments]

    def build(values: Any) -> Any:
        if len(_need(values, "array")) != len(items):
            raise ValueError(f"expected {len(items)} items, got {len(values)}")
        return tuple(_within(f"[{index}]", item.build, value) for index, (item, value) in enumerate(zip(items, values)))
    return Described({"type": "array", "minItems": len(arguments), "maxItems": len(arguments)}, build, False)


def _mapping(kind: Any, origin: Any, arguments: Tuple[Any, ...], depth: int) -> Optional[Described]:
    if (origin or kind) not in (dict, abc.Mapping, abc.MutableMapping):
        return None
    if arguments and arguments[0] not in (str, Any):
        raise InputError(f"the type {kind} cannot be described: the keys of JSON are strings")
    member = described(arguments[1], depth) if arguments else Described({}, _any)
    schema = {"type": "object", **({"additionalProperties": member.schema} if member.schema else {})}
    return Described(schema, lambda value: {name: _within(name, member.build, each) for name, each in _need(value, "object").items()}, member.plain)


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
        schema, build, _ = _members(members, optional, depth)
        return Described(schema, lambda value: kind(**build(value)), False)
    if issubclass(kind, dict) and hasattr(kind, "__required_keys__"):  # a TypedDict
        hints = typing.get_type_hints(kind)
        return _members(hints, set(hints) - kind.__required_keys__, depth)
    return None


def _members(members: Mapping[str, Any], optional: "set[str]", depth: int) -> Described:
    """An object with these members, and no others."""
    parts = {name: described(kind, depth) for name, kind in members.items()}
    required = [name for name in members if name not in optional]

    def build(value: Any) -> Dict[str, Any]:
        for name in _need(value, "object"):
            if name not in parts:
                raise ValueError(f"{name[:64]!r} is not expected")
        for name in required:
            if name not in value:
                raise ValueError(f"{name!r} is missing")
        return {name: _within(name, parts[name].build, each) for name, each in value.items()}
    schema = {"type": "object", "properties": {name: part.schema for name, part in parts.items()}, "required": required, "additionalProperties": False}
    return Described(schema, build, all(part.plain for part in parts.values()))


def _model(kind: type) -> Optional[Described]:
    """A model of Pydantic, of version 2 or 1, which checks its values itself."""
    for describe, build in (("model_json_schema", "model_validate"), ("schema", "parse_obj")):
        if callable(getattr(kind, describe, None)) and callable(getattr(kind, build, None)):
            schema = getattr(kind, describe)()
            return Described(_reduced(schema, schema.get("$defs") or schema.get("definitions") or {}, 0), getattr(kind, build), False)
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
            whole = parts[0] if len(parts) == 1 else {} if name == "allOf" else _either(parts)
            if {"properties", "additionalProperties"} & set(found):  # which would bind the members of both
                whole = {name: value for name, value in whole.items() if name not in KEYWORDS_OF["object"]}
            found = {**whole, **found}
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
    how = "str() of it" if isinstance(value, pathlib.PurePath) else "a value of Python's own types, a data frame or an array"
    raise TypeError(f"Object of type {type(value).__name__} cannot be sent to the program: return {how}")
