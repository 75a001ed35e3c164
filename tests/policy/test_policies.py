"""Policies: what is written is what is in effect, where it was looked for, and what options make of it."""

import json
import platform
from pathlib import Path

import cells
import pytest

SHIPPED = Path(__file__).resolve().parents[2] / "policies"


@pytest.fixture
def here(base_tree):
    return cells.new_directory(cells.caller())


def show(name, **more):
    done = cells.hotcell("policy", "show", name, **more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def write(path, **members):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(members))
    return path


@pytest.mark.parametrize("name", ["default", "none", "analysis", "charts", "statistics", "notebook"])
def test_shipped_policies(name, here):
    done = cells.hotcell("policy", "check", name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert show(name)["name"] == name


def test_every_shipped_file_is_a_policy():
    for path in SHIPPED.glob("*.json"):
        assert cells.hotcell("policy", "check", path).returncode == 0, path
        assert show(path)["name"] == path.stem


def test_defaults_file_says_only_what_differs(here):
    """What is in effect is shown by "policy show default"; a value that the program has anyway stands in one place."""
    written, builtin = json.loads((SHIPPED / "default.json").read_text()), show(write(here / "empty.json"))
    assert {key for key in written if written[key] == builtin.get(key)} == set()
    assert "limits" not in written and show("default").items() >= {key: builtin[key] for key in builtin if key != "name"}.items()


def test_none_is_default_without_the_guard():
    default, none = show("default"), show("none")
    for shown in (default, none):
        shown.pop("name")
        shown.pop("description", None)
    assert none == {**default, "guard": "off"}


@pytest.mark.parametrize("members", [
    {}, {"extends": "default"}, {"limits": {"memory": "1536M", "timeout": 0.25, "cpus": 1.5, "cpu": "1h"}},
    {"env": {"TZ": "Europe/Berlin", "A": "é \" \\ \n"}},
    {"network": "loopback", "processes": "fork", "tree": "/some/where"},
    {"output": {"mode": "bind", "overflow": "end"}, "limits": {"enforcement": "rlimits", "stdout": 0}},
    {"name": "x.y-z_1", "description": "for people"},
    {"limits": {"memory": 1073741825, "output": "1.5G", "timeout": "90s"}},
])
def test_what_is_shown_can_be_read_again(here, members):
    shown = show(write(here / "first.json", **members))
    again = write(here / "second" / "first.json", **shown)
    assert show(again) == shown


def test_sizes_and_durations(here):
    limits = {"memory": "1G", "output": 1 << 20, "tmp": "1.5M", "timeout": "250ms", "cpu": "2m"}
    same = {"memory": 1 << 30, "output": "1M", "tmp": 3 << 19, "timeout": 0.25, "cpu": 120}
    assert show(write(here / "a.json", name="x", limits=limits)) == show(write(here / "b.json", name="x", limits=same))


def test_name_is_the_files_unless_it_says_another(here):
    assert show(write(here / "reports.json"))["name"] == "reports"
    assert show(write(here / "other.json", name="reports"))["name"] == "reports"
    assert show(write(here / "child.json", extends="./other.json"))["name"] == "child"


# ---- extends ----

def test_extends_goes_field_by_field(here):
    write(here / "lib" / "base.json", limits={"memory": "2G", "timeout": "5s"}, env={"A": "1", "B": "1"}, network="loopback")
    write(here / "lib" / "middle.json", extends="./base.json", limits={"timeout": "6s"}, env={"B": "2", "C": "2"})
    policy = show(write(here / "top.json", extends="lib/middle.json", limits={"pids": 8}, output={"overflow": "end"}))
    default = show("default")
    assert policy["limits"] == {**default["limits"], "memory": "2G", "timeout": "6s", "pids": 8}
    assert policy["env"] == {"A": "1", "B": "2", "C": "2"}
    assert policy["network"] == "loopback" and policy["output"] == {"mode": "capped", "overflow": "end"}
    assert policy["name"] == "top"


def test_extends_by_path_is_relative_to_the_file(here):
    write(here / "a" / "parent.json", limits={"pids": 7})
    write(here / "parent.json", limits={"pids": 8})
    path = write(here / "a" / "child.json", extends="./parent.json")
    for given, cwd in ((path, "/"), ("a/child.json", here), ("./child.json", here / "a"), ("../a/child.json", here / "a")):
        assert show(given, cwd=cwd)["limits"]["pids"] == 7
    link = here / "link.json"
    link.symlink_to("a/child.json")
    assert show("./link.json", cwd=here)["limits"]["pids"] == 8  # relative to where it was named


# ---- where policies are found ----

def test_places_in_their_order(here):
    user = cells.ordinary()
    cells.need_cells(user)
    for folder, pids in (("first", 11), ("xdg/hotcell/policies", 12), ("home/.config/hotcell/policies", 13)):
        write(here / folder / "mine.json", extends="default", limits={"pids": pids})
    env = {"HOTCELL_POLICIES": str(here / "first"), "XDG_CONFIG_HOME": str(here / "xdg"), "HOME": str(here / "home")}
    assert show("mine", user=user, env=env)["limits"]["pids"] == 11
    env["HOTCELL_POLICIES"] = str(here / "empty")
    assert show("mine", user=user, env=env)["limits"]["pids"] == 12
    del env["HOTCELL_POLICIES"]
    assert show("mine", user=user, env=env)["limits"]["pids"] == 12
    env["XDG_CONFIG_HOME"] = str(here / "empty")
    assert cells.hotcell("policy", "check", "mine", user=user, env=env).returncode == 78
    for unset in ("", "relative"):
        assert show("mine", user=user, env={**env, "XDG_CONFIG_HOME": unset})["limits"]["pids"] == 13


def test_policy_of_the_host_replaces_a_shipped_one(here):
    write(here / "default.json", limits={"pids": 5})
    assert show("default", env={"HOTCELL_POLICIES": str(here)})["limits"]["pids"] == 5
    assert show("default", cwd=here)["limits"]["pids"] == 64  # the current directory is no place for them


def test_root_does_not_look_where_home_points(here):
    cells.need_root()
    write(here / ".config/hotcell/policies/mine.json")
    write(here / "hotcell/policies/mine.json")
    done = cells.hotcell("policy", "check", "mine", env={"HOME": str(here), "XDG_CONFIG_HOME": str(here)})
    assert done.returncode == 78


def test_broken_policy_does_not_fall_through_to_the_next_place(here):
    (here / "default.json").write_text("{")
    env = {"HOTCELL_POLICIES": str(here)}
    assert cells.hotcell("policy", "check", "default", env=env).returncode == 78
    (here / "ok.py").write_text("print('it ran')")
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "ok.py", cwd=here, env=env)
    assert done.returncode == 78 and done.stdout == ""


# ---- in a run ----

def test_policy_is_in_effect(base_tree):
    result = cells.run("""\
        import os, resource
        print(os.environ["COLOUR"], os.environ["TZ"], os.environ["PATH"])
        print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize)
        """, policy={"env": {"COLOUR": "blüe", "TZ": "Europe/Berlin", "PATH": "/nowhere"},
                     "limits": {"open_files": 99, "tmp": "1M"}})
    assert result.stdout == f"blüe Europe/Berlin /nowhere\n99 {1 << 20}\n", result
    assert result.manifest["limits"]["open_files"] == 99 and result.manifest["limits"]["tmp"] == 1 << 20


def test_options_win_over_the_policy_and_the_last_over_the_first(base_tree):
    result = cells.run("1", "--pids", "20", "--pids=24", policy={"limits": {"pids": 16, "figures": 3}})
    assert result.manifest["limits"]["pids"] == 24 and result.manifest["limits"]["figures"] == 3


def test_options_come_over_the_policy_wherever_they_stand(base_tree, here):
    write(here / "mine.json", extends="default", limits={"pids": 16})
    (here / "ok.py").write_text("1")
    for arguments in (["--pids", "20", "-p", "./mine.json"], ["-p", "./mine.json", "--pids", "20"]):
        done = cells.hotcell("run", "--json", "-t", cells.tree_path("base"), *arguments, "ok.py", cwd=here)
        assert json.loads(done.stdout)["limits"]["pids"] == 20, done.stderr


def test_tree_of_the_policy(base_tree):
    result = cells.run("print(1)", tree=None, policy={"tree": cells.tree_path("base")})
    assert result.stdout == "1\n" and result.manifest["tree"]["name"] == cells.tree_path("base")


def test_network_and_processes(base_tree):
    code = "import socket\ntry:\n    socket.socket()\n    print('socket')\nexcept OSError:\n    print('none')"
    assert cells.run(code, "--guard=off").stdout == "none\n"
    assert cells.run(code, "--guard=off", policy={"network": "loopback"}).stdout == "socket\n"
    assert cells.run(code, "--guard=off", "--network", "none", policy={"network": "loopback"}).stdout == "none\n"
    code = ("import multiprocessing as m\nm.set_start_method('fork')\ndef work(q):\n    q.send(42)\n"
            "a, b = m.Pipe()\np = m.Process(target=work, args=(b,))\np.start()\nprint(a.recv())\np.join()")
    assert cells.run(code, "--guard=off").manifest["status"] == "error"
    assert cells.run(code, "--guard=off", policy={"processes": "fork"}).stdout == "42\n"


def test_policy_none_holds_by_the_kernel_alone(base_tree):
    result = cells.run("import os\nprint(os.getuid())\nos.fork()", policy="none")
    assert result.stdout == "1000\n" and result.manifest["policy"]["name"] == "none"
    assert result.manifest["status"] == "error"


def test_no_limit_of_cpu_is_said_so(base_tree):
    result = cells.run("1", "--cpu", "0", "--cpus", "0")
    assert result.manifest["limits"]["cpu"] == 0
    assert result.manifest["limits"]["enforced_by"]["cpu"] == result.manifest["limits"]["enforced_by"]["cpus"] == "none"


def test_cpus_without_a_controller_warns(base_tree):
    result = cells.run("1", "--cpus", "0.5", "--enforcement", "rlimits")
    assert result.manifest["limits"]["enforced_by"]["cpus"] == "none"
    assert any("limits.cpus" in warning for warning in result.manifest["warnings"])


# ---- explain, diff, card ----

WITH_RULES = ["default", "analysis", "charts", "statistics", "notebook", "none"]


def policy(command, *arguments, status=0, **more):
    done = cells.hotcell("policy", command, *arguments, **more)
    assert (done.returncode, done.stderr) == (status, ""), done
    return done.stdout


@pytest.mark.parametrize("name", WITH_RULES)
def test_explain_says_what_enforces_every_field(name):
    """Both sides of each field, and every rule of the policy with its value."""
    text, shown = policy("explain", name), show(name)
    for section, members in shown.items():
        if isinstance(members, dict) and section in ("limits", "output"):
            for key, value in members.items():
                block = text.split(f"\n{section}.{key} = ")[1].split("\n")
                assert block[1].startswith("    guard:  ") and block[2].startswith("    kernel: "), block[:3]
                assert section != "limits" or block[0] in (str(value), f"{value:g}" if value != str(value) else value)
        elif isinstance(members, dict):
            block = text.split(f"\n{section}\n")[1]
            assert all(f"    {key} = " in block for key in members), section


def test_explain_shows_what_is_in_rows_of_any_order():
    text = policy("explain", write_policy(warm={"ladder": [{"code": "1"}, {"words": ["plot"], "imports": ["json", "re"]}]},
                                          redact={"rules": [{"ignore_case": True, "pattern": "x", "replace": "y", "name": "mine"}]},
                                          modules={"replace": [{"values": ["a"], "with": "refuse", "name": "system", "module": "os"}]}))
    assert "    ladder = (code), (words: plot; imports: json, re)\n" in text
    assert "    rules = mine\n" in text and "    replace = os.system\n" in text


def test_explain_shows_the_kernels_side():
    none, loopback = policy("explain", "default"), policy("explain", write_policy(network="loopback"))
    assert "    EAFNOSUPPORT: the cell has no network; its channel is inherited\n        socket\n" in none
    assert "    sockets: " in loopback and "    sockets: " not in none
    assert "a network namespace with a loopback interface and no route" in loopback
    for landlocked in ("/usr ", "/input ", "/output ", "/tmp "):
        assert f"\n    {landlocked}" in none.split("Landlock: ")[1]
    assert "    guard:  off\n" in policy("explain", "none")


def write_policy(**members):
    directory = cells.new_directory(cells.caller())
    return str(write(directory / "own.json", extends="default", **members))


def test_diff_of_equal_policies(here):
    same = write_policy(name="same", description="another name")
    assert policy("diff", "default", "default") == ""
    assert policy("diff", "default", same) == ""


def test_diff_names_every_field_that_differs(here):
    other = write_policy(limits={"timeout": "5s"}, network="loopback", env={"TZ": "Europe/Berlin"},
                         imports={"deny+": ["sqlite3"], "message": None}, calls={"deny": ["print"]},
                         prelude={"names": {"pd": "pandas"}})
    assert policy("diff", "default", other, status=1).splitlines() == [
        'limits.timeout: "60s" -> "5s"',
        'network: "none" -> "loopback"',
        'imports.deny: + "sqlite3"',
        '''imports.message: "Import of '{name}' is not allowed by this policy" -> not set''',
        'calls.deny: - "breakpoint"',
        'calls.deny: + "print"',
        'env.TZ: not set -> "Europe/Berlin"',
        'prelude.names.pd: not set -> "pandas"',
    ]


def test_diff_tells_an_empty_list_from_none(here):
    empty = write_policy(imports={"allow": []})
    assert "imports.allow: not set -> []" in policy("diff", "default", empty, status=1).splitlines()


def test_a_policy_that_is_none_cannot_be_explained_or_compared(here):
    for arguments in (["explain", "nowhere"], ["diff", "nowhere", "default"], ["diff", "default", "nowhere"],
                      ["card", "nowhere"]):
        done = cells.hotcell("policy", *arguments)
        assert (done.returncode, done.stdout) == (78, "")
        assert "there is no policy 'nowhere'" in done.stderr
    for arguments in (["card", "--yaml"], ["card", "default", "none"], ["diff", "default"], ["explain"]):
        assert cells.hotcell("policy", *arguments).returncode == 64


@pytest.mark.parametrize("name", WITH_RULES)
def test_the_card_is_short(name):
    need_scientific()
    lines = policy("card", name).splitlines()
    assert len(lines) < 60
    assert max(map(len, lines)) <= 100
    assert lines[0] == f"This program runs in a sealed cell with Python {platform.python_version()} on Linux, under the policy {name}."


def need_scientific():
    if cells.hotcell("tree", "path", "scientific").returncode != 0:
        cells.skip("the tree scientific is not built")


def test_maxima_are_explained_and_on_the_card(tmp_path):
    (tmp_path / "own.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": {"max": {"pids": 200, "memory": "3G"}}}))
    own = tmp_path / "own.json"
    explained = cells.hotcell("policy", "explain", own).stdout
    assert "limits.max.pids = 200\n" in explained and "limits.max.memory = 3G\n" in explained
    assert "limits.max" not in cells.hotcell("policy", "explain", "default").stdout
    card = cells.hotcell("policy", "card", own).stdout
    assert "Maxima: " in card and "pids 200" in card and "memory 3G" in card, card
    assert json.loads(cells.hotcell("policy", "card", "--json", own).stdout)["maxima"] == {"pids": 200, "memory": "3G"}


def test_the_card_follows_from_the_policy():
    """A change of the policy is a change of what a model is told."""
    need_scientific()
    own = write_policy(name="own", imports={"allow": ["math"]}, limits={"timeout": "7s"}, audit={"threads": False},
                       files={"write": ["/tmp"]}, figures={"formats": ["svg"]}, calls={"deny": ["sorted"]},
                       prelude={"names": {"m": "math"}, "results": True})
    text, data = policy("card", own), json.loads(policy("card", "--json", own))
    for told in ("Imports, except of: math, and what is in them.", "7s by the clock", "m = math", "Threads, except",
                 "Writing:  /tmp.", "matplotlib's as svg", "Calls of: sorted.", "results: a dict"):
        assert told in text, told
    assert data["rules"]["imports_allowed"] == ["math"] and data["limits"]["timeout"] == 7
    assert data["prepared"]["names"] == {"m": "math"} and data["prepared"]["results"] is True
    assert data["files"]["write"] == ["/tmp"] and data["figures"]["formats"] == ["svg"]


def test_the_card_says_what_may_be_changed_and_how_much_is_printed():
    need_scientific()
    own = write_policy(name="own", code={"writes": "guarded", "write_types": ["dict"]}, redact={"max_chars": 70})
    text = policy("card", own)
    assert "Changing objects in place, except those of the program's own classes and of: dict." in text, text
    assert "Of printed text the first 70 characters." in text and "Secrets" not in text
    assert json.loads(policy("card", "--json", own))["rules"]["write_types"] == ["dict"]
    assert "in place" not in policy("card", "default") and "Of printed" not in policy("card", "default")


def test_the_cards_libraries_are_those_of_the_tree(base_tree):
    need_scientific()
    own = write_policy(tree=base_tree)
    assert json.loads(policy("card", "--json", own))["libraries"] == {}
    assert "Libraries: the standard library alone." in policy("card", own)
    told = json.loads(policy("card", "--json", "default"))
    probe = cells.run("import json, importlib.metadata as m\n"
                      "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()}))",
                      "--guard=off", tree="scientific")
    assert told["libraries"] == probe.facts()
    assert told["python"] == cells.run("import json, platform\nprint(json.dumps(platform.python_version()))").facts()


def test_the_card_without_guard_names_no_rule_of_its():
    need_scientific()
    card = json.loads(policy("card", "--json", "none"))
    assert card["guard"] is False and card["rules"] == {}
    assert "Imports" not in policy("card", "none")


# ---- what only "policy check" looks at ----

@pytest.mark.parametrize("text, place, told", [
    ('{"warm": {"code": "import json\\nif json:\\nx = 1"}}', "1:19: warm.code: ", "line 3, column 1: expected an indented block"),
    ('{"warm": {"code": "return 1"}}', "1:19: warm.code: ", "line 1, column 1: 'return' outside function"),
    ('{"warm": {"code": "x = 1"},\n "prelude": {"code": "x = ("}}', "2:22: prelude.code: ", "line 1, column 5: '(' was never closed"),
    ('{"warm": {"ladder": [{"imports": ["json"], "code": "1 +"}]}}', "1:52: warm.ladder: code: ", "line 1, column "),
])
def test_check_compiles_the_code_of_a_policy(tmp_path, text, place, told):
    path = tmp_path / "mine.json"
    path.write_text(text)
    done = cells.hotcell("policy", "check", path)
    assert done.returncode == 78 and f"mine.json:{place}" in done.stderr and told in done.stderr and done.stderr.count("\n") == 1, done


def test_check_finds_code_that_is_inherited_and_runs_none(tmp_path):
    (tmp_path / "base.json").write_text(json.dumps({"warm": {"code": "x = = 1"}}))
    (tmp_path / "mine.json").write_text(json.dumps({"extends": "./base.json"}))
    done = cells.hotcell("policy", "check", tmp_path / "mine.json")
    assert done.returncode == 78 and "base.json:1:19: warm.code: line 1, column 5" in done.stderr, done
    (tmp_path / "base.json").write_text(json.dumps({"warm": {"code": f"open({str(tmp_path / 'ran')!r}, 'w')"}}))
    assert cells.hotcell("policy", "check", tmp_path / "mine.json").returncode == 0 and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("path", ["{}/data/", "{}//data", "{}/./data", "{}/data/..", "{}/data/."])
def test_directories_that_no_job_could_be_given_are_refused(tmp_path, path):
    (tmp_path / "data").mkdir()
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"extends": "default", "dirs": {"ro": [path.format(tmp_path)]}}))
    for command in (["policy", "check", mine], ["policy", "show", mine]):
        done = cells.hotcell(*command)
        assert done.returncode == 78 and f"{mine}:1:" in done.stderr and "dirs.ro: expected a path without" in done.stderr, done


def test_check_refuses_directories_that_are_links(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    mine = tmp_path / "mine.json"
    for name, good in (("link", False), ("link/x", False), ("data", True), ("none", True)):
        mine.write_text(json.dumps({"extends": "default", "dirs": {"cow": [str(tmp_path.resolve() / name)]}}))
        done = cells.hotcell("policy", "check", mine)
        assert done.returncode == (0 if good else 78), done
        assert good or f"mine.json:1:41: dirs.cow: '{tmp_path.resolve()}/{name}' leads over a symbolic link" in done.stderr, done
    mine.write_text(json.dumps({"extends": "default", "dirs": {"ro": [str(tmp_path.resolve() / "data")]}}))
    assert cells.run("1", "--dir", f"{tmp_path.resolve()}/data", policy=str(mine)).status == 0


def test_list_names_what_is_found_and_what_each_is_for(here):
    write(here / "ours.json", extends="default", description="For us")
    write(here / "charts.json", timeout=1)
    listed = cells.hotcell("policy", "list", env={"HOTCELL_POLICIES": str(here)})
    assert (listed.returncode, listed.stderr) == (0, ""), listed
    lines = dict(line.split(None, 1) for line in listed.stdout.splitlines())
    assert {"default", "none"} < set(lines) and lines["shell"].startswith("Commands: ") and lines["ours"] == "For us", lines
    assert lines["charts"].startswith(f"cannot be used: {here}/charts.json:1:"), lines
    rows = json.loads(cells.hotcell("policy", "list", "--json", env={"HOTCELL_POLICIES": str(here)}).stdout)
    found = {row["name"]: row for row in rows}
    assert list(found) == list(lines) and found["ours"] == {"name": "ours", "file": f"{here}/ours.json", "description": "For us"}, found
    assert set(found["charts"]) == {"name", "file", "error"}, found["charts"]
    assert cells.hotcell("policy", "list", "all").returncode == 64


def test_list_shows_names_and_descriptions_of_others_plainly(here):
    """They may be meant for a terminal, or be no UTF-8."""
    write(here / "sly.json", extends="default", description="For us\x1b]0;title\x07\r\nnone  \u202e")
    write(here / "\x1b[31mred\n.json", extends="default")
    write(here / "odd\udcff.json", extends="default")
    listed = cells.hotcell("policy", "list", env={"HOTCELL_POLICIES": str(here)})
    assert "sly              For us?]0;title???none  ?\n" in listed.stdout and "?[31mred?\n" in listed.stdout, listed.stdout
    assert "\x1b" not in listed.stdout and "odd\ufffd" in listed.stdout, listed.stdout
    names = [row["name"] for row in json.loads(cells.hotcell("policy", "list", "--json", env={"HOTCELL_POLICIES": str(here)}).stdout)]
    assert "\x1b[31mred\n" in names and "odd\ufffd" in names, names
