"""Values that go into cells and come back as themselves: every type of samples.py, in each way that a program can be run; and what a
hostile program sends instead."""

import base64
import io
import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import cells
import daemons
import pytest
import samples

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402
from hotcell import results, values  # noqa: E402

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
    result = hotcell.run("import matplotlib.pyplot as plt\nfor i in range(30): plt.figure()", **BOUNDS)
    assert len(result.figures) == 20 and any(line.startswith("guest: 10 of 30") for line in result.warnings)


def test_what_cannot_be_carried_is_refused_by_its_name(scientific):
    pd = cells.need_module("pandas")
    for frame, text in ((pd.DataFrame({"a": [1], "b": [object()]}), "inputs: f: column 'b' (dtype object): object is not carried: convert"),
                        (pd.DataFrame({("x", 1): [json.JSONDecoder()]}), "column ('x', 1) (dtype object): json.decoder.JSONDecoder is"),
                        (pd.DataFrame({"a": [1]}, index=pd.Index([object()])), "index (dtype object): object is not carried"),
                        (pd.DataFrame({"a": [1]}).pipe(type("Mine", (pd.DataFrame,), {})), "Mine is not carried"),
                        (pd.Series(pd.to_datetime(["2024-01-01"])).dt.tz_localize("dateutil/Europe/Rome").to_frame("t"), "column 't' (dtype")):
        with pytest.raises(hotcell.InputError) as caught:
            hotcell.run("1", inputs={"f": frame}, **BOUNDS)
        assert text in str(caught.value)
    result = hotcell.run("import pandas as pd\nf = pd.DataFrame({'a': [1], 'b': [object()]})\nx = object()", returns=["f", "x"], **BOUNDS)
    assert "column 'b' (dtype object): object is not carried" in result.returned.why("f") and "object" in result.returned.why("x")


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
