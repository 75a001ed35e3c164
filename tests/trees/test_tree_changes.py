"""Trees that somebody changed after they were built: nothing runs in them without a word."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import cells
import daemons
import pytest
from trees import MINOR, Store, unshare, write_recipe

LIBRARY = f"usr/lib/python{MINOR}"
THIS = f"{LIBRARY}/this.py"


def content(root):
    """Other bytes in the place of some, and the times as they were: only ctime tells."""
    path = root / THIS
    times = path.stat()
    with open(path, "r+b") as file:
        file.write(b"#!")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return THIS, "has other content"


def longer(root):
    with open(root / THIS, "ab") as file:
        file.write(b"#")
    return THIS, "bytes, not"


def added(root):
    (root / LIBRARY / "numpy.py").write_text("")
    return f"{LIBRARY}/numpy.py", "was added"


def removed(root):
    (root / THIS).unlink()
    return THIS, "is gone"


def replaced(root):
    unshare(root / THIS).write_text("x = 1\n")
    return THIS, "bytes, not"


def mode(root):
    (root / THIS).chmod(0o666)
    return THIS, "has mode 0666, not 0644"


def retargeted(root):
    link = next(path for path in sorted((root / "usr").rglob("*")) if path.is_symlink() and "zoneinfo" in path.parts)
    link.unlink()
    link.symlink_to("Universal")
    return link.relative_to(root), "points elsewhere"


def shadowed(root):
    """A directory in the place of a file."""
    (root / THIS).unlink()
    (root / THIS).mkdir()
    return THIS, "is a directory"


CHANGES = [content, longer, added, removed, replaced, mode, retargeted, shadowed]
SEEN_QUICKLY = [added, removed, replaced, shadowed]


class Copy(Store):
    """The tree base in a store of `user`."""

    def __init__(self, user):
        super().__init__(cells.new_directory(user) / "state")
        self.user = user
        tree = Path(cells.tree_path("base"))
        (self.path / "names").mkdir(parents=True)
        shutil.copytree(tree, self.path / "trees" / tree.name, symlinks=True)
        (self.path / "names/base").symlink_to(f"../trees/{tree.name}")
        self.root = self.path / "trees" / tree.name / "root"
        if cells.IS_ROOT:
            for path in [self.path, *self.path.rglob("*")]:
                os.lchown(path, user.uid, user.uid)
        assert self.tree("verify", "base").returncode == 0

    def tree(self, *arguments, **more):
        return super().tree(*arguments, user=self.user, **more)

    def start(self, command, *arguments, **more):
        here = self.path.parent
        (here / "program.py").write_text("print(6 * 7)")
        (here / "jobs.jsonl").write_text('{"job_id": "a", "code": "print(6 * 7)"}\n')
        output = {"run": ("-o", cells.new_directory(self.user) / "out"), "batch": ("-o", cells.new_directory(self.user) / "results")}
        self.output = output.get(command, (None, None))[1]
        return cells.hotcell(command, "-t", "base", *output.get(command, ()), *arguments, user=self.user, env=self.env, cwd=here, **more)

    def checked(self):
        """Of the last run."""
        return json.loads((self.output / "manifest.json").read_text())["tree"]["checked"]


def users():
    return [cells.caller(), cells.ordinary()] if cells.IS_ROOT else [cells.caller()]


@pytest.fixture(name="copy", params=range(len(users())), ids=lambda i: ["caller", "ordinary"][i])
def fixture_copy(base_tree, request):  # pylint: disable=unused-argument
    user = users()[request.param]
    cells.need_cells(user)
    return Copy(user)


@pytest.fixture(name="own")
def fixture_own(base_tree):  # pylint: disable=unused-argument
    return Copy(cells.caller())


STARTS = {"run": ("run", "--tree-check", "stamps", "program.py"), "batch": ("batch", "--tree-check", "stamps", "jobs.jsonl"),
          "session": ("session",), "mcp": ("mcp",)}


def refused(done, path, what):
    assert (done.returncode, done.stdout) == (69, ""), done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in ("tree 'base' was changed", f"/{path} ", what, "'hotcell tree verify base'", "'hotcell tree build base'"):
        assert word in done.stderr
    return True


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_nothing_starts_in_a_changed_tree(copy, change):
    said = change(copy.root)
    # Nothing would tell: so it was for each of these, and is for whoever asks for it.
    done = copy.start("run", "--tree-check", "none", "program.py")
    assert (done.returncode, done.stdout, copy.checked()) == (0, "42\n", "none"), done
    for name, command in STARTS.items():
        assert refused(copy.start(*command), *said), name


@pytest.mark.parametrize("change", SEEN_QUICKLY, ids=lambda change: change.__name__)
def test_every_run_looks_where_names_change(own, change):
    said = change(own.root)
    assert refused(own.start("run", "program.py"), *said)


def test_every_run_looks_at_the_c_library(own):
    library = next(own.root.glob("usr/lib/*/libc.so.6"))
    with open(library, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"?")
    assert refused(own.start("run", "program.py"), library.relative_to(own.root), "has other content")


STARTED = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void start(void)
{
    (void)!write(open("/output/started", O_WRONLY | O_CREAT, 0666), "x", 1);
}
"""


def library_that_tells(own):
    """Has a library of the interpreter say in /output that it runs, in as many bytes as it had. Its own content is in a file that few
    runs look at, and others, which nobody changed, are to be hashed first."""
    library = next(own.root.glob("usr/lib/*/libexpat.so.1")).resolve()
    beside, content, size = own.root / LIBRARY / "stringprep.py", library.read_bytes(), library.stat().st_size
    beside.write_bytes(content.replace(b"libexpat.so.1", b"stringprep.py"))
    with tempfile.NamedTemporaryFile() as made:
        subprocess.run(["cc", "-shared", "-fPIC", "-s", "-o", made.name, "-Wl,-soname,libexpat.so.1", "-xc", "-", "-xnone",
                        "-Wl,--no-as-needed", beside, f"-Wl,-rpath,/{LIBRARY}"], input=STARTED, text=True, check=True)
        library.write_bytes(Path(made.name).read_bytes().ljust(size, b"\0"))
    for other in library.parent.glob("*.so*"):
        other.chmod(other.stat().st_mode)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_nothing_of_a_changed_tree_runs_while_it_is_checked(own):
    policy = own.path.parent / "bind.json"
    policy.write_text(json.dumps({"extends": "default", "output": {"mode": "bind"}}))
    library_that_tells(own)
    unchecked = own.start("run", "-p", policy, "--tree-check", "none", "program.py")
    assert unchecked.stdout == "42\n" and (own.output / "started").exists(), unchecked
    for _ in range(5):
        done = own.start("run", "-p", policy, "program.py")
        assert done.returncode == 69 and "was changed" in done.stderr, done
        assert not (own.output / "started").exists()


def batch(own, jobs, *options):
    """How a batch of so many jobs ended, and how each of its jobs did."""
    here = cells.new_directory(own.user)
    (here / "many.jsonl").write_text("".join(f'{{"job_id": "{i}", "code": "print({i})"}}\n' for i in range(jobs)))
    done = cells.hotcell("batch", "-t", "base", "-o", "results", *options, "many.jsonl", user=own.user, env=own.env, cwd=here)
    results = here / "results/results.jsonl"
    return done, [json.loads(line)["status"] for line in results.read_text().splitlines()] if results.exists() else []


def test_a_batch_looks_as_a_run_does_and_at_all_before_it_has_many_jobs(own):
    """What a run looks at differs, so that one of some may come upon the change."""
    kept = (own.root / THIS).read_bytes()
    said = content(own.root)
    few, statuses = batch(own, 10)
    assert len(statuses) == 10 and statuses.count("ok") > 5 and set(statuses) <= {"ok", "launch_failed"}, few
    many, statuses = batch(own, 40)
    assert many.returncode == 69 and len(statuses) == 16 and statuses.count("ok") > 8, many
    assert f"tree 'base' was changed: /{said[0]} {said[1]}" in many.stderr.splitlines()[-1], many.stderr
    assert batch(own, 40, "--tree-check", "none")[1] == ["ok"] * 40
    (own.root / THIS).write_bytes(kept)
    assert batch(own, 40)[1] == ["ok"] * 40
    added(own.root)
    first, statuses = batch(own, 1)
    assert first.returncode == 69 and not statuses and "was changed" in first.stderr, first


def test_a_batch_goes_on_when_its_tree_is_right_again(own):
    kept = (own.root / THIS).read_bytes()
    content(own.root)
    here = cells.new_directory(own.user)
    (here / "many.jsonl").write_text("".join(f'{{"job_id": "{i}", "code": "print({i})"}}\n' for i in range(40)))

    def run(*options):
        return cells.hotcell("batch", "-t", "base", "-o", "results", *options, "many.jsonl", user=own.user, env=own.env, cwd=here)
    assert run().returncode == 69
    (own.root / THIS).write_bytes(kept)
    done = run("--resume", "--rerun", "launch_failed")  # a job may have come upon the change
    ended = [json.loads(line) for line in (here / "results/results.jsonl").read_text().splitlines()]
    assert done.returncode == 0 and sorted(int(each["job_id"]) for each in ended) == list(range(40)), done


def test_content_is_hashed_for_who_asks(own):
    done = own.start("run", "--tree-check", "content", "program.py")
    assert (done.returncode, done.stdout, own.checked()) == (0, "42\n", "content"), done
    mode(own.root)
    done = own.start("run", "--tree-check", "content", "program.py")
    assert (done.returncode, done.stdout) == (69, "") and "tree 'base' was changed" in done.stderr


def test_what_changes_no_content_changes_no_tree(own):
    """A copy in the place of a file, other times, another link to one: stamps do not fit, and the content does."""
    unshare(own.root / THIS)
    (own.root / LIBRARY / "types.py").touch()
    os.link(own.root / LIBRARY / "ast.py", own.path / "ast.py")
    (own.root / "etc/new").write_text("")
    (own.root / "etc/new").unlink()
    for command in STARTS.values():
        done = own.start(*command)
        assert done.returncode == 0, done


def test_manifest_says_what_was_checked(own):
    for asked, done in (((), "quick"), (("--tree-check", "stamps"), "stamps"), (("--tree-check", "none"), "none")):
        assert own.start("run", *asked, "program.py").returncode == 0
        assert own.checked() == done


def test_a_tree_without_stamps_is_not_checked_until_it_was_verified(own):
    (own.root.parent / "stamps").unlink()
    assert own.start("run", "program.py").returncode == 0 and own.checked() == "none"
    for command in (("batch", "jobs.jsonl"), STARTS["session"], STARTS["mcp"]):
        assert own.start(*command).returncode == 0, command
    assert own.tree("verify", "base").returncode == 0
    assert own.start("run", "program.py").returncode == 0 and own.checked() == "quick"


@pytest.mark.parametrize("command", STARTS)
def test_stamps_that_are_asked_for_and_cannot_be_had_are_a_refusal(own, command):
    (own.root.parent / "stamps").unlink()
    options = ["--tree-check", "stamps", *(word for word in STARTS[command][1:] if word not in ("--tree-check", "stamps"))]
    done = own.start(command, *options)
    assert (done.returncode, done.stdout) == (69, ""), done
    assert "it has no stamps: 'hotcell tree verify base' checks its content, and notes them" in done.stderr
    assert own.tree("verify", "base").returncode == 0
    assert own.start(command, *options).returncode == 0


@pytest.mark.parametrize("how, status", [("none", 0), ("quick", 0), ("stamps", 69), ("content", 69)])
def test_a_directory_that_no_id_speaks_for_is_not_checked_and_so_refused_to_who_asks(own, how, status):
    own.root.parent.rename(own.path / "elsewhere")
    done = own.start("run", "-t", own.path / "elsewhere", "--tree-check", how, "program.py")
    assert done.returncode == status, done
    assert status == 0 or "not called by an ID" in done.stderr


def test_a_tree_that_was_copied_is_not_checked_until_it_was_verified(own):
    elsewhere = Store(own.path.parent / "elsewhere")
    shutil.copytree(own.path, elsewhere.path, symlinks=True)
    own.env = elsewhere.env
    assert own.start("run", "program.py").returncode == 0 and own.checked() == "none"
    done = own.start("run", "--tree-check", "stamps", "program.py")
    assert done.returncode == 69 and "it was copied here" in done.stderr and "'hotcell tree verify base'" in done.stderr
    assert own.tree("verify", "base").returncode == 0
    assert own.start("run", "program.py").returncode == 0 and own.checked() == "quick"


def test_verify_notes_what_is_right_only(own):
    content(own.root)
    done = own.tree("verify", "base")
    assert done.returncode == 1
    assert "'hotcell tree build base' makes it anew; or restore it, and verify it again" in done.stderr
    refused(own.start("run", "--tree-check", "stamps", "program.py"), THIS, "has other content")


@pytest.mark.parametrize("spoil", [lambda data: data[:100], lambda data: data[:-1], lambda data: data[:-40] + b"?" + data[-39:],
                                   lambda data: b"", lambda data: b"?" * len(data)])
def test_damaged_stamps_are_none_to_rely_on(own, spoil):
    stamps = own.root.parent / "stamps"
    stamps.write_bytes(spoil(stamps.read_bytes()))
    done = own.start("run", "--tree-check", "stamps", "program.py")
    assert (done.returncode, done.stdout) == (69, "") and "stamps are damaged: 'hotcell tree verify base'" in done.stderr
    assert own.tree("verify", "base").returncode == 0
    assert own.start("run", "--tree-check", "stamps", "program.py").returncode == 0


def test_changed_index_gives_nothing_away(own):
    """Who may write to the index as well as to a file: the index is known by its hash."""
    content(own.root)
    index = own.root.parent / "index"
    index.write_text(index.read_text().replace(f" {THIS}\n", f"x {THIS}\n"))
    done = own.start("run", "--tree-check", "stamps", "program.py")
    assert done.returncode == 69 and "was changed" in done.stderr


def test_building_again_makes_a_changed_tree_anew(base_tree):  # pylint: disable=unused-argument
    here = cells.new_directory(cells.caller())
    store = Store(here / "state")
    recipe = write_recipe(here)
    name = store.build(recipe)
    victim = store.path / "trees" / name / "root" / LIBRARY / "io.py"
    victim.write_text("raise SystemExit\n")
    assert store.run("tiny").returncode != 0 or store.tree("verify", "tiny").returncode == 1
    assert store.build(recipe) == name and store.entries() == [name]
    assert store.tree("verify", "tiny").returncode == 0 and store.run("tiny").stdout == "42\n"


def test_advice_names_the_recipe(own):
    """The one that it was built from, whatever the tree is called, and by a command only if that would find it."""
    (own.path / "names/other").symlink_to(f"../trees/{own.root.parent.name}")
    meta = own.root.parent / "meta.json"
    content(own.root)
    asked = {}
    for name in ("base", "other", own.root.parent.name[:12]):
        asked[name] = own.tree("verify", name).stderr
    assert "'hotcell tree build base' makes" in asked["base"]
    assert "'hotcell tree build base --name other' makes" in asked["other"]
    assert "'hotcell tree build base' makes" in asked[own.root.parent.name[:12]]
    for recipe, said in (("mine", "'hotcell tree build' with its recipe, 'mine', makes"), ("a'; b", "with its recipe makes"),
                         (7, "with its recipe makes")):
        meta.write_text(json.dumps({"recipe": recipe}))
        assert said in own.tree("verify", "base").stderr
    meta.unlink()
    assert "with its recipe makes" in own.tree("verify", "base").stderr


def test_doctor_says_which_trees_are_not_what_they_were(own):
    def look():
        done = cells.hotcell("doctor", "--json", user=own.user, env={**own.env, "HOTCELL_POLICIES": str(own.path.parent)})
        answer = json.loads(done.stdout)
        return answer["ok"], {row["name"]: row for row in answer["checks"]}["content of trees"]

    (own.path.parent / "default.json").write_text(json.dumps({"name": "default", "tree": "base"}))
    works, row = look()
    assert row["level"] == "ok", row
    stamps = (own.root.parent / "stamps").rename(own.path / "stamps")
    works_unstamped, row = look()
    assert (works_unstamped, row["level"]) == (works, "note") and "'base'" in row["detail"], row
    assert "hotcell tree verify" in row["mend"] and "not noticed" in row["cost"]
    stamps.rename(own.root.parent / "stamps")
    path, what = content(own.root)
    ok, row = look()
    assert (ok, row["level"]) == (False, "fail") and f"/{path} {what}" in row["detail"], row
    (own.path.parent / "default.json").write_text(json.dumps({"name": "default", "tree": "another"}))
    _, row = look()
    assert row["level"] == "note" and f"/{path} {what}" in row["detail"], row


def test_building_again_leaves_a_good_tree_in_its_place(base_tree):  # pylint: disable=unused-argument
    """Cells may be running in it."""
    here = cells.new_directory(cells.caller())
    store = Store(here / "state")
    recipe = write_recipe(here)
    root = store.path / "trees" / store.build(recipe) / "root"
    was = root.stat().st_ino
    store.build(recipe)
    assert root.stat().st_ino == was and store.entries() == [root.parent.name]


def test_verify_by_who_may_not_write(own):
    user = cells.ordinary()
    cells.need_root()
    cells.need_cells(user)
    done = cells.hotcell("tree", "verify", "base", user=user, env=own.env)
    assert done.returncode == 0 and "Permission denied" in done.stderr, done
    own.user = user
    assert own.start("run", "--tree-check", "stamps", "program.py").returncode == 0
    content(own.root)
    refused(own.start("run", "--tree-check", "stamps", "program.py"), THIS, "has other content")


# ---- hotcelld ----

JOB = {"code": "print(6 * 7)"}


def started(copy, **config):
    return daemons.Daemon(copy.user, env=copy.env, config={"workers": 1, **config})


@pytest.mark.parametrize("change", [content, added, removed], ids=lambda change: change.__name__)
def test_the_daemon_does_not_start_with_a_changed_tree(copy, change):
    said = change(copy.root)
    here = cells.new_directory(copy.user)
    command = [daemons.HOTCELLD, "--socket", here / "socket", "--state", here / "state"]
    process = daemons.start(command, copy.user, here, copy.env)
    stderr = process.communicate(timeout=cells.PATIENCE)[1].decode()
    assert process.returncode == 69 and len([line for line in stderr.splitlines() if "was changed" in line]) == 1, stderr
    for word in ("tree 'base' was changed", f"/{said[0]} ", said[1], "hotcell tree verify base"):
        assert word in stderr


@pytest.mark.parametrize("change", [content, added], ids=lambda change: change.__name__)
def test_the_daemon_runs_nothing_in_a_tree_that_is_changed_while_it_runs(copy, change):
    whole = copy.path.parent / "whole"
    shutil.copytree(copy.root, whole, symlinks=True)
    with started(copy, trees={"check": "1s"}) as d:
        assert [d.post(JOB).json["status"] for _ in range(3)] == ["ok"] * 3
        cells.wait_until("a warm interpreter", d.zygotes)
        path, what = change(copy.root)
        d.wait_for_line("tree 'base' was changed")
        assert path in d.log and what in d.log
        answer = d.post(JOB)
        assert answer.status == 503 and path in answer.json["detail"] and what in answer.json["detail"], answer
        cells.wait_until("its warm interpreter ends", lambda: not d.zygotes())
        health = d.get("/healthz")
        assert (health.status, health.json["changed_trees"]) == (200, ["base"])
        # What it was is put back: its content is right, and its stamps are not until somebody hashes it.
        (copy.root / path).unlink()
        if (whole / path).exists():
            shutil.copy2(whole / path, copy.root / path)
        assert copy.tree("verify", "base").returncode == 0
        d.wait_for_line("is as it was again")
        assert d.post(JOB).json["status"] == "ok" and "changed_trees" not in d.get("/healthz").json


def test_sessions_of_the_daemon_are_refused_as_jobs_are(own):
    with started(own, trees={"check": "1s"}) as d:
        content(own.root)
        d.wait_for_line("tree 'base' was changed")
        answer = d.request("POST", "/v1/sessions", json.dumps({"tree": "base"}), {"Content-Type": "application/json"})
        assert answer.status == 503 and "was changed" in answer.json["detail"], answer


def test_a_warm_job_says_what_its_interpreter_was_checked_by(own):
    with started(own) as d:
        checked = [d.post(JOB).json["tree"]["checked"] for _ in range(3)]
        cells.wait_until("a warm interpreter", d.zygotes)
        cells.wait_until("a warm job", lambda: d.post(JOB).json["tree"]["checked"] == "stamps")
        assert checked[0] == "quick"


def test_a_tree_that_is_removed_is_changed_no_more(own):
    with started(own, trees={"check": "1s"}) as d:
        content(own.root)
        d.wait_for_line("tree 'base' was changed")
        assert own.tree("remove", "base").returncode == 0
        cells.wait_until("it is forgotten", lambda: "changed_trees" not in d.get("/healthz").json)


def test_the_process_that_looks_is_started_again(own):
    with started(own, trees={"check": "1s"}) as d:
        cells.wait_until("it looks", lambda: d.named("trees"))
        first = d.named("trees")
        cells.wait_until("it is older than a second", lambda: age(first[0]) > 1.2)
        os.kill(first[0], 9)
        d.wait_for_line("it is started again")
        content(own.root)
        d.wait_for_line("tree 'base' was changed")


def age(pid):
    ticks = int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
    with open("/proc/uptime", encoding="ascii") as file:
        return float(file.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")


def test_a_batch_looks_at_its_policys_tree_too(own):
    (own.path.parent / "mine.json").write_text(json.dumps({"name": "mine", "extends": "default", "tree": "base"}))
    (own.path.parent / "jobs.jsonl").write_text('{"job_id": "a", "code": "1"}\n')
    said = added(own.root)
    done = cells.hotcell("batch", "-p", "./mine.json", "-o", "results", "jobs.jsonl", env=own.env, cwd=own.path.parent)
    assert refused(done, *said)


def test_stamps_that_all_do_not_fit_cost_time_only(own):
    """As after a recursive chown, or on a file system that numbers its inodes anew."""
    for path in own.root.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    for command in STARTS.values():
        done = own.start(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    (own.root / "etc/hosts").write_text("changed")
    refused(own.start("run", "program.py"), "etc/hosts", "bytes, not")
