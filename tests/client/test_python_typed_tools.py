"""Tools whose parameters have types beyond JSON's: what the program is told, what the callable gets, what comes back, what is kept."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import sys
import typing
import uuid
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell import typed  # noqa: E402

BOUNDS = {"tree": "base", "timeout": 10 * cells.SLOWNESS, "memory": "256M"}
DAY, MOMENT = datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    when: typing.Optional[datetime.date] = None


class Model:
    """As models of Pydantic are, which need not be installed here."""

    def __init__(self, members):
        self.members = members

    @classmethod
    def model_json_schema(cls):
        return {"$defs": {"Inner": {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}, "required": ["n"]}},
                "type": "object", "title": "Model",
                "properties": {"inner": {"$ref": "#/$defs/Inner"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                                                                   "at": {"type": "string", "format": "date"}}, "required": ["inner"]}

    @classmethod
    def model_validate(cls, value):
        if value["inner"]["n"] <= 0:
            raise ValueError("n must be greater than 0")
        return cls(value)

    def model_dump(self, mode="python"):
        return dict(self.members)


@pytest.fixture(name="here", autouse=True)
def directory_of_its_own(base_tree, monkeypatch):
    monkeypatch.chdir(cells.new_directory(cells.caller()))
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)


CASES = [  # annotation, schema, JSON, value that the callable gets
    (datetime.date, {"type": "string", "description": "a day, as 2026-01-31"}, "2026-01-31", DAY),
    (datetime.datetime, {"type": "string", "description": "a time, as 2026-01-31T12:00:00+00:00"}, "2026-01-31T12:00:00Z", MOMENT),
    (typing.Optional[datetime.date], {"type": ["string", "null"], "description": "a day, as 2026-01-31"}, None, None),
    (typing.List[datetime.date], {"type": "array", "items": {"type": "string", "description": "a day, as 2026-01-31"}}, ["2026-01-31"], [DAY]),
    (decimal.Decimal, {"type": ["string", "number"], "description": "a decimal number, as text so that it stays exact"}, "1.10", decimal.Decimal("1.10")),
    (uuid.UUID, {"type": "string", "description": "a UUID"}, str(uuid.UUID(int=7)), uuid.UUID(int=7)),
    (Colour, {"enum": ["red", "blue"]}, "blue", Colour.BLUE),
    (Point, {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"},
                                              "when": {"type": ["string", "null"], "description": "a day, as 2026-01-31"}},
             "required": ["x"], "additionalProperties": False}, {"x": 1, "when": "2026-01-31"}, Point(1, 0, DAY)),
    (typing.Dict[str, Colour], {"type": "object", "additionalProperties": {"enum": ["red", "blue"]}}, {"a": "red"}, {"a": Colour.RED}),
    (typing.Set[int], {"type": "array", "items": {"type": "integer"}}, [1, 1], {1}),
    (typing.Tuple[int, datetime.date], {"type": "array", "minItems": 2, "maxItems": 2}, [1, "2026-01-31"], (1, DAY)),
    (typing.Union[int, str], {"type": ["integer", "string"]}, "a", "a"),
    (typing.Literal["a", 1], {"enum": ["a", 1]}, 1, 1),
    (typing.Any, {}, [1], [1]),
]


@pytest.mark.parametrize("kind, schema, plain, value", CASES, ids=[str(case[0]) for case in CASES])
def test_what_a_type_is_in_json(kind, schema, plain, value):
    found, build, _ = typed.described(kind)
    assert found == schema and build(plain) == value and type(build(plain)) is type(value)


class Options(typing.TypedDict, total=False):
    kind: typing.Literal["a", "b"]
    n: int


@dataclasses.dataclass
class Query:
    """With members whose types a schema says, and a Union that it cannot say."""
    table: typing.Literal["public", "prices"]
    limit: int = 1
    columns: typing.Union[typing.List[int], typing.List[str]] = dataclasses.field(default_factory=list)


TABLE = typing.Literal["public", "prices"]
QUERY = {"type": "object", "properties": {"table": {"enum": ["public", "prices"]}, "limit": {"type": "integer"}, "columns": {"type": "array"}},
         "required": ["table"], "additionalProperties": False}
NUMBERS = typing.TypeVar("NUMBERS", int, float)
TEXT = typing.TypeVar("TEXT", bound=str)
CHECKED = [  # annotation, its schema, JSON that fits, JSON that does not
    (typing.Optional[TABLE], {"enum": ["public", "prices", None]}, ["public", None], ["users; DROP TABLE x", {"$ne": None}, ["public"], True]),
    (typing.Optional[Colour], {"enum": ["red", "blue", None]}, ["red", None], ["green", {}, 0]),
    (typing.Optional[typing.List[int]], {"type": ["array", "null"], "items": {"type": "integer"}}, [[1], [], None], ["../../etc", ["a"], [True], [1.5], {}]),
    (typing.Optional[Query], {**QUERY, "type": ["object", "null"]}, [{"table": "public"}, {"table": "prices", "limit": 2, "columns": ["a"]}, None],
     ["x", {}, {"table": "users"}, {"table": "public", "limit": "1"}, {"table": "public", "limit": True}, {"table": "public", "more": 1},
      {"table": "public", "columns": ["a", 1]}, {"table": {"$ne": None}}]),
    (typing.Optional[Options], {"type": ["object", "null"], "properties": {"kind": {"enum": ["a", "b"]}, "n": {"type": "integer"}}, "required": [],
                                "additionalProperties": False}, [{}, {"kind": "a", "n": 1}, None], ["a", {"kind": "c"}, {"n": "1"}, {"m": 1}]),
    (typing.Optional[typing.Dict[str, int]], {"type": ["object", "null"], "additionalProperties": {"type": "integer"}}, [{"a": 1}, None], [{"a": "b"}, 1]),
    (typing.Optional[typing.Tuple[int, TABLE]], {"type": ["array", "null"], "minItems": 2, "maxItems": 2}, [[1, "public"], None],
     [[1], [1, "users"], [1, "public", 2], "ab"]),
    (typing.Tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2}, [[1, "a"]], [[1, 2], ["a", "b"], [1], [1, "a", "b"]]),
    (typing.Union[TABLE, int], {"type": ["string", "integer"]}, ["public", 3], ["users", 1.5, True, None, {}]),
    (typing.Union[typing.List[int], typing.List[str]], {"type": "array"}, [[1], ["a"], []], [[1, "a"], [None], "a"]),
    (typing.Union[typing.List[int], typing.Dict[str, TABLE], None], {"type": ["array", "object", "null"], "items": {"type": "integer"},
                                                                     "additionalProperties": {"enum": ["public", "prices"]}},
     [[1], {"a": "public"}, None], [["a"], {"a": "users"}, "a", 1]),
    (typing.Union[int, datetime.date], {"type": ["integer", "string"], "description": "a day, as 2026-01-31"}, [1, "2026-01-31"], ["1", True, 1.5]),
    (typing.List[typing.Optional[TABLE]], {"type": "array", "items": {"enum": ["public", "prices", None]}}, [["public", None]], [["users"], "public"]),
    (typing.Literal[1, "a"], {"enum": [1, "a"]}, [1, "a"], [True, "1", 2]),
    (typing.Optional[bool], {"type": ["boolean", "null"]}, [True, None], [1, "true"]),
    (typing.Optional[float], {"type": ["number", "null"]}, [1, 1.5, None], [True, "1", float("nan"), float("inf"), 10 ** 400]),
    (typing.Optional[int], {"type": ["integer", "null"]}, [1, None], [True, "1", 1.5, float("inf")]),
    (typing.Optional[str], {"type": ["string", "null"]}, ["a", None], [1, {"$ne": None}]),
    (typing.Optional[datetime.date], {"type": ["string", "null"], "description": "a day, as 2026-01-31"}, ["2026-01-31"], ["x", 1, {}]),
    (NUMBERS, {"type": ["integer", "number"]}, [1, 1.5], ["a", True]), (TEXT, {"type": "string"}, ["a"], [1]),
]


@pytest.mark.parametrize("kind, schema, fits, misfits", CHECKED, ids=[str(case[0]) for case in CHECKED])
def test_what_does_not_fit_an_annotation_does_not_reach_the_callable(kind, schema, fits, misfits):
    reached = []

    def fn(x=None):
        reached.append(x)
    fn.__annotations__["x"] = kind
    tool = hotcell.Tool(fn)
    assert {**tool.described()["parameters"]["properties"]["x"], "default": 0} == {**schema, "default": 0}
    for value in misfits:
        answer = hotcell.tools.call_tool(tool, {"x": value}, hotcell.tools.Toolbox())
        assert answer.get("error", "").startswith("ValueError: x: ") and reached == [], (value, answer, reached)
    for value in fits:
        assert "error" not in hotcell.tools.call_tool(tool, {"x": value}, hotcell.tools.Toolbox()), value
    assert len(reached) == len(fits)


def test_an_integer_may_be_written_as_a_float():
    assert type(typed.described(int).build(2.0)) is int and typed.described(float).build(2) == 2


def test_the_launcher_takes_the_schemas_and_the_program_is_told_of_misfits():
    reached = []

    def table(name: typing.Optional[TABLE] = None, query: typing.Optional[Query] = None, columns: typing.Union[typing.List[int], typing.List[str]] = ()):
        reached.append((name, query, columns))
    program = "for given in ({'name': 'users; DROP TABLE x'}, {'name': {'$ne': None}}, {'query': {'table': 'users'}}, {'columns': [1, 'a']},\n" \
              "              {'query': {'table': 'public', 'columns': [None]}}, {'name': None, 'query': {'table': 'public'}, 'columns': ['a']}):\n" \
              "    try: print(tools.table(**given))\n    except ToolError as error: print(error)"
    lines = hotcell.run(program, tools=[table], check=True, **BOUNDS).text.splitlines()
    assert reached == [(None, Query("public"), ["a"])] and len(lines) == 6, lines
    assert lines[3:] == ["ValueError: columns: [0]: expected string, got number",
                         "ValueError: query: columns: [0]: expected string, got null", "None"], lines


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-inf", "1e1001", "1e-1001", "1E+999999999", "0e5000", "1" * 1100, "x", True, None, []])
def test_a_decimal_is_finite_and_bounded(text):
    def pay(amount: decimal.Decimal) -> decimal.Decimal:
        return amount
    with pytest.raises(ValueError, match="amount: "):
        hotcell.Tool(pay).call({"amount": text})
    for plain, value in (("1e1000", "1e1000"), (1.5, "1.5"), (3, "3"), ("-0.001", "-0.001")):
        assert hotcell.Tool(pay).call({"amount": plain}) == decimal.Decimal(value)


def ask(query: str, table: TABLE = "public", *, key: str = "", limit: int = 1) -> list:
    return [query, table, key, limit]


def ask_all(query: str, **more: int) -> list:
    return [query, more]


class Database:
    def ask(self, query: str, key: str) -> list:
        return [query, key]

    bound = functools.partialmethod(ask, key="s3cret")

    def __call__(self, query: str, key: str) -> list:
        return [query, key]


def wrapped():
    @functools.wraps(functools.partial(ask, key="s3cret"))
    def wrapper(*args, **named):
        return ask(*args, **{"key": "s3cret", **named})
    return wrapper


@pytest.mark.parametrize("fn, names", [
    (functools.partial(ask, key="s3cret"), {"query", "table", "limit"}), (functools.partial(functools.partial(ask, key="s3cret"), limit=2), {"query", "table"}),
    (functools.partial(ask_all, key="s3cret"), {"query"}), (functools.partial(Database(), key="s3cret"), {"query"}), (Database().bound, {"query"}),
    (functools.partial(Database().ask, key="s3cret"), {"query"}), (wrapped(), {"query", "table", "limit"})])
def test_what_a_partial_has_bound_is_no_argument(fn, names):
    tool = hotcell.Tool(fn, name="ask")
    described, errors = tool.described(), hotcell.tools.Toolbox()
    assert set(described["parameters"]["properties"]) == names and "s3cret" not in str(described)
    for arguments in ({"query": "a", "key": "mine"}, {"query": 1}):
        assert "error" in hotcell.tools.call_tool(tool, dict(arguments), errors), arguments
    assert "s3cret" in str(hotcell.tools.call_tool(tool, {"query": "a"}, errors)["value"])
    own = hotcell.Tool(fn, name="ask", parameters={})
    assert "'key' is not expected" in hotcell.tools.call_tool(own, {"query": "a", "key": "mine"}, errors)["error"]


def test_arguments_have_their_own_parameters():
    def by_position(a: str = "-", b: int = 0, /) -> list:
        return [a, b]

    def options(**names: typing.Optional[TABLE]) -> dict:
        return names
    assert hotcell.Tool(by_position).call({"b": 1}) == ["-", 1]
    assert hotcell.Tool(options).described()["parameters"]["additionalProperties"] == {"enum": ["public", "prices", None]}
    assert hotcell.Tool(options).call({"x": "public"}) == {"x": "public"}
    result = hotcell.run("print(tools.options(x='public', y=None))\ntools.options(x='users')", tools=[options], **BOUNDS)
    assert result.text.startswith("{'x': 'public', 'y': None}") and result.error.type == "ToolError", result
    for fn, arguments in ((options, {"x": "users"}), (by_position, {"c": 1})):
        with pytest.raises(ValueError):
            hotcell.Tool(fn).call(arguments)


def test_a_path_is_not_confined():
    def read(path: Path) -> str:
        return str(path)
    assert hotcell.Tool(read).call({"path": "../../etc/passwd"}) == "../../etc/passwd"


def test_a_program_calls_with_json_and_the_callable_gets_its_types():
    got = []

    def pay(day: datetime.date, amount: decimal.Decimal, point: Point, colour: Colour, model: Model, times: typing.List[datetime.datetime] = ()) -> Point:
        got.append((day, amount, point, colour, model.members, list(times)))
        return dataclasses.replace(point, when=None)
    program = "tools.pay(day='2026-01-31', amount='1.10', point={'x': 1}, colour='red', model={'inner': {'n': 1}}, times=['2026-01-31T12:00:00Z'])"
    result = hotcell.run(program, tools=[pay], check=True, **BOUNDS)
    assert got == [(DAY, decimal.Decimal("1.10"), Point(1), Colour.RED, {"inner": {"n": 1}}, [MOMENT])]
    assert result.value == {"x": 1, "y": 0, "when": None} and result.tool_errors == ()
    refused = hotcell.run("tools.pay(day='x', amount='1', point={'x': 1}, colour='red', model={'inner': {'n': 1}})", tools=[pay], **BOUNDS)
    assert refused.error.type == "ToolError" and "day: Invalid isoformat string: 'x'" in refused.error.message
    for wrong in ("colour='green'", "point={'z': 1}", "point={'x': 'a'}"):  # refused by the schema, before they leave the cell
        arguments = {"day": "'2026-01-31'", "amount": "'1'", "point": "{'x': 1}", "colour": "'red'", "model": "{'inner': {'n': 1}}",
                     **dict([wrong.split("=", 1)])}
        refused = hotcell.run(f"tools.pay({', '.join(f'{name}={value}' for name, value in arguments.items())})", tools=[pay], **BOUNDS)
        assert refused.status == "error" and len(got) == 1, wrong


def test_a_model_is_described_without_references_and_makes_its_own_values():
    schema, build, _ = typed.described(Model)
    assert schema == {"type": "object", "title": "Model", "required": ["inner"],
                      "properties": {"inner": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
                                     "note": {"type": ["string", "null"]}, "at": {"type": "string"}}}
    with pytest.raises(ValueError, match="greater than 0"):
        build({"inner": {"n": 0}})
    pydantic = pytest.importorskip("pydantic")

    class Real(pydantic.BaseModel):
        n: int
        day: datetime.date
    schema, build, _ = typed.described(Real)
    assert schema["properties"]["n"]["type"] == "integer" and build({"n": 1, "day": "2026-01-31"}).day == DAY


class Opaque:
    pass


def test_what_cannot_work_is_refused_when_the_tool_is_given():
    def variadic(*rest: int) -> None: ...
    def opaque(x: Opaque) -> None: ...
    def either(x: typing.Union[str, datetime.date]) -> None: ...
    def keys(x: typing.Dict[int, str]) -> None: ...
    def unknown(x: "NowhereDefined") -> None: ...  # noqa: F821
    for tools, message in (([variadic], r"tools: variadic: \*rest: a program gives arguments by their names"),
                           ([opaque], "tools: opaque: x: the type Opaque cannot be described"), ([either], "cannot be told apart in JSON"),
                           ([keys], "the keys of JSON are strings"), ([unknown], "cannot be resolved.*NowhereDefined"),
                           ([lambda n: n], "tools: '<lambda>' is no name that a program can write"), ({"a b": len}, "'a b' is no name")):
        with pytest.raises(hotcell.InputError, match=message):
            hotcell.run("1", tools=tools, **BOUNDS)
    assert hotcell.run("tools.double(n=2)", tools={"double": lambda n: 2 * n}, **BOUNDS).value == 4
    described = hotcell.Tool(opaque, parameters={"type": "object", "properties": {"x": {"type": "string"}}})
    assert hotcell.run("tools.opaque(x='a')", tools=[described], **BOUNDS).ok


def test_results_that_json_has_not_come_back_as_themselves():
    results = {"day": DAY, "amount": decimal.Decimal("1.1"), "colour": Colour.RED, "model": Model({"a": 1})}

    def give(what: str) -> object:
        return results[what]
    given = {**results, "many": {"days": {DAY}, "pair": (1, b"x"), "big": 2 ** 70}, "mine": {"$hotcell": 1}, "tag": [{"$tuple": [1]}]}
    results.update(given)
    for what in ("day", "amount", "many", "mine", "tag"):
        assert hotcell.run(f"tools.give('{what}')", tools=[give], **BOUNDS).value == results[what], what
    results["odd"] = [object()]
    result = hotcell.run("tools.give('odd')", tools=[give], **BOUNDS)
    assert result.error.type == "ToolError" and "Object of type object cannot be sent to the program" in result.error.message
    results["large"] = {DAY: "x" * (1 << 20)}
    assert "and result_size is 1048576" in hotcell.run("tools.give('large')", tools=[give], **BOUNDS).error.message
    assert hotcell.run("[tools.give('colour'), tools.give('model')]", tools=[give], **BOUNDS).value == ["red", {"a": 1}]


@pytest.mark.parametrize("policy", ["default", "analysis", "notebook"])
def test_frames_and_arrays_come_as_such(scientific, policy):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1, 2], "day": [DAY, DAY], "amount": [decimal.Decimal("1.10"), decimal.Decimal("2.20")]})

    def query(sql: str):
        return frame if sql else {"array": numpy.arange(3), "frames": [frame]}
    options = {**BOUNDS, "tree": "scientific", "memory": "1G", "timeout": 60 * cells.SLOWNESS}
    result = hotcell.run("f = tools.query('x')\nm = tools.query('')\n(type(f).__name__, str(f.amount.sum()), int(m['array'].sum()), m['frames'][0].equals(f))",
                         tools=[query], policy=policy, returns=["f"], **options)
    assert result.value == ("DataFrame", "3.30", 3, True)
    pandas.testing.assert_frame_equal(result.returned["f"], frame)
    assert typed.plain_of(numpy.int64(3)) == 3
    result = hotcell.run("tools.query('x')", tools=[query], **BOUNDS)
    assert "the result cannot be read here: No module named 'pandas'" in result.error.message


SECRET = "a host's secret"


def secretive(n: int) -> int:
    password = SECRET  # noqa: F841
    raise LookupError(f"no {n}")


async def later(n: int) -> int:
    await asyncio.sleep(0)
    return secretive(n)


@pytest.mark.parametrize("tool", [secretive, later])
@pytest.mark.parametrize("how", ["run", "arun", "session", "daemon", "async daemon", "daemon session"])
def test_the_traceback_of_a_tool_stays_with_its_host(how, tool, base_tree):
    program = f"import traceback\ntry:\n    tools.{tool.__name__}(7)\nexcept Exception as error:\n    seen = traceback.format_exc()\n    print(seen, repr(error.__cause__), vars(error))\n" \
              f"tools.{tool.__name__}(8)"
    if how == "run":
        result = hotcell.run(program, tools=[tool], **BOUNDS)
    elif how == "arun":
        result = asyncio.run(hotcell.arun(program, tools=[tool], **BOUNDS))
    elif how == "session":
        with hotcell.Session(tools=[tool], **BOUNDS) as session:
            session.run(f"try:\n    tools.{tool.__name__}(1)\nexcept Exception: pass")
            result = session.run(program)
    else:
        with daemons.Daemon(config={"workers": 1}) as d:
            if how == "daemon":
                result = hotcell.Daemon(d.socket).run(program, tools=[tool], **BOUNDS)
            elif how == "async daemon":
                result = asyncio.run(hotcell.AsyncDaemon(d.socket).run(program, tools=[tool], **BOUNDS))
            else:
                with hotcell.Daemon(d.socket).session(tools=[tool], **BOUNDS) as session:
                    result = session.run(program)
            d.end()
    assert result.error.type == "ToolError" and "LookupError: no 7" in result.text
    assert [error.args for error in result.tool_errors] == [("no 7",), ("no 8",)]
    frames = []
    walk = result.tool_errors[0].__traceback__
    while walk:
        frames.append(walk.tb_frame.f_code.co_name)
        walk = walk.tb_next
    assert "secretive" in frames and __file__ not in result.text and "secretive(n)" not in result.text and "password" not in result.text


def test_a_job_error_has_its_cause():
    with pytest.raises(hotcell.JobError, match="ToolError") as error:
        hotcell.run("tools.secretive(1)", tools=[secretive], check=True, **BOUNDS)
    assert isinstance(error.value.__cause__, LookupError)
