"""What comes out of /output: what is taken, what is not, and that nothing in the destination is walked through."""

import hashlib
import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

import cells


@pytest.fixture
def directory(user):
    """Of the user's own; the output directory is `out` in it."""
    return cells.new_directory(user)


def own(user, path):
    if cells.IS_ROOT:
        os.chown(path, user.uid, user.uid, follow_symlinks=False)
    return path


def exactly_as_listed(result):
    """The destination holds what the manifest lists, and nothing else."""
    assert result.files() == sorted(result.listed())
    for entry in result.manifest["files"] + result.manifest["figures"]:
        content = (result.output / entry["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert stat.S_IMODE((result.output / "manifest.json").stat().st_mode) == 0o600
    return result


# ---- what is taken ----

def test_files_and_folders_come_out_as_they_are(user, directory):
    result = exactly_as_listed(cells.run("""
import os
open("a.txt", "w").write("a")
open("empty", "w").close()
os.makedirs("deep/er")
open("deep/er/b.bin", "wb").write(bytes(range(256)) * 1000)
os.mkdir("nothing in it")
""", user=user, cwd=directory))
    assert result.status == 0 and result.files() == ["a.txt", "deep/er/b.bin", "empty"]
    assert result.manifest["skipped"] == {"entries": [], "more": 0}
    assert (result.output / "a.txt").stat().st_uid == user.uid
    assert not (result.output / "a.txt").stat().st_mode & 0o111
    assert cells.hotcell("verify", result.output / "manifest.json", user=user).returncode == 0


def test_modes_and_times_of_the_guest_do_not_come_along(user, directory):
    result = cells.run("""
import os
for name, mode in (("none", 0), ("setuid", 0o4777), ("all", 0o777)):
    open(name, "w").write(name)
    try:
        os.chmod(name, mode)
    except OSError:
        pass
""", user=user, cwd=directory)
    exactly_as_listed(result)
    assert {name for name in result.files()} | set(result.skipped()) == {"none", "setuid", "all"}
    for name in result.files():
        assert not (result.output / name).stat().st_mode & 0o7111


@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_files_that_nobody_may_read_are_skipped_or_kept_but_not_lost_silently(user, directory, mode):
    result = cells.run("import os; open('secret', 'w').write('x'); os.chmod('secret', 0)\n"
                       "os.mkdir('closed'); open('closed/in', 'w').close(); os.chmod('closed', 0)",
                       "--output-mode", mode, user=user, cwd=directory)
    assert result.status == 0
    if mode == "bind":
        (result.output / "closed").chmod(0o700)  # or the test's own user could not remove it
    found = set(result.listed()) | set(result.skipped())
    assert found in ({"secret", "closed/in"}, {"secret", "closed"})


@pytest.mark.parametrize("name, shown", [
    ("a\nb", r"a\x0ab"), ("a\tb", r"a\x09b"), ("\x1b[31mred", r"\x1b[31mred"), ('quo"te', 'quo"te'),
    ("a\\b", r"a\b"), ("a\\b\n", r"a\\b\x0a"), ("a\udcffb", r"a\xffb"), ("日本", "日本"), (" ", " "),
    ("-rf", "-rf"), ("...", "..."), ("x" * 255, "x" * 255),
    ("a\x7fb", r"a\x7fb"), ("a\u202eb", "a\u202eb"), ("$(id)", "$(id)"),
])
def test_names_are_kept_and_written_so_that_they_can_be_read(user, directory, name, shown):
    result = cells.run(f"import os; open(os.fsencode({name!r}), 'w').write('x')", user=user, cwd=directory)
    assert result.status == 0 and result.files() == [name]
    [entry] = result.manifest["files"]
    assert (entry["path"], entry.get("escaped", False)) == (shown, shown != name)


def test_ten_thousand_files_are_listed_or_counted(user, directory):
    result = cells.run("""
import os
for i in range(100):
    os.mkdir(f"d{i:02}")
    for j in range(99):
        open(f"d{i:02}/{j}", "w").close()
""", "--output-files=10000", "--timeout=60", user=user, cwd=directory)
    exactly_as_listed(result)
    assert len(result.listed()) == 9900 and result.manifest["skipped"]["more"] == 0


def test_what_is_not_listed_is_counted(user, directory):
    result = cells.run("""
import os
os.makedirs("/".join("d" * 16))
os.chdir("/".join("d" * 16))
for i in range(300):
    os.mkdir(str(i))
""", user=user, cwd=directory)
    assert len(result.manifest["skipped"]["entries"]) == 200 and result.manifest["skipped"]["more"] == 100


@pytest.mark.parametrize("levels", [16, 17, 900])
def test_deep_folders_are_followed_to_a_depth(user, directory, levels):
    result = cells.run(f"""
import os
for _ in range({levels}):
    os.mkdir("d")
    os.chdir("d")
open("leaf", "w").write("x")
""", user=user, cwd=directory)
    exactly_as_listed(result)
    if levels <= 16:
        assert result.files() == ["d/" * levels + "leaf"]
    else:
        assert result.skipped() == {"/".join("d" * 17): "directories nested too deep"}


# ---- what is not ----

@pytest.mark.parametrize("code, name, reason", [
    ("os.link('plain', 'hard')", "hard", "hard link: more than one name"),
    ("os.symlink('/etc/passwd', 'link')", "link", "symbolic link"),
    ("os.symlink('/etc', 'link')", "link", "symbolic link"),
    ("os.symlink('/etc/passwd', '/tmp/l'); os.rename('/tmp/l', 'link')", "link", "symbolic link"),
    ("os.mkfifo('pipe')", "pipe", "named pipe"),
    ("socket.socket(socket.AF_UNIX).bind('sock')", "sock", "socket"),
    ("os.mknod('node', 0o600 | stat.S_IFCHR, os.makedev(1, 3))", "node", "device"),
])
@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_what_is_no_plain_file_does_not_come_out(user, directory, code, name, reason, mode):
    result = cells.run(f"""
import os, socket, stat
open("plain", "w").write("x")
try:
    {code}
except OSError as error:
    print("refused")
""", "--network=loopback", "--guard=off", "--output-mode", mode, user=user, cwd=directory)
    assert result.status == 0
    if result.stdout == "refused\n":
        assert result.files() == result.listed() == ["plain"] and result.skipped() == {}
    else:
        assert result.skipped()[name] == reason and name not in result.listed()
        if mode == "capped":
            assert name not in result.files()


def test_in_bind_mode_a_file_that_is_renamed_leaves_no_device(user, directory):
    result = cells.run("""
import ctypes
open("one", "w").close()
print(ctypes.CDLL(None).renameat2(-100, b"one", -100, b"other", 4))  # RENAME_WHITEOUT
""", "--guard=off", "--output-mode=bind", user=user, cwd=directory)
    assert result.stdout == "-1\n" and result.files() == result.listed() == ["one"]


@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_without_landlock_links_would_not_come_out_either(user, directory, mode):
    """What stands in the output directory of a bind-mode job, from before, is seen by the same eyes."""
    if mode == "capped":
        directory.joinpath("unused").touch()
        result = cells.run("import os; open('a', 'w').close(); os.link('a', 'b')", user=user, cwd=directory)
        assert result.skipped() == dict.fromkeys(("a", "b"), "hard link: more than one name") and not result.files()
        return
    out = directory / "out"
    out.mkdir()
    own(user, out)
    for name, make in (("link", lambda path: path.symlink_to("/etc/passwd")), ("pipe", os.mkfifo)):
        make(out / name)
    result = cells.run("print(open('link').read())", "--output-mode=bind", user=user, cwd=directory)
    assert "ELOOP" in result.stderr or "Too many levels" in result.stderr
    assert result.skipped() == {"link": "symbolic link", "pipe": "named pipe"} and result.listed() == []


def test_a_guest_cannot_forge_what_hotcell_writes(user, directory):
    result = cells.run("""
import os
for name in ("manifest.json", "_sandbox_result.json", ".hotcell-1-1", ".hotcell-x"):
    open(name, "w").write("{}")
os.mkdir("sub")
open("sub/manifest.json", "w").write("its own")
""", user=user, cwd=directory)
    assert result.files() == result.listed() == ["sub/manifest.json"]
    assert set(result.skipped()) == {"manifest.json", "_sandbox_result.json", ".hotcell-1-1", ".hotcell-x"}
    assert set(result.skipped().values()) == {"the name is hotcell's own"}
    assert result.manifest["status"] == "ok" and not (result.output / "_sandbox_result.json").exists()


@pytest.mark.parametrize("name", ["manifest.json", "_sandbox_result.json"])
def test_a_folder_of_that_name_is_no_way_either(user, directory, name):
    result = cells.run(f"import os; os.mkdir({name!r}); open('{name}/x', 'w').close(); open('kept', 'w').close()",
                       user=user, cwd=directory)
    assert result.status == 0 and result.manifest["status"] == "ok", result
    assert "kept" in result.files() and (result.output / "manifest.json").is_file()


def test_a_figure_is_what_was_drawn_into_figures(user, directory):
    """In the order of drawing. What its type does not begin like, what was written over, and what lies elsewhere is a file."""
    result = exactly_as_listed(cells.run(cells.FIGURE + """
png = bytes([137]) + b"PNG\\r\\n" + bytes([26]) + b"\\n"
for name, content in (("c.json", b"{}"), ("b.svg", b"<svg/>"), ("a.png", png), ("d.txt", b"d"), ("wrong.png", b"text"), ("over.svg", b"<svg/>")):
    draw_figure(f"figures/{name}", content)
draw_figure("e.png", png)
open("figures/over.svg", "a").write(" ")
open("figures/own.svg", "w").write("<svg/>")
""", user=user, cwd=directory))
    assert [(entry["path"], entry["mime"]) for entry in result.manifest["figures"]] == [
        ("figures/c.json", "application/vnd.plotly.v1+json"), ("figures/b.svg", "image/svg+xml"), ("figures/a.png", "image/png")]
    assert [entry["path"] for entry in result.manifest["files"]] == ["e.png"] + [
        f"figures/{name}" for name in ("d.txt", "over.svg", "own.svg", "wrong.png")]


# ---- the destination ----

@pytest.fixture
def outside(user, directory):
    """A folder that the guest's files must not come into."""
    path = directory / "outside"
    path.mkdir()
    (path / "victim").write_text("safe")
    (directory / "out").mkdir()
    for made in (path, path / "victim", directory / "out"):
        own(user, made)
    return path


def untouched(outside):
    assert os.listdir(outside) == ["victim"] and (outside / "victim").read_text() == "safe"


def test_a_link_in_the_destination_is_replaced_not_followed(user, directory, outside):
    (directory / "out/name").symlink_to(outside / "victim")
    (directory / "out/manifest.json").symlink_to(outside / "victim")
    result = exactly_as_listed(cells.run("open('name', 'w').write('guest')", user=user, cwd=directory))
    untouched(outside)
    assert (result.output / "name").read_text() == "guest" and not (result.output / "name").is_symlink()
    assert not (result.output / "manifest.json").is_symlink()


@pytest.mark.parametrize("path", ["folder/name", "folder/deeper/name", "figures/name.png"])
def test_a_linked_folder_in_the_destination_is_not_entered(user, directory, outside, path):
    (directory / "out" / path.split("/", maxsplit=1)[0]).symlink_to(outside)
    result = cells.run(f"import os; os.makedirs(os.path.dirname({path!r})); open({path!r}, 'w').write('guest')\n"
                       "open('kept', 'w').close()", user=user, cwd=directory)
    untouched(outside)
    assert result.status == 0 and result.listed() == ["kept"]
    assert result.skipped() == {path: "something else has that name in the output directory"}


def test_files_of_the_same_name_are_replaced_and_others_left(user, directory):
    first = cells.run("open('a', 'w').write('1'); open('b', 'w').write('1')", user=user, cwd=directory)
    held = open(first.output / "a", encoding="utf-8")
    second = cells.run("open('a', 'w').write('2')", user=user, cwd=directory)
    with held:
        assert held.read() == "1", "replaced, not written over"
    assert second.listed() == ["a"] and second.files() == ["a", "b"]
    assert [(second.output / name).read_text() for name in ("a", "b")] == ["2", "1"]


def test_what_cannot_be_replaced_is_skipped(user, directory):
    (directory / "out/name").mkdir(parents=True)
    (directory / "out/file").write_text("a file")
    for path in (directory / "out", directory / "out/name", directory / "out/file"):
        own(user, path)
    result = cells.run("import os; open('name', 'w').close(); os.mkdir('file'); open('file/x', 'w').close()\n"
                       "open('kept', 'w').close()", user=user, cwd=directory)
    assert result.status == 0 and result.listed() == ["kept"] and set(result.skipped()) == {"name", "file/x"}
    assert (directory / "out/file").read_text() == "a file" and (directory / "out/name").is_dir()


def test_a_file_with_other_names_is_not_written_through(user, directory, outside):
    os.link(outside / "victim", directory / "out/name")
    cells.run("open('name', 'w').write('guest')", user=user, cwd=directory)
    untouched(outside)


@pytest.mark.parametrize("place", ["missing/out", "file/out", "file"])
def test_a_place_that_cannot_be_is_refused_before_anything_runs(user, directory, place):
    (directory / "file").touch()
    own(user, directory / "file")
    result = cells.run("open('/output/x', 'w').close(); print('ran')", "-o", place, user=user, cwd=directory)
    assert (result.status, result.stdout) == (65, "") and "output directory" in result.stderr, result
    assert result.stderr.startswith("hotcell: ") and result.stderr.count("\n") == 1
    assert os.listdir(directory) == ["file"]


def test_a_place_that_may_not_be_written_is_refused(base_tree):
    cells.need_root()
    user = cells.ordinary()
    cells.need_cells(user)
    directory = cells.new_directory(cells.caller())
    (directory / "out").mkdir(mode=0o755)
    for place in ("out", "out/new"):
        result = cells.run("print('ran')", "-o", place, user=user, cwd=directory)
        assert (result.status, result.stdout) == (65, "") and "denied" in result.stderr + result.stderr.replace(
            "not writable", "denied"), result


def test_without_a_directory_it_is_made_only_when_there_is_something(user, directory):
    def run(code):
        program = directory.parent / f"{directory.name}.py"
        program.write_text(code)
        return cells.hotcell("run", "-t", cells.tree_path("base"), "--job-id", "mine", program, user=user,
                             cwd=directory)
    assert run("print(1)").stdout == "1\n" and os.listdir(directory) == []
    assert run("open('a', 'w').write('x')").returncode == 0
    assert sorted(os.listdir(directory / "hotcell-output/mine")) == ["a", "manifest.json"]
    assert json.loads((directory / "hotcell-output/mine/manifest.json").read_text())["job_id"] == "mine"


def test_the_program_can_be_kept(user, directory):
    code = "print(1)  # ünïcode\n"
    result = cells.run(code, "--persist-code", user=user, cwd=directory)
    assert result.manifest["code_path"].startswith("code/run_") and len(result.files()) == 2
    assert (result.output / result.manifest["code_path"]).read_text(encoding="utf-8") == code


def test_the_record_of_a_kept_program_has_the_policy_whose_hash_the_manifest_has(user, directory):
    (directory / "own.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": {"max": {"pids": 200}}}))
    for options in [], ["--timeout=50s"]:
        result = cells.run("print(1)", "--persist-code", *options, user=user, cwd=directory, policy="./own.json")
        record = json.loads((result.output / result.manifest["code_path"]).with_suffix(".json").read_text())
        text = json.dumps(record["policy"], separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == result.manifest["policy"]["sha256"]


def test_a_full_destination_is_an_error_that_says_so(base_tree):
    cells.need_root()
    directory = cells.new_directory(cells.caller())
    code = (f"mount -t tmpfs -o size=64k none {directory} && cd {directory} && "
            f"exec {cells.HOTCELL} run -t {cells.tree_path('base')} -o out -")
    done = subprocess.run(["unshare", "-m", "sh", "-c", code], input="open('big', 'wb').write(bytes(1 << 20))",
                          capture_output=True, text=True, check=False)
    assert done.returncode in (65, 70) and "No space left" in done.stderr, done
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_a_guest_that_is_in_the_way_of_the_kept_program_has_not_made_the_job_fail(user, directory, mode):
    result = cells.run("open('code', 'w').write('mine'); print('ran')", "--persist-code", "--output-mode", mode,
                       user=user, cwd=directory)
    assert result.stdout == "ran\n" and result.manifest["status"] == "ok", result
    assert result.manifest["code_path"] is None and result.listed() == ["code"]
    assert any("save the code" in warning for warning in result.manifest["warnings"])


# ---- bind mode ----

def test_in_bind_mode_files_are_there_while_the_job_runs(user, directory):
    with cells.start("""
import time
open("early", "w").write("already")
print("ready", flush=True)
time.sleep(60)
""", "--output-mode=bind", user=user, cwd=directory) as job:
        job.read_line()
        early = job.output / "early"
        assert early.read_text() == "already" and early.stat().st_uid == user.uid
        job.signal(15)
        result = job.finish()
    assert result.listed() == ["early"] and result.manifest["status"] == "killed"


def test_in_bind_mode_files_belong_to_the_owner_of_the_directory(base_tree):
    cells.need_root()
    owner = cells.ordinary()
    directory = cells.new_directory(owner)
    (directory / "out").mkdir()
    own(owner, directory / "out")
    result = cells.run("import os; os.mkdir('d'); open('d/f', 'w').write('x'); print(os.stat('d/f').st_uid)",
                       "--output-mode=bind", cwd=directory)
    assert result.status == 0 and result.stdout == "1000\n", result
    assert {(result.output / name).stat().st_uid for name in ("d", "d/f")} == {owner.uid}


def test_in_bind_mode_only_what_changed_is_listed(user, directory):
    cells.run("open('old', 'w').write('1'); open('both', 'w').write('1')", user=user, cwd=directory)
    result = cells.run("open('new', 'w').write('2'); open('both', 'a').write('2'); print(open('old').read())",
                       "--output-mode=bind", user=user, cwd=directory)
    assert result.stdout == "1\n" and result.listed() == ["both", "new"] and result.files() == ["both", "new", "old"]


def test_in_bind_mode_the_old_manifest_cannot_pass_for_the_new(user, directory):
    cells.run("print(1)", user=user, cwd=directory)
    result = cells.run("open('manifest.json', 'w').write('{}')", "--output-mode=bind", user=user, cwd=directory)
    assert result.manifest["status"] == "ok" and result.manifest["version"] == 1, result
    assert "manifest.json" in result.skipped()


def test_in_bind_mode_a_folder_in_the_manifests_place_is_set_aside(user, directory):
    result = cells.run("import os; os.mkdir('manifest.json'); open('manifest.json/x', 'w')", "--output-mode=bind",
                       user=user, cwd=directory)
    assert result.manifest["status"] == "ok" and "renamed" in result.skipped()["manifest.json"]
    assert [name.partition("-manifest")[0].partition("-")[0] for name in result.files()] == ["guest"]


def test_in_bind_mode_a_link_in_the_directory_leads_nowhere(user, directory, outside):
    (directory / "out/to").symlink_to(outside)
    result = cells.run("open('to/victim', 'w').write('guest')", "--output-mode=bind", user=user, cwd=directory)
    untouched(outside)
    assert result.manifest["status"] == "error"


def test_bind_mode_needs_a_directory(user, directory):
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "--output-mode=bind", "-", input="print(1)", stdin=None,
                         user=user, cwd=directory)
    assert done.returncode == 64 and "give -o DIR" in done.stderr and Path(directory).exists()
