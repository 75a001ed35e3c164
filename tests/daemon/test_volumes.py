"""Volumes: directories of a tenant that hotcelld keeps between jobs."""

import fcntl
import os
import signal
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import cells
import daemons
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402

BOB, EVE = 1001, 1002
CONFIG = {"workers": 3, "socket": {"mode": "0666"}, "quotas": {"running": 2, "volumes": 3, "volume_bytes": "1M", "volume_files": 200}}


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):  # pylint: disable=unused-argument
    with daemons.Daemon(config=CONFIG) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="clean", autouse=True)
def nothing_is_left(request):
    yield
    if "daemon" in request.fixturenames:
        d = request.getfixturevalue("daemon")
        for uid in (None, BOB, EVE) if cells.IS_ROOT else (None,):
            for each in d.get("/v1/volumes", uid=uid).json["volumes"]:
                assert d.request("DELETE", f"/v1/volumes/{each['name']}", uid=uid).status == 204


def run(d, code, name="v", uid=None, **more):
    """The manifest of a job with this volume at /data, where it begins."""
    answer = d.post({"code": f"import os\nos.chdir('/data')\n{code}", "volumes": [{"name": name, "place": "/data"}], **more}, uid=uid)
    return answer.json


def of(manifest):
    row, = manifest["volumes"]
    return row


def text(manifest):
    assert manifest["status"] == "ok", manifest
    return manifest["stdout"]["text"].strip()


def volumes(d, uid=None):
    return {each["name"]: (each["bytes"], each["files"]) for each in d.get("/v1/volumes", uid=uid).json["volumes"]}


def place(d):
    """The volume of the daemon's own user, on the host."""
    return d.state / "volumes" / f"uid-{d.user.uid}" / "v"


TREE = """
def tree():
    found = {}
    for above, folders, files in os.walk('.'):
        for name in folders + files:
            path = os.path.join(above, name)
            found[path[2:]] = os.readlink(path) if os.path.islink(path) else oct(os.stat(path).st_mode & 0o777) if name in folders else open(path).read()
    return sorted(found.items())
"""


def test_what_a_job_leaves_the_next_one_finds(daemon):
    first = run(daemon, "open('a', 'w').write('one'); os.mkdir('d'); open('d/x', 'w').write('x'); os.chmod('d/x', 0o700); os.link('a', 'd/l')")
    assert of(first) == {"name": "v", "place": "/data", "kept": True, "reason": None, "bytes": 7, "files": 4}, first
    assert "dirs" not in first and str(daemon.state) not in str(first), "where it is on the host is not told"
    expected = "[('a', 'one'), ('d', '0o755'), ('d/l', 'one'), ('d/x', 'x')]"
    assert text(run(daemon, TREE + "print(tree()); print(*(oct(os.stat(name).st_mode & 0o777) for name in ('d/x', 'a')))")) == expected + "\n0o755 0o644"
    assert text(run(daemon, "os.remove('a'); open('d/x', 'a').write('y')")) == ""
    assert text(run(daemon, TREE + "print(tree())")) == "[('d', '0o755'), ('d/l', 'one'), ('d/x', 'xy')]"
    assert volumes(daemon) == {"v": (5, 3)}
    assert daemon.request("DELETE", "/v1/volumes/v").status == 204
    assert volumes(daemon) == {} and daemon.request("DELETE", "/v1/volumes/v").status == 404
    assert text(run(daemon, "print(os.listdir('.'))")) == "[]"


@pytest.mark.parametrize("code, status", [("raise SystemExit(3)", "error"), ("1/0", "error"), ("while True: pass", "timeout")])
def test_a_job_that_does_not_end_well_changes_nothing(daemon, code, status):
    run(daemon, "open('a', 'w').write('old')")
    ended = run(daemon, f"open('a', 'w').write('new'); open('b', 'w')\n{code}", limits={"timeout": 1})
    assert ended["status"] == status and not of(ended)["kept"] and "did not end well" in of(ended)["reason"], ended
    assert text(run(daemon, "print(os.listdir('.'), open('a').read())")) == "['a'] old"


@pytest.mark.parametrize("code, why", [
    ("open('b', 'wb').write(b'x' * (1 << 20))", "volume_bytes"), ("open('b', 'wb').truncate(10 << 20)", "volume_bytes"),
    ("for i in range(260): open(f'f{i}', 'w')", "volume_files"),
    ("for i in range(80): os.mkdir('d'); os.chdir('d')", "deep"),
])
def test_what_cannot_be_kept_keeps_the_old_content(daemon, code, why):
    run(daemon, "open('a', 'w').write('old')")
    refused = run(daemon, f"open('a', 'w').write('new')\n{code}")
    assert refused["status"] == "ok" and not of(refused)["kept"] and why in of(refused)["reason"], refused
    assert any("stays as it was" in line and why in line for line in refused["warnings"]), refused
    assert text(run(daemon, "print(os.listdir('.'), open('a').read())")) == "['a'] old"


def test_the_quota_is_of_all_volumes_together(daemon):
    assert of(run(daemon, "open('a', 'wb').write(b'x' * 700000)", "one"))["kept"]
    assert "volume_bytes" in of(run(daemon, "open('a', 'wb').write(b'x' * 700000)", "two"))["reason"]
    assert of(run(daemon, "open('a', 'wb').write(b'x' * 300000)", "two"))["kept"]
    assert of(run(daemon, "open('a', 'wb').write(b'y' * 700000)", "one"))["kept"], "its own old content does not count"
    assert of(run(daemon, "", "three"))["kept"]
    answer = daemon.post({"code": "1", "volumes": [{"name": "four", "place": "/data"}]})
    assert answer.status == 429 and "quota volumes" in answer.json["detail"], answer
    assert set(volumes(daemon)) == {"one", "two", "three"}


def test_a_volume_that_is_too_large_for_a_job(daemon):
    """No error tells where volumes are on the host."""
    run(daemon, "open('a', 'wb').write(b'x' * 200000)")
    answer = daemon.post({"code": "1", "volumes": [{"name": "v", "place": "/data"}], "limits": {"output": "64K"}})
    assert answer.status == 422 and answer.json["detail"].startswith("volume 'v': 'a': more than 64K to copy (limits.output"), answer
    assert "hotcell-test" not in str(answer.json), "the state directory of tests"
    assert volumes(daemon) == {"v": (200000, 1)}


def test_nothing_but_files_and_directories_comes_in(daemon):
    """A cell makes no symbolic links and devices. What an administrator puts there is not followed on the host."""
    assert text(run(daemon, """
for make in (lambda: os.symlink('/etc/passwd', 'l'), lambda: os.mkfifo('p'), lambda: os.mknod('n')):
    try: make(); print('made')
    except OSError as error: print(type(error).__name__)
print(os.listdir('.'))""")).endswith("[]")
    content = place(daemon) / "now" / "data"
    (content / "up").symlink_to("../../../../../..")
    (content / "state").symlink_to(daemon.state)
    assert text(run(daemon, "print(sorted(os.listdir('up')) == sorted(os.listdir('/')), os.path.exists('state'))")) == "True False"
    assert text(run(daemon, "os.remove('up'); open('up', 'w').write('a file'); os.remove('state'); os.mkdir('state'); open('state/x', 'w')")) == ""
    assert text(run(daemon, "print(open('up').read(), os.listdir('state'))")) == "a file ['x']"
    assert not (daemon.state / "x").exists()


@pytest.mark.parametrize("row", [
    {"name": "../v", "place": "/data"}, {"name": "a/b", "place": "/data"}, {"name": "..", "place": "/data"}, {"name": "", "place": "/data"},
    {"name": ".v", "place": "/data"}, {"name": "x" * 65, "place": "/data"}, {"name": "v", "place": "data"}, {"name": "v", "place": "/output"},
    {"name": "v", "place": "/data/../etc"}, {"name": "v"}, {"place": "/data"}, {"name": "v", "place": "/data", "host": "/etc"}, "v", {"name": 1, "place": "/d"},
], ids=range(14))
def test_malformed_volumes_are_refused(daemon, row):
    answer = daemon.post({"code": "1", "volumes": [row]})
    assert answer.status == 400 and "volumes: " in answer.json["detail"], answer
    assert volumes(daemon) == {}


def test_more_or_twice_are_refused(daemon):
    for rows in ([{"name": f"v{i}", "place": f"/data{i}"} for i in range(5)], [{"name": "v", "place": "/a"}, {"name": "v", "place": "/b"}]):
        answer = daemon.post({"code": "1", "volumes": rows})
        assert answer.status == 400 and "volumes: " in answer.json["detail"], answer
    answer = daemon.post({"code": "1", "volumes": [{"name": "v", "place": "/usr/data"}]})
    assert answer.status == 422 and "/usr is the tree's own" in answer.json["detail"], answer
    assert daemon.request("DELETE", "/v1/volumes/..%2fv").status == 404


def test_another_tenant_has_other_volumes(daemon):
    cells.need_root()
    run(daemon, "open('secret', 'w').write('bob')", uid=BOB)
    assert text(run(daemon, "print(os.listdir('.'))", uid=EVE)) == "[]"
    assert volumes(daemon, BOB) == {"v": (3, 1)} and volumes(daemon, EVE) == {"v": (0, 0)}
    assert daemon.request("DELETE", "/v1/volumes/v", uid=EVE).status == 204
    assert daemon.request("DELETE", "/v1/volumes/v", uid=EVE).status == 404
    assert text(run(daemon, "print(open('secret').read())", uid=BOB)) == "bob"


WAIT = "\nimport time\ntime.sleep(600)"


def begin(d, code):
    """A job that has the volume, and does not end by itself."""
    job_id = d.post_async({"code": code + WAIT, "volumes": [{"name": "v", "place": "/data"}]})
    cells.wait_until("a job that has the volume", lambda: place(d).exists() and is_locked(place(d)))
    return job_id


def is_locked(path):
    """Without taking the lock, which would refuse the job."""
    with open("/proc/locks", encoding="ascii") as file:
        return any(f":{path.stat().st_ino} " in line for line in file)


def test_one_job_at_a_time_has_a_volume(daemon):
    run(daemon, "open('a', 'w').write('old')")
    job_id = begin(daemon, "open('/data/b', 'w')")
    second = daemon.post({"code": "1", "volumes": [{"name": "v", "place": "/d"}]})
    assert second.status == 409, second
    assert "another job or session has it" in second.json["detail"] and second.json["retry"] == "not_started", second
    assert daemon.request("DELETE", "/v1/volumes/v").status == 409
    daemon.request("POST", f"/v1/jobs/{job_id}/cancel")
    assert not of(daemon.result(job_id)["manifest"])["kept"]
    assert text(run(daemon, "print(os.listdir('.'))")) == "['a']", "free again at once, and as it was"


def test_a_session_has_a_volume_for_all_of_its_runs(daemon):
    session = daemon.session({"volumes": [{"name": "v", "place": "/data"}]})
    daemon.run(session, "open('/data/a', 'w').write('one')")
    answer = daemon.run(session, "print(open('/data/a').read())")
    assert answer["manifest"]["stdout"]["text"] == "one\n" and volumes(daemon) == {"v": (0, 0)}
    assert daemon.post({"code": "1", "volumes": [{"name": "v", "place": "/d"}]}).status == 409
    changed, = daemon.send(f"{session}/workdir/changes", {}).json["dirs"]
    assert changed["volume"] == "v" and "host" not in changed and [each["path"] for each in changed["changes"]["entries"]] == ["a"], changed
    ended = daemon.request("DELETE", session)
    assert ended.status == 200, ended
    assert text(run(daemon, "print(open('a').read())")) == "one"


@contextmanager
def lock_of_tenant(d):
    """As a process has it that makes or commits one of the tenant's volumes."""
    fd = os.open(place(d).parent, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def test_no_removal_waits_for_the_tenants_other_volumes(daemon):
    run(daemon, "open('a', 'w').write('one')")
    with lock_of_tenant(daemon):
        assert daemon.request("DELETE", "/v1/volumes/other").status == 404
        assert daemon.request("DELETE", "/v1/volumes/v").status == 204
    assert volumes(daemon) == {}


def test_a_job_that_cannot_have_the_tenants_lock_ends(daemon):
    run(daemon, "open('a', 'w').write('old')")
    with lock_of_tenant(daemon):
        ended = run(daemon, "open('a', 'w').write('new')")
    assert ended["status"] == "ok" and "are being changed" in of(ended)["reason"], ended
    assert text(run(daemon, "print(open('a').read())")) == "old"


def wait_for_commit(d, name):
    """Until a commit of this volume has filled `next`."""
    cells.wait_until("a filled volume", lambda: (place(d).parent / name / "next" / "size").exists())


def test_two_commits_at_once_keep_the_quota_together(daemon):
    fill = "open('a', 'wb').write(b'x' * 700000)"
    run(daemon, "", "one")
    run(daemon, "", "two")
    with ThreadPoolExecutor() as pool:
        with lock_of_tenant(daemon):  # both find no other content, and wait
            jobs = [pool.submit(run, daemon, fill, name) for name in ("one", "two")]
            for name in ("one", "two"):
                wait_for_commit(daemon, name)
        ended = [of(job.result()) for job in jobs]
    assert sorted(row["kept"] for row in ended) == [False, True], ended
    refused, = (row for row in ended if not row["kept"])
    assert "meanwhile" in refused["reason"] and "volume_bytes" in refused["reason"], refused
    assert sorted(volumes(daemon).values()) == [(0, 0), (700000, 1)]


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


def test_no_job_waits_for_a_removal(base_tree):  # pylint: disable=unused-argument
    """The first of two workers is stopped while it has a removal: the other gets the jobs."""
    with daemons.Daemon(config={**CONFIG, "workers": 2}) as d, ThreadPoolExecutor() as pool:
        first = d.named("worker")[0]
        os.kill(first, signal.SIGSTOP)
        try:
            cells.wait_until("a stop", lambda: state_of(first) in "Tt")
            removals = [pool.submit(d.request, "DELETE", f"/v1/volumes/v{i}") for i in range(2)]
            ended, pending = wait(removals, cells.PATIENCE, FIRST_COMPLETED)
            assert [each.result().status for each in ended] == [503], "one removal of a tenant at a time"
            answers = [run(d, "print('not waited')", uid=uid) for uid in ((None, EVE) if cells.IS_ROOT else (None,))]
            assert {text(answer) for answer in answers} == {"not waited"}
            assert not any(each.done() for each in pending)
        finally:
            os.kill(first, signal.SIGCONT)
        assert [each.result().status for each in pending] == [404]
        assert d.end() == 0, d.log


@pytest.mark.parametrize("places, why", [
    (["/d", "/d/e"], "a place is in another"), (["/data", "/usr/data"], "the tree's own"), (["/tmp/" + "y" * 256], "a name in it is too long"),
], ids=range(3))
def test_a_refused_job_leaves_no_new_volumes(daemon, places, why):
    run(daemon, "open('a', 'w').write('old')")
    rows = [{"name": f"new{i}", "place": where} for i, where in enumerate(places)]
    for path in ("/v1/jobs", "/v1/sessions"):
        answer = daemon.send(path, daemon.spec({"volumes": [{"name": "v", "place": "/old"}, *rows], **({"code": "1"} if path == "/v1/jobs" else {})}))
        assert answer.status == 422 and why in answer.json["detail"], answer
        assert volumes(daemon) == {"v": (3, 1)}
    assert sorted(os.listdir(place(daemon).parent)) == ["v"]


def test_a_job_may_have_as_few_open_files_as_the_least_that_may_be_asked_for(daemon):
    """Also where the cell is a copy of a zygote, which is prepared after the first job."""
    few = [run(daemon, "print(1)", limits={"open_files": 32}) for _ in range(3)]
    assert [text(each) for each in few] == ["1"] * 3
    assert daemon.post({"code": "1", "limits": {"open_files": 31}}).status == 400


def test_a_restart_keeps_volumes_and_a_crash_leaves_old_or_new(base_tree):  # pylint: disable=unused-argument
    with daemons.Daemon(config=CONFIG) as d:
        run(d, "open('a', 'w').write('old')")
        assert d.end() == 0, d.log
        d.start_again()
        assert text(run(d, "print(open('a').read())")) == "old"
        volume = place(d)
        begin(d, "open('/data/a', 'w').write('new')")
        d.end(signal.SIGKILL)
        (volume / "next" / "data").mkdir(parents=True)  # as a commit leaves it that is killed
        (volume / "next" / "data" / "half").write_text("half")
        d.start_again()
        assert volumes(d) == {"v": (3, 1)}
        cells.wait_until("the end of the killed daemon's workers", lambda: run(d, "1").get("status") == "ok")
        assert text(run(d, "print(os.listdir('.'), open('a').read())")) == "['a'] old"
        assert sorted(os.listdir(volume)) == ["now"]
        assert d.request("DELETE", "/v1/volumes/v").status == 204 and not volume.exists()
        assert d.end() == 0, d.log


def test_a_daemon_of_an_ordinary_user_has_volumes_too(base_tree):  # pylint: disable=unused-argument
    user = cells.ordinary()
    with daemons.Daemon(user, config=CONFIG) as d:
        uid = user.uid if cells.IS_ROOT else None
        assert of(run(d, "open('a', 'w').write('one')", uid=uid))["kept"]
        assert text(run(d, "print(open('a').read())", uid=uid)) == "one"
        refused = run(d, "open('a', 'w').write('two'); os.chmod('a', 0)", uid=uid)
        assert of(refused)["kept"] or "not readable" in of(refused)["reason"], refused
        assert text(run(d, "print(open('a').read())", uid=uid)) in ("one", "two")
        assert d.request("DELETE", "/v1/volumes/v", uid=uid).status == 204
        assert d.end() == 0, d.log


def test_the_client_gives_lists_and_removes_volumes(daemon):
    client = hotcell.Daemon(daemon.socket)
    options = {"tree": "base", "timeout": 20 * cells.SLOWNESS}
    result = client.run("open('/data/a', 'w').write('one')", volumes={"v": "/data"}, **options)
    assert result.ok and result.manifest["volumes"][0]["kept"], result
    assert client.run("open('/d/a').read()", volumes={"v": Path("/d")}, **options).value == "one"
    row, = client.volumes()
    assert (row["name"], row["bytes"], row["files"]) == ("v", 3, 1) and row["changed"]
    with client.session(volumes={"v": "/data"}, **options) as session:
        assert session.run("open('/data/a', 'a').write('more'); open('/data/a').read()").value == "onemore"
        assert [each["change"] for each in session.changes()[0]["changes"]["entries"]] == ["changed"]
        with pytest.raises(hotcell.Problem, match="another job or session has it"):
            client.run("1", volumes={"v": "/data"}, **options)
    client.remove_volume("v")
    with pytest.raises(hotcell.NotFound, match="no such volume"):
        client.remove_volume("v")
    with pytest.raises(hotcell.NotFound):
        client.remove_volume("../v")
    with pytest.raises(hotcell.InputProblem, match="volumes: "):
        client.run("1", volumes={"../v": "/data"}, **options)
