"""Which policy a job was run under can be told from its manifest: the hash is of what was in force, and the policy is kept by it."""

import hashlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import cells
import daemons
import pytest


def policy(*arguments, user=None, **env):
    user = user or cells.caller()
    return subprocess.run([cells.HOTCELL, "policy", *arguments], capture_output=True, timeout=cells.PATIENCE, check=False,
                          env={**user.environment(), **env}, **user.popen_arguments())


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("options, text", [(["--toool", "x"], "show: unknown option --toool"), (["--effective", "--memory"], "show: --memory needs a value"),
                                           (["-x"], "show: unknown option -x"), (["-t"], "show: -t needs a value")])
def test_a_wrong_option_is_named(options, text):
    done = policy("show", *options)
    assert done.returncode == 64 and text.encode() in done.stderr, done


def shown(*arguments, **more):
    """The text that is printed, and is the whole of what is hashed."""
    done = policy("show", *arguments, **more)
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture(name="own")
def own_policy():
    path = cells.new_directory(cells.caller()) / "own.json"
    path.write_text(json.dumps({"extends": "default", "limits": {"pids": 9, "max": {"pids": 20}}}))
    return path


def store():
    return Path(os.environ.get("HOTCELL_STATE") or "/var/lib/hotcell") / "policies"


@pytest.mark.parametrize("limits", [(), ("--pids", "7", "--cpu=90s"), ("--network", "loopback", "--pids", "9")])
def test_the_hash_in_a_manifest_is_of_what_was_in_force(own, limits):
    result = cells.run("print(1)", "-p", own, *limits)
    tree = cells.tree_path("base")
    same = ("--timeout", result.manifest["limits"]["timeout"], "--memory", result.manifest["limits"]["memory"])
    limits = (*limits, *cells.watched(limits, None, cells.caller()))
    text = shown("--effective", "-p", own, "-t", tree, *map(str, same), *limits)
    assert result.manifest["policy"]["sha256"] == sha256(text), result.manifest["policy"]
    assert shown("--effective", "--sha256", "-p", own, "-t", tree, *map(str, same), *limits).decode().strip() == sha256(text)
    assert result.manifest["policy"]["base_sha256"] == sha256(shown("--effective", own))
    assert "max" not in json.loads(text)["limits"]


def test_without_changes_both_hashes_are_the_policys(own):
    manifest = json.loads(cells.hotcell("run", "--json", "-p", own, "-", input="1", stdin=None).stdout) if cells.hotcell(
        "tree", "path", "scientific").returncode == 0 else None
    if not manifest:
        cells.skip("the tree scientific is not built: run 'hotcell tree build scientific'")
    assert manifest["policy"]["sha256"] == manifest["policy"]["base_sha256"] == sha256(shown("--effective", own))


def test_a_policy_is_named_in_a_manifest_that_is_kept_because_of_a_file(own):
    """The job changes nothing, so both hashes are the policy's; without a manifest nobody asks for them."""
    if cells.hotcell("tree", "path", "scientific").returncode != 0:
        cells.skip("the tree scientific is not built: run 'hotcell tree build scientific'")
    place = cells.new_directory(cells.caller())
    for code, kept in (("print(1)", 0), ("open('made', 'w').close()", 1)):
        done = cells.hotcell("run", "-p", own, "-", input=code, stdin=None, cwd=place)
        assert done.returncode == 0, done
        manifests = list(place.glob("hotcell-output/*/manifest.json"))
        assert len(manifests) == kept
    [policy_of_job] = [json.loads(path.read_text())["policy"] for path in manifests]
    assert policy_of_job["sha256"] == policy_of_job["base_sha256"] == sha256(shown("--effective", own))
    assert sha256(shown(policy_of_job["sha256"])) == policy_of_job["sha256"]


def test_a_policy_can_be_read_by_its_hash_after_it_was_changed(own):
    cells.need_root()  # the store is the user's own
    hashes = cells.run("1", "--pids", "8", policy=None, *("-p", own)).manifest["policy"]
    own.write_text(json.dumps({"extends": "default", "limits": {"pids": 99}}))
    for name, pids in (("sha256", 8), ("base_sha256", 9)):
        text = shown(hashes[name])
        assert sha256(text) == hashes[name] and json.loads(text)["limits"]["pids"] == pids
    kept = [path for path in store().iterdir() if path.name.startswith((hashes["sha256"], hashes["base_sha256"]))]
    assert len(kept) == 2 and all(path.stat().st_mode & 0o777 == 0o600 for path in kept)


def test_a_sender_with_long_tools_fills_no_disk(own):
    """Whatever a job says of its tools is part of what was in force; a long text of it is not kept."""
    cells.need_root()
    tool = cells.new_directory(cells.caller()) / "tool"
    tool.write_text("#!/bin/sh\necho 1\n")
    tool.chmod(0o755)
    for length, kept in ((1000, True), (100000, False)):
        own.write_text(json.dumps({"extends": "default", "limits": {"pids": 9}, "tools": {
            "t": {"command": [str(tool)], "description": "x" * length}}}))
        hashes = cells.run("1", "--pids", "8", policy=None, *("-p", own)).manifest["policy"]
        assert (policy("show", hashes["sha256"]).returncode == 0) == kept
        assert bool(list(store().glob(f"{hashes['sha256']}*"))) == kept


def test_a_hash_that_is_not_there_or_whose_text_was_changed_is_said(own):
    cells.need_root()
    assert policy("show", "0" * 64).returncode == 65
    base = cells.run("1", "-p", own).manifest["policy"]["base_sha256"]
    path = store() / f"{base}.json"
    path.write_text(path.read_text().replace('"pids":9', '"pids":8'))
    done = policy("show", base)
    assert (done.returncode, done.stdout) == (65, b"") and b"is kept here, or it was changed" in done.stderr
    path.unlink()


def test_a_store_that_cannot_be_written_costs_no_job(own):
    cells.need_root()
    state = cells.new_directory(cells.caller())
    os.symlink(store().parent / "trees", state / "trees")
    os.symlink(store().parent / "names", state / "names")
    (state / "policies").write_text("no directory")
    assert cells.run("print(1)", "-p", own, env={"HOTCELL_STATE": str(state)}).stdout == "1\n"


def test_what_jobs_make_of_policies_does_not_fill_the_store(own):
    """As many limits as a sender likes: of those the last are kept, and all of what an operator has written."""
    cells.need_root()
    state = cells.new_directory(cells.caller())
    for name in ("trees", "names"):
        os.symlink(store().parent / name, state / name)
    (state / "policies").mkdir(mode=0o700)
    for i in range(4096):
        path = state / "policies" / f"{i:064x}.job.json"
        path.write_text("{}")
        os.utime(path, (i, i))
    (state / "policies" / f"{1:064x}.json").write_text("{}")
    os.utime(state / "policies" / f"{1:064x}.json", (0, 0))
    hashes = cells.run("1", "-p", own, "--pids", "5", env={"HOTCELL_STATE": str(state)}).manifest["policy"]
    names = {path.name for path in (state / "policies").iterdir()}
    assert {f"{hashes['sha256']}.job.json", f"{hashes['base_sha256']}.json", f"{1:064x}.json", f"{4095:064x}.job.json"} <= names
    assert len(names) < 3200 and f"{0:064x}.job.json" not in names
    done = subprocess.run([cells.HOTCELL, "clean"], env={**os.environ, "HOTCELL_STATE": str(state)}, capture_output=True, text=True, check=True,
                          timeout=cells.PATIENCE)
    assert "removed that no job has had for a year" in done.stdout
    assert {path.name for path in (state / "policies").iterdir()} == {f"{hashes['sha256']}.job.json", f"{hashes['base_sha256']}.json"}
    shutil.rmtree(state)


def test_a_tenant_that_sends_many_policies_loses_none_but_its_own(own):
    """Of the flood's, the last are kept; another tenant's, which was used before all of them, stays, and so does that of a job without a tenant."""
    cells.need_root()
    flood, quiet = 61301, 61302
    state = cells.new_directory(cells.caller())
    for name in ("trees", "names"):
        os.symlink(store().parent / name, state / name)
    env = {"HOTCELL_STATE": str(state)}
    hashes = [cells.run("1", "-p", own, "--pids", "5", env=env).manifest["policy"]["sha256"]]
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}}, env=env) as d:
        first, again = [d.post({"code": "1", "limits": {"pids": 6}}, uid=uid).json["policy"]["sha256"] for uid in (flood, quiet)]
        assert first == again, "one text, which each of the two has for itself"
        hashes += [first, d.post({"code": "1", "limits": {"pids": 7}}, uid=quiet).json["policy"]["sha256"]]
        for path in (state / "policies").rglob("*.job.json"):
            os.utime(path, (0, 0))
        for i in range(4096):
            (state / "policies" / f"uid-{flood}" / f"{i:064x}.job.json").write_text("{}")
        last = d.post({"code": "1", "limits": {"pids": 8}}, uid=flood).json["policy"]["sha256"]
        assert d.end() == 0
    names = {path.name for path in (state / "policies" / f"uid-{flood}").iterdir()}
    assert len(names) < 3200 and f"{last}.job.json" in names and f"{first}.job.json" not in names
    for known in (*hashes, last):
        assert sha256(shown(known, **env)) == known
    assert {path.name for path in (state / "policies" / f"uid-{quiet}").iterdir()} == {f"{known}.job.json" for known in hashes[1:]}
    subprocess.run([cells.HOTCELL, "clean"], env={**os.environ, **env}, capture_output=True, check=True, timeout=cells.PATIENCE)
    assert policy("show", hashes[1], **env).returncode == 65, "no job has had it for a year"
    shutil.rmtree(state)


def test_use_is_noted_so_that_what_is_used_stays(own):
    cells.need_root()
    base = cells.run("1", "-p", own).manifest["policy"]["base_sha256"]
    path = store() / f"{base}.json"
    os.utime(path, (0, 0))
    cells.run("1", "-p", own)
    assert path.stat().st_mtime > time.time() - 3600


def test_a_daemons_manifests_say_what_its_tenant_had(base_tree):
    policies = cells.new_directory(cells.caller())
    (policies / "mine.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": {"pids": 9}}))
    config = {"workers": 1, "tenants": {"carol": {"uids": [os.geteuid()], "policy": "mine", "max": {"memory": "200M"}}}}
    env = {"HOTCELL_POLICIES": str(policies)}
    with daemons.Daemon(config=config, env=env, wide=False, base=False) as d:
        plain, less = [d.send("/v1/jobs", {"code": "1", "limits": limits}).json["policy"] for limits in ({}, {"pids": 5})]
        session = d.send("/v1/sessions", {"limits": {"pids": 5}}).headers["Location"]
        run = d.run(session, "1")["manifest"]["policy"]
    base = shown("--effective", "mine", **env)
    assert plain["base_sha256"] == less["base_sha256"] == run["base_sha256"] == sha256(base)
    assert plain["sha256"] == sha256(shown("--effective", "mine", "--memory", "200M", **env))
    assert less["sha256"] == sha256(shown("--effective", "mine", "--memory", "200M", "--pids", "5", **env)) == run["sha256"]
    assert sha256(shown(less["sha256"])) == less["sha256"]


@pytest.mark.parametrize("arguments, said", [((), "expected the name of a policy, or a hash"), (("a", "b"), "one policy"),
                                             (("default", "--pids", "3"), "--sha256, --tool and limits are for --effective"),
                                             (("--effective", "--pids", "x"), "--pids: expected a whole number"),
                                             (("--effective", "--nothing"), "unknown option"),
                                             (("--effective", "nothing"), "there is no policy 'nothing'")])
def test_mistakes_are_said(arguments, said):
    done = policy("show", *arguments)
    assert done.returncode in (64, 78) and said in done.stderr.decode(), done


def test_the_first_digits_of_a_hash_are_enough(own):
    result = cells.run("print(1)", "-p", own, "--pids", "8")
    whole = result.manifest["policy"]["sha256"]
    for name in (whole[:8], whole[:20].upper(), whole.upper(), whole):
        assert sha256(shown(name)) == whole, name
    done = policy("show", whole[:7])
    assert done.returncode == 78 and b"there is no policy" in done.stderr
    none = policy("show", f"{int(whole[:10], 16) ^ 1:010x}")
    assert none.returncode == 65 and b"no policy whose hash begins with" in none.stderr, none
    (own.parent / f"{whole[:8]}.json").write_text('{"extends": "none"}')
    assert json.loads(shown(whole[:8], HOTCELL_POLICIES=str(own.parent)))["guard"] == "off", "a policy that is called so"


def test_digits_that_several_hashes_begin_with_are_refused(tmp_path):
    folder = tmp_path / "policies"
    folder.mkdir(mode=0o700)
    for end in "01":
        (folder / f"{'a' * 63}{end}.json").write_text("{}")
    done = policy("show", "a" * 8, HOTCELL_STATE=str(tmp_path))
    assert done.returncode == 65 and b"the hashes of several policies" in done.stderr, done


def test_tools_of_the_command_line_are_shown_with_what_is_in_force(own):
    tool = "say=/usr/bin/printf 1"
    result = cells.run("print(1)", "-p", own, "--tool", tool)
    same = ["--timeout", str(result.manifest["limits"]["timeout"]), "--memory", str(result.manifest["limits"]["memory"]), "-t", cells.tree_path("base")]
    assert result.manifest["policy"]["sha256"] == sha256(shown("--effective", "-p", own, "--tool", tool, *same))
    assert result.manifest["policy"]["sha256"] != sha256(shown("--effective", "-p", own, *same))
    assert policy("show", own, "--tool", tool).returncode == 64 and policy("show", "--effective", "--tool", "x").returncode == 64
