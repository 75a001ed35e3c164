"""Data that goes in with a program, and figures and values that come out."""

import csv
import json
import os
import re
import shutil
import stat
import struct
import subprocess

import cells
import pytest

SALES = [{"region": "north", "units": 3, "price": 1.5, "when": "2026-01-31"},
         {"region": "søuth", "units": 4, "price": 2.0, "when": "2026-02-28"}]
MEMORY = ["--memory", "1G", "--timeout", "60s"]


@pytest.fixture
def here(base_tree):
    return cells.new_directory(cells.caller())


def npy(shape=(2, 2)):
    """Format version 1.0 of numpy's files, of small integers, without numpy."""
    header = repr({"descr": "<i4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    count = shape[0] * shape[1]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{count}i", *range(count))


def inputs(files):
    return [word for name, path in files.items() for word in ("--input", f"{name}={path}")]


def write_inputs(here):
    """One of each kind that is loaded; with their extensions in several cases."""
    import zipfile
    files = {"lines": here / "odd näme;$(x).jsonl", "records": here / "records.JSON", "table": here / "-table.csv",
             "array": here / "a.npy", "arrays": here / "a.npz", "text": here / "notes.txt", "bare": here / "bare",
             "packed": here / "x.tar.gz", "hidden": here / ".csv", "weird": here / "a.b c"}
    files["lines"].write_text("".join(json.dumps(row) + "\n" for row in SALES))
    files["records"].write_text(json.dumps(SALES))
    with open(files["table"], "w", newline="") as file:
        writer = csv.DictWriter(file, SALES[0])
        writer.writeheader()
        writer.writerows(SALES)
    files["array"].write_bytes(npy())
    with zipfile.ZipFile(files["arrays"], "w") as archive:
        archive.writestr("first.npy", npy())
        archive.writestr("second.npy", npy((1, 3)))
    for name in ("text", "bare", "packed", "hidden", "weird"):
        files[name].write_text(name)
        files[name].chmod(0o600)  # also as root, these are for their owner only
    return files


@pytest.fixture(scope="module")
def loaded(scientific, tmp_path_factory):
    """One job with all kinds of inputs, whose facts the tests below look at."""
    here = cells.new_directory(cells.caller())
    files = write_inputs(here)
    result = cells.run("""\
        import json, os
        facts = {"types": {}, "files": {}}
        for name in ("lines", "records", "table", "array", "arrays", "text", "bare", "packed", "hidden", "weird"):
            value = globals()[name]
            facts["types"][name] = f"{type(value).__module__}.{type(value).__name__}"
            if isinstance(value, str):
                facts["files"][name] = [value, open(value).read()]
        for name in ("lines", "records", "table"):
            facts[name] = json.loads(globals()[name].to_json(orient="records", date_format="iso"))
            facts[name + " dtypes"] = {c: str(t) for c, t in globals()[name].dtypes.items()}
        facts["array"] = array.tolist()
        facts["arrays"] = {k: v.tolist() for k, v in arrays.items()}
        facts["listing"] = sorted(os.listdir("/input"))
        facts["refused"] = []
        for path in os.listdir("/input"):
            for attempt in (lambda p: open(p, "a"), os.unlink, lambda p: os.chmod(p, 0o777),
                            lambda p: os.rename(p, "x")):
                try:
                    attempt("/input/" + path)
                    facts["refused"].append([path, "not refused"])
                except OSError as error:
                    pass
        print(json.dumps(facts))
        """, *inputs(files), *MEMORY, tree=scientific)
    return result, result.facts(), files


def test_kinds_of_inputs(loaded):
    types = loaded[1]["types"]
    frame = "pandas.core.frame.DataFrame"
    assert types == {"lines": frame, "records": frame, "table": frame, "array": "numpy.ndarray", "arrays": "builtins.dict",
                     **dict.fromkeys(("text", "bare", "packed", "hidden", "weird"), "builtins.str")}


def test_contents_of_inputs(loaded):
    facts = loaded[1]
    for name in ("lines", "records", "table"):
        assert [{**row, "when": None} for row in facts[name]] == [{**row, "when": None} for row in SALES]
        assert facts[f"{name} dtypes"]["units"] == "int64" and facts[f"{name} dtypes"]["price"] == "float64"
    assert facts["array"] == [[0, 1], [2, 3]]
    assert facts["arrays"] == {"first": [[0, 1], [2, 3]], "second": [[0, 1, 2]]}
    assert facts["files"] == {"text": ["/input/text.txt", "text"], "bare": ["/input/bare", "bare"],
                              "packed": ["/input/packed.gz", "packed"], "hidden": ["/input/hidden", "hidden"],
                              "weird": ["/input/weird", "weird"]}


def test_inputs_are_read_only_and_the_only_ones(loaded):
    facts = loaded[1]
    assert facts["refused"] == []
    assert len(facts["listing"]) == 10 and "lines.jsonl" in facts["listing"] and "records.JSON" in facts["listing"]


def test_manifest_lists_inputs(loaded):
    import hashlib
    result, _, files = loaded
    rows = {row["name"]: row for row in result.manifest["inputs"]}
    assert rows.keys() == files.keys()
    for name, path in files.items():
        assert rows[name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert rows[name]["bytes"] == path.stat().st_size
        assert rows[name]["file"] == path.name
    columns = result.manifest["guest"]["columns"]
    assert columns == dict.fromkeys(("lines", "records", "table"), ["region", "units", "price", "when"])


@pytest.mark.parametrize("name, content, kind", [
    ("a.npy", b"\x93NUMPY\x01\x00", "array data"), ("a.npy", b"", "array data"), ("a.npz", b"PK\3\4", "arrays data"),
    ("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 54) +
     b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}" + b"cos\nsystem\n(S'touch /output/ran'\ntR.", "array data"),
])
def test_broken_data_rejects_the_job(scientific, here, name, content, kind):
    (here / name).write_bytes(content)
    result = cells.run("open('ran', 'w')", "--input", f"data={here / name}", *MEMORY, tree=scientific)
    assert result.status == 2, result
    rejection = result.manifest["rejection"]
    assert rejection["rule"] == "input"
    assert rejection["message"].startswith(f"Could not load {kind} from /input/data.{name.partition('.')[2]}: ")
    assert re.fullmatch(r"hotcell: rejected[^\n]+\n", result.stderr), result.stderr
    assert rejection["message"].splitlines()[0] in result.stderr
    assert result.files() == []


@pytest.mark.parametrize("name, content, read", [
    ("a.jsonl", b'{"a": 1}\n{"a": \n', "open(data).read()"), ("a.json", b"not json", "open(data).read()"),
    ("a.json", b'{"a": 1}\n{"a": 2}\n', "pd.read_json(data, lines=True)"), ("a.csv", b"", ""), ("a.csv", b"\n\n", ""),
    ("a.csv", b"a,b\n1,2\n3,4,5,6\n", 'pd.read_csv(data, on_bad_lines="skip")'),
    ("a.csv", "stadt,n\nKöln,1\n".encode("latin-1"), 'pd.read_csv(data, encoding="latin-1")'),
    ("a.csv", "stadt;n\nKöln;1\n".encode("latin-1"), "pd.read_csv(data, encoding=\"latin-1\", sep=';')"),
    ("a.csv", "stadt,n\nKöln,1\n".encode("utf-16"), 'pd.read_csv(data, encoding="utf-16")'),
    ("a.csv", b"a;b\n1,5;2\n1,5,7;3\n", "pd.read_csv(data, sep=';')"),
], ids=range(10))
def test_tables_that_pandas_cannot_read_are_paths(scientific, here, name, content, read):
    (here / name).write_bytes(content)
    code = f"import pandas as pd\nx = {read}\n" if "(" in read else ""
    result = cells.run(f"{code}print(data, type(data).__name__)", "--input", f"data={here / name}", *MEMORY, tree=scientific)
    assert result.status == 0, result
    path = f"/input/data.{name.partition('.')[2]}"
    assert result.stdout == f"{path} str\n"
    warning, = result.manifest["warnings"]
    if not read:
        assert warning == f"guest: data is the path of the file, as {path} is empty: it has no columns, and no rows."
        assert "has no names of columns" in cells.run("import pandas as pd\npd.read_csv(data)", "--input", f"data={here / name}", *MEMORY, tree=scientific).stderr
        return
    assert warning.startswith(f"guest: data is the path of the file, as pandas cannot read {path} as it is: "), warning
    assert warning.endswith(f"To read it: {read}"), warning
    assert result.stderr == f"hotcell: {warning}\n"
    assert "data" not in result.manifest["guest"]["columns"]
    assert result.manifest["guest"]["warning_kinds"] == ["input"]


def test_a_program_cannot_warn_in_the_name_of_an_input(scientific, here):
    """The kind of a warning decides whether it is printed, and not its words."""
    (here / "a.csv").write_bytes(b"")
    text = "x is the path of the file, as pandas cannot read it as it is"
    code = f"class Shown:\n def _repr_html_(self): return 'x' * (1 << 22)\nShown.__name__ = '{text}'\ndisplay(Shown())"
    result = cells.run(code, "--input", f"data={here / 'a.csv'}", *MEMORY, tree=scientific)
    assert result.manifest["guest"]["warning_kinds"] == ["input", "report"], result
    assert result.stderr.count("hotcell: ") == 1 and "hotcell: guest: data is the path" in result.stderr, result


def test_a_raw_input_is_a_path(scientific, here):
    (here / "a.csv").write_bytes(b"a\n1\n")
    (here / "b:raw").write_bytes(b"text")
    result = cells.run("print(data, open(data).read(), text)", "--input", f"data:raw={here / 'a.csv'}", "--input", f"text={here / 'b:raw'}",
                       tree=scientific)
    assert result.stdout == "/input/data.csv a\n1\n /input/text\n" and result.manifest["warnings"] == []
    assert [row["name"] for row in result.manifest["inputs"]] == ["data", "text"]
    for words in (["data:raw=x", "data=y"], ["data:=x"], ["data:raw:raw=x"], [":raw=x"]):
        refused = cells.run("1", *(word for each in words for word in ("--input", each)), tree=scientific)
        assert refused.status == 64, refused


def test_raw_inputs_of_specs(scientific, here):
    (here / "a.csv").write_bytes(b"a\n1\n")
    (here / "spec.json").write_text(json.dumps({"code": "print(data)", "inputs": {"data:raw": str(here / "a.csv")}, "persist_code": True}))
    result = cells.run(None, "--spec", str(here / "spec.json"), tree=scientific)
    assert result.stdout == "/input/data.csv\n", result
    record, = (result.output / "code").glob("*.json")
    assert json.loads(record.read_text())["spec"]["inputs"] == {"data:raw": str(here / "a.csv")}


def test_message_about_data_cannot_drive_the_terminal(scientific, here):
    (here / "a.json").write_bytes(b'{"\x1b[31m\nhotcell: ok": 1}')
    result = cells.run("1", "--input", f"data={here / 'a.json'}", *MEMORY, tree=scientific)
    line, = result.stderr.splitlines()
    assert result.status == 0 and line.startswith("hotcell: guest: data is the path of the file") and line.isprintable()
    assert all("\x1b" not in line and "\n" not in line for line in result.manifest["warnings"])


def test_frames_without_pandas_are_rejected(here):
    (here / "a.csv").write_text("a\n1\n")
    result = cells.run("1", "--input", f"data={here / 'a.csv'}")  # the tree base has none
    assert result.status == 2 and result.manifest["rejection"]["rule"] == "input"
    assert "No module named 'pandas'" in result.manifest["rejection"]["message"]


# ---- variables ----

@pytest.mark.parametrize("text, value", [
    ("1", "1"), ("-0.5e3", "-500.0"), ("true", "True"), ("null", "None"), ('"é \\u00e9 \\ud83d\\ude00 \\n"', "'é é 😀 \\n'"),
    ("[]", "[]"), ("{}", "{}"), ('[1, [2, {"a": null}]]', "[1, [2, {'a': None}]]"),
    ("123456789012345678901234567890", "123456789012345678901234567890"), ("9007199254740993", "9007199254740993"),
    ("0.1", "0.1"), ("1e400", "inf"), ("-0", "0"), ("1.0", "1.0"), ('{"b": 1, "a": 2}', "{'b': 1, 'a': 2}"),
    (' "blanks around" ', "'blanks around'"), ('"\'; import os #"', '"\'; import os #"'),
])
def test_variables_of_each_kind(base_tree, text, value):
    result = cells.run("print(repr(v))", "--var", f"v={text}")
    assert result.stdout == value + "\n", result


def test_names_in_any_letters(base_tree, here):
    (here / "a.txt").write_text("text")
    result = cells.run("сумма = 数据 + _x\nprint(open(имя).read())", "--var", "数据=1", "--var", "_x=2", "--input", f"имя={here / 'a.txt'}",
                       "--return", "сумма=json")
    assert result.stdout == "text\n" and result.manifest["guest"]["returned"]["сумма"]["json"] == 3, result


@pytest.mark.parametrize("name", ["__x", "class", "a b", "1数", "a\u202eb", "a\u2028b", "a\ufeff", "a\x85", "a-b", "", "数" * 22,
                                  # What Python reads as another name, or nobody can see or read in order.
                                  "\uff3f\uff3fname\uff3f\uff3f", "\ufe4f\ufe4fx", "\uff49\uff46", "\ufb01t", "e\u0301", "\u3164", "a\u0600", "\u05d0",
                                  "a\U0001d173"])
def test_names_of_no_variable(base_tree, name):
    result = cells.run("1", "--var", f"{name}=1")
    assert result.status == 64 and len(result.stderr.splitlines()) == 1, result


def test_many_variables(base_tree):
    result = cells.run("print(sum(globals()[f'a{i}'] for i in range(256)))",
                       *(word for i in range(256) for word in ("--var", f"a{i}={i}")))
    assert result.stdout == f"{sum(range(256))}\n", result


# ---- specs ----

def run_spec(here, spec, *options, stdin=False):
    """A spec from a file or standard input."""
    text = json.dumps(spec)
    (here / "spec.json").write_text(text)
    tree = [] if "tree" in spec else ["-t", cells.tree_path("base")]
    if stdin:
        with open(here / "spec.json", "rb") as file:
            return cells.hotcell("run", *tree, *options, "--spec", "-", cwd=here, stdin=file)
    return cells.hotcell("run", *tree, *options, "--spec", "spec.json", cwd=here)


@pytest.mark.parametrize("stdin", [False, True])
def test_spec_with_every_member(here, stdin):
    (here / "data.txt").write_text("the data")
    (here / "key").write_bytes(b"k" * 32)
    (here / "key").chmod(0o600)
    (here / "mine.json").write_text('{"extends": "default", "env": {"COLOUR": "blue"}}')
    done = run_spec(here, {
        "code": "import os\nprint(open(data).read(), n, os.environ['COLOUR'])", "inputs": {"data": "data.txt"},
        "vars": {"n": [1, 123456789012345678901234567890]}, "policy": "./mine.json", "tree": cells.tree_path("base"),
        "output_dir": "out", "limits": {"timeout": 5, "memory": "128M", "pids": 32, "cpus": 0.5}, "persist_code": True,
        "tenant": "acme", "job_id": f"job.{stdin}", "labels": {"Für": "wen é"}, "seed": 3, "sign": "key"}, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the data [1, 123456789012345678901234567890] blue\n"
    manifest = json.loads((here / "out" / "manifest.json").read_text())
    assert (manifest["tenant"], manifest["job_id"], manifest["labels"]) == ("acme", f"job.{stdin}", {"Für": "wen é"})
    assert manifest["policy"]["name"] == "mine"
    assert manifest["limits"]["timeout"] == 5 and manifest["limits"]["memory"] == 128 << 20
    assert manifest["limits"]["pids"] == 32 and manifest["limits"]["cpus"] == 0.5
    assert re.fullmatch(r"code/run_[\w-]+_\w+\.py", manifest["code_path"])
    assert manifest["signature"]["algorithm"] == "HMAC-SHA256"
    assert not (here / "out" / "_sandbox_result.json").exists()


def test_options_win_over_the_spec(here):
    spec = {"code": "print(v)", "limits": {"memory": "64M", "pids": 16}, "output_dir": "a", "tenant": "a", "vars": {"v": 1}}
    done = run_spec(here, spec, "--memory", "96M", "-o", "b", "--tenant", "b", "--json")
    manifest = json.loads(done.stdout)
    assert manifest["limits"]["memory"] == 96 << 20 and manifest["limits"]["pids"] == 16
    assert manifest["tenant"] == "b" and (here / "b").is_dir() and not (here / "a").exists()


def test_older_runner_form(scientific, here):
    (here / "rows.txt").write_text("".join(json.dumps(row) + "\n" for row in SALES))
    out = here / "out"
    done = run_spec(here, {"code": "print('x' * 300, len(df))\nimport matplotlib.pyplot as plt\nplt.plot(df.units)",
                           "df_paths": {"df": str(here / "rows.txt")}, "output_dir": str(out), "max_output_bytes": 200,
                           "max_figures": 5}, "-t", scientific)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "x" * 200 + "\n\n[Output truncated at 200 bytes]"
    older = json.loads((out / "_sandbox_result.json").read_text())
    assert older.keys() == {"exit_code", "figure_paths", "code_paths", "truncated"}
    assert older["exit_code"] == 0 and older["truncated"] is True
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(older["figure_paths"]) == len(manifest["figures"]) == 1
    assert len(older["code_paths"]) == 1
    for path in older["figure_paths"] + older["code_paths"]:
        assert (out / path).is_file()
    assert "print('x' * 300" in (out / older["code_paths"][0]).read_text()
    assert stat.S_IMODE((out / "_sandbox_result.json").stat().st_mode) == 0o600
    assert manifest["limits"]["stdout"] == 200 and manifest["limits"]["figures"] == 5


def test_older_runner_form_defaults_and_failure(here):
    out = here / "out"
    done = run_spec(here, {"code": "1 / 0", "df_paths": {}, "output_dir": str(out), "persist_code": False})
    assert done.returncode == 1
    older = json.loads((out / "_sandbox_result.json").read_text())
    assert older == {"exit_code": older["exit_code"], "figure_paths": [], "code_paths": [], "truncated": False}
    assert older["exit_code"] != 0
    limits = json.loads((out / "manifest.json").read_text())["limits"]
    assert limits["stdout"] == 200000 and limits["figures"] == 20


def test_persisted_code_is_the_program_byte_for_byte(base_tree):
    program = "# é\r\nprint('kept')\n".encode()
    result = cells.run(program, "--persist-code")
    path = result.manifest["code_path"]
    assert re.fullmatch(r"code/run_[\w-]+_\w+\.py", path)
    assert (result.output / path).read_bytes() == program
    assert result.files() == [path[:-3] + ".json", path]
    failed = cells.run("syntax error here", "--persist-code")
    assert failed.manifest["status"] == "rejected"
    assert (failed.output / failed.manifest["code_path"]).read_text() == "syntax error here"


def test_output_comes_while_the_program_runs_beside_the_manifest(here):
    reader, writer = os.pipe()
    with open(reader) as live:
        command = [cells.HOTCELL, "run", "-t", cells.tree_path("base"), "--json", "--live-stdout", str(writer), "--live-stderr", str(writer), "-"]
        with subprocess.Popen(command, cwd=here, text=True, stdin=-1, stdout=-1, pass_fds=[writer], env=cells.caller().environment()) as job:
            os.close(writer)
            job.stdin.write("import sys, time\nprint('up', flush=True)\nprint('low', file=sys.stderr)\ntime.sleep(600)")
            job.stdin.close()
            assert sorted((live.readline(), live.readline())) == ["low\n", "up\n"]
            job.terminate()
            manifest = json.loads(job.stdout.read())
        assert live.read() == ""
    assert (manifest["status"], manifest["stdout"]["text"], manifest["stderr"]["text"]) == ("killed", "up\n", "low\n")


def temporary_results(place, said):
    """The one directory that was made instead, which the line on standard error names."""
    (directory,) = place.glob("hotcell-output-*")
    assert f"the results are in {directory}: " in said, said
    return directory


@pytest.mark.parametrize("way", ["not writable", "gone", "in the way"])
def test_results_are_not_lost_where_their_directory_cannot_be_made(here, user, way):
    place, tmp = cells.new_directory(user), cells.new_directory(user)
    if way == "in the way":
        (place / "hotcell-output").write_text("mine")
    elif user.uid == 0 and way == "not writable":
        pytest.skip("root may write everywhere")
    command = [cells.HOTCELL, "run", "-t", cells.tree_path("base"), "-"]
    spoil = {"not writable": "chmod 555 .", "gone": "mkdir sub && cd sub && rmdir ../sub", "in the way": "true"}[way]
    for options in ([], ["--json"]):
        done = subprocess.run(["sh", "-c", f'{spoil}; exec "$0" "$@"', *command[:2], *options, *command[2:]], cwd=place, text=True,
                              input="open('a.txt', 'w').write('kept')\nprint('ran')", capture_output=True, check=False,
                              timeout=cells.PATIENCE, env={**user.environment(), "TMPDIR": str(tmp)}, **user.popen_arguments())
        assert done.returncode == 0, done
        manifest = json.loads(done.stdout) if options else {"warnings": []}
        directory = temporary_results(tmp, "\n".join([done.stderr, *manifest["warnings"]]))
        assert (directory / "a.txt").read_text() == "kept" and (directory / "manifest.json").exists()
        shutil.rmtree(directory)


def test_without_output_directory_nothing_is_kept_but_what_there_is(here):
    base = ["-t", cells.tree_path("base")]
    (here / "nothing.py").write_text("print(1)")
    assert cells.hotcell("run", *base, "nothing.py", cwd=here).returncode == 0
    assert not (here / "hotcell-output").exists()
    (here / "file.py").write_text("open('a.txt', 'w').write('kept')")
    assert cells.hotcell("run", *base, "--job-id", "j1", "file.py", cwd=here).returncode == 0
    assert (here / "hotcell-output" / "j1" / "a.txt").read_text() == "kept"
    assert (here / "hotcell-output" / "j1" / "manifest.json").is_file()


# ---- repeatable runs ----

def test_seed_repeats_hashes_and_random_numbers(base_tree):
    code = "import random\nprint(hash('a'), random.random(), {'x', 'y', 'z'}, list({'b', 'c', 'd', 'e'}))"
    first, again, other, none = [cells.run(code, *seed).stdout for seed in
                                 (["--seed", "1"], ["--seed", "1"], ["--seed", "2"], [])]
    assert first == again and first != other and none not in (first, other)
    assert cells.run(code).stdout != none


def test_seed_repeats_numpy(scientific):
    code = "import numpy as np, random\nprint(np.random.rand(), np.random.randint(10**9), random.random(), hash('a'))"
    first, again = [cells.run(code, "--seed", "4294967295", *MEMORY, tree=scientific).stdout for _ in range(2)]
    assert first == again != ""


# ---- figures and values ----

@pytest.fixture(scope="module")
def drawn(scientific):
    """One job with several kinds of figures."""
    return cells.run("""\
        import os
        import matplotlib.pyplot as plt, pandas as pd
        import plotly.graph_objects as go, plotly.express as px
        frame = pd.DataFrame({"a": [1, 2, 3], "b": [3.5, None, 1]}, index=["x", "y", "z"])
        frame.plot(title="one")
        plt.figure()
        plt.hist([1, 2, 2, 3])
        figure, axes = plt.subplots()
        axes.set_title("a title with ümlaut and 漢字")
        plt.savefig("mine.png")
        plt.savefig("vector.svg")
        os.makedirs("figures", exist_ok=True)
        plt.savefig("figures/own.pdf")
        plt.figure()
        plt.close()
        bound = px.bar(frame, x="a", y="b")
        unbound = [go.Figure(data=[go.Scatter(y=[1])])]
        go.Figure(data=[go.Scatter(y=[2])]).show()
        bound.show()
        plt.show()
        frame
        """, *MEMORY, tree=scientific)


def test_figures_are_saved(drawn):
    assert drawn.manifest["status"] == "ok", drawn
    by_mime = {}
    for figure in drawn.manifest["figures"]:
        by_mime.setdefault(figure["mime"], []).append(figure["path"])
    assert {mime: len(paths) for mime, paths in by_mime.items()} == {
        "image/png": 3, "application/pdf": 1, "application/vnd.plotly.v1+json": 2}
    for path in by_mime["image/png"]:
        assert re.fullmatch(r"figures/fig_\w+\.png", path)
        assert (drawn.output / path).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    for path in by_mime["application/vnd.plotly.v1+json"]:
        assert re.fullmatch(r"figures/plotly_\w+\.json", path)
        assert json.loads((drawn.output / path).read_text()).keys() >= {"data", "layout"}
    assert by_mime["application/pdf"] == ["figures/own.pdf"]
    assert [row["path"] for row in drawn.manifest["files"]] == ["mine.png", "vector.svg"]
    assert drawn.listed() == drawn.files()


def test_figures_are_sealed_by_hash(drawn):
    import hashlib
    for row in drawn.manifest["figures"] + drawn.manifest["files"]:
        data = (drawn.output / row["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (row["bytes"], row["sha256"])


def test_program_says_which_kind_its_figures_are(drawn):
    kinds = sorted(figure["kind"] for figure in drawn.manifest["guest"]["figures"])
    assert kinds == ["matplotlib"] * 4 + ["plotly"] * 2  # with the file that it saved into the directory for figures


def test_value_of_a_frame(drawn):
    value = drawn.manifest["guest"]["value"]
    assert "x  1  3.5" in value["text/plain"]
    assert value["text/html"].lstrip().startswith("<div>") and "<th>x</th>" in value["text/html"]


def test_figures_up_to_the_cap(scientific):
    result = cells.run("""\
        import matplotlib.pyplot as plt, plotly.graph_objects as go
        for i in range(5):
            plt.figure()
        for i in range(4):
            go.Figure().show()
        """, "--max-figures", "2", *MEMORY, tree=scientific)
    assert result.manifest["status"] == "ok", result
    mimes = sorted(figure["mime"] for figure in result.manifest["figures"])
    assert mimes == ["application/vnd.plotly.v1+json"] * 2 + ["image/png"] * 2
    warnings = " ".join(result.manifest["guest"]["warnings"])
    assert "3 of 5 matplotlib" in warnings and "2 of 4 plotly" in warnings


def test_figures_that_are_too_large_or_cannot_be_drawn(scientific):
    result = cells.run("""\
        import matplotlib.pyplot as plt, os
        plt.figure()
        plt.imshow([[int.from_bytes(os.urandom(2), "big") for _ in range(600)] for _ in range(600)])
        plt.figure().text(0.5, 0.5, "$\\\\broken$")
        plt.figure(figsize=(1, 1))
        """, "--figure-size", "32K", *MEMORY, tree=scientific)
    assert result.manifest["status"] == "ok", result
    assert len(result.manifest["figures"]) == 1
    assert len(result.manifest["guest"]["warnings"]) == 2
    assert result.files() == result.listed()


def test_figures_after_an_error_are_kept(scientific):
    result = cells.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nopen('rows.csv', 'w').write('1')\n1 / 0\n",
                       *MEMORY, tree=scientific)
    assert result.status == 1 and result.manifest["status"] == "error"
    assert len(result.manifest["figures"]) == 1
    assert [row["path"] for row in result.manifest["files"]] == ["rows.csv"]
    assert result.manifest["partial"] is True


def test_plotly_figure_as_the_value(scientific):
    result = cells.run("import plotly.graph_objects as go\ngo.Figure(data=[go.Scatter(y=[1, 2])])", *MEMORY, tree=scientific)
    assert [figure["mime"] for figure in result.manifest["figures"]] == ["application/vnd.plotly.v1+json"], result
    assert "text/html" not in result.manifest["guest"]["value"]  # that would hold all of plotly.js


# ---- the libraries that programs use ----

def test_scientific_libraries_work(scientific):
    """One cell for all: each does a little of what it is for."""
    result = cells.run("""\
        import warnings
        warnings.simplefilter("error", ResourceWarning)
        import numpy as np, pandas as pd, scipy.stats, scipy.optimize, statsmodels.api as sm, statsmodels.formula.api as smf
        import seaborn as sns, sklearn.linear_model, sklearn.cluster, sklearn.ensemble, sklearn.model_selection, joblib
        import matplotlib, matplotlib.pyplot as plt, mpl_toolkits.mplot3d, patsy, PIL.Image, dateutil.parser, pytz
        import plotly.express as px, plotly.subplots
        rng = np.random.default_rng(0)
        x = rng.normal(size=200)
        df = pd.DataFrame({"x": x, "y": 2 * x + rng.normal(size=200) / 10, "g": list("ab") * 100})
        assert abs(scipy.stats.linregress(df.x, df.y).slope - 2) < 0.1
        assert abs(smf.ols("y ~ x + C(g)", df).fit().params["x"] - 2) < 0.1
        assert sm.OLS(df.y, sm.add_constant(df.x)).fit().summary().as_text()
        assert sklearn.linear_model.LinearRegression().fit(df[["x"]], df.y).score(df[["x"]], df.y) > 0.9
        forest = sklearn.ensemble.RandomForestRegressor(n_estimators=5, n_jobs=2).fit(df[["x"]], df.y)
        assert len(sklearn.model_selection.cross_val_score(forest, df[["x"]], df.y, cv=3, n_jobs=-1)) == 3
        assert set(sklearn.cluster.KMeans(2, n_init=1, random_state=0).fit_predict(df[["x", "y"]])) == {0, 1}
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-i) for i in range(3)) == [0, 1, 2]
        sns.scatterplot(data=df, x="x", y="y", hue="g")
        plt.figure().add_subplot(projection="3d")
        assert np.allclose(np.linalg.inv(np.eye(300)) @ np.eye(300), np.eye(300))
        assert df.query("x > 0").eval("x + y").sum() == (df[df.x > 0].x + df[df.x > 0].y).sum()
        assert df.groupby("g").y.agg(["mean", "std"]).shape == (2, 2)
        df.to_csv("df.csv", index=False)
        df.to_pickle("df.pkl")
        df.to_json("df.json")
        assert pd.read_csv("df.csv").shape == pd.read_pickle("df.pkl").shape == df.shape
        joblib.dump(forest, "/tmp/forest.joblib")
        joblib.load("/tmp/forest.joblib").predict(df[["x"]])
        PIL.Image.new("RGB", (8, 8), "red").save("red.png")
        assert dateutil.parser.parse("31 Jan 2026").month == 1 and pytz.timezone("Asia/Tokyo").zone == "Asia/Tokyo"
        assert pd.Timestamp("2026-07-01", tz="Europe/Berlin").utcoffset().seconds == 7200
        assert pd.date_range("2026-01-01", periods=3, freq="D").tz_localize("US/Eastern")[0].hour == 0
        from scipy.optimize import minimize
        assert minimize(lambda v: (v - 3) ** 2, 0).x.round(3)[0] == 3
        print("all hold")
        """, "--memory", "2G", "--timeout", "120s", tree=scientific)
    assert result.manifest["status"] == "ok", result
    assert result.stdout == "all hold\n"
    assert sorted(row["path"] for row in result.manifest["files"]) == ["df.csv", "df.json", "df.pkl", "red.png"]
    assert len(result.manifest["figures"]) == 2
    assert result.stderr == "", result.stderr


# ---- what pandas reads and writes with other libraries ----

FORMATS = """
import io
import networkx
import pandas
from bs4 import BeautifulSoup
frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
frame.to_excel("/output/frame.xlsx", index=False)
print(pandas.read_excel("/output/frame.xlsx").equals(frame))
print(frame.to_markdown(index=False).splitlines()[0])
print(pandas.read_html(io.StringIO(frame.to_html(index=False)), flavor="bs4")[0].equals(frame))
print([tag.text for tag in BeautifulSoup("<p>one<p>two", "html5lib").select("p")])
print(networkx.shortest_path(networkx.path_graph(4), 0, 3))
"""


@pytest.mark.parametrize("policy", ["default", "none"])
def test_tables_of_other_formats_and_graphs(scientific, policy):
    card = json.loads(cells.hotcell("policy", "card", "--json", "-t", "scientific").stdout)
    if "openpyxl" not in card["libraries"]:
        cells.skip("an older hotcell built the tree scientific: run 'hotcell tree build scientific'")
    r = cells.run(FORMATS, tree=scientific, policy=policy)
    assert r.stdout.splitlines() == ["True", "|   a | b   |", "True", "['one', 'two']", "[0, 1, 2, 3]"], r


@pytest.mark.parametrize("code", ["import sympy", "import lxml", "import tables"])
def test_what_is_large_or_opens_files_in_c_is_not_in_the_tree(scientific, code):
    r = cells.run(code, tree=scientific, policy="none")
    assert r.status == 1 and "is not installed, and nothing can be installed in the cell" in r.stderr, r
