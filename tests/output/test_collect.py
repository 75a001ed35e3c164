"""What a program left in /output is collected within limits, in bind mode too: holes are not read, and a signal ends it."""

import hashlib
import json
import os
import select
import signal
import subprocess

import cells
import daemons
import session_client
import pytest

MIB = 1 << 20
GUARD = "off"

# Hashing them takes many times as long as anything that a test waits for.
SPARSE = """
for i in range(24):
    with open(f"/output/s{i:02}", "wb") as file:
        file.truncate(256 << 20)
"""
BIND = ("--output-mode=bind", "--collect-size=1T")
LATE = "there was no time left to collect it"
CANCELLED = "the job was cancelled before it was collected"
TOO_MUCH = "more bytes in all than the limit"


@pytest.fixture(name="directory")
def fresh_directory(user):
    return cells.new_directory(user)


def bytes_read_by(job):
    """By read(2) and its kind, of a launcher that has ended and was not waited for yet."""
    os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{job.pid}/io", encoding="ascii") as file:
        return int(dict(line.split(":") for line in file)["rchar"])


def wait_until_collecting(job):
    """The cell is dead, and the launcher lives."""
    def is_over():
        for pid in job.descendants():
            try:
                select.select([pidfd := os.pidfd_open(pid)], [], [], cells.PATIENCE)
                os.close(pidfd)
            except ProcessLookupError:
                pass
        return not job.descendants()
    job.read_line()
    cells.wait_until("the end of the cell", is_over)
    assert not job.ended()


# ---- holes ----

def sparse_with_data(path):
    """As the program in the cell makes it."""
    content = bytearray(64 * MIB)
    content[3 * MIB:3 * MIB + 5] = b"first"
    content[40 * MIB:40 * MIB + 6] = b"second"
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_holes_are_hashed_and_not_read(user, directory, mode):
    with cells.start("""
import os
fd = os.open("sparse", os.O_WRONLY | os.O_CREAT)
os.pwrite(fd, b"first", 3 << 20)
os.pwrite(fd, b"second", 40 << 20)
os.truncate(fd, 64 << 20)
""", f"--output-mode={mode}", user=user, cwd=directory) as job:
        read = bytes_read_by(job)
        result = job.finish()
    assert result.manifest["status"] == "ok", result
    [file] = result.manifest["files"]
    assert (file["bytes"], file["sha256"]) == (64 * MIB, sparse_with_data(directory / "sparse"))
    kept = (result.output / "sparse").read_bytes()
    assert hashlib.sha256(kept).hexdigest() == file["sha256"] and len(kept) == 64 * MIB
    assert (result.output / "sparse").stat().st_blocks * 512 < MIB
    # A reader that does not look for holes goes through all of it, as the launcher once did.
    with subprocess.Popen(["sha256sum", "sparse"], cwd=result.output, stdout=subprocess.DEVNULL) as reader:
        assert bytes_read_by(reader) > 64 * MIB > 4 * read


@pytest.mark.parametrize("make, content", [
    ("file.truncate(100001)", bytes(100001)),
    ("file.write(b'x' * 70000)", b"x" * 70000),
    ("file.seek(200000); file.write(b'end')", bytes(200000) + b"end"),
    ("file.write(b'begin'); file.truncate(300000)", b"begin" + bytes(299995)),
    ("pass", b"")], ids=["hole", "data", "hole first", "hole last", "empty"])
@pytest.mark.parametrize("mode", ["capped", "bind"])
def test_files_with_holes_are_kept_as_they_are(directory, mode, make, content):
    result = cells.run(f"with open('file', 'wb') as file:\n    {make}", f"--output-mode={mode}", cwd=directory)
    [file] = result.manifest["files"]
    assert (result.output / "file").read_bytes() == content
    assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


# ---- limits ----

def test_collecting_has_a_deadline(user, directory):
    result = cells.run(SPARSE, *BIND, "--collect-time=10ms", user=user, cwd=directory)
    assert (result.status, result.manifest["status"], result.manifest["partial"]) == (3, "collect", True), result
    assert result.manifest["reason"] == "left more than could be collected in 10ms (limits.collect_time)"
    assert "limits.collect_time" in result.stderr
    assert set(result.skipped().values()) == {LATE} and len(result.skipped()) + len(result.listed()) == 24
    assert len(result.files()) == 24, "in bind mode it stands where it stood"


def test_a_capped_output_has_the_same_deadline(user, directory):
    result = cells.run("""
for i in range(2000):
    open(str(i), "wb").write(bytes(50000))
""", "--collect-time=10ms", "--timeout=60s", user=user, cwd=directory)
    assert (result.status, result.manifest["status"], result.manifest["partial"]) == (3, "collect", True), result
    assert set(result.skipped().values()) == {LATE}
    named = len(result.listed()) + len(result.skipped()) + result.manifest["skipped"]["more"]
    # A directory whose names could not all be read in time is listed as skipped itself.
    assert named <= 2001 if "." in result.skipped() else named == 2000
    assert result.files() == result.listed(), "nothing half copied"


def test_collecting_in_bind_mode_has_a_limit_of_bytes(user, directory):
    result = cells.run("""
for name, size in (("a", 40), ("b", 40), ("c", 10)):
    open(name, "wb").truncate(size << 20)
""", "--output-mode=bind", "--collect-size=64M", user=user, cwd=directory)
    assert (result.status, result.manifest["status"], result.manifest["partial"]) == (3, "collect", True), result
    assert result.manifest["reason"] == "left more than 64M to collect (limits.collect_bytes, --collect-size)"
    assert (result.listed(), result.skipped()) == (["a", "c"], {"b": TOO_MUCH})


def test_a_job_that_has_failed_keeps_its_status(user, directory):
    result = cells.run(SPARSE + "raise SystemExit(7)", *BIND, "--collect-time=10ms", user=user, cwd=directory)
    assert (result.status, result.manifest["status"], result.manifest["partial"]) == (1, "error", True), result
    assert [w for w in result.manifest["warnings"] if w.startswith("not all output was collected: ")] and result.skipped()


def test_a_large_directory_is_counted_and_not_kept_in_mind(user, directory):
    result = cells.run("""
for i in range(500):
    open(f"{i:03}", "w").close()
""", "--output-mode=bind", "--output-files=100", user=user, cwd=directory)
    skipped = result.manifest["skipped"]
    assert len(result.listed()) == 100 and len(skipped["entries"]) + skipped["more"] == 400
    assert set(result.skipped().values()) == {"more files than the limit"}


@pytest.mark.parametrize("option", ["--collect-time=10ms", "--output-files=8"])
def test_what_stands_in_the_place_of_ours_is_set_aside_in_any_case(user, directory, option):
    program = SPARSE + "open('/output/manifest.json', 'w').write('{}'); open('/output/_sandbox_result.json', 'w').write('{}')"
    result = cells.run(program, *BIND, option, user=user, cwd=directory)
    reasons = {result.skipped()[name] for name in ("_sandbox_result.json", "manifest.json")}
    assert reasons == {"the name is hotcell's own: renamed to guest-..."}
    assert not (result.output / "_sandbox_result.json").exists() and result.manifest["job_id"]


PLANT = SPARSE.replace("/s{i", "/a{i") + """
import os
os.makedirs("/output/code", exist_ok=True)
open("/output/code/run_x.py", "w").write("planted")
open("/output/code/other.py", "w").write("kept")
"""


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("how", ["limit", "signal"])
def test_code_that_a_job_has_planted_is_set_aside_in_any_case(user, directory, how, closed):
    """Even if its output was not collected so far. Other files stay, but in a folder that is closed to us."""
    program = PLANT + ("os.chmod('/output/code', 0)\n" if closed else "") + "print('made', flush=True)\n"
    if how == "limit":
        result = cells.run(program, *BIND, "--collect-time=10ms", user=user, cwd=directory)
    else:
        with cells.start(program + "import time; time.sleep(100)", *BIND, "--timeout=100s", user=user, cwd=directory) as job:
            job.read_line()
            job.signal(signal.SIGTERM)
            result = job.finish()
    whole = closed and user.uid != 0
    assert not (result.output / "code" / "run_x.py").exists()
    aside = [path.name for path in (result.output if whole else result.output / "code").iterdir() if path.name.startswith("guest-")]
    assert len(aside) == 1 and aside[0].endswith("-code" if whole else "-run_x.py"), aside
    assert result.skipped()["code" if whole else "code/run_x.py"] == "the name is hotcell's own: renamed to guest-..."
    assert whole or (result.output / "code" / "other.py").read_text() == "kept"


PLANTED = """
import os
os.makedirs("/output/code", exist_ok=True)
for end in ("py", "json"):
    open(f"/output/code/run_x.{end}", "w").write("planted")
"""
RENAMED = "the name is hotcell's own: renamed to guest-..."


def bound(program, *options, **arguments):
    result = cells.run(program, "--output-mode=bind", "--guard=off", *options, **arguments)
    assert result.manifest["status"] == "ok", result
    return result


def names_for_replay(result):
    return sorted(str(path.relative_to(result.output)) for path in result.output.glob("code/run_*"))


def names_aside(folder):
    return sorted(path.name.split("-", 2)[2] for path in folder.iterdir() if path.name.startswith("guest-"))


@pytest.mark.parametrize("mode", ["0", "0o111", "0o555"])
def test_planted_code_in_a_folder_that_is_closed_is_set_aside_after_all_was_collected(user, directory, mode):
    result = bound(PLANTED + f"os.chmod('/output/code', {mode})", user=user, cwd=directory)
    assert not names_for_replay(result) and RENAMED in result.skipped().values()
    whole = user.uid != 0
    assert result.skipped()["code" if whole else "code/run_x.py"] == RENAMED
    assert names_aside(result.output if whole else result.output / "code") == (["code"] if whole else ["run_x.json", "run_x.py"])
    assert not [warning for warning in result.manifest["warnings"] if not warning.startswith("not kept: code")]


def test_planted_code_with_several_names_is_set_aside(user, directory):
    result = bound(PLANTED + "os.link('/output/code/run_x.json', '/output/code/zz'); os.link('/output/code/run_x.py', '/output/zz')",
                   user=user, cwd=directory)
    assert not names_for_replay(result) and names_aside(result.output / "code") == ["run_x.json", "run_x.py"]
    assert {result.skipped()[f"code/run_x.{end}"] for end in ("json", "py")} == {RENAMED}


def test_planted_code_with_long_names_is_set_aside(user, directory):
    result = bound(PLANTED + "for i in range(4): open('/output/code/run_' + 'a' * 230 + str(i), 'w').close()", user=user, cwd=directory)
    assert not names_for_replay(result) and len(names_aside(result.output / "code")) == 6


def test_no_name_that_code_is_set_aside_to_can_be_taken_first(user, directory):
    """As it could be when the names held the launcher's process ID, which can be guessed."""
    around = os.getpid()
    result = bound(PLANTED + f"""
for pid in range({around}, {around} + 3000):
    for end in ("py", "json"):
        open(f"/output/code/guest-{{pid}}-run_x.{{end}}", "w").close()
""", "--output-files=10000", user=user, cwd=directory)
    assert not names_for_replay(result) and len(names_aside(result.output / "code")) == 6002


def test_saved_code_that_a_job_has_written_over_is_set_aside_though_its_folder_is_not_writable(user, directory):
    code = cells.run(PLANTED.replace("code", "stash"), user=user, cwd=directory).output / "code"
    (code.parent / "stash").rename(code)
    code.chmod(0o555)
    result = bound("open('/output/code/run_x.py', 'w').write('other')", user=user, cwd=directory)
    assert "code/run_x.py" not in names_for_replay(result) and RENAMED in result.skipped().values()


def test_code_that_no_job_has_touched_stays(user, directory):
    first = cells.run("print(1)", "--persist-code", user=user, cwd=directory)
    kept = names_for_replay(first)
    result = bound("print(open('/output/code/' + __import__('os').listdir('/output/code')[0]).read() != '')", user=user, cwd=directory)
    assert kept and names_for_replay(result) == kept and not result.skipped()


def test_files_of_the_users_own_with_names_of_ours_stay(user, directory):
    out = cells.run("print(1)", user=user, cwd=directory).output
    (out / "_sandbox_result.json").write_text("mine")
    result = bound("print(2)", user=user, cwd=directory)
    assert result.manifest["stdout"]["text"] == "2\n" and (out / "_sandbox_result.json").read_text() == "mine"
    (out / "manifest.json").write_text('{"mine": 1}')
    program = directory.parent / f"{directory.name}.py"
    done = cells.hotcell("run", "-t", cells.tree_path("base"), "--output-mode=bind", "--guard=off", "-o", str(out), str(program),
                         user=user, cwd=directory)
    assert done.returncode == 65 and "is no manifest of hotcell: move it away" in done.stderr, done
    assert (out / "manifest.json").read_text() == '{"mine": 1}'


def test_limits_of_collecting_are_in_the_manifest(directory):
    result = cells.run("print(1)", "--collect-time=5s", "--collect-size=1G", cwd=directory)
    limits = result.manifest["limits"]
    assert (limits["collect_time"], limits["collect_bytes"]) == (5, 1 << 30)


# ---- cancelled ----

@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_collecting(user, directory, number):
    with cells.start(SPARSE + "print('made', flush=True)", *BIND, user=user, cwd=directory) as job:
        wait_until_collecting(job)
        job.signal(number)
        result = job.finish()
    assert (result.status, result.manifest["status"], result.manifest["partial"]) == (-number, "killed", True), result
    assert result.manifest["reason"].startswith("cancelled from outside")
    assert set(result.skipped().values()) == {CANCELLED}
    assert len(result.listed()) + len(result.skipped()) == 24


def test_a_job_that_is_cancelled_while_it_runs_keeps_what_is_small(user, directory):
    with cells.start("open('/output/a', 'w').write('kept')\n" + SPARSE + "print('made', flush=True)\nimport time; time.sleep(100)",
                     *BIND, "--timeout=100s", user=user, cwd=directory) as job:
        job.read_line()
        job.signal(signal.SIGTERM)
        result = job.finish()
    assert result.manifest["status"] == "killed" and "a" in result.listed() and CANCELLED in result.skipped().values()
    assert [w for w in result.manifest["warnings"] if w.startswith("not all output was collected: ")], result


def test_a_job_of_a_daemon_is_cancelled_while_it_collects(user):
    policies = cells.new_directory(user)
    (policies / "bound.json").write_text(json.dumps({"extends": "none", "output": {"mode": "bind"}, "guard": "off",
                                                     "limits": {"collect_bytes": "1T"}}))
    with daemons.Daemon(user, config={"workers": 1}, env={"HOTCELL_POLICIES": str(policies)}) as d:
        job_id = d.post_async({"code": SPARSE, "policy": "bound"})
        cells.wait_until("the last file", lambda: any(d.state.rglob("s23")))
        assert d.request("POST", f"/v1/jobs/{job_id}/cancel").status in (200, 202)
        manifest = d.result(job_id)["manifest"]
        assert d.end() == 0, d.log
    assert manifest["status"] == "killed" and manifest["skipped"]["entries"], manifest


# ---- sessions ----

def test_runs_of_a_session_have_the_same_limits(user):
    with session_client.Session(*BIND, "--collect-time=10ms", "--guard=off", user=user) as session:
        run = session.run(SPARSE)
        assert (run.status, run.state, run.manifest["partial"]) == ("collect", "kept", True), run
        assert session.run("1 + 1").value == 2
        session.process.stdin.close()
        end = session.answer()
        status = session.close()
    assert (status, end["reason"], end["manifest"]["status"], end["manifest"]["partial"]) == (3, "closed", "collect", True)


def test_a_session_that_is_cancelled_while_it_collects_ends(user):
    with session_client.Session(*BIND, "--guard=off", user=user) as session:
        session.ask({"run": {"code": SPARSE}})
        cells.wait_until("the last file", (session.output / "s23").exists)
        session.process.send_signal(signal.SIGTERM)
        manifest = session.result().manifest
        assert manifest["status"] == "killed" and set(skipped(manifest)) == {CANCELLED}, manifest
        end = session.answer()
        assert (end["reason"], end["manifest"]["status"]) == ("cancelled", "killed")
        assert session.close() == -signal.SIGTERM


def test_what_does_not_come_out_is_told_with_what_to_do_instead(user):
    """For each reason once, with names that cannot write anything else to a terminal."""
    code = """
import os
for name in ("a", "b\\x1b[31m", "c"):
    open(name, "w").close()
    os.link(name, "second " + name)
with open("sparse", "wb") as f:
    f.truncate(1 << 24)
open("plain", "w").close()
"""
    result = cells.run(code, "--guard=off", "--file-size=8M", user=user)
    if "File too large" in result.stderr:
        result = cells.run(code.replace("1 << 24", "0"), "--guard=off", user=user)
    links = "not kept: a, b\\u001b[31m, c and 3 more (hard link: more than one name); only files with one name come out: copy the file, as with shutil.copy"
    assert result.manifest["warnings"][0] == links and "plain" in result.listed(), result
    assert f"hotcell: {links}\n" in result.stderr and "\x1b" not in result.stderr


def skipped(manifest):
    return [entry["reason"] for entry in manifest["skipped"]["entries"]]


# ---- batches ----

def test_a_batch_that_is_cancelled_while_it_collects_ends(user):
    directory = cells.new_directory(user)
    (directory / "jobs").write_text(json.dumps({"code": SPARSE}) + "\n")
    command = [cells.HOTCELL, "batch", "-t", cells.tree_path("base"), "--guard=off", *BIND, "--jobs=1", "-o", "out", "jobs"]
    with subprocess.Popen(command, cwd=directory, env=user.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          **user.popen_arguments()) as batch:
        cells.wait_until("the last file", lambda: any(directory.rglob("s23")))
        batch.send_signal(signal.SIGTERM)
        while b"once more ends them" not in batch.stderr.readline():
            assert batch.poll() is None
        batch.send_signal(signal.SIGTERM)
        batch.communicate(timeout=cells.PATIENCE)
    [job] = directory.glob("out/jobs/*")
    manifest = json.loads((job / "manifest.json").read_text())
    assert manifest["status"] == "killed" and set(skipped(manifest)) == {CANCELLED}, manifest
