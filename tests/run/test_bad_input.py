"""What cannot be done is refused before there is a cell: one line, and a status that says whose fault it is."""

import json
import os
import re
import socket
import subprocess

import cells
import pytest

USAGE, DATA, UNAVAILABLE, INTERNAL, CONFIG = 64, 65, 69, 70, 78


@pytest.fixture
def here(base_tree):
    """A directory with a program that must not run, to be the current one."""
    path = cells.new_directory(cells.caller())
    (path / "ok.py").write_text("print('it ran')\n")
    return path


def assert_refused(done, status, *phrases):
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    assert re.fullmatch(r"hotcell[^\n]*: [^\n]+\n", done.stderr), done.stderr
    for phrase in phrases:
        assert phrase in done.stderr
    return done


def refuse(here, status, phrases, *arguments, **more):
    """`hotcell run` with the tree base, which must end so, and leave no output directory."""
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "-o", "out", *arguments, cwd=here, **more)
    assert_refused(done, status, *([phrases] if isinstance(phrases, str) else phrases))
    assert not (here / "out").exists()


# ---- the program ----

@pytest.mark.parametrize("code, phrases", [
    (b"x = 1\ny = '\xff'\n", ["program.py", "line 2, column 6", "not UTF-8", "0xff"]),
    ("é = 1; 'é'".encode() + b"\xc3(", ["line 1, column 11", "not UTF-8"]),
    (b"\xed\xa0\x80", ["line 1, column 1", "not UTF-8"]),  # half of a surrogate pair
    (b"x = 1".decode().encode("utf-16"), ["line 1, column 1", "not UTF-8"]),
    (b"x = 1\ny\0 = 2\n", ["line 2", "NUL"]),
    (b"\0", "NUL"),
])
def test_program_that_is_no_text(here, code, phrases):
    (here / "program.py").write_bytes(code)
    refuse(here, DATA, phrases, "program.py")
    with open(here / "program.py", "rb") as file:
        refuse(here, DATA, "standard input", "-", stdin=file)


@pytest.mark.parametrize("code", ["", " \n\t\r\n\f\n", "\ufeff \n", "# nothing"])
def test_a_program_without_code_is_one(base_tree, code):
    """As it is for Python."""
    result = cells.run(code)
    assert (result.status, result.manifest["status"], result.stdout, result.stderr) == (0, "ok", "", "")


def test_program_that_is_no_file(here):
    (here / "folder").mkdir()
    os.mkfifo(here / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(here / "socket"))
        refuse(here, DATA, "socket: ", "socket")
    os.symlink("nowhere", here / "dangling.py")
    os.symlink("loop.py", here / "loop.py")
    refuse(here, DATA, ["absent.py", "No such file"], "absent.py")
    refuse(here, DATA, ["dangling.py", "No such file"], "dangling.py")
    refuse(here, DATA, ["loop.py", "symbolic links"], "loop.py")
    refuse(here, DATA, ["folder", "directory"], "folder")
    refuse(here, DATA, ["fifo", "not a regular file"], "fifo")
    refuse(here, DATA, ["/dev/zero", "not a regular file"], "/dev/zero")
    refuse(here, DATA, ["ok.py/x", "Not a directory"], "ok.py/x")
    refuse(here, DATA, "File name too long", "n" * 300)


def test_files_that_the_user_may_not_read(here):
    user = cells.ordinary()
    cells.need_cells(user)
    for name in ("ok.py", "data.csv", "policy.json", "spec.json", "key"):
        (here / name).write_text("{}")
        (here / name).chmod(0)
    (here / "fine.py").write_text("1")
    if cells.IS_ROOT:
        os.chown(here, user.uid, user.uid)
    refuse(here, DATA, ["ok.py", "Permission denied"], "ok.py", user=user)
    refuse(here, DATA, ["spec.json", "Permission denied"], "--spec", "spec.json", user=user)
    refuse(here, CONFIG, ["policy.json", "Permission denied"], "-p", "./policy.json", "fine.py", user=user)
    refuse(here, CONFIG, ["key", "Permission denied"], "--sign", "key", "fine.py", user=user)
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "--input", "data=data.csv", "fine.py", cwd=here,
                         user=user)
    assert_refused(done, DATA, "input 'data'", "data.csv", "Permission denied")


def test_50_megabytes_of_code_are_rejected_with_a_manifest(base_tree):
    result = cells.run(b"#" * 50_000_000 + b"\nprint('it ran')\n")
    assert result.status == 2 and result.stdout == ""
    assert result.manifest["status"] == "rejected"
    assert result.manifest["rejection"]["rule"] == "code_size"
    assert re.fullmatch(r"hotcell: rejected[^\n]+\n", result.stderr)
    assert "limits.code" in result.stderr and "1M" in result.stderr
    assert "--input" in result.manifest["rejection"]["hint"]


def test_code_at_the_limit_runs_and_a_byte_more_does_not(base_tree):
    program = b"print(1)\n"
    assert cells.run(program, "--code-size", len(program)).manifest["status"] == "ok"
    assert cells.run(program + b"\n", "--code-size", len(program)).manifest["rejection"]["rule"] == "code_size"


def test_more_than_any_policy_allows_is_not_even_read(here):
    with open(here / "huge.py", "wb") as file:
        file.truncate(200 << 20)
    refuse(here, DATA, ["huge.py", "more than"], "huge.py")
    with open("/dev/zero", "rb") as endless:
        refuse(here, DATA, "standard input", "-", stdin=endless)
        refuse(here, DATA, "standard input", "--spec", "-", stdin=endless)


# ---- options ----

@pytest.mark.parametrize("arguments, phrases", [
    (["--frobnicate", "ok.py"], ["unknown option --frobnicate", "--help"]),
    (["--frobnicate=1", "ok.py"], ["unknown option --frobnicate"]),
    (["-x", "ok.py"], "unknown option -x"),
    (["ok.py", "--memory"], "--memory needs a value"),
    (["ok.py", "-p"], "-p needs a value"),
    ([], "expected one FILE"),
    (["ok.py", "ok.py"], "expected one FILE"),
    (["--spec", "spec.json", "ok.py"], "--spec"),
    (["--memory", "1K", "ok.py"], ["--memory", "32M to 1T", "1K"]),
    (["--memory", "2T", "ok.py"], ["--memory", "32M to 1T", "2T"]),
    (["--memory", "lots", "ok.py"], ["--memory", "a size", "'lots'"]),
    (["--memory", "99999999999999999999", "ok.py"], "--memory"),
    (["--memory", "1.5.5G", "ok.py"], "--memory"),
    (["--memory", "-1G", "ok.py"], "--memory"),
    (["--timeout", "0", "ok.py"], ["--timeout", "10ms to 24h"]),
    (["--timeout=-1", "ok.py"], ["--timeout", "'-1'"]),
    (["--timeout", "1d", "ok.py"], "--timeout"),
    (["--timeout", "nan", "ok.py"], "--timeout"),
    (["--timeout", "0x10", "ok.py"], "--timeout"),
    (["--pids", "1", "ok.py"], ["--pids", "2 to 4096"]),
    (["--pids", "1.5", "ok.py"], ["--pids", "whole number"]),
    (["--pids", "64M", "ok.py"], ["--pids", "whole number"]),
    (["--pids", " 64", "ok.py"], "--pids"),
    (["--cpus", "2000", "ok.py"], "--cpus"),
    (["--network", "all", "ok.py"], ["--network", "none or loopback", "'all'"]),
    (["--processes", "", "ok.py"], ["--processes", "none or fork"]),
    (["--output-mode", "CAPPED", "ok.py"], "--output-mode"),
    (["-t", "", "ok.py"], ["--tree", "empty"]),
    (["-t", "x" * 300, "ok.py"], "--tree"),
    (["-p", "", "ok.py"], ["--policy", "empty"]),
    (["--output=", "ok.py"], ["--output", "empty"]),
    (["--sign=", "ok.py"], ["--sign", "empty"]),
    (["--input", "data", "ok.py"], ["--input", "NAME=FILE", "'data'"]),
    (["--input", "=ok.py", "ok.py"], ["--input", "NAME=FILE"]),
    (["--input", "data=", "ok.py"], ["--input", "'data'", "path"]),
    (["--input", "1a=ok.py", "ok.py"], ["--input", "'1a'", "identifier"]),
    (["--input", "__a=ok.py", "ok.py"], ["'__a'", "not beginning with '__'"]),
    (["--input", "a-b=ok.py", "ok.py"], ["'a-b'", "identifier"]),
    (["--input", "../a=ok.py", "ok.py"], "identifier"),
    (["--input", "class=ok.py", "ok.py"], ["'class'", "no keyword"]),
    (["--input", "d£ta=ok.py", "ok.py"], "Python identifier"),
    (["--input", "a" * 65 + "=ok.py", "ok.py"], "--input"),
    (["--input", "a=ok.py", "--input", "a=ok.py", "ok.py"], ["'a'", "twice"]),
    (["--input", "a=ok.py", "--var", "a=1", "ok.py"], ["'a'", "twice"]),
    (["--var", "a=1", "--var", "a=2", "ok.py"], ["'a'", "twice"]),
    (["--var", "a", "ok.py"], ["--var", "NAME=JSON"]),
    (["--var", "a=", "ok.py"], ["--var", "JSON value"]),
    (["--var", "a={\"x\":", "ok.py"], ["--var", "a:1:6", "JSON value"]),
    (["--var", "a=tru", "ok.py"], ["--var", "a:1:1"]),
    (["--var", "a=NaN", "ok.py"], ["--var", "a:1:1"]),
    (["--var", "a='x'", "ok.py"], ["--var", "a:1:1"]),
    (["--var", "a=01", "ok.py"], "--var"),
    (["--var", "a=1, \"b\": 2", "ok.py"], "--var"),
    (["--var", "a={\"k\": 1, \"k\": 2}", "ok.py"], ["--var", "'k'", "twice"]),
    (["--var", "a=" + "[" * 100 + "]" * 100, "ok.py"], ["--var", "nested"]),
    (["--var", "a=\"\\ud800\"", "ok.py"], ["--var", "surrogate"]),
    (["--label", "x", "ok.py"], ["--label", "KEY=VALUE"]),
    (["--label", "x=" + "y" * 2000, "ok.py"], "--label"),
    (["--seed", "-1", "ok.py"], ["--seed", "0 to 4294967295"]),
    (["--seed", "4294967296", "ok.py"], "--seed"),
    (["--seed", "x", "ok.py"], "--seed"),
    (["--job-id", "../x", "ok.py"], ["--job-id", "'../x'"]),
    (["--job-id", ".x", "ok.py"], "--job-id"),
    (["--job-id", "x" * 65, "ok.py"], "--job-id"),
    (["--tenant", "", "ok.py"], "--tenant"),
    (["--tenant", "a\nb", "ok.py"], "--tenant"),
    (["--output-mode", "bind", "--output", "", "ok.py"], "--output"),
])
def test_command_line_that_is_wrong(here, arguments, phrases):
    done = cells.hotcell("run", *arguments, cwd=here)
    assert_refused(done, USAGE, *([phrases] if isinstance(phrases, str) else phrases))


def test_counts_have_ceilings(here):
    (here / "data").write_text("1")
    inputs = [word for i in range(65) for word in ("--input", f"a{i}=data")]
    refuse(here, USAGE, "more than 64", *inputs, "ok.py")
    variables = [word for i in range(257) for word in ("--var", f"a{i}=1")]
    refuse(here, USAGE, "more than 256", *variables, "ok.py")
    labels = [word for i in range(65) for word in ("--label", f"a{i}=1")]
    refuse(here, USAGE, "more than 64", *labels, "ok.py")


# ---- files around the program ----

def test_inputs_that_cannot_be_given(here):
    (here / "folder").mkdir()
    os.mkfifo(here / "fifo.csv")
    for path, phrase in [("absent.csv", "No such file"), ("folder", "regular file: give a directory with --dir"), ("fifo.csv", "regular file"),
                         ("/dev/zero", "regular file"), ("ok.py/x", "Not a directory")]:
        done = cells.hotcell("run", "-t", "base", "--input", f"data={path}", "ok.py", cwd=here)
        assert_refused(done, DATA, "input 'data'", path, phrase)
        assert not (here / "hotcell-output").exists()


def test_refusal_after_the_output_directory_is_open_leaves_a_manifest(here):
    done = cells.hotcell("run", "-t", "base", "-o", "out", "--input", "data=absent.csv", "ok.py", cwd=here)
    assert_refused(done, DATA, "absent.csv")
    manifest = json.loads((here / "out" / "manifest.json").read_text())
    assert manifest["status"] == "launch_failed"
    assert manifest["exit_code"] == DATA
    assert "absent.csv" in manifest["reason"]
    assert manifest["layers"] == {} and manifest["guest"] is None


def test_output_directories_that_cannot_be(here):
    (here / "file").write_text("kept")
    os.symlink("nowhere/deep", here / "dangling")
    for path, phrase in [("missing/out", "No such file"), ("file", "Not a directory"), ("file/out", "Not a directory"),
                         ("dangling", ""), ("n" * 300, "too long")]:
        done = cells.hotcell("run", "-t", "base", "-o", path, "ok.py", cwd=here)
        assert_refused(done, DATA, "output directory", path, phrase)
    assert (here / "file").read_text() == "kept"
    assert not (here / "missing").exists()


def test_output_directory_that_is_not_writable(here):
    user = cells.ordinary()
    cells.need_cells(user)
    (here / "locked").mkdir(0o555)
    (here / "locked").chmod(0o555)
    for path in ("locked", "locked/out"):
        done = cells.hotcell("run", "-t", cells.tree_path("base"), "-o", path, "ok.py", cwd=here, user=user)
        assert_refused(done, DATA, path)
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "--output-mode", "bind", "-o", "locked", "ok.py",
                         cwd=here, user=user)
    assert_refused(done, DATA, "locked")


def test_bind_mode_needs_an_output_directory(here):
    done = cells.hotcell("run", "-t", "base", "--output-mode", "bind", "ok.py", cwd=here)
    assert_refused(done, USAGE, "-o DIR")


# ---- specs ----

SPECS = [
    ('', "1:1", "end of file"),
    ('nul', "1:1", "JSON value"),
    ('[]', "1:1", "expected an object, got a list"),
    ('{}', "1:1", "'code'"),
    ('{"code": "1",}', "1:14", "double quotes"),
    ('{"code": "1" "seed": 1}', "1:14", "','"),
    ("{'code': '1'}", "1:2", "double quotes"),
    ('{"code": "1"} x', "1:15", "end of the document"),
    ('{"code": "a\tb"}', "1:12", "0x09"),
    ('{"code": "1\\u0000"}', "1:12", "\\u0000"),
    ('{"code": "\\ud800"}', "1:11", "surrogate"),
    ('{"code": "\\x"}', "1:12", "backslash"),
    ('{"code": "1", "code": "2"}', "1:15", "'code' is given twice"),
    ('{"code": "1"\n,\n"inputz": {}}', "3:1", "did you mean 'inputs'?"),
    ('{"code": "1", "frobnicate": {}}', "1:15", "unknown member 'frobnicate'"),
    ('{"code": "1", "memory": "1G"}', "1:15", "did you mean 'limits.memory'?"),
    ('{"code": "1", "limits": {"memroy": "1G"}}', "1:26", "did you mean 'memory'?"),
    ('{"code": 3}', "1:10", "code: expected the program's source as a string, got a number"),
    ('{"code": null}', "1:10", "got null"),
    ('{"code": "1", "limits": {"memory": 1}}', "1:36", "32M to 1T"),
    ('{"code": "1", "limits": {"memory": true}}', "1:36", "a size"),
    ('{"code": "1", "limits": {"timeout": -3}}', "1:37", "10ms to 24h"),
    ('{"code": "1", "limits": {"timeout": 1e999}}', "1:37", ""),
    ('{"code": "1", "limits": {"pids": 2.5}}', "1:34", "whole number"),
    ('{"code": "1", "limits": {"pids": "64"}}', "1:34", "whole number"),
    ('{"code": "1", "limits": []}', "1:25", "expected an object"),
    ('{"code": "1", "vars": [1]}', "1:23", "expected an object"),
    ('{"code": "1", "vars": {"__a": 1}}', "1:24", "'__a'"),
    ('{"code": "1", "vars": {"a": 1, "a": 2}}', "1:32", "twice"),
    ('{"code": "1", "inputs": {"a": 1}}', "1:31", "expected a path"),
    ('{"code": "1", "inputs": {"a": ""}}', "1:31", "path"),
    ('{"code": "1", "inputs": {"a": "x"}, "vars": {"a": 1}}', "1:46", "twice"),
    ('{"code": "1", "labels": {"a": 1}}', "1:31", "expected a string"),
    ('{"code": "1", "seed": 1.5}', "1:23", "whole number"),
    ('{"code": "1", "seed": 4294967296}', "1:23", "whole number"),
    ('{"code": "1", "tree": ""}', "1:23", "empty string"),
    ('{"code": "1", "policy": 1}', "1:25", "policy"),
    ('{"code": "1", "output_dir": ""}', "1:29", "empty string"),
    ('{"code": "1", "persist_code": 1}', "1:31", "true or false"),
    ('{"code": "1", "job_id": "../x"}', "1:25", "job_id"),
    ('{"code": "1", "tenant": ""}', "1:25", "tenant"),
    ('{"code": "1", "df_paths": {}, "vars": {}}', "1:31", "older runner's form"),
    ('{"code": "1", "max_figures": "3"}', "1:30", "whole number"),
    ('{"code": "1", "max_figures": -1}', "1:30", "max_figures"),
    ('{"code": "1", "df_paths": ["a"]}', "1:27", "expected an object"),
    ('{"vars": {"a": ' + "[" * 100 + "]" * 100 + '}}', "1:", "nested deeper"),
    ('{"vars": {"a": ' + "[" * 1000000, "1:", "nested deeper"),
]


@pytest.mark.parametrize("text, place, phrase", SPECS, ids=[text[:40] for text, _, _ in SPECS])
def test_spec_that_is_wrong(here, text, place, phrase):
    (here / "spec.json").write_text(text)
    refuse(here, DATA, [f"hotcell: spec.json:{place}", phrase], "--spec", "spec.json")


def test_spec_from_standard_input_is_named_so(here):
    with open(here / "spec", "w+b") as file:
        file.write(b'{"code": "\xff"}')
        file.seek(0)
        refuse(here, DATA, ["standard input:1:11", "not UTF-8"], "--spec", "-", stdin=file)


# ---- policies ----

POLICIES = [
    ('', "1:1", "end of file"),
    ('null', "1:1", "expected an object"),
    ('{"a": {"b": [}}', "1:14", "JSON value"),
    ('{"limits": {"memroy": "1G"}}', "1:13", "unknown member 'memroy' in limits; did you mean 'memory'?"),
    ('{"timeout": "1s"}', "1:2", "did you mean 'limits.timeout'?"),
    ('{"limits.timeout": "1s"}', "1:2", "unknown member"),
    ('{\n  "limits": {\n    "memory": 5}}', "3:15", "limits.memory: expected 32M to 1T, got 5"),
    ('{"limits": []}', "1:12", "expected an object, got a list"),
    ('{"limits": {"pids": "64"}}', "1:21", "whole number"),
    ('{"limits": {"cpus": -1}}', "1:21", "0 to 1024"),
    ('{"limits": {"enforcement": "hope"}}', "1:28", "auto, cgroup or rlimits"),
    ('{"limits": {"enforcement": null}}', "1:28", "auto, cgroup or rlimits"),
    ('{"output": {"mode": "bnid"}}', "1:21", "capped or bind"),
    ('{"network": "all"}', "1:13", "none or loopback, got 'all'"),
    ('{"network": {}}', "1:13", "none or loopback"),
    ('{"tree": "x", "tree": "y"}', "1:15", "'tree' is given twice"),
    ('{"tree": 1}', "1:10", "a name or a path"),
    ('{"name": "../x"}', "1:10", "name: expected 1 to 63 letters"),
    ('{"name": ""}', "1:10", "name"),
    ('{"description": 1}', "1:17", "expected a string"),
    ('{"extends": 3}', "1:13", "expected the name of a policy"),
    ('{"env": {"LD_PRELOAD": "x"}}', "1:10", "how programs are loaded"),
    ('{"env": {"PYTHONPATH": "x"}}', "1:10", "interpreter"),
    ('{"env": {"MALLOC_ARENA_MAX": "x"}}', "1:10", "memory"),
    ('{"env": {"HOME": "/root"}}', "1:10", "hotcell sets it"),
    ('{"env": {"A-B": "1"}}', "1:10", "letters, digits"),
    ('{"env": {"A": 1}}', "1:15", "expected a string"),
    ('{"env": {"A": "%s"}}' % ("x" * 5000), "1:15", "4096"),
    ('{"env": {%s}}' % ", ".join(f'"A{i}": ""' for i in range(65)), "1:", "more than 64"),
]


@pytest.mark.parametrize("text, place, phrase", POLICIES, ids=[text[:40] for text, _, _ in POLICIES])
def test_policy_that_is_wrong(here, text, place, phrase):
    (here / "mine.json").write_text(text)
    refuse(here, CONFIG, [f"hotcell: ./mine.json:{place}", phrase], "-p", "./mine.json", "ok.py")
    assert_refused(cells.hotcell("policy", "check", "./mine.json", cwd=here), CONFIG, f"./mine.json:{place}", phrase)


def test_policy_that_is_not_there(here):
    refuse(here, CONFIG, ["there is no policy 'absent'", "absent.json"], "-p", "absent", "ok.py")
    refuse(here, CONFIG, ["./absent.json", "No such file"], "-p", "./absent.json", "ok.py")
    refuse(here, CONFIG, "directory", "-p", "./", "ok.py")
    refuse(here, CONFIG, "regular file", "-p", "/dev/zero", "ok.py")
    for name in ("..", ".", "../default", "default\n"):
        assert_refused(cells.hotcell("policy", "check", name, cwd=here), CONFIG)


def test_policy_that_extends_what_is_not_there(here):
    (here / "mine.json").write_text('{"extends": "absent"}')
    refuse(here, CONFIG, ["./mine.json:1:13: extends 'absent'", "there is no policy"], "-p", "./mine.json", "ok.py")
    (here / "mine.json").write_text('{"extends": "sub/absent.json"}')
    refuse(here, CONFIG, ["sub/absent.json", "No such file"], "-p", "./mine.json", "ok.py")
    (here / "mine.json").write_text('{"extends": "./bad.json"}')
    (here / "bad.json").write_text('{\n"limits": {"x": 1}}')
    refuse(here, CONFIG, ["bad.json:2:12", "unknown member 'x'"], "-p", "./mine.json", "ok.py")


@pytest.mark.parametrize("files", [
    {"a.json": "./a.json"},
    {"a.json": "./b.json", "b.json": "../%s/a.json"},
    {"a.json": "./b/../b/c.json", "b/c.json": "../a.json"},
], ids=["itself", "one another", "through a directory"])
def test_policies_that_extend_one_another_in_a_circle(here, files):
    (here / "b").mkdir()
    for name, parent in files.items():
        (here / name).write_text(json.dumps({"extends": parent.replace("%s", here.name)}))
    refuse(here, CONFIG, "extends itself", "-p", "./a.json", "ok.py")


def test_chain_of_nine_policies(here):
    for i in range(9):
        (here / f"p{i}.json").write_text(json.dumps({"extends": f"./p{i + 1}.json"} if i < 8 else {}))
    refuse(here, CONFIG, "more than 8", "-p", "./p0.json", "ok.py")
    assert cells.hotcell("policy", "check", "./p1.json", cwd=here).returncode == 0


# ---- the host and its settings ----

def test_tree_that_is_not_there(here):
    for arguments in (["-t", "absent", "ok.py"], ["-t", "absent", "--json", "ok.py"]):
        done = cells.hotcell("run", *arguments, cwd=here)
        assert done.returncode == UNAVAILABLE
        assert done.stderr == ("hotcell: tree 'absent' is not built, and no recipe has that name: 'hotcell tree list' says "
                               "which trees there are\n")
    state = {"HOTCELL_STATE": str(here / "state")}
    done = cells.hotcell("run", "ok.py", cwd=here, env=state)  # the default policy's
    assert_refused(done, UNAVAILABLE, "hotcell tree build scientific")
    assert_refused(cells.hotcell("run", "-t", str(here), "ok.py", cwd=here), UNAVAILABLE, str(here))
    assert_refused(cells.hotcell("run", "-t", "./absent", "ok.py", cwd=here), UNAVAILABLE, "./absent")


@pytest.mark.parametrize("mode, size, phrase", [
    (0o644, 32, "others"), (0o660, 32, "others"), (0o602, 32, "others"), (0o600, 15, "16 to 4096"),
    (0o600, 4097, "16 to 4096"), (0o600, 0, "16 to 4096"),
])
def test_key_that_is_open_or_of_a_wrong_size(here, mode, size, phrase):
    (here / "key").write_bytes(b"k" * size)
    (here / "key").chmod(mode)
    refuse(here, CONFIG, ["key file key", phrase], "--sign", "key", "ok.py")


def test_key_that_is_no_file(here):
    os.mkfifo(here / "fifo", 0o600)
    refuse(here, CONFIG, ["key file absent", "No such file"], "--sign", "absent", "ok.py")
    refuse(here, CONFIG, "key file fifo", "--sign", "fifo", "ok.py")
    refuse(here, CONFIG, "key file .", "--sign", ".", "ok.py")


def test_state_directory_that_is_relative(here):
    done = cells.hotcell("run", "-t", "base", "ok.py", cwd=here, env={"HOTCELL_STATE": "state"})
    assert_refused(done, CONFIG, "HOTCELL_STATE", "absolute", "'state'")
    assert not (here / "state").exists()


@pytest.mark.parametrize("value", ["", "bad", "0:10", "999:10", "5000", "5000:", ":5", "5000:0", "5000:-1", "5000:10x",
                                   "4294967290:100", "99999999999:1", "5000:10:10"])
def test_range_of_uids_that_is_wrong(here, value):
    cells.need_root()
    done = cells.hotcell("run", "-t", "base", "ok.py", cwd=here, env={"HOTCELL_UID_RANGE": value})
    if value == "":
        assert done.returncode == 0  # as if it were not set
    else:
        assert_refused(done, CONFIG, "HOTCELL_UID_RANGE", f"'{value}'")


@pytest.mark.parametrize("place", ["/tmp", "/nowhere", "relative"])
def test_cgroup_directory_that_is_none(here, place):
    done = cells.hotcell("run", "-t", "base", "--enforcement", "cgroup", "ok.py", cwd=here,
                         env={"HOTCELL_CGROUP": place})
    assert_refused(done, CONFIG, "HOTCELL_CGROUP", place)


def test_cgroups_that_are_demanded_and_not_there(here):
    """An ordinary user has none but those that somebody delegated."""
    user = cells.ordinary()
    cells.need_cells(user)
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "--enforcement", "cgroup", "ok.py", cwd=here, user=user)
    if done.returncode == 0:
        cells.skip("this user has delegated cgroup controllers")
    assert_refused(done, UNAVAILABLE, "limits.enforcement", "cgroup")


def without_user_namespaces(here, *run):
    """Inside a user namespace of its own, in which no more of them may be made."""
    script = 'echo 0 >/proc/sys/user/max_user_namespaces || exit 99; exec "$0" "$@"'
    return subprocess.run(["unshare", *run[0], "sh", "-c", script, *run[1:]], cwd=here, capture_output=True, text=True,
                          check=False, timeout=cells.PATIENCE)


@pytest.mark.parametrize("who", ["root", "user"])
def test_host_without_user_namespaces(here, who):
    cells.need_root()  # an ordinary user cannot lower the ceiling
    command = [cells.HOTCELL, "run", "-t", cells.tree_path("base"), "-o", "out", "ok.py"]
    if who == "root":
        done = without_user_namespaces(here, ["--user", "--map-root-user", "--mount"], *command)
    else:
        drop = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
        done = without_user_namespaces(here, ["--user", "--map-user=1000", "--keep-caps"], *drop, *command)
    assert_refused(done, UNAVAILABLE, "namespaces", "hotcell doctor")


# ---- nobody listens ----

@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["policy", "show", "default"],
                                       ["tree", "list"], ["run", "-t", "base", "--json", "ok.py"]])
def test_output_that_cannot_be_written_is_an_error(here, arguments):
    with open("/dev/full", "w") as full:
        done = cells.hotcell(*arguments, cwd=here, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == INTERNAL
    assert done.stderr == "hotcell: standard output could not be written\n"


def test_findings_that_cannot_be_written_are_said_to_be_lost(here):
    (here / "refused.py").write_text("import socket; socket\n")
    with open("/dev/full", "w") as full:
        done = cells.hotcell("check", "-t", "base", "refused.py", cwd=here, capture_output=False, stdout=full,
                             stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, "hotcell: standard output could not be written\n")


def test_a_program_that_cannot_be_kept_is_said_to_be_lost(here):
    (here / "hotcell-output").write_text("in the way")
    done = cells.hotcell("run", "-t", "base", "--persist-code", "ok.py", cwd=here, env={"TMPDIR": "/dev/null"})
    assert (done.returncode, done.stdout) == (0, "it ran\n")
    assert done.stderr.startswith("hotcell: the program was not kept: ") and done.stderr.count("\n") == 1


def test_program_goes_on_when_its_reader_is_gone(here):
    with open("/dev/full", "w") as full:
        done = cells.hotcell("run", "-t", "base", "-o", "out", "ok.py", cwd=here, capture_output=False, stdout=full,
                             stderr=subprocess.PIPE)
    assert done.returncode == 70 and "standard output could not be passed on" in done.stderr
    manifest = json.loads((here / "out" / "manifest.json").read_text())
    assert manifest["stdout"]["text"] == "it ran\n"


def test_nothing_of_a_guest_is_in_the_line(here):
    """Names come from whoever calls; a line stays a line."""
    done = cells.hotcell("run", "-t", "base", "bad\nname\x1b[31m.py", cwd=here)
    assert_refused(done, DATA)
