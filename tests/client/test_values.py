"""Values that go into cells and come back as themselves: every type of samples.py, in each way that a program can be run; and what a
hostile program sends instead."""

import base64
import collections
import enum
import io
import json
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

import cells
import daemons
import pytest
import samples

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell import results, value_decoder, values  # noqa: E402

BOUNDS = {"tree": "scientific", "memory": "1G", "timeout": 60 * cells.SLOWNESS}
TAGGED = "application/vnd.hotcell.value+json"


@pytest.fixture(autouse=True)
def in_scratch(monkeypatch, base_tree):
    directory = cells.new_directory(cells.caller())
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOTCELL", str(cells.HOTCELL))
    monkeypatch.delenv("HOTCELL_SOCKET", raising=False)
    (directory / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(directory / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)  # looked for again


@pytest.fixture(scope="module")
def made():
    cells.need_module("pandas")
    return samples.made()


@pytest.fixture(params=["cold", "session", "daemon", "session of a daemon"])
def run(request, scientific):
    """hotcell.run, and all else that runs a program."""
    if request.param == "cold":
        yield lambda code, **options: hotcell.run(code, **BOUNDS, **options)
    elif request.param == "session":
        with hotcell.Session(**BOUNDS) as session:
            yield session.run
    else:
        with daemons.Daemon() as daemon:
            client = hotcell.Daemon(daemon.socket)
            if request.param == "daemon":
                yield lambda code, **options: client.run(code, **BOUNDS, **options)
            else:
                with client.session(**BOUNDS) as session:
                    yield session.run


def same(describe, sent, got):
    assert json.dumps(describe(sent)) == json.dumps(describe(got))


def test_every_type_goes_in(run, made):
    table, describe = made
    every = {**table["arrays"], **table["frames"], **table["others"]}
    names = {f"v{number}": value for number, value in enumerate(every.values())}
    result = run(f"{samples.source()}\nimport json\nfor name in {list(names)}: print(json.dumps(describe(globals()[name])))", inputs=names)
    assert result.ok, (result.reason, result.stderr.text, result.error)
    assert result.warnings == ()
    for (name, value), line in zip(every.items(), result.text.splitlines()):
        assert line == json.dumps(describe(value)), name


def test_every_type_goes_in_as_a_variable(run, made):
    table, describe = made
    every = {**table["scalars"], **table["arrays"], "all frames": table["frames"]}
    del every["numpy scalars"], every["numpy scalar"]  # of these, numbers become numbers of Python
    names = {f"v{number}": value for number, value in enumerate(every.values())}
    result = run(f"{samples.source()}\nimport json, os\nfor name in {list(names)}: print(json.dumps(describe(globals()[name])))\n"
                 "print(os.listdir())", vars=names)
    assert result.ok, (result.reason, result.stderr.text, result.error)
    *lines, listed = result.text.splitlines()
    for (name, value), line in zip(every.items(), lines):
        assert line == json.dumps(describe(value)), name
    assert "hcvalue" not in listed and result.warnings == ()


def test_variables_need_no_library(base_tree):
    """Plain types of Python, mixed with JSON; numbers of numpy and subclasses of plain types become these."""
    given = {"amount": Decimal("1.10"), "pair": (1, [{2, 3}]), "plain": {"a": [1, None]}, "odd": [1.0, float("inf")], "raw": b"a\0",
             "order": collections.OrderedDict(a=1), "huge": 2**200, "keys": {1: "a"}, "dollar": {"$tuple": 1}, "null": "a\0b"}
    result = hotcell.run(f"({', '.join(given)})", tree="base", vars=given, inputs={})
    assert result.ok and result.value == tuple(given.values()), (result.reason, result.warnings)
    np = cells.need_module("numpy")
    assert hotcell.run("(a, b, type(b[0]) is int)", tree="base", vars={"a": np.float64(1.5), "b": [np.int8(3), (1,)]}).value == (1.5, [3, (1,)], True)


def test_what_neither_vars_nor_inputs_take_is_said_once(base_tree):
    class Colour(enum.Enum):
        RED = 1
    circle = [1]
    circle.append(circle)
    for value, text in ((object(), "object is not carried: convert it first, such as to str"), (Colour.RED, "give its value or its name"),
                        (circle, "it contains itself"), ([{1: print}], "builtin_function_or_method is not carried")):
        for argument in "vars", "inputs":
            with pytest.raises(hotcell.InputError) as caught:
                hotcell.run("1", tree="base", **{argument: {"x": value}})
            assert str(caught.value).startswith(f"{argument}: x: ") and text in str(caught.value)
            assert "vars=" not in str(caught.value) and "inputs=" not in str(caught.value) or value is circle
    with pytest.raises(hotcell.InputError, match="inputs: x: .* got set: give it with vars=$"):
        hotcell.run("1", tree="base", inputs={"x": {1}})
    with pytest.raises(hotcell.InputError, match="vars: x: it has more bytes than .*: give it as a file with inputs=$"):
        hotcell.run("1", tree="base", vars={"x": bytes(70 << 20)})
    with pytest.raises(hotcell.InputError, match="vars: more than 64 .*: put several into one dict$"):
        hotcell.run("1", tree="base", vars={f"x{number}": {number} for number in range(65)})
    with pytest.raises(hotcell.InputError, match="vars: 'x': the name is given twice among inputs and vars"):
        hotcell.run("1", tree="base", vars={"x": {1}}, inputs={"x": "f"})


def test_a_malformed_value_rejects_the_job(base_tree):
    Path("a.hcvalue").write_text('{"$no": 1}')
    result = hotcell.run("1", tree="base", inputs={"a": "a.hcvalue"})
    assert result.status == "rejected" and "Could not load value a from /input/a.hcvalue: " in result.rejection.message


def test_every_type_comes_back(run, made):
    table, describe = made
    result = run(samples.source() + "scalars, arrays, frames, others = samples.values()\n(scalars, arrays)",
                 returns=["scalars", "arrays", "frames", "others"])
    assert result.ok, (result.reason, result.stderr.text, result.error)
    for kind, sent in table.items():
        assert result.returned.why(kind) is None
        for name, value in sent.items():
            same(describe, value, result.returned[kind][name])
    same(describe, (table["scalars"], table["arrays"]), result.value)


def test_each_value_comes_back(made, scientific):
    """Each as the value of a run of its own: the last expression of a program."""
    table, describe = made
    with hotcell.Session(**BOUNDS) as session:
        assert session.run(samples.source()).ok
        for kind, sent in table.items():
            for name, value in sent.items():
                same(describe, value, session.run(f"samples[{kind!r}][{name!r}]").value)


def test_a_text_is_told_from_a_repr():
    for code, kind in (("'object'", str), ("'\\ud800'", str), ("object()", hotcell.Repr), ("object", hotcell.Repr)):
        assert type(hotcell.run(code, tree="base").value) is kind
    assert hotcell.run("import collections; collections.OrderedDict(a=1)", tree="base").value == {"a": 1}


def test_what_is_too_large_is_said(scientific):
    result = hotcell.run("list(range(120_000))", tree="base")
    assert result.value == list(range(120_000)) and result.warnings == ("guest: The text of the value was cut: it is too long.",)
    result = hotcell.run("tuple(range(300_000))", tree="base")
    assert type(result.value) is hotcell.Repr and any(TAGGED in line and "too large" in line for line in result.warnings)
    result = hotcell.run("x = list(range(500_000))\nx", tree="base", limits={"value": "64K"}, returns=["x"])
    assert [line for line in result.warnings if "application/json" in line] == [
        "guest: The value as application/json was left out: it is too large: limits.value is 64K. "
        "A variable comes back whole with returns=[\"NAME\"]."]
    assert result.returned["x"] == list(range(500_000))
    result = hotcell.run("import matplotlib.pyplot as plt\nfor i in range(30): plt.figure()", **BOUNDS)
    assert len(result.figures) == 20 and any(line.startswith("guest: 10 of 30") for line in result.warnings)


def test_what_cannot_be_carried_is_refused_by_its_name(scientific):
    pd = cells.need_module("pandas")
    for frame, text in ((pd.DataFrame({"a": [1], "b": [object()]}), "inputs: f: column 'b' (dtype object): object is not carried: convert"),
                        (pd.DataFrame({("x", "y"): [json.JSONDecoder()]}), "column ('x', 'y') (dtype object): json.decoder.JSONDecoder is"),
                        (pd.DataFrame({"a": [1]}, index=pd.Index([object()])), "index (dtype object): object is not carried"),
                        (pd.DataFrame({"a": [1]}).pipe(type("Mine", (pd.DataFrame,), {})), "Mine is not carried"),
                        (pd.Series(pd.to_datetime(["2024-01-01"])).dt.tz_localize("dateutil/Europe/Rome").to_frame("t"), "column 't' (dtype")):
        with pytest.raises(hotcell.InputError) as caught:
            hotcell.run("1", inputs={"f": frame}, **BOUNDS)
        assert text in str(caught.value)
    result = hotcell.run("import pandas as pd\nf = pd.DataFrame({'a': [1], 'b': [object()]})\nx = object()", returns=["f", "x"], **BOUNDS)
    assert "column 'b' (dtype object): object is not carried" in result.returned.why("f") and "object" in result.returned.why("x")


@pytest.mark.parametrize(("code", "text"), [
    ("import pandas as pd; pd.DataFrame({'a': [1], 'b': [object()]})", "column 'b' (dtype object): object is not carried: convert it first"),
    ("import pandas as pd; pd.Series([object()])", "series (dtype object): object is not carried"),
    ("import numpy as np; np.ma.array([1])", "MaskedArray is not carried: convert it first, with filled()"),
    ("import numpy as np; np.matrix([1])", "numpy.matrix is not carried: convert it first, with numpy.asarray"),
])
def test_data_that_comes_back_as_text_is_warned_of(scientific, code, text):
    result = hotcell.run(code, **BOUNDS)
    assert type(result.value) is hotcell.Repr
    warning, = result.warnings
    assert warning.startswith("guest: The value is here as text alone: ") and text in warning


def test_a_value_that_contains_itself_is_called_that(base_tree):
    for code in "x = [1]\nx.append(x)\nx", "x = {}\nx[1] = (2, [x])\nx":
        result = hotcell.run(code, tree="base", returns=["x"])
        assert result.warnings == ("guest: The value is here as text alone: it contains itself",)
        assert "it contains itself" in result.returned.why("x")
    result = hotcell.run("x = []\nfor _ in range(60): x = [x, x]\nx", tree="base", returns=["x"])
    assert "it has more than 48 levels" in result.warnings[0] and "levels" in result.returned.why("x")
    result = hotcell.run("results = {}\nresults['a'] = [results]", tree="base", returns=["results"])
    assert "it contains itself" in result.returned.why("results")


def test_a_secret_in_a_value_is_redacted():
    policy = {"name": "p", "extends": "default", "redact": {"rules": [{"name": "word", "pattern": "hunter[0-9]+", "replace": "-"}]}}
    result = hotcell.run("('the word is ' + 'hunter' + '22', 1.0, 2**60 + 1)", policy=policy, tree="base")
    assert "hunter22" not in json.dumps(result.manifest) and result.value[1:] == (1.0, 2**60 + 1) and isinstance(result.value[1], float)


# ---- what a hostile program says ----

def npy(array):
    import numpy as np
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return base64.b64encode(file.getvalue()).decode()


def nested(depth):
    node = 1
    for _ in range(depth):
        node = {"$tuple": [node]}
    return node


MALFORMED = [
    {"$eval": "1"}, {"$": 1}, {"$tuple": 5}, {"$tuple": {"a": 1}}, {"$set": [[1]]}, {"$set": [[]]}, {"$int": "x"}, {"$int": 5}, {"$float": "1.x"},
    {"$float": None}, {"$str": "!"}, {"$str": "/w=="}, {"$bytes": 5}, {"$bytes": "a"}, {"$complex": [1]}, {"$complex": ["1", "2"]}, {"$decimal": "x"},
    {"$decimal": 1}, {"$date": "2024-13-01"}, {"$date": 5}, {"$time": ["25:00", 0, None]},
    {"$datetime": ["2024-01-01", 0, ["zoneinfo", "../etc/passwd"], None]},
    {"$datetime": ["2024-01-01", 0, ["zoneinfo", "/etc/passwd"], None]}, {"$datetime": ["2024-01-01", 0, ["pytz", "../../etc/passwd"], None]},
    {"$datetime": ["2024-01-01", 0, ["dateutil", "/etc/passwd"], None]}, {"$datetime": ["2024-01-01", 0, [], None]}, {"$datetime": 1},
    {"$timedelta": [10**10, 0, 0]}, {"$timedelta": [1]}, {"$uuid": "x"}, {"$range": [1, 2, 0]}, {"$range": [1]}, {"$dict": [[1]]}, {"$dict": [[[1], 2]]},
    {"$numpy": ["O", "AAAAAAAAAAA="]}, {"$numpy": ["<f8", "AA=="]}, {"$numpy": ["<f8,O", "AA=="]}, {"$numpy": ["U", 5]}, {"$ndarray": "x"}, {"$ndarray": 5},
    {"$objects": [[2], [1]]}, {"$objects": [[-1, -1], [1]]}, {"$objects": [["a"], [1]]}, {"$timestamp": [1, "Y", None]}, {"$timestamp": ["now", "ns", None]},
    {"$period": [1, "__import__('os')"]}, {"$period": ["2024", "M"]}, {"$interval": [1, "a", "both"]}, {"$interval": [1, 2, "x"]},
    {"$frame": []}, {"$frame": {}}, {"$series": {"index": {"range": [0, 2, 1], "names": [None]}, "data": {"objects": [1]}, "name": None, "attrs": {}}},
    {"$index": {"range": [0, 1 << 40, 1], "names": [None]}}, {"$index": {"range": [0, 1, 1], "names": []}},
    {"$index": {"levels": [], "codes": [], "names": []}}, {"$index": {"data": {"objects": [1]}, "freq": None, "names": [[]]}},
    {"$series": {"index": {"range": [0, 1, 1], "names": [None]}, "data": {"objects": [1]}, "name": [1], "attrs": {}}}, nested(2000)]


@pytest.mark.parametrize("node", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_values_are_errors(made, node):
    with pytest.raises(ValueError, match="not well formed"):
        values.untagged(node)


def test_no_array_is_unpickled(made):
    import numpy as np
    ran = []

    class Evil:
        def __reduce__(self):
            return ran.append, (1,)
    with pytest.raises(ValueError, match="not well formed"):
        values.untagged({"$ndarray": npy(np.array([Evil()], dtype=object))})
    assert not ran


def packed(node, save=None, **arrays):
    import numpy as np
    file = io.BytesIO()
    (save or np.savez)(file, **{values.HEADER: np.frombuffer(json.dumps(node).encode(), "uint8")}, **arrays)
    return file.getvalue()


def test_files_of_a_hostile_program_are_bounded(made):
    import numpy as np
    frame = {"$frame": {"columns": {"range": [0, 1, 1], "names": [None]}, "index": {"range": [0, 2, 1], "names": [None]}, "attrs": {},
                        "data": [{"plain": "a0"}]}}
    assert results._load_packed(packed(frame, a0=np.arange(2))).shape == (2, 1)
    twice = {"$tuple": [{"$ndarray": "a0"}] * 2}
    sparse = {"sparse": "a0", "at": "a1", "length": 1 << 40, "fill": 0}
    for content in (b"", b"no archive", packed(frame, np.savez_compressed, a0=np.zeros(2)), packed(frame), packed(frame, a0=np.zeros((2, 2))),
                    packed(frame, a0=np.arange(3)), packed(frame, a0=np.array(["a", "b"])), packed(twice, a0=np.zeros(9)), packed({"$ndarray": values.HEADER}),
                    packed({"$series": {"index": {"range": [0, 1 << 40, 1], "names": [None]}, "name": None, "attrs": {}, "data": sparse}},
                           a0=np.zeros(1), a1=np.zeros(1, "int32")),
                    packed({"$index": {"data": {"codes": "a0", "ordered": False, "categories": {"range": [0, 1, 1], "names": [None]}}, "freq": None,
                                       "names": [None]}}, a0=np.array([5], "int8"))):
        with pytest.raises(ValueError, match="not a value of hotcell"):
            results._load_packed(content)


COUNTS = {"range": [0, 1 << 30, 1], "names": [None]}
ONE = {"range": [0, 1, 1], "names": [None]}


def sparse(length=1 << 30):
    import numpy as np
    return {"sparse": npy(np.zeros(1)), "at": npy(np.zeros(1, "int32")), "length": length, "fill": 0.0}


def index_of(data):
    return {"data": data, "freq": None, "names": [None]}


def series_of(index, data):
    return {"$series": {"index": index, "data": data, "name": None, "attrs": {}}}


def frame_of(index, *columns):
    return {"$frame": {"columns": {"range": [0, len(columns), 1], "names": [None]}, "index": index, "data": list(columns), "attrs": {}}}


def bombs():
    """Some hundred bytes each, which would take gigabytes."""
    import numpy as np
    codes = npy(np.zeros(1, "int8"))
    yield from ({"$index": index_of(sparse())}, series_of(index_of(sparse()), sparse()), series_of(COUNTS, sparse()), frame_of(COUNTS, sparse()),
                frame_of(COUNTS, sparse(), sparse()), series_of(COUNTS, {"left": sparse(), "right": sparse(), "closed": "left"}),
                series_of(ONE, {"codes": codes, "ordered": False, "categories": index_of(sparse())}),
                series_of(ONE, {"codes": codes, "ordered": False, "categories": COUNTS}),
                {"$index": {"levels": [index_of(sparse())], "codes": [codes], "names": [None]}},
                {"$frame": {"columns": index_of(sparse(1)), "index": ONE, "data": [{"plain": codes}], "attrs": {}}}, series_of(ONE, sparse(2)))


def test_claimed_lengths_take_no_memory(made):
    import resource
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), limits[1]))  # not for a false alarm: for a failure that ends no other tests
    try:
        for node in bombs():
            with pytest.raises(ValueError, match="sparse, but no column|too many rows"):
                values.untagged(node)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_sparse_columns_are_carried(made):
    import numpy as np
    table, describe = made
    assert values.untagged(series_of({"range": [0, 10**7, 1], "names": [None]}, sparse(10**7))).shape == (10**7,)
    monthly = np.zeros(3)
    assert values.untagged(frame_of({"range": [0, 3, 1], "names": [None]}, sparse(3), {"plain": npy(monthly)})).shape == (3, 2)
    for name in ("only sparse", "every column"):
        frame = table["frames"][name]
        same(describe, frame, values.untagged(values.Inline(1 << 20).encode(frame, 0)))


def test_what_a_frame_holds_is_not_counted_again(made):
    import numpy as np
    decoder = values.Decoder(values.array_of_text)
    decoder.most = 200
    index = {"range": [0, 300, 1], "names": [None]}
    decoder.decode(frame_of(index, sparse(300), {"plain": npy(np.zeros(300))}), 0)
    with pytest.raises(ValueError, match="too many rows"):
        decoder.decode(frame_of(index, sparse(300)), 0)


@pytest.mark.filterwarnings("ignore")  # pandas 1.5 warns of what version 2 does
def test_a_sparse_index_is_refused_by_its_name(made):
    import pandas as pd
    index = pd.Index(pd.arrays.SparseArray([0, 0, 5]))
    if not isinstance(index.dtype, pd.SparseDtype):
        pytest.skip("this pandas has no sparse index")
    with pytest.raises(TypeError, match="index .dtype Sparse.*only a column may be sparse"):
        values.Packed().encode(pd.DataFrame({"a": [1, 2, 3]}, index=index), 0)


def raw_npy(descr, shape, data=b"", magic=b"\x93NUMPY\x01\0"):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return magic + len(header).to_bytes(2, "little") + header + data


def compressed(**arrays):
    import numpy as np
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


@pytest.fixture(params=["in JSON", "in a file", "in an archive"])
def load_npy(request):
    """What loads a .npy file of a program."""
    def file(content):
        Path("x.npy").write_bytes(content)
        digest = __import__("hashlib").sha256(content).hexdigest()
        return results._load(results.File("x.npy", len(content), digest, Path.cwd()))
    return {"in JSON": lambda content: values.untagged({"$ndarray": base64.b64encode(content).decode()}), "in a file": file,
            "in an archive": lambda content: results._load_packed(zipped(("a.npy", content)))["a"]}[request.param]


def zipped(*members):
    import zipfile
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def test_what_stands_for_an_array_is_one(made, load_npy):
    import numpy as np
    huge = 1 << 40
    for content in (compressed(a=np.zeros(10**6)), compressed(), zipped(), b"", b"\x93NUMPY", raw_npy("|O", (1,), b"\x80\x04N."), raw_npy("<f8", (huge,)),
                    raw_npy("<f8", (huge, huge)), raw_npy("<f8", (1 << 63, 2)), raw_npy("<f8", (-1, -1), b"\0" * 8), raw_npy("|V0", (10**9,)),
                    raw_npy("|S0", (10**9,)), raw_npy("<U0", (huge,)), raw_npy(("|V0", (1 << 30,)), ()), raw_npy([("a", "|O")], (1,), b"\0" * 8),
                    raw_npy("<f8", (True,), b"\0" * 8), raw_npy("<f8", (2,), b"\0" * 8), raw_npy("<f8", (1.0,), b"\0" * 8), raw_npy("x", (1,)),
                    raw_npy("<f8", (1,), b"\0" * 8, b"\x93NUMPY\x09\0"), b"\x93NUMPY\x02\0\xff\xff\xff\xff", b"\x93NUMPY\x01\0\x88\x13" + b"(" * 5000,
                    b"\x93NUMPY\x01\0\x88\x13" + b"-" * 5000):
        with pytest.raises(ValueError):
            load_npy(content)
    assert load_npy(raw_npy("<f8", (2,), bytes(16))).tolist() == [0, 0]
    for array in (np.zeros((0, 3)), np.zeros(2, "V0"), np.array(5), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros(2, [("ä", "f4"), ("Ω", "S3")])):
        file = io.BytesIO()
        with __import__("warnings").catch_warnings():
            __import__("warnings").simplefilter("ignore")  # of the third version of the format
            np.save(file, array)
        got = load_npy(file.getvalue())
        assert type(got) is np.ndarray and (got.dtype, got.shape, got.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert got.flags.writeable


@pytest.mark.filterwarnings("ignore")  # zipfile warns of duplicate names
def test_archives_have_no_more_than_their_bytes(made):
    """Stored members, each of which holds the next ones, would have far more bytes than their file."""
    import numpy as np
    inner = raw_npy("|u1", (4000,), bytes(4000))
    content = bytearray(zipped(("a.npy", inner), ("b.npy", inner)))
    assert set(results._load_packed(bytes(content))) == {"a", "b"}
    assert isinstance(results._load_packed(packed({"$ndarray": "a"}, a=np.arange(3))), np.ndarray)
    hidden = zipped(("b.npy", inner))[:35 + len(inner)]
    outer = raw_npy("|u1", (len(hidden),), hidden)
    within = bytearray(zipped(("a.npy", outer), ("b.npy", inner)))
    central = within.rindex(b"PK\1\2")
    within[central + 42:central + 46] = (35 + outer.index(hidden)).to_bytes(4, "little")  # the second member is in the first ...
    extra = bytearray(content)
    extra[28:30] = (100).to_bytes(2, "little")  # ... or the first is said to begin later, and ends in the second
    for bad in (zipped(("a.npy", inner), ("a.npy", inner)), zipped(("a.npy", inner), ("a", inner)), within, extra, compressed(a=np.zeros(100000))):
        with pytest.raises(ValueError, match="members that overlap|two of one name|larger than the file"):
            results._load_packed(bytes(bad))
    with pytest.raises(ValueError, match="larger than the file"):  # also without HEADER
        values.read_file(io.BytesIO(content), 5000)


def test_a_lack_of_memory_is_a_value_error(made, monkeypatch):
    import numpy as np

    def none(*_, **__):
        raise MemoryError
    monkeypatch.setattr(np.lib.format, "read_array", none)
    with pytest.raises(ValueError):
        values.untagged({"$ndarray": npy(np.arange(3))})
    monkeypatch.setitem(value_decoder.READERS, "$tuple", none)
    with pytest.raises(ValueError, match="MemoryError"):
        values.untagged({"$tuple": []})


def test_equal_hashes_cost_no_time(made):
    alike = [{"$int": hex((number << 61) - number)} for number in range(1, 30000)]  # multiples of 2**61 - 1: all have the hash 0
    distinct = list(range(1 << 20, (1 << 20) + 30000))
    before = time.monotonic()
    folded = [number << 32 | number for number in range(1, 30000)]  # pandas takes 32 bits, all of them 0
    for node in ({"$set": alike + distinct}, {"$frozenset": alike}, {"$dict": [[key, 0] for key in alike + distinct]},
                 {"$tuple": [{"$set": alike[:900]}] * 400},
                 series_of(ONE, {"codes": "x", "ordered": False, "categories": index_of({"objects": folded})})):
        with pytest.raises(ValueError, match="same hash"):
            values.untagged(node)
    assert time.monotonic() - before < 10 * cells.SLOWNESS
    for value in (set(range(-2, 100000)), {f"k{number}": 0 for number in range(5000)}, {(number, number): 0 for number in range(5000)},
                  {number << 32 for number in range(5000)}, {float("nan") for _ in range(50)} | {0.5}):
        assert len(values.untagged(values.Inline(1 << 24).encode(value, 0))) == len(value)


FORGES = """\
class V:
    def _repr_mimebundle_(self, include=None, exclude=None): return {name: {"$tuple": [1]}, "text/x-own": "own"}
    def __repr__(self): return "V!"
class Odd(str):
    def __eq__(self, other): return False
    def __ne__(self, other): return True
    __hash__ = str.__hash__
"""


@pytest.mark.parametrize("name", [f"name = {TAGGED!r}", f"name = Odd({TAGGED!r})"])
def test_no_object_gives_itself_another_value(base_tree, name):
    code = f"{FORGES}{name}\ndisplay(V())\ndisplay({{name: {{'$tuple': [1]}}, 'text/html': 'h'}}, raw=True)\nV()"
    result = hotcell.run(code, tree="base")
    assert result.ok and result.value == "V!" and type(result.value) is hotcell.Repr, result
    assert result.bundle == {"text/plain": "V!", "text/x-own": "own"}
    assert [set(shown) for shown in result.displays] == [{"text/plain", "text/x-own"}, {"text/plain", "text/html"}]


HIDES = """\
import os, sys, resource
sys.path.insert(0, sys.argv[1])
from hotcell.temporary import Temporary
made = Temporary()
top = os.path.join(made.path, "a")
os.makedirs(top + "/b/c")
os.symlink(sys.argv[2], top + "/b/link")
open(top + "/b/c/file", "w").close()
open(top + "/kept", "w").close()
os.makedirs(os.path.join(made.path, "d"))
os.open(os.path.join(made.path, "d"), os.O_RDONLY)
at = os.open(os.path.join(made.path, "d"), os.O_RDONLY)
for _ in range(3000):  # deeper than any path, and than Python may recur
    os.mkdir("d", dir_fd=at)
    inner = os.open("d", os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = inner
os.close(at)
for path, mode in ((top + "/b/c", 0), (top + "/b", 0o500), (top, 0), (made.path, 0o500)):
    os.chmod(path, mode)
made.close()
print(os.path.lexists(made.path), oct(os.stat(sys.argv[2]).st_mode & 0o777))
"""


def test_results_go_whatever_rights_they_have():
    """As an ordinary user, who cannot enter a directory without rights."""
    directory = cells.new_directory(cells.ordinary())
    (directory / "else").mkdir()
    (directory / "else").chmod(0o555)
    options = {"user": cells.ordinary().uid, "group": cells.ordinary().uid, "extra_groups": []} if cells.IS_ROOT else {}
    done = subprocess.run([sys.executable, "-c", HIDES, PACKAGE, directory / "else"], cwd=directory, env={"TMPDIR": str(directory)}, text=True,
                          capture_output=True, check=False, timeout=120, **options)
    assert (done.stdout, done.stderr) == ("False 0o555\n", ""), done
    assert [path.name for path in directory.iterdir()] == ["else"]


def mutated(random, node, others):
    """The node with one place in it replaced by a part of another value, removed, or doubled."""
    if not isinstance(node, (list, dict)) or not node or random.random() < 0.1:
        return random.choice(others)
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    at, copy = random.choice(keys), node.copy()
    action = random.random()
    if action < 0.1 and isinstance(node, dict):
        del copy[at]
    elif action < 0.1:
        copy.append(copy[at])
    else:
        copy[at] = mutated(random, node[at], others)
    return copy


def parts_of(node):
    yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts_of(part)


@pytest.mark.filterwarnings("ignore")
def test_changed_values_do_no_harm(made):
    """Whatever stands in the JSON: another value or ValueError, soon."""
    random = __import__("random").Random(5)
    nodes = [values.Inline(1 << 20).encode(value, 0) for kind in made[0].values() for value in kind.values()]
    others = [part for node in nodes for part in parts_of(node)]
    others += [-1, 1 << 62, 0.5, "", "a" * 100, [], {}, None, True, *MALFORMED[:-1]]
    kept = 0
    for _ in range(3000):
        try:
            values.untagged(mutated(random, random.choice(nodes), others))
            kept += 1
        except ValueError:
            pass
    assert 100 < kept < 2900


FORGED = """\
import json, os
class Loud(dict):
    def items(self): os.write(1, b"loud"); return dict.items(self)
class Liar(tuple):
    __class__ = list
(Loud(a=1), Liar((1,)))
"""


def test_classes_of_the_program_do_not_take_part():
    result = hotcell.run(FORGED, tree="base")
    assert result.ok and result.text == "" and type(result.value) is hotcell.Repr


def test_frames_arrive_under_strict_policies(made, scientific):
    """The policy's rules are for the program: what makes its data imports as it must."""
    names = {"frame": made[0]["frames"]["every column"]}
    options = {**BOUNDS, "policy": "analysis"}
    code = "[str(frame[name].iloc[0]) for name in ('decimals', 'ids', 'zone', 'dates')]"
    shown = ["1.10", "00000000-0000-0000-0000-000000000001", "2024-10-27 02:30:00+02:00", "2024-01-02"]
    assert hotcell.run(code, inputs=names, **options).value == shown
    with hotcell.Session(**options) as session:
        result = session.run(code, inputs=names, returns=["frame"])
        assert result.value == shown
        same(made[1], names["frame"], result.returned["frame"])


def test_values_without_libraries_on_the_host(scientific, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    result = hotcell.run("import pandas as pd\npd.Series([1])", **BOUNDS)
    assert type(result.value) is hotcell.Repr and "int64" in result.value


def test_decimals_add_up(scientific):
    pd = cells.need_module("pandas")
    frame = pd.DataFrame({"amount": [Decimal("1.10"), Decimal("2.20")]})
    assert hotcell.run("f.amount.sum()", inputs={"f": frame}, **BOUNDS).value == Decimal("3.30")
