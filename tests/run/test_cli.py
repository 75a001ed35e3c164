"""The command line: help that is complete, pages that agree, arguments in every spelling."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import cells
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMANDS = ["run", "exec", "check", "kernel", "mcp", "tree", "policy", "verify", "report", "doctor", "clean"]


@pytest.fixture
def here(base_tree):
    path = cells.new_directory(cells.caller())
    (path / "ok.py").write_text("print('it ran')\n")
    return path


def output(*arguments, **more):
    done = cells.hotcell(*arguments, **more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def flags():
    """The flags of the option table, by the field that each changes, as `policy show` and the page name them."""
    page = (cells.BUILD / "man" / "hotcell-policy.5").read_text()
    return dict(re.findall(r"^\.It Sy (\S+) No = Ar \w+ Pq Fl -(\S+)$", page, re.M))


def page_text(name):
    if not shutil.which("mandoc"):
        cells.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-T", "ascii", cells.BUILD / "man" / name], capture_output=True, text=True,
                          check=True)
    return re.sub(".\b", "", done.stdout)


# ---- help ----

def test_every_command_has_help():
    assert all(re.search(rf"^  {command} ", output("--help"), re.M) for command in COMMANDS)
    for command in COMMANDS:
        for flag in ("--help", "-h"):
            text = output(command, flag)
            assert text.startswith(f"usage: hotcell {command}") and text.endswith("\n")


@pytest.mark.parametrize("words", ["tree build", "tree list", "tree verify", "tree remove", "tree path", "policy show",
                                   "policy check"])
def test_every_subcommand_has_help(words):
    assert output(*words.split(), "--help").startswith(f"usage: hotcell {words.split()[0]}")


def test_help_wins_over_everything_else():
    assert output("run", "--memory", "1G", "--help", "nowhere.py").startswith("usage: hotcell run")


def test_version():
    assert re.fullmatch(r"hotcell \d+\.\d+\.\d+ \(Python 3\.\d+\)\n", output("--version"))


def test_table_covers_every_field_of_a_policy(flags):
    policy = json.loads(output("policy", "show", "default"))
    fields = {key for key, value in policy.items() if not isinstance(value, dict)} - {"name", "description", "extends"}
    fields |= {f"{section}.{key}" for section in ("limits", "output") for key in policy[section]}
    assert flags.keys() == fields
    assert len(set(flags.values())) == len(flags)


def test_help_and_page_have_every_option_of_the_table(flags):
    text, page = output("run", "--help"), (cells.BUILD / "man" / "hotcell.1").read_text()
    for flag in flags.values():
        assert len(re.findall(rf"(?<!\S)--{flag} [A-Z]", text)) == 1, flag
        assert len(re.findall(rf"^\.It Fl (?:. , )?-{flag} Ar ", page, re.M)) == 1, flag


def test_help_and_page_agree_on_the_other_options():
    text, page = output("run", "--help"), (cells.BUILD / "man" / "hotcell.1").read_text()
    section = page[page.index(".Sh RUNNING A PROGRAM"):page.index(".Ss What the program finds")]
    documented = set(re.findall(r"^\.It Fl (?:. , )?-([a-z-]+)", section, re.M))
    helped = set(re.findall(r"--([a-z][a-z-]+)", text))
    assert helped - documented <= {"help"}
    assert documented <= helped


def test_documented_options_are_all_understood(flags, here):
    """Each wants a value, or takes none: then the missing FILE is what is complained of."""
    page = (cells.BUILD / "man" / "hotcell.1").read_text()
    section = page[page.index(".Sh RUNNING A PROGRAM"):page.index(".Ss What the program finds")]
    found = re.findall(r"^\.It Fl (?:. , )?-([a-z-]+)( Ar)?", section, re.M)
    assert len(found) > len(flags) + 8
    for flag, value in found:
        done = cells.hotcell("run", f"--{flag}", cwd=here)
        assert done.returncode == 64
        assert (f"--{flag} needs a value" if value else "expected one FILE") in done.stderr, flag


def test_bounds_and_defaults_of_the_page_hold(flags, here):
    policy = json.loads(output("policy", "show", "default"))
    page = (cells.BUILD / "man" / "hotcell-policy.5").read_text()
    for path in flags:
        section, _, key = path.rpartition(".")
        value = policy[section][key] if section else policy[key]
        entry = re.search(rf"^\.It Sy {re.escape(path)} No = .*?(?=^\.It|^\.El)", page, re.M | re.S).group(0)
        default = re.search(r"^Default: (.*)\.$", entry, re.M).group(1)
        assert str(value) == default or str(value) + "s" == default, path
        bounds = re.search(r"^From (\S+) to (\S+)\.$", entry, re.M)
        for bound in bounds.groups() if bounds else []:
            mine = here / "mine.json"
            number = json.loads(bound) if re.fullmatch(r"[\d.]+", bound) else bound
            mine.write_text(json.dumps({section: {key: number}} if section else {key: number}))
            assert cells.hotcell("policy", "check", mine).returncode == 0, (path, bound)


@pytest.mark.parametrize("name", ["hotcell.1", "hotcell-batch.1", "hotcell-mcp.1", "hotcell-policy.5", "hotcell-manifest.5", "hotcell-python.3"])
def test_pages_are_well_formed(name):
    page_text(name)
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", cells.BUILD / "man" / name], capture_output=True,
                          text=True, check=False)
    about_the_host = ("outdated mandoc.db", "cross reference")
    assert not [line for line in done.stdout.splitlines() if not any(words in line for words in about_the_host)]
    assert not re.search("@[A-Z][A-Z_]*@", page_text(name))  # nothing left to fill in


def test_page_names_every_variable_of_the_environment():
    source = "".join(path.read_text() for folder in ("base", "cell", "cli", "client") for path in (SOURCE / folder).rglob("*.c"))
    used = {name for name in re.findall(r'(?:getenv|absolute_env)\("(\w+)"\)', source)}
    page = (SOURCE / "man" / "hotcell.1.in").read_text()
    section = page[page.index(".Sh ENVIRONMENT"):page.index(".Sh FILES")]
    named = set(re.findall(r"(HOTCELL_\w+|XDG_\w+)", section))
    assert {name for name in used if name.startswith(("HOTCELL", "XDG"))} == named


# ---- arguments ----

def test_options_in_every_spelling(here):
    base = cells.tree_path("base")
    for arguments in (["-t", base], [f"-t{base}"], ["--tree", base], [f"--tree={base}"], ["-t", "nowhere", "-t", base]):
        assert output("run", *arguments, "ok.py", cwd=here) == "it ran\n"


def test_dashes_end_the_options(here):
    (here / "-odd.py").write_text("print('odd')")
    assert output("run", "-t", cells.tree_path("base"), "--", "-odd.py", cwd=here) == "odd\n"


@pytest.mark.parametrize("name", ["spaced name.py", "ümläut.py", "quote'\".py", "no-suffix", "a=b.py",
                                  "%s%n.py", "x" * 250])
def test_names_of_programs(here, name):
    (here / name).write_text("print(__name__)")
    assert output("run", "-t", cells.tree_path("base"), name, cwd=here) == "__main__\n"


def test_program_from_standard_input(here):
    with open(here / "ok.py", "rb") as file:
        assert output("run", "-t", cells.tree_path("base"), "-", cwd=here, stdin=file) == "it ran\n"
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as pipe:
        with open(write_end, "wb") as writer:
            writer.write(b"print('piped')")
        assert output("run", "-t", cells.tree_path("base"), "-", cwd=here, stdin=pipe) == "piped\n"


def test_program_may_be_a_link(here):
    (here / "link.py").symlink_to("ok.py")
    assert output("run", "-t", cells.tree_path("base"), "link.py", cwd=here) == "it ran\n"


def test_streams_are_kept_apart(here):
    (here / "both.py").write_text("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(7)")
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "both.py", cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (1, "out\n", "err\n")


@pytest.mark.parametrize("code, options, status", [
    ("1", [], 0), ("1 / 0", [], 1), ("1 /", [], 2), ("while True: pass", ["--timeout", "100ms"], 3),
])
def test_exit_statuses(here, code, options, status):
    (here / "a.py").write_text(code)
    assert cells.hotcell("run", "-t", cells.tree_path("base"), *options, "a.py", cwd=here).returncode == status


def test_job_ids_of_our_own_sort_by_time(base_tree):
    ids = [cells.run("1").manifest["job_id"] for _ in range(3)]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", job_id) for job_id in ids)
    stamps = [re.sub(r"[^0-9].*|[0-9a-f]{8,}$", "", job_id) for job_id in ids]
    assert stamps == sorted(stamps)


def test_labels(base_tree):
    labels = cells.run("1", "--label", "a=1", "--label", "b=x=y", "--label", "é= ", "--label", "a=2").manifest["labels"]
    assert labels == {"a": "2", "b": "x=y", "é": " "}


def test_clean_is_quiet_when_there_is_nothing(user):
    done = cells.hotcell("clean", user=user)
    assert done.returncode == 0, done.stderr


def test_callers_environment_does_not_matter(here):
    """Nothing that a caller has set for Python, or has not set at all, reaches the cell or the launcher."""
    env = {"PYTHONPATH": str(here), "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": "ok.py", "LANG": "tr_TR.UTF-8", "LC_ALL": "C",
           "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1", "TMPDIR": "/nowhere"}
    (here / "json.py").write_text("raise SystemExit('shadowed')")
    (here / "a.py").write_text("import json, os, time\n"
                               "print(json.dumps([time.tzname[0], 'PYTHONPATH' in os.environ]), 'ı'.upper())")
    base = cells.tree_path("base")
    assert output("run", "-t", base, "a.py", cwd=here, env=env) == '["UTC", false] I\n'
    least = {} if cells.IS_ROOT else {"HOME": str(here)}
    done = subprocess.run([cells.HOTCELL, "run", "-t", base, "a.py"], cwd=here, env=least,
                          capture_output=True, text=True, check=False, timeout=cells.PATIENCE)
    assert (done.returncode, done.stdout) == (0, '["UTC", false] I\n'), done.stderr


# ---- a caller that goes ----

@pytest.mark.parametrize("command", ["run", "check"])
def test_a_job_ends_once_the_callers_descriptor_says_so(base_tree, command):
    """At once here: nobody holds the other end."""
    ours, theirs = os.pipe()
    os.close(theirs)
    done = cells.hotcell(command, "-t", "base", "--timeout=100s", "--caller-fd", str(ours), "-", input="while True: pass", stdin=None,
                         pass_fds=[ours])
    os.close(ours)
    assert done.returncode == 3 and "killed: cancelled from outside" in done.stderr, done


def test_a_callers_descriptor_must_be_one_that_can_be_waited_for(base_tree):
    with open("/dev/null", "rb") as null, open(__file__, "rb") as file:
        for fd, message in [(1, "a descriptor from 3 on"), (777, "Bad file descriptor"), (file.fileno(), "--caller-fd: watch descriptor")]:
            done = cells.hotcell("run", "-t", "base", "--caller-fd", str(fd), "-", input="1", stdin=None, pass_fds=[null.fileno(), file.fileno()])
            assert done.returncode == 64 and message in done.stderr, done
